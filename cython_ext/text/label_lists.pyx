"""Fast reading of labels of several words or numbers: lists of classes, ``class:cost class:cost`` or ``class,class`` (a comma alone, or
nothing, is the empty list); lists of numbers, ``3.5,,-1``; one word ``class:cost`` of a line of a group; one word
``action:cost:probability`` of a logged decision. What is not in its commonest form is left to Python.
"""

from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy

from base.status cimport BAD_LABEL_NUMBER, OK
from text.batch_builder cimport TAGGED
from text.labels cimport read_word
from text.number_parser cimport POWERS, fill_powers

cdef float POWERS_OF_TEN[POWERS]
fill_powers(POWERS_OF_TEN)

cdef enum:
    CLASS_DIGITS = 9
    COST_DIGITS = 15  # integers of up to 15 digits, and powers of ten up to 10^15, are exact as doubles
    SORTED = 64       # classes of a set that are sorted here
    LONGEST = 1024  # bytes of a number


cdef inline int64_t most_labels(const uint8_t[::1] wanted, const uint32_t[::1] start, const uint32_t[::1] end,
                                Py_ssize_t text_size) except -1:
    """How many labels, parted by single bytes, the rows marked in ``wanted`` have at most.

    Raises ValueError where a span lies outside the text, or there are fewer spans than rows.
    """
    cdef Py_ssize_t i
    cdef int64_t most = 0
    if min(start.shape[0], end.shape[0]) < wanted.shape[0]:
        raise ValueError("an array is too short")
    for i in range(wanted.shape[0]):
        if wanted[i]:
            if start[i] > end[i] or end[i] > text_size:
                raise ValueError("a label lies outside the text")
            most += (end[i] - start[i]) // 2 + 1
    return most


cdef inline const char *end_of_word(const char *p, const char *end) noexcept nogil:
    while p != end and p[0] != 32:
        p += 1
    return p


cdef inline const char *next_word(const char *p, const char *end) noexcept nogil:
    while p != end and p[0] == 32:
        p += 1
    return p


cdef inline const char *end_of_label(const char *p, const char *end, bint tagged) noexcept nogil:
    """The end of the word in ``[p, end)``, behind which there is a tag if ``tagged``; NULL for anything else. A space ends every
    word of a label.
    """
    cdef const char *stop = end_of_word(p, end)
    cdef const char *rest = next_word(stop, end)
    if stop == end or (tagged and (rest == end or next_word(end_of_word(rest, end), end) != end)) or \
            (not tagged and rest != end):
        return NULL
    return stop


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


cdef inline int64_t insert_class(uint32_t *named, int64_t count, uint32_t number) noexcept nogil:
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
        count = insert_class(named, count, number)
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


cdef int read_last(const char *p, size_t length, float *value) noexcept nogil:
    """A number that nothing parts from what follows it: of a copy with a byte behind it, at which the parser stops."""
    cdef char text[LONGEST]
    if length >= LONGEST:
        return BAD_LABEL_NUMBER
    memcpy(text, p, length)
    text[length] = 0
    return read_word(text, text + length, POWERS_OF_TEN, True, value)


cdef inline int64_t read_list(const char *p, const char *end, const char *text_end, uint32_t outputs, uint32_t *number,
                              float *value) noexcept nogil:
    """How many elements are there, of a list of ``outputs`` in which some may be missing; -1 for any other."""
    cdef const char *begin = p
    cdef uint32_t place = 0
    cdef int64_t found = 0
    cdef int status
    while True:
        if p == end or p[0] == 44:
            if place == outputs:
                return -1
            if p != begin:
                if p == text_end or (p[0] != 44 and p[0] != 32):
                    status = read_last(begin, <size_t>(p - begin), value + found)
                else:
                    status = read_word(begin, p, POWERS_OF_TEN, True, value + found)
                if status != OK:
                    return -1
                number[found] = place
                found += 1
            place += 1
            if p == end:
                return found if place == outputs else -1
            begin = p + 1
        p += 1


def read_number_lists(batch, const uint8_t[::1] wanted, uint32_t outputs, int64_t[::1] count, uint32_t[::1] number,
                      float[::1] value):
    """Read the labels of the rows marked in ``wanted``, the first words of their spans, one after the other into ``number``
    (places in the list) and ``value``.

    ``count``, with an entry for each row, is how many elements there were, -1 where the label is no such list, 0 for a row that
    is not wanted. ``number`` and ``value`` need room for half of the bytes of all spans, and one for each row. Raises ValueError
    where they have none, or a span of the batch lies outside its text.
    """
    cdef const uint32_t[::1] start = batch.tag_start, stop = batch.tag_end
    cdef const unsigned char[::1] text = batch.text if len(batch.text) else b" "
    cdef const char *p
    cdef const char *end
    cdef const char *text_end = <const char *>&text[0] + text.shape[0]
    cdef Py_ssize_t i, rows = wanted.shape[0]
    cdef int64_t used = 0, need = most_labels(wanted, start, stop, text.shape[0])
    if count.shape[0] < rows or min(number.shape[0], value.shape[0]) < need:
        raise ValueError("an array is too short")
    with nogil:
        for i in range(rows):
            count[i] = 0
            if not wanted[i]:
                continue
            p = end = <const char *>&text[0] + start[i]
            while end != <const char *>&text[0] + stop[i] and end[0] != 32:
                end += 1
            count[i] = read_list(p, end, text_end, outputs, &number[used], &value[used])
            used += count[i] if count[i] > 0 else 0


cdef inline bint read_class_cost(const char *p, const char *stop, uint32_t *number, float *cost) noexcept nogil:
    """Read ``class[:cost]`` from ``[p, stop)``. False for anything else."""
    p = read_class(p, stop, number)
    if p == NULL:
        return False
    cost[0] = INFINITY
    return p == stop or (p[0] == 58 and read_word(p + 1, stop, POWERS_OF_TEN, True, cost) == OK)


cdef inline bint read_observation(const char *p, const char *stop, uint32_t *action, float *cost,
                                  float *probability) noexcept nogil:
    """Read ``action:cost:probability`` from ``[p, stop)``. False for anything else."""
    cdef const char *colon
    p = read_class(p, stop, action)
    if p == NULL or p == stop or p[0] != 58:
        return False
    colon = <const char *>memchr(p + 1, 58, <size_t>(stop - p - 1))
    return colon != NULL and read_word(p + 1, colon, POWERS_OF_TEN, True, cost) == OK and \
        read_word(colon + 1, stop, POWERS_OF_TEN, True, probability) == OK and isfinite(cost[0]) and 0 < probability[0] <= 1


def read_words(batch, const uint8_t[::1] wanted, uint32_t[::1] number, float[::1] cost, float[::1] probability,
               uint8_t[::1] found):
    """Read the labels of the rows marked in ``wanted``: costs of a class or, with an array for the ``probability``, which may be
    None, what was observed of an action.

    ``found`` marks those that could be read, whose other entries are filled in. All arrays have an entry per row. Raises
    ValueError where a span of the batch lies outside its text.
    """
    cdef const uint8_t[::1] flags = batch.flags
    cdef const uint32_t[::1] start = batch.tag_start, end = batch.tag_end
    cdef const unsigned char[::1] text = batch.text if len(batch.text) else b" "
    cdef const char *letters = <const char *>&text[0]
    cdef const char *stop
    cdef Py_ssize_t i, rows = wanted.shape[0]
    cdef bint observed = probability is not None
    if min(flags.shape[0], number.shape[0], cost.shape[0], found.shape[0]) < rows or (observed and probability.shape[0] < rows):
        raise ValueError("an array is too short")
    most_labels(wanted, start, end, text.shape[0])
    with nogil:
        for i in range(rows):
            found[i] = False
            if not wanted[i]:
                continue
            stop = end_of_label(letters + start[i], letters + end[i], flags[i] & TAGGED)
            if stop != NULL and observed:
                found[i] = read_observation(letters + start[i], stop, &number[i], &cost[i], &probability[i])
            elif stop != NULL:
                found[i] = read_class_cost(letters + start[i], stop, &number[i], &cost[i])
