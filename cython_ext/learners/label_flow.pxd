"""The gradient flow of a latent feature log-linear model (Menon and Elkan 2010), reduced to one number for each label.

The score of label y is z_y = a_y.b_y + w_y.x, and p(y|x) is the softmax of the scores. All parameters of a label have gradients with
the common factor g_y: p(y|x) - [y = t] for log loss with the true label t, and 2 (E - t) p(y|x) (y - E) for the squared error of the
expected label E. So they move along s_y with ds_y/dh = eta g_y, as those of ``dyadic_flow.pxd`` do along s, whatever the rank is.
With L2 decay mu of the linear weights w_y(h) = e^(-eta mu h) w_y - u_y x, where du_y/dh = eta g_y - eta mu u_y; else u_y is s_y.
"""

from libc.math cimport INFINITY, exp, fabs, log, pow

from learners.dyadic_flow cimport MAX_STEPS, Flow, components_at, resolution, safe_exp


cdef extern from *:
    """
    #define VWL_SURE 1e-12
    """
    const double SURE "VWL_SURE"  # the flow ends where all other labels are less probable than this together


cdef enum:
    STATES = 10          # arrays of the size of a state: seven speeds, the next state, its tolerance, the state


cdef struct LabelFlow:
    const Flow *label     # (labels,) components, linear part, square, rate and decay of every label
    size_t labels
    size_t true           # the example's label
    int base              # the label whose score is always 0; -1: none
    bint mean             # the loss is the squared error of the expected label
    const double *value   # (labels,) the labels as numbers
    double initial        # added to all scores but that of ``base``
    double linear_decay   # mu
    size_t size           # of a state: s of all labels; with linear decay u of all labels after it
    double *memory        # (STATES, size)
    double *state         # (size,) the last of them: the end of the flow


cdef inline double softmax(double *z, size_t labels) noexcept nogil:
    """Replace scores by probabilities; returns the log of the normaliser."""
    cdef size_t y
    cdef double top = z[0], total = 0
    for y in range(1, labels):
        top = z[y] if z[y] > top else top
    for y in range(labels):
        z[y] = exp(z[y] - top)
        total += z[y]
    for y in range(labels):
        z[y] /= total
    return top + log(total)


cdef inline void scores_at(const LabelFlow *f, const double *state, double h, double *z) noexcept nogil:
    cdef size_t y
    cdef double slope, shrink = safe_exp(-f.label[0].rate * f.linear_decay * h)
    cdef const double *u = state + f.size - f.labels
    for y in range(f.labels):
        if <int>y == f.base:
            z[y] = 0
        else:
            z[y] = (components_at(&f.label[y], state[y], h, &slope) + f.initial
                    + shrink * f.label[y].linear - u[y] * f.label[y].square)


cdef inline double speeds_at(const LabelFlow *f, const double *state, double h, double *speed) noexcept nogil:
    """Fill ``speed``, the derivative of the state by h; returns what is left to learn: 1 - p(t), or E - t."""
    cdef size_t y
    cdef double left = 0, mean = 0, rate = f.label[0].rate
    scores_at(f, state, h, speed)
    softmax(speed, f.labels)
    if f.mean:
        for y in range(f.labels):
            mean += f.value[y] * speed[y]
        left = mean - f.value[f.true]
        for y in range(f.labels):
            speed[y] *= 2 * left * (f.value[y] - mean)
    else:
        for y in range(f.labels):
            left += speed[y] if y != f.true else 0
        speed[f.true] = -left
    if f.base >= 0:
        speed[f.base] = 0
    for y in range(f.labels):
        speed[y] *= rate
        if f.size > f.labels:
            speed[f.labels + y] = speed[y] - rate * f.linear_decay * state[f.labels + y]
    return left


cdef inline double stage(const LabelFlow *f, const double *state, double h, double size, const double *weight, int stages,
                         double *speed, double *next) noexcept nogil:
    """Fill ``next``, state + size * sum of weight[i] * speed[i], float64[stages, size]; its speeds become those of the stage that
    follows. Returns what ``speeds_at`` does.
    """
    cdef size_t y
    cdef int i
    cdef double sum
    for y in range(f.size):
        sum = 0
        for i in range(stages):
            sum += weight[i] * speed[i * f.size + y]
        next[y] = state[y] + size * sum
    return speeds_at(f, next, h, speed + stages * f.size)


cdef inline double runge_kutta(const LabelFlow *f, double h, double size, double *speed, double *next, double *left) noexcept nogil:
    """One step of the embedded pair of Dormand and Prince (1980) from ``f.state``, whose speeds are the first of ``speed``,
    float64[7, size]; the others are filled. Returns the largest error, in units of what is allowed.
    """
    cdef double[6] weight
    cdef const double *k = speed
    cdef const double *tolerance = f.memory + 8 * f.size
    cdef double error, worst = 0
    cdef size_t y, n = f.size
    weight[0] = 0.2
    stage(f, f.state, h + size / 5, size, weight, 1, speed, next)
    weight[0], weight[1] = 3.0 / 40, 9.0 / 40
    stage(f, f.state, h + 0.3 * size, size, weight, 2, speed, next)
    weight[0], weight[1], weight[2] = 44.0 / 45, -56.0 / 15, 32.0 / 9
    stage(f, f.state, h + 0.8 * size, size, weight, 3, speed, next)
    weight[0], weight[1], weight[2], weight[3] = 19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729
    stage(f, f.state, h + size * (8.0 / 9), size, weight, 4, speed, next)
    weight[0], weight[1], weight[2] = 9017.0 / 3168, -355.0 / 33, 46732.0 / 5247
    weight[3], weight[4] = 49.0 / 176, -5103.0 / 18656
    stage(f, f.state, h + size, size, weight, 5, speed, next)
    weight[0], weight[1], weight[2] = 35.0 / 384, 0, 500.0 / 1113
    weight[3], weight[4], weight[5] = 125.0 / 192, -2187.0 / 6784, 11.0 / 84
    left[0] = stage(f, f.state, h + size, size, weight, 6, speed, next)
    for y in range(n):
        error = fabs(size * (26341 * k[y] - 90880 * k[2 * n + y] + 790230 * k[3 * n + y] - 1086939 * k[4 * n + y]
                             + 895488 * k[5 * n + y] - 534240 * k[6 * n + y]) / 21369600)
        error /= 1e-9 * fabs(next[y]) + tolerance[y]
        worst = error if worst == worst and not error <= worst else worst      # NaN, once it is there, remains
    return worst


cdef inline bint follow(LabelFlow *f, double importance) noexcept nogil:
    """Fill ``f.state`` with the end of the flow. False where the number of steps is not enough.

    Without decay the true label's probability never falls and the expected label never passes the true one; the flow ends where
    there is nothing left to learn.
    """
    cdef double *speed = f.memory
    cdef double *next = f.memory + 7 * f.size
    cdef double *tolerance = f.memory + 8 * f.size
    cdef double h = 0, size = importance, left, after = 0, ratio
    cdef double end = SURE
    cdef bint decays = f.linear_decay > 0 or f.label[0].decay > 0, passed
    cdef size_t y
    cdef int i
    for y in range(f.size):
        f.state[y] = 0
        tolerance[y] = resolution(&f.label[y % f.labels])
    for y in range(f.labels if f.mean else 0):
        end += SURE * fabs(f.value[y])
    left = speeds_at(f, f.state, 0, speed)
    for i in range(MAX_STEPS):
        if not decays and fabs(left) < end:
            return True
        size = importance - h if size > importance - h else size
        ratio = runge_kutta(f, h, size, speed, next, &after)
        passed = not decays and (after * left < 0 if f.mean else after > left * (1 + 1e-9))
        if ratio <= 1 and not (passed and fabs(after) > 100 * end):
            h += size
            for y in range(f.size):
                f.state[y] = next[y]
                speed[y] = speed[6 * f.size + y]
            left = after
            if h >= importance:
                return True
            size *= 5 if ratio < 1e-4 else 0.85 * pow(ratio, -0.2)
        else:
            size *= 0.1 if not ratio < 1e4 else (0.85 * pow(ratio, -0.2) if ratio > 1 else 0.5)
    return False


cdef inline double lead(LabelFlow *f, const double *state, double h, size_t best, size_t other) noexcept nogil:
    """How far the score of ``other`` is above that of ``best``. Overwrites the last of the speeds."""
    cdef double *z = f.memory + 6 * f.size
    scores_at(f, state, h, z)
    return z[other] - z[best]


cdef inline double importance_to_overtake(LabelFlow *f, size_t best, size_t other) noexcept nogil:
    """The smallest importance with which the label ``other`` would take its score up to that of ``best``, decay aside; infinite where
    none does. The labels have no decay. Overwrites ``f.true``, ``f.linear_decay`` and the state.
    """
    cdef double *speed = f.memory
    cdef double *next = f.memory + 7 * f.size
    cdef double *tolerance = f.memory + 8 * f.size
    cdef double h = 0, size = 1, left, after = 0, ratio, low, high
    cdef size_t y
    cdef int i, j
    f.true, f.linear_decay = other, 0
    for y in range(f.size):
        f.state[y] = 0
        tolerance[y] = resolution(&f.label[y % f.labels])
    left = speeds_at(f, f.state, 0, speed)
    for i in range(MAX_STEPS):
        if fabs(left) < SURE:
            return INFINITY
        ratio = runge_kutta(f, h, size, speed, next, &after)
        if not ratio <= 1:
            size *= 0.1 if not ratio < 1e4 else 0.85 * pow(ratio, -0.2)
            continue
        if lead(f, next, 0, best, other) >= 0:
            low, high = 0, size
            for j in range(50):
                size = 0.5 * (low + high)
                runge_kutta(f, h, size, speed, next, &after)
                if lead(f, next, 0, best, other) >= 0:
                    high = size
                else:
                    low = size
                if high - low <= 1e-9 * (h + high):
                    break
            return h + high
        h += size
        speeds_at(f, next, 0, speed)
        for y in range(f.size):
            f.state[y] = next[y]
        left = after
        size *= 5 if ratio < 1e-4 else 0.85 * pow(ratio, -0.2)
    return INFINITY
