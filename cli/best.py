"""``arrastre best``: what is best for a seat that does not see every card, with a table that grows while it thinks."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

import click

from arrastre import estimate
from arrastre.cli import remote
from arrastre.cli.items import Item, Records
from arrastre.cli.text import Text
from arrastre.errors import Fault, InvalidRequest
from arrastre.estimate import Advice, Watch
from arrastre.exact import MAX_THREADS
from arrastre.game import Deal, Position, View

if TYPE_CHECKING:
    from rich.live import Live

    from arrastre.cli import _At, _Reader
    from arrastre.cli.advice import AdviceRenderer

Decorator = Callable[[Any], Any]
Written = Callable[[Advice, Advice | None, float], str]

_SHOWN_EVERY: Final = 0.1


def add(
    adding: Callable[[str], Decorator],
    option: Callable[..., Decorator],
    judged: Decorator,
    common: Decorator,
    read: _Reader,
    objectives: Sequence[str],
    text: Text,
) -> None:
    """Add the command to the others."""

    @adding("best")
    @click.argument("given", nargs=-1, required=True, metavar=text("help.item"))
    @option("--seat", metavar=text("help.seat"))
    @option("--at", callback=read.by(read.at), metavar="[3/]7.2")
    @option("--view", callback=read.by(read.one_of(*estimate.VIEWS)), metavar="|".join(estimate.VIEWS))
    @option("--both", is_flag=True)
    @option("--objective", callback=read.by(read.one_of(*objectives)), metavar="points|game", default="points")
    @option("--worlds", callback=read.by(read.whole(1, estimate.MOST_WORLDS)), metavar="N")
    @option("--seconds", key="best_seconds", callback=read.by(read.seconds), metavar="S")
    @option("--nodes", key="best_nodes", callback=read.by(read.whole(1, 2**62)), metavar="N")
    @option("--seed", callback=read.by(read.whole(0, 2**63 - 1)), metavar="K", default="1")
    @option("--threads", key="best_threads", callback=read.by(read.whole(1, MAX_THREADS)), metavar="N", default="1")
    @option("--where", is_flag=True)
    @option("--why", is_flag=True)
    @judged
    @option("--stats", key="best_stats", is_flag=True)
    @option("--json", "as_json", key="json", is_flag=True)
    @remote.options(option)
    @common
    def best(
        given: Sequence[str],
        seat: str | None,
        at: _At | None,
        view: View | None,
        both: bool,
        objective: str,
        worlds: int | None,
        seconds: float | None,
        nodes: int | None,
        seed: int,
        threads: int,
        where: bool,
        why: bool,
        ruleset: str | None,
        rules: Sequence[Mapping[str, str]],
        progress: str,
        stats: bool,
        as_json: bool,
        server: str | None,
        token_file: str | None,
        ca: str | None,
    ) -> int:
        from arrastre.cli import _dumps, _Gate, _listed, _merged, _Run
        from arrastre.cli.advice import AdviceRenderer

        gate = _Gate(ruleset, _merged(rules), [], "en" if as_json else text.lang, at)
        if server is not None and stats:
            raise click.UsageError(text("usage.stats_server"))
        # Of what a service thinks only the last is seen.
        board = _Board(text, progress if server is None else "none")
        run = _Run(text, as_json, "none" if board.seen else progress)
        render = AdviceRenderer(run.output.stream, text)
        limits = {"worlds": worlds, "seconds": seconds, "nodes": nodes, "seed": seed, "threads": threads}
        asked: dict[str, Any] = {"objective": objective, **limits}
        adviser: _Adviser | remote.RemoteAdviser
        if server is None:
            adviser = _Adviser(view or estimate.DEFAULT_VIEW, both, asked, board)
        else:
            client = remote.connected(text, server, token_file, ca, seconds)
            adviser = remote.RemoteAdviser(client, view or estimate.DEFAULT_VIEW, both, asked)
        here = None if at is None else at.where

        def answer(item: Item) -> Future[str] | None:
            if gate.passes_over(item):
                return None
            source = gate.source(item)

            def written(advice: Advice, other: Advice | None, took: float) -> str:
                if not as_json:
                    took_shown = took if stats else None
                    shown = render.advice(item, advice, other, here, where=where, why=why, seconds=took_shown)
                    return shown if item.error is None else shown + render.faults(item, item.error)
                found = advice.to_dict(item.index)
                if item.deal is not None:
                    found |= {"deal": item.deal.number, "at": str(here), "faults": _listed(item.deal)}
                if both:
                    found["other"] = None if other is None else other.other_dict()
                if where:
                    found["where"] = [each.to_dict() for each in advice.where]
                if why:
                    found["why"] = [each.to_dict() for each in advice.comparisons(every=True)]
                return _dumps(found | ({"seconds": round(took, 6)} if stats else {}))

            at_ = here if item.deal is not None else None
            if isinstance(adviser, remote.RemoteAdviser):
                who = None if seat is None else _seat(source, at_, seat)
                return adviser.submit(source, {"at": at_}, who, written)
            return adviser.submit(source, {"at": at_}, seat, written)

        return run.items(given, answer, adviser.stop, records=Records(gate.read_deals))


class _Adviser:
    """A thread that works out one estimate after another, each with as many threads as were asked for."""

    def __init__(self, view: View, both: bool, options: Mapping[str, Any], board: _Board) -> None:
        others = [each for each in estimate.VIEWS if each != view]
        self._views = [view, *others[:1]] if both else [view]
        self._options = dict(options)
        self._board = board
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="best")
        self._lock = threading.Lock()
        self._stopped = False
        #: The estimates of the item at hand, also while what they say is put in writing.
        self._running: list[Watch] = []

    def submit(
        self, source: Position | Deal, options: Mapping[str, Any], seat: str | None, written: Written
    ) -> Future[str]:
        """Have an estimate made and put in writing."""
        try:
            return self._pool.submit(self._answer, source, options, seat, written)
        except RuntimeError:  # the system has no thread to give
            raise MemoryError from None

    def stop(self) -> None:
        """Start nothing more, and end what is running: it answers with what has been found."""
        with self._lock:
            self._stopped = True
            for watch in self._running:
                watch.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _answer(self, source: Position | Deal, options: Mapping[str, Any], seat: str | None, written: Written) -> str:
        try:
            return self._written(source, options, seat, written)
        finally:
            with self._lock:
                self._running.clear()

    def _written(self, source: Position | Deal, options: Mapping[str, Any], seat: str | None, written: Written) -> str:
        start = time.perf_counter()
        who = None if seat is None else _seat(source, options["at"], seat)
        advice = self._advice(source, who, self._views[0], options)
        if self._stopped and not advice.worlds:
            raise CancelledError
        other = None
        if len(self._views) > 1:
            other = self._advice(source, who, self._views[1], options)
            other = other if other.worlds else None
        return written(advice, other, time.perf_counter() - start)

    def _advice(self, source: Position | Deal, seat: int | None, view: View, options: Mapping[str, Any]) -> Advice:
        watch = estimate.watch(source, seat=seat, view=view, **self._options, **options)
        with self._lock:
            self._running.append(watch)
            if self._stopped:
                watch.stop()
        try:
            with self._board:
                for advice in watch:
                    if advice.final:
                        return advice
                    self._board.show(advice)
        except RuntimeError:  # the system has no thread to give
            raise MemoryError from None
        raise AssertionError("a watch ends with a final estimate")


def _seat(source: Position | Deal, at: Any, name: str) -> int:
    """A seat by its number, or by the name that it has on the table."""
    if name.isascii() and name.isdigit() and len(name) < 10:
        return int(name)
    position = source if isinstance(source, Position) else source.position(at)
    names = [view.name for view in position.game.describe(position, "en").seats]
    if name.upper() not in names:
        message = f"there is no seat {name}; there are {', '.join(names)}"
        raise InvalidRequest("there is no such seat", [Fault("seat", "BAD_SEAT", message)])
    return names.index(name.upper())


class _Board:
    """The estimate as it grows, on standard error, for whoever looks at it."""

    def __init__(self, text: Text, progress: str) -> None:
        stream = cast("TextIO | None", sys.stderr)
        self.seen = progress == "auto" and stream is not None and stream.isatty()
        self._text = text
        self._live: Live | None = None
        self._render: AdviceRenderer | None = None
        self._last = 0.0

    def __enter__(self) -> _Board:
        self._last = time.monotonic()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def show(self, advice: Advice) -> None:
        """Show an estimate, unless another one has just been shown."""
        now = time.monotonic()
        if not self.seen or now - self._last < _SHOWN_EVERY:
            return
        self._last = now
        if self._live is None:
            self._live = self._started()
        assert self._render is not None
        self._live.update(self._render.growing(advice), refresh=True)

    def _started(self) -> Live:
        from rich.live import Live

        from arrastre.cli.advice import AdviceRenderer

        self._render = AdviceRenderer(sys.stderr, self._text)
        live = Live(
            console=self._render.console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        live.start()
        return live
