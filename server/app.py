"""The server as a whole: what it listens on, what it serves, how it starts and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib
import ipaddress
import os
import signal
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

import arrastre
from arrastre.errors import Fault, InvalidRequest
from arrastre.server.access import TokenInterceptor, Tokens, credentials
from arrastre.server.convert import Limits
from arrastre.server.observe import Metrics, log
from arrastre.server.service import SERVICE, AnalysisService
from arrastre.server.workers import Workers
from arrastre.v1 import analysis_service_pb2_grpc

DEFAULT_PORT = 50051

_LEAST = {
    "threads": 1,
    "memory_mb": 1,
    "waiting": 0,
    "queue_seconds": 0,
    "streams": 1,
    "max_seconds": 0.001,
    "max_worlds": 1,
    "max_nodes": 1,
    "max_message_bytes": 1,
    "grace": 0,
}


@dataclass(frozen=True, slots=True)
class Config:
    """How to serve.

    ``port`` 0 takes a free one. ``threads`` (0: one for each processor) work at the same time, each with a table of
    ``memory_mb`` MiB; ``waiting`` jobs may wait for one of them, together reckoned to take ``queue_seconds``. No
    request gets more than ``max_seconds``, ``max_worlds`` or ``max_nodes``, no message is longer than
    ``max_message_bytes``, and ``streams`` calls that stream are served at a time. When the server ends, calls get
    ``grace`` seconds to be answered.

    ``tls_cert`` and ``tls_key`` are files in PEM; with ``client_ca`` callers must show a certificate that it has
    signed. ``tokens`` is a file of bearer tokens, of which callers must give one. Without TLS the server listens on
    loopback only, unless ``insecure``. Metrics are at ``metrics_port`` of the same host, traces go out by
    OpenTelemetry if ``otel``.

    Raises :class:`~arrastre.errors.InvalidRequest` with every fault.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    threads: int = 0
    memory_mb: int = 16
    waiting: int = 256
    queue_seconds: float = 60.0
    streams: int = 64
    max_seconds: float = 60.0
    max_worlds: int = 16_384
    max_nodes: int = 10**12
    max_message_bytes: int = 1024 * 1024
    grace: float = 0.5
    tls_cert: Path | None = None
    tls_key: Path | None = None
    client_ca: Path | None = None
    tokens: Path | None = None
    insecure: bool = False
    metrics_port: int | None = None
    otel: bool = False

    def __post_init__(self) -> None:
        """Check every value."""
        if self.threads == 0:
            object.__setattr__(self, "threads", os.cpu_count() or 1)
        faults = []
        if (self.tls_cert is None) != (self.tls_key is None):
            faults.append(Fault("tls_cert", "INCOMPLETE", "a certificate and its key belong together"))
        if self.client_ca is not None and self.tls_cert is None:
            faults.append(Fault("client_ca", "INCOMPLETE", "without a certificate of its own nobody shows it one"))
        if not _is_loopback(self.host) and self.tls_cert is None and not self.insecure:
            message = f"{self.host!r} is no loopback address such as 127.0.0.1; give a certificate, or say --insecure"
            faults.append(Fault("host", "NOT_LOOPBACK", message))
        faults += [
            Fault(name, "OUT_OF_RANGE", "a port is 0 to 65535")
            for name in ("port", "metrics_port")
            if not 0 <= (getattr(self, name) or 0) <= 65535
        ]
        faults += [
            Fault(name, "OUT_OF_RANGE", f"{name} is at least {least}")
            for name, least in _LEAST.items()
            if not getattr(self, name) >= least
        ]
        if faults:
            raise InvalidRequest("the server cannot be set up like this", faults)


class Server:
    """A server in the running event loop: ``async with Server(config) as server: ... server.address``.

    Raises :class:`OSError` on entry if it cannot listen, :class:`~arrastre.errors.InvalidRequest` if a file that the
    configuration names cannot be read. On exit it drains: it says NOT_SERVING, accepts nothing more, gives calls their
    grace, stops what is left and waits for the threads.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.port = config.port
        self._tokens = None if config.tokens is None else Tokens(config.tokens)

    @property
    def address(self) -> str:
        """``host:port``, the port being the one it listens on."""
        return _address(self.config.host, self.port)

    async def __aenter__(self) -> Server:
        config = self.config
        secret = None
        if config.tls_cert is not None and config.tls_key is not None:
            secret = credentials(config.tls_cert, config.tls_key, config.client_ca)
        interceptors: list[Any] = [] if self._tokens is None else [TokenInterceptor(self._tokens)]
        if config.otel:
            interceptors.append(_tracing())
        self._metrics = Metrics(config.host, config.metrics_port)
        self._server = grpc.aio.server(
            interceptors=interceptors,
            options=[
                # Otherwise a second server on the port would take half of the connections and nobody would know.
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", config.max_message_bytes),
                ("grpc.max_concurrent_streams", 4 * config.streams + config.waiting),
                # Of a connection that is half open nothing is heard any more.
                ("grpc.keepalive_time_ms", 30_000),
                ("grpc.keepalive_timeout_ms", 10_000),
            ],
        )
        self._workers = Workers(
            threads=config.threads,
            memory_mb=config.memory_mb,
            waiting=config.waiting,
            seconds=config.queue_seconds,
        )
        self._metrics.watch(self._workers)
        self._health = health.aio.HealthServicer()
        limits = Limits(config.max_seconds, config.max_worlds, config.max_nodes)
        service = AnalysisService(
            self._workers, limits, metrics=self._metrics, streams=config.streams, tokens=self._tokens
        )
        analysis_service_pb2_grpc.add_AnalysisServiceServicer_to_server(service, self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        for name in (SERVICE, ""):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        reflection.enable_server_reflection([SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME], self._server)
        try:
            if secret is None:
                self.port = self._server.add_insecure_port(self.address)
            else:
                self.port = self._server.add_secure_port(self.address, secret)
        except RuntimeError:
            self._workers.close()
            self._metrics.close()
            raise _why_not_bound(config.host, config.port) from None
        await self._server.start()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._health.enter_graceful_shutdown()
        await self._server.stop(self.config.grace)
        self._workers.stop()
        # Stopping the searches takes the event loop, so the threads are waited for outside it.
        await asyncio.to_thread(self._workers.close)
        self._metrics.close()

    def reload(self) -> None:
        """Read the tokens again; a file that cannot be read changes nothing, and is told to the log."""
        if self._tokens is None:
            return
        try:
            self._tokens.reload()
        except InvalidRequest as error:
            log.error("tokens not reloaded", extra={"fields": {"reason": error.faults[0].message}})
        else:
            log.info("tokens reloaded")

    def told(self) -> dict[str, Any]:
        """The configuration as the log has it."""
        said = {each.name: getattr(self.config, each.name) for each in fields(self.config)}
        return said | {"port": self.port, "metrics_port": self._metrics.port, "version": arrastre.__version__}


def serve(config: Config, ready: Callable[[str], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT, then drain and return. SIGHUP reads the tokens again.

    ``ready`` is told the address, ``host:port``, once calls are accepted. Raises :class:`OSError` if the server cannot
    listen there and :class:`~arrastre.errors.InvalidRequest` if a file cannot be read.
    """
    asyncio.run(_serve(config, ready))


async def _serve(config: Config, ready: Callable[[str], None] | None) -> None:
    ended = asyncio.Event()
    server = Server(config)
    if threading.current_thread() is threading.main_thread():
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ended.set)
        loop.add_signal_handler(signal.SIGHUP, server.reload)
    async with server:
        if ready is not None:
            ready(server.address)
        log.info("serving", extra={"fields": server.told()})
        await ended.wait()
        log.info("draining")


def _tracing() -> Any:
    """OpenTelemetry's interceptor. Raises :class:`~arrastre.errors.InvalidRequest` where it is not installed."""
    try:
        traces = importlib.import_module("opentelemetry.instrumentation.grpc")
    except ImportError:
        fault = Fault("otel", "NO_EXTRA", "traces need pip install 'arrastre[otel]'")
        raise InvalidRequest("there are no traces here", [fault]) from None
    return traces.aio_server_interceptor()


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
