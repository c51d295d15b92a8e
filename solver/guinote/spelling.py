"""How actions are spelled: the canonical words, and the ones that people read and may type back."""

from __future__ import annotations

import re
from typing import Final

#: What can be done, for messages (``en``, ``es``).
ACTIONS_HELP: Final = (
    "actions are a card, 'cante O', 'cambio', 'tute' and 'pass'",
    "las jugadas son una carta, como 7O, 'cante O', 'cambio', 'tute' y 'pass'",
)

_CANTE: Final = "cante"
_SEATS: Final = "nose"
_VERBS: Final = {
    **dict.fromkeys((_CANTE, "cantar", "sing"), _CANTE),
    **dict.fromkeys(("cambio", "cambiar", "exchange"), "cambio"),
    "tute": "tute",
    **dict.fromkeys(("pass", "pasar"), "pass"),
}
_WORD: Final = re.compile(r"[a-z]+")
_BREAK: Final = " \t_-"
_BRACKETED: Final = re.compile(r"(.*\S)\s*\(([nose0-3])\)", re.DOTALL)
_LONGEST: Final = 100


def split_action(text: str) -> tuple[str, str, int | None]:
    """An action as a canonical verb (none for a card), what it is said of, and the seat that it names, if any.

    ``sing espadas``, ``cante_E`` and ``canteE`` are ``cante``; ``exchange`` and ``cambiar`` are ``cambio``. A seat may
    stand behind: in brackets, or bare behind a declaration, which leaves no doubt there (``cante E N``, ``cambio N``).
    Behind a bare card it would: ``7 O`` is a card.
    """
    plain, seat = text.strip(), None
    if len(plain) > _LONGEST:
        return "", text, None
    bracketed = _BRACKETED.fullmatch(plain.lower())
    if bracketed:
        plain, seat = plain[: bracketed.end(1)], _seat(bracketed[2])
    lowered = plain.lower()
    word = _WORD.match(lowered)
    verb = _VERBS.get(word[0], "") if word else ""
    if word is None or not verb:
        # A suit's letter or symbol right behind the verb.
        if lowered[:-1] == _CANTE:
            return _CANTE, lowered[-1], seat
        return "", plain, seat
    rest = lowered[word.end() :]
    if rest and verb != _CANTE and rest[0] not in _BREAK:
        return "", plain, seat
    parts = rest.strip(_BREAK).split()
    wanted = 1 if verb == _CANTE else 0
    if seat is None and len(parts) == wanted + 1 and (named := _seat(parts[-1])) is not None:
        seat = named
        parts.pop()
    return verb, " ".join(parts), seat


def _seat(text: str) -> int | None:
    """The seat of a letter N, O, S, E or a digit."""
    if len(text) != 1:
        return None
    at = max(_SEATS.find(text), "0123".find(text))
    return at if at >= 0 else None
