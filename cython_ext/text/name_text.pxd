"""Names from outside of a line of text, written as a line can hold them, and their hashes."""

from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from base.byte_scan cimport delimiters
from text.murmur3 cimport hash_name
from text.number_parser cimport read_number


cdef enum:
    SLACK = 16   # readable bytes behind a name
    SHORT = 256  # longer names are copied to the heap


cdef inline bint splits(uint8_t c, bint text_value) noexcept nogil:
    """Whether a line of text would end a name, or a text value, at this byte."""
    return c == 32 or c == 9 or c == 10 or c == 13 or c == 124 or (c == 58 and not text_value)


cdef inline bint looks_numeric(const char *p, size_t length, const float *powers) noexcept nogil:
    """Whether the parser would begin to read a number in ``name:text``."""
    cdef float number = 0
    cdef uint8_t first = <uint8_t>p[0]
    if length == 0:
        return True
    if first > 57 and not (first | 32 == 101 or first | 32 == 105 or first | 32 == 110):  # e, inf, nan
        return False
    return read_number(p, p + length, powers, &number) != p


cdef inline size_t write_name(const uint8_t *source, size_t length, bint text_value, const float *powers,
                              char *buffer) noexcept nogil:
    """Write the name as a line can hold it, with slack behind; returns its length. ``buffer`` has room for SLACK + 1 bytes more."""
    cdef size_t i
    memcpy(buffer, source, length)
    memset(buffer + length, 0, SLACK)
    if length > 16 or delimiters(buffer):
        for i in range(length):
            if splits(source[i], text_value):
                buffer[i] = 95
    if length == 0 or (text_value and looks_numeric(buffer, length, powers)):
        for i in range(length + SLACK, 0, -1):
            buffer[i] = buffer[i - 1]
        buffer[0] = 95
        return length + 1
    return length


cdef inline int hash_outside_name(const uint8_t *source, size_t length, uint32_t seed, bint hash_all, bint text_value,
                                  const float *powers, uint32_t *out) except -1 nogil:
    cdef char short_name[SHORT + SLACK + 1]
    cdef char *buffer = short_name
    if length > SHORT:
        buffer = <char *>malloc(length + SLACK + 1)
        if buffer == NULL:
            raise MemoryError()
    length = write_name(source, length, text_value, powers, buffer)
    out[0] = hash_name(buffer, length, seed, hash_all)
    if buffer != short_name:
        free(buffer)
    return 0
