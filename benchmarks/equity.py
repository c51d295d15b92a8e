"""Build the table of what carried scores are worth (solver/guinote/equity.npz) from self-play.

python benchmarks/equity.py [--deals N] [--seed K] [--rows aragones/4,...] [--budget SECONDS] [--work FOLDER]
                            [--out FILE]

Whole deals are played, by the policy while cards are drawn and exactly, for points, after that; what brings points is
noted in order. By a ruleset's own end rules every score that two sides can carry is then judged on the same deals. A
deal that does not end the game leads to another one, from the score that it left, led by whoever leads next: a fixed
point over the table. As every score is judged on the same deals, having more never looks worse by chance.

What has been played is kept in the work folder, and a run that was interrupted, or whose budget was spent, goes on
where it stopped. The table depends on the deals and the seed alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from arrastre import __version__
from arrastre.guinote import kernel, playout
from arrastre.guinote.equity import SCALE
from arrastre.guinote.family import pack_rules
from arrastre.guinote.rules import RULESETS, Ruleset, row

BLOCK = 1000
#: Parts of the deals, by which errors are told.
FOLDS = 20
#: A deal that is dealt again and again: so many times are as good as for ever.
ROUNDS = 64
LANE = 16
LANES, RANKS = 4, 10
GAINS = 32
TRICK, LAST, CANTE, TUTE, CAPOTE = range(1, 6)
#: Later than any gain.
NEVER = GAINS
BOTH = 0b11
NAMES = tuple(lane * LANE + rank for lane in range(LANES) for rank in range(RANKS))
SIGNED_DEALS = 200
OUT = Path(__file__).resolve().parents[1] / "solver" / "guinote" / "equity.npz"

Ints = NDArray[np.int16]
Bools = NDArray[np.bool_]


@dataclass
class Deals:
    """Deals as they went: ``gains[deal, i]`` is (kind, side, points); points by side; who won the last trick."""

    gains: Ints
    points: NDArray[np.int64]
    last: Bools


@dataclass
class Sums:
    """What the deals of a row add up to; the side that leads has its score first.

    ``wins[a, b]`` are deals in which it wins the game from a against b; ``again[a, b]`` deals to be dealt again;
    ``left[l, p, q]`` deals after which the game may go on, by who leads the next (it: 0, its rivals: 1) and the points
    that both have made. ``fresh`` has the first two for a first deal, ``fresh_left`` the third.
    """

    deals: int
    wins: NDArray[np.int64]
    again: NDArray[np.int64]
    left: NDArray[np.int64]
    fresh: NDArray[np.int64]
    fresh_left: NDArray[np.int64]

    @staticmethod
    def nothing(target: int) -> Sums:
        square, left = (target, target), (2, GREATEST + 1, GREATEST + 1)
        tables = [np.zeros(shape, np.int64) for shape in (square, square, left, (2,), left)]
        return Sums(0, *tables)

    def add(self, other: Sums) -> None:
        self.deals += other.deals
        for name in ("wins", "again", "left", "fresh", "fresh_left"):
            getattr(self, name).__iadd__(getattr(other, name))


#: No deal brings a side more: 120 in cards, 10 for the last trick, 100 in cantes, 40 for a tute, 100 for a capote.
GREATEST = 370


def play(rules: Ruleset, seed: int, block: int, number: int = BLOCK) -> Deals:
    """Deals of one block, all led by seat 0."""
    chance = Random(f"equity/{seed}/{rules.name}/{rules.players}/{block}")
    packed, setups = pack_rules(rules), []
    dealt = rules.players * rules.hand_size
    for _ in range(number):
        # The trumps are lane 0 here, whichever suit they are: the muestra is one of them.
        muestra = chance.randrange(RANKS)
        cards = [card for card in chance.sample(range(len(NAMES)), len(NAMES)) if card != muestra]
        hands = tuple(
            tuple(cards[rules.hand_size * seat : rules.hand_size * (seat + 1)]) for seat in range(rules.players)
        )
        stock = (*cards[dealt:], muestra)
        setups.append(
            kernel.pack(
                packed, NAMES, hands, stock, (), 0, 0, 0b1111, 0, False, False, False, False, 0, BOTH,
                (0, 0), (0, 0), (0, 0),
            )
        )  # fmt: skip
    results, gains = np.zeros((number, 7), np.int16), np.zeros((number, GAINS, 3), np.int16)
    playout.play_out(setups, (0, 0), 6, seed, kernel.Context(16), results, gains)
    return Deals(gains, results[:, :2].astype(np.int64), (results[:, 6] & 1).astype(np.bool_))


def first_reached(
    deals: Deals, rules: Ruleset, vueltas: bool, side: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """By deal and carried score, the number of the gain with which a side wins the game at once, or NEVER; with what
    it has at the end, and of that what counts towards the minimum."""
    kind, mine = deals.gains[:, :, 0], deals.gains[:, :, 1] == side
    points = np.where(mine, deals.gains[:, :, 2], 0).astype(np.int64)
    counting = (kind == TRICK) | ((kind == LAST) & rules.malas_counts_last_trick)
    made, counted = points.cumsum(axis=1), np.where(counting, points, 0).cumsum(axis=1)
    # The last trick's cards, bonus and capote come together, with the last of them.
    at = mine & (kind > 0)
    at[:, :-1] &= ~np.isin(kind[:, 1:], (LAST, CAPOTE))
    minimum = 0 if vueltas else rules.malas_minimum
    if rules.claim == "at_risk" or (vueltas and rules.vueltas == "at_once"):
        reached = np.where(at & (counted >= minimum), made, -1)
    elif vueltas and rules.vueltas == "won_trick":
        reached = np.where(at & np.isin(kind, (TRICK, LAST, CAPOTE)), made, -1)
    else:
        reached = np.full(made.shape, -1)
    if rules.tute == "wins":
        reached[mine & (kind == TUTE)] = 2 * GREATEST
    best = np.maximum.accumulate(reached, axis=1)
    lacking = rules.target - np.arange(rules.target if vueltas else 1)
    return (best[:, :, None] < lacking).sum(axis=1), made[:, -1], counted[:, -1]


def judge(deals: Deals, rules: Ruleset, vueltas: bool) -> tuple[Bools, Bools, Bools]:
    """For each deal, and each score of side 0 and of side 1: whether side 0 wins the game; whether the deal is to be
    dealt again; whether the game goes on with what has been made."""
    (when0, made0, counted0), (when1, made1, counted1) = (first_reached(deals, rules, vueltas, side) for side in (0, 1))
    scores = np.arange(rules.target if vueltas else 1)
    minimum = 0 if vueltas else rules.malas_minimum
    below0, below1 = (counted0 < minimum)[:, None], (counted1 < minimum)[:, None]
    total0, total1 = made0[:, None] + scores, made1[:, None] + scores
    over0 = ((total0 >= rules.target) & ~below0)[:, :, None]
    over1 = ((total1 >= rules.target) & ~below1)[:, None, :]
    last = ~deals.last[:, None, None]
    if rules.both_over == "last_trick":
        both, equal = np.broadcast_to(last, (*last.shape[:2], 1)), np.zeros((1, 1, 1), np.bool_)
    else:
        both = total0[:, :, None] > total1[:, None, :]
        equal = total0[:, :, None] == total1[:, None, :]
    won = (over0 & ~over1) | (over0 & over1 & both)
    again = over0 & over1 & equal
    on = ~over0 & ~over1
    if rules.malas_failure == "lose":
        fails = (below0 != below1)[:, :, None]
        won, again, on = np.where(fails, below1[:, :, None], won), again & ~fails, on & ~fails
    if rules.capote == "wins":
        side = np.where(deals.gains[:, :, 0] == CAPOTE, deals.gains[:, :, 1] + 1, 0).max(axis=1)[:, None, None]
        won, again, on = np.where(side > 0, side == 1, won), again & (side == 0), on & (side == 0)
    open_end = (when0[:, :, None] == NEVER) & (when1[:, None, :] == NEVER)
    won = np.where(open_end, won, when0[:, :, None] < when1[:, None, :])
    return won, again & open_end, on & open_end


def add_up(deals: Deals, rules: Ruleset) -> Sums:
    number, target = len(deals.points), rules.target
    sums = Sums.nothing(target)
    sums.deals = number
    # Side 0 leads. The next deal is led by the seat after its dealer: after seat 0, or after the last trick's winner.
    rotating = rules.next_dealer == "rotate"
    leader = np.ones(number, np.int64) if rotating else 1 - deals.last.astype(np.int64)
    won, again, on = judge(deals, rules, vueltas=True)
    sums.wins += won.sum(axis=0)
    sums.again += again.sum(axis=0)
    made = deals.points
    within = on[:, 0, 0]
    np.add.at(sums.left, (leader[within], made[within, 0], made[within, 1]), 1)
    won, again, on = judge(deals, rules, vueltas=False)
    sums.fresh += [won.sum(), again.sum()]
    within = on[:, 0, 0]
    np.add.at(sums.fresh_left, (leader[within], made[within, 0], made[within, 1]), 1)
    return sums


def solve(sums: Sums) -> tuple[NDArray[np.float64], float]:
    """The table of the side that leads, and its chance in a first deal, from what the deals led by it came to."""
    target, deals = len(sums.wins), sums.deals
    steps = [(leader, int(p), int(q)) for leader, p, q in np.argwhere(sums.left) if max(p, q) < target]
    counts = [int(sums.left[step]) for step in steps]
    table = np.full((target, target), 0.5)
    for _ in range(ROUNDS):
        found = sums.wins + sums.again * (1 - table.T)
        for (leader, p, q), count in zip(steps, counts, strict=True):
            then = 1 - table.T if leader else table
            found[: target - p, : target - q] += count * then[p:, q:]
        found /= deals
        settled = bool(np.abs(found - table).max() < 1e-9)
        table = found
        if settled:
            break
    chance = float(sums.fresh[0])
    for leader, p, q in np.argwhere(sums.fresh_left):
        going_on = max(p, q) < target
        then = (1 - table[q, p] if leader else table[p, q]) if going_on else p >= target
        chance += int(sums.fresh_left[leader, p, q]) * float(then)
    # A deal that is dealt again is led by the other side: x = chance + again * (1 - x).
    repeated = float(sums.fresh[1]) / deals
    return table, (chance / deals + repeated) / (1 + repeated)


def errors(folds: Sequence[Sums]) -> NDArray[np.float64]:
    """Standard errors of the table, from tables made of parts of the deals. They are estimates themselves."""
    tables = np.array([solve(each)[0] for each in folds if each.deals])
    return np.asarray(tables.std(axis=0, ddof=1) / len(tables) ** 0.5)


def load(path: Path, target: int) -> tuple[int, list[Sums]]:
    """How many blocks have been played, and their sums by part."""
    if not path.exists():
        return 0, [Sums.nothing(target) for _ in range(FOLDS)]
    with np.load(path) as held:
        parts = zip(*(held[each.name] for each in fields(Sums)), strict=True)
        return int(held["blocks"]), [Sums(int(deals), *tables) for deals, *tables in parts]


def save(path: Path, blocks: int, folds: Sequence[Sums]) -> None:
    tables = {each.name: np.array([getattr(fold, each.name) for fold in folds]) for each in fields(Sums)}
    part = path.with_suffix(".part.npz")
    np.savez_compressed(part, blocks=blocks, **tables)
    part.replace(path)


def signature(seed: int) -> str:
    """What tells this way of playing from another."""
    digest = hashlib.sha256()
    for players in (4, 2):
        digest.update(play(row("aragones", players), seed, 0, SIGNED_DEALS).gains.tobytes())
    return digest.hexdigest()[:16]


def main() -> None:
    every = [f"{name}/{players}" for name in RULESETS for players in (4, 2)]
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--deals", type=int, default=100_000, help="for each row, in blocks of 1000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", default=",".join(every))
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds after which no block is begun")
    parser.add_argument("--work", type=Path, default=Path("build", "equity"))
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + asked.budget
    tables: dict[str, NDArray[np.uint16]] = {}
    facts: dict[str, dict[str, float | int]] = {}
    wanted = -(-asked.deals // BLOCK)
    for name in asked.rows.split(","):
        ruleset, _, players = name.partition("/")
        rules = row(ruleset, int(players))
        path = asked.work / f"{ruleset}-{players}-{asked.seed}-{wanted}.npz"
        blocks, folds = load(path, rules.target)
        for block in range(blocks, wanted):
            if time.monotonic() >= end:
                break
            folds[block % FOLDS].add(add_up(play(rules, asked.seed, block), rules))
            blocks = block + 1
            if blocks % 10 == 0 or blocks == wanted:
                save(path, blocks, folds)
                print(f"\r{name}: {blocks}/{wanted} ", end="", file=sys.stderr)
        print(file=sys.stderr)
        if blocks < wanted:
            save(path, blocks, folds)
            print(f"{name}: {blocks} of {wanted} blocks played, go on with the same command")
            return
        sums = Sums.nothing(rules.target)
        for each in folds:
            sums.add(each)
        table, fresh = solve(sums)
        tables[f"{ruleset}-{players}"] = np.rint(table * SCALE).astype(np.uint16)
        error = errors(folds)
        facts[f"{ruleset}-{players}"] = {
            "deals": sums.deals,
            "error": round(float((error**2).mean() ** 0.5), 5),
            "largestError": round(float(error.max()), 5),
            "fresh": round(fresh, 5),
        }
        print(f"{name}: {sums.deals} deals, leader at 0-0: {fresh:.4f} first deal, {table[0, 0]:.4f} in vueltas")
    about = {"seed": asked.seed, "version": __version__, "play": signature(asked.seed), "rows": facts}
    np.savez_compressed(asked.out, about=np.array(json.dumps(about)), **tables)


if __name__ == "__main__":
    main()
