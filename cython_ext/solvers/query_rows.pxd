"""All rows of one query: their terms, kept from the scores to the change of the weights, and their order by score."""

from libc.math cimport log2
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, qsort

from base.memory cimport grow
from features.row_buffer cimport Scratch, grow_pair
from solvers.pair_draws cimport PairIndex


cdef struct QueryRow:
    double score
    double label
    double importance
    double gain            # 2^label - 1; 0 for labels below 0
    double coefficient     # of the row's terms in the change of the weights
    size_t group           # first row of the query that has its label
    size_t end             # of its terms
    size_t rank            # from 1, best score first


cdef struct RankedRow:
    double score
    size_t row


cdef struct Query:              # rows by label, lowest first
    QueryRow *row               # (rows,)
    RankedRow *ranked           # (rows,) best score first, of equal ones the lowest label first
    double *discount            # (discounts,) of ranks from 1, as NDCG of LETOR 4.0 has them
    double *hits                # (rows + 1,) labels above 0 among the first ranks
    double *hit_shares          # (rows + 1,) sum of 1 / rank of these
    uint32_t *index             # (terms,) slots of the terms of all rows
    float *value                # (terms,)
    size_t rows, max_rows, terms, max_terms, discounts


cdef inline void open_query(Query *q) noexcept nogil:
    q.row = NULL
    q.ranked = NULL
    q.discount = q.hits = q.hit_shares = NULL
    q.index, q.value = NULL, NULL
    q.rows = q.max_rows = q.terms = q.max_terms = q.discounts = 0


cdef inline void close_query(Query *q) noexcept nogil:
    free(q.row)
    free(q.ranked)
    free(q.discount)
    free(q.hits)
    free(q.hit_shares)
    free(q.index)
    free(q.value)


cdef inline bint reserve_rows(Query *q, size_t rows) noexcept nogil:
    """Allocate memory for rows and the discounts of their ranks; False if there is not enough."""
    cdef size_t size = rows + rows // 2 + 16, rank
    if rows <= q.max_rows:
        return True
    if not (grow(<void **>&q.row, size * sizeof(QueryRow)) and grow(<void **>&q.ranked, size * sizeof(RankedRow))
            and grow(<void **>&q.discount, size * sizeof(double)) and grow(<void **>&q.hits, (size + 1) * sizeof(double))
            and grow(<void **>&q.hit_shares, (size + 1) * sizeof(double))):
        return False
    for rank in range(q.discounts + 1, size + 1):
        q.discount[rank - 1] = 1 / log2(<double>rank) if rank > 2 else 1
    q.max_rows = q.discounts = size
    return True


cdef inline bint keep_terms(Query *q, QueryRow *row, const Scratch *s) noexcept nogil:
    """Copy the terms of a row behind those of the rows before it; False when memory has run out."""
    cdef size_t i
    if q.terms + s.terms > q.max_terms and not grow_pair(&q.index, &q.value, &q.max_terms, q.terms + s.terms):
        return False
    for i in range(s.terms):
        q.index[q.terms + i], q.value[q.terms + i] = s.index[i], s.value[i]
    q.terms += s.terms
    row.end = q.terms
    return True


cdef inline int by_score(const void *a, const void *b) noexcept nogil:
    cdef const RankedRow *x = <const RankedRow *>a
    cdef const RankedRow *y = <const RankedRow *>b
    if x.score != y.score:
        return -1 if x.score > y.score else 1
    return -1 if x.row < y.row else 1


cdef inline void rank_rows(Query *q) noexcept nogil:
    """Put the rows in order, and count what is relevant in it."""
    cdef size_t i, row
    cdef bint hit
    for i in range(q.rows):
        q.ranked[i].score, q.ranked[i].row = q.row[i].score, i
    qsort(q.ranked, q.rows, sizeof(RankedRow), &by_score)
    q.hits[0] = q.hit_shares[0] = 0
    for i in range(q.rows):
        row = q.ranked[i].row
        q.row[row].rank, hit = i + 1, q.row[row].label > 0
        q.hits[i + 1] = q.hits[i] + hit
        q.hit_shares[i + 1] = q.hit_shares[i] + (1 / <double>(i + 1) if hit else 0)


cdef inline double ideal_gain(const Query *q, size_t ranks) noexcept nogil:
    """The discounted gain of the best order, of its first ``ranks``."""
    cdef size_t i
    cdef double total = 0
    for i in range(min(q.rows, ranks)):
        total += q.row[q.rows - 1 - i].gain * q.discount[i]
    return total


cdef inline double gain_change(const Query *q, const QueryRow *a, const QueryRow *b, size_t ranks) noexcept nogil:
    """How much the discounted gain of the first ``ranks`` changes when two rows change places."""
    cdef double at_a = q.discount[a.rank - 1] if a.rank <= ranks else 0
    cdef double at_b = q.discount[b.rank - 1] if b.rank <= ranks else 0
    return (a.gain - b.gain) * (at_a - at_b)


cdef inline double precision_change(const Query *q, const QueryRow *a, const QueryRow *b) noexcept nogil:
    """How much the sum of the precisions at relevant rows changes when a, relevant, and b, not relevant, change places."""
    cdef size_t i = a.rank, j = b.rank
    if i < j:        # the relevant row moves down: those between lose a hit above them
        return q.hits[j] / <double>j - q.hits[i] / <double>i - (q.hit_shares[j] - q.hit_shares[i])
    return (q.hits[j] + 1) / <double>j - q.hits[i] / <double>i + q.hit_shares[i - 1] - q.hit_shares[j]
