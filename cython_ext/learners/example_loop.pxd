"""The loop over the rows of a batch, which all learners' kernels share: expansion, prefetching, and a callback for each row."""

from libc.math cimport isinf

from base.byte_scan cimport prefetch, unlikely
from features.expand_row cimport expand
from features.namespace_groups cimport Rows
from features.kernel_views cimport Results, open_plan, open_results, open_rows, slots_in_cache
from features.plan cimport Plan
from text.batch_builder cimport BLANK, SAVE
from features.row_buffer cimport LONG_ROW, Scratch, close_scratch, free_terms, move_terms, open_scratch
from base.status cimport OK, STOPPED, TOO_MANY, UNSTABLE

# Called for a row as soon as it is expanded, before the rows before it have been processed: maps its terms to the learner's
# slots and starts to prefetch them. A reference that it keeps to a row is only valid until the next call.
ctypedef void (*Prepare)(void *learner, Scratch *s) noexcept nogil
# Predicts the row and, when ``learning``, updates on it; UNSTABLE where a number is not finite.
ctypedef int (*ProcessExample)(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out,
                               bint learning) noexcept nogil


cdef enum:
    VALUES_AHEAD = 256  # values between the prefetch of a batch's data and their use
    ROWS_AHEAD = 64     # rows between the prefetch of a batch's data and their use
    EXPANDED_AHEAD = 2  # rows expanded before their turn: fetching a cache line may take longer than processing a short row
    RING = 4            # buffers for the current row and those expanded ahead; a power of two


cdef inline void prefetch_rows(const Rows *rows, size_t row) noexcept nogil:
    """Prefetch as much of the batch, some rows ahead, as this row takes: it is in the cache of the core that parsed it."""
    cdef size_t first = rows.row_namespace[row], last = rows.row_namespace[row + 1], i
    if row & 15 == 0:                          # values in a cache line
        prefetch(rows.row_namespace + row + ROWS_AHEAD)
        prefetch(rows.label + row + ROWS_AHEAD)
        prefetch(rows.importance + row + ROWS_AHEAD)
        prefetch(rows.initial_prediction + row + ROWS_AHEAD)
        prefetch(rows.flags + row + ROWS_AHEAD)
    prefetch(rows.namespace_char + first + VALUES_AHEAD)
    for i in range(first, last, 16):
        prefetch(rows.namespace_start + i + VALUES_AHEAD)
    for i in range(rows.namespace_start[first], rows.namespace_start[last], 16):
        prefetch(rows.hash + i + VALUES_AHEAD)
        prefetch(rows.value + i + VALUES_AHEAD)


cdef inline void release_long_row(void *learner, Prepare prepare, Scratch *s, Scratch *next) noexcept nogil:
    """Release the buffer of a long row, as there may be memory for one only: it goes to the next row, which may be as long,
    unless that is expanded already; else it is freed.
    """
    s.terms = 0
    prepare(learner, s)                        # so that no pending prefetch refers to its terms
    if next != NULL:
        move_terms(s, next)
    else:
        free_terms(s)


cdef inline int process_rows(void *learner, Prepare prepare, ProcessExample process_example, bint check_finite,
                             const Rows *rows, const Plan *plan, Results *out, size_t *row, size_t end, bint learning,
                             Scratch *scratch) noexcept nogil:
    cdef size_t next = row[0]
    cdef int status = OK
    while row[0] < end and status == OK:
        if unlikely(plan.stop[0]):
            return STOPPED
        while next < end and next <= row[0] + EXPANDED_AHEAD and status == OK:
            if next > row[0] and unlikely(scratch[(next - 1) & (RING - 1)].terms > LONG_ROW):
                break
            prefetch_rows(rows, next)
            status = expand(rows, next, plan, &scratch[next & (RING - 1)])
            if status == OK:
                prepare(learner, &scratch[next & (RING - 1)])
            next += 1
        if status != OK:
            row[0] = next if status == TOO_MANY else row[0]
            break
        if rows.flags[row[0]] & (BLANK | SAVE):
            out.raw[row[0]] = out.prediction[row[0]] = out.loss[row[0]] = 0
            out.features[row[0]] = 0
        else:
            status = process_example(learner, rows, row[0], &scratch[row[0] & (RING - 1)], out, learning)
            if unlikely(isinf(out.prediction[row[0]])) and status == OK:    # of a finite sum, by the link
                status = UNSTABLE
            if status == UNSTABLE and not check_finite:
                status = OK
        if unlikely(scratch[row[0] & (RING - 1)].max_terms > LONG_ROW):
            release_long_row(learner, prepare, &scratch[row[0] & (RING - 1)],
                       &scratch[next & (RING - 1)] if next == row[0] + 1 else NULL)
        row[0] += 1
    return status


cdef struct Call:         # what a kernel's ``run_rows`` is called with
    Rows rows
    Plan plan
    Results out
    size_t row            # the next one to be processed
    size_t end            # the row at which to end
    bint learning


cdef inline Call open_call(plan, batch, results, size_t begin, end_and_mode):
    """Views that are valid as long as the arguments; ``end_and_mode``: the end, and whether rows are learned."""
    cdef Call call
    call.rows, call.plan, call.out = open_rows(batch), open_plan(plan), open_results(results)
    call.row, call.end, call.learning = begin, end_and_mode[0], end_and_mode[1]
    return call


cdef inline int process_in_order(void *learner, Prepare prepare, ProcessExample process_example, bint check_finite,
                                 Call *call) noexcept nogil:
    """Process the rows ``[row, end)``; ``row`` is advanced past the last one processed. Returns OK, STOPPED, or the status of
    that row: NO_MEMORY, TOO_MANY or, if ``check_finite``, UNSTABLE.
    """
    cdef Scratch scratch[RING]
    cdef bint in_cache = slots_in_cache(&call.rows, &call.plan, call.row, call.end)
    cdef int status, i
    for i in range(RING):
        open_scratch(&scratch[i])
        scratch[i].in_cache = in_cache
    status = process_rows(learner, prepare, process_example, check_finite, &call.rows, &call.plan, &call.out, &call.row,
                          call.end, call.learning, scratch)
    for i in range(RING):
        close_scratch(&scratch[i])
    return status


cdef inline int check_fit(state, const Call *call) except -1:
    """Raise ValueError where a learner's table, a plan and a batch do not fit together, or where the table is read-only."""
    if <size_t>state.weights.shape[0] != <size_t>call.plan.mask + 1 or call.end > call.rows.size:
        raise ValueError("table, plan and batch do not belong together")
    if call.learning and memoryview(state.weights).readonly:
        raise ValueError("a read-only table cannot learn")
    return 0
