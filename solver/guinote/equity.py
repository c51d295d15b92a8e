"""What a carried score is worth: the chance to win the game in the deals to come, and the coto in the games to come.

The chances come from self-play: by the policy while cards are drawn, then exactly for points (benchmarks/equity.py
builds the table and says how). They are for two sides that play like that and alike, and that play for points: nobody
in them plays safe with a lead. There is a table for each named ruleset and number of players.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arrastre.guinote.rules import MAX_POINTS, Ruleset, differences
from arrastre.guinote.scoring import fixed_deals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from arrastre.game import Beyond

#: Chances are stored as whole numbers of this share.
SCALE: Final = 65535


@cache
def _stored() -> dict[str, NDArray[Any]]:
    with resources.files("arrastre.guinote").joinpath("equity.npz").open("rb") as file, np.load(file) as held:
        return dict(held)


@cache
def about() -> dict[str, Any]:
    """Where the table comes from: seed, version, a mark of the way of playing, and for each row the number of deals,
    the standard error (root mean square) and the largest, and the chance of the side that leads a first deal."""
    facts = json.loads(str(_stored()["about"]))
    assert isinstance(facts, dict)
    return facts


@lru_cache(maxsize=16)
def leaders_table(name: str, players: int) -> NDArray[np.float64]:
    """The chance of the side that leads the next deal to win the game, ``[its carried score, its rivals']``.

    A square array for scores below the target of a named ruleset, in vueltas.
    """
    table = _stored()[f"{name}-{players}"] / SCALE
    table.setflags(write=False)
    return table


def win_chance(rules: Ruleset, own: int, rivals: int, leads: bool | None, *, vueltas: bool = True) -> float:
    """The chance of a side to win the game before a deal, from what it and its rivals carry.

    ``leads``: whether it leads that deal, ``None`` if that is not known. Without ``vueltas`` it is a game's first
    deal, in which nothing is carried.
    """
    if leads is None:
        either = (win_chance(rules, own, rivals, leads, vueltas=vueltas) for leads in (True, False))
        return sum(either) / 2
    if not leads:
        return 1 - win_chance(rules, rivals, own, True, vueltas=vueltas)
    if not vueltas:
        return float(about()["rows"][f"{rules.name}-{rules.players}"]["fresh"])
    equity = _leads(rules)
    return float(equity[min(own, len(equity) - 1), min(rivals, len(equity) - 1)])


@lru_cache(maxsize=64)
def vueltas_equity(rules: Ruleset) -> NDArray[np.float64]:
    """The chance that a side wins a game that goes on with ``[own total, rivals' total]`` carried, whoever leads.

    A square array for totals up to the target and beyond; totals that it does not reach count as its last. Who leads
    the next deal is not known in the middle of one: both are taken for equally likely. Rules with single fields
    overridden are taken for the ruleset that they are made from (see :func:`row_for`), scores counted by what they lack
    to the target.
    """
    leads = _leads(rules)
    equity = (leads + 1 - leads.T) / 2
    equity.setflags(write=False)
    return equity


@lru_cache(maxsize=64)
def _leads(rules: Ruleset) -> NDArray[np.float64]:
    """The same for the side that leads. A side with the target has won, of two the one that leads: where a deal is
    reckoned from there, both scores are below."""
    table = leaders_table(rules.name, rules.players)
    totals = np.arange(max(rules.target, MAX_POINTS) + 1)
    within = np.clip(len(table) - rules.target + totals, 0, len(table) - 1)
    equity = table[np.ix_(within, within)]
    equity[:, rules.target :] = 0.0
    equity[rules.target :, :] = 1.0
    equity[rules.target :, rules.target :] = 0.5
    equity.setflags(write=False)
    return equity


def row_for(rules: Ruleset) -> Beyond:
    """Whether there is a table for these very rules, or they are taken for the ruleset that they are made from."""
    return "base row" if differences(rules) else "own row"


def coto_equity(rules: Ruleset) -> NDArray[np.float64]:
    """The chance that a side wins the coto between two games, ``[games that it has won, games of its rivals]``.

    Each game to come is taken to be even, and independent of the others. Raises ``ValueError`` for a coto of so many
    deals, in which no games are won.
    """
    needed = rules.games_per_coto
    if fixed_deals(rules) is not None or not isinstance(needed, int):
        raise ValueError("a coto of so many deals is no matter of games won")
    equity = np.full((needed + 1, needed + 1), np.nan)
    equity[needed, :needed], equity[:needed, needed] = 1.0, 0.0
    for own in reversed(range(needed)):
        for rivals in reversed(range(needed)):
            equity[own, rivals] = (equity[own + 1, rivals] + equity[own, rivals + 1]) / 2
    return equity


def coto_chance(rules: Ruleset, won: int, lost: int, game: float) -> float:
    """The chance to win the coto in the middle of a game that is won with a chance of ``game``."""
    equity = coto_equity(rules)
    return float(game * equity[won + 1, lost] + (1 - game) * equity[won, lost + 1])
