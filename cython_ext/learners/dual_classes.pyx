"""Steps of the sequential dual method for the hinge loss of classes (Keerthi et al., KDD 2008), and the two objectives.

The primal is l2/2 sum_k |w_k|^2 + sum_i c_i max(0, 1 + max_{k != y_i} w_k.x_i - w_{y_i}.x_i) (Crammer and Singer, JMLR 2, 2001). In
its dual a row has a number for each class, w_k = 1/l2 sum_i a_ik x_i throughout; those of a row have the sum 0, that of its label
is at most c_i, and the others at most 0. A step finds the best numbers of a row while those of other rows stay.

With g_ik = w_k.x_i + [k != y_i] they are the best where max_k g_ik is that of every class whose number is below its bound; the
violation is the largest difference. A row with one such class, ahead of all others by more than the largest violation of the sweep
before, is left out until the others have settled (shrinking, section 3.2 there).
"""

from libc.math cimport INFINITY, fmax, fmin
from libc.stdint cimport int64_t, uint32_t, uint64_t

from base.random cimport mix64

cdef enum:
    CHECK = 1024             # steps between two looks at the request to stop


cdef struct Problem:
    size_t classes
    double l2
    const int64_t *start
    const uint32_t *index
    const float *value
    const uint32_t *label
    const double *cost
    const double *square     # |x_i|^2 / l2
    double *a                # (rows, classes)
    double *w                # (slots, classes)
    double highest           # violation in the last sweep
    double new_highest       # in this one


cdef inline void product(const Problem *p, size_t i, double *sums) noexcept nogil:
    cdef const double *w
    cdef double x
    cdef size_t k
    cdef int64_t j
    for k in range(p.classes):
        sums[k] = 0
    for j in range(p.start[i], p.start[i + 1]):
        w, x = p.w + p.classes * p.index[j], p.value[j]
        for k in range(p.classes):
            sums[k] += w[k] * x


cdef inline void move(Problem *p, size_t i, const double *change) noexcept nogil:
    """Add x_i times the changes of the row's numbers to the weights."""
    cdef double *w
    cdef double x
    cdef size_t k
    cdef int64_t j
    for j in range(p.start[i], p.start[i + 1]):
        w, x = p.w + p.classes * p.index[j], p.value[j] / p.l2
        for k in range(p.classes):
            w[k] += change[k] * x


cdef inline double level(const double *b, size_t classes, size_t label, double top, double *sorted) noexcept nogil:
    """The beta with which sum_k min(bound_k, beta - b_k) is 0; the bound of ``label`` is ``top``, of the others 0."""
    cdef size_t k, r
    cdef double next, beta
    for k in range(classes):                       # by insertion, descending
        next, r = b[k] + (top if k == label else 0), k
        while r > 0 and sorted[r - 1] < next:
            sorted[r] = sorted[r - 1]
            r -= 1
        sorted[r] = next
    beta, r = sorted[0] - top, 1
    while r < classes and beta < r * sorted[r]:
        beta += sorted[r]
        r += 1
    return beta / r


cdef inline bint step(Problem *p, size_t i, double *b, double *sorted) noexcept nogil:
    """True where the row is to be left out."""
    cdef double *a = p.a + p.classes * i
    cdef size_t k, y = p.label[i], free = 0
    cdef double square = p.square[i], top = -INFINITY, beta, best, low = INFINITY, bounded = -INFINITY
    cdef bint moved = False
    product(p, i, b)
    for k in range(p.classes):
        b[k] += k != y
        if a[k] < (p.cost[i] if k == y else 0):
            low, free = fmin(low, b[k]), free + 1
            top = b[k] if free == 1 else fmax(top, b[k])
        else:
            bounded = fmax(bounded, b[k])
    if free == 1 and low - bounded > p.highest:
        return True
    if free == 1 and low >= bounded:
        return False
    p.new_highest = fmax(p.new_highest, fmax(top, bounded) - low if free else INFINITY)
    for k in range(p.classes):
        b[k] -= square * a[k]
    beta = level(b, p.classes, y, square * p.cost[i], sorted)
    for k in range(p.classes):
        best = fmin(p.cost[i] if k == y else 0, (beta - b[k]) / square)
        b[k], a[k] = best - a[k], best             # from here on b has the changes
        moved |= b[k] != 0
    if moved:
        move(p, i, b)
    return False


cdef Problem open_problem(state) except *:
    cdef Problem p
    cdef const int64_t[::1] start = state.rows.indptr
    cdef const uint32_t[::1] index = state.rows.indices
    cdef const float[::1] value = state.rows.values
    cdef const uint32_t[::1] label = state.label
    cdef const double[::1] cost = state.cost, square = state.square
    cdef double[:, ::1] a = state.a, w = state.w
    cdef Py_ssize_t rows = label.shape[0]
    if start.shape[0] != rows + 1 or index.shape[0] != value.shape[0] or index.shape[0] != start[rows]:
        raise ValueError("these are no rows")
    if cost.shape[0] != rows or square.shape[0] != rows or a.shape[0] != rows or a.shape[1] != w.shape[1]:
        raise ValueError("a number is missing for some rows")
    if not rows or not index.shape[0] or not w.shape[0] or not w.shape[1]:
        raise ValueError("there are no rows, or no weights")
    p.classes, p.l2 = w.shape[1], state.l2
    p.start, p.index, p.value, p.label = &start[0], &index[0], &value[0], &label[0]
    p.cost, p.square, p.a, p.w = &cost[0], &square[0], &a[0, 0], &w[0, 0]
    p.highest, p.new_highest = state.highest, 0
    return p


def sweep(state, uint32_t[::1] order, size_t active, uint64_t seed, const unsigned char[::1] stop, double[:, ::1] scratch):
    """A step for each of the rows ``order[:active]``, in a random order by ``seed``; answers how many of them are left.

    As ``sweep`` of ``dual.pyx``, with ``state.highest`` alone. ``scratch`` float64[2, classes].
    """
    cdef Problem p = open_problem(state)
    cdef size_t s, j, rows = order.shape[0], done = 0
    cdef uint32_t row
    if rows != <size_t>state.label.shape[0] or active > rows or scratch.shape[0] != 2 or <size_t>scratch.shape[1] != p.classes:
        raise ValueError("this is no order of the rows, or too little scratch")
    with nogil:
        for s in range(active):
            seed += <uint64_t>0x9e3779b97f4a7c15
            j = s + <size_t>(mix64(seed) % (active - s))
            order[s], order[j] = order[j], order[s]
        s = 0
        while s < active:
            if done % CHECK == 0 and stop[0]:
                break
            done += 1
            row = order[s]
            if step(&p, row, &scratch[0, 0], &scratch[1, 0]):
                active -= 1
                order[s], order[active] = order[active], row
            else:
                s += 1
    state.highest = p.new_highest
    return active


def evaluate(state, double[:, ::1] prediction):
    """Fill ``prediction`` float64[rows, classes] and answer the loss of all rows and their terms of the dual."""
    cdef Problem p = open_problem(state)
    cdef size_t i, k, y, rows = state.label.shape[0]
    cdef double loss = 0, dual = 0, rival
    if <size_t>prediction.shape[0] != rows or <size_t>prediction.shape[1] != p.classes:
        raise ValueError("a prediction for each row and class")
    with nogil:
        for i in range(rows):
            product(&p, i, &prediction[i, 0])
            y, rival = p.label[i], prediction[i, p.label[i]]
            for k in range(p.classes):
                if k != y:
                    rival = fmax(rival, prediction[i, k] + 1)
                    dual -= p.a[p.classes * i + k]
            loss += p.cost[i] * (rival - prediction[i, y])
    return loss, dual


def sum_weights(state):
    """The weights anew from all numbers of rows, without what rounding has added up."""
    cdef Problem p = open_problem(state)
    cdef size_t i, rows = state.label.shape[0]
    state.w[:] = 0
    with nogil:
        for i in range(rows):
            move(&p, i, p.a + p.classes * i)
