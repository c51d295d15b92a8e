"""Threads that think, who gets one next, and the way to stop what one of them is doing."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

import arrastre

T = TypeVar("T")

Urgency = Literal["interactive", "batch"]

#: Batch work that is reckoned to take longer than this, in seconds, never occupies every thread.
LONG = 0.05


class BusyError(Exception):
    """As much work waits as may wait; ``after`` is when to ask again, in seconds."""

    def __init__(self, after: float) -> None:
        super().__init__(f"again in {after} s")
        self.after = after


class Stoppable(Protocol):
    """Something at work that can be told to end, from any thread."""

    def stop(self) -> None: ...


class Job(Generic[T]):
    """A piece of work, from when it is asked for until it ends.

    The work is given the job: :attr:`context` is its thread's warm context, and whatever else it starts it hands to
    :meth:`running`, so that a stop reaches it. A stop that comes early holds for what is started later.
    """

    def __init__(self, work: Callable[[Job[T]], T], client: str, urgency: Urgency, cost: float) -> None:
        self.client = client
        self.urgency = urgency
        self.cost = cost
        self.future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._work = work
        self._lock = threading.Lock()
        self._running: list[Stoppable] = []
        self._context: arrastre.Context | None = None
        self.stopped = False

    @property
    def context(self) -> arrastre.Context:
        """The thread's context; only while the work runs."""
        assert self._context is not None
        return self._context

    def running(self, what: Stoppable) -> None:
        """Have a stop reach this as well."""
        with self._lock:
            self._running.append(what)
            if self.stopped:
                what.stop()

    def stop(self) -> None:
        """End the work soon: searches end with what they have."""
        with self._lock:
            self.stopped = True
            for each in self._running:
                each.stop()

    def run(self, context: arrastre.Context) -> T:
        """Do the work, in the thread that the context belongs to."""
        self._context = context
        # It may still be stopped from the work before.
        context.resume()
        self.running(context)
        try:
            return self._work(self)
        finally:
            with self._lock:
                self._running.clear()


@dataclass(slots=True)
class _Line:
    """Jobs of one urgency that wait: clients take turns, each one's own jobs in their order. How many there are, and
    how many seconds they are reckoned to take."""

    clients: OrderedDict[str, deque[Job[Any]]] = field(default_factory=OrderedDict)
    waiting: int = 0
    cost: float = 0.0

    def put(self, job: Job[Any]) -> None:
        self.clients.setdefault(job.client, deque()).append(job)
        self.waiting += 1
        self.cost += job.cost

    def _left(self, job: Job[Any]) -> None:
        self.waiting -= 1
        self.cost = max(0.0, self.cost - job.cost) if self.waiting else 0.0

    def next(self, fits: Callable[[Job[Any]], bool]) -> Job[Any] | None:
        """The first job that fits, of the client whose turn it is; that client then comes last."""
        for client, jobs in self.clients.items():
            if fits(jobs[0]):
                job = jobs.popleft()
                self.clients.move_to_end(client)
                if not jobs:
                    del self.clients[client]
                self._left(job)
                return job
        return None

    def remove(self, job: Job[Any]) -> bool:
        jobs = self.clients.get(job.client)
        if jobs is None or job not in jobs:
            return False
        jobs.remove(job)
        if not jobs:
            del self.clients[job.client]
        self._left(job)
        return True


class Workers:
    """``threads`` threads with a transposition table of ``memory_mb`` MiB each, and those who wait for one.

    Interactive work goes before batch work, and clients take turns. Of each kind at most ``waiting`` jobs wait, and no
    more than ``seconds`` of reckoned work; what would be more is refused at once, unless it can wait outside
    (:meth:`room`). All but the work itself happens in the event loop's thread.
    """

    def __init__(self, *, threads: int, memory_mb: int, waiting: int, seconds: float) -> None:
        self.threads = threads
        self._most = waiting
        self._seconds = seconds
        self._memory_mb = memory_mb
        self._thread = threading.local()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="arrastre")
        self._lines: dict[Urgency, _Line] = {"interactive": _Line(), "batch": _Line()}
        self._working: set[Job[Any]] = set()
        self._outside: deque[asyncio.Future[None]] = deque()

    @property
    def busy(self) -> int:
        """Threads at work."""
        return len(self._working)

    @property
    def waiting(self) -> int:
        """Jobs that wait for a thread."""
        return sum(line.waiting for line in self._lines.values())

    async def run(
        self,
        work: Callable[[Job[T]], T],
        *,
        client: str = "",
        urgency: Urgency = "interactive",
        cost: float = 0.0,
    ) -> T:
        """Have a thread do ``work``, reckoned to take ``cost`` seconds.

        Cancelling the caller stops the work, or takes it out of the line. Raises :class:`BusyError`.
        """
        job = Job(work, client, urgency, cost)
        line = self._lines[urgency]
        if self.busy >= self.threads and (line.waiting >= self._most or line.cost + cost > self._seconds):
            raise BusyError(max(0.05, line.cost / self.threads))
        line.put(job)
        self._hand_out()
        try:
            return await asyncio.shield(job.future)
        except asyncio.CancelledError:
            if line.remove(job):
                self._let_in()
            else:
                job.stop()
            raise

    async def room(self) -> None:
        """Wait until a batch job more may wait: for work that comes in a stream, whose sender can be held back."""
        line = self._lines["batch"]
        while line.waiting >= max(1, self._most // 2) or line.cost > self._seconds / 2:
            free: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._outside.append(free)
            await free

    def stop(self) -> None:
        """End all work that is being done."""
        for job in self._working:
            job.stop()

    def close(self) -> None:
        """Wait for the threads to end; whoever waits for their work must have been cancelled before."""
        self._pool.shutdown(cancel_futures=True)

    def _hand_out(self) -> None:
        """Give free threads something to do."""
        while self.busy < self.threads:
            job = self._lines["interactive"].next(lambda _: True) or self._lines["batch"].next(self._fits)
            if job is None:
                return
            self._let_in()
            self._working.add(job)
            loop = asyncio.get_running_loop()
            self._pool.submit(self._do, job, loop)

    def _fits(self, job: Job[Any]) -> bool:
        """Whether long batch work leaves a thread to others."""
        if job.cost <= LONG or self.threads == 1:
            return True
        long = sum(each.urgency == "batch" and each.cost > LONG for each in self._working)
        return long < self.threads - 1

    def _let_in(self) -> None:
        """One of those who wait outside may look again."""
        while self._outside:
            free = self._outside.popleft()
            if not free.done():
                free.set_result(None)
                break

    def _do(self, job: Job[T], loop: asyncio.AbstractEventLoop) -> None:
        """One job, in a thread of the pool."""
        try:
            found: T | BaseException = job.run(self._context())
        except BaseException as error:
            found = error
        loop.call_soon_threadsafe(self._done, job, found)

    def _done(self, job: Job[T], found: T | BaseException) -> None:
        self._working.discard(job)
        if not job.future.done():
            if isinstance(found, BaseException):
                job.future.set_exception(found)
                job.future.exception()  # looked at, so that asyncio does not report it when the caller has gone
            else:
                job.future.set_result(found)
        self._hand_out()

    def _context(self) -> arrastre.Context:
        """This thread's context, made when it is first needed."""
        context = getattr(self._thread, "context", None)
        if context is None:
            context = self._thread.context = arrastre.Context(memory_mb=self._memory_mb)
        return context
