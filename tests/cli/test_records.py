"""The command on records: which decision is meant, what was played, what it adds up to, and what is wrong with it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import arrastre
from arrastre.record import line_values
from run_command import SCRIPT, environment, run

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "examples" / "records"
EXAMPLES = sorted(RECORDS.iterdir())
CANTES, CLAIM, RENUNCIO, VUELTAS, ONE_VIEW = (
    str(RECORDS / name) for name in ("cantes.txt", "claim.json", "renuncio.txt", "vueltas.txt", "one_view.txt")
)
LINE = "1O.SC/2O.4C.6B/7E6E.2B/5O.3C5C O 0 RC points=71-41"


def objects(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def reasons(answer: dict[str, Any]) -> list[str]:
    return [fault["reason"] for fault in answer["error"]["faults"]]


def parsed(path: str, strict: bool = True) -> arrastre.Record:
    return arrastre.Record.parse(Path(path).read_text(), strict=strict)


# Every example.


def test_there_are_examples_of_all_kinds() -> None:
    assert len(EXAMPLES) >= 6
    text = "".join(path.read_text() for path in EXAMPLES)
    assert all(word in text for word in ("cante ", "cambio", "tute", "claim", "{!}", "\n*"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_are_checked(path: Path) -> None:
    faulty = path.name == "renuncio.txt"
    done = run("check", "--json", str(path))
    assert done.returncode == (1 if faulty else 0)
    assert done.stderr == ""
    answers = objects(done.stdout)
    record = parsed(str(path), strict=False)
    assert [answer["index"] for answer in answers] == list(range(len(record)))
    if faulty:
        (fault,) = answers[0]["error"]["faults"]
        assert (fault["reason"], fault["card"], fault["line"], fault["column"]) == ("FOLLOW_SUIT", "CO", 15, 9)
        return
    score = arrastre.score(record).to_dict()
    assert [answer["score"]["deals"] for answer in answers] == [[deal] for deal in score["deals"]]
    assert answers[-1]["score"]["games"] == score["games"][-1:]
    assert answers[-1]["score"]["cotos"] == score["cotos"][-1:]
    assert {answer["ruleset"] for answer in answers} == {deal.data["ruleset"] for deal in record}


@pytest.mark.parametrize("lang", ["en", "es"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_are_shown(path: Path, lang: str) -> None:
    done = run("show", "--lang", lang, str(path))
    faulty = path.name == "renuncio.txt"
    assert (done.returncode, done.stderr) == (1 if faulty else 0, "")
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if not line.startswith("── "))
    tricks = [line for line in done.stdout.splitlines() if "→" in line]
    steps = [step for deal in parsed(str(path), strict=False) for step in deal]
    assert len(tricks) == sum(step.at.place == len(step.position.to_dict()["hands"]) for step in steps)
    again = run("show", "--json", str(path))
    if not faulty:
        assert arrastre.Record.from_dict(objects(again.stdout)[0])[0].to_dict() == parsed(str(path))[0].to_dict()


def test_show() -> None:
    shown = run("show", CANTES).stdout
    assert "Players: Ana, Jorge, Eva, Luis\n" in shown
    assert "\n       O sing oros\n   2.  E 7E  N 1E  O 2B  S SB  → S +14\n       S exchange\n" in shown
    assert shown.endswith("1     1     95  75          0  0          95  75  goes to vueltas\n")
    faulty = run("show", RENUNCIO).stdout
    assert "   7.  S 7C  E CO !  N 3C  O 1E  → O +23\n       !\n" in faulty
    assert "  events[27].action, line 15, column 9: trick 7" in faulty


def test_comments_claims_and_unseen_cards_are_shown() -> None:
    text = Path(CANTES).read_text().replace("2. E 7E 1E", "{long ago}\n2. E 7E {\x1bbarata} 1E")
    shown = run("show", "-", given=text).stdout
    assert "\n       \\x1bbarata\n" in shown
    assert "claim the game" in run("show", CLAIM).stdout
    assert "? ? ?" in run("show", ONE_VIEW).stdout


# A decision.


@pytest.mark.parametrize("at", ["7.2", "7.0.1", "8.0", "3.0.1", "10.4"])
def test_solve_at(at: str) -> None:
    nodes = ["--nodes", "300000"]
    done = run("solve", "--json", "--at", at, *nodes, CANTES)
    assert done.returncode == 0
    (answer,) = objects(done.stdout)
    position = parsed(CANTES).position(at)
    solution = arrastre.solve(position, nodes=300_000).to_dict() | {"deal": 1, "at": at, "faults": []}
    assert answer == solution
    (same,) = objects(run("solve", "--json", *nodes, str(position)).stdout)
    assert answer == same | {"deal": 1, "at": at, "faults": []}
    shown = run("show", "--json", "--at", at, CANTES)
    assert objects(shown.stdout) == [position.to_dict()]


def test_solve_at_for_people() -> None:
    shown = run("solve", "--at", "7.0.1", CANTES).stdout
    assert shown.startswith(f"── {CANTES}:2, deal 1, 7.0.1 ──\nFour players: two cantes")
    assert "\nBest play\n" in shown
    assert "\nBest play\n" not in run("solve", "--no-line", "--at", "7.0.1", CANTES).stdout


def test_a_decision_in_every_deal_or_in_one() -> None:
    both = objects(run("solve", "--json", "--at", "7.2", VUELTAS).stdout)
    assert [(answer["index"], answer["deal"]) for answer in both] == [(0, 1), (1, 2)]
    assert objects(run("solve", "--json", "--at", "2/7.2", VUELTAS).stdout) == both[1:]
    nothing = run("solve", "--json", "--at", "3/7.2", VUELTAS)
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (1, "", "no deal has that number\n")
    (missing,) = objects(run("solve", "--json", "--at", "2/9.2", VUELTAS).stdout)
    assert reasons(missing) == ["NO_SUCH_MOMENT"]
    after = objects(run("solve", "--json", "--at", "2/7.2", "--then", "6B", VUELTAS).stdout)
    assert after[0]["seat"] != both[1]["seat"]


def test_what_is_to_be_solved_must_be_said() -> None:
    done = run("solve", "--json", VUELTAS)
    assert done.returncode == 1
    assert [reasons(answer) for answer in objects(done.stdout)] == [["NO_ADDRESS"]] * 2
    assert "--at 7.2" in run("solve", CANTES).stderr
    assert "todo lo jugado: --line" in " ".join(run("solve", "--lang", "es", CANTES).stderr.split())
    assert reasons(objects(run("show", "--json", "--then", "7C", CANTES).stdout)[0]) == ["NO_ADDRESS"]
    assert reasons(objects(run("solve", "--json", "--at", "7.2", LINE).stdout)[0]) == ["NOT_A_RECORD"]
    for wrong in ("7", "x/7.2", "7.2.0", "-1/7.2", "/7.2"):
        done = run("solve", "--at", wrong, CANTES)
        assert (done.returncode, done.stdout) == (2, "")
        assert "is no address" in done.stderr
    assert set(reasons(objects(run("solve", "--json", "--at", "6.2", ONE_VIEW).stdout)[0])) == {"HIDDEN_CARDS"}


# What was played.


def test_the_line_that_was_played() -> None:
    done = run("solve", "--json", "--line", CANTES, "--nodes", "500000")
    assert done.returncode == 0
    (answer,) = objects(done.stdout)
    values = line_values(parsed(CANTES)[0], nodes=500_000)
    assert answer["steps"] == [value.to_dict() for value in values]
    assert (answer["index"], answer["deal"], answer["objective"], answer["proven"]) == (0, 1, "points", False)
    many = run("solve", "--json", "--line", "--nodes", "100000", "--threads", "2", VUELTAS, CANTES)
    assert [each["deal"] for each in objects(many.stdout)] == [1, 2, 1]
    one = run("solve", "--json", "--line", "--nodes", "100000", VUELTAS, CANTES)
    assert one.stdout == many.stdout


def test_the_line_that_was_played_for_people() -> None:
    shown = run("solve", "--line", CLAIM).stdout
    assert "  11.2     O      " not in shown
    assert "11.1 O 6♠ +34 −6 6♦" in " ".join(shown.split())
    assert "16.0.1 O sing diamonds +48" in " ".join(shown.split())
    assert "\nLost: N 44, O 30.\n?: not proven before 17 of 36 actions" in shown
    spanish = run("solve", "--line", "--lang", "es", "--objective", "game", VUELTAS).stdout
    assert "gana" in spanish
    assert "Perdido: NS" in spanish


def test_positions_have_their_line_of_best_play_as_ever() -> None:
    plain = run("solve", LINE).stdout
    assert "\nBest play\n" in plain
    assert run("solve", "--line", LINE).stdout == plain
    assert "\nBest play\n" not in run("solve", "--no-line", LINE).stdout


# A renuncio, and what else may be wrong with a deal that can be solved all the same.


def test_decisions_before_and_after_a_renuncio() -> None:
    deal = parsed(RENUNCIO, strict=False)[0]
    for step in deal.steps[12:]:
        (answer,) = objects(run("solve", "--json", "--no-line", "--at", str(step.at), RENUNCIO).stdout)
        assert answer["margin"] == arrastre.solve(step.position, line=False).margin, step.at
        (fault,) = answer["faults"]
        assert (fault["reason"], fault["line"], fault["column"]) == ("FOLLOW_SUIT", 15, 9)
    done = run("solve", "--at", "8.1", RENUNCIO)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("CO: must follow\n  suit: 7C was led, and copas are in hand\n")
    spanish = run("check", "--lang", "es", RENUNCIO).stderr
    assert "baza 7, asiento E, CO: hay que servir\n  al palo: salió 7C y hay copas en la mano\n" in spanish
    assert reasons(objects(run("solve", "--json", "--at", "11.1", RENUNCIO).stdout)[0]) == ["NO_SUCH_MOMENT"]


def test_what_a_renuncio_cost() -> None:
    done = run("solve", "--line", "--json", RENUNCIO)
    (answer,) = objects(done.stdout)
    assert (done.returncode, [fault["reason"] for fault in answer["faults"]]) == (0, ["FOLLOW_SUIT"])
    (broken,) = (step for step in answer["steps"] if step["breach"] is not None)
    after = parsed(RENUNCIO, strict=False).position("7.3")
    margin = arrastre.solve(after).margin
    assert margin is not None
    # The next to act is of the other side.
    assert (broken["at"], broken["played"]) == ("7.2", -margin)
    assert broken["loss"] == broken["value"] - broken["played"]
    assert broken["breach"] == answer["faults"][0]
    # What the sides lost accounts for how the margin moved.
    proven = [step for step in answer["steps"] if step["value"] is not None]
    first, lost = proven[0], [sum(step["loss"] for step in proven if step["seat"] % 2 == side) for side in (0, 1)]
    start = first["value"] if first["seat"] % 2 == 0 else -first["value"]
    assert start - lost[0] + lost[1] == 162 - 28
    shown = run("solve", "--line", RENUNCIO).stdout
    assert "7.2 E CO ! −130 −4 RC" in " ".join(shown.split())
    assert "must follow suit: 7C was" in shown


def test_faults_that_leave_a_position_in_doubt() -> None:
    text = Path(CANTES).read_text()

    def asked(given: str, at: str) -> list[str]:
        (answer,) = objects(run("solve", "--json", "--no-line", "--nodes", "1000", "--at", at, "-", given=given).stdout)
        return reasons(answer) if "error" in answer else ["solved"]

    # Every card is its player's, but who leads did not win the trick before.
    wrong_leader = re.sub(r"\n7\. O (\w+) ([\w ]+)\n", r"\n7. S \2 \1\n", text)
    assert wrong_leader != text
    assert asked(wrong_leader, "6.4") == ["solved"]
    assert "WRONG_LEADER" in asked(wrong_leader, "7.1")
    # Whether a cante that was not allowed was counted nobody knows; a card that is not there was never dealt.
    cante = text.replace("\n8. ", "\n8.0 N cante C\n8. ")
    assert asked(cante, "8.0.1") == ["solved"]
    assert "CANTE_CARDS" in asked(cante, "8.1")
    not_held = text.replace("\n10. N 3E", "\n10. N 3O")
    assert not_held != text
    assert "NOT_IN_HAND" in asked(not_held, "7.1") or "CARD_TWICE" in asked(not_held, "7.1")
    unread = text.replace("\n10. N 3E", "\n10. N 3X")
    assert asked(unread, "9.4") == ["solved"]
    assert "UNKNOWN_ACTION" in asked(unread, "10.1")
    assert asked(text.replace('[Result "95 75"]', '[Result "95 74"]'), "9.1") == ["solved"]
    assert asked(text.replace('[Carried "0 0"]', '[Carried "0 0 0"]'), "9.1") == ["BAD_SCORE"]


# Checking.


def test_check_for_people() -> None:
    assert (
        run("check", VUELTAS).stdout
        == """\
Deal  Game  Points  NS  OE  Carried over  Total    Result
1     1     82  48          0  0          82  48   goes to vueltas
2     1     6  56           82  48        88  104  OE wins

Deal  Cards  NS  OE  Last trick  Cantes  Tute  Capote  Points
1     72  48         10  0       0  0    0  0  0  0    82  48
2     6  56          0  0        0  0    0  0  0  0    6  56

Game  Deals  Total  NS  OE                     Result
1     1-2    88 (38 buenas)   104 (54 buenas)  OE wins

Coto  Games  NS  OE  Points  NS  OE  Result
1     0  1           88  104         not over
"""
    )
    assert "sin acabar" in run("check", "--lang", "es", VUELTAS).stdout


def test_other_deals_go_on() -> None:
    first, second = (Path(path).read_text() for path in (RENUNCIO, VUELTAS))
    broken = first.replace("2. N 6C", "2. N 6X").replace("4. E 6B", "4. S 6B")
    done = run("check", "--json", "-", given=f"{broken}\n{second}")
    answers = objects(done.stdout)
    assert done.returncode == 1
    assert [answer.get("deal") for answer in answers] == [None, 1, 2]
    faults = {(fault["reason"], fault["line"], fault["column"]) for fault in answers[0]["error"]["faults"]}
    assert {("UNKNOWN_ACTION", 9, 6), ("WRONG_LEADER", 11, 4), ("FOLLOW_SUIT", 15, 9)} <= faults
    assert answers[2]["score"]["games"][0]["deals"] == [1, 2]


def test_records_of_their_own_do_not_add_up() -> None:
    """Each object that ``show`` writes is a record, though the numbers of their deals go on."""
    shown = run("show", "--json", VUELTAS).stdout
    assert len(objects(shown)) == 2
    answers = objects(run("check", "--json", "-", given=shown).stdout)
    assert [answer["score"]["games"][0]["deals"] for answer in answers] == [[1], [2]]
    assert [answer["score"]["cotos"][0]["deals"] for answer in answers] == [1, 1]
    together = run("check", "-", given=shown).stdout
    assert len(re.findall("^Coto ", together, re.MULTILINE)) == 2
    assert len(re.findall("^Coto ", run("check", VUELTAS).stdout, re.MULTILINE)) == 1


def test_rules() -> None:
    text = Path(CANTES).read_text().replace('[Ruleset "aragones"] ', "")
    (answer,) = objects(run("check", "--json", "--ruleset", "cien", "-", given=text).stdout)
    assert answer["error"]["faults"][-1]["reason"] == "LEGAL_UNDER"
    (answer,) = objects(run("check", "--json", "--ruleset", "auto", "-", given=text).stdout)
    assert answer["ruleset"] == "aragones"
    own_turn = str(RECORDS / "own_turn.json")
    (answer,) = objects(run("check", "--json", "--ruleset", "auto", own_turn).stdout)
    assert answer["ruleset"] == "cien"
    (answer,) = objects(run("check", "--json", "--rules", "target=100,malas_minimum=0", CANTES).stdout)
    assert answer["score"]["deals"][0]["result"]["outcome"] == "vueltas"
    assert run("check", "--ruleset", "nobody", CANTES).returncode == 2
    assert run("solve", "--ruleset", "auto", LINE).returncode == 0


# Positions and records, mixed.


def test_positions_and_records_are_told_apart() -> None:
    one_line = json.dumps(json.loads(Path(CLAIM).read_text()))
    position = json.dumps(arrastre.Position.parse(LINE).to_dict())
    text = "\n".join(
        [
            LINE,
            Path(VUELTAS).read_text(),
            LINE,
            Path(CLAIM).read_text(),
            LINE,
            one_line,
            position,
            f"[{position}, {one_line},",
            f"{one_line}]",
            Path(ONE_VIEW).read_text(),
            position,
        ]
    )
    shown = objects(run("show", "--json", "-", given=text).stdout)
    kinds = "".join("r" if "deals" in each else "p" for each in shown)
    assert kinds == "prrprprpprrrp"
    for source in (Path(CLAIM).read_text(), Path(CANTES).read_text().split("\n", 1)[1]):
        assert objects(run("check", "--json", source).stdout)[0]["deal"] == 1
        assert "deals" in objects(run("show", "--json", "-", given="\ufeff" + source.replace("\n", "\r\n")).stdout)[0]


def test_line_ends_and_byte_order_marks() -> None:
    vueltas, claim, renuncio = (Path(path).read_text() for path in (VUELTAS, CLAIM, RENUNCIO))
    files = ["\ufeff" + vueltas.replace("\n", "\r\n"), claim, "\ufeff" + claim, "\ufeff" + renuncio, vueltas]
    expected = [1, 2, 1, 1, None, 1, 2]
    for given in ("".join(files), "".join(files).replace("\r\n", "\n").replace("\n", "\r")):
        answers = objects(run("check", "--json", "-", given=given).stdout)
        assert [answer.get("deal") for answer in answers] == expected
        line = 15 + vueltas.count("\n") + 2 * claim.count("\n")
        assert answers[4]["error"]["faults"][0]["line"] == line
        shown = objects(run("show", "--json", "-", given=given + LINE).stdout)
        assert ["deals" in answer for answer in shown] == [True] * 4 + [False] + [True] * 2 + [False]
    record = arrastre.Record.parse(files[0] + files[4].replace("\n", "\r"))
    assert [deal.number for deal in record] == [1, 2, 1, 2]


def interrupted(*arguments: str, given: str) -> subprocess.CompletedProcess[str]:
    """The command when it has answered a first item, and is interrupted while it waits for more."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([SCRIPT, *arguments], text=True, env=environment(), **pipes)  # type: ignore[call-overload]
    process.stdin.write(given)
    process.stdin.flush()
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def test_an_interruption_keeps_what_was_found(tmp_path: Path) -> None:
    text = Path(VUELTAS).read_text()
    done = interrupted("check", "-", given=text + '\n[Event "x"]\n')
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert done.stdout == run("check", "-", given=text).stdout
    done = interrupted("solve", "--json", "--line", "--nodes", "1000", "-", given=text + '\n[Event "x"]\n')
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert [answer["deal"] for answer in objects(done.stdout)] == [1, 2]
    logs = RECORDS.parent / "logs"
    log, template = (logs / "mesa.jsonl").read_text(), str(logs / "mesa.toml")
    output = tmp_path / "records.txt"
    done = interrupted("convert", "-", "--from", template, given=log)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert len(arrastre.Record.parse(done.stdout)) >= 1
    done = interrupted("convert", "-", "--from", template, "-o", str(output), given=log)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_lines_of_faults_count_from_the_start_of_the_file() -> None:
    given = f"{LINE}\n{LINE}\n\n" + Path(RENUNCIO).read_text()
    *_, faulty = objects(run("show", "--json", "-", given=given).stdout)
    assert faulty["index"] == 2
    assert faulty["error"]["faults"][0]["line"] == 15 + 3


BAD = [
    b"[",
    b"[Deal",
    b'[Deal "1"',
    b'[Deal "1"]\n' + b"x" * 3_000_000,
    b'[Deal "1"]\n[Hands "' + b"7O" * 200_000 + b'"]\n',
    b'[Deal "1"]\n1. E \xff\xfe 7B\n',
    b'{"deals": 3}',
    b'{"deals": [3, null, {"events": [[]]}, {"events": "x", "hands": 7}]}',
    b'{"events": ' + b"[" * 100_000,
    b'{"events": [' + b'{"action": "1O"},' * 900 + b"null]}",
    b'{"events": [' + b'{"action": "7B"},' * 100_000 + b"null]}",
    b'{"deals": [{"events": [',
    b'{"deals": [{"events": [\n' + LINE.encode(),
    b"[{}, [], 3, null",
    b'["[Deal 1]", {"events": []}',
    b'{"a": "\n{"deals": []}\n',
    b"{comment}",
    b"\0\0\0",
    b"\x1f\x8b\x08\x00" + bytes(range(256)) * 40,
    b"",
]


@pytest.mark.parametrize("given", BAD, ids=lambda given: repr(given[:20]))
def test_nothing_that_is_handed_in_is_met_with_a_traceback(given: bytes) -> None:
    for arguments in (["check", "--json", "--ruleset", "auto"], ["show"], ["solve", "--line", "--json"]):
        done = run(*arguments, "-", given=given)
        assert done.returncode in (0, 1)
        assert done.returncode or not given.strip() or given == b"[{}, [], 3, null"


def test_check_takes_no_more_memory_for_more_deals(tmp_path: Path) -> None:
    text = Path(VUELTAS).read_text().split("\n", 1)[1] + "\n"

    def peak(count: int) -> int:
        path = tmp_path / f"{count}.txt"
        with path.open("w") as file:
            for number in range(count):
                numbered = text.replace('[Deal "1"]', f'[Deal "{2 * number + 1}"]')
                file.write(numbered.replace('[Deal "2"]', f'[Deal "{2 * number + 2}"]'))
        with subprocess.Popen([SCRIPT, "check", path], stdout=subprocess.DEVNULL, env=environment()) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = status
        assert status == 0
        return usage.ru_maxrss

    assert peak(600) < 1.2 * peak(30)


def test_nobody_reads_to_the_end() -> None:
    process = subprocess.Popen(
        f"yes '{Path(VUELTAS).read_text()}' | {SCRIPT} check - | head -n 2; echo ${{PIPESTATUS[1]}}",
        shell=True,
        executable="/bin/bash",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    out, err = process.communicate(timeout=60)
    assert out.endswith(b"\n141\n")
    assert b"Traceback" not in err
