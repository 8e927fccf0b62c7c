"""Numbers in the cells of tables: read in double precision and rounded to single, as those of data frames are."""

from libc.math cimport isfinite
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport strtod

from base.byte_scan cimport INTEGER_POWERS, digits, first_bit, nondigits
from base.status cimport BAD_CELL, NOT_FINITE, OK

cdef extern from *:
    """
    /* Powers of ten that double precision holds exactly. */
    static const double vwl_double_powers[23] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
                                                 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    """
    const double *DOUBLE_POWERS "vwl_double_powers"


cdef enum:
    ABSENT = 98  # a cell without a number


cdef inline bint spells(const char *p, const char *end, const char *word) noexcept nogil:
    """Whether the letters of ``[p, end)`` are those of a word in lower case."""
    while p < end and (p[0] == word[0] or (word[0] >= 97 and p[0] == word[0] - 32)):
        p += 1
        word += 1
    return p == end and word[0] == 0


cdef inline int read_word_number(const char *p, const char *end, float *out) noexcept nogil:
    """What is no decimal: a truth value, a word for what is absent, an infinite number."""
    if spells(p, end, b"true") or spells(p, end, b"false"):
        out[0] = p[0] | 32 == 116
        return OK
    if spells(p, end, b"nan") or spells(p, end, b"na") or spells(p, end, b"n/a"):
        return ABSENT
    if spells(p, end, b"null") or spells(p, end, b"none"):
        return ABSENT
    p += p[0] == 43 or p[0] == 45
    return NOT_FINITE if spells(p, end, b"inf") or spells(p, end, b"infinity") else BAD_CELL


cdef inline int rounded(double number, float *out) noexcept nogil:
    out[0] = <float>number
    return OK if isfinite(out[0]) else NOT_FINITE


cdef inline int read_any_number(const char *start, const char *end, float *out) noexcept nogil:
    """A number with a sign, an exponent or many digits. ``end`` is no part of a number."""
    cdef const char *p = start
    cdef uint64_t mantissa = 0
    cdef int count = 0, significant = 0, scale = 0, exponent = 0
    cdef bint negative = p[0] == 45, shrink
    cdef double number
    p += p[0] == 43 or p[0] == 45
    while <unsigned char>(p[0] - 48) <= 9:
        significant += significant > 0 or p[0] != 48
        mantissa = mantissa * 10 + <uint64_t>(p[0] - 48)
        count += 1
        p += 1
    if p < end and p[0] == 46:
        p += 1
        while <unsigned char>(p[0] - 48) <= 9:
            significant += significant > 0 or p[0] != 48
            mantissa = mantissa * 10 + <uint64_t>(p[0] - 48)
            count += 1
            scale -= 1
            p += 1
    if count == 0:
        return read_word_number(start, end, out)
    if p < end and p[0] | 32 == 101:
        p += 1
        shrink = p < end and p[0] == 45
        p += p < end and (p[0] == 45 or p[0] == 43)
        if p == end:
            return BAD_CELL
        while <unsigned char>(p[0] - 48) <= 9:
            exponent = exponent * 10 + (p[0] - 48) if exponent < 100000 else exponent
            p += 1
        scale += -exponent if shrink else exponent
        if <unsigned char>((p - 1)[0] - 48) > 9:
            return BAD_CELL
    if p != end:
        return BAD_CELL
    if significant <= 19 and mantissa <= <uint64_t>1 << 53 and -22 <= scale <= 22:
        number = <double>mantissa
        number = number / DOUBLE_POWERS[-scale] if scale < 0 else number * DOUBLE_POWERS[scale]
        return rounded(-number if negative else number, out)
    return rounded(strtod(start, NULL), out)


cdef inline int read_cell_number(const char *p, const char *end, float *out) noexcept nogil:
    """Read the number of the cell ``[p, end)``, blanks around it aside: OK, ABSENT, BAD_CELL or NOT_FINITE.

    Truth values are 1 and 0. Reads up to 16 bytes behind the cell, the first of which is no part of a number.
    """
    cdef uint32_t odd
    cdef size_t length, whole, fraction
    while p < end and (p[0] == 32 or p[0] == 9):
        p += 1
    while p < end and ((end - 1)[0] == 32 or (end - 1)[0] == 9):
        end -= 1
    length = <size_t>(end - p)
    if length == 0:
        return ABSENT
    if length <= 15:
        odd = nondigits(p) & <uint32_t>((1 << length) - 1)
        if odd == 0 and length <= 8:
            out[0] = <float>digits(p, <int>length)
            return OK
        whole = <size_t>first_bit(odd | 0x8000)
        fraction = length - whole - 1
        if p[whole] == 46 and odd & (odd - 1) == 0 and odd != 0 and 1 <= whole <= 8 and 1 <= fraction <= 7:
            out[0] = <float>(<double>(digits(p, <int>whole) * INTEGER_POWERS[fraction] + digits(p + whole + 1, <int>fraction))
                             / DOUBLE_POWERS[fraction])
            return OK
    return read_any_number(p, end, out)
