"""How the server starts and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from arrastre.errors import InvalidRequest
from arrastre.server import Config, Server
from arrastre.v1 import analysis_service_pb2_grpc
from solve_requests import deal, request

SERVE = (
    "from arrastre.server import Config, serve; "
    "serve(Config(port=0, threads=1), lambda address: print(address, flush=True))"
)


@contextlib.contextmanager
def process() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, and its address."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            yield server, server.stdout.readline().strip()
        finally:
            server.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("calls", [0, 1, 3])
def test_a_signal_ends_it_with_calls_in_flight(number: int, calls: int) -> None:
    with process() as (server, address), grpc.insecure_channel(address) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        watched = health.Watch(health_pb2.HealthCheckRequest())
        assert next(watched).status == health_pb2.HealthCheckResponse.SERVING
        stub = analysis_service_pb2_grpc.AnalysisServiceStub(channel)
        futures = [stub.Solve.future(request(deal(), nodes=2**40)) for _ in range(calls)]
        time.sleep(0.3)
        start = time.monotonic()
        os.kill(server.pid, number)
        assert next(watched).status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert server.wait(10) == 0
        assert time.monotonic() - start < 2.5
        for future in futures:
            assert future.exception() is not None
        assert server.stderr is not None
        assert server.stderr.read() == ""


def test_a_port_that_is_taken_is_an_error() -> None:
    async def two() -> None:
        async with Server(Config(port=0)) as first:
            with pytest.raises(OSError, match=f"cannot listen on {first.address}") as error:
                async with Server(Config(port=first.port)):
                    pass
            assert error.value.errno == errno.EADDRINUSE

    asyncio.run(two())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.org", ""])
def test_it_listens_on_loopback_only(host: str) -> None:
    with pytest.raises(InvalidRequest) as error:
        Config(host=host)
    assert [(fault.field, fault.reason) for fault in error.value.faults] == [("host", "NOT_LOOPBACK")]


def test_a_config_without_sense_is_refused_with_every_fault() -> None:
    with pytest.raises(InvalidRequest) as error:
        Config(port=70_000, threads=-1, max_seconds=float("nan"))
    assert [fault.field for fault in error.value.faults] == ["port", "threads", "max_seconds"]
