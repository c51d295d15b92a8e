"""Exact endings against the public solvers of this field, in one run on one machine.

    pip install "arrastre[bench]"
    python benchmarks/endings.py            about three minutes
    python benchmarks/endings.py --quick    about half a minute, for a first look

Ours: random four-player arrastre positions with six cards each, every legal action valued, parsed beforehand, one
thread, through ``solve_many``. Theirs: bridge endings of six cards, all cards valued, by DDS (the library in the
endplay wheel, one thread, batches of 200), and Belote positions with six cards each, all cards valued, by colver.
The three take turns, so that a drift of the machine's speed meets them all; figures are medians of the rounds. On a
machine that is busy with something else nothing is reported.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from typing import Any

import arrastre
from rivals import BUSY, belote_round, bridge_round, idle_share

FIGURES, SUITS = "1234567SCR", "OCEB"
WORTH = {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2}
CARDS = [figure + suit for suit in SUITS for figure in FIGURES]
HAND = 6
# Endings so short that DDS spends its time on setting up.
SETUP = 2


def arrastre_position(rng: random.Random, cantes: bool) -> arrastre.Position:
    """Six random cards each, the cards gone split between the sides at random; cantes all open, or all sung before."""
    pack = rng.sample(CARDS, len(CARDS))
    gone = sum(WORTH.get(card[0], 0) for card in pack[4 * HAND :])
    made, won = rng.randint(0, gone), rng.randint(0, 4)
    return arrastre.Position.from_dict(
        {
            "trump": rng.choice(SUITS),
            "hands": [{"cards": pack[seat * HAND : seat * HAND + HAND]} for seat in range(4)],
            "leader": rng.randrange(4),
            "points": [made, gone - made],
            "cardPoints": [made, gone - made],
            "tricks": [won, 4 - won],
            "sung": [] if cantes else [{"seat": 0, "suit": suit, "trick": 1} for suit in SUITS],
        }
    )


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="fewer positions and rounds")
    parser.add_argument("--busy-anyway", action="store_true", help="report on a busy machine too, and say so")
    arguments = parser.parse_args()
    rounds, count = (3, 1000) if arguments.quick else (5, 10000)
    idle = idle_share()
    if idle < 1 - BUSY:
        note = f"this machine is busy ({100 * idle:.0f} % idle)"
        if not arguments.busy_anyway:
            sys.exit(f"{note}: times would mean nothing; nothing measured")
        print(f"NOT TO BE QUOTED: {note}")

    rng = random.Random(1)
    ours = {
        "cantes open": [arrastre_position(rng, cantes=True) for _ in range(count)],
        "no cantes left": [arrastre_position(rng, cantes=False) for _ in range(count)],
    }
    wants: list[tuple[str, dict[str, Any]]] = [
        ("every action", {"want": "all"}),
        ("value alone", {"want": "value"}),
        ("game, value alone", {"want": "value", "objective": "game"}),
        ("can it win", {"want": "value", "objective": "game", "at_least": 1}),
    ]
    cases = [(name, what, positions, options) for name, positions in ours.items() for what, options in wants]
    dds_all, dds_setup = bridge_round(count, HAND), bridge_round(count, SETUP)
    belote_count = count // 10
    colver_all = belote_round(belote_count)
    dds: list[float] = []
    setup: list[float] = []
    colver: list[float] = []
    times: dict[tuple[str, str], list[float]] = {}
    each: dict[tuple[str, str], tuple[list[float], list[int]]] = {}
    overheads: list[float] = []
    two: list[float] = []
    for _ in range(rounds):
        dds.append(1e3 * dds_all() / count)
        setup.append(1e3 * dds_setup() / count)
        for name, what, positions, options in cases:
            begun = time.perf_counter()
            solutions = arrastre.solve_many(positions, threads=1, **options)
            times.setdefault((name, what), []).append(1e3 * (time.perf_counter() - begun) / count)
            each[name, what] = ([1e3 * s.seconds for s in solutions], [s.nodes for s in solutions])
            overheads.append(1e3 * times[name, what][-1] - 1e3 * statistics.mean(each[name, what][0]))
        begun = time.perf_counter()
        arrastre.solve_many(ours["cantes open"], threads=2)
        two.append(1e3 * (time.perf_counter() - begun) / count)
        colver.append(1e3 * colver_all() / belote_count)

    rival, less = statistics.median(dds), statistics.median(dds) - statistics.median(setup)
    belote = statistics.median(colver)
    print(f"six cards a hand, four hands, one thread; {count} positions, median of {rounds} rounds; ms a position")
    print(f"{'DDS, bridge, all cards':38} {rival:.4f}   (less its set-up, two-card endings: {less:.4f})")
    print(f"{'colver, Belote, all cards':38} {belote:.4f}")
    print(
        f"{'arrastre':38} {'mean':>7} {'median':>7} {'p99':>7} {'nodes':>7} {'x DDS':>6} {'x less':>6} {'x colver':>8}"
    )
    for (name, what), seconds in times.items():
        mean = statistics.median(seconds)
        single, nodes = each[name, what]
        print(
            f"  {what + ', ' + name:36} {mean:7.4f} {percentile(single, 0.5):7.4f} {percentile(single, 0.99):7.4f} "
            f"{statistics.mean(nodes):7.0f} {mean / rival:6.2f} {mean / less:6.2f} {mean / belote:8.3f}"
        )
    one = statistics.median(times["cantes open", "every action"])
    print(f"two threads: {one / statistics.median(two):.2f} times as many positions a second as one")
    print(f"Python's overhead: {statistics.median(overheads):.1f} µs a position")


if __name__ == "__main__":
    main()
