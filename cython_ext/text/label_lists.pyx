"""Fast reading of labels that are lists: ``class:cost class:cost`` or ``class,class``; a comma alone, or nothing, is the empty list.
Whatever is not made of digits alone, with plain decimal numbers as costs, is left to Python.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from text.batch_builder cimport TAGGED
from text.label_spans cimport most_labels

cdef enum:
    CLASS_DIGITS = 9
    COST_DIGITS = 15  # integers of up to 15 digits, and powers of ten up to 10^15, are exact as doubles
    SORTED = 64       # classes of a set that are sorted here


cdef inline bint is_digit(char c) noexcept nogil:
    return <unsigned char>(c - 48) <= 9


cdef inline const char *read_class(const char *p, const char *end, uint32_t *number) noexcept nogil:
    """Behind a class's digits; NULL where there are none, or too many."""
    cdef const char *begin = p
    number[0] = 0
    while p != end and is_digit(p[0]) and p - begin < CLASS_DIGITS:
        number[0] = 10 * number[0] + <uint32_t>(p[0] - 48)
        p += 1
    if p == begin or (p != end and is_digit(p[0])):
        return NULL
    return p


cdef inline const char *read_cost(const char *p, const char *end, float *cost) noexcept nogil:
    """Behind ``[-]digits[.digits]``, read as the nearest double and then as float32; NULL for any other number."""
    cdef uint64_t digits = 0
    cdef double power = 1
    cdef int count = 0
    cdef bint negative = p != end and p[0] == 45, point = False
    p += negative
    while p != end and (is_digit(p[0]) or (p[0] == 46 and not point)):
        if p[0] == 46:
            point = True
        else:
            digits = 10 * digits + <uint64_t>(p[0] - 48)
            power = power * 10 if point else power
            count += 1
            if count > COST_DIGITS:
                return NULL
        p += 1
    cost[0] = <float>(-(<double>digits / power) if negative else <double>digits / power)
    return p if count else NULL


cdef inline int64_t insert(uint32_t *named, int64_t count, uint32_t number) noexcept nogil:
    """Put ``number`` into ``named[:count]``, which ascends, unless it is there. Answers how many there are then."""
    cdef int64_t at = count, i = count
    while at and named[at - 1] > number:
        at -= 1
    if at and named[at - 1] == number:
        return count
    while i > at:
        named[i] = named[i - 1]
        i -= 1
    named[at] = number
    return count + 1


cdef inline int64_t read_set(const char *p, const char *end, uint32_t *named, float *cost) noexcept nogil:
    """How many classes there are, ascending; -1 where Python has to read them."""
    cdef int64_t count = 0
    cdef uint32_t number
    if p == end:
        return 0
    while True:
        p = read_class(p, end, &number)
        if p == NULL or count == SORTED:
            return -1
        cost[count] = INFINITY
        count = insert(named, count, number)
        if p == end:
            return count
        if p[0] != 44:
            return -1
        p += 1


cdef inline int64_t read_costs(const char *p, const char *end, uint32_t *named, float *cost) noexcept nogil:
    """How many classes there are; -1 where Python has to read them. Without a cost it is infinite."""
    cdef int64_t count = 0
    while True:
        while p != end and p[0] == 32:
            p += 1
        if p == end:
            return count
        p = read_class(p, end, &named[count])
        if p == NULL:
            return -1
        cost[count] = INFINITY
        if p != end and p[0] == 58:
            p = read_cost(p + 1, end, &cost[count])
            if p == NULL:
                return -1
        if p != end and p[0] != 32:
            return -1
        count += 1


cdef inline const char *without_tag(const char *p, const char *end, bint tagged) noexcept nogil:
    """The end of the label's words; NULL where the tag, the last word of ``[p, end)``, is not one by itself."""
    cdef const char *word = end
    cdef const char *q
    if tagged:
        while word != p and (word - 1)[0] != 32:
            word -= 1
        q = word + 1
        while q < end:
            if q[0] == 39:
                return NULL
            q += 1
        end = word
    while end != p and (end - 1)[0] == 32:
        end -= 1
    return end


def read_lists(batch, const uint8_t[::1] wanted, bint sets, int64_t[::1] count, uint32_t[::1] named, float[::1] cost):
    """Read the labels of the rows marked in ``wanted``, one after the other into ``named`` (classes) and ``cost``.

    ``count``, with an entry for each row, is how many there were, -1 where Python has to read them, 0 for a row that is not
    wanted. ``named`` and ``cost`` need room for half of the bytes of all labels, and one for each row. Raises ValueError where
    they have none, or a span of the batch lies outside its text.
    """
    cdef const uint8_t[::1] flags = batch.flags
    cdef const uint32_t[::1] start = batch.tag_start, end = batch.tag_end
    cdef const unsigned char[::1] text = batch.text if len(batch.text) else b" "
    cdef const char *letters = <const char *>&text[0]
    cdef const char *stop
    cdef Py_ssize_t i, rows = wanted.shape[0]
    cdef int64_t used = 0, need = most_labels(wanted, start, end, text.shape[0])
    if min(flags.shape[0], count.shape[0]) < rows or min(named.shape[0], cost.shape[0]) < need:
        raise ValueError("an array is too short")
    with nogil:
        for i in range(rows):
            count[i] = 0
            if not wanted[i]:
                continue
            stop = without_tag(letters + start[i], letters + end[i], flags[i] & TAGGED)
            if stop == NULL:
                count[i] = -1
            elif stop - (letters + start[i]) == 1 and letters[start[i]] == 44:
                count[i] = 0
            elif sets:
                count[i] = read_set(letters + start[i], stop, &named[used], &cost[used])
            else:
                count[i] = read_costs(letters + start[i], stop, &named[used], &cost[used])
            used += count[i] if count[i] > 0 else 0
