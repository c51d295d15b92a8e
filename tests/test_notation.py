"""The one-line form and JSON, as texts: what they are read into, where, and what is refused. No game's rules here."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arrastre
from arrastre import notation
from arrastre.errors import ArrastreError, Fault, InvalidSyntax

DOCUMENT = Path(__file__).parent.parent / "docs" / "notation.md"
LINE = (
    "1O.SC/2O.4C.6B/7E6E.2B/5O.3C5C O 0 RC points=71-41 cardPoints=51-41 sung=2B@3 tricks=4-3 exchanged "
    "rules.undertrump=forced"
)


def blocks(kind: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)\n```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    return [text for label, text in found if label == kind]


def refusal(text: str) -> Fault:
    with pytest.raises(InvalidSyntax) as caught:
        notation.read(text)
    (fault,) = caught.value.faults
    return fault


def places(faults: tuple[Fault, ...]) -> list[tuple[str, str, int | None]]:
    return [(fault.field, fault.reason, fault.column) for fault in faults]


# -- reading a line


def test_a_line() -> None:
    raw = notation.read(LINE)
    assert raw.data == {
        "hands": [
            {"cards": ["1O", "SC"]},
            {"cards": ["2O", "4C", "6B"]},
            {"cards": ["7E", "6E", "2B"]},
            {"cards": ["5O", "3C", "5C"]},
        ],
        "trump": "O",
        "leader": 0,
        "trick": ["RC"],
        "points": [71, 41],
        "cardPoints": [51, 41],
        "sung": [{"seat": 2, "suit": "B", "trick": 3}],
        "tricks": [4, 3],
        "exchanged": True,
        "rules": {"undertrump": "forced"},
        "players": 4,
    }
    assert raw.faults == ()


def test_columns_point_at_the_text() -> None:
    raw = notation.read(LINE)
    for path, begins in {
        "hands": "1O.SC/",
        "hands[0].cards[1]": "SC/",
        "hands[2].cards[1]": "6E.2B",
        "hands[3]": "5O.3C",
        "trump": "O 0",
        "leader": "0 RC",
        "trick[0]": "RC points",
        "points": "71-41",
        "points[1]": "41 card",
        "sung[0]": "2B@3",
        "sung[0].suit": "B@3",
        "sung[0].trick": "3 tricks",
        "exchanged": "exchanged",
        "rules.undertrump": "forced",
    }.items():
        assert LINE[raw.columns[path] - 1 :].startswith(begins), path


def test_the_nearest_part_around_a_path() -> None:
    raw = notation.read(LINE)
    column = raw.columns["hands[1]"]
    assert raw.fault("hands[1].hidden", "X").column == column
    assert raw.fault("hands[1]", "X").column == column
    assert raw.fault("hands[9].cards[3]", "X").column == raw.columns["hands"]
    assert raw.fault("moment", "X").column is None
    assert notation.Raw({}).fault("hands[1]", "X").column is None


@pytest.mark.parametrize(
    ("run", "cards"),
    [
        ("1O3O.RC", ["1O", "3O", "RC"]),
        ("1O,3O,RC", ["1O", "3O", "RC"]),
        ("10O11O1O", ["10O", "11O", "1O"]),
        ("O7O10O1", ["O7", "O10", "O1"]),
        ("C7c6", ["C7", "c6"]),
        ("A♠Q♥♦7", ["A♠", "Q♥", "♦7"]),
        ("A♠\ufe0fQ♥\ufe0f", ["A♠\ufe0f", "Q♥\ufe0f"]),
        ("oros_7.copas_12", ["oros_7", "copas_12"]),
        ('"7 de oros""rey de copas".1O', ["7 de oros", "rey de copas", "1O"]),
        ("8O9O", ["8O", "9O"]),
        ("??5E", ["?", "?", "5E"]),
        ("1OXX3O", ["1OXX3O"]),
        ("1O.XX.3O", ["1O", "XX", "3O"]),
        ('"1.O"', ["1.O"]),
        ('1O"never closed', ["1O", '"never closed']),
        ("", []),
        ("-", []),
    ],
)
def test_runs(run: str, cards: list[str]) -> None:
    assert notation.split_cards(run) == cards


def test_hidden_and_excluded() -> None:
    raw = notation.read("1O+4!3O7O/+6/-/!2B O N -")
    assert raw.data["hands"] == [
        {"cards": ["1O"], "hidden": 4, "excluded": ["3O", "7O"]},
        {"cards": [], "hidden": 6},
        {"cards": []},
        {"cards": [], "excluded": ["2B"]},
    ]
    assert raw.data["leader"] == "N"
    assert raw.columns["hands[0].excluded[1]"] == 8


@pytest.mark.parametrize(
    ("option", "field", "value"),
    [
        ("card_points=1-2", "cardPoints", [1, 2]),
        ("tute=2@3", "tute", {"seat": 2, "trick": 3}),
        ("tute=N@3", "tute", {"seat": "N", "trick": 3}),
        ("tute", "tute", True),
        ("exchanged=false", "exchanged", False),
        ("tricks=1-2-3", "tricks", [1, 2, 3]),
        ("tricks=null", "tricks", None),
        ("points=[1,2]", "points", [1, 2]),
        ("points=x", "points", "x"),
        ("stock=5E.SE?", "stock", ["5E", "SE", "?"]),
        ("sung=2B@3,Ooros@4,0♠@5", "sung", None),
        ("sung=[]", "sung", []),
        ("declarer=3", "declarer", 3),
        ("bid=solo", "bid", "solo"),
        ('bid="solo de oros"', "bid", "solo de oros"),
        ('bid="3"', "bid", "3"),
        ('extra={"a":[1,null]}', "extra", {"a": [1, None]}),
        ("offset=-3", "offset", -3),
    ],
)
def test_options(option: str, field: str, value: Any) -> None:
    raw = notation.read(f"- O 0 - {option}")
    assert raw.faults == ()
    if field == "sung" and value is None:
        value = [
            {"seat": 2, "suit": "B", "trick": 3},
            {"seat": "O", "suit": "oros", "trick": 4},
            {"seat": 0, "suit": "♠", "trick": 5},
        ]
    assert raw.data[field] == value


def test_places_not_given() -> None:
    assert notation.read("* * * * x=1").data == {"x": 1}
    assert notation.read("- O 0 -").data == {
        "hands": [{"cards": []}],
        "trump": "O",
        "leader": 0,
        "trick": [],
        "players": 1,
    }


def test_faults_that_are_read_past() -> None:
    raw = notation.read('1O+x/2O O 0 - 7=3 points=1-2 points=1-2 trick=1O sung=2B3,1O@1 x={"a":')
    assert places(raw.faults) == [
        ("hands[0]", "BAD_TEXT", 1),
        ("", "BAD_TEXT", 15),
        ("points", "REPEATED_FIELD", 30),
        ("trick", "REPEATED_FIELD", 41),
        ("sung[0]", "BAD_TEXT", 55),
        ("x", "BAD_TEXT", 66),
    ]
    assert raw.data["sung"] == [{"seat": 1, "suit": "O", "trick": 1}]
    assert raw.data["hands"][1] == {"cards": ["2O"]}
    raw = notation.read('- O 0 - y={"a":1,"a":2} = rules={} rules.x=1 rules.x=2 rules=3')
    assert places(raw.faults) == [
        ("y.a", "REPEATED_FIELD", 11),
        ("", "BAD_TEXT", 25),
        ("rules.x", "REPEATED_FIELD", 46),
        ("rules", "REPEATED_FIELD", 56),
    ]
    assert places(notation.read("- O 0 - rules=3 rules.x=2").faults) == [("rules.x", "REPEATED_FIELD", 17)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "NOT_A_POSITION"),
        ("   ", "NOT_A_POSITION"),
        ("1O O 0", "NOT_A_POSITION"),
        ("\x00\x01\x02", "NOT_A_POSITION"),
        ("- O 0 -\n- O 0 -", "NOT_ONE_LINE"),
        ("[]", "NOT_AN_OBJECT"),
        ("{", "NOT_JSON"),
        ('{"a": NaN}', "NOT_JSON"),
        ('{"a": ' + "9" * 5000 + "}", "NOT_JSON"),
        ('{"a":' * 9000 + "1" + "}" * 9000, "NOT_JSON"),
        ("{} {}", "NOT_JSON"),
        ("1" * (notation.MAX_TEXT + 1), "TOO_LONG"),
    ],
)
def test_refused(text: str, reason: str) -> None:
    assert refusal(text).reason == reason


def test_where_json_goes_wrong() -> None:
    fault = refusal('{"trump": "O",\n "leader" 0}')
    assert (fault.reason, fault.line, fault.column) == ("NOT_JSON", 2, 11)


def test_json_with_names_given_twice() -> None:
    raw = notation.read(
        '\ufeff {"a": {"b": 1, "b": 2}, "c": [0, {"d": 1, "d": 1}], "a": 3, "c": [0, {"d": 1, "d": 2}]}'
    )
    assert [(fault.field, fault.reason) for fault in raw.faults] == [
        ("a", "REPEATED_FIELD"),
        ("c", "REPEATED_FIELD"),
        ("c[1].d", "REPEATED_FIELD"),
    ]
    assert raw.data == {"a": 3, "c": [0, {"d": 2}]}
    assert raw.columns == {}


def test_fields_under_their_canonical_names() -> None:
    known = notation.names(["cardPoints", "trump"])
    assert known == {"cardPoints": "cardPoints", "card_points": "cardPoints", "trump": "trump"}
    found, faults = notation.Raw({"card_points": 1, "cardPoints": 2, "trump": "O", "x\n": 1}).fields(known)
    assert found == {"cardPoints": 1, "trump": "O"}
    assert [(fault.field, fault.reason) for fault in faults] == [
        ("cardPoints", "REPEATED_FIELD"),
        ("x\\n", "UNKNOWN_FIELD"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '"' + '\\"' * 30000,
        '1O"' + "7" * 60000,
        "/" * 60000 + " O 0 -",
        "- O 0 - " + 'x="' * 20000,
        "O12CS" * 12000 + " O 0 -",
        "1O+" * 20000 + " O 0 -",
        "- O 0 - sung=" + "2B@3," * 12000,
        "- O 0 - " + "a." * 30000,
        '{"hands":[[' + '"1O",' * 12000 + '"1O"]]}',
    ],
)
@pytest.mark.timeout(10)
def test_long_texts_take_no_long_time(text: str) -> None:
    with pytest.raises(ArrastreError):
        arrastre.Position.parse(text)


@given(st.text(max_size=80) | st.text(alphabet='1O3C.+!?-/"\\ @=,{}[]:ax', max_size=60))
@settings(max_examples=300)
def test_any_text_is_read_or_refused(text: str) -> None:
    for given_text in (text, f"{{{text}", f"1O O 0 - {text}"):
        refused: InvalidSyntax | None = None
        try:
            raw = notation.read(given_text)
        except InvalidSyntax as error:
            refused = error
        assert refused.faults if refused is not None else isinstance(raw.data, dict)


# -- writing

words = st.from_regex(r"[a-z][a-zA-Z]{0,8}", fullmatch=True)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
)
anything = st.recursive(
    scalars,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3),
    max_leaves=6,
)
plain_cards = st.builds(lambda figure, suit: figure + suit, st.sampled_from("1234567SCR"), st.sampled_from("OCEB"))
card_lists = st.lists(plain_cards | st.text(max_size=6), max_size=5)
hands = st.fixed_dictionaries(
    {"cards": card_lists}, optional={"hidden": st.integers(1, 9), "excluded": card_lists.filter(bool)}
)
pairs = st.lists(st.integers(0, 300), min_size=2, max_size=4)
cantes = st.fixed_dictionaries(
    {"seat": st.integers(0, 3), "suit": st.sampled_from("OCEBDHS"), "trick": st.integers(1, 20)}
)
KNOWN = {"schema", "ruleset", "players", "hands", "trump", "leader", "trick", "rules", "moment"}


@st.composite
def any_games(draw: Any) -> dict[str, Any]:
    """The JSON form of a position of a game nobody has thought of yet."""
    data: dict[str, Any] = {
        "ruleset": draw(words),
        "hands": draw(st.lists(hands, min_size=1, max_size=5)),
        "trump": draw(words),
        "leader": draw(st.integers(0, 4)),
        "trick": draw(card_lists),
    }
    data["players"] = len(data["hands"])
    known = {
        "points": pairs,
        "carried": pairs,
        "cardPoints": pairs,
        "tricks": pairs,
        "stock": card_lists.filter(bool),
        "gone": card_lists.filter(bool),
        "sung": st.lists(cantes, min_size=1, max_size=3),
        "exchanged": st.just(True),
        "vueltas": st.just(True),
        "rules": st.dictionaries(words, scalars, min_size=1, max_size=3),
    }
    data |= draw(st.fixed_dictionaries({}, optional=known))
    taken = KNOWN | set(known) | {"tute"}
    data |= draw(st.dictionaries(words.filter(lambda word: word not in taken), anything, max_size=3))
    return data


@given(any_games())
@settings(max_examples=120)
def test_any_games_form_comes_back(data: dict[str, Any]) -> None:
    text = notation.write(data)
    raw = notation.read(text)
    assert raw.faults == ()
    expected = dict(data)
    read = dict(raw.data)
    for name in ("points", "carried", "tricks"):
        if expected.get(name) == [0, 0]:
            del expected[name]
    if not expected.get("sung") and expected.get("cardPoints") == data.get("points", [0, 0]):
        expected.pop("cardPoints", None)
    if expected["ruleset"] == "aragones":
        del expected["ruleset"]
    assert read == expected
    assert notation.write(read) == text


def test_odd_shapes_are_kept_as_json() -> None:
    data = {"hands": [["a"]], "trump": None, "leader": [1], "trick": "x", "sung": [[1]], "points": [1], "tricks": {}}
    raw = notation.read(notation.write(data))
    assert raw.faults == ()
    assert raw.data == data
    assert notation.read(notation.write({"hands": [["a"]], "players": 1})).data["players"] == 1


def test_a_name_that_is_no_word() -> None:
    with pytest.raises(ValueError, match="a b"):
        notation.write({"a b": 1})
    with pytest.raises(ValueError, match="x="):
        notation.write({"x=": 1})


# -- the document


@pytest.mark.parametrize("text", blocks(""))
def test_examples_of_the_document_are_canonical(text: str) -> None:
    position = arrastre.Position.parse(text)
    assert str(position) == text
    assert arrastre.Position.parse(position.to_json()) == position


def test_the_documents_first_example_in_json() -> None:
    (text,) = blocks("json")
    assert str(arrastre.Position.parse(text)) == blocks("")[0]
    assert arrastre.Position.from_dict(json.loads(text)) == arrastre.Position.parse(text)


def test_the_document_is_whole() -> None:
    assert len(blocks("")) >= 4
    text = DOCUMENT.read_text()
    said = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+|MISSING)`", text))
    folder = Path(notation.__file__).parent
    names = ("notation.py", "cards.py", "game.py", "record.py")
    sources = [folder / name for name in names]
    sources += [folder / "guinote" / name for name in ("gate.py", "rules.py", "replay.py", "scoring.py")]
    code = "".join(source.read_text() for source in sources)
    used = set(re.findall(r'"([A-Z]+(?:_[A-Z]+)+|MISSING)"', code))
    # That it names no others, tests/cli/test_text.py says of all reasons there are.
    assert used <= said
