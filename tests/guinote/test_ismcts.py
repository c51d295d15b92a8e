"""The tree search that players are measured against."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import arrastre
from arrastre.cards import CARD_TEXTS, Deck
from arrastre.guinote import ismcts as tree
from arrastre.guinote import kernel
from arrastre.guinote.family import FAMILY, ismcts
from arrastre.guinote.position import LEAD, PASS, PLAY, GuinotePosition


def deal(seed: int, players: int) -> GuinotePosition:
    texts = [CARD_TEXTS[Deck.SPANISH][card] for card in Random(seed).sample(range(40), 40)]
    hands = [texts[6 * seat : 6 * seat + 6] for seat in range(players)]
    data = {"players": players, "hands": hands, "stock": texts[6 * players :], "trump": texts[-1][-1], "leader": 0}
    position = arrastre.Position.from_dict(data)
    assert isinstance(position, GuinotePosition)
    return position


def moments(seed: int, players: int) -> list[GuinotePosition]:
    """Where cards are played in a deal played by chance."""
    rng, position, found = Random(seed), deal(seed, players), []
    while not position.finished():
        if position.moment in (LEAD, PLAY):
            found.append(position)
        action = rng.choice(position.legal_actions())
        after = position.apply(action)
        assert isinstance(after, GuinotePosition)
        position = after
    return found


@pytest.mark.parametrize("players", [4, 2])
def test_a_legal_card_and_the_same_again(players: int) -> None:
    for position in moments(3, players):
        for style in range(3):
            chosen = ismcts(FAMILY.knowledge(position, position.seat), 100, 7, style=style)
            assert chosen in position.legal_actions()
            assert chosen.action != PASS
            assert chosen == ismcts(FAMILY.knowledge(position, position.seat), 100, 7, style=style)


def test_with_nothing_hidden_it_finds_best_play() -> None:
    agreed = tried = 0
    for seed in range(12):
        for position in moments(seed, 2)[-8:]:
            if len(position.legal_actions()) == 1:
                continue
            best = arrastre.solve(position, line=False).best
            if any(each.action.startswith(("cante", "tute")) for each in position.legal_actions()):
                continue
            tried += 1
            agreed += ismcts(FAMILY.knowledge(position, position.seat), 4000, 1, style=2) in best
    assert tried > 25
    assert agreed == tried


def test_what_does_not_fit_is_refused() -> None:
    context = kernel.Context(1)
    with pytest.raises(ValueError, match="not made by pack"):
        tree.ismcts(b"", b"", b"", np.zeros((1, 0), np.uint8), 0, 0.2, 1, context)
