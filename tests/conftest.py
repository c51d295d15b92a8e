"""What every test stands on."""

from __future__ import annotations

import signal

# A run that was started in the background ignores SIGINT, and so would every process that it starts; the tests that
# interrupt one need it to listen.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
