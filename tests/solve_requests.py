"""Requests that the tests of the service make."""

from __future__ import annotations

import random
from typing import Any

import arrastre
from arrastre.server import convert
from arrastre.v1 import analysis_service_pb2 as pb

SMALL: dict[str, Any] = {
    "trump": "O",
    "hands": [["1O", "SC"], ["2O", "4C"], ["7E", "2B"], ["3C", "5C"]],
    "points": [71, 41],
    "tricks": [5, 3],
}
FRENCH: dict[str, Any] = {
    "ruleset": "gamerules",
    "trump": "D",
    "hands": [["AD", "QH"], ["2D", "4H"], ["7S", "2C"], ["3H", "5H"]],
    "trick": [],
}


def deal() -> dict[str, Any]:
    """The start of a deal, far too much to be solved."""
    cards = [figure + suit for suit in "OCEB" for figure in "1234567SCR"]
    random.Random(1).shuffle(cards)
    return {"trump": cards[-1][-1], "hands": [cards[6 * n : 6 * n + 6] for n in range(4)], "stock": cards[24:]}


def request(data: dict[str, Any], **options: Any) -> pb.SolveRequest:
    position = arrastre.Position.from_dict(data)
    return pb.SolveRequest(position=convert.position_message(position.to_dict()), **options)
