/* Slots of the next row that are still to be prefetched, a few at a time while the current row is processed. */
#ifndef VWLITE_SLOT_PREFETCH_H
#define VWLITE_SLOT_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/byte_scan.h"

typedef struct {
    const uint32_t *index; /* (left,) the slots */
    size_t left;
    int into_l2; /* the row is long: prefetch into the second-level cache, which supports more outstanding loads */
} vwl_ahead;

/* Prefetch one slot of `stride` floats for each of the `terms` just processed; two where more slots remain than terms of the
 * current row, `left`. */
static inline void vwl_prefetch_ahead(vwl_ahead *ahead, const float *table, size_t stride, size_t terms, size_t left) {
    const uint32_t *index = ahead->index;
    size_t n = ahead->left > left ? 2 * terms : terms, i = 0;
    if (n > ahead->left) n = ahead->left;
    if (ahead->into_l2)
        for (; i < n; i++) vwl_prefetch_l2(table + stride * index[i]);
    else {
        for (; i + 4 <= n; i += 4)
            for (int k = 0; k < 4; k++) vwl_prefetch(table + stride * index[i + k]);
        for (; i < n; i++) vwl_prefetch(table + stride * index[i]);
    }
    ahead->index += n;
    ahead->left -= n;
}

#endif
