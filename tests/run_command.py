"""The command as people run it: the installed script, in a process of its own, outside any terminal. And ``call``: the
command within this process, so that a game of the tests' own can be registered."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from arrastre.cli import command

SCRIPT = Path(sys.executable).with_name("arrastre")
_SPOKEN = ("LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE", "NO_COLOR", "FORCE_COLOR", "COLUMNS")


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of this process, without what says how to talk to people."""
    return {name: value for name, value in os.environ.items() if name not in _SPOKEN} | dict(extra or {})


def run(
    *arguments: str, given: bytes | str = b"", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``arrastre`` to its end with ``given`` as its standard input. A traceback is never an answer."""
    done = subprocess.run(
        [SCRIPT, *arguments],
        input=given.encode() if isinstance(given, str) else given,
        capture_output=True,
        env=environment(env),
        timeout=120,
        check=False,
    )
    result = subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in result.stderr, result.stderr
    return result


def runner() -> CliRunner:
    """A runner that keeps the two output streams apart, which older versions of click must be asked for."""
    apart = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
    return CliRunner(**apart)  # type: ignore[arg-type]


def call(*arguments: str, lang: str = "en", given: str = "") -> Result:
    result = runner().invoke(command(lang), [*arguments, "--lang", lang], input=given)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]
