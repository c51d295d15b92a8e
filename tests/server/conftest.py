"""A server on a free port of the loopback interface, and a channel to it."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from arrastre.server import Config, Server
from arrastre.v1 import analysis_service_pb2_grpc

Scenario = Callable[[Any, grpc.aio.Channel], Awaitable[None]]


@pytest.fixture
def run() -> Iterator[Callable[..., None]]:
    """``run(scenario, **config)`` plays a scenario against a server: a coroutine of a stub and its channel."""

    def play(scenario: Scenario, address: Callable[[str], None] | None = None, **config: Any) -> None:
        async def both() -> None:
            async with (
                Server(Config(port=0, **{"threads": 2, "grace": 0.0} | config)) as server,
                grpc.aio.insecure_channel(server.address) as channel,
            ):
                if address is not None:
                    address(server.address)
                await scenario(analysis_service_pb2_grpc.AnalysisServiceStub(channel), channel)

        asyncio.run(asyncio.wait_for(both(), 60))

    return play


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and a server's and a client's certificate signed by it."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl here to make certificates with")
    folder = tmp_path_factory.mktemp("pki")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test", "-days", "2")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    for name in ("server", "client"):
        openssl("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        sign = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"]
        openssl("x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.pem", *sign)
    return folder
