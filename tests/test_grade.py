"""Grades: what is a decision, what it costs, what may be said of it, and that the parts of a result add up."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest

import arrastre
import toy_game
from arrastre.errors import InvalidRequest
from arrastre.game import Action, Address
from arrastre.grade import (
    EFFORTS,
    DealGrade,
    Decision,
    Effort,
    controlled,
    decided,
    effort_named,
    fingerprint,
    grade_deal,
    labelled,
)
from arrastre.record import Record
from arrastre.statistics import Mean
from deals import play_deal

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "examples" / "records"
#: As ``normal``, but for machines in a hurry.
LITTLE = Effort("little", 32, 64, 200_000, 32)
QUICK = EFFORTS["quick"]


def record(name: str) -> Record:
    return Record.parse((RECORDS / name).read_text(), strict=False)


def deal(seed: int, **settings: Any) -> arrastre.Deal:
    return Record.from_dict(play_deal(Random(seed), **settings)).deals[0]


@pytest.fixture(scope="module")
def cantes() -> DealGrade:
    return grade_deal(record("cantes.txt").deals[0], effort=LITTLE)


# -- which decisions there are


def test_a_decision_is_between_two_actions_at_least(cantes: DealGrade) -> None:
    places = [str(each.at) for each in cantes]
    forced = ["5.3", "6.2", "6.3", "7.2", "7.4", "8.4", "9.2", "10.1", "10.2", "10.3", "10.4"]
    assert len(places) == len(set(places)) == len(cantes.deal.steps) - len(forced)
    assert not set(places) & set(forced)
    assert all(len(each.options) > 1 and each.action in [one.action for one in each.options] for each in cantes)


def test_the_options_are_those_of_one_seat(cantes: DealGrade) -> None:
    sings = next(each for each in cantes if str(each.at) == "2.0.1")
    assert [one.action.action for one in sings.options] == ["cante O", "pass"]
    assert (sings.player, sings.seat, sings.side, sings.phase, sings.moment) == ("Jorge", 1, 1, "declarations", "lead")
    assert all(one.action.seat == each.seat for each in cantes for one in each.options)


def test_what_is_let_pass_is_a_decision() -> None:
    """In the deal with its cantes left out, the partner who could have sung is asked why, before the card was led."""
    data = json.loads(json.dumps(dict(record("cantes.txt").deals[0].data)))
    data["events"] = [each for each in data["events"] if each["action"] != "cante O"]
    data["result"] = None
    silent = Record.from_dict(data).deals[0]
    grade = grade_deal(silent, effort=LITTLE)
    passed = next(each for each in grade if str(each.at) == "2.0.1")
    assert (passed.action, passed.seat) == (Action("pass", 1), 1)
    sing, keep = passed.options
    assert sing.action == Action("cante O", 1) and sing.points is not None and keep.points is not None
    assert sing.points > keep.points
    # The card that was led by the other is judged by itself.
    led = next(each for each in grade if str(each.at) == "2.1")
    assert led.seat == 3 and all(len(one.action.action) == 2 for one in led.options)


def test_an_exchange_that_was_let_pass() -> None:
    data = json.loads(json.dumps(dict(record("cantes.txt").deals[0].data)))
    data["events"] = [each for each in data["events"] if each["action"] != "cambio"]
    data["result"] = None
    kept = Record.from_dict(data, strict=False).deals[0]
    at = {str(each.at): each for each in grade_deal(kept, effort=LITTLE)}
    assert "cambio" in [one.action.action for one in at["3.1"].options]
    assert at["3.1"].phase == "declarations"


def test_every_seat_that_passes_has_an_address_of_its_own() -> None:
    for seed in range(40):
        players = 2 if seed % 3 == 0 else 4
        ruleset = ("torneo", "aragones", "gamerules", "cien")[seed % 4]
        played = deal(seed, players=players, ruleset=ruleset)
        grade = grade_deal(played, effort=QUICK)
        places = [each.at for each in grade]
        assert len(places) == len(set(places))
        for each in grade:
            assert played.position(each.at) in [step.position for step in played.steps]
            assert each.phase == "declarations" or each.action.action != "pass"


# -- hindsight


def test_hindsight_is_what_exact_search_says(cantes: DealGrade) -> None:
    """As ``line_values`` has it, where the acting seat has all the actions of its side."""
    exact = {str(each.step.at): each for each in arrastre.line_values(cantes.deal, nodes=2_000_000)}
    checked = 0
    for each in cantes:
        if each.hindsight_points_loss is None or each.phase == "declarations":
            continue
        assert each.hindsight_points_loss == exact[str(each.at)].loss
        checked += 1
    assert checked > 12
    assert {each.at.trick for each in cantes if each.hindsight_points_loss is not None} == {4, 5, 6, 7, 8, 9}


def test_quick_is_hindsight_alone(cantes: DealGrade) -> None:
    quick = {each.at: each for each in grade_deal(cantes.deal, effort=QUICK)}
    seen = {each.at: each for each in cantes if each.hindsight_points_loss is not None}
    assert quick.keys() == seen.keys()
    for at, each in quick.items():
        assert (each.basis, each.worlds, each.exact) == ("hindsight", 0, True)
        assert each.points_loss == each.hindsight_points_loss == seen[at].hindsight_points_loss
        assert each.game_loss == each.hindsight_game_loss == seen[at].hindsight_game_loss
        assert each.points_error == each.game_error == 0
        assert each.points_loss is not None and each.points_loss >= 0
        assert not each.unlucky


def test_unlucky_but_right(cantes: DealGrade) -> None:
    unlucky = [each for each in cantes if each.unlucky]
    assert unlucky
    for each in cantes:
        worse = (each.hindsight_points_loss or 0) >= 0.5
        assert each.unlucky == (each.label == "equal" and worse)


# -- labels


def mean(value: float, error: float = 0.0) -> Mean:
    return Mean(value, error, 100)


@pytest.mark.parametrize(
    ("points", "game", "label"),
    [
        (mean(20, 1), mean(0.15, 0.01), "blunder"),
        (mean(20, 1), mean(0.15, 0.03), "mistake"),  # never stronger than its lower bound
        (mean(20, 1), mean(0.15, 0.06), "inaccuracy"),
        (mean(20, 1), mean(0.15, 0.07), "unclear"),
        (mean(0), mean(0), "equal"),
        (mean(-1, 0.5), mean(-0.01, 0.005), "equal"),
        (mean(3), mean(0), "small"),
        (mean(3, 1), mean(0.0, 0.01), "small"),
        (mean(1, 1), mean(0.0, 0.005), "unclear"),
        (mean(0.1, 0.1), mean(0.0, 0.05), "unclear"),
        (None, mean(0.06), "mistake"),
        (mean(math.nan, math.nan), mean(0.5, math.nan), "unclear"),
        (mean(20), mean(0.10), "mistake"),
        (mean(2), mean(0.02), "small"),
    ],
)
def test_labels(points: Mean | None, game: Mean, label: str) -> None:
    assert labelled(points, game) == label


def test_more_worlds_are_wanted_only_where_they_can_change_the_label() -> None:
    assert not decided(mean(1, 2), mean(0.01, 0.02))
    assert decided(mean(1, 2), mean(0.0, 0.005))
    assert not decided(mean(9, 1), mean(0.06, 0.015))  # surely an inaccuracy, perhaps more
    assert decided(mean(9, 1), mean(0.07, 0.005))
    assert decided(mean(30, 1), mean(0.3, 0.05))


def decision(loss: float, error: float, label: str) -> Decision:
    options: dict[str, Any] = {"game_loss": loss, "game_error": error, "label": label, "counted": True}
    return Decision(1, Address(1, 1), "play", "draw", 0, 0, "N", Action("7O", 0), basis="known", **options)


def test_flags_of_one_deal_are_controlled_together() -> None:
    nothing = [decision(0.0, 0.01, "unclear") for _ in range(30)]
    doubtful = decision(0.041, 0.01, "inaccuracy")  # 2.1 errors above two hundredths
    certain = decision(0.2, 0.01, "blunder")
    assert [each.label for each in controlled([doubtful])] == ["inaccuracy"]
    labels = [each.label for each in controlled([*nothing, doubtful, certain])]
    assert labels == ["unclear"] * 31 + ["blunder"]
    # What is known exactly is no accident.
    exact = decision(0.021, 0.0, "inaccuracy")
    assert controlled([*nothing, exact])[-1].label == "inaccuracy"


def test_labels_follow_from_the_numbers(cantes: DealGrade) -> None:
    for each in cantes:
        if each.label in ("blunder", "mistake", "inaccuracy"):
            least = {"blunder": 0.1, "mistake": 0.05, "inaccuracy": 0.02}[each.label]
            assert each.game_loss is not None and each.game_error is not None
            assert each.game_loss - 1.96 * each.game_error > least
            assert each.flagged
        if each.label == "equal":
            assert each.best == each.action


# -- what cannot be judged


def test_a_renuncio_is_reported_and_grading_goes_on() -> None:
    grade = grade_deal(record("renuncio.txt").deals[0], effort=LITTLE)
    broken = [each for each in grade if each.label == "renuncio"]
    assert [(str(each.at), each.action.action, each.counted) for each in broken] == [("7.2", "CO", False)]
    assert broken[0].breach is not None and broken[0].breach.reason == "FOLLOW_SUIT"
    assert any(each.at > broken[0].at and each.counted for each in grade)
    assert grade.luck is None


def test_a_position_in_doubt_is_not_judged() -> None:
    data = dict(record("cantes.txt").deals[0].data)
    data["events"] = [*data["events"][:20], {"trick": 5, "seat": 3, "action": "cante C"}, *data["events"][20:]]
    faulty = Record.from_dict(data, strict=False).deals[0]
    assert faulty.faults
    grade = grade_deal(faulty, effort=QUICK)
    assert grade.skipped > 0
    assert all(place < faulty.certain_positions for place, _ in enumerate(grade.decisions))


def test_one_view_is_judged_for_the_one_who_recorded_it() -> None:
    seen = record("one_view.txt").deals[0]
    grade = grade_deal(seen, effort=LITTLE)
    first = [each for each in grade if each.at.trick == 1]
    assert {each.seat for each in first} == {each for each, hand in enumerate(seen.data["hands"]) if hand["cards"]}
    assert all(each.hindsight_points_loss is None for each in first)
    assert grade.skipped > 0 and grade.luck is None


def test_a_game_that_is_over_accuses_nobody() -> None:
    """Under ``at_once`` rules a game ends in the middle of a deal; what was played afterwards cost nothing."""
    played = deal(3, carried=(90, 60))
    grade = grade_deal(played, effort=QUICK)
    for each in grade:
        assert each.counted == (each.game_loss is not None) == (each.label != "over")


def test_bad_requests() -> None:
    with pytest.raises(InvalidRequest) as refused:
        effort_named("heroic")
    assert refused.value.faults[0].reason == "UNKNOWN_EFFORT"
    with pytest.raises(InvalidRequest):
        arrastre.grade(record("cantes.txt"), effort="quick", seed=-1)


# -- the same answer


def test_a_deal_is_graded_alike_whatever_stands_beside_it() -> None:
    one = deal(11)
    context = arrastre.Context()
    grade_deal(deal(12), effort=LITTLE, context=context)
    warm = json.dumps(grade_deal(one, effort=LITTLE, context=context).to_dict())
    assert json.dumps(grade_deal(one, effort=LITTLE).to_dict()) == warm
    assert json.dumps(grade_deal(one, effort=LITTLE, seed=2).to_dict()) != warm


def test_a_record_is_its_deals() -> None:
    both = record("vueltas.txt")
    told: list[tuple[int, int]] = []
    grading = arrastre.grade(both, effort="quick", progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 2), (2, 2)]
    assert [each.deal.number for each in grading.deals] == [1, 2]
    assert len(grading) == len(list(grading)) == sum(len(each.decisions) for each in grading.deals)
    alone = arrastre.grade(both.deals[1], effort="quick")
    assert alone.deals[0].to_dict() == grading.deals[1].to_dict()


def test_a_fingerprint_is_that_of_what_was_played() -> None:
    one = record("cantes.txt").deals[0]
    data = dict(one.data)
    prose = Record.from_dict({**data, "comment": "x", "event": "y"}).deals[0]
    named = Record.from_dict({**data, "names": ["a", "b", "c", "d"]}).deals[0]
    assert fingerprint(one) == fingerprint(prose) != fingerprint(named)


def test_json(cantes: DealGrade) -> None:
    data = json.loads(json.dumps(cantes.to_dict(3)))
    assert (data["schema"], data["index"], data["answers"], data["effort"]) == (1, 3, arrastre.ANSWERS, "little")
    assert len(data["decisions"]) == len(cantes.decisions)
    assert [each["seat"] for each in data["lost"]] == [0, 1, 2, 3]
    assert sum(each["counted"] for each in data["lost"]) == sum(each.counted for each in cantes)


# -- luck


def test_the_parts_of_a_result_add_up(cantes: DealGrade) -> None:
    luck = cantes.luck
    assert luck is not None
    assert luck.margin == 95 - 75
    parts = luck.average + luck.dealt + luck.drawn + luck.layout + luck.lost + luck.residual
    assert parts == pytest.approx(luck.margin)
    assert [str(each.at) for each in luck.draws] == ["1.4", "2.4", "3.4", "4.4"]


def test_no_luck_where_not_all_was_seen() -> None:
    assert grade_deal(deal(5), effort=QUICK).luck is None
    assert grade_deal(deal(5, stop=30), effort=LITTLE).luck is None


def test_two_players_draw_fourteen_times() -> None:
    luck = grade_deal(deal(8, players=2), effort=Effort("least", 32, 32, 2_000, 32)).luck
    assert luck is not None and len(luck.draws) == 14


# -- any game


def test_the_toy_game() -> None:
    with toy_game.registered():
        raw = {
            "ruleset": "mayor",
            "hands": [["7O", "1O"], ["5O", "2O"], ["6O", "4O"]],
            "events": [{"action": each} for each in ("doblar", "1O", "5O", "6O", "4O", "7O", "2O")],
        }
        played = Record.from_dict(raw, strict=False).deals[0]
        assert not played.faults
        for effort in (QUICK, LITTLE):
            grade = grade_deal(played, effort=effort)
            first = grade.decisions[0]
            assert [one.action.action for one in first.options] == ["doblar", "1O", "7O"]
            assert all(each.hindsight_points_loss is not None for each in grade)
            exact = {each.step.at: each.loss for each in arrastre.line_values(played)}
            assert all(each.hindsight_points_loss == exact[each.at] for each in grade)
            assert {each.phase for each in grade} == {"declarations", "arrastre"}
        assert grade.luck is not None and not grade.luck.draws
