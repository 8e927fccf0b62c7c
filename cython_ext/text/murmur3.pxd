"""MurmurHash3 (x86, 32 bit), the hash of a name, which is a number or the name's MurmurHash3, and batched hashing: names are
queued, and the hashes of a full queue are computed together, with AVX2.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t

from base.byte_scan cimport digits, nondigits


cdef inline uint32_t rotl(uint32_t x, int r) noexcept nogil:
    return (x << r) | (x >> (32 - r))


cdef inline uint32_t mix_word(uint32_t k) noexcept nogil:
    return rotl(k * <uint32_t>0xcc9e2d51, 15) * <uint32_t>0x1b873593


cdef inline uint32_t mix_state(uint32_t h, uint32_t k) noexcept nogil:
    return rotl(h ^ mix_word(k), 13) * 5 + <uint32_t>0xe6546b64


cdef inline uint32_t load_word(const char *p) noexcept nogil:
    """Four bytes as a little-endian integer, on any machine."""
    cdef const unsigned char *u = <const unsigned char *>p
    return <uint32_t>u[0] | <uint32_t>u[1] << 8 | <uint32_t>u[2] << 16 | <uint32_t>u[3] << 24


cdef inline uint32_t murmur3(const char *p, size_t length, uint32_t seed) noexcept nogil:
    """MurmurHash3_x86_32. Reads up to 15 bytes past the end: the buffer must have that much slack.

    Names below 16 bytes take the same path whatever their length: three words are mixed and the state after the name's last
    complete word is selected, which costs less than a mispredicted loop.
    """
    cdef uint32_t h = seed, step, k
    cdef size_t words = length >> 2, i
    if words <= 3:
        step = mix_state(h, load_word(p))
        h = step if words > 0 else h
        step = mix_state(h, load_word(p + 4))
        h = step if words > 1 else h
        step = mix_state(h, load_word(p + 8))
        h = step if words > 2 else h
    else:
        for i in range(words):
            h = mix_state(h, load_word(p + 4 * i))
    k = load_word(p + 4 * words) & <uint32_t>((<uint64_t>1 << (8 * (length & 3))) - 1)
    h ^= mix_word(k)
    h ^= <uint32_t>length
    h ^= h >> 16
    h *= <uint32_t>0x85ebca6b
    h ^= h >> 13
    h *= <uint32_t>0xc2b2ae35
    h ^= h >> 16
    return h


cdef inline bint all_digits(const char *p, size_t length) noexcept nogil:
    cdef size_t i
    if length <= 16:
        return nondigits(p) & <uint32_t>((<uint64_t>1 << length) - 1) == 0
    for i in range(length):
        if <unsigned char>(p[i] - 48) > 9:
            return False
    return True


cdef inline uint32_t hash_name(const char *p, size_t length, uint32_t seed, bint hash_all) noexcept nogil:
    """Hash of a name as with Vowpal Wabbit's ``--hash all`` or ``--hash strings`` (the default).

    With ``strings`` the hash of a name of ASCII digits is its value plus the seed, and control characters around a name are
    ignored.
    """
    cdef uint64_t number = 0
    cdef size_t i
    if hash_all:
        return murmur3(p, length, seed)
    while length and <unsigned char>p[0] <= 32:
        p += 1
        length -= 1
    while length and <unsigned char>p[length - 1] <= 32:
        length -= 1
    if all_digits(p, length):
        for i in range(length):
            number = number * 10 + <uint64_t>(p[i] - 48)
        return <uint32_t>number + seed
    return murmur3(p, length, seed)


cdef extern from * nogil:
    """
    /* MurmurHash3 of many names at a time, where the processor has AVX2. Hashes equal those of text/murmur3.pxd. */
    #include <stdint.h>
    #include <string.h>

    #define VWL_MAX_NAME 15 /* bytes of a name that can be queued: three words of four bytes and a rest */
    #define VWL_QUEUE_SIZE 16   /* two vectors of eight names, whose computations overlap */

    /* A queue of names to be hashed; the fields are explained below. */
    typedef struct {
        const char *at[VWL_QUEUE_SIZE];
        uint32_t *to[VWL_QUEUE_SIZE];
        uint32_t length[VWL_QUEUE_SIZE], seed[VWL_QUEUE_SIZE], number[VWL_QUEUE_SIZE];
        int32_t numeric[VWL_QUEUE_SIZE];
        uint32_t count;
    } vwl_hash_queue;

    #if defined(__GNUC__) && defined(__x86_64__) && !defined(VWLITE_SCALAR)
    #include <immintrin.h>
    #define VWL_AVX2 __attribute__((target("avx2")))

    static inline int vwl_has_batched_hash(void) { return __builtin_cpu_supports("avx2") != 0; }

    #define VWL_ROTATE(x, r) _mm256_or_si256(_mm256_slli_epi32(x, r), _mm256_srli_epi32(x, 32 - (r)))
    #define VWL_TIMES(x, c) _mm256_mullo_epi32(x, _mm256_set1_epi32((int)(c)))

    /* Mix one more word of each name into h. Where the name has fewer than four bytes left, `whole` is 0 and the word is mixed as
     * MurmurHash3's tail. */
    static inline VWL_AVX2 __m256i vwl_next_word(__m256i h, __m256i word, __m256i whole) {
        __m256i mixed, x;
        word = VWL_TIMES(word, 0xcc9e2d51u);
        x = _mm256_xor_si256(h, VWL_TIMES(VWL_ROTATE(word, 15), 0x1b873593u));
        mixed = VWL_ROTATE(x, 13);
        mixed = _mm256_add_epi32(_mm256_add_epi32(mixed, _mm256_slli_epi32(mixed, 2)), _mm256_set1_epi32((int)0xe6546b64u));
        return _mm256_blendv_epi8(x, mixed, whole);
    }

    /* The bytes of two names, each padded with zeros to 16. */
    static inline VWL_AVX2 __m256i vwl_load_two(const vwl_hash_queue *queue, int a, int b) {
        static const uint8_t keep[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
        __m128i first = _mm_and_si128(_mm_loadu_si128((const __m128i *)queue->at[a]),
                                      _mm_loadu_si128((const __m128i *)(keep + 16 - queue->length[a])));
        __m128i second = _mm_and_si128(_mm_loadu_si128((const __m128i *)queue->at[b]),
                                       _mm_loadu_si128((const __m128i *)(keep + 16 - queue->length[b])));
        return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
    }

    static inline VWL_AVX2 void vwl_hash_eight(const vwl_hash_queue *queue, int k, uint32_t *hash) {
        const __m256i a = vwl_load_two(queue, k, k + 4), b = vwl_load_two(queue, k + 1, k + 5);
        const __m256i c = vwl_load_two(queue, k + 2, k + 6), d = vwl_load_two(queue, k + 3, k + 7);
        const __m256i ab = _mm256_unpacklo_epi32(a, b), cd = _mm256_unpacklo_epi32(c, d);
        const __m256i also_ab = _mm256_unpackhi_epi32(a, b), also_cd = _mm256_unpackhi_epi32(c, d);
        const __m256i length = _mm256_loadu_si256((const __m256i *)(queue->length + k));
        __m256i h = _mm256_loadu_si256((const __m256i *)(queue->seed + k));
        h = vwl_next_word(h, _mm256_unpacklo_epi64(ab, cd), _mm256_cmpgt_epi32(length, _mm256_set1_epi32(3)));
        h = vwl_next_word(h, _mm256_unpackhi_epi64(ab, cd), _mm256_cmpgt_epi32(length, _mm256_set1_epi32(7)));
        h = vwl_next_word(h, _mm256_unpacklo_epi64(also_ab, also_cd), _mm256_cmpgt_epi32(length, _mm256_set1_epi32(11)));
        h = vwl_next_word(h, _mm256_unpackhi_epi64(also_ab, also_cd), _mm256_setzero_si256());
        h = _mm256_xor_si256(h, length);
        h = VWL_TIMES(_mm256_xor_si256(h, _mm256_srli_epi32(h, 16)), 0x85ebca6bu);
        h = VWL_TIMES(_mm256_xor_si256(h, _mm256_srli_epi32(h, 13)), 0xc2b2ae35u);
        h = _mm256_xor_si256(h, _mm256_srli_epi32(h, 16));
        h = _mm256_blendv_epi8(h, _mm256_loadu_si256((const __m256i *)(queue->number + k)),
                               _mm256_loadu_si256((const __m256i *)(queue->numeric + k)));
        _mm256_storeu_si256((__m256i *)(hash + k), h);
    }

    /* Write the hashes of the queued names and empty the queue. Reads 16 bytes of every entry, used or not. */
    static inline VWL_AVX2 void vwl_flush_queue(vwl_hash_queue *queue) {
        uint32_t hash[VWL_QUEUE_SIZE];
        for (int k = 0; k < VWL_QUEUE_SIZE; k += 8) vwl_hash_eight(queue, k, hash);
        for (uint32_t k = 0; k < queue->count; k++) *queue->to[k] = hash[k];
        queue->count = 0;
    }
    #else
    static inline int vwl_has_batched_hash(void) { return 0; }
    static inline void vwl_flush_queue(vwl_hash_queue *queue) { queue->count = 0; }
    #endif

    static inline void vwl_open_queue(vwl_hash_queue *queue, const char *text) {
        memset(queue, 0, sizeof *queue);
        for (int k = 0; k < VWL_QUEUE_SIZE; k++) queue->at[k] = text;
    }
    """
    enum:
        MAX_NAME "VWL_MAX_NAME"
        QUEUE_SIZE "VWL_QUEUE_SIZE"
    ctypedef struct HashQueue "vwl_hash_queue":
        const char *at[16]           # first bytes of the names; 16 bytes are read from each
        uint32_t *to[16]             # where the hashes are to be written
        uint32_t length[16]
        uint32_t seed[16]
        uint32_t number[16]          # hash of a name that is a number
        int32_t numeric[16]          # -1: the name is a number and `number` its hash; 0: hash its bytes
        uint32_t count               # names in the queue
    bint has_batched_hash "vwl_has_batched_hash"() noexcept
    void flush_queue "vwl_flush_queue"(HashQueue *queue) noexcept
    void open_queue "vwl_open_queue"(HashQueue *queue, const char *text) noexcept


cdef inline int32_t is_number(const char *p, size_t length, bint hash_all) noexcept nogil:
    """-1 if a name of up to 8 bytes is hashed as a number, else 0."""
    return -<int32_t>(not hash_all and (nondigits(p) & <uint32_t>((1 << length) - 1)) == 0)


cdef inline bint can_enqueue(const char *p, size_t length, bint first) noexcept nogil:
    """Whether ``enqueue`` can take a name.

    The ``first`` name of a namespace block may be a number and has at most 8 bytes; others have at most MAX_NAME bytes and do not
    begin with a digit.
    """
    return length <= 8 if first else length <= MAX_NAME and <unsigned char>(p[0] - 48) > 9


cdef inline void enqueue(HashQueue *queue, const char *p, size_t length, uint32_t seed, bint hash_all, bint first,
                         uint32_t *to) noexcept nogil:
    """Queue a name. ``flush_queue`` writes its hash to ``to``; it must be called when the queue holds QUEUE_SIZE queue."""
    cdef uint32_t k = queue.count
    queue.at[k], queue.to[k], queue.length[k], queue.seed[k] = p, to, <uint32_t>length, seed
    queue.numeric[k] = 0
    if first:
        queue.numeric[k] = is_number(p, length, hash_all)
        queue.number[k] = <uint32_t>digits(p, <int>length) + seed
    queue.count = k + 1


cdef inline void drop_queued(HashQueue *queue, const uint32_t *end) noexcept nogil:
    """Remove the names from the queue whose hashes would be written at ``end`` or after it."""
    while queue.count and queue.to[queue.count - 1] >= end:
        queue.count -= 1
