"""``arrastre serve``: the service, set up by options or by the environment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arrastre.cli.text import Text
from arrastre.errors import ArrastreError

if TYPE_CHECKING:
    from arrastre.cli import _Reader

Decorator = Callable[[Any], Any]

#: An option that is not given may stand in the environment: ARRASTRE_SERVE_PORT for --port.
PREFIX: Final = "ARRASTRE_SERVE"
_MOST_THREADS: Final = 1024


def add(
    adding: Callable[[str], Decorator],
    option: Callable[..., Decorator],
    common: Decorator,
    read: _Reader,
    text: Text,
) -> None:
    """Add the command to the others."""

    def setting(name: str, reader: Callable[[str], Any] | None, metavar: str | None = "N") -> Decorator:
        key = name.removeprefix("--").replace("-", "_")
        more: dict[str, Any] = {"metavar": metavar, "envvar": f"{PREFIX}_{key.upper()}", "key": f"serve_{key}"}
        if reader is not None:
            more["callback"] = read.by(reader)
        else:
            more["is_flag"] = True
            del more["metavar"]
        return option(name, **more)

    @adding("serve")
    @setting("--host", str, "ADDRESS")
    @setting("--port", read.whole(0, 65535))
    @setting("--threads", read.whole(1, _MOST_THREADS))
    @setting("--memory-mb", read.whole(1, 65536))
    @setting("--waiting", read.whole(0, 10**6))
    @setting("--queue-seconds", read.seconds, "S")
    @setting("--streams", read.whole(1, 10**5))
    @setting("--max-seconds", read.seconds, "S")
    @setting("--max-worlds", read.whole(1, 10**6))
    @setting("--max-nodes", read.whole(1, 2**62))
    @setting("--max-message-bytes", read.whole(1, 2**30))
    @setting("--grace", read.seconds, "S")
    @setting("--tls-cert", Path, text("help.file"))
    @setting("--tls-key", Path, text("help.file"))
    @setting("--client-ca", Path, text("help.file"))
    @setting("--tokens", Path, text("help.file"))
    @setting("--insecure", None)
    @setting("--metrics-port", read.whole(0, 65535))
    @setting("--otel", None)
    @common
    def serve(**given: Any) -> int:
        return _serve(text, {name: value for name, value in given.items() if value is not None})

    return


def _serve(text: Text, given: dict[str, Any]) -> int:
    # Here, so that no other command waits for gRPC to be imported.
    from arrastre.cli import BAD_USAGE, FAILED, OK, _say
    from arrastre.server import Config, serve
    from arrastre.server.observe import log_to_stderr

    def ready(address: str) -> None:
        _say(text("serve.listening", address=address))

    try:
        config = Config(**given)
        log_to_stderr()
        serve(config, ready)
    except ArrastreError as error:
        for fault in error.faults:
            _say(f"arrastre serve: --{fault.field.replace('_', '-')}: {text.fault(fault)}")
        return BAD_USAGE
    except OSError as error:
        _say("arrastre serve: " + text("serve.failed", reason=error.strerror or error))
        return FAILED
    return OK
