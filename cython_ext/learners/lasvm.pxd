"""Kernel support vector machines by LASVM (Bordes, Ertekin, Weston and Bottou, JMLR 2005), in the steps of Vowpal Wabbit.

f(x) = 1 / lambda sum_p a_p k(x_p, x), where a_p has the sign of the label y_p and |a_p| is at most the importance. A step sets one
a_p to its best while the others stay; a vector whose a_p becomes 0 is given up. An example is added, has its step, and then
``reprocess`` other vectors have theirs: one drawn by chance or, as often, the one in the place of the largest violation, which is
first moved to the front (so it is its neighbour that steps: Vowpal Wabbit's numbers come out so, and none other).

``slope`` is y f - 1, kept up to date by every step. Numbers are float32 and are added in the order of the places, as there.
"""

from libc.math cimport fabsf, isfinite
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memmove

from base.status cimport NO_MEMORY, OK, STOPPED, UNSTABLE
from base.random cimport random_next
from learners.kernel_rows cimport (
    Merged, Vector, Vectors, complete_row, forget_vector, grown, mark_origin, merge_vectors, renumber,
)

cdef extern from *:
    """
    static const float VWL_GIVEN_UP = 1e-10f;  /* an |a_p| that counts as 0 */
    static const float VWL_SETTLED = 1e-3f;    /* largest violation at which ``finish`` ends, LIBSVM's default */
    """
    float GIVEN_UP "VWL_GIVEN_UP"
    float SETTLED "VWL_SETTLED"

cdef enum:
    FINISHING = 50           # steps of ``finish`` for each support vector, at most
    CHECK = 256              # steps between two looks at the request to stop


cdef struct Machine:
    Vectors v
    float lambda_
    size_t reprocess
    size_t pool_size
    size_t budget            # of support vectors; 0: none
    uint64_t chance
    size_t support           # support vectors; what follows has an entry for each place
    size_t room
    uint32_t *order          # the vector there
    float *a
    float *slope
    float *label
    float *most              # largest |a_p|
    float *kernels           # of one vector, gathered
    uint32_t *pool           # (pool_size,) vectors that wait
    float *pool_label
    float *pool_most
    size_t waiting
    size_t counted_evaluations   # as vw counts them
    size_t counted_queries
    size_t merges


cdef inline bint reserve(Machine *m, size_t needed) noexcept nogil:
    cdef size_t room = m.room
    cdef void *found
    cdef int i
    cdef float **column
    if needed <= m.room:
        return True
    found = grown(m.order, sizeof(uint32_t), &room, needed)
    if found == NULL:
        return False
    m.order = <uint32_t *>found
    for i in range(5):
        column = &m.a if i == 0 else &m.slope if i == 1 else &m.label if i == 2 else &m.most if i == 3 else &m.kernels
        room = m.room
        found = grown(column[0], sizeof(float), &room, needed)
        if found == NULL:
            return False
        column[0] = <float *>found
    m.room = room
    return True


cdef inline bint claim(Machine *m, size_t number) noexcept nogil:
    """Count as vw does, whose cache knows a vector's kernels by their places, and where the places may be others' do the same;
    False without memory.
    """
    cdef Vector *one = &m.v.vector[number]
    cdef size_t p, room = 0
    cdef void *found
    if one.claimed >= m.support:
        m.counted_queries += m.support
        return True
    m.counted_evaluations += one.claimed
    if m.v.delayed:
        found = grown(one.own, sizeof(float), &room, m.support)
        if found == NULL or not complete_row(&m.v, number):
            return False
        one.own = <float *>found
        for p in range(one.claimed, m.support):
            one.own[p] = one.row[m.order[p]]
    one.claimed = m.support
    return True


cdef inline bint gather(Machine *m, size_t number) noexcept nogil:
    """Fill ``kernels`` with those of a vector, by places; False without memory."""
    cdef size_t p
    cdef const float *row
    if not claim(m, number):
        return False
    if m.v.delayed:
        if m.support:
            memcpy(m.kernels, m.v.vector[number].own, m.support * sizeof(float))
        return True
    if not complete_row(&m.v, number):
        return False
    row = m.v.vector[number].row
    for p in range(m.support):
        m.kernels[p] = row[m.order[p]]
    return True


cdef inline float weighted_sum(const Machine *m) noexcept nogil:
    """Of the kernels gathered, times a."""
    cdef float sum = 0
    cdef size_t p
    for p in range(m.support):
        sum += m.kernels[p] * m.a[p]
    return sum


cdef inline void shift_slopes(Machine *m, float change) noexcept nogil:
    """As the a of the vector whose kernels are gathered changes."""
    cdef size_t p
    for p in range(m.support):
        m.slope[p] += change * m.kernels[p] * m.label[p] / m.lambda_


cdef inline void move_places(void *column, size_t size, size_t to, size_t begin, size_t count) noexcept nogil:
    memmove(<char *>column + to * size, <char *>column + begin * size, count * size)


cdef inline void remove(Machine *m, size_t place) noexcept nogil:
    """Give up a support vector. In vw's cache the kernels with it go too."""
    cdef size_t p, after = m.support - place - 1
    cdef Vector *one
    forget_vector(&m.v, m.order[place])
    move_places(m.order, sizeof(uint32_t), place, place + 1, after)
    move_places(m.a, sizeof(float), place, place + 1, after)
    move_places(m.slope, sizeof(float), place, place + 1, after)
    move_places(m.label, sizeof(float), place, place + 1, after)
    move_places(m.most, sizeof(float), place, place + 1, after)
    m.support -= 1
    for p in range(m.support):
        one = &m.v.vector[m.order[p]]
        if one.claimed > place:
            one.claimed -= 1
            if one.own != NULL:
                move_places(one.own, sizeof(float), place, place + 1, one.claimed - place)


cdef inline void rotate(float *column, size_t place) noexcept nogil:
    cdef float first = column[place]
    memmove(column + 1, column, place * sizeof(float))
    column[0] = first


cdef inline bint to_front(Machine *m, size_t place) noexcept nogil:
    """Make a support vector the first one; False without memory."""
    cdef uint32_t number = m.order[place]
    cdef size_t p, room
    cdef Vector *one
    cdef void *found
    if not claim(m, number):
        return False
    memmove(m.order + 1, m.order, place * sizeof(uint32_t))
    m.order[0] = number
    rotate(m.a, place)
    rotate(m.slope, place)
    rotate(m.label, place)
    rotate(m.most, place)
    for p in range(m.support):
        one = &m.v.vector[m.order[p]]
        if place < one.claimed:
            if one.own != NULL:
                rotate(one.own, place)
            continue
        one.claimed += 1
        if m.v.delayed:
            room = 0
            found = grown(one.own, sizeof(float), &room, one.claimed)
            if found == NULL:
                return False
            one.own = <float *>found
            memmove(one.own + 1, one.own, (one.claimed - 1) * sizeof(float))
            one.own[0] = m.v.vector[number].own[p]
    return True


cdef inline int step(Machine *m, size_t place) noexcept nogil:
    """Set one a to its best; a status."""
    cdef float y = m.label[place], old = m.a[place], rest, new, change
    if not gather(m, m.order[place]):
        return NO_MEMORY
    rest = weighted_sum(m)
    m.slope[place] = rest * y / m.lambda_ - 1
    rest -= old * m.kernels[place]
    new = (m.lambda_ - rest * y) / m.kernels[place]
    new = m.most[place] if new > m.most[place] else new if new > 0 else 0
    new *= y
    change = new - old
    if not isfinite(change):
        return UNSTABLE
    if fabsf(change) > 1:
        change = 1 if change > 0 else -1
        new = old + change
    shift_slopes(m, change)
    m.a[place] = new
    if fabsf(new) <= GIVEN_UP:
        remove(m, place)
    return OK


cdef inline size_t worst_place(const Machine *m, float *violation) noexcept nogil:
    """The place of the largest violation of the conditions of optimality, which is 0 where there is none."""
    cdef size_t p, found = 0
    cdef float size
    violation[0] = 0
    for p in range(m.support):
        size = m.a[p] * m.label[p]
        if ((size < m.most[p] and m.slope[p] < 0) or (size > 0 and m.slope[p] > 0)) and fabsf(m.slope[p]) > violation[0]:
            violation[0], found = fabsf(m.slope[p]), p
    return found


cdef inline int reprocess(Machine *m) noexcept nogil:
    cdef size_t i, place
    cdef float violation
    cdef int status = OK
    for i in range(m.reprocess):
        if m.support == 0 or status != OK:
            break
        if random_next(&m.chance) < 0.5:
            status = step(m, <size_t>(random_next(&m.chance) * <float>m.support))
            continue
        place = worst_place(m, &violation)
        if violation > 0:
            status = step(m, place) if to_front(m, place) else NO_MEMORY
    return status


cdef inline int finish(Machine *m, const unsigned char *stop) noexcept nogil:
    """Steps of the support vectors with the largest violations, until all are small; a status.

    This is LASVM's finishing. No example is added, so the kernels that it needs are those among support vectors.
    """
    cdef size_t i, place, steps = FINISHING * m.support
    cdef float violation
    cdef int status = OK
    for i in range(steps):
        if i % CHECK == 0 and stop[0]:
            return STOPPED
        if m.support == 0 or status != OK:
            break
        place = worst_place(m, &violation)
        if violation <= SETTLED:
            break
        status = step(m, place)
    renumber(&m.v, m.order, m.support)
    return status


cdef inline bint append(Machine *m, size_t number, float label, float most) noexcept nogil:
    """A new support vector, in the last place; False without memory."""
    if not reserve(m, m.support + 1) or not mark_origin(&m.v, number):
        return False
    m.order[m.support] = <uint32_t>number
    m.a[m.support] = m.slope[m.support] = 0
    m.label[m.support], m.most[m.support] = label, most
    m.support += 1
    return True


cdef inline size_t nearest(const Machine *m, size_t place) noexcept nogil:
    """The place of the nearest vector of the same class to that whose kernels are gathered; ``place``: there is none."""
    cdef size_t p, found = place
    cdef float distance, least = 0
    for p in range(m.support):
        if p != place and m.label[p] == m.label[place]:
            distance = m.v.vector[m.order[p]].self_kernel - 2 * m.kernels[p]
            if found == place or distance < least:
                least, found = distance, p
    return found


cdef inline int merge_one(Machine *m) noexcept nogil:
    """Give up the vector whose removal changes f least: merge it with its nearest of the same class; a status."""
    cdef size_t p, place = 0, other
    cdef float size, least = 0, label = 0, most = 0
    cdef Merged made
    for p in range(m.support):
        size = m.a[p] * m.a[p] * m.v.vector[m.order[p]].self_kernel
        if p == 0 or size < least:
            least, place = size, p
    if not gather(m, m.order[place]):
        return NO_MEMORY
    other = nearest(m, place)
    shift_slopes(m, -m.a[place])
    if other == place:
        remove(m, place)
        return OK
    if not gather(m, m.order[other]):
        return NO_MEMORY
    shift_slopes(m, -m.a[other])
    label, most = m.label[place], m.most[place] + m.most[other]
    if not merge_vectors(&m.v, m.order[place], m.order[other], fabsf(m.a[place]), fabsf(m.a[other]), &made):
        return NO_MEMORY
    remove(m, place)
    remove(m, other - 1 if other > place else other)
    if not append(m, m.v.count - 1, label, most) or not gather(m, m.v.count - 1):
        return NO_MEMORY
    m.merges += 1
    m.a[m.support - 1] = label * (most if made.a > most else made.a)
    shift_slopes(m, m.a[m.support - 1])
    m.slope[m.support - 1] = label * weighted_sum(m) / m.lambda_ - 1
    return OK


cdef inline int settle(Machine *m, int status) noexcept nogil:
    """After the step of an example: other steps, and as many support vectors as there may be."""
    if status == OK:
        status = reprocess(m)
    while status == OK and m.budget and m.support > m.budget:
        status = merge_one(m)
    return status


cdef inline int learn_pool(Machine *m) noexcept nogil:
    """A step for every vector that waits; a status."""
    cdef size_t i
    cdef int status = OK
    m.counted_queries += m.waiting * m.support         # vw predicts them once more
    for i in range(m.waiting):
        if status == OK:
            status = settle(m, step(m, m.support - 1) if append(m, m.pool[i], m.pool_label[i], m.pool_most[i]) else NO_MEMORY)
    m.waiting = 0
    renumber(&m.v, m.order, m.support)
    return status


cdef inline size_t place_of(const Machine *m, size_t number) noexcept nogil:
    cdef size_t p = 0
    while m.order[p] != number:
        p += 1
    return p
