"""A column of 32-bit words as a dictionary and codes of a few bits each.

Layout: ``width`` uint32, ``size`` uint32, the dictionary uint32[size], the codes, ``width`` bits each, the lowest first,
in whole 64-bit words and one more. ``width`` is 1 to 16, or 32: no dictionary, the words themselves. With ``width`` 64 one
word is marked: it stands where ``size`` does, a bit for every word behind it, 1 for the others, in whole 32-bit words, and
then these as a column of their own. As every word takes a bit at least, what a column unpacks to is bounded by its own size.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from base.byte_scan cimport first_bit, prefetch

cdef enum:
    MOST = 1 << 16         # words of a dictionary
    WIDEST = 16            # bits of a code
    RAW = 32               # width of words that stand for themselves
    MARKED = 64            # width where one word is marked
    FAR = 256              # places looked at for a word: a dictionary of more collisions is not worth its time
    SOON = 16              # words ahead whose places are asked for
    SAMPLE = 64            # words looked at for one to mark
    EARLY = 1 << 14        # words of which no more than a quarter may differ, or a dictionary is given up in a hurry
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


cdef inline size_t number_words(const uint32_t *word, size_t n, uint64_t *place, int shift, bint hurry,
                                uint32_t *dictionary, uint32_t *codes) noexcept nogil:
    """Each word's place in the order of first appearance; how many there are, or MOST + 1 for too many or too like ones.

    In a hurry, too many are those of which many differ early: codes and dictionary would take more than half the room of the
    words, as far as one can tell, and to make and to read these takes longer than to write and to read what they save.
    ``place``, 2^(32 - shift) of them, is an open hash table: a word and, above it, its code and 1; 0 where nothing is.
    """
    cdef size_t i, size = 0
    cdef uint32_t at, far, code = 0, mask = (<uint32_t>1 << (32 - shift)) - 1
    for i in range(n):
        if i + SOON < n:
            prefetch(place + ((word[i + SOON] * <uint32_t>2654435769) >> shift))
        if i and word[i] == word[i - 1]:
            codes[i] = code
            continue
        at = (word[i] * <uint32_t>2654435769) >> shift
        far = 0
        while place[at] and <uint32_t>place[at] != word[i]:
            at = (at + 1) & mask
            far += 1
            if far == FAR:
                return MOST + 1
        if not place[at]:
            if size == MOST or (hurry and i < EARLY and size == EARLY // 4):
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


cdef bytes pack_words(const uint32_t *word, size_t n, size_t enough):
    """A dictionary and codes, or the words themselves, in a hurry where these take no more than ``enough`` bytes."""
    cdef size_t size = 0, slots = 64, length
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
            size = number_words(word, n, <uint64_t *>room, shift, packed_size(n, RAW, 0) <= enough, room + 2 * slots,
                                room + 2 * slots + MOST)
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


cdef inline size_t mark_words(const uint32_t *word, size_t n, uint32_t marked, uint32_t *bits,
                              uint32_t *others) noexcept nogil:
    """A bit for every word that is not ``marked``, and these one after the other; returns how many there are."""
    cdef size_t first, found = 0
    cdef uint32_t i, other, marks
    for first in range(0, n, 32):
        marks = 0
        for i in range(<uint32_t>min(n - first, <size_t>32)):
            other = word[first + i] != marked
            marks |= other << i
            others[found] = word[first + i]
            found += other
        bits[first // 32] = marks
    return found


cdef inline bint find_common(const uint32_t *word, size_t n, uint32_t *common) noexcept nogil:
    """The word that most of a sample are, if there is one and it is most of the words, but not all."""
    cdef size_t i, votes = 0, count = 0, looks = SAMPLE if n >= SAMPLE else 0
    for i in range(looks):
        if votes == 0:
            common[0] = word[i * (n // SAMPLE)]
        votes = votes + 1 if word[i * (n // SAMPLE)] == common[0] else votes - 1
    if votes == 0:
        return False
    for i in range(n):
        count += word[i] == common[0]
    return n < 2 * count < 2 * n


def pack(const uint32_t[::1] words, bint marks=False, size_t enough=0):
    """The column ``words``, uint32[n], as bytes. With ``marks`` one that only ``unpack`` can read. Raises MemoryError.

    A dictionary of many words is not made where the words themselves take no more than ``enough`` bytes.
    """
    cdef size_t n = words.shape[0], size, bits = 4 * ((n + 31) // 32), found
    cdef const uint32_t *word = &words[0] if n else NULL
    cdef uint32_t marked = 0, width, distinct
    cdef uint8_t head[HEAD]
    cdef uint32_t *room
    if not (marks and find_common(word, n, &marked)):
        return pack_words(word, n, enough)
    room = <uint32_t *>malloc(bits + 4 * n)
    if room == NULL:
        raise MemoryError("not enough memory to pack a batch")
    try:
        with nogil:
            found = mark_words(word, n, marked, room, room + bits // 4)
        others = pack_words(room + bits // 4, found, enough)
        memcpy(&width, PyBytes_AS_STRING(others), 4)
        memcpy(&distinct, PyBytes_AS_STRING(others) + 4, 4)
        size = packed_size(n, width if width == RAW else width_of(distinct + 1), distinct + 1)
        size = min(size, packed_size(n, RAW, 0))
        if size <= HEAD + bits + <size_t>len(others):
            return pack_words(word, n, enough)
        write_words(head, MARKED, marked)
        return head[:HEAD] + (<uint8_t *>room)[:bits] + others
    finally:
        free(room)


def pack_bytes(const uint8_t[::1] numbers, size_t enough=0):
    """The same for uint8[n], as ``unpack_bytes`` reads it."""
    cdef size_t i, n = numbers.shape[0]
    cdef uint32_t *word = <uint32_t *>malloc(4 * n + 1)
    if word == NULL:
        raise MemoryError("not enough memory to pack a batch")
    try:
        for i in range(n):
            word[i] = numbers[i]
        return pack_words(word, n, enough)
    finally:
        free(word)


def pack_offsets(const uint32_t[::1] starts, size_t enough=0):
    """The lengths between ascending numbers, uint32[n + 1], as ``unpack_offsets`` reads them."""
    cdef size_t i, n = max(starts.shape[0] - 1, 0)
    cdef uint32_t *word = <uint32_t *>malloc(4 * n + 1)
    if word == NULL:
        raise MemoryError("not enough memory to pack a batch")
    try:
        for i in range(n):
            word[i] = starts[i + 1] - starts[i]
        return pack_words(word, n, enough)
    finally:
        free(word)


def join_pieces(const uint8_t[::1] text, const uint32_t[::1] start, const uint32_t[::1] end, uint32_t[::1] offsets):
    """The bytes between n starts and ends in a row; ``offsets``, uint32[n + 1], takes where each piece begins in them.

    A piece that ends before it starts is empty. Raises IndexError for one that is not in the text.
    """
    cdef size_t i, n = start.shape[0], total = 0
    cdef uint8_t *out
    if <size_t>end.shape[0] != n or <size_t>offsets.shape[0] != n + 1:
        raise IndexError("there are not as many starts as ends")
    for i in range(n):
        offsets[i] = <uint32_t>total
        if end[i] > start[i]:
            if end[i] > <size_t>text.shape[0]:
                raise IndexError("a piece lies outside the text")
            total += end[i] - start[i]
    offsets[n] = <uint32_t>total
    joined = PyBytes_FromStringAndSize(NULL, total)
    out = <uint8_t *>PyBytes_AS_STRING(joined)
    for i in range(n):
        if end[i] > start[i]:
            memcpy(out + offsets[i], &text[start[i]], end[i] - start[i])
    return joined


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


cdef size_t open_marks(const uint8_t[::1] data, size_t offset, size_t n, uint32_t *marked) except? 1:
    """Where the bits of a column with a marked word end; 0 where it is another column. Raises ValueError."""
    cdef uint32_t width = 0
    cdef size_t end = offset + HEAD + 4 * ((n + 31) // 32)
    if offset > <size_t>data.shape[0] or <size_t>data.shape[0] - offset < HEAD:
        raise ValueError("a column is cut short")
    memcpy(&width, &data[offset], 4)
    if width != MARKED:
        return 0
    if n > 8 * <size_t>data.shape[0] or end > <size_t>data.shape[0]:
        raise ValueError("a column is cut short")
    memcpy(marked, &data[offset] + 4, 4)
    return end


cdef inline uint32_t bits_at(const uint8_t *bits, size_t place, size_t n) noexcept nogil:
    """The bits of 32 words, those beyond the last left out."""
    cdef uint32_t found
    memcpy(&found, bits + 4 * place, 4)
    return found if n - 32 * place >= 32 else found & (<uint32_t>1 << (n - 32 * place)) - 1


cdef inline uint32_t count_bits(uint32_t x) noexcept nogil:
    x = x - (x >> 1 & 0x55555555)
    x = (x & 0x33333333) + (x >> 2 & 0x33333333)
    return (x + (x >> 4) & 0x0f0f0f0f) * <uint32_t>0x01010101 >> 24


cdef size_t unpack_marked(const uint8_t[::1] data, size_t offset, size_t end, uint32_t marked, uint32_t[::1] out) except 0:
    """Fill ``out`` from the bits between ``offset`` and ``end`` and the others behind."""
    cdef const uint8_t *bits = &data[offset] if end > offset else NULL
    cdef size_t n = out.shape[0], others = 0, place, i
    cdef uint32_t left, worst = 0
    cdef Codes column
    for place in range((n + 31) // 32):
        others += count_bits(bits_at(bits, place, n))
    end = open_codes(data, end, others, &column)
    others = 0
    with nogil:
        for i in range(n):
            out[i] = marked
        for place in range((n + 31) // 32):
            left = bits_at(bits, place, n)
            while left:
                out[32 * place + first_bit(left)] = word_at(&column, others, &worst)
                others += 1
                left &= left - 1
    check_codes(&column, worst, others)
    return end


def unpack(const uint8_t[::1] data, size_t offset, uint32_t[::1] out):
    """Fill ``out``, uint32[n], from the column at ``offset`` and return where it ends. Raises ValueError."""
    cdef Codes column
    cdef uint32_t worst = 0, marked = 0
    cdef size_t i, n = out.shape[0], end = open_marks(data, offset, n, &marked)
    if end:
        return unpack_marked(data, offset + HEAD, end, marked, out)
    end = open_codes(data, offset, n, &column)
    with nogil:
        if column.width == RAW and n:
            memcpy(&out[0], column.codes, 4 * n)
        else:
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
