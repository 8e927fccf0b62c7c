"""Labels that are lists of numbers, ``3.5,,-1``; each is read as ``text/labels.pxd`` reads a label that is one number."""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from base.status cimport BAD_LABEL_NUMBER, OK
from text.label_spans cimport most_labels
from text.labels cimport read_word
from text.number_parser cimport POWERS, fill_powers

cdef float POWERS_OF_TEN[POWERS]
fill_powers(POWERS_OF_TEN)

cdef enum:
    LONGEST = 1024  # bytes of a number


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
