"""How sure an estimate is after a second: two threads, random deals of four players, at the first and last draw trick.

python benchmarks/estimates.py [deals] [seconds]

Printed is the half-width of the 95 % interval of the difference between the leader and each action that is still in
the race (of the last one to leave it, where one is left), averaged over the deals; and how many worlds it took.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

import arrastre
from arrastre.estimate import VIEWS
from corpus import random_positions

DRAWS = (4, 3, 2, 1)


def half_width(advice: arrastre.Advice) -> float:
    others = advice.actions[1:]
    racing = [each for each in others if each.status != "worse"]
    # The last to leave the race is the one that was tried in most worlds.
    watched = racing or [max(others, key=lambda each: each.worlds)]
    return statistics.mean(1.96 * each.loss_error for each in watched)


def main() -> None:
    deals = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    print(f"{'view':>12} {'draws left':>10} {'deals':>5} {'± points':>8} {'worst':>6} {'worlds':>7} {'settled':>7}")
    for view in VIEWS:
        for draws in DRAWS:
            positions = random_positions(deals, seed=11, draws=draws)
            found = [arrastre.best(each, seat=each.seat, view=view, seconds=seconds, threads=2) for each in positions]
            widths = [half_width(each) for each in found]
            settled = sum(all(one.status != "unclear" for one in each.actions) for each in found)
            print(
                f"{view:>12} {draws:10} {deals:5} {statistics.mean(widths):8.2f} {max(widths):6.2f} "
                f"{statistics.mean(each.worlds for each in found):7.0f} {settled:7}",
                flush=True,
            )


if __name__ == "__main__":
    main()
