"""Packing of columns of 32-bit words into a dictionary and codes of a few bits each.

Layout: ``width`` uint32, ``size`` uint32, the dictionary uint32[size], then the codes of ``width`` bits each, lowest bits
first, in 64-bit words, the last of which is padding. ``width`` is 1 to 16, or 32 for no dictionary: then the words themselves
follow. With ``width`` 64 one word is marked: the field ``size`` holds the marked word, a bit for every word of the column
follows (0 where it is the marked word) in 32-bit words, then the other words as a column of their own. Every word takes at
least a bit, so the size of the unpacked column is bounded by that of the packed one.
"""

from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from base.byte_scan cimport first_bit, prefetch

cdef enum:
    MAX_DICTIONARY = 1 << 16  # words of a dictionary at most
    MAX_WIDTH = 16            # bits of a code at most
    RAW = 32                  # width of a column without a dictionary
    MARKED = 64               # width of a column with a marked word
    MAX_PROBES = 256          # slots probed for a word; with more collisions building a dictionary takes too long
    PREFETCH_DISTANCE = 16    # words between the prefetch of a slot and its use
    SAMPLE = 64               # words sampled to find one to mark
    EARLY_WORDS = 1 << 14     # encode_words may give up if more than a quarter of the first words are distinct
    HEADER_BYTES = 8          # of width and size


cdef struct Codes:         # a packed column
    uint32_t width             # bits of a code, or RAW
    uint32_t size              # words of the dictionary
    const uint8_t *dictionary  # uint32[size], unaligned
    const uint8_t *codes       # (n * width bits)


cdef inline size_t packed_size(size_t n, uint32_t width, size_t size) noexcept nogil:
    if width == RAW:
        return HEADER_BYTES + 4 * n
    return HEADER_BYTES + 4 * size + 8 * ((n * width + 63) // 64 + 1)


cdef inline uint32_t width_of(size_t size) noexcept nogil:
    """The bits of a code for ``size`` distinct words."""
    cdef uint32_t width = 1
    while (<size_t>1 << width) < size:
        width += 1
    return width


cdef inline void write_words(uint8_t *out, uint32_t width, uint32_t size) noexcept nogil:
    memcpy(out, &width, 4)
    memcpy(out + 4, &size, 4)


cdef inline size_t encode_words(const uint32_t *word, size_t n, uint64_t *table, int shift, bint give_up_early,
                                uint32_t *dictionary, uint32_t *codes) noexcept nogil:
    """Encode the words by their number in order of first appearance: fills ``dictionary`` and ``codes`` and returns the number
    of distinct words, or MAX_DICTIONARY + 1 where there are too many or too many of them collide.

    With ``give_up_early`` that is also returned where a quarter of the first words are distinct: dictionary and codes would
    then take more than half the bytes of the words, and packing and unpacking would take longer than writing and reading the
    bytes saved. ``table``, uint64[2^(32 - shift)], is an open hash table: a word and, in the upper half, its code + 1; 0 for an
    empty slot.
    """
    cdef size_t i, size = 0
    cdef uint32_t slot, probes, code = 0, mask = (<uint32_t>1 << (32 - shift)) - 1
    for i in range(n):
        if i + PREFETCH_DISTANCE < n:
            prefetch(table + ((word[i + PREFETCH_DISTANCE] * <uint32_t>2654435769) >> shift))
        if i and word[i] == word[i - 1]:
            codes[i] = code
            continue
        slot = (word[i] * <uint32_t>2654435769) >> shift
        probes = 0
        while table[slot] and <uint32_t>table[slot] != word[i]:
            slot = (slot + 1) & mask
            probes += 1
            if probes == MAX_PROBES:
                return MAX_DICTIONARY + 1
        if not table[slot]:
            if size == MAX_DICTIONARY or (give_up_early and i < EARLY_WORDS and size == EARLY_WORDS // 4):
                return MAX_DICTIONARY + 1
            dictionary[size] = word[i]
            size += 1
            table[slot] = <uint64_t>size << 32 | word[i]
        code = <uint32_t>(table[slot] >> 32) - 1
        codes[i] = code
    return size


cdef inline void write_codes(const uint32_t *codes, size_t n, uint32_t width, uint8_t *out) noexcept nogil:
    cdef uint64_t pending = 0
    cdef uint32_t bits = 0
    cdef size_t i
    for i in range(n):
        pending |= <uint64_t>codes[i] << bits
        bits += width
        if bits >= 64:
            memcpy(out, &pending, 8)
            out += 8
            bits -= 64
            pending = <uint64_t>codes[i] >> (width - bits) if bits else 0
    memcpy(out, &pending, 8)


cdef bytes pack_unmarked(const uint32_t *word, size_t n, size_t budget):
    """Pack the words without marking one. Gives up early on a dictionary where the words themselves fit into ``budget`` bytes."""
    cdef size_t size = 0, slots = 64, length
    cdef int shift = 26
    cdef uint32_t width
    cdef uint32_t *memory
    cdef uint8_t *out
    while slots < 2 * min(n, <size_t>MAX_DICTIONARY):
        slots *= 2
        shift -= 1
    memory = <uint32_t *>malloc(4 * (2 * slots + MAX_DICTIONARY + n))
    if memory == NULL:
        raise MemoryError("not enough memory to pack a batch")
    try:
        with nogil:
            memset(memory, 0, 8 * slots)
            size = encode_words(word, n, <uint64_t *>memory, shift, packed_size(n, RAW, 0) <= budget, memory + 2 * slots,
                                memory + 2 * slots + MAX_DICTIONARY)
            width = RAW if size > MAX_DICTIONARY else width_of(size)
            if packed_size(n, width, size) >= packed_size(n, RAW, 0):
                width = RAW
            length = packed_size(n, width, size)
        packed = PyBytes_FromStringAndSize(NULL, length)
        out = <uint8_t *>PyBytes_AsString(packed)
        with nogil:
            memset(out + length - 8, 0, 8)
            if width == RAW:
                write_words(out, RAW, 0)
                if n:
                    memcpy(out + HEADER_BYTES, word, 4 * n)
            else:
                write_words(out, width, <uint32_t>size)
                memcpy(out + HEADER_BYTES, memory + 2 * slots, 4 * size)
                write_codes(memory + 2 * slots + MAX_DICTIONARY, n, width, out + HEADER_BYTES + 4 * size)
        return packed
    finally:
        free(memory)


cdef inline size_t split_marked(const uint32_t *word, size_t n, uint32_t marked, uint32_t *bits,
                                uint32_t *others) noexcept nogil:
    """Set a bit for every word that is not ``marked`` and copy these to ``others``; returns their number."""
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


cdef inline bint find_majority(const uint32_t *word, size_t n, uint32_t *majority) noexcept nogil:
    """Find the word that makes up more than half of the words, by a vote of a sample (Boyer and Moore); False if there is none,
    or if all words are the same.
    """
    cdef size_t i, votes = 0, count = 0, samples = SAMPLE if n >= SAMPLE else 0
    for i in range(samples):
        if votes == 0:
            majority[0] = word[i * (n // SAMPLE)]
        votes = votes + 1 if word[i * (n // SAMPLE)] == majority[0] else votes - 1
    if votes == 0:
        return False
    for i in range(n):
        count += word[i] == majority[0]
    return n < 2 * count < 2 * n


def pack(const uint32_t[::1] words, bint allow_marked=False, size_t budget=0):
    """The column ``words``, uint32[n], as bytes. With ``allow_marked`` the result may have a marked word,
    which only ``unpack`` can read. Raises MemoryError.

    Where the words themselves fit into ``budget`` bytes, building a large dictionary is given up early.
    """
    cdef size_t n = words.shape[0], size, bits = 4 * ((n + 31) // 32), found
    cdef const uint32_t *word = &words[0] if n else NULL
    cdef uint32_t marked = 0, width, distinct
    cdef uint8_t head[HEADER_BYTES]
    cdef uint32_t *memory
    if not (allow_marked and find_majority(word, n, &marked)):
        return pack_unmarked(word, n, budget)
    memory = <uint32_t *>malloc(bits + 4 * n)
    if memory == NULL:
        raise MemoryError("not enough memory to pack a batch")
    try:
        with nogil:
            found = split_marked(word, n, marked, memory, memory + bits // 4)
        others = pack_unmarked(memory + bits // 4, found, budget)
        memcpy(&width, PyBytes_AsString(others), 4)
        memcpy(&distinct, PyBytes_AsString(others) + 4, 4)
        size = packed_size(n, width if width == RAW else width_of(distinct + 1), distinct + 1)
        size = min(size, packed_size(n, RAW, 0))
        if size <= HEADER_BYTES + bits + <size_t>len(others):
            return pack_unmarked(word, n, budget)
        write_words(head, MARKED, marked)
        return head[:HEADER_BYTES] + (<uint8_t *>memory)[:bits] + others
    finally:
        free(memory)


def pack_bytes(const uint8_t[::1] numbers, size_t budget=0):
    """Pack uint8[n]; ``unpack_bytes`` unpacks it."""
    cdef size_t i, n = numbers.shape[0]
    cdef uint32_t *word = <uint32_t *>malloc(4 * n + 1)
    if word == NULL:
        raise MemoryError("not enough memory to pack a batch")
    try:
        for i in range(n):
            word[i] = numbers[i]
        return pack_unmarked(word, n, budget)
    finally:
        free(word)


def pack_offsets(const uint32_t[::1] starts, size_t budget=0):
    """Pack the differences of ascending offsets, uint32[n + 1]; ``unpack_offsets`` unpacks them."""
    cdef size_t i, n = max(starts.shape[0] - 1, 0)
    cdef uint32_t *word = <uint32_t *>malloc(4 * n + 1)
    if word == NULL:
        raise MemoryError("not enough memory to pack a batch")
    try:
        for i in range(n):
            word[i] = starts[i + 1] - starts[i]
        return pack_unmarked(word, n, budget)
    finally:
        free(word)


def join_pieces(const uint8_t[::1] text, const uint32_t[::1] start, const uint32_t[::1] end, uint32_t[::1] offsets):
    """Concatenate the pieces ``text[start[i]:end[i]]``; ``offsets``, uint32[n + 1], is filled with their offsets in the result.

    A piece that ends before it starts is empty. Raises IndexError for a piece outside the text.
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
    out = <uint8_t *>PyBytes_AsString(joined)
    for i in range(n):
        if end[i] > start[i]:
            memcpy(out + offsets[i], &text[start[i]], end[i] - start[i])
    return joined


cdef size_t open_codes(const uint8_t[::1] data, size_t offset, size_t n, Codes *column) except 0:
    """Open the packed column at ``offset`` and return the offset of its end. Raises ValueError unless it holds ``n`` words."""
    cdef size_t left, need
    if offset > <size_t>data.shape[0] or <size_t>data.shape[0] - offset < HEADER_BYTES:
        raise ValueError("a column is cut short")
    left = data.shape[0] - offset
    memcpy(&column.width, &data[offset], 4)
    memcpy(&column.size, &data[offset + 4], 4)
    if not (1 <= column.width <= MAX_WIDTH or column.width == RAW) or n > 8 * left:
        raise ValueError("a column has no such width")
    if column.size > (0 if column.width == RAW else MAX_DICTIONARY) or (n and not column.size and column.width != RAW):
        raise ValueError("a column has no such dictionary")
    need = packed_size(n, column.width, column.size)
    if need > left:
        raise ValueError("a column is cut short")
    column.dictionary = &data[offset] + HEADER_BYTES
    column.codes = column.dictionary + 4 * <size_t>column.size
    return offset + need


cdef inline uint32_t word_at(const Codes *column, size_t i, uint32_t *max_code) noexcept nogil:
    """Word ``i``. ``max_code`` is raised to its code, which the caller compares with the dictionary's size after the loop."""
    cdef uint64_t bits
    cdef uint32_t code, word
    if column.width == RAW:
        memcpy(&word, column.codes + 4 * i, 4)
        return word
    memcpy(&bits, column.codes + (i * column.width >> 3), 8)
    code = <uint32_t>(bits >> (i * column.width & 7)) & ((<uint32_t>1 << column.width) - 1)
    max_code[0] = max(max_code[0], code)
    memcpy(&word, column.dictionary + 4 * <size_t>(code if code < column.size else 0), 4)
    return word


cdef inline int check_codes(const Codes *column, uint32_t max_code, size_t n) except -1:
    if n and column.width != RAW and max_code >= column.size:
        raise ValueError("a code is beyond its dictionary")
    return 0


cdef size_t open_marks(const uint8_t[::1] data, size_t offset, size_t n, uint32_t *marked) except? 1:
    """The offset of the end of the bits of a column with a marked word; 0 for other columns. Raises ValueError."""
    cdef uint32_t width = 0
    cdef size_t end = offset + HEADER_BYTES + 4 * ((n + 31) // 32)
    if offset > <size_t>data.shape[0] or <size_t>data.shape[0] - offset < HEADER_BYTES:
        raise ValueError("a column is cut short")
    memcpy(&width, &data[offset], 4)
    if width != MARKED:
        return 0
    if n > 8 * <size_t>data.shape[0] or end > <size_t>data.shape[0]:
        raise ValueError("a column is cut short")
    memcpy(marked, &data[offset] + 4, 4)
    return end


cdef inline uint32_t bits_at(const uint8_t *bits, size_t group, size_t n) noexcept nogil:
    """The bits of the 32 words of a group; bits beyond the last word are 0."""
    cdef uint32_t found
    memcpy(&found, bits + 4 * group, 4)
    return found if n - 32 * group >= 32 else found & (<uint32_t>1 << (n - 32 * group)) - 1


cdef inline uint32_t count_bits(uint32_t x) noexcept nogil:
    x = x - (x >> 1 & 0x55555555)
    x = (x & 0x33333333) + (x >> 2 & 0x33333333)
    return (x + (x >> 4) & 0x0f0f0f0f) * <uint32_t>0x01010101 >> 24


cdef size_t unpack_marked(const uint8_t[::1] data, size_t offset, size_t end, uint32_t marked, uint32_t[::1] out) except 0:
    """Fill ``out`` from the bits between ``offset`` and ``end`` and the column of other words behind them."""
    cdef const uint8_t *bits = &data[offset] if end > offset else NULL
    cdef size_t n = out.shape[0], others = 0, group, i
    cdef uint32_t left, max_code = 0
    cdef Codes column
    for group in range((n + 31) // 32):
        others += count_bits(bits_at(bits, group, n))
    end = open_codes(data, end, others, &column)
    others = 0
    with nogil:
        for i in range(n):
            out[i] = marked
        for group in range((n + 31) // 32):
            left = bits_at(bits, group, n)
            while left:
                out[32 * group + first_bit(left)] = word_at(&column, others, &max_code)
                others += 1
                left &= left - 1
    check_codes(&column, max_code, others)
    return end


def unpack(const uint8_t[::1] data, size_t offset, uint32_t[::1] out):
    """Fill ``out``, uint32[n], from the column at ``offset``; returns the offset of its end. Raises ValueError."""
    cdef Codes column
    cdef uint32_t max_code = 0, marked = 0
    cdef size_t i, n = out.shape[0], end = open_marks(data, offset, n, &marked)
    if end:
        return unpack_marked(data, offset + HEADER_BYTES, end, marked, out)
    end = open_codes(data, offset, n, &column)
    with nogil:
        if column.width == RAW and n:
            memcpy(&out[0], column.codes, 4 * n)
        else:
            for i in range(n):
                out[i] = word_at(&column, i, &max_code)
    check_codes(&column, max_code, n)
    return end


def unpack_bytes(const uint8_t[::1] data, size_t offset, uint8_t[::1] out):
    """The same for uint8[n]."""
    cdef Codes column
    cdef size_t i, n = out.shape[0], end = open_codes(data, offset, n, &column)
    cdef uint32_t max_code = 0
    with nogil:
        for i in range(n):
            out[i] = <uint8_t>word_at(&column, i, &max_code)
    check_codes(&column, max_code, n)
    return end


def unpack_offsets(const uint8_t[::1] data, size_t offset, uint32_t[::1] out, size_t total):
    """The same for packed differences: fills ``out``, uint32[n + 1], with offsets, of which the last must be ``total``."""
    cdef Codes column
    cdef size_t i, n = out.shape[0] - 1, end = open_codes(data, offset, n, &column)
    cdef uint64_t at = 0
    cdef uint32_t max_code = 0
    with nogil:
        for i in range(n):
            out[i] = <uint32_t>at
            at += word_at(&column, i, &max_code)
        out[n] = <uint32_t>at
    check_codes(&column, max_code, n)
    if at != total or at >= <uint64_t>1 << 32:
        raise ValueError("lengths do not fit together")
    return end
