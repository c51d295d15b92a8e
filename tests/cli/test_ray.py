"""``arrastre grade --ray`` on a real cluster: the same bytes, also when a machine is lost in the middle."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from arrastre.record import Record
from deals import play_deal
from run_command import SCRIPT, environment, run

pytest.importorskip("ray")

DEALS = 60
FILES = ("out.jsonl", "out.deals.jsonl", "out.errors.jsonl")

# In a process of its own: a cluster of three machines, one of which only leads; what is killed is a working one.
LOSE_A_MACHINE = """
import json, subprocess, sys, time
from pathlib import Path
from ray.cluster_utils import Cluster

command, parts = json.loads(sys.argv[1]), Path(sys.argv[2])
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
one, other = cluster.add_node(num_cpus=1), cluster.add_node(num_cpus=1)
cluster.wait_for_nodes()
begun = time.monotonic()
with subprocess.Popen([*command, "--ray", cluster.address], stderr=subprocess.PIPE) as process:
    try:
        while len(list(parts.glob("*.gz"))) < 4 and process.poll() is None and time.monotonic() < begun + 120:
            time.sleep(0.05)
        early = len(list(parts.glob("*.gz")))
        cluster.remove_node(one, allow_graceful=False)
        _, said = process.communicate(timeout=180)
    finally:
        process.kill()
cluster.shutdown()
print(json.dumps({"status": process.returncode, "said": said.decode(), "early": early}))
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("archive") / "deals.jsonl"
    chance = random.Random(4)
    deals = [play_deal(chance, number=number + 1, dealer=number % 4) for number in range(DEALS)]
    path.write_text("".join(Record.from_dict({"deals": [each]}).to_json() + "\n" for each in deals) + "no deal\n")
    return path


def command(archive: Path, output: Path) -> list[str]:
    return ["grade", "--effort", "quick", str(archive), "-o", str(output), "--shard", "1"]


def test_a_machine_is_lost_and_nothing_else(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "ray").mkdir()
    assert run(*command(archive, tmp_path / "here" / "out.jsonl")).returncode == 1
    output = tmp_path / "ray" / "out.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", LOSE_A_MACHINE, json.dumps([str(SCRIPT), *command(archive, output)]), f"{output}.parts"],
        env=environment() | {"RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"},
        capture_output=True,
        text=True,
        timeout=280,
        check=True,
    )
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["status"] == 1, told["said"]  # of the line that is no deal
    assert 4 <= told["early"] < DEALS
    assert "Traceback" not in told["said"]
    for name in FILES:
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
    assert len(list(Path(f"{output}.parts").glob("*.gz"))) == DEALS


def test_no_cluster(archive: Path, tmp_path: Path) -> None:
    done = run(*command(archive, tmp_path / "out.jsonl"), "--ray", "127.0.0.1:1")
    assert done.returncode == 1 and "127.0.0.1:1" in done.stderr and "Traceback" not in done.stderr


def test_an_address_is_no_path(archive: Path, tmp_path: Path) -> None:
    done = run("grade", "--ray", str(archive), str(archive))
    assert done.returncode == 2 and "--ray=local" in done.stderr
