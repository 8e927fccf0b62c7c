"""The terms of examples as audits write them."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport fabsf, isnan
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport free, qsort
from libc.string cimport memchr, memcpy, memset

from base.memory cimport grow

cdef extern from *:
    """
    static const double vwlite_tens[] = {
        1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2,
        1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27};
    """
    const double[] TENS "vwlite_tens"  # powers of ten from LOWEST on; those of 0 to 22 are exact

cdef enum:
    DIGITS = 6
    LARGE = 1000000  # 10^DIGITS
    LOWEST = -17
    MOST_NUMBER = 24 # bytes of a number or slot, at most, more than are used
    MOST = 5 * MOST_NUMBER  # of what stands behind a name
    FEW = 64         # terms that are sorted by insertion

cdef double TIE = 1e-6  # how near to the middle between two integers a product does not say to which it is rounded


cdef struct Terms:
    const unsigned char *text
    const int64_t *end       # (terms,) where their names end in the text
    const uint32_t *slot
    const float *value
    const float *weight
    const float *square      # NULL: none are shown
    const float *effect


cdef struct Output:
    char *bytes
    size_t room
    size_t size
    uint64_t *key            # scratch of one row
    size_t keys


cdef inline char *write_integer(char *out, uint32_t number) noexcept nogil:
    cdef char[10] digits
    cdef int first = 10
    while first == 10 or number:
        first -= 1
        digits[first] = <char>(48 + number % 10)
        number //= 10
    memcpy(out, &digits[first], 10 - first)
    return out + 10 - first


cdef inline char *write_digits(char *out, uint32_t digits, int k) noexcept nogil:
    """``d.ddddd`` times 10^k, of the DIGITS digits the zeros at the end left out, as ``%g`` lays it out."""
    cdef char[DIGITS] shown
    cdef int i, size = DIGITS
    for i in range(DIGITS - 1, -1, -1):
        shown[i] = <char>(48 + digits % 10)
        digits //= 10
    while size > 1 and shown[size - 1] == 48:
        size -= 1
    if k < -4 or k >= DIGITS:
        out[0], out[1] = shown[0], b"."
        memcpy(out + 2, &shown[1], size - 1)
        out += size + 1 if size > 1 else 1
        out[0], out[1] = b"e", b"-" if k < 0 else b"+"
        k = -k if k < 0 else k
        out[2], out[3] = <char>(48 + k // 10), <char>(48 + k % 10)
        return out + 4
    if k < 0:
        memcpy(out, b"0.0000", 6)
        memcpy(out + 1 - k, &shown[0], size)
        return out + 1 - k + size
    memcpy(out, &shown[0], k + 1)        # zeros left out above are among them
    if size <= k + 1:
        return out + k + 1
    out[k + 1] = b"."
    memcpy(out + k + 2, &shown[k + 1], size - k - 1)
    return out + size + 1


cdef inline char *write_number(char *out, float number) noexcept nogil:
    """As C's ``%g``: six digits, to which the exact value is rounded.

    A product or quotient with a power of ten that is exact is within 2^-53 of its size, 1e-10 here, of the true one.
    """
    cdef double x = number, scaled
    cdef uint32_t bits, digits
    cdef int k
    memcpy(&bits, &number, sizeof(bits))
    if bits == 0:
        out[0] = b"0"
        return out + 1
    if x < 0:
        out[0] = b"-"
        out += 1
        x = -x
    if 1 <= x < LARGE and <double><int32_t>x == x:
        return write_integer(out, <uint32_t>x)
    if not 1e-16 < x < 1e26:
        return out + snprintf(out, MOST_NUMBER - 1, b"%g", x)
    k = ((<int>(bits >> 23 & 255) - 127) * 1233) >> 12   # 1233 / 4096 is a little less than log10(2) ...
    k += x >= TENS[k + 1 - LOWEST]
    if k < DIGITS:
        scaled = x * TENS[DIGITS - 1 - k - LOWEST]
    else:
        scaled = x / TENS[k - DIGITS + 1 - LOWEST]
    digits = <uint32_t>scaled
    scaled -= digits
    if 0.5 - TIE < scaled < 0.5 + TIE:
        return out + snprintf(out, MOST_NUMBER - 1, b"%g", x)
    digits += scaled > 0.5
    if digits == LARGE:
        digits = LARGE // 10
        k += 1
    return write_digits(out, digits, k)


cdef inline uint64_t place_key(float effect, size_t place) noexcept nogil:
    """Ascending by the absolute effect from the largest on, NaN last; then by the place in the row."""
    cdef uint32_t bits
    effect = fabsf(effect)
    memcpy(&bits, &effect, sizeof(bits))
    bits = <uint32_t>0xffffffff if isnan(effect) else <uint32_t>0xfffffffe - bits
    return <uint64_t>bits << 32 | place


cdef int compare_keys(const void *a, const void *b) noexcept nogil:
    cdef uint64_t first = (<const uint64_t *>a)[0], second = (<const uint64_t *>b)[0]
    return (first > second) - (first < second)


cdef inline void sort_keys(uint64_t *key, size_t count) noexcept nogil:
    cdef size_t i, j
    cdef uint64_t moved
    if count > FEW:
        qsort(key, count, sizeof(uint64_t), compare_keys)
        return
    for i in range(1, count):
        moved = key[i]
        j = i
        while j > 0 and key[j - 1] > moved:
            key[j] = key[j - 1]
            j -= 1
        key[j] = moved


cdef inline bint reserve(Output *out, size_t size, size_t terms) noexcept nogil:
    """Make room for further ``size`` bytes, and for the keys of a row."""
    if out.size + size > out.room:
        if not grow(<void **>&out.bytes, 2 * (out.size + size)):
            return False
        out.room = 2 * (out.size + size)
    if terms > out.keys:
        if not grow(<void **>&out.key, 2 * terms * sizeof(uint64_t)):
            return False
        out.keys = 2 * terms
    return True


cdef inline bint write_row(Output *out, const Terms *t, size_t first, size_t last) noexcept nogil:
    cdef size_t i, term
    cdef int64_t begin = t.end[first - 1] if first else 0, size
    cdef char *at
    if last == first:
        return True
    if not reserve(out, <size_t>(t.end[last - 1] - begin) + MOST * (last - first), last - first):
        return False
    for i in range(last - first):
        out.key[i] = place_key(t.effect[first + i], i)
    sort_keys(out.key, last - first)
    at = out.bytes + out.size
    for i in range(last - first):
        term = first + <uint32_t>out.key[i]
        begin = t.end[term - 1] if term else 0
        size = t.end[term] - begin
        at[0] = b"\t"
        if size:
            memcpy(at + 1, t.text + begin, size)
        at += 1 + size
        at[0] = b":"
        at = write_integer(at + 1, t.slot[term])
        at[0] = b":"
        at = write_number(at + 1, t.value[term])
        at[0] = b":"
        at = write_number(at + 1, t.weight[term])
        if t.square != NULL:
            at[0] = b"@"
            at = write_number(at + 1, t.square[term])
    out.size = at - out.bytes
    return True


cdef inline bint write_rows(Output *out, const Terms *t, const int64_t *edge, size_t rows, const char *head,
                            size_t left) noexcept nogil:
    """False when memory has run out. ``head``, of ``left`` bytes: NULL, or a line for every row."""
    cdef size_t row, size
    cdef const char *behind
    for row in range(rows):
        if head != NULL:
            behind = <const char *>memchr(head, 10, left)
            size = behind + 1 - head if behind != NULL else left
            if not reserve(out, size, 0):
                return False
            memcpy(out.bytes + out.size, head, size)
            out.size += size
            head += size
            left -= size
        if not write_row(out, t, edge[row], edge[row + 1]):
            return False
        if head != NULL:
            if not reserve(out, 1, 0):
                return False
            out.bytes[out.size] = 10
            out.size += 1
    return True


cdef int check_rising(const int64_t[::1] edges, int64_t last) except -1:
    cdef Py_ssize_t i
    cdef int64_t before = 0
    for i in range(edges.shape[0]):
        if not before <= edges[i] <= last:
            raise IndexError("edges of names or rows that do not rise")
        before = edges[i]
    return 0


def format_terms(const unsigned char[::1] names, const int64_t[::1] ends, const int64_t[::1] indptr,
                 const uint32_t[::1] slots, const float[::1] values, const float[::1] weights, squares,
                 const float[::1] effects, heads=None):
    """``\\tname:slot:value:weight`` of each term of each row, those of the largest absolute effect first; bytes.

    The terms of row ``i`` are those from ``indptr[i]`` to ``indptr[i + 1]``, int64[rows + 1]. The name of term ``j`` ends before
    byte ``ends[j]``, int64[terms], of ``names``, where the next one begins. ``slots`` are uint32[terms]; ``values``, ``weights``
    and ``effects`` float32[terms]; ``squares``, float32[terms] or None, stand behind the weights and an ``@``. Terms of the same
    effect keep their order; NaN is last. Numbers have up to six digits, as C's ``%g`` writes them. ``heads``, bytes: a line that
    goes before each row, which then ends with a newline. Raises IndexError where arrays do not fit together, MemoryError.
    """
    cdef Terms t
    cdef Output out
    cdef const float[::1] square = squares
    cdef const unsigned char[::1] head = heads
    cdef size_t count = slots.shape[0], rows = indptr.shape[0] - 1, left = head.shape[0] if heads is not None else 0
    cdef bint done
    if min(ends.shape[0], values.shape[0], weights.shape[0], effects.shape[0]) < slots.shape[0]:
        raise IndexError("there are more terms than names or numbers")
    if squares is not None and square.shape[0] < slots.shape[0]:
        raise IndexError("there are more terms than sums of squares")
    if indptr.shape[0] < 1 or slots.shape[0] > 0xffffffff:
        raise IndexError("rows without a first term")
    check_rising(ends[:count], names.shape[0])
    check_rising(indptr, count)
    if count == 0:
        return b"".join(line + b"\n" for line in bytes(heads).splitlines(True)) if heads else b""
    t.text = &names[0] if names.shape[0] else NULL
    t.end, t.slot, t.value, t.weight, t.effect = &ends[0], &slots[0], &values[0], &weights[0], &effects[0]
    t.square = &square[0] if squares is not None else NULL
    memset(&out, 0, sizeof(out))
    try:
        with nogil:
            done = write_rows(&out, &t, &indptr[0], rows, <const char *>&head[0] if left else NULL, left)
        if not done:
            raise MemoryError("no memory for the lines of an audit")
        return PyBytes_FromStringAndSize(out.bytes, <Py_ssize_t>out.size)
    finally:
        free(out.bytes)
        free(out.key)
