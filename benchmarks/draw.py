"""Exact values with draw tricks left: time and nodes a position, every action valued, one thread.

python benchmarks/draw.py
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

# A neighbour's name would hide the package.
sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != Path(__file__).resolve().parent]
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

import arrastre  # noqa: E402
from corpus import random_positions  # noqa: E402

CASES = ((4, 1, 40), (4, 2, 10), (2, 3, 40), (2, 4, 20))


def main() -> None:
    print(f"{'players':>7} {'draws left':>10} {'positions':>9} {'median ms':>9} {'mean':>8} {'max':>8} {'nodes':>9}")
    for players, draws, count in CASES:
        positions = random_positions(count, seed=3, draws=draws, players=players)
        solutions = [arrastre.solve(position, line=False) for position in positions]
        times = [1e3 * each.seconds for each in solutions]
        nodes = statistics.median(each.nodes for each in solutions)
        print(
            f"{players:7} {draws:10} {count:9} {statistics.median(times):9.1f} {statistics.mean(times):8.1f} "
            f"{max(times):8.1f} {nodes:9.0f}"
        )


if __name__ == "__main__":
    main()
