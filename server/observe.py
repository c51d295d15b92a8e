"""What the operator sees: a line of log for each call, and metrics."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import logging
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from arrastre.errors import Fault, InvalidRequest

log = logging.getLogger("arrastre.server")


class JsonFormatter(logging.Formatter):
    """A line of JSON for each record: time, level, event, and whatever the record has in ``fields``."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        said: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        return json.dumps(said, ensure_ascii=False, default=str)


def log_to_stderr() -> None:
    """Send the server's log to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    log.handlers[:] = [handler]
    log.setLevel(logging.INFO)
    log.propagate = False


@dataclass
class Call:
    """A call while it is served: what the log and the metrics will say of it."""

    method: str
    id: str = ""
    client: str = ""
    status: str = "OK"
    fields: dict[str, Any] = field(default_factory=dict)
    #: What a stream has begun and not yet answered.
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)


class Metrics:
    """Counters and histograms for Prometheus, under ``arrastre_``; none without a ``port``.

    Raises :class:`~arrastre.errors.InvalidRequest` where a port is given and prometheus-client is not installed.
    """

    def __init__(self, host: str, port: int | None) -> None:
        self._calls: Any = None
        self._server: Any = None
        self.port = port
        if port is None:
            return
        try:
            prometheus = importlib.import_module("prometheus_client")
        except ImportError:
            fault = Fault("metrics_port", "NO_EXTRA", "metrics need pip install 'arrastre[metrics]'")
            raise InvalidRequest("there are no metrics here", [fault]) from None
        registry = prometheus.CollectorRegistry()
        buckets = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
        self._calls = prometheus.Histogram(
            "arrastre_call_seconds", "Seconds a call took", ["method", "status"], buckets=buckets, registry=registry
        )
        self._waits = prometheus.Histogram(
            "arrastre_wait_seconds", "Seconds until a thread was free", ["urgency"], buckets=buckets, registry=registry
        )
        self._waiting = prometheus.Gauge("arrastre_waiting_jobs", "Jobs that wait for a thread", registry=registry)
        self._busy = prometheus.Gauge("arrastre_busy_threads", "Threads at work", registry=registry)
        self._cancelled = prometheus.Counter(
            "arrastre_cancelled", "Calls given up by callers", ["method"], registry=registry
        )
        self._items = prometheus.Counter("arrastre_items", "Items of streams", ["method", "status"], registry=registry)
        self._nodes = prometheus.Counter("arrastre_nodes", "Positions looked at by exact searches", registry=registry)
        self._hits = prometheus.Counter(
            "arrastre_table_hits", "Positions that exact searches found in the table", registry=registry
        )
        self._worlds = prometheus.Counter("arrastre_worlds", "Worlds looked at by estimates", registry=registry)
        self._server, self._thread = prometheus.start_http_server(port, host, registry)
        self.port = self._server.server_port

    def close(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def watch(self, workers: Any) -> None:
        """Have the gauges follow the workers."""
        if self._calls is not None:
            self._waiting.set_function(lambda: workers.waiting)
            self._busy.set_function(lambda: workers.busy)

    def waited(self, urgency: str, seconds: float) -> None:
        """A job has found a thread."""
        if self._calls is not None:
            self._waits.labels(urgency).observe(seconds)

    def item(self, method: str, status: str) -> None:
        """An item of a stream has been answered."""
        if self._calls is not None:
            self._items.labels(method, status).inc()

    def searched(self, nodes: int = 0, worlds: int = 0, hits: int = 0) -> None:
        """Work that has been done."""
        if self._calls is not None:
            self._nodes.inc(nodes)
            self._hits.inc(hits)
            self._worlds.inc(worlds)

    @contextlib.contextmanager
    def call(self, call: Call) -> Iterator[Call]:
        """Count and log a call, whatever becomes of it."""
        begun = time.perf_counter()
        try:
            yield call
        except BaseException as error:
            if call.status == "OK":
                call.status = "CANCELLED" if type(error).__name__ in ("CancelledError", "GeneratorExit") else "UNKNOWN"
            raise
        finally:
            seconds = time.perf_counter() - begun
            if self._calls is not None:
                self._calls.labels(call.method, call.status).observe(seconds)
                if call.status == "CANCELLED":
                    self._cancelled.labels(call.method).inc()
            said = {"method": call.method, "id": call.id[:100], "client": call.client, "status": call.status}
            log.info("call", extra={"fields": said | {"seconds": round(seconds, 6)} | call.fields})
