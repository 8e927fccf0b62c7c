"""Memory that grows as it is needed."""

from libc.stdlib cimport realloc


cdef inline bint grow(void **memory, size_t size) noexcept nogil:
    """Make ``memory`` ``size`` bytes; what it holds stays. False, and nothing changed, where there is not so much."""
    cdef void *grown = realloc(memory[0], size)
    if grown == NULL:
        return False
    memory[0] = grown
    return True
