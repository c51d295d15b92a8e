"""What players lose on average over many deals, how sure that is, and how many deals would tell two of them apart.

Deals are what chance deals out, so they are what is drawn again: a bootstrap by deal, in which every deal counts as
often as a Poisson variable of mean 1 says. It needs one pass and no memory of single deals.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

#: How many times the deals are drawn again.
RESAMPLES: Final = 1000
#: The share of the resamples beyond each end of an interval.
_TAIL: Final = 0.025
_Z: Final = 1.96
#: All phases together.
ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the 95 % interval around it; ``None`` where nothing was counted."""

    mean: float | None
    low: float | None
    high: float | None

    def to_dict(self) -> dict[str, Any]:
        return {"mean": self.mean, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Line:
    """What one player did in one phase (or in all): ``points`` and ``game`` are the mean losses of a counted decision;
    ``luck`` is that of the player's side a deal, in points, over the deals in which it is known."""

    player: str
    phase: str
    deals: int
    decisions: int
    points: Interval
    game: Interval
    labels: Mapping[str, int]
    missed: int
    unlucky: int
    luck: float | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "player": self.player,
            "phase": self.phase,
            "deals": self.deals,
            "decisions": self.decisions,
            "pointsLoss": self.points.to_dict(),
            "gameLoss": self.game.to_dict(),
            "labels": dict(self.labels),
            "missed": self.missed,
            "unlucky": self.unlucky,
            "luck": self.luck,
        }


@dataclass(slots=True)
class _Sums:
    """One player in one phase: what was lost in points and in games, and in how many decisions, by resample; the first
    is the deals as they are."""

    lost: NDArray[np.float64] = field(default_factory=lambda: np.zeros((2, RESAMPLES + 1)))
    counted: NDArray[np.float64] = field(default_factory=lambda: np.zeros((2, RESAMPLES + 1)))
    deals: int = 0
    decisions: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    missed: int = 0
    unlucky: int = 0
    luck: float = 0.0
    lucky_deals: int = 0


class Tally:
    """Adds up graded deals, in the JSON form of :meth:`arrastre.grade.DealGrade.to_dict`.

    Memory is the same for any number of deals; it is about 32 kB for each player and phase. ``only`` these players are
    looked at if it is given.
    """

    def __init__(self, only: Collection[str] | None = None) -> None:
        self._only = None if only is None else frozenset(only)
        self._sums: dict[tuple[str, str], _Sums] = {}
        self.deals = 0

    def add(self, grade: Mapping[str, Any]) -> None:
        """Another deal."""
        self.deals += 1
        chance = np.random.Generator(np.random.PCG64(int(grade["record"], 16)))
        weights = np.concatenate(([1.0], chance.poisson(1.0, RESAMPLES)))
        found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for each in grade["decisions"]:
            for phase in (each["phase"], ALL):
                found.setdefault((each["player"], phase), []).append(each)
        for key, decisions in found.items():
            if self._only is None or key[0] in self._only:
                self._add(self._sums.setdefault(key, _Sums()), decisions, weights)
        luck = grade["luck"]
        for player, side in dict(zip(grade["players"], grade["sides"], strict=True)).items() if luck else ():
            sums = self._sums.get((player, ALL))
            if sums is not None:
                sums.luck += luck["luck"] if side == 0 else -luck["luck"]
                sums.lucky_deals += 1

    @staticmethod
    def _add(sums: _Sums, decisions: Iterable[Mapping[str, Any]], weights: NDArray[np.float64]) -> None:
        sums.deals += 1
        losses: tuple[list[float], list[float]] = ([], [])
        for each in decisions:
            sums.labels[each["label"]] += 1
            sums.missed += each["missed"] is not None
            sums.unlucky += each["unlucky"]
            sums.decisions += each["counted"]
            for found, name in zip(losses, ("pointsLoss", "gameLoss"), strict=True):
                if each["counted"] and each[name] is not None:
                    found.append(each[name])
        for which, found in enumerate(losses):
            sums.lost[which] += sum(found) * weights
            sums.counted[which] += len(found) * weights

    def lines(self, phases: Iterable[str]) -> list[Line]:
        """A line for each player and phase, those who lose least first, each player's phases together, all first."""
        players = sorted({player for player, _ in self._sums}, key=lambda name: (self._rank(name), name))
        wanted = (ALL, *phases)
        return [self._line(player, phase) for player in players for phase in wanted if (player, phase) in self._sums]

    def _rank(self, player: str) -> float:
        mean = self._interval(self._sums[player, ALL], 0).mean
        return math.inf if mean is None else mean

    def _line(self, player: str, phase: str) -> Line:
        sums = self._sums[player, phase]
        return Line(
            player=player,
            phase=phase,
            deals=sums.deals,
            decisions=sums.decisions,
            points=self._interval(sums, 0),
            game=self._interval(sums, 1),
            labels=dict(sorted(sums.labels.items())),
            missed=sums.missed,
            unlucky=sums.unlucky,
            luck=round(sums.luck / sums.lucky_deals, 6) if sums.lucky_deals else None,
        )

    @staticmethod
    def _interval(sums: _Sums, which: int) -> Interval:
        means = _means(sums, which)
        if not sums.counted[which, 0]:
            return Interval(None, None, None)
        low, high = np.quantile(means[1:], [_TAIL, 1 - _TAIL]) if len(means) > 1 else (means[0], means[0])
        mean = means[0]
        return Interval(*(round(float(each), 6) for each in (mean, low, high)))

    def more_deals(self, one: str, other: str) -> int | None:
        """How many more deals each of two players would have to play before their mean losses in points differ by more
        than chance would have it (95 %), if they go on as they do; 0 if they do already, ``None`` if there is no
        difference or not enough is known."""
        means, spreads, played = [], [], []
        for player in (one, other):
            sums = self._sums[player, ALL]
            found = _means(sums, 0)
            if sums.deals < 2 or not sums.counted[0, 0]:
                return None
            means.append(float(found[0]))
            spreads.append(float(found[1:].var()) * sums.deals)
            played.append(sums.deals)
        gap = abs(means[0] - means[1])
        if gap < 1e-9:
            return None
        if _Z**2 * sum(spread / deals for spread, deals in zip(spreads, played, strict=True)) <= gap**2:
            return 0
        return max(1, math.ceil(_Z**2 * sum(spreads) / gap**2) - min(played))


def _means(sums: _Sums, which: int) -> NDArray[np.float64]:
    """The mean loss, first as it is, then in every resample in which there is one."""
    drawn = sums.counted[which] > 0
    found: NDArray[np.float64] = sums.lost[which][drawn] / sums.counted[which][drawn]
    return found
