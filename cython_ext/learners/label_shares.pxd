"""What a label says of every class: one class alone, or a list of shares; labels of one class may be smoothed."""

from libc.math cimport logf
from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memset


cdef struct LabelShares:
    float *target          # (classes,) the row's share of each class, all 0 for a class that is none
    uint32_t classes
    float smoothing        # share of a label of one class that all classes get alike
    # CSR lists of each row's labels: classes and their shares; NULL where labels are single classes
    const int64_t *start   # (rows + 1,)
    const uint32_t *named
    const float *share


cdef inline void find_target(LabelShares *q, size_t row, uint32_t true, uint32_t first) noexcept nogil:
    """``true``: the class of a row without a list, from 0; ``first``: the number of the first class of lists."""
    cdef uint32_t c
    cdef int64_t i
    memset(q.target, 0, q.classes * sizeof(float))
    if q.start == NULL:
        if true < q.classes:
            q.target[true] = 1
        return
    for i in range(q.start[row], q.start[row + 1]):
        c = q.named[i] - first
        if c < q.classes:
            q.target[c] += q.share[i]


cdef inline void smooth_target(LabelShares *q, uint32_t true) noexcept nogil:
    """Mix the same share of every class into a label of the class ``true`` alone."""
    cdef uint32_t c
    if q.smoothing == 0 or q.target[true] != 1:
        return
    for c in range(q.classes):
        q.target[c] = q.target[c] * (1 - q.smoothing) + q.smoothing / q.classes


cdef inline float divergence(const LabelShares *q, const float *s, float normalizer) noexcept nogil:
    """Kullback and Leibler's, of the label from the probabilities exp(s - normalizer)."""
    cdef float total = 0
    cdef uint32_t c
    for c in range(q.classes):
        if q.target[c] > 0:
            total += q.target[c] * (normalizer - s[c])
            total += q.target[c] * logf(q.target[c])
    return total


cdef inline double first_number(const LabelShares *q, size_t row, float y) noexcept nogil:
    """Whether classes are numbered from 0 or 1, by a label with class 0 or the number of classes; else -1."""
    cdef int64_t i
    if q.start == NULL:
        return 0 if y == 0 else 1 if y == q.classes else -1
    for i in range(q.start[row], q.start[row + 1]):
        if q.named[i] == 0 or q.named[i] == q.classes:
            return 0 if q.named[i] == 0 else 1
    return -1


cdef inline int open_lists(LabelShares *q, lists, size_t rows) except -1:
    """From the lists of a batch, a ``vwlite.data.batch.Csr``."""
    cdef const int64_t[::1] start = lists.indptr
    cdef const uint32_t[::1] named = lists.indices
    cdef const float[::1] share = lists.values
    if <size_t>start.shape[0] != rows + 1 or named.shape[0] < start[rows] or share.shape[0] < start[rows]:
        raise ValueError("the label lists do not fit the batch")
    q.start, q.named, q.share = &start[0], NULL, NULL
    if named.shape[0]:
        q.named, q.share = &named[0], &share[0]
    return 0
