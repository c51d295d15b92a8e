# Sets of cards as 64-bit words: one 16-bit lane a suit, bit 0 of a lane its weakest card.
#
# Lane 0 is the trump suit wherever there is one. The bits above a suit's strongest card are free; `runs` puts a
# sentinel there, so a lane may hold at most 15 cards.

from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    static inline int arrastre_lowest(uint64_t set) { return __builtin_ctzll(set); }
    static inline int arrastre_highest(uint64_t set) { return 63 - __builtin_clzll(set); }
    static inline int arrastre_count(uint64_t set) { return __builtin_popcountll(set); }
    """
    # Undefined for the empty set, as the machine's instructions are.
    int lowest "arrastre_lowest"(uint64_t cards) noexcept nogil
    int highest "arrastre_highest"(uint64_t cards) noexcept nogil
    int count "arrastre_count"(uint64_t cards) noexcept nogil

cdef enum:
    LANE_BITS = 16

cdef inline uint64_t lane_mask(int lane) noexcept nogil:
    return <uint64_t> 0xFFFF << (lane * LANE_BITS)

cdef inline uint64_t bit(int card) noexcept nogil:
    return <uint64_t> 1 << card

cdef inline uint64_t with_neighbour_below(uint64_t own, uint64_t foreign) noexcept nogil:
    # Those of `own` whose next weaker card in the suit, among all cards of `own` and `foreign`, is `own` too.
    #
    # Each own card, moved up one place and added to the absent places, carries through the gap above it and comes
    # to rest on the next card that is present. The sentinel above each suit's last card stops it there, and as gaps
    # do not overlap no two carries meet.
    cdef uint64_t present = own | foreign | <uint64_t> 0x8000800080008000
    return ((own << 1) + ~present) & own

cdef inline uint64_t strongest_of_runs(uint64_t own, uint64_t upper) noexcept nogil:
    # `own` less every card that has an own card directly above it; `upper` is with_neighbour_below(own, ...).
    cdef uint64_t kept = own
    cdef uint64_t rest = upper
    while rest:
        kept &= ~bit(highest(own & ((rest & (~rest + 1)) - 1)))
        rest &= rest - 1
    return kept
