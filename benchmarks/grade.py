"""How fast decisions are graded, and whether the parts of a result add up.

python benchmarks/grade.py speed [DEALS]
python benchmarks/grade.py residual DEALS FILE     (a file that exists is gone on with)
python benchmarks/grade.py memory DEALS [PLAYERS]

Deals are played by the policy of the playouts, one action in ten at random, with the first deal's dealer going round.
Speed is per core-second, reading included only where it says so. The residual of a deal is what is left of its margin
once the average deal, luck and decisions are taken off; its mean should not differ from 0.
"""

from __future__ import annotations

import contextlib
import json
import math
import resource
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

import arrastre
from arrastre.game import Action, Position
from arrastre.grade import EFFORTS, PHASES, Effort, Grader, grade_deal
from arrastre.record import Record
from deals import at_random, play_deal

SLIPS = 0.1
#: Few worlds: noise in the single residual, and in the mean of many no more than chance allows.
LITTLE = Effort("residual", 32, 32, 1, 32)


def slipping(rng: Random, slips: float) -> Callable[[Position, Sequence[Action]], Action]:
    """Plays by the policy, now and then at random."""
    anything = at_random(rng)

    def choose(position: Position, actions: Sequence[Action]) -> Action:
        if rng.random() < slips:
            return anything(position, actions)
        for seat in sorted({each.seat for each in actions}):
            action = position.game.policy(position, seat)
            if action in actions and len(action.action) > 2 and action.action != "pass":
                return action
        cards = [each for each in actions if len(each.action) == 2]
        if not cards:
            return next(each for each in actions if each.action == "pass")
        action = position.game.policy(position, position.seat)
        return action if action in cards else cards[0]

    return choose


def played(seed: int, players: int = 4) -> dict[str, object]:
    rng = Random(f"grade/{seed}/{players}")
    return play_deal(rng, players=players, dealer=seed % players, choose=slipping(rng, SLIPS))


def deal(seed: int, players: int = 4) -> arrastre.Deal:
    return Record.from_dict(played(seed, players)).deals[0]


def residual(seed: int) -> float | None:
    """The residual of a deal, in points for the side of seats 0 and 2; ``None`` for one that a tute ended early."""
    luck = grade_deal(deal(seed), effort=LITTLE, seed=seed).luck
    return None if luck is None else round(luck.residual, 6)


def speed(number: int) -> None:
    context = arrastre.Context()
    for players in (4, 2):
        data = [played(seed, players) for seed in range(number)]
        start = time.process_time()
        deals = [Record.from_dict(each).deals[0] for each in data]
        reading = time.process_time() - start
        print(f"{players} players: reading {number / reading:.0f} deals a core-second")
        efforts = [("arrastre only", Effort("arrastre", 0, 0, 1, 0), deals), ("quick", EFFORTS["quick"], deals)]
        efforts.append(("normal", EFFORTS["normal"], deals[: max(1, number // 20)]))
        efforts.append(("deep", EFFORTS["deep"], deals[: max(1, number // 100)]))
        for name, effort, some in efforts:
            grade_deal(some[0], effort=effort, context=context)  # the average deal of a ruleset is found once
            took: list[float] = []
            seconds: Counter[str] = Counter()
            decisions: Counter[str] = Counter()
            for each in some:
                start = time.process_time()
                by_phase(each, effort, context, seconds, decisions)
                took.append(time.process_time() - start)
            total = sum(took)
            print(
                f"{players} players, {name}: {len(some) / total:.2f} deals a core-second, "
                f"{1000 * statistics.mean(took):.1f} ms a deal, at most {1000 * max(took):.0f} ms; decisions a "
                f"core-second: "
                + ", ".join(f"{phase} {decisions[phase] / seconds[phase]:.0f}" for phase in PHASES if decisions[phase])
                + f"; luck {100 * seconds['luck'] / total:.0f} % of the time"
            )


def by_phase(
    one: arrastre.Deal, effort: Effort, context: arrastre.Context, seconds: Counter[str], decisions: Counter[str]
) -> None:
    """Grade a deal as :func:`arrastre.grade.grade_deal` does, and note what its parts take."""
    grader = Grader(one, effort, 1, context)
    start = time.process_time()
    for choice in grader.choices():
        decision = grader.judged(choice)
        now = time.process_time()
        if decision is not None:
            seconds[decision.phase] += now - start
            decisions[decision.phase] += 1
        start = now
    if grader.taken_apart:
        grader.luck()
        seconds["luck"] += time.process_time() - start


def residuals(number: int, path: Path) -> None:
    found: list[float | None] = json.loads(path.read_text())["residuals"] if path.exists() else []
    for seed in range(len(found), number):
        found.append(residual(seed))
        if seed % 10 == 9 or seed == number - 1:
            path.write_text(json.dumps({"worlds": LITTLE.worlds, "slips": SLIPS, "residuals": found}, indent=1) + "\n")
            print(f"\r{seed + 1}/{number}", end="", file=sys.stderr)
    known = [each for each in found if each is not None]
    mean, error = statistics.mean(known), statistics.stdev(known) / math.sqrt(len(known))
    print(
        f"{len(known)} deals: mean residual {mean:+.2f}, standard error {error:.2f}, {mean / error:+.2f} errors from 0"
    )


def memory(number: int, players: int) -> None:
    """The command at ``quick`` over so many deals, a few of them over and over under other names; what it holds after
    each tenth of the time."""
    from arrastre.cli import command

    held: list[float] = []
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(1):
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            held.append(pages * resource.getpagesize() / 2**20)

    some = [played(seed, players) for seed in range(100)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "archive.jsonl")
        with path.open("w") as file:
            for index in range(number):
                names = [f"{seat}{index // 100}" for seat in "NOSE"[:players]]
                file.write(json.dumps({**some[index % 100], "names": names, "deal": index + 1}) + "\n")
        arguments = ["grade", "--effort", "quick", str(path), "-o", str(Path(folder, "out.jsonl"))]
        watching = threading.Thread(target=watch)
        watching.start()
        with contextlib.suppress(SystemExit):
            command("en").main(arguments)
        ended.set()
        watching.join()
    tenths = [f"{held[min(len(held) - 1, tenth * len(held) // 10)]:.0f}" for tenth in range(1, 11)]
    print(f"{number} deals of {players} players, MiB after each tenth of the time: {' '.join(tenths)}; ", end="")
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}")


def main() -> None:
    what, *rest = sys.argv[1:] or ["speed"]
    if what == "speed":
        speed(int(rest[0]) if rest else 200)
    elif what == "residual":
        residuals(int(rest[0]), Path(rest[1]))
    else:
        memory(int(rest[0]), int(rest[1]) if len(rest) > 1 else 4)


if __name__ == "__main__":
    main()
