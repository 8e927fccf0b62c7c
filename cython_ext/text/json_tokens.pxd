"""The tokens of one line of JSON, after RFC 8259; NaN and Infinity are taken for numbers, as Python's reader takes them."""

from libc.stdint cimport uint32_t
from libc.string cimport memcmp

from base.byte_scan cimport either, first_bit


cdef enum:
    STRING = 0
    LITERAL = 1     # a number, true, false
    NOTHING = 2     # null, NaN
    OBJECT = 3
    ARRAY = 4
    MOST_DEPTH = 64


cdef struct Value:
    int kind
    const char *start   # of a string, without its quotes; of others with all that belongs to them
    const char *end
    bint escaped        # a string with a backslash


cdef inline const char *skip_space(const char *p, const char *end) noexcept nogil:
    while p < end and (p[0] == 32 or p[0] == 9 or p[0] == 13):
        p += 1
    return p


cdef inline const char *read_string(const char *p, const char *end, Value *value) noexcept nogil:
    """The string whose quote is at ``p``; returns what is behind it, NULL where it does not end."""
    cdef uint32_t mask
    p += 1
    value.kind, value.start, value.escaped = STRING, p, False
    while True:
        mask = either(p, 34, 92)
        if mask == 0:
            p += 16
            if p >= end:
                return NULL
            continue
        p += first_bit(mask)
        if p >= end:
            return NULL
        if p[0] == 34:
            value.end = p
            return p + 1
        value.escaped = True
        p += 2
        if p >= end:
            return NULL


cdef inline bint is_digit(char c) noexcept nogil:
    return <unsigned char>(c - 48) <= 9


cdef inline const char *read_number_token(const char *p, const char *end) noexcept nogil:
    """What is behind the number at ``p``, NULL where none is."""
    p += p[0] == 45
    if not is_digit(p[0]) or p >= end:
        return NULL
    if p[0] == 48:
        p += 1
    else:
        while is_digit(p[0]):
            p += 1
    if p < end and p[0] == 46:
        p += 1
        if not is_digit(p[0]) or p >= end:
            return NULL
        while is_digit(p[0]):
            p += 1
    if p < end and (p[0] | 32) == 101:
        p += 1
        p += p < end and (p[0] == 43 or p[0] == 45)
        if not is_digit(p[0]) or p >= end:
            return NULL
        while is_digit(p[0]):
            p += 1
    return p


cdef inline const char *read_fixed(const char *p, const char *end, const char *word, size_t length) noexcept nogil:
    return p + length if <size_t>(end - p) >= length and memcmp(p, word, length) == 0 else NULL


cdef inline const char *read_literal(const char *p, const char *end, Value *value) noexcept nogil:
    cdef const char *stop
    value.kind, value.start, value.escaped = LITERAL, p, False
    if p[0] == 116:
        stop = read_fixed(p, end, b"true", 4)
    elif p[0] == 102:
        stop = read_fixed(p, end, b"false", 5)
    elif p[0] == 110:
        value.kind, stop = NOTHING, read_fixed(p, end, b"null", 4)
    elif p[0] == 78:
        value.kind, stop = NOTHING, read_fixed(p, end, b"NaN", 3)
    elif p[0] == 73:
        stop = read_fixed(p, end, b"Infinity", 8)
    elif p[0] == 45 and p + 1 < end and p[1] == 73:
        stop = read_fixed(p, end, b"-Infinity", 9)
    else:
        stop = read_number_token(p, end)
    value.end = stop
    return stop


cdef inline const char *read_key(const char *p, const char *end, Value *key) noexcept nogil:
    """``"key" :`` at ``p``; returns the first byte of the value, NULL where that is not there."""
    if p >= end or p[0] != 34:
        return NULL
    p = read_string(p, end, key)
    if p == NULL:
        return NULL
    p = skip_space(p, end)
    if p >= end or p[0] != 58:
        return NULL
    p = skip_space(p + 1, end)
    return p if p < end else NULL


cdef inline const char *skip_nested(const char *p, const char *end) noexcept nogil:
    """What is behind the object or array at ``p``; NULL where it is none, or too deep."""
    cdef char closing[MOST_DEPTH]
    cdef int depth = 0
    cdef Value value
    cdef bint ready = True   # for a value, or the end of what is empty
    while True:
        p = skip_space(p, end)
        if p >= end:
            return NULL
        if ready and (p[0] == 123 or p[0] == 91):
            if depth == MOST_DEPTH:
                return NULL
            closing[depth] = p[0] + 2
            depth += 1
            p = skip_space(p + 1, end)
            if p >= end:
                return NULL
            if p[0] == closing[depth - 1]:
                ready = False
                continue
            if closing[depth - 1] == 125:
                p = read_key(p, end, &value)
                if p == NULL:
                    return NULL
            continue
        if ready:
            p = read_string(p, end, &value) if p[0] == 34 else read_literal(p, end, &value)
            if p == NULL:
                return NULL
            ready = False
            continue
        if p[0] == closing[depth - 1]:
            p += 1
            depth -= 1
            if depth == 0:
                return p
            continue
        if p[0] != 44:
            return NULL
        p = skip_space(p + 1, end)
        if closing[depth - 1] == 125:
            p = read_key(p, end, &value)
            if p == NULL:
                return NULL
        ready = True


cdef inline const char *read_json(const char *p, const char *end, Value *value) noexcept nogil:
    """The value at ``p``, nested ones whole; returns what is behind it, NULL where none is."""
    cdef const char *start = p
    if p >= end:
        return NULL
    if p[0] == 34:
        return read_string(p, end, value)
    if p[0] == 123 or p[0] == 91:
        value.kind = OBJECT if p[0] == 123 else ARRAY
        value.start, value.escaped = start, False
        value.end = skip_nested(p, end)
        return value.end
    return read_literal(p, end, value)


cdef inline int hex_digit(char c) noexcept nogil:
    if is_digit(c):
        return c - 48
    c |= 32
    return c - 87 if 97 <= c <= 102 else -1


cdef inline long read_unit(const char *p, const char *end) noexcept nogil:
    """The four hexadecimal digits of an escape, -1 where they are not there."""
    cdef long unit = 0
    cdef int i
    if end - p < 4:
        return -1
    for i in range(4):
        if hex_digit(p[i]) < 0:
            return -1
        unit = unit * 16 + hex_digit(p[i])
    return unit


cdef inline size_t write_character(long point, char *out) noexcept nogil:
    """As UTF-8; returns its length."""
    if point < 0x80:
        out[0] = <char>point
        return 1
    if point < 0x800:
        out[0], out[1] = <char>(0xc0 | point >> 6), <char>(0x80 | point & 63)
        return 2
    if point < 0x10000:
        out[0], out[1], out[2] = <char>(0xe0 | point >> 12), <char>(0x80 | point >> 6 & 63), <char>(0x80 | point & 63)
        return 3
    out[0], out[1] = <char>(0xf0 | point >> 18), <char>(0x80 | point >> 12 & 63)
    out[2], out[3] = <char>(0x80 | point >> 6 & 63), <char>(0x80 | point & 63)
    return 4


cdef inline char plain_escape(char c) noexcept nogil:
    """The character that a backslash and a letter stand for, 1 for none."""
    if c == 34 or c == 92 or c == 47:
        return c
    if c == 110:
        return 10
    if c == 116:
        return 9
    if c == 114:
        return 13
    if c == 98:
        return 8
    return 12 if c == 102 else 1


cdef inline Py_ssize_t unescape_json(const Value *value, char *out) noexcept nogil:
    """Write the string without escapes, which is no longer than with them; returns its length, -1 for what is no escape."""
    cdef const char *p = value.start
    cdef char *begin = out
    cdef long unit, low
    while p < value.end:
        if p[0] != 92:
            out[0] = p[0]
            out += 1
            p += 1
            continue
        p += 1
        if p[0] != 117:
            out[0] = plain_escape(p[0])
            if out[0] == 1:
                return -1
            out += 1
            p += 1
            continue
        unit = read_unit(p + 1, value.end)
        p += 5
        if 0xd800 <= unit <= 0xdbff and value.end - p >= 6 and p[0] == 92 and p[1] == 117:
            low = read_unit(p + 2, value.end)
            if not 0xdc00 <= low <= 0xdfff:
                return -1
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
            p += 6
        if unit < 0 or 0xd800 <= unit <= 0xdfff:
            return -1
        out += write_character(unit, out)
    return out - begin
