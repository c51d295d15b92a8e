"""``arrastre best`` with a game that the package does not know: whatever it prints, the library has said."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import arrastre
from arrastre import estimate
from arrastre.cli.advice import AdviceRenderer
from arrastre.cli.items import Item
from arrastre.cli.text import Text
from arrastre.estimate import Advice
from run_command import call, environment, objects
from toy_game import ToyGame, registered

TESTS = Path(__file__).parents[1]
FULL = "6O1O/7O2O/5O4O * 0 - ruleset=mayor"
HIDDEN = "6O1O/+2/+2 * 0 - ruleset=mayor"
#: Of 720 worlds; the two actions lie so close that hundreds of them do not tell.
CLOSE = "4O/+1/+1 * 0 - ruleset=mayor"
RECORD = """\
[Ruleset "mayor"] [Players "3"] [Leader "N"]
[Hands "N 5O1O; O 4O2O; S 7O6O"]
1. N 5O 2O 6O
2. S 7O 1O 4O
[Deal "2"] [Ruleset "mayor"] [Players "3"] [Leader "N"]
[Hands "N 3O1O; O 7O2O; S 6O5O"]
1. N 3O 7O 5O
2. O 2O 6O
*
"""


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    with registered():
        yield


def reasons(answer: dict[str, Any]) -> list[str]:
    return [fault["reason"] for fault in answer["error"]["faults"]]


# What it prints.


def test_for_programs_is_what_the_library_says() -> None:
    found = objects(call("best", "--json", FULL, HIDDEN, "--view", "clairvoyant", "--objective", "game"))
    for index, (answer, text) in enumerate(zip(found, (FULL, HIDDEN), strict=True)):
        advice = estimate.best(arrastre.Position.parse(text), view="clairvoyant", objective="game")
        assert answer == json.loads(json.dumps(advice.to_dict(index)))
    assert list(found[0]) == [
        *("schema", "index", "seat", "view", "objective", "best", "actions"),
        *("exact", "solved", "worlds", "worldCount", "seed"),
    ]
    assert (found[0]["worldCount"], found[1]["worldCount"]) == ("6", "30")
    assert found[0]["exact"] is found[1]["exact"] is True


def test_the_views_of_the_toy_game_are_what_it_says_of_them() -> None:
    """With all six worlds looked at, a value is the mean of what solving each of them says."""
    (answer,) = objects(call("best", "--json", FULL, "--view", "clairvoyant"))
    deals = [({7, 5}, {4, 2}), ({7, 4}, {5, 2}), ({7, 2}, {5, 4}), ({5, 4}, {7, 2}), ({5, 2}, {7, 4}), ({4, 2}, {7, 5})]
    sums = dict.fromkeys(("6O", "1O", "doblar"), 0)
    for hands in deals:
        second, third = ("".join(f"{card}O" for card in hand) for hand in hands)
        for each in arrastre.solve(arrastre.Position.parse(f"6O1O/{second}/{third} * 0 - ruleset=mayor")).actions:
            assert each.value is not None
            sums[each.action.action] += each.value
    assert {each["action"]: each["value"] for each in answer["actions"]} == {
        action: pytest.approx(total / 6, abs=1e-6) for action, total in sums.items()
    }


def test_for_people() -> None:
    result = call("best", "--where", HIDDEN.replace("1O", "5O"), lang="es")
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout
        == """\
                          A ◂
                          6O 5O
                   ┌─────────────────┐
  B                │                 │   C
  ? ?              │                 │   ? ?
                   │                 │
                   └─────────────────┘

Tantos  AC 0  B 0

Lo mejor para A: doblar.

     Jugada  Valor    Pierde
  ▸  doblar   +2,6              la mejor
     5O       +2,4      −0,2    peor
     6O       +2,4      −0,2    peor

Mundos  todos, 30: medias exactas, sin muestreo
Vista   informed: cada cual sigue con lo que ve hasta las últimas bazas; luego,
        a la vista

doblar antes que 5O: mejor en el 60 % de los mundos, igual en el 0 %, peor en el
40 %.
  Si B tiene 7O (40 % de los mundos) gana −1,7; si no, +1,4.

Dónde pueden estar las cartas que no se ven
       B        C     Mazo   Cartas
  40,0 %   40,0 %   20,0 %   7O 4O 3O 2O 1O
"""
    )


def test_a_sample_says_so() -> None:
    shown = call("best", CLOSE, "--worlds", "100", "--seed", "3").stdout
    assert "\nBest for A so far: doblar.\nToo close to tell: 4O. More --worlds or --seconds would.\n" in shown
    assert "\nWorlds  100 of 720, drawn at random (seed 3); ± is one standard error\n" in shown
    assert shown.count("±") == 4
    assert " unclear\n" in shown
    exact = call("best", HIDDEN).stdout
    assert "±" not in exact
    assert "\nWorlds  all 30: exact means, no sampling error\n" in exact
    solved = call("best", "6O/+1/ * 0 - ruleset=mayor gone=1O2O3O4O5O").stdout
    assert "\nWorlds  only one is possible: the values are exact\n" in solved
    assert "View" not in solved
    assert "rather than" not in solved


def test_unequal_numbers_of_worlds_are_shown() -> None:
    """Whoever leads the 7 wins the trick for certain; the 1 is soon out of the race, while 7 and 6 go on."""
    position = "7O/+1/+1 * 0 - ruleset=mayor"
    assert "Worlds\n" not in call("best", position, "--worlds", "64").stdout.partition("Worlds  ")[0]


def test_chances_are_shown_in_hundredths() -> None:
    shown = call("best", HIDDEN, "--objective", "game").stdout
    assert "     Action    Wins" in shown
    assert " % " in shown
    assert " pp " in shown


def test_which_chances_stand_for_later_deals_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ToyGame, "beyond", lambda *_: "base row")
    shown = call("best", HIDDEN, "--objective", "game").stdout
    assert "Later   chances from self-play under the named ruleset, overrides left out\n" in shown
    (answer,) = objects(call("best", "--json", HIDDEN, "--objective", "game"))
    assert answer["equity"] == "base row"


def test_both_views() -> None:
    (answer,) = objects(call("best", "--json", "--both", HIDDEN))
    other = estimate.best(arrastre.Position.parse(HIDDEN), view="clairvoyant").to_dict()
    assert answer["view"] == "informed"
    assert answer["other"] == json.loads(
        json.dumps({name: other[name] for name in ("view", "best", "actions", "exact", "worlds")})
    )
    first = answer["actions"][0]
    there = next(each for each in answer["other"]["actions"] if each["action"] == first["action"])
    shown = call("best", "--both", HIDDEN).stdout
    assert "clairvoyant\n" in shown
    assert f"the gap between the two is +{there['value'] - first['value']:.1f}" in " ".join(shown.split())


def test_where_and_why_for_programs() -> None:
    (answer,) = objects(call("best", "--json", "--where", "--why", HIDDEN))
    assert answer["where"] == [
        {"card": card, "seats": [0.0, 0.4, 0.4], "stock": 0.2} for card in ("7O", "5O", "4O", "3O", "2O")
    ]
    assert [each["action"] for each in answer["why"]] == [each["action"] for each in answer["actions"][1:]]
    for each in answer["why"]:
        assert each["better"] + each["same"] + each["worse"] == pytest.approx(1, abs=1e-5)


def test_only_the_next_is_compared_unless_more_is_asked_for() -> None:
    said = " ".join(call("best", HIDDEN).stdout.split())
    assert said.count("rather than") == 1
    said = " ".join(call("best", "--why", HIDDEN).stdout.split())
    assert said.count("rather than") == 2
    advice = estimate.best(arrastre.Position.parse(HIDDEN))
    assert all(each.status == "worse" for each in advice.actions[1:])
    assert [each.action for each in advice.comparisons(every=False)] == [advice.actions[1].action]


def test_stats_only_when_asked_for() -> None:
    (answer,) = objects(call("best", "--json", "--stats", HIDDEN))
    assert answer["seconds"] > 0
    assert call("best", "--stats", HIDDEN).stdout.splitlines()[-1].startswith("30 worlds, 0.")
    assert call("best", HIDDEN).stdout == call("best", HIDDEN).stdout


def test_the_same_bytes_for_any_number_of_threads() -> None:
    for options in (["--worlds", "300"], ["--worlds", "300", "--both", "--why", "--where", "--json"]):
        said = [call("best", CLOSE, HIDDEN, *options, "--threads", threads).stdout for threads in ("1", "2", "3")]
        assert said[0] == said[1] == said[2]
    assert call("best", CLOSE, "--worlds", "300").stdout != call("best", CLOSE, "--worlds", "300", "--seed", "2").stdout


def test_more_worlds_than_anybody_counts() -> None:
    advice = estimate.best(arrastre.Position.parse(HIDDEN))

    class Many(Advice):
        world_count = 123_456_789_012_345_678  # type: ignore[assignment]

    advice.__class__ = Many
    advice.exact = False
    shown = AdviceRenderer(io.StringIO(), Text("es")).advice(Item(0, "", 0, HIDDEN), advice)
    assert "\nMundos  30 de 1,2 × 10^17, al azar (semilla 1); ± es un error típico\n" in shown


# Records, and other games beside.


def test_what_happened_before_tells_where_cards_are(tmp_path: Path) -> None:
    file = tmp_path / "record.txt"
    file.write_text(RECORD)
    (answer,) = objects(call("best", "--json", "--where", str(file), "--at", "1/2.1"))
    assert (answer["deal"], answer["at"], answer["seat"]) == (1, "2.1", 2)
    # B did not beat the 5, and so has neither the 6 nor the 7, which C sees; the others may be anywhere.
    assert {each["card"] for each in answer["where"]} == {"1O", "3O", "4O"}
    (answer,) = objects(call("best", "--json", "--where", str(file), "--at", "2/2.2"))
    # C played the 5 under the 7 of B, which nobody can beat: that tells nothing.
    assert {tuple(each["seats"]) for each in answer["where"]} == {(0.5, 0.0, 0.0)}
    first, second = objects(call("best", "--json", str(file), "--at", "1.2"))
    assert (first["deal"], second["deal"]) == (1, 2)
    assert ":1, deal 1, 2.2 ──" in " ".join(call("best", str(file), "--at", "1/2.2").stdout.split())
    # The last deal stops in the middle of a trick: there the next card is to be played.
    (answer,) = objects(call("best", "--json", str(file), "--at", "2/2.3"))
    assert (answer["seat"], [each["action"] for each in answer["actions"]]) == (0, ["1O"])
    assert call("best", "--json", str(file), "--at", "2/2.4").exit_code == 1


def test_bad_items_among_good_ones() -> None:
    result = call("best", "--json", "-", given=f"{HIDDEN}\nnonsense\n{HIDDEN} gone=1O\n{FULL}\n")
    assert result.exit_code == 1
    found = objects(result)
    assert [each["index"] for each in found] == [0, 1, 2, 3]
    assert ["error" in each for each in found] == [False, True, True, False]
    assert reasons(found[2]) == ["CARD_TWICE"]
    assert found[2]["error"]["faults"][0]["line"] == 3


@pytest.mark.parametrize(
    ("arguments", "field", "reason"),
    [
        ((HIDDEN, "--seat", "7"), "seat", "BAD_SEAT"),
        ((HIDDEN, "--seat", "Z"), "seat", "BAD_SEAT"),
        ((HIDDEN, "--seat", "B"), "seat", "NOT_TO_ACT"),
        ((HIDDEN, "--seat", "1"), "seat", "NOT_TO_ACT"),
        (("+2/6O1O/+2 * 0 - ruleset=mayor",), "hands[0].hidden", "OWN_HAND_UNSEEN"),
        (("// * 0 - ruleset=mayor",), "hands", "DEAL_OVER"),
        ((HIDDEN, "--at", "1.1"), "at", "NOT_A_RECORD"),
        (("RECORD",), "at", "NO_ADDRESS"),
        (("RECORD", "--at", "9.1"), "at", "NO_SUCH_MOMENT"),
    ],
)
def test_what_cannot_be_answered(arguments: tuple[str, ...], field: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "record.txt"
    file.write_text(RECORD)
    result = call("best", "--json", *(str(file) if each == "RECORD" else each for each in arguments))
    assert result.exit_code == 1
    fault = objects(result)[0]["error"]["faults"][0]
    assert (fault["field"], fault["reason"]) == (field, reason)
    assert call("best", *arguments[:1], *arguments[1:], lang="es").exit_code == 1


def test_a_seat_by_its_name() -> None:
    first, second = (objects(call("best", "--json", HIDDEN, "--seat", each)) for each in ("a", "0"))
    assert first == second


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--worlds", "0"], "--worlds: '0' is no whole number from 1 to 1048576"),
        (["--worlds", "1.5"], "--worlds: '1.5' is no whole number from 1 to 1048576"),
        (["--seconds", "0"], "--seconds: '0' is no number of seconds above 0"),
        (["--seconds", "-1"], "--seconds: '-1' is no number of seconds above 0"),
        (["--nodes", "0"], "--nodes: '0' is no whole number"),
        (["--threads", "0"], "--threads: '0' is no whole number from 1 to 256"),
        (["--seed", "-3"], "--seed: '-3' is no whole number"),
        (["--view", "blind"], "--view: 'blind' is none of clairvoyant, informed"),
        (["--objective", "fun"], "--objective: 'fun' is none of "),
        (["--at", "seven"], "--at: 'seven' is no address; 7.2 is the second card of trick 7"),
    ],
)
def test_bad_usage(options: list[str], said: str) -> None:
    result = call("best", HIDDEN, *options)
    assert result.exit_code == 2
    assert result.stderr.startswith("arrastre best: " + said)
    assert call("best", HIDDEN, *options, lang="es").exit_code == 2


# While it thinks. In a process of its own, since that takes a terminal and a signal.

SLOW = """
import sys, time
sys.path[:0] = [TESTS]
from toy_game import TOY, ToyGame, registered
from arrastre.cli import main
values = TOY.world_values
def explaining(knowledge, worlds, actions, *, context, limits, **how):
    print("explaining", flush=True)
    end = time.monotonic() + (limits.seconds or 600)
    while not context.stopped and time.monotonic() < end:
        time.sleep(0.01)
    return ()
if EXPLAINING:
    TOY.world_parts = explaining
def slowly(knowledge, worlds, actions, **how):
    time.sleep(len(worlds) / 300)
    return values(knowledge, worlds, actions, **how)
TOY.world_values = slowly
with registered():
    main(sys.argv[1:])
"""


def slow(*arguments: str, explaining: bool = False) -> list[str]:
    program = SLOW.replace("TESTS", repr(str(TESTS))).replace("EXPLAINING", str(explaining))
    return [sys.executable, "-c", program, "best", *arguments]


def read_all(descriptor: int) -> str:
    found = b""
    while True:
        try:
            block = os.read(descriptor, 1 << 16)
        except OSError:  # what Linux says at the end of a terminal
            break
        if not block:
            break
        found += block
    return found.decode()


@pytest.mark.parametrize("progress", ["auto", "none"])
def test_a_table_grows_on_a_terminal_and_goes_away(progress: str) -> None:
    seen, stream = pty.openpty()
    arguments = [CLOSE, "--worlds", "400", "--progress", progress]
    with subprocess.Popen(
        slow(*arguments), stdout=subprocess.PIPE, stderr=stream, env=environment({"TERM": "xterm", "COLUMNS": "100"})
    ) as process:
        os.close(stream)
        shown = read_all(seen)
        os.close(seen)
        assert process.stdout is not None
        answer = process.stdout.read().decode()
        assert process.wait(60) == 0
    assert answer == call("best", *arguments).stdout
    if progress == "none":
        assert shown == ""
    else:
        assert shown.count("of 720, drawn at random") > 1
        assert shown.endswith("\x1b[2K")  # every line that was drawn has been taken back


@pytest.mark.parametrize("form", [[], ["--json"], ["--both", "--threads", "2"]])
def test_interrupted_it_says_what_it_has_found(form: list[str]) -> None:
    arguments = [CLOSE, CLOSE, "--worlds", "700", *form]
    with subprocess.Popen(
        slow(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None and process.stderr is not None
        answer, error = process.stdout.read().decode(), process.stderr.read().decode()
        assert process.wait(60) == 130
    assert error == "interrupted\n"
    if "--json" in form:
        (found,) = map(json.loads, answer.splitlines())
        assert 64 <= found["worlds"] < 700
        assert found["exact"] is False
    else:
        assert answer.count("of 720, drawn at random") == 1


@pytest.mark.parametrize("form", [[], ["--json", "--why"], ["--both"]])
def test_interrupted_while_it_says_why(form: list[str]) -> None:
    """The estimate is there; only what the gain is made of is left out."""
    with subprocess.Popen(
        slow(HIDDEN, HIDDEN, *form, explaining=True),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"explaining\n"
        process.send_signal(signal.SIGINT)
        answer = process.stdout.read().decode().replace("explaining\n", "")
        assert process.stderr.read() == b"interrupted\n"
        assert process.wait(60) == 130
    if "--json" in form:
        (found,) = map(json.loads, answer.splitlines())
        assert found["exact"] is True
        assert [each["parts"] for each in found["why"]] == [[], []]
    else:
        assert answer.count("all 30: exact means") == 1
