"""Duplicate matches: the same deals twice, seats swapped, one player on each side.

python benchmarks/duel.py ONE OTHER [--deals N] [--players 4|2] [--worlds N] [--seed K] [--jobs N] [--results FILE]

Players: random, greedy, policy, informed, clairvoyant, cheat (sees all cards), and informed:16 for another number of
worlds. Everybody declares by the policy; players differ in the cards they choose. A result is what ONE made more than
OTHER in the two deals of a pair, halved: points a deal. Each finished pair is a line of the results file, and a run
that was interrupted goes on where it stopped. The same seed plays the same deals, whatever the jobs.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from random import Random

# A neighbour's name would hide the package.
sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != Path(__file__).resolve().parent]

import arrastre  # noqa: E402
from arrastre.cards import CARD_TEXTS, Deck, suit_text  # noqa: E402
from arrastre.guinote.family import FAMILY  # noqa: E402
from arrastre.guinote.knowledge import History  # noqa: E402
from arrastre.guinote.position import LEAD, PASS, PLAY, GuinotePosition  # noqa: E402

Chooser = Callable[[GuinotePosition, History], arrastre.Action]


def at_random(rng: Random, position: GuinotePosition, _history: History) -> arrastre.Action:
    return rng.choice(cards(position))


def greedy(position: GuinotePosition, _history: History) -> arrastre.Action:
    """The highest card if it takes the trick, otherwise the one of the fewest points, of these the weakest."""
    rules, trump = position.rules, position.trump
    legal = position.legal_cards()
    worth = sorted(legal, key=lambda card: (rules.values[card], card // 10 == trump, rules.strengths[card]))
    for card in sorted(legal, key=lambda card: (card // 10 == trump, rules.strengths[card]), reverse=True):
        place = len(position.trick)
        from_here = position.put_down(card) if place + 1 < position.players else None
        taken = from_here.winning() == place if from_here else position.put_down(card).leader == position.seat
        if taken:
            return named(position, card)
    return named(position, worth[0])


def policy(position: GuinotePosition, _history: History) -> arrastre.Action:
    return FAMILY.policy(position, position.seat)


def estimator(view: str, worlds: int, seed: int, position: GuinotePosition, history: History) -> arrastre.Action:
    legal = cards(position)
    if len(legal) == 1:
        return legal[0]
    seat = position.seat
    seen = history.knowledge(history.view(position, seat), seat)
    advice = arrastre.best(seen, view=view, worlds=worlds, seed=seed)  # type: ignore[arg-type]
    return next(each.action for each in advice.actions if each.action in legal)


def cheat(position: GuinotePosition, _history: History) -> arrastre.Action:
    draws = len(position.stock) // position.players
    if draws > 1:
        return FAMILY.policy(position, position.seat)
    legal = cards(position)
    return next(each for each in arrastre.solve(position, want="best", line=False).best if each in legal)


def cards(position: GuinotePosition) -> list[arrastre.Action]:
    return [named(position, card) for card in position.legal_cards()]


def named(position: GuinotePosition, card: int) -> arrastre.Action:
    return arrastre.Action(CARD_TEXTS[position.rules.deck][card], position.seat)


def player(name: str, worlds: int, seed: int) -> Chooser:
    kind, _, number = name.partition(":")
    if kind in ("informed", "clairvoyant"):
        return partial(estimator, kind, int(number or worlds), seed)
    if kind == "random":
        return partial(at_random, Random(seed))
    return {"greedy": greedy, "policy": policy, "cheat": cheat}[kind]


def deal(seed: int, players: int) -> GuinotePosition:
    chance = Random(f"duel/{seed}/{players}")
    texts = [CARD_TEXTS[Deck.SPANISH][card] for card in chance.sample(range(40), 40)]
    position = arrastre.Position.from_dict(
        {
            "players": players,
            "hands": [texts[6 * seat : 6 * seat + 6] for seat in range(players)],
            "stock": texts[6 * players :],
            "trump": texts[-1][-1],
            "leader": seed % players,
        }
    )
    assert isinstance(position, GuinotePosition)
    assert suit_text(position.trump, Deck.SPANISH) == texts[-1][-1]
    return position


def margin(position: GuinotePosition, sides: tuple[Chooser, Chooser]) -> int:
    """Points of side 0 less those of side 1 when the deal has been played."""
    history = History(position)
    while not position.finished():
        action = declaration(position)
        if action is None:
            action = sides[position.seat & 1](position, history)
        if action.action != PASS:
            history.happened(position, action, breach=False)
        after = position.apply(action)
        assert isinstance(after, GuinotePosition)
        position = after
    return position.points[0] - position.points[1]


def declaration(position: GuinotePosition) -> arrastre.Action | None:
    """What the policy declares for the side whose turn it is, a pass where it lets the moment go, or ``None``."""
    legal = {each for each in position.legal_actions() if each.action != PASS}
    for seat in {each.seat for each in legal}:
        action = FAMILY.policy(position, seat)
        if action in legal and action not in cards(position):
            return action
    return None if position.moment in (LEAD, PLAY) else arrastre.Action(PASS, position.seat)


def pair(one: str, other: str, players: int, worlds: int, seed: int) -> float:
    """What ONE makes more than OTHER over a deal and the same deal with seats swapped, a deal."""
    start = deal(seed, players)
    first = margin(start, (player(one, worlds, seed), player(other, worlds, seed)))
    second = margin(start, (player(other, worlds, seed), player(one, worlds, seed)))
    return (first - second) / 2


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("one")
    parser.add_argument("other")
    parser.add_argument("--deals", type=int, default=100)
    parser.add_argument("--players", type=int, default=4, choices=(4, 2))
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path)
    asked = parser.parse_args()
    key = [asked.one, asked.other, asked.players, asked.worlds]
    seeds = [1_000_000 * asked.seed + number for number in range(asked.deals)]
    done: dict[int, float] = {}
    if asked.results and asked.results.exists():
        # A line that was being written when the run was killed is no line.
        lines = [line for line in asked.results.read_text().splitlines(keepends=True) if line.endswith("\n")]
        asked.results.write_text("".join(lines))
        for line in lines:
            entry = json.loads(line)
            if entry["match"] == key and entry["seed"] in seeds:
                done[entry["seed"]] = entry["gain"]
    todo = [seed for seed in seeds if seed not in done]
    begun = time.monotonic()
    for number, (seed, gain) in enumerate(played(asked, todo), 1):
        done[seed] = gain
        if asked.results:
            with asked.results.open("a") as file:
                file.write(json.dumps({"match": key, "seed": seed, "gain": gain}) + "\n")
        left = (time.monotonic() - begun) / number * (len(todo) - number)
        print(f"\r{number}/{len(todo)}, {left:.0f} s left ", end="", file=sys.stderr)
    gains = [done[seed] for seed in seeds]
    mean, error = statistics.mean(gains), statistics.stdev(gains) / math.sqrt(len(gains))
    print(
        f"{asked.one} v {asked.other}, {asked.players} players, {len(gains)} pairs: {mean:+.2f} points a deal, "
        f"95 % {mean - 1.96 * error:+.2f} … {mean + 1.96 * error:+.2f}, "
        f"99 % {mean - 2.576 * error:+.2f} … {mean + 2.576 * error:+.2f}"
    )


def played(asked: argparse.Namespace, seeds: list[int]) -> Iterator[tuple[int, float]]:
    work = partial(pair, asked.one, asked.other, asked.players, asked.worlds)
    if asked.jobs == 1:
        yield from ((seed, work(seed)) for seed in seeds)
        return
    with ProcessPoolExecutor(asked.jobs) as pool:
        yield from zip(seeds, pool.map(work, seeds), strict=True)


if __name__ == "__main__":
    main()
