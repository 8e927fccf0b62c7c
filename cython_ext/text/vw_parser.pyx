"""Parser of Vowpal Wabbit text: one pass over the bytes, without the GIL and without a Python object per example.

The common namespace blocks, which have names without control characters, short numbers and single spaces, have a fast parser. Any
other block is left to ``text/namespace_parser.pxd``. Where both can parse a block their results are the same.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr

from base.byte_scan cimport INTEGER_POWERS, breaks, digits, first_bit, likely, nondigits, unlikely
from base.status cimport AFTER_NAMESPACES, NO_BAR, OK
from text.batch_builder cimport ANONYMOUS_CHAR, BatchBuilder
from text.murmur3 cimport (
    QUEUE_SIZE, can_enqueue, drop_queued, enqueue, flush_queue, has_batched_hash, is_number, murmur3,
)
from text.labels cimport LabelWords, read_name_label, read_simple_label, record_label_span, record_tag, split_words
from text.line_loop cimport fill_blank, open_builder, open_reader, parse_lines
from text.namespace_parser cimport Reader, make_block_features, name_length, read_block, record_issue, report_issue
from text.number_parser cimport POWERS, fill_powers

cdef extern from "text/decimals.h" nogil:
    const char *read_decimals "vwl_read_decimals"(const char *p, const char *end, uint32_t seed, const float *powers,
                                                  uint32_t *hash, float *value, size_t capacity, size_t *count) noexcept


cdef inline uint32_t hash_trimmed_name(const char *p, size_t length, uint32_t seed, bint hash_all) noexcept nogil:
    """``hash_name`` of a name without control characters at its ends."""
    cdef uint64_t number = 0
    cdef size_t i
    if hash_all or likely(<unsigned char>(p[0] - 48) > 9):
        return murmur3(p, length, seed)
    if length <= 8:
        if nondigits(p) & <uint32_t>((1 << length) - 1) == 0:
            return <uint32_t>digits(p, <int>length) + seed
        return murmur3(p, length, seed)
    for i in range(length):
        if <unsigned char>(p[i] - 48) > 9:
            return murmur3(p, length, seed)
        number = number * 10 + <uint64_t>(p[i] - 48)
    return <uint32_t>number + seed


cdef inline uint32_t hash_first_name(const char *p, size_t length, uint32_t seed, bint hash_all) noexcept nogil:
    """``hash_trimmed_name`` of a block's first name, for which nothing predicts whether it is a number: both hashes are
    computed, which costs less than a mispredicted branch.
    """
    cdef uint32_t named, mask
    if unlikely(length > 8):
        return hash_trimmed_name(p, length, seed, hash_all)
    named = murmur3(p, length, seed)
    mask = <uint32_t>is_number(p, length, hash_all)
    return (named & ~mask) | ((<uint32_t>digits(p, <int>length) + seed) & mask)


cdef inline uint32_t hash_any_name(const char *p, size_t length, uint32_t seed, bint hash_all, bint first) noexcept nogil:
    if first:
        return hash_first_name(p, length, seed, hash_all)
    return hash_trimmed_name(p, length, seed, hash_all)


cdef inline bint set_hash(const Reader *reader, const char *p, size_t length, uint32_t seed, bint first, size_t n,
                          BatchBuilder *out) noexcept nogil:
    """Compute the hash of feature ``n``'s name, or queue the name, which returns True."""
    if reader.batched_hash and can_enqueue(p, length, first):
        enqueue(&out.queue, p, length, seed, reader.hash_all, first, out.hash + n)
        return True
    out.hash[n] = hash_any_name(p, length, seed, reader.hash_all, first)
    return False


cdef inline const char *read_simple_number(const char *p, const char *end, const float *powers, float *out) noexcept nogil:
    """Read a number of up to 15 characters, digits with at most one point; returns its end, or NULL for any other number."""
    cdef bint negative
    cdef uint32_t rest
    cdef uint64_t mantissa
    cdef int length, fraction = 0
    cdef float value
    if <unsigned char>(p[0] - 48) <= 9:
        if p[1] == 32:
            out[0] = <float>(p[0] - 48)
            return p + 1
        if p[1] == 46:
            return read_short_decimal(p, end, powers, out)
    negative = p[0] == 45
    p += negative
    rest = nondigits(p) | 0x10000
    length = first_bit(rest)
    if unlikely(length == 0 or length > 8):
        return NULL
    mantissa = digits(p, length)
    p += length
    if p[0] == 46:
        rest >>= length + 1
        fraction = first_bit(rest | 0x10000)
        if unlikely(fraction > 7 or length + fraction > 14):
            return NULL
        if fraction:
            mantissa = mantissa * INTEGER_POWERS[fraction] + digits(p + 1, fraction)
        p += 1 + fraction
    if unlikely(mantissa > 16777160 or not (p[0] == 32 or p[0] == 10 or p == end)):
        return NULL
    value = <float>mantissa * powers[128 - fraction]
    out[0] = -value if negative else value
    return p


cdef inline const char *read_short_decimal(const char *p, const char *end, const float *powers, float *out) noexcept nogil:
    """Read a digit, a point and up to seven digits, one after the other: successive numbers mostly have equally many digits, so
    the loop's end is predicted.
    """
    cdef uint64_t mantissa = <uint64_t>(p[0] - 48)
    cdef const char *start = p + 2
    p += 2
    while <unsigned char>(p[0] - 48) <= 9:
        mantissa = mantissa * 10 + <uint64_t>(p[0] - 48)
        p += 1
    if unlikely(p - start > 7 or mantissa > 16777160 or not (p[0] == 32 or p[0] == 10 or p == end)):
        return NULL
    out[0] = <float>mantissa * powers[128 - (p - start)]
    return p


cdef inline bint read_short_number(const char *p, size_t length, const float *powers, float *out) noexcept nogil:
    """Read a number of ``length`` bytes: up to seven digits, or a digit, a point and up to seven digits. False for any other."""
    cdef size_t decimals = length - 2
    cdef uint32_t odd = nondigits(p) & <uint32_t>((1 << (length & 15)) - 1)
    cdef int32_t mantissa
    if p[1] == 46 and length > 1:
        if odd != 2 or decimals - 1 > 6:
            return False
        mantissa = (p[0] - 48) * <int32_t>INTEGER_POWERS[decimals] + <int32_t>digits(p + 2, <int>decimals)
        out[0] = <float>mantissa * powers[128 - decimals]
        return mantissa <= 16777160
    if odd or length - 1 > 6:
        return False
    out[0] = <float><int32_t>digits(p, <int>length)
    return True


cdef inline const char *read_simple_features(const Reader *reader, const char *p, uint32_t seed,
                                             BatchBuilder *out) noexcept nogil:
    """Read the features from ``p``, behind the namespace's name, to the end of the block. Returns NULL and emits nothing when a
    feature is not simple.

    The ends of several names are found at once, in a window of 32 bytes, so that the parsing of successive names overlaps.
    """
    cdef float *value = out.value
    cdef size_t n = out.features, capacity = out.max_features
    cdef uint32_t ends = 0           # bits of the window's breaks that are still ahead
    cdef size_t length
    cdef bint queued, first
    cdef bint decimal = False        # the last feature was a number with a decimal value, so the next ones likely are
    cdef const char *window = p
    cdef const char *stop = p
    cdef const char *after
    while stop[0] == 32:
        p = stop + 1
        if decimal:
            decimal, ends = False, 0
            stop = read_decimals(p, reader.end, seed, reader.powers, out.hash, value, capacity, &n)
            if stop != NULL:
                continue
        if unlikely(n == capacity):
            return NULL
        if ends == 0:
            window, ends = p, breaks_in_window(p)
        if likely(ends != 0):
            stop = window + first_bit(ends)
            ends &= ends - 1
        else:
            stop = p + name_length(p)
            if <unsigned char>(stop - 1)[0] <= 32:
                return NULL
        if unlikely(stop == p):
            if stop[0] == 58 or stop[0] == 9:
                return NULL
            continue
        first, length = n == out.features, <size_t>(stop - p)
        queued = set_hash(reader, p, length, seed, first, n, out)
        value[n] = 1
        if stop[0] == 58:
            decimal = stop[2] == 46 and not reader.hash_all and <unsigned char>(p[0] - 48) <= 9
            after = window + first_bit(ends) if ends else stop
            if (after[0] == 32 or after == reader.end) and read_short_number(stop + 1, <size_t>(after - stop - 1), reader.powers,
                                                                      value + n):
                stop = after
                ends &= ends - 1
            else:
                stop = read_simple_number(stop + 1, reader.end, reader.powers, value + n)
                if unlikely(stop == NULL):
                    return NULL
                ends = breaks_after(ends, stop - window)
            if unlikely(value[n] == 0):
                out.queue.count -= queued
                continue
        n += 1
        if out.queue.count == QUEUE_SIZE:
            flush_queue(&out.queue)
    if unlikely(stop[0] != 124 and stop != reader.end):
        return NULL
    out.features = n
    return stop


cdef inline uint32_t breaks_in_window(const char *p) noexcept nogil:
    return breaks(p) | breaks(p + 16) << 16


cdef inline uint32_t breaks_after(uint32_t ends, Py_ssize_t position) noexcept nogil:
    """The breaks after ``position`` in the window."""
    return ends & <uint32_t>(<uint64_t>0xfffffffe << position) if position < 32 else 0


cdef inline const char *read_single_feature(const Reader *reader, const char *p, uint32_t seed, BatchBuilder *out) noexcept nogil:
    """``read_simple_features`` for a block of one name of up to 15 bytes without a value, followed by a bar or the line's end.
    Returns NULL and emits nothing for any other block. Categorical data consist mostly of such blocks.
    """
    cdef uint32_t ends
    cdef size_t length, n = out.features
    cdef const char *name = p + 1
    if p[0] != 32:
        return NULL
    ends = breaks(name)
    if ends == 0 or n == out.max_features:
        return NULL
    length = <size_t>first_bit(ends)
    p = name + length
    if length == 0 or not (p == reader.end or (p[0] == 32 and p[1] == 124)):
        return NULL
    set_hash(reader, name, length, seed, True, n, out)
    out.value[n] = 1
    out.features = n + 1
    if out.queue.count == QUEUE_SIZE:
        flush_queue(&out.queue)
    return p + (p != reader.end)


cdef inline const char *read_simple_block(const Reader *reader, const char *p, BatchBuilder *out) noexcept nogil:
    """Read a block from behind its bar; returns its end, or NULL, with nothing read, when it is not simple.

    Names left in ``out.queue`` are hashed later.
    """
    cdef size_t length, first = out.features, segment = out.segments
    cdef const char *name = p
    cdef uint32_t seed = reader.anonymous_hash
    cdef uint8_t char = ANONYMOUS_CHAR
    if unlikely(segment + 4 > out.max_segments):
        return NULL
    length = 1 if p[1] == 32 and <unsigned char>(p[0] - 97) < 26 else name_length(p)
    if length:
        char = <uint8_t>name[0]
        if unlikely(char <= 32 or <unsigned char>name[length - 1] <= 32):
            return NULL
        seed = reader.letter_hash[char] if length == 1 else hash_trimmed_name(name, length, reader.seed, reader.hash_all)
    name = read_single_feature(reader, p + length, seed, out)
    p = name if name != NULL else read_simple_features(reader, p + length, seed, out)
    if unlikely(p == NULL):
        drop_queued(&out.queue, out.hash + first)
    elif out.features > first:
        out.namespace_char[segment] = char
        out.namespace_hash[segment] = seed
        out.namespace_start[segment] = <uint32_t>first
        out.segments = segment + 1
    return p


cdef float POWERS_OF_TEN[POWERS]
fill_powers(POWERS_OF_TEN)


cdef inline int read_namespaces(const Reader *reader, const char *bar, BatchBuilder *out) noexcept nogil:
    """``{ "|" namespace }`` up to the line's end."""
    cdef const char *p = bar
    cdef const char *stop
    cdef int status = OK
    while p != reader.end and p[0] == 124:
        p += 1
        if reader.makes_features:
            status = make_block_features(reader, p, bar, out)
            if status != OK:
                return status
        stop = read_simple_block(reader, p, out) if reader.fast_path else NULL
        if stop != NULL:
            p = stop
            continue
        status = read_block(reader, &p, bar, out)
        if status != OK:
            return status
    if p != reader.end and (reader.skip_malformed or p[0] != 13):
        return report_issue(reader, p, bar, AFTER_NAMESPACES, out)
    return OK


cdef inline int parse_line(const Reader *reader, const char *p, BatchBuilder *out) noexcept nogil:
    """Parse ``[p, reader.end)`` into row ``out.rows``; the row is kept if the status is OK."""
    cdef LabelWords words
    cdef const char *bar
    cdef const char *error_at = p
    cdef size_t first_segment = out.segments
    cdef int status
    bar = <const char *>memchr(p, 124, <size_t>(reader.end - p)) if p != reader.end else NULL
    if bar == NULL:
        bar = reader.end
        if p == reader.end:
            fill_blank(out)
            return OK
        if reader.skip_malformed:
            record_issue(out, reader, p, p, NO_BAR)
            return NO_BAR
    split_words(p, bar, &words)
    if reader.named_labels:
        status = read_name_label(&words, reader, out, &error_at)
    else:
        status = read_simple_label(&words, reader.powers, reader.skip_malformed, out, &error_at)
    if status != OK:
        record_issue(out, reader, error_at, p, status)
        if reader.skip_malformed:
            return status
    status = read_namespaces(reader, bar, out)
    record_tag(&words, reader.text, out.segments == first_segment, out)
    if reader.named_labels:
        record_label_span(&words, reader, out)
    return status


def parse(const unsigned char[::1] text, size_t size, format, workspace):
    """Parse ``text[:size]``, whole lines followed by at least 64 readable bytes, into a workspace.

    ``format`` is a ``vwlite.data.text_format.TextFormat``. Returns ``(status, rows, segments, features, lines,
    issues)``; with status FULL (100) the workspace was too small and its contents are undefined.
    """
    cdef Reader reader = open_reader(text, size, format, POWERS_OF_TEN)
    cdef BatchBuilder out = open_builder(workspace)
    cdef int status
    reader.fast_path = out.name == NULL
    reader.batched_hash = has_batched_hash()
    with nogil:
        status = parse_lines(&reader, size, parse_line, &out)
    return status, out.rows, out.segments, out.features, out.lines, out.bad
