"""Exact values with draw tricks left: time and nodes a position, one thread, beside bridge endings by DDS.

    pip install "arrastre[bench]"
    python benchmarks/draw.py [--whole]

``--whole`` adds whole deals from the first card, their value alone: some minutes. The last column is the median over
what DDS takes for a bridge ending of six cards, every card valued, in the same run: the two take turns, so that a
machine that is slow, or busy with something else, is so for both.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

import arrastre
from arrastre.game import Want
from corpus import random_positions
from rivals import bridge_round

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
ENDINGS, CARDS = 2000, 6


def main() -> None:
    bridge = bridge_round(ENDINGS, CARDS)
    head = f"{'players':>7} {'draws left':>10} {'wanted':>7} {'positions':>9} {'MiB':>5}"
    print(f"{head} {'median ms':>9} {'mean':>8} {'max':>8} {'nodes':>10} {'x DDS':>7}")
    for players, draws, count, want, memory in CASES + WHOLE * ("--whole" in sys.argv[1:]):
        positions = random_positions(count, seed=3, draws=draws, players=players)
        rounds = 1 if draws > 2 and players == MOST_PLAYERS else ROUNDS
        # Of a few rounds the least of each position, and of DDS: the machine may be doing something else beside.
        runs, rival = [], []
        for _ in range(rounds):
            rival.append(1e3 * bridge() / ENDINGS)
            runs.append(
                [
                    arrastre.solve_many([position], want=want, memory_mb=memory, nodes=10**12)[0]
                    for position in positions
                ]
            )
            rival.append(1e3 * bridge() / ENDINGS)
        times = [1e3 * min(each.seconds for each in one) for one in zip(*runs, strict=True)]
        nodes = statistics.median(each.nodes for each in runs[0])
        print(
            f"{players:7} {draws:10} {want:>7} {count:9} {memory:5} {statistics.median(times):9.1f} "
            f"{statistics.mean(times):8.1f} {max(times):8.1f} {nodes:10.0f} "
            f"{statistics.median(times) / min(rival):7.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
