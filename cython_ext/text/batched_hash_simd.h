/* MurmurHash3 of many names at a time, where the processor has AVX2. Hashes equal those of text/murmur3.pxd. */
#ifndef VWLITE_BATCHED_HASH_SIMD_H
#define VWLITE_BATCHED_HASH_SIMD_H

#include <stdint.h>
#include <string.h>

#define VWL_MAX_NAME 15 /* bytes of a name that can be queued: three words of four bytes and a rest */
#define VWL_QUEUE_SIZE 16   /* two vectors of eight names, whose computations overlap */

/* A queue of names to be hashed; the fields are explained in text/batched_hash.pxd. */
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

#endif
