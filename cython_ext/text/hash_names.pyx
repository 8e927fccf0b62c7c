"""Hashes of what no parser hashes: names and text values that do not stand in a line of text, as the parser would of what a line
can hold of them; query ids, a 64-bit hash of each row's tag or of the features of one namespace; a set of hashes, to count
distinct ones; numbers of labels that are names; and texts that stand one behind the other, their words made lower case.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

from base.random cimport mix64
from text.lower_words cimport lower_words
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


cdef inline uint64_t hash_bytes(const uint8_t *text, size_t begin, size_t end) noexcept nogil:
    """64-bit FNV-1a (Fowler, Noll and Vo), mixed by SplitMix64's finaliser."""
    cdef uint64_t h = <uint64_t>0xcbf29ce484222325
    cdef size_t i
    for i in range(begin, end):
        h = (h ^ text[i]) * <uint64_t>0x100000001b3
    return mix64(h)


def tag_numbers(batch, uint64_t[::1] out):
    """Fill ``out``, uint64[rows], with a hash of each row's tag."""
    cdef const uint32_t[::1] start = batch.tag_start, end = batch.tag_end
    cdef const uint8_t[::1] text = memoryview(batch.text).cast("B")
    cdef const uint8_t *bytes = &text[0] if text.shape[0] else NULL
    cdef Py_ssize_t i
    if out.shape[0] > start.shape[0] or out.shape[0] > end.shape[0]:
        raise ValueError("the batch has fewer rows")
    with nogil:
        for i in range(out.shape[0]):
            out[i] = hash_bytes(bytes, start[i], end[i])


cdef inline uint32_t word_size(const uint8_t *text, uint32_t begin, uint32_t end) noexcept nogil:
    """How many bytes there are before the first space."""
    cdef uint32_t at = begin
    while at < end and text[at] != 32:
        at += 1
    return at - begin


def word_numbers(batch, const uint8_t[::1] wanted, int32_t[::1] number, uint32_t[::1] first):
    """Number the first words of the labels of the rows marked in ``wanted``, in the order of their first appearances.

    ``number``, int32[rows], gets the number of each row's word, -1 where it is not wanted, ``first``, uint32[rows], the first row
    of each word. Returns how many words there are. Raises MemoryError; ValueError where a label lies outside the text.
    """
    cdef const uint32_t[::1] start = batch.tag_start, end = batch.tag_end
    cdef const uint8_t[::1] text = memoryview(batch.text).cast("B")
    cdef const uint8_t *bytes = &text[0] if text.shape[0] else NULL
    cdef size_t rows = wanted.shape[0], buckets = 64, row, at
    cdef uint32_t words = 0, size, other
    cdef uint32_t *bucket
    if min(start.shape[0], end.shape[0], number.shape[0], first.shape[0]) < wanted.shape[0]:
        raise ValueError("an array is too short")
    for row in range(rows):
        if wanted[row] and (start[row] > end[row] or end[row] > text.shape[0]):
            raise ValueError("a label lies outside the text")
    while buckets < 2 * rows:
        buckets *= 2
    bucket = <uint32_t *>calloc(buckets, sizeof(uint32_t))
    if bucket == NULL:
        raise MemoryError("not enough memory for the labels")
    with nogil:
        for row in range(rows):
            number[row] = -1
            if not wanted[row]:
                continue
            size = word_size(bytes, start[row], end[row])
            at = hash_bytes(bytes, start[row], start[row] + size) & (buckets - 1)
            while bucket[at]:
                other = first[bucket[at] - 1]
                if word_size(bytes, start[other], end[other]) == size and \
                        (size == 0 or memcmp(bytes + start[other], bytes + start[row], size) == 0):
                    break
                at = (at + 1) & (buckets - 1)
            if bucket[at] == 0:
                first[words] = <uint32_t>row
                words += 1
                bucket[at] = words
            number[row] = <int32_t>(bucket[at] - 1)
    free(bucket)
    return words


def namespace_numbers(batch, uint32_t name_hash, uint8_t character, uint64_t[::1] out):
    """Fill ``out``, uint64[rows], with a hash of the features, in order, that each row has in one namespace; 0 without any."""
    cdef const uint32_t[::1] row_namespace = batch.row_namespace, namespace_hash = batch.namespace_hash
    cdef const uint32_t[::1] namespace_start = batch.namespace_start
    cdef const uint32_t[::1] feature = batch.feature_hash
    cdef const uint8_t[::1] namespace_char = batch.namespace_char
    cdef const float[::1] value = batch.value
    cdef Py_ssize_t i
    cdef uint32_t j, k, bits
    cdef uint64_t h
    if out.shape[0] >= row_namespace.shape[0]:
        raise ValueError("the batch has fewer rows")
    with nogil:
        for i in range(out.shape[0]):
            h = 0
            for j in range(row_namespace[i], row_namespace[i + 1]):
                if namespace_hash[j] == name_hash and namespace_char[j] == character:
                    for k in range(namespace_start[j], namespace_start[j + 1]):
                        memcpy(&bits, &value[k], 4)
                        h = mix64(h + <uint64_t>0x9e3779b97f4a7c15 + (<uint64_t>feature[k] << 32 | bits))
            out[i] = h


def insert_hashes(uint32_t[::1] table, const uint32_t[::1] hashes, Py_ssize_t begin, Py_ssize_t max_new):
    """Insert ``hashes[begin:]`` until ``max_new`` of them were new; hashes of 0 are skipped.

    Returns the index of the first hash that was not looked at, and how many were new. Raises IndexError when ``table`` is too
    small for ``max_new`` or its size is not a power of two.
    """
    cdef Py_ssize_t i = begin, end = hashes.shape[0], new = 0
    cdef size_t mask = <size_t>table.shape[0] - 1, slot
    cdef uint32_t hash
    if begin < 0 or max_new >= table.shape[0] or table.shape[0] & <Py_ssize_t>mask:
        raise IndexError("the table has a wrong size")
    with nogil:
        while i < end and new < max_new:
            hash = hashes[i]
            slot = (hash * <size_t>0x9E3779B97F4A7C15 >> 20) & mask
            while table[slot] != 0 and table[slot] != hash:
                slot = (slot + 1) & mask
            if table[slot] == 0 and hash != 0:
                table[slot] = hash
                new += 1
            i += 1
    return i, new


def lower_texts(const uint8_t[::1] text, const int64_t[::1] starts, const uint16_t[::1] lower, uint8_t[::1] out):
    """Write to ``out``, as long as ``text``, every text ``text[starts[i]:starts[i + 1]]`` as ``lower_words`` does.

    ``lower``: uint16[65536]. Raises ValueError for arrays that are too short and starts that do not ascend.
    """
    cdef Py_ssize_t i, n = starts.shape[0] - 1
    if lower.shape[0] < 65536 or out.shape[0] < text.shape[0]:
        raise ValueError("an array is too short")
    for i in range(n):
        if not 0 <= starts[i] <= starts[i + 1] <= text.shape[0]:
            raise ValueError("starts do not ascend within the text")
    if not text.shape[0]:
        return
    with nogil:
        for i in range(n):
            lower_words(<const char *>&text[0] + starts[i], <size_t>(starts[i + 1] - starts[i]), &lower[0], <char *>&out[0] + starts[i])
