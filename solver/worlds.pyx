"""Every way to lay unseen items in the places where they may be: counted, drawn with equal chances, listed.

The design is in ``worlds.pxd``.
"""

from itertools import combinations
from math import comb, factorial, prod

import numpy as np

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.string cimport memcpy

from arrastre.search.random cimport Stream, below, next64, seed_stream

MOST_LISTED = 1 << 20


cdef class Worlds:
    """Every way to lay items in places.

    ``allowed[i]`` has a bit for each place that item i may be in; place p holds ``capacities[p]`` of the items, as a
    set. There may be 64 of either, and the capacities must add up to the number of items. ``count`` is the exact
    number of worlds, 0 where the conditions contradict each other. Raises ``ValueError`` for a problem so tangled that
    counting it would take more than 2**17 steps.
    """

    def __init__(self, allowed, capacities):
        self.allowed = [int(each) for each in allowed]
        self.capacities = [int(each) for each in capacities]
        self.items, self.places = len(self.allowed), len(self.capacities)
        if self.items > MOST or self.places > MOST:
            raise ValueError(f"at most {MOST} items and {MOST} places, not {self.items} and {self.places}")
        if any(each < 0 for each in self.capacities) or sum(self.capacities) != self.items:
            raise ValueError(f"places with room for {self.capacities} cannot hold {self.items} items")
        if any(each < 0 or each >> self.places for each in self.allowed):
            raise ValueError("an item may be in a place that does not exist")
        # Places without room are nobody's.
        useful = sum(1 << place for place, room in enumerate(self.capacities) if room)
        self.allowed = [each & useful for each in self.allowed]
        for place in range(self.places):
            self.capacity[place] = <uint8_t> <int> self.capacities[place]
        self._group()
        self._sweep()

    def _group(self):
        """Put alike items into groups, and for each group the places that later ones do not tell apart into pools."""
        classes = {}
        for item, where in enumerate(self.allowed):
            classes.setdefault(where, []).append(item)
        # Those with the fewest places first: what they take is soon settled.
        order = sorted(classes, key=lambda where: (where.bit_count(), where))
        self.groups = len(order)
        self.member_at.push_back(0)
        for where in order:
            for item in classes[where]:
                self.members.push_back(<uint8_t> <int> item)
            self.member_at.push_back(<int32_t> self.members.size())
        for index in range(self.groups):
            columns = {}
            for place in range(self.places):
                column = sum(1 << later for later in range(index, self.groups) if order[later] >> place & 1)
                self.pool_of.push_back(<uint8_t> <int> columns.setdefault(column, len(columns)))
            self.pools_in.push_back(<int32_t> <int> len(columns))

    def _reach(self, index):
        """The pools that a group may go to, in the order in which it is dealt into them."""
        where = self.allowed[self.members[self.member_at[index]]]
        pools = {self.pool_of[index * self.places + place] for place in range(self.places) if where >> place & 1}
        return sorted(pools)

    def _room(self, index):
        """Free slots by pool when a group is about to be dealt with and nothing has been laid."""
        room = [0] * self.pools_in[index]
        for place, slots in enumerate(self.capacities):
            room[self.pool_of[index * self.places + place]] += slots
        return tuple(room)

    def _merged(self, index, room):
        """Free slots by the pools of the next group; ``None`` if slots are left that nothing can fill."""
        merged = [0] * self.pools_in[index + 1]
        into = {}
        wanted = set()
        for later in range(index + 1, self.groups):
            wanted.update(place for place in range(self.places)
                          if self.allowed[self.members[self.member_at[later]]] >> place & 1)
        for place in range(self.places):
            into.setdefault(self.pool_of[index * self.places + place],
                            (self.pool_of[(index + 1) * self.places + place], place in wanted))
        for pool, free in enumerate(room):
            target, open_ = into[pool]
            if free and not open_:
                return None
            merged[target] += free
        return tuple(merged)

    def _sweep(self):
        """Make the nodes that lead to a world, from the last to the first, and count."""
        reach = [self._reach(index) for index in range(self.groups)]
        sizes = [self.member_at[index + 1] - self.member_at[index] for index in range(self.groups)]
        known = {}
        self.limits = []
        self.option_at.push_back(0)

        def node(index, step, left, room):
            """(ways, number of the node) with ``left`` items of a group still to go to its pools from ``step`` on."""
            if index == self.groups:
                return 1, END
            key = (index, step, left, room)
            found = known.get(key)
            if found is not None:
                return found
            if len(known) >= MOST_NODES:
                raise ValueError("what is known is too tangled to be counted")
            pool = reach[index][step] if step < len(reach[index]) else None
            free = room[pool] if pool is not None else 0
            options = []
            total = 0
            rest = sum(room[each] for each in reach[index][step + 1:])
            for x in range(max(0, left - rest), min(left, free) + 1):
                after = room[:pool] + (free - x,) + room[pool + 1:]
                if left - x:
                    ways, number = node(index, step + 1, left - x, after)
                elif index + 1 == self.groups:
                    ways, number = (0, END) if any(after) else (1, END)
                else:
                    merged = self._merged(index, after)
                    ways, number = (0, END) if merged is None else node(index + 1, 0, sizes[index + 1], merged)
                ways *= comb(free, x)
                if ways:
                    total += ways
                    options.append((x, number, total))
            number = END
            if options:
                number = len(self.limits)
                self.limits.append((total, tuple([each for _, _, each in options])))
                self.group.push_back(<int32_t> <int> index)
                self.pool.push_back(<int32_t> <int> pool)
                for x, target, upper in options:
                    self.take.push_back(<uint8_t> <int> x)
                    self.next.push_back(<int32_t> <int> target)
                    self.limit.push_back(<uint64_t> min((upper << 64) // total, 2**64 - 1))
                self.option_at.push_back(<int32_t> self.take.size())
            known[key] = total, number
            return total, number

        ways, first = node(0, 0, sizes[0], self._room(0)) if self.groups else (1, END)
        self.first = first
        arranged = prod(factorial(size) for size in sizes)
        self.count = ways * arranged // prod(factorial(room) for room in self.capacities)

    def marginals(self):
        """``[item][place]``: in how many worlds the item is there."""
        alike = {}
        rows = []
        for item, where in enumerate(self.allowed):
            row = []
            for place, room in enumerate(self.capacities):
                if not room or not where >> place & 1:
                    row.append(0)
                    continue
                column = tuple([each >> place & 1 for each in self.allowed])
                key = where, column, room
                if key not in alike:
                    rest = list(self.capacities)
                    rest[place] -= 1
                    alike[key] = Worlds(self.allowed[:item] + self.allowed[item + 1:], rest).count
                row.append(alike[key])
            rows.append(row)
        return rows

    def sample(self, uint64_t seed, uint64_t first, Py_ssize_t number):
        """Worlds number ``first`` to ``first + number - 1`` of a seed, shape (number, items): the place of each item.

        Each world is any of them with the same chance, and depends on its number and the seed alone.
        """
        if not self.count:
            raise ValueError("there is no world to draw")
        found = np.zeros((number, self.items), np.uint8)
        if not self.items or not number:
            return found
        cdef uint8_t[:, ::1] rows = found
        cdef Stream stream
        cdef Py_ssize_t k
        with nogil:
            for k in range(number):
                seed_stream(&stream, seed, first + k)
                self.draw(&stream, &rows[k, 0])
        return found

    cdef int draw(self, Stream* stream, uint8_t* row) except -1 nogil:
        # One world: the place of each item in `row`.
        cdef uint8_t[MOST][MOST] slots
        cdef uint8_t[MOST][MOST] after
        cdef uint8_t[MOST] free
        cdef uint8_t[MOST] merged
        cdef uint8_t[MOST] chosen
        cdef int node = self.first, group = 0, pool, place, option, last, i, _i, j, k, taken = 0, parts = 0
        cdef uint8_t moved
        cdef uint64_t drawn
        for i in range(self.pools_in[0]):
            free[i] = 0
        for place in range(self.places):
            pool = self.pool_of[place]
            for _i in range(self.capacity[place]):
                slots[pool][free[pool]] = <uint8_t> place
                free[pool] += 1
        while node != END:
            pool = self.pool[node]
            option = self.option_at[node]
            last = self.option_at[node + 1] - 1
            if option < last:
                drawn = next64(stream)
                while option < last and drawn > self.limit[option]:
                    option += 1
                if option < last and drawn == self.limit[option]:
                    option = self.option_at[node] + self.decide(node, drawn, stream)
            parts += self.take[option] != 0
            for _i in range(self.take[option]):
                k = <int> below(stream, free[pool])
                free[pool] -= 1
                chosen[taken] = slots[pool][k]
                slots[pool][k] = slots[pool][free[pool]]
                taken += 1
            node = self.next[option]
            if node != END and self.group[node] == group:
                continue
            # The group is complete. Slots of one pool came in random order already.
            if parts > 1:
                for i in range(taken - 1, 0, -1):
                    k = <int> below(stream, i + 1)
                    moved = chosen[i]
                    chosen[i] = chosen[k]
                    chosen[k] = moved
            for i in range(taken):
                row[self.members[self.member_at[group] + i]] = chosen[i]
            taken = parts = 0
            if node == END:
                break
            group += 1
            for i in range(self.pools_in[group]):
                merged[i] = 0
            for i in range(self.pools_in[group - 1]):
                for j in range(free[i]):
                    pool = self.pool_of[group * self.places + slots[i][j]]
                    after[pool][merged[pool]] = slots[i][j]
                    merged[pool] += 1
            for i in range(self.pools_in[group]):
                free[i] = merged[i]
                memcpy(slots[i], after[i], merged[i])
        return 0

    cdef int decide(self, int node, uint64_t drawn, Stream* stream) except -1 with gil:
        # Which option of a node a number between 0 and 1 falls to whose first 64 bits are `drawn`.
        ways, uppers = self.limits[node]
        number, bits = int(drawn), 64
        while True:
            for index, upper in enumerate(uppers):
                if (number + 1) * ways <= upper << bits:
                    return index
                if number * ways < upper << bits:
                    break
            number = number << 64 | int(next64(stream))
            bits += 64

    def enumerate(self):
        """All worlds, shape (count, items), in lexical order. Raises ``ValueError`` where there are more than 2**20."""
        if self.count > MOST_LISTED:
            raise ValueError(f"{self.count} worlds are too many to be listed")
        rows = []
        row = [0] * self.items
        room = list(self.capacities)

        def lay(node, members):
            """Lay a group's remaining ``members`` from a node on."""
            pool, group = self.pool[node], self.group[node]
            mine = [place for place in range(self.places) if self.pool_of[group * self.places + place] == pool]
            for option in range(self.option_at[node], self.option_at[node + 1]):
                for some in combinations(members, self.take[option]):
                    rest = [member for member in members if member not in some]
                    into(list(some), mine, self.next[option], rest, group)

        def into(some, mine, after, rest, group):
            """Lay ``some`` items in the places of a pool in every way."""
            if some:
                for place in mine:
                    if room[place]:
                        room[place] -= 1
                        row[some[0]] = place
                        into(some[1:], mine, after, rest, group)
                        room[place] += 1
            elif after == END:
                rows.append(bytes(row))
            elif self.group[after] == group:
                lay(after, rest)
            else:
                lay(after, self._members(self.group[after]))

        if self.first != END:
            lay(self.first, self._members(0))
        elif self.count:
            rows.append(bytes(row))
        rows.sort()
        return np.frombuffer(bytearray(b"".join(rows)), np.uint8).reshape(len(rows), self.items)

    def _members(self, index):
        return [self.members[at] for at in range(self.member_at[index], self.member_at[index + 1])]

    def conflict(self):
        """A smallest set of items that have too little room, and all the places that have any for them.

        ``None`` if there is a world.
        """
        if self.count:
            return None
        items = self._violator()
        for item in list(items):
            fewer = [each for each in items if each != item]
            if self._short(fewer):
                items = fewer
        where = self._where(items)
        return tuple(items), tuple([place for place in range(self.places) if where >> place & 1])

    def _where(self, items):
        where = 0
        for item in items:
            where |= self.allowed[item]
        return where

    def _short(self, items):
        """Whether these items together have fewer slots than they need."""
        where = self._where(items)
        return len(items) > sum(room for place, room in enumerate(self.capacities) if where >> place & 1)

    def _violator(self):
        """Items that cannot all be laid: those an alternating path leads to from one that finds no slot."""
        held = [[] for _ in range(self.places)]

        def lay(item, seen, tried):
            tried.append(item)
            for place in range(self.places):
                if self.allowed[item] >> place & 1 and place not in seen:
                    seen.add(place)
                    if len(held[place]) < self.capacities[place]:
                        held[place].append(item)
                        return True
                    for other in list(held[place]):
                        if lay(other, seen, tried):
                            held[place].remove(other)
                            held[place].append(item)
                            return True
            return False

        for item in range(self.items):
            tried = []
            if not lay(item, set(), tried):
                return sorted(set(tried))
        raise AssertionError("a world was found where none had been counted")
