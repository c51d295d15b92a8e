"""The gate: the one way from raw input to a position of Guiñote. It finds every fault at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from arrastre import notation
from arrastre.cards import (
    CARD_OF_TEXT,
    DOS,
    FIGURES,
    SIETE,
    UNKNOWN,
    UNKNOWN_TEXT,
    CardError,
    card_text,
    figure_of,
    parse_card,
    parse_suit,
    quoted,
)
from arrastre.errors import Fault, InvalidPosition
from arrastre.game import DEFAULT_RULESET
from arrastre.guinote.position import (
    BEFORE_DRAW,
    BEFORE_DRAW_RIVALS,
    LEAD,
    MOMENTS,
    PLAY,
    RIVALS,
    SCHEMA,
    GuinotePosition,
    Sung,
    Tute,
)
from arrastre.guinote.rules import MAX_POINTS, Ruleset, examine

_FIELDS: Final = notation.names(
    (
        "schema",
        "ruleset",
        "players",
        "trump",
        "hands",
        "stock",
        "leader",
        "trick",
        "points",
        "cardPoints",
        "sung",
        "tricks",
        "exchanged",
        "tute",
        "carried",
        "vueltas",
        "moment",
        "gone",
        "rules",
    )
)
_HAND_FIELDS: Final = frozenset({"cards", "hidden", "excluded"})
_SUNG_FIELDS: Final = frozenset({"seat", "suit", "trick"})
_TUTE_FIELDS: Final = frozenset({"seat", "trick"})
_SEAT_LETTERS: Final = "NOSE"

#: Stands for a card that could not be read, so that counting goes on; positions with faults are never built.
_BAD: Final = -2


def read_position(raw: notation.Raw) -> GuinotePosition:
    """The gate: a checked position from raw input.

    Raises :class:`~arrastre.errors.InvalidPosition` with every fault found. Points and carried points are only
    checked for their range, so that a diagram without a history can be solved.
    """
    return _Gate(raw).position()


#: Longer names and values mean nothing in a ruleset, and are not worth remembering.
_SHORT: Final = 40


def _is_short(value: object) -> bool:
    return (isinstance(value, str) and len(value) <= _SHORT) or isinstance(value, bool) or type(value) is int


@lru_cache(maxsize=256)
def _ruleset(name: str, players: int, overrides: tuple[tuple[str, type, Any], ...]) -> tuple[Ruleset, list[Fault]]:
    return examine(name, {key: value for key, _, value in overrides}, players)


class _Gate:
    """One reading of one raw position; collects faults and goes on as long as anything can still be said."""

    def __init__(self, raw: notation.Raw) -> None:
        self.raw = raw
        self.data, self.faults = raw.fields(_FIELDS)

    def fault(self, field: str, reason: str, message: str, card: str | None = None) -> None:
        self.faults.append(self.raw.fault(field, reason, message, card))

    def position(self) -> GuinotePosition:
        data = self.data
        schema = data.get("schema", SCHEMA)
        if type(schema) is not int or schema != SCHEMA:
            self.fault("schema", "BAD_SCHEMA", f"this is schema {SCHEMA}")
        self.rules = rules = self.read_rules()
        self.index = CARD_OF_TEXT[rules.deck]
        players = rules.players
        trump = self.read_trump()
        hands, hidden, excluded = self.read_hands(players)
        stock = self.read_cards("stock", unknown=True)
        trick = self.read_cards("trick")
        gone = self.read_cards("gone")
        leader = self.read_seat("leader", data.get("leader", 0))
        points = self.read_pair("points", MAX_POINTS)
        carried = self.read_pair("carried", MAX_POINTS)
        sung = self.read_sung()
        moment = self.read_moment(bool(trick))
        exchanged, vueltas = self.read_flag("exchanged"), self.read_flag("vueltas")
        tute = self.read_tute()
        self.check_twice(hands, stock, trick, gone)
        self.check_excluded(hands, excluded)
        tricks: tuple[int, int] | None = None
        if data.get("tricks") is not None:
            before = len(self.faults)
            tricks = self.read_pair("tricks", rules.total_tricks)
            if len(self.faults) > before:
                tricks = None
        played = None
        if len(hands) == players and self.check_trick(trick) and leader is not None:
            played = self.check_sizes(hands, hidden, stock, trick, leader, moment)
        if played is not None:
            if tricks is not None and sum(tricks) != played:
                self.fault("tricks", "TRICKS_SUM", f"{played} tricks have been played, not {sum(tricks)}")
            for i, each in enumerate(sung):
                if not 1 <= each.trick <= played:
                    self.fault(f"sung[{i}].trick", "SUNG_TRICK", f"{played} tricks have been played so far")
            if tute is not None and not 1 <= tute.trick <= played:
                self.fault("tute.trick", "SUNG_TRICK", f"{played} tricks have been played so far")
            unseen = any(hidden) or UNKNOWN in stock
            if (gone or unseen) and len(gone) != played * players:
                self.fault("gone", "GONE_SIZE", f"{played * players} cards have gone, and {len(gone)} are listed")
            if played == 0 and moment == RIVALS:
                self.fault("moment", "BAD_MOMENT", "nobody is asked to exchange before the first trick")
        self.check_muestra(stock, trump, exchanged)
        card_points = self.read_card_points(points, sung, tute, trump)
        if self.faults or leader is None or trump is None:
            raise InvalidPosition("the position has faults", self.faults)
        order = rules.order.__getitem__
        return GuinotePosition(
            rules=rules,
            trump=trump,
            hands=tuple([tuple(sorted(hand, key=order)) for hand in hands]),
            hidden=tuple(hidden),
            excluded=tuple([tuple(sorted(set(cards), key=order)) if cards else () for cards in excluded]),
            gone=tuple(gone),
            stock=tuple(stock),
            leader=leader,
            trick=tuple(trick),
            points=points,
            card_points=card_points,
            sung=tuple(sung),
            tricks=(0, 0) if played == 0 else tricks,
            exchanged=exchanged,
            tute=tute,
            carried=carried,
            vueltas=vueltas,
            moment=moment,
        )

    # -- single fields -------------------------------------------------------------------------------------------

    def read_rules(self) -> Ruleset:
        data = self.data
        name, players, overrides = data.get("ruleset", DEFAULT_RULESET), data.get("players", 4), data.get("rules")
        if not isinstance(name, str):
            self.fault("ruleset", "BAD_TYPE", "a ruleset is a name")
            name = DEFAULT_RULESET
        if type(players) is not int:
            self.fault("players", "BAD_TYPE", "players is a number")
            players = 4
        if overrides is None:
            overrides = {}
        if not isinstance(overrides, Mapping) or not all(isinstance(key, str) for key in overrides):
            self.fault("rules", "BAD_TYPE", "rules is an object of rule fields and their values")
            overrides = {}
        if not overrides or all(len(k) <= _SHORT and _is_short(v) for k, v in overrides.items()):
            rules, faults = _ruleset(name[:_SHORT], players, tuple([(k, type(v), v) for k, v in overrides.items()]))
        else:
            rules, faults = examine(name, overrides, players)
        for each in faults:
            self.fault(each.field, each.reason, each.message)
        return rules

    def read_trump(self) -> int | None:
        trump = self.data.get("trump")
        if not isinstance(trump, str):
            reason = "MISSING" if "trump" not in self.data else "BAD_TYPE"
            self.fault("trump", reason, "trump is a suit, and must be given")
            return None
        return self.read_suit("trump", trump)

    def read_suit(self, field: str, text: str) -> int | None:
        try:
            return parse_suit(text, self.rules.deck)
        except CardError as error:
            self.fault(field, error.reason, error.message)
            return None

    def read_seat(self, field: str, value: Any) -> int | None:
        if type(value) is int:
            seat = value
        elif isinstance(value, str) and len(value) == 1:
            seat = _SEAT_LETTERS.find(value.upper())
        else:
            self.fault(field, "BAD_TYPE", "a seat is a number, or one of N, O, S, E")
            return None
        if not 0 <= seat < self.rules.players:
            self.fault(field, "BAD_SEAT", f"the seats are 0 to {self.rules.players - 1}")
            return None
        return seat

    def read_flag(self, field: str) -> bool:
        value = self.data.get(field, False)
        if type(value) is bool:
            return value
        self.fault(field, "BAD_TYPE", f"{field} is true or false")
        return False

    def read_pair(self, field: str, most: int) -> tuple[int, int]:
        value = self.data.get(field, (0, 0))
        if not isinstance(value, list | tuple) or [type(each) for each in value] != [int, int]:
            self.fault(field, "BAD_TYPE", f"{field} is two numbers, one for each side")
            return 0, 0
        first, second = value
        if not (0 <= first <= most and 0 <= second <= most):
            for i, number in enumerate(value):
                if not 0 <= number <= most:
                    self.fault(f"{field}[{i}]", "OUT_OF_RANGE", f"{field} are from 0 to {most}")
            return 0, 0
        return first, second

    def read_card_points(
        self, points: tuple[int, int], sung: Sequence[Sung], tute: Tute | None, trump: int | None
    ) -> tuple[int, int]:
        if "cardPoints" in self.data:
            return self.read_pair("cardPoints", MAX_POINTS)
        if trump is None:
            return points
        left = list(points)
        if tute is not None and isinstance(self.rules.tute, int):
            left[tute.seat & 1] -= self.rules.tute
        for each in sung:
            left[each.seat & 1] -= self.rules.cante_points(each.suit, trump)
        return max(left[0], 0), max(left[1], 0)

    def read_moment(self, trick: bool) -> str:
        usual = PLAY if trick else LEAD
        value = self.data.get("moment", usual)
        if not isinstance(value, str):
            self.fault("moment", "BAD_TYPE", "a moment is a word")
            return usual
        moment = value.strip().lower()
        if moment not in MOMENTS:
            self.fault("moment", "BAD_MOMENT", f"there is no moment '{quoted(value)}'; there are {', '.join(MOMENTS)}")
            return usual
        if (moment == PLAY) != trick:
            said = "cards lie on the table" if trick else "no card lies on the table"
            self.fault("moment", "BAD_MOMENT", f"the moment cannot be {moment}: {said}")
            return usual
        if moment in (BEFORE_DRAW, BEFORE_DRAW_RIVALS) and not self.rules.exchange_after_last_draw_trick:
            self.fault("moment", "BAD_MOMENT", "these rules have no exchange before the last draw")
        return moment

    def read_sung(self) -> list[Sung]:
        value = self.data.get("sung", ())
        if not isinstance(value, list | tuple):
            self.fault("sung", "BAD_TYPE", "sung is a list of cantes")
            return []
        sung: list[Sung] = []
        suits: set[int] = set()
        for i, entry in enumerate(value):
            path = f"sung[{i}]"
            if not isinstance(entry, Mapping):
                self.fault(path, "BAD_TYPE", "a cante is an object with seat, suit and trick")
                continue
            if not self.check_fields(path, entry, _SUNG_FIELDS, "a cante"):
                continue
            seat = self.read_seat(f"{path}.seat", entry["seat"])
            suit, trick = None, entry["trick"]
            if isinstance(entry["suit"], str):
                suit = self.read_suit(f"{path}.suit", entry["suit"])
            else:
                self.fault(f"{path}.suit", "BAD_TYPE", "a suit is a text")
            if type(trick) is not int:
                self.fault(f"{path}.trick", "BAD_TYPE", "a trick is a number, from 1")
                continue
            if suit in suits:
                self.fault(f"{path}.suit", "SUNG_TWICE", "a suit is sung once in a deal")
            if seat is not None and suit is not None:
                suits.add(suit)
                sung.append(Sung(seat, suit, trick))
        return sung

    def check_fields(self, path: str, entry: Mapping[str, Any], known: frozenset[str], what: str) -> bool:
        """Whether an object within the position has all its fields; one that it should not have is a fault besides."""
        for key in entry:
            if key not in known:
                shown = quoted(str(key))
                self.fault(f"{path}.{shown}", "UNKNOWN_FIELD", f"{what} has no field '{shown}'")
        missing = known - entry.keys()
        for key in sorted(missing):
            self.fault(f"{path}.{key}", "MISSING", f"{what} needs its {key}")
        return not missing

    def read_tute(self) -> Tute | None:
        entry = self.data.get("tute")
        if entry is None:
            return None
        if not isinstance(entry, Mapping):
            self.fault("tute", "BAD_TYPE", "a tute is an object with seat and trick, or null")
            return None
        if not self.check_fields("tute", entry, _TUTE_FIELDS, "a tute"):
            return None
        seat, trick = self.read_seat("tute.seat", entry["seat"]), entry["trick"]
        if type(trick) is not int:
            self.fault("tute.trick", "BAD_TYPE", "a trick is a number, from 1")
            return None
        return None if seat is None else Tute(seat, trick)

    # -- cards ---------------------------------------------------------------------------------------------------

    def read_hands(self, players: int) -> tuple[list[list[int]], list[int], list[list[int]]]:
        value = self.data.get("hands")
        hands: list[list[int]] = []
        hidden: list[int] = []
        excluded: list[list[int]] = []
        if not isinstance(value, list | tuple):
            reason = "MISSING" if "hands" not in self.data else "BAD_TYPE"
            self.fault("hands", reason, f"hands is a list of {players} hands, and must be given")
            return hands, hidden, excluded
        if len(value) != players and len(value) != self.data.get("players"):
            self.fault("hands", "HAND_COUNT", f"there are {players} players and {len(value)} hands")
        for i, hand in enumerate(value):
            count: Any = 0
            out: list[int] = []
            if isinstance(hand, Mapping):
                path = f"hands[{i}]"
                if not hand.keys() <= _HAND_FIELDS:
                    for key in hand:
                        if key not in _HAND_FIELDS:
                            shown = quoted(str(key))
                            self.fault(f"{path}.{shown}", "UNKNOWN_FIELD", f"a hand has no field '{shown}'")
                cards = self.card_list(f"{path}.cards", hand.get("cards", ()))
                count = hand.get("hidden", 0)
                if type(count) is not int:
                    self.fault(f"{path}.hidden", "BAD_TYPE", "hidden is a number of cards")
                    count = 0
                elif not 0 <= count <= self.rules.hand_size:
                    self.fault(f"{path}.hidden", "OUT_OF_RANGE", f"a hand hides 0 to {self.rules.hand_size} cards")
                if hand.get("excluded"):
                    out = self.card_list(f"{path}.excluded", hand["excluded"])
            else:
                cards = self.card_list(f"hands[{i}].cards", hand)
            hands.append(cards)
            hidden.append(count)
            excluded.append(out)
        return hands, hidden, excluded

    def read_cards(self, field: str, unknown: bool = False) -> list[int]:
        value = self.data.get(field)
        if value is None and field not in self.data:
            return []
        return self.card_list(field, value, unknown)

    def card_list(self, path: str, value: Any, unknown: bool = False) -> list[int]:
        """Cards from a list or a run, ``_BAD`` for those that cannot be read."""
        if isinstance(value, str):
            value = notation.split_cards(value)
        elif not isinstance(value, list | tuple):
            self.fault(path, "BAD_TYPE", "cards are a list, or a text such as 1O3O.RC")
            return []
        try:
            return [self.index[text] for text in value]
        except (KeyError, TypeError):
            return [self.card(f"{path}[{j}]", text, unknown) for j, text in enumerate(value)]

    def card(self, path: str, text: Any, unknown: bool) -> int:
        if not isinstance(text, str):
            self.fault(path, "BAD_TYPE", "a card is a text")
            return _BAD
        if text == UNKNOWN_TEXT and unknown:
            return UNKNOWN
        try:
            return parse_card(text, self.rules.deck)
        except CardError as error:
            self.fault(path, error.reason, error.message, quoted(text))
            return _BAD

    # -- checked against each other ------------------------------------------------------------------------------

    def check_twice(self, hands: list[list[int]], stock: list[int], trick: list[int], gone: list[int]) -> None:
        everything = [*stock, *trick, *gone]
        for hand in hands:
            everything += hand
        if len(set(everything)) == len(everything):
            return
        first: dict[int, str] = {}
        places = [(f"hands[{i}].cards", hand) for i, hand in enumerate(hands)]
        places += [("trick", trick), ("stock", stock), ("gone", gone)]
        for path, cards in places:
            for j, card in enumerate(cards):
                if card < 0:
                    continue
                here = f"{path}[{j}]"
                if card in first:
                    text = card_text(card, self.rules.deck)
                    self.fault(here, "CARD_TWICE", f"{text} is already in {first[card]}", text)
                else:
                    first[card] = here

    def check_excluded(self, hands: list[list[int]], excluded: list[list[int]]) -> None:
        for i, (hand, out) in enumerate(zip(hands, excluded, strict=True)):
            held = set(hand) if out else set()
            for j, card in enumerate(out):
                if card >= 0 and card in held:
                    text = card_text(card, self.rules.deck)
                    self.fault(f"hands[{i}].excluded[{j}]", "EXCLUDED_HELD", f"the hand holds {text}", text)

    def check_trick(self, trick: list[int]) -> bool:
        if len(trick) < self.rules.players:
            return True
        self.fault("trick", "TRICK_SIZE", f"the cards of an unfinished trick are fewer than {self.rules.players}")
        return False

    def check_sizes(
        self,
        hands: list[list[int]],
        hidden: list[int],
        stock: list[int],
        trick: list[int],
        leader: int,
        moment: str,
    ) -> int | None:
        """Hold hands, stock, trick and moment against each other; the number of tricks played, if that is clear."""
        rules, players, clear = self.rules, self.rules.players, True
        before_draw = moment in (BEFORE_DRAW, BEFORE_DRAW_RIVALS)
        if before_draw and len(stock) != players:
            self.fault("moment", "BAD_MOMENT", f"before the last draw the stock has {players} cards, not {len(stock)}")
            return None
        if stock and (len(stock) % players or len(stock) > rules.stock_size):
            if rules.stock_size:
                said = f"the stock has a multiple of {players} cards, at most {rules.stock_size}, not {len(stock)}"
            else:
                said = "these rules have no stock"
            self.fault("stock", "STOCK_SIZE", said)
            clear = False
        if moment == RIVALS and not stock:
            self.fault("moment", "BAD_MOMENT", "nobody can exchange when the stock is gone")
        # What each hand held when the trick began.
        sizes = [len(hand) + count for hand, count in zip(hands, hidden, strict=True)]
        for place in range(len(trick)):
            sizes[(leader + place) % players] += 1
        if before_draw:
            full = rules.hand_size - 1
        elif stock:
            full = rules.hand_size
        else:
            full = min(max(sizes, key=sizes.count), rules.hand_size)
        for seat, size in enumerate(sizes):
            if size != full:
                here = full - (1 if (seat - leader) % players < len(trick) else 0)
                is_now = len(hands[seat]) + hidden[seat]
                self.fault(f"hands[{seat}]", "HAND_SIZE", f"seat {seat} should hold {here} cards now, not {is_now}")
                clear = False
        if not clear:
            return None
        if before_draw:
            return rules.draw_tricks
        return rules.draw_tricks - len(stock) // players if stock else rules.total_tricks - full

    def check_muestra(self, stock: list[int], trump: int | None, exchanged: bool) -> None:
        if not stock or stock[-1] == _BAD or trump is None:
            return
        muestra, where = stock[-1], f"stock[{len(stock) - 1}]"
        if muestra == UNKNOWN:
            self.fault(where, "MUESTRA_UNKNOWN", "the muestra lies face up, so it is known")
            return
        text = card_text(muestra, self.rules.deck)
        if muestra // FIGURES != trump:
            self.fault(where, "MUESTRA_NOT_TRUMP", f"the muestra {text} is no trump", text)
        elif exchanged and figure_of(muestra) != SIETE and not (figure_of(muestra) == DOS and self.rules.exchange_two):
            self.fault(where, "EXCHANGED_MUESTRA", f"an exchange does not leave {text} under the stock", text)
