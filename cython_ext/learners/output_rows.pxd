"""What learners of several outputs share: labels that are lists of numbers, predictions and losses of every output."""

from libc.math cimport NAN, isfinite, isinf, isnan
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport calloc

from features.kernel_views cimport Results
from learners.gd_update cimport MAX_LABEL, MIN_LABEL, SCALARS, Learner, clip, count_time, open_learner, widen_range
from learners.label_units cimport (
    LABEL_DEVIATION, LABEL_SUMS, LABEL_VARIANCE, LABEL_VARIANCE_ALL, LabelUnits, Units, units_of
)
from losses.loss_types cimport apply_link, read_params
from base.status cimport OK, UNSTABLE


cdef enum:
    ROWS = 5               # of scratch; one less where labels are learned as they are


cdef struct Outputs:
    Learner *each          # (outputs,) with scalars of their own; ``table`` points to the output's first slot
    uint32_t outputs
    float *weights         # (slots, stride)
    size_t stride          # of the weights
    int shift              # the slots of a feature begin at its number * 2^shift
    uint32_t mask          # of features
    bint shares            # all outputs have the rates of ``shared``
    bint has_rates
    bint monotone          # predictions of a row are sorted
    size_t width           # of a feature's weights, 2^shift
    Learner shared         # its table has for each feature what its weights shrink by, G, N, r
    # CSR lists of each row's labels: outputs and their values; NULL where no row has any
    const int64_t *start   # (rows + 1,)
    const uint32_t *named
    const float *value
    float *raw             # (rows, outputs)
    float *score
    double *losses         # (2, outputs, 2) of rows not held out, and held out: the sum of losses, that of importance
    # scratch (width,)
    float *label
    float *sum             # also: predictions before the link, of which losses are
    float *clipped         # predictions before the link, from which is learned
    float *step
    float *product         # in units of the labels' spread: predictions less the labels' means
    bint in_units          # labels are learned so


cdef inline void read_labels(Outputs *q, size_t row, bint labeled) noexcept nogil:
    """NaN where the row has no label for an output."""
    cdef uint32_t c
    cdef int64_t i
    for c in range(q.outputs):
        q.label[c] = NAN
    if labeled and q.start != NULL:
        for i in range(q.start[row], q.start[row + 1]):
            q.label[q.named[i]] = q.value[i]


cdef inline void sort(float *values, uint32_t size) noexcept nogil:
    """Ascending, by insertion: quantiles are mostly in order."""
    cdef uint32_t i, j
    cdef float value
    for i in range(1, size):
        value, j = values[i], i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


cdef inline int report(Outputs *q, size_t row, size_t features, float weight, bint learns, bint held, Results *out) noexcept nogil:
    """Clip and link the row's raw predictions, which are known, and sum their losses. UNSTABLE where one is not finite."""
    cdef Learner *m
    cdef float *raw = q.raw + row * q.outputs
    cdef float *score = q.score + row * q.outputs
    cdef double *losses = q.losses + 2 * <size_t>q.outputs * held
    cdef float loss, total = 0
    cdef int status = OK
    cdef uint32_t c
    for c in range(q.outputs):
        m = &q.each[c]
        score[c] = clip(raw[c], m)             # as in ``learners/gd.pyx``
        if learns and not isnan(q.label[c]) and not m.frozen and not q.in_units:   # in units as in ``gd.pyx``
            widen_range(m, q.label[c])
        q.clipped[c] = q.sum[c] = clip(raw[c], m)
        score[c] = score[c] if m.ftrl else q.clipped[c]
        status |= OK if isfinite(raw[c]) else UNSTABLE
    if q.monotone:
        sort(score, q.outputs)
        sort(q.sum, q.outputs)
    for c in range(q.outputs):
        m = &q.each[c]
        if not isnan(q.label[c]) and weight > 0:
            loss = weight * m.loss.value(&m.params, q.sum[c], q.label[c])
            total += loss
            losses[2 * c] += loss
            losses[2 * c + 1] += weight
        score[c] = apply_link(m.link, score[c])
        status |= UNSTABLE if isinf(score[c]) else OK
    out.raw[row], out.prediction[row], out.loss[row] = raw[0], score[0], total
    out.features[row] = <uint32_t>features
    return status


cdef inline void count_times(Outputs *q, float weight, bint held) noexcept nogil:
    """When the row has been learned."""
    cdef uint32_t c
    for c in range(q.outputs):
        count_time(&q.each[c], weight, not isnan(q.label[c]), held)


cdef inline int open_each(Outputs *q, state, config) except -1:
    """Learners of all outputs; each has its row of ``state.output_scalars`` and of the parameters of losses."""
    cdef double[:, ::1] scalars = state.output_scalars
    cdef Learner m = open_learner(state, config)
    cdef uint32_t c
    if scalars.shape[0] != q.outputs or scalars.shape[1] != SCALARS or m.scalars != &scalars[0, 0] or m.mask != NULL:
        raise ValueError("the scalars do not fit the outputs")
    for c in range(q.outputs):
        q.each[c] = m
        read_params(config.output_params[c], &q.each[c].params)
        q.each[c].scalars = q.each[c].norms = &scalars[c, 0]
        q.each[c].table = m.table + m.stride * c
        q.each[c].params.min_label = <float>scalars[c, MIN_LABEL]
        q.each[c].params.max_label = <float>scalars[c, MAX_LABEL]
    q.shared, q.in_units = m, False
    return 0


cdef inline int open_label_units(Outputs *q, state, config, bint centred) except -1:
    """Each output has its row of ``state.output_label_sums``, if labels are learned in units of their spread."""
    cdef double[:, ::1] sums
    cdef uint32_t c
    if state.output_label_sums is None:
        return 0
    sums = state.output_label_sums
    if sums.shape[0] != q.outputs or sums.shape[1] != LABEL_SUMS or state.scratch.shape[0] != ROWS:
        raise ValueError("the sums of labels do not fit the outputs")
    for c in range(q.outputs):
        q.each[c].labels = LabelUnits(&sums[c, 0], Units(0, 0), config.by_deviation, centred, False)
        q.each[c].labels.now = units_of(
            config.by_deviation, sums[c, LABEL_VARIANCE], sums[c, LABEL_VARIANCE_ALL], sums[c, LABEL_DEVIATION]
        )
    q.in_units = True
    return 0


cdef inline int open_tables(Outputs *q, state, config, bint learning) except -1:
    cdef const float[:, ::1] weights = state.weights, rates
    cdef size_t slots = weights.shape[0]
    q.weights, q.stride, q.shift = <float *>&weights[0, 0], weights.shape[1], config.shift
    if not 1 <= q.outputs <= <size_t>1 << q.shift <= slots:
        raise ValueError("the table does not fit the outputs")
    q.mask, q.width = <uint32_t>(slots >> q.shift) - 1, <size_t>1 << q.shift
    q.shares, q.has_rates, q.monotone = config.shares, config.adaptive or config.normalized, config.monotone
    if q.shares and q.has_rates and learning:
        rates = state.rates
        if <size_t>rates.shape[0] != slots >> q.shift or rates.shape[1] != 4:
            raise ValueError("the rates do not fit the table")
        q.shared.table, q.shared.stride = <float *>&rates[0, 0], 4
    return 0


cdef inline int open_labels(Outputs *q, lists, size_t rows) except -1:
    """The lists of a batch, a ``vwlite.data.batch.Csr``, or None."""
    cdef const int64_t[::1] start
    cdef const uint32_t[::1] named
    cdef const float[::1] value
    cdef int64_t i
    q.start = NULL
    if lists is None:
        return 0
    start, named, value = lists.indptr, lists.indices, lists.values
    if <size_t>start.shape[0] != rows + 1 or named.shape[0] < start[rows] or value.shape[0] < start[rows]:
        raise ValueError("the label lists do not fit the batch")
    for i in range(named.shape[0]):
        if named[i] >= q.outputs:
            raise ValueError("a label is of no output")
    q.start, q.named, q.value = &start[0], NULL, NULL
    if named.shape[0]:
        q.named, q.value = &named[0], &value[0]
    return 0


cdef inline int open_results_of_outputs(Outputs *q, state, size_t rows) except -1:
    cdef float[:, ::1] raw = state.raw, score = state.score, scratch = state.scratch
    cdef double[:, :, ::1] losses = state.losses
    if raw.shape[1] != q.outputs or score.shape[1] != q.outputs or min(raw.shape[0], score.shape[0]) < <Py_ssize_t>max(rows, <size_t>1):
        raise ValueError("no room for the predictions")
    if losses.shape[0] != 2 or losses.shape[1] != q.outputs or losses.shape[2] != 2:
        raise ValueError("two sums of losses and two of weights for each output")
    if not ROWS - 1 <= scratch.shape[0] <= ROWS or <size_t>scratch.shape[1] != q.width:
        raise ValueError("no room for the outputs")
    q.raw, q.score, q.losses = &raw[0, 0], &score[0, 0], &losses[0, 0, 0]
    q.label, q.clipped, q.step, q.sum = &scratch[0, 0], &scratch[1, 0], &scratch[2, 0], &scratch[3, 0]
    q.product = &scratch[4, 0] if scratch.shape[0] == ROWS else NULL
    return 0


cdef inline int open_outputs(Outputs *q, state, config, bint learning) except -1:
    """From a ``vwlite.learners.outputs.Outputs`` and its ``KernelConfig``. The caller frees ``q.each``."""
    q.outputs = config.outputs
    q.each = <Learner *>calloc(q.outputs, sizeof(Learner))
    if q.each == NULL:
        raise MemoryError("no memory for the outputs")
    open_each(q, state, config)
    return open_tables(q, state, config, learning)
