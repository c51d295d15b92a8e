"""What deals, games and cotos come to, from both sides of every border that the rules draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

import pytest

import arrastre
from arrastre import Record
from arrastre.guinote import scoring
from arrastre.guinote.replay import GuinoteDeal
from arrastre.guinote.rules import Ruleset, resolve
from arrastre.guinote.scoring import DealResult, Header, Sources, Standing, Verdict
from deals import play_deal, rigged
from reference.guinote import Deal as ReferenceDeal
from reference.guinote import parse_card
from strategies import OVERRIDES

#: Fields that decide who wins.
DECIDING = (
    "malas_minimum",
    "malas_counts_last_trick",
    "malas_failure",
    "both_over",
    "vueltas",
    "tute",
    "capote",
    "target",
)


def rules_with(**fields: Any) -> Ruleset:
    return resolve("aragones", fields)


def won(side: int, reason: str) -> Verdict:
    return Verdict(scoring.WIN, side, reason)


VUELTAS = Verdict(scoring.VUELTAS)


# -- malas and buenas


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (0, "0 malas"),
        (1, "1 mala"),
        (50, "50 malas"),
        (51, "1 buena"),
        (52, "2 buenas"),
        (100, "50 buenas"),
        (101, "51 buenas"),
        (130, "80 buenas"),
    ],
)
def test_points_are_said_and_read_as_malas_and_buenas(points: int, said: str) -> None:
    assert scoring.say_points(points) == said
    assert scoring.parse_points(said) == points
    assert scoring.parse_points(str(points)) == points


@pytest.mark.parametrize(("text", "points"), [("12b", 62), ("12 B", 62), ("38m", 38), (" 38 MALAS ", 38), ("51b", 101)])
def test_short_malas_and_buenas(text: str, points: int) -> None:
    assert scoring.parse_points(text) == points


@pytest.mark.parametrize("text", ["", "buenas", "51 malas", "-3", "3.5", "1234", "12 bastos", "٣", "12 buenasx"])
def test_what_is_no_points(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        scoring.parse_points(text)


@pytest.mark.parametrize(
    "text", ["62 88", "62-88", "62, 88", " 62  88 ", "12 buenas 38 buenas", "12b-38b", "12 buenas y 38 buenas", "62/88"]
)
def test_scores(text: str) -> None:
    assert scoring.parse_score(text) == (62, 88)


@pytest.mark.parametrize("text", ["", "62", "62 88 90", "62 malas 88", "a b"])
def test_what_is_no_score(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        scoring.parse_score(text)


# -- the verdict at the end of a deal


def end(
    totals: tuple[int, int],
    cards: tuple[int, int] = (65, 55),
    last: int = 0,
    vueltas: bool = False,
    capote: int | None = None,
    **fields: Any,
) -> Verdict:
    """Totals that came from anywhere; ``cards`` without the last trick, which ``last`` has won."""
    bonus = (10, 0) if last == 0 else (0, 10)
    return scoring.at_end(rules_with(**fields), totals, Sources(cards=cards, last_trick=bonus), vueltas, last, capote)


@pytest.mark.parametrize(
    ("target", "totals", "verdict"),
    [
        (101, (100, 30), VUELTAS),
        (101, (101, 30), won(0, "target")),
        (101, (30, 101), won(1, "target")),
        (100, (99, 40), VUELTAS),
        (100, (100, 40), won(0, "target")),
    ],
)
def test_target(target: int, totals: tuple[int, int], verdict: Verdict) -> None:
    for vueltas in (False, True):
        assert end(totals, target=target, vueltas=vueltas) == verdict


@pytest.mark.parametrize(
    ("cards", "last", "counts", "minimum", "enough"),
    [
        (30, 1, True, 30, True),
        (29, 1, True, 30, False),
        (20, 0, True, 30, True),  # with the last trick
        (19, 0, True, 30, False),
        (30, 0, False, 30, True),  # without it
        (29, 0, False, 30, False),
        (0, 1, True, 0, True),
    ],
)
def test_malas_minimum(cards: int, last: int, counts: bool, minimum: int, enough: bool) -> None:
    def verdict(totals: tuple[int, int], vueltas: bool = False, failure: str = "not_reached") -> Verdict:
        return end(
            totals,
            cards=(cards, 120 - cards),
            last=last,
            vueltas=vueltas,
            malas_minimum=minimum,
            malas_counts_last_trick=counts,
            malas_failure=failure,
        )

    # Side 0 has the target; the other side has not, or has it too.
    assert verdict((110, 100)) == (won(0, "target") if enough else VUELTAS)
    assert verdict((110, 101)) == (won(last, "last_trick") if enough else won(1, "target"))
    # In a later deal nobody asks.
    assert verdict((110, 100), vueltas=True) == won(0, "target")
    # Where it loses the game, it does so whatever the score.
    for totals in ((110, 100), (110, 101), (60, 70)):
        plain = verdict(totals)
        assert verdict(totals, failure="lose") == (plain if enough else won(1, "malas"))
    assert verdict((60, 70), vueltas=True, failure="lose") == VUELTAS


def test_both_over() -> None:
    assert end((110, 120), last=0) == won(0, "last_trick")
    assert end((110, 120), last=1) == won(1, "last_trick")
    assert end((110, 120), last=0, both_over="higher_score") == won(1, "higher_score")
    assert end((120, 119), last=1, both_over="higher_score") == won(0, "higher_score")
    assert end((110, 110), last=0, both_over="higher_score") == Verdict(scoring.REPLAY)
    assert end((100, 100), last=0, both_over="higher_score") == VUELTAS
    assert end((101, 100), last=1) == won(0, "target")


def test_capote_that_wins() -> None:
    rules = {"capote": "wins"}
    everything = Sources(cards=(120, 0), last_trick=(10, 0))
    assert scoring.at_end(resolve("aragones", rules), (30, 101), everything, True, 0, 0) == won(0, "capote")
    assert scoring.at_end(resolve("aragones", rules), (30, 101), everything, True, 0, None) == won(1, "target")
    assert scoring.at_end(resolve("aragones"), (30, 101), everything, True, 0, 0) == won(1, "target")


# -- the verdict in the middle of one


@pytest.mark.parametrize("kind", [scoring.TRICK, scoring.CANTE, scoring.TUTE])
@pytest.mark.parametrize("when", ["at_once", "won_trick", "end_of_deal"])
def test_when_vueltas_end(kind: str, when: str) -> None:
    rules = rules_with(vueltas=when, tute=40)
    ends = when == "at_once" or (when == "won_trick" and kind == scoring.TRICK)
    assert scoring.after_gain(rules, (101, 90), True, 0, kind) == (won(0, "target") if ends else None)
    assert scoring.after_gain(rules, (100, 90), True, 0, kind) is None
    assert scoring.after_gain(rules, (101, 90), True, 1, kind) is None  # the other side has gained something
    assert scoring.after_gain(rules, (101, 90), False, 0, kind) is None


def test_tute() -> None:
    assert scoring.after_gain(rules_with(tute="wins"), (5, 90), False, 0, scoring.TUTE) == won(0, "tute")
    assert scoring.after_gain(rules_with(tute=40), (45, 90), False, 0, scoring.TUTE) is None


def test_claims() -> None:
    rules = rules_with(claim="at_risk")
    enough, few = Sources(cards=(30, 30)), Sources(cards=(29, 30))
    assert scoring.on_claim(rules, (101, 0), enough, False, 0) == won(0, "claim")
    assert scoring.on_claim(rules, (100, 0), enough, False, 0) == won(1, "wrong_claim")
    assert scoring.on_claim(rules, (101, 0), few, False, 0) == won(1, "wrong_claim")
    assert scoring.on_claim(rules, (101, 0), few, True, 0) == won(0, "claim")
    assert scoring.on_claim(rules, (101, 100), enough, False, 1) == won(0, "wrong_claim")


def test_carried_over_with_the_target() -> None:
    assert scoring.at_start(rules_with(), (101, 50), True) == won(0, "carried")
    assert scoring.at_start(rules_with(), (50, 101), True) == won(1, "carried")
    assert scoring.at_start(rules_with(), (100, 50), True) is None
    assert scoring.at_start(rules_with(target=100), (100, 50), True) == won(0, "carried")
    assert scoring.at_start(rules_with(), (101, 50), False) is None


@pytest.mark.parametrize(
    ("rule", "dealer", "last", "players", "due"),
    [
        ("rotate", 2, 0, 4, 3),
        ("rotate", 3, 0, 4, 0),
        ("rotate", 1, 1, 2, 0),
        ("last_trick", 2, 0, 4, 0),
        ("last_trick", 2, None, 4, 3),
    ],
)
def test_next_dealer(rule: str, dealer: int, last: int | None, players: int, due: int) -> None:
    assert scoring.next_dealer(resolve("aragones", {"next_dealer": rule}, players), dealer, last) == due


# -- from deals to cotos


def result(points: tuple[int, int], verdict: Verdict, carried: tuple[int, int] = (0, 0), dealer: int = 0) -> DealResult:
    return DealResult(Sources(cards=points), carried, any(carried), verdict, dealer, 0, (dealer + 1) % 4)


def test_a_game_goes_into_a_third_deal() -> None:
    rules = rules_with()
    first = Standing().after(rules, result((50, 80), VUELTAS))
    assert (first.carried, first.vueltas, first.game_over, first.dealer) == ((50, 80), True, False, 1)
    second = first.after(rules, result((40, 15), VUELTAS, (50, 80)))
    assert (second.carried, second.vueltas, second.game_over) == ((90, 95), True, False)
    third = second.after(rules, result((11, 4), won(0, "target"), (90, 95)))
    assert (third.game_over, third.game_winner, third.games, third.coto_over) == (True, 0, (1, 0), False)
    following = third.next_game()
    assert (following.game, following.carried, following.vueltas, following.games) == (2, (0, 0), False, (1, 0))


def test_a_side_that_carries_the_target_over_wins_before_the_next_deal() -> None:
    rules = rules_with()
    kept = Standing().after(rules, result((100, 110), VUELTAS))
    assert (kept.game_over, kept.game_winner, kept.games) == (True, 1, (0, 1))
    assert not Standing().after(rules, result((100, 100), VUELTAS)).game_over


def test_a_tie_is_dealt_again() -> None:
    rules = resolve("cien")
    tied = Standing().after(rules, result((105, 105), Verdict(scoring.REPLAY)))
    assert (tied.game, tied.carried, tied.vueltas, tied.game_over) == (1, (0, 0), False, False)
    later = Standing(carried=(60, 60), vueltas=True)
    tied = later.after(rules, result((45, 45), Verdict(scoring.REPLAY), (60, 60)))
    assert (tied.carried, tied.vueltas, tied.game_over) == ((60, 60), True, False)


@pytest.mark.parametrize("needed", [1, 2, 3])
def test_games_per_coto(needed: int) -> None:
    rules = rules_with(games_per_coto=needed)
    standing = Standing()
    for game in range(1, needed + 1):
        assert (standing.coto, standing.game) == (1, game)
        standing = standing.after(rules, result((101, 29), won(0, "target")))
        assert standing.games == (game, 0)
        assert standing.coto_over == (game == needed)
        standing = standing if standing.coto_over else standing.next_game()
    assert standing.coto_winner == 0
    after = standing.next_game()
    assert (after.coto, after.game, after.games, after.coto_over) == (2, 1, (0, 0), False)


def test_games_of_both_sides() -> None:
    rules = rules_with(games_per_coto=2)
    standing = Standing()
    for winner in (0, 1):
        standing = standing.after(rules, result((101, 29), won(winner, "target"))).next_game()
    assert (standing.games, standing.coto, standing.game) == ((1, 1), 1, 3)
    assert standing.after(rules, result((29, 101), won(1, "target"))).coto_winner == 1


def test_a_fixed_number_of_deals() -> None:
    rules = rules_with(games_per_coto="deals:3")
    standing = Standing()
    for points in ((60, 70), (101, 29)):
        verdict = won(0, "target") if points[0] > 100 else Verdict(scoring.SUMMED)
        standing = standing.after(rules, result(points, verdict))
        assert (standing.carried, standing.vueltas, standing.coto_over) == ((0, 0), False, False)
    done = standing.after(rules, result((20, 110), won(1, "target")))
    assert (done.sums, done.coto_over, done.coto_winner) == ((181, 209), True, 1)
    tied = standing.after(rules, result((9, 71), Verdict(scoring.SUMMED)))
    assert (tied.sums, tied.coto_over, tied.coto_winner) == ((170, 170), True, None)
    assert end((60, 70), games_per_coto="deals:3") == Verdict(scoring.SUMMED)
    assert end((110, 110), games_per_coto="deals:3", both_over="higher_score") == Verdict(scoring.SUMMED)
    assert end((110, 20), games_per_coto="deals:3") == won(0, "target")


def test_where_a_deal_begins() -> None:
    def start(before: Standing | None, **said: Any) -> scoring.Start:
        return scoring.start_deal(before, 4, Header(**said))

    running = Standing(game=2, carried=(60, 70), vueltas=True, dealer=1)
    assert start(None) == scoring.Start(Standing(), (0, 0), False)
    assert start(None, carried=(60, 70)).vueltas
    assert start(running) == scoring.Start(running, (60, 70), True, follows=True)
    assert start(running, carried=(60, 70), number=5).follows
    # Nothing carried: another game.
    fresh = start(running, carried=(0, 0))
    assert (fresh.standing.game, fresh.carried, fresh.vueltas, fresh.faults) == (3, (0, 0), False, ())
    # Something else carried: wrong, unless deals are missing.
    assert [each[1] for each in start(running, carried=(60, 71), number=5).faults] == ["CARRIED_MISMATCH"]
    assert [each[1] for each in start(running, carried=(0, 0), game=2).faults] == ["CARRIED_MISMATCH"]
    assert start(running, carried=(60, 71), number=7).faults == ()
    # Other players, numbers that start again, an earlier game: another coto.
    assert start(running, same_table=False).standing.coto == 2
    assert start(running, number=1).standing.coto == 2
    assert start(running, game=1).standing.coto == 2
    assert (start(running, game=3).standing.coto, start(running, game=3).standing.game) == (1, 3)
    # After the end of a game.
    over = Standing(game=2, game_over=True, game_winner=1, games=(1, 1))
    assert (start(over).standing.game, start(over).standing.games) == (3, (1, 1))
    assert [each[1] for each in start(over, game=2, number=5).faults] == ["GAME_OVER"]
    assert start(over, game=2, number=7).faults == ()
    # Nobody knows how an unfinished deal went on.
    unknown = Standing(game=2, known=False, carried=(60, 70), vueltas=True)
    assert (start(unknown).carried, start(unknown).standing.game) == ((0, 0), 3)
    resumed = start(unknown, carried=(75, 80))
    assert (resumed.standing.game, resumed.carried, resumed.vueltas, resumed.faults) == (2, (75, 80), True, ())


# -- from records

Found = Callable[[GuinoteDeal], bool]


@cache
def find(name: str, players: int = 4, ruleset: str = "aragones", **fields: Any) -> dict[str, Any]:
    """The JSON form of the first random deal in which what ``WANTED[name]`` asks for happens."""
    for seed in range(4000):
        rng = Random(seed)
        cards = rigged(rng, resolve(ruleset, fields, players))
        data = play_deal(rng, ruleset, players, rules=dict(fields), cards=cards)
        deal = replayed(data)
        if WANTED[name](deal):
            return data
    raise AssertionError(f"no deal with {name}")


WANTED: dict[str, Found] = {
    "a cante": lambda deal: any(deal.result.sources.cantes) and len(first(deal, "cante").position.stock) > 0,
    "a late cante": lambda deal: any(deal.result.sources.cantes) and len(first(deal, "cante").position.stock) == 0,
    "a tute": lambda deal: any(step.action.action == "tute" for step in deal),
    "a last trick by each": lambda deal: deal.result.verdict.winner is None,
}


def replayed(data: dict[str, Any], **rules: Any) -> GuinoteDeal:
    """The deal, with faults and all."""
    (deal,) = Record.from_dict(data, rules=rules or None, strict=False)
    assert isinstance(deal, GuinoteDeal)
    return deal


def first(deal: GuinoteDeal, word: str) -> Any:
    return next((step for step in deal if step.action.action.startswith(word)), None)


def reasons(deal: GuinoteDeal) -> list[str]:
    return [fault.reason for fault in deal.faults if fault.reason != "LEGAL_UNDER"]


def cut(data: dict[str, Any], events: int) -> dict[str, Any]:
    return {**data, "events": data["events"][:events]}


def event_of(data: dict[str, Any], action: str) -> int:
    return next(index for index, event in enumerate(data["events"]) if event["action"].startswith(action))


@pytest.mark.parametrize("players", [4, 2])
@pytest.mark.parametrize("ruleset", ["aragones", "gamerules", "cien", "torneo", "riojano", "temprano"])
def test_points_by_source(ruleset: str, players: int) -> None:
    """Added up here from the record alone, by the winners that the reference finds."""
    for seed in range(12):
        rng = Random(seed)
        data = play_deal(rng, ruleset, players, cards=rigged(rng, resolve(ruleset, None, players)))
        deal = replayed(data)
        assert reasons(deal) == []
        table = ReferenceDeal(data)
        deck = table.deck
        cards, last, cantes, tute = [0, 0], [0, 0], [0, 0], [0, 0]
        tricks: dict[int, list[tuple[int, int]]] = {}
        for event in data["events"]:
            side, action = event["seat"] % 2, event["action"]
            if action.startswith("cante"):
                cantes[side] += 40 if action[-1] == data["trump"] else 20
            elif action == "tute":
                tute[side] += table.rules["tute"] if table.rules["tute"] == 40 else 0
            elif action not in ("cambio", "claim"):
                tricks.setdefault(event["trick"], []).append((event["seat"], parse_card(action, deck)))
        sides = set()
        for number, trick in tricks.items():
            if len(trick) < players:
                continue
            side = trick[table.winner([card for _, card in trick])][0] % 2
            sides.add(side)
            cards[side] += sum(table.worth[card] for _, card in trick)
            if number == 40 // players:
                last[side] = 10
        whole = len(tricks) == 40 // players and len(tricks[40 // players]) == players
        capote = [0, 0]
        if whole and len(sides) == 1 and table.rules["capote"] == 100:
            capote[sides.pop()] = 100
        assert deal.result is not None
        assert deal.result.to_dict()["sources"] == {
            "cards": cards,
            "lastTrick": last,
            "cantes": cantes,
            "tute": tute,
            "capote": capote,
        }
        if whole:
            assert sum(cards) + sum(last) == 130


def reaching(data: dict[str, Any], event: int, missing: int) -> tuple[dict[str, Any], int]:
    """The deal with so much carried that the side of an event is ``missing`` points short of the target after it."""
    made = points_after(data, event)
    side = side_of_gain(data, event)
    carried = [0, 0]
    carried[side] = 101 - missing - made[side]
    carried[1 - side] = 1
    return {**data, "carried": carried, "vueltas": True, "finished": True}, side


def points_after(data: dict[str, Any], event: int) -> Sequence[int]:
    deal = replayed({**cut(data, event + 1), "finished": False, "carried": [0, 0], "vueltas": False})
    assert deal.result is not None
    return deal.result.points


def side_of_gain(data: dict[str, Any], event: int) -> int:
    before, after = points_after(data, event - 1), points_after(data, event)
    return 0 if after[0] > before[0] else 1


def test_a_cante_ends_vueltas_at_once_but_not_under_won_trick() -> None:
    data = find("a cante")
    sung = event_of(data, "cante")
    there, side = reaching(data, sung, missing=0)
    ended = replayed(cut(there, sung + 1))
    assert reasons(ended) == []
    assert ended.result is not None
    assert ended.result.verdict == won(side, "target")
    assert ended.result.totals[side] == 101
    assert ended.standing.game_winner == side
    # It does not go on after that.
    after = replayed(there)
    assert reasons(after) == ["AFTER_END"]
    event, sides = there["events"][sung + 1], ("NS", "OE") if len(there["hands"]) == 4 else ("N", "O")
    assert after.faults[0].message.startswith(f"trick {event['trick']}, seat {event['seat']} (")
    assert after.faults[0].message.endswith(f": the game was over: {sides[side]} had reached the target")
    # One point less, and it does.
    short, _ = reaching(data, sung, missing=1)
    assert reasons(replayed(cut(short, sung + 1))) == ["UNFINISHED"]
    # Under won_trick the side has yet to win a trick.
    assert reasons(replayed(cut(there, sung + 1), vueltas="won_trick")) == ["UNFINISHED"]
    ends_at = None
    for events in range(sung + 2, len(there["events"]) + 1):
        deal = replayed(cut(there, events), vueltas="won_trick")
        if reasons(deal) == []:
            ends_at = events
            break
    assert ends_at is not None
    assert deal.result is not None
    assert deal.result.verdict == won(side, "target")
    assert deal.end is not None
    assert deal.end.leader & 1 == side  # type: ignore[attr-defined]
    # At the end of the deal only, nothing ends before.
    assert reasons(replayed(cut(there, ends_at), vueltas="end_of_deal")) == ["UNFINISHED"]
    assert reasons(replayed(there, vueltas="end_of_deal")) == []


def test_a_trick_ends_vueltas() -> None:
    data = find("a last trick by each")
    gain = next(
        index
        for index, event in enumerate(data["events"])
        if event["trick"] == 5 and sum(points_after(data, index)) > sum(points_after(data, index - 1))
    )
    there, side = reaching(data, gain, missing=0)
    short, _ = reaching(data, gain, missing=1)
    for when in ("at_once", "won_trick"):
        deal = replayed(cut(there, gain + 1), vueltas=when)
        assert reasons(deal) == []
        assert deal.result is not None
        assert deal.result.verdict == won(side, "target")
        assert reasons(replayed(cut(short, gain + 1), vueltas=when)) == ["UNFINISHED"]
    assert reasons(replayed(cut(there, gain + 1), vueltas="end_of_deal")) == ["UNFINISHED"]


@pytest.mark.parametrize(("missing", "reason"), [(0, "claim"), (1, "wrong_claim")])
def test_a_claim_ends_any_deal(missing: int, reason: str) -> None:
    data = find("a last trick by each", ruleset="aragones")
    gain = next(
        index
        for index, event in enumerate(data["events"])
        if event["trick"] == 6 and sum(points_after(data, index)) > sum(points_after(data, index - 1))
    )
    there, side = reaching(data, gain, missing=missing)
    event = there["events"][gain]
    claim = {"trick": event["trick"] + 1, "seat": side, "action": "claim"}
    claimed = {**there, "events": [*there["events"][: gain + 1], claim]}
    deal = replayed(claimed, claim="at_risk", vueltas="end_of_deal")
    assert reasons(deal) == []
    assert deal.result is not None
    assert deal.result.verdict == won(side if missing == 0 else 1 - side, reason)
    assert deal.steps[-1].action.action == "claim"
    # Nothing comes after it, and without the rule it means nothing.
    longer = {**claimed, "events": [*claimed["events"], *there["events"][gain + 1 :]]}
    assert reasons(replayed(longer, claim="at_risk", vueltas="end_of_deal")) == ["AFTER_END"]
    assert reasons(replayed(claimed, claim="none", vueltas="end_of_deal")) == ["NO_CLAIM"]


def test_a_claim_in_a_first_deal_needs_the_minimum() -> None:
    """Under claims, a first deal ends when somebody claims; nobody has to."""
    data = find("a last trick by each")
    whole = replayed(data, claim="at_risk", target=61)
    assert reasons(whole) == []
    assert whole.result is not None
    assert whole.result.verdict.reason in ("target", "last_trick")


def test_a_tute_that_wins_and_one_that_scores() -> None:
    data = find("a tute")
    deal = replayed(data)
    side = first(deal, "tute").action.seat & 1
    assert deal.result is not None
    assert deal.result.verdict == won(side, "tute")
    assert deal.result.sources.tute == (0, 0)
    assert data["events"][-1]["action"] == "tute"
    # Where it scores 40, the deal should have gone on; where there is none, it is no declaration.
    reyes = all(f"R{suit}" in data_cards(first(deal, "tute")) for suit in "OCEB")
    scored = replayed(data, tute=40)
    assert reasons(scored) == (["UNFINISHED"] if reyes else ["TUTE_CARDS", "UNFINISHED"])
    assert scored.result is not None
    assert scored.result.sources.tute[side] == (40 if reyes else 0)
    assert reasons(replayed(data, tute="none")) == ["NO_TUTE", "UNFINISHED"]


def data_cards(step: Any) -> list[str]:
    return step.position.to_dict()["hands"][step.action.seat]["cards"]  # type: ignore[no-any-return]


def capote_cards() -> list[int]:
    """Of two players, seat 0 is dealt and draws oros, copas and the as of espadas, all but the 2 of oros."""
    ranking = (0, 2, 9, 7, 8, 6, 5, 4, 3, 1)  # as, tres, rey, sota, caballo, 7 … 2
    strong = [suit * 10 + figure for suit in (0, 1) for figure in ranking]
    weak = [suit * 10 + figure for suit in (2, 3) for figure in ranking]
    muestra, as_de_espadas = strong.pop(9), weak.pop(0)
    mine, theirs = strong[:6], weak[:6]
    draws = [card for pair in zip(strong[6:], weak[6:], strict=True) for card in pair]
    return [*mine, *theirs, *draws, as_de_espadas, muestra]


@pytest.mark.parametrize("ruleset", ["cien", "aragones"])
def test_a_capote(ruleset: str) -> None:
    def choose(position: Any, actions: Any) -> Any:
        # Copas while there is a stock, then oros, which take the rival's only trump.
        played = [each for each in actions if len(each.action) == 2]
        order = "CEBO" if position.stock else "OCEB"
        return min(played, key=lambda each: order.index(each.action[1])) if played else actions[-1]

    cards = capote_cards()
    data = play_deal(Random(1), ruleset, 2, cards=cards, dealer=1, choose=choose)
    deal = replayed(data)
    assert reasons(deal) == []
    assert deal.end is not None and deal.result is not None
    tricks = deal.end.to_dict()["tricks"]
    assert tricks == [20, 0]
    assert deal.result.sources.capote == ((100, 0) if ruleset == "cien" else (0, 0))
    wins = replayed({**data, "carried": [0, 99], "vueltas": True}, capote="wins", vueltas="end_of_deal")
    assert wins.result is not None
    assert wins.result.verdict == won(0, "capote")
    # One trick for the other side, and it is none.
    shared = replayed(find("a last trick by each", 2), capote=100)
    assert shared.end is not None and shared.result is not None
    assert all(shared.end.to_dict()["tricks"])
    assert shared.result.sources.capote == (0, 0)


def test_last_trick_decides_and_higher_score_decides() -> None:
    """Both sides over: the same deal, with what is carried chosen so that each rule has its own winner."""
    data = find("a last trick by each")
    deal = replayed(data)
    assert deal.result is not None
    last = deal.result.last_winner & 1  # type: ignore[operator]
    points = deal.result.points
    carried = [0, 0]
    carried[last] = max(101 - points[last], 0)
    carried[1 - last] = carried[last] + points[last] - points[1 - last] + 1
    both = {**data, "carried": carried, "vueltas": True}
    assert max(carried) < 101
    by_last = replayed(both, vueltas="end_of_deal")
    assert by_last.result is not None
    assert by_last.result.verdict == won(last, "last_trick")
    by_score = replayed(both, vueltas="end_of_deal", both_over="higher_score")
    assert by_score.result is not None
    assert by_score.result.verdict == won(1 - last, "higher_score")
    carried[1 - last] -= 1
    tie = replayed({**both, "carried": carried}, vueltas="end_of_deal", both_over="higher_score")
    assert tie.result is not None
    assert tie.result.verdict == Verdict(scoring.REPLAY)
    assert tie.standing.carried == tuple(carried)


def test_a_record_of_three_deals_and_what_follows() -> None:
    """Scores carry from deal to deal; the numbers, the dealer and what is carried may be left out."""
    base = find("a last trick by each", players=2)
    rules = {"vueltas": "end_of_deal", "target": 101, "games_per_coto": 2}
    deals = []
    rng = Random(5)
    standing: tuple[int, int] = (0, 0)
    dealer = 1
    record = None
    while record is None or not record[-1].standing.coto_over:  # type: ignore[attr-defined]
        data = play_deal(rng, "aragones", 2, rules=rules, dealer=dealer, carried=standing, number=len(deals) + 1)
        deals.append({name: data[name] for name in ("hands", "stock", "events")})
        record = Record.from_dict({"rules": rules, "players": 2, "deals": deals})
        last = record[-1]
        assert isinstance(last, GuinoteDeal) and last.result is not None
        assert last.data["carried"] == list(standing)
        assert last.data["dealer"] == dealer
        dealer = last.result.next_dealer
        standing = (0, 0) if last.standing.game_over else last.standing.carried
    score = arrastre.score(record).to_dict()
    assert [deal["deal"] for deal in score["deals"]] == list(range(1, len(deals) + 1))
    assert sum(len(game["deals"]) for game in score["games"]) == len(deals)
    assert all(game["over"] for game in score["games"])
    (coto,) = score["cotos"]
    assert max(coto["games"]) == 2 and coto["winner"] == coto["games"].index(2)
    assert base["players"] == 2
    for lang in ("en", "es"):
        for table in arrastre.score(record).tables(lang):
            assert all(len(row) == len(table.head) for row in table.rows)
    # What is carried has to be right where it is said.
    wrong = [dict(deal) for deal in deals]
    following = next(index for index, deal in enumerate(score["deals"]) if deal["result"]["vueltas"])
    wrong[following]["carried"] = [1, 1]
    faulty = Record.from_dict({"rules": rules, "players": 2, "deals": wrong}, strict=False)
    assert "CARRIED_MISMATCH" in [fault.reason for fault in faulty[following].faults]
    wrong[following] = {**deals[following], "dealer": record[following].data["dealer"] ^ 1}
    faulty = Record.from_dict({"rules": rules, "players": 2, "deals": wrong}, strict=False)
    assert "WRONG_DEALER" in [fault.reason for fault in faulty[following].faults]


@pytest.mark.parametrize("players", [4, 2])
@pytest.mark.parametrize("ruleset", ["aragones", "gamerules", "cien", "torneo", "riojano"])
def test_the_kernel_gives_the_same_verdicts(ruleset: str, players: int) -> None:
    """With one card to come, what the game is worth is what the record comes to."""
    seen = set()
    for seed in range(60):
        rng = Random(seed)
        fields = {name: rng.choice(OVERRIDES[name]) for name in rng.sample(DECIDING, rng.choice((0, 1, 2)))}
        target = 100 if ruleset in ("cien", "riojano") else 101
        carried = rng.choice(((0, 0), (0, 0), (target - 70, target - 60), (target - 1, target - 1), (20, target - 5)))
        data = play_deal(rng, ruleset, players, rules=fields, carried=carried)
        deal = replayed(data)
        assert reasons(deal) == []
        assert deal.result is not None
        last = deal.steps[-1] if deal.steps else None
        if last is None or last.action.action == "claim":
            continue
        solution = arrastre.solve(last.position, objective="game")
        winner = deal.result.verdict.winner
        side = last.action.seat & 1
        played = next(each for each in solution.actions if each.action == last.action)
        assert played.lower == (0 if winner is None else 1 if winner == side else -1), (seed, deal.result)
        if deal.end is not None and deal.end.finished() and winner is None:
            assert solution.outcome == deal.result.verdict.outcome
        seen.add(deal.result.verdict.outcome)
    assert "win" in seen
    assert len(seen) > 1
