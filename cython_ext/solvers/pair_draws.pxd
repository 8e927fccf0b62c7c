"""Random rows and random candidate pairs. Draws are pure functions of seed and step and take a few memory accesses."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from base.random cimport mix64, unit_interval

cdef enum:
    DRAWS_PER_STEP = 8   # random numbers reserved for a step, so that the numbers of two steps are independent


cdef struct PairIndex:          # rows sorted by query, then by label; a group is the rows of one query with one label
    size_t rows
    const uint32_t *batch                # (rows,) number of the batch that holds the row
    const uint32_t *row                  # (rows,) number of the row within its batch
    const double *cumulative_importance  # (rows + 1,) sum of the importance of all rows before each; NULL when all are equal
    const int64_t *group_start           # (groups + 1,) first row of each group
    const double *cumulative_weight      # (groups + 1,) sum of the importance of all groups before each
    const double *cumulative_pairs  # (groups,) weight of the pairs whose first row is in this or an earlier group of the query
    size_t queries                       # number of queries that have a candidate pair
    const int64_t *query_start           # (queries,) first group of each
    const int64_t *query_end             # (queries,) one past the last group of each
    const double *alias_prob             # (queries,) alias method (Walker 1977): probability of keeping the query drawn
    const int64_t *alias_index           # (queries,) the query taken otherwise
    const int64_t *near_start            # (groups,) the first group of its query that a group has no pair with; NULL: itself
    const int64_t *near_end              # (groups,) one past the last of these, which are one after the other


cdef struct DrawnRow:
    size_t position  # among the sorted rows of the index
    size_t group     # its group


cdef inline double uniform(uint64_t seed, uint64_t step, int number) noexcept nogil:
    """Random number ``number`` < DRAWS_PER_STEP of a step, in (0, 1): a pure function of its arguments."""
    cdef uint64_t counter = step * DRAWS_PER_STEP + <uint64_t>number + 1
    return unit_interval(mix64(seed + counter * <uint64_t>0x9e3779b97f4a7c15))


cdef inline size_t first_above(const double *values, size_t begin, size_t end, double x) noexcept nogil:
    """The index of the first of the ascending ``values[begin:end]`` that is greater than ``x``; ``end - 1`` if none is."""
    cdef size_t middle
    end -= 1
    while begin < end:
        middle = begin + (end - begin) // 2
        if values[middle] > x:
            end = middle
        else:
            begin = middle + 1
    return begin


cdef inline size_t draw_row(const PairIndex *pairs, size_t begin, size_t end, double u) noexcept nogil:
    """Draw one of the sorted rows ``[begin, end)`` with a probability proportional to its importance."""
    cdef size_t row
    cdef double x
    if pairs.cumulative_importance == NULL:
        row = begin + <size_t>(u * <double>(end - begin))
        return row if row < end else end - 1
    x = pairs.cumulative_importance[begin] + u * (pairs.cumulative_importance[end] - pairs.cumulative_importance[begin])
    return first_above(pairs.cumulative_importance + 1, begin, end, x)


cdef inline size_t draw_query(const PairIndex *pairs, double u) noexcept nogil:
    cdef double x = u * <double>pairs.queries
    cdef size_t query = <size_t>x
    if query >= pairs.queries:
        query = pairs.queries - 1
    return query if x - <double>query < pairs.alias_prob[query] else <size_t>pairs.alias_index[query]


cdef inline void draw_pair(const PairIndex *pairs, uint64_t seed, uint64_t step, DrawnRow *a, DrawnRow *b) noexcept nogil:
    """Draw a candidate pair: a query by the weight of its pairs, then two of its labels by the weight of their pairs, then a
    row of each label by importance.
    """
    cdef size_t query = draw_query(pairs, uniform(seed, step, 1))
    cdef size_t begin = <size_t>pairs.query_start[query], end = <size_t>pairs.query_end[query]
    cdef size_t near_start, near_end
    cdef double weight, x
    a.group = first_above(pairs.cumulative_pairs, begin, end, uniform(seed, step, 2) * pairs.cumulative_pairs[end - 1])
    near_start, near_end = a.group, a.group + 1
    if pairs.near_start != NULL:
        near_start, near_end = <size_t>pairs.near_start[a.group], <size_t>pairs.near_end[a.group]
    weight = pairs.cumulative_weight[near_end] - pairs.cumulative_weight[near_start]
    x = uniform(seed, step, 3) * (pairs.cumulative_weight[end] - pairs.cumulative_weight[begin] - weight)
    x = pairs.cumulative_weight[begin] + x
    if x >= pairs.cumulative_weight[near_start]:
        x += weight
    b.group = first_above(pairs.cumulative_weight + 1, begin, end, x)
    if near_start <= b.group and b.group < near_end:       # by rounding
        b.group = near_end if near_end < end else near_start - 1
    a.position = draw_row(pairs, <size_t>pairs.group_start[a.group], <size_t>pairs.group_start[a.group + 1],
                          uniform(seed, step, 4))
    b.position = draw_row(pairs, <size_t>pairs.group_start[b.group], <size_t>pairs.group_start[b.group + 1],
                          uniform(seed, step, 5))


cdef inline PairIndex open_pair_index(source):
    """A view of a ``vwlite.solvers.crr.pair_sampling.PairIndex``, whose arrays must outlive it."""
    cdef const uint32_t[::1] batch = source.batch, row = source.row
    cdef const double[::1] cumulative_weight = source.cumulative_weight, cumulative_pairs = source.pairs
    cdef const double[::1] alias_prob = source.alias_prob, cumulative_importance
    cdef const int64_t[::1] group_start = source.group_start, alias_index = source.alias_index
    cdef const int64_t[::1] query_start = source.query_start, query_end = source.query_end, near_start, near_end
    cdef PairIndex pairs
    pairs.rows, pairs.queries = batch.shape[0], query_start.shape[0]
    if not pairs.rows or row.shape[0] != batch.shape[0] or group_start.shape[0] != cumulative_weight.shape[0]:
        raise ValueError("the index of pairs is empty or its arrays do not fit")
    pairs.batch, pairs.row = &batch[0], &row[0]
    pairs.cumulative_weight, pairs.group_start = &cumulative_weight[0], &group_start[0]
    pairs.cumulative_pairs = &cumulative_pairs[0]
    pairs.cumulative_importance = NULL
    if source.cumulative_importance is not None:
        cumulative_importance = source.cumulative_importance
        pairs.cumulative_importance = &cumulative_importance[0]
    pairs.near_start = pairs.near_end = NULL
    if source.near_start is not None:
        near_start, near_end = source.near_start, source.near_end
        if near_start.shape[0] != cumulative_pairs.shape[0] or near_end.shape[0] != cumulative_pairs.shape[0]:
            raise ValueError("the groups of near labels do not fit")
        pairs.near_start, pairs.near_end = &near_start[0], &near_end[0]
    pairs.query_start = pairs.query_end = pairs.alias_index = NULL
    pairs.alias_prob = NULL
    if pairs.queries:
        pairs.query_start, pairs.query_end = &query_start[0], &query_end[0]
        pairs.alias_prob, pairs.alias_index = &alias_prob[0], &alias_index[0]
    return pairs
