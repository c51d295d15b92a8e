"""A server on a free port of the loopback interface, and a channel to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import grpc
import pytest

from arrastre.server import Config, Server
from arrastre.v1 import analysis_service_pb2_grpc

Scenario = Callable[[Any, grpc.aio.Channel], Awaitable[None]]


@pytest.fixture
def run() -> Iterator[Callable[..., None]]:
    """``run(scenario, **config)`` plays a scenario against a server: a coroutine of a stub and its channel."""

    def play(scenario: Scenario, **config: Any) -> None:
        async def both() -> None:
            async with (
                Server(Config(port=0, **{"threads": 2, "grace": 0.0} | config)) as server,
                grpc.aio.insecure_channel(server.address) as channel,
            ):
                await scenario(analysis_service_pb2_grpc.AnalysisServiceStub(channel), channel)

        asyncio.run(asyncio.wait_for(both(), 60))

    return play
