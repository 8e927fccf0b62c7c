"""Online gradient descent on one set of weights; the update is ``core/descent.pxd``'s."""

from libc.math cimport isfinite, isnan
from libc.stdint cimport uint32_t

from core.bytescan cimport unlikely
from core.descent cimport (
    Learner, clip, count_time, inner_product, learn_row, open_learner, prefetch_slots, sync, sync_if_due, widen_range
)
from core.expand cimport expand
from core.groups cimport Rows
from core.links cimport apply_link
from core.plan cimport Plan
from core.rows cimport BLANK, SAVE
from core.scratch cimport Scratch, close_scratch, open_scratch
from core.status cimport OK, UNSTABLE
from core.view cimport Results, open_plan, open_results, open_rows


cdef inline int visit(Learner *m, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning,
                      size_t slots) noexcept nogil:
    """Predict one row and, when it is to be learned, update on it."""
    cdef float y = rows.label[row], weight = rows.importance[row], p
    cdef bint labeled = not isnan(y), held = out.held != NULL and out.held[row]
    cdef bint learn = learning and labeled and not held
    cdef int status = OK
    if learn and not m.frozen:
        widen_range(m, y)
    out.raw[row] = inner_product(m, s, rows.base[row])
    p = clip(out.raw[row], m)
    if unlikely(not isfinite(out.raw[row])):
        status = UNSTABLE
    if learn and weight > 0 and not (m.strict and status != OK):
        status |= learn_row(m, s, p, y, weight)
        sync_if_due(m, slots)
    out.loss[row] = m.loss.value(&m.params, p, y) * weight if labeled and weight > 0 else 0
    out.prediction[row] = apply_link(m.link, p)
    out.features[row] = <uint32_t>s.count
    count_time(m, weight, labeled, held)
    return status


cdef int run(Learner *m, const Rows *rows, const Plan *plan, Results *out, size_t *row, size_t end, bint learning,
             Scratch *scratch) noexcept nogil:
    """Rows ``[row, end)`` in order. While one row is worked on, the table's lines for the next are on their way."""
    cdef Scratch *now
    cdef Scratch *following
    cdef int status = OK
    cdef size_t slots = <size_t>plan.mask + 1
    if row[0] < end:
        status = expand(rows, row[0], plan, &scratch[row[0] & 1])
    while row[0] < end and status == OK:
        now = &scratch[row[0] & 1]
        following = &scratch[(row[0] + 1) & 1]
        if row[0] + 1 < end:
            status = expand(rows, row[0] + 1, plan, following)
            if status != OK:
                break
            prefetch_slots(m, following)
        if rows.flags[row[0]] & (BLANK | SAVE):
            out.raw[row[0]] = out.prediction[row[0]] = out.loss[row[0]] = 0
            out.features[row[0]] = 0
        else:
            status = visit(m, rows, row[0], now, out, learning, slots)
            if status == UNSTABLE and not m.strict:
                status = OK
        row[0] += 1
    return status


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order.

    ``end_and_mode`` is ``(end, learning)``. Fills the arrays of ``results`` and returns ``(status, row)``: OK and ``end``, or
    what stopped the run and the row after the one it stopped at.
    """
    cdef size_t end = end_and_mode[0]
    cdef bint learning = end_and_mode[1]
    cdef Learner m = open_learner(state, config)
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    cdef Results out = open_results(results)
    cdef Scratch scratch[2]
    cdef int status
    # without rates of its own a step depends on the norm, which is summed by namespace
    native_plan.flat = plan.flat and (m.stride == 4 or not learning)
    if <size_t>state.weights.shape[0] != <size_t>native_plan.mask + 1 or end > rows.size:
        raise ValueError("table, plan and batch do not belong together")
    if learning and not state.weights.flags.writeable:
        raise ValueError("a read-only table cannot learn")
    open_scratch(&scratch[0])
    open_scratch(&scratch[1])
    with nogil:
        status = run(&m, &rows, &native_plan, &out, &begin, end, learning, scratch)
    close_scratch(&scratch[0])
    close_scratch(&scratch[1])
    return status, begin


def apply_shrinkage(state, config):
    """Bring the outstanding L1 and L2 shrinkage into the table (``state.weights[:, 0]``)."""
    cdef Learner m = open_learner(state, config)
    cdef size_t slots = state.weights.shape[0]
    with nogil:
        sync(&m, slots)
