"""The console script's way in: Ctrl-C ends it without a word before anything that takes time to import is imported.

A module outside the package, since importing any part of that imports the solver.
"""

from __future__ import annotations

import os
import signal


def main() -> None:
    """Run the command and end the process."""
    # Whoever starts a program in the background may have it ignore Ctrl-C; it then stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from arrastre import cli

    cli.main()


def _leave(number: int, frame: object) -> None:  # noqa: ARG001
    """Nothing has been printed that could be lost. 130 is what shells make of an interruption."""
    os._exit(130)
