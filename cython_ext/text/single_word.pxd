"""Labels of one word that begins with digits, as most labels of groups and of logged decisions do."""

from libc.stdint cimport uint32_t


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


cdef inline const char *read_digits(const char *p, uint32_t *number) noexcept nogil:
    """Behind up to nine digits, which are there before a space; at ``p`` where there are none."""
    cdef int digits = 0
    number[0] = 0
    while <unsigned char>(p[0] - 48) <= 9 and digits < 9:
        number[0] = 10 * number[0] + <uint32_t>(p[0] - 48)
        digits += 1
        p += 1
    return p
