"""A column of 32-bit words as a dictionary and codes of a few bits each.

Layout: ``width`` uint32, ``size`` uint32, the dictionary uint32[size], the codes, ``width`` bits each, the lowest first,
in whole 64-bit words and one more. ``width`` is 1 to 16, or 32: no dictionary, the words themselves. As every word takes a
bit at least, what a column unpacks to is bounded by its own size.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cdef enum:
    MOST = 1 << 16         # words of a dictionary
    WIDEST = 16            # bits of a code
    RAW = 32               # width of words that stand for themselves
    HEAD = 8               # bytes of width and size


cdef struct Codes:
    uint32_t width
    uint32_t size
    const uint8_t *dictionary
    const uint8_t *codes


cdef inline size_t packed_size(size_t n, uint32_t width, size_t size) noexcept nogil:
    if width == RAW:
        return HEAD + 4 * n
    return HEAD + 4 * size + 8 * ((n * width + 63) // 64 + 1)


cdef inline uint32_t width_of(size_t size) noexcept nogil:
    """Bits of a code for so many words."""
    cdef uint32_t width = 1
    while (<size_t>1 << width) < size:
        width += 1
    return width


cdef inline void write_words(uint8_t *out, uint32_t width, uint32_t size) noexcept nogil:
    memcpy(out, &width, 4)
    memcpy(out + 4, &size, 4)


cdef inline size_t number_words(const uint32_t *word, size_t n, uint64_t *place, int shift, uint32_t *dictionary,
                                uint32_t *codes) noexcept nogil:
    """Each word's place in the order of first appearance; how many there are, or MOST + 1 for too many.

    ``place``, 2^(32 - shift) of them, is an open hash table: a word and, above it, its code and 1; 0 where nothing is.
    """
    cdef size_t i, size = 0
    cdef uint32_t at, code = 0, mask = (<uint32_t>1 << (32 - shift)) - 1
    for i in range(n):
        if i and word[i] == word[i - 1]:
            codes[i] = code
            continue
        at = (word[i] * <uint32_t>2654435769) >> shift
        while place[at] and <uint32_t>place[at] != word[i]:
            at = (at + 1) & mask
        if not place[at]:
            if size == MOST:
                return MOST + 1
            dictionary[size] = word[i]
            size += 1
            place[at] = <uint64_t>size << 32 | word[i]
        code = <uint32_t>(place[at] >> 32) - 1
        codes[i] = code
    return size


cdef inline void write_codes(const uint32_t *codes, size_t n, uint32_t width, uint8_t *out) noexcept nogil:
    cdef uint64_t waiting = 0
    cdef uint32_t bits = 0
    cdef size_t i
    for i in range(n):
        waiting |= <uint64_t>codes[i] << bits
        bits += width
        if bits >= 64:
            memcpy(out, &waiting, 8)
            out += 8
            bits -= 64
            waiting = <uint64_t>codes[i] >> (width - bits) if bits else 0
    memcpy(out, &waiting, 8)


def pack(const uint32_t[::1] words):
    """The column ``words``, uint32[n], as bytes. Raises MemoryError."""
    cdef size_t n = words.shape[0], size = 0, slots = 64, length
    cdef const uint32_t *word = &words[0] if n else NULL
    cdef int shift = 26
    cdef uint32_t width
    cdef uint32_t *room
    cdef uint8_t *out
    while slots < 2 * min(n, <size_t>MOST):
        slots *= 2
        shift -= 1
    room = <uint32_t *>malloc(4 * (2 * slots + MOST + n))
    if room == NULL:
        raise MemoryError("not enough memory to pack a batch")
    try:
        with nogil:
            memset(room, 0, 8 * slots)
            size = number_words(word, n, <uint64_t *>room, shift, room + 2 * slots, room + 2 * slots + MOST)
            width = RAW if size > MOST else width_of(size)
            if packed_size(n, width, size) >= packed_size(n, RAW, 0):
                width = RAW
            length = packed_size(n, width, size)
        packed = PyBytes_FromStringAndSize(NULL, length)
        out = <uint8_t *>PyBytes_AS_STRING(packed)
        with nogil:
            memset(out + length - 8, 0, 8)
            if width == RAW:
                write_words(out, RAW, 0)
                if n:
                    memcpy(out + HEAD, word, 4 * n)
            else:
                write_words(out, width, <uint32_t>size)
                memcpy(out + HEAD, room + 2 * slots, 4 * size)
                write_codes(room + 2 * slots + MOST, n, width, out + HEAD + 4 * size)
        return packed
    finally:
        free(room)


cdef size_t open_codes(const uint8_t[::1] data, size_t offset, size_t n, Codes *column) except 0:
    """Where the column that begins at ``offset`` ends. Raises ValueError when it is not one of ``n`` words."""
    cdef size_t left, need
    if offset > <size_t>data.shape[0] or <size_t>data.shape[0] - offset < HEAD:
        raise ValueError("a column is cut short")
    left = data.shape[0] - offset
    memcpy(&column.width, &data[offset], 4)
    memcpy(&column.size, &data[offset + 4], 4)
    if not (1 <= column.width <= WIDEST or column.width == RAW) or n > 8 * left:
        raise ValueError("a column has no such width")
    if column.size > (0 if column.width == RAW else MOST) or (n and not column.size and column.width != RAW):
        raise ValueError("a column has no such dictionary")
    need = packed_size(n, column.width, column.size)
    if need > left:
        raise ValueError("a column is cut short")
    column.dictionary = &data[offset] + HEAD
    column.codes = column.dictionary + 4 * <size_t>column.size
    return offset + need


cdef inline uint32_t word_at(const Codes *column, size_t i, uint32_t *worst) noexcept nogil:
    """The ith word; ``worst`` is the highest code so far, which may be beyond the dictionary."""
    cdef uint64_t bits
    cdef uint32_t code, word
    if column.width == RAW:
        memcpy(&word, column.codes + 4 * i, 4)
        return word
    memcpy(&bits, column.codes + (i * column.width >> 3), 8)
    code = <uint32_t>(bits >> (i * column.width & 7)) & ((<uint32_t>1 << column.width) - 1)
    worst[0] = max(worst[0], code)
    memcpy(&word, column.dictionary + 4 * <size_t>(code if code < column.size else 0), 4)
    return word


cdef inline int check_codes(const Codes *column, uint32_t worst, size_t n) except -1:
    if n and column.width != RAW and worst >= column.size:
        raise ValueError("a code is beyond its dictionary")
    return 0


def unpack(const uint8_t[::1] data, size_t offset, uint32_t[::1] out):
    """Fill ``out``, uint32[n], from the column at ``offset`` and return where it ends. Raises ValueError."""
    cdef Codes column
    cdef size_t i, n = out.shape[0], end = open_codes(data, offset, n, &column)
    cdef uint32_t worst = 0
    with nogil:
        for i in range(n):
            out[i] = word_at(&column, i, &worst)
    check_codes(&column, worst, n)
    return end


def unpack_bytes(const uint8_t[::1] data, size_t offset, uint8_t[::1] out):
    """The same for uint8[n]."""
    cdef Codes column
    cdef size_t i, n = out.shape[0], end = open_codes(data, offset, n, &column)
    cdef uint32_t worst = 0
    with nogil:
        for i in range(n):
            out[i] = <uint8_t>word_at(&column, i, &worst)
    check_codes(&column, worst, n)
    return end


def unpack_offsets(const uint8_t[::1] data, size_t offset, uint32_t[::1] out, size_t total):
    """The same for lengths that fill ``out``, uint32[n + 1], with where each begins; they must sum to ``total``."""
    cdef Codes column
    cdef size_t i, n = out.shape[0] - 1, end = open_codes(data, offset, n, &column)
    cdef uint64_t at = 0
    cdef uint32_t worst = 0
    with nogil:
        for i in range(n):
            out[i] = <uint32_t>at
            at += word_at(&column, i, &worst)
        out[n] = <uint32_t>at
    check_codes(&column, worst, n)
    if at != total or at >= <uint64_t>1 << 32:
        raise ValueError("lengths do not fit together")
    return end
