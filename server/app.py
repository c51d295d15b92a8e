"""The server as a whole: what it listens on, what it serves, how it starts and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import os
import signal
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from arrastre.errors import Fault, InvalidRequest
from arrastre.server.service import SERVICE, AnalysisService
from arrastre.server.workers import Workers
from arrastre.v1 import analysis_service_pb2_grpc

DEFAULT_PORT = 50051

_LEAST = {"threads": 1, "memory_mb": 1, "waiting": 0, "max_seconds": 0.001, "max_message_bytes": 1, "grace": 0}


@dataclass(frozen=True, slots=True)
class Config:
    """How to serve.

    ``port`` 0 takes a free one. ``threads`` solve at the same time, each with a table of ``memory_mb`` MiB; ``waiting``
    requests may wait for one of them. No search takes longer than ``max_seconds``, and no message is longer than
    ``max_message_bytes``. When the server ends, calls get ``grace`` seconds to be answered.

    Raises :class:`~arrastre.errors.InvalidRequest` with every fault: everything is sent in clear, so ``host`` must be
    a loopback address.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    threads: int = 0
    memory_mb: int = 16
    waiting: int = 256
    max_seconds: float = 60.0
    max_message_bytes: int = 256 * 1024
    grace: float = 0.5

    def __post_init__(self) -> None:
        """Check every value; 0 threads means one for each processor."""
        if self.threads == 0:
            object.__setattr__(self, "threads", os.cpu_count() or 1)
        faults = []
        if not _is_loopback(self.host):
            faults.append(Fault("host", "NOT_LOOPBACK", f"{self.host!r} is no loopback address such as 127.0.0.1"))
        if not 0 <= self.port <= 65535:
            faults.append(Fault("port", "OUT_OF_RANGE", "a port is 0 to 65535"))
        faults += [
            Fault(name, "OUT_OF_RANGE", f"{name} is at least {least}")
            for name, least in _LEAST.items()
            if not getattr(self, name) >= least
        ]
        if faults:
            raise InvalidRequest("the server cannot be set up like this", faults)


class Server:
    """A server in the running event loop: ``async with Server(config) as server: ... server.address``.

    Raises :class:`OSError` on entry if it cannot listen. On exit it drains: it says NOT_SERVING, accepts nothing more,
    gives calls their grace, stops the searches that are left and waits for the threads.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.port = config.port

    @property
    def address(self) -> str:
        """``host:port``, the port being the one it listens on."""
        return _address(self.config.host, self.port)

    async def __aenter__(self) -> Server:
        config = self.config
        self._server = grpc.aio.server(
            options=[
                # Otherwise a second server on the port would take half of the connections and nobody would know.
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", config.max_message_bytes),
            ]
        )
        self._workers = Workers(threads=config.threads, memory_mb=config.memory_mb, waiting=config.waiting)
        self._health = health.aio.HealthServicer()
        analysis_service_pb2_grpc.add_AnalysisServiceServicer_to_server(
            AnalysisService(self._workers, config.max_seconds), self._server
        )
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        await self._health.set(SERVICE, health_pb2.HealthCheckResponse.SERVING)
        reflection.enable_server_reflection([SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME], self._server)
        try:
            self.port = self._server.add_insecure_port(self.address)
        except RuntimeError:
            self._workers.close()
            raise _why_not_bound(config.host, config.port) from None
        await self._server.start()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._health.enter_graceful_shutdown()
        await self._server.stop(self.config.grace)
        # Stopping the searches takes the event loop, so the threads are waited for outside it.
        await asyncio.to_thread(self._workers.close)


def serve(
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    *,
    threads: int = 0,
    memory_mb: int = 16,
    max_seconds: float = 60.0,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, then drain and return; see :class:`Config` for what the arguments mean.

    ``ready`` is told the address, ``host:port``, once calls are accepted. Raises :class:`OSError` if the server cannot
    listen there and :class:`~arrastre.errors.InvalidRequest` if an argument makes no sense.
    """
    config = Config(host=host, port=port, threads=threads, memory_mb=memory_mb, max_seconds=max_seconds)
    asyncio.run(_serve(config, ready))


async def _serve(config: Config, ready: Callable[[str], None] | None) -> None:
    ended = asyncio.Event()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with Server(config) as server:
        if ready is not None:
            ready(server.address)
        await ended.wait()


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _why_not_bound(host: str, port: int) -> OSError:
    """The system's own reason, which gRPC keeps to itself."""
    where = _address(host, port)
    with contextlib.closing(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)) as probe:
        try:
            probe.bind((host, port))
        except OSError as error:
            return OSError(error.errno, f"cannot listen on {where}: {error.strerror}")
    return OSError(errno.EADDRNOTAVAIL, f"cannot listen on {where}")
