"""Recorded deals of Guiñote: what is read into them, in which order things happened, what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

import arrastre
from arrastre import Position, Record, Step
from arrastre.errors import Fault, InvalidRecord, InvalidRequest
from arrastre.guinote.position import GuinotePosition
from arrastre.guinote.replay import GuinoteDeal
from arrastre.guinote.rules import RULESETS, resolve
from deals import play_deal, rigged

#: Four players, oros trumps, E leads first. After trick 1 everybody has drawn once.
OPENING = """
[Ruleset "{ruleset}"] [Dealer "S"]
[Hands "N 1O.RCSC.7E2E.5B; E 7B3O.4C2C.5E.6B; S 2O.3CCC.6E.SB3B; O 7O4O.1C.1E.RB2B"]
[Muestra "RO"]
1. E 7B 5B RB SB
"""


def parse(text: str, **options: Any) -> GuinoteDeal:
    (deal,) = Record.parse(text, strict=False, **options)
    assert isinstance(deal, GuinoteDeal)
    return deal


def of(data: dict[str, Any], **options: Any) -> GuinoteDeal:
    (deal,) = Record.from_dict(data, strict=False, **options)
    assert isinstance(deal, GuinoteDeal)
    return deal


def faults(deal: GuinoteDeal) -> list[Fault]:
    return [fault for fault in deal.faults if fault.reason != "LEGAL_UNDER"]


def reasons(deal: GuinoteDeal) -> list[str]:
    return [fault.reason for fault in faults(deal)]


def steps(deal: GuinoteDeal) -> list[str]:
    return [f"{step.at} {step.moment} {step.action.seat} {step.action.action}" for step in deal]


def declared(deal: GuinoteDeal) -> list[str]:
    return [line for line, step in zip(steps(deal), deal, strict=True) if step.at.k]


@cache
def found(wanted: Callable[[GuinoteDeal], bool], ruleset: str, players: int, rules: str = "") -> dict[str, Any]:
    """The first of the random deals in which something happens."""
    fields: dict[str, Any] = dict(each.split("=") for each in rules.split())
    for seed in range(6000):
        rng = Random(seed)
        data = play_deal(rng, ruleset, players, rules=fields, cards=rigged(rng, resolve(ruleset, fields, players)))
        if wanted(of(data)):
            return data
    raise AssertionError


def moved(data: dict[str, Any], start: int, end: int) -> dict[str, Any]:
    """The deal with an event somewhere else."""
    events = list(data["events"])
    events.insert(end, events.pop(start))
    return {**data, "events": events}


def index_of(data: dict[str, Any], step: Step) -> int:
    return next(
        index
        for index, event in enumerate(data["events"])
        if (event["trick"], event["seat"], event["action"]) == (step.at.trick, step.action.seat, step.action.action)
    )


# -- replaying is applying


@pytest.mark.parametrize("players", [4, 2])
@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_step_is_an_action_of_its_position(ruleset: str, players: int) -> None:
    for seed in range(15):
        rng = Random(seed)
        stop = rng.choice((None, None, rng.randrange(40)))
        cards = rigged(rng, resolve(ruleset, None, players))
        carried = rng.choice(((0, 0), (60, 75)))
        deal = of(play_deal(rng, ruleset, players, cards=cards, stop=stop, carried=carried))
        assert deal.faults == ()
        positions = [*(step.position for step in deal), deal.end]
        for step, after in zip(deal, positions[1:], strict=True):
            assert step.moment == step.position.to_dict()["moment"]
            assert Position.from_dict(step.position.to_dict()) == step.position
            if step.action.action == "claim":
                assert after is deal.end
            else:
                assert step.action in step.position.legal_actions()
                assert step.position.apply(step.action) == after
            assert deal.position(step.at) == step.position
            assert deal.step(str(step.at)) == step
        assert deal.data["finished"] == (deal.result is not None and deal.result.verdict.outcome != "unfinished")


# -- windows


def cante_and_exchange(deal: GuinoteDeal) -> bool:
    return {"cante", "cambio"} <= {step.action.action.split()[0] for step in deal if step.at.place == 0}


def rivals_exchange_and_cante(deal: GuinoteDeal) -> bool:
    at = {(step.at.trick, step.action.action[:6], step.moment) for step in deal}
    return any(
        (trick, "cante ", "lead") in at for trick, action, moment in at if (action, moment) == ("cambio", "rivals")
    )


def last_exchange(deal: GuinoteDeal) -> bool:
    at = {(step.moment[:11], step.action.action) for step in deal}
    sung = any(step.at.trick == 15 and step.action.action.startswith("cante") for step in deal)
    return ("before_draw", "cambio") in at and sung


def passed(deal: GuinoteDeal) -> bool:
    return any(step.action.action == "pass" and step.moment == "rivals" for step in deal)


def test_rivals_may_exchange_after_the_other_side_has_sung() -> None:
    data = found(rivals_exchange_and_cante, "aragones", 2)
    deal = of(data)
    exchange = next(step for step in deal if step.action.action == "cambio")
    at = index_of(data, exchange)
    window = [i for i, event in enumerate(data["events"]) if event["trick"] == exchange.at.trick]
    sung = [i for i in window if data["events"][i]["action"].startswith("cante")]
    assert at < sung[-1]
    later = of(moved(data, at, sung[-1]))
    assert later.data["events"] != deal.data["events"]
    assert later.faults == ()
    assert later.steps == deal.steps
    assert exchange.moment == "rivals"
    assert exchange.at.k == 1


def test_before_the_last_draw() -> None:
    data = found(last_exchange, "aragones", 2)
    deal = of(data)
    exchange = next(step for step in deal if step.action.action == "cambio")
    assert exchange.at.trick == 15
    assert len(exchange.position.to_dict()["stock"]) == 2
    at = index_of(data, exchange)
    later = of(moved(data, at, at + 1))  # written after the cante, made before it
    assert later.faults == ()
    assert later.steps == deal.steps
    # Without that exchange the muestra has been drawn by then.
    drawn = of(data, rules={"exchange_after_last_draw_trick": "no"})
    assert reasons(drawn)[0] == "EXCHANGE_NO_STOCK"


def test_moments_that_are_let_pass_are_decisions() -> None:
    data = found(passed, "aragones", 4)
    deal = of(data)
    step = next(step for step in deal if step.action.action == "pass")
    assert "pass" not in [event["action"] for event in data["events"]]
    assert [action.action for action in step.position.legal_actions()] == ["cambio", "pass"]
    assert deal.position(f"{step.at.trick}.0") == step.position
    assert deal.position(f"{step.at.trick}.0.1") == step.position
    with pytest.raises(InvalidRequest):
        deal.step(f"{step.at.trick}.0")
    # A pass may be written, and is not written back.
    place = next(i for i, event in enumerate(data["events"]) if event["trick"] == step.at.trick)
    event = {"trick": step.at.trick, "seat": step.action.seat, "action": "pass"}
    said = of({**data, "events": [*data["events"][:place], event, *data["events"][place:]]})
    assert said.steps == deal.steps
    assert said.data == deal.data


def own_turn_exchange(deal: GuinoteDeal) -> bool:
    return any(step.action.action == "cambio" and 0 < step.at.place < 3 for step in deal)


def last_seat_exchange(deal: GuinoteDeal) -> bool:
    return any(step.action.action == "cambio" and step.at.place == 3 for step in deal)


@pytest.mark.parametrize("wanted", [own_turn_exchange, last_seat_exchange])
def test_an_exchange_shown_just_after_the_card_is_made_before_it(wanted: Callable[[GuinoteDeal], bool]) -> None:
    data = found(wanted, "cien", 4)
    deal = of(data)
    exchange = next(step for step in deal if step.action.action == "cambio")
    at = index_of(data, exchange)
    assert str(exchange.at) == f"{exchange.at.trick}.{exchange.at.place}.1"
    card = next(step for step in deal if step.at.trick == exchange.at.trick and step.at.place == exchange.at.place + 1)
    assert card.action.seat == exchange.action.seat
    later = moved(data, at, at + 1)
    assert of(later).faults == ()
    assert of(later).steps == deal.steps
    text = str(Record([of(later)]))
    assert f"{exchange.at.trick}.{exchange.at.place + 1} {'NOSE'[exchange.action.seat]} cambio" in text
    assert parse(text).steps == deal.steps
    if wanted is last_seat_exchange:
        # Also where the window before the next trick is the next thing that the record knows.
        window = [dict(event) for event in later["events"]]
        window[at + 1]["trick"] += 1
        assert of({**later, "events": window}).steps == deal.steps
    # Two cards later is too late.
    late = of(moved(data, at, at + 2)) if wanted is own_turn_exchange else None
    assert late is None or reasons(late) == ["EXCHANGE_TURN"]


def sung_before_a_lead(deal: GuinoteDeal) -> bool:
    """By the leader or the leader's partner, who does not lead one of the two cards."""
    for step in deal:
        if step.action.action.startswith("cante") and deal.position(f"{step.at.trick}.1") is not step.position:
            lead = deal.step(f"{step.at.trick}.1")
            shown = lead.action.action[1] == step.action.action[-1] and lead.action.action[0] in "RS"
            return not shown or lead.action.seat != step.action.seat
    return False


def test_a_cante_after_the_lead() -> None:
    data = found(sung_before_a_lead, "torneo", 4)
    deal = of(data)
    cante = next(step for step in deal if step.action.action.startswith("cante"))
    at = index_of(data, cante)
    lead = next(i for i in range(at, 99) if len(data["events"][i]["action"]) == 2)
    later = moved(data, at, lead)
    assert of(later).faults == ()
    assert of(later).steps == deal.steps
    text = str(Record([of(later)]))
    assert f"{cante.at.trick}.1 {'NOSE'[cante.action.seat]} {cante.action.action}" in text
    assert parse(text).data == of(later).data
    # After a rival's card it is too late, and without that rule the lead ends the window.
    assert reasons(of(moved(data, at, lead + 1))) == ["CANTE_MOMENT"]
    assert "CANTE_MOMENT" in reasons(of(later, rules={"cante_window": "own_lead"}))


def test_a_cante_after_leading_one_of_its_cards() -> None:
    opening = (
        OPENING.format(ruleset="torneo").replace("N 1O.RCSC.7E2E.5B", "N 1O.RC.SC.7E2E.1B").replace("1C.1E", "1C.1E")
    )
    text = opening.replace("1. E 7B 5B RB SB", "1. E 7B 1B RB SB") + "2.1 N cante C\n2. N RC\n*"
    deal = parse(text)
    assert reasons(deal) == ["CANTE_MOMENT"]
    assert parse(text.replace("2.1", "2.0")).faults == ()
    assert parse(text.replace("2. N RC", "2. N 2E")).faults == ()


# -- faults


def could_revoke(deal: GuinoteDeal) -> tuple[Step, str] | None:
    """A step in which a suit had to be followed, and a card of another suit in the same hand."""
    for step in deal:
        table = step.position.to_dict()
        hand, led = table["hands"][step.action.seat]["cards"], table["trick"][:1]
        others = [card for card in hand if led and card[1] != led[0][1]]
        if step.at.trick == 8 and others and step.action.action[1] == led[0][1]:
            return step, others[0]
    return None


def test_a_renuncio_says_trick_seat_card_and_duty() -> None:
    data = found(lambda deal: could_revoke(deal) is not None, "aragones", 4)
    deal = of(data)
    revoke = could_revoke(deal)
    assert revoke is not None
    step, card = revoke
    # The card that the duty asks for and the other one change places.
    events = [dict(event) for event in data["events"]]
    at = index_of(data, step)
    later = next(index for index, event in enumerate(events) if event["action"] == card)
    events[at]["action"], events[later]["action"] = card, events[at]["action"]
    broken = of({**data, "events": events})
    fault = next(fault for fault in broken.faults if fault.reason == "FOLLOW_SUIT")
    seat, led = step.action.seat, step.position.to_dict()["trick"][0]
    assert fault.field == f"events[{at}].action"
    assert fault.card == card
    where = f"trick 8, seat {seat} ({'NOSE'[seat]}), {card}: "
    assert fault.message.startswith(f"{where}must follow suit: {led} was led, and ")
    # The deal is followed all the same.
    breach = next(each for each in broken if each.breach is not None)
    assert breach.at == step.at
    assert breach.breach == fault
    assert len([each for each in broken if not each.at.k]) == len([each for each in deal if not each.at.k])


def test_a_deal_that_is_legal_under_other_rules_says_so_and_auto_takes_them() -> None:
    for seed in range(300):
        played = play_deal(Random(seed), "cien", 4)
        deal = of({**played, "ruleset": "aragones"})
        if deal.faults:
            break
    assert "cien" in deal.legal_under
    assert deal.faults[-1].reason == "LEGAL_UNDER"
    assert "the whole deal is legal under" in deal.faults[-1].message
    for name in RULESETS:
        plain = name.partition(" ")[0]
        if plain != "aragones":
            rules = {"deck": "spanish"} if plain == "gamerules" else {}
            legal = of({**played, "ruleset": plain, "rules": rules}).faults == ()
            assert legal == any(each.split()[0] == plain for each in deal.legal_under)
    with pytest.raises(InvalidRecord) as caught:
        Record.from_dict({**played, "ruleset": "aragones"})
    assert "cien" in caught.value.message
    chosen = of({**played, "ruleset": "aragones"}, ruleset="auto")
    assert chosen.faults == ()
    assert chosen.data["ruleset"] == deal.legal_under[0].split()[0]
    assert of({**played, "ruleset": "auto"}).data["ruleset"] == chosen.data["ruleset"]
    # Its own ruleset is the first choice.
    assert of(played, ruleset="auto").data["ruleset"] == "cien"


def test_auto_reads_either_pack() -> None:
    for seed in range(5):
        played = play_deal(Random(seed), "gamerules", 4)
        deal = of({name: value for name, value in played.items() if name != "ruleset"}, ruleset="auto")
        assert deal.faults == ()
        assert deal.rules.deck == "french"
    spanish = of(play_deal(Random(1), "gamerules", 4, rules={"deck": "spanish"}), ruleset="auto")
    assert spanish.faults == ()
    assert spanish.data["rules"] == {"deck": "spanish"}


@pytest.mark.parametrize(
    ("ruleset", "lines", "expected"),
    [
        ("aragones", "2.0 O cante B", ["CANTE_CARDS"]),
        ("aragones", "2.0 N cante C", ["CANTE_SIDE"]),
        ("aragones", "2.0 E cante B", ["CANTE_CARDS"]),
        ("aragones", "2.0 O tute", ["TUTE_CARDS"]),
        ("cien", "2.0 O tute", ["NO_TUTE"]),
        ("aragones", "2.0 O claim", ["NO_CLAIM"]),
        ("aragones", "2.0 O cambio\n2.0 O cambio", ["EXCHANGE_DONE"]),
        ("aragones", "2.0 E cambio", ["EXCHANGE_CARD"]),
        ("aragones", "1.0 O cambio", ["EXCHANGE_NO_TRICK"]),
        ("torneo", "1.0 O cambio", ["EXCHANGE_LAST_TRICK"]),
        ("aragones", "2.0 O cante O", ["CANTE_CARDS"]),
    ],
)
def test_declarations_that_the_rules_forbid(ruleset: str, lines: str, expected: list[str]) -> None:
    deal = parse(OPENING.format(ruleset=ruleset) + lines + "\n*")
    assert reasons(deal) == expected
    assert [step.breach.reason for step in deal if step.breach is not None] == expected
    place = lines.splitlines()[-1].split()
    assert faults(deal)[0].message.startswith(f"trick {place[0][0]}, seat {'NOSE'.index(place[1])} ({place[1]}), ")


def test_all_faults_of_a_deal_at_once() -> None:
    deal = parse(
        """[Ruleset "aragones"] [Rules "undertrump=maybe"] [Dealer "X"] [Game "0"] [Carried "62"] [Vueltas "perhaps"]
[Hands "N 1O.RCSC.7E2E.5X; E 7B3O.4C2C.5E; S 2O.3CCC.6E.SB3B; O 7O4O.1C.1O.RB2B"] [Stock "4O5O"] [Muestra "RO"]
[Nonsense "1"]
1. E 7B 5B 9C SB
2.0 O cante X
"""
    )
    assert {(fault.reason, fault.line) for fault in deal.faults} == {
        ("BAD_RULE", 1),
        ("BAD_SEAT", 1),
        ("BAD_TYPE", 1),
        ("BAD_SCORE", 1),
        ("UNKNOWN_CARD", 2),
        ("CARD_TWICE", 2),
        ("HAND_SIZE", 2),
        ("STOCK_SIZE", 2),
        ("UNKNOWN_FIELD", 3),
        ("NOT_IN_DECK", 4),
        ("UNKNOWN_SUIT", 5),
    }


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("E 7B 5B RB SB", "S 7B 5B RB SB"), "NOT_MANO"),
        (("2. O", "2. N"), "WRONG_LEADER"),
        (("1. E 7B 5B RB SB", "1. E 7B 5B RB"), "TRICK_SIZE"),
        (("1. E 7B 5B RB SB", "1. E 7B 5B RB SB 3B"), "TRICK_SIZE"),
        (("2. O 4O", "3. O 4O"), "TRICK_ORDER"),
        (("2. O 4O", "2. O RB"), "CARD_TWICE"),
        (("2. O 4O", "2. O 3E"), None),  # drawn, for all that is known
        (("2. O 4O", "2. O 6E"), "NOT_IN_HAND"),
        (("2. O 4O", '2. O 4O\n[Result "0 3"]'), "RESULT_MISMATCH"),
        (("2. O 4O", '2. O 4O\n[Result "0 9"]'), None),
        (('[Muestra "RO"]', ""), "MISSING"),
        (('[Muestra "RO"]', '[Muestra "RO"] [Trump "C"]'), "MUESTRA_NOT_TRUMP"),
        (('[Muestra "RO"]', '[Muestra "RO"] [Players "3"]'), "BAD_PLAYERS"),
        (("\n*", ""), "UNFINISHED"),
    ],
)
def test_faults_of_the_course_of_play(change: tuple[str, str], expected: str | None) -> None:
    text = OPENING.format(ruleset="aragones") + "2. O 4O\n*"
    assert parse(text).faults == ()
    assert change[0] in text
    deal = parse(text.replace(*change))
    assert reasons(deal)[:1] == ([] if expected is None else [expected])


RENUNCIO = (Path(__file__).parents[2] / "examples" / "records" / "renuncio.txt").read_text()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([("4C 4B", "4C 4X")], ["UNKNOWN_ACTION", "FOLLOW_SUIT"]),
        ([("4C 4B", "4X 4Y")], ["UNKNOWN_ACTION", "UNKNOWN_ACTION", "FOLLOW_SUIT"]),
        ([("4C 4B", "4C 9B")], ["NOT_IN_DECK", "FOLLOW_SUIT"]),
        ([("4C 4B", "4C 2O")], ["CARD_TWICE", "FOLLOW_SUIT"]),
        ([("N cante E", "N cante X")], ["UNKNOWN_SUIT", "FOLLOW_SUIT"]),
        ([("N cante E", "N cambo")], ["UNKNOWN_ACTION", "FOLLOW_SUIT"]),
        ([("4C 4B", "4C 4X"), ("162 28", "162 27")], ["UNKNOWN_ACTION", "FOLLOW_SUIT", "RESULT_MISMATCH"]),
        ([("4C 4B", "4C 4X"), ("9. N SE 6O 3B RC", "9. O 6O 3B RC SE")], None),
        ([("4C 4B", "4C 4X"), ("9. N SE", "9. S SE")], ["UNKNOWN_ACTION", "FOLLOW_SUIT", "WRONG_LEADER"]),
        ([('[Muestra "5E"]', '[Muestra "5X"]')], ["UNKNOWN_CARD", "FOLLOW_SUIT"]),
        ([("E CO4O.SC", "E CO4X.SC")], ["UNKNOWN_CARD", "FOLLOW_SUIT"]),
        ([("RO5O.7B", "RO5X.7B"), ("162", "161")], ["UNKNOWN_CARD", "FOLLOW_SUIT", "RESULT_MISMATCH"]),
        ([("1. O 2O", "1. N 2O"), ("9. N SE", "9. S SE")], ["NOT_MANO", "FOLLOW_SUIT", "WRONG_LEADER"]),
        ([("N cante E", "N cante C"), ("S cante B", "S cambio")], ["CANTE_CARDS", "EXCHANGE_CARD", "FOLLOW_SUIT"]),
        # Too much is unknown to say what follows from it.
        ([("2O 4C 4B 1O", "X X X X"), ("6C 5B", "X 5B")], ["UNKNOWN_ACTION"] * 5),
        # Which card is missing is not known, so that nobody is said to have played another one's.
        ([("4C 4B", "4B")], ["TRICK_SIZE"]),
        ([("4C 4B", "4C 4B 7E")], ["TRICK_SIZE", "CARD_TWICE"]),
    ],
)
def test_several_faults_in_one_deal(changes: list[tuple[str, str]], expected: list[str] | None) -> None:
    text = RENUNCIO
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    found = reasons(parse(text))
    if expected is not None:
        assert found == expected
    else:
        assert found[:3] == ["UNKNOWN_ACTION", "FOLLOW_SUIT", "WRONG_LEADER"]


@pytest.mark.parametrize("wrong", ["7X", "9O", "cambo", 7, None])
@pytest.mark.parametrize("players", [4, 2])
def test_what_cannot_be_read_is_not_held_against_the_rest(players: int, wrong: object) -> None:
    for seed in range(12):
        rng = Random(seed)
        data = play_deal(rng, "aragones", players, cards=rigged(rng, resolve("aragones", {}, players)))
        places = rng.sample(range(len(data["events"])), rng.choice((1, 2)))
        for place in places:
            data["events"][place]["action"] = wrong
        assert [fault.field for fault in faults(of(data))] == [f"events[{place}].action" for place in sorted(places)]


def test_a_cante_that_cannot_be_read_is_not_held_against_the_rest() -> None:
    for seed in range(12):
        data = play_deal(Random(seed), "aragones", 4, cards=rigged(Random(seed), resolve("aragones", {}, 4)))
        place = Random(seed).randrange(len(data["events"]))
        wrong = {**data["events"][place], "action": "cante X"}
        events = [*data["events"][:place], wrong, *data["events"][place:]]
        assert [fault.field for fault in faults(of({**data, "events": events}))] == [f"events[{place}].action"]


def test_a_seat_written_for_another() -> None:
    data = dict(play_deal(Random(3), "aragones", 4))
    cards = [index for index, event in enumerate(data["events"]) if event["action"][0] not in "ct"]
    for place in (*cards[4:8], cards[22]):
        events = [dict(event) for event in data["events"]]
        events[place]["seat"] = (events[place]["seat"] + 1) % 4
        deal = of({**data, "events": events})
        assert reasons(deal) == ["WRONG_LEADER" if place == cards[4] else "WRONG_TURN"]
        assert deal.result is not None


def test_a_wrong_result() -> None:
    data = play_deal(Random(3), "gamerules", 4)
    right = of(data)
    assert right.result is not None
    points = list(right.result.points)
    assert right.data["result"] == points
    assert of({**data, "result": points}).faults == ()
    assert of({**data, "result": "{} {}".format(*points)}).faults == ()
    assert reasons(of({**data, "result": [points[0] + 1, points[1]]})) == ["RESULT_MISMATCH"]


# -- what is not shown


def masked(data: dict[str, Any], seats: Sequence[int], stock: bool) -> dict[str, Any]:
    hands = [hand if seat in seats else "?" for seat, hand in enumerate(data["hands"])]
    cards = data["stock"] if stock else ["?"] * (len(data["stock"]) - 1) + data["stock"][-1:]
    return {**data, "hands": hands, "stock": cards}


@pytest.mark.parametrize("stock", [False, True])
@pytest.mark.parametrize("ruleset", ["aragones", "cien", "torneo"])
@pytest.mark.parametrize("players", [4, 2])
def test_one_players_view(players: int, ruleset: str, stock: bool) -> None:
    for seed in range(10):
        rng = Random(seed)
        data = play_deal(rng, ruleset, players, cards=rigged(rng, resolve(ruleset, None, players)))
        full, seen = of(data), of(masked(data, (seed % players,), stock))
        assert seen.faults == ()
        assert seen.result == full.result
        assert parse(str(Record([seen]))).data == seen.data
        true = {(step.at.trick, step.at.place, step.action, step.moment): step.position for step in full}
        for step in seen:
            position = step.position
            assert isinstance(position, GuinotePosition)
            assert Position.from_dict(position.to_dict()) == position
            whole = true.get((step.at.trick, step.at.place, step.action, step.moment))
            if whole is None:
                continue  # an unseen seven may have let a moment pass
            assert isinstance(whole, GuinotePosition)
            for known, hidden, hand in zip(position.hands, position.hidden, whole.hands, strict=True):
                assert set(known) <= set(hand)
                assert len(known) + hidden == len(hand)
            assert step.action.seat == position.seat or step.at.k
            if full.end is not None and full.end.finished() and not position.stock:
                assert position.fully_known
                assert position.hands == whole.hands


def test_hands_without_any_stock_known_are_found_from_the_play() -> None:
    """With the stock known and the deal finished, what was dealt follows from what was played."""
    data = play_deal(Random(4), "gamerules", 2)
    dealt = of(masked(data, (), stock=True))
    start = dealt.position("1.1")
    assert isinstance(start, GuinotePosition)
    assert start.fully_known
    assert start.hands == of(data).position("1.1").hands  # type: ignore[attr-defined]


def test_nobody_is_accused_of_what_cannot_be_known() -> None:
    """Six copas led, clubs thrown: a revoke only if a copa is known to have been in the hand."""
    for seed in range(40):
        data = play_deal(Random(seed), "torneo", 4, stop=33)
        seen = of(masked(data, (0,), stock=False))
        assert seen.faults == ()
    unseen = of(masked({**data, "events": []}, (), stock=False))
    assert unseen.faults == ()
    assert unseen.position("1.1").to_dict()["hands"][0] == {"cards": [], "hidden": 6, "excluded": []}


# -- spellings


def test_seats_and_players() -> None:
    data = play_deal(Random(8), "aragones", 2)
    deal = of(data)
    text = str(Record([deal]))
    assert '[Players "2"]' in text
    across = text.replace("; O ", "; S ")
    lines = [
        line.replace(" O ", " S ", 1) if line[:1].isdigit() else line.replace('[Dealer "O"]', '[Dealer "S"]')
        for line in across.splitlines()
    ]
    assert parse("\n".join(lines)).data == deal.data
    assert parse("\n".join(line for line in lines if line).replace('[Players "2"] ', "")).data == deal.data
    named = of({**data, "names": ["Ana", "Luis"]})
    assert '[N "Ana"] [O "Luis"]' in str(Record([named]))
    assert parse(str(Record([named])).replace('[O "Luis"]', '[S "Luis"]')).data == named.data


def test_ways_to_give_a_deal() -> None:
    data = play_deal(Random(9), "aragones", 4)
    deal = of(data)
    events = [
        {**event, "seat": "NOSE"[event["seat"]], "action": event["action"].replace("RO", "rey de oros")}
        for event in data["events"]
    ]
    bare = [event["action"] for event in data["events"]]
    for change in (
        {"events": events},
        {"events": bare if all(len(action) == 2 for action in bare) else events},
        {"hands": ["".join(hand) for hand in data["hands"]]},
        {"hands": [{"cards": hand, "hidden": 0} for hand in data["hands"]]},
        {"dealer": "NOSE"[data["dealer"]]},
        {"stock": data["stock"][:-1], "muestra": data["stock"][-1]},
        {"stock": "".join(data["stock"])},
        {"carried": "0 malas 0 malas"},
        {"rules": {"tute": "wins"}},
    ):
        assert of({**data, **change}).data == deal.data
    left_out = {name: value for name, value in data.items() if name not in ("dealer", "trump", "carried", "vueltas")}
    assert of(left_out).data == deal.data


def test_cousins_without_a_stock() -> None:
    """Ten cards each, trumps given, strict from the first trick."""
    rules = {"hand_size": 10, "draw": "no", "strict_from_start": "yes", "figure_under_rey": "caballo"}
    for seed in range(5):
        data = play_deal(Random(seed), "cien", 4, rules=rules)
        deal = of(data)
        assert deal.faults == ()
        text = str(Record([deal]))
        assert f'[Trump "{data["trump"]}"]' in text
        assert parse(text).data == deal.data
        assert reasons(of({name: value for name, value in data.items() if name != "trump"})) == ["MISSING"]


# -- addresses, and what it cost


def test_addresses_of_an_unfinished_deal() -> None:
    deal = parse(OPENING.format(ruleset="aragones") + "*")
    assert deal.faults == ()
    assert deal.end is not None
    for at in ("2.0", "2.0.1", "2.1"):
        assert deal.position(at) == deal.end
    for at in ("1.5", "2.2", "3.1", "1.0.2", "99.1"):
        with pytest.raises(InvalidRequest) as caught:
            deal.position(at)
        assert caught.value.faults[0].reason == "NO_SUCH_MOMENT"
    for at in ("", "7", "7.", "0.1", "7.2.0", "x", "7.2.1.1", "٧.1"):
        with pytest.raises(InvalidRequest) as caught:
            deal.position(at)
        assert caught.value.faults[0].reason == "BAD_ADDRESS"
    whole = of(play_deal(Random(0), "gamerules", 4))
    with pytest.raises(InvalidRequest):
        whole.position("11.1")


def solver_play(rng: Random) -> Any:
    def choose(position: Position, actions: Any) -> Any:
        if position.to_dict()["stock"]:
            return rng.choice([action for action in actions if len(action.action) == 2] or list(actions))
        return arrastre.solve(position).best[0]

    return choose


def test_best_play_costs_nothing() -> None:
    for seed in range(3):
        rng = Random(seed)
        data = play_deal(rng, "gamerules", 2, rules={"claim": "none"}, choose=solver_play(rng))
        values = arrastre.line_values(of(data), nodes=20_000)
        arrastre_steps = [value for value in values if value.step.at.trick > 14]
        assert len(arrastre_steps) >= 12
        assert {value.loss for value in arrastre_steps} == {0}
        assert all(value.step.action in value.best for value in arrastre_steps)
        # Far from the end nothing is proven with so few nodes, and nothing is made up.
        assert values[0].value is None and values[0].loss is None


@pytest.mark.parametrize("ruleset", ["aragones", "cien"])
def test_losses_add_up_to_what_came_of_it(ruleset: str) -> None:
    for seed in range(4):
        data = play_deal(Random(seed), ruleset, 4)
        deal = of(data)
        if deal.end is None or not deal.end.finished() or any(step.action.action == "tute" for step in deal):
            continue
        points = deal.end.to_dict()["points"]
        line = arrastre.line_values(deal, nodes=300_000)
        values = list(line[next(i for i, value in enumerate(line) if value.value is not None) :])
        first = values[0]
        assert first.step.at.trick <= 5
        side = first.step.action.seat & 1
        margin = first.value
        for value in values:
            assert value.loss is not None and value.loss >= 0
            assert margin is not None
            margin += -value.loss if value.step.action.seat & 1 == side else value.loss
            assert value.to_dict()["loss"] == value.loss
        assert margin == points[side] - points[1 - side]


def test_line_values_of_a_game() -> None:
    data = play_deal(Random(2), "gamerules", 2, rules={"claim": "none"}, carried=(60, 60))
    values = arrastre.line_values(of(data), objective="game", nodes=100_000)
    known = [value for value in values if value.value is not None]
    assert known
    assert {value.value for value in known} <= {-1, 0, 1}
    with pytest.raises(InvalidRequest):
        arrastre.line_values(of(data), objective="glory")
    # With cards unseen there is nothing to be said.
    unseen = of(masked({**data, "events": data["events"][:5], "finished": False}, (0,), stock=False))
    assert {value.value for value in arrastre.line_values(unseen)} == {None}


TUTE_AFTER_THE_LEAD = """\
[Deal "1"] [Ruleset "torneo"] [Dealer "N"]
[Hands "N RO.RC.RE.RB.SO3O; O SC.6E1C7E6O.SB; S CE.7C5E3B2O7B; E 3C3E6B2B4O1B"]
[Stock "4C4E2C5O5CSECB2ECC4B1O1E5B7O6C"] [Muestra "CO"]
1. O 1C 2O 3C SO
2. N 3O
2.1 N tute
"""


def test_a_lead_stands_before_what_ended_the_deal_and_was_declared_after_it() -> None:
    deal = Record.parse(TUTE_AFTER_THE_LEAD)[0]
    assert isinstance(deal, GuinoteDeal)
    assert deal.result is not None
    assert (deal.result.verdict.winner, deal.result.verdict.reason) == (0, "tute")
    assert [str(step.at) for step in deal.steps[-2:]] == ["2.0.1", "2.1"]
    assert Record.parse(str(Record([deal])))[0].data == deal.data
    # One's own rey cannot be led from it, and a rival's card is one too many.
    for old, new, expected in (
        ("2. N 3O", "2. N RO", ["TUTE_MOMENT"]),
        ("2. N 3O", "2. N 3O 7E", ["AFTER_END"]),
    ):
        faults = Record.parse(TUTE_AFTER_THE_LEAD.replace(old, new), strict=False)[0].faults
        assert [fault.reason for fault in faults if fault.reason != "UNFINISHED"] == expected
    # Where only the own lead closes the window, the game goes on.
    faults = Record.parse(TUTE_AFTER_THE_LEAD.replace("torneo", "aragones"), strict=False)[0].faults
    assert "TUTE_MOMENT" in [fault.reason for fault in faults]
    # So with a cante that ends a carried-over deal at once.
    text = TUTE_AFTER_THE_LEAD.replace('[Dealer "N"]', '[Dealer "N"] [Carried "50 20"]').replace("tute", "cante O")
    text = text.replace("3C SO", "3C 3O").replace("2. N 3O", "2. N 4C")
    sung = Record.parse(text, rules={"vueltas": "at_once"})[0]
    assert isinstance(sung, GuinoteDeal)
    assert sung.result is not None
    assert (sung.result.verdict.winner, sung.result.totals) == (0, (121, 20))
