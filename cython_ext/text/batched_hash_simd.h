/* MurmurHash3 of many names at a time, where the processor has AVX2; the same hashes as text/murmur3.pxd. */
#ifndef VWLITE_NAMES_LANES_H
#define VWLITE_NAMES_LANES_H

#include <stdint.h>
#include <string.h>

#define VWL_LONGEST 15 /* bytes of a name: three words and a rest */
#define VWL_NAMES 16   /* two vectors: while one waits for its products the other goes on */

/* Names that wait until there are VWL_NAMES. `numeric` is -1 where the name is a number, and `number` its hash. */
typedef struct {
    const char *at[VWL_NAMES];
    uint32_t *to[VWL_NAMES];
    uint32_t length[VWL_NAMES], seed[VWL_NAMES], number[VWL_NAMES];
    int32_t numeric[VWL_NAMES];
    uint32_t count;
} vwl_names;

#if defined(__GNUC__) && defined(__x86_64__) && !defined(VWLITE_SCALAR)
#include <immintrin.h>
#define VWL_AVX2 __attribute__((target("avx2")))

static inline int vwl_has_names(void) { return __builtin_cpu_supports("avx2") != 0; }

#define VWL_ROTATE(x, r) _mm256_or_si256(_mm256_slli_epi32(x, r), _mm256_srli_epi32(x, 32 - (r)))
#define VWL_TIMES(x, c) _mm256_mullo_epi32(x, _mm256_set1_epi32((int)(c)))

/* One more word of each name; where it is not a whole one it only enters, as the rest does. */
static inline VWL_AVX2 __m256i vwl_next_word(__m256i h, __m256i word, __m256i whole) {
    __m256i mixed, x;
    word = VWL_TIMES(word, 0xcc9e2d51u);
    x = _mm256_xor_si256(h, VWL_TIMES(VWL_ROTATE(word, 15), 0x1b873593u));
    mixed = VWL_ROTATE(x, 13);
    mixed = _mm256_add_epi32(_mm256_add_epi32(mixed, _mm256_slli_epi32(mixed, 2)), _mm256_set1_epi32((int)0xe6546b64u));
    return _mm256_blendv_epi8(x, mixed, whole);
}

/* The bytes of two names, what is behind them 0. */
static inline VWL_AVX2 __m256i vwl_two_names(const vwl_names *names, int a, int b) {
    static const uint8_t keep[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    __m128i first = _mm_and_si128(_mm_loadu_si128((const __m128i *)names->at[a]),
                                  _mm_loadu_si128((const __m128i *)(keep + 16 - names->length[a])));
    __m128i second = _mm_and_si128(_mm_loadu_si128((const __m128i *)names->at[b]),
                                   _mm_loadu_si128((const __m128i *)(keep + 16 - names->length[b])));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

static inline VWL_AVX2 void vwl_hash_eight(const vwl_names *names, int k, uint32_t *hash) {
    const __m256i a = vwl_two_names(names, k, k + 4), b = vwl_two_names(names, k + 1, k + 5);
    const __m256i c = vwl_two_names(names, k + 2, k + 6), d = vwl_two_names(names, k + 3, k + 7);
    const __m256i ab = _mm256_unpacklo_epi32(a, b), cd = _mm256_unpacklo_epi32(c, d);
    const __m256i also_ab = _mm256_unpackhi_epi32(a, b), also_cd = _mm256_unpackhi_epi32(c, d);
    const __m256i length = _mm256_loadu_si256((const __m256i *)(names->length + k));
    __m256i h = _mm256_loadu_si256((const __m256i *)(names->seed + k));
    h = vwl_next_word(h, _mm256_unpacklo_epi64(ab, cd), _mm256_cmpgt_epi32(length, _mm256_set1_epi32(3)));
    h = vwl_next_word(h, _mm256_unpackhi_epi64(ab, cd), _mm256_cmpgt_epi32(length, _mm256_set1_epi32(7)));
    h = vwl_next_word(h, _mm256_unpacklo_epi64(also_ab, also_cd), _mm256_cmpgt_epi32(length, _mm256_set1_epi32(11)));
    h = vwl_next_word(h, _mm256_unpackhi_epi64(also_ab, also_cd), _mm256_setzero_si256());
    h = _mm256_xor_si256(h, length);
    h = VWL_TIMES(_mm256_xor_si256(h, _mm256_srli_epi32(h, 16)), 0x85ebca6bu);
    h = VWL_TIMES(_mm256_xor_si256(h, _mm256_srli_epi32(h, 13)), 0xc2b2ae35u);
    h = _mm256_xor_si256(h, _mm256_srli_epi32(h, 16));
    h = _mm256_blendv_epi8(h, _mm256_loadu_si256((const __m256i *)(names->number + k)),
                           _mm256_loadu_si256((const __m256i *)(names->numeric + k)));
    _mm256_storeu_si256((__m256i *)(hash + k), h);
}

/* Hash all, of which `count` wait, and write those; reads 16 bytes from where each begins. */
static inline VWL_AVX2 void vwl_hash_names(vwl_names *names) {
    uint32_t hash[VWL_NAMES];
    for (int k = 0; k < VWL_NAMES; k += 8) vwl_hash_eight(names, k, hash);
    for (uint32_t k = 0; k < names->count; k++) *names->to[k] = hash[k];
    names->count = 0;
}
#else
static inline int vwl_has_names(void) { return 0; }
static inline void vwl_hash_names(vwl_names *names) { names->count = 0; }
#endif

static inline void vwl_open_names(vwl_names *names, const char *text) {
    memset(names, 0, sizeof *names);
    for (int k = 0; k < VWL_NAMES; k++) names->at[k] = text;
}

#endif
