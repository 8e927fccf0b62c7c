"""The words of a text in lower case, for features that do not depend on how a sentence begins and where it ends."""

from libc.stdint cimport uint16_t, uint32_t
from libc.string cimport memset


cdef inline bint continues(char c) noexcept nogil:
    return (<unsigned char>c & 0xC0) == 0x80


cdef inline uint32_t read_character(const char *p, size_t left, size_t *size) noexcept nogil:
    """The character at ``p`` and its bytes, of which there are ``left``; 0 beyond U+FFFF and, of one byte, where UTF-8 is wrong."""
    cdef uint32_t c = <unsigned char>p[0], code
    size[0] = 1
    if c < 0x80:
        return c
    if 0xC2 <= c < 0xE0 and left >= 2 and continues(p[1]):
        size[0] = 2
        return (c & 0x1F) << 6 | (<unsigned char>p[1] & 0x3F)
    if 0xE0 <= c < 0xF0 and left >= 3 and continues(p[1]) and continues(p[2]):
        code = (c & 0x0F) << 12 | <uint32_t>(<unsigned char>p[1] & 0x3F) << 6 | (<unsigned char>p[2] & 0x3F)
        size[0] = 3 if code >= 0x800 else 1
        return code if code >= 0x800 else 0
    if 0xF0 <= c < 0xF5 and left >= 4 and continues(p[1]) and continues(p[2]) and continues(p[3]):
        size[0] = 4
    return 0


cdef inline void write_character(uint32_t code, size_t size, char *to) noexcept nogil:
    if size == 1:
        to[0] = <char>code
    elif size == 2:
        to[0], to[1] = <char>(0xC0 | code >> 6), <char>(0x80 | (code & 0x3F))
    else:
        to[0], to[1], to[2] = <char>(0xE0 | code >> 12), <char>(0x80 | (code >> 6 & 0x3F)), <char>(0x80 | (code & 0x3F))


cdef inline void lower_words(const char *p, size_t length, const uint16_t *lower, char *to) noexcept nogil:
    """Write as many bytes to ``to``, which may be ``p``: words of two characters or more as they are in ``lower`` (uint16[65536],
    0 for what is in no word), blanks in place of all else.
    """
    cdef size_t i = 0, begin = 0, size = 0
    cdef int characters = 0
    cdef uint32_t code
    while i < length:
        code = lower[read_character(p + i, length - i, &size)]
        if code:
            write_character(code, size, to + i)
            characters += 1
        else:
            if characters == 1:
                memset(to + begin, 32, i - begin)
            memset(to + i, 32, size)
            characters, begin = 0, i + size
        i += size
    if characters == 1:
        memset(to + begin, 32, length - begin)
