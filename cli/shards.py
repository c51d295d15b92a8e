"""Graded deals on disk, and those who grade them: here, in other processes, or on other machines.

A *shard* is what one worker makes of a few deals: a compressed file of JSON lines, one for each deal, under a name that
comes from what is in it. It is written under another name and then renamed, so that there is all of it or nothing,
whenever a process or a machine dies. What is to be done is what is in no shard; nobody has to remember anything.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import logging
import multiprocessing
import os
import signal
import socket
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import astuple, dataclass
from functools import lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from arrastre._version import ANSWERS
from arrastre.exact import Context
from arrastre.game import Deal
from arrastre.grade import SCHEMA, Effort, grade_deal
from arrastre.record import Record

if TYPE_CHECKING:
    from arrastre.client import Client

_SUFFIX: Final = ".jsonl.gz"
_TEMPORARY: Final = ".tmp"
#: Where the key stands in a line.
_KEY: Final = slice(8, 40)
#: Shards that are held while they are read.
_HELD: Final = 8


class WorkersLostError(Exception):
    """A worker ended without a word: killed, or for want of memory."""


class NoClusterError(Exception):
    """No Ray cluster answers at an address."""


class BusyError(Exception):
    """Somebody else is at work in the same folder."""


@dataclass(frozen=True, slots=True)
class Task:
    """Deals for one worker, each with its key; one without faults goes as its JSON form, which is smaller."""

    keys: tuple[str, ...]
    deals: tuple[Deal | Mapping[str, Any], ...]

    @property
    def name(self) -> str:
        """The name of its shard."""
        return hashlib.blake2b("".join(self.keys).encode(), digest_size=16).hexdigest() + _SUFFIX


@dataclass(frozen=True, slots=True)
class Order:
    """How deals are to be graded; ``options``: with what every action is worth."""

    folder: str
    effort: Effort
    seed: int
    options: bool

    def key(self, fingerprint: str) -> str:
        """The key of a deal: a hash of all that its grades depend on."""
        said = [SCHEMA, ANSWERS, *astuple(self.effort), self.seed, self.options, fingerprint]
        return hashlib.blake2b(json.dumps(said).encode(), digest_size=16).hexdigest()


def sent(deal: Deal) -> Deal | Mapping[str, Any]:
    """A deal as it is sent to a worker."""
    return deal if deal.faults else deal.to_dict()


def work(order: Order, task: Task, told: Callable[[], None] = lambda: None) -> Task:
    """Grade the deals of a task and write its shard."""
    write_whole(Path(order.folder, task.name), shard(order, task, told))
    return Task(task.keys, ())


def shard(
    order: Order,
    task: Task,
    told: Callable[[], None] = lambda: None,
    graded: Callable[[Deal], dict[str, Any]] | None = None,
) -> bytes:
    """Grade the deals of a task: what its shard holds. This is what every worker does, wherever it is; ``graded`` has
    somebody else grade a deal."""
    lines = []
    for key, given in zip(task.keys, task.deals, strict=True):
        deal = given if isinstance(given, Deal) else Record.from_dict(given, strict=False).deals[0]
        if graded is not None:
            found = graded(deal)
        else:
            found = grade_deal(deal, effort=order.effort, seed=order.seed, context=_context()).to_dict()
        if not order.options:
            for each in found["decisions"]:
                del each["options"]
        text = json.dumps({"key": key, "grade": found}, ensure_ascii=False, separators=(",", ":"))
        lines.append(text.encode("utf-8", "surrogatepass") + b"\n")
        told()
    return gzip.compress(b"".join(lines), 1, mtime=0)


@lru_cache(maxsize=1)
def _context() -> Context:
    """This process's working memory; what it remembers changes no answer."""
    return Context()


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there as a whole or not at all. Raises OSError."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}{_TEMPORARY}")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


class Store:
    """The shards of a folder. Of each deal no more is held than its key and the number of its shard."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._lock: IO[bytes] = (folder / "lock").open("ab")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise BusyError(str(folder)) from None
        for left in folder.glob(f"*{_TEMPORARY}"):
            left.unlink(missing_ok=True)
        self._names: list[str] = []
        self._shard_of: dict[bytes, int] = {}
        self._held: OrderedDict[int, dict[str, Any]] = OrderedDict()
        for path in sorted(folder.glob(f"*{_SUFFIX}")):
            try:
                keys = [line[_KEY].decode() for line in _lines(path)]
            except (OSError, EOFError, zlib.error, UnicodeDecodeError):
                # A disk that lost what it had promised: whatever was in it is graded again.
                path.unlink()
                continue
            self.add(path.name, keys)

    def close(self) -> None:
        self._lock.close()

    def __contains__(self, key: str) -> bool:
        return bytes.fromhex(key) in self._shard_of

    def __len__(self) -> int:
        return len(self._shard_of)

    def add(self, name: str, keys: Iterable[str]) -> None:
        """Take note of a shard."""
        for key in keys:
            self._shard_of[bytes.fromhex(key)] = len(self._names)
        self._names.append(name)

    def clear(self) -> None:
        """Forget everything that was graded."""
        for name in self._names:
            (self.folder / name).unlink(missing_ok=True)
        self._names.clear()
        self._shard_of.clear()
        self._held.clear()

    def grade(self, key: str) -> dict[str, Any]:
        """The graded deal with a key. Raises OSError."""
        number = self._shard_of[bytes.fromhex(key)]
        if number in self._held:
            self._held.move_to_end(number)
        else:
            data = [json.loads(line) for line in _lines(self.folder / self._names[number])]
            self._held[number] = {each["key"]: each["grade"] for each in data}
            while len(self._held) > _HELD:
                self._held.popitem(last=False)
        found: dict[str, Any] = self._held[number][key]
        return found


def _lines(path: Path) -> list[bytes]:
    return gzip.decompress(path.read_bytes()).splitlines()


# -- who does the work -----------------------------------------------------------------------------------------------

Told = Callable[[int], None]


def here(order: Order, tasks: Iterator[Task], told: Told) -> Iterator[Task]:
    """Do everything in this process; ``told`` how many deals more are done."""
    for task in tasks:
        yield work(order, task, lambda: told(1))


def in_processes(jobs: int, order: Order, tasks: Iterator[Task], told: Told) -> Iterator[Task]:
    """Have other processes do it, so many at a time; what is done comes in any order.

    Raises :class:`WorkersLostError` when one of them dies, OSError when one cannot write.
    """
    try:
        yield from _in_pool(jobs, order, tasks, told)
    except BrokenProcessPool:
        raise WorkersLostError from None
    except OSError as error:
        # What a disk complains of has a number; the pool's own pipes, closed as it broke, have none.
        if error.errno is None:
            raise WorkersLostError from None
        raise


def _in_pool(jobs: int, order: Order, tasks: Iterator[Task], told: Told) -> Iterator[Task]:
    spawn = multiprocessing.get_context("spawn")
    # Nothing is ever sent: the workers go when this end is closed, or when this process is no more. Locks and events
    # that processes share would be held for ever by a worker that was killed with them in hand.
    theirs, ours = spawn.Pipe(duplex=False)
    pool = ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_begin, initargs=(theirs,))
    pending: set[Future[Task]] = set()
    try:
        for task in tasks:
            pending.add(pool.submit(work, order, task))
            if len(pending) >= 2 * jobs:
                yield from _finished(pending, told)
        while pending:
            yield from _finished(pending, told)
    finally:
        # Also when nobody wants the rest: what is half done shall not keep anybody waiting.
        if pending:
            ours.close()
        try:
            pool.shutdown(wait=True, cancel_futures=True)
        finally:
            ours.close()
            theirs.close()


def _finished(pending: set[Future[Task]], told: Told) -> Iterator[Task]:
    """Wait for what is done next, and take it out of ``pending``."""
    for future in wait(pending, return_when=FIRST_COMPLETED).done:
        task = future.result()
        pending.discard(future)
        told(len(task.keys))
        yield task


def _begin(parent: Connection) -> None:
    """A worker's beginning: Ctrl-C is its parent's business, and it does not outlive its parent's interest."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        parent.poll(None)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class RefusedError(Exception):
    """A service does not do the work."""


def on_server(client: Client, jobs: int, order: Order, tasks: Iterator[Task], told: Told) -> Iterator[Task]:
    """Have a service grade, so many deals at a time; shards are written here.

    Raises :class:`RefusedError` when the service refuses or cannot be reached.
    """
    from arrastre.cli import remote
    from arrastre.client import ServiceError

    def graded(deal: Deal) -> dict[str, Any]:
        return remote.grade(client, deal, order.effort.name, order.seed)

    pending: set[Future[Task]] = set()

    def done(task: Task) -> Task:
        write_whole(Path(order.folder, task.name), shard(order, task, graded=graded))
        return Task(task.keys, ())

    try:
        with ThreadPoolExecutor(jobs, thread_name_prefix="remote") as pool:
            for task in tasks:
                pending.add(pool.submit(done, task))
                if len(pending) >= 2 * jobs:
                    yield from _finished(pending, told)
            while pending:
                yield from _finished(pending, told)
    except ServiceError as error:
        raise RefusedError(str(error)) from None
    finally:
        for each in pending:
            each.cancel()
        client.close()


#: A Ray task that has brought down so many workers brings them down itself.
_ATTEMPTS: Final = 5
#: After so many seconds without a single worker the cluster is given up.
_PATIENCE: Final = 120.0
#: Seconds to find out whether anybody listens at an address.
_KNOCK: Final = 10.0


def on_ray(address: str | None, jobs: int | None, order: Order, tasks: Iterator[Task], told: Told) -> Iterator[Task]:
    """Have a Ray cluster do it, one worker on each of its processors, or on ``jobs`` of them.

    ``address`` ``None`` starts a cluster on this machine. Shards come back as bytes and are written here, so that the
    machines need no folder in common. Raises :class:`NoClusterError`, :class:`WorkersLostError` when there have been
    no workers for two minutes or one task has brought down five of them.
    """
    import ray

    # The cluster's own messages are its operator's; what goes wrong here is told in this command's words.
    try:
        _knock(address or "")
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False, include_dashboard=False)
    except (OSError, RuntimeError, ValueError) as error:
        raise NoClusterError(address or "") from error
    try:
        yield from _Cluster(ray, jobs, order).work(tasks, told)
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raises OSError where nobody listens at HOST:PORT, for which Ray itself takes minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=_KNOCK).close()


class _RayWorker:
    """What runs on a processor of the cluster, with working memory that stays warm from one shard to the next."""

    def __init__(self, order: Order) -> None:
        self._order = order

    def ready(self) -> None:
        """Answers as soon as there is a place for this worker."""

    def work(self, task: Task) -> bytes:
        return shard(self._order, task)


class _Cluster:
    """Who does what on a Ray cluster. Tasks go to workers that have answered, one at a time, and are given to another
    when a worker is lost: Ray's own retries fail when the worker's machine is gone."""

    def __init__(self, ray: Any, jobs: int | None, order: Order) -> None:
        self._ray = ray
        self._order = order
        self._make = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_RayWorker)
        self._jobs = jobs
        #: What is waited for: a worker's first word, or a task's shard.
        self._pending: dict[Any, tuple[Any, Task | None]] = {}
        self._idle: list[Any] = []
        self._again: list[Task] = []
        self._attempts: dict[str, int] = {}

    def work(self, tasks: Iterator[Task], told: Told) -> Iterator[Task]:
        self._hire()
        for task in tasks:
            yield from self._until(lambda: bool(self._idle) and not self._again, told)
            self._give(task)
        yield from self._until(lambda: not self._again and not self._working(), told)

    def _until(self, done: Callable[[], bool], told: Told) -> Iterator[Task]:
        """Take in what comes, and give again what was lost, until ``done``."""
        while True:
            while self._again and self._idle:
                self._give(self._again.pop())
            if done():
                return
            self._hire()
            waiting = list(self._pending)
            alone = not self._working() and not self._idle
            ready, _ = self._ray.wait(waiting, num_returns=1, timeout=_PATIENCE if alone else 1.0)
            if alone and not ready:
                raise WorkersLostError
            for each in ready:
                worker, task = self._pending.pop(each)
                try:
                    found = self._ray.get(each)
                except self._ray.exceptions.RayTaskError:
                    raise  # a fault of this program, the same anywhere
                except self._ray.exceptions.RayError:
                    self._lost(task)
                    continue
                self._idle.append(worker)
                if task is not None:
                    write_whole(Path(self._order.folder, task.name), found)
                    told(len(task.keys))
                    yield Task(task.keys, ())

    def _working(self) -> int:
        return sum(task is not None for _, task in self._pending.values())

    def _hire(self) -> None:
        """As many workers as the cluster has processors now; those that find no place wait."""
        wanted = self._jobs or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        while len(self._idle) + len(self._pending) < wanted:
            worker = self._make.remote(self._order)
            self._pending[worker.ready.remote()] = (worker, None)

    def _give(self, task: Task) -> None:
        worker = self._idle.pop()
        self._pending[worker.work.remote(task)] = (worker, task)

    def _lost(self, task: Task | None) -> None:
        if task is None:
            return
        self._attempts[task.name] = self._attempts.get(task.name, 0) + 1
        if self._attempts[task.name] >= _ATTEMPTS:
            raise WorkersLostError
        self._again.append(task)
