"""The search over all worlds at once against one that tries every strategy, and against the exact search."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import arrastre
from arrastre.cards import card_text
from arrastre.errors import InvalidPosition
from arrastre.guinote import family, kernel, vector
from arrastre.guinote.position import LEAD, GuinotePosition
from reference import guinote
from reference.vector import Hands, Move, Search
from strategies import positions

WANTED = os.environ.get("ARRASTRE_EXAMPLES")
POINTS, GAME = 0, 1
CARD, CANTE, PASS = 0, 1, 4
TARGETS = bytes(range(4))
CONTEXT = kernel.Context(1)

Decision = tuple[int, int, Move]  # kind and argument for the kernel, and the reference's move


def examples(number: int) -> settings:
    """Settings for ``number`` examples, or for their share of the number asked for."""
    return settings(
        max_examples=number if WANTED is None else max(1, int(WANTED) * number // 500),
        derandomize=WANTED is None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


def equity_of(own: int, rivals: int) -> float:
    """The better the own total the higher, and never two alike."""
    return 0.5 + (own - rivals) / 400 + own * own / 1e6 - rivals * rivals / 2e6


EQUITY = np.array([[equity_of(own, rivals) for rivals in range(400)] for own in range(400)])


def parse(text: str) -> GuinotePosition:
    position = arrastre.Position.parse(text)
    assert isinstance(position, GuinotePosition)
    return position


def all_worlds(position: GuinotePosition, seat: int) -> list[Hands]:
    """Every way to share the cards that ``seat`` does not hold among the others."""
    others = [each for each in range(4) if each != seat]
    sizes = [len(position.hands[each]) for each in others]
    cards = sorted(card for each in others for card in position.hands[each])
    found: list[Hands] = []
    for first in combinations(cards, sizes[0]):
        rest = [card for card in cards if card not in first]
        for second in combinations(rest, sizes[1]):
            third = tuple(card for card in rest if card not in second)
            hands = [position.hands[seat]] * 4
            for each, hand in zip(others, (first, second, third), strict=True):
                hands[each] = hand
            found.append(tuple(hands))
    return found


def decisions(position: GuinotePosition, seat: int) -> list[Decision]:
    """What ``seat`` may do, a pass before its partner's lead included."""
    lexicon = family._lexicon_of(position)
    found: list[Decision] = []
    if position.seat == seat:
        found += [(CARD, lexicon.numbers[card], Move("card", seat, card)) for card in position.legal_cards()]
    found += [(CANTE, lexicon.lanes[suit], Move("cante", who, suit)) for who, suit in position.cantes() if who == seat]
    if position.moment == LEAD and position.leader == seat ^ 2 and found:
        found.append((PASS, 0, Move("pass", seat)))
    return found


def vector_values(
    position: GuinotePosition,
    seat: int,
    worlds: Sequence[Hands],
    chosen: Sequence[Decision],
    objective: int,
    equity: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """The kernel's answer, told only what ``seat`` sees and the worlds."""
    equity = EQUITY if equity is None else equity
    lexicon = family._lexicon_of(position)
    hands = tuple(hand if each == seat else () for each, hand in enumerate(position.hands))
    hidden = tuple(len(hand) - len(kept) for hand, kept in zip(position.hands, hands, strict=True))
    base = family.pack(replace(position, hands=hands, hidden=hidden))
    unseen = sorted(card for hand in worlds[0] for card in hand if card not in position.hands[seat])
    places = np.array(
        [[next(i for i, hand in enumerate(world) if card in hand) for card in unseen] for world in worlds],
        dtype=np.uint8,
    ).reshape(len(worlds), len(unseen))
    numbers = bytes(lexicon.numbers[card] for card in unseen)
    actions = [(kind, arg) for kind, arg, _ in chosen]
    return vector.vector_values(base, numbers, TARGETS, places, actions, seat, objective, CONTEXT, equity)


def some_worlds(position: GuinotePosition, seat: int, rng: Random) -> list[Hands]:
    """Some of the worlds, mostly such in which the partner holds one of few hands: those have choices in common."""
    worlds = all_worlds(position, seat)
    if rng.random() < 0.8:
        hands = sorted({world[seat ^ 2] for world in worlds})
        kept = rng.sample(hands, min(len(hands), rng.choice((1, 1, 2, 3))))
        worlds = [world for world in worlds if world[seat ^ 2] in kept]
        number = len(worlds) if rng.random() < 0.5 else rng.randint(1, len(worlds))
        return rng.sample(worlds, min(number, 18))
    return rng.sample(worlds, min(len(worlds), rng.randint(1, 6)))


def compare(position: GuinotePosition, seat: int, worlds: Sequence[Hands], objective: guinote.Objective) -> None:
    """Hold what the kernel says of some worlds against every strategy there is."""
    data = position.to_dict()
    assume(objective == "points" or not guinote.game_over(data))
    chosen = decisions(position, seat)
    found = vector_values(position, seat, worlds, chosen, POINTS if objective == "points" else GAME)
    search = Search(data, seat, worlds, objective, equity_of)
    for i, (_, _, move) in enumerate(chosen):
        assert found[:, i].mean() == pytest.approx(search.value(move), abs=1e-9), move
        assert search.attains(move, list(found[:, i])), move


def give_pair(rng: Random, data: dict[str, Any], seat: int) -> None:
    """Let ``seat`` hold rey and mate of a suit that has not been sung."""
    rules = guinote.rules_of(data)
    deck = rules["deck"]
    sung = [each["suit"] for each in data["sung"]]
    suits = [suit for suit in range(4) if guinote.suit_name(suit, deck) not in sung]
    suit = rng.choice(suits)
    under = 7 if rules["figure_under_rey"] == "sota" else 8
    wanted = [guinote.card_name(suit * 10 + figure, deck) for figure in (9, under)]
    hand = data["hands"][seat]["cards"]
    assume(len(hand) == 2)
    for place, card in enumerate(wanted):
        given = hand[place]
        for other in data["hands"]:
            other["cards"] = [card if each == given else given if each == card else each for each in other["cards"]]
        hand = data["hands"][seat]["cards"]
        if card not in hand:
            hand[place] = card


@st.composite
def cases(draw: Any) -> tuple[GuinotePosition, int, list[Hands]]:
    """A position, the seat to decide and the worlds it thinks of; the seat has something to decide."""
    data = draw(positions(kind="last_tricks"))
    rng = Random(draw(st.integers(0, 2**63)))
    seat = (data["leader"] + len(data["trick"])) % 4
    if not data["trick"]:
        who = draw(st.sampled_from(("leader", "partner", "leader with a cante", "partner")))
        if who.startswith("partner"):
            seat ^= 2
        if who != "leader":
            give_pair(rng, data, seat)
    try:
        position = arrastre.Position.from_dict(data)
    except InvalidPosition:
        assume(False)
    assert isinstance(position, GuinotePosition)
    assume(decisions(position, seat))
    return position, seat, some_worlds(position, seat, rng)


@examples(60)
@given(cases())
def test_points_against_every_strategy(case: tuple[GuinotePosition, int, list[Hands]]) -> None:
    compare(*case, "points")


@examples(60)
@given(cases())
def test_game_against_every_strategy(case: tuple[GuinotePosition, int, list[Hands]]) -> None:
    compare(*case, "game")


def exact(
    position: GuinotePosition, worlds: Sequence[Hands], chosen: Sequence[Decision], objective: int
) -> NDArray[np.float64]:
    """What the exact search says of the actions in each world, all seats seeing every card."""
    setups = [family.pack(replace(position, hands=hands)) for hands in worlds]
    results = kernel.solve_batch(setups, CONTEXT, objective, 0, 0, 0.0, False)
    table = np.empty((len(worlds), len(chosen)))
    for k in range(len(worlds)):
        values = {(kind, arg, seat): upper for kind, arg, seat, _, upper in results.actions(k)}
        table[k] = [values[kind, arg, move.seat] for kind, arg, move in chosen]
    return table


@examples(150)
@given(cases(), st.sampled_from(("points", "game")))
def test_one_world_is_worth_what_the_exact_search_says(
    case: tuple[GuinotePosition, int, list[Hands]], objective: str
) -> None:
    position, seat, worlds = case
    assume(objective == "points" or not guinote.game_over(position.to_dict()))
    chosen = [each for each in decisions(position, seat) if each[0] != PASS]
    assume(chosen)
    number = POINTS if objective == "points" else GAME
    expected = exact(position, worlds, chosen, number)
    if objective == "game":
        expected = (expected + 1) / 2
    even = np.full((1, 1), 0.5)
    for k, world in enumerate(worlds):
        found = vector_values(position, seat, [world], chosen, number, even)
        assert found.tolist() == [expected[k].tolist()]
    # What must hold in all worlds at once can be no better than what is right in each.
    together = vector_values(position, seat, worlds, chosen, number, even)
    assert (together <= expected + 1e-9).all()


# What the mean of exact values recommends supposes that the partner will see which world it is in.
WISER = [
    # A rival has led 3B. Keeping RE counts on a partner that knows whether to keep its copa or its espada.
    ("CC.RE/7C.3E/1C.1E/7B O 3 3B", "CC", "RE", -43.2, -683 / 15, -44.0),
    # On lead. Drawing a trump counts on a partner that knows which of its cards then stands.
    ("4O.2C/SO.RB/6C.7B/RO.RC O 0 -", "4O", "2C", -8.688888888888888, -9.311111111111112, -8.822222222222223),
]


@pytest.mark.parametrize(("text", "tempting", "right", "promised", "kept", "best"), WISER)
def test_wiser_than_the_mean_of_exact_values(
    text: str, tempting: str, right: str, promised: float, kept: float, best: float
) -> None:
    position = parse(text)
    chosen = decisions(position, 0)
    worlds = all_worlds(position, 0)
    names = [card_text(move.which, position.rules.deck) for _, _, move in chosen]
    clairvoyant = dict(zip(names, exact(position, worlds, chosen, POINTS).mean(axis=0), strict=True))
    found = dict(zip(names, vector_values(position, 0, worlds, chosen, POINTS).mean(axis=0), strict=True))
    assert max(clairvoyant, key=clairvoyant.__getitem__) == tempting
    assert max(found, key=found.__getitem__) == right
    assert clairvoyant[tempting] == pytest.approx(promised)
    assert (found[tempting], found[right]) == (pytest.approx(kept), pytest.approx(best))
    search = Search(position.to_dict(), 0, worlds, "points", equity_of)
    for name, (_, _, move) in zip(names, chosen, strict=True):
        assert search.value(move) == pytest.approx(found[name])


def test_the_order_of_worlds_does_not_matter() -> None:
    position = parse("4O.2C/SO.RB/6C.7B/RO.RC O 0 -")
    chosen = decisions(position, 0)
    worlds = all_worlds(position, 0)
    found = vector_values(position, 0, worlds, chosen, POINTS)
    assert len(worlds) == 90
    turned = vector_values(position, 0, worlds[::-1], chosen, POINTS)
    assert turned[::-1].tolist() == found.tolist()
    assert vector_values(position, 0, worlds, chosen, POINTS).tobytes() == found.tobytes()


def wrong(text: str, **change: Any) -> str:
    """What is said of a call that cannot be answered."""
    position, seat = parse(text), 0
    hands = tuple(hand if each == seat else () for each, hand in enumerate(position.hands))
    hidden = tuple(len(hand) - len(kept) for hand, kept in zip(position.hands, hands, strict=True))
    numbers = family._lexicon_of(position).numbers
    unseen = [card for each, hand in enumerate(position.hands) if each != seat for card in hand]
    places = [each for each, hand in enumerate(position.hands) if each != seat for _ in hand]
    call: dict[str, Any] = {
        "base": family.pack(replace(position, hands=hands, hidden=hidden)),
        "numbers": bytes(numbers[card] for card in unseen),
        "targets": TARGETS,
        "worlds": np.array([places], dtype=np.uint8),
        "actions": [(CARD, numbers[position.hands[seat][0]])],
        "seat": seat,
        "objective": POINTS,
        "context": CONTEXT,
        "equity": EQUITY,
    }
    assert vector.vector_values(**call).shape == (1, 1)
    with pytest.raises(ValueError, match=r"\w") as refusal:
        vector.vector_values(**call | change)
    return str(refusal.value)


LEADING = "4O.2C/SO.RB/6C.7B/RO.RC O 0 -"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base": b""}, "not made by pack"),
        ({"numbers": b"123"}, "number of items"),
        ({"objective": GAME, "equity": None}, "needs an equity"),
        ({"seat": 1}, "one or two cards"),
        ({"seat": 4}, "one or two cards"),
        ({"actions": [(CARD, 63)]}, "not legal"),
        ({"actions": [(CANTE, 0)]}, "not legal"),
        ({"actions": [(PASS, 0)]}, "not legal"),
        ({"actions": [(2, 0)]}, "not legal"),
        ({"targets": b"\x00\x01"}, "number or place"),
        ({"targets": bytes([0, 16, 2, 3])}, "in no hand"),
        ({"targets": bytes([0, 2, 2, 3])}, "size"),
        ({"numbers": bytes([16, 16, 17, 18, 19, 20])}, "two places"),
        ({"worlds": np.array([[0, 1, 2, 2, 3, 3]], dtype=np.uint8)}, "size"),
    ],
)
def test_calls_that_cannot_be_answered(change: dict[str, Any], message: str) -> None:
    assert message in wrong(LEADING, **change)


def test_only_four_players_without_a_stock() -> None:
    two = parse("4O.2C/SO.RB O 0 -")
    base = family.pack(replace(two, hands=(two.hands[0], ()), hidden=(0, 2)))
    assert "four players" in wrong(LEADING, base=base)


def test_no_worlds_and_no_actions_make_an_empty_table() -> None:
    position = parse(LEADING)
    assert vector_values(position, 0, all_worlds(position, 0), [], POINTS).shape == (90, 0)
