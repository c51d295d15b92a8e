"""The command ``arrastre``: reads items, asks the solver, prints answers for people or for programs.

It knows games only through ``arrastre.game``. Everything that people read, help included, is in Spanish or English.
"""

from __future__ import annotations

import errno
import itertools
import json
import math
import os
import queue
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from types import FrameType
from typing import Any, BinaryIO, Final, NoReturn, TextIO, cast

import click

import arrastre
from arrastre import game, notation
from arrastre.cards import quoted
from arrastre.cli import best, convert, engine, grade, items, remote
from arrastre.cli import serve as serving
from arrastre.cli.items import Item
from arrastre.cli.standings import Standings
from arrastre.cli.text import LANGUAGES, Text, language
from arrastre.errors import ArrastreError, Fault, IllegalAction, InvalidRequest, InvalidRules
from arrastre.game import Address, Deal, Position
from arrastre.record import AUTO, DealItem, LineValue, Record, line_values, read_deals

__all__ = ["command", "main"]

OK: Final = 0
FAILED: Final = 1
BAD_USAGE: Final = 2
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141

_AHEAD: Final = 256
"""How many items are read before the oldest of them must have been answered."""

LINE_NODES: Final = remote.LINE_NODES
"""How much is looked at for each action of a line that was played: enough for everything after the draw."""

_PROGRESS_EVERY: Final = 0.25
_MOST_THREADS: Final = 256

_PLAYERS: Final = (4, 2, 3, 5)
"""How many may play a game."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command with the process's arguments, and end the process."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    given = sys.argv[1:] if arguments is None else list(arguments)
    command(language(given, os.environ)).main(given, prog_name="arrastre")
    raise AssertionError("click has ended the process")


# What the commands write to.


class _OutputError(Exception):
    """Standard output takes no more."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror or str(error))
        self.broken_pipe = isinstance(error, BrokenPipeError)


class _Output:
    """Standard output: whole items at a time, and each failure of it told apart from the solver's."""

    def __init__(self) -> None:
        # None when the process was started with its output closed.
        self.stream = cast("TextIO | None", sys.stdout)
        self._written = False

    def write(self, string: str) -> None:
        """Write an item. Raises _OutputError."""
        try:
            if self.stream is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            self.stream.write(string)
        except OSError as error:
            raise _OutputError(error) from None

    def write_apart(self, string: str) -> None:
        """Write an item for people, set apart from the one before it. Raises _OutputError."""
        self.write("\n" + string if self._written else string)
        self._written = True

    def flush(self) -> None:
        """See that everything written is seen. Raises _OutputError."""
        try:
            if self.stream is not None:
                self.stream.flush()
        except OSError as error:
            raise _OutputError(error) from None


def _print(string: str) -> None:
    """Write to standard output and see it written. Raises _OutputError."""
    output = _Output()
    output.write(string)
    output.flush()


def _dumps(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"


def _say(message: str) -> None:
    """A line on standard error, which may be closed."""
    stream = cast("TextIO | None", sys.stderr)
    if stream is not None:
        try:
            stream.write(message + "\n")
            stream.flush()
        except OSError:
            pass


class _Progress:
    """How far the work has come, on standard error; silent unless asked for or looked at."""

    def __init__(self, kind: str, text: Text) -> None:
        stream = cast("TextIO | None", sys.stderr)
        # Beside answers that scroll by in the same terminal, a counter would only be in the way.
        seen = stream is not None and stream.isatty() and not (sys.stdout and sys.stdout.isatty())
        self._kind = "none" if stream is None or (kind == "auto" and not seen) else kind
        self._text = text
        self._last = time.monotonic()
        self._shown = False
        self.done = 0
        self.failed = 0

    def add(self, failed: bool) -> None:
        """Count an item that has been answered."""
        self.done += 1
        self.failed += failed
        if self._kind != "none" and time.monotonic() - self._last >= _PROGRESS_EVERY:
            self._show()

    def close(self) -> None:
        """Programs get a last line with the final counts; for people the counter goes away."""
        if self._kind == "json":
            self._show()
        elif self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _show(self) -> None:
        self._last = time.monotonic()
        if self._kind == "json":
            _say(_dumps({"schema": 1, "done": self.done, "failed": self.failed}).rstrip())
        else:
            sys.stderr.write(f"\r{self._text('run.progress', done=self.done, failed=self.failed)}\x1b[K")
            sys.stderr.flush()
            self._shown = True


class _Interrupt:
    """Ctrl-C: the first one stops the work and lets the answers found so far be written; another one is final.

    The first raises KeyboardInterrupt only where the program waits, so that no answer is lost or torn by it.
    """

    def __init__(self) -> None:
        self._raised = False
        self._waiting = False
        self._before: Any = None

    def __enter__(self) -> _Interrupt:
        mine = threading.current_thread() is threading.main_thread()
        # Whoever starts a program in the background may have it ignore Ctrl-C; it then stays ignored.
        if mine and callable(signal.getsignal(signal.SIGINT)):
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        again, self._raised = self._raised, True
        if again or self._waiting:
            raise KeyboardInterrupt

    @contextmanager
    def waiting(self, waiting: bool = True) -> Iterator[None]:
        """Whether, inside, the program only waits (and may be interrupted) or changes something (and may not)."""
        before, self._waiting = self._waiting, waiting
        try:
            if waiting and self._raised:
                raise KeyboardInterrupt
            yield
        finally:
            self._waiting = before
        if before and self._raised:
            raise KeyboardInterrupt


# What the commands do.


@dataclass(frozen=True, slots=True)
class _At:
    """A decision asked for: where in a deal, and in which one (``None``: in every deal)."""

    deal: int | None
    where: Address


@dataclass(frozen=True, slots=True)
class _Gate:
    """How items become positions: a ruleset for those that name none, overrides of the rules, the decision that is
    meant in a record, actions to do first."""

    ruleset: str | None
    rules: Mapping[str, str]
    then: Sequence[str]
    lang: str
    at: _At | None = None

    def read_deals(self, lines: Iterable[bytes]) -> Iterator[DealItem]:
        """The deals of a record under the rules that were asked for."""
        return read_deals(lines, ruleset=self.ruleset, rules=self.rules)

    def source(self, item: Item) -> Position | Deal:
        """The position, or the recorded deal of which the decision is meant. Raises ArrastreError."""
        position = self.position(item)
        return position if item.deal is None else item.deal

    def passes_over(self, item: Item) -> bool:
        """Whether the item is a deal that was not asked for."""
        number = None if self.at is None else self.at.deal
        return number is not None and item.deal is not None and item.deal.number != number

    def position(self, item: Item) -> Position:
        """The position to look at. Raises ArrastreError.

        A deal with faults has it where they leave no doubt about it.
        """
        if item.error is not None and (item.deal is None or self.at is None or not item.deal.is_certain(self.at.where)):
            raise item.error
        if item.deal is not None:
            if self.at is None:
                said = "a record has many positions: --at 7.2 says which"
                raise InvalidRequest("which position is not said", [Fault("at", "NO_ADDRESS", said)])
            return self._after(item.deal.position(self.at.where))
        if self.at is not None:
            said = "--at is for records, and this is a position"
            raise InvalidRequest("this is no record", [Fault("at", "NOT_A_RECORD", said)])
        raw = notation.read(item.text)
        if self.ruleset not in (None, AUTO) and "ruleset" not in raw.data:
            raw = replace(raw, data={**raw.data, "ruleset": self.ruleset})
        if self.rules:
            raw = replace(raw, data={**raw.data, "rules": self._overridden(raw.data.get("rules"))})
        return self._after(Position.from_raw(raw))

    def _overridden(self, rules: object) -> object:
        if rules is None:
            return dict(self.rules)
        if not isinstance(rules, Mapping):
            return rules  # the gate says what is wrong with it
        mine = {_folded(field) for field in self.rules}
        return {**{field: value for field, value in rules.items() if _folded(field) not in mine}, **self.rules}

    def _after(self, position: Position) -> Position:
        for place, action in enumerate(self.then):
            try:
                position = position.apply(action)
            except IllegalAction as error:
                why = position.why_not(action, self.lang) if self.lang != "en" else None
                faults = [replace(each, field=f"then[{place}]", message=why or each.message) for each in error.faults]
                raise IllegalAction(error.message, faults) from None
        return position


def _located(item: Item, error: ArrastreError) -> ArrastreError:
    """An item's error with the line of the input in every fault; those of its text count from its first line."""
    if error is item.error or item.deal is not None or not item.line:
        return error
    faults = [replace(fault, line=item.line - 1 + (fault.line or 1)) for fault in error.faults]
    return type(error)(error.message, faults)


def _folded(field: object) -> str:
    """A rule's field, however it is spelled: ``figureUnderRey`` is ``figure_under_rey``."""
    return str(field).replace("_", "").lower()


class _Faulty(str):
    """An answer for people that is given in spite of faults."""

    __slots__ = ()


class _Run:
    """A command at work on a list of items: one answer for each, in order, held back as little as can be."""

    def __init__(self, text: Text, as_json: bool, progress: str) -> None:
        from arrastre.cli.render import Renderer

        self.text = text
        self.as_json = as_json
        self.output = _Output()
        self.render = Renderer(self.output.stream, text)
        self._complain = Renderer(sys.stderr, text).error
        self._progress = _Progress(progress, text)
        self._interrupt = _Interrupt()
        self._pending: deque[tuple[Item, Future[str] | str | ArrastreError]] = deque()

    def items(
        self,
        arguments: Sequence[str],
        answer: Callable[[Item], Future[str] | str | None],
        stop: Callable[[], None] = lambda: None,
        *,
        records: items.Records | None = None,
        last: Callable[[], str] = lambda: "",
    ) -> int:
        """Answer every item; the exit status.

        ``stop`` makes futures that are running end soon. An item is passed over if the answer is ``None``, and counted
        all the same if it is empty. ``last`` is what there is to say after all items.
        """
        source = items.read(arguments, _stdin, self._before_wait, records)
        passed_over = False
        with self._interrupt:
            try:
                while (item := self._next(source)) is not None:
                    try:
                        found = answer(item)
                    except ArrastreError as error:
                        self._pending.append((item, error))
                    else:
                        if found is None:
                            passed_over = True
                            continue
                        self._pending.append((item, found))
                    self._write_ready(_AHEAD)
                self._write_ready(0)
                if said := last():
                    self.output.write_apart(said)
            except KeyboardInterrupt:
                stop()
                self._write_found()
                if said := last():
                    self.output.write_apart(said)
                self._end()
                _say(self.text("run.interrupted"))
                return INTERRUPTED
            finally:
                stop()
            self._end()
        if not self._progress.done:
            if passed_over:
                _say(self.text("run.no_such_deal"))
                return FAILED
            if not self.as_json:
                _say(self.text("run.no_record" if records is not None and records.only else "run.nothing"))
        return FAILED if self._progress.failed else OK

    def _next(self, source: Iterator[Item]) -> Item | None:
        with self._interrupt.waiting():
            return next(source, None)

    def _before_wait(self) -> None:
        """Whoever writes the input may be waiting for the answers so far."""
        with self._interrupt.waiting(False):
            self._write_ready(0)
            self.output.flush()

    def _write_ready(self, most: int) -> None:
        """Write the answers that are there, in order, until at most so many items are without one."""
        while self._pending:
            item, answer = self._pending[0]
            if isinstance(answer, Future):
                if not answer.done():
                    if len(self._pending) <= most:
                        return
                    self.output.flush()
                try:
                    with self._interrupt.waiting():
                        answer = answer.result()
                except ArrastreError as error:
                    answer = error
            self._pending.popleft()
            self._write(item, answer)

    def _write_found(self) -> None:
        """After an interruption: what has been found all the same, in order."""
        while self._pending:
            item, answer = self._pending.popleft()
            if isinstance(answer, Future):
                try:
                    answer = answer.result()
                except CancelledError:
                    return
                except ArrastreError as error:
                    answer = error
            self._write(item, answer)

    def _write(self, item: Item, answer: str | ArrastreError) -> None:
        failed = isinstance(answer, ArrastreError | _Faulty)
        if not isinstance(answer, ArrastreError):
            if answer:
                (self.output.write if self.as_json else self.output.write_apart)(answer)
        elif self.as_json:
            error = _located(item, answer).to_dict()
            self.output.write(_dumps({"schema": 1, "index": item.index, "error": error}))
        else:
            self.output.flush()
            _say(self._complain(item, _located(item, answer)).rstrip("\n"))
        self._progress.add(failed)

    def _end(self) -> None:
        self._progress.close()
        self.output.flush()


class _Job:
    """Something to be worked out, and the answer to come."""

    def __init__(self, work: Callable[[arrastre.Context], str]) -> None:
        self.work = work
        self.future: Future[str] = Future()


class _Solver:
    """A pool of threads, each with a context of its own, that solves positions one by one."""

    def __init__(
        self, threads: int, objective: str, want: game.Want, line: bool, nodes: int | None, seconds: float | None
    ) -> None:
        self._most = threads
        self._threads: list[threading.Thread] = []
        self._working = 0
        self._lock = threading.Lock()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._contexts: list[arrastre.Context] = []
        self._stopped = False
        self._objective = objective
        self._want = want
        self._line = line
        # An explicit limit starts from a fresh table: answers then do not depend on which thread gave them.
        self._nodes = game.DEFAULT_NODES if nodes is None else nodes
        self._given = nodes
        self._seconds = seconds

    def submit(self, position: Position, answer: Callable[[arrastre.Solution, float], str]) -> Future[str]:
        """Have a position solved and the answer put in writing, both in one of the threads."""
        return self._submit(lambda context: self._solved(position, answer, context))

    def submit_line(self, deal: Deal, answer: Callable[[Sequence[LineValue]], str]) -> Future[str]:
        """Have what was played in a deal valued, and the answer put in writing."""
        return self._submit(lambda context: answer(self._valued(deal, context)))

    def _submit(self, work: Callable[[arrastre.Context], str]) -> Future[str]:
        job = _Job(work)
        self._jobs.put(job)
        if len(self._threads) < self._most:
            self._start_thread()
        return job.future

    def stop(self) -> None:
        """Start nothing more, and end what is running: it answers with what has been proven."""
        with self._lock:
            self._stopped = True
            self._cancel_waiting()
            for _ in self._threads:
                self._jobs.put(None)
            for context in self._contexts:
                context.stop()

    def _cancel_waiting(self) -> None:
        while True:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return
            if job is not None:
                job.future.cancel()

    def _start_thread(self) -> None:
        """One more thread, if the system has one to give. Raises MemoryError if there is none at all."""
        thread = threading.Thread(target=self._run, name=f"solve-{len(self._threads)}")
        with self._lock:
            self._working += 1
        try:
            thread.start()
        except (RuntimeError, MemoryError):
            self._most = len(self._threads)
            if not self._leave():
                self._cancel_waiting()
                raise MemoryError from None
        else:
            self._threads.append(thread)

    def _leave(self) -> int:
        """One thread fewer; how many are left."""
        with self._lock:
            self._working -= 1
            return self._working

    def _run(self) -> None:
        """A thread's life: solve until told to end. One without memory to work in leaves its work to the others."""
        context = arrastre.Context()
        with self._lock:
            self._contexts.append(context)
        while (job := self._jobs.get()) is not None:
            if self._stopped:
                job.future.cancel()
                continue
            try:
                job.future.set_result(job.work(context))
            except MemoryError as error:
                if self._leave():
                    self._hand_on(job, context)
                    return
                with self._lock:
                    self._working += 1
                job.future.set_exception(error)
            except BaseException as error:
                job.future.set_exception(error)

    def _hand_on(self, job: _Job, context: arrastre.Context) -> None:
        with self._lock:
            self._contexts.remove(context)
            if self._stopped:
                job.future.cancel()
            else:
                self._jobs.put(job)

    def _valued(self, deal: Deal, context: arrastre.Context) -> Sequence[LineValue]:
        return line_values(
            deal,
            objective=self._objective,
            nodes=LINE_NODES if self._given is None else self._given,
            seconds=self._seconds,
            context=context,
        )

    def _solved(
        self, position: Position, answer: Callable[[arrastre.Solution, float], str], context: arrastre.Context
    ) -> str:
        start = time.perf_counter()
        solution = arrastre.solve(
            position,
            objective=self._objective,
            want=self._want,
            line=self._line,
            nodes=self._nodes,
            seconds=self._seconds,
            context=context,
        )
        return answer(solution, time.perf_counter() - start)


def _stdin() -> BinaryIO | None:
    stream = cast("TextIO | None", sys.stdin)
    return None if stream is None else stream.buffer


# The commands as click sees them.


class _Speaking(click.Command):
    """A command whose help is in one language, headings included."""

    text: Text

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage line."""
        pieces = " ".join(self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, prefix=self.text("help.usage"))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and a group's commands."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        records = [record for each in options if (record := each.get_help_record(ctx)) is not None]
        with formatter.section(self.text("help.options")):
            formatter.write_dl(records)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; whatever is wrong is wrong with this command."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise


class _Command(_Speaking):
    """One of the commands."""

    allow_extra_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take a position text that begins with an empty hand (``-/7O/…``) for what it is: no option."""
        extra = super().parse_args(ctx, [" " + each if each.startswith("-/") else each for each in args])
        if extra:
            raise click.UsageError(self.text("usage.extra", name=" ".join(extra)), ctx)
        return extra


class _Main(_Speaking, click.Group):
    """The command as a whole. It speaks its language also when it is used wrongly."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then the commands."""
        super().format_options(ctx, formatter)
        rows = [(name, each.get_short_help_str()) for name, each in self.commands.items()]
        with formatter.section(self.text("help.commands")):
            formatter.write_dl(rows)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The commands in the order in which one learns them."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say that there is none."""
        if args[0] not in self.commands:
            raise click.UsageError(self.text("usage.no_command", name=args[0]), ctx)
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run and exit: with what the command says, or the status of whatever stopped it."""
        sys.exit(self._status(*args, **{**extra, "standalone_mode": False}))

    def _status(self, *args: Any, **extra: Any) -> int:
        try:
            return int(super().main(*args, **extra) or OK)
        except click.UsageError as error:
            _say(self._complaint(error))
            return BAD_USAGE
        except click.Abort:
            return INTERRUPTED
        except _OutputError as error:
            _give_up_output()
            if error.broken_pipe:
                return BROKEN_PIPE
            _say("arrastre: " + self.text("run.no_output", reason=error))
        except OSError as error:  # of click's own output
            _give_up_output()
            _say("arrastre: " + self.text("run.no_output", reason=error.strerror))
        except MemoryError:
            _say("arrastre: " + self.text("run.no_memory"))
        return FAILED

    def _complaint(self, error: click.UsageError) -> str:
        """What is wrong with the usage, in one line, and where to read more."""
        path = error.ctx.command_path if error.ctx else "arrastre"
        return f"{path}: {self._what(error)}\n({self.text('usage.see', command=path)})"

    def _what(self, error: click.UsageError) -> str:
        say = self.text
        if isinstance(error, click.NoSuchOption):
            perhaps = [say("usage.perhaps", names=", ".join(error.possibilities))] if error.possibilities else []
            return "; ".join([say("usage.no_option", name=error.option_name), *perhaps])
        if isinstance(error, click.BadOptionUsage):
            options = {name: each for each in (error.ctx.command.params if error.ctx else []) for name in each.opts}
            flag = isinstance(option := options.get(error.option_name), click.Option) and option.is_flag
            return say("usage.takes_no_value" if flag else "usage.needs_value", name=error.option_name)
        if isinstance(error, click.BadParameter):
            param = error.param
            name = param.opts[-1] if isinstance(param, click.Option) else (param.human_readable_name if param else "")
            if isinstance(error, click.MissingParameter):
                return say("usage.missing", name=name)
            return say("usage.bad_value", name=name, message=error.message)
        return error.message


def _give_up_output() -> None:
    """Nobody can take what is left in the buffer: Python shall not try again when it exits."""
    try:
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):
        pass


class _Reader:
    """Reads the options' values, and says what is wrong with one in the language of the command."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def by(self, read: Callable[[str], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
        """A callback that reads an option's value, or each one of an option that may be repeated."""

        def callback(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
            try:
                if isinstance(value, tuple):
                    return [read(each) for each in value]
                return None if value is None else read(value)
            except _ValueError as error:
                raise click.BadParameter(str(error), ctx, param) from None

        return callback

    def one_of(self, *words: str) -> Callable[[str], str]:
        """One of a few words."""

        def read(value: str) -> str:
            if value not in words:
                raise _ValueError(self._text("usage.one_of", value=value, names=", ".join(words)))
            return value

        return read

    def whole(self, low: int, high: int) -> Callable[[str], int]:
        """A whole number within limits."""

        def read(value: str) -> int:
            number = int(value) if value.isascii() and value.isdigit() and len(value) <= 20 else -1
            if not low <= number <= high:
                raise _ValueError(self._text("usage.whole", value=value, low=low, high=high))
            return number

        return read

    def seconds(self, value: str) -> float:
        """A time above zero."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not 0 < seconds < 1e9:
            raise _ValueError(self._text("usage.seconds", value=value))
        return seconds

    def actions(self, value: str) -> list[str]:
        """Actions separated by commas, not yet looked at."""
        actions = [each.strip() for each in value.split(",")]
        if not all(actions):
            raise _ValueError(self._text("usage.then", value=value))
        return actions

    def settings(self, value: str) -> dict[str, str]:
        """Fields of the rules and their values, each known to one game at least."""
        settings: dict[str, str] = {}
        for part in value.split(","):
            field, _, setting = (each.strip() for each in part.partition("="))
            if not (field and setting):
                raise _ValueError(self._text("usage.rule", value=quoted(part.strip())))
            self._check_setting(field, setting)
            settings[field] = setting
        return settings

    def _check_setting(self, field: str, setting: str) -> None:
        """Items may name the rulesets of any game: what no game understands is wrong for all of them."""
        known: game.RuleRow | None = None
        for name, players in itertools.product(_first_rulesets(), _PLAYERS):
            try:
                rows = game.game_of(name).rules(name, {}, players, self._text.lang)
                known = known or next((each for each in rows if _folded(each.field) == _folded(field)), None)
                game.game_of(name).rules(name, {field: setting}, players, self._text.lang)
                return
            except InvalidRules:
                continue
        if known is None:
            raise _ValueError(self._text("usage.no_rule", field=quoted(field)))
        values = self._text.either(known.values)
        raise _ValueError(self._text("usage.rule_value", field=known.field, value=quoted(setting), values=values))

    def at(self, value: str) -> _At:
        """The address of a decision: ``7.2``, or ``3/7.2`` in deal 3."""
        number, slash, place = value.rpartition("/")
        try:
            if slash and not (number.isascii() and number.isdigit() and len(number) < 10):
                raise _ValueError(self._text("usage.at", value=quoted(value)))
            return _At(int(number) if slash else None, Address.parse(place))
        except InvalidRequest:
            raise _ValueError(self._text("usage.at", value=quoted(value))) from None

    def ruleset_or_auto(self, name: str) -> str:
        """The name of a ruleset, or ``auto`` for the one that fits."""
        return name if name == AUTO else self.ruleset(name)

    def ruleset(self, name: str) -> str:
        """The name of a ruleset."""
        if name not in game.rulesets():
            names = ", ".join(game.rulesets())
            raise _ValueError(self._text("usage.no_ruleset", name=quoted(name), names=names))
        return name


class _ValueError(ValueError):
    """An option's value is none; the message is fit to be shown."""


def command(lang: str) -> click.Group:
    """The whole command, its help in Spanish (``es``) or English (``en``)."""
    text = Text(lang)
    read = _Reader(text)

    def option(*names: str, key: str = "", **attributes: Any) -> Callable[[Any], Any]:
        name = key or names[-1].lstrip("-").split("/")[0]
        return click.option(*names, help=text(f"option.{name}"), **attributes)

    def show_help(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            _print(ctx.get_help() + "\n")
            ctx.exit()

    def show_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            _print(f"arrastre {arrastre.__version__}\n")
            ctx.exit()

    def common(function: Any) -> Any:
        """Options that every command has."""
        eager: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False}
        function = click.option("-h", "--help", help=text("help.help"), callback=show_help, **eager)(function)
        # Read before parsing, by whoever made this command: here it is only checked.
        return option("--lang", callback=read.by(read.one_of(*LANGUAGES)), metavar="es|en", expose_value=False)(
            function
        )

    def ruled(function: Any) -> Any:
        return option("--rules", multiple=True, callback=read.by(read.settings), metavar="FIELD=VALUE,…")(function)

    def under(function: Any) -> Any:
        """Options that say under which rules something is read."""
        metavar = text("help.name") + "|auto"
        return option("--ruleset", callback=read.by(read.ruleset_or_auto), metavar=metavar)(ruled(function))

    def judged(function: Any) -> Any:
        """Options of the commands that read items under some rules."""
        return under(
            option(
                "--progress",
                callback=read.by(read.one_of("auto", "json", "none")),
                metavar="auto|json|none",
                default="auto",
            )(function)
        )

    def gated(function: Any) -> Any:
        """Options of the commands that read positions, and those of records."""
        function = judged(function)
        function = option("--then", callback=read.by(read.actions), metavar="7O,RC,…")(function)
        function = option("--at", callback=read.by(read.at), metavar="[3/]7.2")(function)
        return click.argument("given", nargs=-1, required=True, metavar=text("help.item"))(function)

    def adding(name: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
        """Make a command of a function that gives the exit status."""

        def add(function: Callable[..., int]) -> Callable[..., int]:
            made: Any = group.command(
                name,
                cls=_Command,
                help=text(f"help.{name}") + "\n\n" + text(f"help.{name}.more"),
                short_help=text(f"help.{name}"),
                options_metavar=text("help.options_metavar"),
                add_help_option=False,
            )(function)
            made.text = text
            return function

        return add

    @click.group(
        "arrastre",
        cls=_Main,
        help=text("help.main") + "\n\n" + text("help.main.more"),
        options_metavar=text("help.options_metavar"),
        subcommand_metavar=text("help.command"),
        add_help_option=False,
        invoke_without_command=True,
    )
    @click.option(
        "--version", help=text("help.version"), is_flag=True, is_eager=True, expose_value=False, callback=show_version
    )
    @common
    @click.pass_context
    def group(ctx: click.Context) -> int:
        if ctx.invoked_subcommand is None:
            click.echo(ctx.get_help(), err=True)
            return BAD_USAGE
        return OK

    group.text = text

    @adding("solve")
    @gated
    @option("--objective", callback=read.by(read.one_of(*_objectives())), metavar="points|game", default="points")
    @option("--want", callback=read.by(read.one_of("all", "best", "value")), metavar="all|best|value", default="all")
    @option("--line/--no-line", default=None)
    @option("--threads", callback=read.by(read.whole(1, _MOST_THREADS)), metavar="N", default="1")
    @option("--nodes", callback=read.by(read.whole(1, 2**62)), metavar="N")
    @option("--seconds", callback=read.by(read.seconds), metavar="S")
    @option("--stats", is_flag=True)
    @option("--json", "as_json", key="json", is_flag=True)
    @remote.options(option)
    @common
    def solve(
        given: Sequence[str],
        at: _At | None,
        then: Sequence[str] | None,
        ruleset: str | None,
        rules: Sequence[Mapping[str, str]],
        progress: str,
        objective: str,
        want: game.Want,
        line: bool | None,
        threads: int,
        nodes: int | None,
        seconds: float | None,
        stats: bool,
        as_json: bool,
        server: str | None,
        token_file: str | None,
        ca: str | None,
    ) -> int:
        gate = _Gate(ruleset, _merged(rules), then or [], "en" if as_json else lang, at)
        run = _Run(text, as_json, progress)
        asked = (threads, objective, want, line is not False, nodes, seconds)
        solver: _Solver | remote.RemoteSolver
        if server is None:
            solver = _Solver(*asked)
        else:
            if stats:
                raise click.UsageError(text("usage.stats_server"))
            solver = remote.RemoteSolver(remote.connected(text, server, token_file, ca, seconds), *asked)

        def faults(item: Item) -> str:
            return "" if item.error is None else run.render.faults(item, item.error)

        def answer(item: Item) -> Future[str] | None:
            here = None if at is None else at.where
            where: dict[str, Any] = {}
            if item.deal is not None and here is not None:
                where = {"deal": item.deal.number, "at": str(here), "faults": _listed(item.deal)}

            def written(solution: arrastre.Solution, seconds: float) -> str:
                if not as_json:
                    return run.render.solution(item, solution, seconds if stats else None, here) + faults(item)
                answer = solution.to_dict(item.index) | where
                if stats:
                    answer |= {"nodes": solution.nodes, "seconds": round(seconds, 6)}
                return _dumps(answer)

            def written_line(values: Sequence[LineValue]) -> str:
                assert item.deal is not None
                if not as_json:
                    return run.render.line(item, item.deal, values, objective) + faults(item)
                answer = {"schema": 1, "index": item.index, "deal": item.deal.number, "objective": objective}
                answer["proven"] = all(each.value is not None for each in values)
                answer["steps"] = [each.to_dict() for each in values]
                answer["faults"] = _listed(item.deal)
                return _dumps(answer)

            if gate.passes_over(item):
                return None
            followed = item.deal is not None and item.deal.certain_positions > 0
            if item.deal is not None and at is None and (item.error is None or followed):
                if line and not then:
                    return solver.submit_line(item.deal, written_line)
                said = "a record is solved at a decision (--at 7.2), or along what was played (--line)"
                raise InvalidRequest("what to solve is not said", [Fault("at", "NO_ADDRESS", said)])
            return solver.submit(gate.position(item), written)

        return run.items(given, answer, solver.stop, records=items.Records(gate.read_deals))

    best.add(adding, option, judged, common, read, _objectives(), text)

    @adding("show")
    @gated
    @option("--json", "as_json", key="json", is_flag=True)
    @common
    def show(
        given: Sequence[str],
        at: _At | None,
        then: Sequence[str] | None,
        ruleset: str | None,
        rules: Sequence[Mapping[str, str]],
        progress: str,
        as_json: bool,
    ) -> int:
        gate = _Gate(ruleset, _merged(rules), then or [], "en" if as_json else lang, at)
        run = _Run(text, as_json, progress)

        def answer(item: Item) -> str | None:
            if gate.passes_over(item):
                return None
            if item.deal is not None and at is None and not then:
                if as_json and item.error is None:
                    return _dumps(Record([item.deal]).to_dict())
                if not as_json:
                    shown = run.render.deal(item, item.deal)
                    return shown if item.error is None else _Faulty(shown + run.render.faults(item, item.error))
            position = gate.position(item)
            return (
                _dumps(position.to_dict())
                if as_json
                else run.render.position(item, position, None if at is None else at.where)
            )

        return run.items(given, answer, records=items.Records(gate.read_deals))

    @adding("check")
    @click.argument("given", nargs=-1, required=True, metavar=text("help.record"))
    @judged
    @option("--json", "as_json", key="json", is_flag=True)
    @common
    def check(
        given: Sequence[str],
        ruleset: str | None,
        rules: Sequence[Mapping[str, str]],
        progress: str,
        as_json: bool,
    ) -> int:
        gate = _Gate(ruleset, _merged(rules), [], "en" if as_json else lang)
        run = _Run(text, as_json, progress)
        standings = Standings()

        def answer(item: Item) -> str:
            before = standings.add(item.source, item.deal)
            if not as_json:
                if before is not None:
                    run.output.write_apart(run.render.score(before))
                if item.error is not None:
                    raise item.error
                return ""
            if item.error is not None:
                raise item.error
            assert item.deal is not None
            head = {"schema": 1, "index": item.index, "deal": item.deal.number}
            return _dumps(head | {"ruleset": item.deal.data.get("ruleset"), "score": standings.latest()})

        def last() -> str:
            rest = standings.close()
            return "" if as_json or rest is None else run.render.score(rest)

        return run.items(given, answer, records=items.Records(gate.read_deals, only=True), last=last)

    convert.add(adding, option, under, common, read, text)

    grade.add(adding, option, judged, common, read, text)

    @adding("rules")
    @click.argument("names", nargs=-1, metavar=text("help.ruleset"), callback=read.by(read.ruleset))
    @option("--players", callback=read.by(read.whole(1, 10)), metavar="N", default="4")
    @ruled
    @option("--json", "as_json", key="json", is_flag=True)
    @common
    def rules(names: Sequence[str], players: int, rules: Sequence[Mapping[str, str]], as_json: bool) -> int:
        return _show_rules(text, names, players, _merged(rules), as_json)

    serving.add(adding, option, common, read, text)
    engine.add(adding, option, common, read, text)

    return cast(click.Group, group)


def _listed(deal: Deal) -> list[dict[str, Any]]:
    """What is wrong with a deal that has been answered in spite of it."""
    return [fault.to_dict() for fault in deal.faults]


def _objectives() -> tuple[str, ...]:
    """The objectives of all games, those of the first game first."""
    known = [each for name in game.rulesets() for each in game.game_of(name).objectives]
    return tuple(dict.fromkeys(known))


def _first_rulesets() -> tuple[str, ...]:
    """A ruleset of each game."""
    return tuple({game.game_of(name).name: name for name in reversed(game.rulesets())}.values())


def _merged(rules: Sequence[Mapping[str, str]]) -> dict[str, str]:
    return {field: value for each in rules for field, value in each.items()}


def _show_rules(text: Text, names: Sequence[str], players: int, rules: Mapping[str, str], as_json: bool) -> int:
    """One ruleset after another; without names, what sets each apart."""
    from arrastre.cli.render import Renderer

    output = _Output()
    render = Renderer(output.stream, text)
    tables: list[tuple[str, Sequence[game.RuleRow]]] = []
    for name in names or game.rulesets():
        try:
            tables.append((name, game.game_of(name).rules(name, rules, players, text.lang)))
        except InvalidRules as error:
            raise click.UsageError("; ".join(f"{name}: {text.fault(fault)}" for fault in error.faults)) from None
    for index, (name, rows) in enumerate(tables):
        if as_json:
            fields = [asdict(row) for row in rows]
            output.write(_dumps({"schema": 1, "index": index, "ruleset": name, "players": players, "fields": fields}))
        elif names:
            output.write_apart(render.ruleset(name, players, rows))
    if not (as_json or names):
        output.write(render.rulesets(tables))
    output.flush()
    return OK
