"""Duplicate matches: the same result whatever the jobs, and after an interruption."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DUEL = Path(__file__).parents[1] / "benchmarks" / "duel.py"


def match(*arguments: str) -> str:
    command = [sys.executable, str(DUEL), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


@pytest.mark.parametrize("unit", [[], ["--games"]], ids=["deals", "games"])
def test_a_match_is_the_same_whatever_the_jobs_and_when_it_goes_on(tmp_path: Path, unit: list[str]) -> None:
    results = tmp_path / "results.jsonl"
    arguments = ["policy", "greedy", "--deals", "12", *unit]
    once = match(*arguments)
    assert once.startswith("policy v greedy, 4 players, 12 pairs: ")
    assert match(*arguments, "--jobs", "2", "--results", str(results)) == once
    lines = results.read_text().splitlines(keepends=True)
    assert len(lines) == 12
    # Killed in the middle of a line.
    results.write_text("".join(lines[:5]) + lines[5][:10])
    for _ in range(2):
        assert match(*arguments, "--results", str(results)) == once
    assert len(results.read_text().splitlines()) == 12
    # Another match in the same file.
    match("greedy", "policy", "--deals", "3", *unit, "--results", str(results))
    rows = match("--table", str(results)).splitlines()[2:]
    assert [row.split(" | ")[:4] for row in rows] == [
        ["| policy", "greedy", "4", "12"],
        ["| greedy", "policy", "4", "3"],
    ]


def test_a_spent_budget_leaves_the_rest_for_the_next_run(tmp_path: Path) -> None:
    arguments = ["policy", "random", "--deals", "4", "--results", str(tmp_path / "results.jsonl")]
    assert match(*arguments, "--budget", "0") == "no pair was finished\n"
    assert match(*arguments).startswith("policy v random, 4 players, 4 pairs: +")


def test_swapping_the_players_turns_the_sign() -> None:
    there = match("informed:8", "ismcts:50", "--deals", "2")
    back = match("ismcts:50", "informed:8", "--deals", "2")
    gain = float(there.split(": ")[1].split()[0])
    assert float(back.split(": ")[1].split()[0]) == -gain


def test_known_results() -> None:
    """What a fixed seed brings; it changes when the policy, the estimates or the deals do."""
    assert match("informed:16", "policy", "--deals", "3") == (
        "informed:16 v policy, 4 players, 3 pairs: +4.33 points a deal, 95 % -24.14 … +32.81, 99 % -33.10 … +41.76\n"
    )


def test_two_players() -> None:
    assert "2 players, 3 pairs: +" in match("policy", "random", "--deals", "3", "--players", "2")


def test_players_that_do_not_exist_are_refused() -> None:
    for name in ("nobody", "policy:3", "informed:x", "informed:0"):
        with pytest.raises(subprocess.CalledProcessError):
            match(name, "greedy", "--deals", "1")
