"""Writes deals of examples/records as the programs of three invented card rooms would log them.

    python examples/make_logs.py [FOLDER]

Each log has a template beside it by which ``arrastre convert`` makes a record of it again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from arrastre import Record

RECORDS = Path(__file__).parent / "records"
FOLDER = Path(__file__).parent / "logs"

SUITS = {"O": "oros", "C": "copas", "E": "espadas", "B": "bastos"}
FIGURES = "1234567SCR"
WORDS = ["as", *"234567", "sota", "caballo", "rey"]

Deal = dict[str, Any]


def deals(name: str) -> list[Deal]:
    """The deals of a record, in the JSON form."""
    return [deal.to_dict() for deal in Record.parse((RECORDS / name).read_text(encoding="utf-8"))]


def number(card: str) -> int:
    """1 to 7, and 10 to 12 for the figures."""
    return [1, 2, 3, 4, 5, 6, 7, 10, 11, 12][FIGURES.index(card[0])]


# -- JSON moves, cards like oros_7


def mesa() -> Iterator[str]:
    """One JSON object for each deal; seats from 0."""

    def card(text: str) -> str:
        return f"{SUITS[text[1]]}_{number(text)}"

    def move(event: Deal) -> Deal:
        action = event["action"]
        if len(action) == 2:
            return {"p": event["seat"], "card": card(action)}
        word, _, suit = action.partition(" ")
        return {"p": event["seat"], "say": word} | ({"suit": SUITS[suit]} if suit else {})

    for deal in deals("vueltas.txt"):
        head = {
            "room": deal["event"],
            "hand": deal["deal"],
            "seated": deal["names"],
            "dealer": deal["dealer"],
            "brought": deal["carried"],
            "dealt": [[card(each) for each in hand["cards"]] for hand in deal["hands"]],
            "pile": [card(each) for each in deal["stock"]],
        }
        lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
        lines[0] = "{" + lines[0][1:]
        tricks = [
            ", ".join(json.dumps(move(event)) for event in events)
            for _, events in groupby(deal["events"], lambda event: event["trick"])
        ]
        lines.append(' "moves": [\n  ' + ",\n  ".join(tricks) + "\n ]")
        lines.append(f' "made": {json.dumps(deal["result"])}')
        yield ",\n".join(lines) + "}"


# -- index pairs, figure and suit from 1


def club() -> Iterator[str]:
    """One letter says what a line is; seats from 1, clockwise."""

    def pair(card: str) -> str:
        return f"{FIGURES.index(card[0]) + 1},{'OCEB'.index(card[1]) + 1}"

    def pairs(cards: list[str]) -> str:
        return ";".join(map(pair, cards))

    def seat(number: int) -> int:
        return -number % 4 + 1

    yield "V 2.1 club"
    for deal in deals("cantes.txt"):
        yield f"D {deal['deal']} {seat(deal['dealer'])} {deal['carried'][0]}:{deal['carried'][1]}"
        for place in range(1, 5):
            yield f"H {place} {pairs(deal['hands'][-(place - 1) % 4]['cards'])}"
        yield f"S {pairs(deal['stock'])}"
        for trick, group in groupby(deal["events"], lambda event: event["trick"]):
            events = list(group)
            for event in events:
                word, _, suit = event["action"].partition(" ")
                if word == "cante":
                    yield f"C {trick} {seat(event['seat'])} {'OCEB'.index(suit) + 1}"
                elif word == "cambio":
                    yield f"X {trick} {seat(event['seat'])}"
            cards = [event for event in events if len(event["action"]) == 2]
            yield f"T {trick} {seat(cards[0]['seat'])} {pairs([event['action'] for event in cards])}"
        yield f"R {deal['result'][0]}:{deal['result'][1]}"


# -- free text, cards like "7 de oros"


def cronica() -> Iterator[str]:
    """What somebody at the table would tell; nobody looks into the stock."""

    def card(text: str) -> str:
        return f"{WORDS[FIGURES.index(text[0])]} de {SUITS[text[1]]}"

    for name in ("tute.txt", "two_players.txt"):
        for deal in deals(name):
            names, trump = deal["names"], deal["trump"]
            rules = deal["ruleset"].capitalize()
            yield f"Nueva partida en {deal['event']}, a {len(names)} jugadores, reglas de {rules}."
            yield f"Se sientan {', '.join(names)}."
            yield f"Reparte {names[deal['dealer']]} y descubre el {card(deal['stock'][-1])}."
            for who, hand in zip(names, deal["hands"], strict=True):
                yield f"{who} recoge: {', '.join(map(card, hand['cards']))}."
            for trick, events in groupby(deal["events"], lambda event: event["trick"]):
                yield f"-- Baza {trick} --"
                for event in events:
                    word, _, suit = event["action"].partition(" ")
                    said = {
                        "cante": f"canta {'cuarenta' if suit == trump else 'veinte'} en {SUITS.get(suit)}",
                        "cambio": "cambia la muestra",
                        "tute": "canta tute",
                    }.get(word)
                    yield f"{names[event['seat']]} {said or 'echa el ' + card(word)}."
            yield f"Quedan {deal['result'][0]} a {deal['result'][1]}."
            yield ""


LOGS = {"mesa.jsonl": mesa, "club.log": club, "cronica.txt": cronica}


def main(folder: Path) -> None:
    """Write all logs."""
    folder.mkdir(exist_ok=True)
    for name, lines in LOGS.items():
        (folder / name).write_text("\n".join(lines()).rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
