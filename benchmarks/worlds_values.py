"""Worlds a second, by trick and view, every card valued: one thread, random deals.

python benchmarks/worlds_values.py [worlds a deal]
"""

from __future__ import annotations

import sys
import time
from random import Random

import numpy as np

from arrastre.guinote import kernel, playout
from arrastre.guinote.equity import vueltas_equity
from arrastre.guinote.family import pack_rules
from arrastre.guinote.rules import row

DEALS = 12
LANE = 16
#: (players, draw tricks left, cards a hand, tricks left where exact search takes over, objective)
CASES = (
    *((4, draws, 6, 3, 0) for draws in (4, 3, 2, 1)),
    *((4, 0, cards, 6, 0) for cards in (6, 5, 4, 3)),
    (4, 4, 6, 3, 1),
    (4, 1, 6, 7, 0),
    *((2, draws, 6, 6, 0) for draws in (14, 7, 1)),
    *((2, draws, 6, 6 + draws, 0) for draws in (1, 2, 3)),
)

Question = tuple[bytes, list[int], bytes, bytes, "np.ndarray[tuple[int, int], np.dtype[np.uint8]]"]


def question(rng: Random, players: int, draws: int, cards: int, number: int) -> Question:
    """A deal on its way as seat 0 sees it about to lead: the packed position, the cards of its hand, the numbers of
    the unseen cards, their places, and worlds drawn with equal chances."""
    rules = row("aragones", players)
    names = tuple(lane * LANE + rank for lane in range(4) for rank in range(10))
    left = players * (cards + draws)
    # Card 0..9 is a trump; the last of the stock has to be one.
    deck = rng.sample(range(40), 40)
    if draws:
        trump = next(index for index, card in enumerate(deck) if card < 10)
        deck[trump], deck[left - 1] = deck[left - 1], deck[trump]
    hand, muestra = deck[:cards], deck[left - 1 : left] if draws else []
    unseen = [names[card] for card in deck[cards : left - len(muestra)]]
    gone = 40 - left
    base = kernel.pack(
        pack_rules(rules),
        names,
        (tuple(hand), *((),) * (players - 1)),
        (*(-1,) * (draws * players - 1), *muestra) if draws else (),
        (),
        0,
        0,
        0b1111,
        0,
        False,
        False,
        False,
        gone > 0,
        3 if gone > players else 1 if gone else 0,
        0,
        (gone, gone),
        (gone, gone),
        (0, 0),
    )
    room = [seat for seat in range(1, players) for _ in range(cards)]
    room += [LANE + index for index in range(draws * players - 1)]
    targets = sorted({*room})
    places = [targets.index(each) for each in room]
    worlds = np.array([rng.sample(places, len(places)) for _ in range(number)], np.uint8)
    return base, [names[card] for card in hand], bytes(unseen), bytes(targets), worlds


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 32
    print(f"{'players':>7} {'draws':>5} {'cards':>5} {'exact':>5} {'objective':>9} {'worlds/s':>9} {'nodes/world':>11}")
    context = kernel.Context(16)
    for players, draws, cards, tricks, objective in CASES:
        rng = Random(5)
        seconds, nodes = 0.0, 0
        for _ in range(DEALS):
            base, hand, unseen, targets, worlds = question(rng, players, draws, cards, number)
            actions = [(0, card, 0) for card in hand]
            values = np.empty((number, len(actions)))
            begun = time.perf_counter()
            nodes += playout.world_values(
                base, unseen, targets, worlds, actions, 0, tricks > 6, tricks, objective,
                vueltas_equity(row("aragones", 4)), context, 0.0, values,
            )  # fmt: skip
            seconds += time.perf_counter() - begun
        total = DEALS * number
        word = ("points", "game")[objective]
        print(f"{players:7} {draws:5} {cards:5} {tricks:5} {word:>9} {total / seconds:9.0f} {nodes / total:11.0f}")


if __name__ == "__main__":
    main()
