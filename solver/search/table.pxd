# The transposition table: bounds on what a position is still worth, found again by a hash of the position.
#
# Four entries fill a cache line, which is a bucket. An entry is recognised by 64 + 8 bits of hash beside the bucket
# number, so a false match is expected once in 10^15 probes of a full table. One table belongs to one thread: no
# locks, no races. `age` is stamped anew for every question asked, so nothing is ever cleared; in a full bucket the
# entry from the oldest question goes first, then the one nearest to the end of the deal, which is the cheapest to
# find again.

from libc.stdint cimport int16_t, uint8_t, uint64_t

cdef struct Entry:
    uint64_t key        # high part of the hash
    int16_t lower       # proven: the value is at least this
    int16_t upper       # proven: the value is at most this
    uint8_t move        # the action that was best, in the kernel's numbering; NO_MOVE for none
    uint8_t age
    uint8_t depth       # tricks to come
    uint8_t check       # eight more bits of the hash

cdef enum:
    BUCKET = 4
    NO_MOVE = 255

cdef struct Table:
    Entry* entries
    uint64_t mask       # number of buckets less one, a power of two less one
    uint64_t hits       # positions found again, over the table's life
    uint8_t age

cdef struct Hash:
    uint64_t key
    uint64_t bucket
    uint8_t check

cdef extern from *:
    """
    #include <stdint.h>
    static inline uint64_t arrastre_fold(uint64_t a, uint64_t b) {
        unsigned __int128 product = (unsigned __int128) a * b;
        return (uint64_t) product ^ (uint64_t) (product >> 64);
    }

    #include <stdlib.h>
    #include <sys/mman.h>
    #if defined(MAP_ANONYMOUS) && defined(MADV_HUGEPAGE) && !defined(__SANITIZE_ADDRESS__)
    static const size_t ARRASTRE_HUGE = (size_t) 2 << 20;
    static inline void *arrastre_zeroes(size_t bytes) {
        size_t room = bytes + ARRASTRE_HUGE;
        void *base = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base == MAP_FAILED) return NULL;
        char *place = (char *) (((size_t) base + ARRASTRE_HUGE - 1) & ~(ARRASTRE_HUGE - 1));
        size_t before = (size_t) (place - (char *) base);
        if (before) munmap(base, before);
        if (room - before > bytes) munmap(place + bytes, room - before - bytes);
        if (bytes >= 2 * ARRASTRE_HUGE) madvise(place, bytes, MADV_HUGEPAGE);
        return place;
    }
    static inline void arrastre_give_back(void *place, size_t bytes) { if (place) munmap(place, bytes); }
    #else
    static inline void *arrastre_zeroes(size_t bytes) { return calloc(bytes, 1); }
    static inline void arrastre_give_back(void *place, size_t bytes) { (void) bytes; free(place); }
    #endif
    """
    # Zeroed memory for a table, `bytes` a multiple of the page size: untouched it costs nothing, and where the system
    # has large pages it is in these, for most of a probe of a large table goes into finding its page. NULL for none.
    void* zeroes "arrastre_zeroes"(size_t bytes) noexcept nogil
    void give_back "arrastre_give_back"(void* place, size_t bytes) noexcept nogil
    uint64_t fold "arrastre_fold"(uint64_t a, uint64_t b) noexcept nogil

cdef inline Hash hash_words(uint64_t a, uint64_t b, uint64_t c, uint64_t d) noexcept nogil:
    # Constants: odd numbers with irregular bits (fractional parts of square roots), as multiply-and-fold wants.
    cdef Hash h
    cdef uint64_t x = fold(a ^ <uint64_t> 0x6A09E667F3BCC909, b ^ <uint64_t> 0xBB67AE8584CAA73B)
    cdef uint64_t y = fold(c ^ <uint64_t> 0x3C6EF372FE94F82B, d ^ <uint64_t> 0xA54FF53A5F1D36F1)
    h.key = fold(x ^ <uint64_t> 0x510E527FADE682D1, y ^ <uint64_t> 0x9B05688C2B3E6C1F)
    x = fold(x ^ y ^ <uint64_t> 0x1F83D9ABFB41BD6B, <uint64_t> 0x9E3779B97F4A7C15)
    h.bucket = x >> 24
    h.check = <uint8_t> (x >> 16)
    return h

cdef inline Entry* find(Table* table, Hash* h) noexcept nogil:
    # The entry of this position, or NULL.
    cdef Entry* bucket = table.entries + (h.bucket & table.mask) * BUCKET
    cdef int i
    for i in range(BUCKET):
        if bucket[i].key == h.key and bucket[i].check == h.check:
            table.hits += 1
            return &bucket[i]
    return NULL

cdef inline void store(Table* table, Hash* h, int lower, int upper, int move, int depth) noexcept nogil:
    # Keep what was proven of this position; bounds already known of it are tightened, never loosened.
    cdef Entry* bucket = table.entries + (h.bucket & table.mask) * BUCKET
    cdef Entry* slot = bucket
    cdef int i, worth, least = 1 << 20
    for i in range(BUCKET):
        if bucket[i].key == h.key and bucket[i].check == h.check:
            slot = &bucket[i]
            if slot.lower > lower:
                lower = slot.lower
            if slot.upper < upper:
                upper = slot.upper
            if move == NO_MOVE:
                move = slot.move
            break
        worth = bucket[i].depth - (<int> (<uint8_t> (table.age - bucket[i].age)) << 5)
        if worth < least:
            least = worth
            slot = &bucket[i]
    slot.key = h.key
    slot.check = h.check
    slot.lower = <int16_t> lower
    slot.upper = <int16_t> upper
    slot.move = <uint8_t> move
    slot.age = table.age
    slot.depth = <uint8_t> depth
