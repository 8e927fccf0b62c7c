"""Hashes of names and text values that do not stand in a line of text: the parser's, of what a line can hold of them."""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from text.murmur3 cimport hash_name, murmur3
from text.number_parser cimport POWERS, fill_powers, read_number

cdef float POWERS_OF_TEN[POWERS]
fill_powers(POWERS_OF_TEN)

cdef enum:
    SLACK = 16   # readable bytes behind a name
    SHORT = 256  # longer names are copied to the heap


cdef inline bint splits(uint8_t c, bint text_value) noexcept nogil:
    """Whether a line of text would end a name, or a text value, at this byte."""
    return c == 32 or c == 9 or c == 10 or c == 13 or c == 124 or (c == 58 and not text_value)


cdef inline bint looks_numeric(const char *p, size_t length) noexcept nogil:
    """Whether the parser would begin to read a number in ``name:text``."""
    cdef float number = 0
    cdef uint8_t first = <uint8_t>p[0]
    if length == 0:
        return True
    if first > 57 and not (first | 32 == 101 or first | 32 == 105 or first | 32 == 110):  # e, inf, nan
        return False
    return read_number(p, p + length, POWERS_OF_TEN, &number) != p


cdef inline size_t write_name(const uint8_t *source, size_t length, bint text_value, char *buffer) noexcept nogil:
    """Write the name as a line can hold it, with slack behind; ``buffer`` has room for SLACK + 1 bytes more. Returns its length."""
    cdef size_t i
    cdef char *name = buffer + 1
    for i in range(length):
        name[i] = 95 if splits(source[i], text_value) else <char>source[i]
    memset(name + length, 0, SLACK)
    if length == 0 or (text_value and looks_numeric(name, length)):
        buffer[0] = 95
        return length + 1
    for i in range(length + SLACK):
        buffer[i] = name[i]
    return length


cdef inline int hash_one(const uint8_t *source, size_t length, uint32_t seed, bint hash_all, bint text_value,
                         uint32_t *out) except -1 nogil:
    cdef char short_name[SHORT + SLACK + 1]
    cdef char *buffer = short_name
    if length > SHORT:
        buffer = <char *>malloc(length + SLACK + 1)
        if buffer == NULL:
            raise MemoryError()
    length = write_name(source, length, text_value, buffer)
    out[0] = hash_name(buffer, length, seed, hash_all)
    if buffer != short_name:
        free(buffer)
    return 0


def hash_texts(const uint8_t[::1] text, const int64_t[::1] offsets, uint32_t seed, bint hash_all, bint text_value,
               uint32_t[::1] out):
    """Hash the ``n`` names ``text[offsets[i]:offsets[i + 1]]`` into ``out``, uint32[n].

    White space, ``|`` and, unless it is a ``text_value``, ``:`` count as ``_``; so does an empty name, and ``_`` is put before a
    text value that reads like a number. Raises IndexError for offsets outside the text.
    """
    cdef Py_ssize_t i
    cdef const uint8_t *start = &text[0] if text.shape[0] else NULL
    if offsets.shape[0] != out.shape[0] + 1:
        raise IndexError("there must be one offset more than names")
    with nogil:
        for i in range(out.shape[0]):
            if not 0 <= offsets[i] <= offsets[i + 1] <= text.shape[0]:
                raise IndexError("an offset is outside the text")
            hash_one(start + offsets[i], <size_t>(offsets[i + 1] - offsets[i]), seed, hash_all, text_value, &out[i])


def text_of(const uint8_t[::1] name, bint text_value):
    """The name as ``hash_texts`` reads it, bytes."""
    cdef size_t length = <size_t>name.shape[0]
    cdef char *buffer = <char *>malloc(length + SLACK + 1)
    if buffer == NULL:
        raise MemoryError()
    try:
        length = write_name(&name[0] if length else NULL, length, text_value, buffer)
        return buffer[:length]
    finally:
        free(buffer)


def hash_numbers(const int64_t[::1] numbers, uint32_t seed, uint32_t[::1] out):
    """Hash the digits of ``numbers``, which are not negative, into ``out``, uint32[n], as ``--hash all`` does."""
    cdef char digits[20 + SLACK]
    cdef char *p
    cdef int64_t rest
    cdef Py_ssize_t i
    if numbers.shape[0] != out.shape[0]:
        raise IndexError("there must be as many hashes as numbers")
    memset(digits, 0, sizeof(digits))
    with nogil:
        for i in range(out.shape[0]):
            rest = numbers[i]
            p = digits + 20
            while True:
                p -= 1
                p[0] = <char>(48 + rest % 10)
                rest //= 10
                if rest == 0:
                    break
            out[i] = murmur3(p, <size_t>(digits + 20 - p), seed)
