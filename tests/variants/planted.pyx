# Faults on purpose, compiled exactly as the kernels of a checked or sanitized build are, to prove that the same faults
# would be seen there. No other build contains them.

from libc.stdlib cimport free, malloc


def read_past_end(int size):
    """Read one more int than the ``size`` that were allocated: AddressSanitizer's case."""
    cdef int* numbers = <int*> malloc(size * sizeof(int))
    cdef int index, total = 0
    for index in range(size):
        numbers[index] = index
    for index in range(size + 1):
        total += numbers[index]
    free(numbers)
    return total


def add(int number, int more):
    """Add two signed numbers, whatever they are: UndefinedBehaviorSanitizer's case."""
    return number + more


def item(int[:] numbers, int index):
    """An item of a memory view, wherever the index points: boundscheck's case."""
    return numbers[index]


def is_true(bint claim):
    """An assertion, which only a build with assertions looks at."""
    assert claim
    return claim
