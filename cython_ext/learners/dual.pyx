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

from base.random cimport mix64

cdef enum:
    HINGE = 0                # numbered as LOSSES in vwlite/learners/dual_solver.py
    SQUARED_HINGE = 1
    LOGISTIC = 2
    SQUARED = 3
    TUBE = 4
    MAX_NEWTON = 100         # iterations; a few are enough
    CHECK = 1024             # steps between two looks at the request to stop

cdef double NEWTON_TOLERANCE = 1e-14  # of the slope, relative to what it is made of


cdef struct Problem:
    int loss
    double l2, tube
    const int64_t *start
    const uint32_t *index
    const float *value
    const double *label
    const double *cost
    const double *base
    const double *square     # |x_i|^2 / l2
    double *a
    double *w
    double highest           # of the projected gradients in the last sweep, beyond which a row at a bound is left out
    double lowest
    double new_highest       # the same of this sweep
    double new_lowest


cdef inline double product(const Problem *p, size_t i) noexcept nogil:
    cdef double sum = p.base[i]
    cdef int64_t j
    for j in range(p.start[i], p.start[i + 1]):
        sum += p.w[p.index[j]] * p.value[j]
    return sum


cdef inline void move(Problem *p, size_t i, double change) noexcept nogil:
    """Add ``change`` times x_i to the weights."""
    cdef int64_t j
    for j in range(p.start[i], p.start[i + 1]):
        p.w[p.index[j]] += change * p.value[j]


cdef inline void note(Problem *p, double projected) noexcept nogil:
    p.new_highest = fmax(p.new_highest, projected)
    p.new_lowest = fmin(p.new_lowest, projected)


cdef inline void set_alpha(Problem *p, size_t i, double alpha, double sign) noexcept nogil:
    cdef double change = alpha - p.a[i]
    if change != 0:
        p.a[i] = alpha
        move(p, i, sign * change / p.l2)


cdef inline bint step_of_hinge(Problem *p, size_t i) noexcept nogil:
    """Also of its square, whose a_i has no upper bound; true where the row is to be left out."""
    cdef double y = p.label[i], a = p.a[i], diagonal = 0, bound = p.cost[i], g
    if p.loss == SQUARED_HINGE:
        diagonal, bound = 0.5 / p.cost[i], INFINITY
    g = y * product(p, i) - 1 + a * diagonal
    if a == 0:
        if g > p.highest:
            return True
        note(p, fmin(g, 0))
        if g >= 0:
            return False
    elif a == bound:
        if g < p.lowest:
            return True
        note(p, fmax(g, 0))
        if g <= 0:
            return False
    else:
        note(p, g)
    set_alpha(p, i, fmin(fmax(a - g / (p.square[i] + diagonal), 0), bound), y)
    return False


cdef inline double newton(double z, double cost, double old, double square, double b) noexcept nogil:
    """The minimum of z log z + (c - z) log(c - z) + square/2 (z - old)^2 + b (z - old) over 0 < z < c, which is below c/2 or near it."""
    cdef double odds, moved, slope, scale, curvature, next
    cdef int iteration
    if cost - z < 0.5 * cost:
        z *= 0.1
    for iteration in range(MAX_NEWTON):
        odds, moved = log(z / (cost - z)), square * (z - old)
        slope, scale = moved + b + odds, fabs(moved) + fabs(b) + fabs(odds)
        if fabs(slope) <= NEWTON_TOLERANCE * scale:
            break
        curvature = square + cost / (cost - z) / z
        next = z - slope / curvature
        z = 0.1 * z if next <= 0 else next if next < cost else 0.5 * (z + cost)
    return z


cdef inline bint step_of_logistic(Problem *p, size_t i) noexcept nogil:
    cdef double y = p.label[i], a = p.a[i], cost = p.cost[i], square = p.square[i], b, z
    b = y * product(p, i)
    note(p, b + log(a / (cost - a)))
    if 0.5 * square * (cost - 2 * a) + b >= 0:                # the smaller of a_i and c_i - a_i is what is solved for
        z = newton(a, cost, a, square, b)
    else:
        z = cost - newton(cost - a, cost, cost - a, square, -b)
    if 0 < z < cost:
        set_alpha(p, i, z, y)
    return False


cdef inline bint step_of_squared(Problem *p, size_t i) noexcept nogil:
    cdef double diagonal = 0.5 / p.cost[i], g = product(p, i) - p.label[i] + p.a[i] * diagonal
    note(p, g)
    set_alpha(p, i, p.a[i] - g / (p.square[i] + diagonal), 1)
    return False


cdef inline bint step_of_tube(Problem *p, size_t i) noexcept nogil:
    cdef double a = p.a[i], cost = p.cost[i], square = p.square[i], g = product(p, i) - p.label[i], above, below, z
    above, below = g + p.tube, g - p.tube          # slopes to the right and to the left of a_i = 0
    if a == 0:
        if above > p.highest and below < p.lowest:
            return True
        note(p, fmin(above, 0))
        note(p, fmax(below, 0))
    elif a == cost:
        if above < p.lowest:
            return True
        note(p, fmax(above, 0))
    elif a == -cost:
        if below > p.highest:
            return True
        note(p, fmin(below, 0))
    else:
        note(p, above if a > 0 else below)
    z = a - g / square
    z = z - p.tube / square if z > p.tube / square else z + p.tube / square if z < -p.tube / square else 0
    set_alpha(p, i, fmin(fmax(z, -cost), cost), 1)
    return False


cdef inline bint step(Problem *p, size_t i) noexcept nogil:
    if p.loss <= SQUARED_HINGE:
        return step_of_hinge(p, i)
    if p.loss == LOGISTIC:
        return step_of_logistic(p, i)
    if p.loss == SQUARED:
        return step_of_squared(p, i)
    return step_of_tube(p, i)


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
    p.loss, p.l2, p.tube = state.loss, state.l2, state.tube
    p.start, p.index, p.value = &start[0], &index[0], &value[0]
    p.label, p.cost, p.base, p.square, p.a, p.w = &label[0], &cost[0], &base[0], &square[0], &a[0], &w[0]
    p.highest, p.lowest = state.highest, state.lowest
    p.new_highest, p.new_lowest = -INFINITY, INFINITY
    return p


def sweep(state, uint32_t[::1] order, size_t active, uint64_t seed, const unsigned char[::1] stop):
    """A step for each of the rows ``order[:active]``, in a random order by ``seed``; answers how many of them are left.

    Those left out are moved behind the others. ``state.highest`` and ``state.lowest`` become those of this sweep. It ends early
    where ``stop[0]`` is set.
    """
    cdef Problem p = open_problem(state)
    cdef size_t s, j, done = 0
    cdef uint32_t row
    cdef uint64_t drawn
    if active > <size_t>order.shape[0] or order.shape[0] != state.label.shape[0]:
        raise ValueError("this is no order of the rows")
    with nogil:
        for s in range(active):
            seed += <uint64_t>0x9e3779b97f4a7c15
            drawn = mix64(seed)
            j = s + <size_t>(drawn % (active - s))
            order[s], order[j] = order[j], order[s]
        s = 0
        while s < active:
            done += 1
            if done % CHECK == 0 and stop[0]:
                break
            row = order[s]
            if step(&p, row):
                active -= 1
                order[s], order[active] = order[active], row
            else:
                s += 1
    state.highest, state.lowest = p.new_highest, p.new_lowest
    return active


def evaluate(state, double[::1] prediction):
    """Fill ``prediction`` float64[rows] and answer the loss of all rows, their terms of the dual, and |w|^2."""
    cdef Problem p = open_problem(state)
    cdef size_t i, rows = state.label.shape[0], slots = state.w.shape[0]
    cdef double loss = 0, dual = 0, norm = 0, loss_rest = 0, dual_rest = 0, norm_rest = 0
    if <size_t>prediction.shape[0] != rows:
        raise ValueError("a prediction for each row")
    with nogil:
        for i in range(rows):
            prediction[i] = product(&p, i)
            add(&loss, &loss_rest, p.cost[i] * loss_of(&p, i, prediction[i]))
            add(&dual, &dual_rest, dual_of(&p, i))
        for i in range(slots):
            add(&norm, &norm_rest, p.w[i] * p.w[i])
    return loss + loss_rest, dual + dual_rest, norm + norm_rest


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
            move(&p, i, p.a[i] * (p.label[i] if p.loss <= LOGISTIC else 1) / p.l2)
