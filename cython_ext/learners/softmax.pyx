"""Multiclass linear models: softmax, one against all, and the multiclass hinge loss of Crammer and Singer (2001).

The weights of a feature for all classes are contiguous and share its scale. Steps are adaptive and normalised as in gradient
descent; they follow the gradient flow of the loss in short steps, so that a large importance does not overshoot.
"""

from libc.math cimport isnan
from libc.stdint cimport uint32_t
from libc.stdlib cimport free

from base.byte_scan cimport prefetch
from features.namespace_groups cimport Rows
from learners.class_means cimport mean_scores, note_changes
from learners.label_shares cimport open_lists, smooth_target
from learners.iterate_mean cimport count_iterate
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from learners.row_shrinkage cimport add_penalty, apply_outstanding, penalty_now, shrink_factor
from learners.softmax_rows cimport CRAMMER_SINGER, RATE, Softmax, loss_of, number_of_first, open_softmax, report, true_class
from learners.softmax_update cimport common_factor, learn_all, learn_margin, rescale, reserve, score_rows
from features.row_buffer cimport Scratch
from base.status cimport NO_MEMORY, OK
from features.kernel_views cimport Results


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    """Replace hashes by rows of the tables."""
    cdef Softmax *q = <Softmax *>learner
    cdef size_t i
    for i in range(s.terms):
        s.index[i] = s.index[i] & q.mask
        if not s.in_cache:
            prefetch(q.w + q.width * s.index[i])


cdef float share_of_row(const Softmax *q, size_t row) noexcept nogil:
    """What the penalty leaves of the weights of a feature."""
    cdef size_t at = row * q.width
    return shrink_factor(q.w + at, penalty_now(&q.shrinkage, row, q.g + at, q.scale[row], q.width), q.width)


cdef void shrunk_scores(Softmax *q, Scratch *s, bint learns) noexcept nogil:
    cdef size_t i, row
    for i in range(s.terms):
        row = s.index[i]
        if learns:
            apply_outstanding(&q.shrinkage, row, q.g + row * q.width, q.scale[row], q.width)
        q.inverse[i] = s.value[i] * share_of_row(q, row)
    score_rows(q.w, s.index, q.inverse, s.terms, q.width, q.s)


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Softmax *q = <Softmax *>learner
    cdef float y = rows.label[row], weight = rows.importance[row]
    cdef bint held = out.holdout_mask != NULL and out.holdout_mask[row], learns = learning and not isnan(y) and not held
    cdef uint32_t c, first = number_of_first(q, row, y, learns), true = true_class(q, y, first)
    cdef int status
    for c in range(<uint32_t>q.width):
        q.s[c] = rows.initial_prediction[row]
    if reserve(q, s.terms) != OK:
        return NO_MEMORY
    learns = learns and weight > 0 and true < q.classes
    if q.means.sum != NULL and not learns:
        mean_scores(&q.means, s, q.width, q.s)
    elif q.shrinkage.row != NULL:
        shrunk_scores(q, s, learns)
    else:
        score_rows(q.w, s.index, s.value, s.terms, q.width, q.s)
    status = report(q, rows, row, first, true, held, out)
    if learns and status == OK:
        q.taken = -1
        if q.loss != CRAMMER_SINGER or loss_of(q, q.s, true, q.p) > 0:
            smooth_target(&q.labels, true)
            rescale(q, s)
            status = learn_all(q, s, weight) if q.loss != CRAMMER_SINGER else learn_margin(q, s, true, weight)
            if q.means.sum != NULL:
                note_changes(&q.means, q.w, s, q.width)
        if q.means.sum != NULL:
            count_iterate(&q.means.counts, 1)
        if q.shrinkage.row != NULL:
            add_penalty(&q.shrinkage, q.taken if q.taken >= 0 else <float>q.scalars[RATE] * weight * common_factor(q))
    out.features[row] = <uint32_t>s.count
    return status


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``per_class.pyx``."""
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef Softmax q = open_softmax(state, config, call.rows.size)
    cdef int status
    call.plan.flat = plan.flat
    if config.shares and batch.lists is not None:
        open_lists(&q.labels, batch.lists, call.rows.size)
    check_fit(state, &call)
    if call.learning and state.squares.shape[0] != state.weights.shape[0]:
        raise ValueError("these tables cannot learn")
    with nogil:
        status = process_in_order(&q, prepare, process_example, not q.vw_compat, &call)
    free(q.inverse)
    free(q.r)
    if q.means.sum != NULL:
        state.means.present = q.means.counts.number
    return status, call.row


def shrink_rows(state, config, size_t begin, float[::1] weights):
    """Multiply ``weights``, float32[rows * width] from row ``begin`` on, by what the penalty leaves of them."""
    cdef Softmax q = open_softmax(state, config, 1)
    cdef size_t i, c, rows = weights.shape[0] // q.width
    cdef float share
    if q.shrinkage.row == NULL or begin + rows > <size_t>q.mask + 1:
        raise ValueError("no such rows")
    with nogil:
        for i in range(rows):
            share = share_of_row(&q, begin + i)
            for c in range(q.width):
                weights[i * q.width + c] = weights[i * q.width + c] * share if share > 0 else 0
