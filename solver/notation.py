"""Reading and writing positions as text, before and after anybody asks whether they make sense.

:func:`read` takes JSON or the one-line text form and gives a :class:`Raw`: data in the shape of the JSON form, with
the column of every part of a text. It knows no game: cards stay texts, and whether they are cards is for the game's
gate to say. :func:`write` puts any game's JSON form on one line. ``docs/notation.md`` holds the grammar.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NoReturn

from arrastre.cards import quoted
from arrastre.errors import Fault, InvalidSyntax

#: Longer texts are refused unread; the longest sensible position takes about two thousand characters.
MAX_TEXT: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Raw:
    """What somebody handed in, read but not checked.

    ``data`` has the shape of the JSON form (keys as they were written), ``columns`` maps a JSON path to the column at
    which that part of a text begins (empty for JSON), ``lines`` to its line where a text has several, and ``faults``
    are those the reader found and read past: a gate reports them together with its own.
    """

    data: Mapping[str, Any]
    columns: Mapping[str, int] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict)

    def fault(self, field: str, reason: str, message: str = "", card: str | None = None) -> Fault:
        """A fault at a JSON path, with the column of that part of the text, or of the nearest part around it."""
        path, column = field, self.columns.get(field)
        while column is None and path:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
            column = self.columns.get(path)
        return Fault(field, reason, message, card, self.lines.get(path), column)

    def fields(self, known: Mapping[str, str]) -> tuple[dict[str, Any], list[Fault]]:
        """The data under its canonical field names, and the faults so far: the reader's, unknown fields, repeats.

        ``known`` maps every accepted name to the canonical one (see :func:`names`).
        """
        found: dict[str, Any] = {}
        faults = list(self.faults)
        for name, value in self.data.items():
            canonical = known.get(name)
            if canonical is None:
                shown = quoted(str(name))
                faults.append(self.fault(shown, "UNKNOWN_FIELD", f"there is no field '{shown}'"))
            elif canonical in found:
                faults.append(self.fault(canonical, "REPEATED_FIELD", f"{canonical} is given twice"))
            else:
                found[canonical] = value
        return found, faults


def names(canonical: Iterable[str]) -> dict[str, str]:
    """The names under which fields are accepted, camelCase and snake_case, each with the canonical camelCase one."""
    return {name: each for each in canonical for name in (each, _snake(each))}


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def read(text: str) -> Raw:
    """Read JSON (a text that begins with ``{``) or the one-line form.

    Raises :class:`~arrastre.errors.InvalidSyntax` when the text is neither; what can be read past is kept in
    ``Raw.faults``.
    """
    if len(text) > MAX_TEXT:
        _refuse("TOO_LONG", f"a position takes at most {MAX_TEXT} characters, and this text has {len(text)}")
    text = text.removeprefix("\ufeff")
    start = text.lstrip()[:1]
    if start == "{":
        return read_json(text)
    if start == "[":
        _refuse("NOT_AN_OBJECT", "a position is a JSON object, not a list")
    return _read_line(text)


def _refuse(reason: str, message: str, line: int | None = None, column: int | None = None) -> NoReturn:
    raise InvalidSyntax("the text cannot be read", [Fault("", reason, message, line=line, column=column)])


# -- JSON ------------------------------------------------------------------------------------------------------------


class _RepeatError(Exception):
    """Some object has the same name more than once."""


class _Repeats(dict[str, Any]):
    """A JSON object in which some names came more than once (the last value stays)."""

    names: tuple[str, ...] = ()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RepeatError
    return found


def _marked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = _Repeats(pairs)
    if len(found) != len(pairs):
        found.names = tuple(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)
_MARKING_DECODER: Final = json.JSONDecoder(object_pairs_hook=_marked, parse_constant=_no_constant)


def decode(text: str, path: str = "") -> tuple[Any, list[Fault]]:
    """The JSON value of a text, and faults for names given twice. Raises ``ValueError`` and ``RecursionError``."""
    try:
        return _DECODER.decode(text), []
    except _RepeatError:  # read again, slowly, to say where
        value = _MARKING_DECODER.decode(text)
        return value, list(_repeats(value, path))


def read_json(text: str) -> Raw:
    """Read a JSON object of any length. Raises :class:`~arrastre.errors.InvalidSyntax`, with line and column."""
    try:
        data, faults = decode(text)
    except json.JSONDecodeError as error:
        _refuse("NOT_JSON", f"this is not JSON: {error.msg}", error.lineno, error.colno)
    except RecursionError:
        _refuse("NOT_JSON", "this JSON is nested too deeply")
    except ValueError:
        _refuse("NOT_JSON", "this is not JSON: it holds NaN, Infinity or a number of thousands of digits")
    return Raw(data, faults=tuple(faults))


def _repeats(value: Any, path: str) -> Iterator[Fault]:
    """Faults for the names given twice in one object, anywhere."""
    if isinstance(value, dict):
        if isinstance(value, _Repeats):
            for name in value.names:
                place = _joined(path, quoted(name))
                yield Fault(place, "REPEATED_FIELD", f"{place} is given twice")
        for name, part in value.items():
            if isinstance(part, dict | list):
                yield from _repeats(part, _joined(path, name))
    elif isinstance(value, list):
        for i, part in enumerate(value):
            if isinstance(part, dict | list):
                yield from _repeats(part, f"{path}[{i}]")


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


# -- the one-line form -----------------------------------------------------------------------------------------------

NOTHING: Final = "-"
NOT_GIVEN: Final = "*"

_PLACES: Final = ("hands", "trump", "leader", "trick")
_PAIRS: Final = ("points", "cardPoints", "carried", "tricks")
_RUNS: Final = ("stock", "gone")
_FLAGS: Final = ("exchanged", "vueltas")
#: Fields that the writer may leave out, in the order in which it writes them.
_ORDER: Final = (
    "players",
    "points",
    "cardPoints",
    "sung",
    "tute",
    "tricks",
    "stock",
    "gone",
    *_FLAGS,
    "moment",
    "carried",
)
_ALIASES: Final = names((*_PLACES, *_ORDER))
_DEFAULT_RULESET: Final = "aragones"

# A quotation that is never closed reaches to the end, so that no part of a text is looked at twice.
_QUOTED: Final = r'"(?:[^"\\]|\\.|\\\Z)*(?:"|\Z)'
_FIELD: Final = re.compile(rf'(?:{_QUOTED}|[^\s"])+')
_OPTION: Final = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)(=)?", re.ASCII)
_HAND: Final = re.compile(rf'((?:{_QUOTED}|[^+!"])*)(?:\+([0-9]{{1,3}}))?(?:!((?:{_QUOTED}|[^+!"])*))?')
_PIECE: Final = re.compile(rf'(?:{_QUOTED}|[^.,"])+')
_TOKEN: Final = re.compile(
    rf"{_QUOTED}|\?|(?:1[0-3]|[1-9]|[SCRAJQK])[OCEBSHD♠♥♦♣]\ufe0f?|[OCEBSHD♠♥♦♣]\ufe0f?(?:1[0-3]|0?[1-9]|[SCRAJQK])",
    re.IGNORECASE,
)
_SUNG: Final = re.compile(rf"([0-9]{{1,2}}|[NOSE])({_QUOTED}|[^@,\"]+)@([0-9]{{1,3}})", re.IGNORECASE)
_SHOWN: Final = re.compile(r"([0-9]{1,2}|[NOSE])@([0-9]{1,3})", re.IGNORECASE)
_NUMBERS: Final = re.compile(r"[0-9]{1,6}(?:-[0-9]{1,6})+", re.ASCII)
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,3999})(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
#: Texts that the writer leaves without quotes.
_BARE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.:\-]*", re.ASCII)
_PLAIN_CARD: Final = re.compile(r"[1-7SCRAJQK][OCEBSHD]", re.ASCII)
_WORDS: Final = {"true": True, "false": False, "null": None}


def split_cards(text: str) -> list[str]:
    """The cards of a run such as ``1O3O.RC``, as texts.

    Cards follow each other directly or are separated by ``.`` or ``,``; a spelling of several words stands between
    separators (``oros_7``) or in quotes (``"7 de oros"``). A part that is no run of cards stays one text, for
    whoever knows the deck to refuse.
    """
    return [card for card, _ in cards_at(text, 0)]


def cards_at(text: str, offset: int) -> Iterator[tuple[str, int]]:
    """The cards of a run, each with its place in a text in which the run begins at ``offset``."""
    if text == NOTHING:
        return
    for piece in _PIECE.finditer(text):
        yield from _cards_of(piece.group(), offset + piece.start())


def _cards_of(piece: str, offset: int) -> list[tuple[str, int]]:
    tokens: list[tuple[str, int]] = []
    at = 0
    while at < len(piece):
        token = _TOKEN.match(piece, at)
        if token is None:
            return [(_unquoted(piece), offset)]
        tokens.append((_unquoted(token.group()), offset + at))
        at = token.end()
    return tokens


def _unquoted(text: str) -> str:
    if text[:1] == '"':
        try:
            said = json.loads(text)
        except ValueError:
            return text
        if isinstance(said, str):
            return said
    return text


class _Line:
    """One reading of a one-line text."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.columns: dict[str, int] = {}
        self.faults: list[Fault] = []

    def fault(self, field: str, reason: str, message: str, column: int) -> None:
        self.faults.append(Fault(field, reason, message, column=column))

    def run(self, path: str, text: str, column: int) -> list[str]:
        cards: list[str] = []
        for card, at in cards_at(text, column):
            self.columns[f"{path}[{len(cards)}]"] = at
            cards.append(card)
        return cards

    def hands(self, text: str, column: int) -> None:
        hands: list[dict[str, Any]] = []
        at = 0
        for part in _split(text, "/"):
            path, here = f"hands[{len(hands)}]", column + at
            at += len(part) + 1
            self.columns[path] = here
            hand = _HAND.fullmatch(part)
            if hand is None:
                self.fault(path, "BAD_TEXT", "a hand is cards, then +N for hidden ones, then !cards excluded", here)
                hands.append({"cards": []})
                continue
            read: dict[str, Any] = {"cards": self.run(f"{path}.cards", hand[1], here)}
            if hand[2] is not None:
                read["hidden"] = int(hand[2])
                self.columns[f"{path}.hidden"] = here + hand.start(2)
            if hand[3] is not None:
                read["excluded"] = self.run(f"{path}.excluded", hand[3], here + hand.start(3))
            hands.append(read)
        self.data["hands"] = hands

    def place(self, name: str, text: str, column: int) -> None:
        if text == NOT_GIVEN:
            return
        self.columns[name] = column
        if name == "hands":
            self.hands(text, column)
        elif name == "trick":
            self.data[name] = self.run(name, text, column)
        else:
            self.data[name] = _scalar(text)

    def option(self, text: str, column: int) -> None:
        match = _OPTION.match(text)
        if match is None or (match[2] is None and match.end() < len(text)):
            self.fault("", "BAD_TEXT", f"'{quoted(text)}' is no key=value and no flag", column)
            return
        key, value, at = _ALIASES.get(match[1], match[1]), text[match.end() :], column + match.end()
        path, data = key, self.data
        if "." in key:
            outer, key = key.split(".")
            data = self.data.setdefault(outer, {})
            if not isinstance(data, dict):
                self.fault(path, "REPEATED_FIELD", f"{outer} is given twice", column)
                return
            self.columns.setdefault(outer, column)
        if key in data:
            self.fault(path, "REPEATED_FIELD", f"{path} is given twice", column)
            return
        self.columns[path] = column
        if match[2] is None:
            data[key] = True
        else:
            self.columns[path] = at
            data[key] = self.value(path, value, at)

    def value(self, path: str, text: str, column: int) -> Any:
        if text[:1] in "{[":
            return self.json(path, text, column)
        if path in _RUNS:
            return self.run(path, text, column)
        if path in _PAIRS and _NUMBERS.fullmatch(text):
            numbers: list[int] = []
            for number in re.finditer("[0-9]+", text):
                self.columns[f"{path}[{len(numbers)}]"] = column + number.start()
                numbers.append(int(number.group()))
            return numbers
        if path == "sung":
            return self.sung(text, column)
        if path == "tute" and (tute := _SHOWN.fullmatch(text)):
            self.columns["tute.seat"], self.columns["tute.trick"] = column, column + tute.start(2)
            return {"seat": int(tute[1]) if tute[1].isdigit() else tute[1], "trick": int(tute[2])}
        if text[:1] == '"':
            return self.json(path, text, column)
        return _scalar(text)

    def sung(self, text: str, column: int) -> list[dict[str, Any]]:
        cantes: list[dict[str, Any]] = []
        at = column
        for part in _split(text, ","):
            path = f"sung[{len(cantes)}]"
            cante = _SUNG.fullmatch(part)
            if cante is None:
                self.fault(path, "BAD_TEXT", f"'{quoted(part)}' is no cante: seat, suit, @, trick, as in 2B@3", at)
            else:
                seat = int(cante[1]) if cante[1].isdigit() else cante[1]
                self.columns[path] = at
                for i, name in enumerate(("seat", "suit", "trick"), 1):
                    self.columns[f"{path}.{name}"] = at + cante.start(i)
                cantes.append({"seat": seat, "suit": _unquoted(cante[2]), "trick": int(cante[3])})
            at += len(part) + 1
        return cantes

    def json(self, path: str, text: str, column: int) -> Any:
        try:
            value, faults = decode(text, path)
        except (ValueError, RecursionError):
            self.fault(path, "BAD_TEXT", f"'{quoted(text)}' is not JSON", column)
            return None
        self.faults += [replace(fault, column=column) for fault in faults]
        return value


def _read_line(text: str) -> Raw:
    body = text.strip()
    if "\n" in body or "\r" in body:
        _refuse("NOT_ONE_LINE", "a position text is one line, and this text has several")
    parts = list(_FIELD.finditer(text))
    if len(parts) < len(_PLACES):
        said = "a position text has at least four parts, hands, trump, leader and trick, as in 1O.SC/2O.4C O 0 -"
        _refuse("NOT_A_POSITION", said if body else "there is no text")
    line = _Line()
    for name, part in zip(_PLACES, parts, strict=False):
        line.place(name, part.group(), part.start() + 1)
    for part in parts[len(_PLACES) :]:
        line.option(part.group(), part.start() + 1)
    if parts[0].group() != NOT_GIVEN:
        line.data.setdefault("players", len(line.data["hands"]))
        line.columns.setdefault("players", line.columns["hands"])
    return Raw(line.data, line.columns, tuple(line.faults))


def _scalar(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text):
        return json.loads(text)
    return _unquoted(text)


def _split(text: str, separator: str) -> list[str]:
    """Split outside quotes."""
    parts, start, inside, escaped = [], 0, False, False
    for at, letter in enumerate(text):
        if escaped:
            escaped = False
        elif inside and letter == "\\":
            escaped = True
        elif letter == '"':
            inside = not inside
        elif letter == separator and not inside:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return parts


# -- writing ---------------------------------------------------------------------------------------------------------


def write(data: Mapping[str, Any]) -> str:
    """A JSON form on one line, what is at its default left out; :func:`read` gives the same position back.

    Fields that this module does not know are kept as ``key=value``. Raises ``ValueError`` for a field name that is no
    word.
    """
    left = {name: value for name, value in data.items() if name != "schema"}
    parts = []
    for place in _PLACES:
        said = _place(place, left.get(place))
        if said is not None:
            del left[place]
        parts.append(NOT_GIVEN if said is None else said)
    hands = data.get("hands")
    if parts[0] != NOT_GIVEN and isinstance(hands, list) and left.get("players") == len(hands):
        del left["players"]
    for name, default in _defaults(data).items():
        if name in left and _same(left[name], default):
            del left[name]
    if left.get("tricks") == [0, 0]:  # nothing has been played, so there is nothing not to know
        del left["tricks"]
    ruleset, rules = left.pop("ruleset", _DEFAULT_RULESET), left.pop("rules", {})
    order = [*(each for each in _ORDER if each in left), *(each for each in left if each not in _ORDER)]
    parts += [_option(name, left[name]) for name in order]
    if isinstance(rules, Mapping):
        parts += [_option(f"rules.{name}", value) for name, value in rules.items()]
    else:
        parts.append(_option("rules", rules))
    if ruleset != _DEFAULT_RULESET:
        parts.append(_option("ruleset", ruleset))
    return " ".join(parts)


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _defaults(data: Mapping[str, Any]) -> dict[str, Any]:
    """What the fields are taken to be when they are left out."""
    nothing = [0, 0]
    defaults: dict[str, Any] = dict.fromkeys(_FLAGS, False)
    defaults |= {
        "points": nothing,
        "carried": nothing,
        "sung": [],
        "stock": [],
        "gone": [],
        "tricks": None,
        "tute": None,
    }
    if not data.get("sung"):
        defaults["cardPoints"] = data.get("points", nothing)
    defaults["moment"] = "play" if data.get("trick") else "lead"
    return defaults


def _place(name: str, value: Any) -> str | None:
    """The text of one of the four parts every position has, or ``None`` if the value has not the usual shape."""
    if name == "hands":
        if not isinstance(value, list) or not value:
            return None
        hands = [_hand(each) for each in value]
        return None if None in hands else "/".join(hand or NOTHING for hand in hands)
    if name == "trick":
        if not _is_texts(value):
            return None
        return "".join(_card(card) for card in value) or NOTHING
    if isinstance(value, str):
        return value if _BARE.fullmatch(value) and value not in _WORDS else _json(value)
    if isinstance(value, int) and not isinstance(value, bool) and _NUMBER.fullmatch(str(value)):
        return str(value)
    return None


def _hand(hand: Any) -> str | None:
    if not isinstance(hand, dict) or not hand.keys() <= {"cards", "hidden", "excluded"} or "cards" not in hand:
        return None
    cards, hidden, excluded = hand["cards"], hand.get("hidden", 0), hand.get("excluded", [])
    if not _is_texts(cards) or not _is_texts(excluded) or type(hidden) is not int or not 0 <= hidden < 1000:
        return None
    said = join_cards(cards)
    if hidden:
        said += f"+{hidden}"
    if excluded:
        said += f"!{join_cards(excluded)}"
    return said


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _card(card: str) -> str:
    return card if _PLAIN_CARD.fullmatch(card) or card == "?" else _json(card)


def join_cards(cards: Sequence[str]) -> str:
    """A run of cards with a dot where the suit changes."""
    said, last = "", ""
    for card in cards:
        plain = _PLAIN_CARD.fullmatch(card) is not None
        suit = card[-1] if plain else ""
        if said and (suit != last or not plain):
            said += "."
        said += _card(card)
        last = suit
    return said


def _option(name: str, value: Any) -> str:
    match = _OPTION.fullmatch(name)
    if match is None or match[2] is not None:
        raise ValueError(f"{name!r} is no field name")
    if value is True:
        return name
    return f"{name}={_option_value(name, value)}"


def _option_value(name: str, value: Any) -> str:
    if name in _PAIRS and isinstance(value, list) and len(value) > 1:
        said = "-".join(str(each) if type(each) is int else "?" for each in value)
        if _NUMBERS.fullmatch(said):
            return said
    if name in _RUNS and _is_texts(value) and value:
        return "".join(_card(card) for card in value)
    if name == "tute" and (shown := _tute(value)):
        return shown
    if name == "sung" and isinstance(value, list) and value:
        cantes = [_cante(each) for each in value]
        if None not in cantes:
            return ",".join(cante for cante in cantes if cante)
    if (
        isinstance(value, str)
        and name not in (*_RUNS, "sung", "tute")
        and _BARE.fullmatch(value)
        and value not in _WORDS
    ):
        return value
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return _json(value)


def _tute(tute: Any) -> str | None:
    if not isinstance(tute, dict) or tute.keys() != {"seat", "trick"}:
        return None
    seat, trick = tute["seat"], tute["trick"]
    said = f"{seat}@{trick}"
    return said if type(seat) is int and type(trick) is int and _SHOWN.fullmatch(said) else None


def _cante(cante: Any) -> str | None:
    if not isinstance(cante, dict) or cante.keys() != {"seat", "suit", "trick"}:
        return None
    seat, suit, trick = cante["seat"], cante["suit"], cante["trick"]
    if type(seat) is not int or type(trick) is not int or not isinstance(suit, str):
        return None
    said = f"{seat}{suit}@{trick}"
    read = _SUNG.fullmatch(said)
    return said if read and (read[1], read[2], read[3]) == (str(seat), suit, str(trick)) and suit.isalpha() else None


def _json(value: Any) -> str:
    """JSON without a blank outside quotes, and with nothing in it that could be taken for the end of a line."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if text.isprintable() else json.dumps(value, separators=(",", ":"))
