"""The package against the reference, action by action, on random positions.

The examples are the same in every run. ``ARRASTRE_EXAMPLES=20000`` looks at so many others instead, new in every run.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import arrastre
from arrastre.errors import ArrastreError
from reference import guinote
from strategies import positions

WANTED = os.environ.get("ARRASTRE_EXAMPLES")


def examples(number: int) -> settings:
    """Settings for ``number`` examples, or for their share of the number asked for."""
    return settings(
        max_examples=number if WANTED is None else max(1, int(WANTED) * number // 500),
        derandomize=WANTED is None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def legal(position: arrastre.Position) -> set[tuple[str, int]]:
    return {(each.action, each.seat) for each in position.legal_actions()}


def compare(data: dict[str, Any], objective: guinote.Objective) -> None:
    position = arrastre.Position.from_dict(data)
    try:
        expected = guinote.solve(data, objective)
    except guinote.GameOverError:
        with pytest.raises(ArrastreError) as refusal:
            arrastre.solve(position, objective=objective, line=False)
        assert [fault.reason for fault in refusal.value.faults] == ["GAME_OVER"]
        return
    solution = arrastre.solve(position, objective=objective, line=False)
    found = {(each.action.action, each.action.seat): (each.lower, each.upper) for each in solution.actions}
    assert found == {action: (value, value) for action, value in expected.actions.items()}
    assert solution.proven
    assert solution.seat == expected.seat
    assert solution.value == expected.value
    assert [(each.action, each.seat) for each in solution.best] == expected.best
    assert solution.margin == (expected.value if objective == "points" else None)
    assert solution.outcome == expected.outcome


FOUND = json.loads((Path(__file__).parent / "data" / "found.json").read_text())


@pytest.mark.parametrize("case", FOUND, ids=[case["why"] for case in FOUND])
def test_what_went_wrong_once(case: dict[str, Any]) -> None:
    compare(case["position"], case["objective"])
    position = arrastre.Position.from_dict(case["position"])
    assert arrastre.solve(position, objective=case["objective"]).value == case["value"]


@examples(150)
@given(positions(kind="arrastre"))
def test_points_in_the_arrastre(data: dict[str, Any]) -> None:
    compare(data, "points")


@examples(200)
@given(positions(kind="arrastre"))
def test_game_in_the_arrastre(data: dict[str, Any]) -> None:
    compare(data, "game")


@examples(100)
@given(positions(kind="draw"))
def test_points_before_the_last_draws(data: dict[str, Any]) -> None:
    compare(data, "points")


@examples(120)
@given(positions(kind="draw"))
def test_game_before_the_last_draws(data: dict[str, Any]) -> None:
    compare(data, "game")


@pytest.mark.parametrize("objective", ["points", "game"])
def test_whole_hands_before_the_last_draw(objective: guinote.Objective) -> None:
    @examples(3)
    @given(positions(kind="ordinary_draw"))
    def check(data: dict[str, Any]) -> None:
        compare(data, objective)

    check()


@examples(300)
@given(positions(kind="whole"))
def test_legal_actions_anywhere(data: dict[str, Any]) -> None:
    assert legal(arrastre.Position.from_dict(data)) == guinote.legal_actions(data)


@examples(200)
@given(positions())
def test_legal_actions_near_the_end(data: dict[str, Any]) -> None:
    assert legal(arrastre.Position.from_dict(data)) == guinote.legal_actions(data)


@examples(40)
@given(positions(), st.sampled_from(["points", "game"]))
def test_line(data: dict[str, Any], objective: guinote.Objective) -> None:
    """Every step of the line is the reference's first choice in the position that the steps before it led to."""
    position = arrastre.Position.from_dict(data)
    if objective == "game" and guinote.game_over(data):
        return
    for step in arrastre.solve(position, objective=objective).line:
        assert (step.action, step.seat) == guinote.solve(position.to_dict(), objective).best[0]
        position = position.apply(arrastre.Action(step.action, step.seat))
    if objective == "points":
        assert position.finished()


@examples(60)
@given(positions())
def test_one_context_for_many_positions(data: dict[str, Any]) -> None:
    """A warm table answers as a fresh one does."""
    try:
        expected = guinote.solve(data)
    except guinote.NothingToPlayError:
        return
    solution = arrastre.solve(arrastre.Position.from_dict(data), context=CONTEXT, line=False)
    assert {(each.action.action, each.action.seat): each.lower for each in solution.actions} == expected.actions


CONTEXT = arrastre.Context(memory_mb=1)
