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
    tricks: int,
    objective: int,
    equity: NDArray[np.float64],
    context: Context,
    seconds: float,
    out: NDArray[np.float64],
    detail: NDArray[np.int16] | None = None,
) -> int: ...
def play_out(
    setups: list[bytes],
    styles: tuple[int, int],
    tricks: int,
    seed: int,
    context: Context,
    out: NDArray[np.int16],
    gains: NDArray[np.int16] | None = None,
) -> None: ...
def policy(position: bytes, seat: int) -> tuple[int, int, int]: ...
