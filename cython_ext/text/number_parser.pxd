"""Reading decimal numbers as Vowpal Wabbit does: in single precision, digit by digit."""

from libc.stdint cimport int8_t, uint64_t
from libc.stdlib cimport strtof


cdef enum:
    POWERS = 256  # one entry for each value of the exponent, a signed 8-bit integer


cdef inline void fill_powers(float *table) noexcept nogil:
    """``table[128 + n]`` = 10^n by repeated multiplication or division: 0 below -37, infinite above 38."""
    cdef int n
    cdef float up = 1, down = 1
    for n in range(POWERS):
        table[n] = 0
    for n in range(128):
        table[128 + n] = up
        up = up * 10
        if n <= 37:
            table[128 - n] = down
            down = down / 10


cdef inline bint ends_number(const char *p, const char *end) noexcept nogil:
    return p == end or p[0] == 32 or p[0] == 10 or p[0] == 9


cdef inline const char *read_general_number(const char *start, const char *end, const float *powers,
                                            float *out) noexcept nogil:
    """The general case: many digits, an exponent, or a form that only strtof reads.

    ``end`` is the end of the line, or of the word in a label. Returns where reading stopped; ``start`` if there is no number.
    """
    cdef const char *p = start
    cdef float acc = 0
    cdef int fraction = 0, exponent = 0
    cdef bint negative, shrink
    cdef char *stop
    while p != end and p[0] == 32:
        p += 1
    negative = p[0] == 45
    p += negative
    while <unsigned char>(p[0] - 48) <= 9:
        acc = acc * 10
        acc = acc + <float>p[0]
        acc = acc - 48
        p += 1
    if p[0] == 46:
        p += 1
        while <unsigned char>(p[0] - 48) <= 9:
            if fraction < 35:
                acc = acc * 10
                acc = acc + <float>(p[0] - 48)
                fraction += 1
            p += 1
    if p[0] == 101 or p[0] == 69:
        p += 1
        shrink = p[0] == 45
        p += shrink
        while <unsigned char>(p[0] - 48) <= 9:
            exponent = <int>(<unsigned int>exponent * 10 + <unsigned int>(p[0] - 48))
            p += 1
        exponent = <int>-<unsigned int>exponent if shrink else exponent
    if ends_number(p, end):
        acc = acc * powers[128 + <int8_t>(<unsigned int>exponent - <unsigned int>fraction)]
        out[0] = -acc if negative else acc
        return p
    p = start
    while p != end and (p[0] == 32 or 9 <= p[0] <= 13):  # strtof skips white space too, but would go on into the next line
        p += 1
    if p == end:
        return start
    out[0] = strtof(p, &stop)
    return start if stop == p else stop


cdef inline const char *read_number(const char *start, const char *end, const float *powers,
                                    float *out) noexcept nogil:
    """Read a float32 at ``start``; returns where it ended, ``start`` when there is none.

    An integer below 2^24 is exact in single precision, so integer arithmetic on the digits gives the same bits.
    """
    cdef const char *p = start
    cdef const char *digits
    cdef uint64_t mantissa = 0
    cdef Py_ssize_t fraction = 0, length
    cdef float value
    cdef bint negative = p[0] == 45
    p += negative
    digits = p
    while <unsigned char>(p[0] - 48) <= 9:
        mantissa = mantissa * 10 + <uint64_t>(p[0] - 48)
        p += 1
    length = p - digits
    if p[0] == 46:
        p += 1
        digits = p
        while <unsigned char>(p[0] - 48) <= 9:
            mantissa = mantissa * 10 + <uint64_t>(p[0] - 48)
            p += 1
        fraction = p - digits
        length += fraction
    if 0 < length <= 18 and mantissa <= 16777160 and ends_number(p, end):
        value = <float>mantissa * powers[128 - fraction]
        out[0] = -value if negative else value
        return p
    return read_general_number(start, end, powers, out)


cdef inline bint is_digit(char c) noexcept nogil:
    return <unsigned char>(c - 48) <= 9


cdef inline bint is_decimal(const char *p, const char *stop) noexcept nogil:
    """Whether ``[p, stop)`` is a complete decimal number: not ``-``, ``1e``, ``0x1p3``, ``inf`` or ``nan``."""
    while p != stop and p[0] == 32:
        p += 1
    if p == stop:
        return False
    p += p[0] == 43 or p[0] == 45
    if not (is_digit((stop - 1)[0]) or (stop - 1)[0] == 46):
        return False
    return is_digit(p[p[0] == 46]) and (p[1] | 32) != 120


cdef inline bint is_hex_digit(char c) noexcept nogil:
    return is_digit(c) or <unsigned char>((c | 32) - 97) <= 5


cdef inline bint is_hexadecimal(const char *p, const char *stop) noexcept nogil:
    """Whether ``[p, stop)`` is a complete hexadecimal number with an exponent, as ``0x1.8p-3``; ``0x10`` may be anything."""
    cdef bint digits = False
    while p != stop and p[0] == 32:
        p += 1
    if p == stop:
        return False
    p += p[0] == 43 or p[0] == 45
    if stop - p < 5 or p[0] != 48 or (p[1] | 32) != 120:
        return False
    p += 2
    while is_hex_digit(p[0]):
        digits = True
        p += 1
    p += p[0] == 46
    while is_hex_digit(p[0]):
        digits = True
        p += 1
    return digits and p < stop and (p[0] | 32) == 112 and is_digit((stop - 1)[0])


cdef inline bint is_number_form(const char *p, const char *stop) noexcept nogil:
    """Whether ``[p, stop)``, where ``read_number`` read a number, is written in a form that is clearly one."""
    return is_decimal(p, stop) or is_hexadecimal(p, stop)
