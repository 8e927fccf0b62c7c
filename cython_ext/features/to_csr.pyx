"""The terms of all rows of a batch as a CSR matrix, for learners that keep their training set in memory."""

from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memcpy

from features.expand_row cimport expand
from features.namespace_groups cimport Rows
from features.plan cimport Plan
from text.batch_builder cimport BLANK
from features.row_buffer cimport Scratch, close_scratch, open_scratch
from base.status cimport FULL, OK, STOPPED
from features.kernel_views cimport open_plan, open_rows


def flatten(batch, plan, int64_t[::1] start, uint32_t[::1] index, float[::1] value):
    """Fill ``start`` int64[rows + 1], ``index`` uint32[n] and ``value`` float32[n] with the terms of every row; blank rows have
    none.

    Returns ``(status, terms)``. With status FULL (100) the arrays are too small; ``terms`` is then the number of terms of the
    rows so far and the one that did not fit. With any other status but OK ``terms`` is the row at which it stopped.
    """
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    cdef Scratch scratch
    cdef size_t row, count = 0, capacity = index.shape[0]
    cdef int status = OK
    native_plan.flat = plan.flat
    if <size_t>start.shape[0] != rows.size + 1 or value.shape[0] != index.shape[0]:
        raise ValueError("the arrays do not fit the batch")
    open_scratch(&scratch)
    with nogil:
        start[0] = 0
        for row in range(rows.size):
            if native_plan.stop[0]:
                status = STOPPED
                break
            if rows.flags[row] & BLANK:
                start[row + 1] = count
                continue
            status = expand(&rows, row, &native_plan, &scratch)
            if status != OK:
                count = row
                break
            if count + scratch.terms > capacity:
                count += scratch.terms
                status = FULL
                break
            if scratch.terms:
                memcpy(&index[count], scratch.index, scratch.terms * sizeof(uint32_t))
                memcpy(&value[count], scratch.value, scratch.terms * sizeof(float))
            count += scratch.terms
            start[row + 1] = count
        close_scratch(&scratch)
    return status, count
