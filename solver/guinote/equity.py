"""What a carried score is worth: the chance to win the game in the deals to come.

The formula below is a stand-in, not a measurement: it knows that a lead helps and nothing of the rules of the deals to
come, nor of who leads. A table built by self-play takes its place once there is one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from arrastre.guinote.rules import MAX_POINTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A lead of so many points multiplies the odds by e.
_SCALE: Final = 25.0


@lru_cache(maxsize=8)
def vueltas_equity(target: int) -> NDArray[np.float64]:
    """The chance that a side wins a game that goes on with ``[own total, rivals' total]`` carried.

    A square array for totals up to the target and beyond; totals that it does not reach count as its last. Logistic
    in the lead, the same for every target: see the module's note on what that is worth.
    """
    totals = np.arange(max(target, MAX_POINTS) + 1)
    equity = 1.0 / (1.0 + np.exp((totals[None, :] - totals[:, None]) / _SCALE))
    equity.setflags(write=False)
    return equity
