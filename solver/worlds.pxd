# Counting, drawing and listing the ways to lay items in places.
#
# A place of capacity c is taken for c slots, so that a way to lay the items is a one-to-one map between items and
# slots, of which prod(c!) are the same world: what lies in a place is a set. Items with the same allowed places form a
# *group*, dealt with one group after the other. To the groups still to come some slots are all alike: these form a
# *pool*, of which only the number of free slots matters. From one group to the next pools run together, which is what
# keeps the states few even where a hand has many places, each for one card drawn.
#
# The sweep. A *node* is a group, a pool that it may go to, and the free slots of every pool; the group's items that
# are left follow from these. Its *options* are how many items x go to that pool: C(free, x) ways to choose the slots,
# then on to the next pool, or to the next group once its items are gone. ways(node) = sum of C(free, x) * ways(next),
# in Python's integers, exact whatever their size. A group's n! ways to be arranged are counted once, at the end.
#
# Drawing. A world is a walk from the first node to the end, each option with its share of ways(node), and every choice
# inside a pool and a group uniform: so each world has the same chance, exactly. The first 64 bits of an option's upper
# limit are kept, and 64 random bits are compared with them. Where they are equal the bits do not decide, and `decide`
# goes on with more bits and Python's integers: once in 10^18 draws. With a lower `precision` that is often, which is
# how `decide` is tested.
#
# Whether there is a world at all is found by a matching of items to slots, before any counting: a contradiction is
# named even in a problem too tangled to be counted. Marginals are a second pass over the nodes.

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libcpp.vector cimport vector

from arrastre.search.random cimport Stream

cdef enum:
    MOST = 64                   # items, and places
    MOST_NODES = 1 << 17        # a problem that needs more is refused
    END = -1                    # the node after the last

# Immutable once made, hence free to be used by any number of threads.
cdef class Worlds:
    cdef readonly object count          # the number of worlds, exact
    cdef int items
    cdef int places
    cdef list allowed                   # as given, less places without room
    cdef list capacities
    cdef uint8_t[MOST] capacity
    cdef list violator                  # items without a place for all, of which any part could be laid; None: a world
    cdef int shift                      # 64 less the precision

    # Groups: `members` of group g run from member_at[g] to member_at[g + 1].
    cdef int groups
    cdef vector[uint8_t] members
    cdef vector[int32_t] member_at
    # Pools: `pool_of[g * places + p]` is the pool of place p while group g is dealt with.
    cdef vector[uint8_t] pool_of
    cdef vector[int32_t] pools_in       # by group: how many pools there are

    # Nodes, each after all that it leads to; the options of node k run from option_at[k] to option_at[k + 1].
    cdef int first                      # END when there is nothing to lay
    cdef vector[int32_t] group
    cdef vector[int32_t] pool
    cdef vector[uint8_t] free           # slots of that pool
    cdef vector[int32_t] option_at
    cdef vector[uint8_t] take           # by option
    cdef vector[int32_t] next
    cdef vector[uint64_t] limit         # by option: the first 64 bits of its upper limit; a node's last has no other
    cdef list limits                    # by node: (ways of the node, the exact upper limits of its options)
    # A way through the nodes is this many maps of items to slots, and so many of these are one world.
    cdef object arranged                # prod(n!) over the groups
    cdef object alike                   # prod(c!) over the places

    cdef int draw(self, Stream* stream, uint8_t* row) except -1 nogil
    cdef int decide(self, int node, uint64_t drawn, Stream* stream) except -1 with gil
