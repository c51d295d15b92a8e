"""Every example solves, and what it teaches is so.

``tests/data/examples.json`` holds, for each example and each way of asking that its note speaks of, the best actions
and the value of every action.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from run_command import run

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.txt"))
LESSONS: list[dict[str, Any]] = json.loads((ROOT / "tests" / "data" / "examples.json").read_text())


def test_there_are_ten_each_with_a_line_that_says_what_it_teaches() -> None:
    assert len(EXAMPLES) == 10
    assert [path.name for path in EXAMPLES] == list(dict.fromkeys(lesson["file"] for lesson in LESSONS))
    for path in EXAMPLES:
        note, *asks, position = path.read_text().splitlines()
        assert note.startswith("# Teaches: ")
        assert not position.startswith("#")
        # A lesson that the plain command does not show says which does, in full.
        options = [lesson["options"] for lesson in LESSONS if lesson["file"] == path.name and lesson["options"]]
        assert asks == [f"# Ask: arrastre solve examples/{path.name} {' '.join(each)}" for each in options]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: " ".join([lesson["file"], *lesson["options"]]))
def test_the_lesson_holds(lesson: dict[str, Any]) -> None:
    done = run("solve", "--json", *lesson["options"], str(ROOT / "examples" / lesson["file"]))
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert answer["proven"] is True
    assert answer.get("outcome", answer.get("margin")) == lesson["value"]
    assert [each["action"] for each in answer["best"]] == lesson["best"]
    assert {each["action"]: each["value"] for each in answer["actions"]} == lesson["actions"]


def test_all_at_once() -> None:
    """The main job: nothing fails, and each lesson is printed above its position."""
    done = run("solve", *map(str, EXAMPLES))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\nTeaches: ") == 10
    assert done.stdout.count("\nAsk: arrastre solve examples/") == 3
    assert done.stdout.count("\nBest play\n") == 10
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if not line.startswith("── "))
