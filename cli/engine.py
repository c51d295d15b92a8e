"""``arrastre engine``: questions and answers as JSON lines."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from arrastre.cli.text import Text
from arrastre.exact import MAX_THREADS

if TYPE_CHECKING:
    from arrastre.cli import _Reader

Decorator = Callable[[Any], Any]


def add(
    adding: Callable[[str], Decorator],
    option: Callable[..., Decorator],
    common: Decorator,
    read: _Reader,
    text: Text,
) -> None:
    """Add the command to the others."""

    @adding("engine")
    @option("--threads", key="serve_threads", callback=read.by(read.whole(1, MAX_THREADS)), metavar="N")
    @common
    def engine(threads: int | None) -> int:
        from arrastre.cli import INTERRUPTED, OK, _Output, _say, _stdin
        from arrastre.server.engine import run

        output, source = _Output(), _stdin()

        def write(line: str) -> None:
            output.write(line)
            output.flush()

        if source is None or run(source, write, threads=threads or os.cpu_count() or 1):
            return OK
        _say(text("run.interrupted"))
        return INTERRUPTED
