"""Players over many deals: means, intervals that cover as they should, and how many deals tell two apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from arrastre.grade import PHASES
from arrastre.tally import ALL, Tally


def graded(seed: int, losses: dict[str, list[float]], luck: float | None = None) -> dict[str, Any]:
    decisions = [
        {
            "player": player,
            "phase": "draw",
            "label": "equal" if loss < 1 else "blunder",
            "missed": None,
            "unlucky": loss == 0,
            "counted": True,
            "pointsLoss": loss,
            "gameLoss": loss / 100,
        }
        for player, found in losses.items()
        for loss in found
    ]
    return {
        "record": f"{seed:032x}",
        "players": list(losses),
        "sides": [index % 2 for index in range(len(losses))],
        "decisions": decisions,
        "luck": None if luck is None else {"luck": luck},
    }


def test_means_are_over_decisions() -> None:
    tally = Tally()
    tally.add(graded(1, {"A": [1.0, 2.0, 3.0], "B": [0.0]}, luck=10))
    tally.add(graded(2, {"A": [10.0], "B": [0.0, 0.0]}, luck=-4))
    lines = {(line.player, line.phase): line for line in tally.lines(PHASES)}
    assert list(lines) == [("B", ALL), ("B", "draw"), ("A", ALL), ("A", "draw")]
    one = lines["A", ALL]
    assert (one.deals, one.decisions, one.points.mean, one.game.mean) == (2, 4, 4.0, 0.04)
    assert (one.luck, lines["B", ALL].luck) == (3.0, -3.0)
    assert one.labels == {"blunder": 4} and lines["B", ALL].unlucky == 3


def test_order_does_not_matter() -> None:
    deals = [graded(seed, {"A": [seed % 7 / 2], "B": [1.0]}) for seed in range(40)]
    one, other = Tally(), Tally()
    for each in deals:
        one.add(each)
    for each in reversed(deals):
        other.add(each)
    assert [str(line) for line in one.lines(PHASES)] == [str(line) for line in other.lines(PHASES)]


def test_only_some_players() -> None:
    tally = Tally({"B"})
    tally.add(graded(1, {"A": [1.0], "B": [2.0]}))
    assert {line.player for line in tally.lines(PHASES)} == {"B"}


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    """Decisions of one deal share their deal's difficulty: an interval by decision would be far too narrow."""
    covered, rounds = 0, 120
    for number in range(rounds):
        chance = np.random.default_rng(number)
        tally = Tally()
        for seed in range(60):
            level = chance.exponential(2.0)
            tally.add(graded(1000 * number + seed, {"A": (level * chance.uniform(0, 2, 8)).tolist()}))
        interval = tally.lines(())[0].points
        assert interval.low is not None and interval.high is not None
        covered += interval.low <= 2.0 <= interval.high
    assert 0.86 <= covered / rounds <= 0.99


def test_how_many_more_deals_would_tell() -> None:
    """The answer is about right: with so many more deals the two are told apart about as often as not."""
    chance = np.random.default_rng(5)
    tally = Tally()
    for seed in range(100):
        tally.add(graded(seed, {"A": [chance.normal(1, 2)], "B": [chance.normal(1.3, 2)]}))
    more = tally.more_deals("A", "B")
    assert more is not None and more > 0
    means = {line.player: line.points.mean for line in tally.lines(()) if line.points.mean is not None}
    expected = 1.96**2 * 8 / (means["A"] - means["B"]) ** 2 - 100
    assert more == pytest.approx(expected, rel=0.3)
    assert tally.more_deals("B", "A") == more


def test_who_is_told_apart_already_and_who_never() -> None:
    tally = Tally()
    for seed in range(50):
        tally.add(graded(seed, {"A": [seed % 3 / 10], "B": [5.0 + seed % 2], "C": [5.0 + seed % 2]}))
    assert tally.more_deals("A", "B") == 0
    assert tally.more_deals("B", "C") is None
    alone = Tally()
    alone.add(graded(1, {"A": [1.0], "B": [2.0]}))
    assert alone.more_deals("A", "B") is None
