"""The policy of ``playout.pxd`` once more, slow and plain, on positions of the package.

Whatever it does it does by ``Position.apply``, so a walk also shows that each of its actions is legal. It looks at a
fully known position, but uses no more of it than the seat can know: the seat's own hand, the table, and which cards are
out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from arrastre.cards import CARDS, FIGURES, SUITS, card_of, card_text
from arrastre.game import Action
from arrastre.guinote.position import CAMBIO, CANTE, LEAD, PASS, RIVALS, TUTE, GuinotePosition

ONE, TEMPO, SWAP, PAIR_BOTH, PAIR_ONE = 1024, 3, 6, 10, 3
COST_DRAW = ((24, 25, 26, 27, 30, 34, 36, 40, 52, 70), (0, 1, 2, 3, 4, 6, 7, 8, 20, 28))
COST_STRICT = ((16, 17, 18, 19, 20, 22, 23, 24, 36, 48), (0, 1, 2, 3, 4, 4, 5, 6, 12, 16))

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
    if position.moment not in (LEAD, "play"):
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
    pair = {card_of(suit, 9), position.rules.mate(suit)}
    if not pair <= out | {*position.hands[position.seat]}:
        return False
    if position.stock:
        return True
    return pair <= {*position.hands[position.seat]} or pair <= out


def _survival(position: GuinotePosition, led: int, win: int, points: int, hands: int) -> int:
    out, trump, strengths = _out(position), position.trump, position.rules.strengths
    if not out:
        return ONE
    suit = win // FIGURES
    size = 4 * len(out)
    beaters = 4 * sum(card // FIGURES == suit and strengths[card] > strengths[win] for card in out)
    if suit != trump:
        trumps = sum(card // FIGURES == trump for card in out)
        if position.strict:
            weight = 1 if any(card // FIGURES == led for card in out) else 4
        else:
            weight = 1 if points < 4 else 2 if points < 10 else 4
        beaters += weight * trumps
    chance = ONE
    for _ in range(hands * len(position.hands[position.seat])):
        if beaters >= size:
            return 0
        chance = chance * (size - beaters) // size
        size -= 4
        if size <= 0:
            break
    return chance


def _score(position: GuinotePosition, card: int) -> int:
    rules, trump, seat = position.rules, position.trump, position.seat
    hand = position.hands[seat]
    out = _out(position)
    plain = card // FIGURES != trump
    strength = rules.strengths[card]
    cost = (COST_DRAW if position.stock else COST_STRICT)[plain][strength]
    pending = 0
    if position.stock and not position.exchanged and position.exchange_card() in hand:
        pending += SWAP
    for suit in range(SUITS):
        if not rules.cantes or not _unsung(position, suit, out):
            continue
        worth = rules.cante_points(suit, trump)
        pair = {card_of(suit, 9), rules.mate(suit)}
        both = pair <= {*hand}
        if both:
            pending += worth // 4
        if card in pair:
            if both:
                cost += PAIR_BOTH * worth // 10
            elif pair & out and position.stock:
                cost += PAIR_ONE * worth // 10

    later = rules.players - len(position.trick) - 1
    points = sum(rules.values[each] for each in (*position.trick, card))
    place = replace(position, trick=(*position.trick, card)).winning()
    assert place is not None
    win = (*position.trick, card)[place]
    led = (*position.trick, card)[0] // FIGURES
    ours = (position.leader + place - seat) % 2 == 0
    if ours:
        chance = _survival(position, led, win, points, (later + 1) // 2)
    else:
        chance = (ONE - _survival(position, led, win, points, later // 2)) * 3 // 4
    return 4 * ((2 * chance - ONE) * points + chance * (TEMPO + pending)) - ONE * cost


def draws_left(position: GuinotePosition) -> int:
    return len(position.stock) // position.players


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

    def go_on(self, depth: int, excused: Collection[int] = ()) -> None:
        """Follow the policy until ``depth`` draw tricks are left and no card is on the table.

        ``excused`` declare nothing before the next card.
        """
        while not self.position.finished():
            position = self.position
            if position.moment in (RIVALS, LEAD) and draws_left(position) <= depth:
                return
            action = next_action(position, excused)
            self.act(action)
            if action.action not in (CAMBIO, TUTE, PASS) and not action.action.startswith(CANTE):
                excused = ()

    def start(self, action: Action) -> tuple[int, ...]:
        """Begin with an action as the informed view does; returns the seats that are excused from then on."""
        position = self.position
        if action.action == PASS:
            if position.moment not in (LEAD, "play"):
                # The partner may still exchange.
                self.act(next_action(position, (action.seat,)))
                return ()
            return (action.seat,)
        if len(action.action) == 2 and position.moment == LEAD:
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
