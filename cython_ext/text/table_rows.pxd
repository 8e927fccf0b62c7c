"""What the parsers of tables share: texts as features, and a buffer for what does not stand in the block as it is needed."""

from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy

from base.byte_scan cimport delimiters, nondigits
from text.batch_builder cimport NAMED, TEXT_VALUE, BatchBuilder
from text.murmur3 cimport hash_name, murmur3
from text.name_text cimport SLACK, splits, write_name
from text.namespace_parser cimport Reader
from base.status cimport NO_MEMORY, OK


cdef enum:              # types of columns, in the order of vwlite/data/columns.py
    NUMBER = 0
    TEXT = 1
    WORDS = 2
    TOKENS = 3

cdef enum:              # and roles
    LABEL = 0
    WEIGHT = 1
    BASE = 2
    TAG = 3


cdef struct Scratch:
    char *text         # a name as a line of text can hold it
    char *plain        # a text without the escapes of the format
    size_t size        # of both
    # Text behind that of the block: names, and texts that do not stand in the block as they are needed. NULL where there are none.
    char *more
    size_t used, room
    size_t block_size


cdef inline int reserve(Scratch *scratch, size_t length) noexcept nogil:
    """Make room for a text of this length."""
    cdef size_t size = 2 * length + 4 * SLACK
    cdef void *larger
    if length + 2 * SLACK <= scratch.size:
        return OK
    larger = realloc(scratch.text, size)
    if larger == NULL:
        return NO_MEMORY
    scratch.text = <char *>larger
    larger = realloc(scratch.plain, size)
    if larger == NULL:
        return NO_MEMORY
    scratch.plain = <char *>larger
    scratch.size = size
    return OK


cdef inline uint32_t keep(Scratch *scratch, const char *text, size_t length) noexcept nogil:
    """Append to the text behind the block's; returns where it stands there, ``room`` having been made for it."""
    cdef size_t at = scratch.used
    if length > scratch.room - at:
        length = scratch.room - at
    memcpy(scratch.more + at, text, length)
    scratch.used += length
    return <uint32_t>(scratch.block_size + at)


cdef inline uint32_t keep_class(Scratch *scratch, const char *text, size_t length) noexcept nogil:
    """As ``keep``, with ``_`` for what would end a word of a label in a line of text."""
    cdef size_t at = scratch.used, i
    cdef uint32_t start = keep(scratch, text, length)
    for i in range(at, scratch.used):
        if splits(<uint8_t>scratch.more[i], True):
            scratch.more[i] = 95
    return start


cdef inline void leave_out_blanks(const char **start, const char **end) noexcept nogil:
    """Those around the text ``[start, end)``."""
    while start[0] < end[0] and is_space(start[0][0]):
        start[0] += 1
    while start[0] < end[0] and is_space((end[0] - 1)[0]):
        end[0] -= 1


cdef inline uint32_t hash_written(Scratch *scratch, const char *p, size_t length, uint32_t seed, bint hash_all, bint text_value,
                                  const float *powers, uint32_t *span) noexcept nogil:
    """The hash of a text as a line can hold it (``text/name_text.pxd``); unless ``span`` is NULL it is kept, and is where."""
    length = write_name(<const uint8_t *>p, length, text_value, powers, scratch.text)
    if span != NULL:
        span[0] = keep(scratch, scratch.text, length)
        span[1] = span[0] + <uint32_t>length
    return hash_name(scratch.text, length, seed, hash_all)


cdef inline uint32_t hash_digits(const char *p, size_t length, uint32_t seed) noexcept nogil:
    """The hash of a text of up to 15 digits, which has ``_`` in front as all that read like numbers."""
    cdef char buffer[32]
    buffer[0] = 95
    memcpy(buffer + 1, p, 16)
    return murmur3(buffer, length + 1, seed)


cdef inline uint32_t hash_text(Scratch *scratch, const char *p, size_t length, uint32_t seed, bint hash_all,
                               const float *powers) noexcept nogil:
    """The hash of a text as a feature's value. Reads up to 16 bytes behind it."""
    cdef unsigned char first = <unsigned char>p[0]
    cdef uint32_t within
    if 0 < length <= 15:
        within = <uint32_t>((1 << length) - 1)
        if first <= 57:
            if nondigits(p) & within == 0:
                return hash_digits(p, length, seed)
        elif delimiters(p) & within == 0 and <unsigned char>p[length - 1] > 32:
            if not (first | 32 == 101 or first | 32 == 105 or first | 32 == 110):  # e, inf, nan
                return murmur3(p, length, seed)
    return hash_written(scratch, p, length, seed, hash_all, True, powers, NULL)


cdef inline int emit_text(BatchBuilder *out, Scratch *scratch, const Reader *reader, const char *p, size_t length, uint32_t seed,
                          const uint32_t *name) noexcept nogil:
    """The feature ``name:text``, where ``seed`` is the hash of the name, which stands at ``name`` where names are kept."""
    cdef uint32_t *entry
    cdef size_t n = out.features
    if reserve(scratch, length) != OK:
        return NO_MEMORY
    if out.name == NULL:
        out.hash[n] = hash_text(scratch, p, length, seed, reader.hash_all, reader.powers)
    else:
        entry = out.name + 4 * n
        entry[0], entry[1] = name[0], name[1]
        out.hash[n] = hash_written(scratch, p, length, seed, reader.hash_all, True, reader.powers, entry + 2)
        out.name_kind[2 * n], out.name_kind[2 * n + 1] = TEXT_VALUE, 0
    out.value[n] = 1
    out.features = n + 1
    return OK


cdef inline void emit_number(BatchBuilder *out, uint32_t hash, float value, const uint32_t *name) noexcept nogil:
    cdef uint32_t *entry
    cdef size_t n = out.features
    if out.name != NULL:
        entry = out.name + 4 * n
        entry[0], entry[1], entry[2], entry[3] = name[0], name[1], 0, 0
        out.name_kind[2 * n], out.name_kind[2 * n + 1] = NAMED, 0
    out.hash[n] = hash
    out.value[n] = value
    out.features = n + 1


cdef inline int emit_word(BatchBuilder *out, Scratch *scratch, const Reader *reader, const char *p, size_t length,
                          uint32_t seed) noexcept nogil:
    """A feature that is named by a text."""
    cdef uint32_t *entry = NULL
    cdef size_t n = out.features
    if reserve(scratch, length) != OK:
        return NO_MEMORY
    if out.name != NULL:
        entry = out.name + 4 * n
        entry[2] = entry[3] = 0
        out.name_kind[2 * n], out.name_kind[2 * n + 1] = NAMED, 0
    if out.name == NULL and 0 < length <= 15 and <unsigned char>p[0] > 58 and <unsigned char>p[length - 1] > 32 \
            and delimiters(p) & <uint32_t>((1 << length) - 1) == 0:
        out.hash[n] = murmur3(p, length, seed)
    else:
        out.hash[n] = hash_written(scratch, p, length, seed, reader.hash_all, False, reader.powers, entry)
    out.value[n] = 1
    out.features = n + 1
    return OK


cdef inline bint is_space(char c) noexcept nogil:
    return c == 32 or c == 9 or c == 13 or c == 10


cdef inline size_t word_length(const char *p, const char *end) noexcept nogil:
    """Bytes up to the next blank or the end."""
    cdef const char *start = p
    while p < end and not is_space(p[0]):
        p += 1
    return <size_t>(p - start)


cdef inline bint is_word(const char *p, const char *end, bint blanks) noexcept nogil:
    """Whether a line of text can have it as a label or a tag; ``blanks`` may be in it."""
    while p < end:
        if p[0] == 9 or p[0] == 10 or p[0] == 13 or p[0] == 124 or (p[0] == 32 and not blanks):
            return False
        p += 1
    return True
