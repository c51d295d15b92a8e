"""The gate: lenient reading, canonical writing, and every fault with its place."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arrastre import notation
from arrastre.cards import CARD_TEXTS, Deck
from arrastre.errors import ArrastreError, Fault, InvalidPosition
from arrastre.game import Position
from arrastre.guinote.gate import read_position
from arrastre.guinote.position import MOMENTS, GuinotePosition
from strategies import positions

Change = dict[str, Any]

BASE: dict[str, Any] = {
    "trump": "O",
    "hands": [
        {"cards": ["1O", "SC"]},
        {"cards": ["2O", "4C", "6B"]},
        {"cards": ["7E", "6E", "2B"]},
        {"cards": ["5O", "3C", "5C"]},
    ],
    "leader": 0,
    "trick": ["RC"],
    "points": [71, 41],
    "sung": [{"seat": 2, "suit": "B", "trick": 3}],
    "tricks": [4, 3],
    "exchanged": True,
}
#: The last draw is to come, six cards in each hand; trumps are oros and the muestra is their rey.
DRAW: dict[str, Any] = {
    "trump": "O",
    "hands": ["1O3O.1C.7E.2B4B", "SO.3CRC.5E4E.5B", "7O6O.CC.6E.6B7B", "2O.2C4C.3ERE.SB"],
    "stock": ["1E", "1B", "3B", "RO"],
    "leader": 1,
    "tricks": [1, 2],
}
BEFORE_DRAW: dict[str, Any] = DRAW | {
    "hands": ["1O3O.1C.7E.2B", "SO.3CRC.5E4E", "7O6O.CC.6E.6B", "2O.2C4C.3ERE"],
    "tricks": [2, 2],
    "moment": "before_draw",
}
#: One hand seen, the first trick.
HIDDEN: dict[str, Any] = {
    "trump": "B",
    "hands": [["1O", "7O", "RC", "SC", "6E", "2B"], {"hidden": 6}, {"hidden": 6, "excluded": ["1B"]}, {"hidden": 6}],
    "stock": ["?"] * 15 + ["4B"],
}
TWO: dict[str, Any] = {"players": 2, "trump": "O", "hands": ["1O3O", "2O4C"], "leader": 1}

EXAMPLES = (BASE, DRAW, BEFORE_DRAW, HIDDEN, TWO)


def gate(data: Change) -> GuinotePosition:
    return read_position(notation.Raw(data))


def faults(data: Change) -> tuple[Fault, ...]:
    with pytest.raises(InvalidPosition) as refusal:
        gate(data)
    assert refusal.value.code == "INVALID_POSITION"
    return refusal.value.faults


def found(data: Change) -> list[tuple[str, str]]:
    return [(fault.field, fault.reason) for fault in faults(data)]


def with_hand(base: Change, seat: int, hand: Any) -> Change:
    data = copy.deepcopy(base)
    data["hands"][seat] = hand
    return data


# -- round trips

SEARCH = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def check_round_trips(position: GuinotePosition) -> None:
    assert Position.parse(str(position)) == position
    assert Position.parse(position.to_json()) == position
    assert Position.from_dict(position.to_dict()) == position
    assert json.loads(position.to_json()) == position.to_dict()
    assert str(Position.parse(str(position))) == str(position)
    assert notation.write(position.to_dict()) == str(position)
    assert Position.parse(str(position)).to_dict() == position.to_dict()
    snake = {"".join("_" + x.lower() if x.isupper() else x for x in key): v for key, v in position.to_dict().items()}
    assert gate(snake) == position


@SEARCH
@given(positions(kind="whole"))
def test_round_trips_anywhere_in_a_deal(data: Change) -> None:
    check_round_trips(gate(data))


@SEARCH
@given(positions())
def test_round_trips_near_the_end(data: Change) -> None:
    check_round_trips(gate(data))


@SEARCH
@given(positions(kind="whole"), st.randoms(use_true_random=False))
def test_round_trips_with_hidden_cards(data: Change, random: Any) -> None:
    """Hide what one seat does not see, and cards out of reach of a hand."""
    known = gate(data)
    full = known.to_dict()
    seen = [card for hand in full["hands"] for card in hand["cards"]] + full["stock"] + full["trick"]
    everything = CARD_TEXTS[known.rules.deck]
    full["gone"] = [card for card in everything if card not in seen]
    seat = random.randrange(known.players)
    for other, hand in enumerate(full["hands"]):
        if other != seat:
            shown = [card for card in hand["cards"] if random.random() < 0.2]
            out = [card for card in everything if card not in shown and random.random() < 0.1]
            full["hands"][other] = {"cards": shown, "hidden": len(hand["cards"]) - len(shown), "excluded": out}
    full["stock"] = ["?"] * len(full["stock"][:-1]) + full["stock"][-1:]
    position = gate(full)
    check_round_trips(position)
    assert position.played == known.played
    assert position.seat == known.seat


@pytest.mark.parametrize("data", EXAMPLES)
def test_round_trips_of_the_examples(data: Change) -> None:
    check_round_trips(gate(data))


def test_the_canonical_form() -> None:
    position = gate(BASE)
    assert position.to_dict() == {
        "schema": 1,
        "ruleset": "aragones",
        "players": 4,
        "trump": "O",
        "hands": [
            {"cards": ["1O", "SC"], "hidden": 0, "excluded": []},
            {"cards": ["2O", "4C", "6B"], "hidden": 0, "excluded": []},
            {"cards": ["7E", "6E", "2B"], "hidden": 0, "excluded": []},
            {"cards": ["5O", "3C", "5C"], "hidden": 0, "excluded": []},
        ],
        "stock": [],
        "leader": 0,
        "trick": ["RC"],
        "points": [71, 41],
        "cardPoints": [51, 41],
        "sung": [{"seat": 2, "suit": "B", "trick": 3}],
        "tricks": [4, 3],
        "exchanged": True,
        "tute": None,
        "carried": [0, 0],
        "vueltas": False,
        "moment": "play",
        "gone": [],
        "rules": {},
    }
    assert next(iter(position.to_dict())) == "schema"
    assert str(position) == (
        "1O.SC/2O.4C.6B/7E6E.2B/5O.3C5C O 0 RC points=71-41 cardPoints=51-41 sung=2B@3 tricks=4-3 exchanged"
    )


def test_rules_are_written_as_rule_sheets_write_them() -> None:
    rules = {"partnerExempt": False, "target": "100", "tute": "40", "vueltas": "at_once", "hand_size": 6}
    position = gate(BASE | {"rules": rules})
    assert position.to_dict()["rules"] == {"target": 100, "partner_exempt": "no", "tute": 40}
    assert "rules.target=100 rules.partner_exempt=no rules.tute=40" in str(position)


# -- lenient reading


@pytest.mark.parametrize(
    "change",
    [
        {"hands": ["SC1O", "6B.4C,2O", ["7e", "E6", "dos de bastos"], {"cards": "oros_5.copas_05.tres_copas"}]},
        {"hands": ["SC1O", "6B.4C,2O", '7E6E"2 de bastos"', "5o5c3c"], "leader": "N", "trump": "oros"},
        {"trump": "♦"},
        {"trick": ["12C"]},
        {"trick": "RC"},
        {"trick": ["rey de copas"]},
        {"sung": [{"seat": "S", "suit": "bastos", "trick": 3}]},
        {"moment": "play"},
        {"schema": 1},
        {"players": 4},
        {"ruleset": "aragones"},
        {"rules": {"partner_exempt": True, "exchangeTwo": "Yes"}},
        {"cardPoints": [51, 41]},
        {"carried": (0, 0)},
        {"stock": []},
        {"gone": []},
    ],
)
def test_the_same_said_otherwise(change: Change) -> None:
    assert gate(BASE | change) == gate(BASE)


def test_defaults() -> None:
    position = gate({"trump": "O", "hands": ["1O", "2O", "3O", "4O"]})
    assert (position.leader, position.trick, position.stock, position.moment) == (0, (), (), "lead")
    assert (position.points, position.card_points, position.carried) == ((0, 0), (0, 0), (0, 0))
    assert position.tricks is None
    assert position.played == 9
    assert not position.exchanged
    assert not position.vueltas
    assert position.tute is None


def test_no_trick_played_means_that_the_tricks_are_known() -> None:
    assert gate(HIDDEN).tricks == (0, 0)
    assert gate(HIDDEN | {"tricks": None}).tricks == (0, 0)
    assert gate(DRAW | {"tricks": None}).tricks is None


def test_points_from_cards_by_default() -> None:
    sung = [{"seat": 1, "suit": "O", "trick": 1}, {"seat": 0, "suit": "C", "trick": 2}]
    assert gate(BASE | {"sung": sung}).card_points == (51, 1)
    assert gate(BASE | {"sung": sung, "points": [15, 30]}).card_points == (0, 0)
    assert gate(BASE | {"sung": []}).card_points == (71, 41)
    assert gate(BASE | {"cardPoints": [1, 2]}).card_points == (1, 2)


def test_french_deck() -> None:
    hands = ["AD JH", ["2♦", "4h", "clubs_6"], "7S6S.2C", "5D.3H5H"]
    sung = [{"seat": 2, "suit": "clubs", "trick": 3}]
    change = {"hands": [hands[0].split(), *hands[1:]], "trump": "D", "trick": ["K♥"], "sung": sung}
    position = gate(BASE | change | {"rules": {"deck": "french"}})
    assert position.hands == gate(BASE).hands
    assert position.to_dict()["hands"][1]["cards"] == ["2D", "4H", "6C"]
    assert [each.action for each in position.legal_actions()] == ["4H"]
    assert position.to_dict()["sung"] == [{"seat": 2, "suit": "C", "trick": 3}]
    assert found(BASE | change | {"trump": "O", "rules": {"deck": "french"}}) == [("trump", "UNKNOWN_SUIT")]


# -- faults

FAULTS: list[tuple[Change, list[tuple[str, str]]]] = [
    # the form of a field
    (BASE | {"colour": 1}, [("colour", "UNKNOWN_FIELD")]),
    (BASE | {"schema": 2}, [("schema", "BAD_SCHEMA")]),
    (BASE | {"schema": True}, [("schema", "BAD_SCHEMA")]),
    (BASE | {"schema": 1.0}, [("schema", "BAD_SCHEMA")]),
    (BASE | {"card_points": [1, 1], "cardPoints": [1, 1]}, [("cardPoints", "REPEATED_FIELD")]),
    ({}, [("trump", "MISSING"), ("hands", "MISSING")]),
    (BASE | {"trump": 0}, [("trump", "BAD_TYPE")]),
    (BASE | {"hands": {}}, [("hands", "BAD_TYPE")]),
    (BASE | {"players": 4.0}, [("players", "BAD_TYPE")]),
    (BASE | {"players": True}, [("players", "BAD_TYPE")]),
    (BASE | {"leader": False}, [("leader", "BAD_TYPE")]),
    (BASE | {"leader": "0"}, [("leader", "BAD_SEAT")]),
    (BASE | {"leader": "north"}, [("leader", "BAD_TYPE")]),
    (BASE | {"leader": None}, [("leader", "BAD_TYPE")]),
    (BASE | {"trick": 7}, [("trick", "BAD_TYPE"), ("hands[0]", "HAND_SIZE")]),
    (BASE | {"stock": None}, [("stock", "BAD_TYPE")]),
    (BASE | {"trick": [7]}, [("trick[0]", "BAD_TYPE")]),
    (BASE | {"trick": [["RC"]]}, [("trick[0]", "BAD_TYPE")]),
    (BASE | {"points": 71}, [("points", "BAD_TYPE")]),
    (BASE | {"points": [71]}, [("points", "BAD_TYPE")]),
    (BASE | {"points": [71, True]}, [("points", "BAD_TYPE")]),
    (BASE | {"points": [71, 41.0]}, [("points", "BAD_TYPE")]),
    (BASE | {"points": [-1, 301]}, [("points[0]", "OUT_OF_RANGE"), ("points[1]", "OUT_OF_RANGE")]),
    (BASE | {"carried": [10**5000, 0]}, [("carried[0]", "OUT_OF_RANGE")]),
    (BASE | {"cardPoints": [0, 301]}, [("cardPoints[1]", "OUT_OF_RANGE")]),
    (BASE | {"exchanged": 1}, [("exchanged", "BAD_TYPE")]),
    (BASE | {"vueltas": "yes"}, [("vueltas", "BAD_TYPE")]),
    (BASE | {"tute": True}, [("tute", "BAD_TYPE")]),
    (BASE | {"tute": {"seat": 7, "who": 1}}, [("tute.who", "UNKNOWN_FIELD"), ("tute.trick", "MISSING")]),
    (BASE | {"tute": {"seat": 7, "trick": 1}}, [("tute.seat", "BAD_SEAT")]),
    (BASE | {"tute": {"seat": 0, "trick": "1"}}, [("tute.trick", "BAD_TYPE")]),
    (BASE | {"moment": 3}, [("moment", "BAD_TYPE")]),
    (with_hand(BASE, 0, {"cards": ["1O", "SC"], "size": 2}), [("hands[0].size", "UNKNOWN_FIELD")]),
    (with_hand(BASE, 0, {"cards": 7}), [("hands[0].cards", "BAD_TYPE"), ("hands[0]", "HAND_SIZE")]),
    (with_hand(BASE, 0, None), [("hands[0].cards", "BAD_TYPE"), ("hands[0]", "HAND_SIZE")]),
    (with_hand(BASE, 0, {"cards": ["1O", "SC"], "hidden": "0"}), [("hands[0].hidden", "BAD_TYPE")]),
    (
        with_hand(BASE, 0, {"cards": ["1O", "SC"], "hidden": 7}),
        [("hands[0].hidden", "OUT_OF_RANGE"), ("hands[0]", "HAND_SIZE")],
    ),
    # rules
    (BASE | {"rules": []}, [("rules", "BAD_TYPE")]),
    (BASE | {"ruleset": 3}, [("ruleset", "BAD_TYPE")]),
    (BASE | {"ruleset": "mus"}, [("ruleset", "UNKNOWN_RULESET")]),
    (BASE | {"rules": {"envido": 1}}, [("rules.envido", "UNKNOWN_RULE")]),
    (BASE | {"rules": {"tute": 41, "target": []}}, [("rules.tute", "BAD_RULE"), ("rules.target", "BAD_RULE")]),
    (BASE | {"rules": {"players": 2}}, [("rules.players", "BAD_RULE")]),
    (BASE | {"players": 3}, [("players", "BAD_PLAYERS")]),
    # cards
    (BASE | {"trick": ["13O"]}, [("trick[0]", "UNKNOWN_CARD")]),
    (BASE | {"trick": ["?"]}, [("trick[0]", "UNKNOWN_CARD")]),
    (BASE | {"trick": ["9C"]}, [("trick[0]", "NOT_IN_DECK")]),
    (BASE | {"trump": "S"}, [("trump", "UNKNOWN_SUIT")]),
    (BASE | {"trick": ["1O"]}, [("trick[0]", "CARD_TWICE")]),
    (with_hand(BASE, 3, ["5O", "5C", "5o"]), [("hands[3].cards[2]", "CARD_TWICE")]),
    (BASE | {"hands": BASE["hands"][:3]}, [("hands", "HAND_COUNT")]),
    (TWO | {"hands": ["1O", "2O", "3O"]}, [("hands", "HAND_COUNT")]),
    (BASE | {"trick": ["RC", "2C", "6C", "7C"]}, [("trick", "TRICK_SIZE")]),
    # sizes against each other
    (with_hand(BASE, 3, ["5O", "5C"]), [("hands[3]", "HAND_SIZE")]),
    (with_hand(BASE, 0, ["1O", "SC", "7B"]), [("hands[0]", "HAND_SIZE")]),
    (BASE | {"leader": 1}, [("hands[0]", "HAND_SIZE"), ("hands[1]", "HAND_SIZE")]),
    (TWO | {"hands": ["1O3O5O6O7OSORO", "1C3C5C6C7CSCRC"]}, [("hands[0]", "HAND_SIZE"), ("hands[1]", "HAND_SIZE")]),
    (DRAW | {"stock": ["1E", "1B", "RO"]}, [("stock", "STOCK_SIZE")]),
    (with_hand(DRAW, 2, "7O6O.CC.6E.6B"), [("hands[2]", "HAND_SIZE")]),
    (DRAW | {"rules": {"draw": "no"}}, [("stock", "STOCK_SIZE")]),
    (HIDDEN | {"stock": ["?"] * 19 + ["4B"]}, [("stock", "STOCK_SIZE")]),
    (BEFORE_DRAW | {"moment": "lead"}, [(f"hands[{seat}]", "HAND_SIZE") for seat in range(4)]),
    (DRAW | {"moment": "before_draw"}, [(f"hands[{seat}]", "HAND_SIZE") for seat in range(4)]),
    # moments
    (BASE | {"moment": "later"}, [("moment", "BAD_MOMENT")]),
    (BASE | {"moment": "lead"}, [("moment", "BAD_MOMENT")]),
    (DRAW | {"moment": "play"}, [("moment", "BAD_MOMENT")]),
    (TWO | {"moment": "rivals"}, [("moment", "BAD_MOMENT")]),
    (HIDDEN | {"moment": "rivals"}, [("moment", "BAD_MOMENT")]),
    (TWO | {"moment": "before_draw"}, [("moment", "BAD_MOMENT")]),
    (BEFORE_DRAW | {"rules": {"exchange_after_last_draw_trick": "no"}}, [("moment", "BAD_MOMENT")]),
    # the muestra
    (DRAW | {"stock": ["1E", "1B", "RO", "3B"]}, [("stock[3]", "MUESTRA_NOT_TRUMP")]),
    (DRAW | {"stock": ["1E", "1B", "3B", "?"]}, [("gone", "GONE_SIZE"), ("stock[3]", "MUESTRA_UNKNOWN")]),
    (DRAW | {"exchanged": True}, [("stock[3]", "EXCHANGED_MUESTRA")]),
    # history
    (BASE | {"tricks": [4, 4]}, [("tricks", "TRICKS_SUM")]),
    (BASE | {"tricks": [4]}, [("tricks", "BAD_TYPE")]),
    (BASE | {"tricks": [11, 0]}, [("tricks[0]", "OUT_OF_RANGE")]),
    (BASE | {"sung": {}}, [("sung", "BAD_TYPE")]),
    (BASE | {"sung": ["2B@3"]}, [("sung[0]", "BAD_TYPE")]),
    (BASE | {"sung": [{}]}, [("sung[0].seat", "MISSING"), ("sung[0].suit", "MISSING"), ("sung[0].trick", "MISSING")]),
    (
        BASE | {"sung": [{"seat": 4, "suit": "X", "trick": "3", "points": 20}]},
        [
            ("sung[0].points", "UNKNOWN_FIELD"),
            ("sung[0].seat", "BAD_SEAT"),
            ("sung[0].suit", "UNKNOWN_SUIT"),
            ("sung[0].trick", "BAD_TYPE"),
        ],
    ),
    (BASE | {"sung": [{"seat": 0, "suit": 1, "trick": 1}]}, [("sung[0].suit", "BAD_TYPE")]),
    (
        BASE | {"sung": [{"seat": 0, "suit": "B", "trick": 1}, {"seat": 1, "suit": "bastos", "trick": 2}]},
        [("sung[1].suit", "SUNG_TWICE")],
    ),
    (BASE | {"sung": [{"seat": 0, "suit": "B", "trick": 8}]}, [("sung[0].trick", "SUNG_TRICK")]),
    (BASE | {"sung": [{"seat": 0, "suit": "B", "trick": 0}]}, [("sung[0].trick", "SUNG_TRICK")]),
    # what is not seen
    (HIDDEN | {"gone": ["1E"]}, [("gone", "GONE_SIZE")]),
    (BASE | {"gone": ["1E"]}, [("gone", "GONE_SIZE")]),
    (BASE | {"gone": ["1O"]}, [("gone[0]", "CARD_TWICE"), ("gone", "GONE_SIZE")]),
    (with_hand(BASE, 3, {"cards": ["5O", "5C"], "hidden": 1}), [("gone", "GONE_SIZE")]),
    (
        with_hand(BASE, 3, {"cards": ["5O", "5C", "3C"], "excluded": ["7B", "5C", "9C"]}),
        [("hands[3].excluded[2]", "NOT_IN_DECK"), ("hands[3].excluded[1]", "EXCLUDED_HELD")],
    ),
]


@pytest.mark.parametrize(
    ("data", "expected"), FAULTS, ids=lambda value: None if isinstance(value, dict) else value[0][1]
)
def test_faults(data: Change, expected: list[tuple[str, str]]) -> None:
    assert sorted(found(data)) == sorted(expected)
    for fault in faults(data):
        assert fault.message
        assert fault.column is None


def test_ambiguous_cards_name_themselves() -> None:
    (fault,) = [
        each
        for each in faults({"ruleset": "gamerules", "trump": "D", "hands": [["11H"], ["AD"], ["2D"], ["3D"]]})
        if each.reason != "HAND_SIZE"
    ]
    assert (fault.field, fault.reason, fault.card) == ("hands[0].cards[0]", "AMBIGUOUS_CARD", "11H")


def test_all_at_once_with_their_columns() -> None:
    text = (
        "1O.9C/2O.4C.6X/7E6E.1O/5O.3C5C X 0 RC points=71-400 tricks=4-4 sung=2B@9 rules.tute=41 colour=red exchanged=1"
    )
    with pytest.raises(InvalidPosition) as refusal:
        Position.parse(text)
    said = [(fault.field, fault.reason, fault.card, fault.column) for fault in refusal.value.faults]
    assert sorted(said, key=lambda each: (each[3] or 0, each[0])) == [
        ("hands[0].cards[1]", "NOT_IN_DECK", "9C", text.index("9C") + 1),
        ("hands[1].cards[2]", "UNKNOWN_CARD", "6X", text.index("6X") + 1),
        ("hands[2].cards[2]", "CARD_TWICE", "1O", text.index("1O/5O") + 1),
        ("trump", "UNKNOWN_SUIT", None, text.index("X 0") + 1),
        ("points[1]", "OUT_OF_RANGE", None, text.index("400") + 1),
        ("tricks", "TRICKS_SUM", None, text.index("4-4") + 1),
        ("sung[0].trick", "SUNG_TRICK", None, text.index("9 rules") + 1),
        ("rules.tute", "BAD_RULE", None, text.index("41 colour") + 1),
        ("colour", "UNKNOWN_FIELD", None, text.index("red") + 1),
        ("exchanged", "BAD_TYPE", None, text.index("1", text.index("exchanged")) + 1),
    ]


def test_faults_of_the_reader_come_with_the_gates() -> None:
    text = '{"trump": "O", "trump": "X", "hands": [["1O"], ["2O"], ["3O"], ["1O"]]}'
    with pytest.raises(InvalidPosition) as refusal:
        Position.parse(text)
    assert [(fault.field, fault.reason) for fault in refusal.value.faults] == [
        ("trump", "REPEATED_FIELD"),
        ("trump", "UNKNOWN_SUIT"),
        ("hands[3].cards[0]", "CARD_TWICE"),
    ]


def test_what_a_hand_should_hold() -> None:
    with pytest.raises(InvalidPosition, match=r"hands\[3\]: seat 3 should hold 3 cards now, not 2"):
        gate(with_hand(BASE, 3, ["5O", "5C"]))


@pytest.mark.parametrize(
    ("muestra", "exchange_two", "sound"),
    [("7O", "yes", True), ("7O", "no", True), ("2O", "yes", True), ("2O", "no", False), ("RO", "yes", False)],
)
def test_what_an_exchange_leaves(muestra: str, exchange_two: str, sound: bool) -> None:
    hands = ["1O3O.1C.7E.2B4B", "SO.3CRC.5E4E.5B", "5O6O.CC.6E.6B7B", "4O.2C4C.3ERE.SB"]
    data = DRAW | {"hands": hands, "stock": ["1E", "1B", "3B", muestra], "exchanged": True}
    data["rules"] = {"exchange_two": exchange_two}
    if sound:
        assert gate(data).muestra == {"7O": 6, "2O": 1}[muestra]
    else:
        assert found(data) == [("stock[3]", "EXCHANGED_MUESTRA")]


def test_every_card_is_somewhere() -> None:
    """With cards unseen, those that have gone must all be listed."""
    known = gate(BASE).to_dict()
    seen = [card for hand in known["hands"] for card in hand["cards"]] + known["trick"]
    gone = [card for card in CARD_TEXTS[Deck.SPANISH] if card not in seen]
    data = with_hand(BASE, 3, {"cards": ["5O", "5C"], "hidden": 1, "excluded": ["3C"]})
    position = gate(data | {"gone": gone})
    assert not position.fully_known
    assert position.hidden == (0, 0, 0, 1)
    assert len(position.gone) == 28
    assert found(data | {"gone": gone[1:]}) == [("gone", "GONE_SIZE")]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 400)
    | st.floats(allow_nan=False)
    | st.sampled_from(["1O", "O", "x", ""]),
    lambda part: (
        st.lists(part, max_size=5) | st.dictionaries(st.sampled_from(["cards", "seat", "a"]), part, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(EXAMPLES), st.dictionaries(st.sampled_from(sorted(gate(BASE).to_dict())), json_values, max_size=3)
)
@settings(max_examples=400, deadline=None)
def test_anything_is_a_position_or_a_refusal(base: Change, change: Change) -> None:
    refused: ArrastreError | None = None
    try:
        position = gate(base | change)
    except ArrastreError as error:
        refused = error
    if refused is not None:
        assert refused.faults
        json.dumps(refused.to_dict())
    else:
        assert position.moment in MOMENTS
        check_round_trips(position)
        position.legal_actions()
