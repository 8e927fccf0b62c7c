"""The update of gradient descent: adaptive, normalised and importance-aware, as Vowpal Wabbit's ``gd``; FTRL-proximal."""

from libc.float cimport FLT_MAX
from libc.math cimport fabs, fabsf, isfinite, isnan, powf, sqrtf
from libc.stdint cimport uint8_t

from base.byte_scan cimport unlikely
from learners.ftrl cimport Ftrl, update_terms
from learners.label_units cimport LabelUnits, Units
from learners.slot_cache cimport copy_row, has_simd, write_back_copies, reserve_copies, scan_copies
from base.float32 cimport ONE
from losses.loss_types cimport Loss, LossParams, needs_update, read_params
from losses.losses cimport LOSS_LOGISTIC, get_loss
from features.plan cimport LETTERS
from learners.adaptive_rates cimport PREFETCH_DISTANCE, SHORT_ROW, Ahead, Rates, Scan
from learners.adaptive_rates cimport (
    add_products, prefetch_ahead, scan_narrow, scan_terms, step_narrow, untouched_terms
)
from features.row_buffer cimport LONG_ROW, Scratch
from learners.update_rule cimport UpdateRule, from_capsule
from base.status cimport OK, UNSTABLE


cdef enum:                 # positions in GdState.scalars, named in vwlite/learners/gd.py
    NORM_SUM = 0          # sum of squared normalised inputs, times importance
    NORM_WEIGHT = 1       # sum of importance over the same updates
    MULTIPLIER = 2        # global scale of the last update with a loss
    NORMS = 3             # how many of these a set of weights has
    TIME = 3              # sum of importance over all examples
    HELD_WEIGHT = 4       # the part of it that was held out
    UNLABELED_WEIGHT = 5  # the part of it without a label
    L1_SHRINK = 6         # L1 shrinkage not yet applied to the table
    L2_SCALE = 7          # L2 shrinkage not yet applied to the table
    MIN_LABEL = 8
    MAX_LABEL = 9
    RATE_NOW = 10         # learning rate, decayed by the passes so far
    SCALARS = 11


cdef struct Learner:
    float *table           # (2^bits, stride)
    size_t slots           # 2^bits
    size_t stride          # 4 when there are adaptive or normalised sums, 2 when narrow, else 1
    bint narrow            # gradient descent whose slots are the weight and the adaptive sum
    const uint8_t *mask    # (2^bits,) 0: the slot is not learned; NULL without a mask
    double *scalars        # (SCALARS,)
    double *norms          # (NORMS,) of the weights at work: the first scalars, or one class's
    Loss loss
    LossParams params
    bint signs             # logistic loss with the labels -1 and 1
    int link
    Rates rates
    Ahead ahead
    bint invariant
    bint frozen            # the label range no longer grows
    bint vw_compat         # as Vowpal Wabbit; otherwise a number that is not finite ends the run
    double l1, l2          # float32 values
    uint8_t *overshrunk    # set to 1 by a step whose ``l2`` takes more than there is of all weights
    float sparse_l2
    bint copying           # long rows may be learned on copies of their slots
    bint ftrl              # columns of the table: w, z, n
    float ftrl_alpha, ftrl_beta
    const UpdateRule *rule # of another way to learn; NULL: gradient descent or FTRL, or nothing is learned
    float start            # where ``rule`` begins the prediction of the row at work
    float raw              # the prediction that ``rule`` learned from last
    LabelUnits labels      # in which labels are learned


cdef inline float shrunk(const Learner *m, float w) noexcept nogil:
    """The weight after the outstanding L1 shrinkage (truncated gradient; Langford, Li and Zhang 2009)."""
    cdef float l1_shrink = <float>m.scalars[L1_SHRINK]
    return w - l1_shrink if w > l1_shrink else (w + l1_shrink if w < -l1_shrink else 0)


cdef inline float inner_product(Learner *m, const Scratch *s, float start) noexcept nogil:
    cdef size_t i
    cdef float sum = start
    if unlikely(m.rule != NULL):
        m.start = start
        return add_products(m.table, m.stride, s.index, s.value, s.terms, sum, False)
    if m.l1 > 0:
        for i in range(s.terms):
            sum += shrunk(m, m.table[m.stride * s.index[i]]) * s.value[i]
    elif m.stride == 4:
        sum = add_products(m.table, 4, s.index, s.value, s.terms, sum, s.terms > SHORT_ROW)
    elif m.narrow:
        sum = add_products(m.table, 2, s.index, s.value, s.terms, sum, s.terms > SHORT_ROW)
    else:
        sum = add_products(m.table, 1, s.index, s.value, s.terms, sum, False)
    return sum * <float>m.scalars[L2_SCALE]


cdef inline bint can_be_copied(const Learner *m, Scratch *s) noexcept nogil:
    """Whether a row is learned on copies: long enough to benefit, short enough for memory, which is then reserved."""
    return SHORT_ROW < s.terms <= LONG_ROW and m.copying and not s.in_cache and reserve_copies(s)


cdef inline float copied_product(Learner *m, Scratch *s, size_t row, float start) noexcept nogil:
    """``inner_product`` of a row that is to be learned; also copies its slots."""
    return copy_row(m.table, s, row, start) * <float>m.scalars[L2_SCALE]


cdef inline float clip(float p, const Learner *m) noexcept nogil:
    if isnan(p):
        return 0
    if p > m.params.max_label:
        return m.params.max_label
    return m.params.min_label if p < m.params.min_label else p


cdef inline void widen_range(Learner *m, float label) noexcept nogil:
    if label < m.scalars[MIN_LABEL]:
        m.scalars[MIN_LABEL] = m.params.min_label = label
    if label > m.scalars[MAX_LABEL]:
        m.scalars[MAX_LABEL] = m.params.max_label = label


cdef inline void shrink_slot(const Learner *m, float *w, float l2_scale) noexcept nogil:
    """Apply the outstanding shrinkage to a weight. What is 0 stays as it is, and no 0 gets the sign of ``l2_scale``."""
    if w[0] != 0:
        w[0] = shrunk(m, w[0]) * l2_scale + 0


cdef inline void shrink_slots(Learner *m, size_t begin, size_t end) noexcept nogil:
    """Apply the outstanding shrinkage to the weights of the slots ``[begin, end)``."""
    cdef size_t slot
    cdef float l2_scale = <float>m.scalars[L2_SCALE]
    for slot in range(begin, end):
        shrink_slot(m, &m.table[m.stride * slot], l2_scale)


cdef inline void sync(Learner *m) noexcept nogil:
    """Apply the outstanding shrinkage to every weight."""
    shrink_slots(m, 0, m.slots)
    m.scalars[L1_SHRINK] = 0
    m.scalars[L2_SCALE] = 1


cdef inline void sync_if_due(Learner *m) noexcept nogil:
    """``sync`` before the shrinkage leaves the range of single precision, which is rare."""
    if m.scalars[L2_SCALE] < 1e-9 or m.scalars[L1_SHRINK] > 1e3:
        sync(m)


cdef inline float regularized(Learner *m, float step, float p, float y) noexcept nogil:
    """Add the shrinkage of a step to what is outstanding; returns the step in units of the unscaled table."""
    cdef double slope, rate = 0
    if (m.l1 > 0 or m.l2 > 0) and fabs(step) > 1e-8:
        slope = m.loss.slope(&m.params, p, y)
        if fabs(slope) > 1e-8:
            rate = -step / slope
        m.scalars[L2_SCALE] *= 1 - m.l2 * rate
        if unlikely(m.l2 * rate >= 1):
            m.overshrunk[0] = 1
        step = step / <float>m.scalars[L2_SCALE]
        m.scalars[L1_SHRINK] += rate * m.l1
    return step


cdef inline float norm_multiplier(Learner *m, float weight, double norm) noexcept nogil:
    m.norms[NORM_SUM] += weight * norm
    m.norms[NORM_WEIGHT] += weight
    return common_factor(m, <float>m.norms[NORM_SUM], <float>m.norms[NORM_WEIGHT])


cdef inline float common_factor(const Learner *m, float total, float seen) noexcept nogil:
    """The factor common to all rates, from the sums of normalised squared inputs and of importance."""
    if not m.rates.sqrt_mode:
        return powf(total / seen, m.rates.norm_power)
    return sqrtf(seen / total) if m.rates.adaptive else seen / total


cdef inline float sum_of_squares(const float *value, size_t n) noexcept nogil:
    cdef size_t i
    cdef float sum = 0
    for i in range(n):
        sum += value[i] * value[i]
    return sum


cdef inline float squared_norm(const Scratch *s) noexcept nogil:
    """The squared norm of all features, including namespaces without linear terms. As in vw there is a subtotal per namespace."""
    cdef float total = 0
    cdef int g
    for g in range(s.groups):
        if s.group[g].number < LETTERS:
            total += sum_of_squares(s.group[g].value, s.group[g].size)
    total += <float>s.constant
    return total + sum_of_squares(s.value + s.linear, s.terms - s.linear)


cdef inline void balance(Learner *m, float weight, Scan *scan) noexcept nogil:
    """Update the factor common to all rates, MULTIPLIER, and apply it to ``per_update``."""
    if m.rates.normalized:
        m.norms[MULTIPLIER] = norm_multiplier(m, weight, scan.norm)
        scan.per_update = scan.per_update * <float>m.norms[MULTIPLIER]


cdef inline float falling_scale(const Learner *m, float weight) noexcept nogil:
    """The learning rate of all features, which falls with time, times the importance."""
    cdef float t = <float>(m.scalars[TIME] + weight - m.scalars[HELD_WEIGHT] - m.scalars[UNLABELED_WEIGHT])
    return <float>m.scalars[RATE_NOW] * weight * powf(t, m.rates.minus_power)


cdef inline float step_scale(const Learner *m, float weight) noexcept nogil:
    """The current learning rate times the importance."""
    return <float>m.scalars[RATE_NOW] * weight if m.rates.adaptive else falling_scale(m, weight)


cdef inline float scaled_step(Learner *m, float p, float y, float weight, float per_update) noexcept nogil:
    """The update before regularisation; a unit of it changes the prediction by ``per_update``."""
    cdef float scale = step_scale(m, weight)
    if m.invariant:
        return m.loss.update(&m.params, p, y, scale, per_update)
    return m.loss.unsafe_update(&m.params, p, y, scale)


cdef inline float step_size(Learner *m, Scratch *s, float p, float y, float weight, bint copied) noexcept nogil:
    """The update before regularisation. Leaves rates in the table or the copies, the common factor in MULTIPLIER."""
    cdef Scan scan
    cdef float square_grad = weight * m.loss.square_grad(&m.params, p, y)
    scan.per_update = 1
    if m.stride == 1:
        scan.per_update = squared_norm(s)
    elif square_grad != 0:
        s.scanned = True
        if m.narrow:
            scan_narrow(m.table, s.index, s.value, s.terms, square_grad, &m.rates, m.rates.sqrt_mode, &scan, &m.ahead)
        elif copied:
            scan_copies(s, m.table, square_grad, &m.rates, &scan, &m.ahead)
        else:
            scan_terms(m.table, s.index, s.value, s.terms, square_grad, &m.rates, &scan, &m.ahead)
        s.finite = isfinite(scan.per_update)
        balance(m, weight, &scan)
    return scaled_step(m, p, y, weight, scan.per_update)


cdef inline float sensitivity(const Learner *m, const Scratch *s, float p, float y, float weight) noexcept nogil:
    """The change of the prediction by an update towards ``y``, per unit of importance and of slope. Changes no state."""
    cdef Scan scan
    cdef float norm
    if m.stride == 1:
        return step_scale(m, 1) * squared_norm(s)
    untouched_terms(m.table, m.mask, s.index, s.value, s.terms, weight * m.loss.square_grad(&m.params, p, y), &m.rates,
                    &scan)
    if m.rates.normalized:
        norm = <float>m.norms[NORM_SUM] + weight * <float>scan.norm
        scan.per_update = scan.per_update * common_factor(m, norm, <float>m.norms[NORM_WEIGHT] + weight)
    return step_scale(m, 1) * scan.per_update


cdef inline void step_slot(float *table, const Scratch *s, size_t i, float step) noexcept nogil:
    cdef float *slot = table + 4 * <size_t>s.index[i]
    slot[0] += step * (s.value[i] * slot[3])


cdef inline void add_step(Learner *m, const Scratch *s, float step) noexcept nogil:
    cdef size_t i, k, unchecked = s.terms & ~<size_t>3 if s.scanned and s.finite else 0
    if m.stride == 1:
        for i in range(s.terms):
            if fabsf(s.value[i]) <= FLT_MAX:
                m.table[s.index[i]] += step * s.value[i]
        return
    if m.narrow:
        step_narrow(m.table, s.index, s.value, s.terms, step, &m.rates, m.rates.sqrt_mode)
        return
    for i in range(0, unchecked, 4):
        for k in range(i, i + 4):
            step_slot(m.table, s, k, step)
    for i in range(unchecked, s.terms):
        if fabsf(s.value[i]) <= FLT_MAX:
            step_slot(m.table, s, i, step)


cdef inline void move(Learner *m, const Scratch *s, bint moves, float step, bint copied) noexcept nogil:
    """Apply a step, if it ``moves``.

    Where the row has no rates of its own, ``sparse_l2`` uses those of earlier rows. Vowpal Wabbit also uses them where the
    squared slope is 0, which makes the result depend on where a run was saved and resumed.
    """
    if moves and m.rates.normalized:
        step = step * <float>m.norms[MULTIPLIER]
    if copied:
        if s.scanned:
            write_back_copies(s, m.table, moves, step)
    elif moves and (s.scanned or m.stride == 1 or m.sparse_l2 > 0):
        add_step(m, s, step)


cdef inline void drop_masked(const Learner *m, Scratch *s) noexcept nogil:
    """Keep only the terms whose slots may be learned. The prediction has been made with all terms."""
    cdef size_t i, kept = 0, linear = 0
    for i in range(s.terms):
        if m.mask[s.index[i]]:
            s.index[kept] = s.index[i]
            s.value[kept] = s.value[i]
            kept += 1
        if i + 1 == s.linear:
            linear = kept
    s.terms = kept
    s.linear = linear


cdef inline int update(Learner *m, Scratch *s, float p, float y, float weight, bint loses, bint copied) noexcept nogil:
    cdef float step = 0
    cdef int status = OK
    s.scanned = False
    if m.mask != NULL:
        drop_masked(m, s)
    if loses:
        step = regularized(m, step_size(m, s, p, y, weight, copied), p, y)
    if m.sparse_l2 > 0:
        step -= m.sparse_l2 * p
    if unlikely(s.terms == 0 and not isfinite(m.norms[MULTIPLIER])):
        m.norms[MULTIPLIER] = 1                # no input has been seen so far
    if unlikely(not isfinite(step)):
        status = UNSTABLE if s.terms else OK   # without features there is nothing to learn
        step = 0 if isnan(step) else step
    move(m, s, step != 0 and (m.vw_compat or status == OK), step, copied)
    return status


cdef inline int update_ftrl(Learner *m, const Scratch *s, float p, float y, float weight) noexcept nogil:
    cdef Ftrl rule = Ftrl(m.loss.slope(&m.params, p, y) * weight, m.ftrl_alpha, m.ftrl_beta, <float>m.l1, <float>m.l2)
    if not isfinite(rule.slope):
        return UNSTABLE
    return update_terms(m.table, m.mask, s.index, s.value, s.terms, m.rates.simd_width, &rule, &m.ahead)


cdef inline int learn_known(Learner *m, Scratch *s, float p, float y, float weight, bint loses, bint copied) noexcept nogil:
    """``learn_row`` where it is known whether the example has a loss; on copies of its slots if ``copied``."""
    return update_ftrl(m, s, p, y, weight) if m.ftrl else update(m, s, p, y, weight, loses, copied)


cdef inline int learn_row(Learner *m, Scratch *s, float p, float y, float weight) noexcept nogil:
    if m.rule != NULL: return m.rule.learn(m, s, y, weight)
    return learn_known(m, s, p, y, weight, not m.ftrl and needs_update(&m.loss, &m.params, p, y), False)


cdef inline void count_time(Learner *m, float weight, bint labeled, bint held) noexcept nogil:
    m.scalars[TIME] += weight
    if labeled and held:
        m.scalars[HELD_WEIGHT] += weight
    elif not labeled:
        m.scalars[UNLABELED_WEIGHT] += weight


cdef inline void prefetch_slots(const Learner *m, const Scratch *s) noexcept nogil:
    cdef Ahead ahead = Ahead(s.index, 0 if s.in_cache else s.terms, False)
    prefetch_ahead(&ahead, m.table, m.stride, s.terms, 0)


cdef inline void prefetch_during_scan(Learner *m, const Scratch *s) noexcept nogil:
    """``prefetch_slots``, spread over the scan of the row before. ``inner_product`` prefetches long rows itself, except with l1."""
    while m.ahead.left:
        prefetch_ahead(&m.ahead, m.table, m.stride, 4, 0)
    m.ahead = Ahead(s.index, 0 if s.in_cache else s.terms if s.terms <= SHORT_ROW or m.l1 > 0 else PREFETCH_DISTANCE,
                    s.terms > SHORT_ROW)


cdef inline Learner open_learner(state, config) except *:
    """From a ``vwlite.learners.gd.Gd`` and its ``KernelConfig``."""
    cdef const float[:, ::1] table = state.weights  # a read-only map of a model when nothing is learned
    cdef double[::1] scalars = state.scalars
    cdef const uint8_t[::1] mask
    cdef uint8_t[::1] overshrunk = config.overshrunk
    cdef Learner m
    if scalars.shape[0] < SCALARS or get_loss(config.loss_code, &m.loss) != 0:
        raise ValueError("unknown loss or wrong number of scalars")
    m.table, m.stride, m.scalars = <float *>&table[0, 0], table.shape[1], &scalars[0]
    m.norms, m.slots = m.scalars, table.shape[0]
    read_params(config.loss_params, &m.params)
    m.params.min_label, m.params.max_label = <float>scalars[MIN_LABEL], <float>scalars[MAX_LABEL]
    m.signs = config.loss_code == LOSS_LOGISTIC and m.params.logistic_min == -1 and m.params.logistic_max == 1
    m.link = config.link_code
    m.ahead = Ahead(NULL, 0, False)
    m.mask = NULL
    if state.mask is not None:
        mask = state.mask
        if mask.shape[0] != table.shape[0]:
            raise ValueError("the mask does not fit the table")
        m.mask = &mask[0]
    m.rates.adaptive, m.rates.normalized = config.adaptive, config.normalized
    m.rates.sqrt_mode = config.power_t == 0.5
    m.rates.simd_width = config.simd_width
    m.rates.minus_power = -<float>config.power_t
    m.rates.norm_power = <float>config.power_t - ONE
    m.invariant, m.frozen, m.vw_compat = config.invariant, config.frozen, config.vw_compat
    m.l1, m.l2, m.sparse_l2 = <float>config.l1, <float>config.l2, config.sparse_l2
    m.overshrunk = &overshrunk[0]
    m.copying = has_simd() and m.rates.simd_width >= 4 and m.rates.adaptive and m.rates.normalized and m.rates.sqrt_mode and \
        m.mask == NULL and not (m.l1 > 0 or m.sparse_l2 > 0 or config.ftrl)
    m.ftrl, m.ftrl_alpha, m.ftrl_beta = config.ftrl, config.ftrl_alpha, config.ftrl_beta
    m.rule = from_capsule(config.rule, m.stride)
    m.narrow = m.stride == 2 and m.rule == NULL and m.rates.adaptive and not m.rates.normalized
    m.labels = LabelUnits(NULL, Units(0, 0), False, False, False)
    return m
