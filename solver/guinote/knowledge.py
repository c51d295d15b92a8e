"""What a seat can know: its own hand, all that was played and shown, and what the others' failures exclude.

A player who could have followed, beaten, trumped or overtrumped had to. So a card that was played where duties held
tells which cards were not in that hand. Two cards are enough to tell: were a card there that forbids the one played,
then a hand of these two alone would forbid it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from arrastre.cards import CARD_TEXTS, CARDS, FIGURES, REY, UNKNOWN, card_of, parse_card
from arrastre.errors import Fault, InvalidPosition, InvalidRequest
from arrastre.game import Action, Address, Deal, Knowledge, Place
from arrastre.guinote.position import (
    BEFORE_DRAW,
    BEFORE_DRAW_RIVALS,
    CAMBIO,
    CANTE,
    LEAD,
    PASS,
    PLAY,
    TUTE,
    GuinotePosition,
    Move,
)
from arrastre.guinote.reasons import seat_name

_NOWHERE: Final = frozenset[int]()


@dataclass(frozen=True, kw_only=True, eq=False)
class GuinoteKnowledge(Knowledge):
    """What a seat knows in Guiñote; ``position`` has the others' hands, as far as they are not known, hidden."""

    position: GuinotePosition

    def world(self, assignment: Sequence[int]) -> GuinotePosition:
        """The position with every card known, item i being in place ``assignment[i]``."""
        position = self.position
        hands = [list(hand) for hand in position.hands]
        stock = list(position.stock)
        deck = position.rules.deck
        for item, played, place in zip(self.items, self.played, assignment, strict=True):
            if played:
                continue
            where = self.places[place]
            card = parse_card(item, deck)
            if where.kind == "hand":
                hands[where.seat].append(card)
            elif where.kind == "stock":
                stock[where.index] = card
        order = position.rules.order
        nothing = ((),) * position.players
        return replace(
            position,
            hands=tuple([tuple(sorted(hand, key=order.__getitem__)) for hand in hands]),
            hidden=(0,) * position.players,
            excluded=nothing,
            stock=tuple(stock),
            gone=(),
        )

    def under(self, objective: str) -> GuinoteKnowledge:
        """A tute that wins the game is nothing that makes points."""
        if objective != "points" or self.position.rules.tute != "wins":
            return self
        return replace(self, actions=tuple(each for each in self.actions if each.action != TUTE))


def knowledge(position: GuinotePosition, seat: int) -> GuinoteKnowledge:
    """What a seat can know in a position of which no history is given; see :meth:`arrastre.game.Game.knowledge`."""
    _check_seat(position, seat)
    undealt = position.rules.undealt
    if undealt and len(position.gone) != position.played * position.players:
        message = f"{undealt} cards are not dealt, so those gone in the tricks have to be listed"
        raise InvalidPosition("what a seat has seen is not told", [Fault("gone", "GONE_SIZE", message)])
    if position.fully_known:
        position = _stripped(position, seat)
    history = History(position)
    return history.knowledge(position, seat)


def revealed(position: GuinotePosition, seat: int, *, stock: bool) -> GuinoteKnowledge:
    """What a seat would know if all hands lay open; see :meth:`arrastre.game.Game.revealed`."""
    unseen = () if stock else position.stock[:-1]
    texts = CARD_TEXTS[position.rules.deck]
    return GuinoteKnowledge(
        seat=seat,
        position=replace(position, stock=(UNKNOWN,) * len(unseen) + position.stock[len(unseen) :]),
        items=tuple([texts[card] for card in unseen]),
        played=(False,) * len(unseen),
        places=tuple([Place("stock", -1, index, 1) for index in range(len(unseen))]),
        allowed=((1 << len(unseen)) - 1,) * len(unseen),
        actions=_actions(position, seat),
    )


def knowledge_at(deal: Deal, at: Address, seat: int | None) -> GuinoteKnowledge:
    """What a seat can know at a moment of a recorded deal; see :meth:`arrastre.game.Game.knowledge_at`."""
    position = deal.position(at)
    assert isinstance(position, GuinotePosition)
    if seat is None:
        seat = _to_act(deal, at, position)
    _check_seat(position, seat)
    first = deal.steps[0].position if deal.steps else position
    assert isinstance(first, GuinotePosition)
    history = History(first)
    for step in deal.steps:
        if step.position is position:
            break
        assert isinstance(step.position, GuinotePosition)
        history.happened(step.position, step.action, breach=step.breach is not None)
    return history.knowledge(history.view(position, seat), seat)


def _to_act(deal: Deal, at: Address, position: GuinotePosition) -> int:
    """The seat that decides: who plays a card, or in a window whoever did something there, or can."""
    done = [step.action.seat for step in deal.steps if step.at == at and step.action.action != PASS]
    if position.moment in (LEAD, PLAY):
        return done[0] if done else position.seat
    able = [action.seat for action in position.legal_actions() if action.action != PASS]
    return (done or able or [position.seat])[0]


def _check_seat(position: GuinotePosition, seat: int) -> None:
    """Refuse a seat that does not exist, and moments at which there is nothing to decide for one that does."""
    if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < position.players:
        message = f"a seat is a number from 0 to {position.players - 1}"
        raise InvalidRequest(f"there is no seat {seat!r}", [Fault("seat", "BAD_SEAT", message)])
    faults = []
    if position.finished():
        faults.append(Fault("hands", "DEAL_OVER", "no cards are left to play"))
    elif position.hidden[seat] and _may_act(position, seat):
        message = f"{seat_name(seat)} knows its own hand, and {position.hidden[seat]} cards of it are not given"
        faults.append(Fault(f"hands[{seat}].hidden", "OWN_HAND_UNSEEN", message))
    elif not _actions(position, seat):
        turn = position.seat
        message = f"seat {seat} ({seat_name(seat)}) has nothing to decide at this moment; it is the turn of seat {turn}"
        message += f" ({seat_name(turn)})"
        faults.append(Fault("seat", "NOT_TO_ACT", message))
    if faults:
        raise InvalidRequest("there is nothing to decide", faults)


def _may_act(position: GuinotePosition, seat: int) -> bool:
    """Whether it may be this seat's turn, depending on the cards that it holds."""
    if seat == position.seat:
        return True
    return position.moment != PLAY and seat & 1 == position.side


def _actions(position: GuinotePosition, seat: int) -> tuple[Action, ...]:
    """What a seat may do, in the order in which equals are ranked; ``pass`` where it need not do anything."""
    mine = [each for each in position.legal_actions() if each.seat == seat and each.action != PASS]
    plays = position.moment in (LEAD, PLAY) and seat == position.seat
    if mine and not plays:
        mine.append(Action(PASS, seat))
    return tuple(sorted(mine, key=lambda action: position.game.tie_key(position, action)))


def _stripped(position: GuinotePosition, seat: int) -> GuinotePosition:
    """A position with every card known as a seat sees it, which was not there before."""
    lying = {*position.trick, *position.stock, *(card for hand in position.hands for card in hand)}
    gone = position.gone
    if not gone and not position.rules.undealt:
        gone = tuple(card for card in range(CARDS) if card not in lying)
    return _hide(position, seat, [_NOWHERE] * position.players, gone)


def _hide(
    position: GuinotePosition, seat: int, shown: Sequence[frozenset[int]], gone: Iterable[int]
) -> GuinotePosition:
    """A position with the others' hands hidden but for what they have shown, and the stock but for the muestra."""
    hands, hidden = [], []
    for each, hand in enumerate(position.hands):
        known = hand if each == seat else tuple(card for card in hand if card in shown[each])
        hands.append(known)
        hidden.append(position.hidden[each] + len(hand) - len(known))
    return replace(
        position,
        hands=tuple(hands),
        hidden=tuple(hidden),
        excluded=tuple(() if each == seat else out for each, out in enumerate(position.excluded)),
        stock=(*(UNKNOWN for _ in position.stock[1:]), *position.stock[-1:]),
        gone=tuple(gone),
    )


@dataclass(frozen=True, slots=True)
class _Failure:
    """A card played to trick ``trick`` shows that its player then held none of ``lacking``."""

    trick: int
    lacking: frozenset[int]


class History:
    """What everybody has seen since a position: cards played, shown, given for the muestra, and duties failed in."""

    def __init__(self, first: GuinotePosition) -> None:
        self.rules = first.rules
        seats = range(first.players)
        #: Cards that everybody knows a seat to hold, or to have held until they were played.
        self.shown: list[set[int]] = [set() for _ in seats]
        #: The trick in which a seat parted with a card.
        self.played: list[dict[int, int]] = [{} for _ in seats]
        #: Cards that a seat took from the stock for all to see, and after how many tricks.
        self.taken: list[dict[int, int]] = [{} for _ in seats]
        #: A card given for the muestra: the trick before whose draw the seat had got it, and the last trick to which
        #: it played while it held the card. It may come to draw the same card again.
        self.given: list[dict[int, tuple[int, int]]] = [{} for _ in seats]
        #: Cards shown, and the trick before which: the seat had got them by then.
        self.seen_by: list[dict[int, int]] = [{} for _ in seats]
        self.failures: list[list[_Failure]] = [[] for _ in seats]
        #: The seat that drew the last card of the stock, which all could see.
        self.last: int | None = None
        self.gone = list(first.gone)
        self.table = first.trick

    def happened(self, position: GuinotePosition, action: Action, *, breach: bool) -> None:
        """Take note of an action in a position."""
        move, seat = position.read_action(action.action), action.seat
        number = position.played + 1
        if move.kind == CANTE:
            self._show(seat, (card_of(move.item, REY), position.rules.mate(move.item)), number)
        elif move.kind == TUTE:
            self._show(seat, _tute_cards(position, seat), number)
        elif move.kind == CAMBIO:
            given, muestra = position.exchange_card(), position.muestra
            assert given is not None and muestra is not None
            if position.moment in (BEFORE_DRAW, BEFORE_DRAW_RIVALS):
                self.given[seat][given] = number - 1, number - 1
                # The last card to be drawn is now the one that was given for it.
                assert self.last is not None
                del self.taken[self.last][muestra]
                self.shown[self.last].discard(muestra)
                self._take_last(given, number - 1)
            else:
                self.given[seat][given] = number, number - 1
            self.taken[seat][muestra] = number - 1
            self.shown[seat].add(muestra)
        elif move.kind == PLAY:
            self._played(position, move, seat, breach=breach)

    def _show(self, seat: int, cards: Iterable[int], number: int) -> None:
        for card in cards:
            self.shown[seat].add(card)
            self.seen_by[seat].setdefault(card, number)

    def _played(self, position: GuinotePosition, move: Move, seat: int, *, breach: bool) -> None:
        self.played[seat][move.item] = position.played + 1
        if not breach:
            self.fail(position, move.item, seat)
        if len(position.trick) + 1 < position.players:
            return
        self.gone += [*position.trick, move.item]
        if len(position.stock) == position.players:
            # The muestra goes to whoever draws last, which is the one before the winner.
            winner = position.put_down(move.item).leader
            self.last = (winner - 1) % position.players
            self._take_last(position.stock[-1], position.played + 1)

    def _take_last(self, card: int, trick: int) -> None:
        assert self.last is not None
        self.taken[self.last][card] = trick
        self.shown[self.last].add(card)

    def fail(self, position: GuinotePosition, card: int, seat: int) -> None:
        """Note which cards the seat to play cannot have held when it played ``card``."""
        lacking = _lacking(position, card)
        if lacking:
            self.failures[seat].append(_Failure(position.played + 1, lacking))

    def view(self, position: GuinotePosition, seat: int) -> GuinotePosition:
        """A recorded position as a seat saw it."""
        return _hide(position, seat, [frozenset(cards) for cards in self.shown], self.gone)

    def knowledge(self, position: GuinotePosition, seat: int) -> GuinoteKnowledge:
        """What a seat knows in a position in which all that it cannot see is hidden."""
        self._from_the_table(position, seat)
        position = self._with_shown(position)
        layout = _Layout(position, self)
        for other in range(position.players):
            if other != seat and position.hidden[other]:
                layout.hand(other)
        layout.stock()
        return layout.knowledge(seat)

    def _from_the_table(self, position: GuinotePosition, seat: int) -> None:
        """What the trick on the table tells, where the position came without a history."""
        if self.table != position.trick or not position.trick:
            return
        before = replace(position, trick=())
        for place, card in enumerate(position.trick):
            player = (position.leader + place) % position.players
            if player != seat:
                self.fail(replace(before, trick=position.trick[:place]), card, player)

    def _with_shown(self, position: GuinotePosition) -> GuinotePosition:
        """A position with the cards of cantes and tutes that have not been played put where they are."""
        rules = position.rules
        lying = {*position.gone, *position.trick, *position.stock, *(card for hand in position.hands for card in hand)}
        hands, hidden = list(position.hands), list(position.hidden)
        shown: list[tuple[int, tuple[int, ...]]] = [
            (each.seat, (card_of(each.suit, REY), rules.mate(each.suit))) for each in position.sung
        ]
        if position.tute is not None and rules.tute != "wins":
            shown.append((position.tute.seat, tuple(card_of(suit, REY) for suit in range(CARDS // FIGURES))))
        for seat, cards in shown:
            for card in cards:
                if card not in lying and hidden[seat]:
                    lying.add(card)
                    hands[seat] = tuple(sorted((*hands[seat], card), key=rules.order.__getitem__))
                    hidden[seat] -= 1
        return replace(position, hands=tuple(hands), hidden=tuple(hidden))


class _Layout:
    """The places in which unseen cards can be, made hand by hand."""

    def __init__(self, position: GuinotePosition, history: History) -> None:
        self.position = position
        self.history = history
        self.places: list[Place] = []
        #: For each place the unseen cards that cannot be there.
        self.barred: list[frozenset[int]] = []
        #: Cards whose owner is known, and the places in which they can be.
        self.owned: dict[int, int] = {}
        self.excluded = list(position.excluded)
        lying = {*position.gone, *position.trick, *position.stock, *(card for hand in position.hands for card in hand)}
        self.unseen = [card for card in sorted(range(CARDS), key=position.rules.order.__getitem__) if card not in lying]

    def hand(self, seat: int) -> None:
        """The places of a hand: one, or one for each span in which it may have got its cards since it failed."""
        position, history = self.position, self.history
        drawn = self._draws()
        failures = history.failures[seat]
        spans = [each for each in failures if each.trick <= drawn]
        barred = frozenset(position.excluded[seat]).union(*(each.lacking for each in failures))
        self.excluded[seat] = tuple(card for card in self.unseen if card in barred)
        if not spans:
            self.places.append(Place("hand", seat, 0, position.hidden[seat]))
            self.barred.append(barred)
            return
        self._spans(seat, failures, min(each.trick for each in spans), drawn)

    def _draws(self) -> int:
        """After how many tricks cards have been drawn so far."""
        rules = self.position.rules
        return rules.draw_tricks - len(self.position.stock) // rules.players if rules.draw_tricks else 0

    def _spans(self, seat: int, failures: Sequence[_Failure], first: int, drawn: int) -> None:
        """A hand that failed in trick ``first`` and drew afterwards: what it held then, and each card that it drew.

        How the cards that it had parted with by then were got says nothing about those it held.
        """
        position, history = self.position, self.history
        taken = history.taken[seat]
        # Where it is known when a card was got, there is nothing to find out. Of the other cards: the trick whose draw
        # came too late to have brought it, and the last trick to which its owner played while holding it.
        left = {
            card: (trick, trick) for card, trick in history.played[seat].items() if trick >= first and card not in taken
        }
        left |= {card: when for card, when in history.given[seat].items() if when[1] >= first}
        held_then = [
            card for card, trick in taken.items() if trick < first and history.played[seat].get(card, first) >= first
        ]
        times = [trick for trick in range(first, drawn + 1) if not self._drew_muestra(seat, trick)]
        base = len(self.places)
        self.places.append(Place("hand", seat, 0, position.rules.hand_size - len(held_then)))
        self.places += [Place("hand", seat, index + 1, 1) for index in range(len(times))]
        got = [first - 1, *times]
        excluded = frozenset(position.excluded[seat])
        for time in got:
            lacking = [each.lacking for each in failures if each.trick > time]
            self.barred.append(excluded.union(*lacking))
        # A card that was known to be there by a time was not drawn later, nor was one that had been played.
        shown = [card for card in position.hands[seat] if card not in taken]
        for card in (*left, *shown):
            until, through = left.get(card, (drawn + 1, drawn + 1))
            until = min(until, history.seen_by[seat].get(card, until))
            where = 0
            for index, time in enumerate(got):
                failed = any(time < each.trick <= through and card in each.lacking for each in failures)
                # The first place is for all that was got by then, however long before.
                if (not index or time < until) and not failed:
                    where |= 1 << base + index
            self.owned[card] = where

    def _drew_muestra(self, seat: int, trick: int) -> bool:
        """Whether the card that a seat drew after a trick was the last of the stock, which all could see."""
        return trick == self.position.rules.draw_tricks and seat == self.history.last

    def stock(self) -> None:
        """A place for each card of the stock that is not known, and one for those that the rules leave undealt."""
        for index, card in enumerate(self.position.stock):
            if card == UNKNOWN:
                self.places.append(Place("stock", -1, index, 1))
                self.barred.append(_NOWHERE)
        if self.position.rules.undealt:
            self.places.append(Place("out", -1, 0, self.position.rules.undealt))
            self.barred.append(_NOWHERE)

    def knowledge(self, seat: int) -> GuinoteKnowledge:
        position = self.position
        texts = CARD_TEXTS[position.rules.deck]
        items = [*self.unseen, *self.owned]
        allowed = [
            sum(1 << place for place, barred in enumerate(self.barred) if card not in barred) for card in self.unseen
        ]
        allowed += self.owned.values()
        return GuinoteKnowledge(
            seat=seat,
            position=replace(position, excluded=tuple(self.excluded)),
            items=tuple([texts[card] for card in items]),
            played=tuple([card in self.owned for card in items]),
            places=tuple(self.places),
            allowed=tuple(allowed),
            actions=_actions(position, seat),
        )


def _lacking(position: GuinotePosition, card: int) -> frozenset[int]:
    """The cards that would have forbidden the seat to act to play ``card``, had it held them."""
    if not position.trick or not position.strict:
        return _NOWHERE
    return frozenset(other for other in range(CARDS) if other != card and position.forbids(other, card))


def _tute_cards(position: GuinotePosition, seat: int) -> tuple[int, ...]:
    """The four cards that a tute has shown, as far as the record tells which."""
    figures = [REY] if position.rules.tute != "wins" else [REY, position.rules.under]
    for figure in figures:
        cards = tuple(card_of(suit, figure) for suit in range(CARDS // FIGURES))
        if all(card in position.hands[seat] for card in cards):
            return cards
    return ()
