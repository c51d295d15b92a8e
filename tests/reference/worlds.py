"""Worlds by trying everything: slow and obvious."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product


def worlds(allowed: Sequence[int], capacities: Sequence[int]) -> list[tuple[int, ...]]:
    """Every assignment of items to places that fills each place to its capacity, in lexical order."""
    return [
        row
        for row in product(range(len(capacities)), repeat=len(allowed))
        if all(allowed[item] >> place & 1 for item, place in enumerate(row))
        and all(row.count(place) == room for place, room in enumerate(capacities))
    ]


def violators(allowed: Sequence[int], capacities: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every set of items that together have fewer slots than they need, small sets first."""
    for size in range(1, len(allowed) + 1):
        for items in combinations(range(len(allowed)), size):
            where = 0
            for item in items:
                where |= allowed[item]
            if size > sum(room for place, room in enumerate(capacities) if where >> place & 1):
                yield items
