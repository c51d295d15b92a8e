"""The gRPC service. ``serve`` runs it; ``Server`` is the same inside an event loop that is already there."""

from arrastre.server.app import DEFAULT_PORT, Config, Server, serve

__all__ = ["DEFAULT_PORT", "Config", "Server", "serve"]
