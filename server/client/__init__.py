"""Asking the service: ``Client`` for programs that wait, ``AsyncClient`` for those that do not.

Questions are what the library takes, answers are the JSON forms that the command prints. A refusal of the request is
:class:`ServiceError` with the faults; so is a server that cannot be reached. Calls have a deadline unless told
otherwise, share one connection, and are asked again, with growing pauses, where the server was away or had too much to
do: every question may safely be asked twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import grpc
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from arrastre.errors import Fault
from arrastre.game import Position
from arrastre.server import convert
from arrastre.v1 import analysis_service_pb2 as pb
from arrastre.v1 import analysis_service_pb2_grpc

__all__ = ["DEFAULT_TIMEOUT", "AsyncClient", "Client", "Secrets", "ServiceError"]

T = TypeVar("T")

#: Seconds that a call may take unless told otherwise.
DEFAULT_TIMEOUT = 60.0
#: How often a call is made at most, unless told otherwise: for some ten seconds.
ATTEMPTS = 8
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
#: Items in a message of a batch, and messages sent ahead of their answers.
_ITEMS = 64
_AGAIN = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)
_LONGEST_MESSAGE = 64 * 1024 * 1024
_OPTIONS = [
    ("grpc.max_receive_message_length", _LONGEST_MESSAGE),
    # A server that was away is looked for again soon.
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
]


class ServiceError(Exception):
    """A call that failed: ``code`` is gRPC's (``INVALID_ARGUMENT``), ``reason`` the service's own stable word
    (``INVALID_POSITION``), ``faults`` everything that is wrong with the request; ``retry_after`` seconds, if the server
    said when to ask again."""

    def __init__(
        self, code: str, reason: str, message: str, faults: Sequence[Fault] = (), retry_after: float | None = None
    ) -> None:
        super().__init__(": ".join(each for each in (code, reason, message) if each))
        self.code = code
        self.reason = reason
        self.message = message
        self.faults = tuple(faults)
        self.retry_after = retry_after

    @classmethod
    def of_call(cls, error: grpc.RpcError) -> ServiceError:
        """A failed call's error."""
        call: Any = error
        status = None
        with contextlib.suppress(ValueError):
            status = rpc_status.from_call(call)
        return cls(call.code().name, "", call.details() or "") if status is None else cls.of_status(status)

    @classmethod
    def of_status(cls, status: status_pb2.Status) -> ServiceError:
        """The error that a status tells of."""
        reason, faults, after = "", [], None
        info, bad, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
        for detail in status.details:
            if detail.Unpack(info):
                reason = info.reason
            elif detail.Unpack(bad):
                faults = [Fault(each.field, each.reason, each.description) for each in bad.field_violations]
            elif detail.Unpack(retry):
                after = retry.retry_delay.ToMilliseconds() / 1000
        numbers = {each.value[0]: each.name for each in grpc.StatusCode}
        return cls(numbers.get(status.code, "UNKNOWN"), reason, status.message, faults, after)


@dataclass(frozen=True, slots=True)
class Secrets:
    """What is shown to the server and asked of it: certificates to trust (``ca``, a file in PEM; the system's own if
    empty), a certificate of one's own with its key, and a bearer token. Without ``ca`` the connection is in clear."""

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    token: str | None = None

    def credentials(self) -> grpc.ChannelCredentials | None:
        """What a secure channel is made with. Raises OSError."""
        if self.ca is None:
            return None
        return grpc.ssl_channel_credentials(
            self.ca.read_bytes(),
            None if self.key is None else self.key.read_bytes(),
            None if self.certificate is None else self.certificate.read_bytes(),
        )

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What is sent with every call."""
        return () if self.token is None else (("authorization", f"Bearer {self.token}"),)


def solve_request(position: Position | str | Mapping[str, Any], name: str = "", **options: Any) -> pb.SolveRequest:
    """The request to solve a position; ``options`` are those of :func:`arrastre.solve`."""
    return convert.message_of(pb.SolveRequest(id=name, text=_text(position)), _given(options))


def best_request(
    position: Position | str | Mapping[str, Any] | None = None,
    *,
    record: str | Mapping[str, Any] | None = None,
    at: str | None = None,
    deal: int | None = None,
    name: str = "",
    **options: Any,
) -> pb.BestRequest:
    """The request for the best action in a position, or at a moment of a record; ``options`` are those of
    :func:`arrastre.best`, and ``effort``, ``both``, ``where``, ``why``."""
    request = pb.BestRequest(id=name)
    if record is not None:
        request.moment.CopyFrom(pb.RecordMoment(record=_text(record), at=at or "", deal=deal))
    elif position is not None:
        request.text = _text(position)
    return convert.message_of(request, _given(options))


def grade_request(record: str | Mapping[str, Any], name: str = "", **options: Any) -> pb.GradeRequest:
    """The request to grade a record; ``options``: ``effort``, ``seed``, ``ruleset``."""
    return convert.message_of(pb.GradeRequest(id=name, record=_text(record)), _given(options))


def _text(given: Any) -> str:
    if isinstance(given, Position):
        return json.dumps(given.to_dict())
    return given if isinstance(given, str) else json.dumps(given)


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _advice(request: pb.BestRequest, advice: pb.Advice, names: bool = False) -> dict[str, Any]:
    return convert.advice_dict(advice, both=request.both, where=request.where, why=request.why, names=names)


def _item(item: pb.SolveBatchItem) -> dict[str, Any] | ServiceError:
    if item.WhichOneof("result") == "answer":
        return convert.solution_dict(item.answer.solution)
    return ServiceError.of_status(item.status)


def _grade(response: pb.GradeResponse) -> tuple[dict[str, Any] | None, ServiceError | None]:
    error = ServiceError.of_status(response.status) if response.HasField("status") else None
    return (convert.grade_dict(response.grade) if response.HasField("grade") else None), error


def _pause(attempt: int, attempts: int, error: grpc.RpcError, left: float | None) -> float | None:
    """How long to wait before another attempt; ``None``: there is none, or no time for one."""
    if attempt + 1 >= attempts or error.code() not in _AGAIN:
        return None
    told = ServiceError.of_call(error).retry_after
    if error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED and told is None:
        return None  # a limit, such as that of a message's size: it will be the same again
    pause: float = told or min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt * random.uniform(0.75, 1.25))
    return pause if left is None or pause < left else None


class Client:
    """A connection to a service. Close it, or use it as a context manager; threads may share it.

    ``timeout`` is how many seconds a call may take, attempts and pauses together; ``None``: as long as it takes.
    ``attempts`` is how often it is made at most.
    """

    def __init__(
        self,
        address: str,
        *,
        secrets: Secrets | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
        attempts: int = ATTEMPTS,
    ) -> None:
        secrets = secrets or Secrets()
        credentials = secrets.credentials()
        self._metadata = secrets.metadata()
        self._timeout = timeout
        self._attempts = attempts
        if credentials is None:
            self._channel = grpc.insecure_channel(address, options=_OPTIONS)
        else:
            self._channel = grpc.secure_channel(address, credentials, options=_OPTIONS)
        self._stub: Any = analysis_service_pb2_grpc.AnalysisServiceStub(self._channel)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection, and what is being asked over it."""
        self._channel.close()

    def solve(self, position: Position | str | Mapping[str, Any], **options: Any) -> dict[str, Any]:
        """What ``arrastre solve --json`` prints. Raises :class:`ServiceError`."""
        request = solve_request(position, **options)
        return convert.solution_dict(self._call(self._stub.Solve, request).solution)

    def best(
        self, position: Position | str | Mapping[str, Any] | None = None, *, names: bool = False, **options: Any
    ) -> dict[str, Any]:
        """What ``arrastre best --json`` prints; ``record=``, ``at=`` and ``deal=`` for a moment of a record. ``names``
        adds the names in all languages of what a gain is made of."""
        request = best_request(position, **options)
        return _advice(request, self._call(self._stub.Best, request).advice, names)

    def watch_best(
        self, position: Position | str | Mapping[str, Any] | None = None, **options: Any
    ) -> Iterator[tuple[bool, dict[str, Any]]]:
        """Ever better estimates, each with whether it is the final one."""
        request = pb.WatchBestRequest(best=best_request(position, **options))
        try:
            for response in self._stub.WatchBest(request, timeout=self._timeout, metadata=self._metadata):
                yield response.final, _advice(request.best, response.advice)
        except grpc.RpcError as error:
            raise ServiceError.of_call(error) from None

    def solve_many(
        self, positions: Iterable[Position | str | Mapping[str, Any]], **options: Any
    ) -> Iterator[dict[str, Any] | ServiceError]:
        """The answers to many positions in their order; one that is at fault gives its error, and the others go on.

        Sent over one stream; if the server goes away what is unanswered is asked again.
        """
        left = [solve_request(each, **options) for each in positions]
        attempt = 0
        while left:
            messages = [pb.SolveBatchRequest(items=left[at : at + _ITEMS]) for at in range(0, len(left), _ITEMS)]
            try:
                for response in self._stub.SolveBatch(iter(messages), metadata=self._metadata):
                    for item in response.items:
                        yield _item(item)
                    del left[: len(response.items)]
                    attempt = 0
            except grpc.RpcError as error:
                pause = _pause(attempt, self._attempts, error, None)
                if pause is None:
                    raise ServiceError.of_call(error) from None
                attempt += 1
                time.sleep(pause)

    def grade(
        self, record: str | Mapping[str, Any], **options: Any
    ) -> list[tuple[dict[str, Any] | None, ServiceError | None]]:
        """For each deal of a record what ``arrastre grade --json`` prints, and what is wrong with it."""
        request = grade_request(record, **options)

        def ask(timeout: float | None) -> list[pb.GradeResponse]:
            return list(self._stub.Grade(iter([request]), timeout=timeout, metadata=self._metadata))

        return [_grade(each) for each in self._again(ask)]

    def rulesets(self, players: int = 4, language: str = "en") -> dict[str, Any]:
        """The rulesets that the server knows."""
        request = pb.ListRulesetsRequest(players=players, language=language)
        return convert.rulesets_dict(self._call(self._stub.ListRulesets, request))

    def _call(self, method: Any, request: Any) -> Any:
        return self._again(lambda timeout: method(request, timeout=timeout, metadata=self._metadata))

    def _again(self, ask: Callable[[float | None], T]) -> T:
        """Ask until there is an answer, or no sense or time in asking again."""
        end = None if self._timeout is None else time.monotonic() + self._timeout
        attempt = 0
        while True:
            left = None if end is None else max(0.001, end - time.monotonic())
            try:
                return ask(left)
            except grpc.RpcError as error:
                pause = _pause(attempt, self._attempts, error, left)
                if pause is None:
                    raise ServiceError.of_call(error) from None
            attempt += 1
            time.sleep(pause)


class AsyncClient:
    """The same inside an event loop: ``async with AsyncClient(address) as client: await client.solve(...)``."""

    def __init__(
        self,
        address: str,
        *,
        secrets: Secrets | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
        attempts: int = ATTEMPTS,
    ) -> None:
        secrets = secrets or Secrets()
        credentials = secrets.credentials()
        self._metadata = secrets.metadata()
        self._timeout = timeout
        self._attempts = attempts
        if credentials is None:
            self._channel = grpc.aio.insecure_channel(address, options=_OPTIONS)
        else:
            self._channel = grpc.aio.secure_channel(address, credentials, options=_OPTIONS)
        self._stub: Any = analysis_service_pb2_grpc.AnalysisServiceStub(self._channel)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the connection, and what is being asked over it."""
        await self._channel.close()

    async def solve(self, position: Position | str | Mapping[str, Any], **options: Any) -> dict[str, Any]:
        """What ``arrastre solve --json`` prints. Raises :class:`ServiceError`."""
        response = await self._call(self._stub.Solve, solve_request(position, **options))
        return convert.solution_dict(response.solution)

    async def best(self, position: Position | str | Mapping[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        """What ``arrastre best --json`` prints; ``record=``, ``at=`` and ``deal=`` for a moment of a record."""
        request = best_request(position, **options)
        return _advice(request, (await self._call(self._stub.Best, request)).advice)

    async def watch_best(
        self, position: Position | str | Mapping[str, Any] | None = None, **options: Any
    ) -> AsyncIterator[tuple[bool, dict[str, Any]]]:
        """Ever better estimates, each with whether it is the final one."""
        request = pb.WatchBestRequest(best=best_request(position, **options))
        try:
            async for response in self._stub.WatchBest(request, timeout=self._timeout, metadata=self._metadata):
                yield response.final, _advice(request.best, response.advice)
        except grpc.RpcError as error:
            raise ServiceError.of_call(error) from None

    async def grade(
        self, record: str | Mapping[str, Any], **options: Any
    ) -> list[tuple[dict[str, Any] | None, ServiceError | None]]:
        """For each deal of a record what ``arrastre grade --json`` prints, and what is wrong with it."""
        request = grade_request(record, **options)
        try:
            call = self._stub.Grade(iter([request]), timeout=self._timeout, metadata=self._metadata)
            return [_grade(each) async for each in call]
        except grpc.RpcError as error:
            raise ServiceError.of_call(error) from None

    async def rulesets(self, players: int = 4, language: str = "en") -> dict[str, Any]:
        """The rulesets that the server knows."""
        request = pb.ListRulesetsRequest(players=players, language=language)
        return convert.rulesets_dict(await self._call(self._stub.ListRulesets, request))

    async def _call(self, method: Any, request: Any) -> Any:
        end = None if self._timeout is None else time.monotonic() + self._timeout
        attempt = 0
        while True:
            left = None if end is None else max(0.001, end - time.monotonic())
            try:
                return await method(request, timeout=left, metadata=self._metadata)
            except grpc.RpcError as error:
                pause = _pause(attempt, self._attempts, error, left)
                if pause is None:
                    raise ServiceError.of_call(error) from None
            attempt += 1
            await asyncio.sleep(pause)
