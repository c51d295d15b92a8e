"""What may be done at each moment, why not, and what comes of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arrastre import notation
from arrastre.cards import CARD_TEXTS, Deck
from arrastre.errors import IllegalAction
from arrastre.game import Action
from arrastre.guinote import position as module
from arrastre.guinote.gate import read_position
from arrastre.guinote.position import GuinotePosition
from arrastre.guinote.reasons import SENTENCES
from arrastre.guinote.rules import RULESETS
from strategies import positions

CASES = Path(__file__).parent.parent / "data" / "cases"
DECLARATIONS = ("cante", "cambio", "tute", "pass")


def gate(**data: Any) -> GuinotePosition:
    return read_position(notation.Raw(data))


def line(text: str) -> GuinotePosition:
    return read_position(notation.read(text))


def playable(position: GuinotePosition) -> set[str]:
    return {each.action for each in position.legal_actions() if not each.action.startswith(DECLARATIONS)}


def declared(position: GuinotePosition) -> set[tuple[str, int]]:
    return {(each.action, each.seat) for each in position.legal_actions() if each.action.startswith(DECLARATIONS)}


def reason(position: GuinotePosition, action: Action | str) -> str:
    with pytest.raises(IllegalAction) as refusal:
        position.apply(action)
    (fault,) = refusal.value.faults
    assert refusal.value.code == "ILLEGAL_ACTION"
    return fault.reason


# -- following suit in the arrastre


def trick(table: str, hand: str, *, players: int = 4, **rules: Any) -> GuinotePosition:
    """Trumps oros; seat 0 led; the next seat holds ``hand`` and is to play. The other hands hold what is left."""
    cards = table.split()
    held = hand.split()
    rest = [card for card in CARD_TEXTS[Deck.SPANISH] if card not in cards and card not in held]
    hands = []
    for seat in range(players):
        size = len(held) - (seat < len(cards))
        hands.append(held if seat == len(cards) else [rest.pop() for _ in range(size)])
    return gate(players=players, trump="O", hands=hands, trick=cards, rules=rules)


# Cards on the table, hand, what differs from the default rules, what may be played; and for every other card the duty
# and the card that causes it.
WORKED: list[tuple[str, str, dict[str, Any], str, dict[str, tuple[str, str]]]] = [
    ("4C", "2C 1C 7B", {}, "1C", {"2C": ("BEAT_CARD", "4C"), "7B": ("FOLLOW_SUIT", "4C")}),
    ("4C", "2C 7B", {}, "2C", {"7B": ("FOLLOW_SUIT", "4C")}),
    ("4C", "2O 7B", {}, "2O", {"7B": ("MUST_TRUMP", "4C")}),
    ("4C", "3B 7B", {}, "3B 7B", {}),
    ("4C 7B", "2O 3B", {}, "2O 3B", {}),
    ("4C 7B", "2O 3B", {"partner_exempt": "no"}, "2O", {"3B": ("MUST_TRUMP", "4C")}),
    ("4C 2O", "5C 7O", {}, "5C", {"7O": ("FOLLOW_SUIT", "4C")}),
    ("4C 2O 5C", "7O 3B", {}, "7O 3B", {}),
    ("4C 2O 5C", "7O 3B", {"partner_exempt": "no"}, "7O", {"3B": ("OVERTRUMP", "2O")}),
    ("4C 2O", "7O 3B", {}, "7O", {"3B": ("OVERTRUMP", "2O")}),
    ("4C 5C 6O", "4O 7O 5B", {}, "7O", {"4O": ("OVERTRUMP", "6O"), "5B": ("OVERTRUMP", "6O")}),
    ("4C 5C 6O", "4O 5B", {}, "4O 5B", {}),
    ("4C 5C 6O", "4O 5B", {"undertrump": "forced"}, "4O", {"5B": ("UNDERTRUMP", "6O")}),
    ("4C 2O", "2C 1C 7O", {}, "2C 1C", {"7O": ("FOLLOW_SUIT", "4C")}),
    ("4C 2O", "2C 1C 7O", {"beat_in_suit": "led_suit"}, "1C", {"2C": ("BEAT_CARD", "4C"), "7O": ("FOLLOW_SUIT", "4C")}),
    ("6O", "4O 7O 1C", {}, "7O", {"4O": ("BEAT_CARD", "6O"), "1C": ("FOLLOW_SUIT", "6O")}),
    ("6O", "4O 1C", {}, "4O", {"1C": ("FOLLOW_SUIT", "6O")}),
    # beyond the worked cases
    ("6O", "4C 1C", {}, "4C 1C", {}),
    ("4C", "2C 1C", {"beat_in_suit": "no"}, "2C 1C", {}),
    ("4C 1C", "2C 3C 2O", {}, "2C 3C", {"2O": ("FOLLOW_SUIT", "4C")}),
    ("4C 5C", "2C 6C", {}, "6C", {"2C": ("BEAT_CARD", "5C")}),
    ("7C 6C", "2C 3C", {}, "2C 3C", {}),
    ("7C 6C", "2C 3C", {"partner_exempt": "no"}, "3C", {"2C": ("BEAT_CARD", "7C")}),
    ("3C 4O 5C", "2C 1C", {"beat_in_suit": "led_suit", "partner_exempt": "no"}, "1C", {"2C": ("BEAT_CARD", "3C")}),
    ("3C 4O 5C", "2C 1C", {"beat_in_suit": "led_suit"}, "2C 1C", {}),
    ("SC", "4C CC 5B", {"figure_under_rey": "caballo"}, "CC", {"4C": ("BEAT_CARD", "SC"), "5B": ("FOLLOW_SUIT", "SC")}),
    ("SC", "4C CC 5B", {}, "4C CC", {"5B": ("FOLLOW_SUIT", "SC")}),
    ("4C", "2C 1C 7B", {"strict_from_start": "never"}, "2C 1C 7B", {}),
    ("", "2C 1C 7B", {}, "2C 1C 7B", {}),
]


@pytest.mark.parametrize(("table", "hand", "rules", "legal", "duties"), WORKED)
def test_worked_cases(
    table: str, hand: str, rules: dict[str, Any], legal: str, duties: dict[str, tuple[str, str]]
) -> None:
    position = trick(table, hand, **rules)
    assert playable(position) == set(legal.split())
    for card in legal.split():
        assert position.why_not(card) is None
        assert position.why_not(card, "es") is None
    assert set(duties) == set(hand.split()) - set(legal.split())
    for card, (duty, cause) in duties.items():
        assert reason(position, card) == duty
        assert reason(position, Action(card, position.seat)) == duty
        for lang in ("en", "es"):
            words = position.why_not(card, lang)
            assert words is not None
            assert cause in words


def test_the_words_of_the_duties() -> None:
    """In both languages: the duty, the card that causes it, the cards that fulfil it."""
    assert trick("4C", "2C 1C 3C").why_not("2C") == "must beat 4C: 1C or 3C can"
    assert trick("4C", "2C 1C 3C").why_not("2C", "es") == "hay que montar 4C: se puede con 1C o 3C"
    position = trick("4C", "2C 7B")
    assert position.why_not("7B") == "must follow suit: 4C was led, and copas are in hand"
    assert position.why_not("siete de bastos", "es") == "hay que servir al palo: salió 4C y hay copas en la mano"
    position = trick("4C", "2O 7B")
    assert position.why_not("7B") == "must trump: 4C was led, no copas are in hand and trumps are"
    assert position.why_not("7B", "es") == "hay que fallar: salió 4C, no hay copas en la mano y sí triunfos"
    position = trick("4C 5C 6O", "4O 7O 5B")
    assert position.why_not("5B") == "must overtrump 6O, which is winning: 7O can"
    assert position.why_not("5B", "es") == "hay que superar el triunfo 6O, que va ganando: se puede con 7O"
    position = trick("4C 5C 6O", "4O 5B", undertrump="forced")
    assert position.why_not("5B") == "must play a trump, though none in hand beats 6O"
    assert position.why_not("5B", "es") == "hay que echar triunfo, aunque ninguno supere 6O"


def test_cards_in_words_follow_the_deck() -> None:
    position = line("2H3H/4H7D D 1 - ruleset=gamerules").apply("4H")
    assert position.why_not("2H") == "must beat 4♥: 3♥ can"


def test_not_this_card_now() -> None:
    position = trick("4C", "2C 7B")
    other = next(text for text in position.to_dict()["hands"][2]["cards"])
    assert reason(position, other) == "NOT_YOUR_TURN"
    assert position.why_not(other) == f"{other} is not for seat 2 (S) to play: it is seat 1 (O)'s turn"
    assert reason(position, Action("2C", 3)) == "NOT_YOUR_TURN"
    assert reason(position, "4C") == "NOT_IN_HAND"
    assert position.why_not("4C") == "seat 1 (O) does not hold 4C"
    assert reason(position, Action("2C", 4)) == "BAD_SEAT"
    assert reason(position, Action("cambio", -1)) == "BAD_SEAT"
    assert reason(position, "pass") == "NOTHING_TO_PASS"
    assert reason(position, "8C") == "NOT_IN_DECK"
    assert reason(position, "sing") == "UNKNOWN_ACTION"
    assert reason(position, "cante X") == "UNKNOWN_SUIT"
    assert position.why_not("dance") is not None
    assert str(position.why_not("dance", "es")).startswith("esto no es ninguna jugada: las jugadas son ")


def test_an_action_that_cannot_be_read_says_what_actions_there_are() -> None:
    position = line("1O2O/3O4O/5O6O/7OSO O 0 -")
    for text in ("dance", "cante", "cantar", "sing", "passing", "cambio x", "1O N", "(N)", "", "x" * 500):
        said = str(position.why_not(text))
        assert reason(position, text) == "UNKNOWN_ACTION"
        assert all(word in said for word in ("a card", "'cante O'", "'cambio'", "'tute'", "'pass'"))


@pytest.mark.parametrize(
    "text",
    ["cante E", "sing espadas", "Sing  Espadas (N)", "cantar espadas", "cante_E", "canteE", "cante e n", "CANTE-E 0"],
)
def test_spellings_of_a_cante(text: str) -> None:
    position = line("RESE.CB/4O.CC.4B/1E3E7E/RC.4E.SB B 2 - points=32-49 tricks=2-5")
    assert position.apply(text) == position.apply(Action("cante E", 0))


def test_a_seat_behind_an_action_is_the_one_that_acts() -> None:
    position = line("RESE.CB/4O.CC.4B/1E3E7E/RC.4E.SB B 2 - points=32-49 tricks=2-5")
    assert position.apply("1E (S)") == position.apply("1E")
    assert reason(position, "cante E S") == "CANTE_CARDS"
    assert reason(position, "1E (N)") == "NOT_YOUR_TURN"
    assert position.why_not("1E (N)") == "1E is not for seat 0 (N) to play: it is seat 2 (S)'s turn"


def test_all_that_people_read_of_an_action_can_be_typed_back() -> None:
    texts = [
        "RESE.CB/4O.CC.4B/1E3E7E/RC.4E.SB B 2 - points=32-49 tricks=2-5",
        "3OROSO.RC.5B/1C7C.3B6B2B/6O.6E.RBSBCB/CO.CC.1ESE.7B B 1 - points=72-18 stock=4O2E3C1B moment=before_draw",
    ]
    for text in texts:
        position = line(text)
        for action in position.legal_actions():
            for lang in ("en", "es"):
                said = position.game.face(position, action, lang).text
                for spelled in (said, f"{said} ({'NOSE'[action.seat]})"):
                    assert position.apply(spelled) == position.apply(action)


def test_every_sentence_exists_in_both_languages() -> None:
    used = set(re.findall(r'Objection\(\s*"([A-Z_]+)"', Path(module.__file__).read_text()))
    assert used | {"UNKNOWN_ACTION"} == set(SENTENCES)
    for english, spanish in SENTENCES.values():
        assert english != spanish


@pytest.mark.parametrize("case", json.loads((CASES / "legality.json").read_text()), ids=lambda case: case["why"])
def test_cases_of_an_independent_reference(case: dict[str, Any]) -> None:
    position = read_position(notation.Raw(case["position"]))
    assert position.seat == case["seat"]
    assert playable(position) == set(case["legal"])


def test_draw_tricks_are_free() -> None:
    """The duties begin with the first trick that begins without a stock; or at once, or never."""
    free = deal(holder=0)
    free = free.apply(first(free))
    assert not free.strict
    assert playable(free) == set(free.to_dict()["hands"][free.seat]["cards"])
    position = deal(holder=0, rules={"strict_from_start": "yes"})
    after = position.apply(first(position))
    assert after.strict
    assert playable(after) < {CARD_TEXTS[Deck.SPANISH][card] for card in after.hands[after.seat]}


def first(position: GuinotePosition) -> Action:
    return position.legal_actions()[0]


# -- cantes


def window(hands: list[str], *, leader: int = 0, sung: Any = (), rules: Any = None, **data: Any) -> GuinotePosition:
    """Between two tricks of the arrastre, trumps oros, the leader's side to declare."""
    return gate(players=len(hands), trump="O", hands=hands, leader=leader, sung=list(sung), rules=rules or {}, **data)


#: Seat 0 holds rey and sota of oros, seat 2 those of copas and bastos, seat 1 those of espadas.
SINGERS = ["ROSO1C1E1B", "RESE2C2E2B", "RCSCRBSB3B", "4O5O6O7OCO"]


def cantes(position: GuinotePosition) -> set[tuple[str, int]]:
    return {(action.removeprefix("cante "), seat) for action, seat in declared(position) if action.startswith("cante")}


def cante(seat: int, suit: str, after: int) -> dict[str, Any]:
    return {"seat": seat, "suit": suit, "trick": after}


@pytest.mark.parametrize(
    ("leader", "rules", "sung", "expected"),
    [
        (0, {}, [], {("O", 0), ("C", 2), ("B", 2)}),
        (2, {}, [], {("O", 0), ("C", 2), ("B", 2)}),
        (1, {}, [], {("E", 1)}),
        (3, {}, [], {("E", 1)}),
        (0, {"cante_by": "winner"}, [], {("O", 0)}),
        (2, {"cante_by": "winner"}, [], {("C", 2), ("B", 2)}),
        (3, {"cante_by": "winner"}, [], set()),
        # the fifth trick is the last one: one cante for the side, or one for each member
        (0, {}, [cante(0, "O", 5)], set()),
        (0, {}, [cante(0, "O", 4)], {("C", 2), ("B", 2)}),
        (0, {}, [cante(2, "C", 5)], set()),
        (0, {"cantes_per_trick": "member"}, [cante(0, "O", 5)], {("C", 2), ("B", 2)}),
        (0, {"cantes_per_trick": "member"}, [cante(2, "C", 5)], {("O", 0)}),
        (0, {"cantes_per_trick": "member"}, [cante(2, "C", 5), cante(0, "O", 5)], set()),
        (0, {}, [cante(1, "E", 5)], {("O", 0), ("C", 2), ("B", 2)}),
        (0, {"figure_under_rey": "caballo"}, [], set()),
        (0, {"cantes": "no"}, [], set()),
        (0, {"cante_window": "rival_play"}, [], {("O", 0), ("C", 2), ("B", 2)}),
    ],
)
def test_who_sings_what(leader: int, rules: dict[str, Any], sung: list[Any], expected: set[tuple[str, int]]) -> None:
    assert cantes(window(SINGERS, leader=leader, rules=rules, sung=sung)) == expected


def test_trumps_are_sung_first_in_the_list() -> None:
    actions = [each.action for each in window(SINGERS, leader=2).legal_actions()]
    assert actions[5:] == ["cante O", "cante C", "cante B"]


def test_two_players_sing() -> None:
    hands = ["ROSO1C", "RESE2C"]
    for rules in ({}, {"cante_by": "winner"}, {"cantes_per_trick": "member"}):
        assert cantes(window(hands, rules=rules)) == {("O", 0)}
        assert cantes(window(hands, leader=1, rules=rules)) == {("E", 1)}


def test_a_cante_scores_and_closes() -> None:
    position = window(SINGERS, points=[10, 20])
    after = position.apply("cante copas")
    assert after.points == (30, 20)
    assert after.card_points == position.card_points
    assert [(each.seat, each.suit, each.trick) for each in after.sung] == [(2, 1, 5)]
    assert after.moment == "lead"
    assert cantes(after) == set()
    assert reason(after, "cante O") == "CANTE_LIMIT"
    assert position.apply(Action("cante O", 0)).points == (50, 20)


@pytest.mark.parametrize(
    ("position", "action", "why"),
    [
        (window(SINGERS), "cante E", "CANTE_SIDE"),
        (window(SINGERS), Action("cante E", 0), "CANTE_CARDS"),
        (window(SINGERS, leader=1), "cante O", "CANTE_SIDE"),
        (window(SINGERS, rules={"cante_by": "winner"}), "cante C", "CANTE_WINNER"),
        (window(SINGERS, sung=[cante(0, "O", 2)]), "cante O", "CANTE_SUNG"),
        (window(SINGERS, sung=[cante(0, "O", 5)]), "cante C", "CANTE_LIMIT"),
        (window(SINGERS, rules={"cantes": "no"}), "cante O", "NO_CANTES"),
        (window(SINGERS).apply("1C"), "cante O", "CANTE_MOMENT"),
        (window(["ROSO", "1C2C"], rules={"hand_size": 2, "draw": "no"}), "cante O", "CANTE_NO_TRICK"),
        (window(["RO4O", "1CSO"]), "cante O", "CANTE_CARDS"),
    ],
)
def test_why_not_sing(position: GuinotePosition, action: Action | str, why: str) -> None:
    assert reason(position, action) == why
    if isinstance(action, str):
        english, spanish = position.why_not(action), position.why_not(action, "es")
        assert english
        assert spanish
        assert english != spanish


def test_the_missing_card_of_a_cante() -> None:
    assert window(["RO4O", "1CSO"]).why_not("cante O") == "oros need two cards in one hand, and SO is missing"
    assert window(["SO4O", "1CRO"]).why_not("cante O", "es") == "oros necesita dos cartas en la misma mano, y falta RO"


# -- tute

REYES = ["RORCRERB1O", "SOSCSESB2O", "COCCCECB3O", "4O5O6O7O4C"]


@pytest.mark.parametrize(
    ("leader", "rules", "expected"),
    [
        (0, {}, {0}),
        (2, {}, {0}),
        (1, {}, {1}),
        (3, {}, {1}),
        (0, {"figure_under_rey": "caballo"}, {0, 2}),
        (1, {"figure_under_rey": "caballo"}, set()),
        (0, {"tute": 40}, {0}),
        (1, {"tute": 40}, set()),
        (0, {"tute": 40, "figure_under_rey": "caballo"}, {0}),
        (0, {"tute": "none"}, set()),
        (2, {"cante_by": "winner"}, {0}),
    ],
)
def test_who_has_a_tute(leader: int, rules: dict[str, Any], expected: set[int]) -> None:
    position = window(REYES, leader=leader, rules=rules)
    assert {seat for action, seat in declared(position) if action == "tute"} == expected


def test_a_tute_is_declared_once() -> None:
    position = window(REYES, points=[7, 0])
    after = position.apply("tute")
    assert after.tute is not None
    assert after.points == (7, 0)
    assert reason(after, "tute") == "TUTE_DONE"
    scored = window(REYES, points=[7, 0], rules={"tute": 40}).apply(Action("tute", 0))
    assert scored.points == (47, 0)
    assert scored.card_points == (7, 0)


@pytest.mark.parametrize(
    ("position", "why"),
    [
        (window(REYES, rules={"tute": "none"}), "NO_TUTE"),
        (window(REYES, leader=3, rules={"tute": 40}), "TUTE_SIDE"),
        (window(SINGERS), "TUTE_CARDS"),
        (window(REYES).apply("1O"), "TUTE_MOMENT"),
        (window(REYES, rules={"hand_size": 5, "draw": "no"}), "TUTE_NO_TRICK"),
    ],
)
def test_why_not_a_tute(position: GuinotePosition, why: str) -> None:
    assert reason(position, "tute") == why
    assert position.why_not("tute") != position.why_not("tute", "es")


# -- exchange


def deal(
    *,
    holder: int,
    card: str = "7O",
    moment: str = "lead",
    players: int = 4,
    leader: int = 1,
    muestra: str = "RO",
    tricks: list[int] | None = None,
    rules: dict[str, Any] | None = None,
    exchanged: bool = False,
) -> GuinotePosition:
    """Before the last draw or after the last but one, trumps oros; ``first`` is the start of the deal, ``play`` has a
    card on the table. ``holder`` has the card that exchanges."""
    size, stock_size, table = 6, players, []
    if moment.startswith("before_draw"):
        size = 5
    if moment == "first":
        stock_size = 40 - 6 * players
    led = "1C" if moment == "play" else ""
    rest = [each for each in CARD_TEXTS[Deck.SPANISH] if each not in (card, muestra, led)]
    Random(5).shuffle(rest)
    hands = [[rest.pop() for _ in range(size - (seat == holder))] for seat in range(players)]
    hands[holder].append(card)
    if moment == "play":
        hands[leader].remove(next(each for each in hands[leader] if each != card))
        table = [led]
    stock = [rest.pop() for _ in range(stock_size - 1)] + [muestra]
    played = 0 if moment == "first" else (40 - players * 6) // players - (0 if moment.startswith("before") else 1)
    shared = tricks or ([played - 1, 1] if played else [0, 0])
    return gate(
        players=players,
        trump="O",
        hands=hands,
        stock=stock,
        leader=leader,
        trick=table,
        tricks=shared,
        exchanged=exchanged,
        rules=rules or {},
        **({"moment": moment} if moment not in ("first", "play") else {}),
    )


WINDOWS = ("before_draw_rivals", "before_draw", "rivals", "lead", "first", "play")

# Who may exchange, holding the 7, with leader 1: at each moment, for four players and for two.
EXCHANGES: dict[str, dict[str, tuple[set[int], set[int]]]] = {
    "any_trick_won": {
        "before_draw_rivals": ({0, 2}, {0}),
        "before_draw": ({1, 3}, {1}),
        "rivals": ({0, 2}, {0}),
        "lead": ({1, 3}, {1}),
    },
    "last_trick_won": {"before_draw": ({1, 3}, {1}), "lead": ({1, 3}, {1})},
    "on_lead": {"before_draw": ({1}, {1}), "lead": ({1}, {1}), "first": ({1}, {1})},
    "own_turn": {"lead": ({1}, {1}), "first": ({1}, {1}), "play": ({2}, {0})},
}


@pytest.mark.parametrize("players", [4, 2])
@pytest.mark.parametrize("moment", WINDOWS)
@pytest.mark.parametrize("when", EXCHANGES)
def test_who_exchanges_when(when: str, moment: str, players: int) -> None:
    expected = EXCHANGES[when].get(moment, (set(), set()))[players == 2]
    able = set()
    for holder in range(players):
        position = deal(holder=holder, moment=moment, players=players, rules={"exchange_when": when})
        exchanges = {seat for action, seat in declared(position) if action == "cambio"}
        assert exchanges <= {holder}
        able |= exchanges
        if exchanges:
            assert position.why_not("cambio") is None
        else:
            assert reason_at(position, holder).startswith("EXCHANGE_")
            assert position.why_not("cambio") != position.why_not("cambio", "es")
    assert able == expected


def reason_at(position: GuinotePosition, holder: int) -> str:
    objection = position.objection_to(position.read_action("cambio"), holder)[0]
    assert objection is not None
    return objection.reason


def test_a_side_without_a_trick_does_not_exchange() -> None:
    for moment, tricks in (("rivals", [0, 3]), ("before_draw_rivals", [0, 4])):
        position = deal(holder=0, moment=moment, tricks=tricks)
        assert declared(position) == {("pass", 0)}
        assert reason_at(position, 0) == "EXCHANGE_NO_TRICK"
    unknown = deal(holder=0, moment="rivals")
    data = unknown.to_dict() | {"tricks": None}
    assert declared(read_position(notation.Raw(data))) == {("pass", 0)}


@pytest.mark.parametrize(
    ("card", "muestra", "rules", "exchanged", "why"),
    [
        ("7O", "RO", {}, False, None),
        ("7O", "2O", {}, False, None),
        ("2O", "7O", {}, False, None),
        ("2O", "7O", {"exchange_two": "no"}, False, "EXCHANGE_SEVEN"),
        ("2O", "7O", {}, True, "EXCHANGE_DONE"),
        ("7O", "2O", {}, True, "EXCHANGE_DONE"),
        ("2O", "RO", {}, False, "EXCHANGE_CARD"),
    ],
)
def test_what_exchanges_for_what(
    card: str, muestra: str, rules: dict[str, Any], exchanged: bool, why: str | None
) -> None:
    position = deal(holder=3, card=card, muestra=muestra, rules=rules, exchanged=exchanged)
    if why is not None:
        assert reason_at(position, 3) == why
        assert ("cambio", 3) not in declared(position)
        return
    after = position.apply("cambio")
    texts = CARD_TEXTS[Deck.SPANISH]
    assert texts[after.stock[-1]] == card
    assert muestra in [texts[each] for each in after.hands[3]]
    assert card not in [texts[each] for each in after.hands[3]]
    assert after.exchanged
    assert after.moment == "lead"
    assert reason(after, "cambio") == "EXCHANGE_DONE"
    assert read_position(notation.Raw(after.to_dict())) == after


def test_no_exchange_once_the_stock_is_gone() -> None:
    assert reason(window(SINGERS), "cambio") == "EXCHANGE_NO_STOCK"


# -- moments


def test_windows_come_in_order() -> None:
    """The last draw trick is over: the rivals, then the winners, may exchange; the draw; both again; the lead."""
    position = deal(holder=0, moment="before_draw_rivals")
    assert (position.seat, position.side) == (0, 0)
    after = position.apply("pass")
    # The winners have nothing to exchange with, so that the cards are drawn; the stock is gone, and with it the rest.
    assert (after.moment, after.stock, after.seat) == ("lead", (), 1)
    assert all(len(hand) == 6 for hand in after.hands)
    for place in range(4):
        assert position.stock[place] in after.hands[(1 + place) % 4]


def test_a_window_opens_only_for_those_who_can_use_it() -> None:
    rules = {"exchange_when": "any_trick_won"}
    for holder, moment in ((0, "rivals"), (1, "lead"), (2, "rivals"), (3, "lead")):
        position = two_draws(holder, rules)
        for _ in range(4):
            position = position.apply(next(each for each in position.legal_actions() if each.action != "7O"))
        assert position.leader == 1
        assert position.moment == moment
        assert ("cambio", holder) in declared(position)


def two_draws(holder: int, rules: dict[str, Any]) -> GuinotePosition:
    """Two draw tricks are left; whatever is played to this one, seat 1 wins it with the only trump but the 7."""
    texts = CARD_TEXTS[Deck.SPANISH]
    plain = [each for each in texts if each[1] != "O"]
    hands = [[] if seat == 1 else [plain.pop() for _ in range(6)] for seat in range(4)]
    hands[1] = ["1O", "3O", "4O", "5O", "6O", "SO"]
    hands[holder][5] = "7O"
    stock = [plain.pop() for _ in range(7)] + ["RO"]
    return gate(trump="O", hands=hands, stock=stock, leader=1, tricks=[1, 1], rules=rules)


def test_passing_is_included_in_what_comes_after() -> None:
    position = deal(holder=0, moment="before_draw_rivals")
    drawn = position.apply("pass")
    card = first(drawn)
    assert position.apply(card) == drawn.apply(card)
    assert position.why_not(card.action) is not None
    assert reason(position, "8O") == "NOT_IN_DECK"
    assert reason(position, "tute") == "TUTE_CARDS"
    rivals = deal(holder=0, moment="rivals")
    assert rivals.apply(first(rivals.apply("pass"))).trick
    assert "may exchange first, or pass" in str(rivals.why_not(first(rivals.apply("pass")).action))
    assert reason(rivals, Action("pass", 1)) == "NOT_YOUR_PASS"


def test_an_exchange_before_the_draw_changes_who_draws_what() -> None:
    position = deal(holder=3, moment="before_draw")
    after = position.apply("cambio")
    siete, rey = CARD_TEXTS[Deck.SPANISH].index("7O"), CARD_TEXTS[Deck.SPANISH].index("RO")
    assert siete in after.hands[0]  # the last to draw
    assert rey in after.hands[3]
    assert after.exchanged
    assert after.moment == "lead"


# -- whole deals


@pytest.mark.parametrize("players", [4, 2])
@pytest.mark.parametrize("name", RULESETS)
def test_whole_deals(name: str, players: int) -> None:
    """Played at random: every legal action is legal, every position passes the gate, and the points add up."""
    for seed in range(3):
        rng = Random(f"{name}{players}{seed}")
        deck = RULESETS[name].deck
        cards = list(CARD_TEXTS[deck])
        rng.shuffle(cards)
        hands = [cards[6 * seat : 6 * seat + 6] for seat in range(players)]
        position = gate(
            ruleset=name,
            players=players,
            trump=cards[-1][1],
            hands=hands,
            stock=cards[6 * players :],
            leader=rng.randrange(players),
        )
        tricks = 0
        while not position.finished():
            actions = position.legal_actions()
            for action in actions:
                assert position.why_not(action.action) is None
            after = position.apply(rng.choice(actions))
            tricks += after.played - position.played
            position = after
            assert read_again(position) == position
        assert position.legal_actions() == ()
        assert position.tricks is not None
        assert sum(position.tricks) == tricks == position.rules.total_tricks
        assert sum(position.card_points) == 130
        sung = sum(40 if each.suit == position.trump else 20 for each in position.sung)
        scored = 40 if position.tute is not None and position.rules.tute == 40 else 0
        capote = 100 if 0 in position.tricks and position.rules.capote == 100 else 0
        assert sum(position.points) == 130 + sung + scored + capote


def read_again(position: GuinotePosition) -> GuinotePosition:
    return read_position(notation.read(str(position)))


def test_capote() -> None:
    for tricks, expected in (([9, 0], 100), ([8, 1], 0), (None, 0)):
        position = gate(ruleset="cien", trump="O", hands=["1O", "2O", "3O", "4O"], tricks=tricks, points=[50, 0])
        for card in ("1O", "2O", "3O", "4O"):
            position = position.apply(card)
        assert position.points == (50 + 11 + 10 + 10 + expected, 0)
        assert position.card_points == (81, 0)
        assert position.finished()


def test_hidden_cards_are_drawn_and_noted() -> None:
    position = line("1O7O.RCSC.6E.2B/+6 B 0 - stock=" + "?" * 27 + "4B")
    assert not position.fully_known
    assert playable(position) == {"1O", "7O", "RC", "SC", "6E", "2B"}
    after = position.apply("6E")
    assert after.legal_actions() == ()
    assert reason(after, "7O") == "NOT_YOUR_TURN"
    assert reason(after, "3E") == "NOT_IN_HAND"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(positions(kind="whole") | positions(), st.randoms(use_true_random=False))
def test_play_goes_on_to_the_end(data: dict[str, Any], random: Any) -> None:
    position = read_position(notation.Raw(data))
    while not position.finished():
        actions = position.legal_actions()
        assert actions
        assert {each.seat & 1 for each in actions} == {position.side}
        for text in CARD_TEXTS[position.rules.deck]:
            legal = Action(text, position.seat) in actions
            assert (position.why_not(text) is None) == legal
            assert (position.why_not(text, "es") is None) == legal
        position = position.apply(random.choice(actions))
    assert position.moment == "lead"
