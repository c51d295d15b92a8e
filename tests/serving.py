"""``arrastre serve`` in a process of its own, for tests that call it."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator

from run_command import SCRIPT, environment

TEXT = "RESE.CB/4O.CC.4B/1E3E7E/RC.4E.SB B 2 - points=32-49 tricks=2-5"


@contextlib.contextmanager
def serving(*options: str, port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """``arrastre serve`` in a process of its own."""
    command = [SCRIPT, "serve", "--lang", "en", "--port", str(port), "--threads", "2", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment()) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert line.startswith("listening on "), line + process.stderr.read()
            log = process.stderr
            # Nobody reads the log; a full pipe would hold the server up.
            threading.Thread(target=lambda: [None for _ in log], daemon=True).start()
            yield line.split()[-1], process
            process.terminate()
            assert process.wait(20) == 0
        finally:
            process.kill()
