"""The command on records: which decision is meant, what was played, what it adds up to, and what is wrong with it."""

from __future__ import annotations

import json
import os
import subprocess
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
    solution = arrastre.solve(position, nodes=300_000).to_dict() | {"deal": 1, "at": at}
    assert answer == solution
    (same,) = objects(run("solve", "--json", *nodes, str(position)).stdout)
    assert answer == same | {"deal": 1, "at": at}
    shown = run("show", "--json", "--at", at, CANTES)
    assert objects(shown.stdout) == [position.to_dict()]


def test_solve_at_for_people() -> None:
    shown = run("solve", "--at", "7.0.1", CANTES).stdout
    assert shown.startswith(f"── {CANTES}:2, deal 1, 7.0.1 ──\nFour players: two cantes")
    assert "\nBest play\n" in shown
    assert "\nBest play\n" not in run("solve", "--no-line", "--at", "7.0.1", CANTES).stdout


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
    assert "  11.1     O      6♠                       +34     −6   6♦\n" in shown
    assert "  16.0.1   O      sing diamonds            +48\n" in shown
    assert "\nLost: N 44, O 30.\n?: not proven before 17 of 36 actions" in shown
    spanish = run("solve", "--line", "--lang", "es", "--objective", "game", VUELTAS).stdout
    assert "gana" in spanish
    assert "Perdido: NS" in spanish


def test_positions_have_their_line_of_best_play_as_ever() -> None:
    plain = run("solve", LINE).stdout
    assert "\nBest play\n" in plain
    assert run("solve", "--line", LINE).stdout == plain
    assert "\nBest play\n" not in run("solve", "--no-line", LINE).stdout


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


def test_lines_of_faults_count_from_the_start_of_the_file() -> None:
    given = f"{LINE}\n{LINE}\n\n" + Path(RENUNCIO).read_text()
    *_, faulty = objects(run("show", "--json", "-", given=given).stdout)
    assert faulty["index"] == 2
    assert faulty["error"]["faults"][0]["line"] == 15 + 3


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
