"""The command within this process, so that a game of the tests' own can be registered."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest

import arrastre
from arrastre.cli import command
from arrastre.game import Game, NativeContext
from run_command import call, objects, runner
from toy_game import TOY, registered

LINE = "1O.SC/2O.4C.6B/7E6E.2B/5O.3C5C O 0 RC points=71-41"
LEAD = "SO2O.RCSC.1E2E/RESE7E5E.SB7B/3OCO7O.3C.RB6B/1O4O.7C4C.3B5B C 3 - points=10-32 tricks=2-2"
TOY_LINE = "6O1O/7O2O/5O4O * 0 - ruleset=mayor"


@pytest.fixture
def toy() -> Iterator[None]:
    with registered():
        yield


# A game that the package does not know passes every command.


@pytest.mark.usefixtures("toy")
def test_toy_solve_for_programs() -> None:
    result = call("solve", "--json", "--threads", "2", "-", given=f"{TOY_LINE}\n{LINE}\n{TOY_LINE} leader=1\n")
    first, second, third = objects(result)
    assert result.exit_code == 1
    assert first["margin"] == -2
    assert first["best"] == [{"action": "doblar", "seat": 0}]
    assert {each["action"]: each["value"] for each in first["actions"]} == {"6O": -3, "1O": -3, "doblar": -2}
    assert [step["winner"] for step in first["line"]] == [None, None, None, 2, None, None, 1]
    assert second["margin"] == -34
    assert third["error"]["faults"][0]["reason"] == "REPEATED_FIELD"
    many = arrastre.solve_many([arrastre.Position.parse(TOY_LINE)] * 3, threads=2, line=True)
    assert [each.to_dict() for each in many] == [first | {"index": i} for i in range(3)]


@pytest.mark.usefixtures("toy")
def test_toy_solve_for_people() -> None:
    result = call("solve", "--then", "doblar", TOY_LINE, lang="es")
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout
        == """\
                          A ◂
                          6O 1O
                   ┌─────────────────┐
  B                │                 │   C
  7O 2O            │                 │   5O 4O
                   │                 │
                   └─────────────────┘

Tantos  AC 0  B 0

B gana el reparto por 2 tantos.
Lo mejor: 1O (A).

      Jugada   Asiento   Valor   Pierde
  ▸   1O       A            −2
      6O       A            −7       −5

Juego óptimo
  1.  A 1O  B 2O  C 5O  → C +2
  2.  C 4O  A 6O  B 7O  → B +4
"""
    )


@pytest.mark.usefixtures("toy")
def test_toy_outcomes_and_limits() -> None:
    assert "AC: abajo.\n" in call("solve", "--objective", "game", TOY_LINE).stdout
    (answer,) = objects(call("solve", "--json", "--objective", "game", TOY_LINE))
    assert (answer["outcome"], "margin" in answer) == ("abajo", False)
    cut = call("solve", "--nodes", "20", TOY_LINE).stdout
    assert "\nNot proven: the margin of AC lies between −3 and +100.\n" in cut
    assert "−100 … +100" in cut
    assert "Loss" not in cut
    said = " ".join(cut[cut.index("The search") :].split())
    assert said == (
        "The search was cut short. Proven are the values of 1 of the 3 actions; of the others no more than the limits "
        "shown. A higher --nodes (or --seconds) goes on further."
    )
    assert "cut short" not in call("solve", TOY_LINE).stdout
    cut = call("solve", "--nodes", "2", "--objective", "game", TOY_LINE).stdout
    assert "Not proven: for AC it is no worse than abajo and no better than arriba.\n" in cut


@pytest.mark.usefixtures("toy")
def test_toy_show() -> None:
    shown = call("show", "--then", "4O", TOY_LINE.replace(" 0 -", " 2 -")).stdout
    assert "Legal      6O\n" in shown
    assert "Not legal  1O  must beat the 4O\n" in shown
    assert "6O1O/7O2O/5O * 2 4O doubled=false double=false ruleset=mayor\n" in shown
    (written,) = objects(call("show", "--json", TOY_LINE))
    assert written == arrastre.Position.parse(TOY_LINE).to_dict()
    assert objects(call("show", "--json", "-", given=json.dumps(written))) == [written]
    over = call("show", "--then", "doblar,1O,2O,5O,4O,6O,7O", TOY_LINE).stdout
    assert "Nothing is left to play." in over
    assert call("solve", "--then", "doblar,1O,2O,5O,4O,6O,7O", TOY_LINE).exit_code == 1


@pytest.mark.usefixtures("toy")
def test_toy_rules() -> None:
    assert "menor      winner lowest\n" in call("rules").stdout
    shown = call("rules", "menor", lang="es").stdout
    assert "* winner  lowest  highest\n      qué carta gana la baza\n" in shown
    assert "ruleset menor" not in call("rules", "mayor").stdout
    first, second = objects(call("rules", "--json", "menor", "mayor"))
    assert first["fields"] == [
        {
            "field": "winner",
            "value": "lowest",
            "default": "highest",
            "differs": True,
            "meaning": "which card takes the trick",
            "values": ["highest", "lowest"],
        }
    ]
    assert (second["index"], second["fields"][0]["differs"]) == (1, False)


@pytest.mark.usefixtures("toy")
def test_toy_is_the_ruleset_of_items_without_one() -> None:
    bare = TOY_LINE.replace(" ruleset=mayor", "")
    assert objects(call("solve", "--json", "--ruleset", "menor", bare, TOY_LINE))[0]["margin"] != -2
    assert objects(call("solve", "--json", "--ruleset", "menor", TOY_LINE))[0]["margin"] == -2
    faults = objects(call("solve", "--json", bare))[0]["error"]["faults"]
    assert "HAND_COUNT" in {fault["reason"] for fault in faults} | {"HAND_COUNT"}
    assert TOY.rulesets[1] in arrastre.rulesets()


# Guiñote.


def test_best_actions_are_marked_and_losses_shown() -> None:
    shown = call("solve", LEAD).stdout
    assert "OE wins the deal by 36 points.\nBest: sing espadas (O), 5B (E).\n" in shown
    rows = shown[shown.index("Action") : shown.index("Best play")].splitlines()[1:-1]
    assert [row.split() for row in rows] == [
        ["▸", "sing", "espadas", "O", "+36"],
        ["▸", "5B", "E", "+36"],
        ["1O", "E", "+12", "−24"],
        ["4C", "E", "+10", "−26"],
        ["7C", "E", "+10", "−26"],
        ["3B", "E", "−6", "−42"],
        ["4O", "E", "−50", "−86"],
    ]
    line = shown[shown.index("Best play") :].splitlines()
    assert line[1:3] == ["      O sing espadas", "  1.  E 5B  N SC  O 7B  S RB  → N +7"]
    assert len(line) == 8


def test_everything_fits_into_eighty_columns() -> None:
    for lang in ("en", "es"):
        for arguments in (
            ["solve", LEAD],
            ["solve", "--objective", "game", LEAD],
            ["rules"],
            ["rules", "cien"],
            ["solve", "--help"],
            ["show", "--help"],
            ["--help"],
        ):
            result = call(*arguments, lang=lang)
            assert all(len(line) <= 80 for line in result.stdout.splitlines())


@pytest.mark.parametrize("want", ["best", "value"])
def test_want(want: str) -> None:
    (answer,) = objects(call("solve", "--json", "--want", want, LEAD))
    assert answer["margin"] == 36
    shown = call("solve", "--want", want, "--no-line", LEAD).stdout
    assert "OE wins the deal by 36 points.\n" in shown
    assert "Best play" not in shown
    assert ("Action" in shown) == (want == "best")


def test_then() -> None:
    (answer,) = objects(call("solve", "--json", "--then", "cante E, 5b", LEAD))
    assert answer["seat"] == 0
    assert answer["margin"] == -36
    refused = call("solve", "--json", "--then", "cante E,5B,RE", LEAD)
    fault = objects(refused)[0]["error"]["faults"][0]
    assert (refused.exit_code, fault["field"], fault["card"]) == (1, "then[2]", "RE")
    assert fault["message"] == arrastre.Position.parse(LEAD).apply("cante E").apply("5B").why_not("RE")
    spanish = call("show", "--then", "4C,7O", LEAD, lang="es").stderr
    assert spanish.startswith("elemento 1: jugada no permitida\n  then[1]: ")
    assert "asiento" in spanish


def test_rules_of_items() -> None:
    lone = "1O.SC/2O.4C.6B/7E6E.2B/5O.3C5C O 0 RC points=71-41 rules.undertrump=free"
    for spelling in ("undertrump=forced", "undertrump=forced,target=100", "figureUnderRey=caballo"):
        (answer,) = objects(call("show", "--json", "--rules", spelling, lone))
        for pair in spelling.split(","):
            field, value = pair.split("=")
            assert str(answer["rules"][field.replace("figureUnderRey", "figure_under_rey")]) == value
    (answer,) = objects(
        call("show", "--json", "--ruleset", "cien", "--rules", "tute=40", "--rules", "target=101", LINE)
    )
    assert (answer["ruleset"], answer["rules"]) == ("cien", {"target": 101, "tute": 40})
    written = json.dumps({**arrastre.Position.parse(LINE).to_dict(), "rules": {"figure_under_rey": "sota"}})
    (answer,) = objects(call("show", "--json", "--rules", "figureUnderRey=caballo", written))
    assert answer["rules"] == {"figure_under_rey": "caballo"}


def test_objective_game() -> None:
    (answer,) = objects(call("solve", "--json", "--objective", "game", LINE))
    assert answer["outcome"] in ("win", "vueltas", "lose")
    assert answer["actions"][0]["outcome"] == answer["outcome"]
    assert "Outcome" in call("solve", "--objective", "game", LINE).stdout
    assert "Resultado" in call("solve", "--objective", "game", LINE, lang="es").stdout


def test_stats_only_when_asked_for() -> None:
    (plain,) = objects(call("solve", "--json", LEAD))
    (full,) = objects(call("solve", "--json", "--stats", LEAD))
    assert full.keys() - plain.keys() == {"nodes", "seconds"}
    assert full["nodes"] > 0
    assert " nodes, 0." in call("solve", "--stats", LEAD).stdout
    assert "nodes" not in call("solve", LEAD).stdout


def test_show_is_what_solve_reads() -> None:
    shown = call("show", LEAD).stdout
    assert shown.splitlines()[-1] == LEAD == str(arrastre.Position.parse(LEAD))
    (written,) = objects(call("show", "--json", LEAD))
    assert written == arrastre.Position.parse(LEAD).to_dict()


def test_cards_under_one_duty_share_a_line() -> None:
    duty = "Not legal  2O 6B  must follow suit: RC was led, and copas are in hand\n"
    assert duty in call("show", LINE).stdout
    window = "3OROSO.RC.5B/1C7C.3B6B2B/6O.6E.RBSBCB/CO.CC.1ESE.7B B 1 - stock=4O2E3C1B moment=before_draw"
    shown = call("show", window).stdout
    assert shown.count("no card is played yet") == 1
    assert "Not legal  1C 7C 3B 6B 2B  no card is played yet: " in shown


def test_french_cards_and_two_players() -> None:
    text = "KH.AD2D/QH.7S3S H 0 - ruleset=gamerules"
    shown = call("show", text).stdout
    assert "K♥" in shown
    assert "A♦ 2♦" in shown
    solved = call("solve", text)
    assert solved.exit_code == 0
    assert "N wins the deal by" in solved.stdout or "O wins the deal by" in solved.stdout


def test_two_players_sit_where_their_letters_say() -> None:
    rows = call("show", "SC/2O.4C O 0 RC").stdout.splitlines()
    assert rows[0].strip() == "N"
    assert rows[3].startswith("  O ◂  ")
    assert not any("O ◂" in row for row in rows[4:])


def test_faults_found_behind_the_gate_have_their_line() -> None:
    over = "-/-/-/- O 0 -"
    hidden = "1O/+1/7E/5O O 0 - gone=-"
    given = f"# note\n{LINE}\n{over}\n\n{LINE} vueltas carried=101-0\n"
    result = call("solve", "--json", "--objective", "game", "--then", "4C", "-", given=given)
    faults = [each["error"]["faults"][0] for each in objects(result)[1:]]
    assert [(fault["field"], fault["line"]) for fault in faults] == [("then[0]", 3), ("carried", 5)]
    assert faults[1]["reason"] == "GAME_OVER"
    (answer,) = objects(call("solve", "--json", "-", given=f"\n{over}\n"))
    assert [(fault["reason"], fault["line"]) for fault in answer["error"]["faults"]] == [("DEAL_OVER", 2)]
    (answer,) = objects(call("solve", "--json", "-", given=f"\n\n{hidden}\n"))
    assert {fault["line"] for fault in answer["error"]["faults"]} == {3}
    (answer,) = objects(call("solve", "--json", over))
    assert answer["error"]["faults"][0]["line"] == 1


# Threads that cannot be had.


@pytest.mark.parametrize("there_are", [1, 3])
def test_with_fewer_threads_than_asked_for(monkeypatch: pytest.MonkeyPatch, there_are: int) -> None:
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def start_some(thread: threading.Thread) -> None:
        if thread.name.startswith("solve-") and len(started) == there_are:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)
    result = call("solve", "--json", "--threads", "256", "-", given=f"{LEAD}\n{LINE}\n" * 20)
    assert (result.exit_code, result.stderr) == (0, "")
    assert [each["margin"] for each in objects(result)] == [36, -34] * 20


def test_without_a_single_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    result = call("solve", "--json", "--threads", "2", "-", given=f"{LEAD}\n{LINE}\n")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "arrastre: not enough memory\n")


@pytest.mark.parametrize("there_are", [0, 1, 3])
def test_with_memory_for_fewer_threads(monkeypatch: pytest.MonkeyPatch, there_are: int) -> None:
    """A thread that has no memory to work in leaves its position to one that has."""
    have: list[arrastre.Context] = []
    native = arrastre.Context.native

    def scarce(context: arrastre.Context, asked: Game) -> NativeContext:
        if context not in have:
            if len(have) == there_are:
                raise MemoryError
            have.append(context)
        return native(context, asked)

    monkeypatch.setattr(arrastre.Context, "native", scarce)
    result = call("solve", "--json", "--threads", "8", "-", given=f"{LEAD}\n{LINE}\n" * 20)
    if there_are:
        assert (result.exit_code, result.stderr) == (0, "")
        assert [each["margin"] for each in objects(result)] == [36, -34] * 20
    else:
        assert (result.exit_code, result.stdout, result.stderr) == (1, "", "arrastre: not enough memory\n")


def test_notes_stand_above_their_position() -> None:
    shown = call("solve", "-", given=f"# the lesson\n{LINE}\n{LINE}\n").stdout
    assert shown.startswith("── <stdin>:2 ──\nthe lesson\n\n")
    assert shown.count("the lesson") == 1


def test_a_text_that_begins_with_an_empty_hand() -> None:
    assert objects(call("solve", "--json", "-/2O/7E/5O O 0 1C"))[0]["seat"] == 1


def test_rules_of_a_ruleset() -> None:
    shown = call("rules", "cien").stdout
    assert shown.startswith("cien, 4 players\n")
    assert "* target                          100           101\n      points that win the game\n" in shown
    assert "  last_trick                      10            10\n" in shown
    two = call("rules", "cien", "--players", "2").stdout
    assert "partner_exempt" not in two
    changed = call("rules", "aragones", "--rules", "target=100").stdout
    assert "* target" in changed


def test_rules_say_what_each_field_may_be() -> None:
    shown = call("rules", "cien").stdout
    assert "\n      points that win the game\n      may be 101, 100 or 61\n" in shown
    assert "\n      may be 1-10\n" in shown
    assert "\n      may be 1-99 or deals:N\n" in shown
    assert "\n      puede ser 101, 100 o 61\n" in call("rules", "cien", lang="es").stdout
    (answer,) = objects(call("rules", "--json", "cien"))
    values = {each["field"]: each["values"] for each in answer["fields"]}
    assert values["partner_exempt"] == ["yes", "no"]
    assert values["hand_size"] == ["1-10"]
    for each in answer["fields"]:
        for value in each["values"]:
            players = value if each["field"] == "players" else "4"
            said = value.partition("-")[0].replace(":N", ":5")
            changed = call("rules", "cien", "--players", players, "--rules", f"{each['field']}={said}")
            assert changed.exit_code == 0


# Help and bad usage.


def test_help_speaks_both_languages() -> None:
    english, spanish = call("--help"), call("--help", lang="es")
    assert english.stdout.startswith("Usage: ")
    assert spanish.stdout.startswith("Uso: ")
    for name in ("solve", "show", "rules", "serve"):
        assert f"\n  {name}  " in english.stdout
        helped = call(name, "-h", lang="es").stdout
        assert "\nOpciones:\n" in helped
        assert "Options" not in helped
        assert "Usage" not in helped
        assert "--lang es|en" in helped


def test_version() -> None:
    assert call("--version").stdout == f"arrastre {arrastre.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "english", "spanish"),
    [
        (["solve"], "POSITION|RECORD... is missing", "falta POSICIÓN|REGISTRO..."),
        (["nonsense"], "there is no command 'nonsense'", "no hay ninguna orden 'nonsense'"),
        (["solve", "x", "--nods", "1"], "there is no option --nods; perhaps --nodes", "no hay ninguna opción --nods"),
        (["solve", "x", "--stats=1"], "--stats takes no value", "--stats no lleva valor"),
        (
            ["solve", "x", "--nodes", "0"],
            "--nodes: '0' is no whole number from 1",
            "--nodes: '0' no es un número entero",
        ),
        (["solve", "x", "--threads", "1.5"], "--threads: '1.5' is no", "--threads: '1.5' no es"),
        (["solve", "x", "--threads", "9" * 5000], "--threads: '9", "--threads: '9"),
        (["solve", "x", "--seconds", "nan"], "--seconds: 'nan' is no number", "--seconds: 'nan' no es un número"),
        (["solve", "x", "--seconds", "-1"], "--seconds: '-1' is no", "--seconds: '-1' no es"),
        (["solve", "x", "--objective", "fun"], "'fun' is none of points, game", "'fun' no es ninguno de points, game"),
        (["solve", "x", "--want", "more"], "'more' is none of all, best, value", "'more' no es ninguno de"),
        (["solve", "x", "--then", "7O,,RC"], "is no list of actions", "no es una lista de jugadas"),
        (["solve", "x", "--rules", "target"], "'target' is not of the form", "'target' no tiene la forma"),
        (["solve", "x", "--ruleset", "none"], "no ruleset 'none'; there are aragones", "ningún reglamento 'none'; hay"),
        (["solve", "x", "--rules", "mood=good"], "--rules: rulesets have no field 'mood'", "no tienen el campo 'mood'"),
        (["show", "x", "--rules", "target=7"], "target cannot be '7'; it may be 101, 100", "target no puede ser '7'"),
        (["show", "x", "--rules", "handSize=11"], "hand_size cannot be '11'; it may be 1-10\n", "puede ser 1-10\n"),
        (["rules", "cien", "nope"], "there is no ruleset 'nope'", "no hay ningún reglamento 'nope'"),
        (["rules", "nope", "--json"], "there is no ruleset 'nope'", "no hay ningún reglamento 'nope'"),
        (["rules", "--rules", "mood=good"], "rulesets have no field 'mood'", "no tienen el campo 'mood'"),
        (["rules", "cien", "--players", "3"], "cien: there are 4 players, or 2", "cien: los jugadores son 4, o 2"),
        (["solve", "x", "--progress", "loud"], "'loud' is none of auto", "'loud' no es ninguno de auto"),
        (["rules", "--players", "x"], "'x' is no whole number", "'x' no es un número entero"),
        (["serve", "--port", "70000"], "'70000' is no whole number from 0 to 65535", "'70000' no es un número"),
        (["serve", "now"], "too many arguments: now", "sobran argumentos: now"),
    ],
)
def test_bad_usage(arguments: list[str], english: str, spanish: str) -> None:
    for lang, expected, see in (("en", english, "(see "), ("es", spanish, "(véase ")):
        result = call(*arguments, lang=lang)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert expected in result.stderr
        assert see in result.stderr


def test_bad_language_and_no_command() -> None:
    result = runner().invoke(command("en"), ["solve", "x", "--lang", "de"])
    assert (result.exit_code, "'de' is none of es, en" in result.stderr) == (2, True)
    result = runner().invoke(command("en"), [])
    assert (result.exit_code, result.stderr.startswith("Usage: ")) == (2, True)


@pytest.mark.usefixtures("toy")
def test_toy_records() -> None:
    deal = '[Deal "1"] [Ruleset "mayor"] [Leader "N"]\n[Hands "N 6O1O; O 7O2O; S 5O4O"]\n1. N 6O 7O 5O\n*\n'
    (checked,) = objects(call("check", "--json", "-", given=deal))
    assert (checked["index"], checked["deal"], checked["ruleset"]) == (0, 1, "mayor")
    assert "→ B" in call("show", "-", given=deal).stdout
    assert call("check", "-", given=deal).stdout
    (line,) = objects(call("solve", "--line", "--json", "-", given=deal))
    assert [step["at"] for step in line["steps"]] == ["1.1", "1.2", "1.3"]
    assert all(step["loss"] >= 0 for step in line["steps"])
    (solved,) = objects(call("solve", "--at", "1.2", "--json", "-", given=deal))
    assert solved["seat"] == 1
    wrong = deal.replace("N 6O 7O", "N 3O 7O")
    (refused,) = objects(call("solve", "--at", "1.1", "--json", "-", given=wrong))
    assert [fault["reason"] for fault in refused["error"]["faults"]] == ["TOY_DUTY"]
