from __future__ import annotations

import json
import re
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

import arrastre
import deals
from arrastre.errors import ArrastreError, Fault, InvalidSyntax, InvalidTemplate

ROOT = Path(__file__).parents[1]
LOGS = ROOT / "examples" / "logs"
DOCS = ROOT / "docs" / "importing.md"
BLOCK = re.compile(r"^```(toml|log|record)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

CARDS = """
[cards]
spelling = "{figure} de {suit}"
suits = { oros = "O", copas = "C", espadas = "E", bastos = "B" }
figures = { as = "1", 2 = "2", 3 = "3", 4 = "4", 5 = "5", 6 = "6", 7 = "7", sota = "S", caballo = "C", rey = "R" }
"""
TEMPLATE = (
    """
[record]
finished = false
"""
    + CARDS
    + """
[seats]
by = ["index", "name"]

[[line]]
pattern = 'Mesa (?P<deal>[0-9]+)'
starts = true

[[line]]
pattern = 'Juegan (?P<names>.+)'

[[line]]
pattern = 'Muestra (?P<muestra>.+)'

[[line]]
pattern = '(?P<seat>.+) echa (?P<card>.+)'
event = "{card}"

[[line]]
pattern = '(?P<seat>.+) canta (?P<suit>.+)'
event = "cante {suit}"
"""
)
LOG = """
Juegan Ana, Jorge, Eva, Luis
Mesa 1
Muestra 4 de oros
Ana echa 5 de bastos
Jorge echa as de bastos
Mesa 2
Muestra 2 de copas
0 echa 3 de oros
"""


def converted(log: str | bytes, template: str) -> list[arrastre.DealItem]:
    return list(arrastre.convert(log.splitlines(keepends=True), arrastre.Template.parse(template)))


def faults(item: arrastre.DealItem) -> tuple[Fault, ...]:
    return () if item.error is None else item.error.faults


def bad(template: str) -> list[tuple[str, str]]:
    with pytest.raises(ArrastreError) as caught:
        arrastre.Template.parse(template)
    return [(fault.field, fault.reason) for fault in caught.value.faults]


# -- whole logs


@pytest.mark.parametrize(
    ("log", "records", "seen"),
    [
        ("mesa.jsonl", ["vueltas.txt"], True),
        ("club.log", ["cantes.txt"], True),
        ("cronica.txt", ["tute.txt", "two_players.txt"], False),
    ],
)
def test_the_example_logs_are_the_example_records(log: str, records: list[str], seen: bool) -> None:
    template = arrastre.Template.parse((LOGS / log).with_suffix(".toml").read_text())
    with (LOGS / log).open("rb") as file:
        items = list(arrastre.convert(file, template))
    assert [item.error for item in items] == [None] * len(items)
    record = arrastre.Record([item.deal for item in items if item.deal])
    played = [
        deal for name in records for deal in arrastre.Record.parse((ROOT / "examples" / "records" / name).read_text())
    ]
    assert len(record) == len(played)
    for deal, original in zip(record, played, strict=True):
        mine, its = deal.to_dict(), original.to_dict()
        assert mine["events"] == its["events"]
        assert mine["result"] == its["result"]
        assert mine["hands"] == its["hands"]
        assert mine["names"] == its["names"]
        assert (mine["stock"] == its["stock"]) is seen
    assert arrastre.Record.parse(str(record)) == record
    assert arrastre.Record.parse(record.to_json()) == record


def test_the_example_logs_can_be_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import make_logs

    make_logs.main(tmp_path)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (LOGS / path.name).read_bytes(), path.name


def test_the_examples_of_the_documentation() -> None:
    blocks = BLOCK.findall(DOCS.read_text())
    assert len(blocks) == 9
    for at in range(0, len(blocks), 3):
        kinds, texts = zip(*blocks[at : at + 3], strict=True)
        assert kinds == ("toml", "log", "record")
        items = converted(texts[1], texts[0])
        assert [item.error for item in items] == [None]
        assert str(arrastre.Record([item.deal for item in items if item.deal])) == texts[2]


@pytest.mark.parametrize("seed", range(20))
def test_any_deal_goes_through_a_log_unchanged(seed: int) -> None:
    rng = Random(seed)
    players = rng.choice((2, 4))
    ruleset = rng.choice(("aragones", "cien", "torneo"))
    deal = deals.play_deal(rng, ruleset, players, cards=None)
    offset, reverse = rng.randrange(players), rng.random() < 0.5

    def seat(number: int) -> int:
        """The log's number of a seat."""
        return ((offset - number) if reverse else (number - offset)) % players + 1

    lines: list[Any] = [{"hand": [seat(i), hand]} for i, hand in enumerate(deal["hands"])]
    lines += [[seat(event["seat"]), event["trick"] - 1, *event["action"].split()] for event in deal["events"]]
    log = {"dealer": seat(deal["dealer"]), "stock": deal["stock"], "log": lines}
    template = f"""
        format = "json"
        [record]
        ruleset = "{ruleset}"
        players = {players}
        [seats]
        by = "index"
        base = 1
        offset = {offset}
        reverse = {str(reverse).lower()}
        [tricks]
        base = 0
        [[line]]
        fields = {{ dealer = "dealer", stock = "stock" }}
        each = "log"
        starts = true
        [[line]]
        fields = {{ seat = "hand[0]", hand = "hand[1]" }}
        [[line]]
        when = {{ "[2]" = "cante" }}
        fields = {{ seat = "[0]", trick = "[1]", suit = "[3]" }}
        event = "cante {{suit}}"
        [[line]]
        fields = {{ seat = "[0]", trick = "[1]", action = "[2]" }}
        event = "{{action}}"
    """
    (item,) = converted(json.dumps(log), template)
    assert item.error is None
    assert item.deal is not None
    (original,) = arrastre.Record.from_dict(deal)
    assert item.deal.to_dict() == original.to_dict()


def test_cards_as_objects_and_as_lists() -> None:
    template = """
        format = "json"
        [record]
        finished = false
        [cards]
        suit = "%s"
        figure = "%s"
        base = 1
        suits = ["O", "C", "E", "B"]
        figures = ["1", "2", "3", "4", "5", "6", "7", "-", "-", "S", "C", "R"]
        [[line]]
        fields = { seat = "s", card = "c" }
        event = "{card}"
        [[line]]
        fields = { muestra = "m" }
    """
    log = '{"m": %s}\n{"s": 1, "c": %s}'
    for names, cards in [
        (("palo", "num"), ('{"palo": 1, "num": 4}', '{"palo": 4, "num": 12}')),
        (("[1]", "[0]"), ("[4, 1]", "[12, 4]")),
    ]:
        (item,) = converted(log % cards, template % names)
        assert item.error is None
        assert item.deal is not None
        assert item.deal.to_dict()["events"][0]["action"] == "RB"
        assert item.deal.to_dict()["stock"][-1] == "4O"
    (item,) = converted('{"m": [4, 1]}\n{"s": 1, "c": [8, 4]}', template % ("[1]", "[0]"))
    assert [(fault.field, fault.reason) for fault in faults(item)] == [("events[0].action", "UNKNOWN_CARD")]


def test_seats_by_direction_and_what_holds_for_all_deals() -> None:
    first, second = converted(LOG, TEMPLATE)
    assert first.error is second.error is None
    assert first.deal and second.deal
    assert first.deal.to_dict()["names"] == second.deal.to_dict()["names"] == ["Ana", "Jorge", "Eva", "Luis"]
    assert (first.line, second.line) == (3, 7)
    template = TEMPLATE.replace(
        '["index", "name"]', '"direction"\norder = ["Norte", "Oeste", "Sur", "Este"]\noffset = 2'
    )
    (item,) = converted("Mesa 1\nMuestra 4 de oros\nnorte echa 5 de bastos", template)
    assert item.deal is not None and item.deal.to_dict()["events"][0]["seat"] == 2


def test_a_stream_is_read_deal_by_deal() -> None:
    given: list[int] = []

    def lines() -> Any:
        for number in range(1, 1000):
            given.append(number)
            yield f"Mesa {number}\n"
            yield "Muestra 4 de oros\n"

    stream = arrastre.convert(lines(), arrastre.Template.parse(TEMPLATE))
    assert next(stream).error is None
    assert len(given) < 4


# -- logs with faults


def test_every_fault_of_a_log_has_its_place_and_other_deals_go_on() -> None:
    log = (
        "Mesa 1\nMuestra 4 de oros\nAna echa 8 de oros\nllueve mucho\nMesa 2\nMuestra 4 de oros\n"
        "0 echa as de bastos\n  1 canta bastones\nMesa 3\nMuestra 4 de oros\n"
    )
    bad_names, bad_suit, good = converted(log, TEMPLATE)
    assert {(f.field, f.reason, f.line, f.column, f.card) for f in faults(bad_names)} == {
        ("events[0].seat", "BAD_SEAT", 3, 1, None),
        ("events[0].action", "UNKNOWN_CARD", 3, 10, "8 de oros"),
        ("", "UNKNOWN_LINE", 4, 1, None),
    }
    assert len(faults(bad_names)) == 3
    assert [(f.field, f.reason, f.line, f.column) for f in faults(bad_suit)] == [
        ("events[1].action", "UNKNOWN_SUIT", 8, 11)
    ]
    assert good.error is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [("1 echa as de bastos", ("CARD_TWICE", 4, 8)), ("2 echa 2 de bastos", ("WRONG_TURN", 4, 1))],
)
def test_what_breaks_the_rules_is_found_at_its_place_in_the_log(line: str, expected: tuple[str, int, int]) -> None:
    (item,) = converted(f"Mesa 1\nMuestra 4 de oros\n0 echa as de bastos\n{line}", TEMPLATE)
    assert [(fault.reason, fault.line, fault.column) for fault in faults(item)] == [expected]


def test_places_in_json_logs() -> None:
    template = (LOGS / "mesa.toml").read_text()
    log = (LOGS / "mesa.jsonl").read_text()
    lines = log.split("\n")
    at = next(number for number, line in enumerate(lines) if '"moves"' in line) + 1
    lines[at] = lines[at].replace("copas_4", "copas_8", 1)
    first, second = converted("\n".join(lines), template)
    (fault,) = [fault for fault in faults(first) if fault.reason == "UNKNOWN_CARD"]
    assert (fault.field, fault.card, fault.line) == ("events[0].action", "copas_8", at + 1)
    assert fault.column == lines[at].index('"copas_8"') + 1
    assert second.deal is not None


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("", "NOT_A_RECORD"),
        ("\n\n", "NOT_A_RECORD"),
        ("Juegan Ana", "NOT_A_RECORD"),
        ("hola", "UNKNOWN_LINE"),
        (b"Mesa 1\n\xff\xfe\n", "NOT_UTF8"),
        ("Mesa 1\n" + "x" * 9000, "TOO_LONG"),
        ("Mesa 1\n" + "x" * 100_000, "TOO_LONG"),
        ("Mesa 1\nMuestra 4 de oros\nMuestra 5 de oros", "REPEATED_FIELD"),
    ],
)
def test_logs_that_are_none(log: str | bytes, reason: str) -> None:
    items = converted(log, TEMPLATE)
    assert [fault.reason for item in items for fault in faults(item)].count(reason) == 1


@pytest.mark.parametrize("log", ["{", "[1, 2", '{"a": NaN}', "[" * 50_000, '{"a": 1, "a": 2}', '"' * 40_000, "]", "5"])
def test_json_that_is_none(log: str) -> None:
    template = (LOGS / "mesa.toml").read_text()
    items = converted(log, template)
    assert items
    assert all(item.error is not None for item in items)


def test_a_broken_json_value_costs_no_other() -> None:
    log = (LOGS / "mesa.jsonl").read_text()
    broken, *sound = converted('{"room": [\n' + log, (LOGS / "mesa.toml").read_text())
    assert [fault.reason for fault in faults(broken)] == ["NOT_JSON"]
    assert [item.error for item in sound] == [None, None]


def test_no_line_keeps_a_pattern_busy() -> None:
    template = arrastre.Template.parse("[[line]]\npattern = '(.*) (.*) (.*) x'\nignore = true")
    start = time.monotonic()
    for size in (500, 600, 650, 700, 8000, 60_000):
        list(arrastre.convert([" " * 3 + "a " * (size // 2)], template))
    assert time.monotonic() - start < 20


def test_a_deal_without_an_end_is_cut() -> None:
    log = "Mesa 1\nMuestra 4 de oros\n" + "0 echa as de oros\n" * 5000
    (item,) = converted(log, TEMPLATE)
    assert "TOO_LONG" in {fault.reason for fault in faults(item)}


# -- templates with faults


def test_all_faults_of_a_template_at_once() -> None:
    template = """
        format = "xml"
        colour = "red"
        [record]
        wind = "north"
        [cards]
        spelling = "{figure}{suit}"
        suits = ["1", "11"]
        figures = { 1 = "1", 11 = "2" }
        base = 1
        [seats]
        by = "smell"
        offset = "two"
        [values]
        seat = 5
        [[line]]
        pattern = '(a+)+'
        [[line]]
        pattern = '(?P<sit>x)'
        [[line]]
        pattern = '('
        event = "{card}"
        [[line]]
        event = "{colour}"
        [[line]]
        pattern = '(?P<card>x)'
        [[line]]
        fields = { seat = "a..b" }
        [[line]]
        pattern = 'x'
        fields = { seat = "a" }
    """
    assert bad(template) == [
        ("colour", "UNKNOWN_FIELD"),
        ("format", "BAD_TYPE"),
        ("record.wind", "UNKNOWN_FIELD"),
        ("seats.by", "BAD_TYPE"),
        ("seats.offset", "BAD_TYPE"),
        ("values.seat", "BAD_TYPE"),
        ("line[0].pattern", "BAD_PATTERN"),
        ("line[1]", "UNKNOWN_FIELD"),
        ("line[2].pattern", "BAD_PATTERN"),
        ("line[3]", "MISSING"),
        ("line[3].event", "UNKNOWN_FIELD"),
        ("line[4].event", "MISSING"),
        ("line[5].fields.seat", "BAD_TEXT"),
        ("line[6]", "BAD_TEXT"),
    ]


@pytest.mark.parametrize(
    ("template", "field", "reason"),
    [
        ("", "line", "MISSING"),
        ("line = 5", "line", "BAD_TYPE"),
        ("[[line]]", "line[0]", "MISSING"),
        ("cards = 5", "cards", "BAD_TYPE"),
        ("[cards]\nspelling = '{suit}'", "cards.spelling", "BAD_TEXT"),
        ("[cards]\nspelling = '{suit}{figure}'", "cards.suits", "MISSING"),
        ("[cards]\nsuit = 'a'", "cards.suit", "MISSING"),
        ("[seats]\nby = 'direction'", "seats.order", "MISSING"),
        ("[separators]\ncards = ''", "separators.cards", "BAD_TYPE"),
        (
            "[cards]\nspelling='{suit}{figure}'\nsuits={a='O',aa='C'}\nfigures={b='1',ab='2'}",
            "cards.spelling",
            "AMBIGUOUS_CARD",
        ),
        ("[[line]]\npattern = 'x'\nevent = '{cards} {cards}'", "line[0].event", "BAD_TEXT"),
        ("[[line]]\npattern = 'x'\nset = { hands = 1 }", "line[0].set.hands", "UNKNOWN_FIELD"),
    ],
)
def test_faults_of_templates(template: str, field: str, reason: str) -> None:
    assert (field, reason) in bad(template)


def test_what_is_no_toml() -> None:
    with pytest.raises(InvalidSyntax) as caught:
        arrastre.Template.parse("a = 1\nb = = 2")
    (fault,) = caught.value.faults
    assert (fault.reason, fault.line, fault.column) == ("NOT_TOML", 2, 5)
    assert bad("x" * 300_000) == [("", "TOO_LONG")]
    assert bad("a = " + "[" * 20_000) == [("", "NOT_TOML")]


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+",
        "(a|b)*",
        "(a?){2,}",
        "((a)*b){3}",
        "(?:a{1,3})+",
        ".*" * 6,
        "(?x) a",
        "(a)(?(1)b|c)",
        "[",
        "a{0,99999}" * 2,
        "(x|y)" * 40,
    ],
)
def test_patterns_that_may_run_away_are_refused(pattern: str) -> None:
    with pytest.raises(InvalidTemplate):
        arrastre.Template.parse(f"[[line]]\npattern = '{pattern}'\nignore = true")


@pytest.mark.parametrize(
    "pattern",
    [
        "(ab)+",
        "(?:a|b)c+",
        r"[^;]++;\d+",
        "(?:, .+)?",
        r"[]()*+]+",
        r"\(+\)",
        "a{2}b{,3}",
        "(?i)A+",
        "(?=a)a",
        "x{",
        ".*" * 4,
    ],
)
def test_patterns_that_are_sure_to_end(pattern: str) -> None:
    arrastre.Template.parse(f"[[line]]\npattern = '{pattern}'\nignore = true")
