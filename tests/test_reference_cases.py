"""The reference against solved cases that another program made, and against cases worked out by hand.

Every case with at most five cards in a hand runs, with the two-player draw cases and a fixed sample of the six-card
ones. ``ARRASTRE_ALL_CASES=1`` runs the rest too (a minute or more for many of them).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from reference import guinote

CASES = Path(__file__).parent / "data" / "cases"
FILES = ("arrastre", "draw_2p", "exchange_2p", "game")
ALL = os.environ.get("ARRASTRE_ALL_CASES") == "1"
QUICK_HAND = 5
# Six cards in a hand, but about a second or less each: two players, or duties that leave few lines.
QUICK_SAMPLE = {
    "arrastre": {3, 11, 17, 36, 38, 41, 45, 52, 59, 64, 65, 70, 75, 87},
    "draw_2p": {0, 1, 2, 3, 4, 5},
    "exchange_2p": {0, 1, 2, 3, 4, 5, 6, 7},
    "game": {14, 18},
}
QUICK_HIDDEN = 0


def load(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((CASES / f"{name}.json").read_text())
    return cases


def params() -> list[Any]:
    found = []
    for name in FILES:
        for number, case in enumerate(load(name)):
            largest = max(len(hand["cards"]) for hand in case["position"]["hands"])
            quick = largest <= QUICK_HAND or number in QUICK_SAMPLE.get(name, set())
            marks = [] if quick or ALL else [pytest.mark.skip(reason="slow: set ARRASTRE_ALL_CASES=1")]
            found.append(pytest.param(case, id=f"{name}-{number}", marks=[*marks, pytest.mark.timeout(3600)]))
    return found


@pytest.mark.parametrize("case", params())
def test_solved(case: dict[str, Any]) -> None:
    position = case["position"]
    objective: guinote.Objective = "game" if "outcome" in case else "points"
    answer = guinote.solve(position, objective)
    assert answer.seat == case["seat"]
    assert answer.value == case["outcome" if "outcome" in case else "margin"]
    expected = {(card, answer.seat): value for card, value in case["cards"].items()}
    for declarations, prefix in (("cantes", "cante "), ("exchanges", "")):
        for key, value in case.get(declarations, {}).items():
            seat, name = key.split(":")
            expected[prefix + name, int(seat)] = value
    actions = answer.actions
    if "cantes" not in case:  # game.json gives the cards only
        actions = {action: value for action, value in actions.items() if not action[0].startswith("cante")}
    assert actions == expected


@pytest.mark.parametrize("case", load("legality"), ids=lambda case: case["why"])
def test_legality(case: dict[str, Any]) -> None:
    assert guinote.legal_actions(case["position"]) == {(card, case["seat"]) for card in case["legal"]}


@pytest.mark.parametrize("number", range(6))
def test_hidden(number: int) -> None:
    """The mean over every way in which the rival's hand and the card above the muestra can lie."""
    if number != QUICK_HIDDEN and not ALL:
        pytest.skip("slow: set ARRASTRE_ALL_CASES=1")
    case = load("hidden_2p")[number]
    position, rival = case["position"], 1 - case["seat"]
    unseen = [*position["hands"][rival]["cards"], position["stock"][0]]
    assert case["worlds"] == len(unseen)
    total: dict[str, int] = {}
    for top in unseen:
        hands = list(position["hands"])
        hands[rival] = {"cards": [card for card in unseen if card != top]}
        answer = guinote.solve(position | {"hands": hands, "stock": [top, position["stock"][1]]})
        for (action, _), value in answer.actions.items():
            total[action] = total.get(action, 0) + value
    for card, mean in case["cards"].items():
        assert total[card] / len(unseen) == pytest.approx(mean, abs=1e-6)


# ---------------------------------------------------------------------------------------------------------------------
# By hand


def position(hands: str, **fields: Any) -> dict[str, Any]:
    """A position from hands such as ``"1O SC / 2O 4C"``; trump oros, nine of ten tricks the leader's unless given."""
    split = [{"cards": hand.split()} for hand in hands.split("/")]
    return {"trump": "O", "players": len(split), "hands": split} | fields


def cards_of(position: dict[str, Any]) -> set[str]:
    return {action for action, _ in guinote.legal_actions(position)}


@pytest.mark.parametrize(
    ("rules", "legal"),
    [({}, {"2C", "1C"}), ({"beat_in_suit": "led_suit"}, {"1C"}), ({"beat_in_suit": "no"}, {"2C", "1C"})],
)
def test_trumped_trick_and_the_suit_led(rules: dict[str, Any], legal: set[str]) -> None:
    assert cards_of(position("6B 7B/6E 5E/2C 1C 7O/5B 4B 3B", trick=["4C", "2O"], rules=rules)) == legal


@pytest.mark.parametrize(("rules", "legal"), [({}, {"2O", "3B"}), ({"partner_exempt": "no"}, {"2O"})])
def test_partner_winning(rules: dict[str, Any], legal: set[str]) -> None:
    assert cards_of(position("6B/6E/2O 3B/5B 4B", trick=["4C", "7B"], rules=rules)) == legal


def test_partner_of_the_one_who_ruffed() -> None:
    assert cards_of(position("6B/6E/7O 3B/5B 4B", trick=["4C", "2O"])) == {"7O"}
    assert cards_of(position("6B/6E/3B/5B 4O", trick=["4C", "2O", "5C"])) == {"5B", "4O"}
    assert cards_of(position("6B/6E/3B/5B 4O", trick=["4C", "2O", "5C"], ruleset="torneo")) == {"4O"}


def test_trump_led() -> None:
    assert cards_of(position("6B/4O 7O 1C", leader=0, trick=["6O"])) == {"7O"}
    assert cards_of(position("6B/4O 1C", leader=0, trick=["6O"])) == {"4O"}


def test_strict_from_start() -> None:
    draw: dict[str, Any] = {"trick": ["6C"], "stock": ["2E", "5O"], "rules": {"hand_size": 2}}
    assert cards_of(position("6B/4C 1C", **draw)) == {"4C", "1C"}
    draw["rules"]["strict_from_start"] = "yes"
    assert cards_of(position("6B/4C 1C", **draw)) == {"1C"}


@pytest.mark.parametrize(
    ("rules", "outcome"),
    # oros is sung: 90 carried and 20 made, and neither of the last two tricks can be won
    [({}, 1), ({"vueltas": "won_trick"}, 1), ({"target": 101, "vueltas": "end_of_deal", "both_over": "last_trick"}, 1)],
)
def test_a_cante_in_vueltas(rules: dict[str, Any], outcome: int) -> None:
    carried = position("RC SC/1C 3C", tricks=[9, 9], vueltas=True, carried=[90, 0], rules=rules)
    answer = guinote.solve(carried, "game")
    assert answer.actions["cante C", 0] == outcome


def test_a_cante_alone_and_the_rival_trick() -> None:
    """The rival needs one more trick, and gets it: only where a cante ends the deal does singing win."""
    near = {"tricks": [9, 9], "vueltas": True, "carried": [90, 95]}
    assert guinote.solve(position("RC SC/1C 3C", **near), "game").actions["cante C", 0] == 1
    rules = {"vueltas": "won_trick"}
    assert guinote.solve(position("RC SC/1C 3C", **near, rules=rules), "game").actions["cante C", 0] == -1


def test_a_hundred_is_not_enough() -> None:
    last = position("1C/2C", tricks=[10, 9], points=[79, 30], cardPoints=[79, 30])  # 79 + 11 + 10
    assert guinote.solve(last, "game").value == 0
    assert guinote.solve(last | {"rules": {"target": 100}}, "game").value == 1


def test_sota_and_caballo() -> None:
    last = position("1C/SC", tricks=[10, 9], points=[77, 30], cardPoints=[77, 30])  # 77 + 11 + 10 + 3
    assert guinote.solve(last, "game").value == 1
    assert guinote.solve(last | {"hands": [{"cards": ["1C"]}, {"cards": ["CC"]}]}, "game").value == 0


def test_malas() -> None:
    last = position("2E/2C", tricks=[10, 9], points=[101, 60], cardPoints=[20, 60])
    assert guinote.solve(last, "game").value == 1  # 30 with the last trick
    assert guinote.solve(last | {"rules": {"malas_counts_last_trick": "no"}}, "game").value == 0
    torneo = last | {"ruleset": "torneo"}
    assert guinote.solve(torneo, "game").value == -1  # the rival, short of the target, wins
    assert guinote.solve(torneo | {"vueltas": True, "carried": [0, 0], "points": [91, 60]}, "game").value == 1


def test_both_over() -> None:
    last = position("2E/2C", tricks=[10, 9], points=[101, 121], cardPoints=[40, 60])
    assert guinote.solve(last, "game").value == 1
    higher = last | {"rules": {"both_over": "higher_score"}}
    assert guinote.solve(higher, "game").value == -1
    assert guinote.solve(higher | {"points": [101, 111]}, "game").value == 0  # replayed


def test_claim() -> None:
    """Both sides get there; a claim comes before the end."""
    both = position("1E 2O/1C 3E", tricks=[9, 9], leader=0, points=[80, 90], cardPoints=[80, 90])
    rules = {"claim": "at_risk", "malas_minimum": 0, "both_over": "higher_score"}
    assert guinote.solve(both | {"rules": rules}, "game").actions["1E", 0] == 1
    with pytest.raises(guinote.GameOverError):
        guinote.solve(both | {"rules": rules, "points": [101, 90]}, "game")
    guinote.solve(both | {"rules": rules | {"malas_minimum": 30}, "points": [101, 90], "cardPoints": [20, 90]}, "game")


@pytest.mark.parametrize(("tute", "points", "game"), [("wins", None, 1), (40, 40, 0), ("none", None, None)])
def test_tute(tute: Any, points: int | None, game: int | None) -> None:
    four = position("RO RC RE RB/1O 1C 1E 1B", tricks=[8, 8], leader=0, rules={"tute": tute})
    answer = guinote.solve(four)
    assert answer.actions.get(("tute", 0)) == (None if points is None else answer.actions["RO", 0] + points)
    assert guinote.solve(four, "game").actions.get(("tute", 0)) == game
    sotas = four | {"hands": [{"cards": ["SO", "SC", "SE", "SB"]}, four["hands"][1]]}
    assert (("tute", 0) in guinote.legal_actions(sotas)) == (tute == "wins")


@pytest.mark.parametrize("tricks", [[19, 0], [18, 1], None])
def test_capote(tricks: list[int] | None) -> None:
    last = position("1C/2C", tricks=tricks, cardPoints=[40, 0], rules={"capote": 100})
    counts = tricks is not None and tricks[1] == 0
    assert guinote.solve(last).value == 21 + (100 if counts else 0)
    assert guinote.solve(last, "game").value == (1 if counts else 0)
    wins = last | {"rules": {"capote": "wins"}}
    assert guinote.solve(wins).value == 21
    assert guinote.solve(wins, "game").value == (1 if counts else 0)


def test_singing_after_the_lead() -> None:
    """Where the window stays open, a card's value includes what its side may still sing."""
    late = position("4E 2B/5E 3B/RC SC/6E 5B", tricks=[5, 3], leader=0)
    assert guinote.solve(late).actions["4E", 0] + 20 == guinote.solve(late).actions["cante C", 2]
    torneo = guinote.solve(late | {"ruleset": "torneo"})
    assert torneo.actions["4E", 0] == torneo.actions["cante C", 2]


@pytest.mark.parametrize(
    ("when", "moment", "seats"),
    [
        ("any_trick_won", "lead", {0}),
        ("any_trick_won", "rivals", set()),
        ("last_trick_won", "lead", {0}),
        ("on_lead", "lead", set()),
        ("own_turn", "lead", set()),
        ("own_turn", "rivals", set()),
    ],
)
def test_who_may_exchange(when: str, moment: str, seats: set[int]) -> None:
    """The partner of the leader has the seven; its rivals have won no trick."""
    table = position(
        "1E 2E/1C 2C/7O 3E/1B 2B",
        leader=2,
        tricks=[7, 0],
        stock=["4B", "5B", "6B", "RO"],
        moment=moment,
        rules={"hand_size": 2, "exchange_when": when},
    )
    table["hands"][0], table["hands"][2] = table["hands"][2], table["hands"][0]
    assert {seat for action, seat in guinote.legal_actions(table) if action == "cambio"} == seats


def test_the_two_for_the_seven() -> None:
    table = position("2O/1C", tricks=[18, 0], stock=["4B", "7O"], rules={"hand_size": 1})
    assert ("cambio", 0) in guinote.legal_actions(table)
    assert ("cambio", 0) not in guinote.legal_actions(table | {"exchanged": True})
    assert ("cambio", 0) not in guinote.legal_actions(table | {"rules": {"hand_size": 1, "exchange_two": "no"}})
