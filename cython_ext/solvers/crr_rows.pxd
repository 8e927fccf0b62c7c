"""The rows that steps of combined regression and ranking are drawn to take, read from the arrays of batches."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from base.byte_scan cimport prefetch
from features.expand_row cimport expand
from features.namespace_groups cimport Rows
from features.plan cimport Plan
from features.row_buffer cimport Scratch
from solvers.pair_draws cimport DrawnRow, PairIndex, draw_pair, draw_row, uniform

cdef enum:
    ADDRESSES = 10         # columns of the address table
    LINE = 16              # features in a cache line


cdef struct Data:
    const uint64_t *address   # (batches, ADDRESSES) addresses of the arrays of each batch
    PairIndex pair_index
    Plan plan


cdef struct DrawnStep:            # what a step was drawn to take
    bint pair                 # a pair of rows, not one row
    size_t position[2]        # among the rows of the index


cdef inline int read_terms(
    const Data *data, size_t position, Scratch *s, double *initial, double *label
) noexcept nogil:
    """Read terms, initial prediction and label of the row at a position of the index."""
    cdef const uint64_t *at = data.address + ADDRESSES * <size_t>data.pair_index.batch[position]
    cdef size_t row = data.pair_index.row[position]
    cdef Rows rows
    rows.label, rows.importance = <const float *>at[0], <const float *>at[1]
    rows.initial_prediction = <const float *>at[2]
    rows.flags, rows.row_namespace = <const uint8_t *>at[3], <const uint32_t *>at[4]
    rows.namespace_char, rows.namespace_hash = <const uint8_t *>at[5], <const uint32_t *>at[6]
    rows.namespace_start, rows.hash, rows.value = <const uint32_t *>at[7], <const uint32_t *>at[8], <const float *>at[9]
    rows.size = row + 1
    initial[0], label[0] = rows.initial_prediction[row], rows.label[row]
    return expand(&rows, row, &data.plan, s)


cdef inline void draw_step(
    const Data *data, uint64_t seed, double alpha, uint64_t i, DrawnStep *drawn
) noexcept nogil:
    """Draw the rows of step i, which is counted from 1: with probability ``alpha`` one row, else a pair."""
    cdef DrawnRow a, b
    cdef int k
    drawn.pair = uniform(seed, i, 0) >= alpha
    if drawn.pair:
        draw_pair(&data.pair_index, seed, i, &a, &b)
        drawn.position[0], drawn.position[1] = a.position, b.position
    else:
        drawn.position[0] = draw_row(&data.pair_index, 0, data.pair_index.rows, uniform(seed, i, 1))
    for k in range(1 + drawn.pair):
        prefetch(<const float *>(data.pair_index.batch + drawn.position[k]))
        prefetch(<const float *>(data.pair_index.row + drawn.position[k]))


cdef inline void prefetch_row_data(const Data *data, const DrawnStep *drawn, int stage) noexcept nogil:
    """Prefetch the rows of a later step, which are scattered in memory, in three stages: each reads the offsets that the one
    before it prefetched.
    """
    cdef const uint64_t *at
    cdef const uint32_t *row_namespace
    cdef const uint32_t *namespace_start
    cdef size_t row, first, last, line
    cdef int k
    for k in range(1 + drawn.pair):
        at = data.address + ADDRESSES * <size_t>data.pair_index.batch[drawn.position[k]]
        row = data.pair_index.row[drawn.position[k]]
        row_namespace, namespace_start = <const uint32_t *>at[4], <const uint32_t *>at[7]
        if stage == 0:
            prefetch(<const float *>at[0] + row)
            prefetch(<const float *>at[2] + row)
            prefetch(row_namespace + row)
        elif stage == 1:
            prefetch(<const uint8_t *>at[5] + row_namespace[row])
            prefetch(namespace_start + row_namespace[row])
        else:
            first, last = namespace_start[row_namespace[row]], namespace_start[row_namespace[row + 1]]
            for line in range(min((last - first + LINE - 1) // LINE, <size_t>8)):
                prefetch(<const uint32_t *>at[8] + first + LINE * line)
                prefetch(<const float *>at[9] + first + LINE * line)
