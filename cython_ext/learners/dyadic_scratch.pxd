"""Scratch memory for the update of one row by a dyadic model."""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from learners.dyadic_flow cimport Component
from learners.latent_vectors cimport Side
from features.row_buffer cimport Scratch, close_scratch, open_scratch


cdef struct DyadicScratch:
    Scratch row                   # the expanded row
    uint32_t *index               # (capacity,) slots of all sides, concatenated
    float *value                  # (capacity,) their values
    double *vector                # (capacity, rank) sums of the sides' latent vectors
    Side *side                    # (capacity, 2) the two sides of each component
    Component *component          # (capacity,)
    size_t capacity
    size_t components             # number of components of the row
    bint repeats                  # rank 0: a slot is repeated on a side, so the components are not independent


cdef inline void open_work(DyadicScratch *work) noexcept nogil:
    open_scratch(&work.row)
    work.capacity = work.components = 0
    work.index = NULL
    work.value = NULL
    work.vector = NULL
    work.side = NULL
    work.component = NULL


cdef inline void drop_arrays(DyadicScratch *work) noexcept nogil:
    free(work.index)
    free(work.value)
    free(work.vector)
    free(work.side)
    free(work.component)


cdef inline void close_work(DyadicScratch *work) noexcept nogil:
    close_scratch(&work.row)
    drop_arrays(work)


cdef inline bint reserve(DyadicScratch *work, size_t capacity, size_t rank) noexcept nogil:
    """Grow the arrays to ``capacity``; their contents are lost. False when memory has run out."""
    if capacity <= work.capacity:
        return True
    drop_arrays(work)
    work.index = <uint32_t *>malloc(capacity * sizeof(uint32_t))
    work.value = <float *>malloc(capacity * sizeof(float))
    work.vector = <double *>malloc(capacity * rank * sizeof(double))
    work.side = <Side *>malloc(2 * capacity * sizeof(Side))
    work.component = <Component *>malloc(capacity * sizeof(Component))
    work.capacity = capacity
    return (work.index != NULL and work.value != NULL and work.vector != NULL and work.side != NULL
            and work.component != NULL)
