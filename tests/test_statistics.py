"""The arithmetic of noisy comparisons, held to what it promises on samples whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from arrastre import statistics


def samples(seed: int, means: list[float], worlds: int, spread: float = 30.0) -> NDArray[np.float64]:
    """Values of actions with known means: a common part for each world, and a part of each action's own."""
    chance = np.random.default_rng(seed)
    common = chance.normal(0, spread, (worlds, 1))
    return common + chance.normal(means, spread / 2, (worlds, len(means)))


def test_a_mean_and_its_error() -> None:
    mean = statistics.mean_of(np.array([1.0, 2.0, 3.0, 6.0, math.nan]))
    assert mean.mean == 3.0 and mean.count == 4
    assert mean.error == pytest.approx(math.sqrt(14 / 3 / 4))
    assert mean.lower == pytest.approx(3 - 3.3 * mean.error) and mean.upper == pytest.approx(3 + 3.3 * mean.error)


def test_one_world_has_no_error_and_none_no_mean() -> None:
    one = statistics.mean_of(np.array([4.0]))
    assert one.mean == 4.0 and math.isnan(one.error) and one.lower == -math.inf and one.upper == math.inf
    none = statistics.mean_of(np.array([math.nan, math.nan]))
    assert none.count == 0 and math.isnan(none.mean)


def test_differences_are_paired() -> None:
    values = samples(1, [5.0, 0.0], 400)
    paired = statistics.difference(values, 0, 1)
    apart = math.hypot(statistics.mean_of(values[:, 0]).error, statistics.mean_of(values[:, 1]).error)
    assert paired.error < 0.6 * apart
    assert abs(paired.mean - 5) < 3.3 * paired.error


def test_an_action_given_up_is_compared_in_the_worlds_it_was_tried_in() -> None:
    values = samples(2, [0.0, 0.0], 200)
    values[64:, 1] = math.nan
    assert statistics.difference(values, 0, 1).count == 64
    assert statistics.split_loss(values, 1, [0]).count == 64


def test_equal_actions_charge_no_phantom_loss() -> None:
    # The best of five equal actions looks more than a point better than they are; a split sample says so of none.
    naive, split = [], []
    for seed in range(300):
        values = samples(seed, [0.0] * 5, 100, spread=12.0)
        naive.append(float(values.mean(axis=0).max() - values[:, 0].mean()))
        split.append(statistics.split_loss(values, 0, range(5)).mean)
    assert np.mean(naive) > 0.6
    assert abs(np.mean(split)) < 3.3 * np.std(split) / math.sqrt(len(split))


def test_split_loss_finds_a_true_loss() -> None:
    losses = [statistics.split_loss(samples(seed, [0.0, 8.0, 0.0], 400), 0, range(3)) for seed in range(100)]
    covered = sum(abs(loss.mean - 8) < 1.96 * loss.error for loss in losses)
    assert covered >= 88
    assert abs(np.mean([loss.mean for loss in losses]) - 8) < 0.6


def test_a_race_hardly_ever_crowns_a_false_winner() -> None:
    # Two equal actions, looked at after every batch: at 1.96 errors about a quarter of the races would end wrongly.
    def ended(z: float) -> float:
        wrong = 0
        for seed in range(400):
            values = samples(seed, [0.0, 0.0], 1024)
            for worlds in range(64, 1025, 32):
                gain = statistics.difference(values[:worlds], 0, 1)
                if abs(gain.mean) > z * gain.error:
                    wrong += 1
                    break
        return wrong / 400

    assert ended(1.96) > 0.15
    assert ended(statistics.RACING_Z) <= 0.02


def test_survivors_and_leader() -> None:
    values = samples(3, [0.0, 40.0, 39.9], 256)
    assert statistics.leader(values, [0, 1, 2]) in (1, 2)
    assert statistics.survivors(values, [0, 1, 2]) == [1, 2]
    assert statistics.leader(values, [0]) == 0
    same = np.zeros((64, 3))
    assert statistics.leader(same, [2, 0, 1]) == 2
    assert statistics.all_equal(same, [0, 1, 2], 0.5)
    assert not statistics.all_equal(values, [0, 1], 0.5)


def test_nothing_tried_yet() -> None:
    nothing = np.empty((0, 2))
    assert statistics.leader(nothing, [0, 1]) == 0
    assert statistics.survivors(nothing, [0, 1]) == [0, 1]
    assert statistics.split_loss(nothing, 1, [0, 1]).count == 0
