"""What a seat can know, held against deals in which everything is known and against trying every way to lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

import pytest

import arrastre
from arrastre.cards import CARD_TEXTS, CARDS, UNKNOWN, parse_card
from arrastre.errors import InvalidRequest
from arrastre.game import Action, Address, Deal, Position
from arrastre.guinote.family import FAMILY
from arrastre.guinote.knowledge import GuinoteKnowledge, knowledge, knowledge_at
from arrastre.guinote.position import GuinotePosition
from arrastre.guinote.rules import resolve
from deals import Choice, play_deal, rigged

TABLES = [("aragones", 4), ("aragones", 2), ("temprano", 4), ("temprano", 2), ("cien", 4)]


def replayed(record: dict[str, Any]) -> Deal:
    return arrastre.Record.from_dict(record).deals[0]


def random_deal(seed: int, ruleset: str, players: int, rules: dict[str, Any] | None = None) -> Deal:
    rng = Random(seed)
    cards = rigged(rng, resolve(ruleset, rules, players))
    deal = replayed(play_deal(rng, ruleset, players, rules=rules, cards=cards))
    assert not deal.faults, deal.faults
    return deal


def before(deal: Deal, number: int) -> GuinotePosition:
    position = deal.steps[number].position
    assert isinstance(position, GuinotePosition)
    return position


def decisions(deal: Deal) -> Iterator[tuple[int, GuinoteKnowledge]]:
    """Every step of a deal with what each seat that may do something there knows."""
    for number, step in enumerate(deal.steps):
        position = before(deal, number)
        for seat in range(position.players):
            try:
                yield number, knowledge_at(deal, step.at, seat)
            except InvalidRequest as error:
                if [fault.reason for fault in error.faults] != ["NOT_TO_ACT"]:
                    raise


def true_places(deal: Deal, number: int, known: GuinoteKnowledge) -> list[int] | None:
    """A way to fill the places that agrees with where everything truly is; ``None`` if that is not allowed.

    Of a card in one of several places of a hand only the hand is looked up: any way that fills them will do.
    """
    truth, deck = before(deal, number), before(deal, number).rules.deck
    owners: dict[int, set[int]] = {}
    for step in deal.steps[:number]:
        assert isinstance(step.position, GuinotePosition)
        for seat, hand in enumerate(step.position.hands):
            for card in hand:
                owners.setdefault(card, set()).add(seat)
    choices: list[list[int]] = []
    for item, played, allowed in zip(known.items, known.played, known.allowed, strict=True):
        card = parse_card(item, deck)
        fits = []
        for index, place in enumerate(known.places):
            if not allowed >> index & 1:
                continue
            if place.kind == "stock":
                true = truth.stock[place.index] == card
            else:
                true = place.seat in owners.get(card, set()) if played else card in truth.hands[place.seat]
            if true:
                fits.append(index)
        choices.append(fits)
    room: list[list[int]] = [[] for _ in known.places]

    def seat_item(item: int, tried: set[int]) -> bool:
        for index in choices[item]:
            if index in tried:
                continue
            tried.add(index)
            if len(room[index]) < known.places[index].capacity:
                room[index].append(item)
                return True
            for other in room[index]:
                if seat_item(other, tried):
                    room[index].remove(other)
                    room[index].append(item)
                    return True
        return False

    if not all(seat_item(item, set()) for item in range(len(choices))):
        return None
    where = {item: index for index, inside in enumerate(room) for item in inside}
    return [where[item] for item in range(len(choices))]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("ruleset", "players"), TABLES)
def test_the_true_deal_is_among_the_worlds_at_every_decision(ruleset: str, players: int, seed: int) -> None:
    deal = random_deal(seed, ruleset, players)
    for number, known in decisions(deal):
        assert sum(place.capacity for place in known.places) == len(known.items), deal.steps[number].at
        true = true_places(deal, number, known)
        assert true is not None, (deal.steps[number].at, known.seat)
        assert known.world(true) == before(deal, number)
        assert known.position.hands[known.seat] == before(deal, number).hands[known.seat]
        assert set(known.position.stock[:-1]) <= {UNKNOWN}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("ruleset", "players"), TABLES)
def test_a_known_position_is_stripped_of_what_a_seat_cannot_see(ruleset: str, players: int, seed: int) -> None:
    deal = random_deal(seed, ruleset, players)
    for number, at_record in decisions(deal):
        known = knowledge(before(deal, number), at_record.seat)
        true = true_places(deal, number, known)
        assert true is not None
        assert known.world(true) == before(deal, number)
        assert known.actions == at_record.actions
        assert not any(known.played)


RULES: list[dict[str, Any]] = [
    {},
    {"beat_in_suit": "led_suit"},
    {"beat_in_suit": "no"},
    {"partner_exempt": False},
    {"partner_exempt": True},
    {"undertrump": "forced"},
    {"undertrump": "free"},
]


def legal_under(deal: Deal, number: int, hands: dict[int, frozenset[int]]) -> bool:
    """Whether all plays of the arrastre up to a step were legal, had these been the hands at that step."""
    parted: list[list[int]] = [[] for _ in range(4)]
    for step in reversed(deal.steps[:number]):
        position = step.position
        assert isinstance(position, GuinotePosition)
        if position.stock:
            break
        move = position.read_action(step.action.action)
        if move.kind != "play":
            continue
        seat = step.action.seat
        parted[seat].append(move.item)
        if seat in hands:
            hand = tuple(sorted((*hands[seat], *parted[seat])))
            held = (*position.hands[:seat], hand, *position.hands[seat + 1 :])
            if move.item not in replace(position, hands=held).legal_cards():
                return False
    return True


def splits(cards: frozenset[int], sizes: list[int]) -> Iterator[tuple[frozenset[int], ...]]:
    if not sizes:
        yield ()
        return
    for first in combinations(sorted(cards), sizes[0]):
        for rest in splits(cards - set(first), sizes[1:]):
            yield (frozenset(first), *rest)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("players", [4, 2])
@pytest.mark.parametrize("rules", RULES, ids=str)
def test_the_worlds_of_the_arrastre_are_those_in_which_all_plays_were_legal(
    rules: dict[str, Any], players: int, seed: int
) -> None:
    if players == 2 and "partner_exempt" in rules:
        return
    deal = random_deal(seed + 50, "aragones", players, rules)
    for number, known in decisions(deal):
        truth = before(deal, number)
        if truth.stock or len(truth.hands[known.seat]) > (2 if players == 4 else 4):
            continue
        deck = truth.rules.deck
        unseen = frozenset(parse_card(item, deck) for item in known.items)
        allowed = {parse_card(item, deck): mask for item, mask in zip(known.items, known.allowed, strict=True)}
        seats = [place.seat for place in known.places]
        shown = {seat: frozenset(known.position.hands[seat]) for seat in seats}
        for split in splits(unseen, [place.capacity for place in known.places]):
            admitted = all(allowed[card] >> index & 1 for index, cards in enumerate(split) for card in cards)
            hands = {seat: cards | shown[seat] for seat, cards in zip(seats, split, strict=True)}
            assert admitted == legal_under(deal, number, hands), (deal.steps[number].at, known.seat, split)


def refused(position: GuinotePosition, seat: int) -> list[str]:
    with pytest.raises(InvalidRequest) as caught:
        FAMILY.knowledge(position, seat)
    return [fault.reason for fault in caught.value.faults]


def test_seats_that_have_nothing_to_decide_are_refused() -> None:
    deal = random_deal(1, "aragones", 4)
    first = before(deal, 0)
    assert refused(first, 4) == refused(first, -1) == refused(first, True) == ["BAD_SEAT"]
    assert refused(first, (first.seat + 1) % 4) == ["NOT_TO_ACT"]
    last = deal.end
    assert isinstance(last, GuinotePosition)
    while not last.finished():
        last = last.apply(last.legal_actions()[0])
    assert refused(last, 0) == ["DEAL_OVER"]


def test_an_own_hand_that_is_not_given_is_refused() -> None:
    first = before(random_deal(1, "aragones", 4), 0)
    data = first.to_dict()
    data["hands"][first.seat] = {"hidden": 6}
    data["stock"] = ["?"] * (len(data["stock"]) - 1) + data["stock"][-1:]
    position = arrastre.Position.from_dict(data)
    assert isinstance(position, GuinotePosition)
    assert refused(position, first.seat) == ["OWN_HAND_UNSEEN"]


def test_a_deal_seen_by_one_player_gives_what_that_player_knew() -> None:
    rng = Random(5)
    record = play_deal(rng, "aragones", 4)
    full = replayed(record)
    seen = dict(record)
    seat = before(full, 0).seat
    seen["hands"] = [hand if each == seat else {"hidden": 6} for each, hand in enumerate(record["hands"])]
    seen["stock"] = ["?"] * (len(record["stock"]) - 1) + record["stock"][-1:]
    at = full.steps[0].at
    one, all_seen = knowledge_at(replayed(seen), at, seat), knowledge_at(full, at, seat)
    assert one.items == all_seen.items
    assert one.allowed == all_seen.allowed
    assert one.places == all_seen.places
    assert len(one.items) == CARDS - 7


def test_what_has_been_sung_is_known_until_it_is_played() -> None:
    sung = 0
    for seed in range(20):
        deal = random_deal(seed, "aragones", 4)
        for number, known in decisions(deal):
            truth = before(deal, number)
            for each in truth.sung:
                for card in (each.suit * 10 + 9, truth.rules.mate(each.suit)):
                    if card in truth.hands[each.seat]:
                        sung += 1
                        assert card in known.position.hands[each.seat]
                        assert card in knowledge(truth, known.seat).position.hands[each.seat]
    assert sung


def exchanging_last(rng: Random) -> Choice:
    """Plays at random, but keeps the card that can be exchanged until just before the last draw."""

    def choose(position: Position, actions: Sequence[Action]) -> Action:
        assert isinstance(position, GuinotePosition)
        late = position.moment in ("before_draw", "before_draw_rivals")
        wanted = [each for each in actions if late and each.action == "cambio"]
        given = position.exchange_card() if position.muestra is not None else None
        kept = "cambio" if given is None else CARD_TEXTS[position.rules.deck][given]
        return rng.choice(wanted or [each for each in actions if each.action not in ("cambio", kept)] or actions)

    return choose


@pytest.mark.parametrize("strict", ["no", "yes"])
@pytest.mark.parametrize("players", [4, 2])
def test_who_drew_the_card_given_before_the_last_draw_is_known(players: int, strict: str) -> None:
    """The muestra goes to whoever gave the seven for it, and the seven to whoever draws last."""
    rules = {"exchange_after_last_draw_trick": "yes", "exchange_when": "any_trick_won", "strict_from_start": strict}
    found = 0
    for seed in range(12):
        rng = Random(seed)
        deal = replayed(play_deal(rng, "aragones", players, rules=rules, choose=exchanging_last(rng)))
        number = next((number for number, step in enumerate(deal.steps) if step.action.action == "cambio"), None)
        if number is None:
            continue
        found += 1
        position = before(deal, number)
        assert position.moment in ("before_draw", "before_draw_rivals")
        last = (position.leader - 1) % players
        whose = {position.exchange_card(): last, position.muestra: deal.steps[number].action.seat}
        for later, known in decisions(deal):
            if later <= number or before(deal, later).stock:
                continue
            for card, seat in whose.items():
                held = card in before(deal, later).hands[seat]
                assert (card in known.position.hands[seat]) is held, (seed, deal.steps[later].at, known.seat)
            assert sum(place.capacity for place in known.places) == len(known.items)
            assert true_places(deal, later, known) is not None
    assert found > 3


def test_a_deal_that_stops_in_mid_trick_tells_what_the_next_player_knows() -> None:
    record = play_deal(Random(9), "aragones", 4, stop=36)
    record["events"].pop()
    record["finished"] = False
    deal = replayed(record)
    end = deal.end
    assert isinstance(end, GuinotePosition)
    assert end.trick
    known = knowledge_at(deal, Address(end.played + 1, len(end.trick) + 1), None)
    assert known.seat == end.seat
    assert known.position.trick == end.trick
