"""A digest of a stream of bytes, which does not depend on how the stream is cut into calls of ``add``.

It is much faster than reading a file, so that every read can be checked.
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from base.random cimport mix64

cdef extern from * nogil:
    """
    /* Eight running sums of 64-bit words, as in XXH3 (Collet 2019). For each word x and its key k, the two 32-bit halves of x ^ k are
     * multiplied and added to the word's sum; x itself is added to the neighbour's sum, so that a product of 0 does not hide the
     * word. A round is 16 stripes of 64 bytes; the sums are scrambled at its end. */
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>

    #if defined(__SSE2__) && !defined(VWLITE_SCALAR)
    #include <emmintrin.h>
    #endif

    #define VWL_SUMS 8
    #define VWL_STRIPE 64
    #define VWL_STRIPES 16 /* in a round; stripe s of a round uses the keys s to s + 7 */
    #define VWL_SCRAMBLE 0x9E3779B1u

    #if defined(__SSE2__) && !defined(VWLITE_SCALAR)
    static inline void vwl_sum_stripe(uint64_t *sums, const uint8_t *p, const uint64_t *keys) {
        for (int i = 0; i < VWL_SUMS; i += 2) {
            __m128i sum = _mm_loadu_si128((const __m128i *)(sums + i)), x = _mm_loadu_si128((const __m128i *)(p + 8 * i));
            __m128i y = _mm_xor_si128(x, _mm_loadu_si128((const __m128i *)(keys + i)));
            __m128i product = _mm_mul_epu32(y, _mm_shuffle_epi32(y, 0x31));
            sum = _mm_add_epi64(sum, _mm_add_epi64(product, _mm_shuffle_epi32(x, 0x4E)));
            _mm_storeu_si128((__m128i *)(sums + i), sum);
        }
    }
    #else
    static inline void vwl_sum_stripe(uint64_t *sums, const uint8_t *p, const uint64_t *keys) {
        uint64_t x[VWL_SUMS];
        memcpy(x, p, VWL_STRIPE);
        for (int i = 0; i < VWL_SUMS; i++) {
            uint64_t y = x[i] ^ keys[i];
            sums[i ^ 1] += x[i];
            sums[i] += (y & 0xFFFFFFFFu) * (y >> 32);
        }
    }
    #endif

    /* Add `stripes` stripes to the sums. `done` is the number of stripes already added in the current round; returns that number
     * afterwards. */
    static inline int vwl_sum_stripes(uint64_t *sums, const uint8_t *p, size_t stripes, int done, const uint64_t *keys) {
        uint64_t local[VWL_SUMS];
        memcpy(local, sums, sizeof local);
        while (stripes) {
            size_t end = (size_t)(VWL_STRIPES - done) < stripes ? (size_t)(VWL_STRIPES - done) : stripes;
            for (size_t s = 0; s < end; s++) vwl_sum_stripe(local, p + VWL_STRIPE * s, keys + done + s);
            p += VWL_STRIPE * end, stripes -= end, done += (int)end;
            if (done == VWL_STRIPES) {
                done = 0;
                for (int i = 0; i < VWL_SUMS; i++)
                    local[i] = (local[i] ^ local[i] >> 47 ^ keys[VWL_STRIPES + i]) * VWL_SCRAMBLE;
            }
        }
        memcpy(sums, local, sizeof local);
        return done;
    }
    """
    enum: VWL_SUMS
    enum: VWL_STRIPE
    enum: VWL_STRIPES
    int vwl_sum_stripes(uint64_t *sums, const uint8_t *p, size_t stripes, int done, const uint64_t *keys)

cdef enum:
    # indices into the state, uint64[WORDS], which begins with the sums
    TOTAL = VWL_SUMS               # number of bytes added so far
    BUFFER = TOTAL + 1             # the last bytes, which do not fill a stripe yet

WORDS = BUFFER + VWL_STRIPE // 8   # length of the state
cdef uint64_t KEYS[VWL_STRIPES + VWL_SUMS]
cdef uint64_t START[VWL_SUMS]


cdef uint64_t splitmix(uint64_t number) noexcept nogil:
    """The number-th output of splitmix64 from the seed 0 (Steele, Lea, Flood 2014)."""
    return mix64(number * <uint64_t>0x9E3779B97F4A7C15)


cdef int _i
for _i in range(VWL_STRIPES + VWL_SUMS):
    KEYS[_i] = splitmix(_i + 1)
for _i in range(VWL_SUMS):
    START[_i] = splitmix(VWL_STRIPES + VWL_SUMS + _i + 1)


def begin(uint64_t[::1] state not None):
    """Set ``state``, uint64[WORDS], to the digest of zero bytes."""
    memset(&state[0], 0, WORDS * sizeof(uint64_t))
    memcpy(&state[0], START, sizeof(START))


def add(uint64_t[::1] state not None, const uint8_t[::1] data not None, Py_ssize_t start, Py_ssize_t end):
    """Add ``data[start:end]`` to the digest."""
    if len(state) != WORDS or not 0 <= start <= end <= len(data):
        raise ValueError("the state has a wrong length, or the bytes lie outside the data")
    if start < end:
        with nogil:
            add_bytes(&state[0], &data[start], <size_t>(end - start))


cdef void add_bytes(uint64_t *state, const uint8_t *p, size_t size) noexcept nogil:
    cdef uint64_t total = state[TOTAL]
    cdef uint8_t *buffer = <uint8_t *>(state + BUFFER)
    cdef size_t buffered = total % VWL_STRIPE, taken
    cdef int done = <int>(total // VWL_STRIPE % VWL_STRIPES)
    state[TOTAL] = total + size
    if buffered:
        taken = min(size, VWL_STRIPE - buffered)
        memcpy(buffer + buffered, p, taken)
        if buffered + taken < VWL_STRIPE:
            return
        done = vwl_sum_stripes(state, buffer, 1, done, KEYS)
        p += taken
        size -= taken
    vwl_sum_stripes(state, p, size // VWL_STRIPE, done, KEYS)
    memcpy(buffer, p + size // VWL_STRIPE * VWL_STRIPE, size % VWL_STRIPE)
    memset(buffer + size % VWL_STRIPE, 0, VWL_STRIPE - size % VWL_STRIPE)
