"""Drawing random candidate pairs, and the table that queries are drawn with."""

from libc.stdint cimport int64_t, uint64_t

from solvers.pair_draws cimport Example, PairIndex, draw_pair, open_population


def draw(population, uint64_t seed, uint64_t first, int64_t[:, ::1] out):
    """The pairs that the steps from ``first`` on would draw: fills ``out`` with places among the population's rows."""
    cdef PairIndex of = open_population(population)
    cdef Example a, b
    cdef Py_ssize_t i
    if out.shape[1] != 2 or not of.queries:
        raise ValueError("a pair has two places, and there must be one")
    with nogil:
        for i in range(out.shape[0]):
            draw_pair(&of, seed, first + <uint64_t>i, &a, &b)
            out[i, 0], out[i, 1] = <int64_t>a.place, <int64_t>b.place


def alias(const double[::1] weight, double[::1] chance, int64_t[::1] other, int64_t[::1] stack):
    """Fill the alias method's table (Vose 1991) for drawing in proportion to ``weight``; ``stack`` is scratch, all (n,)."""
    cdef Py_ssize_t n = weight.shape[0], small = 0, large = n, i
    cdef int64_t less, more
    cdef double total = 0
    if chance.shape[0] != n or other.shape[0] != n or stack.shape[0] != n:
        raise ValueError("the arrays differ in length")
    with nogil:
        for i in range(n):
            total += weight[i]
        for i in range(n):
            chance[i], other[i] = weight[i] * <double>n / total, i
            if chance[i] < 1:
                stack[small] = i
                small += 1
            else:
                large -= 1
                stack[large] = i
        while small > 0 and large < n:
            small -= 1
            less, more = stack[small], stack[large]
            other[less] = more
            chance[more] -= 1 - chance[less]
            if chance[more] < 1:
                large += 1
                stack[small] = more
                small += 1
        while large < n:
            chance[stack[large]] = 1
            large += 1
        while small > 0:
            small -= 1
            chance[stack[small]] = 1
