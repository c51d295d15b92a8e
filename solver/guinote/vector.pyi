from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arrastre.guinote.kernel import Context

def vector_values(
    base: bytes,
    numbers: bytes | NDArray[np.uint8],
    targets: bytes | NDArray[np.uint8],
    worlds: NDArray[np.uint8],
    actions: Sequence[tuple[int, int]],
    seat: int,
    objective: int,
    context: Context,
    equity: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]: ...
