from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

import arrastre
from arrastre.cli import items
from arrastre.cli.text import CODES, MESSAGES, REASONS, Text, language
from arrastre.errors import ArrastreError
from arrastre.guinote.reasons import SENTENCES

DOCS = Path(__file__).parents[2] / "docs" / "notation.md"
SOLVER, CLI = (Path(str(module.__file__)).parent for module in (arrastre, items))
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
    source = "".join(path.read_text() for path in CLI.glob("*.py")).replace("'", '"')
    for key in MESSAGES:
        group = key.partition(".")[0]
        uses = source.count(f'"{key}"') + source.count(f'(f"{group}.') + source.count(f' = f"{group}.')
        # Once in the table itself.
        assert uses > 1, key


def test_every_code_and_every_reason_of_a_fault_has_its_spanish() -> None:
    def codes(kind: type[ArrastreError]) -> set[str]:
        return {kind.code}.union(*map(codes, kind.__subclasses__()))

    assert codes(ArrastreError) == set(CODES)
    files = [*SOLVER.glob("*.py"), *(SOLVER / "guinote").glob("*.py"), CLI / "items.py"]
    words = set(re.findall(r'"([A-Z]+(?:_[A-Z]+)+|MISSING)"', "".join(path.read_text() for path in files)))
    reasons = {each for each in words - set(CODES) if not ACTIONS.fullmatch(each)}
    assert len(reasons) > 30
    assert reasons <= set(REASONS)


@pytest.mark.skipif(not DOCS.exists(), reason="the documentation is not at hand")
def test_every_code_and_reason_is_documented_and_no_other() -> None:
    known = (set(CODES) | set(REASONS) | set(SENTENCES)) - {"ERROR"}
    text = DOCS.read_text()
    documented, faults = (
        set(re.findall(r"`([A-Z][A-Z0-9_]{3,})`", part))
        for part in (text, text.partition("\n## Faults\n")[2].partition("\n# ")[0])
    )
    assert known <= documented
    assert faults <= known


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
