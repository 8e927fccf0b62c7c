"""Expansion of an example into its row of terms: linear terms, then the constant, then interactions."""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memmove

from features.namespace_groups cimport Rows, bit_of, clear_groups, find_repeats, make_groups
from features.plan cimport LETTERS, Plan, RandomMap
from features.row_buffer cimport Group, Scratch, reserve_row_terms, reserve_store, reserve_work
from base.status cimport NO_MEMORY, OK


cdef extern from *:
    """
    /* The arrays do not overlap, which spares the compiler's checks for it. */
    static inline void vwl_copy_terms(const uint32_t *restrict hash, const float *restrict value, size_t n, uint32_t mask,
                                      uint32_t *restrict index, float *restrict copy) {
        for (size_t i = 0; i < n; i++) {
            index[i] = hash[i] & mask;
            copy[i] = value[i];
        }
    }
    """
    void copy_terms "vwl_copy_terms"(const uint32_t *hash, const float *value, size_t n, uint32_t mask, uint32_t *index,
                                     float *copy) noexcept nogil


cdef enum:
    CONSTANT = 11650396    # index of the constant feature in Vowpal Wabbit
    FNV = 16777619         # FNV-1 prime, the multiplier of interaction indices
    MAX_ORDER = 64         # namespaces of one interaction at most
    SMALL_GROUP = 1 << 16  # pairs of groups below this size are counted without overflow


cdef inline void add_linear(const uint32_t *hash, const float *value, size_t size, uint32_t mask, Scratch *s) noexcept nogil:
    """Append features to the terms, for which memory is reserved."""
    copy_terms(hash, value, size, mask, s.index + s.terms, s.value + s.terms)
    s.terms += size


cdef inline size_t count_terms(const int32_t *letters, int order, const Plan *plan, const Scratch *s) noexcept nogil:
    """The number of terms of an interaction. A namespace that is repeated gives combinations with repetition.

    Returns SIZE_MAX for more than 10^15 terms.
    """
    cdef double total = 1, rounded
    cdef int i, repeats = 0
    cdef size_t first = s.group[s.where[letters[0]]].size, second
    if order == 2 and first < SMALL_GROUP:               # most interactions are pairs; this avoids the divisions
        second = s.group[s.where[letters[1]]].size
        if second < SMALL_GROUP:
            return first * (first + 1) // 2 if letters[0] == letters[1] and not plan.permutations else first * second
    for i in range(order):
        if i and letters[i] == letters[i - 1] and not plan.permutations:
            repeats += 1
        else:
            repeats = 0
        total = total * (<double>s.group[s.where[letters[i]]].size + repeats) / (repeats + 1)
    rounded = total + 0.5
    return <size_t>-1 if rounded > 1e15 else <size_t>rounded


cdef inline void add_quadratic(const Group *a, const Group *b, bint combinations, uint32_t mask, Scratch *s) noexcept nogil:
    cdef size_t i, j, first, n = s.terms
    cdef uint32_t half
    cdef float value
    if b.size == 1 and not combinations:
        half, value = b.index[0], b.value[0]
        for i in range(a.size):
            s.index[n + i] = (FNV * a.index[i] ^ half) & mask
            s.value[n + i] = a.value[i] * value
        s.terms = n + a.size
        return
    for i in range(a.size):
        half = FNV * a.index[i]
        value = a.value[i]
        first = i if combinations else 0
        for j in range(first, b.size):
            s.index[n] = (half ^ b.index[j]) & mask
            s.value[n] = value * b.value[j]
            n += 1
    s.terms = n


cdef inline void add_higher(const int32_t *letters, int order, const Plan *plan, Scratch *s) noexcept nogil:
    """Add the terms of an interaction of any order, by nested loops over its groups; the first group's loop is the outermost."""
    cdef size_t at[MAX_ORDER]
    cdef uint32_t half[MAX_ORDER]
    cdef float product[MAX_ORDER]
    cdef const Group *group
    cdef size_t n = s.terms
    cdef int level = 0
    at[0] = 0
    while level >= 0:
        group = &s.group[s.where[letters[level]]]
        if at[level] == group.size:
            level -= 1
            if level >= 0:
                at[level] += 1
            continue
        half[level] = group.index[at[level]]
        product[level] = group.value[at[level]]
        if level:
            half[level] ^= half[level - 1]
            product[level] = product[level - 1] * product[level]
        if level == order - 1:
            s.index[n] = half[level] & plan.mask
            s.value[n] = product[level]
            n += 1
            at[level] += 1
            continue
        half[level] *= FNV
        level += 1
        at[level] = at[level - 1] if letters[level] == letters[level - 1] and not plan.permutations else 0
    s.terms = n


cdef inline int add_single_feature_pairs(const Plan *plan, int i, Scratch *s, int *handled) noexcept nogil:
    """Add the terms of several pairs at once, from interaction ``i`` on: all pair the same namespace, which has a single feature,
    with namespaces whose features are adjacent in memory. This is by far the commonest case. ``handled`` is set to the number of
    interactions added, 0 where interaction ``i`` is not of this form.
    """
    cdef const int32_t *letters = plan.letters + plan.first_letter[i]
    cdef int first = s.where[letters[0]], second = s.where[letters[1]], limit, status, n = 1
    cdef const Group *last
    cdef Group merged
    handled[0] = 0
    if first < 0 or second < 0 or s.group[first].size != 1:
        return OK
    limit = min(<int>s.n_adjacent[second], plan.pair_run[i])
    plan.matched[i] = 1
    while n < limit and s.group[second + n].number == letters[2 * n + 1]:
        plan.matched[i + n] = 1
        n += 1
    merged, last = s.group[second], &s.group[second + n - 1]
    merged.size = last.index + last.size - merged.index
    status = reserve_row_terms(s, merged.size)
    if status == OK:
        add_quadratic(&s.group[first], &merged, False, plan.mask, s)
    handled[0] = n
    return status


cdef inline int add_interaction(const Plan *plan, int i, Scratch *s) noexcept nogil:
    """Add the terms of interaction ``i`` if all its namespaces are present. Returns OK, NO_MEMORY or TOO_MANY."""
    cdef const int32_t *letters = plan.letters + plan.first_letter[i]
    cdef int j, status, order = plan.first_letter[i + 1] - plan.first_letter[i]
    for j in range(order):
        if s.where[letters[j]] < 0:
            return OK
    plan.matched[i] = 1
    status = reserve_row_terms(s, count_terms(letters, order, plan, s))
    if status != OK:
        return status
    if order == 2:
        add_quadratic(&s.group[s.where[letters[0]]], &s.group[s.where[letters[1]]],
                      letters[0] == letters[1] and not plan.permutations, plan.mask, s)
    else:
        add_higher(letters, order, plan, s)
    return OK


cdef inline int add_interactions(const Plan *plan, Scratch *s) noexcept nogil:
    cdef int i = 0, handled = 0, status = OK
    while i < plan.interactions and status == OK:
        handled = 0
        if plan.pair_run[i]:
            status = add_single_feature_pairs(plan, i, s, &handled)
        if handled == 0:
            status = add_interaction(plan, i, s)
            handled = 1
        i += handled
    return status


cdef inline void add_segment_range(Scratch *s, uint32_t begin, uint32_t end) noexcept nogil:
    if begin < end:
        s.store_index[2 * s.segment_ranges] = begin
        s.store_index[2 * s.segment_ranges + 1] = end
        s.segment_ranges += 1


cdef inline bint find_segment_ranges(const Rows *rows, uint32_t first, uint32_t last, Scratch *s) noexcept nogil:
    """Find the ranges of the segments ``[first, last)`` in the order in which they are copied: the segments of a namespace
    character follow its first one. The ranges are kept for the next rows, which mostly have the same characters. False without
    memory.
    """
    cdef const uint8_t *letters = rows.namespace_char + first
    cdef uint64_t repeated = find_repeats(rows, first, last)
    cdef uint64_t handled[4]
    cdef uint32_t n = last - first, segment, other, begin = 0
    cdef uint8_t letter
    handled[0] = handled[1] = handled[2] = handled[3] = 0
    s.stored = s.segment_ranges = 0
    if not reserve_store(s, 5 * <size_t>n + 3):
        return False
    for segment in range(n if repeated else 0):
        letter = letters[segment]
        if not repeated & bit_of(letter):
            continue
        add_segment_range(s, begin, segment)
        begin = segment + 1
        if handled[letter >> 6] & bit_of(letter):
            continue
        handled[letter >> 6] |= bit_of(letter)
        for other in range(segment, n):
            if letters[other] == letter:
                add_segment_range(s, other, other + 1)
    add_segment_range(s, begin, n)
    s.letters, s.segments, s.ranges_valid = <uint8_t *>(s.store_index + 4 * <size_t>n + 2), n, True
    if n:
        memcpy(s.letters, letters, n)
    return True


cdef inline int expand_flat(const Rows *rows, uint32_t first, uint32_t last, const Plan *plan, Scratch *s) noexcept nogil:
    """``expand`` for a plan that is flat: the terms are the row's features and the constant."""
    cdef uint32_t i, n = last - first
    cdef size_t begin, end
    cdef int status
    s.terms = 0
    status = reserve_row_terms(s, rows.namespace_start[last] - rows.namespace_start[first] + 1)
    if status != OK:
        return status
    if not s.ranges_valid or s.segments != n or (n and memcmp(s.letters, rows.namespace_char + first, n) != 0):
        if not find_segment_ranges(rows, first, last, s):
            return NO_MEMORY
    for i in range(s.segment_ranges):
        begin, end = rows.namespace_start[first + s.store_index[2 * i]], rows.namespace_start[first + s.store_index[2 * i + 1]]
        add_linear(rows.hash + begin, rows.value + begin, end - begin, plan.mask, s)
    add_constant(plan, s)
    s.count = s.linear
    return OK


cdef inline void add_constant(const Plan *plan, Scratch *s) noexcept nogil:
    """Add the constant, if there is one, as the last of the linear terms."""
    s.constant = plan.constant
    if plan.constant:
        s.index[s.terms] = CONSTANT & plan.mask
        s.value[s.terms] = 1
        s.terms += 1
    s.linear = s.terms


cdef inline size_t gather_mapped(const Plan *plan, Scratch *s, size_t begin) noexcept nogil:
    """Copy the features of the namespaces that are mapped behind term ``begin``, for which memory is reserved; how many."""
    cdef size_t i, n = begin
    cdef int g
    for g in range(s.groups):
        if s.group[g].number < LETTERS and plan.random.of[s.group[g].number]:
            for i in range(s.group[g].size):
                s.index[n + i] = s.group[g].index[i] & plan.mask
                s.value[n + i] = s.group[g].value[i]
            n += s.group[g].size
    return n - begin


cdef inline size_t drop_groups(const Plan *plan, Scratch *s) noexcept nogil:
    """Take the linear terms of the namespaces that are mapped away from the terms; how many."""
    cdef size_t read = 0, kept = 0, size
    cdef int g
    for g in range(s.groups):
        if s.group[g].number >= LETTERS:
            continue
        size = 0 if plan.nonlinear[s.group[g].number] else s.group[g].size
        if plan.random.of[s.group[g].number]:
            s.group[g].size = 0
        else:
            memmove(s.index + kept, s.index + read, size * sizeof(uint32_t))
            memmove(s.value + kept, s.value + read, size * sizeof(float))
            kept += size
        read += size
    memmove(s.index + kept, s.index + read, (s.terms - read) * sizeof(uint32_t))
    memmove(s.value + kept, s.value + read, (s.terms - read) * sizeof(float))
    s.linear -= read - kept
    s.terms -= read - kept
    return read - kept


cdef inline size_t drop_terms(const Plan *plan, Scratch *s) noexcept nogil:
    """Take all terms but the constant away, and all groups; how many."""
    cdef size_t before = s.terms
    if s.groups:
        clear_groups(s)
    s.terms = 0
    add_constant(plan, s)
    return before - s.terms


cdef inline int add_random_features(const Plan *plan, Scratch *s) noexcept nogil:
    """Map the terms, or the features of some namespaces, to random features, which follow the other terms or replace them."""
    cdef const RandomMap *map = &plan.random
    cdef size_t i, end = s.terms, mapped = s.terms, begin = 0, dropped = 0
    cdef int g, status
    if map.chosen:
        mapped = 0
        for g in range(s.groups):
            mapped += s.group[g].size
    status = reserve_row_terms(s, map.size + mapped)
    if status != OK or not reserve_work(s, 2 * map.fold):
        return status if status != OK else NO_MEMORY
    if map.chosen:
        begin = end + map.size
        mapped = gather_mapped(plan, s, begin)
    elif s.constant:
        s.value[s.linear - 1] = 0    # the constant is not mapped
    map.fill(map, s.index + begin, s.value + begin, mapped, s.work, s.value + end)
    if not map.chosen and s.constant:
        s.value[s.linear - 1] = 1
    if map.only:
        dropped = drop_groups(plan, s) if map.chosen else drop_terms(plan, s)
        memmove(s.value + s.terms, s.value + end, map.size * sizeof(float))
    for i in range(map.size):
        s.index[s.terms + i] = <uint32_t>(map.first + i) & plan.mask
    s.terms += map.size
    s.count += map.size - dropped
    return OK


cdef inline int expand_groups(const Rows *rows, size_t row, const Plan *plan, Scratch *s) noexcept nogil:
    """``expand`` for a plan that makes groups."""
    cdef int status
    s.terms = 0
    status = make_groups(rows, row, plan, s)
    return status if status != OK else expand_made_groups(plan, s)


cdef inline size_t count_features(const Scratch *s) noexcept nogil:
    """Those of the groups of a character; groups of full names have the same ones again."""
    cdef size_t total = 0
    cdef int g
    for g in range(s.groups):
        if s.group[g].number < LETTERS:
            total += s.group[g].size
    return total


cdef inline int expand_made_groups(const Plan *plan, Scratch *s) noexcept nogil:
    """Fill in the terms of groups that are there."""
    cdef const Group *group = &s.group[0]
    cdef const Group *end = &s.group[s.groups]
    cdef bint adjacent = s.are_segments and s.groups > 0    # in memory, all with characters
    cdef size_t total = <size_t>((end - 1).index - group.index) + (end - 1).size if adjacent else count_features(s)
    cdef int status = reserve_row_terms(s, total + 1)
    if status != OK:
        return status
    if adjacent and plan.linear:
        add_linear(group.index, group.value, total, plan.mask, s)
    else:
        while group < end:
            if group.number < LETTERS and not plan.nonlinear[group.number]:
                add_linear(group.index, group.value, group.size, plan.mask, s)
            group += 1
    add_constant(plan, s)
    total += plan.constant
    if plan.interactions:
        status = add_interactions(plan, s)
    s.count = total + s.terms - s.linear
    return status


cdef inline int expand(const Rows *rows, size_t row, const Plan *plan, Scratch *s) noexcept nogil:
    """Fill ``s.index``, ``s.value`` and ``s.count`` with the terms of one row, in Vowpal Wabbit's order.

    OK, NO_MEMORY, TOO_MANY, STOPPED.
    """
    cdef int status
    if plan.flat:
        status = expand_flat(rows, rows.row_namespace[row], rows.row_namespace[row + 1], plan, s)
    else:
        status = expand_groups(rows, row, plan, s)
    if status == OK and plan.random.fill != NULL:
        status = add_random_features(plan, s)
    return status
