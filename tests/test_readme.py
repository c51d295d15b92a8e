"""What the README and the other pages show is what happens."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = {path.name: path.read_text() for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
PORT = "50051"


def blocks(language: str) -> list[str]:
    """The blocks of all pages that are in a language."""
    fence = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return [block for page in PAGES.values() for block in fence.findall(page)]


def run_python(block: str) -> None:
    test = doctest.DocTestParser().get_doctest(block, {}, "page", "page", 0)
    report: list[str] = []
    assert test.examples
    assert doctest.DocTestRunner().run(test, out=report.append).failed == 0, "".join(report)


@pytest.mark.parametrize("block", blocks("console"))
def test_commands(block: str) -> None:
    command, expected = block.removeprefix("$ ").split("\n", 1)
    here = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=os.environ
        | {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "COLUMNS": "80", "PATH": f"{here}:{os.environ['PATH']}"},
    )
    assert done.stdout == expected


@pytest.mark.parametrize("block", [block for block in blocks("python") if ">>>" in block and PORT not in block])
def test_python(block: str) -> None:
    run_python(block)


@pytest.mark.parametrize("block", [block for block in blocks("python") if PORT in block])
def test_python_with_a_server(block: str) -> None:
    serve = [Path(sys.executable).with_name("arrastre"), "serve", "--port", "0"]
    with subprocess.Popen(serve, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            run_python(block.replace(PORT, server.stderr.readline().strip().rpartition(":")[2]))
        finally:
            server.terminate()
        assert server.wait(10) == 0
