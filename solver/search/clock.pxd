# When a search must end: a node limit, a deadline, or somebody's wish.
#
# One Clock belongs to one context. `stop` may be set from any thread; all else is the searching thread's own. The
# deadline is read once in CHECK_EVERY nodes, well under a millisecond.

from libc.stdint cimport uint64_t
from libcpp.atomic cimport atomic

cdef extern from *:
    """
    #include <time.h>
    static inline double arrastre_now(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
    }
    """
    double now "arrastre_now"() noexcept nogil      # seconds on a clock that nobody sets

cdef enum:
    CHECK_EVERY = 1024

cdef cppclass Clock:
    atomic[int] stop        # not zero: end at once
    uint64_t nodes          # looked at since the search began
    uint64_t node_limit     # end when `nodes` reaches it
    uint64_t next_check     # `nodes` at which the flag and the deadline are read again
    double deadline         # on `now()`; 0 for none
    bint expired            # the search is over; what comes back from here on is not a value
