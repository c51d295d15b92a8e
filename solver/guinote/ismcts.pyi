import numpy as np
from numpy.typing import NDArray

from arrastre.guinote.kernel import Context

def ismcts(
    base: bytes,
    numbers: bytes,
    targets: bytes,
    worlds: NDArray[np.uint8],
    style: int,
    exploration: float,
    seed: int,
    context: Context,
) -> list[tuple[int, int, float]]: ...
