"""``arrastre convert``: foreign logs made into records by a template."""

from __future__ import annotations

import errno
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TextIO, cast

import click

from arrastre import Template
from arrastre import convert as converted
from arrastre.cli import items
from arrastre.cli.items import Item
from arrastre.cli.text import Text
from arrastre.errors import ArrastreError, Fault, InvalidSyntax
from arrastre.game import Deal
from arrastre.importing import MAX_TEMPLATE
from arrastre.record import SCHEMA, DealItem, write_deal

if TYPE_CHECKING:
    from arrastre.cli import _Output, _Reader

Decorator = Callable[[Any], Any]

_FORMS: Final = ("text", "json")


def add(
    adding: Callable[[str], Decorator],
    option: Callable[..., Decorator],
    under: Decorator,
    common: Decorator,
    read: _Reader,
    text: Text,
) -> None:
    """Add the command to the others."""

    @adding("convert")
    @click.argument("logs", nargs=-1, required=True, metavar=text("help.log"))
    @option("--from", "template", key="from", required=True, metavar=text("help.template"))
    @option("-o", "--output", metavar=text("help.file"))
    @option("--to", callback=read.by(read.one_of(*_FORMS)), metavar="|".join(_FORMS))
    @under
    @option("--json", "as_json", key="convert_json", is_flag=True)
    @common
    def convert(
        logs: Sequence[str],
        template: str,
        output: str | None,
        to: str | None,
        ruleset: str | None,
        rules: Sequence[Mapping[str, str]],
        as_json: bool,
    ) -> int:
        if as_json and to == "text" and output is None:
            raise click.UsageError(text("usage.text_and_json"))
        # Deals and faults in one stream are read by one program.
        form = to or ("json" if as_json and output is None else "text")
        overrides = {field: value for each in rules for field, value in each.items()}
        return _Conversion(text, form == "json", as_json, ruleset, overrides).run(logs, template, output)


class _Conversion:
    """The command at work."""

    def __init__(
        self, text: Text, as_json: bool, faults_as_json: bool, ruleset: str | None, rules: Mapping[str, str]
    ) -> None:
        from arrastre.cli import _Interrupt, _Output
        from arrastre.cli.render import Renderer

        self._text = text
        self._as_json = as_json
        self._faults_as_json = faults_as_json
        self._ruleset = ruleset
        self._rules = rules
        self._items = 0
        self._stdout = _Output()
        self._interrupt = _Interrupt()
        self._complain = Renderer(cast("TextIO | None", sys.stderr), text).error
        self._deals = 0
        self._failed = False

    def run(self, logs: Sequence[str], template: str, output: str | None) -> int:
        """Convert all logs; the exit status."""
        from arrastre.cli import BAD_USAGE, FAILED, INTERRUPTED, OK, _say

        try:
            table = _template(template)
        except ArrastreError as error:
            self._report(Item(0, template, 0, ""), error)
            return BAD_USAGE
        try:
            with self._interrupt, _written(output, self._stdout) as write:
                for log in logs:
                    self._convert(log, table, write)
            self._stdout.flush()
        except KeyboardInterrupt:
            self._stdout.flush()
            _say(self._text("run.interrupted"))
            return INTERRUPTED
        except _FileError as error:
            _say("arrastre convert: " + self._text("run.cannot_write", name=output, reason=error))
            return FAILED
        return FAILED if self._failed else OK

    def _convert(self, log: str, template: Template, write: Callable[[str], None]) -> None:
        try:
            with _opened(log) as stream:
                found = converted(stream, template, ruleset=self._ruleset, rules=self._rules)
                while (item := self._next(found)) is not None:
                    if item.error is not None:
                        self._report(Item(self._items, log, item.line, "", deal=item.deal), item.error)
                    elif item.deal is not None:
                        write(self._written(item.deal))
                        self._deals += 1
                    self._items += 1
        except OSError as error:
            self._report(Item(self._items, log, 0, ""), items.unreadable(log, error))
            self._items += 1

    def _next(self, found: Iterator[DealItem]) -> DealItem | None:
        with self._interrupt.waiting():
            return next(found, None)

    def _written(self, deal: Deal) -> str:
        if self._as_json:
            return json.dumps({"schema": SCHEMA, **deal.to_dict()}, ensure_ascii=False, separators=(",", ":")) + "\n"
        return ("\n" if self._deals else "") + write_deal(deal.data)

    def _report(self, item: Item, error: ArrastreError) -> None:
        from arrastre.cli import _dumps, _say

        self._failed = True
        if self._faults_as_json:
            self._stdout.write(_dumps({"schema": SCHEMA, "index": item.index, "error": error.to_dict()}))
            return
        _say(self._complain(item, error).rstrip("\n"))


def _template(name: str) -> Template:
    """The template in a file. Raises ArrastreError."""
    try:
        with _opened(name) as stream:
            data = stream.read(4 * MAX_TEMPLATE + 1)
    except OSError as error:
        raise items.unreadable(name, error) from None
    try:
        return Template.parse(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        fault = Fault("", "NOT_UTF8", f"byte 0x{data[error.start]:02x} is not UTF-8")
        raise InvalidSyntax("the template is no text", [fault]) from None


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    """A file, or standard input. Raises OSError."""
    from arrastre.cli import _stdin

    if name == items.STDIN:
        stream = _stdin()
        if stream is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        yield stream
        return
    if "\0" in name:  # which no file's name can hold
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    with Path(name).open("rb") as file:
        yield file


class _FileError(Exception):
    """The output file cannot be written."""


@contextmanager
def _written(output: str | None, stdout: _Output) -> Iterator[Callable[[str], None]]:
    """What takes the deals: standard output, or a file that takes the place of an older one only when all is there."""
    if output is None:
        yield stdout.write
        stdout.flush()
        return
    target = Path(output)
    try:
        if target.exists() and not target.is_file():  # a device, a pipe
            opened = target.open("w", encoding="utf-8")
            part = None
        else:
            handle, part = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
            opened = os.fdopen(handle, "w", encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _FileError(getattr(error, "strerror", None) or error) from None

    def write(text: str) -> None:
        try:
            opened.write(text)
        except OSError as error:
            raise _FileError(error.strerror) from None

    try:
        yield write
        try:
            opened.close()
            if part is not None:
                mask = os.umask(0)
                os.umask(mask)
                os.chmod(part, 0o666 & ~mask)  # noqa: PTH101
                os.replace(part, target)  # noqa: PTH105
                part = None
        except OSError as error:
            raise _FileError(error.strerror) from None
    finally:
        opened.close()
        if part is not None:
            Path(part).unlink(missing_ok=True)
