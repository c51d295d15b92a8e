from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import arrastre
from run_command import run

LOGS = Path(__file__).parents[2] / "examples" / "logs"
MESA, MESA_TEMPLATE = str(LOGS / "mesa.jsonl"), str(LOGS / "mesa.toml")


@pytest.mark.parametrize("name", ["mesa.jsonl", "club.log", "cronica.txt"])
def test_text_and_json_say_the_same(name: str) -> None:
    log, template = LOGS / name, str((LOGS / name).with_suffix(".toml"))
    text = run("convert", str(log), "--from", template)
    lines = run("convert", "-", "--from", template, "--to", "json", given=log.read_bytes())
    assert (text.returncode, text.stderr, lines.returncode, lines.stderr) == (0, "", 0, "")
    record = arrastre.Record.parse(text.stdout)
    assert str(record) == text.stdout
    assert arrastre.Record.parse(lines.stdout) == record
    assert len(record) == len(lines.stdout.splitlines())
    assert all(json.loads(line)["schema"] == 1 for line in lines.stdout.splitlines())


def test_several_logs_into_a_file(tmp_path: Path) -> None:
    output = tmp_path / "records.txt"
    output.write_text("older")
    done = run("convert", MESA, MESA, "--from", MESA_TEMPLATE, "-o", str(output))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(arrastre.Record.parse(output.read_text())) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["records.txt"]


def test_deals_with_faults_are_reported_and_the_others_written(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(Path(MESA).read_text().replace("copas_4", "copas_9", 2))
    done = run("convert", str(log), "--from", MESA_TEMPLATE)
    assert done.returncode == 1
    assert len(arrastre.Record.parse(done.stdout)) == 1
    assert f"{log}:1: " in done.stderr
    assert "events[0].action, line 9, column 20: 'copas_9' is no card" in done.stderr
    spanish = run("convert", str(log), "--from", MESA_TEMPLATE, "--lang", "es")
    assert "no es ninguna carta" in spanish.stderr


@pytest.mark.parametrize(
    ("template", "said"),
    [("[[line]]\npattern = '(a+)+'\n", "line[0].pattern"), ("a = = 1", "column 5"), (b"\xff", "UTF-8")],
)
def test_a_bad_template_is_bad_usage(template: str | bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "template.toml"
    path.write_bytes(template if isinstance(template, bytes) else template.encode())
    output = tmp_path / "out"
    done = run("convert", MESA, "--from", str(path), "-o", str(output))
    assert done.returncode == 2
    assert said in done.stderr
    assert not output.exists()


def test_what_cannot_be_read_or_written(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    assert run("convert", MESA, "--from", missing).returncode == 2
    assert run("convert", MESA).returncode == 2
    assert run("convert", MESA, "--from", MESA_TEMPLATE, "--to", "xml").returncode == 2
    done = run("convert", missing, MESA, "--from", MESA_TEMPLATE)
    assert done.returncode == 1
    assert "missing" in done.stderr
    assert len(arrastre.Record.parse(done.stdout)) == 2
    done = run("convert", MESA, "--from", MESA_TEMPLATE, "-o", str(tmp_path / "no" / "such"))
    assert done.returncode == 1
    assert "cannot write" in done.stderr
    done = run("convert", str(tmp_path), "--from", MESA_TEMPLATE)
    assert done.returncode == 1
    assert done.stderr


def test_to_a_device() -> None:
    assert run("convert", MESA, "--from", MESA_TEMPLATE, "-o", "/dev/null").returncode == 0
    assert run("convert", MESA, "--from", MESA_TEMPLATE, "-o", "/dev/full").returncode == 1


def test_faults_as_json(tmp_path: Path) -> None:
    log, output = tmp_path / "log", tmp_path / "records.txt"
    log.write_text(Path(MESA).read_text().replace("copas_4", "copas_9", 2))
    done = run("convert", MESA, "nowhere", str(log), "--from", MESA_TEMPLATE, "--json")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (1, "")
    errors = [each for each in answers if "error" in each]
    assert [[each["index"], each["error"]["faults"][0]["reason"]] for each in errors] == [
        [2, "NOT_FOUND"],
        [3, "UNKNOWN_CARD"],
    ]
    deals = [each for each in answers if "error" not in each]
    assert ["error" in each for each in answers] == [False, False, True, True, False]
    assert len(arrastre.Record.parse("\n".join(map(json.dumps, deals)))) == 3
    apart = run("convert", MESA, "nowhere", str(log), "--from", MESA_TEMPLATE, "--json", "-o", str(output))
    assert [json.loads(line) for line in apart.stdout.splitlines()] == errors
    assert len(arrastre.Record.parse(output.read_text())) == 3
    assert output.read_text().startswith("[Event ")
    assert run("convert", MESA, "--from", MESA_TEMPLATE, "--json", "--to", "text").returncode == 2


def test_rules(tmp_path: Path) -> None:
    template = tmp_path / "template.toml"
    template.write_text(re.sub(r"(?m)^ruleset.*", "", (LOGS / "club.toml").read_text()))
    club = str(LOGS / "club.log")

    def rulesets(*options: str) -> list[str]:
        done = run("convert", club, "--from", str(template), "--to", "json", *options)
        return [json.loads(line)["ruleset"] for line in done.stdout.splitlines()]

    assert rulesets() == ["aragones"]
    assert rulesets("--ruleset", "auto") == ["aragones"]
    assert rulesets("--rules", "last_trick=10,malas_minimum=0") == ["aragones"]
    refused = run("convert", club, "--from", str(template), "--ruleset", "cien")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "EXCHANGE" not in refused.stderr
    assert "legal under aragones" in refused.stderr
    assert run("convert", club, "--from", str(template), "--ruleset", "nobody").returncode == 2


@pytest.mark.parametrize("lang", ["en", "es"])
def test_help(lang: str) -> None:
    done = run("convert", "--help", "--lang", lang)
    assert done.returncode == 0
    assert all(option in done.stdout for option in ("--from", "-o", "--to", "--ruleset", "--rules", "--json"))
