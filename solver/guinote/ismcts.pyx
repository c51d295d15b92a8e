# Information-set Monte Carlo tree search, the usual way to play card games with hidden cards, as a yardstick.
#
# One tree for the seat that decides. Each round takes one world, goes down the tree by UCT among the cards that are
# legal in that world (a child is counted as available whenever it is), adds one card to the tree and plays the deal out
# by a style of playout.pxd. Everybody declares by the policy there, so that only cards are chosen.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.math cimport log, sqrt
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from arrastre.guinote.kernel cimport CARD, GAME, PASS, PLAY, Context, Found, Setup, State, set_up
from arrastre.guinote.playout cimport View, Walk, any_of, begin, decide, fill, perform, view_of, walk
from arrastre.search.cardset cimport bit
from arrastre.search.table cimport fold


cdef enum:
    DEEPEST = 40            # cards of a deal
    HALF = 130              # a margin of so many points is a full win: all points of the cards and the last trick


cdef struct Node:
    int32_t child           # the first; 0: none, as 0 is the root
    int32_t sibling         # the next
    int32_t card
    int32_t visits
    int32_t available       # how often it could have been chosen
    double total            # of the results, 0..1, for the side that played the card


cdef void declare(Walk* w) noexcept nogil:
    # On until a card is due.
    cdef Found action
    while not w.over:
        decide(w, True, &action)
        if action.kind == PASS and w.moment == PLAY:
            return
        perform(w, &action)


cdef int32_t descend(Node* tree, int32_t node, uint64_t legal, double exploration, uint64_t* untried) noexcept nogil:
    # The child to go to, if every legal card has been tried; otherwise `untried` are those that have not.
    cdef int32_t child = tree[node].child, best = 0
    cdef double score, highest = 0.0
    untried[0] = legal
    while child:
        if legal & bit(tree[child].card):
            untried[0] &= ~bit(tree[child].card)
            tree[child].available += 1
        child = tree[child].sibling
    if untried[0]:
        return 0
    child = tree[node].child
    while child:
        if legal & bit(tree[child].card):
            score = tree[child].total / tree[child].visits
            score += exploration * sqrt(log(<double> tree[child].available) / tree[child].visits)
            if not best or score > highest:
                best = child
                highest = score
        child = tree[child].sibling
    return best


cdef int32_t one_round(Node* tree, int32_t size, Walk* w, double exploration, int style, int lead) noexcept nogil:
    # From where `w` is to the end of the deal; returns the new size of the tree. `lead` is what side 0 carried more.
    cdef int32_t path[DEEPEST]
    cdef int sides[DEEPEST]
    cdef int depth = 0, i
    cdef int32_t node = 0, child
    cdef uint64_t untried
    cdef Found action
    cdef View v
    cdef double result
    while True:
        declare(w)
        if w.over:
            break
        view_of(w, &v)
        child = descend(tree, node, v.legal, exploration, &untried)
        action.kind = CARD
        action.seat = <uint8_t> v.seat
        action.arg = <uint8_t> (tree[child].card if child else any_of(w, untried))
        if not child:
            child = size
            tree[child].card = action.arg
            tree[child].available = 1
            tree[child].sibling = tree[node].child
            tree[node].child = child
        path[depth] = child
        sides[depth] = v.seat & 1
        depth += 1
        node = child
        perform(w, &action)
        if child == size:
            size += 1
            w.styles[0] = w.styles[1] = style
            walk(w, 0)
            break
    result = 0.5 + (w.s.total[0] - w.s.total[1] - lead) / (2.0 * HALF)
    result = min(max(result, 0.0), 1.0)
    for i in range(depth):
        tree[path[i]].visits += 1
        tree[path[i]].total += 1.0 - result if sides[i] else result
    return size


def ismcts(
    bytes base, bytes numbers, bytes targets, const uint8_t[:, ::1] worlds, int style, double exploration,
    uint64_t seed, Context context,
):
    """Search one round in each world; the cards tried at the root as (card, visits, mean result), most visited first.

    ``base``, ``numbers``, ``targets`` and ``worlds`` are as for :func:`arrastre.guinote.playout.world_values`,
    ``style`` as for :func:`arrastre.guinote.playout.play_out`. A result is 0..1 for the side to play, 0.5 an even
    deal; ``exploration`` is the constant of UCT on this scale.
    """
    cdef Py_ssize_t items = len(numbers), places = len(targets), k, i
    cdef const uint8_t* item = <const uint8_t*> PyBytes_AS_STRING(numbers)
    cdef const uint8_t* target = <const uint8_t*> PyBytes_AS_STRING(targets)
    cdef Setup setup
    cdef Setup root
    cdef State ready
    cdef Walk w
    cdef Node* tree
    cdef int32_t size = 1, child
    cdef int lead
    cdef bint sound = True
    if PyBytes_GET_SIZE(base) != sizeof(Setup):
        raise ValueError("the position was not made by pack")
    memcpy(&setup, PyBytes_AS_STRING(base), sizeof(Setup))
    lead = setup.carried[0] - setup.carried[1]
    if worlds.shape[1] != items:
        raise ValueError("worlds and items do not fit each other")
    for i in range(items):
        if item[i] != 255 and not item[i] < 64:
            raise ValueError("no such card")
    for i in range(places):
        if not (target[i] < setup.rules.players or 16 <= target[i] < 16 + setup.stock_count):
            raise ValueError("no such place")
    tree = <Node*> calloc(worlds.shape[0] + 1, sizeof(Node))
    if not tree:
        raise MemoryError
    with nogil:
        for k in range(worlds.shape[0]):
            memcpy(&root, &setup, sizeof(Setup))
            for i in range(items):
                sound = sound and worlds[k, i] < places
            if not (sound and fill(&root, item, target, &worlds[k, 0] if items else NULL, items)):
                sound = False
                break
            set_up(&ready, &root, GAME, context)
            begin(&w, &ready, &root, False, False)
            w.random = fold(seed ^ <uint64_t> 0x9E3779B97F4A7C15, <uint64_t> k ^ <uint64_t> 0xD1B54A32D192ED03)
            size = one_round(tree, size, &w, exploration, style, lead)
    found = []
    child = tree[0].child
    while child:
        found.append((tree[child].card, tree[child].visits, tree[child].total / tree[child].visits))
        child = tree[child].sibling
    free(tree)
    if not sound:
        raise ValueError("a world does not complete the position")
    return sorted(found, key=lambda each: (-each[1], -each[2], each[0]))
