"""Deals played at random, within the rules, by way of ``Position.apply``: records to try things on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import arrastre
from arrastre.cards import CARD_TEXTS, CARDS, Deck, suit_text
from arrastre.errors import InvalidPosition
from arrastre.game import Action, Position
from arrastre.guinote.rules import Ruleset, resolve

Choice = Callable[[Position, Sequence[Action]], Action]


def at_random(rng: Random) -> Choice:
    """Declares more often than not, and otherwise plays any card."""

    def choose(position: Position, actions: Sequence[Action]) -> Action:
        declared = [each for each in actions if len(each.action) > 2 and each.action != "pass"]
        if declared and rng.random() < 0.7:
            return rng.choice(declared)
        return rng.choice([each for each in actions if each not in declared])

    return choose


def play_deal(
    rng: Random,
    ruleset: str = "aragones",
    players: int = 4,
    *,
    rules: dict[str, Any] | None = None,
    dealer: int | None = None,
    carried: Sequence[int] = (0, 0),
    number: int = 1,
    choose: Choice | None = None,
    cards: Sequence[int] | None = None,
    stop: int | None = None,
) -> dict[str, Any]:
    """One deal in the JSON form, played until its game is decided or ``stop`` cards have been played.

    ``cards`` are dealt from their beginning: hands seat by seat, then the stock with the muestra last.
    """
    resolved = resolve(ruleset, rules, players)
    choose = choose or at_random(rng)
    if cards is None:
        cards = rng.sample(range(CARDS), CARDS)
    texts = [CARD_TEXTS[resolved.deck][card] for card in cards]
    size = resolved.hand_size
    hands = [texts[seat * size : (seat + 1) * size] for seat in range(players)]
    stock = texts[players * size : players * size + resolved.stock_size]
    trump = (cards[players * size + resolved.stock_size - 1] if stock else cards[-1]) // 10
    dealer = rng.randrange(players) if dealer is None else dealer
    vueltas = any(carried)
    position = Position.from_dict(
        {
            "ruleset": ruleset,
            "rules": rules or {},
            "players": players,
            "trump": suit_text(trump, Deck(resolved.deck)),
            "hands": hands,
            "stock": stock,
            "leader": (dealer + 1) % players,
            "carried": list(carried),
            "vueltas": vueltas,
        }
    )
    events: list[dict[str, Any]] = []
    played = 0
    while not position.finished() and played != stop:
        if over(position):
            if resolved.claim != "none":
                side = next(s for s in (0, 1) if position.points[s] + carried[s] >= resolved.target)  # type: ignore[attr-defined]
                events.append({"trick": position.played + 1, "seat": side, "action": "claim"})  # type: ignore[attr-defined]
            break
        action = choose(position, position.legal_actions())
        if action.action != "pass":
            events.append({"trick": position.played + 1, **action.to_dict()})  # type: ignore[attr-defined]
            played += len(action.action) == 2
        position = position.apply(action)
    return {
        "ruleset": ruleset,
        "rules": rules or {},
        "players": players,
        "deal": number,
        "dealer": dealer,
        "carried": list(carried),
        "vueltas": vueltas,
        "trump": suit_text(trump, Deck(resolved.deck)),
        "hands": hands,
        "stock": stock,
        "events": events,
        "finished": stop is None or played < stop or position.finished(),
    }


def rigged(rng: Random, rules: Ruleset) -> list[int]:
    """A shuffled pack with a good chance of an exchange, of cantes and of a tute."""
    cards = rng.sample(range(CARDS), CARDS)
    size = rules.hand_size

    def bring(card: int, place: int) -> None:
        other = cards.index(card)
        cards[other], cards[place] = cards[place], cards[other]

    muestra = rules.players * size + rules.stock_size - 1
    trump = cards[muestra] // 10
    wishes = rng.choices(("exchange", "cante", "tute", "seven"), (4, 4, 1, 1), k=rng.randrange(4))
    if "seven" in wishes:
        bring(trump * 10 + 6, muestra)
    hands = rng.sample(range(rules.players), rules.players)
    for wish, seat in zip(wishes, hands, strict=False):
        free = seat * size
        if wish == "exchange" and size:
            wanted = [trump * 10 + (1 if cards[muestra] == trump * 10 + 6 else 6)]
        elif wish == "cante" and size > 1:
            suit = rng.randrange(4)
            wanted = [suit * 10 + 9, rules.mate(suit)]
        elif wish == "tute" and size > 3:
            figure = rng.choice((9, rules.under))
            wanted = [suit * 10 + figure for suit in range(4)]
        else:
            continue
        for card in wanted:
            if card != cards[muestra]:
                bring(card, free)
                free += 1
    return cards


def over(position: Position) -> bool:
    """Whether the solver takes the game for decided."""
    try:
        arrastre.check(position, "game")
    except InvalidPosition as error:
        return any(fault.reason == "GAME_OVER" for fault in error.faults)
    return False
