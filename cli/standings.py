"""What the deals of a stream add up to, in flat memory: the deals of one coto at a time are held, not their play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from arrastre.errors import InvalidRequest
from arrastre.game import Deal, Score
from arrastre.record import Record, score

_MOST: Final = 1000
"""Deals that are held at most: no coto is longer, unless its rules say so."""


class Standings:
    """Takes deals one by one, and gives the score of those that belong together once no more can follow."""

    def __init__(self) -> None:
        self._deals: list[Deal] = []
        self._source = ""
        self._place: tuple[int, ...] = ()
        self._counted = 0
        self._score: Score | None = None
        self._over = False

    def add(self, source: str, deal: Deal | None) -> Score | None:
        """Another deal, or one that could not be read; the score of those before, if it does not go on with them."""
        if deal is None:
            return self.close()
        kept = replace(deal, steps=())
        own = score(Record([kept])).to_dict()
        place = _place(own)
        counted = _counted(own)
        follows = source == self._source and not self._over and len(self._deals) < _MOST
        follows = follows and (not place or (self._place[:1] == place[:1] and self._place < place))
        # A record of its own begins a coto anew, under whatever numbers.
        follows = follows and (not place or self._counted + _counts(own) == counted)
        before = None if follows else self.close()
        try:
            self._score = score(Record([*self._deals, kept]))
        except InvalidRequest:  # deals of several games
            before = self.close()
            self._score = score(Record([kept]))
        self._deals.append(kept)
        self._source, self._place, self._counted = source, place, counted
        cotos = _list(self._score.to_dict(), "cotos")
        self._over = bool(cotos) and cotos[-1].get("over") is True
        return before

    def latest(self) -> dict[str, Any]:
        """How it stands after the latest deal: the last one of everything that the score lists."""
        found = {} if self._score is None else self._score.to_dict()
        return {name: value[-1:] if isinstance(value, list) else value for name, value in found.items()}

    def close(self) -> Score | None:
        """The score of the deals that are held, none of which are held any longer."""
        found = self._score if self._deals else None
        self._deals, self._score, self._place, self._counted, self._over = [], None, (), 0, False
        return found


def _list(data: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects that a score lists under a name; a game need not have them."""
    found = data.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _place(data: Mapping[str, Any]) -> tuple[int, ...]:
    """The numbers of coto, game and deal; empty for games without."""
    deals = _list(data, "deals")
    return tuple(deals[-1].get(name, 0) for name in ("coto", "game", "deal")) if deals else ()


def _counted(data: Mapping[str, Any]) -> int:
    """How many deals of the coto have been counted so far, this one included."""
    cotos = _list(data, "cotos")
    found = cotos[-1].get("deals") if cotos else None
    return found if isinstance(found, int) else 0


def _counts(data: Mapping[str, Any]) -> bool:
    """Whether the last deal is one of those that are counted: it was understood, and has ended."""
    result = _list(data, "deals")[-1].get("result")
    return isinstance(result, Mapping) and result.get("outcome") != "unfinished"
