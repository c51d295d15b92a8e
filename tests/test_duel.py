"""Duplicate matches: the same result whatever the jobs, and after an interruption."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DUEL = Path(__file__).parents[1] / "benchmarks" / "duel.py"


def match(*arguments: str) -> str:
    command = [sys.executable, str(DUEL), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def test_a_match_is_the_same_whatever_the_jobs_and_when_it_goes_on(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    once = match("policy", "greedy", "--deals", "12")
    assert once.startswith("policy v greedy, 4 players, 12 pairs: +")
    assert match("policy", "greedy", "--deals", "12", "--jobs", "2", "--results", str(results)) == once
    lines = results.read_text().splitlines(keepends=True)
    assert len(lines) == 12
    # Killed in the middle of a line.
    results.write_text("".join(lines[:5]) + lines[5][:10])
    for _ in range(2):
        assert match("policy", "greedy", "--deals", "12", "--results", str(results)) == once
    assert len(results.read_text().splitlines()) == 12


def test_swapping_the_players_turns_the_sign() -> None:
    there = match("informed:8", "policy", "--deals", "2")
    back = match("policy", "informed:8", "--deals", "2")
    gain = float(there.split(": ")[1].split()[0])
    assert float(back.split(": ")[1].split()[0]) == -gain


def test_two_players() -> None:
    assert "2 players, 3 pairs: +" in match("policy", "random", "--deals", "3", "--players", "2")
