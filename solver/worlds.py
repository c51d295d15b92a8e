"""Ways to lay items in places."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from math import comb, factorial, prod

import numpy as np


class Worlds:
    def __init__(self, allowed: Sequence[int], capacities: Sequence[int]) -> None:
        if sum(capacities) != len(allowed):
            raise ValueError("the places have not as much room as there are items")
        self.allowed, self.capacities = list(allowed), list(capacities)
        groups: dict[int, list[int]] = {}
        for i, a in enumerate(allowed):
            groups.setdefault(a, []).append(i)
        self.groups = sorted(groups.items())
        cols: dict[int, list[int]] = {}
        for p in range(len(capacities)):
            col = sum(1 << g for g, (a, _) in enumerate(self.groups) if a >> p & 1)
            cols.setdefault(col, []).append(p)
        self.pools = sorted(cols.items())
        self.room = tuple(sum(capacities[p] for p in ps) for _, ps in self.pools)
        self.ways = lru_cache(None)(self._ways)
        self.arr = prod(
            factorial(self.room[k]) // prod(factorial(capacities[p]) for p in ps)
            for k, (_, ps) in enumerate(self.pools)
        )
        self.count = self.ways(0, self.room) * self.arr

    def _options(self, g, room):
        n = len(self.groups[g][1])
        ks = [k for k, (col, _) in enumerate(self.pools) if col >> g & 1]

        def rec(j, left, room, w):
            if j == len(ks):
                if left == 0:
                    yield w, tuple(room), ()
                return
            k = ks[j]
            for x in range(min(left, room[k]) + 1):
                r2 = list(room)
                r2[k] -= x
                for w2, rr, t in rec(j + 1, left - x, r2, w * comb(left, x)):
                    yield w2, rr, ((k, x), *t)

        yield from rec(0, n, list(room), 1)

    def _ways(self, g, room):
        if g == len(self.groups):
            return 1 if not any(room) else 0
        return sum(w * self.ways(g + 1, r) for w, r, _ in self._options(g, room))

    def marginals(self):
        out = []
        for i in range(len(self.allowed)):
            row = []
            for p in range(len(self.capacities)):
                if self.allowed[i] >> p & 1 and self.capacities[p]:
                    a = self.allowed[:i] + self.allowed[i + 1 :]
                    c = list(self.capacities)
                    c[p] -= 1
                    row.append(Worlds(a, c).count)
                else:
                    row.append(0)
            out.append(row)
        return out

    def sample(self, seed, first, number):
        out = np.empty((number, len(self.allowed)), np.uint8)
        for r in range(number):
            rng = random.Random(f"{seed}/{first + r}")
            room = self.room
            pools = [[] for _ in self.pools]
            for g, (_, items) in enumerate(self.groups):
                opts = list(self._options(g, room))
                tot = self.ways(g, room)
                u = rng.randrange(tot)
                for w, rr, t in opts:
                    w *= self.ways(g + 1, rr)
                    if u < w:
                        break
                    u -= w
                room = rr
                its = list(items)
                rng.shuffle(its)
                for k, x in t:
                    pools[k] += its[:x]
                    its = its[x:]
            for k, (_, ps) in enumerate(self.pools):
                rng.shuffle(pools[k])
                at = 0
                for p in ps:
                    for _ in range(self.capacities[p]):
                        out[r, pools[k][at]] = p
                        at += 1
        return out

    def enumerate(self):
        rows = []
        room = list(self.capacities)
        row = []

        def rec(i):
            if i == len(self.allowed):
                rows.append(list(row))
                return
            for p in range(len(room)):
                if room[p] and self.allowed[i] >> p & 1:
                    room[p] -= 1
                    row.append(p)
                    rec(i + 1)
                    row.pop()
                    room[p] += 1

        rec(0)
        return np.array(rows, np.uint8).reshape(len(rows), len(self.allowed))

    def conflict(self):
        from itertools import combinations

        n = len(self.capacities)
        for k in range(n + 1):
            for ps in combinations(range(n), k):
                m = sum(1 << p for p in ps)
                it = [i for i, a in enumerate(self.allowed) if a & ~m == 0]
                if len(it) > sum(self.capacities[p] for p in ps):
                    return tuple(it), ps
        return None
