"""How probable it is that a label is asked for (Beygelzimer, Hsu, Langford and Zhang, 2010)."""

from libc.math cimport NAN, fmin, logf, sqrtf
from libc.stdint cimport uint64_t

from base.float32 cimport FOUR, ONE, TWO
from base.random cimport random_next

cdef extern from *:
    const float HALF "0.5f"
    const float TINY "0.0001f"


cdef inline float clip_to_unit(float x) noexcept nogil:
    return 0 if x < 0 else (1 if x > 1 else x)


cdef inline float query_probability(float mellowness, float sum_loss, float labeled, float seen, float flip) noexcept nogil:
    """After examples of total importance ``seen``, of which ``labeled`` was learned with ``sum_loss``.

    ``flip`` is the importance that would flip the prediction's sign, divided by ``seen``.
    """
    cdef float bound = mellowness * (logf(seen + ONE) + TINY) / (seen + TINY), ratio, root
    cdef float loss = sum_loss / seen
    loss = clip_to_unit(loss + sqrtf((ONE + HALF * logf(seen)) / (labeled + TINY)))
    root = sqrtf(loss) + sqrtf(loss + flip)
    if flip <= sqrtf(bound) * root + bound:
        return 1
    ratio = (root + sqrtf(root * root + FOUR * flip)) / (TWO * flip)
    return bound * ratio * ratio


cdef enum:
    LABELED_WEIGHT = 0     # positions in Asking.counts, named in vwlite/learners/active.py
    SUM_LOSS = 1
    QUERIES = 2
    COUNTS = 3
    NEVER = 1 << 30        # an importance to flip, in total importance so far, from which on labels are not asked for


cdef struct Asking:          # where only labels that are asked for are learned
    double *counts           # (COUNTS,); NULL: all labels are learned
    uint64_t *random_state   # (1,)
    float *label             # (rows,) the label as used: NaN where it was not asked for
    float *weight            # (rows,) the importance as used
    float mellowness


cdef inline float asked_weight(Asking *asking, double time, double importance_to_flip, float weight) noexcept nogil:
    """The importance with which a row is to be learned after examples of total importance ``time``; 0: it is not asked for."""
    cdef float seen = <float>time, probability = 1, flip
    if seen > 1:
        flip = <float>fmin(importance_to_flip / seen, NEVER)
        probability = query_probability(asking.mellowness, <float>asking.counts[SUM_LOSS], <float>asking.counts[LABELED_WEIGHT],
                                        seen, flip)
    return weight / probability if random_next(asking.random_state) < probability else 0


cdef inline void record_asked(Asking *asking, size_t row, float weight, float loss) noexcept nogil:
    """Count a row with the weight it has; 0: it counts as unlabelled."""
    asking.weight[row] = weight
    if weight > 0:
        asking.counts[QUERIES] += 1
        asking.counts[LABELED_WEIGHT] += weight
        asking.counts[SUM_LOSS] += weight * loss
    else:
        asking.label[row] = NAN


cdef inline Asking open_asking(state, config, size_t rows):
    """Raises ValueError for arrays that are too short."""
    cdef Asking asking = Asking(NULL, NULL, NULL, NULL, 0)
    cdef double[::1] counts
    cdef uint64_t[::1] random_state
    cdef float[:, ::1] used
    if not config.asks:
        return asking
    counts, random_state, used = state.counts, state.random_state, state.label_and_weight
    if counts.shape[0] != COUNTS or random_state.shape[0] != 1 or used.shape[0] != 2 or <size_t>used.shape[1] < rows:
        raise ValueError("the arrays for labels that are asked for are too short")
    return Asking(&counts[0], &random_state[0], &used[0, 0], &used[1, 0], config.mellowness)
