"""The rows of a batch one after the other: what every learner's kernel does around its own work on a row."""

from base.byte_scan cimport prefetch, unlikely
from features.expand_row cimport expand
from features.namespace_groups cimport Rows
from features.cache_residency cimport slots_in_cache
from features.plan cimport Plan
from text.batch_builder cimport BLANK, SAVE
from features.row_buffer cimport LONG_ROW, Scratch, close_scratch, free_terms, move_terms, open_scratch
from base.status cimport OK, STOPPED, TOO_MANY, UNSTABLE
from features.kernel_views cimport Results

# Called for a row as soon as its terms are made, while others before it are still to be worked on: to move them to their
# slots, and to send for the table's lines. What it remembers of the row before it must not be read later.
ctypedef void (*Prepare)(void *learner, Scratch *s) noexcept nogil
# Predicts the row and learns it; UNSTABLE where a number is not finite.
ctypedef int (*ProcessExample)(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil


cdef enum:
    FAR = 256              # numbers ahead
    ROWS_FAR = 64          # rows ahead
    MADE = 2               # rows whose terms are made beside the one at work: to fetch a line may take longer than one short row
    RING = 4               # a power of two, room for these


cdef inline void ask_for_rows(const Rows *rows, size_t row) noexcept nogil:
    """As many lines of the batch as this row has, some rows ahead: they come from the core that has just written them."""
    cdef size_t first = rows.row_namespace[row], last = rows.row_namespace[row + 1], i
    if row & 15 == 0:                          # numbers in a line
        prefetch(rows.row_namespace + row + ROWS_FAR)
        prefetch(rows.label + row + ROWS_FAR)
        prefetch(rows.importance + row + ROWS_FAR)
        prefetch(rows.base + row + ROWS_FAR)
        prefetch(rows.flags + row + ROWS_FAR)
    prefetch(rows.namespace_char + first + FAR)
    for i in range(first, last, 16):
        prefetch(rows.namespace_start + i + FAR)
    for i in range(rows.namespace_start[first], rows.namespace_start[last], 16):
        prefetch(rows.hash + i + FAR)
        prefetch(rows.value + i + FAR)


cdef inline void clear_long(void *learner, Prepare prepare, Scratch *s, Scratch *next) noexcept nogil:
    """There is memory for one long row only: the next row, which may be as long, gets it, unless it has been made."""
    s.terms = 0
    prepare(learner, s)                        # nobody asks for its slots any more
    if next != NULL:
        move_terms(s, next)
    else:
        free_terms(s)


cdef inline int process_rows(void *learner, Prepare prepare, ProcessExample process_example, bint strict, const Rows *rows, const Plan *plan,
                           Results *out, size_t *row, size_t end, bint learning, Scratch *scratch) noexcept nogil:
    cdef size_t next = row[0]
    cdef int status = OK
    while row[0] < end and status == OK:
        if unlikely(plan.stop[0]):
            return STOPPED
        while next < end and next <= row[0] + MADE and status == OK:
            if next > row[0] and unlikely(scratch[(next - 1) & (RING - 1)].terms > LONG_ROW):
                break
            ask_for_rows(rows, next)
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
            if status == UNSTABLE and not strict:
                status = OK
        if unlikely(scratch[row[0] & (RING - 1)].max_terms > LONG_ROW):
            clear_long(learner, prepare, &scratch[row[0] & (RING - 1)],
                       &scratch[next & (RING - 1)] if next == row[0] + 1 else NULL)
        row[0] += 1
    return status


cdef inline int process_in_order(void *learner, Prepare prepare, ProcessExample process_example, bint strict, const Rows *rows, const Plan *plan,
                               Results *out, size_t *row, size_t end, bint learning) noexcept nogil:
    """Rows ``[row, end)``; ``row`` ends behind the last one. Answers OK, STOPPED, or of that one NO_MEMORY, TOO_MANY or, if
    ``strict``, UNSTABLE.
    """
    cdef Scratch scratch[RING]
    cdef bint in_cache = slots_in_cache(rows, plan, row[0], end)
    cdef int status, i
    for i in range(RING):
        open_scratch(&scratch[i])
        scratch[i].in_cache = in_cache
    status = process_rows(learner, prepare, process_example, strict, rows, plan, out, row, end, learning, scratch)
    for i in range(RING):
        close_scratch(&scratch[i])
    return status


cdef inline int check_fit(state, const Plan *plan, const Rows *rows, size_t end, bint learning) except -1:
    """Raises ValueError where a learner's table, a plan and a batch do not belong together, or nothing can be learned."""
    if <size_t>state.weights.shape[0] != <size_t>plan.mask + 1 or end > rows.size:
        raise ValueError("table, plan and batch do not belong together")
    if learning and memoryview(state.weights).readonly:
        raise ValueError("a read-only table cannot learn")
    return 0
