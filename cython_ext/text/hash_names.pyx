"""Hashes of names and text values that do not stand in a line of text: the parser's, of what a line can hold of them."""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from text.murmur3 cimport murmur3
from text.name_text cimport SLACK, hash_outside_name, write_name
from text.number_parser cimport POWERS, fill_powers

cdef float POWERS_OF_TEN[POWERS]
fill_powers(POWERS_OF_TEN)


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
            hash_outside_name(start + offsets[i], <size_t>(offsets[i + 1] - offsets[i]), seed, hash_all, text_value,
                              POWERS_OF_TEN, &out[i])


def text_of(const uint8_t[::1] name, bint text_value):
    """The name as ``hash_texts`` reads it, bytes."""
    cdef size_t length = <size_t>name.shape[0]
    cdef char *buffer = <char *>malloc(length + SLACK + 1)
    if buffer == NULL:
        raise MemoryError()
    try:
        length = write_name(&name[0] if length else NULL, length, text_value, POWERS_OF_TEN, buffer)
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
