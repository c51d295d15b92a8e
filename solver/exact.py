"""Exact values: ``solve`` one position, ``solve_many`` a list of them, with as many threads as asked for.

Nothing here knows a game; :mod:`arrastre.game` says what a game supplies.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from arrastre.errors import Fault, InvalidPosition, InvalidRequest
from arrastre.game import DEFAULT_NODES, Action, ActionValue, Game, Limits, NativeContext, Position, Values, Want

SCHEMA = 1
MEMORY_MB = 16
MAX_THREADS = 256
_CHUNK = 64


class Context:
    """Working memory to reuse from one call to the next: what was proven of one position helps with its neighbours.

    ``memory_mb`` caps the transposition table of each game (16 MiB unless said otherwise). A context serves one call
    at a time; only :meth:`stop` may be called meanwhile.
    """

    def __init__(self, memory_mb: int = MEMORY_MB) -> None:
        check_whole("memory_mb", memory_mb, 1, 65536)
        self.memory_mb = memory_mb
        self._native: dict[str, NativeContext] = {}
        self._stopped = False

    def stop(self) -> None:
        """End the running search at once, from any thread, and refuse further ones until :meth:`resume`.

        What was proven until then is kept in the answer.
        """
        self._stopped = True
        for native in list(self._native.values()):
            native.stop()

    def resume(self) -> None:
        """Forget a stop that was asked for."""
        self._stopped = False
        for native in list(self._native.values()):
            native.resume()

    @property
    def hits(self) -> int:
        """Positions that searches have found in the tables since these were made."""
        return sum(native.hits for native in self._native.values())

    def native(self, game: Game) -> NativeContext:
        """The game's own working memory, made when first asked for."""
        if game.name not in self._native:
            self._native[game.name] = game.context(self.memory_mb)
            if self._stopped:
                self._native[game.name].stop()
        return self._native[game.name]


@dataclass(frozen=True, slots=True)
class LineStep:
    """One step of a line of play; ``winner`` and ``points`` are given where it completes a trick."""

    action: str
    seat: int
    winner: int | None
    points: int | None

    def to_dict(self) -> dict[str, Any]:
        return {"action": self.action, "seat": self.seat, "winner": self.winner, "points": self.points}


class _Told(Values):
    """Values as :meth:`Solution.to_dict` has them."""

    nodes = 0

    def __init__(self, data: Mapping[str, Any]) -> None:
        words = {"win": 1, "vueltas": 0, "replay": 0, "lose": -1}
        self._actions = tuple(
            ActionValue(
                Action(each["action"], each["seat"]),
                each["lower"] if each["value"] is None else each["value"],
                each["upper"] if each["value"] is None else each["value"],
            )
            for each in data["actions"]
        )
        if "lower" in data:
            self.lower, self.upper = data["lower"], data["upper"]
        elif self._actions:
            self.lower = self.upper = max(each.lower for each in self._actions)
        else:
            self.lower = self.upper = data["margin"] if "margin" in data else words[data["outcome"]]

    @property
    def actions(self) -> tuple[ActionValue, ...]:
        return self._actions


class Solution:
    """What is proven of a position, from the point of view of the side that acts.

    Values are in the objective's unit: under ``points`` the final margin of the deal in points, points already made
    included; under ``game`` 1, 0 or −1. ``lower`` and ``upper`` bound the position's value and are equal once it is
    proven.
    """

    def __init__(
        self, position: Position, objective: str, want: Want, values: Values, limits: Limits, index: int = 0
    ) -> None:
        self.position = position
        self.objective = objective
        self.want = want
        self.index = index
        self._values = values
        self._limits = limits
        self._line: tuple[LineStep, ...] = ()

    @classmethod
    def from_dict(cls, position: Position, data: Mapping[str, Any], want: Want = "all") -> Solution:
        """What :meth:`to_dict` said about a position, as when another machine has solved it; ``nodes`` and ``seconds``
        are then 0, and ``want`` is what had been asked for."""
        solution = cls(
            position, data["objective"], want, _Told(data), Limits(at_least=data.get("atLeast")), data["index"]
        )
        solution._line = tuple(LineStep(**step) for step in data["line"])
        return solution

    def __repr__(self) -> str:
        worth = self.lower if self.lower == self.upper else f"{self.lower}..{self.upper}"
        best = ", ".join(f"{each.action} by {each.seat}" for each in self.best)
        return f"<Solution of {str(self.position)!r}: {self.objective} {worth}, best {best or 'not asked for'}>"

    @property
    def seat(self) -> int:
        """The seat to act."""
        return self.position.seat

    @property
    def lower(self) -> int:
        return self._values.lower

    @property
    def upper(self) -> int:
        return self._values.upper

    @property
    def nodes(self) -> int:
        """Positions looked at."""
        return self._values.nodes

    @property
    def seconds(self) -> float:
        """Wall clock that the search took, the line not counted."""
        return self._values.seconds

    @property
    def proven(self) -> bool:
        """Whether everything that was wanted is known: exactly, or as far as ``at_least`` asked."""
        if self.at_least is not None:
            return self.reaches is not None
        return self._values.proven if self.want == "all" else self.lower == self.upper

    @property
    def at_least(self) -> int | None:
        """What the value was asked to reach, ``None`` if it was wanted itself."""
        return self._limits.at_least

    @property
    def reaches(self) -> bool | None:
        """Whether the value is at least what was asked; ``None`` while that is not proven, or if nothing was asked."""
        if self.at_least is None or self.lower < self.at_least <= self.upper:
            return None
        return self.lower >= self.at_least

    @property
    def value(self) -> int | None:
        """The position's value, ``None`` while it is not proven."""
        return self.lower if self.lower == self.upper else None

    @property
    def margin(self) -> int | None:
        """The value under the objective ``points``; ``None`` under others or while it is not proven."""
        return self.value if self.objective == "points" else None

    @property
    def actions(self) -> tuple[ActionValue, ...]:
        """Every legal action of the acting side with its bounds, cards first; a card's value assumes that the side
        declares nothing before it. Empty if only the value was wanted; with ``want="best"`` what is worse than the
        best has no more than an upper bound."""
        return self._values.actions

    @cached_property
    def best(self) -> tuple[Action, ...]:
        """All actions proven to be best, in the order in which ties are broken: the first is *the* answer."""
        game, actions = self.position.game, self.actions
        floor = max((each.upper for each in actions), default=0)
        best = [each.action for each in actions if each.lower == floor]
        return tuple(sorted(best, key=lambda action: game.tie_key(self.position, action)))

    @property
    def line(self) -> tuple[LineStep, ...]:
        """Best play to the end, taking at every step the first of the best actions; empty if not asked for, and
        cut off where a limit was reached."""
        return self._line

    @cached_property
    def outcome(self) -> str | None:
        """The word for the value where the objective has outcomes (``win``, ``vueltas``, ``lose``, ``replay``)."""
        return None if self.value is None else self._outcome(self.value, None)

    def outcome_of(self, each: ActionValue) -> str | None:
        """The word for an action's value, ``None`` while it is not proven."""
        return self._outcome(each.lower, each.action) if each.lower == each.upper else None

    def _outcome(self, value: int, action: Action | None) -> str | None:
        def end() -> Position:
            after = self.position if action is None else self.position.apply(action)
            return _play_out(after, self.objective, self._limits, Context())[1]

        return self.position.game.outcome(self.position, self.objective, value, end)

    def to_dict(self, index: int | None = None) -> dict[str, Any]:
        """The answer's JSON form; ``index`` is the item's place in the input, its own place unless given."""
        points = self.objective == "points"
        answer: dict[str, Any] = {
            "schema": SCHEMA,
            "index": self.index if index is None else index,
            "seat": self.seat,
            "objective": self.objective,
            "proven": self.proven,
        }
        answer |= {"margin": self.margin} if points else {"outcome": self.outcome}
        if not self.proven or self.lower < self.upper:
            answer |= {"lower": self.lower, "upper": self.upper}
        if self.at_least is not None:
            answer |= {"atLeast": self.at_least, "reaches": self.reaches}
        answer["best"] = [action.to_dict() for action in self.best]
        answer["actions"] = []
        for each in self.actions:
            proven = each.lower == each.upper
            item = {**each.action.to_dict(), "value": each.lower if proven else None}
            if not points:
                item["outcome"] = self.outcome_of(each)
            if not proven:
                item |= {"lower": each.lower, "upper": each.upper}
            answer["actions"].append(item)
        answer["line"] = [step.to_dict() for step in self.line]
        return answer


def check(position: Position, objective: str = "points") -> None:
    """Raise :class:`~arrastre.errors.ArrastreError` if a position cannot be solved under an objective."""
    game = position.game
    if objective not in game.objectives:
        known = ", ".join(game.objectives)
        raise InvalidRequest(
            f"{game.name} has no objective {objective!r}",
            [Fault("objective", "UNKNOWN_OBJECTIVE", f"no objective {objective!r}; there are {known}")],
        )
    faults = game.obstacles(position, objective)
    if faults:
        raise InvalidPosition("the position cannot be solved", faults)


def solve(
    position: Position,
    *,
    objective: str = "points",
    want: Want = "all",
    line: bool = True,
    nodes: int | None = None,
    seconds: float | None = None,
    at_least: int | None = None,
    context: Context | None = None,
) -> Solution:
    """The exact value of every legal action of a position, and a line of best play.

    ``want`` is ``"all"``, ``"best"`` (which actions are best) or ``"value"`` (the position's value alone). The search
    ends unproven after ``nodes`` (50 million unless said otherwise) or ``seconds``. A ``context`` keeps what was
    proven for the next call; with an explicit ``nodes`` it is not looked at, so that the limit cuts at the same place
    every time. With ``want="value"`` and ``at_least`` the search ends as soon as it is known whether the value reaches
    that (:attr:`Solution.reaches`), in a fraction of the time: ``objective="game", at_least=1`` asks whether the acting
    side can win. Raises :class:`~arrastre.errors.ArrastreError`.
    """
    limits = check_limits(nodes, seconds, at_least, want)
    return _solve_all([position], 1, objective, want, line, limits, context)[0]


def solve_many(
    positions: Iterable[Position],
    *,
    threads: int = 1,
    objective: str = "points",
    want: Want = "all",
    line: bool = False,
    nodes: int | None = None,
    seconds: float | None = None,
    at_least: int | None = None,
    memory_mb: int = MEMORY_MB,
) -> list[Solution]:
    """Solve each position by itself, in order; the answers are the same for any number of ``threads``.

    The limits hold for each position, ``memory_mb`` for each thread. Everything else is as for :func:`solve`.
    """
    limits = check_limits(nodes, seconds, at_least, want)
    check_whole("threads", threads, 1, MAX_THREADS)
    check_whole("memory_mb", memory_mb, 1, 65536)
    return _solve_all(list(positions), threads, objective, want, line, limits, None, memory_mb)


def _solve_all(
    positions: Sequence[Position],
    threads: int,
    objective: str,
    want: Want,
    line: bool,
    limits: Limits,
    context: Context | None,
    memory_mb: int = MEMORY_MB,
) -> list[Solution]:
    if want not in ("all", "best", "value"):
        raise InvalidRequest(
            f"nobody can want {want!r}", [Fault("want", "UNKNOWN_WANT", "want is 'all', 'best' or 'value'")]
        )
    if context is not None and not isinstance(context, Context):
        raise TypeError(f"context must be a Context, not {type(context).__name__}")
    for index, position in enumerate(positions):
        if not isinstance(position, Position):
            raise TypeError(f"position {index} must be a Position, not {type(position).__name__}")
        try:
            check(position, objective)
        except InvalidPosition as error:
            if len(positions) == 1:
                raise
            raise InvalidPosition(
                f"position {index} cannot be solved",
                [Fault(f"positions[{index}]", fault.reason, fault.message) for fault in error.faults],
            ) from None
    fresh = context is None or limits.nodes is not None
    if threads == 1 and threading.current_thread() is not threading.main_thread():
        return _solve_part(positions, 0, objective, want, line, limits, context or Context(memory_mb), fresh)
    chunk = max(1, min(_CHUNK, len(positions) // (4 * threads)))
    chunks = range(0, len(positions), chunk)
    threads = min(threads, len(chunks)) or 1
    contexts = [context or Context(memory_mb) for _ in range(threads)]
    idle: queue.SimpleQueue[Context] = queue.SimpleQueue()
    for each in contexts:
        idle.put(each)

    def work(first: int) -> list[Solution]:
        mine = idle.get()
        try:
            part = positions[first : first + chunk]
            return _solve_part(part, first, objective, want, line, limits, mine, fresh)
        finally:
            idle.put(mine)

    # A worker even for one thread: only the main thread hears Ctrl-C, and a search would keep it from listening.
    with ThreadPoolExecutor(threads, thread_name_prefix="arrastre") as pool:
        try:
            return [solution for part in pool.map(work, chunks) for solution in part]
        except BaseException:
            # Python waits for the workers on the way out; they should not keep it waiting.
            pool.shutdown(wait=False, cancel_futures=True)
            for each in contexts:
                each.stop()
            raise


def _solve_part(
    positions: Sequence[Position],
    first: int,
    objective: str,
    want: Want,
    line: bool,
    limits: Limits,
    context: Context,
    fresh: bool,
) -> list[Solution]:
    solutions: list[Solution] = []
    for game, group in groupby(positions, key=lambda position: position.game):
        run = list(group)
        if not line:
            found = game.values(
                run, objective=objective, want=want, limits=limits, context=context.native(game), fresh=fresh
            )
            for position, values in zip(run, found, strict=True):
                solutions.append(Solution(position, objective, want, values, limits, first + len(solutions)))
            continue
        # The table is still warm with a position's own values when its line is looked up.
        for position in run:
            native = context.native(game)
            found = game.values([position], objective=objective, want=want, limits=limits, context=native, fresh=fresh)
            solution = Solution(position, objective, want, found[0], limits, first + len(solutions))
            if solution.lower == solution.upper:
                solution._line = _play_out(position, objective, limits, context)[0]
            solutions.append(solution)
    return solutions


def _play_out(
    position: Position, objective: str, limits: Limits, context: Context
) -> tuple[tuple[LineStep, ...], Position]:
    """Best play from a position, the first of the best actions at every step, and where it leads."""
    steps: list[LineStep] = []
    game = position.game
    native = context.native(game)
    while not game.obstacles(position, objective):
        found = game.values([position], objective=objective, want="best", limits=limits, context=native, fresh=False)
        best = Solution(position, objective, "best", found[0], limits).best
        if not best or found[0].lower != found[0].upper:
            break
        after = position.apply(best[0])
        winner, points = game.trick_won(position, after) or (None, None)
        steps.append(LineStep(best[0].action, best[0].seat, winner, points))
        position = after
    return tuple(steps), position


def check_limits(nodes: int | None, seconds: float | None, at_least: int | None = None, want: Want = "value") -> Limits:
    """Limits as a caller gives them. Raises :class:`~arrastre.errors.InvalidRequest`."""
    if nodes is not None:
        check_whole("nodes", nodes, 1, 2**62)
    if seconds is not None and (
        isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 1e9
    ):
        raise InvalidRequest("seconds must be a positive number", [Fault("seconds", "BAD_LIMIT", "not above 0")])
    if at_least is not None:
        check_whole("at_least", at_least, -10_000, 10_000)
        if want != "value":
            message = "at_least asks about the value: want must be 'value'"
            raise InvalidRequest(message, [Fault("at_least", "VALUE_ONLY", message)])
    return Limits(nodes, seconds, at_least)


def check_whole(name: str, value: int, least: int, most: int) -> None:
    """Raise :class:`~arrastre.errors.InvalidRequest` unless ``value`` is a whole number in its range."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        message = f"{name} must be a whole number from {least} to {most}"
        raise InvalidRequest(message, [Fault(name, "BAD_LIMIT", message)])


def node_limit(limits: Limits) -> int:
    """The number of nodes at which a search must end."""
    return DEFAULT_NODES if limits.nodes is None else limits.nodes
