"""The policy of ``playout.pxd`` once more, slow and plain, on positions of the package.

Whatever it does it does by ``Position.apply``, so a walk also shows that each of its actions is legal. It looks at a
fully known position, but uses no more of it than the seat can know: the seat's own hand, the table, and which cards are
out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from arrastre.cards import CARDS, FIGURES, REY, SUITS, card_of, card_text
from arrastre.game import Action
from arrastre.guinote.position import CAMBIO, CANTE, LEAD, PASS, PLAY, RIVALS, TUTE, GuinotePosition

ONE = 1024
# By whether cards are still drawn (0: yes, 1: no).
COST_TRUMP = ((30, 30, 28, 33, 36, 40, 40, 50, 79, 93), (13, 17, 17, 22, 23, 26, 29, 39, 79, 80))
COST_PLAIN = ((-6, -5, -2, -3, -2, -6, -9, -8, -4, 13), (-7, 9, 8, 9, 12, 8, 5, 4, 12, 5))
ALONE, LEAD_PLAIN, LEAD_TRUMP, LEAD_HIGH, LATER = (-9, -2), (-1, -4), (9, -12), (5, -2), (-8, -7)
SING_BOTH, SING_ONE, HASTE, HIGHER, PARTNER = 52, 10, -4, 5, 12

Choice = Callable[[GuinotePosition], int]


def next_action(position: GuinotePosition, excused: Collection[int] = (), choose: Choice | None = None) -> Action:
    """What is done next by policy: a declaration, a pass, or a card. ``excused`` seats declare nothing."""
    allowed = [each for each in position.legal_actions() if each.seat not in excused]
    exchanges = [each for each in allowed if each.action == CAMBIO]
    if exchanges and gains_by_exchange(position):
        return exchanges[0]
    for each in allowed:
        if each.action == TUTE:
            return each
    cantes = [each for each in allowed if each.action.startswith(CANTE)]
    if cantes:
        # They are listed trumps first, then by suit and seat.
        return cantes[0]
    if position.moment not in (LEAD, PLAY):
        return Action(PASS, position.seat)
    card = choose(position) if choose else choose_card(position)
    return Action(card_text(card, position.rules.deck), position.seat)


def gains_by_exchange(position: GuinotePosition) -> bool:
    given = position.exchange_card()
    strengths = position.rules.strengths
    return given is not None and strengths[position.stock[-1]] > strengths[given]


def choose_card(position: GuinotePosition) -> int:
    """The card of the highest score; of equals the weakest trump, then the weakest in the order of suits."""
    lanes = [position.trump, *(suit for suit in range(SUITS) if suit != position.trump)]

    def number(card: int) -> tuple[int, int]:
        return lanes.index(card // FIGURES), position.rules.strengths[card]

    return min(sorted(position.legal_cards(), key=number), key=lambda card: -_score(position, card))


def _out(position: GuinotePosition) -> set[int]:
    """Cards that are in other hands or in the stock, as far as the seat to play can tell."""
    if position.fully_known:
        others = [card for seat, hand in enumerate(position.hands) if seat != position.seat for card in hand]
        return {*others, *position.stock}
    return {*range(CARDS)} - {*position.hands[position.seat], *position.gone, *position.trick}


def _unsung(position: GuinotePosition, suit: int, out: set[int]) -> bool:
    """Whether a suit may still be sung by somebody, for all that is public: its cards may be in one hand.

    Once nobody draws any more, a cante whose cards are in two hands is over; that is more than the seat can know where
    it holds neither of them, but then it makes no difference to it.
    """
    if any(each.suit == suit for each in position.sung):
        return False
    pair = {card_of(suit, REY), position.rules.mate(suit)}
    if not pair <= out | {*position.hands[position.seat]}:
        return False
    if position.stock:
        return True
    return pair <= {*position.hands[position.seat]} or pair <= out


def _survival(position: GuinotePosition, led: int, win: int, points: int, hands: int) -> int:
    """The chance, of ONE, that none of so many hands beats the card that is winning."""
    out, trump, strengths = _out(position), position.trump, position.rules.strengths
    suit = win // FIGURES
    higher = sum(card // FIGURES == suit and strengths[card] > strengths[win] for card in out)
    beaters = (8 if position.strict else HIGHER) * higher
    if suit != trump:
        trumps = sum(card // FIGURES == trump for card in out)
        if position.strict:
            beaters += 0 if any(card // FIGURES == led for card in out) else 8 * trumps
        else:
            beaters += (1 if points == 0 else 4 if points < 9 else 9) * trumps
    size, chance = 8 * len(out), ONE
    for _ in range(hands * len(position.hands[position.seat])):
        if size <= 0:
            break
        if beaters >= size:
            return 0
        chance = chance * (size - beaters) // size
        size -= 8
    return chance


def _cost(position: GuinotePosition, card: int) -> int:
    rules, late = position.rules, not position.stock
    hand, out = {*position.hands[position.seat]}, _out(position)
    suit, rank = card // FIGURES, rules.strengths[card]
    plain = suit != position.trump
    cost = (COST_PLAIN if plain else COST_TRUMP)[late][rank]
    pair = {card_of(suit, REY), rules.mate(suit)}
    if rules.cantes and card in pair and _unsung(position, suit, out):
        worth = rules.cante_points(suit, position.trump)
        if pair <= hand:
            cost += SING_BOTH * worth // 20
        elif pair & out and not late:
            cost += SING_ONE * worth // 20
    if plain and sum(each // FIGURES == suit for each in hand) == 1:
        cost += ALONE[late]
    if not position.trick:
        cost += (LEAD_PLAIN if plain else LEAD_TRUMP)[late]
        if plain and rules.values[card] >= 10:
            cost += LEAD_HIGH[late]
    return cost


def _score(position: GuinotePosition, card: int) -> int:
    trick = (*position.trick, card)
    place = replace(position, trick=trick).winning()
    assert place is not None
    later = position.players - len(trick)
    points = sum(position.rules.values[each] for each in trick)
    led, win = trick[0] // FIGURES, trick[place]
    if (position.leader + place - position.seat) % 2 == 0:
        chance = _survival(position, led, win, points, (later + 1) // 2)
    else:
        chance = (ONE - _survival(position, led, win, points, later // 2)) * PARTNER // 16
    stake = 4 * points + later * LATER[not position.stock]
    return (2 * chance - ONE) * stake + 4 * chance * HASTE - ONE * _cost(position, card)


def tricks_left(position: GuinotePosition) -> int:
    """At the beginning of a trick."""
    return len(position.stock) // position.players + len(position.hands[position.leader])


def between(position: GuinotePosition) -> bool:
    """Whether a trick is over and its cards are drawn."""
    return position.moment in (RIVALS, LEAD)


def coupled_stock(position: GuinotePosition, stock: Sequence[int], leader: int) -> tuple[int, ...]:
    """What is left of ``stock``, laid so that every seat draws its own cards while ``leader`` draws first.

    ``stock`` is laid for seat 0 drawing first; its last card is taken from the position, as it may have been exchanged.
    """
    players = position.players
    left = len(position.stock)
    rest = [*stock[len(stock) - left :][:-1], position.stock[-1]]
    laid: list[int] = []
    for turn in range(left // players):
        cards = rest[turn * players : (turn + 1) * players]
        if turn == left // players - 1:
            last = (leader + players - 1) % players
            cards[last], cards[players - 1] = cards[players - 1], cards[last]
        laid += [cards[(leader + place) % players] for place in range(players)]
    return tuple(laid)


class Walk:
    """A deal on its way. ``coupled``: each seat draws its own cards, whoever draws first."""

    def __init__(self, position: GuinotePosition, coupled: bool = False) -> None:
        self.stock = position.stock
        self.coupled = coupled
        self.position = self._laid(position, position.leader)
        self.done: list[Action] = []

    def _laid(self, position: GuinotePosition, leader: int) -> GuinotePosition:
        if not self.coupled or not position.stock:
            return position
        return replace(position, stock=coupled_stock(position, self.stock, leader))

    def act(self, action: Action) -> None:
        position = self.position
        move = position.read_action(action.action)
        if move.kind == "play" and len(position.trick) + 1 == position.players:
            place = replace(position, trick=(*position.trick, move.item)).winning()
            assert place is not None
            position = self._laid(position, (position.leader + place) % position.players)
        self.position = position.apply(action)
        self.done.append(action)

    def go_on(self, tricks: int, excused: Collection[int] = ()) -> None:
        """Follow the policy until no more than ``tricks`` tricks are left and no card is on the table.

        ``excused`` declare nothing before the next card.
        """
        while not self.position.finished():
            position = self.position
            if position.moment in (RIVALS, LEAD) and tricks_left(position) <= tricks:
                return
            action = next_action(position, excused)
            self.act(action)
            if action.action not in (CAMBIO, TUTE, PASS) and not action.action.startswith(CANTE):
                excused = ()

    def start(self, action: Action, informed: bool = True) -> tuple[int, ...]:
        """Begin with an action; returns the seats that are excused from then on.

        In the informed view a leader's partner declares first what it would.
        """
        position = self.position
        if action.action == PASS:
            if position.moment not in (LEAD, PLAY):
                # The partner may still exchange.
                self.act(next_action(position, (action.seat,)))
                return ()
            return (action.seat,)
        if informed and len(action.action) == 2 and position.moment == LEAD:
            self.partner_declares()
        self.act(action)
        return ()

    def partner_declares(self) -> None:
        """The leader is about to lead; its partner declares first what the policy would."""
        leader = self.position.leader
        while self.position.players == 4:
            action = next_action(self.position, (leader,)) if _may_declare(self.position, leader) else None
            if action is None or action.seat == leader:
                return
            self.act(action)


def _may_declare(position: GuinotePosition, leader: int) -> bool:
    others = [each for each in position.legal_actions() if each.seat != leader]
    exchanges = [each for each in others if each.action == CAMBIO]
    return len(others) > len(exchanges) or bool(exchanges and gains_by_exchange(position))
