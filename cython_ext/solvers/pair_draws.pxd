"""Random examples and random candidate pairs: uniform, reproducible, a few memory accesses per draw."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from base.splitmix64 cimport mix64, unit_interval

cdef enum:
    DRAWS_PER_STEP = 8   # random numbers set aside for a step, so that every step has its own


cdef struct PairIndex:          # rows sorted by query, then label; a group is one label of one query
    size_t rows
    const uint32_t *batch        # (rows,) the batch a row stands in
    const uint32_t *row          # (rows,) its number there
    const double *cumulative_importance        # (rows + 1,) importance before each row; NULL when all rows weigh the same
    const int64_t *group_start   # (groups + 1,) rows of each group
    const double *cumulative_weight           # (groups + 1,) importance of all groups before
    const double *pairs          # (groups,) candidate pairs led by this group or one before it, within the query
    size_t queries               # that have a candidate pair
    const int64_t *query_start   # (queries,) first group of each
    const int64_t *query_end     # (queries,) one past its last
    const double *alias_prob         # (queries,) the alias method's table (Walker 1977)
    const int64_t *alias_index         # (queries,)


cdef struct Example:
    size_t place                 # among the sorted rows
    size_t group


cdef inline double uniform(uint64_t seed, uint64_t step, int number) noexcept nogil:
    """In (0, 1): a pure function of seed, step and ``number`` < DRAWS_PER_STEP."""
    cdef uint64_t counter = step * DRAWS_PER_STEP + <uint64_t>number + 1
    return unit_interval(mix64(seed + counter * <uint64_t>0x9e3779b97f4a7c15))


cdef inline size_t above(const double *values, size_t begin, size_t end, double x) noexcept nogil:
    """The first of the ascending ``values[begin:end]`` that is greater than ``x``, at most ``end - 1``."""
    cdef size_t middle
    end -= 1
    while begin < end:
        middle = begin + (end - begin) // 2
        if values[middle] > x:
            end = middle
        else:
            begin = middle + 1
    return begin


cdef inline size_t draw_row(const PairIndex *of, size_t begin, size_t end, double u) noexcept nogil:
    """A row among the sorted rows ``[begin, end)``, each as likely as it is important."""
    cdef size_t row
    cdef double x
    if of.cumulative_importance == NULL:
        row = begin + <size_t>(u * <double>(end - begin))
        return row if row < end else end - 1
    x = of.cumulative_importance[begin] + u * (of.cumulative_importance[end] - of.cumulative_importance[begin])
    return above(of.cumulative_importance + 1, begin, end, x)


cdef inline size_t draw_query(const PairIndex *of, double u) noexcept nogil:
    cdef double x = u * <double>of.queries
    cdef size_t query = <size_t>x
    if query >= of.queries:
        query = of.queries - 1
    return query if x - <double>query < of.alias_prob[query] else <size_t>of.alias_index[query]


cdef inline void draw_pair(const PairIndex *of, uint64_t seed, uint64_t step, Example *a, Example *b) noexcept nogil:
    """A candidate pair: a query by its number of pairs, two labels by how many pairs they make, an example of each."""
    cdef size_t query = draw_query(of, uniform(seed, step, 1))
    cdef size_t begin = <size_t>of.query_start[query], end = <size_t>of.query_end[query]
    cdef double weight, x
    a.group = above(of.pairs, begin, end, uniform(seed, step, 2) * of.pairs[end - 1])
    weight = of.cumulative_weight[a.group + 1] - of.cumulative_weight[a.group]
    x = of.cumulative_weight[begin] + uniform(seed, step, 3) * (of.cumulative_weight[end] - of.cumulative_weight[begin] - weight)
    if x >= of.cumulative_weight[a.group]:
        x += weight
    b.group = above(of.cumulative_weight + 1, begin, end, x)
    if b.group == a.group:       # by rounding
        b.group = a.group + 1 if a.group + 1 < end else a.group - 1
    a.place = draw_row(of, <size_t>of.group_start[a.group], <size_t>of.group_start[a.group + 1], uniform(seed, step, 4))
    b.place = draw_row(of, <size_t>of.group_start[b.group], <size_t>of.group_start[b.group + 1], uniform(seed, step, 5))


cdef inline PairIndex open_pair_index(source):
    """From a ``vwlite.solvers.crr.pair_sampling.PairIndex``, whose arrays must outlive the call."""
    cdef const uint32_t[::1] batch = source.batch, row = source.row
    cdef const double[::1] cumulative_weight = source.cumulative_weight, pairs = source.pairs, alias_prob = source.alias_prob, cumulative_importance
    cdef const int64_t[::1] group_start = source.group_start, alias_index = source.alias_index
    cdef const int64_t[::1] query_start = source.query_start, query_end = source.query_end
    cdef PairIndex of
    of.rows, of.queries = batch.shape[0], query_start.shape[0]
    if not of.rows or row.shape[0] != batch.shape[0] or group_start.shape[0] != cumulative_weight.shape[0]:
        raise ValueError("the index of pairs is empty or its arrays do not fit")
    of.batch, of.row, of.cumulative_weight, of.group_start = &batch[0], &row[0], &cumulative_weight[0], &group_start[0]
    of.pairs = &pairs[0]
    of.cumulative_importance = NULL
    if source.cumulative_importance is not None:
        cumulative_importance = source.cumulative_importance
        of.cumulative_importance = &cumulative_importance[0]
    of.query_start = of.query_end = of.alias_index = NULL
    of.alias_prob = NULL
    if of.queries:
        of.query_start, of.query_end = &query_start[0], &query_end[0]
        of.alias_prob, of.alias_index = &alias_prob[0], &alias_index[0]
    return of
