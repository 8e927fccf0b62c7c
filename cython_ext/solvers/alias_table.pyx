"""Random candidate pairs for Python, the table of the alias method, by which queries are drawn, and groups of near labels."""

from libc.stdint cimport int64_t, uint64_t

from solvers.pair_draws cimport DrawnRow, PairIndex, draw_pair, open_pair_index


def draw(pair_index, uint64_t seed, uint64_t first, int64_t[:, ::1] out):
    """Fill ``out``, int64[n, 2], with the pairs that the steps from ``first`` on draw, as positions among the rows of the
    index.
    """
    cdef PairIndex pairs = open_pair_index(pair_index)
    cdef DrawnRow a, b
    cdef Py_ssize_t i
    if out.shape[1] != 2 or not pairs.queries:
        raise ValueError("a pair has two rows, and the index must have a pair")
    with nogil:
        for i in range(out.shape[0]):
            draw_pair(&pairs, seed, first + <uint64_t>i, &a, &b)
            out[i, 0], out[i, 1] = <int64_t>a.position, <int64_t>b.position


def near_groups(const double[::1] label, const int64_t[::1] query_start, const int64_t[::1] query_end, double least,
                int64_t[::1] near_start, int64_t[::1] near_end):
    """Fill ``near_start`` and ``near_end``, int64[groups], of the groups of the queries: the first group of the same query, and one
    past the last, whose label differs by less than ``least``, which is above 0. Labels ascend within a query.
    """
    cdef Py_ssize_t query
    cdef int64_t group, begin, end
    if near_start.shape[0] != label.shape[0] or near_end.shape[0] != label.shape[0] or not least > 0:
        raise ValueError("the arrays differ in length, or groups are to differ by nothing")
    if query_end.shape[0] != query_start.shape[0]:
        raise ValueError("the arrays differ in length")
    with nogil:
        for query in range(query_start.shape[0]):
            begin = end = query_start[query]
            for group in range(query_start[query], query_end[query]):
                while label[group] - label[begin] >= least:
                    begin += 1
                while end < query_end[query] and label[end] - label[group] < least:
                    end += 1
                near_start[group], near_end[group] = begin, end


def alias(const double[::1] weight, double[::1] alias_prob, int64_t[::1] alias_index, int64_t[::1] stack):
    """Fill the alias method's table (Vose 1991) for drawing with probabilities proportional to ``weight``. All arrays are (n,);
    ``stack`` is scratch memory.
    """
    cdef Py_ssize_t n = weight.shape[0], small = 0, large = n, i
    cdef int64_t less, more
    cdef double total = 0
    if alias_prob.shape[0] != n or alias_index.shape[0] != n or stack.shape[0] != n:
        raise ValueError("the arrays differ in length")
    with nogil:
        for i in range(n):
            total += weight[i]
        for i in range(n):
            alias_prob[i], alias_index[i] = weight[i] * <double>n / total, i
            if alias_prob[i] < 1:
                stack[small] = i
                small += 1
            else:
                large -= 1
                stack[large] = i
        while small > 0 and large < n:
            small -= 1
            less, more = stack[small], stack[large]
            alias_index[less] = more
            alias_prob[more] -= 1 - alias_prob[less]
            if alias_prob[more] < 1:
                large += 1
                stack[small] = more
                small += 1
        while large < n:
            alias_prob[stack[large]] = 1
            large += 1
        while small > 0:
            small -= 1
            alias_prob[stack[small]] = 1
