"""``arrastre.v1.AnalysisService``: what each call does, and how it refuses."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import Any, NoReturn, TypeVar

import grpc
from google.protobuf import duration_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

import arrastre
from arrastre.errors import ArrastreError, Fault, InvalidRequest
from arrastre.estimate import Advice
from arrastre.grade import Stopped, effort_named
from arrastre.server import convert, work
from arrastre.server.access import Tokens, caller
from arrastre.server.observe import Call, Metrics, log
from arrastre.server.work import Question
from arrastre.server.workers import BusyError, Job, Urgency, Workers
from arrastre.v1 import analysis_service_pb2 as pb
from arrastre.v1 import analysis_service_pb2_grpc

T = TypeVar("T")

SERVICE = pb.DESCRIPTOR.services_by_name["AnalysisService"].full_name

MAX_LOGGED = 2000
#: Before a deadline an estimate answers so many seconds early, for the answer has a way to go.
EARLY = 0.05
#: Items in a message of a batch.
MOST_ITEMS = 256
#: Items that a thread takes at a time: so long others wait at most.
SLICE = 16
#: Messages of a stream that are at work at a time.
IN_FLIGHT = 4

Context = grpc.aio.ServicerContext[Any, Any]


class AnalysisService(analysis_service_pb2_grpc.AnalysisServiceServicer):
    """Answers with what the library answers; all reading and thinking is done by ``workers``, within ``limits``.

    At most ``streams`` calls that stream are served at a time.
    """

    def __init__(
        self,
        workers: Workers,
        limits: convert.Limits,
        *,
        metrics: Metrics,
        streams: int = 64,
        tokens: Tokens | None = None,
    ) -> None:
        self._workers = workers
        self._limits = limits
        self._metrics = metrics
        self._streams = asyncio.Semaphore(streams)
        self._tokens = tokens

    # -- single calls

    async def Solve(self, request: pb.SolveRequest, context: Context) -> pb.SolveResponse:  # noqa: N802
        """The exact value of every legal action, and one line of best play."""

        with self._call("Solve", request.id, context) as call:
            return await self._answered(
                call, context, request, lambda job: self._solved(request, job), request.priority, work.cost(request)
            )

    async def Best(self, request: pb.BestRequest, context: Context) -> pb.BestResponse:  # noqa: N802
        """The best action of a seat that does not see every card."""
        ends = _ends(context)

        def advised(job: Job[pb.BestResponse]) -> pb.BestResponse:
            question = Question(request, self._limits, ends)
            advice = question.final(job)
            self._metrics.searched(worlds=advice.worlds)
            return pb.BestResponse(id=request.id, advice=advice, engine=question.engine)

        with self._call("Best", request.id, context) as call:
            if request.effort == pb.EFFORT_POLICY:
                # At once: nothing is searched, so no thread is waited for.
                return await self._refusing(call, context, request, lambda: self._by_policy(request))
            cost = request.seconds if request.HasField("seconds") else 0.1
            return await self._answered(call, context, request, advised, request.priority, cost)

    async def ListRulesets(  # noqa: N802
        self, request: pb.ListRulesetsRequest, context: Context
    ) -> pb.ListRulesetsResponse:
        """The rulesets with their fields."""

        async def listed() -> pb.ListRulesetsResponse:
            players = request.players if request.HasField("players") else 4
            language = request.language or "en"
            if language not in ("en", "es"):
                message = f"there is no language {language!r}; there are en, es"
                raise InvalidRequest("no such language", [Fault("language", "UNKNOWN_LANGUAGE", message)])
            found = [convert.ruleset_message(name, players, language) for name in arrastre.rulesets()]
            return pb.ListRulesetsResponse(rulesets=found, engine=convert.engine_message())

        with self._call("ListRulesets", "", context) as call:
            return await self._refusing(call, context, request, listed)

    # -- streams

    async def SolveBatch(  # noqa: N802
        self, requests: AsyncIterator[pb.SolveBatchRequest], context: Context
    ) -> AsyncIterator[pb.SolveBatchResponse]:
        """Many positions over one stream, each message answered in its turn."""

        async def begin(request: pb.SolveBatchRequest, call: Call) -> Callable[[], Awaitable[pb.SolveBatchResponse]]:
            if not 1 <= len(request.items) <= MOST_ITEMS:
                message = f"a message carries 1 to {MOST_ITEMS} items, not {len(request.items)}"
                raise InvalidRequest("no such batch", [Fault("items", "OUT_OF_RANGE", message)])
            parts = [request.items[first : first + SLICE] for first in range(0, len(request.items), SLICE)]
            tasks = [await self._begun(call, self._slice_work(part), sum(map(work.cost, part))) for part in parts]

            async def answer() -> pb.SolveBatchResponse:
                answer = pb.SolveBatchResponse(id=request.id)
                for task in tasks:
                    answer.items.extend(await task)
                return answer

            return answer

        with self._call("SolveBatch", "", context) as call:
            async for response in self._streamed(call, context, requests, begin):
                yield response

    async def WatchBest(  # noqa: N802
        self, request: pb.WatchBestRequest, context: Context
    ) -> AsyncIterator[pb.WatchBestResponse]:
        """Ever better estimates, the last of which is final."""
        asked, ends, loop = request.best, _ends(context), asyncio.get_running_loop()
        latest: asyncio.Queue[pb.WatchBestResponse] = asyncio.Queue()

        def tell(response: pb.WatchBestResponse) -> None:
            # Whoever is slow to read gets the newest, not all of them.
            while not latest.empty():
                latest.get_nowait()
            latest.put_nowait(response)

        def watched(job: Job[pb.WatchBestResponse]) -> pb.WatchBestResponse:
            question = Question(asked, self._limits, ends)

            def show(advice: Advice) -> None:
                message = convert.advice_message(question.bare(advice))
                shown = pb.WatchBestResponse(id=asked.id, advice=message, engine=question.engine)
                loop.call_soon_threadsafe(tell, shown)

            advice = question.final(job, show)
            self._metrics.searched(worlds=advice.worlds)
            return pb.WatchBestResponse(id=asked.id, advice=advice, final=True, engine=question.engine)

        with self._call("WatchBest", asked.id, context) as call:
            async with self._stream(call, context):
                cost = asked.seconds if asked.HasField("seconds") else 0.1
                last = asyncio.create_task(
                    self._answered(call, context, request, watched, asked.priority, cost, abort=False)
                )
                try:
                    while not last.done():
                        newest = asyncio.create_task(latest.get())
                        await asyncio.wait({last, newest}, return_when=asyncio.FIRST_COMPLETED)
                        if newest.done() and not last.done():
                            yield newest.result()
                        else:
                            newest.cancel()
                    try:
                        final = last.result()
                    except _Refused as refused:
                        await _abort(context, refused.status)
                    yield final
                finally:
                    last.cancel()

    async def Grade(  # noqa: N802
        self, requests: AsyncIterator[pb.GradeRequest], context: Context
    ) -> AsyncIterator[pb.GradeResponse]:
        """The decisions of recorded deals, judged."""

        async def begin(request: pb.GradeRequest, call: Call) -> Callable[[], Awaitable[list[pb.GradeResponse]]]:
            try:
                effort = effort_named(convert.grade_effort(request.effort))
                seed = request.seed if request.HasField("seed") else 1
                if seed < 0:
                    raise InvalidRequest("no such seed", [Fault("seed", "OUT_OF_RANGE", "a seed is at least 0")])
                read = await self._begun(call, lambda _job: work.deals(request), 0.01)
                items = await read
            except _Refused as refused:
                return _ready([pb.GradeResponse(id=request.id, status=refused.status, last=True)])
            except ArrastreError as error:
                return _ready([pb.GradeResponse(id=request.id, status=convert.refusal(error), last=True)])
            cost = {"quick": 0.05, "normal": 2.0, "deep": 8.0}[effort.name]
            tasks = []
            for index, item in enumerate(items):
                grade = partial(work.graded, request.id, index, item, effort, seed)
                tasks.append(await self._begun(call, grade, cost))

            async def answer() -> list[pb.GradeResponse]:
                found = []
                for task in tasks:
                    try:
                        found.append(await task)
                    except _Refused as refused:
                        found.append(pb.GradeResponse(id=request.id, status=refused.status))
                found[-1].last = True
                return found

            return answer

        with self._call("Grade", "", context) as call:
            async for responses in self._streamed(call, context, requests, begin):
                for response in responses:
                    self._metrics.item("Grade", "OK" if response.HasField("grade") else "INVALID_ARGUMENT")
                    yield response

    # -- the work, in a thread

    def _slice_work(self, items: Sequence[pb.SolveRequest]) -> Callable[[Job[Any]], list[pb.SolveBatchItem]]:
        def work(job: Job[Any]) -> list[pb.SolveBatchItem]:
            answers = []
            for item in items:
                if job.stopped:
                    break
                answer = pb.SolveBatchItem(id=item.id)
                try:
                    answer.answer.CopyFrom(self._solved(item, job))
                except ArrastreError as error:
                    answer.status.CopyFrom(convert.refusal(error))
                except MemoryError:
                    answer.status.CopyFrom(_no_memory())
                except Exception:
                    answer.status.CopyFrom(_internal("SolveBatch", item))
                answers.append(answer)
                self._metrics.item("SolveBatch", "OK" if answer.HasField("answer") else "INVALID_ARGUMENT")
            return answers

        return work

    def _solved(self, request: pb.SolveRequest, job: Job[Any]) -> pb.SolveResponse:
        response, nodes, hits = work.solved(request, self._limits, job)
        self._metrics.searched(nodes=nodes, hits=hits)
        return response

    async def _by_policy(self, request: pb.BestRequest) -> pb.BestResponse:
        question = Question(request, self._limits, None)
        return pb.BestResponse(id=request.id, advice=question.by_policy(), engine=question.engine)

    # -- how calls are served

    @contextlib.contextmanager
    def _call(self, method: str, name: str, context: Context) -> Iterator[Call]:
        client = None if self._tokens is None else caller(self._tokens, context.invocation_metadata())
        with self._metrics.call(Call(method, name, client or str(context.peer()))) as call:
            yield call

    async def _answered(
        self,
        call: Call,
        context: Context,
        request: Any,
        ask: Callable[[Job[T]], T],
        priority: int,
        cost: float,
        *,
        abort: bool = True,
    ) -> T:
        """What the work answers; whatever it refuses aborts the call."""
        urgency: Urgency = "batch" if priority == pb.PRIORITY_BATCH else "interactive"

        async def answered() -> T:
            return await self._workers.run(self._timed(urgency, ask), client=call.client, urgency=urgency, cost=cost)

        return await self._refusing(call, context, request, answered, abort=abort)

    async def _refusing(
        self, call: Call, context: Context, request: Any, ask: Callable[[], Awaitable[T]], *, abort: bool = True
    ) -> T:
        """What the work answers; whatever it refuses aborts the call, or raises :class:`_Refused`."""
        try:
            return await ask()
        except ArrastreError as error:
            status = convert.refusal(error)
        except BusyError as error:
            status = _busy(error.after)
        except MemoryError:
            status = _no_memory()
        except (Stopped, asyncio.CancelledError):
            raise
        except Exception:
            # The caller learns nothing of the inside of the server; the log keeps what it takes to reproduce it.
            status = _internal(call.method, request)
        call.status = code_pb2.Code.Name(status.code)
        if abort:
            await _abort(context, status)
        raise _Refused(status)

    def _timed(self, urgency: Urgency, ask: Callable[[Job[T]], T]) -> Callable[[Job[T]], T]:
        asked = time.perf_counter()

        def timed(job: Job[T]) -> T:
            self._metrics.waited(urgency, time.perf_counter() - asked)
            return ask(job)

        return timed

    async def _begun(self, call: Call, ask: Callable[[Job[T]], T], cost: float) -> asyncio.Task[T]:
        """A piece of a stream's work, begun as soon as it may wait with the others. Its task raises _Refused."""
        await self._workers.room()

        async def done() -> T:
            try:
                while True:
                    try:
                        return await self._workers.run(
                            self._timed("batch", ask), client=call.client, urgency="batch", cost=cost
                        )
                    except BusyError as error:
                        # It is no news to a stream that there is much to do: its sender is held back.
                        await asyncio.sleep(min(error.after, 0.1))
            except ArrastreError as error:
                raise _Refused(convert.refusal(error)) from None
            except MemoryError:
                raise _Refused(_no_memory()) from None
            except (Stopped, asyncio.CancelledError):
                raise
            except Exception:
                raise _Refused(_internal(call.method, "")) from None

        task = asyncio.create_task(done())
        call.tasks.add(task)
        task.add_done_callback(call.tasks.discard)
        return task

    @contextlib.asynccontextmanager
    async def _stream(self, call: Call, context: Context) -> AsyncIterator[None]:
        """A place among the streams, while there is one."""
        if self._streams.locked():
            call.status = "RESOURCE_EXHAUSTED"
            await _abort(context, _busy(1.0))
        async with self._streams:
            yield

    async def _streamed(
        self,
        call: Call,
        context: Context,
        requests: AsyncIterator[Any],
        begin: Callable[[Any, Call], Awaitable[Callable[[], Awaitable[T]]]],
    ) -> AsyncIterator[T]:
        """Begin a few requests ahead and answer them in order; what is not read is not begun."""
        async with self._stream(call, context):
            answers: asyncio.Queue[Callable[[], Awaitable[T]] | BaseException | None] = asyncio.Queue(IN_FLIGHT)

            async def read() -> None:
                try:
                    async for request in requests:
                        await answers.put(await begin(request, call))
                    await answers.put(None)
                except asyncio.CancelledError:
                    raise
                except BaseException as error:
                    await answers.put(error)

            reader = asyncio.create_task(read())
            call.fields["answers"] = 0
            try:
                while (answer := await answers.get()) is not None:
                    if isinstance(answer, BaseException):
                        raise answer
                    yield await answer()
                    call.fields["answers"] += 1
            except ArrastreError as error:
                status = convert.refusal(error)
                call.status = code_pb2.Code.Name(status.code)
                await _abort(context, status)
            except _Refused as refused:
                call.status = code_pb2.Code.Name(refused.status.code)
                await _abort(context, refused.status)
            finally:
                reader.cancel()
                for task in call.tasks:
                    task.cancel()


class _Refused(Exception):
    """A refusal on its way to whoever tells the caller."""

    def __init__(self, status: status_pb2.Status) -> None:
        super().__init__(status.message)
        self.status = status


def _ready(found: T) -> Callable[[], Awaitable[T]]:
    async def answer() -> T:
        return found

    return answer


def _ends(context: Context) -> float | None:
    """When an answer has to be on its way, by the monotonic clock; ``None`` without a deadline."""
    left = context.time_remaining()
    return None if left is None else time.monotonic() + left - EARLY


def _busy(after: float) -> status_pb2.Status:
    delay = duration_pb2.Duration()
    delay.FromMilliseconds(int(1000 * min(after, 30.0)))
    retry = error_details_pb2.RetryInfo(retry_delay=delay)
    return convert.status(code_pb2.RESOURCE_EXHAUSTED, "BUSY", "too much work is waiting", [retry])


def _no_memory() -> status_pb2.Status:
    return convert.status(code_pb2.RESOURCE_EXHAUSTED, "NO_MEMORY", "there is not enough memory for this request")


def _internal(method: str, request: Any) -> status_pb2.Status:
    said = {"method": method, "request": str(request)[:MAX_LOGGED]}
    log.exception("failed", extra={"fields": said})
    return convert.status(code_pb2.INTERNAL, "INTERNAL", "the server failed on this request")


async def _abort(context: Context, status: status_pb2.Status) -> NoReturn:
    answer = rpc_status.to_status(status)
    await context.abort(answer.code, answer.details, answer.trailing_metadata)
