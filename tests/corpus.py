"""Positions that several tests share: random, but the same for everybody and every run."""

from __future__ import annotations

import random

import arrastre

CARDS = [figure + suit for suit in "OCEB" for figure in "1234567SCR"]
WORTH = {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2}
HAND = 6


def random_positions(
    count: int, *, seed: int, draws: int = 0, players: int = 4, ruleset: str = "aragones"
) -> list[arrastre.Position]:
    """Positions at the start of a trick with six cards a hand and ``draws`` draw tricks left, every card known.

    Tricks and points so far are split between the sides at random.
    """
    rng = random.Random(seed)
    positions = []
    for _ in range(count):
        pack = rng.sample(CARDS, len(CARDS))
        hands = [pack[seat * HAND : (seat + 1) * HAND] for seat in range(players)]
        stock = pack[players * HAND : players * (HAND + draws)]
        gone = pack[players * (HAND + draws) :]
        points = sum(WORTH.get(card[0], 0) for card in gone)
        made = rng.randint(0, points)
        played = (len(CARDS) - players * HAND) // players - draws
        won = rng.randint(0, played)
        trump = stock[-1][1] if stock else rng.choice("OCEB")
        positions.append(
            arrastre.Position.from_dict(
                {
                    "ruleset": ruleset,
                    "rules": {"deck": "spanish"},
                    "players": players,
                    "trump": trump,
                    "hands": [{"cards": hand} for hand in hands],
                    "stock": stock,
                    "leader": rng.randrange(players),
                    "points": [made, points - made],
                    "cardPoints": [made, points - made],
                    "tricks": [won, played - won],
                }
            )
        )
    return positions
