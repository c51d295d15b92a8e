"""What can be wrong with what somebody handed in, said so that a program and a person both understand it.

Every refusal is an :class:`ArrastreError`: a stable ``code``, a sentence, and *all* the faults that were found in the
item, each with the place (JSON path, and column where the item was text), the card concerned and a stable reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with one item.

    ``field`` is a JSON path (``hands[2].cards[3]``; empty for the item as a whole), ``reason`` an UPPER_CASE word that
    never changes its meaning, ``message`` an English sentence, ``card`` the card as it was written. ``line`` and
    ``column`` count from 1 and are given when the item was text.
    """

    field: str
    reason: str
    message: str = ""
    card: str | None = None
    line: int | None = None
    column: int | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "field": self.field,
            "card": self.card,
            "reason": self.reason,
            "message": self.message,
            "line": self.line,
            "column": self.column,
        }

    def __str__(self) -> str:
        place = self.field or "item"
        where = [f"{name} {at}" for name, at in (("line", self.line), ("column", self.column)) if at is not None]
        if where:
            place += f" ({', '.join(where)})"
        card = f" [{self.card}]" if self.card else ""
        return f"{place}{card}: {self.message or self.reason}"


class ArrastreError(Exception):
    """Base of every refusal; ``code`` is stable, ``faults`` holds everything found at once."""

    code: ClassVar[str] = "ERROR"

    def __init__(self, message: str, faults: Iterable[Fault] = ()) -> None:
        self.message = message
        self.faults: tuple[Fault, ...] = tuple(faults)
        super().__init__(message)

    def to_dict(self) -> dict[str, Any]:
        return {"code": self.code, "message": self.message, "faults": [fault.to_dict() for fault in self.faults]}

    def __str__(self) -> str:
        return "; ".join([self.message, *map(str, self.faults)])


class InvalidSyntax(ArrastreError):
    """The item is not JSON, or not a position text, at all."""

    code = "INVALID_SYNTAX"


class InvalidPosition(ArrastreError):
    """The item was read, but is no position of its game."""

    code = "INVALID_POSITION"


class InvalidRecord(ArrastreError):
    """The item was read, but it is no record of its game, or what was played in it breaks the rules."""

    code = "INVALID_RECORD"


class InvalidRules(ArrastreError):
    """No such ruleset, no such field of it, or no such value of the field."""

    code = "INVALID_RULES"


class InvalidTemplate(ArrastreError):
    """The template by which a foreign log should be read has faults."""

    code = "INVALID_TEMPLATE"


class IllegalAction(ArrastreError):
    """An action that the rules forbid at this moment; the message names the duty."""

    code = "ILLEGAL_ACTION"


class InvalidRequest(ArrastreError):
    """The position is sound, but what is asked of it makes no sense (objective, limits, threads)."""

    code = "INVALID_REQUEST"
