"""Exploration: how likely each action is to be shown, from the costs predicted. ``cost`` and ``pmf`` have an entry an action;
those that are not ``allowed`` have the probability 0, and ``possible`` is the number of the others.
"""

from libc.math cimport INFINITY, exp, fabs, fabsf, isfinite, pow
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

cdef enum:                 # numbered as EXPLORERS in vwlite/learners/configs/explore.py
    NONE = 0
    GREEDY = 1
    FIRST = 2
    SOFTMAX = 3
    BAG = 4
    SQUARECB = 5
    REGCB = 6
    COVER = 7
    BISECTIONS = 20


cdef struct Explorer:
    int kind
    size_t models          # policies that learn: of bag and cover
    size_t first           # events before the best action is shown
    float epsilon
    bint typed_epsilon     # of cover, whose share of other actions falls otherwise
    float softness         # lambda of softmax
    float gamma_scale, gamma_exponent
    float least_cost, most_cost, mellowness
    float psi
    bint optimistic        # regcb: the action of the least lower bound alone
    bint elim              # squarecb: plausible actions alone
    bint nounif            # cover: actions that no policy chooses are not shown
    bint first_only        # of tied actions the first alone is the best
    bint greedify          # bag: the first policy learns each event once
    bint like_vw
    uint64_t seed


cdef inline size_t count_allowed(const uint8_t *allowed, size_t count) noexcept nogil:
    cdef size_t a, found = 0
    for a in range(count):
        found += allowed[a]
    return found


cdef inline bint is_tied(float cost, float best) noexcept nogil:
    return fabsf(cost - best) <= <float>1e-4 * (fabsf(cost) + fabsf(best))


cdef inline size_t find_best(const float *cost, const uint8_t *allowed, size_t count) noexcept nogil:
    """The allowed action of the lowest cost, and of equals the first; ``count`` where there is none."""
    cdef size_t a, best = count
    for a in range(count):
        if allowed[a] and (best == count or cost[a] < cost[best]):
            best = a
    return best


cdef inline void share_best(const Explorer *x, const float *cost, const uint8_t *allowed, size_t count, float share,
                            float *pmf) noexcept nogil:
    """Add a share to the best actions: each of those that are tied has as much of it."""
    cdef size_t a, best = find_best(cost, allowed, count), tied = 0
    if best == count:
        return
    if x.first_only:
        pmf[best] += share
        return
    for a in range(count):
        if allowed[a] and (a == best or is_tied(cost[a], cost[best])):
            tied += 1
    for a in range(count):
        if allowed[a] and (a == best or is_tied(cost[a], cost[best])):
            pmf[a] += share / tied


cdef inline void set_uniform(const uint8_t *allowed, size_t count, size_t possible, float *pmf) noexcept nogil:
    cdef size_t a
    for a in range(count):
        pmf[a] = <float>1 / possible if allowed[a] else 0


cdef inline void set_floor(const uint8_t *allowed, size_t count, float epsilon, bint nounif, float *pmf) noexcept nogil:
    """Have every allowed action, with ``nounif`` every one that has some probability, at least its part of ``epsilon``: the
    others give away as much each as makes the sum 1.
    """
    cdef size_t a, under = 0, part = 0, before
    cdef double least, sum, over = 0
    for a in range(count):
        if allowed[a] and (pmf[a] > 0 or not nounif):
            part += 1
    before = part
    least = epsilon / <double>part if part else 0
    while part:
        under, sum = 0, 0
        for a in range(count):
            if allowed[a] and (pmf[a] > 0 or not nounif):
                if pmf[a] - over <= least:
                    under += 1
                else:
                    sum += pmf[a]
        if under == part or (before != part and under <= before):   # rounding may take some back
            break
        over, before = (sum + under * least - 1) / (part - under), under
    if under == part or epsilon > <float>0.999:
        least = 1 / <double>part if part else 0
    for a in range(count):
        if allowed[a] and (pmf[a] > 0 or not nounif):
            pmf[a] = <float>(least if under == part or epsilon > <float>0.999 or pmf[a] - over <= least else pmf[a] - over)


cdef inline void explore_softly(const Explorer *x, const float *cost, const uint8_t *allowed, size_t count,
                                float *pmf) noexcept nogil:
    cdef size_t a, best = find_best(cost, allowed, count)
    cdef double sum = 0
    for a in range(count):
        pmf[a] = <float>exp(-fabs(x.softness) * (cost[a] - cost[best])) if allowed[a] else 0
        sum += pmf[a]
    for a in range(count):
        pmf[a] = <float>(pmf[a] / sum)


cdef inline void explore_by_gap(const Explorer *x, const float *cost, const uint8_t *allowed, size_t count, double learned,
                                float *pmf) noexcept nogil:
    """Actions other than the best have a probability inverse to what they cost more (SquareCB)."""
    cdef size_t a, best = find_best(cost, allowed, count)
    cdef size_t possible = 1 if x.elim and x.like_vw else count_allowed(allowed, count)   # vw counts the best alone
    cdef double gamma = x.gamma_scale * pow(learned, x.gamma_exponent), sum = 0
    for a in range(count):
        pmf[a] = 0
        if allowed[a] and a != best:
            pmf[a] = <float>(1 / (possible + gamma * (cost[a] - cost[best])))
            sum += pmf[a]
    pmf[best] = <float>(1 - sum) if sum < 1 or possible == 1 else 0


cdef inline double widest(double gap, double sensitivity, double limit) noexcept nogil:
    """The largest weight of an update whose loss stays within the limit."""
    cdef double low = 0, high, middle
    cdef int i
    if not (sensitivity > 0) or not isfinite(sensitivity) or not (limit > 0):
        return 0
    high = gap / sensitivity
    if high * gap * gap <= limit:
        return high
    for i in range(BISECTIONS):
        middle = (low + high) / 2
        if middle * (gap * gap - (gap - middle * sensitivity) * (gap - middle * sensitivity)) > limit:
            high = middle
        else:
            low = middle
        if high - low <= 1e-6:
            break
    return low


cdef inline float cut(double value, float low, float high) noexcept nogil:
    return low if value < low else high if value > high else <float>value


cdef inline void keep_plausible(const float *lower, const float *upper, uint8_t *allowed, size_t count) noexcept nogil:
    """Allow those actions only whose lower bound is below every upper one."""
    cdef size_t a
    cdef float least = INFINITY
    for a in range(count):
        if allowed[a] and upper[a] < least:
            least = upper[a]
    for a in range(count):
        if lower[a] > least:
            allowed[a] = False


cdef inline void explore_bounds(const Explorer *x, const float *lower, const float *upper, uint8_t *allowed, size_t count,
                                float *pmf) noexcept nogil:
    """RegCB; ``allowed`` becomes that of the plausible actions."""
    cdef size_t a, best
    if x.optimistic:
        memset(pmf, 0, count * sizeof(float))
        share_best(x, lower, allowed, count, 1, pmf)
        best = find_best(lower, allowed, count)
        for a in range(count if x.like_vw and not x.first_only else 0):
            if allowed[a] and is_tied(lower[a], lower[best]):
                pmf[a] = 1   # vw has 1 for every tied action
        return
    keep_plausible(lower, upper, allowed, count)
    set_uniform(allowed, count, count_allowed(allowed, count), pmf)


cdef inline uint64_t mixed(uint64_t value) noexcept nogil:
    """A number that looks random (the finaliser of SplitMix64)."""
    value = (value ^ value >> 30) * <uint64_t>0xbf58476d1ce4e5b9
    value = (value ^ value >> 27) * <uint64_t>0x94d049bb133111eb
    return value ^ value >> 31


cdef inline double drawn_number(uint64_t seed, uint64_t event, uint64_t model) noexcept nogil:
    """In [0, 1); the same whatever was drawn before."""
    return <double>(mixed(mixed(mixed(seed + <uint64_t>0x9e3779b97f4a7c15) + event) + model) >> 11) / 9007199254740992.0


cdef inline int poisson(double u) noexcept nogil:
    """The number of a Poisson distribution with mean 1 that belongs to ``u`` of [0, 1)."""
    cdef double sum = 0, share = exp(-1)
    cdef int k = 0
    while k < 20:
        sum += share
        if u <= sum:
            break
        k += 1
        share /= k
    return k


cdef inline bint comes_before(const float *cost, const float *pmf, int kind, size_t a, size_t b) noexcept nogil:
    """Whether an action is shown before another: that of the lower cost, with bag the likelier one, with cover by it alone."""
    if (kind == BAG or kind == COVER) and pmf[a] != pmf[b]:
        return pmf[a] > pmf[b]
    if kind == COVER:
        return a < b
    return cost[a] < cost[b] if cost[a] != cost[b] else a < b


cdef inline size_t draw(const float *cost, const float *pmf, int kind, uint8_t *left, size_t count, double u) noexcept nogil:
    """The first action, in the order shown, of those that are ``left`` whose share of what was added up exceeds ``u``."""
    cdef size_t a, next, last = count
    cdef double sum = 0, total = 0
    for a in range(count):
        total += pmf[a] if left[a] and pmf[a] > 0 else 0
    while True:
        next = count
        for a in range(count):
            if left[a] and (next == count or comes_before(cost, pmf, kind, a, next)):
                next = a
        if next == count:
            return last
        left[next] = False
        sum += pmf[next] if pmf[next] > 0 else 0
        if pmf[next] > 0 or last == count:
            last = next
        if sum > u * total:
            return last
