"""Several numbers from the same features by a matrix of low rank, W = A B': a row of A for each feature, a row of B for each output.

The penalty is the price of (|A|^2 + |B|^2) / 2, whose minimum over all factors of a matrix is the sum of its singular values
(Srebro, Rennie and Jaakkola, NIPS 2005). An example's latent vector is a = x'A, the raw predictions are B a. It moves A, then B;
either alone is a linear model. The step of A is implicit: as long as the slope at its end makes it. Rows have adaptive rates,
features scales as well. What shrinks a row of A is applied when the row is next needed, see ``learners/penalty_sum.pxd``.
"""

from libc.math cimport expf, fabsf, isfinite, isnan, sqrtf
from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from base.byte_scan cimport prefetch
from features.namespace_groups cimport Rows
from learners.example_loop cimport check_fit, process_in_order
from learners.gd_update cimport NORM_SUM, NORM_WEIGHT, RATE_NOW, Learner, clip
from learners.output_rows cimport Outputs, count_times, open_each, open_labels, open_results_of_outputs, read_labels, report
from learners.penalty_sum cimport reach, since, sum_of
from losses.loss_types cimport needs_update
from features.plan cimport Plan
from features.row_buffer cimport Scratch
from base.status cimport NO_MEMORY, OK, UNSTABLE
from features.kernel_views cimport Results, open_plan, open_results, open_rows

cdef extern from "learners/class_blocks.h" nogil:
    void score_rows "vwl_score_rows"(const float *w, const uint32_t *index, const float *value, size_t n, size_t width, float *s)
    void step_rows "vwl_step_rows"(float *w, const uint32_t *index, const float *value, size_t n, size_t width, const float *step)

cdef extern from *:
    """
    #define VWL_EXACT 1e-3f
    """
    const float EXACT "VWL_EXACT"  # relative, of an implicit step

cdef enum:                 # columns of the rates of features, named in vwlite/learners/factored.py
    SQUARES = 0            # sum of squared gradients
    SCALE = 1              # largest |x|
    REACHED = 2            # and the next: the sum of penalties up to which the row was shrunk
    COLUMNS = 4
    TRIALS = 30            # of an implicit step, at most


cdef struct Factored:
    Outputs o              # ``step`` has slopes, ``sum`` the way of the raw predictions
    float *features        # (features, width) A
    float *rates           # (features, COLUMNS); NULL: nothing is learned, nothing outstanding
    float *outputs         # (outputs, width) B
    float *squares         # (outputs,) of the gradients of its rows
    double *total          # the sum of prices times step sizes
    float price
    size_t width
    uint32_t mask
    float *latent          # (width,) a
    float *pull            # (width,) B' times the slopes
    float *left            # (terms,) values of the terms, less what shrinks their rows
    size_t terms


cdef inline int reserve(Factored *f, size_t terms) noexcept nogil:
    if terms > f.terms or f.left == NULL:
        free(f.left)
        f.terms = 2 * terms + 8
        f.left = <float *>malloc(f.terms * sizeof(float))
        if f.left == NULL:
            return NO_MEMORY
    return OK


cdef inline float dot(const float *a, const float *b, size_t n) noexcept nogil:
    cdef size_t i
    cdef float sum = 0
    for i in range(n):
        sum += a[i] * b[i]
    return sum


cdef inline float row_rate(const float *kept) noexcept nogil:
    return 1 / (sqrtf(kept[SQUARES]) * kept[SCALE]) if kept[SQUARES] > 0 and kept[SCALE] > 0 else 0


cdef inline float row_left(const Factored *f, const float *kept) noexcept nogil:
    """What the penalty leaves of a row since it was last shrunk."""
    return expf(-since(kept + REACHED, f.total[0]) * row_rate(kept))


cdef inline void shrink_row(Factored *f, size_t row) noexcept nogil:
    cdef float *kept = f.rates + COLUMNS * row
    cdef float left = row_left(f, kept)
    cdef size_t i
    if left != 1:
        for i in range(f.width):
            f.features[f.width * row + i] = f.features[f.width * row + i] * left
    reach(kept + REACHED, f.total[0])


cdef inline void predict(Factored *f, const Scratch *s, float initial, bint learns, float *raw) noexcept nogil:
    cdef size_t i
    cdef uint32_t c
    for i in range(s.terms):
        f.left[i] = s.value[i]
        if learns:
            shrink_row(f, s.index[i])
        elif f.rates != NULL:
            f.left[i] = s.value[i] * row_left(f, f.rates + COLUMNS * <size_t>s.index[i])
    memset(f.latent, 0, f.width * sizeof(float))
    score_rows(f.features, s.index, f.left, s.terms, f.width, f.latent)
    for c in range(f.o.outputs):
        raw[c] = initial + dot(f.outputs + f.width * c, f.latent, f.width)


cdef inline float slope(const Factored *f, uint32_t c, float p) noexcept nogil:
    """Of output ``c`` at the prediction ``p``; 0 without a label or a loss."""
    cdef const Learner *m = &f.o.each[c]
    if isnan(f.o.label[c]) or not needs_update(&m.loss, &m.params, p, f.o.label[c]):
        return 0
    return m.loss.slope(&m.params, p, f.o.label[c])


cdef inline float slope_ahead(const Factored *f, float step) noexcept nogil:
    """The slope of the sum of losses along the way that predictions go, after a part of it."""
    cdef uint32_t c
    cdef float sum = 0
    for c in range(f.o.outputs):
        sum += slope(f, c, f.o.clipped[c] - step * f.o.sum[c]) * f.o.sum[c]
    return sum


cdef inline float implicit_step(const Factored *f, float most) noexcept nogil:
    """The step t with t = most * (the slope after t) / (the slope now), by false position (Illinois)."""
    cdef float now = slope_ahead(f, 0), low = 0, high = most, at, below = -most, above, off
    cdef int side = 0, trial
    if not now > 0:
        return most
    above = most - most * slope_ahead(f, most) / now
    if above <= EXACT * most:
        return most
    at = most
    for trial in range(TRIALS):
        at = high - above * (high - low) / (above - below)
        off = at - most * slope_ahead(f, at) / now
        if fabsf(off) <= EXACT * at:
            break
        if off > 0:
            high, above = at, off
            below = below / 2 if side == 1 else below
            side = 1
        else:
            low, below = at, off
            above = above / 2 if side == -1 else above
            side = -1
    return at


cdef inline void rescale(Factored *f, const Scratch *s, float weight) noexcept nogil:
    """Update the features' scales; a larger |x| than any before reduces the feature's row. Sums what normalises all rates."""
    cdef double *norms = f.o.each[0].scalars
    cdef float *kept
    cdef float x, share, norm = 0
    cdef size_t i, j
    for i in range(s.terms):
        kept, x = f.rates + COLUMNS * <size_t>s.index[i], fabsf(s.value[i])
        if x > kept[SCALE]:
            share = kept[SCALE] / x
            for j in range(f.width):
                f.features[f.width * s.index[i] + j] = f.features[f.width * s.index[i] + j] * share
            kept[SCALE] = x
        if kept[SCALE] > 0:
            norm += (x / kept[SCALE]) * (x / kept[SCALE])
    norms[NORM_SUM] += <double>weight * norm
    norms[NORM_WEIGHT] += weight


cdef inline float common_factor(const Factored *f) noexcept nogil:
    cdef const double *norms = f.o.each[0].scalars
    return sqrtf(<float>(norms[NORM_WEIGHT] / norms[NORM_SUM])) if norms[NORM_SUM] > 0 else 1


cdef inline float move_features(Factored *f, Scratch *s, float weight, float most) noexcept nogil:
    """Update A, and the latent vector with it. The step size that was taken."""
    cdef float square, factor, total = 0, taken, x2
    cdef float *kept
    cdef size_t i
    cdef uint32_t c
    memset(f.pull, 0, f.width * sizeof(float))
    for c in range(f.o.outputs):
        f.o.step[c] = slope(f, c, f.o.clipped[c])
        for i in range(f.width):
            f.pull[i] += f.o.step[c] * f.outputs[f.width * c + i]
    square = dot(f.pull, f.pull, f.width)
    if square == 0:
        return most * common_factor(f)
    rescale(f, s, weight)
    factor = common_factor(f)
    for i in range(s.terms):
        kept, x2 = f.rates + COLUMNS * <size_t>s.index[i], s.value[i] * s.value[i]
        kept[SQUARES] += weight * x2 * square
        f.left[i] = s.value[i] * row_rate(kept)
        total += s.value[i] * f.left[i]
    total = total * factor
    for c in range(f.o.outputs):
        f.o.sum[c] = total * dot(f.outputs + f.width * c, f.pull, f.width)
    taken = implicit_step(f, most)
    for i in range(f.width):
        f.latent[i] -= taken * total * f.pull[i]
        f.pull[i] = -taken * factor * f.pull[i]
    step_rows(f.features, s.index, f.left, s.terms, f.width, f.pull)
    return taken * factor


cdef inline int move_output(Factored *f, uint32_t c, float p, float weight, float most, float norm) noexcept nogil:
    """Update a row of B for the latent vector, whose squared norm is ``norm``; the prediction is ``p``."""
    cdef Learner *m = &f.o.each[c]
    cdef float *row = f.outputs + f.width * c
    cdef float step = 0, rate, taken = most, now = slope(f, c, p)
    cdef size_t i
    if now != 0:
        f.squares[c] += weight * now * now * norm
    if f.squares[c] == 0:
        return OK
    rate = 1 / sqrtf(f.squares[c])
    if now != 0:
        step = m.loss.update(&m.params, p, f.o.label[c], most, norm * rate)
        taken = -step / now
    for i in range(f.width):
        row[i] = (row[i] + step * rate * f.latent[i]) * expf(-f.price * taken * rate)
    return OK if isfinite(step) else UNSTABLE


cdef inline int learn(Factored *f, Scratch *s, float initial, float weight) noexcept nogil:
    cdef float most = <float>f.o.each[0].scalars[RATE_NOW] * weight, taken, norm
    cdef int status = OK
    cdef uint32_t c
    taken = move_features(f, s, weight, most)
    f.total[0] = sum_of(f.total[0], <double>f.price * taken)
    norm = dot(f.latent, f.latent, f.width)
    if not isfinite(taken) or not isfinite(norm):
        return UNSTABLE
    for c in range(f.o.outputs):
        status |= move_output(f, c, clip(initial + dot(f.outputs + f.width * c, f.latent, f.width), &f.o.each[c]), weight, most, norm)
    return status


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Factored *f = <Factored *>learner
    cdef float weight = rows.importance[row], initial = rows.initial_prediction[row]
    cdef bint labeled = not isnan(rows.label[row]), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef bint learns = learning and labeled and not held
    cdef int status
    if reserve(f, s.terms) != OK:
        return NO_MEMORY
    read_labels(&f.o, row, labeled)
    predict(f, s, initial, learns and weight > 0, f.o.raw + row * f.o.outputs)
    status = report(&f.o, row, s.count, weight, learns, held, out)
    if learns and weight > 0 and status == OK:
        status = learn(f, s, initial, weight)
    count_times(&f.o, weight, held)
    return status


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    """Replace hashes by the numbers of features."""
    cdef Factored *f = <Factored *>learner
    cdef size_t i
    for i in range(s.terms):
        s.index[i] = s.index[i] & f.mask
        if not s.in_cache:
            prefetch(f.features + f.width * s.index[i])
            if f.rates != NULL:
                prefetch(f.rates + COLUMNS * <size_t>s.index[i])


cdef int open_factors(Factored *f, state, config) except -1:
    """From a ``vwlite.learners.factored.Factored`` and its ``KernelConfig``."""
    cdef const float[:, ::1] features = state.weights, outputs = state.output_weights, rates
    cdef float[:, ::1] squares = state.output_squares, scratch = state.latent_scratch
    cdef double[::1] total = state.penalty
    cdef size_t rows = features.shape[0] >> <int>config.shift
    f.width = <size_t>1 << <int>config.shift
    if rows < 1 or features.shape[1] != 1 or <size_t>outputs.shape[0] != f.o.outputs * f.width or outputs.shape[1] != 1:
        raise ValueError("the factors do not fit the outputs")
    if <uint32_t>squares.shape[0] != f.o.outputs or scratch.shape[0] != 2 or <size_t>scratch.shape[1] != f.width or total.shape[0] != 1:
        raise ValueError("no room for the factors")
    f.features, f.outputs, f.mask = <float *>&features[0, 0], <float *>&outputs[0, 0], <uint32_t>(rows - 1)
    f.squares, f.total, f.price = &squares[0, 0], &total[0], config.trace
    f.latent, f.pull = &scratch[0, 0], &scratch[1, 0]
    if state.rates is not None:
        rates = state.rates
        if <size_t>rates.shape[0] != rows or rates.shape[1] != COLUMNS:
            raise ValueError("the rates do not fit the features")
        f.rates = <float *>&rates[0, 0]
    return 0


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``outputs.pyx``."""
    cdef size_t end = end_and_mode[0]
    cdef bint learning = end_and_mode[1]
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    cdef Results out = open_results(results)
    cdef Factored f
    cdef int status
    memset(&f, 0, sizeof(Factored))
    f.o.outputs, f.o.monotone = config.outputs, config.monotone
    f.o.width = state.scratch.shape[1]
    if f.o.width < f.o.outputs or (learning and state.rates is None):
        raise ValueError("no room for the outputs")
    f.o.each = <Learner *>calloc(f.o.outputs, sizeof(Learner))
    if f.o.each == NULL:
        raise MemoryError("no memory for the outputs")
    try:
        open_each(&f.o, state, config)
        open_factors(&f, state, config)
        open_labels(&f.o, batch.lists, rows.size)
        open_results_of_outputs(&f.o, state, rows.size)
        native_plan.flat = plan.flat
        check_fit(state, &native_plan, &rows, end, learning)
        with nogil:
            status = process_in_order(&f, prepare, process_example, True, &rows, &native_plan, &out, &begin, end, learning)
    finally:
        free(f.o.each)
        free(f.left)
    return status, begin
