"""Multiline examples: groups of lines, one line per class, with features of their own. Updates are those of
``learners/gd_update.pxd``.
"""

from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free

from learners.gd_update cimport UNLABELED_WEIGHT, open_learner
from features.namespace_groups cimport Rows
from learners.example_loop cimport Call, check_fit, open_call
from learners.group_costs cimport Multiline, process_group
from features.group_lines cimport close_group_lines, open_group_lines
from features.plan cimport Plan
from text.batch_builder cimport BLANK, INNER, SAVE
from features.row_buffer cimport close_scratch, open_scratch
from base.status cimport NO_MEMORY, OK, STOPPED, UNSTABLE
from features.kernel_views cimport Results


cdef void call_observer(void *observer, size_t row, size_t other, bint learns, float score) noexcept with gil:
    (<object><PyObject *>observer)(row, other, learns, score)


cdef Multiline open_multiline(state, config, lists, size_t rows):
    """From a ``vwlite.learners.multiline.Multiline``, its ``KernelConfig`` and a batch's label lists, a ``vwlite.data.batch.Csr``."""
    cdef const int64_t[::1] start = lists.indptr
    cdef const uint32_t[::1] named = lists.indices
    cdef const float[::1] cost = lists.values
    cdef uint32_t[::1] answer = state.answer
    cdef uint8_t[::1] found = state.found
    cdef double[:, ::1] log_loss = state.log_loss
    cdef Multiline q
    cdef size_t i
    q.m = open_learner(state, config)
    if state.mask is not None:
        raise ValueError("no mask")
    q.classifier, q.pairs, q.probabilities, q.ranks = config.classifier, config.pairs, config.probabilities, config.ranks
    if <size_t>start.shape[0] != rows + 1 or min(named.shape[0], cost.shape[0]) < start[rows] or \
            <size_t>min(answer.shape[0], found.shape[0]) < rows or log_loss.shape[0] != 2 or log_loss.shape[1] != 2:
        raise ValueError("the labels or the arrays for predictions do not fit the batch")
    for i in range(rows):
        if start[i] > start[i + 1]:
            raise ValueError("the labels are out of order")
    q.start = &start[0]
    q.named = &named[0] if named.shape[0] else NULL
    q.cost = &cost[0] if cost.shape[0] else NULL
    q.answer = &answer[0] if rows else NULL
    q.found = &found[0] if rows else NULL
    q.log_loss = &log_loss[0, 0]
    q.share = NULL
    q.order = NULL
    q.max_lines = 0
    q.observer, q.on_score = <void *>NULL, call_observer
    if state.observer is not None:
        q.observer = <void *>state.observer
    return q


cdef int process_groups(Multiline *q, const Rows *rows, const Plan *plan, Results *out, size_t *row, size_t end,
                        bint learning) noexcept nogil:
    """Process the groups of the rows ``[row, end)``; ``row`` is advanced past the last group processed."""
    cdef size_t last
    cdef int status = OK
    while row[0] < end and status == OK:
        if plan.stop[0]:
            return STOPPED
        last = row[0]
        if rows.flags[last] & (BLANK | SAVE):
            out.raw[last] = out.prediction[last] = out.loss[last] = 0
            out.features[last] = 0
        else:
            while rows.flags[last] & INNER and last + 1 < end:
                last += 1
            status = process_group(q, rows, row[0], last, plan, out, learning)
            if status == STOPPED:
                return status
            if q.m.vw_compat:
                if rows.label[last] != rows.label[last]:
                    q.m.scalars[UNLABELED_WEIGHT] += 1
                if status == UNSTABLE:
                    status = OK
        row[0] = last + 1
    return status


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the groups of the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``.

    A group's loss and number of features are those of its last row. ``state.observer``, if not None, is called for every score
    with the line's row, the row of the line it is compared with or again its own, whether it is learned next, and the clipped
    score. It must not raise.
    """
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef Multiline q = open_multiline(state, config, batch.lists, call.rows.size)
    cdef int status
    check_fit(state, &call)
    q.lines = open_group_lines()
    if q.lines == NULL:
        raise MemoryError("no memory for the lines of a group")
    open_scratch(&q.difference)
    with nogil:
        status = process_groups(&q, &call.rows, &call.plan, &call.out, &call.row, call.end, call.learning)
    close_group_lines(q.lines)
    close_scratch(&q.difference)
    free(q.share)
    free(q.order)
    return status, call.row
