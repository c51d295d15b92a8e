"""Every way to lay unseen items in the places where they may be: counted, drawn with equal chances, listed.

The design is in ``worlds.pxd``.
"""

from itertools import combinations
from math import comb, factorial, prod
from operator import index

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

    ``precision`` (1 to 64) is how many random bits decide a step of a draw, where they can, before exact integers do.
    Another precision draws other worlds, just as fairly.
    """

    def __cinit__(self, allowed, capacities, *, precision=64):
        self.allowed = [index(each) for each in allowed]
        self.capacities = [index(each) for each in capacities]
        self.items, self.places = len(self.allowed), len(self.capacities)
        if self.items > MOST or self.places > MOST:
            raise ValueError(f"at most {MOST} items and {MOST} places, not {self.items} and {self.places}")
        if any(each < 0 for each in self.capacities) or sum(self.capacities) != self.items:
            raise ValueError(f"places with room for {self.capacities} cannot hold {self.items} items")
        if any(each < 0 or each >> self.places for each in self.allowed):
            raise ValueError("an item may be in a place that does not exist")
        if not 1 <= index(precision) <= 64:
            raise ValueError(f"a draw is decided by 1 to 64 bits, not by {precision}")
        self.shift = 64 - <int> index(precision)
        # Places without room are nobody's.
        useful = sum(1 << place for place, room in enumerate(self.capacities) if room)
        self.allowed = [each & useful for each in self.allowed]
        for place in range(self.places):
            self.capacity[place] = <uint8_t> <int> self.capacities[place]
        self.first = END
        self.violator = self._violator()
        if self.violator is None:
            self._group()
            self._sweep()
        else:
            self.count = 0

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
        for group in range(self.groups):
            columns = {}
            for place in range(self.places):
                column = sum(1 << later for later in range(group, self.groups) if order[later] >> place & 1)
                self.pool_of.push_back(<uint8_t> <int> columns.setdefault(column, len(columns)))
            self.pools_in.push_back(<int32_t> <int> len(columns))

    def _reach(self, group):
        """The pools that a group may go to, in the order in which it is dealt into them."""
        where = self.allowed[self.members[self.member_at[group]]]
        pools = {self.pool_of[group * self.places + place] for place in range(self.places) if where >> place & 1}
        return sorted(pools)

    def _room(self, group):
        """Free slots by pool when a group is about to be dealt with and nothing has been laid."""
        room = [0] * self.pools_in[group]
        for place, slots in enumerate(self.capacities):
            room[self.pool_of[group * self.places + place]] += slots
        return tuple(room)

    def _into(self, group):
        """For each pool of a group the pool of the next that it becomes part of; -1 where no later group can go to it.
        """
        into = [-1] * self.pools_in[group]
        wanted = 0
        for later in range(group + 1, self.groups):
            wanted |= self.allowed[self.members[self.member_at[later]]]
        for place in range(self.places):
            if wanted >> place & 1:
                into[self.pool_of[group * self.places + place]] = self.pool_of[(group + 1) * self.places + place]
        return into

    def _sweep(self):
        """Make the nodes that lead to a world, from the last to the first, and count."""
        reach = [self._reach(group) for group in range(self.groups)]
        sizes = [self.member_at[group + 1] - self.member_at[group] for group in range(self.groups)]
        becomes = [self._into(group) for group in range(self.groups - 1)]
        # A Python integer, or 2**bits would be computed in a machine word.
        cdef object bits = 64 - self.shift
        known = {}
        self.limits = []
        self.option_at.push_back(0)

        def merged(group, room):
            """Free slots by the pools of the next group; ``None`` if slots are left that nothing can fill."""
            after = [0] * self.pools_in[group + 1]
            for free, target in zip(room, becomes[group], strict=True):
                if target >= 0:
                    after[target] += free
                elif free:
                    return None
            return tuple(after)

        def node(group, step, left, room):
            """(ways, number of the node) with ``left`` items of a group still to go to its pools from ``step`` on."""
            if group == self.groups:
                return 1, END
            key = (group, step, left, room)
            found = known.get(key)
            if found is not None:
                return found
            if len(known) >= MOST_NODES:
                raise ValueError(f"what is known is too tangled to be counted: that takes more than {MOST_NODES} steps")
            pool = reach[group][step] if step < len(reach[group]) else None
            free = room[pool] if pool is not None else 0
            options = []
            total = 0
            rest = sum(room[each] for each in reach[group][step + 1:])
            for x in range(max(0, left - rest), min(left, free) + 1):
                after = room[:pool] + (free - x,) + room[pool + 1:]
                if left - x:
                    ways, number = node(group, step + 1, left - x, after)
                elif group + 1 == self.groups:
                    ways, number = (0, END) if any(after) else (1, END)
                else:
                    onward = merged(group, after)
                    ways, number = (0, END) if onward is None else node(group + 1, 0, sizes[group + 1], onward)
                ways *= comb(free, x)
                if ways:
                    total += ways
                    options.append((x, number, total))
            number = END
            if options:
                number = len(self.limits)
                self.limits.append((total, tuple([each for _, _, each in options])))
                self.group.push_back(<int32_t> <int> group)
                self.pool.push_back(<int32_t> <int> pool)
                self.free.push_back(<uint8_t> <int> free)
                for x, target, upper in options:
                    self.take.push_back(<uint8_t> <int> x)
                    self.next.push_back(<int32_t> <int> target)
                    self.limit.push_back(<uint64_t> min((upper << bits) // total, 2**bits - 1))
                self.option_at.push_back(<int32_t> self.take.size())
            known[key] = total, number
            return total, number

        ways, first = node(0, 0, sizes[0], self._room(0)) if self.groups else (1, END)
        self.first = first
        self.arranged = prod(factorial(size) for size in sizes)
        self.alike = prod(factorial(room) for room in self.capacities)
        self.count = ways * self.arranged // self.alike

    def marginals(self):
        """``[item][place]``: in how many worlds the item is there."""
        rows = [[0] * self.places for _ in range(self.items)]
        if self.first == END:
            return rows
        # Places that all groups treat alike, which the first group's pools are.
        cdef int node, option, group, free, kind, kinds = self.pools_in[0]
        room = self._room(0)
        # By node, its free slots of each kind of place, summed over the ways to it. A pool's slots differ in how likely
        # they are to be free still, but of those that are, all are as likely to be chosen.
        slots = [None] * len(self.limits)
        slots[self.first] = list(room)
        # By group, the slots of each kind that it takes, summed over all ways.
        taken = [[0] * kinds for _ in range(self.groups)]
        inside = [
            [{self.pool_of[place] for place in range(self.places) if self.pool_of[group * self.places + place] == pool}
             for pool in range(self.pools_in[group])]
            for group in range(self.groups)
        ]
        # A node has a higher number than all that it leads to.
        for node in range(self.first, -1, -1):
            before, slots[node] = slots[node], None
            group, free = self.group[node], self.free[node]
            within = inside[group][self.pool[node]]
            for option in range(self.option_at[node], self.option_at[node + 1]):
                target = self.next[option]
                ways = 1 if target == END else self.limits[target][0]
                # Of all choices of x slots, those that take one of the slots in question, and those that leave it.
                every = comb(free, self.take[option])
                takes = comb(free - 1, self.take[option] - 1) if self.take[option] else 0
                after = [0] * kinds
                if target != END:
                    if slots[target] is None:
                        slots[target] = after
                    after = slots[target]
                for kind in range(kinds):
                    if kind in within:
                        taken[group][kind] += before[kind] * takes * ways
                        after[kind] += before[kind] * (every - takes)
                    else:
                        after[kind] += before[kind] * every
        for group in range(self.groups):
            members = self._members(group)
            # Now for one of the group's items, and for one place of the kind.
            one = [0] * self.places
            for place in range(self.places):
                kind = self.pool_of[place]
                if self.capacities[place]:
                    share = taken[group][kind] * self.arranged * self.capacities[place]
                    one[place] = share // (len(members) * room[kind] * self.alike)
            for item in members:
                rows[item] = list(one)
        return rows

    def sample(self, seed, first, number):
        """Worlds number ``first`` to ``first + number - 1`` of a seed, shape (number, items): the place of each item.

        Each world is any of them with the same chance, and depends on its number and the seed alone, both below
        2**64. Raises ``ValueError`` where there is no world.
        """
        seed, first, number = index(seed), index(first), index(number)
        if not 0 <= seed < 2**64:
            raise ValueError(f"a seed is a number from 0 to 2**64 - 1, not {seed}")
        if first < 0 or number < 0 or first + number > 2**64:
            raise ValueError(f"there are no {number} worlds from number {first} on: they are numbered below 2**64")
        if not self.count:
            raise ValueError("there is no world to draw")
        found = np.zeros((number, self.items), np.uint8)
        if not self.items or not number:
            return found
        cdef uint64_t key = seed, begin = first
        cdef Py_ssize_t rest = number
        cdef uint8_t[:, ::1] rows = found
        cdef Stream stream
        cdef Py_ssize_t k
        with nogil:
            for k in range(rest):
                seed_stream(&stream, key, begin + <uint64_t> k)
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
                drawn = next64(stream) >> self.shift
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
        # Which option of a node a number between 0 and 1 falls to whose first bits are `drawn`.
        ways, uppers = self.limits[node]
        cdef object number = drawn, bits = 64 - self.shift
        while True:
            for option, upper in enumerate(uppers):
                if (number + 1) * ways <= upper << bits:
                    return option
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

    def _members(self, group):
        return [self.members[at] for at in range(self.member_at[group], self.member_at[group + 1])]

    def conflict(self):
        """Items that have too little room, and all the places that have any for them; ``None`` if there is a world.

        Any part of these items could be laid.
        """
        if self.violator is None:
            return None
        items = self.violator
        where = self._where(items)
        return tuple(items), tuple([place for place in range(self.places) if where >> place & 1])

    def _where(self, items):
        where = 0
        for item in items:
            where |= self.allowed[item]
        return where

    def _violator(self):
        """Items that cannot all be laid: those an alternating path leads to from one that finds no slot.

        ``None`` if all find one. As all items before that one did, any of these that still had too little room without
        the others would have to hold it, hence the items in all places that it may go to, and so on: all of them.
        """
        held = [[] for _ in range(self.places)]

        def lay(item, seen, tried):
            tried.append(item)
            # Mostly there is a slot free somewhere, and nobody need move.
            for place in range(self.places):
                if self.allowed[item] >> place & 1 and len(held[place]) < self.capacities[place]:
                    held[place].append(item)
                    return True
            for place in range(self.places):
                if self.allowed[item] >> place & 1 and place not in seen:
                    seen.add(place)
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
        return None
