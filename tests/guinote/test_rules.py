"""Rulesets as data."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from arrastre.cards import Deck, parse_card
from arrastre.errors import InvalidRules
from arrastre.guinote.rules import FIELDS, RULESETS, Ruleset, differences, examine, resolve, row, write_value

# The table of the named rulesets, as their sheets say it.
TABLE: dict[str, dict[str, Any]] = {
    "aragones": {
        "deck": "spanish",
        "figure_under_rey": "sota",
        "target": 101,
        "beat_in_suit": "yes",
        "partner_exempt": "yes",
        "undertrump": "free",
        "cante_by": "side",
        "cantes_per_trick": "side",
        "cante_window": "own_lead",
        "exchange_when": "any_trick_won",
        "exchange_two": "yes",
        "exchange_after_last_draw_trick": "yes",
        "malas_minimum": 30,
        "malas_counts_last_trick": "yes",
        "malas_failure": "not_reached",
        "both_over": "last_trick",
        "vueltas": "at_once",
        "claim": "none",
        "tute": "wins",
        "capote": "none",
        "games_per_coto": 3,
        "next_dealer": "rotate",
    },
    "gamerules": {
        "deck": "french",
        "figure_under_rey": "caballo",
        "target": 101,
        "beat_in_suit": "yes",
        "partner_exempt": "yes",
        "undertrump": "free",
        "cante_by": "side",
        "cantes_per_trick": "member",
        "cante_window": "own_lead",
        "exchange_when": "on_lead",
        "exchange_two": "no",
        "exchange_after_last_draw_trick": "no",
        "malas_minimum": 0,
        "both_over": "last_trick",
        "vueltas": "end_of_deal",
        "claim": "at_risk",
        "tute": "none",
        "capote": "none",
        "games_per_coto": 1,
        "next_dealer": "rotate",
    },
    "cien": {
        "deck": "spanish",
        "figure_under_rey": "caballo",
        "target": 100,
        "beat_in_suit": "led_suit",
        "partner_exempt": "no",
        "undertrump": "forced",
        "cante_by": "winner",
        "cantes_per_trick": "member",
        "cante_window": "own_lead",
        "exchange_when": "own_turn",
        "exchange_two": "no",
        "exchange_after_last_draw_trick": "no",
        "malas_minimum": 0,
        "both_over": "higher_score",
        "vueltas": "end_of_deal",
        "claim": "none",
        "tute": "none",
        "capote": 100,
        "games_per_coto": 2,
        "next_dealer": "rotate",
    },
    "torneo": {
        "deck": "spanish",
        "figure_under_rey": "sota",
        "target": 101,
        "beat_in_suit": "yes",
        "partner_exempt": "no",
        "undertrump": "free",
        "cante_by": "side",
        "cantes_per_trick": "member",
        "cante_window": "rival_play",
        "exchange_when": "last_trick_won",
        "exchange_two": "yes",
        "exchange_after_last_draw_trick": "yes",
        "malas_minimum": 30,
        "malas_counts_last_trick": "no",
        "malas_failure": "lose",
        "both_over": "last_trick",
        "vueltas": "won_trick",
        "claim": "none",
        "tute": "wins",
        "capote": "none",
        "games_per_coto": 3,
        "next_dealer": "last_trick",
    },
}
TABLE["riojano"] = TABLE["cien"] | {"tute": 40}
TABLE["temprano"] = TABLE["cien"] | {"strict_from_start": "yes"}


def reasons(error: InvalidRules) -> list[tuple[str, str]]:
    return [(fault.field, fault.reason) for fault in error.faults]


@pytest.mark.parametrize("players", [4, 2])
@pytest.mark.parametrize("name", TABLE)
def test_named_rulesets(name: str, players: int) -> None:
    ruleset = resolve(name, {}, players)
    said = {field: write_value(getattr(ruleset, field)) for field in FIELDS}
    rest = {"last_trick": 10, "strict_from_start": "no", "hand_size": 6, "draw": "yes", "cantes": "yes"}
    ignored = {"malas_counts_last_trick", "malas_failure"} if not ruleset.malas_minimum else set()
    expected = rest | TABLE[name] | {"players": players}
    assert {k: v for k, v in said.items() if k not in ignored} == {
        k: v for k, v in expected.items() if k not in ignored
    }
    assert differences(ruleset) == {}
    assert ruleset.name == name


def test_the_table_names_every_field_and_ruleset() -> None:
    assert set(RULESETS) == set(TABLE)
    assert set(FIELDS) == {each.name for each in fields(Ruleset)} - {"name"}
    for field in FIELDS.values():
        assert field.meaning("en")
        assert field.meaning("es")
        assert field.meaning("es") != field.meaning("en")


@pytest.mark.parametrize("name", FIELDS)
def test_every_value_can_be_written_and_read(name: str) -> None:
    field = FIELDS[name]
    for choice in field.choices:
        for written in (write_value(choice), str(write_value(choice)), str(write_value(choice)).upper(), choice):
            assert field.read(written) == choice
    for nonsense in ("", "perhaps", 7.5, None, [], {}, 10**30, -1, "-1", "1e2"):
        assert field.read(nonsense) is None


@pytest.mark.parametrize("name", FIELDS)
def test_overrides_are_the_differences(name: str) -> None:
    if name == "players":
        return
    base = row("aragones", 4)
    for choice in FIELDS[name].choices:
        ruleset = resolve("aragones", {name: write_value(choice)})
        assert getattr(ruleset, name) == choice
        expected = {} if choice == getattr(base, name) else {name: write_value(choice)}
        assert differences(ruleset) == expected
        assert resolve("aragones", differences(ruleset)) == ruleset


def test_lenient_values_and_names() -> None:
    ruleset = resolve("aragones", {"partnerExempt": False, "target": "100", "exchange_two": "No", "capote": "100"})
    assert not ruleset.partner_exempt
    assert ruleset.target == 100
    assert not ruleset.exchange_two
    assert ruleset.capote == 100
    assert differences(ruleset) == {"target": 100, "partner_exempt": "no", "exchange_two": "no", "capote": 100}


@pytest.mark.parametrize(
    ("value", "read"), [(1, 1), ("7", 7), (99, 99), ("deals:5", "deals:5"), ("DEALS:05", "deals:5")]
)
def test_games_per_coto(value: Any, read: Any) -> None:
    assert resolve("cien", {"games_per_coto": value}).games_per_coto == read


@pytest.mark.parametrize("value", [0, 100, "deals:0", "deals:", "deals:x", "deals", True])
def test_no_such_coto(value: Any) -> None:
    with pytest.raises(InvalidRules):
        resolve("cien", {"games_per_coto": value})


def test_all_faults_at_once() -> None:
    with pytest.raises(InvalidRules) as refusal:
        resolve("mus", {"undertrump": "sometimes", "envido": 1, "tute": 4.5, "target": 10**5000, "cantes": {}}, 3)
    assert reasons(refusal.value) == [
        ("ruleset", "UNKNOWN_RULESET"),
        ("players", "BAD_PLAYERS"),
        ("rules.undertrump", "BAD_RULE"),
        ("rules.envido", "UNKNOWN_RULE"),
        ("rules.tute", "BAD_RULE"),
        ("rules.target", "BAD_RULE"),
        ("rules.cantes", "BAD_RULE"),
    ]


def test_twice_and_players() -> None:
    with pytest.raises(InvalidRules) as refusal:
        resolve("cien", {"exchange_two": True, "exchangeTwo": True, "players": 2})
    assert reasons(refusal.value) == [("rules.exchangeTwo", "REPEATED_FIELD"), ("rules.players", "BAD_RULE")]
    assert resolve("cien", {"players": 2}, 2) is not None


def test_examine_understands_what_it_can() -> None:
    ruleset, faults = examine("cien", {"deck": "french", "undertrump": "sometimes"})
    assert ruleset.deck is Deck.FRENCH
    assert ruleset.name == "cien"
    assert len(faults) == 1


@pytest.mark.parametrize(
    ("figure", "order", "worth"),
    [("sota", "2 4 5 6 7 C S R 3 1", {"C": 2, "S": 3}), ("caballo", "2 4 5 6 7 S C R 3 1", {"S": 2, "C": 3})],
)
def test_ranks_and_points(figure: str, order: str, worth: dict[str, int]) -> None:
    """Sota and caballo are never interchangeable: 3 and 2 points decide 101."""
    ruleset = resolve("aragones", {"figure_under_rey": figure})
    worth = {"1": 11, "3": 10, "R": 4, **worth}
    for suit in "OCEB":
        cards = [parse_card(each + suit, Deck.SPANISH) for each in order.split()]
        assert [ruleset.strength(card) for card in cards] == list(range(10))
        assert sorted(cards, key=ruleset.order.__getitem__) == cards[::-1]
        assert [ruleset.points(card) for card in cards] == [worth.get(each, 0) for each in order.split()]
        mate = parse_card(("S" if figure == "sota" else "C") + suit, Deck.SPANISH)
        assert ruleset.mate("OCEB".index(suit)) == mate
    assert sum(ruleset.values) == 120


@pytest.mark.parametrize(
    ("players", "overrides", "draws", "stock", "tricks"),
    [
        (4, {}, 4, 16, 10),
        (2, {}, 14, 28, 20),
        (4, {"hand_size": 10}, 0, 0, 10),
        (4, {"hand_size": 10, "draw": "no"}, 0, 0, 10),
        (4, {"hand_size": 3}, 7, 28, 10),
        (2, {"hand_size": "3"}, 17, 34, 20),
        (4, {"hand_size": 5, "draw": False}, 0, 0, 5),
    ],
)
def test_shapes(players: int, overrides: dict[str, Any], draws: int, stock: int, tricks: int) -> None:
    """The cousins too: ten cards dealt out, three cards and a long draw."""
    ruleset = resolve("cien", overrides, players)
    assert (ruleset.draw_tricks, ruleset.stock_size, ruleset.total_tricks) == (draws, stock, tricks)


def test_partner_fields_need_partners() -> None:
    assert row("aragones", 4).applies("partner_exempt")
    assert not row("aragones", 2).applies("partner_exempt")
    assert row("aragones", 2).applies("undertrump")
