import numpy as np
from numpy.typing import NDArray

from arrastre.guinote.kernel import Context

def world_values(
    base: bytes,
    numbers: bytes,
    targets: bytes,
    worlds: NDArray[np.uint8],
    actions: list[tuple[int, int, int]],
    seat: int,
    view: int,
    depth: int,
    objective: int,
    context: Context,
    seconds: float,
    out: NDArray[np.float64],
) -> int: ...
def policy(position: bytes, seat: int, context: Context) -> tuple[int, int, int]: ...
