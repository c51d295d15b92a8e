"""The arithmetic of noisy comparisons: every action is tried in the same worlds, so differences are paired.

Arrays of values have the shape (worlds, actions). An action that was given up early has NaN from then on; its numbers
come from the worlds before. Errors are standard errors in the unit of the values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Standard errors between an action and the leader before it is given up. A race is looked at many times; at 1.96 a
#: quarter of all races would crown a false winner, at 3.3 fewer than one in a hundred.
RACING_Z = 3.3

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over ``count`` worlds and its standard error (NaN for a single world)."""

    mean: float
    error: float
    count: int

    @property
    def lower(self) -> float:
        """The mean less :data:`RACING_Z` errors; −∞ where the error is not known."""
        return -math.inf if math.isnan(self.error) else self.mean - RACING_Z * self.error

    @property
    def upper(self) -> float:
        """The mean plus :data:`RACING_Z` errors; ∞ where the error is not known."""
        return math.inf if math.isnan(self.error) else self.mean + RACING_Z * self.error


def mean_of(values: Values) -> Mean:
    """Mean and standard error of a sample, NaN at its end left out."""
    known = values[: length(values)]
    if not len(known):
        return Mean(math.nan, math.nan, 0)
    error = float(known.std(ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else math.nan
    return Mean(float(known.mean()), error, len(known))


def length(values: Values) -> int:
    """How many of a column's values come before the first NaN."""
    gaps = np.isnan(values)
    return int(gaps.argmax()) if gaps.any() else len(values)


def difference(values: Values, one: int, other: int) -> Mean:
    """By how much action ``one`` is better than ``other``, in the worlds in which both were tried."""
    return mean_of(values[:, one] - values[:, other])


def leader(values: Values, among: Sequence[int]) -> int:
    """The action with the best mean of those given, the first of equals; the first of all where nothing was tried."""
    if not len(values):
        return among[0]
    return among[int(values[:, among].mean(axis=0).argmax())]


def survivors(values: Values, racing: Sequence[int]) -> list[int]:
    """Those of the ``racing`` actions that are not yet shown to be worse than the leader."""
    first = leader(values, racing)
    return [action for action in racing if action == first or difference(values, first, action).lower <= 0]


def all_equal(values: Values, racing: Sequence[int], tolerance: float) -> bool:
    """Whether the racing actions are shown to lie within ``tolerance`` of the leader."""
    first = leader(values, racing)
    return all(action == first or difference(values, first, action).upper <= tolerance for action in racing)


def split_loss(values: Values, action: int, among: Sequence[int]) -> Mean:
    """What ``action`` loses against the best of ``among``, free of the winner's luck.

    The best of noisy means looks better than it is. So the action to compare with is chosen on every other world and
    the loss measured on those between, then the other way round.
    """
    count = length(values[:, action])
    known = values[:count]
    if count < 2:
        first = leader(known, among) if count else action
        return mean_of(known[:, first] - known[:, action])
    halves = [known[0::2], known[1::2]]
    losses: list[Values] = []
    for chosen_on, measured_on in (halves, reversed(halves)):
        first = leader(chosen_on, among)
        losses.append(measured_on[:, first] - measured_on[:, action])
    return mean_of(np.concatenate(losses))
