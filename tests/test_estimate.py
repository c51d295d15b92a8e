"""Estimates: the same bytes whatever the threads, the cases of the reference search, limits, and what is refused."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arrastre
from arrastre import estimate
from arrastre.game import Limits, Part
from arrastre.guinote.family import FAMILY

CASES = json.loads(Path(__file__).parent.joinpath("data", "cases", "hidden_2p.json").read_text())
#: The first trick of a deal, five seconds of thought for a player.
FIRST = "1O3O.SC2C.7E.4B/+6/+6/+6 O 0 - stock=???????????????6O gone=-"
LATE = "1O.SC.7E/+3/+3/+3 O 0 - gone=2O3O4O5O6O7O1C3C4C5C6C7C1E2E3E4E1B2B3B4B5B6B7BRBSBCBCERE tricks=7-0"


def position(text: str) -> arrastre.Position:
    return arrastre.Position.parse(text)


def told(advice: arrastre.Advice) -> str:
    return json.dumps(advice.to_dict())


@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_the_reference_search(case: dict[str, Any]) -> None:
    advice = arrastre.best(arrastre.Position.from_dict(case["position"]), seat=case["seat"], view="clairvoyant")
    assert advice.world_count == advice.worlds == case["worlds"] and advice.exact
    found = {each.action.action: each.value for each in advice.actions}
    assert {card: found[card] for card in case["cards"]} == pytest.approx(case["cards"], abs=1e-6)
    assert advice.actions[0].value == max(found.values())
    assert all(each.error == each.loss_error == 0 for each in advice.actions)


@pytest.mark.parametrize("view", estimate.VIEWS)
@pytest.mark.parametrize("objective", ["points", "game"])
def test_any_number_of_threads_gives_the_same_bytes(view: str, objective: str) -> None:
    settings: dict[str, Any] = {"view": view, "objective": objective, "worlds": 96, "seed": 11, "nodes": 20_000}
    one = told(arrastre.best(position(FIRST), threads=1, **settings))
    assert told(arrastre.best(position(FIRST), threads=3, **settings)) == one
    assert told(arrastre.best(position(FIRST), threads=1, **{**settings, "seed": 12})) != one


def test_a_watch_ends_with_one_final_estimate() -> None:
    advices = list(arrastre.watch(position(FIRST), worlds=192))
    assert [each.final for each in advices] == [False] * (len(advices) - 1) + [True]
    counts = [each.worlds for each in advices]
    assert counts[0] == 64 and counts == sorted(counts) and counts[-1] <= 192
    assert told(advices[-1]) == told(arrastre.best(position(FIRST), worlds=192))


def test_a_watch_can_be_stopped() -> None:
    running = arrastre.watch(position(FIRST), worlds=1_000_000)
    first = next(running)
    threading.Timer(0.2, running.stop).start()
    rest = list(running)
    assert rest[-1].final and rest[-1].worlds >= first.worlds
    assert rest[-1].worlds < 1_000_000


def test_seconds_bound_the_work_and_leave_an_answer() -> None:
    advice = arrastre.best(position(FIRST), seconds=1e-6)
    assert advice.final and advice.worlds >= 1
    assert json.loads(told(advice))["actions"][0]["value"] is not None


def test_few_worlds_are_all_looked_at() -> None:
    advice = arrastre.best(position(LATE))
    assert advice.exact and not advice.solved and advice.worlds == advice.world_count == 1680
    assert {each.status for each in advice.actions} <= {"best", "equal", "worse"}


def test_one_world_is_solved() -> None:
    known = position("1O.SC/2O.4C/7E6E/3C5C O 0 - points=71-41")
    two = position("1O.SC/+2 O 0 - players=2 gone=" + _gone("1O", "SC", "2O", "4C") + " points=71-41")
    advice = arrastre.best(two)
    assert advice.solved and advice.exact
    true = arrastre.solve(position("1O.SC/2O.4C O 0 - players=2 points=71-41"))
    assert {each.action: each.value for each in advice.actions} == {each.action: each.value for each in true.actions}
    assert arrastre.best(known, seat=0).world_count == 90


def _gone(*kept: str) -> str:
    return "".join(figure + suit for suit in "OCEB" for figure in "1234567SCR" if figure + suit not in kept)


def test_where_the_cards_are() -> None:
    advice = arrastre.best(position(FIRST), worlds=64)
    for each in advice.where:
        assert each.seats[0] == 0
        assert sum(each.seats) + each.stock == pytest.approx(1)
    # 33 unseen cards, six with each of the others and fifteen in the stock.
    assert advice.where[0].seats[1] == pytest.approx(6 / 33)


def test_exclusions_count() -> None:
    barred = position(FIRST.replace("/+6/+6/+6", "/+6!3E/+6/+6"))
    where = {each.card: each for each in arrastre.best(barred, worlds=64).where}
    assert where["3E"].seats[1] == 0 and where["3E"].seats[2] > 6 / 33


@pytest.mark.parametrize(
    ("settings", "field", "reason"),
    [
        ({"seat": 4}, "seat", "BAD_SEAT"),
        ({"seat": True}, "seat", "BAD_SEAT"),
        ({"seat": 1}, "seat", "NOT_TO_ACT"),
        ({"worlds": 0}, "worlds", "BAD_LIMIT"),
        ({"seconds": 0}, "seconds", "BAD_LIMIT"),
        ({"nodes": 0}, "nodes", "BAD_LIMIT"),
        ({"threads": 0}, "threads", "BAD_LIMIT"),
        ({"seed": -1}, "seed", "BAD_LIMIT"),
        ({"view": "psychic"}, "view", "UNKNOWN_VIEW"),
        ({"objective": "fun"}, "objective", "UNKNOWN_OBJECTIVE"),
        ({"at": "7.2"}, "at", "NOT_A_RECORD"),
    ],
)
def test_what_makes_no_sense_is_refused(settings: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(arrastre.InvalidRequest) as refused:
        arrastre.best(position(FIRST), **settings)
    assert [(fault.field, fault.reason) for fault in refused.value.faults] == [(field, reason)]


def test_a_hand_that_cannot_be_dealt_names_the_contradiction() -> None:
    unseen = [each.card for each in arrastre.best(position(FIRST), worlds=1).where]
    barred = "".join(unseen[:-5])
    with pytest.raises(arrastre.InvalidPosition) as refused:
        arrastre.best(position(FIRST.replace("/+6/+6/+6", f"/+6!{barred}/+6!{barred}/+6")))
    (fault,) = refused.value.faults
    assert fault.reason == "CONTRADICTION"
    assert "22 unseen cards" in fault.message and "the hand of seat 3 and the stock" in fault.message
    assert "room for 21" in fault.message


def test_a_deal_needs_a_moment() -> None:
    record = arrastre.Record.parse(Path("examples/records/cantes.txt").read_text())
    with pytest.raises(arrastre.InvalidRequest) as refused:
        arrastre.best(record.deals[0])
    assert refused.value.faults[0].reason == "NO_ADDRESS"
    advice = arrastre.best(record.deals[0], at="8.1")
    assert advice.exact and advice.seat == 2


def test_the_last_two_tricks_do_not_count_on_a_partner_that_sees_everything() -> None:
    gone = _gone("4O", "2C", "SO", "RB", "6C", "7B", "RO", "RC")
    advice = arrastre.best(position(f"4O.2C/+2/+2/+2 O 0 - tricks=8-0 gone={gone}"))
    clairvoyant = arrastre.best(position(f"4O.2C/+2/+2/+2 O 0 - tricks=8-0 gone={gone}"), view="clairvoyant")
    assert advice.exact and clairvoyant.exact and advice.worlds == clairvoyant.worlds == 90
    assert (advice.actions[0].action.action, clairvoyant.actions[0].action.action) == ("2C", "4O")
    assert advice["4O"].value == pytest.approx(-9.311111, abs=1e-6)
    assert clairvoyant["4O"].value == pytest.approx(-8.688889, abs=1e-6)


@pytest.mark.parametrize(
    ("at", "settings"),
    [("3.1", {}), ("8.1", {}), ("4.1", {"view": "clairvoyant", "nodes": 1}), ("4.1", {"view": "clairvoyant"})],
)
def test_what_a_gain_is_made_of_adds_up_to_it(at: str, settings: dict[str, Any]) -> None:
    record = arrastre.Record.parse(Path("examples/records/cantes.txt").read_text())
    advice = arrastre.best(record.deals[0], at=at, worlds=100, **settings)
    for each in advice.actions[1:]:
        comparison = advice.compare(each.action)
        assert comparison is not None
        assert [part.names["es"] for part in comparison.parts] == ["cantes", "tantos en bazas"]
        assert sum(part.gain for part in comparison.parts) == pytest.approx(each.loss)
        assert comparison.better + comparison.same + comparison.worse == pytest.approx(1)


def test_what_a_gain_is_made_of_takes_a_tenth_of_the_seconds_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    record = arrastre.Record.parse(Path("examples/records/cantes.txt").read_text())
    advice = arrastre.best(record.deals[0], at="7.1", worlds=245, seconds=60.0)
    now, allowed = [0.0], []

    def parts(worlds: list[Any], limits: Limits) -> tuple[Part, ...]:
        allowed.append(limits.seconds)
        now[0] += 4.0
        return (Part({"en": "tricks"}, np.zeros((len(worlds) if len(allowed) == 1 else 63, 2))),)

    monkeypatch.setattr(
        type(FAMILY), "world_parts", lambda _self, _knowledge, worlds, _actions, *, limits, **_: parts(worlds, limits)
    )
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    compared = [advice.compare(each.action) for each in advice.actions[1:]]
    assert [bool(each.parts) for each in compared if each is not None] == [True, False, False]
    assert allowed == [6.0, 2.0]


def test_a_comparison_can_be_stopped() -> None:
    """To tell what the gain is made of in all these worlds would take a minute."""
    running = arrastre.watch(position(FIRST), worlds=128, view="clairvoyant", nodes=1)
    advice = list(running)[-1]
    advice._limits = Limits()
    advice.drawn = np.repeat(advice.drawn, 20, axis=0)
    advice.values = np.repeat(advice.values, 20, axis=0)
    start = time.monotonic()
    threading.Timer(0.3, running.stop).start()
    under_way = advice.compare()
    afterwards = advice.compare()
    assert time.monotonic() - start < 20
    for each in (under_way, afterwards):
        assert each is not None
        assert each.better + each.same + each.worse == pytest.approx(1)


def test_a_tute_that_wins_the_game_is_nothing_that_makes_points() -> None:
    known = ["RO", "RC", "RE", "RB", "2O", "2C", "2E", "2B", "4O", "4C", "4E", "4B", "5O", "5C", "5E", "5B"]
    reyes = position(f"RO.RC.RE.RB/+4/+4/+4 O 0 - tricks=6-0 gone={_gone(*known)}")
    points = arrastre.best(reyes, worlds=64)
    game = arrastre.best(reyes, worlds=64, objective="game")
    assert "tute" not in {each.action.action for each in points.actions}
    assert game.best[0].action == "tute"
    assert game["tute"].value == 1.0


def test_it_says_which_chances_stand_for_later_deals() -> None:
    own = position(LATE).to_dict()
    base = {**own, "rules": {"target": 100}}
    for data, equity in ((own, "own row"), (base, "base row")):
        asked = arrastre.Position.from_dict(data)
        assert "equity" not in arrastre.best(asked, worlds=16).to_dict()
        assert arrastre.best(asked, worlds=16, objective="game").to_dict()["equity"] == equity


def test_what_a_seat_knows_may_be_handed_in() -> None:
    seen = arrastre.best(position(FIRST), worlds=64).knowledge
    assert told(arrastre.best(seen, worlds=64)) == told(arrastre.best(position(FIRST), worlds=64))
    for wrong in ({"at": "7.2"}, {"seat": 2}):
        with pytest.raises(arrastre.InvalidRequest):
            arrastre.best(seen, **wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        arrastre.best("1O")  # type: ignore[arg-type]


@pytest.mark.parametrize("players", [4, 2])
@pytest.mark.parametrize("hand_size", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("draw", ["yes", "no"])
def test_hands_of_any_size_can_be_played(players: int, hand_size: int, draw: str) -> None:
    deck = [figure + suit for suit in "OCEB" for figure in "1R7325S46C"]
    cards = deck[::7] + deck[1::7] + deck[2::7] + deck[3::7] + deck[4::7] + deck[5::7] + deck[6::7]
    size = players * hand_size
    data = {
        "rules": {"hand_size": hand_size, "draw": draw},
        "players": players,
        "trump": cards[-1][1],
        "hands": [cards[seat * hand_size : (seat + 1) * hand_size] for seat in range(players)],
        "stock": cards[size:] if draw == "yes" else [],
    }
    given = arrastre.Position.from_dict(data)
    solution = arrastre.solve(given, nodes=2_000)
    assert solution.lower <= solution.upper
    for view in estimate.VIEWS:
        advice = arrastre.best(given, view=view, worlds=4, nodes=2_000)
        assert {each.action.action for each in advice.actions} == set(data["hands"][0])
        assert all(sum(each.seats) + each.stock == pytest.approx(1) for each in advice.where)


def test_cards_left_undealt_may_be_the_ones_that_are_not_seen() -> None:
    rules = "players=2 rules.hand_size=2 rules.draw=no"
    advice = arrastre.best(position(f"3O/+1 O 0 - {rules} gone=2C4C tricks=1-0"))
    assert advice.exact and advice.worlds == 37
    # The as of oros takes the tres, and all other cards lose to it.
    points = {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2}
    unseen = [figure + suit for suit in "OCEB" for figure in "1234567SCR"]
    lost = [-31 if card == "1O" else 20 + points.get(card[0], 0) for card in unseen if card not in ("3O", "2C", "4C")]
    assert advice.actions[0].value == pytest.approx(sum(lost) / 37)
    assert {each.stock for each in advice.where} == {36 / 37}


def test_of_cards_left_undealt_those_gone_have_to_be_told() -> None:
    rules = "players=2 rules.hand_size=2 rules.draw=no"
    with pytest.raises(arrastre.InvalidPosition) as caught:
        arrastre.best(position(f"3O/1O O 0 - {rules} tricks=1-0"))
    assert [(fault.field, fault.reason) for fault in caught.value.faults] == [("gone", "GONE_SIZE")]


def test_a_kept_action_is_tried_in_every_world() -> None:
    """What is known early to be worse goes on being measured; nothing else changes."""
    free = arrastre.best(position(FIRST), worlds=256)
    worst = min(free.actions, key=lambda each: each.worlds)
    assert worst.worlds < 256
    kept = list(arrastre.watch(position(FIRST), worlds=256, keep=worst.action))[-1]
    assert kept[worst.action].worlds == kept.worlds == 256
    assert kept[worst.action].status == "worse" and kept.best == free.best
    assert kept.loss(worst.action).error < free.loss(worst.action).error
