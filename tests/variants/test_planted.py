"""A checked or sanitized build sees the faults that were planted for it. In any other build there are none to see."""

from __future__ import annotations

import array
import os
import subprocess
import sys

import pytest

planted = pytest.importorskip("arrastre._planted", reason="not a checked or sanitized build")

MAX_INT = 2**31 - 1
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")


def run(call: str) -> subprocess.CompletedProcess[str]:
    """Call a planted function in a process of its own, which a sanitizer ends."""
    script = f"from arrastre import _planted; print(_planted.{call})"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


def test_sound_calls_pass():
    assert planted.add(MAX_INT - 1, 1) == MAX_INT
    assert planted.item(array.array("i", [3, 5]), 1) == 5
    assert planted.is_true(True)


def test_a_false_assertion_is_seen():
    with pytest.raises(AssertionError):
        planted.is_true(False)


@pytest.mark.skipif(SANITIZED, reason="a checked build's case")
def test_the_checked_build_sees_an_index_out_of_bounds():
    with pytest.raises(IndexError):
        planted.item(array.array("i", [3, 5]), 2)


@pytest.mark.skipif(not SANITIZED, reason="a sanitized build's case")
def test_address_sanitizer_sees_a_read_past_the_end():
    done = run("read_past_end(4)")
    assert done.returncode != 0
    assert "AddressSanitizer: heap-buffer-overflow" in done.stderr


@pytest.mark.skipif(not SANITIZED, reason="a sanitized build's case")
def test_undefined_behavior_sanitizer_sees_an_overflow():
    done = run(f"add({MAX_INT}, 1)")
    assert done.returncode != 0
    assert "runtime error: signed integer overflow" in done.stderr
