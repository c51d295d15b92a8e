"""The service as others see it: from Node, and with ``buf curl``. Skipped where npm's packages cannot be had."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from serving import TEXT, serving

ROOT = Path(__file__).parents[2]
BUF = "@bufbuild/buf@1.75.0"

pytestmark = pytest.mark.skipif(
    shutil.which("npm") is None or not os.environ.get("ARRASTRE_INTEROP"), reason="set ARRASTRE_INTEROP=1; needs npm"
)


def protos() -> list[str]:
    """Where the .proto files are: ours, google.rpc's, and what these import."""
    common = Path(next(iter(import_module("google.rpc").__path__))).parent.parent
    builtin = Path(str(import_module("google.protobuf").__file__)).parent.parent.parent
    return [str(ROOT / "proto"), str(common), str(builtin)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("interop")
    for name in ("package.json", "client.js"):
        shutil.copy(ROOT / "tests" / "interop" / name, folder)
    npm = ["npm", "install", "--no-audit", "--no-fund", "--silent", BUF]
    subprocess.run(npm, cwd=folder, check=True, timeout=240, capture_output=True)
    return folder


def node(folder: Path, address: str, *options: str) -> dict[str, Any]:
    command = ["node", "client.js", address, *protos(), *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_from_node(folder: Path) -> None:
    with serving() as (address, _):
        found = node(folder, address)
    assert (found["id"], found["margin"]) == ("ñ", -12)
    assert [each["action"] for each in found["best"]] == ["cante E"]
    assert (found["code"], found["details"]) == (3, 1)
    assert found["finals"][-1] is True and not any(found["finals"][:-1])
    assert found["items"] == [["1", "answer"], ["2", "status"]]
    assert found["advice"]


def test_from_node_over_tls_with_a_token(folder: Path, pki: Path, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("s3cret\n")
    secure = ["--tls-cert", str(pki / "server.pem"), "--tls-key", str(pki / "server.key")]
    with serving(*secure, "--tokens", str(tmp_path / "tokens")) as (address, _):
        assert node(folder, address, "--ca", str(pki / "ca.pem"), "--token", "s3cret")["margin"] == -12
        assert node(folder, address, "--ca", str(pki / "ca.pem")) == {"code": 16}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serving() as (address, _):
        yield address


def buf(folder: Path, url: str, *options: str, given: str = "{}") -> subprocess.CompletedProcess[str]:
    command = [str(folder / "node_modules" / ".bin" / "buf"), "curl", "--protocol", "grpc", *options, "-d", given, url]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder)


PLAIN = ("--http2-prior-knowledge",)


def test_with_buf_curl(folder: Path, server: str) -> None:
    service = f"http://{server}/arrastre.v1.AnalysisService"
    health = buf(folder, f"http://{server}/grpc.health.v1.Health/Check", *PLAIN)
    assert json.loads(health.stdout) == {"status": "SERVING"}, health.stderr
    done = buf(folder, f"{service}/Solve", *PLAIN, given=json.dumps({"text": TEXT}))
    assert json.loads(done.stdout)["solution"]["margin"] == -12, done.stderr
    refused = buf(folder, f"{service}/Solve", *PLAIN, given=json.dumps({"text": "no position"}))
    said = json.loads(refused.stdout or refused.stderr)
    assert refused.returncode != 0 and said["code"] == "invalid_argument"
    assert [each["type"] for each in said["details"]] == [
        "google.rpc.ErrorInfo",
        "google.rpc.BadRequest",
    ]
    watched = buf(folder, f"{service}/WatchBest", *PLAIN, given=json.dumps({"best": {"text": TEXT}}))
    assert '"final": true' in watched.stdout.replace('":true', '": true'), watched.stderr
    batch = buf(folder, f"{service}/SolveBatch", *PLAIN, given=json.dumps({"items": [{"text": TEXT}, {"text": "x"}]}))
    assert "margin" in batch.stdout and "status" in batch.stdout, batch.stderr
    listed = buf(folder, f"{service}/ListRulesets", *PLAIN)
    assert "aragones" in listed.stdout, listed.stderr


def test_with_buf_curl_over_mutual_tls(folder: Path, pki: Path) -> None:
    secure = ["--tls-cert", str(pki / "server.pem"), "--tls-key", str(pki / "server.key")]
    with serving(*secure, "--client-ca", str(pki / "ca.pem")) as (address, _):
        url = f"https://{address}/arrastre.v1.AnalysisService/Solve"
        mine = ("--cacert", str(pki / "ca.pem"), "--cert", str(pki / "client.pem"), "--key", str(pki / "client.key"))
        done = buf(folder, url, *mine, given=json.dumps({"text": TEXT}))
        assert json.loads(done.stdout)["solution"]["margin"] == -12, done.stderr
        assert buf(folder, url, "--cacert", str(pki / "ca.pem"), given=json.dumps({"text": TEXT})).returncode != 0
