"""``solve`` and ``solve_many``: what is asked for, where a search ends, and that answers depend on nothing else."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

import arrastre
from arrastre.exact import Context, check
from corpus import random_positions

ENDING = "SO2O.RCSC.1E2E/RESE7E5E.SB7B/3OCO7O.3C.RB6B/1O4O.7C4C.3B5B C 3 - points=10-32 tricks=2-2"  # a cante is open
WHOLE_DEAL = random_positions(1, seed=5, draws=4)[0]


def answers(positions: list[arrastre.Position], **options: Any) -> str:
    return json.dumps([each.to_dict(i) for i, each in enumerate(arrastre.solve_many(positions, **options))])


@pytest.fixture(scope="module")
def endings() -> list[arrastre.Position]:
    return random_positions(120, seed=11)


def test_answers_have_the_documented_form() -> None:
    answer = arrastre.solve(arrastre.Position.parse(ENDING)).to_dict(index=3)
    assert list(answer) == [
        "schema", "index", "seat", "objective", "proven", "margin", "best", "actions", "line",
    ]  # fmt: skip
    assert (answer["schema"], answer["index"], answer["seat"], answer["margin"]) == (1, 3, 3, 36)
    assert answer["best"] == [{"action": "cante E", "seat": 1}, {"action": "5B", "seat": 3}]
    assert {"action": "1O", "seat": 3, "value": 12} in answer["actions"]
    assert answer["line"][0] == {"action": "cante E", "seat": 1, "winner": None, "points": None}
    assert [step["winner"] for step in answer["line"] if step["winner"] is not None] == [0, 3, 2, 3, 3, 2]
    assert sum(step["points"] or 0 for step in answer["line"]) == 120 - 42 + 10


def test_best_and_value_agree_with_all(endings: list[arrastre.Position]) -> None:
    for objective in ("points", "game"):
        every = arrastre.solve_many(endings, objective=objective)
        best = arrastre.solve_many(endings, objective=objective, want="best")
        value = arrastre.solve_many(endings, objective=objective, want="value")
        assert all(each.proven for each in [*every, *best, *value])
        assert [each.value for each in every] == [each.value for each in best] == [each.value for each in value]
        assert [each.best for each in every] == [each.best for each in best]
        assert not any(each.actions for each in value)
        for full, short in zip(every, best, strict=True):
            exact = {each.action: each.lower for each in full.actions}
            assert all(each.lower <= exact[each.action] <= each.upper for each in short.actions)


def test_at_least(endings: list[arrastre.Position]) -> None:
    for objective, steps in (("points", (-1, 0, 1, 12, 300)), ("game", (-2, -1, 0, 1, 2))):
        exact = arrastre.solve_many(endings, objective=objective, want="value")
        for step in steps:
            for full in exact[::4]:
                assert full.value is not None
                asked = full.value + step if objective == "points" else step
                found = arrastre.solve(full.position, objective=objective, want="value", at_least=asked)
                assert found.proven and found.reaches is (full.value >= asked)
                assert found.lower <= full.value <= found.upper
                answer = found.to_dict()
                assert (answer["atLeast"], answer["reaches"]) == (asked, found.reaches)
                assert ("lower" in answer) is (found.value is None)
        wins = arrastre.solve_many(endings, objective=objective, want="value", at_least=1, threads=2)
        assert [each.reaches for each in wins] == [each.value > 0 for each in exact if each.value is not None]
        assert sum(each.nodes for each in wins) < sum(each.nodes for each in exact)
    cut = arrastre.solve(WHOLE_DEAL, want="value", at_least=1, nodes=1000)
    assert cut.reaches is None and not cut.proven and cut.to_dict()["reaches"] is None
    assert arrastre.solve(WHOLE_DEAL, want="value", nodes=1).reaches is None


def test_at_least_asks_about_the_value_alone() -> None:
    for options in ({"want": "all"}, {"want": "best"}, {"want": "value", "at_least": 1.5}):
        with pytest.raises(arrastre.InvalidRequest) as refusal:
            arrastre.solve(WHOLE_DEAL, **{"at_least": 1, **options})  # type: ignore[arg-type]
        assert refusal.value.faults[0].field == "at_least"


def test_same_bytes_for_any_number_of_threads(endings: list[arrastre.Position]) -> None:
    one = answers(endings, line=True)
    assert answers(endings, line=True, threads=2) == one
    assert answers(endings, line=True, threads=7, memory_mb=1) == one


def test_a_warm_context_answers_as_a_fresh_one(endings: list[arrastre.Position]) -> None:
    context = Context(memory_mb=1)
    for each in [*endings, *reversed(endings)]:
        warm = arrastre.solve(each, context=context)
        assert warm.to_dict() == arrastre.solve(each).to_dict()


def test_a_warm_context_saves_work() -> None:
    position, context = random_positions(1, seed=3)[0], Context()
    first = arrastre.solve(position, line=False, context=context).nodes
    assert arrastre.solve(position, line=False, context=context).nodes < first / 10


def test_a_node_limit_cuts_at_the_same_place_warm_or_not() -> None:
    context = Context()
    fresh = arrastre.solve(WHOLE_DEAL, nodes=20_000)
    arrastre.solve(WHOLE_DEAL, nodes=30_000, context=context)
    warm = arrastre.solve(WHOLE_DEAL, nodes=20_000, context=context)
    assert warm.to_dict() == fresh.to_dict()
    assert fresh.nodes == 20_000
    assert not fresh.proven


@pytest.mark.parametrize("objective", ["points", "game"])
def test_what_is_cut_is_bounded(objective: str) -> None:
    for limit in (1, 100, 1_000, 3_000, 10_000):
        for position in random_positions(10, seed=21):
            exact = arrastre.solve(position, objective=objective, line=False)
            cut = arrastre.solve(position, objective=objective, nodes=limit)
            assert cut.nodes <= limit
            truth = {each.action: each.lower for each in exact.actions}
            for each in cut.actions:
                assert each.lower <= truth[each.action] <= each.upper
            assert exact.value is not None
            assert cut.lower <= exact.value <= cut.upper
            answer = cut.to_dict()
            assert answer["proven"] is cut.proven
            if not cut.proven:
                assert (answer["lower"], answer["upper"]) == (cut.lower, cut.upper)
                unproven = [each for each in answer["actions"] if each["value"] is None]
                assert unproven
                assert all(each["lower"] < each["upper"] for each in unproven)


def test_time_limit_and_stop_flag() -> None:
    begun = time.monotonic()
    cut = arrastre.solve(WHOLE_DEAL, seconds=0.05)
    assert not cut.proven
    context = Context()
    threading.Timer(0.1, context.stop).start()
    stopped = arrastre.solve(WHOLE_DEAL, context=context, seconds=60)
    assert not stopped.proven
    # Two searches that were to last minutes; how long they took is not this test's business.
    assert time.monotonic() - begun < 30
    again = arrastre.solve(arrastre.Position.parse(ENDING), context=context)
    assert again.nodes == 0
    assert not again.proven
    context.resume()
    assert arrastre.solve(arrastre.Position.parse(ENDING), context=context).proven


def test_ties_are_broken_by_the_stated_order() -> None:
    # Everything loses all: the fewest points first, then the lowest rank, then suits O C E B.
    text = "2O.4C.5B/1E3ERE E 0 - players=2 tricks=9-8 points=0-0 cardPoints=0-0"
    solution = arrastre.solve(arrastre.Position.parse(text))
    assert [each.action for each in solution.best] == ["2O", "4C", "5B"]
    # A cante wins over a card of equal value, and trumps are sung first.
    assert arrastre.solve(arrastre.Position.parse(ENDING)).best[0].action == "cante E"


def test_every_card_of_a_run_has_its_value() -> None:
    position = arrastre.Position.parse("2O5O7O.2E/4O6O.7E3E E 0 - players=2 tricks=8-8")
    exact = {each.action.action: each.lower for each in arrastre.solve(position).actions}
    for card, value in exact.items():
        after = arrastre.solve(position.apply(card))
        sign = 1 if after.seat == 0 else -1
        assert after.value is not None
        assert value == sign * after.value


def test_the_line_ends_with_the_game() -> None:
    # A tute, then a trick won with the target: what could still be played is no part of the line.
    text = "RORCRERB/4O5O6O.7B E 0 - points=43-61 tricks=11-5 vueltas carried=19-33 ruleset=riojano"
    position = arrastre.Position.parse(f"{text} rules.tute=40 rules.vueltas=won_trick")
    solution = arrastre.solve(position, objective="game")
    assert [step.action for step in solution.line] == ["tute", "RO", "4O"]
    assert solution.outcome == "win"


def test_replay_is_told_from_vueltas() -> None:
    # 100 each and a higher score needed: whoever takes the last trick wins under aragones, not under cien.
    text = "2O/4C E 0 - players=2 tricks=10-9 points={} cardPoints=60-60 ruleset=cien"
    tie = arrastre.solve(arrastre.Position.parse(text.format("100-110")), objective="game")
    assert (tie.value, tie.outcome) == (0, "replay")
    assert tie.to_dict()["actions"] == [{"action": "2O", "seat": 0, "value": 0, "outcome": "replay"}]
    short = arrastre.solve(arrastre.Position.parse(text.format("80-90")), objective="game")
    assert (short.value, short.outcome) == (0, "vueltas")


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"objective": "tricks"}, "objective"),
        ({"want": "everything"}, "want"),
        ({"nodes": 0}, "nodes"),
        ({"nodes": 1.5}, "nodes"),
        ({"seconds": 0}, "seconds"),
        ({"seconds": True}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"threads": 0}, "threads"),
        ({"memory_mb": 0}, "memory_mb"),
    ],
)
def test_requests_that_make_no_sense(options: dict[str, Any], field: str) -> None:
    with pytest.raises(arrastre.InvalidRequest) as refusal:
        arrastre.solve_many([arrastre.Position.parse(ENDING)], **options)
    assert [fault.field for fault in refusal.value.faults] == [field]


@pytest.mark.parametrize(
    ("text", "objective", "reason"),
    [
        ("1O2O3O4O5O6O/+6 O 0 - stock=???????????????????????????7O", "points", "HIDDEN_CARDS"),
        ("-/- E 0 - tricks=10-10", "points", "DEAL_OVER"),
        ("2O/4C E 0 - tricks=10-9 points=60-60 vueltas carried=50-10", "game", "GAME_OVER"),
        ("2O/4C E 0 - tricks=10-9 points=60-60 vueltas carried=101-10", "game", "GAME_OVER"),
        ("2O/4C E 0 - tricks=10-9 points=60-60 tute=1@7", "game", "GAME_OVER"),
        # Side 1 has its 101 from cards: the tute that may have come late is the other side's.
        (
            "1C/2C O 0 - points=60-31 cardPoints=20-31 tute=0@19 carried=50-70 vueltas ruleset=torneo rules.tute=40",
            "game",
            "GAME_OVER",
        ),
    ],
)
def test_positions_that_cannot_be_solved(text: str, objective: str, reason: str) -> None:
    position = arrastre.Position.parse(text)
    with pytest.raises(arrastre.InvalidPosition) as refusal:
        check(position, objective)
    assert {fault.reason for fault in refusal.value.faults} == {reason}
    with pytest.raises(arrastre.InvalidPosition) as refusal:
        arrastre.solve_many([arrastre.Position.parse(ENDING), position], objective=objective)
    assert {fault.field for fault in refusal.value.faults} == {"positions[1]"}


def test_answers_of_a_list_know_their_place(endings: list[arrastre.Position]) -> None:
    assert [each.to_dict()["index"] for each in arrastre.solve_many(endings, threads=2)] == list(range(len(endings)))
    assert arrastre.solve_many(endings[:3])[1].to_dict(index=7)["index"] == 7


def test_a_solution_shows_itself() -> None:
    solution = arrastre.solve(arrastre.Position.parse(ENDING))
    assert repr(solution).endswith(": points 36, best cante E by 1, 5B by 3>")
    assert solution.actions[0].value == 12
    cut = arrastre.solve(WHOLE_DEAL, nodes=1)
    assert cut.actions[0].value is None
    assert ".." in repr(cut)


@pytest.mark.parametrize(("positions", "options"), [([None], {}), ("abc", {}), ([{}], {})])
def test_what_is_no_position(positions: Any, options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="position 0 must be a Position"):
        arrastre.solve_many(positions, **options)


@pytest.mark.parametrize("data", [None, [], "x", 3])
def test_what_is_no_object(data: Any) -> None:
    with pytest.raises(arrastre.InvalidSyntax) as refusal:
        arrastre.Position.from_dict(data)
    assert [fault.reason for fault in refusal.value.faults] == ["NOT_AN_OBJECT"]


def test_no_positions_no_answers() -> None:
    assert arrastre.solve_many([]) == []
