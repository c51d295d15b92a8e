"""``--server``: the work is done by a service, and what is printed is the same."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

import arrastre
from arrastre.cli.text import Text
from arrastre.errors import ArrastreError, Fault, InvalidRequest
from arrastre.estimate import Advice, Comparison, Estimate, PartGain, Reason, Whereabouts, watch
from arrastre.game import Action, Beyond, Deal, Knowledge, Position, View, Want
from arrastre.record import LineValue, Record, line_values

if TYPE_CHECKING:
    from arrastre.client import Client, ServiceError

#: How many positions are looked at for each step of a line, unless it is said how many.
LINE_NODES: Final = 2_000_000

Decorator = Callable[[Any], Any]


def options(option: Callable[..., Decorator]) -> Decorator:
    """The options that say which service does the work."""

    def add(function: Any) -> Any:
        function = option("--ca", metavar="FILE")(function)
        function = option("--token-file", key="token_file", metavar="FILE")(function)
        return option("--server", metavar="HOST:PORT")(function)

    return add


def connected(text: Text, server: str, token_file: str | None, ca: str | None, seconds: float | None) -> Client:
    """A connection to the service that the options name. Raises click.UsageError for a file that cannot be read."""
    # Here, so that no other command waits for gRPC to be imported.
    from arrastre.client import DEFAULT_TIMEOUT, Client, Secrets

    try:
        token = None if token_file is None else Path(token_file).read_text().strip()
        return Client(
            server,
            secrets=Secrets(ca=None if ca is None else Path(ca), token=token),
            timeout=DEFAULT_TIMEOUT + (seconds or 0.0),
            attempts=3,
        )
    except OSError as error:
        raise click.UsageError(text("usage.no_server", name=error.filename, reason=error.strerror)) from None


def told(error: ServiceError) -> ArrastreError:
    """A failed call as an item's error: what the request was refused for, or that the service failed."""
    said = error.message if error.faults else f"{error.code}: {error.message}"
    found = InvalidRequest(said, error.faults or [Fault("", error.code, said)])
    found.code = error.reason or error.code  # type: ignore[misc]
    return found


class RemoteSolver:
    """Has a service solve positions, so many at a time; otherwise like the command's own solver."""

    def __init__(
        self,
        client: Client,
        threads: int,
        objective: str,
        want: Want,
        line: bool,
        nodes: int | None,
        seconds: float | None,
    ) -> None:
        self._client = client
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="remote")
        self._objective = objective
        self._want = want
        self._line = line
        self._given = nodes
        self._limits: dict[str, Any] = {
            "nodes": arrastre.game.DEFAULT_NODES if nodes is None else nodes,
            "seconds": seconds,
        }

    def submit(self, position: Position, answer: Callable[[arrastre.Solution, float], str]) -> Future[str]:
        """Have a position solved and the answer put in writing."""
        return self._pool.submit(lambda: answer(self._solved(position, line=self._line, **self._limits), 0.0))

    def submit_line(self, deal: Deal, answer: Callable[[Sequence[LineValue]], str]) -> Future[str]:
        """Have what was played in a deal valued, and the answer put in writing."""

        def solving(position: Position, **asked: Any) -> arrastre.Solution:
            kept = {name: asked[name] for name in ("line", "nodes", "seconds")}
            return self._solved(position, want="all", **kept)

        def valued() -> str:
            nodes = LINE_NODES if self._given is None else self._given
            seconds = self._limits["seconds"]
            return answer(line_values(deal, objective=self._objective, solving=solving, nodes=nodes, seconds=seconds))

        return self._pool.submit(valued)

    def stop(self) -> None:
        """Start nothing more, and give up what is asked."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._client.close()

    def _solved(self, position: Position, *, want: Want | None = None, **asked: Any) -> arrastre.Solution:
        arrastre.check(position, self._objective)
        found = _asked(
            lambda: self._client.solve(position, objective=self._objective, want=want or self._want, **asked)
        )
        return arrastre.Solution.from_dict(position, found, want or self._want)


class RemoteAdviser:
    """Has a service make estimates, one after another; otherwise like the command's own adviser."""

    def __init__(self, client: Client, view: View, both: bool, options: Mapping[str, Any]) -> None:
        self._client = client
        self._view = view
        self._both = both
        self._options = dict(options)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="remote")

    def submit(
        self,
        source: Position | Deal,
        options: Mapping[str, Any],
        seat: int | None,
        written: Callable[[Advice, Advice | None, float], str],
    ) -> Future[str]:
        """Have an estimate made and put in writing."""

        def answer() -> str:
            advice, other = self._advised(source, options["at"], seat)
            return written(advice, other, 0.0)

        return self._pool.submit(answer)

    def stop(self) -> None:
        """Start nothing more, and give up what is asked."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._client.close()

    def _advised(self, source: Position | Deal, at: Any, seat: int | None) -> tuple[Advice, Advice | None]:
        # What is wrong with the question is found here, in the same words as without a service.
        asked = {name: value for name, value in self._options.items() if name != "threads"}
        watch(source, seat=seat, at=at, view=self._view, **asked)
        knowledge = arrastre.estimate.what_is_known(source, seat, at).under(asked["objective"])
        if isinstance(source, Deal):
            question: dict[str, Any] = {"record": Record([source]).to_dict(), "at": str(at)}
        else:
            question = {"position": source}
        more: dict[str, Any] = {"view": self._view, "both": self._both, "where": True, "why": True}
        found = _asked(lambda: self._client.best(seat=knowledge.seat, names=True, **question, **asked, **more))
        advice = ToldAdvice(knowledge, found)
        other = found["other"] if self._both else None
        return advice, None if other is None else ToldAdvice(knowledge, found | other | {"where": [], "why": []})


def _asked(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    from arrastre.client import ServiceError

    try:
        return ask()
    except ServiceError as error:
        if error.code == "CANCELLED":
            raise CancelledError from None
        raise told(error) from None
    except ValueError as error:  # the channel was closed by an interruption
        raise CancelledError from error


class ToldAdvice(Advice):
    """An estimate that somebody else has made, from its JSON form."""

    def __init__(self, knowledge: Knowledge, data: Mapping[str, Any]) -> None:
        self.knowledge = knowledge
        self.view = data["view"]
        self.objective = data["objective"]
        self.seed = data["seed"]
        self.exact = data["exact"]
        self.final = True
        self._data = data

    @property
    def worlds(self) -> int:
        """The number of worlds looked at."""
        return int(self._data["worlds"])

    @property
    def world_count(self) -> int:
        """The number of worlds that the seat's knowledge leaves open."""
        return int(self._data["worldCount"])

    @property
    def equity(self) -> Beyond | None:
        """Which chances stand for what comes after the deal."""
        found: Beyond | None = self._data.get("equity")
        return found

    @cached_property
    def actions(self) -> tuple[Estimate, ...]:
        """Every action of the seat, the best first."""
        return tuple(
            Estimate(
                action=Action(each["action"], each["seat"]),
                value=_float(each["value"]),
                error=_float(each["error"]),
                loss=_float(each["loss"]),
                loss_error=_float(each["lossError"]),
                status=each["status"],
                worlds=each["worlds"],
            )
            for each in self._data["actions"]
        )

    @cached_property
    def where(self) -> tuple[Whereabouts, ...]:
        """How likely each unseen card is where."""
        return tuple(Whereabouts(each["card"], tuple(each["seats"]), each["stock"]) for each in self._data["where"])

    def compare(self, action: Action | None = None) -> Comparison | None:
        """Why the best action beats another."""
        for each in self._data["why"]:
            if action is None or (each["action"], each["seat"]) == (action.action, action.seat):
                reasons = tuple(Reason(**reason) for reason in each["reasons"])
                parts = tuple(PartGain(part["names"], part["gain"]) for part in each["parts"])
                shares = each["better"], each["same"], each["worse"]
                return Comparison(Action(each["action"], each["seat"]), *shares, reasons, parts)
        return None


def _float(value: float | None) -> float:
    return math.nan if value is None else value


def grade(client: Client, deal: Deal, effort: str, seed: int) -> dict[str, Any]:
    """A graded deal as :meth:`arrastre.DealGrade.to_dict` has it."""
    found = client.grade(json.dumps(Record([deal]).to_dict()), effort=effort, seed=seed)
    grade, error = found[0]
    if grade is None:
        assert error is not None
        raise error
    # What is wrong with the deal was found where it was read, with the lines of that text.
    return grade | {"index": 0, "faults": [each.to_dict() for each in deal.faults]}
