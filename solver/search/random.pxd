# Random numbers that anybody can find again: number k of stream (seed, index) is a function of the three.
#
# The generator is Philox 4x64 with ten rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
# 1, 2, 3", 2011): a counter, scrambled by a key. The key is (seed, 0) and the counter (block, index, 0, 0), block
# counting from 1, so that no two streams ever share a block, and numpy.random.Philox(key=seed, counter=index << 64)
# gives the same words. A stream costs nothing to begin; a world, a player or a deal each has one of its own, and
# what is drawn depends neither on threads nor on what was drawn before.

from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    static inline uint64_t arrastre_high_word(uint64_t a, uint64_t b) {
        return (uint64_t) ((unsigned __int128) a * b >> 64);
    }
    """
    uint64_t high_word "arrastre_high_word"(uint64_t a, uint64_t b) noexcept nogil  # of the product's two

cdef enum:
    PHILOX_ROUNDS = 10
    PHILOX_WORDS = 4

cdef struct Stream:
    uint64_t seed
    uint64_t index
    uint64_t block                  # the last one made; 0 for none
    uint64_t[PHILOX_WORDS] words    # of that block
    int used                        # how many of them have been given away

cdef inline void seed_stream(Stream* stream, uint64_t seed, uint64_t index) noexcept nogil:
    stream.seed = seed
    stream.index = index
    stream.block = 0
    stream.used = PHILOX_WORDS

cdef inline void next_block(Stream* stream) noexcept nogil:
    cdef uint64_t a, b = stream.index, c = 0, d = 0
    cdef uint64_t key = stream.seed, other = 0, high, low
    cdef int _i
    stream.block += 1
    a = stream.block
    for _i in range(PHILOX_ROUNDS):
        high = high_word(<uint64_t> 0xCA5A826395121157, c)
        low = <uint64_t> 0xCA5A826395121157 * c
        c = high_word(<uint64_t> 0xD2E7470EE14C6C93, a) ^ d ^ other
        d = <uint64_t> 0xD2E7470EE14C6C93 * a
        a = high ^ b ^ key
        b = low
        key += <uint64_t> 0x9E3779B97F4A7C15
        other += <uint64_t> 0xBB67AE8584CAA73B
    stream.words[0] = a
    stream.words[1] = b
    stream.words[2] = c
    stream.words[3] = d
    stream.used = 0

cdef inline uint64_t next64(Stream* stream) noexcept nogil:
    # Every 64-bit number is as likely as any other.
    cdef int at
    if stream.used == PHILOX_WORDS:
        next_block(stream)
    at = stream.used
    stream.used = at + 1
    return stream.words[at]

cdef inline uint64_t below(Stream* stream, uint64_t bound) noexcept nogil:
    # One of 0 … bound − 1 (bound > 0), each exactly as likely as any other (Lemire 2019). A bound of 1 draws nothing.
    cdef uint64_t word, low, least
    if bound == 1:
        return 0
    word = next64(stream)
    low = word * bound
    if low < bound:
        # Of the 2**64 words, those that remain when `bound` has been taken away as often as it goes are refused.
        least = (~bound + 1) % bound
        while low < least:
            word = next64(stream)
            low = word * bound
    return high_word(word, bound)
