"""``arrastre engine``: the service's questions as JSON lines, for programs that would rather not speak gRPC.

Each line of the input is an object with ``do`` (``solve``, ``best``, ``grade``, ``rulesets``, ``cancel``), an ``id`` of
the caller's own, and the fields of the request as docs/service.md lists them. Each question gets exactly one line with
its ``id`` and an ``answer`` or an ``error``; a ``best`` that is to be watched gets lines with ``progress`` before it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

import arrastre
from arrastre.errors import ArrastreError, Fault, InvalidRequest, InvalidSyntax
from arrastre.estimate import Advice
from arrastre.grade import Stopped, effort_named
from arrastre.server import convert, work
from arrastre.server.workers import BusyError, Job, Urgency, Workers
from arrastre.v1 import analysis_service_pb2 as pb

#: Worlds of each strength; 0 plays by the rules of thumb alone.
LEVELS = {0: 0, 1: 4, 2: 16, 3: 64, 4: 256, 5: 1024}
#: Fields that say how a question is treated, and are none of its message.
_HOW = frozenset({"do", "id", "level", "watch", "position", "record", "at", "deal"})
_DOING = ("solve", "best", "grade", "rulesets", "cancel")
#: A line longer than this, in bytes, is refused.
LONGEST = 1024 * 1024
_TOO_LONG = bytes(1)
_CANCELLED: dict[str, Any] = {"error": {"code": "CANCELLED", "message": "it was cancelled", "faults": []}}


class Engine:
    """Answers lines until their end. ``say`` is given each line of the output, from the event loop's thread."""

    def __init__(self, workers: Workers, limits: convert.Limits, say: Callable[[dict[str, Any]], None]) -> None:
        self._workers = workers
        self._limits = limits
        self._say = say
        self._asked: dict[str, asyncio.Task[None]] = {}
        self._jobs: dict[str, Job[Any]] = {}
        self._all: set[asyncio.Task[None]] = set()

    def line(self, line: bytes) -> None:
        """Take a line of input."""
        name: Any = None
        try:
            data = _read(line)
            name = data.get("id")
            if (name is not None and not isinstance(name, str | int)) or isinstance(name, bool):
                name = None
                raise InvalidRequest("no such id", [Fault("id", "BAD_TYPE", "an id is a text or a number")])
            self._begin(str(name) if name is not None else "", name, data)
        except ArrastreError as error:
            self._say({"id": name, "error": error.to_dict()})

    def _begin(self, key: str, name: Any, data: Mapping[str, Any]) -> None:
        do = data.get("do")
        if do not in _DOING:
            message = f"there is no {do!r}; there are {', '.join(_DOING)}"
            raise InvalidRequest("what is to be done is not said", [Fault("do", "UNKNOWN_WORD", message)])
        if do == "cancel":
            job = self._jobs.get(key)
            if job is not None:
                job.stop()
            elif key in self._asked:
                self._asked[key].cancel()
            else:
                raise InvalidRequest("nothing to cancel", [Fault("id", "UNKNOWN_ID", f"nothing is asked as {key!r}")])
            return
        if key and key in self._asked:
            raise InvalidRequest("asked already", [Fault("id", "ID_TWICE", f"{key!r} is being answered")])
        ask, urgency, cost = self._question(do, name, data)
        task = asyncio.get_running_loop().create_task(self._answer(key, name, ask, urgency, cost))
        self._all.add(task)

        def done(_: asyncio.Task[None]) -> None:
            self._all.discard(task)
            if task.cancelled():  # perhaps before it had begun
                self._say({"id": name, **_CANCELLED})

        task.add_done_callback(done)
        if key:
            self._asked[key] = task
            task.add_done_callback(lambda _: self._asked.pop(key, None))

    def _question(
        self, do: str, name: Any, data: Mapping[str, Any]
    ) -> tuple[Callable[[Job[Any]], dict[str, Any]], Urgency, float]:
        """The work that a line asks for."""
        urgency: Urgency = (
            "batch" if data.get("priority", "batch" if do == "grade" else "") == "batch" else "interactive"
        )
        if do == "rulesets":
            request = convert.message_of(pb.ListRulesetsRequest(), _rest(data))
            players = request.players if request.HasField("players") else 4

            def rulesets(_: Job[Any]) -> dict[str, Any]:
                found = [
                    convert.ruleset_message(each, players, request.language or "en") for each in arrastre.rulesets()
                ]
                return convert.rulesets_dict(pb.ListRulesetsResponse(rulesets=found))

            return rulesets, urgency, 0.0
        if do == "grade":
            return self._grading(data), urgency, 2.0
        text = _position_text(data)
        if do == "solve":
            solving = convert.message_of(pb.SolveRequest(text=text), _rest(data))

            def solve(job: Job[Any]) -> dict[str, Any]:
                response, *_ = work.solved(solving, self._limits, job)
                if job.stopped and not response.solution.proven:
                    raise Stopped
                return convert.solution_dict(response.solution)

            return solve, urgency, work.cost(solving)
        asking = convert.message_of(pb.BestRequest(), _rest(data))
        if "record" in data:
            asking.moment.CopyFrom(_moment(data))
        else:
            asking.text = text
        level = data.get("level")
        if level is not None:
            if isinstance(level, bool) or not isinstance(level, int) or level not in LEVELS:
                message = f"a level is {min(LEVELS)} to {max(LEVELS)}"
                raise InvalidRequest("no such level", [Fault("level", "OUT_OF_RANGE", message)])
            if LEVELS[level]:
                asking.worlds = LEVELS[level]
            else:
                asking.effort = pb.EFFORT_POLICY
        loop = asyncio.get_running_loop()

        def best(job: Job[Any]) -> dict[str, Any]:
            question = work.Question(asking, self._limits, None)
            if asking.effort == pb.EFFORT_POLICY:
                return convert.advice_dict(question.by_policy())

            def show(advice: Advice) -> None:
                loop.call_soon_threadsafe(self._say, {"id": name, "progress": question.bare(advice)})

            found = question.final(job, show if data.get("watch") is True else None)
            if job.stopped and not found.worlds:
                raise Stopped
            return convert.advice_dict(found, both=asking.both, where=asking.where, why=asking.why)

        return best, urgency, 0.1

    def _grading(self, data: Mapping[str, Any]) -> Callable[[Job[Any]], dict[str, Any]]:
        request = convert.message_of(pb.GradeRequest(record=_record(data)), _rest(data))
        effort = effort_named(convert.grade_effort(request.effort))
        seed = request.seed if request.HasField("seed") else 1

        def grade(job: Job[Any]) -> dict[str, Any]:
            deals = []
            for index, item in enumerate(work.deals(request)):
                response = work.graded("", index, item, effort, seed, job)
                deal: dict[str, Any] = {"error": None if item.error is None else item.error.to_dict()}
                deal["grade"] = convert.grade_dict(response.grade) if response.HasField("grade") else None
                deals.append(deal)
            return {"deals": deals}

        return grade

    async def _answer(
        self, key: str, name: Any, ask: Callable[[Job[Any]], dict[str, Any]], urgency: Urgency, cost: float
    ) -> None:
        def work_(job: Job[Any]) -> dict[str, Any]:
            if key:
                self._jobs[key] = job
            return ask(job)

        said: dict[str, Any]
        try:
            said = {"answer": await self._workers.run(work_, urgency=urgency, cost=cost)}
        except ArrastreError as error:
            said = {"error": error.to_dict()}
        except BusyError as error:
            said = {
                "error": {"code": "BUSY", "message": f"too much is waiting; again in {error.after:.1f} s", "faults": []}
            }
        except Stopped:
            said = _CANCELLED
        except MemoryError:
            said = {"error": {"code": "NO_MEMORY", "message": "there is not enough memory for this", "faults": []}}
        finally:
            self._jobs.pop(key, None)
        self._say({"id": name, **said})

    async def drained(self) -> None:
        """Wait until everything that was asked has been answered."""
        while self._all:
            await asyncio.wait(set(self._all))

    def stop(self) -> None:
        """Have everything that is being worked out end with what it has."""
        self._workers.stop()
        for key, task in list(self._asked.items()):
            if key not in self._jobs:
                task.cancel()


def run(source: IO[bytes], write: Callable[[str], None], *, threads: int, memory_mb: int = 16) -> bool:
    """Answer the lines of ``source`` until its end; whether it came to its end without an interruption."""
    return asyncio.run(_run(source, write, threads, memory_mb))


async def _run(source: IO[bytes], write: Callable[[str], None], threads: int, memory_mb: int) -> bool:
    loop = asyncio.get_running_loop()
    workers = Workers(threads=threads, memory_mb=memory_mb, waiting=100_000, seconds=1e9)

    def say(data: dict[str, Any]) -> None:
        write(json.dumps(data, ensure_ascii=False) + "\n")

    engine = Engine(workers, convert.Limits(seconds=3600.0), say)
    ended: asyncio.Future[bool] = loop.create_future()

    def end(whole: bool) -> None:
        if not ended.done():
            ended.set_result(whole)

    def read() -> None:
        for line in _lines(source.fileno()):
            loop.call_soon_threadsafe(engine.line, line)
        loop.call_soon_threadsafe(end, True)

    # The end of a program does not wait for a thread that waits for input.
    threading.Thread(target=read, daemon=True).start()
    try:
        if threading.current_thread() is threading.main_thread():
            loop.add_signal_handler(signal.SIGINT, end, False)
        whole = await ended
        if not whole:
            engine.stop()
        await engine.drained()
    finally:
        await asyncio.to_thread(workers.close)
    return whole


def _lines(descriptor: int) -> Iterator[bytes]:
    """The lines that are not empty; one that is too long is :data:`_TOO_LONG`.

    Read without the stream's buffer: its lock would be held by a thread that waits for input when the program ends.
    """
    rest, dropping = b"", False
    while piece := os.read(descriptor, 65536):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            if dropping or len(line) > LONGEST:
                yield _TOO_LONG
            elif line.strip():
                yield line
            dropping = False
        if len(rest) > LONGEST:
            rest, dropping = b"", True
    if dropping:
        yield _TOO_LONG
    elif rest.strip():
        yield rest


def _read(line: bytes) -> dict[str, Any]:
    if line is _TOO_LONG:
        raise InvalidSyntax("the line is too long", [Fault("", "TOO_LONG", f"a line has {LONGEST} bytes at most")])
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        raise InvalidSyntax("this is no JSON", [Fault("", "NOT_JSON", "each line is a JSON object")]) from None
    if not isinstance(data, dict):
        raise InvalidSyntax("this is no object", [Fault("", "BAD_TYPE", "each line is a JSON object")])
    return data


def _rest(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the request itself."""
    return {key: value for key, value in data.items() if key not in _HOW}


def _position_text(data: Mapping[str, Any]) -> str:
    given = data.get("position")
    if isinstance(given, dict):
        return json.dumps(given)
    if given is None and "record" in data:
        return ""
    if not isinstance(given, str):
        message = "a position is a text or an object"
        raise InvalidRequest(
            "there is no position", [Fault("position", "MISSING" if given is None else "BAD_TYPE", message)]
        )
    return given


def _record(data: Mapping[str, Any]) -> str:
    given = data.get("record")
    if isinstance(given, dict):
        return json.dumps(given)
    if not isinstance(given, str):
        message = "a record is a text or an object"
        raise InvalidRequest(
            "there is no record", [Fault("record", "MISSING" if given is None else "BAD_TYPE", message)]
        )
    return given


def _moment(data: Mapping[str, Any]) -> pb.RecordMoment:
    rest = {key: data[key] for key in ("deal", "at") if key in data}
    return convert.message_of(pb.RecordMoment(record=_record(data)), rest)
