"""Active learning and confidences on top of gradient descent, as in Vowpal Wabbit.

Labels are queried by importance-weighted active learning (Beygelzimer, Hsu, Langford and Zhang, 2010): the probability of a query
decreases with the importance that an update would need to change the prediction's sign, and a label that is queried gets one over
that probability as its weight.
"""

from libc.float cimport FLT_MAX
from libc.math cimport NAN, fabsf, isfinite, isnan, logf, sqrtf
from libc.stdint cimport uint32_t, uint64_t

from learners.gd_update cimport (
    SCALARS, TIME, UNLABELED_WEIGHT, Learner, clip, count_time, inner_product, learn_row, open_learner, prefetch_slots,
    sensitivity, sync_if_due, widen_range
)
from base.float32 cimport FOUR, ONE, TWO
from features.namespace_groups cimport Rows
from learners.example_loop cimport Call, ProcessExample, check_fit, open_call, process_in_order
from learners.query_choice cimport HALF, TINY, clip_to_unit, query_probability
from losses.loss_types cimport apply_link
from features.row_buffer cimport Scratch
from base.status cimport OK, UNSTABLE
from features.kernel_views cimport Results
from base.random cimport random_next

cdef enum:                 # positions in the scalars, named in vwlite/learners/active.py
    LABELED_WEIGHT = SCALARS      # importance of the examples learned
    SUM_LOSS = SCALARS + 1        # their loss
    QUERIES = SCALARS + 2         # number of labels queried
    LEAST_LABEL = SCALARS + 3
    GREATEST_LABEL = SCALARS + 4
    ALL_SCALARS = SCALARS + 5


cdef struct Active:
    Learner m
    float mellowness
    bint after              # the confidence is that of the weights after the update
    bint binary             # predictions are -1 or 1, right or wrong
    float middle            # threshold between these two
    uint64_t *random_state  # (1,) state of the random number generator
    float *label            # (rows,) the label as used: NaN where it was not queried
    float *weight           # (rows,) the importance as used
    float *extra_output     # (rows,) query importance or confidence, written beside the prediction


cdef inline float vw_probability(const Active *a, float seen, float flip) noexcept nogil:
    """vw's formula for it, which is not a probability: it may exceed 1, and it increases again for large ``flip``."""
    cdef float bound = a.mellowness * (logf(seen + ONE) + TINY) / (seen + TINY), ratio
    if flip <= sqrtf(bound) * sqrtf(clip_to_unit(clip_to_unit(<float>a.m.scalars[SUM_LOSS] / seen) + flip)) + bound:
        return 1
    ratio = (ONE + sqrtf(ONE + FOUR * flip)) / TWO * flip
    return bound * ratio * ratio


cdef inline float query_importance(Active *a, float flip, float seen) noexcept nogil:
    """The importance with which to query a label after examples of importance ``seen``; -1 for no query."""
    cdef float probability = 1
    if seen > 1:
        if a.m.vw_compat:
            probability = vw_probability(a, seen, flip / seen)
        else:
            probability = query_probability(
                a.mellowness, <float>a.m.scalars[SUM_LOSS], <float>a.m.scalars[LABELED_WEIGHT], seen, flip / seen)
    return ONE / probability if random_next(a.random_state) < probability else -1


cdef inline int learn_labeled(Active *a, Scratch *s, float p, float y, float weight) noexcept nogil:
    cdef int status = learn_row(&a.m, s, p, y, weight)
    sync_if_due(&a.m)
    return status


cdef inline float moved_by_update(const Active *a, const Scratch *s, float p, float y, float weight) noexcept nogil:
    """How far an update towards ``y`` would move the prediction, per unit of importance and of slope. Changes nothing."""
    cdef float sum = 0, rate
    cdef const float *slot
    cdef size_t i
    if not a.m.ftrl:
        return sensitivity(&a.m, s, p, y, weight)
    for i in range(s.terms):
        slot = a.m.table + a.m.stride * s.index[i]
        rate = 1 / ((a.m.ftrl_beta + sqrtf(slot[2])) / a.m.ftrl_alpha + <float>a.m.l2)
        if not a.m.vw_compat:             # within l1 of 0 a weight does not move
            sum += rate * s.value[i] * s.value[i] if fabsf(slot[1]) >= <float>a.m.l1 or a.m.l1 == 0 else 0
        else:                          # vw takes the sign of the input in place of its square
            sum += rate if s.value[i] > 0 else -rate
    return sum


cdef inline float answer_loss(const Active *a, float p, float y, float weight) noexcept nogil:
    if not a.binary:
        return a.m.loss.value(&a.m.params, p, y) * weight
    return weight if (1 if apply_link(a.m.link, p) > a.middle else -1) != y else 0


cdef inline void record_row(Active *a, const Results *out, size_t row, float p, float y, float weight) noexcept nogil:
    """Record a row with the label and weight that were used."""
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    out.loss[row] = a.m.loss.value(&a.m.params, p, y) * weight if labeled and weight > 0 else 0
    out.prediction[row] = apply_link(a.m.link, p)
    a.label[row], a.weight[row] = y, weight
    count_time(&a.m, weight, labeled, held)
    if labeled and not held:
        a.m.scalars[LABELED_WEIGHT] += weight
        if weight > 0:
            a.m.scalars[SUM_LOSS] += answer_loss(a, p, y, weight)


cdef inline float predict_row(Active *a, const Rows *rows, size_t row, const Scratch *s, Results *out,
                              bint learn) noexcept nogil:
    if learn and not a.m.frozen:
        widen_range(&a.m, rows.label[row])
    out.raw[row] = inner_product(&a.m, s, rows.initial_prediction[row])
    out.features[row] = <uint32_t>s.count
    return clip(out.raw[row], &a.m)


cdef inline bint is_learned(const Active *a, const Rows *rows, size_t row, const Results *out, bint learning) noexcept nogil:
    return learning and not isnan(rows.label[row]) and not (out.holdout_mask != NULL and out.holdout_mask[row])


cdef int process_simulated(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    """Learn the row if its label would have been queried; otherwise treat it as unlabelled, with weight 0."""
    cdef Active *a = <Active *>learner
    cdef bint learn = is_learned(a, rows, row, out, learning)
    cdef float y = rows.label[row], weight = rows.importance[row], importance
    cdef float p = predict_row(a, rows, row, s, out, learn)
    cdef int status = OK if isfinite(out.raw[row]) else UNSTABLE
    if learn and weight > 0 and (a.m.vw_compat or status == OK):
        importance = query_importance(a, fabsf(p) / moved_by_update(a, s, p, y, weight), <float>a.m.scalars[TIME])
        if importance > 0:
            a.m.scalars[QUERIES] += 1
            weight *= importance
            status |= learn_labeled(a, s, p, y, weight)
        else:
            y, weight = <float>NAN, 0
    record_row(a, out, row, p, y, weight)
    return status


cdef int process_asking(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    """Learn the row if it has a label; otherwise report the importance with which to query it."""
    cdef Active *a = <Active *>learner
    cdef bint learn = is_learned(a, rows, row, out, learning)
    cdef float y = rows.label[row], weight = rows.importance[row], middle, opposite, flip = 0
    cdef float p = predict_row(a, rows, row, s, out, learn)
    cdef int status = OK if isfinite(out.raw[row]) else UNSTABLE
    if learn and weight > 0 and (a.m.vw_compat or status == OK):
        status |= learn_labeled(a, s, p, y, weight)
    a.extra_output[row] = -1
    if isnan(y):
        middle = (a.m.params.max_label + a.m.params.min_label) * HALF
        opposite = <float>a.m.scalars[LEAST_LABEL if p >= middle else GREATEST_LABEL]
        flip = fabsf(p - middle) / moved_by_update(a, s, p, opposite, weight)
    else:
        a.m.scalars[LEAST_LABEL] = min(a.m.scalars[LEAST_LABEL], y)
        a.m.scalars[GREATEST_LABEL] = max(a.m.scalars[GREATEST_LABEL], y)
    record_row(a, out, row, p, y, weight)
    if isnan(y):
        a.extra_output[row] = query_importance(a, flip, <float>a.m.scalars[UNLABELED_WEIGHT])
    return status


cdef int process_confident(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    """Report the importance that would change the prediction's sign, for the row's label or, without one, the opposite label.

    vw measures this before it predicts, so with a prediction of 0, and after training ignores the label.
    """
    cdef Active *a = <Active *>learner
    cdef bint learn = is_learned(a, rows, row, out, learning)
    cdef float y = rows.label[row], weight = rows.importance[row], moved = 0
    cdef float p = predict_row(a, rows, row, s, out, learn)
    cdef float other = y if not isnan(y) else (-1 if p > 0 else 1), known = p
    cdef int status = OK if isfinite(out.raw[row]) else UNSTABLE
    if a.m.vw_compat:
        known = 0 if not a.after and not isnan(y) else p
        other = FLT_MAX if a.after and isnan(y) else other
    if not a.after:
        moved = moved_by_update(a, s, known, other, weight)
    if learn and weight > 0 and (a.m.vw_compat or status == OK):
        status |= learn_labeled(a, s, p, y, weight)
    if a.after:
        moved = moved_by_update(a, s, known, other, weight)
    a.extra_output[row] = fabsf(p) / moved
    record_row(a, out, row, p, y, weight)
    return status


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    prefetch_slots(&(<Active *>learner).m, s)


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``.

    Fills ``state.label_and_weight``, float32[2, n]: label and importance of each row as used, and ``state.extra_output``,
    float32[n]: query importance or confidence.
    """
    cdef uint64_t[::1] random_state = state.random_state
    cdef float[:, ::1] label_and_weight = state.label_and_weight
    cdef float[::1] extra_output = state.extra_output
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef ProcessExample process_example = process_confident
    cdef Active a
    cdef int status
    if config.simulation:
        process_example = process_simulated
    elif config.active:
        process_example = process_asking
    check_fit(state, &call)
    if state.scalars.shape[0] != ALL_SCALARS or label_and_weight.shape[0] != 2:
        raise ValueError("wrong number of scalars")
    if <size_t>label_and_weight.shape[1] < call.end or <size_t>extra_output.shape[0] < call.end or random_state.shape[0] != 1:
        raise ValueError("the arrays for labels and query importance are too short")
    if call.row == call.end:
        return OK, call.row
    a.m = open_learner(state, config)
    call.plan.flat = plan.flat and a.m.stride == 4
    a.mellowness, a.after, a.binary, a.middle = config.mellowness, config.after, config.binary, config.middle
    a.label, a.weight = &label_and_weight[0, 0], &label_and_weight[1, 0]
    a.extra_output, a.random_state = &extra_output[0], &random_state[0]
    with nogil:
        status = process_in_order(&a, prepare, process_example, not a.m.vw_compat, &call)
    return status, call.row
