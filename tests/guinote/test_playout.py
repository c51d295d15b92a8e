"""Worlds valued by playouts, against plain walks by the plain policy and the exact solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import arrastre
from arrastre.cards import UNKNOWN, card_text
from arrastre.errors import ArrastreError
from arrastre.game import Action, Knowledge, Limits, Place, Position, View
from arrastre.guinote.family import FAMILY
from arrastre.guinote.position import LEAD, PASS, PLAY, GuinotePosition
from reference.policy import Walk
from strategies import positions

CONTEXT = FAMILY.context(16)


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen(Knowledge):
    """What a seat sees of a position, whatever happened before: the other hands and the stock are unknown to it."""

    whole: GuinotePosition

    def world(self, assignment: Sequence[int]) -> Position:
        hands = [list(hand) for hand in self.position.hands]
        stock = list(self.position.stock)
        for item, place in zip(self.items, assignment, strict=True):
            card = self.whole.read_action(item).item
            where = self.places[place]
            if where.kind == "hand":
                hands[where.seat].append(card)
            else:
                stock[where.index] = card
        order = self.whole.rules.order
        kept = tuple(tuple(sorted(hand, key=order.__getitem__)) for hand in hands)
        return replace(self.position, hands=kept, hidden=(0,) * len(kept), stock=tuple(stock))


def seen_by(whole: GuinotePosition, seat: int) -> Seen:
    hands = tuple(hand if each == seat else () for each, hand in enumerate(whole.hands))
    hidden = tuple(0 if each == seat else len(hand) for each, hand in enumerate(whole.hands))
    stock = (UNKNOWN,) * (len(whole.stock) - 1) + whole.stock[-1:]
    cards = [card for each, hand in enumerate(whole.hands) if each != seat for card in hand] + [*whole.stock[:-1]]
    places = [Place("hand", each, -1, number) for each, number in enumerate(hidden) if number]
    places += [Place("stock", -1, index, 1) for index in range(len(stock) - 1)]
    # A walk needs no more of the past than the cards in play.
    position = replace(whole, hands=hands, hidden=hidden, stock=stock)
    items = tuple(card_text(card, whole.rules.deck) for card in sorted(cards))
    actions = [each for each in whole.legal_actions() if each.seat == seat]
    declares = any(each.seat == seat and each.action != PASS for each in whole.legal_actions())
    if whole.moment not in (LEAD, PLAY):
        actions = [each for each in actions if each.action != PASS]
    if whole.seat != seat or whole.moment not in (LEAD, PLAY):
        actions += [Action(PASS, seat)] if declares else []
    return Seen(
        seat=seat,
        position=position,
        items=items,
        played=(False,) * len(items),
        places=tuple(places),
        allowed=((1 << len(places)) - 1,) * len(items),
        actions=tuple(actions),
        whole=whole,
    )


def layouts(knowledge: Knowledge, number: int, seed: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Worlds drawn with equal chances, one a row."""
    room = [index for index, place in enumerate(knowledge.places) for _ in range(place.capacity)]
    rng = Random(seed)
    rows = [rng.sample(room, len(room)) for _ in range(number)]
    return np.array(rows, np.uint8).reshape(number, len(room))


def values(
    knowledge: Knowledge,
    worlds: np.ndarray[Any, np.dtype[np.uint8]],
    view: View,
    objective: str = "points",
    limits: Limits = Limits(),  # noqa: B008
    actions: Sequence[Action] | None = None,
) -> np.ndarray[Any, np.dtype[np.float64]]:
    return FAMILY.world_values(
        knowledge,
        worlds,
        knowledge.actions if actions is None else actions,
        view=view,
        objective=objective,
        complete=False,
        limits=limits,
        context=CONTEXT,
    )


def margin(position: GuinotePosition, side: int) -> int:
    return position.points[side] - position.points[1 - side]


def exact(position: GuinotePosition, side: int) -> int:
    """The final margin of a position, for a side."""
    if position.finished():
        return margin(position, side)
    value = arrastre.solve(position, line=False).value
    assert value is not None
    return value if position.side == side else -value


def exact_action(position: GuinotePosition, action: Action, seat: int) -> int:
    solution = arrastre.solve(position, line=False)
    found = {each.action: each.value for each in solution.actions}
    if action.action == PASS:
        values = [value for each, value in found.items() if each.seat != seat or each.action == PASS]
    else:
        values = [value for each, value in found.items() if each == action]
    chosen = [value for value in values if value is not None]
    # A tute that wins means nothing in points.
    return max(chosen) if chosen else exact(position, seat & 1)


def informed(world: GuinotePosition, action: Action, coupled: bool) -> int:
    seat, side = action.seat, action.seat & 1
    walk = Walk(world, coupled)
    if not world.stock:
        if len(action.action) == 2 and world.moment == LEAD:
            walk.partner_declares()
        return exact_action(walk.position, action, seat)
    excused = walk.start(action)
    walk.go_on(0, excused)
    return exact(walk.position, side)


def decider(whole: GuinotePosition, rng: Random) -> int | None:
    """A seat that has something to decide."""
    seats = {each.seat for each in whole.legal_actions() if each.action != PASS}
    return rng.choice(sorted(seats)) if seats else None


def question(data: dict[str, Any], seed: int) -> Seen:
    """What some seat that has something to decide sees of a position."""
    try:
        whole = Position.from_dict(data)
    except ArrastreError:
        reject()
    assert isinstance(whole, GuinotePosition)
    # Where it is not known who won the tricks, a position forgets with the next one what it took for granted before.
    assume(whole.tricks is not None or not whole.played)
    seat = decider(whole, Random(seed))
    assume(seat is not None and not whole.finished())
    assert seat is not None
    return seen_by(whole, seat)


@given(positions(kind="whole"), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_an_informed_value_is_a_walk_by_policy_and_the_exact_rest(data: dict[str, Any], seed: int) -> None:
    knowledge = question(data, seed)
    worlds = layouts(knowledge, 2, seed)
    found = values(knowledge, worlds, "informed")
    for row, assignment in zip(found, worlds, strict=True):
        world = knowledge.world(assignment.tolist())
        assert isinstance(world, GuinotePosition)
        assert row.tolist() == [informed(world, action, True) for action in knowledge.actions]
