"""Threads that solve, each with a context of its own, and the way to stop one of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

import arrastre

T = TypeVar("T")


class BusyError(Exception):
    """All threads are at work and as much work waits as may wait."""


class Workers:
    """A pool of ``threads`` threads with a transposition table of ``memory_mb`` MiB each.

    At most ``waiting`` pieces of work wait for a thread; one more is refused at once.
    """

    def __init__(self, *, threads: int, memory_mb: int, waiting: int) -> None:
        self._room = threads + waiting
        self._inside = 0
        self._memory_mb = memory_mb
        self._thread = threading.local()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="arrastre")

    async def run(self, work: Callable[[arrastre.Context], T]) -> T:
        """Have a thread do ``work``, which must give the context it gets to every search.

        Cancelling the caller stops the search, or takes the work out of the queue. Raises :class:`BusyError`.
        """
        if self._inside >= self._room:
            raise BusyError
        task = _Task(work)
        submitted = self._pool.submit(lambda: task.run(self._context()))
        self._inside += 1
        future = asyncio.wrap_future(submitted)
        future.add_done_callback(self._leave)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if not submitted.cancel():
                task.stop()
            raise

    def close(self) -> None:
        """Wait for the threads to end; whoever waits for their work must have been cancelled before."""
        self._pool.shutdown(cancel_futures=True)

    def _context(self) -> arrastre.Context:
        """This thread's context, made when it is first needed."""
        context = getattr(self._thread, "context", None)
        if context is None:
            context = self._thread.context = arrastre.Context(memory_mb=self._memory_mb)
        return context

    def _leave(self, future: asyncio.Future[T]) -> None:
        self._inside -= 1
        if not future.cancelled():
            future.exception()  # looked at, so that asyncio does not report it when the caller has gone


class _Task(Generic[T]):
    """Work that may be stopped from another thread, without the stop ever reaching the work that comes after it."""

    def __init__(self, work: Callable[[arrastre.Context], T]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._context: arrastre.Context | None = None
        self._stopped = False

    def run(self, context: arrastre.Context) -> T:
        with self._lock:
            # The context may still be stopped from the work before; if this work was stopped before it began, it ends
            # in its first search.
            if self._stopped:
                context.stop()
            else:
                context.resume()
            self._context = context
        try:
            return self._work(context)
        finally:
            with self._lock:
                self._context = None

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._context is not None:
                self._context.stop()
