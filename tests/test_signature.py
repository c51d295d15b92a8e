"""The kernel's signature: values and node counts over a fixed corpus.

Values that change are a mistake, or a change of the rules. Node counts that change mean that a change to the kernel
was no mere refactoring; they are then written anew, and the change says so:

    ARRASTRE_SIGN=1 pytest tests/test_signature.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import arrastre
from corpus import random_positions

STORED = Path(__file__).parent / "data" / "signature.json"
CORPUS: dict[str, dict[str, Any]] = {
    "aragones": {"count": 60, "seed": 101},
    "gamerules": {"count": 40, "seed": 102, "ruleset": "gamerules"},
    "cien": {"count": 40, "seed": 103, "ruleset": "cien"},
    "torneo": {"count": 40, "seed": 104, "ruleset": "torneo"},
    "riojano two players": {"count": 40, "seed": 105, "ruleset": "riojano", "players": 2},
    "one draw trick left": {"count": 3, "seed": 106, "draws": 1},
    "three draw tricks left, two players": {"count": 8, "seed": 107, "draws": 3, "players": 2},
}


def sign(name: str) -> dict[str, Any]:
    positions = random_positions(**CORPUS[name])
    signature: dict[str, Any] = {}
    for objective in ("points", "game"):
        every = arrastre.solve_many(positions, objective=objective)
        value = arrastre.solve_many(positions, objective=objective, want="value")
        assert all(each.proven for each in every)
        signature[objective] = {
            "values": [each.value for each in every],
            "nodes": sum(each.nodes for each in every),
            "nodesForTheValueAlone": sum(each.nodes for each in value),
        }
    return signature


@pytest.mark.parametrize("name", CORPUS)
def test_signature(name: str) -> None:
    found = sign(name)
    if os.environ.get("ARRASTRE_SIGN"):
        stored = json.loads(STORED.read_text()) if STORED.exists() else {}
        stored[name] = found
        lines = [f" {json.dumps(each)}: {json.dumps(stored[each])}" for each in CORPUS if each in stored]
        STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    assert json.loads(STORED.read_text())[name] == found
