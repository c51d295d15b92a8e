"""Plays the tournament of examples/tournament and writes it down: two tables, a coto each.

    python examples/make_tournament.py [FOLDER] [DEALS]

Players differ in strength: *estimator* plays the best card by ``arrastre best``, *rules* plays by the rules of thumb
that the estimates assume, *hasty* plays and declares as *rules* does, unless in a hurry (then anything, and nothing is
declared), *beginner* is in a hurry most of the time. The same tournament comes out every time; DEALS stops each table
after so many.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from typing import Any

import arrastre
from arrastre import Action, Position, Record

FOLDER = Path(__file__).parent / "tournament"
SUITS, FIGURES = "OCEB", "1234567SCR"
#: A coto of five games.
RULES = {"games_per_coto": 5}
WORLDS = 48
#: How often a player is in a hurry; who is not an estimator plays by rules otherwise.
HURRY = {"estimator": 0.0, "rules": 0.0, "hasty": 0.25, "beginner": 0.6}
#: By table: a seed, and the players in the order of the seats N, O, S, E.
TABLES: dict[str, tuple[int, list[tuple[str, str]]]] = {
    "1": (2, [("Ana", "estimator"), ("Jorge", "hasty"), ("Eva", "rules"), ("Luis", "beginner")]),
    "2": (2, [("Inés", "rules"), ("Pablo", "estimator"), ("Marta", "hasty"), ("Raúl", "rules")]),
}


def choose(position: Position, strengths: list[str], rng: Random) -> Action:
    """What is done next: a declaration of whoever remembers one, or what the seat to act does."""
    legal = position.legal_actions()
    cards = [each for each in legal if len(each.action) == 2]
    for seat in sorted({each.seat for each in legal if each not in cards and each.action != "pass"}):
        action = position.game.policy(position, seat)
        declares = action in legal and action not in cards and action.action != "pass"
        if declares and rng.random() >= HURRY[strengths[seat]]:
            return action
    if not cards:
        return legal[-1]
    seat = position.seat
    if rng.random() < HURRY[strengths[seat]]:
        return rng.choice(cards)
    if strengths[seat] != "estimator":
        action = position.game.policy(position, seat)
        return action if action in cards else cards[0]
    if len(cards) == 1:
        return cards[0]
    advice = arrastre.best(position, seat=seat, worlds=WORLDS, seed=rng.randrange(2**32))
    return next(each.action for each in advice.actions if each.action in cards)


def over(position: Position) -> bool:
    """Whether the deal has come to its end, or its game has."""
    try:
        arrastre.check(position, "game")
    except arrastre.InvalidPosition as error:
        return error.faults[0].reason in ("GAME_OVER", "DEAL_OVER")
    return False


def played(dealer: int, carried: list[int], strengths: list[str], rng: Random) -> dict[str, Any]:
    """One deal, from the shuffle to its end."""
    cards = [figure + suit for suit in SUITS for figure in FIGURES]
    rng.shuffle(cards)
    hands, stock = [cards[6 * seat : 6 * seat + 6] for seat in range(4)], cards[24:]
    start = {"trump": stock[-1][1], "hands": hands, "stock": stock, "leader": (dealer + 1) % 4}
    position = Position.from_dict({**start, "carried": carried, "vueltas": any(carried)})
    events: list[dict[str, Any]] = []
    trick, table = 1, 0
    while not over(position):
        action = choose(position, strengths, rng)
        if action.action != "pass":
            events.append({"trick": trick, **action.to_dict()})
        if len(action.action) == 2:
            trick, table = (trick + 1, 0) if table == 3 else (trick, table + 1)
        position = position.apply(action)
    return {"dealer": dealer, "carried": carried, "hands": hands, "stock": stock, "events": events}


def coto(table: str, most: int | None) -> Record:
    """The deals of a table, until one side has won the coto."""
    seed, players = TABLES[table]
    rng = Random(seed)
    names, strengths = [name for name, _ in players], [strength for _, strength in players]
    common = {"event": "Torneo de ejemplo", "table": table, "ruleset": "aragones", "rules": RULES, "names": names}
    deals: list[dict[str, Any]] = []
    dealer, carried = rng.randrange(4), [0, 0]
    while most is None or len(deals) < most:
        deals.append({"deal": len(deals) + 1, **played(dealer, carried, strengths, rng)})
        record = Record.from_dict({**common, "deals": deals})
        score = arrastre.score(record).to_dict()
        if score["cotos"][-1]["over"]:
            break
        result = score["deals"][-1]["result"]
        dealer = result["nextDealer"]
        carried = result["totals"] if result["outcome"] == "vueltas" else [0, 0]
    return record


def main() -> None:
    """Write a file for each table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    most = int(sys.argv[2]) if len(sys.argv) > 2 else None
    folder.mkdir(parents=True, exist_ok=True)
    for table in TABLES:
        (folder / f"table-{table}.txt").write_text(str(coto(table, most)), encoding="utf-8")


if __name__ == "__main__":
    main()
