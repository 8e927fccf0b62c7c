"""Runs of features like ``160:0.3882``, a number's name and a short decimal, in windows of 64 bytes.

Where the parts of several features end is seen at once, so that none waits for the one before it. Reads what
``core/plain.pxd`` reads a byte after the other, to the same numbers.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t

from core.bytescan cimport POWER, digits, first_of_many, nondigits, unlikely
from core.namespaces cimport Reader
from core.rows cimport Sink


cdef enum:
    IN_WINDOW = 4          # features looked for: their number is foreseen


cdef inline uint64_t window_of_nondigits(const char *p) noexcept nogil:
    return <uint64_t>nondigits(p) | <uint64_t>nondigits(p + 16) << 16 | <uint64_t>nondigits(p + 32) << 32 \
        | <uint64_t>nondigits(p + 48) << 48


cdef inline const char *read_decimals(const Reader *reader, const char *p, uint32_t seed, Sink *out, size_t *count) noexcept nogil:
    """Features from the name at ``p`` on, as long as they are of this kind: name and fraction of up to eight and seven digits,
    one digit before the point. ``count`` grows. Returns the last one's end; NULL when the first is of another kind.
    """
    cdef const char *last = NULL
    cdef const char *end = reader.end
    cdef const float *powers = reader.powers
    cdef uint32_t *hash = out.hash
    cdef float *value = out.value
    cdef uint64_t ends, points, stops          # what is ahead from the end of a name on, from a point on, from a feature's end on
    cdef size_t name, point, stop, at = 1, places, n = count[0]
    cdef int32_t whole
    cdef int k
    while at and n + IN_WINDOW <= out.max_features:
        ends, at = window_of_nondigits(p), 0
        for k in range(IN_WINDOW):
            points = ends & (ends - 1)
            stops = points & (points - 1)
            if stops == 0:
                break
            name, point, stop = <size_t>first_of_many(ends), <size_t>first_of_many(points), <size_t>first_of_many(stops)
            places = stop - point - 1
            if unlikely(name - at - 1 > 7 or point != name + 2 or places - 1 > 6 or p[name] != 58 or p[point] != 46
                        or not (p[stop] == 32 or p + stop == end)):
                count[0] = n
                return last
            whole = <int32_t>digits(p + point + 1, <int>places) + <int32_t>(p[name + 1] - 48) * <int32_t>POWER[places]
            if unlikely(whole > 16777160):
                count[0] = n
                return last
            hash[n] = <uint32_t>digits(p + at, <int>(name - at)) + seed
            value[n] = <float>whole * powers[128 - places]
            n += whole != 0
            last, at, ends = p + stop, stop + 1, stops & (stops - 1)
            if last == end:
                count[0] = n
                return last
        p += at
    count[0] = n
    return last
