"""``arrastre grade``: every decision of an archive of records judged, in as many processes as one likes, once.

What is graded goes into shards (:mod:`arrastre.cli.shards`) as it is done. The files that were asked for are made of
them at the end, in the order of the input, so that they are the same whoever did the work, in whatever order.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import importlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Protocol, TextIO, cast

import click

from arrastre._version import ANSWERS
from arrastre.cli import items, remote, shards
from arrastre.cli.items import Item, Records
from arrastre.cli.shards import BusyError, NoClusterError, Store, Task, WorkersLostError
from arrastre.cli.text import Text
from arrastre.errors import ArrastreError
from arrastre.exact import MAX_THREADS
from arrastre.grade import EFFORTS, PHASES, SCHEMA, Effort, fingerprint
from arrastre.tally import Line, Tally

if TYPE_CHECKING:
    from arrastre.cli import _Reader
    from arrastre.client import Client

Decorator = Callable[[Any], Any]

#: The Ray cluster that is started for the run.
LOCAL: Final = "local"
FORMS: Final = (".jsonl", ".csv", ".parquet")
#: Deals in a shard: a killed process loses no more than these.
SHARD: Final = {"quick": 64, "normal": 2, "deep": 1}
#: Players in the table, those with most decisions.
TOP: Final = 20
_ROWS: Final = 10_000
#: Seconds more than usual that a service may take for the deals of a task.
_LONG: Final = 600.0
_SHOWN_EVERY: Final = 0.25

#: The columns of the files, by name, with their types as Parquet has them.
DECISION_COLUMNS: Final[Mapping[str, str]] = {
    "schema": "int32",
    "answers": "int32",
    "id": "string",
    "game": "string",
    "deal": "int64",
    "at": "string",
    "trick": "int32",
    "place": "int32",
    "record": "string",
    "file": "string",
    "line": "int64",
    "ruleset": "string",
    "effort": "string",
    "seed": "int64",
    "seat": "int32",
    "side": "int32",
    "player": "string",
    "moment": "string",
    "phase": "string",
    "action": "string",
    "best": "string",
    "label": "string",
    "basis": "string",
    "counted": "bool",
    "pointsLoss": "double",
    "pointsError": "double",
    "gameLoss": "double",
    "gameError": "double",
    "hindsightPointsLoss": "double",
    "hindsightGameLoss": "double",
    "worlds": "int32",
    "exact": "bool",
    "unlucky": "bool",
    "missed": "string",
    "breach": "string",
}
DEAL_COLUMNS: Final[Mapping[str, str]] = {
    "schema": "int32",
    "answers": "int32",
    "game": "string",
    "deal": "int64",
    "record": "string",
    "file": "string",
    "line": "int64",
    "ruleset": "string",
    "effort": "string",
    "seed": "int64",
    "decisions": "int32",
    "counted": "int32",
    "skipped": "int32",
    "faults": "int32",
    "lost0": "double",
    "lost1": "double",
    "margin": "int32",
    "average": "double",
    "dealt": "double",
    "drawn": "double",
    "layout": "double",
    "luck": "double",
    "lost": "double",
    "residual": "double",
}


def add(
    adding: Callable[[str], Decorator],
    option: Callable[..., Decorator],
    judged: Decorator,
    common: Decorator,
    read: _Reader,
    text: Text,
) -> None:
    """Add the command to the others."""

    @adding("grade")
    @click.argument("given", nargs=-1, required=True, metavar=text("help.archive"))
    @option("-o", "--output", key="grade_output", metavar=text("help.file"))
    @option("--effort", callback=read.by(read.one_of(*EFFORTS)), metavar="|".join(EFFORTS), default="normal")
    @option("--seed", callback=read.by(read.whole(0, 2**63 - 1)), metavar="K", default="1")
    @option("--jobs", callback=read.by(read.whole(1, MAX_THREADS)), metavar="N")
    @option("--ray", metavar="[ADDRESS]", is_flag=False, flag_value=LOCAL)
    @option("--resume", is_flag=True)
    @option("--anew", is_flag=True)
    @option("--anonymous", is_flag=True)
    @option("--secret", metavar="TEXT", default="")
    @option("--top", callback=read.by(read.whole(1, 10_000)), metavar="N", default=str(TOP))
    @option("--shard", callback=read.by(read.whole(1, 100_000)), metavar="N")
    @judged
    @option("--json", "as_json", key="grade_json", is_flag=True)
    @remote.options(option)
    @common
    def grade(
        given: Sequence[str],
        output: str | None,
        effort: str,
        seed: int,
        jobs: int | None,
        ray: str | None,
        resume: bool,
        anew: bool,
        anonymous: bool,
        secret: str,
        top: int,
        shard: int | None,
        ruleset: str | None,
        rules: Sequence[Mapping[str, str]],
        progress: str,
        as_json: bool,
        server: str | None,
        token_file: str | None,
        ca: str | None,
    ) -> int:
        from arrastre.cli import _Gate, _merged

        if output is not None and Path(output).suffix not in FORMS:
            raise click.UsageError(text("grade.form", name=output, forms=text.either(FORMS)))
        if resume and anew:
            raise click.UsageError(text("grade.resume_anew"))
        if output is None and (resume or anew):
            raise click.UsageError(text("grade.resume_what"))
        if output is not None and Path(output).suffix == ".parquet":
            _need("pyarrow.parquet", "parquet", text)
        if ray is not None:
            if Path(ray).exists():
                # An address may follow the option, and a path that does is not one.
                raise click.UsageError(text("grade.ray_path", name=ray))
            _need("ray", "ray", text)
        client = None if server is None else remote.connected(text, server, token_file, ca, _LONG)
        if client is not None and ray is not None:
            raise click.UsageError(text("usage.jobs_server"))
        gate = _Gate(ruleset, _merged(rules), [], "en" if as_json else text.lang)
        settings = _Settings(EFFORTS[effort], seed, jobs, ray, resume, anew, shard or SHARD[effort], top, as_json)
        names = _Names(secret) if anonymous else None
        records = Records(gate.read_deals, only=True)
        return _Grading(text, settings, names, progress, records, client).run(given, output)


def _need(module: str, extra: str, text: Text) -> None:
    """Refuse where the module that an extra brings is missing."""
    try:
        importlib.import_module(module)
    except ImportError:
        raise click.UsageError(text("grade.no_extra", extra=f"arrastre[{extra}]")) from None


@dataclass(frozen=True, slots=True)
class _Settings:
    effort: Effort
    seed: int
    jobs: int | None
    ray: str | None
    resume: bool
    anew: bool
    shard: int
    top: int
    as_json: bool


class _Names:
    """Pseudonyms: the same for a name, whatever else there is, and no way back without trying all names out."""

    def __init__(self, secret: str) -> None:
        self._key = hashlib.blake2b(secret.encode("utf-8", "surrogatepass")).digest()

    def __call__(self, name: str) -> str:
        digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), key=self._key, digest_size=5).hexdigest()
        return f"player-{digest}"

    def of(self, grade: dict[str, Any]) -> dict[str, Any]:
        """A graded deal without its players' names."""
        for each in grade["decisions"]:
            each["player"] = self(each["player"])
        grade["players"] = [self(each) for each in grade["players"]]
        return grade


@dataclass(frozen=True, slots=True)
class _Entry:
    """A deal of the input: its key, the game that it belongs to, and where it stands."""

    key: str
    game: str
    file: str
    line: int
    index: int

    def dump(self) -> str:
        return json.dumps([self.key, self.game, self.file, self.line, self.index]) + "\n"


class _WriteError(Exception):
    """A file cannot be written."""

    def __init__(self, name: object, error: OSError) -> None:
        super().__init__(error.strerror or str(error))
        self.name = str(name)


class _Grading:
    """The command at work."""

    def __init__(
        self,
        text: Text,
        settings: _Settings,
        names: _Names | None,
        progress: str,
        records: Records,
        client: Client | None,
    ) -> None:
        from arrastre.cli import _Interrupt, _Output
        from arrastre.cli.render import Renderer

        self._text = text
        self._settings = settings
        self._names = names
        self._records = records
        self._client = client
        self._output = _Output()
        self._interrupt = _Interrupt()
        self._progress = _Progress(progress, text)
        self._complain = Renderer(cast("TextIO | None", sys.stderr), text).error
        self._failed = 0
        self._deals = 0
        self._repeated = 0

    def run(self, given: Sequence[str], output: str | None) -> int:
        """Grade everything; the exit status."""
        from arrastre.cli import BAD_USAGE, FAILED, INTERRUPTED, OK, _say

        say = self._text
        with self._interrupt, ExitStack() as stack:
            try:
                # Whenever it comes, Ctrl-C leaves nothing half done: files are there as a whole or not at all.
                with self._interrupt.waiting():
                    self._run(given, output, stack)
            except BusyError as error:
                _say("arrastre grade: " + say("grade.busy", folder=error))
                return FAILED
            except FileExistsError as error:
                _say("arrastre grade: " + say("grade.parts", folder=error))
                return BAD_USAGE
            except _WriteError as error:
                self._progress.close()
                _say("arrastre grade: " + say("run.cannot_write", name=error.name, reason=error))
                return FAILED
            except NoClusterError as error:
                self._progress.close()
                _say("arrastre grade: " + say("grade.no_cluster", address=error))
                return FAILED
            except shards.RefusedError as error:
                self._progress.close()
                _say("arrastre grade: " + str(error))
                return FAILED
            except WorkersLostError:
                self._progress.close()
                _say("arrastre grade: " + say("grade.lost"))
                return FAILED
            except KeyboardInterrupt:
                self._progress.close()
                _say(say("run.interrupted") if output is None else say("grade.interrupted"))
                return INTERRUPTED
        if not self._deals and not self._failed:
            _say(say("run.no_record"))
        return FAILED if self._failed else OK

    def _run(self, given: Sequence[str], output: str | None, stack: ExitStack) -> None:
        parts = self._folder(output, stack)
        try:
            store = Store(parts)
        except OSError as error:
            raise _WriteError(parts, error) from None
        stack.callback(store.close)
        if len(store) and self._settings.anew:
            store.clear()
        elif len(store) and not self._settings.resume:
            raise FileExistsError(parts)
        # Before anything is worked out: that it can be written.
        sinks = None if output is None else stack.enter_context(_Sinks(Path(output)))
        with _written(parts / "order.tmp") as order, _written(parts / "errors.tmp") as errors:
            paths = [path for each in given for path in items.files(each)]
            reading = _Reading(self, paths, store, order, None if output is None else errors)
            how = shards.Order(str(parts), self._settings.effort, self._settings.seed, options=output is None)
            try:
                for task in self._worker()(how, reading.tasks(how), self._progress.add):
                    store.add(task.name, task.keys)
            except OSError as error:
                raise _WriteError(error.filename or parts, error) from None
            self._failed, self._deals, self._repeated = reading.failed, reading.deals, reading.repeated
            self._progress.close()
            order.seek(0)
            errors.seek(0)
            with self._interrupt.waiting(sinks is not None):
                self._finish(store, order, errors, sinks)

    def _folder(self, output: str | None, stack: ExitStack) -> Path:
        """Where the shards are kept: beside the output, or for as long as this takes."""
        if output is not None:
            return Path(output + ".parts")
        try:
            folder = tempfile.mkdtemp(prefix="arrastre-")
        except OSError as error:
            raise _WriteError(tempfile.gettempdir(), error) from None
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def _worker(self) -> Callable[[shards.Order, Iterator[Task], shards.Told], Iterator[Task]]:
        jobs, address = self._settings.jobs, self._settings.ray
        client = self._client
        if client is not None:
            return lambda order, tasks, told: shards.on_server(client, jobs or 1, order, tasks, told)
        if address is not None:
            where = None if address == LOCAL else address
            return lambda order, tasks, told: shards.on_ray(where, jobs, order, tasks, told)
        if jobs is None or jobs == 1:
            return shards.here
        return lambda order, tasks, told: shards.in_processes(jobs, order, tasks, told)

    def complain(self, item: Item, error: ArrastreError) -> None:
        """Say what is wrong with an item, where there is no file for it."""
        from arrastre.cli import _dumps, _say

        if self._settings.as_json:
            self._output.write(_dumps({"schema": SCHEMA, "index": item.index, "error": error.to_dict()}))
        else:
            _say(self._complain(item, error).rstrip("\n"))

    # -- what comes of it

    def _finish(self, store: Store, order: IO[str], errors: IO[str], sinks: _Sinks | None) -> None:
        """Make the files, or print the answers, and the table."""
        from arrastre.cli import _dumps, _say
        from arrastre.cli.grades import GradeRenderer

        players: Counter[str] = Counter()
        grades: list[tuple[_Entry, dict[str, Any]]] = []
        render = GradeRenderer(self._output.stream, self._text)
        for entry, grade in self._graded(store, order):
            for each in grade["decisions"]:
                players[each["player"]] += each["counted"]
            if sinks is not None:
                sinks.write(entry, grade)
            elif self._settings.as_json:
                self._output.write(_dumps(grade | {"index": entry.index}))
            elif len(grades) < 2:
                grades.append((entry, grade))
        if sinks is not None:
            sinks.finish(errors)
        if len(grades) == 1:
            self._output.write_apart(render.decisions(*grades[0]))
        order.seek(0)
        shown = {
            name for name, _ in sorted(players.items(), key=lambda each: (-each[1], each[0]))[: self._settings.top]
        }
        tally = Tally(shown)
        for _, grade in self._graded(store, order):
            tally.add(grade)
        lines = tally.lines(PHASES)
        if not self._settings.as_json:
            if lines and tally.deals > 1:
                self._output.write_apart(render.players(lines, tally, self._settings.effort, len(players) - len(shown)))
        elif sinks is not None:
            self._output.write(_dumps(self._summary(lines, tally)))
        self._output.flush()
        if sinks is not None and self._failed:
            _say(self._text("grade.failed", failed=self._failed, name=sinks.errors))
        if self._repeated:
            _say(self._text("grade.repeated", repeated=self._repeated))

    def _summary(self, lines: Sequence[Line], tally: Tally) -> dict[str, Any]:
        players = [each.to_dict() for each in lines]
        ranked = [each.player for each in lines if each.phase == "all"]
        apart = [
            {"one": one, "other": other, "moreDeals": tally.more_deals(one, other)} for one, other in pairwise(ranked)
        ]
        counts = {"deals": tally.deals, "failed": self._failed, "repeated": self._repeated}
        effort = {"answers": ANSWERS, "effort": self._settings.effort.name, "seed": self._settings.seed}
        return {"schema": SCHEMA, **effort, **counts, "players": players, "apart": apart}

    def _graded(self, store: Store, order: IO[str]) -> Iterator[tuple[_Entry, dict[str, Any]]]:
        """The graded deals in the order of the input."""
        for line in order:
            entry = _Entry(*json.loads(line))
            try:
                grade = store.grade(entry.key)
            except OSError as error:
                raise _WriteError(store.folder, error) from None
            if self._names is not None:
                grade = self._names.of(json.loads(json.dumps(grade)))
            yield entry, grade


class _Reading:
    """The input on its way to the workers: what is in a shard already, or has come before, is passed over."""

    def __init__(
        self, grading: _Grading, paths: Sequence[str], store: Store, order: IO[str], errors: IO[str] | None
    ) -> None:
        self._grading = grading
        self._paths = paths
        self._store = store
        self._order = order
        self._errors = errors
        self._progress = grading._progress
        settings = grading._settings
        # A deal that stays in this process need not be put in a form that travels.
        self._alone = grading._client is not None or (settings.ray is None and settings.jobs in (None, 1))
        self.failed = self.deals = self.repeated = 0

    def tasks(self, how: shards.Order) -> Iterator[Task]:
        """What is to be done."""
        from arrastre.cli import _stdin

        settings = self._grading._settings
        self._progress.expect(self._paths)
        waiting: list[tuple[str, Any]] = []
        seen: set[bytes] = set()
        game = before = ""
        for item in items.read(self._paths, _stdin, lambda: None, self._grading._records, self._progress.advanced):
            if item.error is not None:
                self._fail(item, item.error)
            deal = item.deal
            if deal is None:
                before = ""
                continue
            mark = fingerprint(deal)
            # A game is known by its first deal.
            if not (deal.goes_on and game and before == item.source):
                game = mark[:12]
            before = item.source
            key = how.key(mark)
            if bytes.fromhex(key) in seen:
                self.repeated += 1
                continue
            seen.add(bytes.fromhex(key))
            self.deals += 1
            self._progress.read += 1
            source = "<stdin>" if item.source == items.STDIN else item.source
            self._order.write(_Entry(key, game, source, item.line, item.index).dump())
            if key in self._store:
                self._progress.add(1)
                continue
            waiting.append((key, deal if self._alone else shards.sent(deal)))
            if len(waiting) == settings.shard:
                yield _task(waiting)
                waiting = []
        self._progress.read_all()
        if waiting:
            yield _task(waiting)

    def _fail(self, item: Item, error: ArrastreError) -> None:
        self.failed += 1
        self._progress.failed += 1
        if self._errors is None:
            self._grading.complain(item, error)
            return
        deal = item.deal
        said = {
            "schema": SCHEMA,
            "index": item.index,
            "file": "<stdin>" if item.source == items.STDIN else item.source,
            "line": item.line,
            "deal": None if deal is None else deal.number,
            "graded": 0 if deal is None else min(deal.certain_positions, len(deal.steps)),
            "error": error.to_dict(),
        }
        self._errors.write(json.dumps(said, ensure_ascii=False, separators=(",", ":")) + "\n")


def _task(waiting: Sequence[tuple[str, Any]]) -> Task:
    keys, deals = zip(*waiting, strict=True)
    return Task(keys, deals)


def _written(path: Path) -> IO[str]:
    """A file to be written and then read. Raises _WriteError."""
    try:
        return path.open("w+", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise _WriteError(path, error) from None


# -- the files -------------------------------------------------------------------------------------------------------


def decision_rows(entry: _Entry, grade: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a deal's decisions."""
    head = _head(entry, grade)
    for each in grade["decisions"]:
        trick, place = each["at"].split(".")[:2]
        breach = each["breach"]
        row = head | {name: each[name] for name in DECISION_COLUMNS if name in each}
        row["id"] = f"{entry.game}/{each['deal']}/{each['at']}"
        row["trick"], row["place"] = int(trick), int(place)
        row["breach"] = None if breach is None else breach["reason"]
        yield {name: row[name] for name in DECISION_COLUMNS}


def deal_row(entry: _Entry, grade: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a deal."""
    lost = [0.0, 0.0]
    for each in grade["lost"]:
        lost[min(grade["sides"][each["seat"]], 1)] += each["points"]
    row = _head(entry, grade)
    row |= {
        "decisions": len(grade["decisions"]),
        "counted": sum(each["counted"] for each in grade["decisions"]),
        "skipped": grade["skipped"],
        "faults": len(grade["faults"]),
        "lost0": round(lost[0], 6),
        "lost1": round(lost[1], 6),
    }
    luck = grade["luck"] or {}
    return {name: row[name] if name in row else luck.get(name) for name in DEAL_COLUMNS}


def _head(entry: _Entry, grade: Mapping[str, Any]) -> dict[str, Any]:
    same = {name: grade[name] for name in ("schema", "answers", "deal", "record", "ruleset", "effort", "seed")}
    return {**same, "game": entry.game, "file": entry.file, "line": entry.line}


class _Form(Protocol):
    def write(self, row: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


class _Jsonl:
    def __init__(self, file: IO[bytes], columns: Mapping[str, str]) -> None:  # noqa: ARG002
        self._file = file

    def write(self, row: Mapping[str, Any]) -> None:
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
        self._file.write(text.encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        pass


class _Csv:
    """Comma separated, a head, nothing for what is not known, ``true`` and ``false``."""

    def __init__(self, file: IO[bytes], columns: Mapping[str, str]) -> None:
        self._file = file
        self._writer = csv.DictWriter(self, columns, lineterminator="\n")
        self._writer.writeheader()

    def write(self, row: Any) -> Any:
        if isinstance(row, str):  # from the writer
            return self._file.write(row.encode("utf-8", "backslashreplace"))
        words = {True: "true", False: "false"}
        return self._writer.writerow({k: words[v] if isinstance(v, bool) else v for k, v in row.items()})

    def close(self) -> None:
        pass


class _Parquet:
    """In row groups of the same size whatever the shards were."""

    def __init__(self, file: IO[bytes], columns: Mapping[str, str]) -> None:
        import pyarrow
        import pyarrow.parquet

        types = {"int32": pyarrow.int32(), "int64": pyarrow.int64(), "double": pyarrow.float64()}
        types |= {"string": pyarrow.string(), "bool": pyarrow.bool_()}
        self._schema = pyarrow.schema([(name, types[kind]) for name, kind in columns.items()])
        self._writer = pyarrow.parquet.ParquetWriter(file, self._schema)
        self._batch = pyarrow.RecordBatch
        self._rows: list[Mapping[str, Any]] = []

    def write(self, row: Mapping[str, Any]) -> None:
        texts = {name: _sound(value) if isinstance(value, str) else value for name, value in row.items()}
        self._rows.append(texts)
        if len(self._rows) == _ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_batch(self._batch.from_pylist(self._rows, self._schema))
            self._rows = []

    def close(self) -> None:
        self._flush()
        self._writer.close()


def _sound(text: str) -> str:
    """A text without what no UTF-8 can hold."""
    return text.encode("utf-8", "backslashreplace").decode()


_FORMS: Final[Mapping[str, Callable[[IO[bytes], Mapping[str, str]], _Form]]] = {
    ".jsonl": _Jsonl,
    ".csv": _Csv,
    ".parquet": _Parquet,
}


class _Sinks:
    """The files that were asked for: decisions, deals, errors. They are there once all are whole."""

    def __init__(self, path: Path) -> None:
        self.errors = path.with_name(f"{path.stem}.errors.jsonl")
        self._paths = [path, path.with_name(f"{path.stem}.deals{path.suffix}"), self.errors]
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> _Sinks:
        for path in self._paths:
            if path.is_dir():
                raise _WriteError(path, OSError(errno.EISDIR, os.strerror(errno.EISDIR)))
            try:
                self._files.append(self._temporary(path).open("wb"))
            except OSError as error:
                self.__exit__()
                raise _WriteError(path, error) from None
        make = _FORMS[self._paths[0].suffix]
        self._decisions = make(self._files[0], DECISION_COLUMNS)
        self._deals = make(self._files[1], DEAL_COLUMNS)
        return self

    def __exit__(self, *exception: object) -> None:
        for file, path in zip(self._files, self._paths, strict=False):
            with suppress(OSError):
                file.close()
            self._temporary(path).unlink(missing_ok=True)

    @staticmethod
    def _temporary(path: Path) -> Path:
        return path.with_name(f".{path.name}.tmp")

    def write(self, entry: _Entry, grade: Mapping[str, Any]) -> None:
        """Add a deal. Raises _WriteError."""
        try:
            for row in decision_rows(entry, grade):
                self._decisions.write(row)
            self._deals.write(deal_row(entry, grade))
        except OSError as error:
            raise _WriteError(self._paths[0], error) from None

    def finish(self, errors: IO[str]) -> None:
        """Put the files where they belong. Raises _WriteError."""
        try:
            self._decisions.close()
            self._deals.close()
            for line in errors:
                self._files[2].write(line.encode("utf-8", "backslashreplace"))
            for file in self._files:
                if not file.closed:
                    file.flush()
                    os.fsync(file.fileno())
                    file.close()
            for path in self._paths:
                self._temporary(path).replace(path)
        except OSError as error:
            raise _WriteError(self._paths[0], error) from None


# -- how far it has come ---------------------------------------------------------------------------------------------


class _Progress:
    """How far the work has come, how fast it goes and how long it will take, on standard error.

    While not all has been read, how many deals there are is guessed from how much of the files has been.
    """

    def __init__(self, kind: str, text: Text) -> None:
        stream = cast("TextIO | None", sys.stderr)
        seen = stream is not None and stream.isatty()
        self._kind = "none" if stream is None or (kind == "auto" and not seen) else kind
        self._text = text
        self._bar: Any = None
        self._task: Any = None
        self._begun = self._last = time.monotonic()
        self._bytes = 0
        self._size: int | None = None
        self._all = False
        self._closed = False
        self.read = self.done = self.failed = 0
        self._fresh = 0

    def expect(self, paths: Sequence[str]) -> None:
        """Begin; how much there is to read, if that can be told."""
        self._begun = self._last = time.monotonic()
        try:
            self._size = sum(Path(path).stat().st_size for path in paths)
        except (OSError, ValueError):
            self._size = None
        if self._kind == "auto":
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = (BarColumn(), TextColumn("{task.description}"))
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
            self._task = self._bar.add_task("", total=None)
            self._bar.start()

    def advanced(self, size: int) -> None:
        self._bytes += size

    def read_all(self) -> None:
        """Everything has been read."""
        self._all = True

    def add(self, deals: int) -> None:
        """So many more deals are done."""
        self.done += deals
        if self._kind != "none" and time.monotonic() - self._last >= _SHOWN_EVERY:
            self._show()

    @property
    def total(self) -> int | None:
        """How many deals there are, as far as that is known."""
        if self._all:
            return self.read
        if not self._size or not self._bytes:
            return None
        return max(self.read, round(self.read * self._size / min(self._bytes, self._size)))

    def close(self) -> None:
        """The last word."""
        if self._closed:
            return
        self._closed = True
        if self._kind == "json":
            self._show()
        if self._bar is not None:
            self._bar.stop()

    def _show(self) -> None:
        from arrastre.cli import _dumps, _say

        self._last = time.monotonic()
        spent = self._last - self._begun
        rate = self.done / spent if spent > 0 else 0.0
        total = self.total
        left = (total - self.done) / rate if total is not None and rate else None
        if self._kind == "json":
            pace = {"rate": round(rate, 3), "secondsLeft": None if left is None else round(left, 1)}
            counts = {"done": self.done, "total": total, "allRead": self._all, "failed": self.failed}
            said = {"schema": SCHEMA, **counts, **pace}
            _say(_dumps(said).rstrip())
        elif self._bar is not None:
            of = "?" if total is None else self._text.number(total)
            when = "?" if left is None else _clock(left)
            shown = self._text(
                "grade.progress",
                done=self._text.number(self.done),
                total=of,
                rate=self._text.decimal(rate, 1),
                left=when,
                failed=self.failed,
            )
            self._bar.update(self._task, completed=self.done, total=total, description=shown)
            self._bar.refresh()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
