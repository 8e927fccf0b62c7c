"""A running digest of bytes, whatever the portions they come in: fast enough to go along with reading."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from base.splitmix64 cimport mix64

cdef extern from "base/digest_simd.h" nogil:
    enum: VWL_SUMS
    enum: VWL_STRIPE
    enum: VWL_STRIPES
    int vwl_sum_stripes(uint64_t *sums, const uint8_t *p, size_t stripes, int place, const uint64_t *keys)

cdef enum:
    TOTAL = VWL_SUMS               # place of the count of bytes, behind the sums
    REST = TOTAL + 1               # place of the bytes that fill no stripe yet

WORDS = REST + VWL_STRIPE // 8     # of the state, uint64
cdef uint64_t KEYS[VWL_STRIPES + VWL_SUMS]
cdef uint64_t START[VWL_SUMS]


cdef uint64_t draw(uint64_t number) noexcept nogil:
    """The number-th output of splitmix64 from the seed 0 (Steele, Lea, Flood 2014)."""
    return mix64(number * <uint64_t>0x9E3779B97F4A7C15)


cdef int _i
for _i in range(VWL_STRIPES + VWL_SUMS):
    KEYS[_i] = draw(_i + 1)
for _i in range(VWL_SUMS):
    START[_i] = draw(VWL_STRIPES + VWL_SUMS + _i + 1)


def begin(uint64_t[::1] state not None):
    """Make ``state``, uint64[WORDS], that of no bytes."""
    memset(&state[0], 0, WORDS * sizeof(uint64_t))
    memcpy(&state[0], START, sizeof(START))


def add(uint64_t[::1] state not None, const uint8_t[::1] data not None, Py_ssize_t start, Py_ssize_t end):
    """Add ``data[start:end]`` to the digest."""
    if len(state) != WORDS or not 0 <= start <= end <= len(data):
        raise ValueError("a state or bytes that are not there")
    if start < end:
        with nogil:
            add_bytes(&state[0], &data[start], <size_t>(end - start))


cdef void add_bytes(uint64_t *state, const uint8_t *p, size_t size) noexcept nogil:
    cdef uint64_t total = state[TOTAL]
    cdef uint8_t *rest = <uint8_t *>(state + REST)
    cdef size_t waiting = total % VWL_STRIPE, taken
    cdef int place = <int>(total // VWL_STRIPE % VWL_STRIPES)
    state[TOTAL] = total + size
    if waiting:
        taken = min(size, VWL_STRIPE - waiting)
        memcpy(rest + waiting, p, taken)
        if waiting + taken < VWL_STRIPE:
            return
        place = vwl_sum_stripes(state, rest, 1, place, KEYS)
        p += taken
        size -= taken
    vwl_sum_stripes(state, p, size // VWL_STRIPE, place, KEYS)
    memcpy(rest, p + size // VWL_STRIPE * VWL_STRIPE, size % VWL_STRIPE)
    memset(rest + size % VWL_STRIPE, 0, VWL_STRIPE - size % VWL_STRIPE)
