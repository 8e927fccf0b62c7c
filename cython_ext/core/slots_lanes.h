/* Scans over slots of four words, 16 bytes at a time in the compiler's own vectors; plain C elsewhere. `columns` of each
 * slot's words, the first ones, are looked at; `out` has room for n. */
#ifndef VWLITE_SLOTS_LANES_H
#define VWLITE_SLOTS_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VWL_EXPONENT 0x7f800000u /* all of it set: NaN or infinity */

#if defined(__GNUC__) && !defined(VWLITE_SCALAR)
typedef uint32_t vwl_u4 __attribute__((vector_size(16)));
typedef uint32_t vwl_words __attribute__((vector_size(16), aligned(4), may_alias));

static inline int vwl_set(vwl_u4 x) {
    uint64_t half[2];
    memcpy(half, &x, 16);
    return (half[0] | half[1]) != 0;
}

static inline vwl_u4 vwl_first_columns(int columns) {
    return (vwl_u4)((vwl_u4){0, 1, 2, 3} < (vwl_u4){0} + (uint32_t)columns);
}

static inline int vwl_slots_finite(const uint32_t *bits, size_t n, int columns) {
    const vwl_words *slot = (const vwl_words *)bits;
    vwl_u4 wrong = {0};
    for (size_t i = 0; i < n; i++) wrong |= (vwl_u4)((slot[i] & VWL_EXPONENT) == VWL_EXPONENT);
    return !vwl_set(wrong & vwl_first_columns(columns));
}

static inline size_t vwl_slots_set(const uint32_t *bits, size_t first, size_t n, int columns, uint32_t *out) {
    const vwl_words *slot = (const vwl_words *)bits;
    const vwl_u4 wanted = vwl_first_columns(columns);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) { /* without a branch, which would be guessed wrong too often */
        out[found] = (uint32_t)(first + i);
        found += vwl_set(slot[i] & wanted);
    }
    return found;
}
#else
static inline int vwl_slots_finite(const uint32_t *bits, size_t n, int columns) {
    int wrong = 0;
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < columns; c++) wrong |= (bits[4 * i + c] & VWL_EXPONENT) == VWL_EXPONENT;
    return !wrong;
}

static inline size_t vwl_slots_set(const uint32_t *bits, size_t first, size_t n, int columns, uint32_t *out) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t any = 0;
        for (int c = 0; c < columns; c++) any |= bits[4 * i + c];
        out[found] = (uint32_t)(first + i);
        found += any != 0;
    }
    return found;
}
#endif

#endif
