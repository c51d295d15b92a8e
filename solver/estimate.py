"""The best card when cards are hidden: ``best`` once, ``watch`` an estimate grow.

A seat's knowledge leaves a number of worlds open. They are all looked at when they are few, and drawn with equal
chances when they are many; every action is valued in the same worlds, and those shown to be worse than the leader are
given up on the way. Nothing here knows a game; :mod:`arrastre.game` says what a game supplies.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from arrastre import statistics
from arrastre.errors import Fault, InvalidPosition, InvalidRequest
from arrastre.exact import MAX_THREADS, SCHEMA, Context, check_limits, check_whole
from arrastre.game import Action, Address, Beyond, Deal, Game, Knowledge, Limits, Position, View
from arrastre.worlds import Worlds

Status = Literal["best", "equal", "worse", "unclear"]

DEFAULT_VIEW: Final[View] = "informed"
VIEWS: Final[tuple[View, ...]] = ("clairvoyant", "informed")
DEFAULT_WORLDS: Final = 256
MOST_WORLDS: Final = 1 << 20
_FIRST_BATCH: Final = 64
_BATCH: Final = 32
#: Where no card is to be drawn any more a world costs little, and this many are all looked at.
_ENUMERATED: Final = 2048
#: Means that lie so close are called equal: half a point, or half a percent of a game.
_TOLERANCE: Final = {"points": 0.5, "game": 0.005}
_SAME: Final = 1e-9
#: Of so many worlds at most it is told what values are made of, and of no fewer than this unless there are fewer.
_TAKEN_APART: Final = 2048
_TOO_FEW: Final = 64
#: The share of the seconds allowed that may be spent on telling it, once they are over.
_AFTERWARDS: Final = 0.1
#: The seconds that may be spent on it after a stop.
_ONCE_STOPPED: Final = 0.25


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an action is worth to the side of the seat that acts, as a mean over the worlds looked at.

    ``value`` is in points of margin, or under ``game`` the probability of winning. ``loss`` is by how much it trails
    the best action in the worlds in which both were tried; it is 0 for the best. Errors are standard errors, NaN where
    one world says nothing about them. ``worlds`` counts the worlds in which the action was tried.
    """

    action: Action
    value: float
    error: float
    loss: float
    loss_error: float
    status: Status
    worlds: int

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.action.to_dict(),
            "value": _number(self.value),
            "error": _number(self.error),
            "loss": _number(self.loss),
            "lossError": _number(self.loss_error),
            "status": self.status,
            "worlds": self.worlds,
        }


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """How likely an unseen card is with each seat, and in the stock (or undealt)."""

    card: str
    seats: tuple[float, ...]
    stock: float

    def to_dict(self) -> dict[str, Any]:
        return {"card": self.card, "seats": [_number(each) for each in self.seats], "stock": _number(self.stock)}


@dataclass(frozen=True, slots=True)
class Reason:
    """Where a hidden card decides between two actions: held by ``seat`` (``None``: in the stock), as it is in a
    ``share`` of the worlds, the first action gains ``gain`` on the second, and ``otherwise`` in the others."""

    card: str
    seat: int | None
    share: float
    gain: float
    otherwise: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "card": self.card,
            "seat": self.seat,
            "share": _number(self.share),
            "gain": _number(self.gain),
            "otherwise": _number(self.otherwise),
        }


@dataclass(frozen=True, slots=True)
class PartGain:
    """What one part of the margin (cantes, points in tricks) adds on average to the gain of an action on another;
    ``names`` by language."""

    names: Mapping[str, str]
    gain: float

    def to_dict(self) -> dict[str, Any]:
        return {"part": self.names["en"], "gain": _number(self.gain)}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Why the best action beats another: the shares of worlds in which it is better, as good and worse, the hidden
    cards that decide, the weightiest first, and what the gain is made of, looked at in some of the worlds."""

    action: Action
    better: float
    same: float
    worse: float
    reasons: tuple[Reason, ...]
    parts: tuple[PartGain, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.action.to_dict(),
            "better": _number(self.better),
            "same": _number(self.same),
            "worse": _number(self.worse),
            "reasons": [each.to_dict() for each in self.reasons],
            "parts": [each.to_dict() for each in self.parts],
        }


class Advice:
    """What is best for a seat, given what it can know.

    ``exact`` means that every world was counted: no sampling error, though each world is still valued by the view's
    own light. ``solved`` means that there is but one world: the values are true. ``final`` tells the last estimate of
    a :func:`watch` from those before it.
    """

    def __init__(
        self,
        knowledge: Knowledge,
        worlds: Worlds,
        view: View,
        objective: str,
        seed: int,
        drawn: NDArray[np.uint8],
        values: NDArray[np.float64],
        racing: Sequence[int],
        *,
        exact: bool,
        final: bool,
        limits: Limits,
        contexts: list[Context],
        stopped: threading.Event,
    ) -> None:
        self.knowledge = knowledge
        self.view = view
        self.objective = objective
        self.seed = seed
        self.exact = exact
        self.final = final
        self.drawn = drawn
        self.values = values
        self._counted = worlds
        self._racing = tuple(racing)
        self._limits = limits
        self._contexts = contexts
        self._stopped = stopped
        #: How many seconds are left for telling what values are made of.
        self._left = None if limits.seconds is None else limits.seconds * _AFTERWARDS

    @property
    def seat(self) -> int:
        return self.knowledge.seat

    @property
    def worlds(self) -> int:
        """The number of worlds looked at."""
        return len(self.values)

    @property
    def world_count(self) -> int:
        """The number of worlds that the seat's knowledge leaves open."""
        return self._counted.count

    @property
    def solved(self) -> bool:
        return self.world_count == 1

    @property
    def equity(self) -> Beyond | None:
        """Which chances stand for what comes after the deal, where values need any: see :meth:`Game.beyond`."""
        position = self.knowledge.position
        return position.game.beyond(position, self.objective)

    @cached_property
    def actions(self) -> tuple[Estimate, ...]:
        """Every action of the seat, the best first, then by falling value; equals in the order of the game's ties."""
        values, racing = self.values, self._racing
        first = statistics.leader(values, racing)
        found: list[Estimate] = []
        for index, action in enumerate(self.knowledge.actions):
            mean = statistics.mean_of(values[:, index])
            behind = statistics.difference(values, first, index)
            error, loss_error = (0.0, 0.0) if self.exact else (mean.error, behind.error)
            status = self._status(index == first, index in racing, behind)
            found.append(Estimate(action, mean.mean, error, behind.mean, loss_error, status, mean.count))
        best = found.pop(first)
        found.sort(key=lambda each: -each.value)
        return (best, *found)

    def _status(self, first: bool, racing: bool, behind: statistics.Mean) -> Status:
        if first:
            return "best"
        if self.exact:
            return "equal" if behind.mean <= _SAME else "worse"
        if not racing or behind.lower > 0:
            return "worse"
        return "equal" if behind.upper <= _TOLERANCE[self.objective] else "unclear"

    @property
    def best(self) -> tuple[Action, ...]:
        """The best action, then those that are equal to it."""
        return tuple(each.action for each in self.actions if each.status in ("best", "equal"))

    def __getitem__(self, action: Action | str) -> Estimate:
        """The estimate of an action of the seat."""
        for each in self.actions:
            if action in (each.action, each.action.action):
                return each
        raise KeyError(action)

    def loss(self, action: Action) -> statistics.Mean:
        """What an action loses against the best there is, for judging whoever chose it.

        The best of noisy means looks better than it is, so the action to compare with is chosen on one half of the
        worlds and the loss measured on the other. It may come out below 0.
        """
        index = self.knowledge.actions.index(action)
        if not self.exact:
            return statistics.split_loss(self.values, index, self._racing)
        behind = statistics.difference(self.values, statistics.leader(self.values, self._racing), index)
        return statistics.Mean(behind.mean, 0.0, behind.count)

    @cached_property
    def where(self) -> tuple[Whereabouts, ...]:
        """How likely each unseen card is where, from exact counts; those that matter most first."""
        knowledge, count = self.knowledge, self.world_count
        position = knowledge.position
        players = len(position.game.describe(position, "en").seats)
        found: list[Whereabouts] = []
        for card, played, row in zip(knowledge.items, knowledge.played, self._counted.marginals(), strict=True):
            if played:
                continue
            seats, stock = [0] * players, 0
            for place, number in zip(knowledge.places, row, strict=True):
                if place.kind == "hand":
                    seats[place.seat] += number
                else:
                    stock += number
            found.append(Whereabouts(card, tuple(number / count for number in seats), stock / count))
        return tuple(sorted(found, key=lambda each: position.game.unseen_key(position, each.card)))

    def compare(self, action: Action | None = None) -> Comparison | None:
        """Why the best action beats ``action``, the next best unless given; ``None`` if there is none."""
        others = [each.action for each in self.actions[1:]]
        if not others:
            return None
        other = others[0] if action is None else action
        listed = self.knowledge.actions
        gains = self.values[:, listed.index(self.actions[0].action)] - self.values[:, listed.index(other)]
        gains = gains[: statistics.length(gains)]
        if not len(gains):
            return None
        better, worse = gains > _SAME, gains < -_SAME
        same = ~(better | worse)
        shares = float(better.mean()), float(same.mean()), float(worse.mean())
        return Comparison(other, *shares, self._reasons(gains), self._parts(other, len(gains)))

    def comparisons(self, *, every: bool) -> tuple[Comparison, ...]:
        """The best action compared with every other one, or with the first that is not as good."""
        if self.solved or not self.worlds:
            return ()
        others = [each.action for each in self.actions[1:] if every or each.status != "equal"]
        found = [self.compare(each) for each in (others if every else others[:1])]
        return tuple(each for each in found if each is not None)

    def _parts(self, other: Action, tried: int) -> tuple[PartGain, ...]:
        """What the best action's gain on another is made of, in the first worlds in which both were tried.

        Nothing if that was stopped, or took more time than there is, before enough of them had been looked at.
        """
        if self.objective != "points":
            return ()
        context = Context()
        # Whoever stops the work from now on knows of the context; whoever did so before has left a note.
        self._contexts.append(context)
        try:
            if self._stopped.is_set():
                self._left = _ONCE_STOPPED if self._left is None else min(self._left, _ONCE_STOPPED)
            return self._taken_apart(other, min(tried, _TAKEN_APART), context)
        finally:
            self._contexts.remove(context)

    def _taken_apart(self, other: Action, taken: int, context: Context) -> tuple[PartGain, ...]:
        if self._left is not None and self._left <= 0:
            return ()
        game = self.knowledge.position.game
        start = time.monotonic()
        parts = game.world_parts(
            self.knowledge,
            self.drawn[:taken],
            [self.actions[0].action, other],
            view=self.view,
            limits=Limits(self._limits.nodes, self._left),
            context=context.native(game),
        )
        if self._left is not None:
            self._left -= time.monotonic() - start
        if any(len(each.values) < min(taken, _TOO_FEW) for each in parts):
            return ()
        return tuple(PartGain(each.names, float((each.values[:, 0] - each.values[:, 1]).mean())) for each in parts)

    def _reasons(self, gains: NDArray[np.float64], most: int = 3) -> tuple[Reason, ...]:
        """The hidden cards whose place explains most of the spread of ``gains``, one place a card."""
        knowledge = self.knowledge
        if len(gains) < 2 or not knowledge.items:
            return ()
        holders = np.array([place.seat if place.kind == "hand" else -1 for place in knowledge.places])
        holding = holders[self.drawn[: len(gains)]]
        spread = float(gains.var())
        found: list[tuple[float, Reason]] = []
        for item, (card, played) in enumerate(zip(knowledge.items, knowledge.played, strict=True)):
            weighed: list[tuple[float, Reason]] = []
            for holder in sorted(set(holders.tolist())):
                there = holding[:, item] == holder
                share = float(there.mean())
                if played or not 0 < share < 1:
                    continue
                gain, otherwise = float(gains[there].mean()), float(gains[~there].mean())
                explained = share * (1 - share) * (gain - otherwise) ** 2
                # Of two samples without a true difference the means differ by chance, by so much in their squares.
                if explained * len(gains) > 9 * spread:
                    seat = int(holder) if holder >= 0 else None
                    weighed.append((explained, Reason(card, seat, share, gain, otherwise)))
            if weighed:
                found.append(max(weighed, key=lambda each: each[0]))
        found.sort(key=lambda each: -each[0])
        return tuple(reason for _, reason in found[:most])

    def to_dict(self, index: int = 0) -> dict[str, Any]:
        """The advice's JSON form; ``index`` is the item's place in the input."""
        return {
            "schema": SCHEMA,
            "index": index,
            "seat": self.seat,
            "view": self.view,
            "objective": self.objective,
            **({} if self.equity is None else {"equity": self.equity}),
            "best": [action.to_dict() for action in self.best],
            "actions": [each.to_dict() for each in self.actions],
            "exact": self.exact,
            "solved": self.solved,
            "worlds": self.worlds,
            "worldCount": str(self.world_count),
            "seed": self.seed,
        }

    def other_dict(self) -> dict[str, Any]:
        """The JSON form beside that of another view of the same decision, without what the two share."""
        shared = ("schema", "index", "seat", "objective", "worldCount", "seed", "solved")
        return {name: value for name, value in self.to_dict().items() if name not in shared}


class Watch(Iterator[Advice]):
    """Ever better estimates of one decision; the last one is ``final``. See :func:`watch`."""

    def __init__(self, advices: Iterator[Advice], contexts: list[Context], stopped: threading.Event) -> None:
        self._advices = advices
        self._contexts = contexts
        self._stopped = stopped

    def __next__(self) -> Advice:
        return next(self._advices)

    def stop(self) -> None:
        """End the running searches, from any thread; the next estimate is the final one, of what was found so far.

        A comparison of actions that is under way ends as well, with what it knows by then.
        """
        self._stopped.set()
        for context in list(self._contexts):
            context.stop()


def best(
    source: Position | Deal | Knowledge,
    *,
    seat: int | None = None,
    at: Address | str | None = None,
    view: View = DEFAULT_VIEW,
    objective: str = "points",
    worlds: int | None = None,
    seconds: float | None = None,
    nodes: int | None = None,
    seed: int = 1,
    threads: int = 1,
) -> Advice:
    """What is best for a seat that does not see every card: the last estimate of :func:`watch`."""
    running = watch(
        source,
        seat=seat,
        at=at,
        view=view,
        objective=objective,
        worlds=worlds,
        seconds=seconds,
        nodes=nodes,
        seed=seed,
        threads=threads,
    )
    try:
        for advice in running:
            if advice.final:
                return advice
    except BaseException:
        running.stop()
        raise
    raise AssertionError("a watch ends with a final estimate")


def watch(
    source: Position | Deal | Knowledge,
    *,
    seat: int | None = None,
    at: Address | str | None = None,
    view: View = DEFAULT_VIEW,
    objective: str = "points",
    worlds: int | None = None,
    seconds: float | None = None,
    nodes: int | None = None,
    seed: int = 1,
    threads: int = 1,
    keep: Action | None = None,
) -> Watch:
    """Estimate what each action of ``seat`` is worth, better and better until a limit is reached.

    ``source`` is a position, or a recorded deal of which ``at`` names the moment; then all that happened before tells
    the seat where cards can lie. It may also be what a seat knows, worked out beforehand. ``seat`` is the one to act
    unless given. At most ``worlds`` worlds are looked at (256 unless ``seconds`` are given); a race ends earlier once
    one action is left or all that are left are equal. ``nodes`` is the work that the exact search may put into one
    world. The same arguments give the same estimates for any number of ``threads``; under ``seconds`` only the number
    of worlds varies. The action to ``keep`` is tried in every world, also when it is known to be worse than another:
    then its :meth:`Advice.loss` gets ever better known, and the race ends only once it has won, or with all equal.

    Raises :class:`~arrastre.errors.ArrastreError`, before anything is searched.
    """
    limits = check_limits(nodes, seconds)
    check_whole("threads", threads, 1, MAX_THREADS)
    check_whole("seed", seed, 0, 2**63 - 1)
    if worlds is None:
        worlds = DEFAULT_WORLDS if seconds is None else MOST_WORLDS
    check_whole("worlds", worlds, 1, MOST_WORLDS)
    if view not in VIEWS:
        message = f"there is no view {view!r}; there are {', '.join(VIEWS)}"
        raise InvalidRequest(message, [Fault("view", "UNKNOWN_VIEW", message)])
    knowledge = what_is_known(source, seat, at)
    game = knowledge.position.game
    if objective not in game.objectives:
        message = f"{game.name} has no objective {objective!r}; there are {', '.join(game.objectives)}"
        raise InvalidRequest(message, [Fault("objective", "UNKNOWN_OBJECTIVE", message)])
    knowledge = knowledge.under(objective)
    counted = Worlds(knowledge.allowed, [place.capacity for place in knowledge.places])
    if not counted.count:
        raise InvalidPosition("no deal fits what is known", [_contradiction(knowledge, counted)])
    obstacles = game.obstacles(knowledge.world(counted.sample(seed, 0, 1)[0].tolist()), objective)
    if obstacles:
        raise InvalidPosition("there is nothing to decide", obstacles)
    contexts = [Context() for _ in range(threads)]
    stopped = threading.Event()
    kept = None if keep is None else knowledge.actions.index(keep)
    run = _Run(knowledge, counted, view, objective, seed, worlds, limits, threads, kept, contexts, stopped)
    return Watch(run.estimates(), contexts, stopped)


def what_is_known(source: Position | Deal | Knowledge, seat: int | None, at: Address | str | None) -> Knowledge:
    """What a seat can know in a position, or at a moment of a deal."""
    if isinstance(source, Knowledge):
        if at is not None or seat not in (None, source.seat):
            message = f"what seat {source.seat} knows at one moment is given"
            raise InvalidRequest(message, [Fault("seat" if at is None else "at", "NOT_A_RECORD", message)])
        return source
    if isinstance(source, Deal):
        if at is None:
            message = "a record has many positions: 7.2 (the second card of trick 7) says which"
            raise InvalidRequest("which position is not said", [Fault("at", "NO_ADDRESS", message)])
        return source.game.knowledge_at(source, Address.parse(at) if isinstance(at, str) else at, seat)
    if not isinstance(source, Position):
        raise TypeError(f"source must be a Position, a Deal or a Knowledge, not {type(source).__name__}")
    if at is not None:
        message = "an address is for records, and this is a position"
        raise InvalidRequest("this is no record", [Fault("at", "NOT_A_RECORD", message)])
    return source.game.knowledge(source, source.seat if seat is None else seat)


@dataclass(frozen=True, slots=True)
class _Run:
    """One question, on its way to an answer."""

    knowledge: Knowledge
    counted: Worlds
    view: View
    objective: str
    seed: int
    worlds: int
    limits: Limits
    threads: int
    #: The number of the action that is tried in every world.
    kept: int | None
    #: One for each thread, and then those of comparisons.
    contexts: list[Context]
    stopped: threading.Event

    def estimates(self) -> Iterator[Advice]:
        count = self.counted.count
        in_stock = any(place.kind == "stock" for place in self.knowledge.places)
        exact = count <= (self.worlds if in_stock else max(self.worlds, _ENUMERATED))
        deadline = None if self.limits.seconds is None else time.monotonic() + self.limits.seconds
        with ThreadPoolExecutor(self.threads, thread_name_prefix="arrastre") as pool:
            try:
                yield from self._all(pool, deadline) if exact else self._race(pool, deadline)
            finally:
                # Reached early when nobody wants the rest: the searches should not keep the pool waiting.
                for context in self.contexts[: self.threads]:
                    context.stop()

    def _all(self, pool: ThreadPoolExecutor, deadline: float | None) -> Iterator[Advice]:
        """Look at every world there is. What a limit cuts short is a race over those that come first by chance."""
        drawn = self.counted.enumerate()
        every = list(range(len(self.knowledge.actions)))
        values = self._values(pool, drawn, every, deadline, complete=True)
        if len(values) == len(drawn):
            yield self._advice(drawn, values, every, exact=True, final=True)
            return
        # The first of an enumeration are no fair sample.
        yield from self._race(pool, deadline)

    def _race(self, pool: ThreadPoolExecutor, deadline: float | None) -> Iterator[Advice]:
        racing = list(range(len(self.knowledge.actions)))
        drawn = np.empty((0, len(self.knowledge.items)), np.uint8)
        values = np.empty((0, len(racing)), np.float64)
        tolerance = _TOLERANCE[self.objective]
        while True:
            more = min(self._batch(len(values)), self.worlds - len(values))
            batch = self.counted.sample(self.seed, len(values), more)
            if len(values):
                found = self._values(pool, batch, racing, deadline, complete=False)
            else:
                # The first world is looked at whatever the clock says, so that there is an answer.
                first = self._values(pool, batch[:1], racing, None, complete=False)
                rest = self._values(pool, batch[1:], racing, deadline, complete=False) if len(first) else first
                found = np.concatenate((first, rest))
            drawn = np.concatenate((drawn, batch[: len(found)]))
            values = np.concatenate((values, found))
            cut = len(found) < more
            ahead = statistics.survivors(values, racing)
            racing = ahead if self.kept is None or self.kept in ahead else [*ahead, self.kept]
            done = len(racing) == 1 or (len(values) > 1 and statistics.all_equal(values, racing, tolerance))
            final = cut or done or len(values) == self.worlds
            yield self._advice(drawn, values, ahead, exact=False, final=final)
            if final:
                return

    @staticmethod
    def _batch(so_far: int) -> int:
        """How many worlds to look at before the next verdict: few at first, later an eighth of those seen."""
        return _FIRST_BATCH if not so_far else max(_BATCH, so_far // 8 // _BATCH * _BATCH)

    def _advice(
        self,
        drawn: NDArray[np.uint8],
        values: NDArray[np.float64],
        racing: Sequence[int],
        *,
        exact: bool,
        final: bool,
    ) -> Advice:
        return Advice(
            self.knowledge,
            self.counted,
            self.view,
            self.objective,
            self.seed,
            drawn,
            values,
            racing,
            exact=exact,
            final=final,
            limits=self.limits,
            contexts=self.contexts,
            stopped=self.stopped,
        )

    def _values(
        self,
        pool: ThreadPoolExecutor,
        drawn: NDArray[np.uint8],
        racing: Sequence[int],
        deadline: float | None,
        *,
        complete: bool,
    ) -> NDArray[np.float64]:
        """The racing actions' values in the worlds drawn, as far as the limits allow; NaN for the other actions."""
        if not len(drawn):
            return np.empty((0, len(self.knowledge.actions)))
        threads = 1 if complete else min(self.threads, len(drawn))
        # Dealt out in turn, so that what a deadline leaves undone is at the end for all threads alike.
        jobs = [
            pool.submit(self._part, drawn[first::threads], racing, context, deadline, complete)
            for first, context in enumerate(self.contexts[:threads])
        ]
        found = np.full((len(drawn), len(self.knowledge.actions)), np.nan)
        for first, job in enumerate(jobs):
            found[first::threads, racing] = job.result()
        missing = np.isnan(found[:, racing]).any(axis=1)
        return found[: int(missing.argmax())] if missing.any() else found

    def _part(
        self,
        drawn: NDArray[np.uint8],
        racing: Sequence[int],
        context: Context,
        deadline: float | None,
        complete: bool,
    ) -> NDArray[np.float64]:
        game: Game = self.knowledge.position.game
        seconds = None if deadline is None else max(deadline - time.monotonic(), 1e-6)
        actions = [self.knowledge.actions[index] for index in racing]
        return game.world_values(
            self.knowledge,
            drawn,
            actions,
            view=self.view,
            objective=self.objective,
            complete=complete,
            limits=Limits(self.limits.nodes, seconds),
            context=context.native(game),
        )


def _contradiction(knowledge: Knowledge, counted: Worlds) -> Fault:
    """What keeps every deal from fitting, in words."""
    conflict = counted.conflict()
    assert conflict is not None
    items, places = conflict
    cards = ", ".join(knowledge.items[item] for item in items)
    room = sum(knowledge.places[place].capacity for place in places)
    seats = sorted({knowledge.places[place].seat for place in places if knowledge.places[place].kind == "hand"})
    holders = [f"the hand of seat {seat}" for seat in seats]
    if any(knowledge.places[place].kind == "stock" for place in places):
        holders.append("the stock")
    if any(knowledge.places[place].kind == "out" for place in places):
        holders.append("the cards left undealt")
    where = " and ".join(holders) or "no hand"
    message = f"{len(items)} unseen cards ({cards}) can only be in {where}, which has room for {room}"
    field = f"hands[{seats[0]}]" if len(seats) == 1 else "hands"
    return Fault(field, "CONTRADICTION", message, knowledge.items[items[0]] if len(items) == 1 else None)


def _number(value: float) -> float | None:
    """A number as JSON may hold it, to six places; ``None`` for NaN."""
    return None if value != value else round(float(value), 6) + 0.0
