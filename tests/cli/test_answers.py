"""``docs/answers.md`` and ``docs/estimates.md`` show what the commands answer."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from run_command import run

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "answers.md").read_text()
ESTIMATES = (ROOT / "docs" / "estimates.md").read_text()
SHOWN = re.compile(r"^```sh\n(.*?)\n```\n.*?^```json\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = SHOWN.findall(DOCUMENT)
ESTIMATE = SHOWN.findall(ESTIMATES.partition("\n## As JSON\n")[2])


def answers(command: str) -> list[dict[str, Any]]:
    _, *arguments = shlex.split(command)
    done = run(*(str(ROOT / each) if each.startswith("examples/") else each for each in arguments))
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("command", "shown"), [*EXAMPLES, *ESTIMATE])
def test_examples(command: str, shown: str) -> None:
    expected = json.loads(shown)
    (answer,) = (each for each in answers(command) if each["index"] == expected["index"])
    if "steps" in expected:  # some of them
        assert 0 < len(expected["steps"]) < len(answer["steps"])
        answer["steps"] = [step for step in answer["steps"] if step in expected["steps"]]
    assert answer == expected
    assert list(answer) == list(expected)


def test_every_field_is_described() -> None:
    assert len(EXAMPLES) == 4
    described = set(re.findall(r"`(\w+)`", DOCUMENT))
    for command, shown in EXAMPLES:
        data = json.loads(shown)
        steps = data.get("steps", [{}])
        score = data.get("score", {"deals": [{}]})
        for each in (data, steps[0], score, score["deals"][0], score["deals"][0].get("result", {})):
            missing = each.keys() - described - {"schema", "seat", "margin", "actions", "line", "index", "score"}
            assert not missing, command


def test_every_field_of_an_estimate_is_described() -> None:
    ((command, shown),) = ESTIMATE
    (answer,) = answers(command)
    described = set(re.findall(r"`(\w+)`", ESTIMATES))
    first, reasons = answer["why"][0], [each["reasons"] for each in answer["why"]]
    assert any(reasons)
    for each in (answer, answer["actions"][0], answer["where"][0], first, next(filter(None, reasons))[0]):
        assert each.keys() <= described | {"schema", "action"}
    assert {"best", "equal", "worse", "unclear"} <= described
    assert json.loads(shown) == answer
