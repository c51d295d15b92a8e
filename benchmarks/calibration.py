"""Whether the estimates and the grades are as sure as they say: all of docs/calibration.md.

    python benchmarks/calibration.py [PART ...] [--results FOLDER] [--cases N] [--jobs N] [--budget SECONDS]

Parts: worlds (counts, marginals and draws against brute force); coverage (do 95 % intervals hold the true mean, and how
good is the choice after so many worlds); flags (false flags of good play, and planted errors that are found); games
(predicted chances to win and what became of them); devices (what each means against noise is worth); people (figures of
a study of games among people, from self-play). All of them unless some are named.

Each case is a line of PART.jsonl in the results' folder, and a run that was interrupted, or whose budget was spent,
goes on where it stopped; a case depends on its number alone, whatever the jobs. What is printed is made of the lines.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

import arrastre
import duel
import reference.worlds as brute
from arrastre.estimate import DEFAULT_VIEW
from arrastre.game import Knowledge, Limits
from arrastre.grade import EFFORTS, FLAGS, Decision, Grader, controlled
from arrastre.guinote.knowledge import GuinoteKnowledge, History
from arrastre.guinote.position import PASS, GuinotePosition
from arrastre.worlds import Worlds
from grade import deal as played_deal

Row = dict[str, Any]

Z = 1.96
ROUNDS = (16, 64, 256, 1024)
#: Worlds of a reference that is not a complete list.
REFERENCE = 20_000
#: The longest complete list.
LISTED = 40_000
#: What an action must cost for certain, in chances to win the game, to be planted as an error.
PLANTED = 0.20
SEEDS = 5


# ---- what is looked at ---------------------------------------------------------------------------------------------


def phase(position: GuinotePosition) -> str | None:
    """The phase that the lead of a trick stands for, if it is one of those looked at."""
    if position.trick:
        return None
    draws = len(position.stock) // position.players
    names = {4: "first trick", 1: "last draw trick"}
    return names.get(draws) if draws else {6: "arrastre", 4: "four tricks left"}.get(len(position.hands[0]))


def leads(seed: int) -> Iterator[tuple[str, Knowledge]]:
    """A four-player deal by the policy: what the leader knows at each of the phases' beginnings."""
    position = duel.deal(Random(f"calibration/{seed}"), 4, seed % 4)
    history = History(position)
    while not position.finished():
        action = duel.declaration(position)
        if action is None:
            name = phase(position)
            if name is not None and len(position.legal_cards()) > 1:
                yield name, duel.seen(position, history)
            action = duel.policy(position, history)
        if action.action != PASS:
            history.happened(position, action, breach=False)
        after = position.apply(action)
        assert isinstance(after, GuinotePosition)
        position = after


def counted(knowledge: Knowledge) -> Worlds:
    return Worlds(knowledge.allowed, [place.capacity for place in knowledge.places])


def values(knowledge: Knowledge, worlds: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The value of every action in each of the worlds; shape (worlds, actions), points."""
    game = knowledge.position.game
    return game.world_values(
        knowledge,
        worlds,
        knowledge.actions,
        view=DEFAULT_VIEW,
        objective="points",
        complete=False,
        limits=Limits(),
        context=context().native(game),
    )


@lru_cache(maxsize=1)
def context() -> arrastre.Context:
    return arrastre.Context()


def wilson(hits: int, number: int) -> str:
    """A share and its 95 % interval, in per cent."""
    if not number:
        return "–"
    share, spread = hits / number, Z * Z / number
    middle = (share + spread / 2) / (1 + spread)
    reach = Z * math.sqrt(share * (1 - share) / number + spread / number / 4) / (1 + spread)
    return f"{100 * share:.1f} % ({100 * (middle - reach):.1f}–{100 * (middle + reach):.1f})"


# ---- 1. worlds -----------------------------------------------------------------------------------------------------


def worlds_case(seed: int) -> Row:
    """A small random puzzle: the count, the marginals, and the chi-square of 3 000 draws, in standard deviations."""
    rng = Random(f"worlds/{seed}")
    while True:
        places = rng.randint(2, 4)
        capacities = [rng.randint(1, 3) for _ in range(places)]
        allowed = [rng.randint(1, 2**places - 1) for _ in range(sum(capacities))]
        every = brute.worlds(allowed, capacities)
        if 2 <= len(every) <= 400:
            break
    found = Worlds(allowed, capacities)
    marginals = [
        [sum(world[item] == place for world in every) for place in range(places)] for item in range(len(allowed))
    ]
    seen = Counter(map(tuple, found.sample(seed, 0, 3000).tolist()))
    expected = 3000 / len(every)
    square = sum((seen[world] - expected) ** 2 / expected for world in every)
    freedom = len(every) - 1
    return {
        "count": found.count == len(every),
        "marginals": found.marginals() == marginals,
        "strangers": sum(number for world, number in seen.items() if world not in set(every)),
        # Wilson–Hilferty: a chi-square variable as a normal one.
        "z": ((square / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom)),
    }


def worlds_report(rows: Sequence[Row]) -> None:
    beyond = sum(abs(row["z"]) > Z for row in rows)
    print(f"{len(rows)} puzzles by brute force: {sum(row['count'] for row in rows)} counts equal, ", end="")
    print(f"{sum(row['marginals'] for row in rows)} tables of marginals equal, ", end="")
    print(f"{sum(row['strangers'] for row in rows)} draws that are no world")
    print(f"chi-square of 3000 draws beyond its 95 % range: {wilson(beyond, len(rows))}; ", end="")
    print(f"farthest {max((abs(row['z']) for row in rows), default=0):.1f} standard deviations")


# ---- 2 and 4. coverage, and how good the choice is -------------------------------------------------------------------


def coverage_case(seed: int) -> Row:
    """References and estimates of a deal's leads; where there are too many worlds to list, only in each fifth deal."""
    found = []
    for name, knowledge in leads(seed):
        space = counted(knowledge)
        listed = space.count <= LISTED
        if (not listed and seed % 5) or space.count <= 2048:
            continue
        truth = values(knowledge, space.enumerate() if listed else space.sample(10**6 + seed, 0, REFERENCE))
        runs = {}
        for worlds in ROUNDS:
            begun = time.perf_counter()
            advice = arrastre.best(knowledge, worlds=worlds, seed=seed + 1)
            took = time.perf_counter() - begun
            runs[str(worlds)] = {
                "seconds": round(took, 4),
                "worlds": advice.worlds,
                "actions": {
                    each.action.action: [each.value, each.error, each.loss, each.loss_error] for each in advice.actions
                },
            }
        means, errors = truth.mean(axis=0), truth.std(axis=0, ddof=1) / math.sqrt(len(truth))
        found.append(
            {
                "phase": name,
                "listed": listed,
                "worldCount": str(space.count),
                "truth": {each.action: float(mean) for each, mean in zip(knowledge.actions, means, strict=True)},
                "truthError": 0.0 if listed else float(errors.mean()),
                "runs": runs,
            }
        )
    return {"leads": found}


def coverage_report(rows: Sequence[Row]) -> None:
    every = [lead for row in rows for lead in row["leads"]]
    print("95 % intervals that hold the reference, one action a decision:")
    for listed in (True, False):
        for worlds in ("64", "256"):
            value, loss, number = 0, 0, 0
            for index, lead in enumerate(each for each in every if each["listed"] == listed):
                actions = lead["runs"][worlds]["actions"]
                first = next(iter(actions))
                # Not the leader, whose loss is no estimate; one that chance picks.
                name = Random(f"{worlds}/{index}").choice([each for each in actions if each != first])
                mean, error, behind, behind_error = actions[name]
                if not error or not behind_error:
                    continue
                true, slack = lead["truth"], lead["truthError"] ** 2
                number += 1
                value += abs(mean - true[name]) <= Z * math.sqrt(error**2 + slack)
                loss += abs(-abs(behind) - (true[name] - true[first])) <= Z * math.sqrt(behind_error**2 + slack)
            kind = "all worlds listed" if listed else f"{REFERENCE} worlds"
            print(f"  {kind}, {worlds:>4} worlds, {number} decisions: value {wilson(value, number)}, ", end="")
            print(f"difference from the leader {wilson(loss, number)}")
    print("the choice after so many worlds: share that the reference finds best, mean regret in points, seconds")
    for name in ("first trick", "last draw trick", "arrastre", "four tricks left"):
        some = [lead for lead in every if lead["phase"] == name]
        for worlds in map(str, ROUNDS):
            if not some:
                continue
            regrets = [
                max(each["truth"].values()) - each["truth"][next(iter(each["runs"][worlds]["actions"]))]
                for each in some
            ]
            hits = sum(regret < 1e-9 for regret in regrets)
            took = statistics.median(each["runs"][worlds]["seconds"] for each in some)
            print(f"  {name}, {worlds:>4} worlds, {len(some)} decisions: {wilson(hits, len(some))}, ", end="")
            print(f"regret {statistics.mean(regrets):.2f}, {1000 * took:.0f} ms")


# ---- 3. flags --------------------------------------------------------------------------------------------------------


def flags_case(seed: int) -> Row:
    """A deal in which every decision is replaced by the best, and by a great error where there is one; graded anew."""
    one = played_deal(seed)
    normal, deep = EFFORTS["normal"], EFFORTS["deep"]
    judge = Grader(one, deep, 1, context())
    fresh = Grader(one, replace(normal, luck=0), 2 + seed % SEEDS, context())
    good: list[Decision] = []
    planted: list[tuple[int, Decision, float]] = []
    for choice in judge.choices():
        known = judge.judged(choice)
        if known is None or known.best is None or known.game_loss is None:
            continue
        decision = fresh.judged(replace(choice, action=known.best))
        if decision is None:
            continue
        # What is certain to cost as much, by more worlds than the grades are of.
        errors = [
            (best.game - each.game, each.action)
            for best in known.options
            if best.action == known.best and best.game is not None and best.game_error is not None
            for each in known.options
            if each.game is not None and each.game_error is not None
            if best.game - each.game - Z * math.hypot(best.game_error, each.game_error) >= PLANTED
        ]
        if errors:
            cost, action = max(errors, key=lambda each: (each[0], each[1].action))
            wrong = fresh.judged(replace(choice, action=action))
            if wrong is not None:
                planted.append((len(good), wrong, cost))
        good.append(decision)
    flags = [each.label for each in controlled(good) if each.label in FLAGS]
    caught = []
    for place, wrong, cost in planted:
        # One error in a deal that is otherwise played well.
        label = controlled([*good[:place], wrong, *good[place + 1 :]])[place].label
        caught.append([round(cost, 4), label, wrong.phase])
    return {"counted": sum(each.counted for each in good), "flags": flags, "planted": caught}


def flags_report(rows: Sequence[Row]) -> None:
    counted_ = sum(row["counted"] for row in rows)
    print(
        f"the best action by {EFFORTS['deep'].worlds} to {EFFORTS['deep'].most} worlds, graded on others at normal: ",
        end="",
    )
    print(f"{counted_} decisions in {len(rows)} deals, {SEEDS} seeds, flagged ", end="")
    print(wilson(sum(len(row["flags"]) for row in rows), counted_))
    planted = [each for row in rows for each in row["planted"]]
    caught = sum(label in FLAGS for _, label, _ in planted)
    print(
        f"errors that cost {100 * PLANTED:.0f} points of a per cent or more: {len(planted)} planted, flagged ", end=""
    )
    print(wilson(caught, len(planted)))
    blunders = sum(label == "blunder" for _, label, _ in planted)
    print(f"  as blunders {wilson(blunders, len(planted))}")


# ---- 5. games --------------------------------------------------------------------------------------------------------


def games_case(seed: int) -> Row:
    """A whole game between estimators: the chances they gave themselves at the leads, and who won."""
    said: list[tuple[str, int, float]] = []

    def choose(position: GuinotePosition, history: History) -> arrastre.Action:
        legal = duel.cards(position)
        if len(legal) == 1:
            return legal[0]
        advice = arrastre.best(duel.seen(position, history), objective="game", worlds=64, seed=seed, view=DEFAULT_VIEW)
        name = phase(position)
        if name is not None:
            said.append((name, position.seat & 1, float(advice.actions[0].value)))
        return next(each.action for each in advice.actions if each.action in legal)

    won = duel.winner(seed, 4, (choose, choose))
    return {"said": [[name, round(chance, 4), int(side == won)] for name, side, chance in said]}


def games_report(rows: Sequence[Row]) -> None:
    print(f"{len(rows)} games of estimators (64 worlds): the leader's side's chance to win, and the truth")
    for name in ("first trick", "last draw trick", "arrastre", "four tricks left"):
        said = [(chance, won) for row in rows for each, chance, won in row["said"] if each == name]
        if not said:
            continue
        brier = statistics.mean((chance - won) ** 2 for chance, won in said)
        base = statistics.mean(won for _, won in said)
        print(
            f"  {name}: {len(said)} predictions, Brier {brier:.3f} (always {100 * base:.0f} %: {base * (1 - base):.3f})"
        )
        bins: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
        for chance, won in said:
            bins[min(4, int(5 * chance))].append((chance, won))
        for number in sorted(bins):
            inside = bins[number]
            mean = statistics.mean(chance for chance, _ in inside)
            won_ = wilson(sum(won for _, won in inside), len(inside))
            print(f"    {20 * number:3}–{20 * number + 20} %: said {100 * mean:.1f} %, won {won_}")


# ---- what each device is worth ---------------------------------------------------------------------------------------


def devices_case(seed: int) -> Row:
    """A first trick: the variance of the difference between two middling actions, by each way of looking at it."""
    _, knowledge = next(leads(seed))
    assert isinstance(knowledge, GuinoteKnowledge)
    space = counted(knowledge)
    number = 2000
    worlds = space.sample(seed, 0, number)
    found = values(knowledge, worlds)
    other = values(knowledge, space.sample(seed, number, number))
    plain = in_order(knowledge, worlds[:500])
    one, two = np.argsort(found.mean(axis=0))[[0, -1]]
    gap = found[:, one] - found[:, two]
    features = where(knowledge, worlds)
    groups = {
        "matadors": ("as", "tres"),
        "trumps": ("as", "tres", "rey", "seven", "trumps"),
        "aces": ("aces",),
        "everything": tuple(features),
    }
    return {
        "apart": float(found[:, one].var() + other[:, two].var()),
        "common": float((plain[:, one] - plain[:, two]).var()),
        "coupled": float(gap.var()),
        # What is left after a regression on where cards lie, whose means are known exactly; halves take turns.
        **{name: left_over(gap, np.column_stack([features[each] for each in names])) for name, names in groups.items()},
        "value": float(found[:, one].var()),
    }


def in_order(knowledge: GuinoteKnowledge, worlds: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Values with draws in the stock's order: the same worlds, each as if the stock were known."""
    rows = []
    for assignment in worlds:
        world = knowledge.world(assignment.tolist())
        open_book = replace(knowledge, position=world, items=(), played=(), places=(), allowed=())
        rows.append(values(open_book, np.empty((1, 0), np.uint8)))
    return np.concatenate(rows)


def where(knowledge: GuinoteKnowledge, worlds: NDArray[np.uint8]) -> dict[str, NDArray[np.float64]]:
    """Numbers that say where cards lie in each world: with the partner less with the rivals; shape (worlds,) each."""
    trump = knowledge.position.to_dict()["trump"]
    sign = np.array(
        [0.0 if p.kind != "hand" else (1.0 if (p.seat - knowledge.seat) % 2 == 0 else -1.0) for p in knowledge.places]
    )
    lying = sign[worlds]
    names = list(knowledge.items)
    zero = np.zeros(len(worlds))
    single = {"as": f"1{trump}", "tres": f"3{trump}", "rey": f"R{trump}", "seven": f"7{trump}"}
    found = {key: lying[:, names.index(card)] if card in names else zero for key, card in single.items()}
    found["trumps"] = sum((lying[:, i] for i, card in enumerate(names) if card[-1] == trump), zero)
    found["aces"] = sum((lying[:, i] for i, card in enumerate(names) if card[0] in "13" and card[-1] != trump), zero)
    return found


def left_over(gap: NDArray[np.float64], features: NDArray[np.float64]) -> float:
    """The variance of what a linear fit made on one half leaves on the other."""
    design = np.column_stack([np.ones(len(gap)), features])
    rest = []
    for fitted, judged in ((slice(0, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(0, None, 2))):
        weights, *_ = np.linalg.lstsq(design[fitted], gap[fitted], rcond=None)
        rest.append(gap[judged] - design[judged] @ weights)
    return float(np.concatenate(rest).var())


def devices_report(rows: Sequence[Row]) -> None:
    total = {key: sum(row[key] for row in rows) for key in rows[0]}
    print(f"{len(rows)} first tricks, best action against worst: how the difference varies, and what a world is worth")
    names = {
        "apart": "each action in worlds of its own",
        "common": "the same worlds, draws in the stock's order",
        "coupled": "the same worlds, draws by seat",
        "matadors": "  with the trump as and tres as control variates",
        "trumps": "  with all trumps",
        "aces": "  with the ases and treses of other suits",
        "everything": "  with all of these",
    }
    for key, name in names.items():
        deviation, worth = math.sqrt(total[key] / len(rows)), total["apart"] / total[key]
        print(f"  {name:50} ±{deviation:.1f} points, as good as {worth:.2f} worlds")


# ---- 7. people -------------------------------------------------------------------------------------------------------


def people_case(seed: int) -> Row:
    """A deal by the policy, each tenth by estimators: who had as and tres of trumps, who sang the forty, who won."""
    name = "informed:64" if seed % 10 == 0 else "policy"
    sides = [duel.player(name, "points", seed) for _ in range(2)]
    start = duel.deal(Random(f"people/{seed}"), 4, seed % 4)
    owners: dict[int, int] = {}
    forty = None
    position, before = start, start
    for _, seat, position in duel.moments(start, sides):
        for card in before.hands[seat]:
            if card not in position.hands[seat]:
                owners.setdefault(card, seat & 1)
        if forty is None:
            forty = next((each.seat & 1 for each in position.sung if each.suit == start.trump), None)
        before = position
    strengths = start.rules.strengths
    top = sorted((card for card in owners if card // 10 == start.trump), key=lambda card: strengths[card])[-2:]
    pair = {owners[card] for card in top}
    made = position.points[0] - position.points[1]
    won = None if not made else int(made < 0)
    return {"by": name, "pair": pair.pop() if len(pair) == 1 else None, "forty": forty, "won": won}


def people_report(rows: Sequence[Row]) -> None:
    for name in ("policy", "informed:64"):
        some = [row for row in rows if row["by"] == name]
        print(f"{len(some)} deals by {name}:")
        for key, what in (("pair", "one side has as and tres of trumps"), ("forty", "a side sings the forty")):
            those = [row for row in some if row[key] is not None]
            won = sum(row["won"] == row[key] for row in those)
            print(
                f"  {what}: {wilson(len(those), len(some))} of deals; it makes more points in {wilson(won, len(those))}"
            )


# ---- running ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """Cases by number, how many of them, and what is made of their rows."""

    case: Callable[[int], Row]
    report: Callable[[Sequence[Row]], None]
    cases: int


PARTS: Mapping[str, Part] = {
    "worlds": Part(worlds_case, worlds_report, 1000),
    "coverage": Part(coverage_case, coverage_report, 400),
    "flags": Part(flags_case, flags_report, 75),
    "games": Part(games_case, games_report, 300),
    "devices": Part(devices_case, devices_report, 40),
    "people": Part(people_case, people_report, 10_000),
}


def collected(part: Part, path: Path | None, cases: int, jobs: int, budget: float) -> list[Row]:
    """The rows of so many cases, those that a file holds and those that were missing, in the order of their numbers."""
    rows: dict[int, Row] = {}
    if path is not None and path.exists():
        whole = [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
        path.write_text("".join(whole))
        rows = {entry["case"]: entry["row"] for entry in map(json.loads, whole)}
    todo = [number for number in range(cases) if number not in rows]
    end = time.monotonic() + budget
    for number, row in finished(part.case, todo, jobs, end):
        rows[number] = row
        if path is not None:
            with path.open("a") as file:
                file.write(json.dumps({"case": number, "row": row}, separators=(",", ":")) + "\n")
        print(f"\r{len(rows)}/{cases} ", end="", file=sys.stderr, flush=True)
    if todo:
        print(file=sys.stderr)
    return [rows[number] for number in sorted(rows) if number < cases]


def finished(case: Callable[[int], Row], todo: Sequence[int], jobs: int, end: float) -> Iterator[tuple[int, Row]]:
    if jobs == 1:
        for number in todo:
            if time.monotonic() >= end:
                return
            yield number, case(number)
        return
    with ProcessPoolExecutor(jobs) as pool:
        left = iter(todo)
        running = {pool.submit(case, number): number for number in islice(left, 2 * jobs)}
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for each in done:
                yield running.pop(each), each.result()
                number = next(left, None)
                if number is not None and time.monotonic() < end:
                    running[pool.submit(case, number)] = number


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[*PARTS, []], help=", ".join(PARTS))
    parser.add_argument("--results", type=Path, help="the folder that keeps the cases")
    parser.add_argument("--cases", type=int, help="so many of each part")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--budget", type=float, default=math.inf, help="seconds after which no case of a part is begun")
    arguments = parser.parse_args()
    if arguments.results is not None:
        arguments.results.mkdir(parents=True, exist_ok=True)
    for name in arguments.parts or PARTS:
        part = PARTS[name]
        path = None if arguments.results is None else arguments.results / f"{name}.jsonl"
        rows = collected(part, path, arguments.cases or part.cases, arguments.jobs, arguments.budget)
        print(f"== {name}")
        if rows:
            part.report(rows)


if __name__ == "__main__":
    main()
