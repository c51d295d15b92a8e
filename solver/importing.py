"""Foreign logs, read by templates: how somebody else's program writes down what was dealt and played.

A :class:`Template` is a table, in TOML, that says how a log spells cards, seats and events; ``docs/importing.md``
describes it. :func:`convert` reads a log of any length by it, puts each deal into the JSON shape of a record with the
place of everything in the log, and has it checked and replayed by :mod:`arrastre.record`. Nothing here knows a game.
"""

from __future__ import annotations

import math
import re
import tomllib
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final

from arrastre import notation
from arrastre.cards import quoted
from arrastre.errors import Fault, InvalidRecord, InvalidSyntax, InvalidTemplate
from arrastre.record import MAX_JSON, MAX_LINE, DealItem, JsonPlaces, Lines, RawDeal, replayed, text_lines

#: Characters of a template, and its rules, spellings of cards, events of a deal, faults of a deal.
MAX_TEMPLATE: Final = 1 << 18
_MOST_RULES: Final = 500
_MOST_SPELLINGS: Final = 10_000
_MOST_EVENTS: Final = 2000
_MOST_FAULTS: Final = 100
_MOST_PLAYERS: Final = 10

#: How far a pattern may go wrong before it has found out, in steps; and the longest line that is ever tried.
_STEPS: Final = 50_000_000
_LONGEST: Final = 8192
_SHORTEST: Final = 80

_UNKNOWN: Final = "?"
#: An action that no game can read, in place of one that could not be read here.
_UNREADABLE: Final = "?"

_PROSE: Final = ("event", "site", "date", "round", "table", "id", "source", "comment")
_PLAIN: Final = (*_PROSE, "ruleset", "players", "game", "deal", "vueltas", "finished", "carried", "result")
_PAIRED: Final = ("carried0", "carried1", "result0", "result1")
_HEAD: Final = (*_PLAIN, *_PAIRED, "dealer", "mano", "trump", "hand", "hands", "stock", "muestra", "name", "names")
_EVENT: Final = ("seat", "trick", "card", "cards", "suit", "action")
_NAMES: Final = frozenset((*_HEAD, *_EVENT))
_CONSTANT: Final = frozenset((*_PLAIN, "rules", "trump", "names"))
_BY: Final = ("index", "direction", "name")

_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_STEP: Final = re.compile(r"([^.\[\]]+)|\[([0-9]{1,6})\]")
_PATH: Final = re.compile(r"\.|(?:[^.\[\]]+|\[[0-9]{1,6}\])(?:\.[^.\[\]]+|\[[0-9]{1,6}\])*")
_BRACKET: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\]]')


# -- patterns that cannot run away -----------------------------------------------------------------------------------


def _longest_line(pattern: str) -> int:
    """The longest line on which a pattern is sure to come to an end soon. Raises ``ValueError``, which says why not.

    Whoever wrote a log may have meant harm. A repeat inside a repeat can take exponential time, and so is refused; k
    repeats side by side take the k-th power of the line's length at worst.
    """
    branches, opens = _freedom(pattern)
    most = math.floor((_STEPS * math.factorial(opens) / branches) ** (1 / opens)) if opens else _LONGEST
    if most < _SHORTEST or branches > _STEPS:
        raise ValueError("there are too many repeats in it; possessive ones, as in [^;]++ or [0-9]{1,2}+, do not count")
    return min(most, _LONGEST)


_REPEAT: Final = re.compile(r"(?:[*+?]|\{(?P<low>[0-9]*)(?P<comma>,?)(?P<high>[0-9]*)\})(?P<kind>[?+]?)")
_OPEN: Final = re.compile(r"\(\?(?:P<\w+>|P=\w+\)|[:=!>]|<[=!]|#[^)]*\)|(?P<flags>[a-zA-Z-]+)[:)])|\((?!\?)")
_CLASS: Final = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*+\]", re.DOTALL)


def _freedom(pattern: str) -> tuple[int, int]:
    """In how many ways a pattern may go on at its branches, and its repeats without an end."""
    ways, opens = 1, 0
    # For each open group, and then for what stands before a repeat: whether it can match in more ways than one.
    groups, last, at = [False], False, 0
    while at < len(pattern):
        letter = pattern[at]
        repeat = _REPEAT.match(pattern, at)
        if repeat is not None and repeat.group()[:2] not in ("{}", "{,"):
            first, low, high = letter, repeat["low"], repeat["high"]
            least = int(low or 0) if first == "{" else int(first == "+")
            most = (int(high) if high else None if repeat["comma"] else least) if first == "{" else None
            most = 1 if first == "?" else most
            if last and (most is None or most > 1):
                raise ValueError("there is a repeat of something that itself repeats or branches")
            if repeat["kind"] != "+":
                opens += most is None
                ways *= 1 if most is None else max(1, most - least + 1)
            groups[-1] = groups[-1] or most != least
            at, last = repeat.end(), False
            continue
        last = False
        if letter == "\\":
            at += 2
        elif letter == "[":
            end = _CLASS.match(pattern, at)
            at = end.end() if end else len(pattern)
        elif letter == "(":
            opening = _OPEN.match(pattern, at)
            if opening is None or "x" in (opening["flags"] or ""):
                raise ValueError("there is a kind of group in it that templates do not have")
            at = opening.end()
            if not opening.group().endswith(")"):
                groups.append(False)
        elif letter == ")":
            last = groups.pop() if len(groups) > 1 else False
            groups[-1] = groups[-1] or last
            at += 1
        else:
            if letter == "|":
                ways, groups[-1] = ways * 2, True
            at += 1
    return ways, opens


# -- templates -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a kind of line looks like, and what it means."""

    number: int
    pattern: re.Pattern[str] | None = None
    longest: int = 0
    when: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    event: str = ""
    sets: Mapping[str, Any] = field(default_factory=dict)
    each: str = ""
    starts: bool = False
    ends: bool = False
    ignore: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """How a kind of log is written: read from TOML by :meth:`parse`, used by :func:`convert`."""

    json: bool = False
    constants: Mapping[str, Any] = field(default_factory=dict)
    cards: Mapping[str, str] = field(default_factory=dict)
    example: str = ""
    suits: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, str] = field(default_factory=dict)
    suit_path: str = ""
    figure_path: str = ""
    unknown: str = _UNKNOWN
    by: tuple[str, ...] = ("index",)
    order: tuple[str, ...] = ()
    base: int = 0
    offset: int = 0
    reverse: bool = False
    trick_base: int = 1
    separators: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rules: tuple[_Rule, ...] = ()

    @staticmethod
    def parse(text: str) -> Template:
        """Read a template from TOML. Raises :class:`~arrastre.errors.ArrastreError` with every fault of it."""
        if len(text) > MAX_TEMPLATE:
            fault = Fault("", "TOO_LONG", f"a template has at most {MAX_TEMPLATE} characters")
            raise InvalidSyntax("the template cannot be read", [fault])
        try:
            data = tomllib.loads(text.removeprefix("\ufeff"))
        except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
            at = re.search(r"\(at line ([0-9]+), column ([0-9]+)\)", str(error))
            said = str(error).partition(" (at ")[0] or "it is nested too deeply"
            line, column = (int(at[1]), int(at[2])) if at else (None, None)
            fault = Fault("", "NOT_TOML", f"this is not TOML: {said}", line=line, column=column)
            raise InvalidSyntax("the template cannot be read", [fault]) from None
        return _TemplateReader(data).template()


_DEFAULT_SEPARATORS: Final = {"cards": ",", "hands": "/", "names": ","}
_KINDS: Final[Mapping[type, str]] = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}


class _TemplateReader:
    """Reads a template and collects what is wrong with it."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.faults: list[Fault] = []

    def fault(self, path: str, reason: str, message: str) -> None:
        self.faults.append(Fault(path, reason, message))

    def known(self, path: str, table: Mapping[str, Any], names: Iterable[str]) -> None:
        names = list(names)
        for name in table:
            if name not in names:
                place = f"{path}.{quoted(name)}" if path else quoted(name)
                self.fault(place, "UNKNOWN_FIELD", f"there is no '{quoted(name)}' here; there are {', '.join(names)}")

    def take(self, path: str, table: Mapping[str, Any], name: str, default: Any) -> Any:
        """A value of the default's type, or the default."""
        value = table.get(name, default)
        if type(value) is not type(default):
            place = f"{path}.{name}" if path else name
            self.fault(place, "BAD_TYPE", f"{place} is {_KINDS[type(default)]}")
            return default
        return value

    def template(self) -> Template:
        data, take = self.data, self.take
        self.known("", data, ("format", "record", "cards", "seats", "tricks", "separators", "values", "line"))
        form = take("", data, "format", "lines")
        if form not in ("lines", "json"):
            self.fault("format", "BAD_TYPE", "format is lines or json")
        record = take("", data, "record", {})
        self.known("record", record, sorted(_CONSTANT))
        cards = take("", data, "cards", {})
        self.known("cards", cards, ("spelling", "suits", "figures", "base", "suit", "figure", "unknown"))
        base = take("cards", cards, "base", 0)
        suits, figures = (self.words(f"cards.{name}", cards.get(name), base) for name in ("suits", "figures"))
        spellings = self.spellings(cards, suits, figures)
        parts = {name: take("cards", cards, name, "") for name in ("suit", "figure")}
        for name, path in parts.items():
            self.path(f"cards.{name}", path)
            if bool(path) != all(parts.values()) or (path and not (suits and figures)):
                self.fault(f"cards.{name}", "MISSING", "suit and figure go together, and with suits and figures")
        seats = take("", data, "seats", {})
        self.known("seats", seats, ("by", "order", "base", "offset", "reverse"))
        by = self.texts("seats.by", seats.get("by", "index"))
        for each in by:
            if each not in _BY:
                self.fault("seats.by", "BAD_TYPE", f"seats go by {', '.join(_BY)}")
        order = self.texts("seats.order", seats.get("order", []))
        if ("direction" in by) != bool(order):
            self.fault("seats.order", "MISSING", "seats.order lists the directions, where seats go by direction")
        tricks = take("", data, "tricks", {})
        self.known("tricks", tricks, ("base",))
        separators = take("", data, "separators", {})
        self.known("separators", separators, _DEFAULT_SEPARATORS)
        separated = {name: take("separators", separators, name, each) for name, each in _DEFAULT_SEPARATORS.items()}
        for name, each in separated.items():
            if not each:
                self.fault(f"separators.{name}", "BAD_TYPE", "a separator is not empty")
        template = Template(
            json=form == "json",
            constants=record,
            cards=spellings,
            example=next(iter(spellings), ""),
            suits=suits,
            figures=figures,
            suit_path=parts["suit"],
            figure_path=parts["figure"],
            unknown=take("cards", cards, "unknown", _UNKNOWN),
            by=tuple(by),
            order=tuple(_plain(each) for each in order),
            base=take("seats", seats, "base", 0),
            offset=take("seats", seats, "offset", 0),
            reverse=take("seats", seats, "reverse", False),
            trick_base=take("tricks", tricks, "base", 1),
            separators=separated,
            values=self.values(take("", data, "values", {})),
            rules=tuple(self.rules()),
        )
        if self.faults:
            raise InvalidTemplate("the template has faults", self.faults[:_MOST_FAULTS])
        return template

    def texts(self, path: str, value: Any) -> list[str]:
        """A text, or a list of texts."""
        each = [value] if isinstance(value, str) else value
        if not isinstance(each, list) or not all(isinstance(text, str) for text in each):
            self.fault(path, "BAD_TYPE", f"{path} is a text, or a list of texts")
            return []
        return each

    def words(self, path: str, value: Any, base: int) -> dict[str, str]:
        """What the log writes for each suit or figure: a table, or a list of what its numbers mean."""
        if value is None:
            return {}
        if isinstance(value, list):
            value = {str(number): each for number, each in enumerate(value, base)}
        if not isinstance(value, dict) or not all(isinstance(each, str) and each for each in value.values()):
            self.fault(path, "BAD_TYPE", f"{path} is a list of letters, or a table that gives the letter for each word")
            return {}
        return {_plain(word): letter for word, letter in value.items() if letter != "-"}

    def spellings(
        self, cards: Mapping[str, Any], suits: Mapping[str, str], figures: Mapping[str, str]
    ) -> dict[str, str]:
        """Every spelling of every card, and the card."""
        forms = self.texts("cards.spelling", cards.get("spelling", []))
        if not forms:
            return {}
        for name, words in (("suits", suits), ("figures", figures)):
            if not words:
                self.fault(f"cards.{name}", "MISSING", f"cards.spelling needs cards.{name}")
        found: dict[str, str] = {}
        if len(forms) * len(suits) * len(figures) > _MOST_SPELLINGS:
            self.fault("cards.spelling", "TOO_LONG", f"there are more than {_MOST_SPELLINGS} spellings")
            return found
        for form in forms:
            if sorted(_PLACEHOLDER.findall(form)) != ["figure", "suit"]:
                self.fault("cards.spelling", "BAD_TEXT", "a spelling has {figure} and {suit} in it, once each")
                continue
            for (suit, letter), (figure, digit) in product(suits.items(), figures.items()):
                text = _plain(form.replace("{suit}", suit).replace("{figure}", figure))
                if found.setdefault(text, digit + letter) != digit + letter:
                    said = f"'{quoted(text)}' would be {found[text]} and {digit + letter}"
                    self.fault("cards.spelling", "AMBIGUOUS_CARD", said)
        return found

    def path(self, where: str, path: Any) -> str:
        if not isinstance(path, str) or (path and not _PATH.fullmatch(path)):
            self.fault(where, "BAD_TEXT", 'a path is written "player.seat" or "hands[0]", and "." for the whole')
            return ""
        return path

    def values(self, tables: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        self.known("values", tables, sorted(_NAMES))
        found = {}
        for name, table in tables.items():
            if isinstance(table, dict):
                found[name] = {_plain(word): value for word, value in table.items()}
            else:
                self.fault(f"values.{quoted(name)}", "BAD_TYPE", "a table gives the value for each word")
        return found

    # -- rules

    def rules(self) -> Iterator[_Rule]:
        lines = self.data.get("line")
        if not isinstance(lines, list) or not lines or not all(isinstance(each, dict) for each in lines):
            self.fault("line", "MISSING" if lines is None else "BAD_TYPE", "the kinds of lines are tables [[line]]")
            return
        if len(lines) > _MOST_RULES:
            self.fault("line", "TOO_LONG", f"there are at most {_MOST_RULES} kinds of lines")
        for number, table in enumerate(lines[:_MOST_RULES]):
            yield self.rule(number, table)

    def rule(self, number: int, table: Mapping[str, Any]) -> _Rule:
        where = f"line[{number}]"
        flags = ("starts", "ends", "ignore")
        self.known(where, table, ("pattern", "when", "fields", "event", "set", "each", *flags))
        pattern, longest = self.pattern(where, table)
        fields = self.take(where, table, "fields", {})
        for name, path in fields.items():
            self.path(f"{where}.fields.{quoted(name)}", path)
        when = self.take(where, table, "when", {})
        for path in when:
            self.path(f"{where}.when.{quoted(path)}", path)
        if pattern is not None and (when or fields):
            self.fault(where, "BAD_TEXT", "a pattern is for lines of text; when and fields are for JSON")
        if "pattern" not in table and not ({"when", "fields"} & table.keys()):
            self.fault(where, "MISSING", "a kind of line has a pattern, or when and fields")
        event = self.take(where, table, "event", "")
        named = (*(pattern.groupindex if pattern is not None else ()), *fields)
        for name in named:
            if name not in _NAMES:
                said = f"there is no field '{quoted(name)}'; there are {', '.join(sorted(_NAMES))}"
                self.fault(where, "UNKNOWN_FIELD", said)
        for name in _PLACEHOLDER.findall(event):
            if name not in ("card", "cards", "suit", "action"):
                self.fault(f"{where}.event", "UNKNOWN_FIELD", "an event is made of {card}, {cards}, {suit}, {action}")
            elif name not in named and ("pattern" not in table or pattern is not None):
                self.fault(f"{where}.event", "MISSING", f"nothing in this kind of line is called {name}")
        if "{cards}" in event and event != "{cards}":
            self.fault(f"{where}.event", "BAD_TEXT", "{cards} stands alone")
        if event.replace("{cards}", "{card}") == "" and {"card", "cards", "suit", "action", "trick"} & {*named}:
            self.fault(f"{where}.event", "MISSING", "something was done here: event says what, as in cante {suit}")
        sets = self.take(where, table, "set", {})
        self.known(f"{where}.set", sets, sorted(_CONSTANT))
        return _Rule(
            number=number,
            pattern=pattern,
            longest=longest,
            when={path: tuple(value) if isinstance(value, list) else (value,) for path, value in when.items()},
            fields={name: path for name, path in fields.items() if isinstance(path, str)},
            event=event,
            sets=sets,
            each=self.path(f"{where}.each", table.get("each", "")),
            **{name: self.take(where, table, name, False) for name in flags},
        )

    def pattern(self, where: str, table: Mapping[str, Any]) -> tuple[re.Pattern[str] | None, int]:
        text = self.take(where, table, "pattern", "")
        if "pattern" not in table or not isinstance(table["pattern"], str):
            return None, 0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                compiled = re.compile(text)
            return compiled, _longest_line(text)
        except (re.error, Warning, RecursionError, OverflowError) as error:
            self.fault(f"{where}.pattern", "BAD_PATTERN", f"the pattern cannot be read: {error}")
        except ValueError as error:
            self.fault(f"{where}.pattern", "BAD_PATTERN", f"the pattern may run away: {error}")
        return None, 0


def _plain(text: str) -> str:
    """A word as it is looked up: blanks and capitals do not count."""
    return " ".join(text.split()).casefold()


# -- logs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    line: int
    column: int | None


@dataclass(frozen=True, slots=True)
class _Value:
    """Something that a log says, and where."""

    value: Any
    place: _Place

    @property
    def text(self) -> str | None:
        """The value as a text, if it is a text or a number."""
        if isinstance(self.value, str):
            return self.value.strip()
        return str(self.value) if type(self.value) is int else None

    def part(self, value: Any, shift: int) -> _Value:
        column = self.place.column
        return _Value(value, _Place(self.place.line, None if column is None else column + shift))


@dataclass(frozen=True, slots=True)
class _Item:
    """A line, or a JSON value: what it is, and where."""

    value: Any
    place: _Place
    path: str = ""
    places: JsonPlaces | None = None

    def at(self, path: str) -> _Value | None:
        """What a JSON path leads to from here, if to anything."""
        value: Any = self.value
        if path == ".":
            return _Value(value, self.place)
        for name, index in _STEP.findall(path):
            if index and isinstance(value, list) and int(index) < len(value):
                value = value[int(index)]
            elif name and isinstance(value, dict) and name in value:
                value = value[name]
            else:
                return None
        return _Value(value, self.located(path))

    def located(self, path: str) -> _Place:
        whole = path if not self.path else self.path + path if path.startswith("[") else f"{self.path}.{path}"
        found = self.places.get(whole) if self.places is not None else None
        return _Place(*found) if found is not None else self.place

    def elements(self, path: str) -> Iterator[_Item]:
        """The elements of the list to which a path leads."""
        found = self.at(path)
        if found is not None and isinstance(found.value, list):
            inner = "" if path == "." else path
            whole = (
                inner if not self.path else f"{self.path}.{inner}" if inner and inner[0] != "[" else self.path + inner
            )
            for index, value in enumerate(found.value):
                yield _Item(value, self.located(f"{inner}[{index}]"), f"{whole}[{index}]", self.places)


class _Deal:
    """A deal that is being put together, in the shape of the JSON form, with the place of everything in the log."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.begun = False
        self.data: dict[str, Any] = {}
        self.names: dict[int, str] = {}
        self.hands: dict[int, dict[str, Any]] = {}
        self.events: list[dict[str, Any]] = []
        self.columns: dict[str, int] = {}
        self.lines: dict[str, int] = {}
        self.faults: list[Fault] = []

    def follow(self, line: int) -> _Deal:
        """A new deal with what was said for all deals."""
        deal = _Deal(line)
        deal.data, deal.names = dict(self.data), dict(self.names)
        deal.columns, deal.lines = dict(self.columns), dict(self.lines)
        deal.hands = dict(self.hands)
        return deal

    @property
    def players(self) -> int:
        count = self.data.get("players", 4)
        text = str(count)
        return int(text) if text.isascii() and text.isdigit() and 0 < int(text[:3]) <= _MOST_PLAYERS else 4

    def put(self, path: str, value: Any, place: _Place) -> None:
        """Give a field of the deal a value."""
        if path in self.data and path in self.lines and self.begun and self.data[path] != value:
            self.fault(path, "REPEATED_FIELD", f"{path} is given twice", place)
        self.data[path] = value
        self.mark(path, place)

    def mark(self, path: str, place: _Place) -> None:
        self.lines[path] = place.line
        if place.column is not None:
            self.columns[path] = place.column

    def fault(self, path: str, reason: str, message: str, place: _Place, card: str | None = None) -> None:
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(Fault(path, reason, message, card, place.line, place.column))

    def raw(self) -> notation.Raw:
        data = dict(self.data)
        if self.names:
            data["names"] = [self.names.get(seat, "") for seat in range(max(self.names) + 1)]
        if self.hands:
            data["hands"] = [self.hands.get(seat) for seat in range(self.players)]
        for name in ("carried", "result"):
            pair = [data.pop(f"{name}{side}", None) for side in (0, 1)]
            if pair != [None, None]:
                data[name] = pair
        self.lines.setdefault("", self.line)
        return notation.Raw({**data, "events": self.events}, self.columns, tuple(self.faults), self.lines)


def convert(
    source: Lines | Iterable[str | bytes],
    template: Template,
    *,
    ruleset: str | None = None,
    rules: Mapping[str, Any] | None = None,
) -> Iterator[DealItem]:
    """Read the deals of a log, checked and replayed, one by one, however long it is.

    ``source`` is a file, or yields lines. A deal with faults gives an item with an error, in whose faults line and
    column are those of the log; the others go on. ``ruleset`` is for deals of which neither the log nor the template
    names one, and may be ``auto``; ``rules`` override single fields of it.
    """
    read: deque[Sequence[Fault]] = deque()  # of the deals that have not come back

    def raws() -> Iterator[RawDeal]:
        for item in _Import(template).deals(source):
            read.append(item.raw.faults if item.raw is not None else ())
            yield item

    for item in replayed(raws(), ruleset=ruleset, rules=rules):
        own = read.popleft()
        # What could not be read here has been said; that the game cannot read it either is no news.
        said = {fault.field for fault in own if fault.field}
        error = item.error
        if isinstance(error, InvalidRecord) and said:
            faults = [each for each in error.faults if each in own or each.field not in said]
            error = InvalidRecord(error.message, faults)
        yield replace(item, error=error)


class _Import:
    """A log at being read."""

    def __init__(self, template: Template) -> None:
        self.template = template
        self.header = self.first_header()
        self.deal: _Deal | None = None
        self.many = any(rule.starts for rule in template.rules)
        self.found = False

    def first_header(self) -> _Deal:
        header = _Deal(1)
        constants = dict(self.template.constants)
        names = constants.pop("names", None)
        header.data = constants
        if isinstance(names, list) and len(names) <= _MOST_PLAYERS:
            header.names = {seat: str(name) for seat, name in enumerate(names)}
        return header

    # -- lines and deals

    def deals(self, source: Lines | Iterable[str | bytes]) -> Iterator[RawDeal]:
        """The deals of a log, in the JSON form, not yet checked."""
        lines = enumerate(text_lines(source, MAX_LINE), 1)
        for item in self.json_items(lines) if self.template.json else _text_items(lines):
            if isinstance(item, Fault):
                self.target().faults.append(item)
            else:
                yield from self.item(item)
        yield from self.finish()
        if not self.found:
            error = InvalidSyntax("there is no record", [Fault("", "NOT_A_RECORD", "the log holds no deal")])
            yield RawDeal(1, None, error)

    def json_items(self, lines: Iterator[tuple[int, str | Fault]]) -> Iterator[_Item | Fault]:
        for first, text in _json_texts(lines):
            if isinstance(text, Fault):
                yield text
                continue
            try:
                value, faults = notation.decode(text)
            except (ValueError, RecursionError) as error:
                line = first + getattr(error, "lineno", 1) - 1
                said = getattr(error, "msg", "nested too deeply, or with a number beyond all bounds")
                column = getattr(error, "colno", None)
                yield Fault("", "NOT_JSON", f"this is not JSON: {said}", line=line, column=column)
                continue
            yield from (replace(each, line=first) for each in faults)
            whole = _Item(value, _Place(first, 1), "", JsonPlaces(text, first))
            yield from whole.elements(".") if isinstance(value, list) else [whole]

    def finish(self) -> Iterator[RawDeal]:
        """The deal read so far; and faults of lines that belong to none."""
        if self.header.faults:
            self.found = True
            error = InvalidRecord("there are lines that cannot be read", self.header.faults)
            yield RawDeal(self.header.faults[0].line or 1, None, error)
            self.header.faults = []
        deal, self.deal = self.deal, None
        if deal is not None:
            self.found = True
            yield RawDeal(deal.line, deal.raw())

    def target(self) -> _Deal:
        """What a line speaks of: the deal, or, where none has begun, all that come."""
        return self.header if self.deal is None else self.deal

    def item(self, item: _Item) -> Iterator[RawDeal]:
        """One line, or one JSON value."""
        found = self.match(item)
        if found is None or found[0].ignore:
            return
        rule, values = found
        if rule.starts:
            yield from self.finish()
        if self.deal is None and (rule.starts or rule.event or not self.many):
            self.deal = self.header.follow(item.place.line)
        deal = self.target()
        deal.begun = deal is self.deal
        self.heads(deal, rule, values, item.place)
        if rule.event:
            self.event(deal, rule, values, item.place)
        if rule.each:
            for element in item.elements(rule.each):
                yield from self.item(element)
        if rule.ends:
            yield from self.finish()

    def match(self, item: _Item) -> tuple[_Rule, dict[str, _Value]] | None:
        """The first rule for a line, and what it finds there; where there is none, that is a fault."""
        text, shift = item.value, 0
        if isinstance(text, str):
            shift = len(text) - len(text.lstrip())
            text = text.strip()
        for rule in self.template.rules:
            if rule.pattern is None:
                if isinstance(item.value, dict | list) and self.fits(rule, item):
                    found = {name: each for name, path in rule.fields.items() if (each := item.at(path)) is not None}
                    return rule, {name: each for name, each in found.items() if each.value is not None}
            elif isinstance(text, str):
                if len(text) > rule.longest:
                    most = f"the {rule.longest} characters that line[{rule.number}] may be tried on"
                    self.target().fault("", "TOO_LONG", f"the line is longer than {most}", item.place)
                    return None
                match = rule.pattern.fullmatch(text)
                if match is not None:
                    quote = int(item.places is not None)  # in JSON a text begins behind its quotation mark
                    whole = _Value(text, item.place)
                    return rule, {
                        name: whole.part(value, match.start(name) + shift + quote)
                        for name, value in match.groupdict().items()
                        if value is not None
                    }
        shown = text if isinstance(text, str) else str(item.value)[:200]
        self.target().fault("", "UNKNOWN_LINE", f"the template has no line like '{quoted(shown)}'", item.place)
        return None

    def fits(self, rule: _Rule, item: _Item) -> bool:
        for path, wanted in rule.when.items():
            found = item.at(path)
            if found is None or not any(found.value == each and type(found.value) is type(each) for each in wanted):
                return False
        if rule.each:
            elements = item.at(rule.each)
            return elements is not None and isinstance(elements.value, list)
        return bool(rule.when) or any(item.at(path) is not None for path in rule.fields.values())

    # -- what lines say

    def heads(self, deal: _Deal, rule: _Rule, values: Mapping[str, _Value], place: _Place) -> None:
        """What a line says of the deal as a whole."""
        for name, constant in rule.sets.items():
            deal.put(name, constant, place)
        seat = self.seat(deal, "", values["seat"]) if "seat" in values and {"hand", "name"} & values.keys() else None
        for name, value in values.items():
            value = self.meant(name, value)
            if name in ("dealer", "mano"):
                found = self.seat(deal, "dealer", value)
                if found is not None:
                    deal.put("dealer", (found - (name == "mano")) % deal.players, value.place)
            elif name == "trump":
                deal.put(name, self.suit(deal, name, value), value.place)
            elif name == "muestra":
                deal.put(name, self.card(deal, name, value), value.place)
            elif name == "stock":
                deal.mark(name, value.place)
                deal.put(name, self.cards(deal, name, value), value.place)
            elif name == "hand" and seat is not None:
                self.hand(deal, seat, value)
            elif name == "hands":
                self.by_seat(deal, name, value)
            elif name == "name" and seat is not None:
                deal.names[seat] = value.text or ""
                deal.mark(f"names[{seat}]", value.place)
            elif name == "names":
                self.by_seat(deal, name, value)
            elif (name in _PLAIN and not (name == "comment" and rule.event)) or name in _PAIRED:
                text = value.value.strip() if isinstance(value.value, str) else value.value
                deal.put(name, str(text) if name in _PROSE and type(text) is int else text, value.place)
            elif name in ("hand", "name") and "seat" not in values:
                deal.fault(name, "MISSING", f"whose {name} this is, the line does not say", value.place)

    def by_seat(self, deal: _Deal, name: str, value: _Value) -> None:
        """The hands, or the names, of all seats: a list in the order of the log's seats, or a table by seat."""
        parts: list[tuple[int | None, _Value]] = []
        if isinstance(value.value, dict):
            parts = [
                (self.seat(deal, name, replace(value, value=key)), replace(value, value=each))
                for key, each in value.value.items()
            ]
        else:
            each = self.split(value, name)
            if len(each) > deal.players:
                deal.fault(name, "HAND_COUNT", f"there are {deal.players} players", value.place)
                each = each[: deal.players]
            parts = [(self.turned(deal, index), part) for index, part in enumerate(each)]
        for seat, part in parts:
            if seat is None:
                continue
            if name == "hands":
                self.hand(deal, seat, part)
            else:
                deal.names[seat] = part.text or ""
                deal.mark(f"names[{seat}]", part.place)

    def hand(self, deal: _Deal, seat: int, value: _Value) -> None:
        path = f"hands[{seat}]"
        deal.mark(path, value.place)
        if seat in deal.hands and deal.begun:
            deal.fault(path, "REPEATED_FIELD", f"{path} is given twice", value.place)
        if value.value is None or value.value == self.template.unknown:
            return
        cards = self.cards(deal, f"{path}.cards", value)
        deal.hands[seat] = {
            "cards": [card for card in cards if card != _UNKNOWN],
            "hidden": min(cards.count(_UNKNOWN), _MOST_EVENTS),
        }

    def event(self, deal: _Deal, rule: _Rule, values: Mapping[str, _Value], place: _Place) -> None:
        """Something done."""
        if "cards" in values and rule.event == "{cards}":
            parts = self.split(self.meant("cards", values["cards"]), "cards")
            played = [({"card": part}, "{card}") for part in parts]
            if not parts:
                deal.fault(f"events[{len(deal.events)}]", "MISSING", "there is no card here", values["cards"].place)
        else:
            played = [({name: self.meant(name, each) for name, each in values.items()}, rule.event)]
        for index, (given, form) in enumerate(played):
            if len(deal.events) >= _MOST_EVENTS:
                if len(deal.events) == _MOST_EVENTS:
                    deal.events.append({"action": _UNREADABLE})
                    deal.fault("events", "TOO_LONG", f"a deal has at most {_MOST_EVENTS} events", place)
                return
            path = f"events[{len(deal.events)}]"
            event: dict[str, Any] = {}
            where = next((each.place for name, each in given.items() if f"{{{name}}}" in form), place)
            for part in (path, f"{path}.action", f"{path}.trick"):
                deal.mark(part, where)
            if index == 0:
                self.circumstances(deal, event, path, values)
            event["action"] = self.action(deal, f"{path}.action", form, given)
            deal.events.append(event)
        if played and "comment" in values and values["comment"].text:
            deal.events[-1]["comment"] = values["comment"].text

    def circumstances(self, deal: _Deal, event: dict[str, Any], path: str, values: Mapping[str, _Value]) -> None:
        """Who did it, and in which trick."""
        if "trick" in values:
            trick = self.meant("trick", values["trick"])
            deal.mark(f"{path}.trick", trick.place)
            number = _number(trick.text)
            if number is None:
                deal.fault(f"{path}.trick", "BAD_TYPE", f"'{_shown(trick)}' is no number of a trick", trick.place)
            else:
                event["trick"] = number + 1 - self.template.trick_base
        if "seat" in values:
            value = self.meant("seat", values["seat"])
            deal.mark(f"{path}.seat", value.place)
            seat = self.seat(deal, f"{path}.seat", value)
            if seat is not None:
                event["seat"] = seat

    def action(self, deal: _Deal, path: str, form: str, values: Mapping[str, _Value]) -> str:
        before = len(deal.faults)

        def filled(match: re.Match[str]) -> str:
            name = match[1]
            if name not in values:
                deal.fault(path, "MISSING", f"the line does not say the {name}", _Place(deal.lines[path], None))
                return ""
            if name == "card":
                return self.card(deal, path, values[name])
            return self.suit(deal, path, values[name]) if name == "suit" else values[name].text or ""

        action = _PLACEHOLDER.sub(filled, form)
        return action if len(deal.faults) == before else _UNREADABLE

    # -- words

    def meant(self, name: str, value: _Value) -> _Value:
        """A value by way of the template's table for its name."""
        table, text = self.template.values.get(name), value.text
        if table is None or text is None:
            return value
        return replace(value, value=table.get(_plain(text), value.value))

    def split(self, value: _Value, name: str) -> list[_Value]:
        """The parts of a list, or of a text with separators."""
        if isinstance(value.value, list):
            return [replace(value, value=each) for each in value.value]
        text = value.value if isinstance(value.value, str) else value.text or ""
        separator = self.template.separators[name]
        parts, at = [], 0
        for piece in text.split(separator) if separator.strip() else text.split():
            at = text.index(piece, at)
            if piece.strip():
                parts.append(value.part(piece.strip(), at + len(piece) - len(piece.lstrip())))
            at += len(piece)
        return parts

    def cards(self, deal: _Deal, path: str, value: _Value) -> list[str]:
        cards = []
        for index, part in enumerate(self.split(value, "cards")[:_MOST_EVENTS]):
            deal.mark(f"{path}[{index}]", part.place)
            if part.value is None or part.text == self.template.unknown:
                cards.append(_UNKNOWN)
            else:
                cards.append(self.card(deal, f"{path}[{index}]", part))
        return cards

    def card(self, deal: _Deal, path: str, value: _Value) -> str:
        """A card as records write it; in place of one that cannot be read, what stands there."""
        template, text = self.template, value.text
        if template.suit_path and text is None:
            item = _Item(value.value, value.place)
            suit, figure = (item.at(part) for part in (template.suit_path, template.figure_path))
            words = [(each.text or "") if each else "" for each in (suit, figure)]
            found = template.figures.get(_plain(words[1]), ""), template.suits.get(_plain(words[0]), "")
            if all(found):
                return "".join(found)
        elif text is not None:
            card = template.cards.get(_plain(text)) if template.cards else text
            if card is not None:
                return card
        shown = _shown(value)
        like = f" as '{template.example}' is" if template.example else ""
        deal.fault(
            path,
            "UNKNOWN_CARD",
            f"'{shown}' is no card that is spelled{like or ' by the template'}",
            value.place,
            shown,
        )
        return _UNKNOWN

    def suit(self, deal: _Deal, path: str, value: _Value) -> str:
        text = value.text
        suit = None if text is None else self.template.suits.get(_plain(text)) if self.template.suits else text
        if suit is not None:
            return suit
        words = ", ".join(self.template.suits)
        deal.fault(
            path, "UNKNOWN_SUIT", f"'{_shown(value)}' is no suit; the suits are {quoted(words, 200)}", value.place
        )
        return _UNKNOWN

    def seat(self, deal: _Deal, path: str, value: _Value) -> int | None:
        """The seat that somebody in the log has."""
        template, text = self.template, value.text
        plain = _plain(text or "")
        for way in template.by:
            if way == "name":
                for seat, name in deal.names.items():
                    if plain and _plain(name) == plain:
                        return seat
            elif way == "direction":
                if plain in template.order and template.order.index(plain) < deal.players:
                    return self.turned(deal, template.order.index(plain))
            else:
                number = _number(text)
                if number is not None and 0 <= number - template.base < deal.players:
                    return self.turned(deal, number - template.base)
        known = [*deal.names.values()] if "name" in template.by else []
        known += template.order if "direction" in template.by else ()
        if "index" in template.by:
            known.append(f"{template.base} to {template.base + deal.players - 1}")
        said = f"'{_shown(value)}' is no seat; the seats are {quoted(', '.join(known), 200)}"
        deal.fault(path, "BAD_SEAT", said, value.place)
        return None

    def turned(self, deal: _Deal, index: int) -> int:
        """The seat in turn order of one that the log counts in its own way."""
        return (self.template.offset + (-index if self.template.reverse else index)) % deal.players


def _text_items(lines: Iterator[tuple[int, str | Fault]]) -> Iterator[_Item | Fault]:
    for number, line in lines:
        if isinstance(line, Fault):
            yield replace(line, card=None, line=number)
        elif line.strip():
            yield _Item(line, _Place(number, 1))


def _json_texts(lines: Iterator[tuple[int, str | Fault]]) -> Iterator[tuple[int, str | Fault]]:
    """The texts of the JSON values of a log, each with its first line; values may go over many lines."""
    parts: list[str] = []
    first, depth, size = 1, 0, 0
    for number, line in lines:
        if isinstance(line, Fault):
            parts, depth = [], 0
            yield number, replace(line, card=None, line=number)
            continue
        if parts and parts[0][:1] == "{" and line[:1] == "{":
            yield first, "\n".join(parts)  # it was never closed
            parts, depth = [], 0
        if not parts:
            if not line.strip():
                continue
            first, size = number, 0
        size += len(line) + 1
        if size <= MAX_JSON:
            parts.append(line)
        for token in _BRACKET.finditer(line):
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token.group(), 0)
        if depth <= 0:
            fault = Fault("", "TOO_LONG", f"a JSON value has at most {MAX_JSON} characters", line=first)
            yield first, "\n".join(parts) if size <= MAX_JSON else fault
            parts, depth = [], 0
    if parts:
        yield first, "\n".join(parts)


def _number(text: str | None) -> int | None:
    """A whole number of a few digits."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 7 else None


def _shown(value: _Value) -> str:
    return quoted(value.text if value.text is not None else str(value.value)[:100])
