"""Predictions as text, a whole batch at a time."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport llrint, signbit
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport free, malloc, strtof
from libc.string cimport memcpy

cdef extern from *:
    """
    static const char vwlite_pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";
    """
    const char[] PAIRS "vwlite_pairs"

cdef float SMALL = 1e-3     # of which six decimals are few digits

cdef enum:
    NO_EXAMPLE = 5          # BLANK | SAVE of vwlite.data.batch
    TAGGED = 2
    NO_FRACTIONS = 1 << 23  # float32 numbers from here on are integers
    MAX_VALUE_BYTES = 48    # sign, the 39 digits of the largest float32, space or newline, zero byte


def format_predictions(
    const float[::1] values, const unsigned char[::1] flags, const uint32_t[::1] tag_start,
    const uint32_t[::1] tag_end, const unsigned char[::1] text, Py_ssize_t begin, Py_ssize_t end, bint shortest=False,
    bint small=False,
):
    """The rows ``begin <= i < end`` as Vowpal Wabbit writes predictions: a value, a tag.

    ``values`` is float32[n], ``flags`` uint8[n], ``tag_start`` and ``tag_end`` are uint32[n]
    offsets into ``text`` (bytes-like; None when no row is tagged). Integral values are written
    without decimals (``-0`` too), all others as C's ``%f`` writes them or, with ``shortest``, with the
    fewest digits (6 to 9) that are read back as the same float32; with ``small`` those below 0.001 are. Blank lines and save commands give no line. Returns bytes.
    Raises ValueError when an array is too short or a tag lies outside ``text``.
    """
    cdef Py_ssize_t capacity, i
    cdef Py_ssize_t text_length = 0 if text is None else text.shape[0]
    cdef const unsigned char* tags = &text[0] if text_length else NULL
    cdef char* start
    cdef char* out
    if begin < 0 or end > min(
        values.shape[0], flags.shape[0], tag_start.shape[0], tag_end.shape[0]
    ):
        raise ValueError(f"rows {begin}:{end} are not all there")
    capacity = _size_bound(flags, tag_start, tag_end, text_length, begin, end)
    if capacity < 0:
        raise ValueError("a tag lies outside the text")
    start = <char*>malloc(capacity + 1)
    if start == NULL:
        raise MemoryError(f"{capacity} bytes of predictions")
    try:
        out = start
        with nogil:
            for i in range(begin, end):
                if flags[i] & NO_EXAMPLE:
                    continue
                if shortest or (small and -SMALL < values[i] < SMALL):
                    out = _write_shortest(out, values[i])
                else:
                    out = _write_value(out, values[i])
                if flags[i] & TAGGED:
                    out[0] = b" "
                    if tag_start[i] != tag_end[i]:     # text may be None where all tags are empty
                        memcpy(out + 1, tags + tag_start[i], tag_end[i] - tag_start[i])
                    out += 1 + tag_end[i] - tag_start[i]
                out[0] = b"\n"
                out += 1
        return PyBytes_FromStringAndSize(start, out - start)
    finally:
        free(start)


cdef Py_ssize_t _size_bound(
    const unsigned char[::1] flags, const uint32_t[::1] tag_start, const uint32_t[::1] tag_end,
    Py_ssize_t text_length, Py_ssize_t begin, Py_ssize_t end,
) noexcept nogil:
    """An upper bound on the bytes that the rows take, or -1 when a tag lies outside the text."""
    cdef Py_ssize_t capacity = 0
    cdef Py_ssize_t i
    for i in range(begin, end):
        capacity += MAX_VALUE_BYTES
        if flags[i] & TAGGED:
            if tag_start[i] > tag_end[i] or tag_end[i] > text_length:
                return -1
            capacity += 1 + tag_end[i] - tag_start[i]
    return capacity


cdef char* _write_shortest(char* out, float value) noexcept nogil:
    """Write the fewest digits, 6 to 9, that are read back as the value."""
    cdef int digits, length = 0
    if not -NO_FRACTIONS < value < NO_FRACTIONS or <float><int64_t>value == value:
        return _write_value(out, value)
    for digits in range(6, 10):
        length = snprintf(out, MAX_VALUE_BYTES - 1, b"%.*g", digits, <double>value)
        if strtof(out, NULL) == value:
            break
    return out + length


cdef inline char* _write_value(char* out, float value) noexcept nogil:
    cdef double x = value
    cdef int64_t integer, millionths
    if signbit(x):
        out[0] = b"-"
        out += 1
        x = -x
    if x != x:
        memcpy(out, b"nan", 3)
        return out + 3
    if x >= 9223372036854775808.0:
        return out + snprintf(out, MAX_VALUE_BYTES - 1, b"%.0f", x)
    integer = <int64_t>x
    if <double>integer == x:
        return _write_integer(out, <uint64_t>integer)
    # The product is exact: 24 significant bits times 10^6 = 2^6 * 15625 (14 bits) fit in 53. So
    # llrint rounds the true value, half to even, as printf does. Fractions exist only below 2^23.
    millionths = llrint(x * 1e6)
    out = _write_integer(out, <uint64_t>millionths // 1000000)
    out[0] = b"."
    _write_six_digits(out + 1, <uint32_t>(<uint64_t>millionths % 1000000))
    return out + 7


cdef inline void _write_six_digits(char* out, uint32_t number) noexcept nogil:
    cdef uint32_t low = number % 10000
    memcpy(out, &PAIRS[2 * (number // 10000)], 2)
    memcpy(out + 2, &PAIRS[2 * (low // 100)], 2)
    memcpy(out + 4, &PAIRS[2 * (low % 100)], 2)


cdef inline char* _write_integer(char* out, uint64_t number) noexcept nogil:
    cdef char[20] digits
    cdef int first = 20
    if number < 10:
        out[0] = <char>(48 + number)
        return out + 1
    while number >= 100:
        first -= 2
        memcpy(&digits[first], &PAIRS[2 * (number % 100)], 2)
        number //= 100
    if number >= 10:
        first -= 2
        memcpy(&digits[first], &PAIRS[2 * number], 2)
    else:
        first -= 1
        digits[first] = <char>(48 + number)
    memcpy(out, &digits[first], 20 - first)
    return out + 20 - first
