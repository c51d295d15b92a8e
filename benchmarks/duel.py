"""Duplicate matches: the same deals twice, seats swapped, one player on each side.

python benchmarks/duel.py ONE OTHER [--deals N] [--players 4|2] [--games] [--seed K] [--jobs N] [--budget SECONDS]
                          [--results FILE]
python benchmarks/duel.py --table FILE

Players: random; greedy; policy, the rules of thumb of the playouts; ismcts, a tree search over hidden cards;
informed and clairvoyant, the two views of ``arrastre best``; cheat, which sees all cards. ``informed:16`` looks at 16
worlds (256 unless said), ``ismcts:4000`` plays so many rounds. Everybody declares by the policy; players differ in the
cards they choose. A result is what ONE made more than OTHER in the two deals of a pair, halved: points a deal. With
``--games`` whole games are played out, each twice, from the same deals, and the result is the share that ONE won.

Each finished pair is a line of the results file, and a run that was interrupted, or whose budget was spent, goes on
where it stopped. The same seed plays the same deals, whatever the jobs. ``--table`` sets out all that a file holds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random

import arrastre
from arrastre.cards import CARD_TEXTS, FIGURES, Deck
from arrastre.guinote import scoring
from arrastre.guinote.family import FAMILY, ismcts
from arrastre.guinote.knowledge import History
from arrastre.guinote.position import LEAD, PASS, PLAY, GuinotePosition
from arrastre.guinote.rules import row

Chooser = Callable[[GuinotePosition, History], arrastre.Action]

RULESET = "aragones"
WORLDS = 256
#: By the number of players, as many rounds as take the time of 256 worlds of the informed view (docs/strength.md).
ROUNDS = {4: 4_500, 2: 5_500}
PLAYERS = ("random", "greedy", "policy", "ismcts", "informed", "clairvoyant", "cheat")


# ---- the players ---------------------------------------------------------------------------------------------------


def at_random(rng: Random, position: GuinotePosition, _history: History) -> arrastre.Action:
    return rng.choice(cards(position))


def greedy(position: GuinotePosition, _history: History) -> arrastre.Action:
    """The highest card if it takes the trick, otherwise the one of the fewest points, of these the weakest."""
    rules, trump = position.rules, position.trump
    legal = position.legal_cards()
    worth = sorted(legal, key=lambda card: (rules.values[card], card // FIGURES == trump, rules.strengths[card]))
    for card in sorted(legal, key=lambda card: (card // FIGURES == trump, rules.strengths[card]), reverse=True):
        place = len(position.trick)
        from_here = position.put_down(card) if place + 1 < position.players else None
        taken = from_here.winning() == place if from_here else position.put_down(card).leader == position.seat
        if taken:
            return named(position, card)
    return named(position, worth[0])


def policy(position: GuinotePosition, _history: History) -> arrastre.Action:
    return FAMILY.policy(position, position.seat)


def estimator(
    view: arrastre.View, worlds: int, objective: str, seed: int, position: GuinotePosition, history: History
) -> arrastre.Action:
    legal = cards(position)
    if len(legal) == 1:
        return legal[0]
    advice = arrastre.best(seen(position, history), view=view, objective=objective, worlds=worlds, seed=seed)
    return next(each.action for each in advice.actions if each.action in legal)


def tree_search(rounds: int, seed: int, position: GuinotePosition, history: History) -> arrastre.Action:
    legal = cards(position)
    return legal[0] if len(legal) == 1 else ismcts(seen(position, history), rounds, seed)


def cheat(objective: str, position: GuinotePosition, _history: History) -> arrastre.Action:
    """Best play with all cards seen, from the last draw trick on: before, the search would take minutes."""
    if len(position.stock) > position.players:
        return FAMILY.policy(position, position.seat)
    legal = cards(position)
    solution = arrastre.solve(position, objective=objective, want="best", line=False)
    return next(each for each in solution.best if each in legal)


def seen(position: GuinotePosition, history: History) -> arrastre.Knowledge:
    return history.knowledge(history.view(position, position.seat), position.seat)


def cards(position: GuinotePosition) -> list[arrastre.Action]:
    return [named(position, card) for card in position.legal_cards()]


def named(position: GuinotePosition, card: int) -> arrastre.Action:
    return arrastre.Action(CARD_TEXTS[position.rules.deck][card], position.seat)


def full_name(text: str, players: int) -> str:
    """A player's name with its number, where it has one. Raises ``ValueError``."""
    kind, _, number = text.partition(":")
    defaults = {"informed": WORLDS, "clairvoyant": WORLDS, "ismcts": ROUNDS[players]}
    if kind not in PLAYERS or (number and (kind not in defaults or not number.isdecimal() or int(number) < 1)):
        raise ValueError(text)
    return f"{kind}:{int(number or defaults[kind])}" if kind in defaults else kind


def player(name: str, objective: str, seed: int) -> Chooser:
    kind, _, number = name.partition(":")
    if kind == "informed":
        return partial(estimator, "informed", int(number), objective, seed)
    if kind == "clairvoyant":
        return partial(estimator, "clairvoyant", int(number), objective, seed)
    if kind == "ismcts":
        return partial(tree_search, int(number), seed)
    if kind == "random":
        return partial(at_random, Random(seed))
    if kind == "cheat":
        return partial(cheat, objective)
    return {"greedy": greedy, "policy": policy}[kind]


# ---- the play ------------------------------------------------------------------------------------------------------


def deal(chance: Random, players: int, leader: int) -> GuinotePosition:
    deck = CARD_TEXTS[Deck.SPANISH]
    texts = [deck[card] for card in chance.sample(range(len(deck)), len(deck))]
    position = arrastre.Position.from_dict(
        {
            "ruleset": RULESET,
            "players": players,
            "hands": [texts[6 * seat : 6 * seat + 6] for seat in range(players)],
            "stock": texts[6 * players :],
            "trump": texts[-1][-1],
            "leader": leader,
        }
    )
    assert isinstance(position, GuinotePosition)
    return position


def moments(position: GuinotePosition, sides: Sequence[Chooser]) -> Iterator[tuple[str, int, GuinotePosition]]:
    """A deal played by two players: after each action what it was, by whom, and the position."""
    history = History(position)
    while not position.finished():
        action = declaration(position)
        kind = "declaration"
        if action is None:
            kind = scoring.TRICK
            action = sides[position.seat & 1](position, history)
        if action.action != PASS:
            history.happened(position, action, breach=False)
        kind = scoring.TUTE if action.action == "tute" else kind
        after = position.apply(action)
        assert isinstance(after, GuinotePosition)
        position = after
        yield kind, action.seat, position


def declaration(position: GuinotePosition) -> arrastre.Action | None:
    """What the policy declares for the side whose turn it is, a pass where it lets the moment go, or ``None``."""
    legal = {each for each in position.legal_actions() if each.action != PASS}
    for seat in sorted({each.seat for each in legal}):
        action = FAMILY.policy(position, seat)
        if action in legal and action not in cards(position):
            return action
    return None if position.moment in (LEAD, PLAY) else arrastre.Action(PASS, position.seat)


def margin(position: GuinotePosition, sides: Sequence[Chooser]) -> int:
    """Points of side 0 less those of side 1 when the deal has been played."""
    for _, _, after in moments(position, sides):
        position = after
    return position.points[0] - position.points[1]


def winner(seed: int, players: int, sides: Sequence[Chooser]) -> int:
    """The side that wins a whole game."""
    rules = row(RULESET, players)
    dealer, carried, vueltas = seed % players, scoring.NOTHING, False
    for number in itertools.count():
        start = deal(Random(f"duel/{seed}/{players}/{number}"), players, (dealer + 1) % players)
        start = replace(start, carried=carried, vueltas=vueltas)
        side, last, points = played_out(start, sides)
        if side is not None:
            return side
        if points is not None:
            carried, vueltas = points, True
            early = scoring.at_start(rules, points, True)
            if early is not None:
                assert early.winner is not None
                return early.winner
        dealer = scoring.next_dealer(rules, dealer, last)
    raise AssertionError("a game comes to an end")


def played_out(start: GuinotePosition, sides: Sequence[Chooser]) -> tuple[int | None, int, scoring.Pair | None]:
    """Who wins the game in this deal, if anybody does; the seat that won the last trick; and what is carried on, or
    ``None`` if the deal is to be dealt again."""
    rules, position = start.rules, start
    for kind, seat, after in moments(start, sides):
        gained = [after.points[side] - position.points[side] for side in range(2)]
        position = after
        side = seat & 1 if kind != scoring.TRICK else after.leader & 1
        if not any(gained) and kind != scoring.TUTE:
            continue
        totals = total(position)
        verdict = None
        if not position.finished():
            verdict = scoring.after_gain(rules, totals, start.vueltas, side, kind)
        elif start.vueltas and rules.vueltas != "end_of_deal":
            # The last trick itself may reach the target.
            verdict = scoring.after_gain(rules, totals, start.vueltas, side, kind)
        if verdict is not None:
            return verdict.winner, position.leader, None
    tricks = position.tricks
    assert tricks is not None
    capote = None if min(tricks) else position.leader & 1
    last = rules.last_trick if position.leader & 1 == 0 else 0, rules.last_trick if position.leader & 1 else 0
    by_cards = position.card_points[0] - last[0], position.card_points[1] - last[1]
    sources = scoring.Sources(cards=by_cards, last_trick=last)
    verdict = scoring.at_end(rules, total(position), sources, start.vueltas, position.leader & 1, capote)
    replayed = verdict.outcome == scoring.REPLAY
    return verdict.winner, position.leader, None if replayed else total(position)


def total(position: GuinotePosition) -> scoring.Pair:
    return position.carried[0] + position.points[0], position.carried[1] + position.points[1]


# ---- matches -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Match:
    """Two players, and what they play for: points a deal, or games."""

    one: str
    other: str
    players: int
    games: bool

    def key(self) -> list[str | int | bool]:
        return [self.one, self.other, self.players, self.games]

    def pair(self, seed: int) -> float:
        """What ONE makes more than OTHER over a deal and the same deal with seats swapped, a deal; or the share of
        games that it wins."""
        objective = "game" if self.games else "points"
        ours, theirs = ([player(name, objective, seed) for _ in range(2)] for name in (self.one, self.other))
        if self.games:
            first = winner(seed, self.players, (ours[0], theirs[0]))
            second = winner(seed, self.players, (theirs[1], ours[1]))
            return ((first == 0) + (second == 1)) / 2
        start = deal(Random(f"duel/{seed}/{self.players}"), self.players, seed % self.players)
        return (margin(start, (ours[0], theirs[0])) - margin(start, (theirs[1], ours[1]))) / 2


def finished(match: Match, seeds: Sequence[int], jobs: int, budget: float) -> Iterator[tuple[int, float]]:
    """Pairs as they are finished; none is begun once the budget is spent."""
    end = time.monotonic() + budget
    if jobs == 1:
        for seed in seeds:
            if time.monotonic() >= end:
                return
            yield seed, match.pair(seed)
        return
    with ProcessPoolExecutor(jobs) as pool:
        left = iter(seeds)
        running = {pool.submit(match.pair, seed): seed for seed in itertools.islice(left, jobs)}
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for each in done:
                yield running.pop(each), each.result()
                if time.monotonic() < end:
                    running |= {pool.submit(match.pair, seed): seed for seed in itertools.islice(left, 1)}


def read_results(path: Path) -> Iterator[tuple[list[str | int | bool], int, float]]:
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        yield entry["match"], entry["seed"], entry["gain"]


def interval(gains: Sequence[float], z: float) -> tuple[float, float]:
    mean = statistics.mean(gains)
    reach = z * statistics.stdev(gains) / math.sqrt(len(gains)) if len(gains) > 1 else math.inf
    return mean - reach, mean + reach


def report(match: Match, gains: Sequence[float]) -> str:
    if not gains:
        return "no pair was finished"
    unit, scale, form = ("% of games won", 100.0, ".1f") if match.games else ("points a deal", 1.0, "+.2f")
    scaled = [scale * gain for gain in gains]
    (low, high), (lower, higher) = interval(scaled, 1.96), interval(scaled, 2.576)
    return (
        f"{match.one} v {match.other}, {match.players} players, {len(gains)} pairs: "
        f"{statistics.mean(scaled):{form}} {unit}, "
        f"95 % {low:{form}} … {high:{form}}, 99 % {lower:{form}} … {higher:{form}}"
    )


def table(results: Mapping[Match, Mapping[int, float]]) -> str:
    lines = ["| one | other | players | pairs | result | 95 % | 99 % |", "|---|---|---|---|---|---|---|"]
    for match, gains in results.items():
        scale, form, unit = (100.0, ".1f", " % of games") if match.games else (1.0, "+.2f", "")
        scaled = [scale * gains[seed] for seed in sorted(gains)]
        (low, high), (lower, higher) = interval(scaled, 1.96), interval(scaled, 2.576)
        mean = f"{statistics.mean(scaled):{form}}{unit}"
        bounds = f"{low:{form}} … {high:{form}} | {lower:{form}} … {higher:{form}}"
        lines.append(f"| {match.one} | {match.other} | {match.players} | {len(scaled)} | {mean} | {bounds} |")
    return "\n".join(lines).replace("-", "−").replace("|−−−", "|---")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("one", nargs="?")
    parser.add_argument("other", nargs="?")
    parser.add_argument("--deals", type=int, default=100, help="how many pairs are played")
    parser.add_argument("--players", type=int, default=4, choices=(4, 2))
    parser.add_argument("--games", action="store_true", help="play whole games")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--budget", type=float, default=math.inf, help="seconds after which no pair is begun")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--table", type=Path, help="set out the matches of a results file, and play none")
    asked = parser.parse_args()
    if asked.table:
        matches: dict[Match, dict[int, float]] = {}
        for key, seed, gain in read_results(asked.table):
            matches.setdefault(Match(*key), {})[seed] = gain  # type: ignore[arg-type]
        print(table(matches))
        return
    try:
        match = Match(
            full_name(asked.one or "", asked.players),
            full_name(asked.other or "", asked.players),
            asked.players,
            asked.games,
        )
    except ValueError as error:
        parser.error(f"there is no player '{error}'; there are {', '.join(PLAYERS)}")
    seeds = range(1_000_000 * asked.seed, 1_000_000 * asked.seed + asked.deals)
    gains: dict[int, float] = {}
    if asked.results and asked.results.exists():
        # A line that was being written when the run was killed is no line.
        lines = [line for line in asked.results.read_text().splitlines(keepends=True) if line.endswith("\n")]
        asked.results.write_text("".join(lines))
        gains = {seed: gain for key, seed, gain in read_results(asked.results) if key == match.key() and seed in seeds}
    todo = [seed for seed in seeds if seed not in gains]
    begun = time.monotonic()
    for number, (seed, gain) in enumerate(finished(match, todo, asked.jobs, asked.budget), 1):
        gains[seed] = gain
        if asked.results:
            with asked.results.open("a") as file:
                file.write(json.dumps({"match": match.key(), "seed": seed, "gain": gain}) + "\n")
        left = (time.monotonic() - begun) / number * (len(todo) - number)
        print(f"\r{number}/{len(todo)}, {left:.0f} s left ", end="", file=sys.stderr)
    print(file=sys.stderr)
    print(report(match, [gains[seed] for seed in seeds if seed in gains]))


if __name__ == "__main__":
    main()
