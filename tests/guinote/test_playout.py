"""Worlds valued by playouts, against plain walks by the plain policy and the exact solver."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import arrastre
from arrastre.cards import CARDS, UNKNOWN, card_text
from arrastre.errors import ArrastreError
from arrastre.game import Action, Knowledge, Limits, NativeContext, Place, Position, View
from arrastre.guinote import family, playout
from arrastre.guinote.family import FAMILY, pack
from arrastre.guinote.position import LEAD, PASS, PLAY, GuinotePosition
from arrastre.guinote.rules import MAX_POINTS, Ruleset, resolve
from reference.policy import Walk, next_action
from strategies import positions

CONTEXT = FAMILY.context(16)
NO_LIMITS = Limits()


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
    limits: Limits = NO_LIMITS,
    actions: Sequence[Action] | None = None,
    context: NativeContext = CONTEXT,
) -> np.ndarray[Any, np.dtype[np.float64]]:
    return FAMILY.world_values(
        knowledge,
        worlds,
        knowledge.actions if actions is None else actions,
        view=view,
        objective=objective,
        complete=False,
        limits=limits,
        context=context,
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
    walk.go_on(min(world.rules.hand_size, {4: 3, 2: 6}[world.players]), excused)
    return exact(walk.position, side)


def decider(whole: GuinotePosition, rng: Random) -> int | None:
    """A seat that has something to decide."""
    seats = {each.seat for each in whole.legal_actions() if each.action != PASS}
    return rng.choice(sorted(seats)) if seats else None


def cards_of(position: GuinotePosition) -> set[int]:
    """The cards still in play."""
    return {card for cards in (*position.hands, position.stock, position.trick) for card in cards}


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
@settings(max_examples=25, deadline=None)
def test_an_informed_value_is_a_walk_by_policy_and_the_exact_rest(data: dict[str, Any], seed: int) -> None:
    knowledge = question(data, seed)
    worlds = layouts(knowledge, 2, seed)
    found = values(knowledge, worlds, "informed")
    for row, assignment in zip(found, worlds, strict=True):
        world = knowledge.world(assignment.tolist())
        assert isinstance(world, GuinotePosition)
        assert row.tolist() == [informed(world, action, True) for action in knowledge.actions]


@given(positions(kind="whole"), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_what_a_seat_does_follows_from_what_it_sees(data: dict[str, Any], seed: int) -> None:
    """The kernel's policy, on what the seat sees and on the whole deal, is the plain one at every step of a walk."""
    knowledge = question(data, seed)
    walk = Walk(knowledge.whole)
    while not walk.position.finished():
        position = walk.position
        action = next_action(position)
        assert FAMILY.policy(position, action.seat) == action
        if position.moment in (LEAD, PLAY):
            own = next_action(position, [seat for seat in range(position.players) if seat != position.seat])
            gone = [card for card in range(CARDS) if card not in cards_of(position)]
            view = replace(seen_by(position, position.seat).position, gone=tuple(gone))
            assert FAMILY.policy(view, position.seat) == own
        walk.act(action)


@given(positions(kind="any"), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_clairvoyant_values_are_those_of_the_exact_solver(data: dict[str, Any], seed: int) -> None:
    knowledge = question(data, seed)
    worlds = layouts(knowledge, 2, seed)
    found = values(knowledge, worlds, "clairvoyant", limits=Limits(nodes=10**7))
    for row, assignment in zip(found, worlds, strict=True):
        world = knowledge.world(assignment.tolist())
        assert isinstance(world, GuinotePosition)
        assert row.tolist() == [exact_action(world, action, knowledge.seat) for action in knowledge.actions]


@pytest.mark.parametrize(("players", "tricks", "nodes", "depth"), [(4, 1, 1, 0), (4, 2, 200_000, 1), (2, 9, 7_000, 2)])
def test_too_far_from_the_end_a_clairvoyant_value_begins_with_the_policy(
    players: int, tricks: int, nodes: int, depth: int
) -> None:
    for seed in range(3):
        whole = deal(seed, players, tricks=tricks)
        knowledge = seen_by(whole, whole.seat)
        worlds = layouts(knowledge, 1, seed)
        world = knowledge.world(worlds[0].tolist())
        assert isinstance(world, GuinotePosition)
        expected = []
        for action in knowledge.actions:
            walk = Walk(world, True)
            walk.go_on(6 + depth, walk.start(action, informed=False))
            expected.append(exact(walk.position, whole.seat & 1))
        assert values(knowledge, worlds, "clairvoyant", limits=Limits(nodes=nodes))[0].tolist() == expected


@given(positions(kind="any"), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_the_chance_to_win_follows_the_outcome_of_the_deal(data: dict[str, Any], seed: int) -> None:
    knowledge = question(data, seed)
    worlds = layouts(knowledge, 2, seed)
    assume(not FAMILY.obstacles(knowledge.world(worlds[0].tolist()), "game"))
    rules = knowledge.whole.rules
    equity = leads_alone(rules)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(family, "vueltas_equity", leads_alone)
        found = values(knowledge, worlds, "clairvoyant", "game", Limits(nodes=10**7))
    for row, assignment in zip(found, worlds, strict=True):
        world = knowledge.world(assignment.tolist())
        solution = arrastre.solve(world, objective="game", line=False)
        exact_values = {each.action: each.value for each in solution.actions}
        for value, action in zip(row, knowledge.actions, strict=True):
            outcome = exact_values.get(action)
            if outcome is None:
                assert 0 <= value <= 1
            elif outcome:
                assert value == (outcome + 1) / 2
            elif value != pytest.approx(by_points(world, action, equity)):
                # The line of the most points would have decided the game.
                most = max(world.carried) + max(world.points) + 130 + 100 + 100 * (world.rules.capote != "none")
                assert most >= world.rules.target or world.rules.malas_failure == "lose"


def leads_alone(rules: Ruleset) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Chances that depend on the lead alone, as the plain reckoning below knows nothing else."""
    totals = np.arange(max(rules.target, MAX_POINTS) + 1)
    return np.asarray(1.0 / (1.0 + np.exp((totals[None, :] - totals[:, None]) / 25.0)))


def by_points(world: GuinotePosition, action: Action, equity: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """What the carried score is worth if all is played out for points."""
    side = action.seat & 1
    lead = exact_action(world, action, action.seat) + world.carried[side] - world.carried[1 - side]
    return float(equity[max(lead, 0), max(-lead, 0)])


def deal(seed: int, players: int = 4, ruleset: str = "aragones", *, tricks: int = 0) -> GuinotePosition:
    """The beginning of a deal, some tricks played by policy."""
    rng = Random(seed)
    texts = [card_text(card, resolve(ruleset).deck) for card in rng.sample(range(CARDS), CARDS)]
    hands = [{"cards": texts[6 * seat : 6 * seat + 6]} for seat in range(players)]
    position = Position.from_dict(
        {
            "ruleset": ruleset,
            "players": players,
            "trump": texts[-1][1],
            "hands": hands,
            "stock": texts[6 * players :],
            "leader": rng.randrange(players),
        }
    )
    assert isinstance(position, GuinotePosition)
    walk = Walk(position)
    while walk.position.played < tricks or walk.position.moment != LEAD:
        walk.act(next_action(walk.position))
    return walk.position


def test_rows_do_not_depend_on_each_other() -> None:
    knowledge = seen_by(deal(1), deal(1).seat)
    worlds = layouts(knowledge, 12, 1)
    whole = values(knowledge, worlds, "informed")
    single = [values(knowledge, worlds[k : k + 1], "informed") for k in reversed(range(12))]
    assert np.array_equal(whole, np.concatenate(single[::-1]))
    some = values(knowledge, worlds, "informed", actions=knowledge.actions[::2])
    assert np.array_equal(whole[:, ::2], some)


def test_threads_find_the_same() -> None:
    knowledge = seen_by(deal(2), deal(2).seat)
    worlds = layouts(knowledge, 24, 1)

    def part(rows: np.ndarray[Any, np.dtype[np.uint8]]) -> np.ndarray[Any, np.dtype[np.float64]]:
        return values(knowledge, rows, "informed", context=FAMILY.context(4))

    with ThreadPoolExecutor(3) as pool:
        parts = list(pool.map(part, np.array_split(worlds, 3)))
    assert np.array_equal(values(knowledge, worlds, "informed"), np.concatenate(parts))


def test_draws_by_seat_have_the_same_mean() -> None:
    """Where draws go by seat, an action's mean is the same as where they go by the stock's order."""
    for players in (4, 2):
        whole = deal(3, players, tricks=2 if players == 4 else 12)
        knowledge = seen_by(whole, whole.seat)
        worlds = layouts(knowledge, 1500, 1)
        coupled = values(knowledge, worlds, "informed")
        plain = in_order(worlds, knowledge)
        gap = coupled - plain
        error = gap.std(axis=0) / np.sqrt(len(gap))
        assert (abs(gap.mean(axis=0)) < 4 * error + 1e-9).all()
        assert gap.any()


def in_order(worlds: np.ndarray[Any, np.dtype[np.uint8]], knowledge: Seen) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Values with draws in the stock's order: the same worlds, each as if the stock were known."""
    rows = []
    for assignment in worlds:
        world = knowledge.world(assignment.tolist())
        assert isinstance(world, GuinotePosition)
        open_book = replace(knowledge, position=world, items=(), played=(), places=(), allowed=(), whole=world)
        rows.append(values(open_book, np.empty((1, 0), np.uint8), "informed"))
    return np.concatenate(rows)


def test_a_stop_or_a_deadline_leaves_rows_open() -> None:
    knowledge = seen_by(deal(4), deal(4).seat)
    worlds = layouts(knowledge, 2000, 1)
    context = FAMILY.context(4)
    context.stop()
    assert np.isnan(values(knowledge, worlds[:3], "informed", context=context)).all()
    context.resume()
    found = values(knowledge, worlds, "informed", limits=Limits(seconds=0.02), context=context)
    open_rows = np.isnan(found).any(axis=1)
    first = int(open_rows.argmax())
    assert open_rows[-1] and np.isnan(found[first:]).all()
    assert np.array_equal(found[:first], values(knowledge, worlds[:first], "informed"))


def test_details_add_up_to_the_margin() -> None:
    for seed, players, tricks in ((1, 4, 0), (2, 4, 4), (3, 2, 10), (4, 2, 15)):
        whole = deal(seed, players, tricks=tricks)
        knowledge = seen_by(whole, whole.seat)
        worlds = layouts(knowledge, 20, seed)
        detail = np.zeros((len(worlds), len(knowledge.actions), 6), np.int16)
        asked = (knowledge.actions, "informed", "points", Limits(), CONTEXT, detail, False)
        found = family._world_values(knowledge, worlds, *asked)
        assert np.array_equal(found, values(knowledge, worlds, "informed"))
        ask = {"view": "informed", "limits": Limits(), "context": CONTEXT}
        parts = FAMILY.world_parts(knowledge, worlds, knowledge.actions, **ask)  # type: ignore[arg-type]
        assert [part.names["en"] for part in parts] == ["cantes", "points in tricks"]
        assert np.array_equal(parts[0].values, detail[:, :, 0] - detail[:, :, 1])
        assert np.array_equal(parts[1].values, detail[:, :, 2] - detail[:, :, 3])
        gained = detail[:, :, 0] - detail[:, :, 1] + detail[:, :, 2] - detail[:, :, 3]
        side = knowledge.seat & 1
        assert np.array_equal(found, gained + margin(whole, side))
        # Cards and the last trick, all of them shared out.
        assert (detail[:, :, 2] + detail[:, :, 3] + sum(whole.card_points) == 130).all()
        assert (detail[:, :, 4] + detail[:, :, 5] == whole.rules.total_tricks - whole.played).all()


@pytest.mark.parametrize("players", [4, 2])
def test_the_policy_beats_a_greedy_and_a_random_player(players: int) -> None:
    setups = [pack(deal(seed, players)) for seed in range(300)]
    for rival in (1, 2):
        gains = np.zeros(len(setups))
        for side, styles in enumerate(((0, rival), (rival, 0))):
            out = np.empty((len(setups), 7), np.int16)
            playout.play_out(setups, styles, 0, 1, CONTEXT.kernel, out)
            gains += out[:, side] - out[:, 1 - side]
        assert gains.mean() / 2 > 25


def test_a_deal_played_out_is_a_walk_to_its_end() -> None:
    for seed in range(8):
        whole = deal(seed, 4 if seed % 2 else 2, "riojano" if seed % 3 else "aragones")
        for tricks in (0, 3, 6):
            walk = Walk(whole)
            walk.go_on(tricks)
            out = np.empty((1, 7), np.int16)
            playout.play_out([pack(whole)], (0, 0), tricks, 0, CONTEXT.kernel, out)
            points = out[0, :2].tolist()
            if not tricks:
                assert points == list(walk.position.points)
                assert out[0, 6] == walk.position.leader
            else:
                assert points[0] - points[1] == exact(walk.position, 0)


def test_worlds_that_do_not_fit_are_refused() -> None:
    knowledge = seen_by(deal(5), deal(5).seat)
    worlds = layouts(knowledge, 1, 1)
    wrong = worlds.copy()
    wrong[0, :] = wrong[0, 0]
    with pytest.raises(ValueError, match="does not complete"):
        values(knowledge, wrong, "informed")
    with pytest.raises(ValueError, match="do not fit"):
        values(knowledge, worlds[:, :-1], "informed")
    with pytest.raises(ValueError, match="does not complete"):
        values(knowledge, worlds + 200, "informed")
