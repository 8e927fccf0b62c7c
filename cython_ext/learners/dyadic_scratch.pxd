"""What a dyadic row needs while it is worked on."""

from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free, malloc

from learners.dyadic_flow cimport Component
from learners.latent_vectors cimport Side
from features.row_buffer cimport Scratch, close_scratch, open_scratch


cdef struct DyadicScratch:                 # what one row needs, grown as rows ask for it
    Scratch row
    uint32_t *index               # (room,) slots of all sides, one after the other
    float *value                  # (room,)
    double *vector                # (room, rank)
    double *change                # (rank,)
    Side *side                    # (room, 2)
    Component *component          # (room,)
    size_t room
    size_t components
    bint repeats                  # rank 0: a slot stands twice on a side, so that the components are not independent


cdef inline bint open_work(DyadicScratch *work, size_t rank) noexcept nogil:
    open_scratch(&work.row)
    work.room = work.components = 0
    work.index = NULL
    work.value = NULL
    work.vector = NULL
    work.side = NULL
    work.component = NULL
    work.change = <double *>calloc(rank, sizeof(double))
    return work.change != NULL


cdef inline void drop_arrays(DyadicScratch *work) noexcept nogil:
    free(work.index)
    free(work.value)
    free(work.vector)
    free(work.side)
    free(work.component)


cdef inline void close_work(DyadicScratch *work) noexcept nogil:
    close_scratch(&work.row)
    drop_arrays(work)
    free(work.change)


cdef inline bint make_room(DyadicScratch *work, size_t room, size_t rank) noexcept nogil:
    """Room for as many sides and features; what the arrays held is lost. False when memory has run out."""
    if room <= work.room:
        return True
    drop_arrays(work)
    work.index = <uint32_t *>malloc(room * sizeof(uint32_t))
    work.value = <float *>malloc(room * sizeof(float))
    work.vector = <double *>malloc(room * rank * sizeof(double))
    work.side = <Side *>malloc(2 * room * sizeof(Side))
    work.component = <Component *>malloc(room * sizeof(Component))
    work.room = room
    return (work.index != NULL and work.value != NULL and work.vector != NULL and work.side != NULL
            and work.component != NULL)
