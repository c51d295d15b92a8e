"""Imports run one way: from the command and the service down to what thinks, and from there down to the games."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: By folder, what of the package its modules may not import, by the beginning of the name.
FORBIDDEN = {
    "solver/guinote": ("arrastre.cli", "arrastre.server", "arrastre.client", "arrastre.v1", "arrastre.estimate"),
    "solver": ("arrastre.cli", "arrastre.server", "arrastre.client", "arrastre.v1", "arrastre.guinote"),
    "server/client": ("arrastre.cli", "arrastre.guinote", "arrastre.server.app", "arrastre.server.service"),
    "server": ("arrastre.cli", "arrastre.client", "arrastre.guinote"),
    "cli": ("arrastre.guinote",),
}
#: Where the games are registered.
REGISTRY = ROOT / "solver" / "__init__.py"


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_imports_run_down(folder: str) -> None:
    modules = sorted((ROOT / folder).glob("*.py"))
    assert modules
    for path in modules:
        if path == REGISTRY:
            continue
        wrong = [name for name in imports(path) if name.startswith(FORBIDDEN[folder])]
        assert not wrong, f"{path.relative_to(ROOT)} imports {wrong}"


def test_only_the_server_and_its_callers_know_grpc() -> None:
    for path in [*(ROOT / "solver").rglob("*.py"), *(ROOT / "cli").glob("*.py")]:
        assert not any(name.startswith("grpc") for name in imports(path)), path
