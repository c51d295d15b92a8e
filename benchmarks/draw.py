"""Exact values with draw tricks left: time and nodes a position, one thread.

python benchmarks/draw.py [--whole]

``--whole`` adds whole deals from the first card, their value alone: some minutes.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

# A neighbour's name would hide the package.
sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != Path(__file__).resolve().parent]
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

import arrastre  # noqa: E402
from arrastre.game import Want  # noqa: E402
from corpus import random_positions  # noqa: E402

MOST_PLAYERS = 4

#: Players, draw tricks left, positions, what is wanted, memory in MiB.
CASES: tuple[tuple[int, int, int, Want, int], ...] = (
    (4, 1, 40, "all", 16),
    (4, 1, 40, "value", 16),
    (4, 2, 20, "all", 64),
    (4, 2, 20, "value", 64),
    (2, 3, 40, "all", 16),
    (2, 4, 20, "all", 16),
)
WHOLE: tuple[tuple[int, int, int, Want, int], ...] = ((4, 3, 10, "value", 256), (4, 4, 10, "value", 1024))
ROUNDS = 3


def main() -> None:
    head = f"{'players':>7} {'draws left':>10} {'wanted':>7} {'positions':>9} {'MiB':>5}"
    print(f"{head} {'median ms':>9} {'mean':>8} {'max':>8} {'nodes':>10}")
    for players, draws, count, want, memory in CASES + WHOLE * ("--whole" in sys.argv[1:]):
        positions = random_positions(count, seed=3, draws=draws, players=players)
        rounds = 1 if draws > 2 and players == MOST_PLAYERS else ROUNDS
        # Of a few rounds the least of each position: the machine may be doing something else beside.
        runs = [
            [arrastre.solve_many([position], want=want, memory_mb=memory, nodes=10**12)[0] for position in positions]
            for _ in range(rounds)
        ]
        times = [1e3 * min(each.seconds for each in one) for one in zip(*runs, strict=True)]
        nodes = statistics.median(each.nodes for each in runs[0])
        print(
            f"{players:7} {draws:10} {want:>7} {count:9} {memory:5} {statistics.median(times):9.1f} "
            f"{statistics.mean(times):8.1f} {max(times):8.1f} {nodes:10.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
