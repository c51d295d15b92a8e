"""A recorded deal of Guiñote: read, checked and replayed, with everything that is wrong with it found at once.

The form of a record is in ``docs/notation.md``. What is read here is one deal in the shape of its JSON form
(:class:`arrastre.notation.Raw`); reading text into that shape, and putting deals together to a record, is the business
of :mod:`arrastre.record`, which knows no game.

Cards that a record does not show are worked out as far as what happens later leaves no doubt: a card was in a hand
from the last moment at which that hand can have got it. So a finished deal has no unseen cards in its arrastre, even
where all hands are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, permutations, product
from typing import Any, Final

from arrastre import notation
from arrastre.cards import (
    CARD_TEXTS,
    DOS,
    FIGURES,
    REY,
    SIETE,
    SUITS,
    UNKNOWN,
    UNKNOWN_TEXT,
    CardError,
    Deck,
    card_of,
    card_symbol,
    card_text,
    parse_card,
    parse_suit,
    quoted,
    suit_name,
    suit_text,
)
from arrastre.errors import Fault
from arrastre.game import DEFAULT_RULESET, Action, Address, Deal, Step
from arrastre.guinote import scoring
from arrastre.guinote.describe import side_names
from arrastre.guinote.position import (
    BEFORE_DRAW,
    BEFORE_DRAW_RIVALS,
    CAMBIO,
    CANTE,
    CLAIM,
    LEAD,
    PASS,
    PLAY,
    RIVALS,
    TUTE,
    GuinotePosition,
    Move,
    parse_action,
)
from arrastre.guinote.reasons import IMPOSSIBLE, LACKING, Objection, seat_name
from arrastre.guinote.rules import MAX_POINTS, RULESETS, Ruleset, differences, examine, field_name
from arrastre.guinote.scoring import (
    NOTHING,
    UNFINISHED,
    DealResult,
    Header,
    Pair,
    Sources,
    Standing,
    Start,
    Verdict,
)

#: What a record says about where and when; free text.
PROSE: Final = ("event", "site", "date", "round", "table", "id", "source", "comment")
_FIELDS: Final = notation.names(
    (
        *PROSE,
        "ruleset",
        "rules",
        "players",
        "names",
        "game",
        "deal",
        "dealer",
        "carried",
        "vueltas",
        "trump",
        "hands",
        "stock",
        "muestra",
        "events",
        "result",
        "finished",
    )
)
_HAND_FIELDS: Final = frozenset({"cards", "hidden"})
_EVENT_FIELDS: Final = frozenset({"trick", "seat", "action", "comment"})
_SEAT_LETTERS: Final = "NOSE"
_SHORT: Final = 40
_MAX_NUMBER: Final = 10**9
#: A deal has fewer events than this, whatever its rules; more are not looked at.
_MOST_EVENTS: Final = 1000
#: How many ways to fill in cards that cannot be read are looked at.
_MOST_TRIALS: Final = 12
#: Stands for the muestra among the events that are filled in.
_MUESTRA: Final = -1
#: How many events may be filled in.
_MOST_HOLES: Final = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class GuinoteDeal(Deal):
    """A deal of Guiñote as a record has it.

    ``result`` is what it came to, ``None`` if it could not be followed to its end; ``start`` and ``standing`` are
    where its game stood before and after it.
    """

    rules: Ruleset
    start: Standing
    standing: Standing
    result: DealResult | None = None


def replay(raw: notation.Raw, previous: Deal | None) -> GuinoteDeal:
    """Read, check and replay a deal; see :meth:`arrastre.game.Game.replay`."""
    before = previous if isinstance(previous, GuinoteDeal) else None
    reading = _Reading(raw, before)
    deal = reading.deal()
    unknown = reading.unread or reading.again or reading.unread_muestra
    return _with_what_follows(reading, deal, before) if unknown else deal


def _with_what_follows(reading: _Reading, deal: GuinoteDeal, previous: GuinoteDeal | None) -> GuinoteDeal:
    """A deal with events that are not known, with the faults that it has whatever they were.

    Everything that can have been done there is tried. What is then wrong with these events themselves says nothing.
    """
    trials = list(islice(reading.trials(), _MOST_TRIALS + 1))
    if not 0 < len(trials) <= _MOST_TRIALS:
        return deal
    places = {(1, index) for there in trials for index in there}
    known = set(deal.faults)
    more: list[Fault] | None = None
    for there in trials:
        faults = _Reading(_filled(reading.raw, there), previous).deal().faults
        more = [
            fault
            for fault in (faults if more is None else more)
            if fault in faults and fault not in known and _place_in_deal(fault) not in places
        ]
        if not more:
            return deal
    return replace(deal, faults=tuple(sorted((*deal.faults, *(more or ())), key=_place_in_deal)))


def _filled(raw: notation.Raw, there: Mapping[int, str]) -> notation.Raw:
    """A raw deal with other actions at some of its events, or another muestra."""
    if _MUESTRA in there:
        raw = replace(raw, data={**raw.data, "muestra": there[_MUESTRA]})
    if there.keys() == {_MUESTRA}:
        return raw
    events = list(raw.data["events"])
    for index, action in there.items():
        if index == _MUESTRA:
            continue
        event = events[index]
        events[index] = {**event, "action": action} if isinstance(event, Mapping) else action
    return replace(raw, data={**raw.data, "events": events})


# -- under which rules -----------------------------------------------------------------------------------------------


def readings(raw: notation.Raw) -> Iterator[notation.Raw]:
    """The deal under each named ruleset; see :meth:`arrastre.game.Game.readings`.

    A ruleset whose pack is not the one in which the cards are written is taken with that pack.
    """
    given = raw.data.get("rules")
    rules = dict(given) if isinstance(given, Mapping) else {}
    decks = None if any(str(name).lower() == "deck" for name in rules) else _decks(raw.data)
    for name, row in RULESETS.items():
        deck = {} if decks is None or row.deck in decks or not decks else {"deck": str(decks[0])}
        yield replace(raw, data={**raw.data, "ruleset": name, "rules": {**rules, **deck}})


def _decks(data: Mapping[str, Any]) -> list[Deck]:
    """The packs in which every card of a deal can be read."""
    texts = set(_texts(data))
    found = []
    for deck in Deck:
        try:
            for text in texts:
                parse_action(text, deck)
        except CardError:
            continue
        found.append(deck)
    return found


def _texts(data: Mapping[str, Any]) -> Iterator[str]:
    """Every text in a deal that should name a card, a suit or an action."""
    lists: list[Any] = [data.get("stock"), [data.get("muestra")]]
    hands = data.get("hands")
    if isinstance(hands, Sequence) and not isinstance(hands, str):
        lists += [hand.get("cards") if isinstance(hand, Mapping) else hand for hand in hands]
    for cards in lists:
        each = notation.split_cards(cards) if isinstance(cards, str) else cards
        yield from (card for card in (each or ()) if isinstance(card, str) and card != UNKNOWN_TEXT)
    events = data.get("events")
    for event in events if isinstance(events, Sequence) else ():
        action = event.get("action") if isinstance(event, Mapping) else event
        if isinstance(action, str) and action.strip().lower() != CLAIM:
            yield action


# -- reading ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Event:
    """Something done: its place among the events, the trick and the number of cards already on the table, the seat
    (−1 where nobody said), and the move. A claim's move has its own kind."""

    index: int
    trick: int
    place: int
    seat: int
    move: Move
    comment: str = ""


@dataclass(slots=True)
class _Trick:
    """A trick as recorded: who led (−1 where nobody said), its cards, and what was declared between them.

    ``winner`` is set when it is complete; ``before[p]`` are the declarations with p cards on the table.
    """

    number: int
    leader: int = UNKNOWN
    cards: list[_Event] = field(default_factory=list)
    before: dict[int, list[_Event]] = field(default_factory=dict)
    winner: int = UNKNOWN

    def declared(self, place: int) -> list[_Event]:
        return self.before.setdefault(place, [])


class _Reading:
    """One reading of one recorded deal."""

    def __init__(self, raw: notation.Raw, previous: GuinoteDeal | None) -> None:
        self.raw = raw
        self.data, self.faults = raw.fields(_FIELDS)
        self.previous = previous
        # Whether something is missing, or so wrong, that the deal cannot be replayed beyond a certain event.
        self.broken = False
        self.limit = _MOST_EVENTS
        # How many faults there are of which it is known from where on they leave the positions in doubt, if at all.
        self.placed = 0
        # The events that are no action, as far as they were cards, and two plays of the same card.
        self.unread: list[int] = []
        self.unread_muestra = False
        self.dealt: set[int] = set()
        self.again: list[tuple[int, int]] = []
        self.plays: dict[int, int] = {}
        self.in_trick: Counter[int] = Counter()
        # Whether the record shows every card that was dealt.
        self.known = False

    def fault(self, path: str, reason: str, message: str, card: str | None = None, *, placed: bool = False) -> Fault:
        """Note a fault; ``placed`` if whoever found it sees to it that the positions in doubt are known."""
        fault = self.raw.fault(path, reason, message, card)
        self.faults.append(fault)
        self.placed += placed
        return fault

    # -- single fields

    def prose(self, name: str) -> str:
        return self.text(name, self.data.get(name, ""))

    def text(self, path: str, value: Any) -> str:
        if value is None:
            return ""
        if not isinstance(value, str):
            self.fault(path, "BAD_TYPE", f"{path} is a text")
            return ""
        text = " ".join(value.split())
        if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
            self.fault(path, "BAD_TEXT", f"{path} holds half a character")
            return ""
        return text

    def number(self, name: str) -> int | None:
        value = self.data.get(name)
        if isinstance(value, str):
            digits = value.strip()
            value = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else digits
        if value is None:
            return None
        if type(value) is not int or not 1 <= value < _MAX_NUMBER:
            self.fault(name, "BAD_TYPE", f"{name} is a number, from 1")
            return None
        return value

    def flag(self, name: str) -> bool | None:
        value = self.data.get(name)
        if isinstance(value, str):
            value = {"yes": True, "no": False}.get(value.strip().lower(), value)
        if value is None or isinstance(value, bool):
            return value
        self.fault(name, "BAD_TYPE", f"{name} is yes or no")
        return None

    def seat(self, path: str, value: Any, players: int) -> int:
        """A seat, or −1 where none, or no good one, is given."""
        if value is None or value == "":
            return UNKNOWN
        seat = value
        if isinstance(value, str):
            name = value.strip().upper()
            seat = _SEAT_LETTERS.find(name) if len(name) == 1 and name.isalpha() else _digit(name)
            if players == 2 and name == "S":  # across the table, whichever letter somebody gives to that
                seat = 1
        if type(seat) is not int:
            self.fault(path, "BAD_TYPE", "a seat is a number, or one of N, O, S, E")
            return UNKNOWN
        if not 0 <= seat < players:
            letters = ", ".join(_SEAT_LETTERS[:players])
            self.fault(path, "BAD_SEAT", f"the seats are {letters}, or 0 to {players - 1}")
            return UNKNOWN
        return seat

    def pair(self, name: str) -> Pair | None:
        """Both sides' points, in any of the ways in which scores are written."""
        value = self.data.get(name)
        if value is None:
            return None
        try:
            if isinstance(value, str):
                pair = scoring.parse_score(value)
            elif isinstance(value, Sequence) and len(value) == 2:
                first, second = (scoring.parse_points(each) if isinstance(each, str) else each for each in value)
                if type(first) is not int or type(second) is not int:
                    raise ValueError(f"{name} is two numbers, one for each side")
                pair = first, second
            else:
                raise ValueError(f"{name} is two numbers, one for each side")
        except ValueError as error:
            self.fault(name, "BAD_SCORE", str(error))
            return None
        if not all(0 <= points <= MAX_POINTS for points in pair):
            self.fault(name, "OUT_OF_RANGE", f"{name} are from 0 to {MAX_POINTS}")
            return None
        return pair

    def card(self, path: str, text: Any, unknown: bool = False) -> int:
        """A card, −1 for one that is not known or cannot be read."""
        if not isinstance(text, str):
            self.fault(path, "BAD_TYPE", "a card is a text")
        elif text != UNKNOWN_TEXT or not unknown:
            try:
                return parse_card(text, self.rules.deck)
            except CardError as error:
                self.fault(path, error.reason, error.message, quoted(text))
        return UNKNOWN

    def cards(self, path: str, value: Any, unknown: bool = False) -> list[int]:
        if value is None:
            return []
        if isinstance(value, str):
            value = notation.split_cards(value)
        elif not isinstance(value, Sequence):
            self.fault(path, "BAD_TYPE", "cards are a list, or a text such as 1O3O.RC")
            return []
        return [self.card(f"{path}[{i}]", text, unknown) for i, text in enumerate(value)]

    # -- the head of a deal

    def read_rules(self) -> Ruleset:
        name, overrides = self.data.get("ruleset", DEFAULT_RULESET), self.data.get("rules")
        if not isinstance(name, str):
            self.fault("ruleset", "BAD_TYPE", "a ruleset is a name")
            name = DEFAULT_RULESET
        if overrides is None:
            overrides = {}
        if not isinstance(overrides, Mapping) or not all(isinstance(key, str) for key in overrides):
            self.fault("rules", "BAD_TYPE", "rules is an object of rule fields and their values")
            overrides = {}
        rules, faults = examine(quoted(name), overrides, self.read_players(overrides))
        for each in faults:
            self.fault(each.field, each.reason, each.message)
        return rules

    def read_players(self, overrides: Mapping[str, Any]) -> int:
        value: Any = self.data.get("players")
        if isinstance(value, str):
            value = _digit(value.strip())
        if value is None:
            given = next((each for name, each in overrides.items() if field_name(name) == "players"), None)
            value = 2 if given in (2, "2") else 4 if given is not None else self.guess_players()
        if type(value) is not int or value not in (2, 4):
            self.fault("players", "BAD_PLAYERS", "there are 4 players, or 2")
            return 4
        return value

    def guess_players(self) -> int:
        """As many as there are hands, or cards in the first trick if another one follows."""
        hands = self.data.get("hands")
        if isinstance(hands, Sequence) and not isinstance(hands, str) and len(hands) in (2, 4):
            return len(hands)
        events = self.data.get("events")
        tricks = Counter(
            event.get("trick")
            for event in (events if isinstance(events, list) else ())[:_MOST_EVENTS]
            if isinstance(event, Mapping) and isinstance(event.get("action"), str) and _is_card(event["action"])
        )
        return 2 if tricks[1] == 2 and tricks[2] else 4

    def read_names(self) -> list[str]:
        value = self.data.get("names")
        names = [""] * self.rules.players
        if value is None:
            return names
        if not isinstance(value, Sequence) or isinstance(value, str):
            self.fault("names", "BAD_TYPE", "names is a list of the players' names, by seat")
            return names
        seated: dict[int, Any] = dict(enumerate(value))
        if self.rules.players == 2 and len(value) > 2 and not value[1]:
            seated[1] = seated.pop(2)
        for seat, name in seated.items():
            text = self.text(f"names[{seat}]", name)
            if seat < len(names):
                names[seat] = text
            elif text:
                self.fault(f"names[{seat}]", "BAD_SEAT", f"there are {len(names)} players")
        return names

    def read_hands(self) -> tuple[list[list[int]], list[int]]:
        """Hands as dealt, by seat: the cards that are known, and how many are not."""
        players, size = self.rules.players, self.rules.hand_size
        hands: list[list[int]] = [[] for _ in range(players)]
        hidden = [size] * players
        value = self.data.get("hands")
        if value is None:
            return hands, hidden
        if not isinstance(value, Sequence) or isinstance(value, str):
            self.fault("hands", "BAD_TYPE", "hands is a list of hands, by seat")
            return hands, hidden
        given: dict[int, Any] = dict(enumerate(value))
        if players == 2 and len(value) > 2 and not value[1]:
            given[1] = given.pop(2)
        for seat, hand in given.items():
            path = f"hands[{seat}]"
            if hand is None or hand == UNKNOWN_TEXT:
                continue
            if seat >= players:
                self.fault(path, "HAND_COUNT", f"there are {players} players")
                continue
            cards, more = self.read_hand(path, hand)
            known = [card for card in cards if card != UNKNOWN]
            # What cannot be read may be any number of cards.
            if len(cards) + more > size or (len(cards) + more < size and UNKNOWN not in cards):
                said = f"seat {seat_name(seat)} is dealt {size} cards, not {len(cards) + more}"
                self.fault(path, "HAND_SIZE", said)
            hands[seat], hidden[seat] = known[:size], size - len(known[:size])
        return hands, hidden

    def read_hand(self, path: str, hand: Any) -> tuple[list[int], int]:
        if not isinstance(hand, Mapping):
            return self.cards(f"{path}.cards", hand), 0
        for key in hand:
            if key not in _HAND_FIELDS:
                shown = quoted(str(key))
                self.fault(f"{path}.{shown}", "UNKNOWN_FIELD", f"a hand has no field '{shown}'")
        cards, hidden = self.cards(f"{path}.cards", hand.get("cards")), hand.get("hidden", 0)
        if type(hidden) is not int or not 0 <= hidden <= self.rules.hand_size:
            self.fault(f"{path}.hidden", "OUT_OF_RANGE", f"a hand hides 0 to {self.rules.hand_size} cards")
            hidden = self.rules.hand_size - len(cards)
        return cards, hidden

    def read_stock(self) -> list[int]:
        """The stock as dealt, top first and the muestra last, −1 for what is not known."""
        size = self.rules.stock_size
        stock = self.cards("stock", self.data.get("stock"), unknown=True)
        muestra = UNKNOWN
        if self.data.get("muestra") not in (None, ""):
            muestra = self.card("muestra", self.data["muestra"])
            self.unread_muestra = muestra == UNKNOWN
        if not size:
            if stock or muestra != UNKNOWN:
                self.fault("stock" if stock else "muestra", "STOCK_SIZE", "these rules have no stock")
            return []
        if len(stock) == size:
            if stock[-1] == UNKNOWN:
                stock[-1] = muestra
            elif muestra not in (UNKNOWN, stock[-1]):
                said = f"the stock ends in {self.said(stock[-1])}, but {self.said(muestra)} was turned up"
                self.fault("muestra", "MUESTRA_MISMATCH", said, self.said(muestra))
            return stock
        unread = sum(card == UNKNOWN for card in stock) - list(self.given_stock()).count(UNKNOWN_TEXT)
        if unread and len(stock) != size - 1:
            stock = []
        if stock and len(stock) != size - 1:
            self.fault("stock", "STOCK_SIZE", f"the stock has {size} cards with the muestra, not {len(stock)}")
            stock = []
        return [*(stock or [UNKNOWN] * (size - 1)), muestra]

    def given_stock(self) -> Sequence[Any]:
        value = self.data.get("stock")
        if isinstance(value, str):
            return notation.split_cards(value)
        return value if isinstance(value, Sequence) else ()

    def said(self, card: int) -> str:
        return card_text(card, self.rules.deck)

    def read_trump(self, stock: list[int]) -> int:
        trump, value = UNKNOWN, self.data.get("trump")
        unread = False
        if isinstance(value, str) and value.strip():
            try:
                trump = parse_suit(value, self.rules.deck)
            except CardError as error:
                self.fault("trump", error.reason, error.message)
                unread = True
        elif value not in (None, ""):
            self.fault("trump", "BAD_TYPE", "trump is a suit")
            unread = True
        if stock and stock[-1] != UNKNOWN:
            suit = stock[-1] // FIGURES
            if trump not in (UNKNOWN, suit):
                said = f"{self.said(stock[-1])} was turned up, so that trumps cannot be {self.suit(trump)}"
                self.fault("trump", "MUESTRA_NOT_TRUMP", said)
            return suit
        if stock:
            if self.data.get("muestra") in (None, ""):
                self.fault("muestra", "MISSING", "the muestra lies face up, and must be given")
            self.broken = True
        elif trump == UNKNOWN:
            if not unread:
                self.fault("trump", "MISSING", "trump is a suit, and must be given")
            self.broken = True
        return trump

    def suit(self, suit: int) -> str:
        return suit_name(suit, self.rules.deck, "en")

    def check_twice(self, hands: list[list[int]], hidden: list[int], stock: list[int]) -> None:
        """No card is dealt twice; the second one is taken for unseen, so that reading can go on."""
        first: dict[int, str] = {}
        if stock and stock[-1] != UNKNOWN:
            first[stock[-1]] = "the muestra"
        for seat, hand in enumerate(hands):
            for i, card in enumerate(list(hand)):
                if card in first:
                    text = self.said(card)
                    self.fault(f"hands[{seat}].cards[{i}]", "CARD_TWICE", f"{text} is already {first[card]}", text)
                    hand.remove(card)
                    hidden[seat] += 1
                else:
                    first[card] = f"in the hand of seat {seat_name(seat)}"
        for i, card in enumerate(stock[:-1]):
            if card in first:
                text = self.said(card)
                self.fault(f"stock[{i}]", "CARD_TWICE", f"{text} is already {first[card]}", text)
                stock[i] = UNKNOWN
            elif card != UNKNOWN:
                first[card] = "in the stock"

    # -- what happened

    def read_events(self) -> list[_Event]:
        """The events with their tricks and places, as far as they make sense one after the other."""
        value = self.data.get("events")
        if value is None:
            return []
        if not isinstance(value, Sequence) or isinstance(value, str):
            self.fault("events", "BAD_TYPE", "events is a list of what was done, in order")
            return []
        if len(value) > _MOST_EVENTS:
            self.fault("events", "TOO_LONG", f"a deal has at most {_MOST_EVENTS} events")
        events: list[_Event] = []
        trick, table, players = 1, 0, self.rules.players
        firsts: dict[int, int] = {}
        for index, entry in enumerate(value[:_MOST_EVENTS]):
            event = self.read_event(index, entry)
            if event is None:
                self.limit = min(self.limit, index)
                self.unread.append(index)
                continue
            given = event.trick
            if event.move.kind == PLAY:
                self.in_trick[given] += 1
                if table == players:
                    trick, table = trick + 1, 0
                event.trick, event.place = trick, table
                firsts.setdefault(trick, index)
                table += 1
                if given not in (0, trick) and index < self.limit:
                    self.limit = index
                    self.misplaced(index, given, trick, table - 1, firsts)
            else:
                event.trick, event.place = trick, table
                if table == players and given != trick:
                    event.trick, event.place = trick + 1, 0
                if given not in (0, event.trick) and index < self.limit:
                    self.limit = index
                    self.misplaced(index, given, event.trick, event.place, firsts)
            events.append(event)
        return events

    def misplaced(self, index: int, given: int, trick: int, table: int, firsts: Mapping[int, int]) -> None:
        """Note that an event is not where it should be; ``firsts`` are the tricks' first cards."""
        players, path = self.rules.players, f"events[{index}]"
        if given == trick + 1 and table:
            self.fault(path, "TRICK_SIZE", f"trick {trick} has {table} cards, not {players}")
            # Which one is missing is not known, so that none of them is certainly its seat's.
            self.limit = firsts.get(trick, index)
        elif given == trick - 1 and not table:
            self.fault(path, "TRICK_SIZE", f"trick {given} has more than {players} cards")
            self.limit = firsts.get(given, index)
        else:
            self.fault(path, "TRICK_ORDER", f"trick {trick} is to come here, not trick {given}")

    def read_event(self, index: int, entry: Any) -> _Event | None:
        path = f"events[{index}]"
        if isinstance(entry, str):
            entry = {"action": entry}
        if not isinstance(entry, Mapping):
            self.fault(path, "BAD_TYPE", "an event is an object with trick, seat and action")
            return None
        for key in entry:
            if key not in _EVENT_FIELDS:
                shown = quoted(str(key))
                self.fault(f"{path}.{shown}", "UNKNOWN_FIELD", f"an event has no field '{shown}'")
        trick, action = entry.get("trick"), entry.get("action")
        if trick is None:
            trick = 0
        elif type(trick) is not int or not 1 <= trick <= self.rules.total_tricks + 1:
            self.fault(f"{path}.trick", "OUT_OF_RANGE", f"the tricks are 1 to {self.rules.total_tricks}")
            trick = 0
        seat = self.seat(f"{path}.seat", entry.get("seat"), self.rules.players)
        comment = self.text(f"{path}.comment", entry["comment"]) if "comment" in entry else ""
        if not isinstance(action, str):
            reason = "MISSING" if "action" not in entry else "BAD_TYPE"
            self.fault(f"{path}.action", reason, "an action is a card, cante and a suit, cambio, tute or claim")
            return None
        if action.strip().lower() == CLAIM:
            move = Move(CLAIM)
        else:
            try:
                move = parse_action(action, self.rules.deck)
            except CardError as error:
                self.fault(f"{path}.action", error.reason, error.message, quoted(action), placed=True)
                return None
        return _Event(index, trick, 0, seat, move, comment)

    def check_played(self, events: Sequence[_Event]) -> None:
        """No card is played twice, and no more tricks than there are."""
        played: dict[int, _Event] = {}
        for event in events:
            if event.move.kind != PLAY:
                continue
            self.plays[event.index] = event.move.item
            card, path = event.move.item, f"events[{event.index}].action"
            if event.trick > self.rules.total_tricks:
                if event.index < self.limit:
                    self.fault(path, "TOO_MANY_TRICKS", f"a deal has {self.rules.total_tricks} tricks")
                    self.limit = event.index
                return
            if card in played:
                text = self.said(card)
                self.fault(path, "CARD_TWICE", f"{text} has been played already, to trick {played[card].trick}", text)
                self.limit = min(self.limit, event.index)
                self.again.append((played[card].index, event.index))
            else:
                played[card] = event

    def trials(self) -> Iterator[dict[int, str]]:
        """What can have been done at the events that are not known: all of them at once, one way after the other."""
        if len(self.unread) + len(self.again) > _MOST_HOLES:
            return
        cards: list[tuple[int, str]] = []
        declared: list[tuple[int, str]] = []
        for index in self.unread:
            kind = self.kind_of(index)
            if kind is None:
                return
            (cards if kind == PLAY else declared).append((index, kind))
        cantes = [f"{CANTE} {suit_text(suit, self.rules.deck)}" for suit in range(SUITS)]
        said = [cantes if kind == CANTE else [*cantes, CAMBIO, TUTE, PASS, CLAIM] for _, kind in declared]
        turned_up: list[dict[int, str]] = [{}]
        if self.unread_muestra:
            turned_up = [{_MUESTRA: self.said(card)} for card in range(SUITS * FIGURES) if card not in self.dealt]
        for again, muestra in product(product(*self.again), turned_up):
            holes = [*(index for index, _ in cards), *again]
            seen = {card for index, card in self.plays.items() if index not in holes}
            missing = [self.said(card) for card in range(SUITS * FIGURES) if card not in seen]
            for played in permutations(missing, len(holes)):
                for actions in product(*said):
                    yield muestra | dict(
                        zip((*holes, *(index for index, _ in declared)), (*played, *actions), strict=True)
                    )

    def kind_of(self, index: int) -> str | None:
        """What an event was that cannot be read: a card, a cante, or (empty) something else that is declared."""
        entry = self.data["events"][index]
        if isinstance(entry, Mapping) and isinstance(action := entry.get("action"), str):
            if not _is_card(action):
                return CANTE
            # Whether it was a card can be told where its trick is: a full one has no room for it.
            trick = entry.get("trick")
            if type(trick) is int:
                return PLAY if self.in_trick[trick] < self.rules.players else ""
        return None

    # -- all of it

    def deal(self) -> GuinoteDeal:
        self.rules = rules = self.read_rules()
        prose = {name: self.prose(name) for name in PROSE}
        names = self.read_names()
        number, game = self.number("deal"), self.number("game")
        dealer = self.seat("dealer", self.data.get("dealer"), rules.players)
        carried, result = self.pair("carried"), self.read_result()
        vueltas, finished = self.flag("vueltas"), self.flag("finished")
        if self.data.get("result") == "*":
            finished = False
        hands, hidden = self.read_hands()
        stock = self.read_stock()
        trump = self.read_trump(stock)
        self.check_twice(hands, hidden, stock)
        self.known = not any(hidden) and UNKNOWN not in stock
        self.dealt = {card for cards in (*hands, stock) for card in cards}
        events = self.read_events()
        self.check_played(events)

        header = Header(number, game, carried, vueltas, self.same_table(prose, names))
        last = self.previous.number if self.previous is not None else 0
        start = scoring.start_deal(None if self.previous is None else self.previous.standing, last, header)
        for path, reason, message in start.faults:
            self.fault(path, reason, message)
        tricks = _tricks(rules, [event for event in events if event.index < self.limit])
        dealer = self.settle_dealer(dealer, tricks, start)
        outcome = None
        if not self.broken:
            table = _Table(self, hands, hidden, stock, trump, dealer, start, tricks)
            outcome = table.play(finished is not False, result)
        data = {
            **prose,
            "ruleset": rules.name,
            "rules": differences(rules),
            "players": rules.players,
            "names": names,
            "game": game,
            "deal": last + 1 if number is None else number,
            "dealer": dealer,
            "carried": list(start.carried),
            "vueltas": start.vueltas,
            "trump": None if trump == UNKNOWN else suit_text(trump, rules.deck),
            "hands": [
                {"cards": self.texts(sorted(hand, key=rules.order.__getitem__)), "hidden": count}
                for hand, count in zip(hands, hidden, strict=True)
            ],
            "stock": self.texts(stock),
            "events": [self.event_dict(event) for event in events if event.move.kind != PASS],
            "result": None if result is None else list(result),
            "finished": finished is not False,
        }
        comment = data.pop("comment")
        if outcome is not None and not outcome.stopped:
            done = outcome.verdict.outcome != UNFINISHED
            data["finished"] = done
            if done and (result is None or not self.faults):
                data["result"] = list(outcome.sources.points)
        data["comment"] = comment
        return self.finish(data, start, dealer, outcome)

    def finish(self, data: dict[str, Any], start: Start, dealer: int, outcome: _Outcome | None) -> GuinoteDeal:
        rules, result = self.rules, None
        if outcome is not None and not outcome.stopped:
            result = DealResult(
                sources=outcome.sources,
                carried=start.carried,
                vueltas=start.vueltas,
                verdict=outcome.verdict,
                dealer=dealer,
                last_winner=outcome.last_winner,
                next_dealer=scoring.next_dealer(rules, dealer, outcome.last_winner),
            )
        return GuinoteDeal(
            number=data["deal"],
            data=data,
            steps=() if outcome is None else tuple(outcome.steps),
            end=None if outcome is None else outcome.end,
            faults=tuple(sorted(self.faults, key=_place_in_deal)),
            certain=self.certain(outcome) if self.faults else None,
            goes_on=self.previous is not None and start.standing.continues(self.previous.standing),
            rules=rules,
            start=start.standing,
            standing=start.standing.after(rules, result),
            result=result,
        )

    def certain(self, outcome: _Outcome | None) -> int:
        """How many positions are beyond doubt in spite of faults."""
        if outcome is None or self.placed < len(self.faults):
            return 0
        # What happens later tells which cards were unseen; with faults it may tell something wrong. A card that was
        # played against its duty was played all the same.
        played = sum(step.breach is not None and not step.at.k for step in outcome.steps)
        if played < len(self.faults) and not self.known:
            return 0
        return outcome.certain

    def read_result(self) -> Pair | None:
        return None if self.data.get("result") in ("*", "") else self.pair("result")

    def same_table(self, prose: Mapping[str, str], names: Sequence[str]) -> bool:
        """Whether the deal before was played by the same people at the same event, as far as the record says."""
        if self.previous is None:
            return True
        before = self.previous.data
        if self.previous.rules != self.rules:
            return False
        if any(before[name] != prose[name] for name in ("event", "site", "round", "table")):
            return False
        return all(not old or not new or old == new for old, new in zip(before["names"], names, strict=True))

    def settle_dealer(self, dealer: int, tricks: Sequence[_Trick], start: Start) -> int:
        """The dealer's seat: as given, else before whoever led first, else as the rules have it."""
        players, due = self.rules.players, start.standing.dealer
        first = tricks[0].leader if tricks and tricks[0].cards else UNKNOWN
        if dealer == UNKNOWN and first != UNKNOWN:
            dealer = (first - 1) % players
        if dealer == UNKNOWN:
            dealer = players - 1 if due is None else due
        elif start.follows and due is not None and dealer != due:
            self.fault("dealer", "WRONG_DEALER", f"after the deal before, seat {seat_name(due)} deals")
        mano = (dealer + 1) % players
        if first not in (UNKNOWN, mano):
            said = f"seat {seat_name(mano)} leads first, to the right of the dealer, not seat {seat_name(first)}"
            self.fault(f"events[{tricks[0].cards[0].index}].seat", "NOT_MANO", said)
        return dealer

    def texts(self, cards: Iterable[int]) -> list[str]:
        texts = CARD_TEXTS[self.rules.deck]
        return [texts[card] if card >= 0 else UNKNOWN_TEXT for card in cards]

    def event_dict(self, event: _Event) -> dict[str, Any]:
        # Without a seat the event is a card to which an unreadable one has lost it, or belongs to nobody.
        said: dict[str, Any] = {
            "trick": event.trick,
            "seat": None if event.seat == UNKNOWN else event.seat,
            "action": self.action(event.move),
        }
        if event.comment:
            said["comment"] = event.comment
        return said

    def action(self, move: Move) -> str:
        if move.kind == PLAY:
            return self.said(move.item)
        return f"{CANTE} {suit_text(move.item, self.rules.deck)}" if move.kind == CANTE else move.kind


_EVENT_PATH: Final = re.compile(r"events\[([0-9]+)\]")


def _place_in_deal(fault: Fault) -> tuple[int, int]:
    """Sort key: the head of the deal, then what was done in order, then how it ended."""
    event = _EVENT_PATH.match(fault.field)
    if event is not None:
        return 1, int(event[1])
    return (2 if fault.field in ("finished", "result") else 0), 0


def _digit(text: str) -> Any:
    """The number of a one-digit text; any other text as it is."""
    return int(text) if len(text) == 1 and text.isascii() and text.isdigit() else text


def _is_card(action: str) -> bool:
    word = action.strip().lower()
    return word not in (CAMBIO, TUTE, PASS, CLAIM) and not word.startswith(CANTE)


def _tricks(rules: Ruleset, events: Sequence[_Event]) -> list[_Trick]:
    """The tricks that events make up."""
    tricks: list[_Trick] = []
    for event in events:
        if event.place == rules.players and not (event.move.kind == CAMBIO and rules.exchange_when == "own_turn"):
            # After the last card of a trick is before the next one.
            event.trick, event.place = event.trick + 1, 0
        while len(tricks) < event.trick:
            tricks.append(_Trick(len(tricks) + 1))
        trick = tricks[event.trick - 1]
        if event.move.kind == PLAY:
            if not trick.cards:
                trick.leader = event.seat
            trick.cards.append(event)
        elif event.move.kind != PASS:
            trick.declared(event.place).append(event)
    return tricks


# -- replaying -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Outcome:
    """What replaying a deal has led to; ``stopped`` if it could not be followed to the end."""

    steps: list[Step]
    end: GuinotePosition
    sources: Sources
    verdict: Verdict
    last_winner: int | None
    stopped: bool
    certain: int


class _Stop(Exception):
    """The deal cannot be followed any further."""


class _Table:
    """The deal being played again."""

    def __init__(
        self,
        reading: _Reading,
        hands: Sequence[Sequence[int]],
        hidden: Sequence[int],
        stock: Sequence[int],
        trump: int,
        dealer: int,
        start: Start,
        tricks: list[_Trick],
    ) -> None:
        self.reading = reading
        self.rules = rules = reading.rules
        self.players = rules.players
        self.start = start
        self.tricks = tricks
        self.steps: list[Step] = []
        self.sources = Sources()
        self.verdict = scoring.at_start(rules, start.carried, start.vueltas)
        self.over_said = False
        # The place among the events of what ended the deal, where that was declared.
        self.ended_by = -1
        self.last_winner: int | None = None
        self.k = 0
        # Whether the points can be other than those that the players counted, and whether the rest cannot be followed.
        self.broken_play = False
        self.miscounted = False
        self.stopped = reading.limit < _MOST_EVENTS
        # How many positions are beyond doubt (None: all of them), and before which tricks it begins.
        self.certain: int | None = None
        self.doubtful: set[int] = set()
        # Whose each card was at the deal, and which of the stock's cards it is.
        self.dealt = {card: seat for seat, hand in enumerate(hands) for card in hand}
        self.exchangeable = {card_of(trump, SIETE), card_of(trump, DOS), *stock[-1:]}
        self.place_in_stock = {card: place for place, card in enumerate(stock) if card != UNKNOWN}
        mano = (dealer + 1) % rules.players
        if tricks and tricks[0].leader not in (UNKNOWN, mano):
            first = tricks[0]
            if self.has(mano, first):
                first.leader = first.cards[0].seat = mano
            mano = first.leader
        self.seats_and_winners(mano, trump)
        order = rules.order.__getitem__
        self.position = GuinotePosition(
            rules=rules,
            trump=trump,
            hands=tuple(tuple(sorted(hand, key=order)) for hand in hands),
            hidden=tuple(hidden),
            excluded=((),) * rules.players,
            gone=(),
            stock=tuple(stock),
            leader=mano,
            trick=(),
            points=NOTHING,
            card_points=NOTHING,
            sung=(),
            tricks=NOTHING,
            exchanged=False,
            tute=None,
            carried=start.carried,
            vueltas=start.vueltas,
            moment=LEAD,
        )
        if rules.exchange_when == "own_turn":
            self.move_exchanges()
        if rules.cante_window == "rival_play":
            self.move_cantes()
        self.shown = {} if self.position.fully_known else _Shown(self).by_time

    def fault(self, path: str, reason: str, message: str, card: str | None = None, *, placed: bool = False) -> Fault:
        return self.reading.fault(path, reason, message, card, placed=placed)

    def doubt(self) -> None:
        """From the next position on, it is not certain that the players had it before them."""
        if self.certain is None:
            self.certain = len(self.steps)

    def seats_and_winners(self, mano: int, trump: int) -> None:
        """Whose each card is, and who won each trick; what the record says otherwise is a fault."""
        leader, strengths, players = mano, self.rules.strengths, self.players
        for trick in self.tricks:
            if trick.cards and trick.leader not in (UNKNOWN, leader):
                event = trick.cards[0]
                if trick.number > 1:
                    said = (
                        f"trick {trick.number}: seat {seat_name(leader)} won the trick before and leads, "
                        f"not seat {seat_name(trick.leader)}"
                    )
                    path = f"events[{event.index}].seat"
                    self.fault(path, "WRONG_LEADER", said, self.reading.said(event.move.item), placed=True)
                    self.doubtful.add(trick.number)
                    if self.has(leader, trick) or any(each.seat == trick.leader for each in trick.cards[1:]):
                        # One seat is written for another, which plays another card, or has not got this one.
                        event.seat = leader
                    else:
                        # The players must have seen it so, and drawn their cards accordingly.
                        self.tricks[trick.number - 2].winner = leader = trick.leader
                        self.broken_play = True
                else:
                    leader = trick.leader
            trick.leader = leader
            for place, event in enumerate(trick.cards):
                seat = (leader + place) % players
                if event.seat not in (UNKNOWN, seat):
                    said = (
                        f"trick {trick.number}: it is seat {seat_name(seat)}'s turn, not seat {seat_name(event.seat)}'s"
                    )
                    path = f"events[{event.index}].seat"
                    self.fault(path, "WRONG_TURN", said, self.reading.said(event.move.item), placed=True)
                    self.doubtful.add(trick.number)
                    given = [each.seat for each in trick.cards]
                    if len(set(given)) < len(given):
                        # Everybody has a turn: one seat is written for another, and the order is that of the play.
                        event.seat = seat
                        continue
                    del trick.cards[place:], self.tricks[trick.number :]
                    self.stopped = True
                    return
                event.seat = seat
            if len(trick.cards) == players:
                best = trick.cards[0]
                for event in trick.cards[1:]:
                    card, held = event.move.item, best.move.item
                    if card // FIGURES == held // FIGURES:
                        if strengths[card] > strengths[held]:
                            best = event
                    elif card // FIGURES == trump:
                        best = event
                trick.winner = leader = best.seat

    def has(self, seat: int, trick: _Trick) -> bool:
        """Whether a seat is known to have been dealt, or to have drawn, the first card of a trick."""
        if not trick.cards:
            return False
        card = trick.cards[0].move.item
        if card in self.exchangeable:
            return False
        place = self.place_in_stock.get(card)
        if place is None:
            return self.dealt.get(card) == seat
        drawn = self.tricks[place // self.players] if place // self.players < trick.number - 1 else None
        return drawn is not None and drawn.winner >= 0 and (drawn.winner + place) % self.players == seat

    def move_exchanges(self) -> None:
        """Put an exchange that is shown just after its player's card before that card (``own_turn``)."""
        for trick in self.tricks:
            for place in sorted(trick.before):
                for event in list(trick.before[place]):
                    if event.move.kind != CAMBIO or event.seat == UNKNOWN:
                        continue
                    if place and (event.seat - trick.leader) % self.players == place - 1:
                        trick.before[place].remove(event)
                        trick.declared(place - 1).append(event)
                    elif not place and event.seat != trick.leader and trick.number > 1:
                        # The last card of the trick before was its player's.
                        before = self.tricks[trick.number - 2]
                        if before.cards and before.cards[-1].seat == event.seat:
                            trick.before[0].remove(event)
                            before.declared(len(before.cards) - 1).append(event)

    def move_cantes(self) -> None:
        """Put what a side declares between its own lead and a rival's card before that lead (``rival_play``).

        A cante of whose two cards one has just been led stays where it is, and will be refused.
        """
        for trick in self.tricks:
            for event in list(trick.before.get(1, ())):
                suit, seat = event.move.item, event.seat
                if seat == UNKNOWN or seat & 1 != trick.leader & 1 or event.move.kind not in (CANTE, TUTE):
                    continue
                led = trick.cards[0].move.item
                if seat == trick.leader:
                    if event.move.kind == CANTE and led in (card_of(suit, REY), self.rules.mate(suit)):
                        continue
                    if event.move.kind == TUTE and led % FIGURES in (REY, self.rules.under):
                        continue
                trick.before[1].remove(event)
                trick.declared(0).append(event)

    # -- playing on

    def play(self, whole: bool, result: Pair | None) -> _Outcome:
        """Replay everything; ``whole`` if the deal should have been played to its end."""
        try:
            self.reveal(0)
            for trick in self.tricks:
                self.play_trick(trick)
                if len(trick.cards) < self.players:
                    break
            self.end_window()
        except _Stop:
            self.stopped = True
            self.doubt()
        stopped = self.stopped
        if self.verdict is None and not stopped and self.position.finished():
            self.judge()
        verdict = self.verdict or Verdict(UNFINISHED)
        if not stopped:
            if whole and verdict.outcome == UNFINISHED and not self.broken_play:
                said = f"the deal stops {self.whereabouts()}; a * says that this is all"
                self.fault("finished", "UNFINISHED", said, placed=True)
            self.check_result(result, verdict)
        certain = len(self.steps) + (not stopped) if self.certain is None else self.certain
        return _Outcome(self.steps, self.position, self.sources, verdict, self.last_winner, stopped, certain)

    def whereabouts(self) -> str:
        if not self.steps:
            return "before the first trick"
        return f"in trick {self.position.played + 1}"

    def play_trick(self, trick: _Trick) -> None:
        declared = trick.declared(0)
        self.k = 0
        if trick.number in self.doubtful:
            self.doubt()
        if trick.number > 1:
            self.between(trick.number, declared)
        for event in declared:
            self.declare(event, trick.number, 0)
        for place, event in enumerate(trick.cards):
            if place:
                self.k = 0
                for each in trick.before.get(place, ()):
                    self.declare(each, trick.number, place)
            self.play_card(event, trick, place)
        if len(trick.cards) < self.players:
            self.k = 0
            rest = [place for place in trick.before if place >= max(len(trick.cards), 1)]
        else:
            self.k = 0
            rest = [place for place in trick.before if place >= self.players]
        for place in rest:
            for each in trick.before[place]:
                self.declare(each, trick.number, place)

    def end_window(self) -> None:
        """After the last recorded event: the cards are drawn that are drawn without anybody's doing."""
        if self.position.moment == BEFORE_DRAW_RIVALS:
            self.k = 0
            self.between(len(self.tricks) + 1, [], waiting=True)

    def between(self, number: int, declared: list[_Event], waiting: bool = False) -> None:
        """The window before a trick, up to its leader's side's turn.

        Exchanges are taken out of ``declared`` as they are made. With ``waiting``, the first moment at which somebody
        could do something is left open.
        """
        if self.position.moment != BEFORE_DRAW_RIVALS:
            return
        position = self.position
        if len(position.stock) == self.players and self.rules.exchange_after_last_draw_trick:
            for moment in (BEFORE_DRAW_RIVALS, BEFORE_DRAW):
                self.position = replace(self.position, moment=moment)
                if not self.offer(number, declared, waiting):
                    return
        self.position = self.position.drawn()
        self.reveal(number - 1)
        if self.position.stock and not self.offer(number, declared, waiting):
            return
        self.position = replace(self.position, moment=LEAD)

    def offer(self, number: int, declared: list[_Event], waiting: bool) -> bool:
        """Let the side whose turn it is exchange, or pass if it could; false if that is left open."""
        side = self.position.side
        for event in declared:
            if event.move.kind == CLAIM:
                break
            if event.move.kind == CAMBIO and event.seat != UNKNOWN and event.seat & 1 == side:
                # The winner's side's turn to exchange comes later, except before the last draw.
                declared.remove(event)
                self.declare(event, number, 0)
                return True
        if self.position.exchanges():
            if waiting:
                return False
            if self.verdict is None:
                self.step(number, 0, Action(PASS, self.position.seat))
        return True

    def step(self, trick: int, place: int, action: Action, breach: Fault | None = None) -> None:
        self.k += 1
        position = self.position
        self.steps.append(Step(Address(trick, place, self.k), position.moment, position, action, breach))

    def reveal(self, time: int) -> None:
        """Turn up the cards that are certainly in a hand from this time on: that of the draw after so many tricks."""
        for seat, card in self.shown.get(time, ()):
            self.position = _revealed(self.position, seat, card)

    # -- single events

    def happened(self, event: _Event) -> bool:
        """Whether the deal was still going on when something was done."""
        if self.verdict is None:
            return True
        if event.index < self.ended_by:
            return False  # the lead, on the table when something was declared that counts as done before it
        if not self.over_said:
            self.over_said = True
            self.broken_play = True
            winner = self.verdict.winner
            why = {
                "target": "had reached the target",
                "carried": "had the target before the deal began",
                "tute": "had declared a tute",
                "claim": "had claimed the target",
                "wrong_claim": "had seen the other side claim it wrongly",
            }.get(self.verdict.reason, "had won")
            over = "deal was over" if winner is None else f"game was over: {side_names(self.players)[winner]} {why}"
            said = f"{self.place_name(event)}: the {over}"
            self.fault(f"events[{event.index}]", "AFTER_END", said, placed=True)
        return False

    def place_name(self, event: _Event) -> str:
        action = self.reading.action(event.move)
        if event.move.kind == PLAY:
            action = card_symbol(event.move.item, self.rules.deck)
        seat = "" if event.seat == UNKNOWN else f", seat {seat_name(event.seat)}"
        return f"trick {event.trick}{seat}, {action}"

    def breach(self, event: _Event, objection: Objection, position: GuinotePosition, seat: int) -> Fault:
        """The fault of an event that the rules forbid."""
        words = position.words(objection, event.move, seat, "en")
        card = self.reading.said(event.move.item) if event.move.kind == PLAY else None
        said = f"{self.place_name(event)}: {words}"
        return self.fault(f"events[{event.index}].action", objection.reason, said, card, placed=True)

    def play_card(self, event: _Event, trick: _Trick, place: int) -> None:
        counts = self.happened(event)
        card, seat = event.move.item, event.seat
        position = self.position
        if card not in position.hands[seat]:
            self.fetch(event)
            position = self.position
        objection, _ = position.objection_to(event.move, seat)
        breach = None if objection is None else self.breach(event, objection, position, seat)
        self.steps.append(
            Step(
                Address(trick.number, place + 1),
                position.moment,
                position,
                Action(self.reading.said(card), seat),
                breach,
            )
        )
        self.position = after = position.put_down(card)
        if after.trick:
            return
        self.last_winner, side = after.leader, after.leader & 1
        if after.leader != trick.winner:
            self.position = replace(after, leader=trick.winner)
        if not counts:
            return
        last = after.finished()
        bonus = self.rules.last_trick if last else 0
        cards = after.card_points[side] - position.card_points[side] - bonus
        self.sources = self.sources.plus("cards", side, cards)
        if last:
            extra = after.points[side] - position.points[side] - cards - bonus
            self.sources = self.sources.plus("last_trick", side, bonus).plus("capote", side, extra)
        self.gained(side, scoring.TRICK)

    def gained(self, side: int, kind: str) -> None:
        totals = (self.start.carried[0] + self.sources.points[0], self.start.carried[1] + self.sources.points[1])
        self.verdict = scoring.after_gain(self.rules, totals, self.start.vueltas, side, kind)

    def judge(self) -> None:
        """All tricks are played, and nobody has won before."""
        position, points = self.position, self.sources.points
        tricks = position.tricks or NOTHING
        capote = next((side for side in (0, 1) if tricks[1 - side] == 0), None)
        totals = (self.start.carried[0] + points[0], self.start.carried[1] + points[1])
        self.verdict = scoring.at_end(self.rules, totals, self.sources, self.start.vueltas, position.leader & 1, capote)

    def declare(self, event: _Event, trick: int, place: int) -> None:
        move, position = event.move, self.position
        if move.kind == CLAIM:
            self.claim(event, trick, place)
            return
        counts = self.happened(event)
        judged = position
        if (
            move.kind == CAMBIO
            and position.moment == LEAD
            and event.seat != UNKNOWN
            and event.seat & 1 != position.side
        ):
            # It is the rivals' exchange that is in question, whose turn has passed.
            judged = replace(position, moment=RIVALS)
        objection, seat = judged.objection_to(move, None if event.seat == UNKNOWN else event.seat)
        if objection is not None and move.kind == TUTE and objection.reason in LACKING and self.may_hold_tute(seat):
            objection = None
        event.seat = seat
        breach = None if objection is None else self.breach(event, objection, judged, seat)
        self.step(trick, place, Action(self.reading.action(move), seat), breach)
        if breach is not None and (move.kind != CAMBIO or breach.reason in IMPOSSIBLE):
            self.doubt()
            # Whether its points were counted at the table nobody knows.
            self.miscounted |= move.kind != CAMBIO
        if objection is not None and (move.kind == TUTE or objection.reason in IMPOSSIBLE):
            return
        self.broken_play |= breach is not None and move.kind == CANTE
        self.position = after = position.swapped(seat) if move.kind == CAMBIO else position.after(move, seat)
        if not counts or move.kind == CAMBIO:
            return
        side = seat & 1
        gain = after.points[side] - position.points[side]
        self.sources = self.sources.plus("cantes" if move.kind == CANTE else "tute", side, gain)
        self.gained(side, scoring.CANTE if move.kind == CANTE else scoring.TUTE)
        if self.verdict is not None:
            self.ended_by = event.index

    def may_hold_tute(self, seat: int) -> bool:
        """Whether unseen cards of a hand can make up the four cards of a tute."""
        figures = (REY,) if self.rules.tute != "wins" else (REY, self.rules.under)
        hand = self.position.hands[seat]
        held = max(sum(card % FIGURES == figure for card in hand) for figure in figures)
        return SUITS - held <= self.position.hidden[seat]

    def claim(self, event: _Event, trick: int, place: int) -> None:
        breach = None
        if event.seat == UNKNOWN:
            event.seat = self.position.seat
        # Who has just won without a claim may say so all the same.
        said_too = self.verdict is not None and not self.over_said and self.verdict.winner == event.seat & 1
        counts = not said_too and self.happened(event)
        if self.rules.claim == "none":
            said = f"{self.place_name(event)}: these rules have no claim"
            breach = self.fault(f"events[{event.index}].action", "NO_CLAIM", said, placed=True)
        self.step(trick, place, Action(CLAIM, event.seat), breach)
        if breach is not None:
            self.broken_play = True
        elif counts:
            points = self.sources.points
            totals = (self.start.carried[0] + points[0], self.start.carried[1] + points[1])
            self.verdict = scoring.on_claim(self.rules, totals, self.sources, self.start.vueltas, event.seat & 1)

    def fetch(self, event: _Event) -> None:
        """Bring a card that is played by a hand that has not got it into that hand, so that the rest can be looked at.

        A card that nobody is known to have takes the place of an unseen one; otherwise it is changed for one that the
        hand does not play later. Raises :class:`_Stop` where that is not possible.
        """
        position, seat, card = self.position, event.seat, event.move.item
        elsewhere = card in position.stock or any(card in hand for hand in position.hands)
        said = f"{self.place_name(event)}: seat {seat_name(seat)} does not hold it"
        holder = next((each for each, hand in enumerate(position.hands) if card in hand), UNKNOWN)
        if holder != UNKNOWN:
            said += f", seat {seat_name(holder)} does"
        self.fault(f"events[{event.index}].action", "NOT_IN_HAND", said, self.reading.said(card))
        if position.hidden[seat] and not elsewhere:
            self.position = _revealed(position, seat, card)
            return
        later = {each.move.item for trick in self.tricks for each in trick.cards if each.seat == seat}
        spare = next((each for each in position.hands[seat] if each not in later), UNKNOWN)
        if spare == UNKNOWN:
            raise _Stop
        swap = {card: spare, spare: card}
        order = self.rules.order.__getitem__
        self.position = replace(
            position,
            hands=tuple(tuple(sorted((swap.get(each, each) for each in hand), key=order)) for hand in position.hands),
            stock=tuple(swap.get(each, each) for each in position.stock),
        )

    def check_result(self, result: Pair | None, verdict: Verdict) -> None:
        if result is None or self.broken_play or self.miscounted:
            return
        points = self.sources.points
        if verdict.outcome == UNFINISHED:
            wrong = any(said < made for said, made in zip(result, points, strict=True))
        else:
            wrong = result != points
        if wrong:
            said = f"the record says {result[0]} {result[1]}, the cards say {points[0]} {points[1]}"
            self.fault("result", "RESULT_MISMATCH", said, placed=True)


def _revealed(position: GuinotePosition, seat: int, card: int) -> GuinotePosition:
    """The position with an unseen card of a hand turned up."""
    hands, hidden = list(position.hands), list(position.hidden)
    hands[seat] = tuple(sorted((*hands[seat], card), key=position.rules.order.__getitem__))
    hidden[seat] -= 1
    return replace(position, hands=tuple(hands), hidden=tuple(hidden))


class _Shown:
    """Which unseen cards can be placed, from when on.

    Every card of a hand was dealt to it or drawn after a certain trick (or came by an exchange, which everybody sees).
    The times at which a hand got cards that the record does not show are known, since the winners of tricks are; a
    card seen later got there at one of those times, and is certainly there from the last of them on that comes before
    it is seen. ``by_time`` lists, by the number of tricks played, (seat, card).
    """

    def __init__(self, table: _Table) -> None:
        self.table = table
        self.by_time: dict[int, list[tuple[int, int]]] = {}
        position, rules, players = table.position, table.rules, table.players
        known = set(position.stock) | {card for hand in position.hands for card in hand}
        times: list[list[int]] = [[0] * count for count in position.hidden]
        for trick in table.tricks:
            if trick.winner == UNKNOWN or trick.number > rules.draw_tricks:
                break
            for place in range(players):
                if position.stock[(trick.number - 1) * players + place] == UNKNOWN:
                    times[(trick.winner + place) % players].append(trick.number)
        for seat, seen in enumerate(self.seen(position)):
            # Latest possible arrival first, so that cards which had to be there early find room.
            free = sorted(times[seat])
            for card, deadline in sorted(seen.items(), key=lambda each: (each[1], each[0])):
                arrivals = [time for time in times[seat] if time <= deadline]
                if card in known or not arrivals or not free or free[0] > deadline:
                    continue
                free.pop(0)
                self.by_time.setdefault(arrivals[-1], []).append((seat, card))

    def seen(self, position: GuinotePosition) -> list[dict[int, int]]:
        """By seat: each card that it is seen to hold, with the last draw (by trick) that can have brought it."""
        seen: list[dict[int, int]] = [{} for _ in position.hands]

        def show(seat: int, card: int, time: int) -> None:
            seen[seat][card] = min(time, seen[seat].get(card, time))

        siete = card_of(position.trump, SIETE)
        needed = siete
        if position.stock and position.stock[-1] == siete:
            needed = card_of(position.trump, DOS)
        given = UNKNOWN
        for trick in self.table.tricks:
            before = trick.number - 1
            for place, events in sorted(trick.before.items()):
                for event in events:
                    if event.seat == UNKNOWN:
                        continue
                    if event.move.kind == CANTE:
                        show(event.seat, card_of(event.move.item, REY), before)
                        show(event.seat, self.table.rules.mate(event.move.item), before)
                    elif event.move.kind == CAMBIO and given == UNKNOWN:
                        # Before the last draw, what is drawn then has not come yet.
                        last = before == self.table.rules.draw_tricks and place == 0
                        show(event.seat, needed, before - 1 if last else before)
                        given = needed
            for event in trick.cards:
                # The card given for the muestra comes back to whoever draws last, in the open.
                if event.move.item != given:
                    show(event.seat, event.move.item, before)
        return seen
