/* Scans over slots of four words, 16 bytes at a time, which look at the first `columns` words of each slot, and of two words.
 * Those of four must not be called where VWL_HAS_SIMD is 0. */
#ifndef VWLITE_SLOTS_SIMD_H
#define VWLITE_SLOTS_SIMD_H

#include <stddef.h>

#include "base/simd.h"

#if VWL_HAS_SIMD
typedef int32_t vwl_words __attribute__((vector_size(16), aligned(4), may_alias));

static inline vwl_i4 vwl_first_columns(int columns) { return (vwl_i4){0, 1, 2, 3} < (vwl_i4){0} + columns; }

/* A mask for at most 32 slots: bit i is set if slot i has a bit set. Most lines of memory have four slots without one. */
static inline uint32_t vwl_slots_set(const uint32_t *bits, size_t n, int columns) {
    const vwl_words *slot = (const vwl_words *)bits;
    const vwl_i4 wanted = vwl_first_columns(columns);
    uint32_t set = 0;
    for (size_t i = 0; i < n; i += 4) {
        const size_t end = i + 4 < n ? i + 4 : n;
        if (end == i + 4 && !vwl_any((slot[i] | slot[i + 1] | slot[i + 2] | slot[i + 3]) & wanted)) continue;
        for (size_t k = i; k < end; k++) set |= (uint32_t)vwl_any(slot[k] & wanted) << k;
    }
    return set;
}
#else
static inline uint32_t vwl_slots_set(const uint32_t *b, size_t n, int columns) { return 0; }
#endif

/* As vwl_slots_set, of slots of two words; most groups of slots have none that is set. */
static inline uint32_t vwl_pairs_set(const uint32_t *bits, size_t n) {
    uint64_t slot[32], any = 0;
    uint32_t set = 0;
    memcpy(slot, bits, 8 * n);
    for (size_t i = 0; i < n; i++) any |= slot[i];
    if (!any) return 0;
    for (size_t i = 0; i < n; i++) set |= (uint32_t)(slot[i] != 0) << i;
    return set;
}

#endif
