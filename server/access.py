"""Who may call: bearer tokens, and the certificates of the server and of its callers."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import grpc
from google.rpc import code_pb2
from grpc_health.v1 import health
from grpc_status import rpc_status

from arrastre.errors import Fault, InvalidRequest
from arrastre.server import convert

_HEADER = "authorization"
_SCHEME = "Bearer "


class Tokens:
    """The tokens of a file: ``name token`` or ``token`` on each line, ``#`` before a note.

    Raises :class:`~arrastre.errors.InvalidRequest` for a file that cannot be read or holds none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names: Mapping[bytes, str] = {}
        self.reload()

    def reload(self) -> None:
        """Take the file as it is now; if it cannot be read, what was read before goes on to hold."""
        try:
            lines = self._path.read_text().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no text"
            fault = Fault("tokens", "UNREADABLE", f"the tokens cannot be read: {reason}")
            raise InvalidRequest("the tokens cannot be read", [fault]) from None
        entries = [line.split() for line in lines if line.strip() and not line.lstrip().startswith("#")]
        if not entries or any(len(entry) > 2 for entry in entries):
            fault = Fault("tokens", "NO_TOKENS", "a file of tokens has `name token` or `token` on each line")
            raise InvalidRequest("there are no tokens", [fault])
        self._names = {_digest(entry[-1]): entry[0] if len(entry) == 2 else "token" for entry in entries}

    def name(self, token: str) -> str | None:
        """Whose token it is; every token is compared, each in constant time."""
        found = None
        digest = _digest(token)
        for known, name in self._names.items():
            if hmac.compare_digest(digest, known):
                found = name
        return found


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


class TokenInterceptor(grpc.aio.ServerInterceptor):
    """Refuses calls without a known token, but for the health service, which probes ask."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler[Any, Any] | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Let the call through, or answer UNAUTHENTICATED in its place."""
        handler = await continuation(handler_call_details)
        if handler is None or handler_call_details.method.startswith(f"/{health.SERVICE_NAME}/"):
            return handler
        if self._caller(handler_call_details.invocation_metadata) is not None:
            return handler
        return _refusing(handler)

    def _caller(self, metadata: Any) -> str | None:
        return caller(self._tokens, metadata)


def caller(tokens: Tokens, metadata: Any) -> str | None:
    """The name of whoever calls with this metadata; ``None`` without a known token."""
    given = [value for key, value in metadata or () if key == _HEADER and isinstance(value, str)]
    if len(given) != 1 or not given[0].startswith(_SCHEME):
        return None
    return tokens.name(given[0].removeprefix(_SCHEME))


def _refusing(handler: grpc.RpcMethodHandler[Any, Any]) -> grpc.RpcMethodHandler[Any, Any]:
    """A handler of the same kind that refuses."""
    message = "a bearer token is needed that this server knows"
    status = convert.status(code_pb2.UNAUTHENTICATED, "UNAUTHENTICATED", message)
    answer = rpc_status.to_status(status)

    async def unary(_request: Any, context: Any) -> None:
        await context.abort(answer.code, answer.details, answer.trailing_metadata)

    async def stream(_request: Any, context: Any) -> Any:
        await context.abort(answer.code, answer.details, answer.trailing_metadata)
        yield  # never reached: what makes this a stream

    kinds = {
        (False, False): (grpc.unary_unary_rpc_method_handler, unary),
        (False, True): (grpc.unary_stream_rpc_method_handler, stream),
        (True, False): (grpc.stream_unary_rpc_method_handler, unary),
        (True, True): (grpc.stream_stream_rpc_method_handler, stream),
    }
    make, behaviour = kinds[bool(handler.request_streaming), bool(handler.response_streaming)]
    made: grpc.RpcMethodHandler[Any, Any] = make(
        behaviour,
        request_deserializer=handler.request_deserializer,
        response_serializer=handler.response_serializer,
    )
    return made


def credentials(certificate: Path, key: Path, client_ca: Path | None) -> grpc.ServerCredentials:
    """The server's certificate; with ``client_ca`` callers must show one that it has signed.

    Raises :class:`~arrastre.errors.InvalidRequest` with every file that cannot be read.
    """
    faults: list[Fault] = []

    def read(field: str, path: Path | None) -> bytes | None:
        try:
            return None if path is None else path.read_bytes()
        except OSError as error:
            faults.append(Fault(field, "UNREADABLE", f"it cannot be read: {error.strerror}"))
            return None

    chain, private, roots = read("tls_cert", certificate), read("tls_key", key), read("client_ca", client_ca)
    if faults or chain is None or private is None:
        raise InvalidRequest("the certificates cannot be read", faults)
    return grpc.ssl_server_credentials([(private, chain)], roots, require_client_auth=roots is not None)
