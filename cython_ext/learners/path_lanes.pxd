"""The sets of weights that a row will probably be learned by, one after the other, predicted and learned at once.

Trees of classes learn a row by the contests on the way of its label, each of which has weights of its own. What it takes to
learn by one of them does not depend on the others, only whether it comes to that. So the row's slots of up to eight sets are
copied to lanes of vectors, and what each would be after the row is found for all; a set whose turn comes takes its lane.
Results are the same bytes.
"""

from libc.math cimport isfinite
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from learners.class_blocks cimport Block, find_gradients, find_steps, learns_in_blocks, open_block, score_row
from learners.class_update cimport PerClass
from learners.example_loop cimport RING
from learners.gd_update cimport L2_SCALE, MAX_LABEL, MIN_LABEL, NORMS, clip
from learners.row_copies cimport MOST_TERMS
from base.byte_scan cimport prefetch_l2
from features.row_buffer cimport Scratch
from base.status cimport OK

cdef extern from "learners/path_lanes.h" nogil:
    void read_lanes "vwl_read_lanes"(const float *table, const uint32_t *slot, size_t distinct, const uint32_t *set, int lanes,
                                     float *copy)
    void write_lanes "vwl_write_lanes"(const float *copy, float *table, const uint32_t *slot, size_t distinct,
                                       const uint32_t *set, uint32_t taken)
    bint usual_values "vwl_usual_values"(const float *value, size_t n)
    void scan_lanes "vwl_scan_lanes"(float *copy, const uint32_t *index, const float *value, size_t n, Block *block)
    void move_lanes "vwl_move_lanes"(float *copy, const uint32_t *index, const float *value, size_t n, const Block *block,
                                     float initial, float *raw)

cdef enum:
    LANES = 8
    FEWEST_LANES = 2
    LINE = 4               # slots of a cache line

cdef extern from "stdint.h":
    const uint32_t NO_SET "UINT32_MAX"


cdef struct PathLanes:
    float *copy            # (MOST_TERMS, 4, LANES)
    uint32_t *index        # (terms,) where a term's slots begin in ``copy``, in units of four floats
    Block block
    double norms[LANES * NORMS]
    uint32_t set[LANES]
    uint32_t number[LANES] # of the set of each lane; NO_SET: its set has been learned by itself
    uint32_t count         # lanes of the row at work
    uint32_t taken         # bits of the lanes that sets have taken
    float raw[LANES]       # predictions after the row
    bint learned
    bint on


cdef inline void open_lanes(PathLanes *p, PerClass *q) noexcept nogil:
    """There are no lanes where memory has run out, the learner is another one than the usual, or slots are not far apart.

    With few classes, whose slots stay in the cache, what it takes to fill lanes is as much as they save.
    """
    p.on = q.copying and q.scored != NULL and learns_in_blocks(&q.m, q.shift)
    p.count = p.taken = 0
    p.copy = NULL
    if p.on:
        p.copy = <float *>malloc(MOST_TERMS * (4 * LANES * sizeof(float) + sizeof(uint32_t)))
        p.index = <uint32_t *>(p.copy + MOST_TERMS * 4 * LANES)
        p.on = p.copy != NULL


cdef inline void close_lanes(PathLanes *p) noexcept nogil:
    if p.on:
        free(p.copy)


cdef inline void begin_lanes(PathLanes *p, PerClass *q, const Scratch *s, size_t row, float initial, const uint32_t *sets,
                             uint32_t count) noexcept nogil:
    """Predict by ``count`` sets of weights, at most LANES; those lanes taken before have to be written back."""
    cdef size_t i
    cdef uint32_t k
    cdef float l2_scale = <float>q.m.scalars[L2_SCALE]
    cdef float found[LANES]
    p.count, p.learned = 0, False
    if not (p.on and q.copies.on) or count < FEWEST_LANES:
        return
    for i in range(s.terms):
        p.index[i] = q.copies.place[i] * LANES
    for k in range(<uint32_t>LANES):
        p.set[k] = sets[k] if k < count else sets[0]
        p.number[k] = sets[k] if k < count else NO_SET
    read_lanes(q.table, q.copies.slot, q.copies.distinct, p.set, 4 if count <= 4 else LANES, p.copy)
    score_row(p.copy, 4, LANES, p.index, s.value, s.terms, initial, found)
    for k in range(count):
        if not isfinite(found[k] * l2_scale):
            return
    for k in range(count):
        q.raw[p.set[k]] = found[k] * l2_scale
        q.scored[p.set[k]] = row + 1
    p.count = count


cdef inline void learn_lanes(PathLanes *p, PerClass *q, const Scratch *s, float initial, const float *sign,
                             float weight) noexcept nogil:
    """Find what each lane is after the row, of which ``sign`` is the label."""
    cdef float score[LANES]
    cdef float l2_scale = <float>q.m.scalars[L2_SCALE]
    cdef double *norms = q.m.norms
    cdef uint32_t k
    cdef bint vectorized
    cdef int status
    if p.count == 0:
        return
    if not weight > 0 or not usual_values(s.value, s.terms) or \
            not (q.m.frozen or (q.m.scalars[MIN_LABEL] <= -1 and q.m.scalars[MAX_LABEL] >= 1)):
        p.count = 0
        return
    for k in range(p.count):
        score[k] = clip(q.raw[p.set[k]], &q.m)
        memcpy(p.norms + NORMS * k, q.norms + NORMS * p.set[k], NORMS * sizeof(double))
    open_block(&p.block, score, sign, p.count, LANES)
    vectorized = find_gradients(&q.m, &p.block, p.count, weight)
    scan_lanes(p.copy, p.index, s.value, s.terms, &p.block)
    status = find_steps(&q.m, &p.block, p.norms, p.count, weight, vectorized)
    q.m.norms = norms
    move_lanes(p.copy, p.index, s.value, s.terms, &p.block, initial, p.raw)
    for k in range(p.count):
        p.raw[k] = p.raw[k] * l2_scale
        if not isfinite(p.raw[k]):
            status |= 1
    if status != OK:
        p.count = 0
    p.learned = True


cdef inline bint take_lane(PathLanes *p, PerClass *q, size_t row, uint32_t c, float sign) noexcept nogil:
    """Whether set ``c`` has learned the row from its lane. ``q.score`` is that of before, ``q.raw`` that of after."""
    cdef uint32_t k
    for k in range(p.count if p.learned else 0):
        if p.number[k] == c:
            p.number[k] = NO_SET
            if p.block.sign[k] != sign:
                return False
            p.taken |= <uint32_t>1 << k
            memcpy(q.norms + NORMS * c, p.norms + NORMS * k, NORMS * sizeof(double))
            q.score[c] = clip(q.raw[c], &q.m)
            q.raw[c], q.scored[c] = p.raw[k], row + 1
            return True
    return False


cdef inline void end_lanes(PathLanes *p, PerClass *q) noexcept nogil:
    """Write back the lanes that were taken."""
    if p.taken:
        write_lanes(p.copy, q.table, q.copies.slot, q.copies.distinct, p.set, p.taken)
    p.count = p.taken = 0


cdef inline void prefetch_lanes(const PathLanes *p, const PerClass *q, const Scratch *s, size_t row, const uint32_t *sets,
                                uint32_t count) noexcept nogil:
    """Prefetch the slots of these sets for the row after ``row``, whose buffer is ``s``.

    Where that row is not expanded yet, its buffer has an earlier one's terms, or none.
    """
    cdef const Scratch *next = s - (row & (RING - 1)) + ((row + 1) & (RING - 1))
    cdef uint32_t lines[LANES]
    cdef uint32_t k, j, found = 0
    cdef size_t i
    if not p.on or next.in_cache or next.terms > MOST_TERMS:
        return
    for k in range(count):
        lines[found] = sets[k] // LINE
        j = 0
        while lines[j] != lines[found]:
            j += 1
        found += j == found
    for i in range(next.terms):
        for k in range(found):
            prefetch_l2(q.table + 4 * (<size_t>next.index[i] + LINE * lines[k]))
