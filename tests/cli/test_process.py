"""The installed script: streams, signals, exit statuses, and input that nobody should send."""

from __future__ import annotations

import json
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import arrastre
from run_command import SCRIPT, environment, run

LINE = "1O.SC/2O.4C.6B/7E6E.2B/5O.3C5C O 0 RC points=71-41"
LAST = "1O/2O/7E/5O O 0 - points=90-20"
BAD = "1O.SC/2O.4C.6B/7E6E.7E/5O.3C5Cx O 0 RC"
# The first trick of a deal: beyond any search.
DEAL = "5O.RC.1E5E4E.CB/RO.5C.2E.6B5B2B/3OCO6O.CE6E.SB/1O7O.CC4C.7E.1B O 0 - stock=SC3CSE7B2C3B1C4O6CRE2O4B3E7CRBSO"


def objects(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_solve_for_programs_is_what_the_library_says() -> None:
    done = run("solve", "--json", LINE)
    assert done.returncode == 0
    assert done.stderr == ""
    assert objects(done.stdout) == [arrastre.solve(arrastre.Position.parse(LINE)).to_dict()]


def test_solve_for_people() -> None:
    done = run("solve", LINE)
    assert done.returncode == 0
    assert (
        done.stdout
        == """\
                          N
                          1O
                          SC
  O ◂              ┌─────────────────┐
  2O               │       RC        │   E
  4C               │                 │   5O
  6B               │                 │   3C 5C
                   └─────────────────┘
                          S
                          7E 6E
                          2B

Trumps  oros
Rules   aragones
Points  NS 71  OE 41

NS wins the deal by 34 points.
Best: 4C (O).

      Action   Seat   Value   Loss
  ▸   4C       O        −34

Best play
  1.  N (RC)  O 4C  S 2B  E 3C  → E +14
  2.  E 5C  N SC  O 2O  S 6E    → O +3
  3.  O 6B  S 7E  E 5O  N 1O    → N +21
"""
    )


def test_input_of_all_kinds_in_order(tmp_path: Path) -> None:
    file = tmp_path / "positions.json"
    position = arrastre.Position.parse(LAST).to_dict()
    file.write_text(json.dumps([position, position], indent=1))
    done = run("solve", "--json", LINE, str(file), "-", "nowhere", LAST, given=f"# note\n{BAD}\n{LAST}\n")
    found = objects(done.stdout)
    assert done.returncode == 1
    assert [each["index"] for each in found] == [0, 1, 2, 3, 4, 5, 6]
    assert [each.get("margin") for each in found] == [-34, 91, 91, None, 91, None, 91]
    error = found[3]["error"]
    assert error["code"] == "INVALID_POSITION"
    assert {(fault["reason"], fault["line"]) for fault in error["faults"]} >= {("UNKNOWN_CARD", 2), ("CARD_TWICE", 2)}
    assert found[5]["error"]["code"] == "UNREADABLE"


def test_faults_are_told_to_people_on_the_other_stream() -> None:
    done = run("solve", "-", given=f"{LAST}\n\n{BAD}\n")
    assert done.returncode == 1
    assert done.stdout.count("── <stdin>:") == 1
    assert done.stderr.startswith("<stdin>:3: the position has faults\n")
    assert "  hands[2].cards[2], column 21: 7E is already in hands[2].cards[0]\n" in done.stderr
    spanish = run("solve", "--lang", "es", BAD)
    assert "  hands[2].cards[2], columna 21: 7E: la carta aparece dos veces\n" in spanish.stderr


def test_empty_input() -> None:
    for arguments in (["-"], ["/dev/null"]):
        done = run("solve", "--json", *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        done = run("show", *arguments, env={"LANG": "es_ES.UTF-8"}, given="\n\n# nada\n\r\n")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "no hay ninguna posición en la entrada\n")


@pytest.mark.parametrize("start", [b"x", b'{"hands": ["', b"[[[[", b"\xff", b"\x00", b'{"hands":'])
def test_a_line_of_ten_megabytes(start: bytes) -> None:
    given = start * (10_000_000 // len(start)) + b"\n" + LAST.encode()
    # A child is counted from its fork on, when it is as large as this process.
    before = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF))
    done = run("solve", "--json", "-", given=given)
    first, last = objects(done.stdout)
    assert done.returncode == 1
    assert first["error"]["faults"][0]["reason"] == "TOO_LONG"
    assert (last["index"], last["margin"]) == (1, 91)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(before, 150_000)


def test_binary_rubbish() -> None:
    last = b"\n" + LAST.encode() + b"\n"
    rubbish = bytes(range(256)) * 300 + last + random.Random(1).randbytes(50_000) + last
    done = run("solve", "--json", "-", given=rubbish)
    found = objects(done.stdout)
    assert done.returncode == 1
    assert [each["index"] for each in found] == list(range(len(found)))
    assert [each["margin"] for each in found if "margin" in each] == [91, 91]
    assert run("solve", "-", given=rubbish).returncode == 1
    assert run("show", "-", given=rubbish, env={"LANG": "es"}).returncode == 1


def test_bytes_of_other_alphabets() -> None:
    """UTF-8 goes out whatever the locale; a byte order mark and CRLF come in."""
    done = run("show", "-", given=b"\xef\xbb\xbf" + LAST.encode() + b"\r\n", env={"LC_ALL": "C", "PYTHONUTF8": "0"})
    assert done.returncode == 0
    assert "◂" in done.stdout
    escaped = json.dumps({"trump": "\ud800"})
    done = run("solve", "--json", escaped)
    assert done.returncode == 1
    assert objects(done.stdout)[0]["error"]["code"] == "INVALID_POSITION"


def test_nothing_that_a_terminal_obeys_is_echoed(tmp_path: Path) -> None:
    file = tmp_path / "evil\x1b[31m.txt"
    file.write_text(f'# \x1b]0;title\x07\n{LAST}\n{{"\\u001b[2J": 1}}\n{LAST} x=\x1b[31m\n')
    for command in ("solve", "show"):
        done = run(command, str(file))
        assert done.returncode == 1
        assert "\x1b" not in done.stdout + done.stderr
        assert "\x07" not in done.stdout + done.stderr


def test_many_positions_stream_in_bounded_memory() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    lines = [f"1O/2O/7E/5O O 0 - points={20 + n % 50}-0" for n in range(10_000)]
    outputs = [
        run("solve", "--json", "--no-line", "--threads", threads, "-", given="\n".join(lines)) for threads in ("1", "2")
    ]
    assert outputs[0].stdout == outputs[1].stdout
    found = objects(outputs[0].stdout)
    assert [each["index"] for each in found] == list(range(10_000))
    assert [each["margin"] for each in found] == [41 + n % 50 for n in range(10_000)]
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(before, 150_000)


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_broken_pipe(tmp_path: Path, form: list[str]) -> None:
    file = tmp_path / "many.txt"
    file.write_text(f"{LINE}\n" * 3000)
    with subprocess.Popen(
        [SCRIPT, "solve", *form, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 141
        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    "arguments",
    [["solve", LINE], ["solve", "--json", LINE], ["rules"], ["show", LINE], ["--help"], ["--version"], ["rules", "-h"]],
)
def test_output_that_takes_nothing(arguments: list[str]) -> None:
    for close in (">&-", ">/dev/full"):
        done = subprocess.run(
            ["sh", "-c", f'exec "$@" {close}', "sh", str(SCRIPT), *arguments],
            capture_output=True,
            env=environment(),
            check=False,
        )
        assert done.returncode == 1
        assert done.stderr.startswith(b"arrastre: cannot write: ")
        assert b"Traceback" not in done.stderr
        assert b"Exception" not in done.stderr


@pytest.mark.parametrize("arguments", [["solve", "-"], ["solve", "--json", "-"], ["solve", BAD], ["bogus"]])
def test_closed_streams(arguments: list[str]) -> None:
    for close in ("<&-", "2>&-", "<&- >&- 2>&-"):
        done = subprocess.run(
            ["sh", "-c", f'exec "$@" {close}', "sh", str(SCRIPT), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment(),
            check=False,
        )
        assert done.returncode in (0, 1, 2)
        assert b"Traceback" not in done.stderr


def test_a_writer_that_waits_for_each_answer() -> None:
    """Answers come as soon as the input pauses: another program can ask one thing at a time."""
    with subprocess.Popen(
        [SCRIPT, "solve", "--json", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for index in range(3):
            process.stdin.write(LINE.encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["index"] == index
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.parametrize("threads", ["1", "2"])
def test_interruption_loses_nothing(threads: str) -> None:
    """What was computed is printed, the search that was running says what it has proven, and that is all."""
    with subprocess.Popen(
        [SCRIPT, "solve", "--json", "--threads", threads, "--nodes", "9000000000", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write("\n".join([LINE, BAD, LINE, DEAL, LINE, *[DEAL] * 9, ""]).encode())
        process.stdin.flush()
        # The first answers come out before the hard ones are done.
        lines = [process.stdout.readline() for _ in range(3)]
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        rest, error = process.stdout.read(), process.stderr.read()
        assert process.wait(60) == 130
    found = objects(b"".join([*lines, rest]).decode())
    assert [each["index"] for each in found] == list(range(len(found)))
    assert [each.get("margin") for each in found[:3]] == [-34, None, -34]
    assert found[3]["proven"] is False
    assert len(found[3]["actions"]) == 6
    assert len(found) == (4 if threads == "1" else 6)
    assert error == b"interrupted\n"


def test_interruption_while_waiting_for_input() -> None:
    with subprocess.Popen(
        [SCRIPT, "solve", "--json", "--lang", "es", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(LINE.encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["margin"] == -34
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == b"interrumpido\n"


@pytest.mark.parametrize("arguments", [["solve", "-"], ["solve", LINE], ["rules"], ["--version"]])
def test_interruption_at_any_time_of_the_start_is_quiet(arguments: list[str]) -> None:
    """From the moment Python has found the script on: while it imports, and at its end."""
    for delay in range(20, 240, 20):
        start = (
            "import os, signal, sys, threading, _arrastre\n"
            f"kill = threading.Timer({delay / 1000}, os.kill, (os.getpid(), signal.SIGINT))\n"
            "kill.daemon = True\n"
            "kill.start()\n"
            f"sys.argv = ['arrastre', *{arguments!r}]\n"
            "_arrastre.main()\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", start], stdin=subprocess.PIPE, capture_output=True, env=environment(), check=False
        )
        # Python's own last steps let the signal end the process, which shells report as 130 all the same.
        assert done.returncode in (0, 130, -signal.SIGINT)
        assert done.stderr in (b"", b"interrupted\n", b"there is no position in the input\n")


def test_progress() -> None:
    done = run("solve", "--json", "--progress", "json", "-", given=f"{LAST}\n{BAD}\n")
    assert objects(done.stderr)[-1] == {"schema": 1, "done": 2, "failed": 1}
    assert run("solve", "--json", "--progress", "none", LAST).stderr == ""
    assert run("solve", "--json", LAST).stderr == ""


def test_colours_only_where_they_are_wanted() -> None:
    assert "\x1b" not in run("solve", LINE).stdout
    coloured = run("solve", LINE, env={"FORCE_COLOR": "1", "TERM": "xterm-256color"}).stdout
    assert "\x1b[33m1O\x1b[0m" in coloured
    plain = run("solve", LINE, env={"FORCE_COLOR": "1", "TERM": "xterm-256color", "NO_COLOR": "1"}).stdout
    assert "\x1b[33m" not in plain


def test_limits() -> None:
    done = run("solve", "--json", "--nodes", "1000", DEAL, DEAL)
    first, second = objects(done.stdout)
    assert done.returncode == 0
    assert first["proven"] is False
    assert first["margin"] is None
    assert {**second, "index": 0} == first
    start = time.monotonic()
    done = run("solve", "--seconds", "0.2", DEAL)
    assert "Not proven: the margin of NS lies between −" in done.stdout
    assert time.monotonic() - start < 20


def test_serve_starts_and_stops() -> None:
    with subprocess.Popen(
        [SCRIPT, "serve", "--port", "0", "--threads", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        assert line.startswith("listening on 127.0.0.1:")
        assert int(line.rsplit(":", 1)[1]) > 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        log = [json.loads(line) for line in process.stderr.read().splitlines()]
        assert [each["event"] for each in log] == ["serving", "draining"]


def test_serve_refuses_the_world() -> None:
    done = run("serve", "--host", "0.0.0.0")
    assert done.returncode == 2
    assert done.stderr.startswith("arrastre serve: --host: ")
