"""Worlds, counted, drawn and listed, held to a count by trying everything."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrastre.worlds import Worlds
from reference import worlds as reference

HYPOTHESIS = settings(max_examples=300, deadline=None)


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """A few items and places, with what each item may do; contradictory ones too."""
    places = draw(st.integers(1, 5))
    capacities = draw(st.lists(st.integers(0, 3), min_size=places, max_size=places).filter(lambda c: sum(c) <= 7))
    sets = draw(st.lists(st.integers(0, 2**places - 1), min_size=1, max_size=4))
    everywhere = st.just(2**places - 1)
    allowed = [draw(st.one_of(everywhere, st.sampled_from(sets))) for _ in range(sum(capacities))]
    return allowed, capacities


@HYPOTHESIS
@given(problems())
def test_count_marginals_and_list_are_those_of_brute_force(problem: tuple[list[int], list[int]]) -> None:
    allowed, capacities = problem
    worlds = Worlds(allowed, capacities)
    every = reference.worlds(allowed, capacities)
    assert worlds.count == len(every)
    assert [tuple(row) for row in worlds.enumerate().tolist()] == every
    counted = [
        [sum(row[item] == place for row in every) for place in range(len(capacities))] for item in range(len(allowed))
    ]
    assert worlds.marginals() == counted


@HYPOTHESIS
@given(problems(), st.integers(0, 2**63 - 1))
def test_what_is_drawn_is_a_world_and_depends_on_its_number_alone(
    problem: tuple[list[int], list[int]], seed: int
) -> None:
    allowed, capacities = problem
    worlds = Worlds(allowed, capacities)
    if not worlds.count:
        with pytest.raises(ValueError, match="no world"):
            worlds.sample(seed, 0, 1)
        return
    drawn = worlds.sample(seed, 5, 20)
    every = set(reference.worlds(allowed, capacities))
    assert {tuple(row) for row in drawn.tolist()} <= every
    parts = np.concatenate((worlds.sample(seed, 5, 7), worlds.sample(seed, 12, 13)))
    assert parts.tobytes() == drawn.tobytes()
    assert Worlds(allowed, capacities).sample(seed, 5, 20).tobytes() == drawn.tobytes()


@HYPOTHESIS
@given(problems())
def test_a_contradiction_is_a_smallest_set_of_items_without_room(problem: tuple[list[int], list[int]]) -> None:
    allowed, capacities = problem
    conflict = Worlds(allowed, capacities).conflict()
    bad = list(reference.violators(allowed, capacities))
    if conflict is None:
        assert not bad
        return
    items, places = conflict
    assert items in bad
    assert not any(set(other) < set(items) for other in bad)
    where = {place for place in range(len(capacities)) for item in items if allowed[item] >> place & 1}
    assert set(places) == {place for place in where if capacities[place]}


def chi_square(seen: Sequence[int], expected: float) -> float:
    return sum((number - expected) ** 2 / expected for number in seen)


def most_likely(freedom: int, z: float = 4.0) -> float:
    """What a chi-square hardly ever exceeds (Wilson and Hilferty's approximation)."""
    return freedom * (1 - 2 / (9 * freedom) + z * math.sqrt(2 / (9 * freedom))) ** 3


# With few bits most draws are not decided by them, but by exact integers.
@pytest.mark.parametrize("precision", [64, 8, 1])
@pytest.mark.parametrize(
    ("allowed", "capacities"),
    [
        ([0b111] * 6, [2, 2, 2]),
        ([0b111, 0b011, 0b011, 0b101, 0b111, 0b110], [2, 2, 2]),
        ([0b1111, 0b1110, 0b1100, 0b1111, 0b0111], [2, 1, 1, 1]),
        # Nested sets, as where cards were drawn one after the other.
        ([0b11111, 0b11110, 0b11100, 0b11000, 0b11111, 0b00111], [2, 1, 1, 1, 1]),
    ],
)
def test_worlds_are_drawn_with_equal_chances(allowed: list[int], capacities: list[int], precision: int) -> None:
    worlds = Worlds(allowed, capacities, precision=precision)
    number = 300 * worlds.count
    seen = Counter(map(tuple, worlds.sample(7, 0, number).tolist()))
    assert len(seen) == worlds.count
    assert chi_square(list(seen.values()), 300) < most_likely(worlds.count - 1)


@pytest.mark.parametrize(("seed", "number"), [(0, 0), (7, 1), (2**64 - 1, 2**64 - 1)])
def test_the_numbers_drawn_are_those_of_numpys_philox(seed: int, number: int) -> None:
    # The only thing to draw is the order of a pool: item after item takes one of the slots that are left.
    items = 40
    words = iter(np.random.Philox(key=seed, counter=number << 64).random_raw(2 * items).tolist())
    slots, expected = list(range(items)), []
    while slots:
        bound = len(slots)
        word = next(words) if bound > 1 else 0
        while bound > 1 and word * bound % 2**64 < 2**64 % bound:
            word = next(words)
        at = word * bound >> 64
        expected.append(slots[at])
        slots[at] = slots[-1]
        slots.pop()
    assert Worlds([2**items - 1] * items, [1] * items).sample(seed, number, 1)[0].tolist() == expected


def test_marginals_of_a_large_sample() -> None:
    # The first trick of a deal: 33 unseen cards, three of them barred from a hand each.
    capacities = [6, 6, 6] + [1] * 15
    allowed = [2**18 - 1] * 30 + [2**18 - 1 - 1, 2**18 - 1 - 2, 2**18 - 1 - 4]
    worlds = Worlds(allowed, capacities)
    drawn, marginals = worlds.sample(1, 0, 40_000), worlds.marginals()
    for item in (0, 30, 31, 32):
        for place in (0, 1, 2, 3, 17):
            share = marginals[item][place] / worlds.count
            error = math.sqrt(share * (1 - share) / len(drawn))
            assert abs(float((drawn[:, item] == place).mean()) - share) <= 4.5 * error


def test_counts_beyond_any_machine_word() -> None:
    everywhere = 2**28 - 1
    worlds = Worlds([everywhere] * 33, [6] + [1] * 27)
    assert worlds.count == math.factorial(33) // math.factorial(6) > 2**64
    assert len(worlds.sample(3, 2**62, 2)) == 2
    assert_sums(worlds, [6] + [1] * 27)
    assert Worlds([2**40 - 1] * 40, [1] * 40).count == math.factorial(40)


def test_a_known_count() -> None:
    # Three hands of four cards: 12! / 4!^3.
    assert Worlds([0b111] * 12, [4, 4, 4]).count == 34650


def assert_sums(worlds: Worlds, capacities: Sequence[int]) -> None:
    """In every world each item is somewhere, and each place full."""
    marginals = worlds.marginals()
    assert all(sum(row) == worlds.count for row in marginals)
    assert [sum(column) for column in zip(*marginals, strict=True)] == [room * worlds.count for room in capacities]


def test_many_spans_stay_few_states() -> None:
    # Three hands, each what it held and three cards drawn one by one, and the stock; what was played since in question.
    capacities, allowed = [], []
    for hand in range(3):
        base = 4 * hand
        capacities += [6, 1, 1, 1]
        allowed += [1 << base, 3 << base, 7 << base]
    capacities += [1] * 3
    free = 2**15 - 1
    for barred in (0b0001, 0b0011, 0b0111, 0b1_0000, 0b11_0001):
        allowed += [free & ~barred] * 2
    allowed += [free] * (sum(capacities) - len(allowed))
    worlds = Worlds(allowed, capacities)
    assert worlds.count > 0
    assert_sums(worlds, capacities)
    rows = worlds.sample(1, 0, 500)
    for row in rows.tolist():
        assert all(allowed[item] >> place & 1 for item, place in enumerate(row))
        assert [row.count(place) for place in range(15)] == capacities


def test_a_tangle_is_refused() -> None:
    chance = np.random.default_rng(1)
    allowed = [int(each) | 1 << index for index, each in enumerate(chance.integers(1, 2**40, 40))]
    with pytest.raises(ValueError, match="more than 131072 steps"):
        Worlds(allowed, [1] * 40)


def test_a_contradiction_in_a_tangle_is_named() -> None:
    chance = np.random.default_rng(1)
    allowed = [int(each) | 1 << index for index, each in enumerate(chance.integers(1, 2**40, 40))]
    allowed[:3] = [0b11 << 37] * 3
    worlds = Worlds(allowed, [1] * 40)
    assert worlds.count == 0
    assert worlds.conflict() == ((0, 1, 2), (37, 38))
    assert worlds.marginals() == [[0] * 40 for _ in range(40)]
    assert worlds.enumerate().shape == (0, 40)


def test_nothing_to_lay_is_one_world() -> None:
    for capacities in ([], [0, 0]):
        worlds = Worlds([], capacities)
        assert worlds.count == 1
        assert worlds.sample(1, 0, 3).shape == (3, 0)
        assert worlds.enumerate().shape == (1, 0)
        assert worlds.marginals() == [] and worlds.conflict() is None


@pytest.mark.parametrize(
    ("allowed", "capacities", "words"),
    [
        ([1, 1], [1], "cannot hold"),
        ([1], [2, -1], "cannot hold"),
        ([4], [1, 0], "does not exist"),
        ([-1], [1], "does not exist"),
        ([1] * 65, [65], "at most 64"),
    ],
)
def test_problems_that_are_none(allowed: list[int], capacities: list[int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Worlds(allowed, capacities)


def test_too_many_to_list() -> None:
    with pytest.raises(ValueError, match="too many"):
        Worlds([2**20 - 1] * 20, [1] * 20).enumerate()


@pytest.mark.parametrize(
    ("seed", "first", "number", "words"),
    [
        (-1, 0, 1, "a seed is"),
        (2**64, 0, 1, "a seed is"),
        (1, -1, 1, "no 1 worlds from number -1 on"),
        (1, 0, -1, "no -1 worlds"),
        (1, 2**64 - 1, 2, "numbered below"),
    ],
)
def test_draws_that_are_none(seed: int, first: int, number: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Worlds([1], [1]).sample(seed, first, number)


@pytest.mark.parametrize("precision", [0, 65, -1])
def test_precisions_that_are_none(precision: int) -> None:
    with pytest.raises(ValueError, match="1 to 64 bits"):
        Worlds([1], [1], precision=precision)


def test_parts_of_an_item_are_not_counted() -> None:
    with pytest.raises(TypeError):
        Worlds([1], [1.5])  # type: ignore[list-item]
