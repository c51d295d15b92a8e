"""Random Guiñote positions that pass the gate, as JSON dicts, for hypothesis.

Plain random positions hardly ever hold what the rules are about. So the cards are dealt with wishes (a rey beside its
mate, four reyes, the seven of trumps), one side often has all the tricks, and the scores lie close to what decides a
game. hypothesis chooses, and shrinks, the frame (rules, sizes, moment); cards and scores come from a seed, because its
own choices repeat themselves too much for forty cards.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import strategies as st

from reference.guinote import DECK_SIZE, FRENCH_SUITS, RULESETS, SUITS, card_name, rules_of

OVERRIDES: dict[str, tuple[Any, ...]] = {
    "deck": ("spanish", "french"),
    "figure_under_rey": ("sota", "caballo"),
    "target": (101, 100),
    "beat_in_suit": ("yes", "no", "led_suit"),
    "partner_exempt": ("yes", "no"),
    "undertrump": ("free", "forced"),
    "strict_from_start": ("no", "yes", "never"),
    "cante_by": ("side", "winner"),
    "cantes_per_trick": ("side", "member"),
    "cante_window": ("own_lead", "rival_play"),
    "exchange_when": ("any_trick_won", "last_trick_won", "on_lead", "own_turn"),
    "exchange_two": ("yes", "no"),
    "exchange_after_last_draw_trick": ("yes", "no"),
    "malas_minimum": (0, 30),
    "malas_counts_last_trick": ("yes", "no"),
    "malas_failure": ("not_reached", "lose"),
    "both_over": ("last_trick", "higher_score"),
    "vueltas": ("at_once", "won_trick", "end_of_deal"),
    "claim": ("none", "at_risk"),
    "tute": ("none", "wins", 40),
    "capote": ("none", 100, "wins"),
    "cantes": ("yes", "no"),
}
"""Fields that a position may override, with the values they can take."""

Draw = Callable[[st.SearchStrategy[Any]], Any]


def chance(rng: Random, percent: int) -> bool:
    """True in so many cases of a hundred."""
    return rng.randrange(100) < percent


@st.composite
def rulesets(draw: Draw, overrides: int = 2) -> tuple[str, dict[str, Any]]:
    """A named ruleset and up to ``overrides`` fields of it set to something else."""
    name = draw(st.sampled_from(sorted(RULESETS)))
    fields = draw(st.lists(st.sampled_from(sorted(OVERRIDES)), max_size=overrides, unique=True))
    return name, {field: draw(st.sampled_from(OVERRIDES[field])) for field in fields}


@st.composite
def positions(draw: Draw, *, kind: str = "any") -> dict[str, Any]:
    """A position with every card known.

    ``kind``: ``arrastre`` (no stock, few cards), ``last_tricks`` (the same with four players and one or two tricks to
    come), ``draw`` (one or two draw tricks left, and small hands by an override
    of ``hand_size``), ``any`` of these two, all quick to solve; ``ordinary_draw`` (two players, whole hands, the last
    draw trick led or complete); ``whole`` (a moment anywhere in an ordinary deal, far too big to be solved).
    """
    if kind == "any":
        kind = draw(st.sampled_from(("arrastre", "draw")))
    name, overrides = draw(rulesets())
    players = {"ordinary_draw": 2, "last_tricks": 4}.get(kind) or draw(st.sampled_from((4, 2)))
    rules = rules_of({"ruleset": name, "rules": overrides})
    hand_size = 6
    if kind == "draw":
        hand_size = draw(st.sampled_from((2, 3, 4) if players == 2 else (2, 2, 2, 2, 1, 3)))
        overrides["hand_size"] = hand_size
    size, draws = _shape(draw, kind, players, hand_size, rules)

    # The moment. Before the draw, every hand lacks a card and the stock has one for each.
    played = DECK_SIZE // players - draws - size
    moments = ["play"] if kind == "ordinary_draw" else ["lead", "lead", "play"]
    if draws and played and kind != "ordinary_draw":
        moments.append("rivals")
    if draws and size > 1 and rules["exchange_after_last_draw_trick"] == "yes":
        moments += ["before_draw_rivals", "before_draw"]
    moment = draw(st.sampled_from(moments))
    stock_size = draws * players
    if moment.startswith("before_draw"):
        stock_size, size = players, hand_size - 1
        played = DECK_SIZE // players - hand_size
    on_table = draw(st.integers(1, players - 1)) if moment == "play" else 0
    leader = draw(st.integers(0, players - 1))
    sizes = [size] * players
    for place in range(on_table):
        sizes[(leader + place) % players] -= 1
    trump = draw(st.integers(0, 3))

    rng = Random(draw(st.integers(0, 2**63)))
    active = 1 - leader % 2 if moment in ("rivals", "before_draw_rivals") else leader % 2
    exchanged, hands, stock, trick, gone = _deal(rng, rules, trump, sizes, stock_size, on_table, active)
    tricks = _share(rng, leader % 2, played)
    sung = _sung(rng, rules, hands, gone, leader, played, tricks)
    points, card_points, carried, vueltas = _scores(rng, rules, trump, players, gone, tricks, sung)

    deck = rules["deck"]
    suits = FRENCH_SUITS if deck == "french" else SUITS
    position: dict[str, Any] = {
        "ruleset": name,
        "players": players,
        "rules": overrides,
        "trump": suits[trump],
        "hands": [{"cards": [card_name(card, deck) for card in hand]} for hand in hands],
        "stock": [card_name(card, deck) for card in stock],
        "leader": leader,
        "trick": [card_name(card, deck) for card in trick],
        "points": points,
        "sung": [{"seat": seat, "suit": suits[suit], "trick": number} for seat, suit, number in sung],
        "exchanged": exchanged,
        "carried": carried,
        "vueltas": vueltas,
    }
    if card_points is not None:
        position["cardPoints"] = card_points
    if not chance(rng, 15):
        position["tricks"] = tricks
    if moment not in ("lead", "play"):
        position["moment"] = moment
    if rules["tute"] != "none" and played and chance(rng, 6):
        seat = rng.randrange(players)
        position["tute"] = {"seat": seat, "trick": rng.randint(1, played)}
        if rules["tute"] == 40:
            points[seat % 2] = min(300, points[seat % 2] + 40)
    return position


def _shape(draw: Draw, kind: str, players: int, hand_size: int, rules: dict[str, Any]) -> tuple[int, int]:
    """Cards in a hand at the start of the trick, and draw tricks to come (that trick included)."""
    if kind == "whole":
        all_draws = (DECK_SIZE - hand_size * players) // players
        draws = draw(st.integers(0, all_draws))
        return (hand_size if draws else draw(st.integers(1, hand_size))), draws
    if kind == "ordinary_draw":
        return hand_size, 1
    if kind == "draw":
        return hand_size, (draw(st.sampled_from((1, 1, 2))) if players * hand_size <= 6 else 1)
    if kind == "last_tricks":
        return draw(st.sampled_from((2, 2, 2, 2, 1))), 0
    if players == 2:
        return draw(st.sampled_from((4, 5, 3, 2, 6, 1))), 0
    return draw(st.sampled_from((2, 3, 3, 3, 1) if rules["strict_from_start"] == "never" else (2, 3, 3, 3, 4, 4, 1))), 0


def _deal(
    rng: Random, rules: dict[str, Any], trump: int, sizes: list[int], stock_size: int, on_table: int, active: int
) -> tuple[bool, list[list[int]], list[int], list[int], list[int]]:
    """Whether an exchange has been made, the hands, the stock, the trick on the table, and the cards gone."""
    under = 7 if rules["figure_under_rey"] == "sota" else 8
    two, seven = trump * 10 + 1, trump * 10 + 6
    hands: list[list[int]] = [[] for _ in sizes]
    used: set[int] = set()

    exchanged = False
    muestra: list[int] = []
    if stock_size:
        muestra = [trump * 10 + rng.choice((9, 9, 0, 2, 6, 6, under, 1, 3))]
        used.update(muestra)
        if muestra == [seven] or (muestra == [two] and rules["exchange_two"] == "yes"):
            exchanged = chance(rng, 40)
    elif chance(rng, 50):
        exchanged = True

    wishes = ["exchange"] if stock_size and not exchanged and chance(rng, 75) else []
    wishes += ["tute"] if rules["tute"] != "none" and chance(rng, 30) else []
    wishes += rng.choices(("cante", "tute", "trump"), (6, 1, 1), k=rng.randint(2, 4))
    for wish in wishes:
        seat = rng.choice([seat for seat in range(len(sizes)) if chance(rng, 30) or seat % 2 == active])
        if wish == "cante":
            suit = rng.randrange(4)
            wanted = [suit * 10 + 9, suit * 10 + under]
        elif wish == "exchange":
            wanted = [two if muestra == [seven] else seven]
        elif wish == "tute":
            figure = rng.choice((9, 9, under))
            wanted = [suit * 10 + figure for suit in range(4)]
        else:
            wanted = [trump * 10 + rng.randrange(10)]
        wanted = [card for card in wanted if card not in hands[seat]]
        if len(hands[seat]) + len(wanted) <= sizes[seat] and not used.intersection(wanted):
            hands[seat] += wanted
            used.update(wanted)

    rest = [card for card in range(DECK_SIZE) if card not in used]
    rng.shuffle(rest)
    for hand, size in zip(hands, sizes, strict=True):
        while len(hand) < size:
            hand.append(rest.pop())
        hand.sort()
    trick = [rest.pop() for _ in range(on_table)]
    stock = [rest.pop() for _ in range(stock_size - 1)] + muestra if stock_size else []
    return exchanged, hands, stock, trick, rest


def _share(rng: Random, side: int, played: int) -> list[int]:
    """How the tricks played were shared; the last one went to ``side``."""
    mine = played if chance(rng, 35) else rng.randint(min(1, played), played)
    return [mine, played - mine] if side == 0 else [played - mine, mine]


def _sung(
    rng: Random,
    rules: dict[str, Any],
    hands: list[list[int]],
    gone: list[int],
    leader: int,
    played: int,
    tricks: list[int],
) -> list[tuple[int, int, int]]:
    """Cantes of this deal (seat, suit, trick) that can have been sung."""
    under = 7 if rules["figure_under_rey"] == "sota" else 8
    sung: list[tuple[int, int, int]] = []
    if rules["cantes"] == "no" or chance(rng, 40):
        return sung
    for suit in rng.sample(range(4), 3):
        seat = rng.randrange(len(hands))
        side = seat % 2
        seen = {*gone, *hands[seat]}
        if suit * 10 + 9 not in seen or suit * 10 + under not in seen:
            continue
        now = [entry for entry in sung if entry[2] == played]
        may_have_now = (
            side == leader % 2
            and not (now and rules["cantes_per_trick"] == "side")
            and seat not in [entry[0] for entry in now]
            and (seat == leader or rules["cante_by"] == "side")
        )
        if may_have_now and played and chance(rng, 50):
            sung.append((seat, suit, played))
            continue
        # one cante for a trick before the present window; of the tricks, so many are the side's
        earlier = [number for number in range(1, played) if number not in [entry[2] for entry in sung]]
        won = tricks[side] - (side == leader % 2)
        if earlier and won > sum(entry[0] % 2 == side and entry[2] < played for entry in sung):
            sung.append((seat, suit, rng.choice(earlier)))
    return sung


def _scores(
    rng: Random,
    rules: dict[str, Any],
    trump: int,
    players: int,
    gone: list[int],
    tricks: list[int],
    sung: list[tuple[int, int, int]],
) -> tuple[list[int], list[int] | None, list[int], bool]:
    """Points, points from cards (or ``None``: left out), points carried, and whether this is a carried-over deal."""
    worth = {0: 11, 2: 10, 9: 4, 7: 3, 8: 2}
    if rules["figure_under_rey"] == "caballo":
        worth |= {7: 2, 8: 3}
    cut = players * tricks[0]
    cards = [sum(worth.get(card % 10, 0) for card in part) for part in (gone[:cut], gone[cut:])]
    cantes = [sum(40 if suit == trump else 20 for seat, suit, _ in sung if seat % 2 == side) for side in (0, 1)]
    points = [cards[side] + cantes[side] for side in (0, 1)]
    to_come = 120 - sum(cards) + 10

    vueltas = chance(rng, 50)
    carried = [0, 0]
    target = rules["target"]
    if vueltas:
        for side in (0, 1):
            if points[side] < target and chance(rng, 95):
                carried[side] = min(max(target - points[side] - rng.randint(1, to_come), 0), target - 1)
        if chance(rng, 4):
            carried[rng.randrange(2)] = target
    elif chance(rng, 80):
        # scores without a history: only their range is checked
        points = [max(target - rng.randint(1, to_come), 0) if chance(rng, 90) else points[side] for side in (0, 1)]
        if chance(rng, 20):
            points[rng.randrange(2)] = target + rng.randint(0, 20)
    choice = rng.choice(("cards", "near the minimum", "left out"))
    if choice == "near the minimum":
        return points, [max(30 - rng.randint(-10, to_come), 0) for _ in (0, 1)], carried, vueltas
    return points, (cards if choice == "cards" else None), carried, vueltas
