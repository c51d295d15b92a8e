"""``arrastre engine``: exactly one answer for each question."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import arrastre
from run_command import SCRIPT, environment, run

ROOT = Path(__file__).parents[2]
CANTES = (ROOT / "examples" / "records" / "cantes.txt").read_text()
TEXT = "RESE.CB/4O.CC.4B/1E3E7E/RC.4E.SB B 2 - points=32-49 tricks=2-5"
WHOLE = arrastre.Record.parse(CANTES).deals[0].steps[0].position.to_dict()


def asked(*questions: Any) -> list[dict[str, Any]]:
    lines = [each if isinstance(each, str) else json.dumps(each) for each in questions]
    done = run("engine", given="\n".join(lines) + "\n")
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_question_gets_its_answer() -> None:
    answers = asked(
        {"id": "s", "do": "solve", "position": TEXT},
        {"id": "o", "do": "solve", "position": arrastre.Position.parse(TEXT).to_dict(), "objective": "game"},
        {"id": 7, "do": "best", "record": CANTES, "at": "7.1", "worlds": 64},
        {"id": "p", "do": "best", "position": WHOLE, "level": 0},
        {"id": "g", "do": "grade", "record": CANTES, "effort": "quick"},
        {"id": "r", "do": "rulesets"},
    )
    found = {each["id"]: each["answer"] for each in answers}
    assert len(answers) == len(found) == 6
    position = arrastre.Position.parse(TEXT)
    assert found["s"] == arrastre.solve(position).to_dict()
    assert found["o"] == arrastre.solve(position, objective="game").to_dict()
    deal = arrastre.Record.parse(CANTES).deals[0]
    expected = arrastre.best(deal, at="7.1", worlds=64).to_dict()
    assert {name: found[7][name] for name in expected} == expected
    assert found["p"]["view"] == "policy" and len(found["p"]["best"]) == 1
    assert found["g"]["deals"][0]["grade"] == arrastre.grade(deal, effort="quick").deals[0].to_dict()
    assert [each["name"] for each in found["r"]["rulesets"]] == list(arrastre.rulesets())


def apart(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answer to a bad question, then that to the good one."""
    return sorted(answers, key=lambda each: each["id"] == "ok")


@pytest.mark.parametrize(
    ("question", "field", "reason"),
    [
        ("{", "", "NOT_JSON"),
        ("[1]", "", "BAD_TYPE"),
        ({"id": "x"}, "do", "UNKNOWN_WORD"),
        ({"id": "x", "do": "fly"}, "do", "UNKNOWN_WORD"),
        ({"id": {}, "do": "solve"}, "id", "BAD_TYPE"),
        ({"id": "x", "do": "solve"}, "position", "MISSING"),
        ({"id": "x", "do": "solve", "position": 3}, "position", "BAD_TYPE"),
        ({"id": "x", "do": "solve", "position": TEXT, "colour": 1}, "colour", "UNKNOWN_FIELD"),
        ({"id": "x", "do": "solve", "position": TEXT, "nodes": "many"}, "nodes", "BAD_VALUE"),
        ({"id": "x", "do": "solve", "position": TEXT, "objective": "glory"}, "objective", "BAD_VALUE"),
        ({"id": "x", "do": "best", "position": TEXT, "level": 9}, "level", "OUT_OF_RANGE"),
        ({"id": "x", "do": "best", "record": CANTES, "at": "99.1"}, "at", "NO_SUCH_MOMENT"),
        ({"id": "x", "do": "grade", "record": 5}, "record", "BAD_TYPE"),
        ({"id": "x", "do": "cancel"}, "id", "UNKNOWN_ID"),
    ],
)
def test_a_bad_question_is_told_what_is_wrong_and_the_rest_go_on(question: Any, field: str, reason: str) -> None:
    wrong, right = apart(asked(question, {"id": "ok", "do": "solve", "position": TEXT}))
    assert right["answer"]["margin"] == -12
    faults = [(each["field"], each["reason"]) for each in wrong["error"]["faults"]]
    assert (field, reason) in faults


def test_a_line_that_is_too_long() -> None:
    wrong, right = apart(asked('{"id": "' + "x" * 2**21 + '"}', {"id": "ok", "do": "solve", "position": TEXT}))
    assert wrong["error"]["faults"][0]["reason"] == "TOO_LONG" and "answer" in right


def talking() -> subprocess.Popen[str]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([SCRIPT, "engine", "--threads", "1"], text=True, env=environment(), **pipes)  # type: ignore[call-overload,no-any-return]


def say(process: subprocess.Popen[str], **question: Any) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(question) + "\n")
    process.stdin.flush()


def test_a_cancel_gives_the_one_answer_at_once() -> None:
    with talking() as process:
        try:
            assert process.stdout is not None
            say(process, id="long", do="solve", position=WHOLE, nodes=2**40)
            say(process, id="next", do="best", position=WHOLE, worlds=20)
            say(process, id="never", do="solve", position=WHOLE, nodes=2**40)
            say(process, id="never", do="cancel")
            first = json.loads(process.stdout.readline())
            assert (first["id"], first["error"]["code"]) == ("never", "CANCELLED")
            say(process, id="long", do="cancel")
            second = json.loads(process.stdout.readline())
            assert (second["id"], second["error"]["code"]) == ("long", "CANCELLED")
            assert json.loads(process.stdout.readline())["id"] == "next"
            assert process.stdin is not None
            process.stdin.close()
            assert process.stdout.read() == ""
            assert process.wait(20) == 0
        finally:
            process.kill()


def test_watching_and_an_interruption() -> None:
    with talking() as process:
        try:
            assert process.stdout is not None
            say(process, id="w", do="best", position=WHOLE, seconds=60, watch=True)
            said = [json.loads(process.stdout.readline()) for _ in range(3)]
            assert all("progress" in each for each in said)
            os.kill(process.pid, signal.SIGINT)
            rest = [json.loads(line) for line in process.stdout]
            assert "answer" in rest[-1] and all("progress" in each for each in rest[:-1])
            assert rest[-1]["answer"]["worlds"] >= said[-1]["progress"]["worlds"]
            assert process.wait(20) == 130
        finally:
            process.kill()
