"""The solved positions of an independent reference search: the package finds the same values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import arrastre

FOLDER = Path(__file__).parent / "data" / "cases"
OBJECTIVES = {"arrastre": "points", "draw_2p": "points", "exchange_2p": "points", "game": "game"}


def load(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text())
    return cases


def every_case() -> list[tuple[str, dict[str, Any]]]:
    return [(name, case) for name in OBJECTIVES for case in load(name)]


@pytest.mark.parametrize(("name", "case"), every_case(), ids=lambda each: each if isinstance(each, str) else "")
def test_values(name: str, case: dict[str, Any]) -> None:
    position = arrastre.Position.from_dict(case["position"])
    solution = arrastre.solve(position, objective=OBJECTIVES[name], line=False)
    assert solution.proven
    assert (solution.seat, solution.value) == (case["seat"], case.get("margin", case.get("outcome")))
    found = {(each.action.seat, each.action.action): each.value for each in solution.actions}
    cards = {action: value for (_, action), value in found.items() if len(action) == 2}
    assert cards == case["cards"]
    declared: dict[tuple[int, str], int] = {}
    for key, value in {**case.get("cantes", {}), **case.get("exchanges", {})}.items():
        seat, what = key.split(":")
        declared[int(seat), what if what == "cambio" else f"cante {what}"] = value
    # The cases of `game` list cards only.
    if name != "game":
        assert {key: value for key, value in found.items() if len(key[1]) > 2} == declared


@pytest.mark.parametrize("case", load("legality"), ids=lambda case: case["why"])
def test_legal_cards(case: dict[str, Any]) -> None:
    actions = arrastre.Position.from_dict(case["position"]).legal_actions()
    assert {each.seat for each in actions} == {case["seat"]}
    assert sorted(each.action for each in actions) == sorted(case["legal"])


@pytest.mark.parametrize("case", load("hidden_2p"))
def test_averages_over_all_worlds(case: dict[str, Any]) -> None:
    """Each world puts another unseen card, of the rival's six and the one over the muestra, on top of the stock."""
    position, seat = case["position"], case["seat"]
    unseen = [*position["hands"][1 - seat]["cards"], position["stock"][0]]
    assert len(unseen) == case["worlds"]
    worlds = []
    for top in unseen:
        hands = list(position["hands"])
        hands[1 - seat] = {"cards": [card for card in unseen if card != top]}
        worlds.append(arrastre.Position.from_dict({**position, "hands": hands, "stock": [top, position["stock"][1]]}))
    totals = dict.fromkeys(case["cards"], 0)
    for solution in arrastre.solve_many(worlds):
        for each in solution.actions:
            if each.action.action in totals:
                assert each.value is not None
                totals[each.action.action] += each.value
    averages = {card: total / len(worlds) for card, total in totals.items()}
    assert averages == pytest.approx(case["cards"], abs=1e-6)
