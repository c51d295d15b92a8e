"""Worlds: how long it takes to count them, to find the marginals, and to draw 100 000, on one thread.

python benchmarks/worlds.py

Counted are the cards that a seat of a four-player deal does not see: at the first trick; with a card barred from each
hand; and with every hand barred from something of its own, and by the draw at which it can have got what it holds.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from functools import partial

from arrastre.worlds import Worlds

Problem = tuple[list[int], list[int]]
DRAWN = 100_000
ROUNDS = 5
HANDS, HAND, STOCK = 3, 6, 15


def first_trick() -> Problem:
    places = HANDS + STOCK
    return [2**places - 1] * (HANDS * HAND + STOCK), [HAND] * HANDS + [1] * STOCK


def one_barred() -> Problem:
    allowed, capacities = first_trick()
    for hand in range(HANDS):
        allowed[hand] &= ~(1 << hand)
    return allowed, capacities


def every_span(draws: int, seed: int) -> Problem:
    """Hands of which each card drawn is a place of its own, some cards known to have come late or to one owner."""
    rng = random.Random(seed)
    stock = STOCK - HANDS * draws
    capacities = ([HAND] + [1] * draws) * HANDS + [1] * stock
    hands = [[hand * (draws + 1) + draw for draw in range(draws + 1)] for hand in range(HANDS)]
    truth = [place for place, room in enumerate(capacities) for _ in range(room)]
    allowed = []
    for true in truth:
        where = 0
        while not where >> true & 1:
            since = [rng.choice((0, 0, 0, rng.randrange(draws + 2))) for _ in hands]
            spans = [sum(1 << place for place in hand[cut:]) for hand, cut in zip(hands, since, strict=True)]
            where = sum(spans) | sum(1 << place for place in range(len(capacities) - stock, len(capacities)))
        owner = next((span for span in spans if span >> true & 1), None)
        allowed.append(owner if owner is not None and rng.random() < 0.4 else where)
    return allowed, capacities


def seconds(call: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def main() -> None:
    cases = {
        "first trick": first_trick(),
        "one card barred from each hand": one_barred(),
        "two draws, every span": every_span(2, 1),
        "four draws, every span": every_span(4, 1),
    }
    print(f"median of {ROUNDS} rounds, one thread")
    print(f"{'':32} {'worlds':>9} {'count ms':>9} {'marginals ms':>12} {'100 000 drawn s':>15} {'worlds/s':>10}")
    for name, problem in cases.items():
        worlds = Worlds(*problem)
        counted, marginals = seconds(partial(Worlds, *problem)), seconds(worlds.marginals)
        drawn = seconds(partial(worlds.sample, 1, 0, DRAWN))
        print(
            f"{name:32} {worlds.count:9.2e} {1e3 * counted:9.2f} {1e3 * marginals:12.2f} {drawn:15.3f} "
            f"{DRAWN / drawn:10.0f}"
        )


if __name__ == "__main__":
    main()
