"""``arrastre grade``: the same bytes whoever does the work and however often it is killed, and nothing lost."""

from __future__ import annotations

import csv
import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import toy_game
from arrastre.cli.grade import DEAL_COLUMNS, DECISION_COLUMNS
from arrastre.record import Record
from deals import play_deal
from run_command import SCRIPT, call, environment, run

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "examples" / "records"
CANTES = str(RECORDS / "cantes.txt")
QUICK = ("grade", "--effort", "quick")
FILES = ("out.jsonl", "out.deals.jsonl", "out.errors.jsonl")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def contents(folder: Path, names: tuple[str, ...] = FILES) -> list[bytes]:
    return [(folder / name).read_bytes() for name in names]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of many kinds: text, JSON lines, compressed, one that is no record, one with a renuncio."""
    folder = tmp_path_factory.mktemp("archive")
    names = [f"player {number}" for number in range(6)]
    for number in range(6):
        chance = random.Random(number)
        players = chance.sample(names, 4)
        deals = [play_deal(chance, number=each + 1, dealer=each % 4) | {"names": players} for each in range(6)]
        record = Record.from_dict({"deals": deals})
        if number % 3 == 0:
            (folder / f"{number}.txt").write_text(str(record))
        elif number % 3 == 1:
            (folder / f"{number}.jsonl").write_text(record.to_json() + "\n")
        else:
            (folder / "inner").mkdir(exist_ok=True)
            (folder / "inner" / f"{number}.txt.gz").write_bytes(gzip.compress(str(record).encode(), mtime=0))
    (folder / "bad.txt").write_text('[Event "x"]\n1. N 9Z\n')
    (folder / "notes.md").write_text("no record")
    shutil.copy(RECORDS / "renuncio.txt", folder)
    return folder


@pytest.fixture(scope="module")
def graded(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive graded in one go."""
    folder = tmp_path_factory.mktemp("graded")
    done = run(*QUICK, str(archive), "-o", str(folder / "out.jsonl"))
    assert done.returncode == 1  # two records have faults
    return folder


# -- what is written


def test_every_decision_is_a_row(graded: Path) -> None:
    found = rows(graded / "out.jsonl")
    assert len(found) > 400
    assert all(list(row) == list(DECISION_COLUMNS) for row in found)
    ids = [row["id"] for row in found]
    assert len(set(ids)) == len(ids)
    for row in found:
        assert row["id"] == f"{row['game']}/{row['deal']}/{row['at']}"
        trick, place = row["at"].split(".")[:2]
        assert (row["trick"], row["place"]) == (int(trick), int(place))
        assert (row["schema"], row["answers"], row["effort"], row["seed"]) == (1, 1, "quick", 1)
    deals = rows(graded / "out.deals.jsonl")
    assert all(list(row) == list(DEAL_COLUMNS) for row in deals)
    assert sum(row["decisions"] for row in deals) == len(found)
    assert len(deals) == 6 * 6 + 1 + 1


def test_a_bad_record_goes_to_the_errors_and_the_rest_go_on(graded: Path) -> None:
    errors = rows(graded / "out.errors.jsonl")
    assert [Path(each["file"]).name for each in errors] == ["bad.txt", "renuncio.txt"]
    assert errors[1]["line"] == 2 and errors[1]["error"]["faults"][0]["reason"] == "FOLLOW_SUIT"
    assert errors[1]["graded"] > 20
    broken = [row for row in rows(graded / "out.jsonl") if row["breach"]]
    assert [(row["at"], row["breach"], row["label"], row["counted"]) for row in broken] == [
        ("7.2", "FOLLOW_SUIT", "renuncio", False)
    ]


def test_games_are_told_apart_by_their_first_deals(graded: Path) -> None:
    games: dict[str, set[str]] = {}
    for row in rows(graded / "out.deals.jsonl"):
        games.setdefault(row["game"], set()).add(row["file"])
    assert all(len(files) == 1 for files in games.values())


def test_csv_says_the_same(archive: Path, graded: Path, tmp_path: Path) -> None:
    run(*QUICK, str(archive), "-o", str(tmp_path / "out.csv"))
    with (tmp_path / "out.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    expected = rows(graded / "out.jsonl")
    assert len(found) == len(expected)
    words = {True: "true", False: "false", None: ""}
    for one, other in zip(found, expected, strict=True):
        shown = {k: words[v] if v is None or isinstance(v, bool) else str(v) for k, v in other.items()}
        assert one == shown


def test_parquet_says_the_same(archive: Path, graded: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    run(*QUICK, str(archive), "-o", str(tmp_path / "out.parquet"))
    assert parquet.read_table(tmp_path / "out.parquet").to_pylist() == rows(graded / "out.jsonl")
    assert parquet.read_table(tmp_path / "out.deals.parquet").to_pylist() == rows(graded / "out.deals.jsonl")


def test_every_column_is_described() -> None:
    page = (ROOT / "docs" / "grading.md").read_text()
    decisions, deals = page.split("### A row a deal")
    described = [dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", part, re.MULTILINE)) for part in (decisions, deals)]
    assert described[0] == DECISION_COLUMNS
    above = re.findall(r"`(\w+)`", deals.split(" as above; then")[0])
    assert described[1] == {name: kind for name, kind in DEAL_COLUMNS.items() if name not in above}


# -- where it comes from


def test_folders_patterns_and_files(archive: Path, graded: Path, tmp_path: Path) -> None:
    paths = sorted(str(each) for each in archive.rglob("*") if each.suffix in (".txt", ".jsonl", ".gz"))
    for number, given in enumerate(([str(archive / "*")], [str(archive / "**")], paths)):
        run(*QUICK, *given, "-o", str(tmp_path / f"{number}.jsonl"))
        mine = {row["id"] for row in rows(tmp_path / f"{number}.jsonl")}
        assert mine == {row["id"] for row in rows(graded / "out.jsonl")}


def test_standard_input_compressed_or_not(archive: Path) -> None:
    text = (archive / "0.txt").read_bytes()
    plain = run(*QUICK, "--json", "-", given=text)
    assert plain.returncode == 0 and len(plain.stdout.splitlines()) == 6
    two = gzip.compress(text[: len(text) // 2]) + gzip.compress(text[len(text) // 2 :])
    assert run(*QUICK, "--json", "-", given=two).stdout == plain.stdout
    cut = run(*QUICK, "--json", "-", given=gzip.compress(text)[:-20])
    assert cut.returncode == 1
    assert json.loads(cut.stdout.splitlines()[0])["error"]["code"] == "UNREADABLE"


def test_a_deal_that_comes_twice_counts_once() -> None:
    done = run(*QUICK, CANTES, CANTES, "--json")
    assert len(done.stdout.splitlines()) == 1
    assert "1 deals had come before" in done.stderr


def test_json_is_what_python_says() -> None:
    import arrastre

    done = run(*QUICK, "--json", CANTES)
    assert (done.returncode, done.stderr) == (0, "")
    record = Record.parse(Path(CANTES).read_text())
    assert json.loads(done.stdout) == arrastre.grade(record, effort="quick").deals[0].to_dict()


# -- the same, whoever does it


def test_any_number_of_jobs_and_any_shards_give_the_same_bytes(archive: Path, graded: Path, tmp_path: Path) -> None:
    for number, (jobs, shard) in enumerate((("2", "1"), ("3", "5"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        output = str(folder / "out.jsonl")
        done = run(*QUICK, str(archive), "-o", output, "--jobs", jobs, "--shard", shard)
        assert done.returncode == 1
        assert contents(folder) == contents(graded)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_at_any_moment_and_resumed_it_is_the_same(
    archive: Path, graded: Path, tmp_path: Path, jobs: str
) -> None:
    """Kill -9 again and again, at random moments, until one run comes to its end."""
    chance = random.Random(jobs)
    output = tmp_path / "out.jsonl"
    command = [SCRIPT, *QUICK, str(archive), "-o", str(output), "--resume", "--shard", "1", "--jobs", jobs]
    kept: list[int] = []
    for attempt in range(40):
        with subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            try:
                process.wait(chance.uniform(0.6, 1.4) + 0.15 * attempt)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait(10)
            assert process.stderr is not None
            assert b"Traceback" not in (process.stderr.read() if process.returncode != -signal.SIGKILL else b"")
        kept.append(len(list(Path(f"{output}.parts").glob("*.gz"))) if Path(f"{output}.parts").exists() else 0)
        if process.returncode != -signal.SIGKILL:
            break
        assert not output.exists() or contents(tmp_path) == contents(graded)
    assert process.returncode == 1
    assert kept == sorted(kept)
    assert contents(tmp_path) == contents(graded)
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_only_what_is_new_is_graded(archive: Path, graded: Path, tmp_path: Path) -> None:
    grown = tmp_path / "grown"
    shutil.copytree(archive, grown)
    removed = (grown / "4.jsonl").read_bytes()
    (grown / "4.jsonl").unlink()
    output = tmp_path / "out.jsonl"
    run(*QUICK, str(grown), "-o", str(output), "--shard", "1")
    parts = Path(f"{output}.parts")
    before = {path.name: path.stat().st_mtime_ns for path in parts.glob("*.gz")}
    (grown / "4.jsonl").write_bytes(removed)
    run(*QUICK, str(grown), "-o", str(output), "--resume", "--shard", "1")
    after = {path.name: path.stat().st_mtime_ns for path in parts.glob("*.gz")}
    assert len(after) == len(before) + 6
    assert all(after[name] == when for name, when in before.items())
    # Another seed is another question.
    run(*QUICK, str(grown), "-o", str(output), "--resume", "--seed", "2")
    assert len(list(parts.glob("*.gz"))) == len(after) + 1
    assert rows(output)[0]["seed"] == 2


def test_a_damaged_shard_is_graded_again(archive: Path, graded: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    run(*QUICK, str(archive), "-o", str(output), "--shard", "1")
    for number, shard in enumerate(sorted(Path(f"{output}.parts").glob("*.gz"))[:3]):
        data = shard.read_bytes()
        shard.write_bytes((b"", data[: len(data) // 2], b"nothing")[number])
    run(*QUICK, str(archive), "-o", str(output), "--shard", "1", "--resume")
    assert [len(each) for each in contents(tmp_path)] == [len(each) for each in contents(graded)]
    assert contents(tmp_path) == contents(graded)


def test_what_was_graded_is_not_thrown_away_unasked(tmp_path: Path) -> None:
    output = str(tmp_path / "out.jsonl")
    assert run(*QUICK, CANTES, "-o", output).returncode == 0
    refused = run(*QUICK, CANTES, "-o", output)
    assert refused.returncode == 2 and "--resume" in refused.stderr and "--anew" in refused.stderr
    assert run(*QUICK, CANTES, "-o", output, "--anew").returncode == 0


def test_two_at_work_on_the_same_output(tmp_path: Path) -> None:
    import fcntl

    parts = tmp_path / "out.jsonl.parts"
    parts.mkdir()
    with (parts / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = run(*QUICK, CANTES, "-o", str(tmp_path / "out.jsonl"))
    assert done.returncode == 1 and "somebody else" in done.stderr


# -- what goes wrong


def test_output_that_cannot_be_written_is_told_before_the_work(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").mkdir()
    for output in (tmp_path / "no" / "such" / "\0", tmp_path / "out.jsonl", Path("/proc/out.jsonl")):
        if "\0" in str(output):
            continue
        start = time.monotonic()
        done = run("grade", "--effort", "deep", str(archive), "-o", str(output))
        assert done.returncode == 1 and "cannot write" in done.stderr
        assert time.monotonic() - start < 20


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_loses_nothing(archive: Path, graded: Path, tmp_path: Path) -> None:
    """What is graded stays; the output is made once there is room."""
    output = tmp_path / "out.jsonl"
    (tmp_path / ".out.jsonl.tmp").symlink_to("/dev/full")
    done = run(*QUICK, str(archive), "-o", str(output))
    assert done.returncode == 1 and "No space left" in done.stderr
    assert not output.exists()
    kept = list((tmp_path / "out.jsonl.parts").glob("*.gz"))
    assert kept
    assert run(*QUICK, str(archive), "-o", str(output), "--resume").returncode == 1
    assert contents(tmp_path) == contents(graded)
    assert sorted(kept) == sorted((tmp_path / "out.jsonl.parts").glob("*.gz"))


@pytest.mark.parametrize("after", [0.0, 0.4, 0.8, 1.6])
def test_a_worker_that_is_killed_is_told(archive: Path, tmp_path: Path, after: float) -> None:
    """Whatever it had in hand: no lock that it held keeps the others waiting."""
    output = tmp_path / "out.jsonl"
    command = [SCRIPT, "grade", str(archive), "-o", str(output), "--jobs", "2", "--shard", "1"]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        try:
            time.sleep(after)
            os.kill(a_worker_of(process.pid), signal.SIGKILL)
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 1 and b"--resume goes on" in said
    assert b"Traceback" not in said


def a_worker_of(process: int) -> int:
    """A child of ``process`` that grades, as soon as there is one; not the tracker that multiprocessing starts."""
    children = Path(f"/proc/{process}/task/{process}/children")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for each in children.read_text().split():
            if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes():
                return int(each)
        time.sleep(0.02)
    pytest.fail("no worker was started")


def test_interrupted(archive: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    command = [SCRIPT, "grade", str(archive), "-o", str(output), "--jobs", "2", "--shard", "1"]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        try:
            time.sleep(3)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130 and b"--resume" in said
    assert b"Traceback" not in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["-o", "x.txt"],
        ["--resume"],
        ["-o", "x.jsonl", "--resume", "--anew"],
        ["--effort", "heroic"],
        ["--jobs", "0"],
        ["--shard", "0"],
    ],
)
def test_bad_usage(arguments: list[str]) -> None:
    done = run("grade", CANTES, *arguments)
    assert (done.returncode, done.stdout) == (2, "")


def test_no_record() -> None:
    empty = run("grade", "-", given="")
    assert (empty.returncode, empty.stdout) == (0, "") and "no record" in empty.stderr
    assert run("grade", "/no/such/folder").returncode == 1


# -- people


def test_players_are_listed_and_told_apart(archive: Path) -> None:
    done = run(*QUICK, str(archive))
    assert "player 3" in done.stdout and "  arrastre" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    spanish = run(*QUICK, str(archive), "--lang", "es")
    assert "pérdida media" in spanish.stdout


def test_the_table_as_json(archive: Path, tmp_path: Path) -> None:
    done = run(*QUICK, str(archive), "-o", str(tmp_path / "out.jsonl"), "--json")
    table = json.loads(done.stdout)
    assert table["deals"] == 38 and table["failed"] == 2
    found = rows(tmp_path / "out.jsonl")
    for line in table["players"]:
        mine = [row for row in found if row["player"] == line["player"] and row["counted"]]
        mine = [row for row in mine if line["phase"] in ("all", row["phase"])]
        assert line["decisions"] == len(mine)
        losses = [row["pointsLoss"] for row in mine if row["pointsLoss"] is not None]
        if losses:
            mean = sum(losses) / len(losses)
            assert line["pointsLoss"]["mean"] == pytest.approx(mean, abs=1e-5)
            assert line["pointsLoss"]["low"] <= mean <= line["pointsLoss"]["high"] or len(mine) < 10


def test_the_table_is_short_if_asked(archive: Path) -> None:
    done = run(*QUICK, str(archive), "--top", "2")
    assert "more players are not listed" in done.stdout


def test_pseudonyms_are_stable_and_secret(archive: Path, tmp_path: Path) -> None:
    def players(name: str, *more: str) -> dict[str, str]:
        output = tmp_path / name
        run(*QUICK, str(archive), "-o", str(output), "--anonymous", *more)
        assert not any(f"player {number}" in output.read_text() for number in range(6))
        return {row["id"]: row["player"] for row in rows(output)}

    one = players("one.jsonl")
    assert players("two.jsonl") == one
    assert len(set(one.values())) == 6 + 4 or len(set(one.values())) > 6
    other = players("three.jsonl", "--secret", "s")
    assert not set(other.values()) & set(one.values())


def test_progress_for_programs(archive: Path, tmp_path: Path) -> None:
    done = run(*QUICK, str(archive), "-o", str(tmp_path / "out.jsonl"), "--progress", "json", "--shard", "1")
    told = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert told[-1]["done"] == told[-1]["total"] == 38 and told[-1]["allRead"] and told[-1]["failed"] == 2
    assert [each["done"] for each in told] == sorted(each["done"] for each in told)
    assert {"rate", "secondsLeft"} <= told[0].keys()


def test_the_toy_game() -> None:
    raw = {
        "ruleset": "mayor",
        "hands": [["7O", "1O"], ["5O", "2O"], ["6O", "4O"]],
        "events": [{"action": each} for each in ("doblar", "1O", "5O", "6O", "4O", "7O", "2O")],
    }
    with toy_game.registered():
        shown = call(*QUICK, json.dumps(raw))
        assert shown.exit_code == 0 and "doblar" in shown.stdout
        known = call("grade", "--effort", "normal", "--json", json.dumps(raw))
        assert json.loads(known.stdout)["luck"]["draws"] == []


def test_without_pyarrow(tmp_path: Path) -> None:
    code = "import sys; sys.modules['pyarrow'] = None; from arrastre.cli import main; main(sys.argv[1:])"
    arguments = [sys.executable, "-c", code, *QUICK, CANTES, "-o", str(tmp_path / "x.parquet")]
    done = subprocess.run(arguments, capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 2 and "arrastre[parquet]" in done.stderr
