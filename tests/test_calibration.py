"""The calibration study in small: the same figures whatever the jobs, and gone on with after an interruption."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

STUDY = Path(__file__).parents[1] / "benchmarks" / "calibration.py"


def study(*arguments: str) -> str:
    command = [sys.executable, str(STUDY), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=240).stdout


@pytest.mark.parametrize(("part", "cases"), [("worlds", "6"), ("people", "12")])
def test_a_part_goes_on_where_it_stopped(tmp_path: Path, part: str, cases: str) -> None:
    once = study(part, "--cases", cases)
    assert study(part, "--cases", cases, "--jobs", "2", "--results", str(tmp_path)) == once
    lines = (tmp_path / f"{part}.jsonl").read_text().splitlines(keepends=True)
    assert len(lines) == int(cases)
    # Killed in the middle of a line.
    (tmp_path / f"{part}.jsonl").write_text("".join(lines[:3]) + lines[3][:10])
    assert study(part, "--cases", cases, "--results", str(tmp_path)) == once


def test_worlds_are_those_of_brute_force() -> None:
    said = study("worlds", "--cases", "40")
    assert "40 counts equal, 40 tables of marginals equal, 0 draws that are no world" in said


def test_good_play_is_not_flagged_and_great_errors_are() -> None:
    said = study("flags", "--cases", "1").splitlines()
    assert "flagged 0.0 %" in said[1]
    assert "planted, flagged 100.0 %" in said[2]


def test_draws_by_seat_are_worth_worlds() -> None:
    worth = [float(line.split()[-2]) for line in study("devices", "--cases", "3").splitlines()[2:5]]
    apart, common, coupled = worth
    assert apart == 1.0 < common < coupled
