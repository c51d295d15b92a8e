"""Plays the deals of examples/records and writes them down.

    python examples/make_records.py [FOLDER]

Everybody plays by eye while cards are drawn, and looks at the own hand only; in the arrastre the solver's best card is
played more often than not, so that the records have something to show in both ways. The same records come out every
time.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import arrastre
from arrastre import Action, Position, Record

FOLDER = Path(__file__).parent / "records"
SPANISH = {"suits": "OCEB", "figures": "1234567SCR"}
FRENCH = {"suits": "DHSC", "figures": "A234567JQK"}
NAMES = ["Ana", "Jorge", "Eva", "Luis"]

Deal = dict[str, Any]


class Table:
    """Players who play alike: what a card is worth and how high it ranks depends on the rules."""

    def __init__(self, ruleset: str, players: int, rng: Random) -> None:
        self.ruleset, self.players, self.rng = ruleset, players, rng
        pack = FRENCH if ruleset == "gamerules" else SPANISH
        self.suits, self.figures = pack["suits"], pack["figures"]
        rey, caballo, sota = self.figures[9], self.figures[8], self.figures[7]
        under, other = (sota, caballo) if ruleset in ("aragones", "torneo") else (caballo, sota)
        self.order = [*self.figures[1], *self.figures[3:7], other, under, rey, self.figures[2], self.figures[0]]
        self.worth = {self.figures[0]: 11, self.figures[2]: 10, rey: 4, under: 3, other: 2}
        self.pair = rey + under
        self.seven = self.figures[6]

    def points(self, card: str) -> int:
        return self.worth.get(card[0], 0)

    def rank(self, card: str) -> int:
        return self.order.index(card[0])

    # -- dealing

    def shuffled(self) -> list[str]:
        cards = [figure + suit for suit in self.suits for figure in self.figures]
        self.rng.shuffle(cards)
        return cards

    def deal(self, *, dealer: int, carried: Sequence[int] = (0, 0), together: Sequence[str] = ()) -> Deal:
        """Shuffle, deal and play; ``together`` are cards that find themselves in one hand."""
        cards = self.shuffled()
        first = 6 * ((dealer + 1) % self.players)
        for place, card in enumerate(together, first):
            here = cards.index(card)
            cards[here], cards[place] = cards[place], cards[here]
        hands = [cards[6 * seat : 6 * seat + 6] for seat in range(self.players)]
        stock = cards[6 * self.players :]
        start = {
            "ruleset": self.ruleset,
            "players": self.players,
            "trump": stock[-1][1],
            "hands": hands,
            "stock": stock,
            "leader": (dealer + 1) % self.players,
            "carried": list(carried),
            "vueltas": any(carried),
        }
        return {
            "ruleset": self.ruleset,
            "players": self.players,
            "dealer": dealer,
            "carried": list(carried),
            "hands": hands,
            "stock": stock,
            "events": list(self.play(Position.from_dict(start))),
            "names": NAMES if self.players == 4 else NAMES[:2],
        }

    def play(self, position: Position) -> Iterator[dict[str, Any]]:
        trick, on_table = 1, 0
        while not position.finished() and not self.over(position):
            action = self.choose(position)
            if action.action != "pass":
                yield {"trick": trick, **action.to_dict()}
            if len(action.action) == 2:
                on_table += 1
                if on_table == self.players:
                    trick, on_table = trick + 1, 0
            position = position.apply(action)

    def over(self, position: Position) -> bool:
        try:
            arrastre.check(position, "game")
        except arrastre.InvalidPosition as error:
            return error.faults[0].reason == "GAME_OVER"
        return False

    # -- playing

    def choose(self, position: Position) -> Action:
        actions = position.legal_actions()
        table = position.to_dict()
        for action in actions:
            if action.action.startswith(("cante", "tute")):
                return action
            if action.action == "cambio" and self.rank(table["stock"][-1]) > self.order.index(self.seven):
                return action
        cards = [action for action in actions if len(action.action) == 2]
        if not cards:
            return actions[-1]
        if not table["stock"] and self.rng.random() < 0.6:
            best = arrastre.solve(position, line=False).best
            return next(action for action in best if action in cards)
        return self.by_eye(table, cards)

    def by_eye(self, table: dict[str, Any], cards: list[Action]) -> Action:
        trump, trick = table["trump"], table["trick"]
        hand = [card.action for card in cards]

        def cost(action: Action) -> tuple[int, int, int]:
            """What is given away with a card: trumps, cantes to come, points, rank."""
            card = action.action
            kept = all(figure + card[1] in hand for figure in self.pair) and card[0] in self.pair
            return (10 * (card[1] == trump) + 8 * kept + self.points(card), self.rank(card), ord(card[1]))

        cheapest = min(cards, key=cost)
        if not trick:
            return cheapest
        best = trick[0]
        for card in trick[1:]:
            if self.beats(card, best, trump):
                best = card
        prize = sum(self.points(card) for card in trick)
        winners = [action for action in cards if self.beats(action.action, best, trump)]
        last = len(trick) == self.players - 1
        if self.players == 4 and len(trick) > 1 and trick.index(best) == len(trick) - 2:
            # The partner is winning: a few points for the side, but no trumps.
            spare = [action for action in cards if action.action[1] != trump]
            if spare and (last or self.points(best) >= 10):
                return max(spare, key=lambda action: self.points(action.action))
            return cheapest
        plain = [action for action in winners if action.action[1] != trump]
        if plain and (last or prize + self.points(plain[0].action) >= 10):
            return max(plain, key=lambda action: self.points(action.action))
        if winners and prize >= 8:
            return min(winners, key=cost)
        return cheapest

    def beats(self, card: str, best: str, trump: str) -> bool:
        return self.rank(card) > self.rank(best) if card[1] == best[1] else card[1] == trump


# -- what is looked for


def record(*deals: Deal) -> Record:
    """The deals as a record, whatever is wrong with them."""
    return Record.from_dict({"deals": list(deals)}, strict=False)


def words(deal: Deal) -> list[str]:
    """What is declared in a deal."""
    return [event["action"].split()[0] for event in deal["events"] if len(event["action"]) > 2]


def find(make: Callable[[Random], list[Deal] | None]) -> list[Deal]:
    """The deals of the first seed that makes some."""
    for seed in count():
        deals = make(Random(seed))
        if deals is not None:
            return deals
    raise AssertionError


def cantes_and_exchange(rng: Random) -> list[Deal] | None:
    """With a mistake in the arrastre."""
    deal = Table("aragones", 4, rng).deal(dealer=2)
    if words(deal).count("cante") < 2 or "cambio" not in words(deal):
        return None
    values = arrastre.line_values(record(deal)[0], nodes=100_000)
    lost = [value.step.at.trick for value in values if value.loss]
    return [deal] if len(lost) > 1 and 7 in lost else None


def game_with_vueltas(rng: Random) -> list[Deal] | None:
    """Nobody gets through in the first deal."""
    table = Table("aragones", 4, rng)
    first = table.deal(dealer=1)
    carried = arrastre.score(record(first)).to_dict()["games"][0]["totals"]
    if max(carried) > 85:
        return None
    second = table.deal(dealer=2, carried=carried)
    return [first, {**second, "deal": 2}] if second["events"][-1]["trick"] in (6, 7, 8) else None


def two_players(rng: Random) -> list[Deal] | None:
    """With a cante and an exchange."""
    deal = Table("torneo", 2, rng).deal(dealer=0)
    return [deal] if {"cante", "cambio"} <= set(words(deal)) else None


def tute(rng: Random) -> list[Deal] | None:
    """Not at the first opportunity."""
    deal = Table("aragones", 4, rng).deal(dealer=3, together=["RO", "RC", "RE", "RB"])
    late = deal["events"][-1]["trick"] > 2
    return [deal] if "tute" in words(deal) and "cante" in words(deal) and late else None


def renuncio(rng: Random) -> list[Deal] | None:
    """Somebody plays a card too early in the arrastre, and what should have been played in its place later."""
    deal = Table("aragones", 4, rng).deal(dealer=0)
    events = deal["events"]
    for early, event in enumerate(events):
        if event["trick"] != 7 or len(event["action"]) > 2:
            continue
        for late in range(early + 4, len(events)):
            if events[late]["seat"] != event["seat"] or len(events[late]["action"]) > 2:
                continue
            changed = [dict(each) for each in events]
            changed[early]["action"], changed[late]["action"] = events[late]["action"], event["action"]
            revoked = {**deal, "events": changed}
            faults = record(revoked).faults
            if [fault.reason for fault in faults] == ["FOLLOW_SUIT"]:
                changed[early]["comment"] = "!"
                return [revoked]
    return None


def on_own_turn(rng: Random) -> list[Deal] | None:
    """An exchange by somebody who does not lead."""
    deal = Table("cien", 4, rng).deal(dealer=1)
    places = [event for event in deal["events"] if event["action"] == "cambio"]
    middle = places and next(e for e in deal["events"] if e["trick"] == places[0]["trick"])["seat"] != places[0]["seat"]
    return [deal] if middle and "cante" in words(deal) else None


def claimed(rng: Random) -> list[Deal] | None:
    """Two players with a French pack: whoever has 101 says so."""
    table = Table("gamerules", 2, rng)
    deal = table.deal(dealer=1)
    events = deal["events"]
    if not 90 < sum(len(event["action"]) == 2 for event in events) * 3 < 118:
        return None
    side = 0 if max(range(2), key=lambda seat: points(deal)[seat]) == 0 else 1
    claim = {"trick": events[-1]["trick"] + 1, "seat": side, "action": "claim"}
    deal = {**deal, "events": [*events, claim]}
    return [deal] if not record(deal).faults else None


def points(deal: Deal) -> list[int]:
    """What each side has when a deal stops."""
    return list(record({**deal, "finished": False})[0].steps[-1].position.to_dict()["points"])


def one_view(rng: Random) -> list[Deal] | None:
    """What Eva knows after six tricks."""
    deal = Table("aragones", 4, rng).deal(dealer=0)
    events = [event for event in deal["events"] if event["trick"] <= 6]
    if "cante" not in [event["action"].split()[0] for event in events]:
        return None
    hands = [hand if seat == 2 else "?" for seat, hand in enumerate(deal["hands"])]
    stock = ["?"] * 15 + deal["stock"][-1:]
    return [{**deal, "hands": hands, "stock": stock, "events": events, "finished": False}]


RECORDS: dict[str, tuple[Callable[[Random], list[Deal] | None], str, str]] = {
    "cantes.txt": (
        cantes_and_exchange,
        "Casa Pascual",
        "Four players: two cantes, an exchange, and a few mistakes.",
    ),
    "vueltas.txt": (
        game_with_vueltas,
        "Casa Pascual",
        "A whole game: nobody gets through in the first deal, and the second ends at 101.",
    ),
    "two_players.txt": (
        two_players,
        "Mano a mano",
        "Two players under the tournament's rules: twenty tricks, a cante, an exchange.",
    ),
    "tute.txt": (tute, "Casa Pascual", "Four reyes in one hand: the tute wins the game on the spot."),
    "renuncio.txt": (
        renuncio,
        "Casa Pascual",
        "A renuncio in trick 7: the card marked ! breaks the duty to follow suit.",
    ),
    "one_view.txt": (
        one_view,
        "Casa Pascual",
        "What one player (Eva) knows after six tricks: other hands and the stock are unseen.",
    ),
    "own_turn.json": (
        on_own_turn,
        "Peña El Siete",
        "Rules of Cien: the seven is exchanged on one's own turn, in the middle of a trick.",
    ),
    "claim.json": (
        claimed,
        "Club de naipes",
        "Two players, French pack, gamerules.com's rules: a player who has 101 stops the deal.",
    ),
}


def main(folder: Path) -> None:
    """Write all records."""
    folder.mkdir(exist_ok=True)
    for name, (make, event, about) in RECORDS.items():
        deals = [{**deal, "event": event} for deal in find(make)]
        made = record(*deals)
        if name.endswith(".txt"):
            text = f"# {about}\n{made}"
        else:
            data = made.to_dict()
            data["deals"][0]["comment"] = about
            text = laid_out(data)
        (folder / name).write_text(text, encoding="utf-8")


def laid_out(data: dict[str, Any]) -> str:
    """JSON with one event a line."""
    marks: list[str] = []

    def mark(value: Any) -> Any:
        if isinstance(value, dict) and value.keys() & {"action", "cards"}:
            short = True
        else:
            short = isinstance(value, list) and bool(value) and isinstance(value[0], str | int)
        if short:
            marks.append(json.dumps(value, ensure_ascii=False))
            return f"\0{len(marks) - 1}"
        if isinstance(value, dict):
            return {name: mark(each) for name, each in value.items()}
        return [mark(each) for each in value] if isinstance(value, list) else value

    text = json.dumps(mark(data), ensure_ascii=False, indent=1)
    for number, each in enumerate(marks):
        text = text.replace(f'"\\u0000{number}"', each, 1)
    return text + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
