"""The groups of a row: the features of all its segments with the same namespace character, in order of first appearance, and
n-grams with skips of the stored features of one group.
"""

from libc.stdint cimport int16_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from base.status cimport NO_MEMORY, OK, STOPPED, TOO_MANY
from text.batch_builder cimport AFFIX_CHAR, ANONYMOUS_CHAR, SPELLING_CHAR
from features.plan cimport LETTERS, Plan
from features.row_buffer cimport MAX_TERMS, Group, Scratch, reserve_store

cdef enum:
    MAX_GRAM = 64


cdef struct Pattern:
    size_t first                 # position of the group's first feature in the store
    size_t size                  # features of the group, n-grams not included
    size_t offset[MAX_GRAM]      # distance of each member of the pattern from the first


cdef inline double count_ngrams(size_t size, int longest, int skips) noexcept nogil:
    """How many n-grams of sizes 2 to ``longest`` a group of ``size`` features has."""
    cdef double total = 0, arrangements
    cdef size_t members, skipped, span
    for members in range(2, <size_t>longest + 1):
        arrangements = 1                 # ways to distribute the skips among the gaps between the members
        for skipped in range(<size_t>skips + 1):
            span = members - 1 + skipped
            if span >= size:
                break
            total += arrangements * <double>(size - span)
            arrangements = arrangements * <double>(span) / <double>(skipped + 1)
    return total


cdef inline void emit_pattern(Pattern *g, int members, Scratch *s) noexcept nogil:
    """Append a feature of value 1 for every position at which the complete pattern fits; memory is reserved."""
    cdef size_t start, fits
    cdef uint32_t h
    cdef int m
    fits = g.size - g.offset[members - 1]
    for start in range(fits):
        h = s.store_index[g.first + start]
        for m in range(1, members):
            h = h * 27942141 + s.store_index[g.first + start + g.offset[m]]
        s.store_index[s.stored] = h
        s.store_value[s.stored] = 1
        s.stored += 1


cdef inline void extend_pattern(Pattern *g, int members, int missing, size_t skips_left, size_t skipped,
                                Scratch *s) noexcept nogil:
    """Add the ``missing`` members of the pattern in all ways and emit the results, in Vowpal Wabbit's order: the next member
    without a skip first, then with one more skip each time. Patterns longer than the group are given up early.
    """
    while g.offset[members - 1] + missing + skipped < g.size:
        if missing == 0:
            emit_pattern(g, members, s)
            return
        g.offset[members] = g.offset[members - 1] + 1 + skipped
        extend_pattern(g, members + 1, missing - 1, skips_left, 0, s)
        if skips_left == 0:
            return
        skips_left -= 1
        skipped += 1


cdef inline int add_ngrams(size_t first, size_t size, int longest, int skips, Scratch *s) noexcept nogil:
    """Append the n-grams of sizes 2 to ``longest`` of the stored features ``[first, first + size)``. Returns OK, NO_MEMORY or
    TOO_MANY.
    """
    cdef Pattern g
    cdef int length
    cdef double count = count_ngrams(size, longest, skips)
    if count + <double>s.stored > MAX_TERMS:
        return TOO_MANY
    if not reserve_store(s, <size_t>count):
        return NO_MEMORY
    g.first, g.size = first, size
    g.offset[0] = 0
    for length in range(2, longest + 1):
        extend_pattern(&g, 1, length - 1, <size_t>skips, 0, s)
    return OK


cdef enum:
    STEPS_PER_STOP_CHECK = 1 << 16              # steps of a sort between checks for a request to stop


cdef struct Rows:                # a view of a batch; meaning and shapes of the arrays in vwlite/data/batch.py
    const float *label
    const float *importance
    const float *initial_prediction
    const uint8_t *flags
    const uint32_t *row_namespace
    const uint8_t *namespace_char
    const uint32_t *namespace_hash
    const uint32_t *namespace_start
    const uint32_t *hash
    const float *value
    size_t size                  # number of rows


cdef inline void clear_groups(Scratch *s) noexcept nogil:
    cdef int g
    for g in range(s.groups):
        s.where[s.group[g].number] = -1
    s.groups = 0
    s.stored = 0
    s.ranges_valid = s.are_segments = False


cdef inline void add_group(Scratch *s, int number, const uint32_t *index, const float *value, size_t size) noexcept nogil:
    cdef Group *group = &s.group[s.groups]
    group.number, group.index, group.value, group.size = number, index, value, size
    s.where[number] = <int16_t>s.groups
    s.groups += 1


cdef inline bint store_segment(Scratch *s, const Rows *rows, uint32_t segment) noexcept nogil:
    """Append a copy of a segment's features to the store. False when memory has run out."""
    cdef size_t begin = rows.namespace_start[segment], size = rows.namespace_start[segment + 1] - begin
    if size == 0:                # segments of a cache may be empty
        return True
    if not reserve_store(s, size):
        return False
    memcpy(s.store_index + s.stored, rows.hash + begin, size * sizeof(uint32_t))
    memcpy(s.store_value + s.stored, rows.value + begin, size * sizeof(float))
    s.stored += size
    return True


cdef inline int limit_group(Scratch *s, size_t first, size_t limit, const Plan *plan) noexcept nogil:
    """Sort the stored features from ``first`` on by masked index, then value, and keep the first ``limit`` distinct indices.

    Returns OK, or STOPPED, with the order undefined.
    """
    cdef size_t size = s.stored - first, gap = size, i, j, kept = 0
    cdef uint32_t *index = s.store_index + first
    cdef float *value = s.store_value + first
    cdef uint32_t key
    cdef float v
    for i in range(size):
        index[i] = index[i] & plan.mask
    while gap > 1:               # Shell sort needs no memory, and namespaces with a limit are small
        gap = 1 if gap < 5 else gap * 5 // 11
        for i in range(gap, size):
            if i & (STEPS_PER_STOP_CHECK - 1) == 0 and plan.stop[0]:
                return STOPPED
            key, v, j = index[i], value[i], i
            while j >= gap and (index[j - gap] > key or (index[j - gap] == key and value[j - gap] > v)):
                index[j], value[j] = index[j - gap], value[j - gap]
                j -= gap
            index[j], value[j] = key, v
    for i in range(size):
        if kept and index[kept - 1] == index[i]:
            continue
        if kept == limit:
            break
        index[kept], value[kept] = index[i], value[i]
        kept += 1
    s.stored = first + kept
    return OK


cdef inline int gather_namespace(const Rows *rows, const Plan *plan, uint32_t segment, uint32_t last, Scratch *s) noexcept nogil:
    """Make a group of all segments from ``segment`` on that have its character: add n-grams, sort, and apply the limit."""
    cdef uint8_t character = plan.redefine[rows.namespace_char[segment]]
    cdef size_t first = s.stored
    cdef uint32_t other
    cdef int status = OK
    for other in range(segment, last):
        if plan.redefine[rows.namespace_char[other]] == character and not store_segment(s, rows, other):
            return NO_MEMORY
    if plan.ngram[character] > 1:
        status = add_ngrams(first, s.stored - first, plan.ngram[character], plan.skips[character], s)
    if status == OK and plan.sort:
        status = limit_group(s, first, s.stored - first, plan)
    if status == OK and plan.limit[character] and s.stored - first > <size_t>plan.limit[character]:
        status = limit_group(s, first, <size_t>plan.limit[character], plan)
    # the store may move while it grows: the group has its position for now, and its address from set_group_addresses
    add_group(s, character, <const uint32_t *>(<size_t>first), NULL, s.stored - first)
    return status


cdef inline bint gather_full_name(const Rows *rows, const Plan *plan, int name, uint32_t first, uint32_t last,
                                  Scratch *s) noexcept nogil:
    """Make a group of all segments whose full name has the hash of full-name group ``name``."""
    cdef size_t begin = s.stored
    cdef uint32_t segment
    for segment in range(first, last):
        if rows.namespace_char[segment] in (ANONYMOUS_CHAR, AFFIX_CHAR, SPELLING_CHAR):
            continue             # they have no name; their hash 0 is also that of the name "0"
        if rows.namespace_hash[segment] == plan.name_hash[name] and not plan.ignore[plan.redefine[rows.namespace_char[segment]]]:
            if not store_segment(s, rows, segment):
                return False
    if s.stored > begin:
        add_group(s, LETTERS + name, <const uint32_t *>begin, NULL, s.stored - begin)
    return True


cdef inline void set_group_addresses(Scratch *s) noexcept nogil:
    """Replace the positions of groups in the store by addresses."""
    cdef int g
    cdef size_t first
    for g in range(s.groups):
        if s.group[g].value == NULL:
            first = <size_t>s.group[g].index
            s.group[g].index = s.store_index + first
            s.group[g].value = s.store_value + first


cdef inline void find_adjacent_groups(Scratch *s) noexcept nogil:
    cdef const Group *group
    cdef const Group *next
    cdef int g
    for g in range(s.groups - 1, -1, -1):
        group, next = &s.group[g], &s.group[g + 1]
        s.n_adjacent[g] = 1
        if g + 1 < s.groups and next.index == group.index + group.size and next.value == group.value + group.size:
            s.n_adjacent[g] = <int16_t>(s.n_adjacent[g + 1] + 1)


cdef inline uint64_t bit_of(uint8_t character) noexcept nogil:
    """The bit of a character in a set of 64 bits; four characters share each bit."""
    return <uint64_t>1 << (character & 63)


cdef inline uint64_t find_repeats(const Rows *rows, uint32_t first, uint32_t last) noexcept nogil:
    """The bits of characters that occur in more than one of the segments ``[first, last)``, and perhaps bits that two different
    characters share; 0 if no character is repeated.
    """
    cdef uint64_t seen = 0, repeated = 0, bit
    cdef uint32_t segment
    for segment in range(first, last):
        bit = bit_of(rows.namespace_char[segment])
        repeated |= seen & bit
        seen |= bit
    return repeated


cdef inline bint renew_groups(const Rows *rows, uint32_t first, uint32_t last, Scratch *s) noexcept nogil:
    """Let groups that are the segments of one row be those of another, with the same characters; False where it has others."""
    cdef uint32_t segment, begin = rows.namespace_start[first], end
    cdef const uint32_t *hash = rows.hash      # locals stay in registers: groups might alias the rows
    cdef const float *value = rows.value
    cdef Group *group = s.group
    if not s.are_segments or <uint32_t>s.groups != last - first:
        return False
    for segment in range(first, last):
        if group.number != rows.namespace_char[segment]:
            return False
        end = rows.namespace_start[segment + 1]
        group.index, group.value, group.size = hash + begin, value + begin, end - begin
        begin = end
        group += 1
    return True


cdef inline int make_groups(const Rows *rows, size_t row, const Plan *plan, Scratch *s) noexcept nogil:
    """Fill ``s.group``. Returns OK, NO_MEMORY, TOO_MANY or STOPPED."""
    cdef uint32_t first = rows.row_namespace[row], last = rows.row_namespace[row + 1], segment, begin
    cdef uint64_t repeated
    cdef uint8_t character
    cdef int name, status
    if renew_groups(rows, first, last, s):     # most rows have the characters of the row before
        return OK
    repeated = find_repeats(rows, first, last)
    clear_groups(s)
    for segment in range(first, last):
        character = plan.redefine[rows.namespace_char[segment]]
        if s.where[character] >= 0 or plan.ignore[character]:
            continue
        if plan.plain and not repeated & bit_of(character):
            begin = rows.namespace_start[segment]
            add_group(s, character, rows.hash + begin, rows.value + begin, rows.namespace_start[segment + 1] - begin)
            continue
        status = gather_namespace(rows, plan, segment, last, s)
        if status != OK:
            return status
    for name in range(plan.names):
        if not gather_full_name(rows, plan, name, first, last, s):
            return NO_MEMORY
    set_group_addresses(s)
    if plan.interactions:
        find_adjacent_groups(s)
    s.are_segments = plan.plain and not repeated
    return OK
