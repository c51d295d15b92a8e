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
import multiprocessing
import os
import signal
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import astuple, dataclass
from functools import lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any, Final

from arrastre._version import ANSWERS
from arrastre.exact import Context
from arrastre.game import Deal
from arrastre.grade import SCHEMA, Effort, grade_deal
from arrastre.record import Record

_SUFFIX: Final = ".jsonl.gz"
_TEMPORARY: Final = ".tmp"
#: Where the key stands in a line.
_KEY: Final = slice(8, 40)
#: Shards that are held while they are read.
_HELD: Final = 8


class WorkersLostError(Exception):
    """A worker ended without a word: killed, or for want of memory."""


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
    """Grade the deals of a task and write its shard. This is what every worker does, wherever it is."""
    lines = []
    for key, given in zip(task.keys, task.deals, strict=True):
        deal = given if isinstance(given, Deal) else Record.from_dict(given, strict=False).deals[0]
        found = grade_deal(deal, effort=order.effort, seed=order.seed, context=_context()).to_dict()
        if not order.options:
            for each in found["decisions"]:
                del each["options"]
        text = json.dumps({"key": key, "grade": found}, ensure_ascii=False, separators=(",", ":"))
        lines.append(text.encode("utf-8", "surrogatepass") + b"\n")
        told()
    write_whole(Path(order.folder, task.name), gzip.compress(b"".join(lines), 1, mtime=0))
    return Task(task.keys, ())


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
    except BrokenProcessPool:
        raise WorkersLostError from None
    finally:
        # Also when nobody wants the rest: what is half done shall not keep anybody waiting.
        if pending:
            ours.close()
        pool.shutdown(wait=True, cancel_futures=True)
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
