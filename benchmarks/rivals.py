"""The public solvers of this field as something to time, and whether this machine is fit for timing."""

from __future__ import annotations

import ctypes
import importlib.util
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# A machine with a larger share of its processors in use than this is not fit.
BUSY = 0.10


class Deal(ctypes.Structure):
    """A position as DDS 2.9 takes it."""

    _fields_ = [
        ("trump", ctypes.c_int),
        ("first", ctypes.c_int),
        ("trick_suit", ctypes.c_int * 3),
        ("trick_rank", ctypes.c_int * 3),
        ("remaining", (ctypes.c_uint * 4) * 4),
    ]


BATCH = 200


class Boards(ctypes.Structure):
    _fields_ = [
        ("count", ctypes.c_int),
        ("deals", Deal * BATCH),
        ("target", ctypes.c_int * BATCH),
        ("solutions", ctypes.c_int * BATCH),
        ("mode", ctypes.c_int * BATCH),
    ]


class Tricks(ctypes.Structure):
    _fields_ = [
        ("nodes", ctypes.c_int),
        ("cards", ctypes.c_int),
        ("suit", ctypes.c_int * 13),
        ("rank", ctypes.c_int * 13),
        ("equals", ctypes.c_int * 13),
        ("score", ctypes.c_int * 13),
    ]


class Solved(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int), ("boards", Tricks * BATCH)]


def bridge_round(count: int, cards: int) -> Callable[[], float]:
    """A round of DDS: seconds for ``count`` random endings of ``cards`` cards each, every card valued."""
    spec = importlib.util.find_spec("endplay")
    if spec is None or spec.origin is None:
        sys.exit("DDS comes with endplay: pip install 'arrastre[bench]'")
    library = ctypes.CDLL(str(Path(spec.origin).with_name("_dds") / "libdds.so"))
    library.SetMaxThreads(1)
    rng, batches = random.Random(cards), []
    for start in range(0, count, BATCH):
        boards = Boards()
        boards.count = min(BATCH, count - start)
        for i in range(boards.count):
            deal = boards.deals[i]
            deal.trump, deal.first = rng.randrange(4), rng.randrange(4)
            pack = [(suit, rank) for suit in range(4) for rank in range(2, 15)]
            for place, (suit, rank) in enumerate(rng.sample(pack, 4 * cards)):
                deal.remaining[place // cards][suit] |= 1 << rank
            # Every card valued, and a forced card searched like any other.
            boards.target[i], boards.solutions[i], boards.mode[i] = -1, 3, 1
        batches.append(boards)
    solved = Solved()

    def run() -> float:
        begun = time.perf_counter()
        for boards in batches:
            if library.SolveAllBoardsBin(ctypes.byref(boards), ctypes.byref(solved)) != 1:
                sys.exit("DDS refused a position")
        return time.perf_counter() - begun

    return run


def belote_round(count: int) -> Callable[[], float]:
    """A round of colver: seconds for ``count`` positions two tricks into a deal, every card valued."""
    try:
        import colver
    except ImportError:
        sys.exit("the Belote solver is colver: pip install 'arrastre[bench]'")
    rng, positions = random.Random(3), []
    for seed in range(count):
        game: Any = colver.Env.deal(dealer=seed % 4, seed=seed)
        game.set_contract(rng.randrange(4), 80, rng.randrange(2), 0)
        game.set_phase_playing()
        for _ in range(8):
            game.step(rng.choice(game.legal_actions()))
        positions.append(game)

    def run() -> float:
        begun = time.perf_counter()
        for game in positions:
            game.solve_scores()
        return time.perf_counter() - begun

    return run


def idle_share(seconds: float = 1.0) -> float:
    """The share of this machine's processors that nobody used for a moment."""

    def read() -> tuple[int, int]:
        times = [int(each) for each in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
        return times[3] + times[4], sum(times[:8])

    idle, total = read()
    time.sleep(seconds)
    later_idle, later_total = read()
    return (later_idle - idle) / max(1, later_total - total)
