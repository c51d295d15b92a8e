"""What a seat can know, held against deals in which everything is known and against trying every way to lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from random import Random
from typing import Any

import pytest

import arrastre
from arrastre.cards import CARD_TEXTS, CARDS, DOS, FIGURES, REY, SIETE, SUITS, UNKNOWN, Deck, card_of, parse_card
from arrastre.errors import InvalidRequest
from arrastre.game import Action, Address, Deal, Position
from arrastre.guinote.family import FAMILY
from arrastre.guinote.knowledge import GuinoteKnowledge, knowledge, knowledge_at
from arrastre.guinote.position import GuinotePosition
from arrastre.guinote.rules import RULESETS, resolve
from arrastre.worlds import Worlds
from deals import Choice, at_random, play_deal, rigged

TABLES = [(name, players) for name in RULESETS for players in (4, 2)]


def replayed(record: dict[str, Any], *, strict: bool = True) -> Deal:
    return arrastre.Record.from_dict(record, strict=strict).deals[0]


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


def seen_by_all(deal: Deal, number: int) -> list[set[int]]:
    """By seat: the cards that have been shown, or taken for all to see, in the steps before one."""
    seen: list[set[int]] = [set() for _ in range(before(deal, 0).players)]
    for index, step in enumerate(deal.steps[:number]):
        position, after = before(deal, index), before(deal, index + 1)
        move, seat = position.read_action(step.action.action), step.action.seat
        if move.kind == "cante":
            seen[seat] |= {card_of(move.item, REY), position.rules.mate(move.item)}
        elif move.kind == "tute":
            seen[seat] |= {card for card in position.hands[seat] if card % FIGURES in (REY, position.rules.under)}
        elif move.kind == "cambio":
            assert position.stock
            seen[seat].add(position.stock[-1])
        if position.stock and not after.stock:
            # Whoever draws last gets the muestra, or what has just been given for it.
            given = position.exchange_card() if move.kind == "cambio" else position.stock[-1]
            assert given is not None
            seen[(after.leader - 1) % after.players].add(given)
    return seen


@pytest.mark.parametrize("seed", range(4))
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
        assert known.position.muestra == before(deal, number).muestra
        for other, seen in enumerate(seen_by_all(deal, number)):
            held = set(before(deal, number).hands[other])
            assert other == known.seat or set(known.position.hands[other]) == held & seen
        assert Worlds(known.allowed, [place.capacity for place in known.places]).count > 0


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("ruleset", "players"), TABLES)
def test_what_is_shown_reads_back_and_says_all_that_one_place_a_hand_can(ruleset: str, players: int, seed: int) -> None:
    for _, known in decisions(random_deal(seed, ruleset, players)):
        again = arrastre.Position.from_dict(known.position.to_dict())
        assert again == known.position
        if any(known.played) or not known.items:
            continue
        assert isinstance(again, GuinotePosition)
        by_hand = knowledge(again, known.seat)
        assert (by_hand.items, by_hand.places, by_hand.allowed) == (known.items, known.places, known.allowed)
        assert by_hand.actions == known.actions


@pytest.mark.parametrize("seed", range(2))
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


def arrivals(positions: list[GuinotePosition]) -> dict[int, tuple[int, int]]:
    """By card: the seat that first had it and after how many tricks, the positions being those of a deal so far."""
    got = {card: (seat, 0) for seat, hand in enumerate(positions[0].hands) for card in hand}
    for last, position in pairwise(positions):
        if len(position.stock) < len(last.stock):
            for seat, hand in enumerate(position.hands):
                for card in set(hand) - set(last.hands[seat]):
                    got.setdefault(card, (seat, position.played))
    return got


def laid(known: GuinoteKnowledge, positions: list[GuinotePosition]) -> list[int]:
    """The place of every item in a deal in which everything is known, −1 for one that has no place there."""
    rules, end = positions[-1].rules, positions[-1]
    drawn = rules.draw_tricks - len(end.stock) // end.players
    got = arrivals(positions)
    stock = {place.index: index for index, place in enumerate(known.places) if place.kind == "stock"}
    hands: dict[int, list[int]] = {}
    for index, place in enumerate(known.places):
        if place.kind == "hand":
            hands.setdefault(place.seat, []).append(index)
    # The draw of the muestra, which all can see, has no place.
    drawers = {(now.leader - 1) % now.players for last, now in pairwise(positions) if last.stock and not now.stock}
    found = []
    for item, played in zip(known.items, known.played, strict=True):
        card = parse_card(item, rules.deck)
        if not played and card in end.stock:
            found.append(stock.get(end.stock.index(card), -1))
            continue
        seat, time = got.get(card, (-1, 0))
        if seat not in hands or (not played and card not in end.hands[seat]):
            found.append(-1)
            continue
        spans = hands[seat]
        first = drawn + 2 - len(spans) - (seat in drawers)
        found.append(spans[max(0, time - first + 1)] if time < first + len(spans) - 1 else -1)
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("hand_size", [2, 3, 6])
@pytest.mark.parametrize("players", [4, 2])
@pytest.mark.parametrize(("beat", "undertrump"), [("yes", "free"), ("no", "forced"), ("led_suit", "forced")])
def test_duties_from_the_start_admit_just_the_deals_in_which_all_plays_were_legal(
    players: int, hand_size: int, beat: str, undertrump: str, seed: int
) -> None:
    """Two cards of the whole deal change places, and again and again; each deal is replayed from its beginning."""
    when = ("any_trick_won", "on_lead", "own_turn")[seed]
    rules: dict[str, Any] = {"hand_size": hand_size, "beat_in_suit": beat, "undertrump": undertrump}
    rules |= {"exchange_when": when, "exchange_two": True, "exchange_after_last_draw_trick": True, "tute": 40}
    rng = Random(seed)
    record = play_deal(rng, "temprano", players, rules=rules, cards=rigged(rng, resolve("temprano", rules, players)))
    deal = replayed(record)
    for number, known in rng.sample(list(decisions(deal)), 3):
        if len(known.items) < 2:
            continue
        truth = before(deal, number)
        done = sum(step.action.action != "pass" for step in deal.steps[:number])
        dealt = {**record, "events": record["events"][:done], "finished": False}
        where = laid(known, [before(deal, index) for index in range(number + 1)])
        assert admits(known, where)
        # Of the cards of which something is known rather more often than of the others.
        bound = [index for index, mask in enumerate(known.allowed) if mask.bit_count() < len(known.places) - 1]
        bound += rng.sample(range(len(where)), len(where) // 2)
        for _ in range(40):
            one, two = rng.choice(bound), rng.randrange(len(where))
            swap = {known.items[one]: known.items[two], known.items[two]: known.items[one]}
            hands = [[swap.get(card, card) for card in hand] for hand in dealt["hands"]]
            other = {**dealt, "hands": hands, "stock": [swap.get(card, card) for card in dealt["stock"]]}
            tried = replayed(other, strict=False)
            there = list(where)
            there[one], there[two] = where[two], where[one]
            if tried.faults:
                # Which of two cards of one place came first is not told apart.
                assert there == where or not admits(known, there), (deal.steps[number].at, known.seat, swap)
                continue
            assert isinstance(tried.end, GuinotePosition)
            positions = [*(before(tried, index) for index in range(len(tried.steps))), tried.end]
            while len(positions[-1].stock) > len(truth.stock):
                positions.append(positions[-1].apply("pass"))
            assert laid(known, positions) == there
            assert admits(known, there), (deal.steps[number].at, known.seat, swap)
            dealt, where = other, there


def admits(known: GuinoteKnowledge, where: list[int]) -> bool:
    """Whether an assignment is one of the worlds."""
    if not all(place >= 0 and mask >> place & 1 for mask, place in zip(known.allowed, where, strict=True)):
        return False
    return all(where.count(index) == place.capacity for index, place in enumerate(known.places))


#: Twelve cards of the last three tricks, trumps oros; the seat to act holds 1E, 4E and 5B.
POOL = ("1O", "7O", "2O", "1C", "3C", "SC", "4C", "1B", "4B", "1E", "4E", "5B")
COPAS = "1C 3C 4C"


def table(trick: str, **rules: Any) -> GuinotePosition:
    """The third last trick led by seat 0, the hands of all but the seat to act hidden."""
    cards = trick.split()
    hands: list[Any] = [{"hidden": 2 if seat < len(cards) else 3} for seat in range(4)]
    hands[len(cards)] = ["1E", "4E", "5B"]
    gone = [card for card in CARD_TEXTS[Deck.SPANISH] if card not in POOL]
    data = {"trump": "O", "hands": hands, "leader": 0, "trick": cards, "gone": gone, "tricks": [4, 3], "rules": rules}
    position = arrastre.Position.from_dict(data | {"points": [0, 0]})
    assert isinstance(position, GuinotePosition)
    return position


@pytest.mark.parametrize(
    ("trick", "rules", "expected"),
    [
        ("SC", {}, ""),
        # Follow, and trump if that cannot be done.
        ("SC 4B", {}, f"{COPAS} 1O 7O 2O"),
        ("SC 2O", {}, COPAS),
        ("SC 4B", {"strict_from_start": "never"}, ""),
        # Beat.
        ("SC 4C", {}, "1C 3C"),
        ("SC 4C", {"beat_in_suit": "led_suit"}, "1C 3C"),
        ("SC 4C", {"beat_in_suit": "no"}, ""),
        ("SC 3C", {}, ""),
        # Beat where the trick has been trumped.
        ("SC 2O 4C", {}, ""),
        ("SC 2O 4C", {"beat_in_suit": "no"}, ""),
        ("SC 2O 4C", {"beat_in_suit": "led_suit"}, "1C 3C"),
        # Overtrump, and trump though it does not win.
        ("SC 2O 7O", {}, COPAS),
        ("SC 7O 2O", {}, f"{COPAS} 1O"),
        ("SC 7O 4B", {}, f"{COPAS} 1O"),
        ("SC 7O 4B", {"undertrump": "forced"}, f"{COPAS} 1O 2O"),
        # The partner's card is winning.
        ("1C 4C 4B", {}, "3C SC"),
        ("1C 4C 4B", {"partner_exempt": False}, "3C SC 1O 7O 2O"),
        ("SC 4B 4C", {}, ""),
        ("SC 4B 4C", {"partner_exempt": False}, "1C 3C"),
        ("2O 4B 4C", {}, "1O 7O"),
    ],
)
def test_what_the_last_card_on_the_table_tells(trick: str, rules: dict[str, Any], expected: str) -> None:
    position = table(trick, **rules)
    known = knowledge(position, position.seat)
    player = position.seat - 1
    texts = CARD_TEXTS[Deck.SPANISH]
    assert {texts[card] for card in known.position.excluded[player]} == set(expected.split())
    place = next(index for index, place in enumerate(known.places) if place.seat == player)
    barred = {item for item, mask in zip(known.items, known.allowed, strict=True) if not mask >> place & 1}
    assert barred == set(expected.split())


def test_a_position_given_by_hand_is_taken_at_its_word() -> None:
    own = ["1O", "7O", "RC", "SC", "6E", "2B"]
    hands = [own, {"cards": ["3E"], "hidden": 5}, {"hidden": 6, "excluded": ["1B"]}, {"hidden": 6}]
    data = {"trump": "B", "hands": hands, "stock": ["?"] * 3 + ["1C"] + ["?"] * 11 + ["4B"]}
    position = arrastre.Position.from_dict(data)
    assert isinstance(position, GuinotePosition)
    known = knowledge(position, 0)
    assert len(known.items) == CARDS - 6 - 3
    assert not {"3E", "1C", "4B", "1O"} & set(known.items)
    assert [(place.kind, place.seat, place.capacity) for place in known.places[:3]] == [
        ("hand", 1, 5),
        ("hand", 2, 6),
        ("hand", 3, 6),
    ]
    assert [place.index for place in known.places[3:]] == [0, 1, 2, *range(4, 15)]
    everywhere = (1 << len(known.places)) - 1
    for item, mask in zip(known.items, known.allowed, strict=True):
        assert mask == (everywhere & ~0b10 if item == "1B" else everywhere)
    texts = CARD_TEXTS[Deck.SPANISH]
    assert [texts[card] for card in known.position.excluded[2]] == ["1B"]


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


@pytest.mark.parametrize("turned", [SIETE, REY])
def test_an_exchange_shows_who_has_the_muestra_and_what_lies_there_instead(turned: int) -> None:
    """Where the 7 was turned up, it is the 2 that is given for it."""
    taken = redrawn = 0
    for seed in range(4):
        rng = Random(seed)
        cards = rng.sample(range(CARDS), CARDS)
        muestra, given = turned, DOS if turned == SIETE else SIETE
        for card, place in ((muestra, CARDS - 1), (given, 6)):
            other = cards.index(card)
            cards[other], cards[place] = cards[place], cards[other]
        deal = replayed(play_deal(rng, cards=cards))
        for number, known in decisions(deal):
            truth = before(deal, number)
            if not truth.exchanged:
                continue
            assert set(known.items).isdisjoint(CARD_TEXTS[Deck.SPANISH][card] for card in (muestra, given))
            assert (muestra in known.position.hands[1]) == (muestra in truth.hands[1])
            taken += muestra in truth.hands[1]
            assert known.position.muestra == (given if truth.stock else None)
            for hand, true in zip(known.position.hands, truth.hands, strict=True):
                assert (given in hand) == (given in true)
                redrawn += given in true
    assert taken
    assert redrawn


def test_a_tute_that_scores_is_known_until_it_is_played() -> None:
    tute = [card_of(suit, REY) for suit in range(SUITS)]
    held = 0
    for seed in range(6):
        rng = Random(seed)
        rest = [card for card in rng.sample(range(CARDS), CARDS) if card not in tute]
        deal = replayed(play_deal(rng, rules={"tute": 40}, cards=[*tute, *rest], choose=holding(rng, tute)))
        for number, known in decisions(deal):
            truth = before(deal, number)
            if truth.tute is None:
                continue
            for card in set(tute) & set(truth.hands[0]):
                held += 1
                assert card in known.position.hands[0]
                assert card in knowledge(truth, known.seat).position.hands[0]
    assert held


def holding(rng: Random, cards: list[int]) -> Any:
    """Plays at random, but keeps some cards while it has others, and declares whatever it can."""
    texts, usual = {CARD_TEXTS[Deck.SPANISH][card] for card in cards}, at_random(rng)

    def choose(position: arrastre.Position, actions: Any) -> Any:
        if declared := [each for each in actions if each.action == "tute"]:
            return declared[0]
        free = [each for each in actions if each.action not in texts]
        return usual(
            position, free if any(len(each.action) == 2 or each.action == "pass" for each in free) else actions
        )

    return choose


def test_a_renuncio_tells_nothing() -> None:
    """A card that broke a duty does not say that its player could not have kept it."""
    seen = 0
    for seed in range(4):
        record = play_deal(Random(seed), "aragones", 4)
        deal = replayed(record)
        for number, step in enumerate(deal.steps):
            position = before(deal, number)
            hand, legal = position.hands[position.seat], position.legal_cards()
            if step.moment != "play" or len(position.trick) > 2 or len(hand) == len(legal):
                continue
            card = next(card for card in hand if card not in legal)
            event = {"trick": position.played + 1, "seat": position.seat}
            event |= {"action": CARD_TEXTS[Deck.SPANISH][card]}
            done = sum(each.action.action != "pass" for each in deal.steps[:number])
            broken = {**record, "events": [*record["events"][:done], event], "finished": False}
            other = replayed(broken, strict=False)
            assert other.steps[-1].breach is not None
            assert isinstance(other.end, GuinotePosition)
            known = knowledge_at(other, Address(position.played + 1, len(position.trick) + 2), None)
            places = {place.seat: index for index, place in enumerate(known.places)}
            for item, mask in zip(known.items, known.allowed, strict=True):
                owner = next(
                    each for each, held in enumerate(other.end.hands) if parse_card(item, Deck.SPANISH) in held
                )
                assert mask >> places[owner] & 1
                seen += owner == position.seat
    assert seen
