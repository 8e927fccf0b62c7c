"""Alternating least squares for what was chosen: the vectors of one side of a dot product, those of the other given.

Of a row the vector x is to minimise sum_j c_j (t_j - b_j.x)^2 over its entries, plus u sum (b.x)^2 over all vectors b of the other
side, plus r |x|^2: what no entry tells of counts as 0 with the weight u. With the Gram matrix of the other side the second sum
takes no longer for many vectors than for few (Hu, Koren and Volinsky, ICDM 2008), and a few steps of conjugate gradients from the
x before are enough (Takacs, Pilaszy and Tikk, RecSys 2011).
"""

from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef enum:
    LANES = 4                # sums of a dot product, so that it has one order with and without vector instructions
    CHECK = 256              # rows between two looks at the request to stop


cdef struct Side:
    size_t width             # numbers of a vector, a multiple of LANES; those beyond the rank are 0
    const int64_t *start     # of the rows' entries
    const uint32_t *column   # the row of the other side, for each entry
    const double *weight     # c
    const double *target     # t
    const double *other      # b: (columns, width)
    const double *gram       # u times the sum of b b': (width, width)


cdef inline double dot(const double *a, const double *b, size_t width) noexcept nogil:
    cdef double s0 = 0, s1 = 0, s2 = 0, s3 = 0
    cdef size_t d = 0
    while d < width:
        s0 += a[d] * b[d]
        s1 += a[d + 1] * b[d + 1]
        s2 += a[d + 2] * b[d + 2]
        s3 += a[d + 3] * b[d + 3]
        d += LANES
    return (s0 + s2) + (s1 + s3)


cdef inline void add(double *y, double a, const double *x, size_t width) noexcept nogil:
    cdef size_t d
    for d in range(width):
        y[d] += a * x[d]


cdef inline void multiply(const Side *s, size_t row, double ridge, const double *x, double offset, double *y) noexcept nogil:
    """y = (G + r) x + sum_j c_j (b_j.x - offset t_j) b_j, G being the Gram matrix."""
    cdef const double *b
    cdef size_t d
    cdef int64_t j
    for d in range(s.width):
        y[d] = ridge * x[d]
    for d in range(s.width):
        add(y, x[d], s.gram + s.width * d, s.width)
    for j in range(s.start[row], s.start[row + 1]):
        b = s.other + s.width * s.column[j]
        add(y, s.weight[j] * (dot(b, x, s.width) - offset * s.target[j]), b, s.width)


cdef inline void solve_row(const Side *s, size_t row, double ridge, double *x, int steps, double *scratch) noexcept nogil:
    """``steps`` of conjugate gradients from ``x``; ``scratch``: 3 * width."""
    cdef double *left = scratch
    cdef double *way = scratch + s.width
    cdef double *turned = scratch + 2 * s.width
    cdef double square, next, step
    cdef size_t d
    multiply(s, row, ridge, x, 1, left)
    for d in range(s.width):
        left[d] = -left[d]
    for d in range(s.width):
        way[d] = left[d]
    square = dot(left, left, s.width)
    for _ in range(steps):
        if square < 1e-30:
            return
        multiply(s, row, ridge, way, 0, turned)
        step = square / dot(way, turned, s.width)
        add(x, step, way, s.width)
        add(left, -step, turned, s.width)
        next = dot(left, left, s.width)
        for d in range(s.width):
            way[d] = left[d] + next / square * way[d]
        square = next


cdef Side open_side(entries, const double[:, ::1] other, const double[:, ::1] gram) except *:
    """Of ``vwlite.learners.lrq.Entries``."""
    cdef Side s
    cdef const int64_t[::1] start = entries.start
    cdef const uint32_t[::1] column = entries.column
    cdef const double[::1] weight = entries.weight, target = entries.target
    cdef Py_ssize_t j, size = column.shape[0], width = other.shape[1]
    if start.shape[0] < 2 or not size or start[0] or start[start.shape[0] - 1] != size or not other.shape[0]:
        raise ValueError("there are no entries, or not those of the rows")
    if weight.shape[0] != size or target.shape[0] != size or not width or width % LANES:
        raise ValueError("a number is missing for some entries, or vectors have a wrong width")
    if gram.shape[0] != width or gram.shape[1] != width:
        raise ValueError("the Gram matrix has a wrong shape")
    for j in range(size):
        if column[j] >= other.shape[0]:
            raise IndexError(column[j])
    s.width, s.start, s.column, s.weight, s.target = width, &start[0], &column[0], &weight[0], &target[0]
    s.other, s.gram = &other[0, 0], &gram[0, 0]
    return s


def solve(entries, const double[:, ::1] other, const double[:, ::1] gram, const double[::1] ridge, double[:, ::1] own,
          int steps, const unsigned char[::1] stop):
    """Improve the vectors ``own``, float64[rows, width], by ``steps`` of conjugate gradients; once ``stop`` is set rows are left out.

    ``other`` float64[columns, width] has the vectors of the other side, ``gram`` float64[width, width] their Gram matrix times u,
    ``ridge`` float64[rows] r. Raises ValueError, MemoryError.
    """
    cdef Side s = open_side(entries, other, gram)
    cdef size_t row, rows = own.shape[0]
    cdef double *scratch
    if <size_t>entries.start.shape[0] != rows + 1 or ridge.shape[0] != own.shape[0] or <size_t>own.shape[1] != s.width:
        raise ValueError("a number is missing for some rows, or vectors have different widths")
    scratch = <double *>malloc(3 * s.width * sizeof(double))
    if scratch == NULL:
        raise MemoryError
    with nogil:
        for row in range(rows):
            if row % CHECK == 0 and stop[0]:
                break
            solve_row(&s, row, ridge[row], &own[row, 0], steps, scratch)
    free(scratch)


def squared_error(entries, const double[:, ::1] other, const double[:, ::1] gram, const double[:, ::1] own):
    """sum c (t - b.x)^2 of all entries, arguments as of ``solve``."""
    cdef Side s = open_side(entries, other, gram)
    cdef size_t row, rows = own.shape[0]
    cdef double total = 0, error
    cdef int64_t j
    if <size_t>entries.start.shape[0] != rows + 1 or <size_t>own.shape[1] != s.width:
        raise ValueError("vectors of another width or number")
    with nogil:
        for row in range(rows):
            for j in range(s.start[row], s.start[row + 1]):
                error = s.target[j] - dot(s.other + s.width * s.column[j], &own[row, 0], s.width)
                total += s.weight[j] * error * error
    return total


def sum_products(const double[:, ::1] vectors, double scale, double[:, ::1] gram):
    """Fill ``gram``, float64[width, width], with ``scale`` times the sum of x x' over the vectors x, float64[n, width]."""
    cdef size_t row, d, width = vectors.shape[1]
    if not width or <size_t>gram.shape[0] != width or <size_t>gram.shape[1] != width:
        raise ValueError("the Gram matrix has a wrong shape")
    with nogil:
        memset(&gram[0, 0], 0, width * width * sizeof(double))
        for row in range(<size_t>vectors.shape[0]):
            for d in range(width):
                add(&gram[d, 0], scale * vectors[row, d], &vectors[row, 0], width)


def order_by(const uint32_t[::1] row, int64_t[::1] start, uint32_t[::1] order):
    """Fill ``order`` with the entries' places by their row, and in their order within one; ``start`` with where rows begin."""
    cdef size_t i, rows = start.shape[0] - 1
    cdef int64_t place, next
    if order.shape[0] != row.shape[0] or start.shape[0] < 2:
        raise ValueError("a place for each entry")
    for i in range(<size_t>row.shape[0]):
        if row[i] >= rows:
            raise IndexError(row[i])
    with nogil:
        memset(&start[0], 0, (rows + 1) * sizeof(int64_t))
        for i in range(<size_t>row.shape[0]):
            start[row[i]] += 1
        place = 0
        for i in range(rows + 1):
            next = place + start[i]
            start[i] = place
            place = next
        for i in range(<size_t>row.shape[0]):
            order[start[row[i]]] = <uint32_t>i
            start[row[i]] += 1
        for i in range(rows, 0, -1):
            start[i] = start[i - 1]
        start[0] = 0
