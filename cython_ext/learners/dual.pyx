"""Steps of dual coordinate descent (Hsieh et al., ICML 2008) for rows in memory, and the two objectives.

The primal is l2/2 |w|^2 + sum_i c_i l(y_i, w.x_i + b_i), in which c_i is the importance and b_i the initial prediction. Its dual has
one a_i for each row, and w = 1/l2 sum_i s_i a_i x_i throughout; s_i is y_i for losses of a margin and 1 for losses of a residual.
A step finds the best a_i while the others stay:

* hinge, squared_hinge: Hsieh et al., algorithm 1 and 3;
* logistic: Newton's method on one variable (Yu, Huang and Lin, Machine Learning 85, 2011, algorithm 5);
* squared: in closed form (Shalev-Shwartz and Zhang, JMLR 14, 2013);
* tube: soft thresholding (Ho and Lin, JMLR 13, 2012).
"""

from libc.math cimport INFINITY, exp, fabs, fmax, fmin, log, log1p
from libc.stdint cimport int64_t, uint32_t, uint64_t

from base.byte_scan cimport prefetch
from base.random cimport mix64

cdef enum:
    HINGE = 0                # numbered as LOSSES in vwlite/learners/dual_solver.py
    SQUARED_HINGE = 1
    LOGISTIC = 2
    SQUARED = 3
    TUBE = 4
    MAX_NEWTON = 100         # iterations; a few are enough
    CHECK = 1024             # steps between two looks at the request to stop
    AHEAD = 4                # steps between fetching a row and its own; twice as many for where it begins
    LINE = 16                # numbers of a line of memory

cdef double NEWTON_TOLERANCE = 1e-3   # of a step, relative to where it ends, whose error is about half the square of that


cdef struct Problem:
    int loss
    double scale             # 1 / l2
    double tube
    const int64_t *start
    const uint32_t *index
    const float *value
    const double *label
    const double *cost
    const double *base
    const double *square     # |x_i|^2 / l2
    double *a
    double *w


cdef inline double product(const Problem *p, size_t i) noexcept nogil:
    """Four sums side by side, none of which waits for the others."""
    cdef int64_t j = p.start[i], end = p.start[i + 1]
    cdef double one = p.base[i], two = 0, three = 0, four = 0
    while j + 4 <= end:
        one += p.w[p.index[j]] * p.value[j]
        two += p.w[p.index[j + 1]] * p.value[j + 1]
        three += p.w[p.index[j + 2]] * p.value[j + 2]
        four += p.w[p.index[j + 3]] * p.value[j + 3]
        j += 4
    while j < end:
        one += p.w[p.index[j]] * p.value[j]
        j += 1
    return (one + two) + (three + four)


cdef inline void move(Problem *p, size_t i, double change) noexcept nogil:
    """Add ``change`` times x_i to the weights."""
    cdef int64_t j
    for j in range(p.start[i], p.start[i + 1]):
        p.w[p.index[j]] += change * p.value[j]


cdef inline void set_alpha(Problem *p, size_t i, double alpha, double sign) noexcept nogil:
    cdef double change = alpha - p.a[i]
    if change != 0:
        p.a[i] = alpha
        move(p, i, sign * change * p.scale)


cdef inline double diagonal_of(const Problem *p, size_t i) noexcept nogil:
    """What a squared loss adds to the curvature of the dual in a_i."""
    return 0.5 / p.cost[i] if p.loss == SQUARED_HINGE or p.loss == SQUARED else 0


cdef inline void step_of_hinge(Problem *p, size_t i) noexcept nogil:
    """Also of its square, whose a_i has no upper bound."""
    cdef double y = p.label[i], a = p.a[i], diagonal = diagonal_of(p, i), g = y * product(p, i) - 1 + a * diagonal
    set_alpha(p, i, fmin(fmax(a - g / (p.square[i] + diagonal), 0), p.cost[i] if p.loss == HINGE else INFINITY), y)


cdef inline double newton(double z, double cost, double odds, double square, double b) noexcept nogil:
    """The minimum of z log z + (c - z) log(c - z) + square/2 (z - old)^2 + b (z - old) over 0 < z < c, which is below c/2 or near it.

    ``z`` is the old one, and ``odds`` log(z / (c - z)).
    """
    cdef double old = z, next
    cdef int iteration
    if cost - z < 0.5 * cost:
        z *= 0.1
        odds = log(z / (cost - z))
    for iteration in range(MAX_NEWTON):
        next = z - (square * (z - old) + b + odds) * z * (cost - z) / (square * z * (cost - z) + cost)
        next = 0.1 * z if next <= 0 else next if next < cost else 0.5 * (z + cost)
        if fabs(next - z) <= NEWTON_TOLERANCE * fmin(next, cost - next):
            return next
        z = next
        odds = log(z / (cost - z))
    return z


cdef inline void step_of_logistic(Problem *p, size_t i) noexcept nogil:
    cdef double y = p.label[i], a = p.a[i], cost = p.cost[i], square = p.square[i], b = y * product(p, i), odds = log(a / (cost - a)), z
    if 0.5 * square * (cost - 2 * a) + b >= 0:                # the smaller of a_i and c_i - a_i is what is solved for
        z = newton(a, cost, odds, square, b)
    else:
        z = cost - newton(cost - a, cost, -odds, square, -b)
    if 0 < z < cost:
        set_alpha(p, i, z, y)


cdef inline void step_of_squared(Problem *p, size_t i) noexcept nogil:
    cdef double diagonal = diagonal_of(p, i), g = product(p, i) - p.label[i] + p.a[i] * diagonal
    set_alpha(p, i, p.a[i] - g / (p.square[i] + diagonal), 1)


cdef inline void step_of_tube(Problem *p, size_t i) noexcept nogil:
    cdef double cost = p.cost[i], square = p.square[i], z = p.a[i] - (product(p, i) - p.label[i]) / square
    z = z - p.tube / square if z > p.tube / square else z + p.tube / square if z < -p.tube / square else 0
    set_alpha(p, i, fmin(fmax(z, -cost), cost), 1)


cdef inline bint has_settled(const Problem *p, size_t i, double prediction) noexcept nogil:
    """Whether a_i is at a bound, or where the dual has a kink, and a step would leave it there."""
    cdef double a = p.a[i], cost = p.cost[i], g
    if p.loss <= SQUARED_HINGE:
        g = p.label[i] * prediction - 1
        return (a == 0 and g >= 0) or (p.loss == HINGE and a == cost and g <= 0)
    if p.loss == TUBE:
        g = prediction - p.label[i]
        return (a == 0 and fabs(g) <= p.tube) or (a == cost and g <= -p.tube) or (a == -cost and g >= p.tube)
    return False


cdef inline void fetch(const Problem *p, size_t i) noexcept nogil:
    """What a step of the row needs, but for the weights."""
    cdef int64_t j = p.start[i], end = p.start[i + 1]
    prefetch(&p.label[i])
    prefetch(&p.cost[i])
    prefetch(&p.base[i])
    prefetch(&p.square[i])
    prefetch(&p.a[i])
    while j < end:
        prefetch(&p.index[j])
        prefetch(&p.value[j])
        j += LINE


cdef inline void step(Problem *p, size_t i) noexcept nogil:
    if p.loss <= SQUARED_HINGE:
        step_of_hinge(p, i)
    elif p.loss == LOGISTIC:
        step_of_logistic(p, i)
    elif p.loss == SQUARED:
        step_of_squared(p, i)
    else:
        step_of_tube(p, i)


cdef inline double loss_of(const Problem *p, size_t i, double prediction) noexcept nogil:
    cdef double y = p.label[i], m = y * prediction
    if p.loss == HINGE:
        return fmax(0, 1 - m)
    if p.loss == SQUARED_HINGE:
        return fmax(0, 1 - m) * fmax(0, 1 - m)
    if p.loss == LOGISTIC:
        return log1p(exp(-m)) if m > 0 else log1p(exp(m)) - m
    if p.loss == SQUARED:
        return (y - prediction) * (y - prediction)
    return fmax(0, fabs(y - prediction) - p.tube)


cdef inline double entropy(double a) noexcept nogil:
    return -a * log(a) if a > 0 else 0


cdef inline double dual_of(const Problem *p, size_t i) noexcept nogil:
    """The dual's term of a row, but for that of the weights."""
    cdef double y = p.label[i], a = p.a[i], c = p.cost[i]
    if p.loss == HINGE:
        return a * (1 - y * p.base[i])
    if p.loss == SQUARED_HINGE:
        return a * (1 - y * p.base[i]) - a * a / (4 * c)
    if p.loss == LOGISTIC:
        return c * (entropy(a / c) + entropy(1 - a / c)) - a * y * p.base[i]
    if p.loss == SQUARED:
        return a * (y - p.base[i]) - a * a / (4 * c)
    return a * (y - p.base[i]) - p.tube * fabs(a)


cdef inline void add(double *sum, double *rest, double x) noexcept nogil:
    """Neumaier's sum: ``sum + rest`` is exact to about the last digit."""
    cdef double total = sum[0] + x
    rest[0] += (sum[0] - total) + x if fabs(sum[0]) >= fabs(x) else (x - total) + sum[0]
    sum[0] = total


cdef Problem open_problem(state) except *:
    cdef Problem p
    cdef const int64_t[::1] start = state.rows.indptr
    cdef const uint32_t[::1] index = state.rows.indices
    cdef const float[::1] value = state.rows.values
    cdef const double[::1] label = state.label, cost = state.cost, base = state.base, square = state.square
    cdef double[::1] a = state.a, w = state.w
    cdef Py_ssize_t rows = label.shape[0]
    if start.shape[0] != rows + 1 or index.shape[0] != value.shape[0] or index.shape[0] != start[rows]:
        raise ValueError("these are no rows")
    if cost.shape[0] != rows or base.shape[0] != rows or square.shape[0] != rows or a.shape[0] != rows:
        raise ValueError("a number is missing for some rows")
    if not rows or not index.shape[0] or not w.shape[0]:
        raise ValueError("there are no rows, or no weights")
    p.loss, p.scale, p.tube = state.loss, 1 / <double>state.l2, state.tube
    p.start, p.index, p.value = &start[0], &index[0], &value[0]
    p.label, p.cost, p.base, p.square, p.a, p.w = &label[0], &cost[0], &base[0], &square[0], &a[0], &w[0]
    return p


def sweep(state, size_t active, uint64_t seed, const unsigned char[::1] stop):
    """A step for each of the rows ``state.order[:active]``, uint32, in a random order by ``seed``. It ends early where ``stop[0]`` is set."""
    cdef Problem p = open_problem(state)
    cdef uint32_t[::1] order = state.order
    cdef size_t s, j
    if active > <size_t>order.shape[0] or order.shape[0] != state.label.shape[0]:
        raise ValueError("this is no order of the rows")
    with nogil:
        for s in range(active):
            seed += <uint64_t>0x9e3779b97f4a7c15
            j = s + <size_t>((mix64(seed) >> 32) * (active - s) >> 32)
            order[s], order[j] = order[j], order[s]
        for s in range(active):
            if s % CHECK == CHECK - 1 and stop[0]:
                break
            if s + 2 * AHEAD < active:
                prefetch(&p.start[order[s + 2 * AHEAD]])
                fetch(&p, order[s + AHEAD])
            step(&p, order[s])


def evaluate(state, double[::1] prediction):
    """Fill ``prediction`` float64[rows] and ``state.order`` with the rows, first those that have not settled.

    Answers the loss of all rows, their terms of the dual, |w|^2, and how many have not settled.
    """
    cdef Problem p = open_problem(state)
    cdef uint32_t[::1] order = state.order
    cdef size_t i, rows = state.label.shape[0], slots = state.w.shape[0], active = 0, settled = rows
    cdef double loss = 0, dual = 0, norm = 0, loss_rest = 0, dual_rest = 0, norm_rest = 0
    if <size_t>prediction.shape[0] != rows or <size_t>order.shape[0] != rows:
        raise ValueError("a prediction and a place for each row")
    with nogil:
        for i in range(rows):
            prediction[i] = product(&p, i)
            add(&loss, &loss_rest, p.cost[i] * loss_of(&p, i, prediction[i]))
            add(&dual, &dual_rest, dual_of(&p, i))
            if has_settled(&p, i, prediction[i]):
                settled -= 1
                order[settled] = <uint32_t>i
            else:
                order[active] = <uint32_t>i
                active += 1
        for i in range(slots):
            add(&norm, &norm_rest, p.w[i] * p.w[i])
    return loss + loss_rest, dual + dual_rest, norm + norm_rest, active


def row_squares(const int64_t[::1] start, const float[::1] value, double[::1] squares):
    """Fill ``squares`` float64[rows] with the squared lengths of rows whose values are ``value[start[i]:start[i + 1]]``."""
    cdef size_t i, j, rows = squares.shape[0]
    if <size_t>start.shape[0] != rows + 1 or value.shape[0] != start[rows]:
        raise ValueError("these are no rows")
    with nogil:
        for i in range(rows):
            squares[i] = 0
            for j in range(<size_t>start[i], <size_t>start[i + 1]):
                squares[i] += <double>value[j] * value[j]


def sum_weights(state):
    """The weights anew from all a_i, without what rounding has added up."""
    cdef Problem p = open_problem(state)
    cdef size_t i, rows = state.label.shape[0]
    state.w[:] = 0
    with nogil:
        for i in range(rows):
            move(&p, i, p.a[i] * (p.label[i] if p.loss <= LOGISTIC else 1) * p.scale)
