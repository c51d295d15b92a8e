"""Records: what was dealt and played, as text and as JSON, for games of any kind.

A :class:`Record` holds the deals of one text. :func:`read_deals` reads deals one by one from a stream of any length.
The text form and its JSON twin are described in ``docs/notation.md``; both are read into the same shape here, with the
place of everything in the text, and a game then says what it makes of it (:meth:`arrastre.game.Game.replay`). Nothing
here knows what a card is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from arrastre import notation
from arrastre.cards import quoted
from arrastre.errors import ArrastreError, Fault, InvalidPosition, InvalidRecord, InvalidRequest, InvalidSyntax
from arrastre.exact import Context, Solution, solve
from arrastre.game import (
    DEFAULT_RULESET,
    Action,
    Address,
    Deal,
    Game,
    Position,
    Score,
    Step,
    game_of,
    rulesets,
)

SCHEMA: Final = 1
#: The ruleset that asks for the one that fits.
AUTO: Final = "auto"
_MOST_HELD: Final = 8
"""Deals of one game that are held while its ruleset is looked for; few games are longer."""

#: Characters in one line of the text form, in one deal of it, and in one JSON object.
MAX_LINE: Final = 1 << 16
MAX_DEAL: Final = 1 << 18
MAX_JSON: Final = 1 << 24
#: Faults of the form that are listed for one deal; the rest are of the same kind as a rule.
_MOST_FAULTS: Final = 100

#: What the deals of a record have in common as a rule: said once in the JSON form.
SHARED: Final = ("event", "site", "date", "round", "table", "source", "ruleset", "rules", "players", "names")
_SEATS: Final = "NOSE"


# -- records ---------------------------------------------------------------------------------------------------------


class Record:
    """Everything known of some deals: those of a game, of a coto, or of a whole evening. Immutable.

    Iterating gives the deals, and iterating over a deal its steps. A record that was read with ``strict=False`` may
    have deals with faults.
    """

    __slots__ = ("deals",)

    def __init__(self, deals: Iterable[Deal]) -> None:
        self.deals: tuple[Deal, ...] = tuple(deals)

    @staticmethod
    def parse(
        text: str, *, ruleset: str | None = None, rules: Mapping[str, Any] | None = None, strict: bool = True
    ) -> Record:
        """Read a record from its text form, from JSON, or from JSON lines.

        ``ruleset`` is for deals that name none; with ``auto`` each deal is taken under the first ruleset, its own
        before others, under which all of them are legal. ``rules`` override single fields of it. Raises
        :class:`~arrastre.errors.ArrastreError` with every fault of every deal; unless ``strict``, deals with faults are
        kept, replayed as far as they can be, and only a text that is no record at all raises.
        """
        raws: list[notation.Raw] = []
        for item in _raw_deals([text], limited=False):
            if item.error is not None:
                raise item.error
            raws += [] if item.raw is None else [item.raw]
        return _record(raws, ruleset, rules, strict)

    @staticmethod
    def from_dict(
        data: object,
        *,
        ruleset: str | None = None,
        rules: Mapping[str, Any] | None = None,
        strict: bool = True,
    ) -> Record:
        """Read a record, or a single deal, from the JSON form, already parsed; the rest as for :meth:`parse`."""
        if not isinstance(data, Mapping):
            fault = Fault("", "NOT_AN_OBJECT", "a record is an object")
            raise InvalidSyntax("there is no record", [fault])
        return _record(list(_split(notation.Raw(data))), ruleset, rules, strict)

    def __iter__(self) -> Iterator[Deal]:
        return iter(self.deals)

    def __len__(self) -> int:
        return len(self.deals)

    def __getitem__(self, index: int) -> Deal:
        return self.deals[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults of all deals, with the JSON paths that they have in the record."""
        return tuple(
            replace(fault, field=_joined(f"deals[{index}]", fault.field))
            for index, deal in enumerate(self.deals)
            for fault in deal.faults
        )

    def deal(self, number: int) -> Deal:
        """The deal with a number. Raises :class:`~arrastre.errors.InvalidRequest` if there is none, or several."""
        found = [deal for deal in self.deals if deal.number == number]
        if len(found) == 1:
            return found[0]
        message = f"{len(found)} deals have the number {number}" if found else f"there is no deal {number}"
        raise InvalidRequest(message, [Fault("at", "AMBIGUOUS_DEAL" if found else "NO_SUCH_DEAL", message)])

    def find(self, at: str) -> tuple[Deal, Address]:
        """The deal and the place in it that an address means: ``7.2``, or ``3/7.2`` where there are several deals."""
        number, slash, place = at.partition("/")
        if slash:
            if not (number.isascii() and number.isdigit() and len(number) < 10):
                message = f"'{quoted(at)}' is no address; 3/7.2 is the second card of trick 7 of deal 3"
                raise InvalidRequest(message, [Fault("at", "BAD_ADDRESS", message)])
            return self.deal(int(number)), Address.parse(place)
        if len(self.deals) != 1:
            message = f"there are {len(self.deals)} deals; 3/{quoted(at)} would be in deal 3"
            raise InvalidRequest(message, [Fault("at", "AMBIGUOUS_DEAL", message)])
        return self.deals[0], Address.parse(at)

    def position(self, at: str) -> Position:
        """The position at an address, before anything was done there (see :meth:`arrastre.game.Deal.position`)."""
        deal, address = self.find(at)
        return deal.position(address)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: what all deals share as the first one has it, then the deals, with what differs."""
        if not self.deals:
            return {"schema": SCHEMA, "deals": []}
        shared = {name: self.deals[0].data[name] for name in SHARED if name in self.deals[0].data}
        deals = [
            {name: value for name, value in deal.to_dict().items() if name not in shared or value != shared[name]}
            for deal in self.deals
        ]
        return {"schema": SCHEMA, **shared, "deals": deals}

    def to_json(self) -> str:
        """The JSON form on one line."""
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))

    def __str__(self) -> str:
        return "\n".join(write_deal(deal.data) for deal in self.deals)


def score(record: Record) -> Score:
    """What the deals of a record add up to: results, games, cotos. Raises :class:`~arrastre.errors.InvalidRequest`."""
    games = {deal.game.name: deal.game for deal in record}
    if len(games) != 1:
        message = f"a record of {' and '.join(games)} has no common score" if games else "there is no deal to score"
        raise InvalidRequest(message, [Fault("deals", "NO_COMMON_SCORE", message)])
    (game,) = games.values()
    return game.score(record.deals)


# -- from raw deals to deals -----------------------------------------------------------------------------------------


def _record(raws: Sequence[notation.Raw], ruleset: str | None, rules: Mapping[str, Any] | None, strict: bool) -> Record:
    raws = [_asked(raw, ruleset, rules) for raw in raws]
    record = Record(_chosen(raws) if any(_is_auto(raw) for raw in raws) else _chain(raws))
    faults = record.faults
    if faults and strict:
        raise InvalidRecord(_summary(record.deals), faults)
    return record


def _summary(deals: Sequence[Deal]) -> str:
    faulty = [deal for deal in deals if deal.faults]
    if len(faulty) > 1:
        return f"{len(faulty)} of {len(deals)} deals have faults"
    said = f"deal {faulty[0].number} has faults"
    return f"{said}, but none under {_listed(faulty[0].legal_under)}" if faulty[0].legal_under else said


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _asked(raw: notation.Raw, ruleset: str | None, rules: Mapping[str, Any] | None) -> notation.Raw:
    """A raw deal under the rules that the caller asked for."""
    data = dict(raw.data)
    if ruleset == AUTO:
        named = data.get("ruleset")
        data["ruleset"] = f"{AUTO} {named}" if isinstance(named, str) and named != AUTO else AUTO
    elif ruleset is not None:
        data.setdefault("ruleset", ruleset)
    given = data.get("rules")
    if rules and (given is None or isinstance(given, Mapping)):
        mine = {_folded(name) for name in rules}
        data["rules"] = {name: value for name, value in (given or {}).items() if _folded(name) not in mine} | {**rules}
    return replace(raw, data=data)


def _folded(field: object) -> str:
    """A rule's field, however it is spelled."""
    return str(field).replace("_", "").lower()


def _is_auto(raw: notation.Raw) -> bool:
    name = raw.data.get("ruleset")
    return isinstance(name, str) and (name == AUTO or name.startswith(AUTO + " "))


def _chain(raws: Iterable[notation.Raw], previous: Deal | None = None) -> Iterator[Deal]:
    """Each deal as its game understands it, after the one before it."""
    for raw in raws:
        previous = _replayed(raw, previous)
        yield previous


def _replayed(raw: notation.Raw, previous: Deal | None) -> Deal:
    """One deal under the ruleset that it names; other rulesets are looked at if it has faults."""
    game, raw = _game_of(raw)
    deal = game.replay(raw, previous)
    return _with_alternatives(game, raw, deal) if deal.faults else deal


def _game_of(raw: notation.Raw) -> tuple[Game, notation.Raw]:
    name = raw.data.get("ruleset", DEFAULT_RULESET)
    if not isinstance(name, str):
        return game_of(DEFAULT_RULESET), raw  # which says what is wrong with it
    try:
        return game_of(name), raw
    except ArrastreError as error:
        faults = tuple(raw.fault(each.field, each.reason, each.message) for each in error.faults)
        data = {field: value for field, value in raw.data.items() if field != "ruleset"}
        return game_of(DEFAULT_RULESET), replace(raw, data=data, faults=(*raw.faults, *faults))


def _with_alternatives(game: Game, raw: notation.Raw, deal: Deal) -> Deal:
    """A deal with faults, and the other rulesets under which it has none."""
    pinned = {name: deal.data[name] for name in ("carried", "vueltas", "dealer") if name in deal.data}
    alone = replace(raw, data={**raw.data, **pinned})
    if len(game.replay(alone, None).faults) < len(deal.faults):
        return deal  # something is wrong with how it follows the deal before, which no rules can mend
    own, given = deal.data.get("ruleset"), raw.data.get("rules")
    legal = []
    for other in game.readings(alone):
        name = str(other.data["ruleset"])
        if name != own and not game.replay(other, None).faults:
            changed = {
                field: value
                for field, value in other.data.get("rules", {}).items()
                if not isinstance(given, Mapping) or field not in given
            }
            legal.append(" with ".join([name, *(f"{field}={value}" for field, value in changed.items())]))
    if not legal:
        return deal
    said = raw.fault("ruleset", "LEGAL_UNDER", f"the whole deal is legal under {_listed(legal)}")
    return replace(deal, faults=(*deal.faults, said), legal_under=tuple(legal))


def _chosen(raws: Sequence[notation.Raw]) -> list[Deal]:
    """The deals under the one ruleset that fits them all best: the first without faults, or with the fewest."""
    best: list[Deal] = []
    for name in _candidates(raws):
        deals = list(_chain_under(raws, name))
        faults = _fault_count(deals)
        if not faults:
            return deals
        if not best or faults < _fault_count(best):
            best = deals
    return best


def _candidates(raws: Iterable[notation.Raw], *first: str) -> list[str]:
    named = [str(raw.data["ruleset"]).removeprefix(AUTO).strip() for raw in raws if _is_auto(raw)]
    known = rulesets()
    return list(dict.fromkeys(name for name in (*named, *first, *known) if name in known))


def _chain_under(raws: Iterable[notation.Raw], name: str, previous: Deal | None = None) -> Iterator[Deal]:
    for raw in raws:
        previous = _under(raw, name, previous) if _is_auto(raw) else _replayed(raw, previous)
        yield previous


def _under(raw: notation.Raw, name: str, previous: Deal | None) -> Deal:
    game = game_of(name)
    variant = next(each for each in game.readings(raw) if each.data["ruleset"] == name)
    return game.replay(variant, previous)


# -- reading deals one by one ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DealItem:
    """One deal of a stream: its number there from 0, its first line from 1, and the deal.

    ``error`` says what is wrong with it; the deal is then ``None``, or replayed as far as it could be.
    """

    index: int
    line: int
    deal: Deal | None
    error: ArrastreError | None


class Lines(Protocol):
    """A stream of text, or of bytes in UTF-8, as :func:`open` gives it."""

    def readline(self, size: int = -1, /) -> str | bytes:
        """The next line, or at most ``size`` characters of it; empty at the end."""
        ...


def read_deals(
    source: Lines | Iterable[str | bytes], *, ruleset: str | None = None, rules: Mapping[str, Any] | None = None
) -> Iterator[DealItem]:
    """Read deals from a stream in the text form, in JSON lines, or in both, however long it is.

    ``source`` is a file, or yields lines (or larger pieces, cut at line ends). One deal is held at a time, and what
    carries over from it to the next. A deal that cannot be read gives an item with an error, and the others go on.
    ``ruleset`` and ``rules`` are as for :meth:`Record.parse`; with ``auto``, each game is judged for itself, the
    ruleset of the one before tried first, and its deals come when another begins (or eight have been read). A JSON
    object with ``deals`` is a record of its own; other deals follow each other.
    """
    yield from replayed(_raw_deals(source, limited=True), ruleset=ruleset, rules=rules)


def replayed(
    source: Iterable[RawDeal], *, ruleset: str | None = None, rules: Mapping[str, Any] | None = None
) -> Iterator[DealItem]:
    """Check and replay deals that somebody else has read; otherwise as :func:`read_deals`."""
    game = _OpenGame()
    for index, item in enumerate(source):
        if item.raw is None:
            yield from game.release()
            game.last = None
            yield DealItem(index, item.line, None, item.error)
            continue
        if item.first:
            yield from game.release()
            game.last = None
        yield from game.add(index, item.line, _asked(item.raw, ruleset, rules))
    yield from game.release()


class _OpenGame:
    """Where a stream stands: the deal before, and the deals of one game whose ruleset is still to be found.

    A game is played under one ruleset, and the first deal of it may fit several: its deals are held until it ends.
    """

    def __init__(self) -> None:
        self.last: Deal | None = None
        self._held: list[tuple[int, int, notation.Raw]] = []
        self._deals: list[Deal] = []

    def add(self, index: int, line: int, raw: notation.Raw) -> Iterator[DealItem]:
        """Another deal; those that no later one can change."""
        if not _is_auto(raw):
            yield from self.release()
            self.last = _replayed(raw, self.last)
            yield _deal_item(index, line, self.last)
            return
        together = self._together(raw) if self._held else None
        if together is None:
            yield from self.release()
            together = [_fitting(raw, self.last)]
        self._held.append((index, line, raw))
        self._deals = together
        if len(self._held) >= _MOST_HELD:
            yield from self.release()

    def release(self) -> Iterator[DealItem]:
        """The deals that are held, none of which are held any longer."""
        if self._deals:
            self.last = self._deals[-1]
        for (index, line, _), deal in zip(self._held, self._deals, strict=True):
            yield _deal_item(index, line, deal)
        self._held, self._deals = [], []

    def _together(self, raw: notation.Raw) -> list[Deal] | None:
        """The deals that are held with one more, under the ruleset that fits them best; ``None`` for another game."""
        own = str(self._deals[-1].data.get("ruleset"))
        best = [*self._deals, _under(raw, own, self._deals[-1])]
        goes_on = best[-1].goes_on
        if not best[-1].faults:
            return best if goes_on else None
        raws = [*(held for _, _, held in self._held), raw]
        for name in _candidates(raws, own):
            deals = list(_chain_under(raws, name, self.last))
            if all(deal.goes_on for deal in deals[1:]) and _fault_count(deals) < _fault_count(best):
                if not _fault_count(deals):
                    return deals
                best = deals if goes_on else best
        return best if goes_on else None


def _deal_item(index: int, line: int, deal: Deal) -> DealItem:
    return DealItem(index, line, deal, InvalidRecord(_summary([deal]), deal.faults) if deal.faults else None)


def _fault_count(deals: Iterable[Deal]) -> int:
    return sum(len(deal.faults) for deal in deals)


def _fitting(raw: notation.Raw, previous: Deal | None) -> Deal:
    before = () if previous is None else (str(previous.data.get("ruleset")),)
    best: Deal | None = None
    for name in _candidates([raw], *before):
        deal = _under(raw, name, previous)
        if not deal.faults:
            return deal
        if best is None or len(deal.faults) < len(best.faults):
            best = deal
    assert best is not None
    return best


@dataclass(frozen=True, slots=True)
class RawDeal:
    """A raw deal and its first line, or why there is none; ``first`` if it begins a record of its own."""

    line: int
    raw: notation.Raw | None
    error: ArrastreError | None = None
    first: bool = False


def _raw_deals(source: Lines | Iterable[str | bytes], limited: bool) -> Iterator[RawDeal]:
    """The deals of a stream, unread; ``limited`` for streams that nobody has looked at before."""
    reader = _Reader()
    pending = _Json()
    number = 0
    for number, line in enumerate(text_lines(source, MAX_LINE if limited else None), 1):
        if isinstance(line, Fault):
            if pending.started or (line.card == "{" and reader.idle):
                yield from reader.finish()
                pending.start(number)
                yield from pending.refuse(replace(line, card=None, line=number))
                continue
            yield from reader.refuse(replace(line, card=None, line=number))
            continue
        if pending.started and pending.depth and line.startswith('{"'):
            yield from pending.finish()  # the object before was never closed
        if not pending.started and reader.idle and line.lstrip().startswith("{"):
            yield from reader.finish()
            pending.start(number)
        if pending.started:
            pending.add(line)
            if not pending.depth:
                yield from pending.finish()
            continue
        yield from reader.line(line, number)
    if pending.started:
        yield from pending.finish()
    yield from reader.finish(reader.idle and not reader.found and not pending.found)


def text_lines(source: Lines | Iterable[str | bytes], most: int | None) -> Iterator[str | Fault]:
    """The lines of a stream without their ends; for one that is too long, or no UTF-8, a fault that says so.

    Such a fault's ``card`` is the line's first character.
    """
    pieces = _pieces(source, most)
    for piece in pieces:
        if isinstance(piece, Fault):
            yield piece
            continue
        if isinstance(piece, bytes):
            try:
                piece = piece.decode("utf-8")
            except UnicodeDecodeError as error:
                said = f"byte 0x{piece[error.start]:02x} is not UTF-8"
                yield Fault("", "NOT_UTF8", said, column=error.start + 1)
                continue
        if "\ufeff" in piece:
            # At the start, and where files were put together.
            piece = piece.removeprefix("\ufeff").replace("\n\ufeff", "\n")
        lines = piece.split("\n")
        if lines[-1] == "" and len(lines) > 1:
            lines.pop()
        for line in lines:
            yield from line.removesuffix("\r").split("\r")


def _pieces(source: Lines | Iterable[str | bytes], most: int | None) -> Iterator[str | bytes | Fault]:
    readline = getattr(source, "readline", None)
    if readline is None:
        assert isinstance(source, Iterable)
        for piece in source:
            if most is None or len(piece) <= most:
                yield piece
            else:
                newline = "\n" if isinstance(piece, str) else b"\n"
                for line in piece.split(newline):  # type: ignore[arg-type]  # both are of one kind
                    yield _too_long(line) if _is_long(line, most) else line
        return
    while piece := readline(MAX_JSON):
        yield _too_long(piece) if most is not None and _is_long(piece, most) else piece
        if not _is_whole(piece) and len(piece) == MAX_JSON:
            while (rest := readline(1 << 16)) and not _is_whole(rest):
                pass


def _is_whole(piece: str | bytes) -> bool:
    return piece[-1:] in ("\n", b"\n")


def _is_long(line: str | bytes, most: int) -> bool:
    """Whether a line is too long: a JSON object has more room than a line of text."""
    begins = line[:1] in ("{", b"{")
    return len(line) >= MAX_JSON if begins else len(line) > most


def _too_long(line: str | bytes) -> Fault:
    begins = "{" if line[:1] in ("{", b"{") else ""
    most = MAX_JSON if begins else MAX_LINE
    return Fault("", "TOO_LONG", f"a line has at most {most} characters", begins)


# -- JSON ------------------------------------------------------------------------------------------------------------

_BRACKET: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]')
_JSON_SPACE: Final = re.compile(r"[ \t\n\r]*")


class _Json:
    """A JSON object that may go over many lines."""

    def __init__(self) -> None:
        self.started = False
        self.found = False
        self.depth = 0
        self.first_line = 0
        self._parts: list[str] = []
        self._size = 0

    def start(self, line: int) -> None:
        """Begin an object, unless one is being read."""
        if not self.started:
            self.started, self.first_line, self.depth = True, line, 0
            self._parts, self._size = [], 0

    def add(self, line: str) -> None:
        """Another line of it."""
        self._size += len(line) + 1
        if self._size <= MAX_JSON:
            self._parts.append(line)
        for token in _BRACKET.finditer(line):
            bracket = token.group()
            if bracket in "{[":
                self.depth += 1
            elif bracket in "}]":
                self.depth -= 1
        self.depth = max(self.depth, 0)

    def refuse(self, fault: Fault) -> Iterator[RawDeal]:
        """Give the object up for a line that could not be read."""
        self.started, self.found, self._parts = False, True, []
        yield RawDeal(self.first_line, None, InvalidSyntax("the text cannot be read", [fault]))

    def finish(self) -> Iterator[RawDeal]:
        """The deals in it."""
        self.started, self.found = False, True
        first, text = self.first_line, "\n".join(self._parts)
        self._parts = []
        if self._size > MAX_JSON:
            fault = Fault("", "TOO_LONG", f"a JSON object has at most {MAX_JSON} characters", line=first)
            yield RawDeal(first, None, InvalidSyntax("the text cannot be read", [fault]))
            return
        try:
            raw = notation.read_json(text)
        except InvalidSyntax as error:
            faults = [replace(fault, line=first + (fault.line or 1) - 1) for fault in error.faults]
            yield RawDeal(first, None, InvalidSyntax(error.message, faults))
            return
        places = JsonPlaces(text, first)
        raw = replace(raw, columns=_View(places, 1), lines=_View(places, 0))
        try:
            for index, deal in enumerate(_split(raw)):
                yield RawDeal(first, deal, first=index == 0 and "deals" in raw.data)
        except ArrastreError as error:
            yield RawDeal(first, None, error)


class JsonPlaces:
    """Line and column of everything in a JSON text, by path; worked out when first asked for."""

    def __init__(self, text: str, first_line: int) -> None:
        self.text = text
        self.first_line = first_line
        self._offsets: dict[str, tuple[int, int]] | None = None

    def get(self, path: str) -> tuple[int, int] | None:
        """The line and the column at which a value begins."""
        if self._offsets is None:
            self._offsets = {}
            starts = [0]
            starts += [match.end() for match in re.finditer("\n", self.text)]
            line = 0
            for where, offset in _json_offsets(self.text):
                while line + 1 < len(starts) and starts[line + 1] <= offset:
                    line += 1
                self._offsets.setdefault(where, (self.first_line + line, offset - starts[line] + 1))
        return self._offsets.get(path)


def _json_offsets(text: str) -> Iterator[tuple[str, int]]:
    """The path and the offset of every value of a valid JSON text, in order."""
    decoder = json.JSONDecoder()
    # Each open object or array: its path, and the index of its next item (−1 for an object).
    stack: list[tuple[str, int]] = []
    path, at = "", 0
    value_next = True
    while True:
        at = _space(text, at)
        if at >= len(text):
            return
        letter = text[at]
        if letter in "}]":
            stack.pop()
            at, value_next = at + 1, False
        elif letter == ",":
            at += 1
            parent, index = stack[-1]
            if index >= 0:
                stack[-1] = (parent, index + 1)
                path, value_next = f"{parent}[{index + 1}]", True
            else:
                value_next = False
        elif not value_next and letter == '"':  # a name
            name, at = decoder.raw_decode(text, at)
            at = _space(text, at) + 1
            path, value_next = _joined(stack[-1][0], name), True
        else:
            yield path, at
            if letter in "{[":
                stack.append((path, -1 if letter == "{" else 0))
                at += 1
                path, value_next = f"{path}[0]", letter == "["
            else:
                _, at = decoder.raw_decode(text, at)
                value_next = False


def _space(text: str, at: int) -> int:
    match = _JSON_SPACE.match(text, at)
    return match.end() if match else at


class _View(Mapping[str, int]):
    """The lines (0) or the columns (1) of a JSON text's values, below a path; what is not there is looked for at the
    top, where a record says what its deals share."""

    def __init__(self, places: JsonPlaces, part: int, prefix: str = "") -> None:
        self._places = places
        self._part = part
        self._prefix = prefix

    def below(self, prefix: str) -> _View:
        """The same below a path."""
        return _View(self._places, self._part, prefix)

    def __getitem__(self, path: str) -> int:
        found = self._places.get(_joined(self._prefix, path) if path else self._prefix)
        if found is None and path:
            found = self._places.get(path)
        if found is None:
            raise KeyError(path)
        return found[self._part]

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 1


def _joined(path: str, name: str) -> str:
    if not path or not name:
        return path or name
    return f"{path}{name}" if name.startswith("[") else f"{path}.{name}"


def _split(raw: notation.Raw) -> Iterator[notation.Raw]:
    """The deals of a JSON form: of a record, or the form of a single deal. Raises ``ArrastreError``."""
    data = raw.data
    faults = list(raw.faults)
    schema = data.get("schema", SCHEMA)
    if type(schema) is not int or schema != SCHEMA:
        faults.append(raw.fault("schema", "BAD_SCHEMA", f"this is schema {SCHEMA}"))
    shared = {name: value for name, value in data.items() if name not in ("schema", "deals")}
    if "deals" not in data:
        yield replace(raw, data=shared, faults=tuple(faults))
        return
    deals = data["deals"]
    if not isinstance(deals, Sequence) or isinstance(deals, str):
        faults.append(raw.fault("deals", "BAD_TYPE", "deals is a list of deals"))
        raise InvalidRecord("the record has faults", faults)
    if not deals and faults:
        raise InvalidRecord("the record has faults", faults)
    for index, deal in enumerate(deals):
        prefix = f"deals[{index}]"
        mine = [replace(each, field=each.field[len(prefix) + 1 :]) for each in faults if each.field.startswith(prefix)]
        common = [each for each in faults if not each.field.startswith("deals[")] if index == 0 else []
        columns, lines = raw.columns, raw.lines
        if isinstance(columns, _View) and isinstance(lines, _View):
            columns, lines = columns.below(prefix), lines.below(prefix)
        part = notation.Raw({}, columns, tuple(common + mine), lines)
        if isinstance(deal, Mapping):
            yield replace(part, data=_merged(shared, deal))
        else:
            fault = part.fault("", "BAD_TYPE", "a deal is an object")
            yield replace(part, data=dict(shared), faults=(*part.faults, fault))


def _merged(shared: Mapping[str, Any], deal: Mapping[str, Any]) -> dict[str, Any]:
    """What a deal says, and where it says nothing what its record does; a name may be spelled in two ways."""
    mine = {_folded(name) for name in deal}
    return {name: value for name, value in shared.items() if _folded(name) not in mine} | dict(deal)


# -- the text form ---------------------------------------------------------------------------------------------------

_STRING: Final = r'"(?:[^"\\]|\\.)*"'
_LEX: Final = re.compile(
    rf"""(?P<space>\s+)
    | (?P<tag>\[\s*(?P<name>[A-Za-z]\w*)\s+(?P<value>{_STRING})\s*\])
    | (?P<comment>\{{)
    | (?P<number>(?P<trick>[0-9]{{1,4}})\.(?:(?P<place>[0-9]{{1,2}})(?=\s|$))?)
    | (?P<star>\*)
    | (?P<word>(?:{_STRING}|[^\s{{}}\[\]"*])+)
    | (?P<bad>.)""",
    re.VERBOSE | re.ASCII,
)
_TAG: Final = re.compile(rf"\[\s*[A-Za-z]\w*\s+{_STRING}\s*\]", re.ASCII)
_COMMENT_END: Final = re.compile(r"[^}\\]*(?:\\.[^}\\]*|\\$)*(?P<end>\})?")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\\}\"]))")
_SEAT: Final = re.compile(r"[NOSEnose0-3]", re.ASCII)
#: What can only be meant for a seat: no card is written with a single character.
_SEAT_LIKE: Final = re.compile(r"[^\W_]")
#: A number that begins a line, with no dot.
_NO_DOT: Final = re.compile(r"\s*[0-9]{1,2}[:)]?$", re.ASCII)
_HAND: Final = re.compile(r"\s*(?:([NOSEnose0-3])[\s:]+)?(\?|[^+]*?)\s*(?:\+([0-9]{1,3}))?\s*", re.ASCII)
_RULE: Final = re.compile(r"([A-Za-z_]\w*)\s*=\s*([^\s,;]+)", re.ASCII)
_RESULT: Final = "result"
_UNFINISHED: Final = "*"


@dataclass(slots=True)
class _Entry:
    """A card or a declaration in a text: the event, and where it is."""

    event: dict[str, Any]
    line: int
    column: int
    seat_column: int | None = None


class _TrickText:
    """What a text says of one trick: its cards, and declarations by the number of cards before them."""

    def __init__(self) -> None:
        self.leader: str | None = None
        self.leader_at: tuple[int, int] = (0, 0)
        self.cards: list[_Entry] = []
        self.declared: list[tuple[int, _Entry]] = []
        self.lined = False

    def entries(self) -> Iterator[_Entry]:
        """Cards and declarations in the order in which they were made."""
        declared = sorted(self.declared, key=lambda each: each[0])
        for place, card in enumerate(self.cards):
            while declared and declared[0][0] <= place:
                yield declared.pop(0)[1]
            yield card
        for _, entry in declared:
            yield entry


def _lacks_dot(token: re.Match[str]) -> bool:
    """Whether a token begins its line, and should be the number of a trick."""
    return _NO_DOT.match(token.string, 0, token.end()) is not None


class _Reader:
    """Puts deals together from the lines of a text."""

    def __init__(self) -> None:
        self.found = False
        self._begin()

    def _begin(self) -> None:
        self._first_line = 1
        self._data: dict[str, Any] = {}
        self._columns: dict[str, int] = {}
        self._lines: dict[str, int] = {}
        self._faults: list[Fault] = []
        self._tricks: dict[int, _TrickText] = {}
        self._trick: _TrickText | None = None
        self._declaring: tuple[_TrickText, int, int, list[tuple[str, int, int]]] | None = None
        self._last: _Entry | None = None
        self._comment: list[str] | None = None
        self._opened: tuple[int, int] = (0, 0)
        self._unread = 0
        self._comments: list[str] = []
        self._size = 0
        self._moves = self._closed = self._blank = self._any = False

    def _started(self, line: int) -> None:
        """The deal has something in it, from some line on."""
        if not self._any:
            self._any, self._first_line = True, line

    @property
    def idle(self) -> bool:
        """Whether a deal may begin here that is written in JSON."""
        return self._comment is None and (not self._any or self._closed)

    def _fault(self, path: str, reason: str, message: str, line: int, column: int | None) -> None:
        if len(self._faults) < _MOST_FAULTS:
            self._faults.append(Fault(path, reason, message, line=line, column=column))

    def refuse(self, fault: Fault) -> Iterator[RawDeal]:
        """Note a line that could not be read; the deal before it, if that has ended."""
        if self._closed:
            yield from self.finish()
        self._started(fault.line or 1)
        if len(self._faults) < _MOST_FAULTS:
            self._faults.append(fault)

    # -- lines

    def line(self, text: str, number: int) -> Iterator[RawDeal]:
        """Read a line; deals that it ends."""
        if self._comment is not None and _TAG.match(text):
            # Nobody writes that in a comment: its end has been forgotten, and should not cost the deals that follow.
            self._fault("comment", "BAD_TEXT", "a comment is not closed with }", *self._opened)
            self._comment = None
        if self._comment is None:
            if not text or text.isspace():
                self._blank = True
                return
            if text.startswith("#"):
                return
        at = 0
        if self._comment is not None:
            at = self._in_comment(text, 0)
        while at < len(text):
            token = _LEX.match(text, at)
            assert token is not None
            at = token.end()
            if token["tag"] is not None:
                name = token["name"][0].lower() + token["name"][1:]
                if self._begins(name):
                    yield from self.finish()
                self._started(number)
                self._size += len(token.group())
                self._tag(name, token, number)
            elif token["space"] is None:
                self._started(number)
                self._size += len(token.group())
                if token["comment"] is not None:
                    self._end_declaration()
                    self._comment, self._opened = [], (number, token.start() + 1)
                    at = self._in_comment(text, at)
                else:
                    self._moved(token, number)
            self._blank = False
        if self._size > MAX_DEAL and not (self._faults and self._faults[-1].reason == "TOO_LONG"):
            self._faults = self._faults[: _MOST_FAULTS - 1]
            self._fault("", "TOO_LONG", f"a deal has at most {MAX_DEAL} characters", number, None)
            self._tricks, self._comments, self._trick, self._declaring = {}, [], None, None

    def _begins(self, name: str) -> bool:
        """Whether a tag begins another deal."""
        if self._moves:
            return name != _RESULT or name in self._data
        return self._blank and (name in self._data or (name.upper() in _SEATS and self._names_given(name)))

    def _names_given(self, name: str) -> bool:
        return f"names[{_SEATS.index(name.upper())}]" in self._columns

    def _in_comment(self, text: str, at: int) -> int:
        """Read on in a comment; where it ends, or the line does."""
        match = _COMMENT_END.match(text, at)
        assert match is not None and self._comment is not None
        self._size += match.end() - at
        if self._size <= MAX_DEAL:
            self._comment.append(text[at : match.end() - (match["end"] is not None)])
        if match["end"] is None:
            # No string and no escape goes over the end of a line.
            return len(text)
        comment = _unescaped(" ".join(self._comment))
        self._comment = None
        if self._last is None:
            self._comments.append(comment)
        else:
            before = self._last.event.get("comment")
            self._last.event["comment"] = comment if before is None else f"{before} {comment}"
        return match.end()

    # -- tokens

    def _tag(self, name: str, token: re.Match[str], line: int) -> None:
        self._end_declaration()
        if self._moves:
            self._closed = True
        value, column = token["value"], token.start("value") + 2
        text = _unescaped(value[1:-1])
        if self._size > MAX_DEAL:
            return
        if len(name) == 1 and name.upper() in _SEATS:
            self._name(_SEATS.index(name.upper()), text, line, column)
            return
        if name in self._data:
            self._fault(name, "REPEATED_FIELD", f"{name} is given twice", line, token.start() + 1)
            return
        self._columns[name], self._lines[name] = column, line
        if name == "hands":
            self._data[name] = self._hands(text, line, column)
        elif name == "stock":
            self._data[name] = self._run(name, text, line, column)
        elif name == "rules":
            self._data[name] = self._rules(text, line, column)
        else:
            self._data[name] = text

    def _name(self, seat: int, text: str, line: int, column: int) -> None:
        path = f"names[{seat}]"
        if path in self._columns:
            self._fault(path, "REPEATED_FIELD", f"seat {_SEATS[seat]} has two names", line, column)
            return
        names = self._data.setdefault("names", [])
        names += [""] * (seat + 1 - len(names))
        names[seat] = text
        for place in ("names", path):
            self._columns.setdefault(place, column)
            self._lines.setdefault(place, line)

    def _place(self, path: str, line: int, column: int) -> None:
        self._columns[path], self._lines[path] = column, line

    def _run(self, path: str, text: str, line: int, column: int) -> list[str]:
        cards: list[str] = []
        for word in re.finditer(rf"(?:{_STRING}|[^\s\"])+|\"", text):
            for card, at in notation.cards_at(word.group(), column + word.start()):
                self._place(f"{path}[{len(cards)}]", line, at)
                cards.append(card)
        return cards

    def _hands(self, text: str, line: int, column: int) -> list[Any]:
        hands: list[Any] = []
        at = 0
        for order, part in enumerate(text.split("/" if "/" in text else ";")):
            here, at = column + at, at + len(part) + 1
            if not part.strip():
                continue
            match = _HAND.fullmatch(part)
            if match is None:
                self._fault("hands", "BAD_TEXT", f"'{quoted(part.strip())}' is no hand, as in N 1O3O.RC+4", line, here)
                continue
            seat = order
            if match[1]:
                seat = int(match[1]) if match[1].isdigit() else _SEATS.index(match[1].upper())
            path = f"hands[{seat}]"
            here += match.start(2)
            if path in self._columns:
                self._fault(path, "REPEATED_FIELD", f"seat {_SEATS[seat]} has two hands", line, here)
                continue
            self._place(path, line, here)
            hands += [None] * (seat + 1 - len(hands))
            if match[2] == "?":
                hands[seat] = "?"
                continue
            hand: dict[str, Any] = {"cards": self._run(f"{path}.cards", match[2], line, here)}
            if match[3]:
                hand["hidden"] = int(match[3])
            hands[seat] = hand
        return hands

    def _rules(self, text: str, line: int, column: int) -> dict[str, str]:
        rules: dict[str, str] = {}
        rest = text
        for match in _RULE.finditer(text):
            path = f"rules.{match[1]}"
            if match[1] in rules:
                self._fault(path, "REPEATED_FIELD", f"{match[1]} is given twice", line, column + match.start())
            rules[match[1]] = match[2]
            self._place(path, line, column + match.start())
            rest = rest.replace(match.group(), "", 1)
        if rest.strip(" ,;\t"):
            self._fault("rules", "BAD_TEXT", "rules are written field=value, with blanks between them", line, column)
        return rules

    def _moved(self, token: re.Match[str], line: int) -> None:
        """A token of what was played."""
        column = token.start() + 1
        word = token["word"] is not None
        among_tags = bool(self._data) and not self._moves
        if among_tags and line == self._unread and token["number"] is None:
            return
        self._moves = True
        if self._size > MAX_DEAL or (word and line == self._unread):
            return
        if word and self._declared_before(line):
            self._end_declaration()
        if self._closed and (token["star"] is None or "finished" in self._data):
            self._fault("", "BAD_TEXT", f"'{quoted(token.group())}' stands after the end of the deal", line, column)
        elif token["number"] is not None:
            self._end_declaration()
            self._numbered(token, line, column)
        elif token["star"] is not None:
            self._end_declaration()
            self._data["finished"] = False
            self._place("finished", line, column)
            self._closed = True
        elif word and self._declaring is not None:
            self._declaring[3].append((token.group(), line, column))
        elif (
            word and self._trick is not None and not (self._trick.cards and _NO_DOT.match(token.string, 0, token.end()))
        ):
            self._word(token.group(), line, column)
        elif line != self._unread:
            self._not_read(token, line, column)
            # A tag that is spoilt among others does not begin the play, nor the one behind it another deal.
            self._moves = not among_tags

    def _declared_before(self, line: int) -> bool:
        """Whether something has been declared on a line before; what is played does not stand behind it."""
        words = [] if self._declaring is None else self._declaring[3]
        return any(at < line and not _SEAT_LIKE.fullmatch(word) for word, at, _ in words)

    def _not_read(self, token: re.Match[str], line: int, column: int) -> None:
        """Something that is nothing known; what stands behind it on its line need not be what it looks like."""
        self._unread = line
        text = token.group()
        if text == "[":
            said = 'a tag is a name and a text in quotes, and closed, as in [Dealer "S"]'
        elif _lacks_dot(token):
            said = f"'{quoted(text)}' cannot be read; the number of a trick has a dot, as in 1. E 7B 5B"
        else:
            said = f"'{quoted(text)}' cannot be read; there are [Tag \"…\"], 1. E 7B 5B, 2.0 O cambio, {{…}} and *"
        self._fault("", "BAD_TEXT", said, line, column)

    def _numbered(self, token: re.Match[str], line: int, column: int) -> None:
        number = int(token["trick"])
        trick = self._tricks.get(number)
        if trick is None:
            trick = self._tricks[number] = _TrickText()
        if token["place"] is not None:
            self._trick = None
            self._declaring = (trick, number, int(token["place"]), [])
            return
        if trick.lined:
            self._fault("events", "REPEATED_FIELD", f"trick {number} is given twice", line, column)
        trick.lined = True
        self._trick = trick
        self._number = number

    def _word(self, word: str, line: int, column: int) -> None:
        trick = self._trick
        assert trick is not None
        if not trick.cards and trick.leader is None and _SEAT_LIKE.fullmatch(word):
            trick.leader, trick.leader_at = word.upper(), (line, column)
            return
        for card, at in notation.cards_at(word, column):
            event: dict[str, Any] = {"trick": self._number, "action": card}
            entry = _Entry(event, line, at)
            if not trick.cards and trick.leader is not None:
                event["seat"] = trick.leader
                entry.seat_column = trick.leader_at[1]
            trick.cards.append(entry)
            self._last = entry

    def _end_declaration(self) -> None:
        if self._declaring is None:
            return
        trick, number, place, words = self._declaring
        self._declaring = None
        if not words:
            self._fault("events", "BAD_TEXT", f"nothing is declared at {number}.{place}", self._first_line, None)
            return
        _, line, column = words[0]
        event: dict[str, Any] = {"trick": number}
        entry = _Entry(event, line, column)
        if _SEAT_LIKE.fullmatch(words[0][0]):
            event["seat"] = words[0][0].upper()
            entry.seat_column = column
            words = words[1:]
        event["action"] = " ".join(_without_quotes(word) for word, _, _ in words)
        if words:
            entry.column = words[0][2]
        trick.declared.append((place, entry))
        self._last = entry

    # -- deals

    def finish(self, required: bool = False) -> Iterator[RawDeal]:
        """The deal that has been read so far, if there is one; ``required`` if there should be."""
        self._end_declaration()
        if self._comment is not None:
            self._fault("comment", "BAD_TEXT", "a comment is not closed with }", *self._opened)
        if not self._any:
            if required:
                error = InvalidSyntax("there is no record", [Fault("", "NOT_A_RECORD", "the text holds no deal")])
                yield RawDeal(1, None, error)
            return
        self.found = True
        first = self._first_line
        if not self._data and not self._tricks and not self._comments and self._faults:
            yield RawDeal(first, None, InvalidSyntax("the text cannot be read", self._faults))
        else:
            yield RawDeal(first, self._raw())
        self._begin()

    def _raw(self) -> notation.Raw:
        events: list[dict[str, Any]] = []
        for trick in self._tricks.values():
            for entry in trick.entries():
                path = f"events[{len(events)}]"
                for part in (path, f"{path}.action", f"{path}.trick"):
                    self._place(part, entry.line, entry.column)
                if entry.seat_column is not None:
                    self._place(f"{path}.seat", entry.line, entry.seat_column)
                events.append(entry.event)
            if trick.leader is not None and not trick.cards:
                line, column = trick.leader_at
                self._fault("events", "BAD_TEXT", f"seat {trick.leader} plays no card", line, column)
        data = {**self._data, "events": events}
        if self._comments:
            data["comment"] = " ".join(self._comments)
        self._lines[""] = self._first_line
        return notation.Raw(data, self._columns, tuple(self._faults), self._lines)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    said = _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[2], text)
    # What is beyond the first 65 536 characters is written as two halves.
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if "\\u" in text else said


def _without_quotes(word: str) -> str:
    return _unescaped(word[1:-1]) if len(word) > 1 and word[0] == word[-1] == '"' else word


# -- writing ---------------------------------------------------------------------------------------------------------

#: The fields of a deal in the order in which their tags are written, by line.
_TAGS: Final = (
    ("event", "site", "date", "round", "table", "source", "id"),
    ("game", "deal", "ruleset", "rules", "players", "dealer", "carried", "vueltas", "trump"),
    ("names",),
    ("hands",),
    ("stock",),
)
#: In which order seats are named: clockwise from the north, as at a table seen from above.
_CLOCKWISE: Final = (0, 3, 2, 1)
_DEFAULT_PLAYERS: Final = 4


def write_deal(data: Mapping[str, Any]) -> str:
    """The text form of a deal, from its canonical JSON form; it ends with the end of a line."""
    lines = []
    known = {name for row in _TAGS for name in row} | {"events", "result", "finished", "comment"}
    rows = [*_TAGS[:2], tuple(name for name in data if name not in known), *_TAGS[2:]]
    for row in rows:
        tags = [tag for name in row if name in data for tag in _tags(name, data[name], data)]
        if tags:
            lines.append(" ".join(tags))
    if data.get("comment"):
        lines.append(_comment(data["comment"]))
    lines += _moves(data.get("events", ()))
    unfinished = data.get("finished") is False
    if data.get("result") is not None:
        lines.append(_tag(_RESULT, "{} {}".format(*data["result"])))
    elif not unfinished:
        lines.append(_tag(_RESULT, ""))
    if unfinished:
        lines.append(_UNFINISHED)
    return "\n".join(lines) + "\n"


def _tag(name: str, value: str) -> str:
    text = _printable(value.replace("\\", "\\\\").replace('"', '\\"'))
    return f'[{name[0].upper()}{name[1:]} "{text}"]'


def _tags(name: str, value: Any, data: Mapping[str, Any]) -> list[str]:
    """The tags of a field, none where it says nothing."""
    if name == "names":
        return [_tag(_SEATS[seat], value[seat]) for seat in _around(len(value)) if value[seat]]
    if name == "hands":
        hands = [f"{_SEATS[seat]} {_hand(value[seat])}" for seat in _around(len(value))]
        return [_tag(name, "; ".join(hands))] if any(hand["cards"] for hand in value) else []
    if name == "stock":
        if not value:
            return []
        known = any(card != "?" for card in value[:-1])
        stock = [_tag(name, notation.join_cards(value[:-1]))] if known else []
        return [*stock, *([_tag("muestra", value[-1])] if value[-1] != "?" else [])]
    if name == "trump":
        # The muestra says it where there is one.
        return [] if value is None or data.get("stock") else [_tag(name, value)]
    if name == "players":
        return [] if value == _DEFAULT_PLAYERS else [_tag(name, str(value))]
    if name == "dealer":
        return [_tag(name, _SEATS[value])]
    if name == "carried":
        return [_tag(name, "{} {}".format(*value))]
    if name == "vueltas":
        follows = any(data.get("carried", ()))
        return [] if value == follows else [_tag(name, "yes" if value else "no")]
    if name == "rules":
        return [_tag(name, " ".join(f"{field}={each}" for field, each in value.items()))] if value else []
    return [_tag(name, value if isinstance(value, str) else json.dumps(value))] if value not in (None, "") else []


def _around(seats: int) -> Sequence[int]:
    return _CLOCKWISE if seats == len(_CLOCKWISE) else range(seats)


def _hand(hand: Mapping[str, Any]) -> str:
    cards, hidden = hand["cards"], hand["hidden"]
    if not cards:
        return "?"
    return notation.join_cards(cards) + (f"+{hidden}" if hidden else "")


def _comment(text: str) -> str:
    return "{{{}}}".format(_printable(text.replace("\\", "\\\\").replace("}", "\\}")))


def _printable(text: str) -> str:
    """A text with everything that does not show in it written as JSON would, by number."""
    if text.isprintable():
        return text
    halves = (letter.encode("utf-16-be") for letter in text)
    return "".join(
        letter if letter.isprintable() else "".join(f"\\u{code[i : i + 2].hex()}" for i in range(0, len(code), 2))
        for letter, code in zip(text, halves, strict=True)
    )


def _moves(events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What was done, one line a trick, and one for everything else."""
    at = 0
    while at < len(events):
        trick = events[at]["trick"]
        declared: list[str] = []
        cards: list[str] = []
        leader, played = "", 0
        while at < len(events) and events[at]["trick"] == trick:
            event = events[at]
            seat = "" if event.get("seat") is None else _SEATS[event["seat"]]
            said = f" {_comment(event['comment'])}" if event.get("comment") else ""
            action = event["action"]
            if is_declaration(action):
                declared.append(f"{trick}.{played} {seat} {action}{said}".replace("  ", " ", not seat))
            else:
                if not played:
                    leader = seat
                cards.append(_written_card(action) + said)
                played += 1
            at += 1
        yield from declared
        if cards:
            yield " ".join(each for each in (f"{trick}.", leader, *cards) if each)


#: A word that is no card: what is declared has at least three letters, and begins with two.
_DECLARED: Final = re.compile(r"[a-z]{3,}( .*)?")


def is_declaration(action: str) -> bool:
    """Whether an action as records spell it is no card."""
    return _DECLARED.fullmatch(action) is not None


def _written_card(card: str) -> str:
    return card if re.fullmatch(r"[^\s{}\[\]\"*.,]+", card) and not _SEAT_LIKE.fullmatch(card) else json.dumps(card)


# -- what was played, valued -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LineValue:
    """A step of a recorded deal, and what it cost, from the point of view of the side that acts.

    ``value`` is the position's value before the action, that of the best one that the rules allow; ``played`` that of
    the action, ``loss`` the difference: 0 for a best action. An action that broke the rules (``step.breach``) and was
    done all the same is worth what the position is worth to which it led; its loss is below 0 if it paid. All are
    ``None`` where they are not known: cards unseen, the search cut (``lower`` and ``upper`` then bound the value, if it
    was begun), a game that is over, an action that the objective does not know, or a position that the faults of the
    deal leave in doubt. ``best`` lists the best actions.
    """

    step: Step
    value: int | None = None
    played: int | None = None
    lower: int | None = None
    upper: int | None = None
    best: tuple[Action, ...] = ()

    @property
    def loss(self) -> int | None:
        """What the action cost its side."""
        return None if self.value is None or self.played is None else self.value - self.played

    def to_dict(self) -> dict[str, Any]:
        return {
            "at": str(self.step.at),
            "moment": self.step.moment,
            **self.step.action.to_dict(),
            "value": self.value,
            "played": self.played,
            "loss": self.loss,
            "lower": self.lower,
            "upper": self.upper,
            "best": [action.to_dict() for action in self.best],
            "breach": None if self.step.breach is None else self.step.breach.to_dict(),
        }


def line_values(
    deal: Deal,
    *,
    objective: str = "points",
    context: Context | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    solving: Callable[..., Solution] = solve,
) -> tuple[LineValue, ...]:
    """What each action of a recorded deal was worth and cost, windows included, with every card known.

    The deal is gone through from its end, where everything is quickly proven and helps with what comes before; once
    a limit (``nodes``, ``seconds``, both for each position) cuts a search, nothing earlier is tried. Positions are
    solved by ``solving``, which is called like :func:`~arrastre.exact.solve`. Raises
    :class:`~arrastre.errors.InvalidRequest` for an objective that the game does not have.
    """
    context = context or Context()
    values: list[LineValue] = []
    cut = False

    def solved(position: Position | None) -> Solution | None:
        nonlocal cut
        if cut or position is None:
            return None
        try:
            solution = solving(position, objective=objective, line=False, nodes=nodes, seconds=seconds, context=context)
        except InvalidPosition:  # cards unseen, or the game over
            return None
        cut = not solution.proven
        return solution

    certain = deal.certain_positions
    # The position after the step, where it is beyond doubt.
    after = solved(deal.end) if certain > len(deal.steps) and deal.steps and deal.steps[-1].breach is not None else None
    for place in range(len(deal.steps) - 1, -1, -1):
        step = deal.steps[place]
        solution = solved(step.position if place < certain else None)
        values.append(_line_value(step, solution, after))
        after = solution
    return tuple(reversed(values))


def _line_value(step: Step, solution: Solution | None, after: Solution | None) -> LineValue:
    if solution is None:
        return LineValue(step)
    if not solution.proven:
        return LineValue(step, lower=solution.lower, upper=solution.upper)
    played = next((each.lower for each in solution.actions if each.action == step.action), None)
    if played is None and step.breach is not None and after is not None and after.value is not None:
        played = after.value if _side(step.position) == _side(after.position) else -after.value
    return LineValue(step, solution.value, played, solution.lower, solution.upper, solution.best)


def _side(position: Position) -> int:
    """The side whose turn it is."""
    return position.game.describe(position, "en").seats[position.seat].side
