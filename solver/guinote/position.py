"""A moment in a deal of Guiñote, what may be done in it and what comes of that.

The moves are decided here in plain Python, apart from the kernel, so that each can be held against the other. Every
question of the kind "may this seat do that" is answered in one place by an objection or by none: legal actions are
those without an objection, and an objection can be put into words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Final

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
from arrastre.errors import Fault, IllegalAction
from arrastre.game import Action, Game, Position
from arrastre.guinote.reasons import LACKING, SENTENCES, Objection, listed, seat_name
from arrastre.guinote.rules import CAPOTE_POINTS, Ruleset, differences
from arrastre.guinote.spelling import ACTIONS_HELP, split_action

LEAD: Final = "lead"
PLAY: Final = "play"
RIVALS: Final = "rivals"
BEFORE_DRAW_RIVALS: Final = "before_draw_rivals"
BEFORE_DRAW: Final = "before_draw"
#: The moments of a deal in the order in which they come.
MOMENTS: Final = (BEFORE_DRAW_RIVALS, BEFORE_DRAW, RIVALS, LEAD, PLAY)

CANTE: Final = "cante"
CAMBIO: Final = "cambio"
TUTE: Final = "tute"
PASS: Final = "pass"
#: Done in records only: stopping the deal because one's side has reached the target.
CLAIM: Final = "claim"

SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Sung:
    """A cante: who sang, which suit, and after which trick (the first is 1)."""

    seat: int
    suit: int
    trick: int


@dataclass(frozen=True, slots=True)
class Tute:
    """A tute that has been declared: who did, and after which trick (the first is 1)."""

    seat: int
    trick: int


@dataclass(frozen=True, slots=True)
class Move:
    """An action, read: its kind (a card's is ``play``), the card or suit it names, and the seat, if it names one."""

    kind: str
    item: int = UNKNOWN
    seat: int | None = None


def parse_action(text: str, deck: Deck) -> Move:
    """What a text says to do, its cards and suits spelled as in a deck. Raises :class:`~arrastre.cards.CardError`."""
    verb, said, seat = split_action(text)
    try:
        if verb == CANTE and said:
            return Move(CANTE, parse_suit(said, deck), seat)
        if verb and not said and verb != CANTE:
            return Move(verb, seat=seat)
        return Move(PLAY, parse_card(said if not verb else text, deck), seat)
    except CardError as error:
        if error.reason != "UNKNOWN_CARD":
            raise
        raise CardError("UNKNOWN_ACTION", f"{error}; {ACTIONS_HELP[0]}") from None


@dataclass(frozen=True, slots=True)
class GuinotePosition(Position):
    """A moment in a deal, in numbers: cards 0..39, suits 0..3, seats 0..3 (0..1 with two players), sides ``seat & 1``.

    ``hands`` by seat, in the order in which hands are written; ``hidden`` counts a hand's unseen cards, ``excluded``
    are cards it cannot hold. ``stock`` is top first with the muestra last, an unknown card −1. ``trick`` is in the
    order of play, the first card by ``leader``. ``points`` are this deal's by side, ``card_points`` the same without
    cantes, tute and capote. ``tricks`` by side, or ``None`` when not known. ``gone`` lists the cards of completed
    tricks where some cards are unseen.

    Made by :func:`arrastre.guinote.gate.read_position` and by :meth:`apply`; nothing is checked when one is made
    directly.
    """

    game: ClassVar[Game]

    rules: Ruleset
    trump: int
    hands: tuple[tuple[int, ...], ...]
    hidden: tuple[int, ...]
    excluded: tuple[tuple[int, ...], ...]
    gone: tuple[int, ...]
    stock: tuple[int, ...]
    leader: int
    trick: tuple[int, ...]
    points: tuple[int, int]
    card_points: tuple[int, int]
    sung: tuple[Sung, ...]
    tricks: tuple[int, int] | None
    exchanged: bool
    tute: Tute | None
    carried: tuple[int, int]
    vueltas: bool
    moment: str

    @staticmethod
    def dealt(
        rules: Ruleset, trump: int, hands: tuple[tuple[int, ...], ...], stock: tuple[int, ...]
    ) -> GuinotePosition:
        """The beginning of a deal that seat 0 leads, every card known."""
        return GuinotePosition(
            rules=rules,
            trump=trump,
            hands=hands,
            hidden=(0,) * rules.players,
            excluded=((),) * rules.players,
            gone=(),
            stock=stock,
            leader=0,
            trick=(),
            points=(0, 0),
            card_points=(0, 0),
            sung=(),
            tricks=(0, 0),
            exchanged=False,
            tute=None,
            carried=(0, 0),
            vueltas=False,
            moment=LEAD,
        )

    # -- what can be read off ------------------------------------------------------------------------------------

    @property
    def players(self) -> int:
        """The number of players, 4 or 2."""
        return self.rules.players

    @property
    def seat(self) -> int:
        """The seat to act; in a window of declarations, the lower seat of the side whose turn it is."""
        if self.moment == LEAD or self.moment == PLAY:
            return (self.leader + len(self.trick)) % self.rules.players
        return self.side

    @property
    def side(self) -> int:
        """The side whose turn it is."""
        if self.moment == RIVALS or self.moment == BEFORE_DRAW_RIVALS:
            return 1 - (self.leader & 1)
        return (self.leader + len(self.trick)) & 1

    @property
    def in_draw(self) -> bool:
        """Whether cards are still to be drawn."""
        return bool(self.stock)

    @property
    def played(self) -> int:
        """The number of tricks completed in this deal."""
        rules = self.rules
        if self.moment == BEFORE_DRAW or self.moment == BEFORE_DRAW_RIVALS:
            return rules.draw_tricks
        if self.stock:
            return rules.draw_tricks - len(self.stock) // rules.players
        # Whoever is to play has not yet played to this trick.
        to_play = (self.leader + len(self.trick)) % rules.players
        return rules.total_tricks - len(self.hands[to_play]) - self.hidden[to_play]

    @property
    def muestra(self) -> int | None:
        """The card that lies face up under the stock, if it has not been drawn."""
        return self.stock[-1] if self.stock else None

    @property
    def strict(self) -> bool:
        """Whether the duties of the arrastre hold in the trick to be played."""
        when = self.rules.strict_from_start
        return when == "yes" or (when == "no" and not self.stock)

    @property
    def fully_known(self) -> bool:
        """Whether every card of every hand and of the stock is known."""
        return not any(self.hidden) and UNKNOWN not in self.stock

    def has_trick(self, side: int) -> bool:
        """Whether a side has won a trick of this deal; tricks that are not known count as the leader's side's."""
        if not self.played:
            return False
        return side == self.leader & 1 or (self.tricks is not None and self.tricks[side] > 0)

    def winning(self) -> int | None:
        """The place in the trick, from 0, of the card that is winning it; ``None`` if there is no card."""
        if not self.trick:
            return None
        best, strengths = 0, self.rules.strengths
        for place, card in enumerate(self.trick):
            held = self.trick[best]
            if card // FIGURES == held // FIGURES:
                if strengths[card] > strengths[held]:
                    best = place
            elif card // FIGURES == self.trump:
                best = place
        return best

    def finished(self) -> bool:
        """Whether no card is left to play."""
        return not self.stock and not any(self.hands) and not any(self.hidden)

    # -- what may be done ----------------------------------------------------------------------------------------

    def legal_actions(self) -> tuple[Action, ...]:
        """Cards as the hand holds them, then cantes (trumps first), cambio, tute, pass."""
        return _legal_actions(self)

    def legal_cards(self) -> tuple[int, ...]:
        """The cards that the seat to act may play now; none at a moment in which no card is played."""
        if self.moment not in (LEAD, PLAY):
            return ()
        hand = self.hands[self.seat]
        return tuple(card for card in hand if self._duty(card) is None)

    def cantes(self) -> tuple[tuple[int, int], ...]:
        """Who may sing what now: (seat, suit), trumps first."""
        if self.moment != LEAD:
            return ()
        suits = sorted(range(SUITS), key=lambda suit: (suit != self.trump, suit))
        return tuple((seat, suit) for suit in suits for seat in self._partners() if self._no_cante(seat, suit) is None)

    def exchanges(self) -> tuple[int, ...]:
        """The seats that may exchange now."""
        if not self.stock or self.exchanged:
            return ()
        return tuple(seat for seat in self._partners() if self._no_exchange(seat) is None)

    def tutes(self) -> tuple[int, ...]:
        """The seats that may declare a tute now."""
        if self.moment != LEAD or self.rules.tute == "none":
            return ()
        return tuple(seat for seat in self._partners() if self._no_tute(seat) is None)

    def _partners(self) -> range:
        """The seats of the side whose turn it is, lower seat first."""
        return range(self.side, self.rules.players, 2)

    def _duty(self, card: int) -> Objection | None:
        """The duty that keeps the seat to act from playing a card of its hand."""
        rules, trump = self.rules, self.trump
        winning = self.winning()
        if winning is None or not self.strict:
            return None
        hand, seat = self.hands[self.seat], self.seat
        lead, best = self.trick[0], self.trick[winning]
        suit, led, strengths = card // FIGURES, lead // FIGURES, rules.strengths
        partner_wins = rules.players == 4 and (self.leader + winning - seat) % 4 == 2
        exempt = rules.partner_exempt and partner_wins
        if any(each // FIGURES == led for each in hand):
            if suit != led:
                return Objection("FOLLOW_SUIT", lead)
            target = best
            if rules.beat_in_suit == "led_suit":
                target = max((each for each in self.trick if each // FIGURES == led), key=strengths.__getitem__)
            trumped = target // FIGURES != led
            if exempt or trumped or rules.beat_in_suit == "no" or strengths[card] > strengths[target]:
                return None
            able = _able(hand, target, strengths)
            return Objection("BEAT_CARD", target, able) if able else None
        if exempt or (suit == trump and best // FIGURES != trump):
            return None
        if not any(each // FIGURES == trump for each in hand):
            return None
        if best // FIGURES != trump:
            return Objection("MUST_TRUMP", lead)
        if suit == trump and strengths[card] > strengths[best]:
            return None
        able = _able(hand, best, strengths)
        if able:
            return Objection("OVERTRUMP", best, able)
        return Objection("UNDERTRUMP", best) if rules.undertrump == "forced" and suit != trump else None

    def forbids(self, held: int, card: int) -> bool:
        """Whether ``held`` in the hand of the seat to act would keep it from playing ``card``."""
        return replace(self, hands=_with(self.hands, self.seat, (held, card)))._duty(card) is not None

    def _no_card(self, card: int, seat: int) -> Objection | None:
        if self.moment not in (LEAD, PLAY):
            return Objection("WINDOW_OPEN")
        holder = next((each for each, hand in enumerate(self.hands) if card in hand), UNKNOWN)
        if seat != self.seat or holder not in (UNKNOWN, seat):
            return Objection("NOT_YOUR_TURN", seat=seat if holder in (UNKNOWN, self.seat) else holder)
        if holder == UNKNOWN:
            return Objection("NOT_IN_HAND", card)
        return self._duty(card)

    def _no_cante(self, seat: int, suit: int) -> Objection | None:
        rules = self.rules
        rey, mate = card_of(suit, REY), rules.mate(suit)
        if not rules.cantes:
            return Objection("NO_CANTES")
        if any(each.suit == suit for each in self.sung):
            return Objection("CANTE_SUNG", rey)
        if self.moment != LEAD:
            return Objection("CANTE_MOMENT", rey)
        played = self.played
        if not played:
            return Objection("CANTE_NO_TRICK", rey)
        hand = self.hands[seat]
        if rey not in hand or mate not in hand:
            return Objection("CANTE_CARDS", mate if rey in hand else rey, (rey, mate))
        if seat & 1 != self.leader & 1:
            return Objection("CANTE_SIDE", rey)
        if rules.cante_by == "winner" and seat != self.leader:
            return Objection("CANTE_WINNER", rey)
        for each in self.sung:
            partners = (each.seat - seat) % 2 == 0 and rules.cantes_per_trick == "side"
            if each.trick == played and (each.seat == seat or partners):
                return Objection("CANTE_LIMIT", card_of(each.suit, REY), seat=each.seat)
        return None

    def _no_exchange(self, seat: int) -> Objection | None:
        rules, moment = self.rules, self.moment
        if not self.stock:
            return Objection("EXCHANGE_NO_STOCK")
        if self.exchanged:
            return Objection("EXCHANGE_DONE", self.stock[-1])
        needed = self.exchange_card()
        if needed is None:
            return Objection("EXCHANGE_SEVEN", self.stock[-1])
        if needed not in self.hands[seat]:
            return Objection("EXCHANGE_CARD", needed)
        when = rules.exchange_when
        if when == "own_turn":
            mine = moment in (LEAD, PLAY) and seat == self.seat
            return None if mine else Objection("EXCHANGE_TURN", needed)
        if moment == PLAY:
            return Objection("EXCHANGE_MOMENT", needed)
        if when == "any_trick_won":
            if seat & 1 != self.side:
                return Objection("EXCHANGE_SIDE", needed)
            return None if self.has_trick(seat & 1) else Objection("EXCHANGE_NO_TRICK", needed)
        winners_turn = moment in (LEAD, BEFORE_DRAW)
        if when == "on_lead":
            return None if winners_turn and seat == self.leader else Objection("EXCHANGE_LEADER", needed)
        just_won = winners_turn and seat & 1 == self.leader & 1 and self.played > 0
        return None if just_won else Objection("EXCHANGE_LAST_TRICK", needed)

    def exchange_card(self) -> int | None:
        """The card that exchanges for the muestra while nobody has exchanged: the 7 of trumps, the 2 if it is the 7
        that was turned up, or none if the rules have no exchange for it."""
        siete = card_of(self.trump, SIETE)
        if self.muestra != siete:
            return siete
        return card_of(self.trump, DOS) if self.rules.exchange_two else None

    def _no_tute(self, seat: int) -> Objection | None:
        if self.rules.tute == "none":
            return Objection("NO_TUTE")
        if self.tute is not None:
            return Objection("TUTE_DONE")
        if self.moment != LEAD:
            return Objection("TUTE_MOMENT")
        if not self.played:
            return Objection("TUTE_NO_TRICK")
        figures = (REY,) if self.rules.tute != "wins" else (REY, self.rules.under)
        held = [sum(card % FIGURES == figure for card in self.hands[seat]) for figure in figures]
        if SUITS not in held:
            return Objection("TUTE_CARDS")
        return None if seat & 1 == self.leader & 1 else Objection("TUTE_SIDE")

    def objection_to(self, move: Move, seat: int | None) -> tuple[Objection | None, int]:
        """What forbids a move, and the seat that would make it: the one given, else whoever is best placed to."""
        actor = self.seat if seat is None else seat
        if not 0 <= actor < self.players:
            return Objection("BAD_SEAT"), actor
        if move.kind == PLAY:
            return self._no_card(move.item, actor), actor
        if move.kind == PASS:
            if self.moment in (LEAD, PLAY):
                return Objection("NOTHING_TO_PASS"), actor
            return (None if actor in self._partners() else Objection("NOT_YOUR_PASS")), actor
        seats = [seat] if seat is not None else [*self._partners(), *range(1 - self.side, self.players, 2)]
        judged = [(self._objection_to_declaring(move, each), each) for each in seats]
        # Of several seats, the one whose objection lies deepest holds the cards in question.
        return min(judged, key=lambda each: (each[0] is not None, each[0] is not None and each[0].reason in LACKING))

    def _objection_to_declaring(self, move: Move, seat: int) -> Objection | None:
        if move.kind == CANTE:
            return self._no_cante(seat, move.item)
        return self._no_exchange(seat) if move.kind == CAMBIO else self._no_tute(seat)

    def read_action(self, text: str) -> Move:
        """What a text says to do. Raises :class:`~arrastre.cards.CardError`."""
        return parse_action(text, self.rules.deck)

    def why_not(self, action: str, lang: str = "en") -> str | None:
        """The duty that forbids an action and the card that causes it, in English or Spanish; ``None`` if legal now."""
        try:
            move = self.read_action(action)
        except CardError as error:
            return SENTENCES["UNKNOWN_ACTION"][1] if lang == "es" else error.message
        objection, seat = self.objection_to(move, move.seat)
        return None if objection is None else self.words(objection, move, seat, lang)

    def words(self, objection: Objection, move: Move, seat: int, lang: str) -> str:
        """An objection as a sentence, in English or Spanish."""
        deck, spanish = self.rules.deck, lang == "es"
        sentence = SENTENCES[objection.reason][1 if spanish else 0]
        return sentence.format(
            card=card_symbol(move.item, deck) if move.kind == PLAY else "",
            cause=card_symbol(objection.cause, deck),
            able=listed([card_symbol(card, deck) for card in objection.able], spanish),
            led=suit_name(self.trick[0] // FIGURES, deck, lang) if self.trick else "",
            suit=suit_name(move.item, deck, lang) if move.kind == CANTE else "",
            other=seat_name(objection.seat),
            seat=seat_name(seat),
            turn=seat_name(self.seat),
        )

    # -- what comes of it ----------------------------------------------------------------------------------------

    def apply(self, action: Action | str) -> GuinotePosition:
        """The position after an action, passing first where that is what it takes.

        Points of the last trick, of a capote that scores and of a tute that scores are added. Raises
        :class:`~arrastre.errors.IllegalAction`, whose fault's reason names the duty.
        """
        text, seat = (action, None) if isinstance(action, str) else (action.action, action.seat)
        try:
            move = self.read_action(text)
        except CardError as error:
            fault = Fault("action", error.reason, error.message, quoted(text))
            raise IllegalAction(f"'{quoted(text)}' is no action", [fault]) from None
        seat = move.seat if seat is None else seat
        position = self
        while True:
            objection, actor = position.objection_to(move, seat)
            if objection is None:
                return position.after(move, actor)
            if position.moment in (LEAD, PLAY) or move.kind == PASS:
                break
            position = position.after(Move(PASS), position.seat)
        message = position.words(objection, move, actor, "en")
        fault = Fault("action", objection.reason, message, quoted(text) if move.kind == PLAY else None)
        raise IllegalAction(f"{quoted(text)} is not allowed: {message}", [fault])

    def after(self, move: Move, seat: int) -> GuinotePosition:
        """The position after a move that is allowed."""
        if move.kind == PLAY:
            return self._after_card(move.item)
        if move.kind == CANTE:
            gain = self.rules.cante_points(move.item, self.trump)
            sung = (*self.sung, Sung(seat, move.item, self.played))
            return replace(self, points=_added(self.points, seat & 1, gain), sung=sung)
        if move.kind == TUTE:
            gain = self.rules.tute if isinstance(self.rules.tute, int) else 0
            return replace(self, points=_added(self.points, seat & 1, gain), tute=Tute(seat, self.played))
        if move.kind == CAMBIO:
            return self.swapped(seat)._settled()
        return self.next_moment()._settled()

    def swapped(self, seat: int) -> GuinotePosition:
        """The position when a seat has exchanged, at the same moment; the seat holds the card to be given."""
        given = self.exchange_card()
        assert given is not None
        kept = (card for card in self.hands[seat] if card != given)
        hand = self._sorted((*kept, self.stock[-1]))
        return replace(self, hands=_with(self.hands, seat, hand), stock=(*self.stock[:-1], given), exchanged=True)

    def _sorted(self, cards: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted(cards, key=self.rules.order.__getitem__))

    def _after_card(self, card: int) -> GuinotePosition:
        after = self.put_down(card)
        if after.trick or not after.stock:
            return after
        if len(after.stock) == self.players and self.rules.exchange_after_last_draw_trick:
            return after._settled()
        return after.drawn()._settled()

    def put_down(self, card: int) -> GuinotePosition:
        """The position after the seat to act has played a card of its hand, allowed or not.

        A trick that it completes is scored. Nothing is drawn: while there is a stock the moment is then
        ``before_draw_rivals``, whether or not these rules do anything in it, and :meth:`drawn` leads on.
        """
        rules, seat = self.rules, self.seat
        hands = _with(self.hands, seat, tuple(each for each in self.hands[seat] if each != card))
        trick = (*self.trick, card)
        if len(trick) < rules.players:
            return replace(self, hands=hands, trick=trick, moment=PLAY)
        number = self.played + 1
        full = replace(self, trick=trick)
        place = full.winning()
        assert place is not None
        winner = (self.leader + place) % rules.players
        side, last = winner & 1, number == rules.total_tricks
        gain = sum(rules.values[each] for each in trick) + (rules.last_trick if last else 0)
        tricks = None if self.tricks is None else _added(self.tricks, side, 1)
        capote = last and rules.capote == CAPOTE_POINTS and tricks is not None and tricks[side] == number
        # Cards that have gone are only worth noting where they tell something about the unseen ones.
        noted = bool(self.gone) or not self.fully_known
        return replace(
            self,
            hands=hands,
            trick=(),
            leader=winner,
            gone=(*self.gone, *trick) if noted else (),
            points=_added(self.points, side, gain + (CAPOTE_POINTS if capote else 0)),
            card_points=_added(self.card_points, side, gain),
            tricks=tricks,
            moment=BEFORE_DRAW_RIVALS if self.stock else LEAD,
        )

    def drawn(self) -> GuinotePosition:
        """The position when everybody has drawn a card, the winner of the trick first: the rivals' turn."""
        hands, hidden = list(self.hands), list(self.hidden)
        for place, card in enumerate(self.stock[: self.players]):
            seat = (self.leader + place) % self.players
            if card == UNKNOWN:
                hidden[seat] += 1
            else:
                hands[seat] = self._sorted((*hands[seat], card))
        stock = self.stock[self.players :]
        return replace(self, hands=tuple(hands), hidden=tuple(hidden), stock=stock, moment=RIVALS)

    def next_moment(self) -> GuinotePosition:
        if self.moment == BEFORE_DRAW:
            return self.drawn()
        return replace(self, moment=BEFORE_DRAW if self.moment == BEFORE_DRAW_RIVALS else LEAD)

    def _settled(self) -> GuinotePosition:
        """This position, or the first one after it in which somebody can do more than pass."""
        position = self
        while position.moment not in (LEAD, PLAY) and not position.exchanges():
            position = position.next_moment()
        return position

    # -- writing -------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, every field present."""
        texts, deck = CARD_TEXTS[self.rules.deck], self.rules.deck
        return {
            "schema": SCHEMA,
            "ruleset": self.rules.name,
            "players": self.rules.players,
            "trump": suit_text(self.trump, deck),
            "hands": [
                {"cards": [texts[card] for card in cards], "hidden": hidden, "excluded": [texts[card] for card in out]}
                for cards, hidden, out in zip(self.hands, self.hidden, self.excluded, strict=True)
            ],
            "stock": [texts[card] if card >= 0 else UNKNOWN_TEXT for card in self.stock],
            "leader": self.leader,
            "trick": [texts[card] for card in self.trick],
            "points": list(self.points),
            "cardPoints": list(self.card_points),
            "sung": [
                {"seat": each.seat, "suit": suit_text(each.suit, deck), "trick": each.trick} for each in self.sung
            ],
            "tricks": None if self.tricks is None else list(self.tricks),
            "exchanged": self.exchanged,
            "tute": None if self.tute is None else {"seat": self.tute.seat, "trick": self.tute.trick},
            "carried": list(self.carried),
            "vueltas": self.vueltas,
            "moment": self.moment,
            "gone": [texts[card] for card in self.gone],
            "rules": differences(self.rules),
        }


def _able(hand: Sequence[int], target: int, strengths: Sequence[int]) -> tuple[int, ...]:
    """The cards of a hand that beat a card of their own suit."""
    suit = target // FIGURES
    return tuple(card for card in hand if card // FIGURES == suit and strengths[card] > strengths[target])


def _with(hands: tuple[tuple[int, ...], ...], seat: int, hand: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return (*hands[:seat], hand, *hands[seat + 1 :])


def _added(pair: tuple[int, int], side: int, gain: int) -> tuple[int, int]:
    return (pair[0], pair[1] + gain) if side else (pair[0] + gain, pair[1])


# Whoever looks at a position asks for these several times, and then goes on to the next.
@lru_cache(maxsize=4)
def _legal_actions(position: GuinotePosition) -> tuple[Action, ...]:
    deck, seat = position.rules.deck, position.seat
    actions = [Action(card_text(card, deck), seat) for card in position.legal_cards()]
    actions += [Action(f"{CANTE} {suit_text(suit, deck)}", singer) for singer, suit in position.cantes()]
    actions += [Action(CAMBIO, holder) for holder in position.exchanges()]
    actions += [Action(TUTE, holder) for holder in position.tutes()]
    if position.moment not in (LEAD, PLAY):
        actions.append(Action(PASS, seat))
    return tuple(actions)
