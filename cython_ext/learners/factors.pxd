"""Weights of low rank, W = A B'. A has a row for each feature, B a row for each output; the outputs may be scores of classes.

The penalty is ``penalty`` times (|A|^2 + |B|^2) / 2, whose minimum over all factorisations of W is the sum of its singular values
(Srebro, Rennie and Jaakkola, NIPS 2005). An example x has the latent vector a = x'A and the raw predictions B a. Each example
updates A with B fixed, which is done here, then B with A fixed, which is done by whoever knows the loss; both are linear models.
The step of A is implicit: its size is proportional to the slope of the loss at its end. Rows have adaptive learning rates, those
of features also per-feature scales.

The penalty of a row of A is applied when the row is next read: its own rate, which no example has changed since, times what
``penalty_sum`` has grown by. Tables are float32, so a row stores the part that has been applied to it exactly as the sum of two
floats, ``applied[0]`` and ``applied[1]``; ``penalty_sum`` is therefore rounded to the precision of two floats.
"""

from libc.math cimport expf, fabsf, isfinite, sqrtf
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from base.byte_scan cimport prefetch
from base.status cimport NO_MEMORY, OK, UNSTABLE
from features.row_buffer cimport Scratch
from learners.class_blocks cimport score_rows, step_rows

cdef extern from *:
    """
    #define VWL_TOLERANCE 1e-3f
    """
    const float TOLERANCE "VWL_TOLERANCE"  # relative error of the size of an implicit step

cdef enum:                 # columns of ``rates``, named in vwlite/learners/factored.py
    SQUARES = 0            # sum of squared gradients
    SCALE = 1              # largest |x|
    APPLIED = 2            # and 3: the part of ``penalty_sum`` that has been applied to the row
    COLUMNS = 4
    MAX_ITERATIONS = 30    # of the root search for an implicit step

cdef enum:                 # positions in ``norms``, those of the scalars of gradient descent and of classes
    NORM_SUM = 0           # sum of squared normalised inputs, times importance
    NORM_WEIGHT = 1        # sum of importance over the same updates

# Fills ``slope`` with the derivatives of the loss in the predictions of all outputs after a step of this size, which takes
# ``change`` times the size from them.
ctypedef void (*FindSlopes)(void *learner, float step) noexcept nogil


cdef struct Factors:
    void *learner          # what ``find_slopes`` is called with
    FindSlopes find_slopes
    uint32_t outputs
    float *features        # (features, width) A
    float *rates           # (features, COLUMNS); NULL in a model that only predicts, whose penalties are all applied
    float *rows            # (outputs, width) B
    float *squares         # (outputs,) sums of squared gradients of the rows of B
    double *penalty_sum    # sum of penalty times step size over all updates
    double *norms
    float penalty          # strength of the penalty
    size_t width
    uint32_t mask
    float *latent          # (width,) a
    float *latent_gradient # (width,) gradient of the loss in a, B' times the slopes
    float *slope           # (outputs,) scratch
    float *change          # (outputs,) scratch: the change of predictions per unit of step size
    float *scaled          # (terms,) feature values times a factor for their rows
    size_t terms


cdef inline int reserve(Factors *f, size_t terms) noexcept nogil:
    if terms > f.terms or f.scaled == NULL:
        free(f.scaled)
        f.terms = 2 * terms + 8
        f.scaled = <float *>malloc(f.terms * sizeof(float))
        if f.scaled == NULL:
            return NO_MEMORY
    return OK


cdef inline void find_rows(const Factors *f, Scratch *s) noexcept nogil:
    """Replace hashes by feature numbers, and prefetch the rows of these."""
    cdef size_t i
    for i in range(s.terms):
        s.index[i] = s.index[i] & f.mask
        if not s.in_cache:
            prefetch(f.features + f.width * s.index[i])
            if f.rates != NULL:
                prefetch(f.rates + COLUMNS * <size_t>s.index[i])


cdef inline float outstanding(const float *applied, double total) noexcept nogil:
    """The part of the sum that has not been applied to the row yet."""
    return <float>(total - (<double>applied[0] + applied[1]))


cdef inline void mark_applied(float *applied, double total) noexcept nogil:
    """Record that the whole sum has been applied to the row."""
    applied[0] = <float>total
    applied[1] = <float>(total - applied[0])


cdef inline double add_to_sum(double total, double penalty) noexcept nogil:
    """The sum of both, rounded to what two floats can hold."""
    cdef float high = <float>(total + penalty)
    return <double>high + <float>(total + penalty - high)


cdef inline float dot(const float *a, const float *b, size_t n) noexcept nogil:
    cdef size_t i
    cdef float sum = 0
    for i in range(n):
        sum += a[i] * b[i]
    return sum


cdef inline float row_rate(const float *stats) noexcept nogil:
    return 1 / (sqrtf(stats[SQUARES]) * stats[SCALE]) if stats[SQUARES] > 0 and stats[SCALE] > 0 else 0


cdef inline float row_decay(const Factors *f, const float *stats) noexcept nogil:
    """The factor by which penalties not yet applied shrink a row of A."""
    return expf(-outstanding(stats + APPLIED, f.penalty_sum[0]) * row_rate(stats))


cdef inline void shrink_row(Factors *f, size_t row) noexcept nogil:
    """Apply the outstanding penalties to a row of A."""
    cdef float *stats = f.rates + COLUMNS * row
    cdef float decay = row_decay(f, stats)
    cdef size_t i
    if decay != 1:
        for i in range(f.width):
            f.features[f.width * row + i] = f.features[f.width * row + i] * decay
    mark_applied(stats + APPLIED, f.penalty_sum[0])


cdef inline float output(const Factors *f, uint32_t c) noexcept nogil:
    """What the latent vector adds to the raw prediction of an output."""
    return dot(f.rows + f.width * c, f.latent, f.width)


cdef inline void predict(Factors *f, const Scratch *s, float initial, bint learns, float *raw) noexcept nogil:
    """Compute ``latent`` and the raw predictions of all outputs; when learning, penalties are applied to the rows read."""
    cdef size_t i
    cdef uint32_t c
    for i in range(s.terms):
        f.scaled[i] = s.value[i]
        if learns:
            shrink_row(f, s.index[i])
        elif f.rates != NULL:
            f.scaled[i] = s.value[i] * row_decay(f, f.rates + COLUMNS * <size_t>s.index[i])
    memset(f.latent, 0, f.width * sizeof(float))
    score_rows(f.features, s.index, f.scaled, s.terms, f.width, f.latent)
    for c in range(f.outputs):
        raw[c] = initial + output(f, c)


cdef inline float slope_along(Factors *f, float step) noexcept nogil:
    """The directional derivative of the total loss along ``change``, after a step of this size."""
    cdef uint32_t c
    cdef float sum = 0
    f.find_slopes(f.learner, step)
    for c in range(f.outputs):
        sum += f.slope[c] * f.change[c]
    return sum


cdef inline float implicit_step(Factors *f, float max_step) noexcept nogil:
    """The step size t that solves t = max_step * slope_along(t) / slope_along(0), by false position (Illinois variant)."""
    cdef float now = slope_along(f, 0), low = 0, high = max_step, at, residual_low = -max_step, residual_high, residual
    cdef int side = 0, iteration
    if not now > 0:
        return max_step
    residual_high = max_step - max_step * slope_along(f, max_step) / now
    if residual_high <= TOLERANCE * max_step:
        return max_step
    at = max_step
    for iteration in range(MAX_ITERATIONS):
        at = high - residual_high * (high - low) / (residual_high - residual_low)
        residual = at - max_step * slope_along(f, at) / now
        if fabsf(residual) <= TOLERANCE * at:
            break
        if residual > 0:
            high, residual_high = at, residual
            residual_low = residual_low / 2 if side == 1 else residual_low
            side = 1
        else:
            low, residual_low = at, residual
            residual_high = residual_high / 2 if side == -1 else residual_high
            side = -1
    return at


cdef inline void rescale(Factors *f, const Scratch *s, float weight) noexcept nogil:
    """Update the scales of the row's features and the sums behind ``rate_normaliser``.

    A feature whose |x| exceeds its scale has its row reduced by the same factor.
    """
    cdef float *stats
    cdef float x, share, norm = 0
    cdef size_t i, j
    for i in range(s.terms):
        stats, x = f.rates + COLUMNS * <size_t>s.index[i], fabsf(s.value[i])
        if x > stats[SCALE]:
            share = stats[SCALE] / x
            for j in range(f.width):
                f.features[f.width * s.index[i] + j] = f.features[f.width * s.index[i] + j] * share
            stats[SCALE] = x
        if stats[SCALE] > 0:
            norm += (x / stats[SCALE]) * (x / stats[SCALE])
    f.norms[NORM_SUM] += <double>weight * norm
    f.norms[NORM_WEIGHT] += weight


cdef inline float rate_normaliser(const Factors *f) noexcept nogil:
    """The factor on all rates that accounts for the average number of features of an example, as in ``gd_update.pxd``."""
    return sqrtf(<float>(f.norms[NORM_WEIGHT] / f.norms[NORM_SUM])) if f.norms[NORM_SUM] > 0 else 1


cdef inline float step_features(Factors *f, const Scratch *s, float weight, float max_step) noexcept nogil:
    """Update A and the latent vector; returns the step size."""
    cdef float square, factor, total = 0, step_size, x2
    cdef float *stats
    cdef size_t i
    cdef uint32_t c
    memset(f.latent_gradient, 0, f.width * sizeof(float))
    memset(f.change, 0, f.outputs * sizeof(float))
    f.find_slopes(f.learner, 0)
    for c in range(f.outputs):
        for i in range(f.width):
            f.latent_gradient[i] += f.slope[c] * f.rows[f.width * c + i]
    square = dot(f.latent_gradient, f.latent_gradient, f.width)
    if square == 0:
        return max_step * rate_normaliser(f)
    rescale(f, s, weight)
    factor = rate_normaliser(f)
    for i in range(s.terms):
        stats, x2 = f.rates + COLUMNS * <size_t>s.index[i], s.value[i] * s.value[i]
        stats[SQUARES] += weight * x2 * square
        f.scaled[i] = s.value[i] * row_rate(stats)
        total += s.value[i] * f.scaled[i]
    total = total * factor
    for c in range(f.outputs):
        f.change[c] = total * dot(f.rows + f.width * c, f.latent_gradient, f.width)
    step_size = implicit_step(f, max_step)
    for i in range(f.width):
        f.latent[i] -= step_size * total * f.latent_gradient[i]
        f.latent_gradient[i] = -step_size * factor * f.latent_gradient[i]
    step_rows(f.features, s.index, f.scaled, s.terms, f.width, f.latent_gradient)
    return step_size * factor


cdef inline int update_features(Factors *f, const Scratch *s, float weight, float max_step, float *norm) noexcept nogil:
    """Update A, the latent vector and the sum of penalties; ``norm`` becomes the squared norm of the vector.

    Returns UNSTABLE where a result is not finite.
    """
    cdef float step_size = step_features(f, s, weight, max_step)
    f.penalty_sum[0] = add_to_sum(f.penalty_sum[0], <double>f.penalty * step_size)
    norm[0] = dot(f.latent, f.latent, f.width)
    return OK if isfinite(step_size) and isfinite(norm[0]) else UNSTABLE


cdef inline void move_row(Factors *f, uint32_t c, float step, float rate, float step_size) noexcept nogil:
    """Add ``step`` times ``rate`` times the latent vector to a row of B, and apply the penalty of a step of this size."""
    cdef float *row = f.rows + f.width * c
    cdef float decay = expf(-f.penalty * step_size * rate)
    cdef size_t i
    for i in range(f.width):
        row[i] = (row[i] + step * rate * f.latent[i]) * decay


cdef inline int open_factors(Factors *f, state, config, uint32_t outputs) except -1:
    """From the tables of a ``vwlite.learners.factored.FactoredTables``; the caller sets what belongs to the loss."""
    cdef const float[:, ::1] features = state.weights, rows = state.output_weights, rates
    cdef float[:, ::1] squares = state.output_squares, scratch = state.latent_scratch
    cdef double[::1] total = state.penalty
    cdef size_t count = features.shape[0] >> <int>config.latent_shift
    memset(f, 0, sizeof(Factors))
    f.outputs, f.width = outputs, <size_t>1 << <int>config.latent_shift
    if count < 1 or features.shape[1] != 1 or <size_t>rows.shape[0] != outputs * f.width or rows.shape[1] != 1:
        raise ValueError("the factors do not fit the outputs")
    if <uint32_t>squares.shape[0] != outputs or scratch.shape[0] != 2 or <size_t>scratch.shape[1] != f.width or total.shape[0] != 1:
        raise ValueError("no room for the factors")
    f.features, f.rows, f.mask = <float *>&features[0, 0], <float *>&rows[0, 0], <uint32_t>(count - 1)
    f.squares, f.penalty_sum, f.penalty = &squares[0, 0], &total[0], config.trace
    f.latent, f.latent_gradient = &scratch[0, 0], &scratch[1, 0]
    if state.rates is not None:
        rates = state.rates
        if <size_t>rates.shape[0] != count or rates.shape[1] != COLUMNS:
            raise ValueError("the rates do not fit the features")
        f.rates = <float *>&rates[0, 0]
    return 0
