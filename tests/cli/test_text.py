from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

import arrastre
from arrastre.cli import items
from arrastre.cli.text import CODES, MESSAGES, REASONS, Text, language
from arrastre.errors import ArrastreError

PACKAGES = [Path(each) for module in (arrastre, items) if module.__file__ for each in (Path(module.__file__).parent,)]
# Reasons of forbidden actions: a position says in words, in the language asked for, why it forbids them.
ACTIONS = re.compile(
    "(BEAT|CANTE|EXCHANGE|FOLLOW|MUST|NO|NOT|NOTHING|OVERTRUMP|TUTE|UNDERTRUMP|WINDOW)(_[A-Z_]+)?", re.ASCII
)


def placeholders(message: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(message) if name is not None}


@pytest.mark.parametrize("key", MESSAGES)
def test_both_languages_say_the_same(key: str) -> None:
    message = MESSAGES[key]
    assert message.en
    assert message.es
    assert placeholders(message.en) == placeholders(message.es)


def test_every_message_is_used() -> None:
    source = "".join(path.read_text() for path in PACKAGES[1].glob("*.py") if path.name != "text.py")
    for key in MESSAGES:
        first, _, rest = key.partition(".")
        parts = {f'"{key}"', f'f"{first}.', f'"{rest}"'}
        assert any(part in source for part in parts) or first in ("outcome", "solve"), key


def test_every_code_and_every_reason_of_a_fault_has_its_spanish() -> None:
    def codes(kind: type[ArrastreError]) -> set[str]:
        return {kind.code}.union(*map(codes, kind.__subclasses__()))

    assert codes(ArrastreError) == set(CODES)
    source = "".join(path.read_text() for package in PACKAGES for path in package.rglob("*.py"))
    reasons = set(re.findall(r'(?:fault|Fault|CardError|_refuse)\([^()]*?"([A-Z]+(?:_[A-Z]+)+|MISSING)"', source))
    reasons |= set(re.findall(r'reason = "([A-Z_]+)"', source))
    assert len(reasons) > 25
    assert {each for each in reasons if not ACTIONS.fullmatch(each)} <= set(REASONS)


@pytest.mark.parametrize(
    ("arguments", "environment", "expected"),
    [
        ([], {}, "en"),
        ([], {"LANG": "es_ES.UTF-8"}, "es"),
        ([], {"LANG": "es_ES.UTF-8", "LC_ALL": "C"}, "en"),
        ([], {"LANG": "C", "LC_MESSAGES": "es"}, "es"),
        ([], {"LANG": "es", "LC_MESSAGES": "", "LC_ALL": ""}, "es"),
        ([], {"LANG": "fr_FR"}, "en"),
        (["solve", "--lang", "es"], {}, "es"),
        (["--lang=en", "solve"], {"LANG": "es"}, "en"),
        (["solve", "--lang"], {"LANG": "es"}, "es"),
        (["solve", "--lang", "de"], {"LANG": "es"}, "es"),
        (["solve", "--", "--lang", "es"], {}, "en"),
    ],
)
def test_language(arguments: list[str], environment: dict[str, str], expected: str) -> None:
    assert language(arguments, environment) == expected


def test_outcomes_of_games_not_known_here() -> None:
    assert Text("en").outcome("codille", "N") == "N: codille."
    assert Text("es").outcome_short("codille") == "codille"
    assert Text("es").outcome("win", "NS") == "NS gana la partida."
    assert Text("en").outcome("vueltas", "NS") == "The game goes to vueltas."
