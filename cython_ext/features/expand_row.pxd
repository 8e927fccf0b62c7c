"""One flat row per example: linear terms, the constant, interactions."""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from features.namespace_groups cimport Rows, bit_of, find_repeats, make_groups
from features.plan cimport LETTERS, Plan
from features.row_buffer cimport Group, Scratch, ask_for_terms, room_to_store
from base.status cimport NO_MEMORY, OK


cdef enum:
    CONSTANT = 11650396    # index of the constant feature, as in every Vowpal Wabbit model
    FNV = 16777619         # FNV-1 prime, the multiplier of interaction indices
    MAX_ORDER = 64         # letters of one interaction
    SMALL = 1 << 16        # features of a namespace whose pairs are certainly a number


cdef inline void add_linear(const Group *group, uint32_t mask, Scratch *s) noexcept nogil:
    cdef size_t i, n = s.terms
    for i in range(group.size):
        s.index[n + i] = group.index[i] & mask
        s.value[n + i] = group.value[i]
    s.terms = n + group.size


cdef inline size_t count_terms(const int32_t *letters, int order, const Plan *plan, const Scratch *s) noexcept nogil:
    """How many terms an interaction makes: a run of one namespace gives combinations with repetition.

    Answers SIZE_MAX when there are more than any memory holds.
    """
    cdef double total = 1, run = 1
    cdef int i, repeats = 0
    cdef size_t first = s.group[s.where[letters[0]]].size, second
    if order == 2 and first < SMALL:               # by far the most, without the divisions
        second = s.group[s.where[letters[1]]].size
        if second < SMALL:
            return first * (first + 1) // 2 if letters[0] == letters[1] and not plan.permutations else first * second
    for i in range(order):
        if i and letters[i] == letters[i - 1] and not plan.permutations:
            repeats += 1
        else:
            repeats = 0
        total = total * (<double>s.group[s.where[letters[i]]].size + repeats) / (repeats + 1)
    run = total + 0.5
    return <size_t>-1 if run > 1e15 else <size_t>run


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
    """Interactions of any order: an odometer over the groups, first letter outermost."""
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


cdef inline int add_singles(const Plan *plan, int i, Scratch *s, int *done) noexcept nogil:
    """The pairs of a namespace's only feature with the namespaces that follow each other in memory, from the pair ``i`` on: by
    far the commonest. ``done`` becomes how many interactions that is; 0 where the first is another.
    """
    cdef const int32_t *letters = plan.letters + plan.first_letter[i]
    cdef int first = s.where[letters[0]], second = s.where[letters[1]], most, status, n = 1
    cdef const Group *last
    cdef Group run
    done[0] = 0
    if first < 0 or second < 0 or s.group[first].size != 1:
        return OK
    most = min(<int>s.run[second], plan.alike[i])
    plan.matched[i] = 1
    while n < most and s.group[second + n].number == letters[2 * n + 1]:
        plan.matched[i + n] = 1
        n += 1
    run, last = s.group[second], &s.group[second + n - 1]
    run.size = last.index + last.size - run.index
    status = ask_for_terms(s, run.size)
    if status == OK:
        add_quadratic(&s.group[first], &run, False, plan.mask, s)
    done[0] = n
    return status


cdef inline int add_any(const Plan *plan, int i, Scratch *s) noexcept nogil:
    """Interaction ``i``, where all its namespaces are present. OK, NO_MEMORY or TOO_MANY."""
    cdef const int32_t *letters = plan.letters + plan.first_letter[i]
    cdef int j, status, order = plan.first_letter[i + 1] - plan.first_letter[i]
    for j in range(order):
        if s.where[letters[j]] < 0:
            return OK
    plan.matched[i] = 1
    status = ask_for_terms(s, count_terms(letters, order, plan, s))
    if status != OK:
        return status
    if order == 2:
        add_quadratic(&s.group[s.where[letters[0]]], &s.group[s.where[letters[1]]],
                      letters[0] == letters[1] and not plan.permutations, plan.mask, s)
    else:
        add_higher(letters, order, plan, s)
    return OK


cdef inline int add_interactions(const Plan *plan, Scratch *s) noexcept nogil:
    cdef int i = 0, done = 0, status = OK
    while i < plan.interactions and status == OK:
        done = 0
        if plan.alike[i]:
            status = add_singles(plan, i, s, &done)
        if done == 0:
            status = add_any(plan, i, s)
            done = 1
        i += done
    return status


cdef inline void copy_features(const Rows *rows, size_t begin, size_t end, uint32_t mask, Scratch *s) noexcept nogil:
    """Append stored features to the terms, for which there must be room."""
    cdef size_t i, n = s.terms
    for i in range(begin, end):
        s.index[n + i - begin] = rows.hash[i] & mask
        s.value[n + i - begin] = rows.value[i]
    s.terms = n + end - begin


cdef inline void add_piece(Scratch *s, uint32_t begin, uint32_t end) noexcept nogil:
    if begin < end:
        s.store_index[2 * s.pieces] = begin
        s.store_index[2 * s.pieces + 1] = end
        s.pieces += 1


cdef inline bint find_pieces(const Rows *rows, uint32_t first, uint32_t last, Scratch *s) noexcept nogil:
    """Cut the segments ``[first, last)`` into pieces to be copied one after the other: those of one letter follow the first
    of them. Kept for the rows behind, which mostly have the same letters. False when memory has run out.
    """
    cdef const uint8_t *letters = rows.namespace_char + first
    cdef uint64_t twice = find_repeats(rows, first, last)
    cdef uint64_t done[4]
    cdef uint32_t n = last - first, segment, other, run = 0
    cdef uint8_t letter
    done[0] = done[1] = done[2] = done[3] = 0
    s.stored = s.pieces = 0
    if not room_to_store(s, 5 * <size_t>n + 3):
        return False
    for segment in range(n if twice else 0):
        letter = letters[segment]
        if not twice & bit_of(letter):
            continue
        add_piece(s, run, segment)
        run = segment + 1
        if done[letter >> 6] & bit_of(letter):
            continue
        done[letter >> 6] |= bit_of(letter)
        for other in range(segment, n):
            if letters[other] == letter:
                add_piece(s, other, other + 1)
    add_piece(s, run, n)
    s.letters, s.segments, s.cut = <uint8_t *>(s.store_index + 4 * <size_t>n + 2), n, True
    if n:
        memcpy(s.letters, letters, n)
    return True


cdef inline int expand_flat(const Rows *rows, uint32_t first, uint32_t last, const Plan *plan, Scratch *s) noexcept nogil:
    """A row whose terms are its features and the constant."""
    cdef uint32_t piece, n = last - first
    cdef int status
    s.terms = 0
    status = ask_for_terms(s, rows.namespace_start[last] - rows.namespace_start[first] + 1)
    if status != OK:
        return status
    if not s.cut or s.segments != n or (n and memcmp(s.letters, rows.namespace_char + first, n) != 0):
        if not find_pieces(rows, first, last, s):
            return NO_MEMORY
    for piece in range(s.pieces):
        copy_features(rows, rows.namespace_start[first + s.store_index[2 * piece]],
                      rows.namespace_start[first + s.store_index[2 * piece + 1]], plan.mask, s)
    add_constant(plan, s)
    s.count = s.linear
    return OK


cdef inline void add_constant(const Plan *plan, Scratch *s) noexcept nogil:
    """The last of the linear terms, if there is one."""
    s.constant = plan.constant
    if plan.constant:
        s.index[s.terms] = CONSTANT & plan.mask
        s.value[s.terms] = 1
        s.terms += 1
    s.linear = s.terms


cdef inline int expand(const Rows *rows, size_t row, const Plan *plan, Scratch *s) noexcept nogil:
    """Fill ``s.index``, ``s.value`` and ``s.count`` with the terms of one row, in Vowpal Wabbit's order.

    OK, NO_MEMORY, TOO_MANY, STOPPED.
    """
    cdef int g, status
    cdef size_t total = 0
    if plan.flat:
        return expand_flat(rows, rows.row_namespace[row], rows.row_namespace[row + 1], plan, s)
    s.terms = 0
    status = make_groups(rows, row, plan, s)
    if status != OK:
        return status
    for g in range(s.groups):
        if s.group[g].number < LETTERS:
            total += s.group[g].size
    status = ask_for_terms(s, total + 1)
    if status != OK:
        return status
    for g in range(s.groups):
        if s.group[g].number < LETTERS and not plan.nonlinear[s.group[g].number]:
            add_linear(&s.group[g], plan.mask, s)
    add_constant(plan, s)
    total += plan.constant
    if plan.interactions:
        status = add_interactions(plan, s)
    s.count = total + s.terms - s.linear
    return status
