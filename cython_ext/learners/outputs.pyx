"""Several numbers from the same features: a set of weights for each output, next to each other in one table.

Every output is learned as ``learners/gd_update.pxd`` learns one, with scalars of its own. Where outputs share their rates, a
feature has one adaptive sum, of the mean squared gradient over the outputs that a row labels, and one scale.
"""

from libc.float cimport FLT_MAX
from libc.math cimport NAN, fabsf, isfinite, isnan
from libc.stdint cimport uint32_t
from libc.stdlib cimport free

from base.byte_scan cimport prefetch
from features.namespace_groups cimport Rows
from learners.adaptive_rates cimport RATE, WEIGHT, Scan, scan_terms
from learners.class_blocks cimport score_rows, step_rows
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from learners.gd_update cimport (
    L1_SHRINK, L2_SCALE, MAX_LABEL, MIN_LABEL, MULTIPLIER, Learner, balance, clip, inner_product, learn_row, regularized,
    scaled_step, shrink_slot, shrunk, squared_norm
)
from learners.label_steps cimport scale_params, take_units
from learners.label_units cimport LABEL_MEAN, NextUnits, in_label_units, next_units
from learners.output_rows cimport (
    Outputs, count_times, open_label_units, open_labels, open_outputs, open_results_of_outputs, read_labels, report
)
from losses.loss_types cimport needs_update
from features.row_buffer cimport Scratch
from base.status cimport OK, UNSTABLE
from features.kernel_views cimport Results

cdef enum:
    EIGHT = 8              # weights of a feature that are looked at together
    LINE = 16              # numbers in a cache line
    PREFETCH_LINES = 16    # cache lines of a feature's slots that are prefetched, at most


cdef inline void predict_shared(const Outputs *q, const Scratch *s, float initial, float *raw) noexcept nogil:
    cdef const float *w
    cdef uint32_t c
    cdef size_t i
    for i in range(q.width):
        q.sum[i] = initial
    if q.shared.l1 == 0 and q.width >= EIGHT:
        score_rows(q.weights, s.index, s.value, s.terms, q.width, q.sum)
    else:
        for i in range(s.terms):
            w = q.weights + q.width * s.index[i]
            for c in range(q.outputs):
                q.sum[c] += (shrunk(&q.each[c], w[c]) if q.shared.l1 > 0 else w[c]) * s.value[i]
    for c in range(q.outputs):
        raw[c] = q.sum[c] * <float>q.each[c].scalars[L2_SCALE]


cdef inline float mean_square_gradient(Outputs *q, const float *p, float weight) noexcept nogil:
    """Of the outputs that the row labels."""
    cdef uint32_t c, labelled = 0
    cdef float sum = 0
    for c in range(q.outputs):
        if not isnan(q.label[c]):
            labelled += 1
            if needs_update(&q.each[c].loss, &q.each[c].params, p[c], q.label[c]):
                sum += weight * q.each[c].loss.square_grad(&q.each[c].params, p[c], q.label[c])
    return sum / labelled if labelled else 0


cdef inline float scan_shared(Outputs *q, const Scratch *s, float square_grad, float weight) noexcept nogil:
    """Update the rates; where |x| is larger than any before, the feature's weights are reduced. The change of any output's
    prediction per unit of update.
    """
    cdef Scan scan
    cdef float *rates
    cdef float *w
    cdef uint32_t c
    cdef size_t i
    for i in range(s.terms):
        q.shared.table[4 * <size_t>s.index[i] + WEIGHT] = 1
    scan_terms(q.shared.table, s.index, s.value, s.terms, square_grad, &q.shared.rates, &scan, &q.shared.ahead)
    for i in range(s.terms):
        rates = q.shared.table + 4 * <size_t>s.index[i]
        if rates[WEIGHT] != 1:
            w = q.weights + q.width * s.index[i]
            for c in range(q.outputs):
                w[c] = w[c] * rates[WEIGHT]
            rates[WEIGHT] = 1
    balance(&q.shared, weight, &scan)
    if s.terms == 0 and not isfinite(q.shared.norms[MULTIPLIER]):
        q.shared.norms[MULTIPLIER] = 1         # no input has been seen so far
    return scan.per_update


cdef inline int find_steps(Outputs *q, const float *p, float weight, float reach) noexcept nogil:
    """The steps of all outputs, 0 without a loss. UNSTABLE where one is not finite."""
    cdef Learner *m
    cdef uint32_t c
    cdef int status = OK
    for c in range(q.outputs):
        m = &q.each[c]
        q.step[c] = 0
        if isnan(q.label[c]) or not needs_update(&m.loss, &m.params, p[c], q.label[c]):
            continue
        q.step[c] = regularized(m, scaled_step(m, p[c], q.label[c], weight, reach), p[c], q.label[c])
        if not isfinite(q.step[c]):
            status = UNSTABLE
        if q.has_rates and q.shared.rates.normalized:
            q.step[c] = q.step[c] * <float>q.shared.norms[MULTIPLIER]
    return status


cdef inline void apply_steps(Outputs *q, Scratch *s) noexcept nogil:
    """The row's values become what steps are multiplied by."""
    cdef float *w
    cdef uint32_t c
    cdef size_t i
    for i in range(s.terms):
        if not fabsf(s.value[i]) <= FLT_MAX:
            s.value[i] = 0
        elif q.has_rates:
            s.value[i] = s.value[i] * q.shared.table[4 * <size_t>s.index[i] + RATE]
    if q.width >= EIGHT:
        step_rows(q.weights, s.index, s.value, s.terms, q.width, q.step)
        return
    for i in range(s.terms):
        w = q.weights + q.width * s.index[i]
        for c in range(q.outputs):
            w[c] += q.step[c] * s.value[i]


cdef inline int learn_shared(Outputs *q, Scratch *s, const float *p, float weight) noexcept nogil:
    """Update all outputs, whose predictions are ``p``, with the same rates."""
    cdef float square_grad, reach = 1
    cdef int status
    if not q.has_rates:
        reach = squared_norm(s)
    else:
        square_grad = mean_square_gradient(q, p, weight)
        if square_grad == 0:
            return OK                          # there is no step, or no rate for it
        reach = scan_shared(q, s, square_grad, weight)
    status = find_steps(q, p, weight, reach)
    if not s.terms:
        return OK                              # without features there is nothing to learn
    if status == OK:
        apply_steps(q, s)
    return status


cdef inline void shrink_all(Outputs *q, uint32_t c) noexcept nogil:
    """Apply the outstanding shrinkage of output ``c`` to all of its weights."""
    cdef Learner *m = &q.each[c]
    cdef float scale = <float>m.scalars[L2_SCALE]
    cdef size_t feature
    for feature in range(<size_t>q.mask + 1):
        shrink_slot(m, q.weights + q.stride * ((feature << q.shift) + c), scale)
    m.scalars[L1_SHRINK] = 0
    m.scalars[L2_SCALE] = 1


cdef inline int learn_all(Outputs *q, Scratch *s, const float *p, float weight) noexcept nogil:
    cdef int status = OK
    cdef uint32_t c
    if q.shares:
        status = learn_shared(q, s, p, weight)
    for c in range(q.outputs):
        if not q.shares and not isnan(q.label[c]):
            status |= learn_row(&q.each[c], s, p[c], q.label[c], weight)
        if q.each[c].scalars[L2_SCALE] < 1e-9 or q.each[c].scalars[L1_SHRINK] > 1e3:
            shrink_all(q, c)
    return status


cdef inline void predict_in_units(Outputs *q, double start, float *raw) noexcept nogil:
    """Turn sums of weighted features, which are kept, into predictions of labels."""
    cdef uint32_t c
    for c in range(q.outputs):
        q.product[c] = raw[c]
        raw[c] = <float>in_label_units(&q.each[c].labels, raw[c], start)


cdef inline int learn_in_units(Outputs *q, Scratch *s, float start, float weight) noexcept nogil:
    """``learn_all`` in units of the labels' spread, which each label changes first; as in ``label_steps.pxd``."""
    cdef Learner *m
    cdef NextUnits new
    cdef double middle
    cdef uint32_t c
    cdef int status
    for c in range(q.outputs):
        if isnan(q.label[c]):
            continue
        m = &q.each[c]
        new = next_units(&m.labels, <double>q.label[c] - start, weight)
        take_units(m, &new, q.label[c])
        if new.units.spread > 0:
            middle = start + new.sums[LABEL_MEAN]
            scale_params(m, middle, new.part)
            q.clipped[c] = clip(<float>(q.product[c] * (new.units.spread * new.part)), m)
            q.label[c] = <float>((q.label[c] - middle) * new.part)
        else:
            q.label[c] = NAN                   # all labels so far are the same
    status = learn_all(q, s, q.clipped, weight)
    for c in range(q.outputs):
        m = &q.each[c]
        m.params.min_label, m.params.max_label = <float>m.scalars[MIN_LABEL], <float>m.scalars[MAX_LABEL]
        m.params.scale, m.params.tube = q.shared.params.scale, q.shared.params.tube
    return status


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Outputs *q = <Outputs *>learner
    cdef float weight = rows.importance[row]
    cdef bint labeled = not isnan(rows.label[row]), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef bint learn = learning and labeled and not held
    cdef float *raw = q.raw + row * q.outputs
    cdef float start = rows.initial_prediction[row], first = 0 if q.in_units else start
    cdef int status
    cdef uint32_t c
    read_labels(q, row, labeled)
    if q.shares:
        predict_shared(q, s, first, raw)
    else:
        for c in range(q.outputs):
            raw[c] = inner_product(&q.each[c], s, first)
    if q.in_units:
        predict_in_units(q, start, raw)
    status = report(q, row, s.count, weight, learn, held, out)
    if learn and weight > 0 and status == OK:
        if q.in_units:
            status = learn_in_units(q, s, start, weight)
            read_labels(q, row, labeled)
        else:
            status = learn_all(q, s, q.clipped, weight)
    count_times(q, weight, held)
    return status


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    """Replace hashes by slots or, where rates are shared, by the numbers of features."""
    cdef Outputs *q = <Outputs *>learner
    cdef size_t i, line, lines = (q.stride * q.outputs + LINE - 1) / LINE
    cdef uint32_t mask = q.mask
    cdef int shift = q.shift, kept = 0 if q.shares else q.shift
    for i in range(s.terms):
        s.index[i] = (s.index[i] & mask) << kept
    for i in range(0 if s.in_cache else s.terms):
        for line in range(lines if lines < PREFETCH_LINES else PREFETCH_LINES):
            prefetch(q.weights + q.stride * (<size_t>s.index[i] << (shift - kept)) + LINE * line)
        if q.shares and q.has_rates:
            prefetch(q.shared.table + 4 * <size_t>s.index[i])


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``.

    The results hold the predictions of the first output; those of all are in ``state.raw`` and ``state.score``.
    """
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef Outputs q
    cdef int status
    q.each = NULL
    try:
        open_outputs(&q, state, config, call.learning)
        open_label_units(&q, state, config, call.plan.constant)
        open_labels(&q, batch.lists, call.rows.size)
        open_results_of_outputs(&q, state, call.rows.size)
        call.plan.flat = plan.flat and (q.has_rates or not call.learning)
        check_fit(state, &call)
        with nogil:
            status = process_in_order(&q, prepare, process_example, True, &call)
    finally:
        free(q.each)
    return status, call.row


def apply_shrinkage(state, config):
    """Apply the outstanding L1 and L2 shrinkage of every output to ``state.weights[:, 0]``."""
    cdef Outputs q
    cdef uint32_t c
    q.each = NULL
    try:
        open_outputs(&q, state, config, False)
        with nogil:
            for c in range(q.outputs):
                shrink_all(&q, c)
    finally:
        free(q.each)
