/* Slots of four floats of the row that comes next, still to be asked for: memory answers while the row before it is worked on. */
#ifndef VWLITE_AHEAD_H
#define VWLITE_AHEAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/byte_scan.h"

typedef struct {
    const uint32_t *index;
    size_t left;
    int far; /* the row is long: for the second cache, which waits for more lines at a time */
} vwl_ahead;

/* Ask for as many of them as there are terms at work, or twice as many where there are more than terms `left`. */
static inline void vwl_ask_ahead(vwl_ahead *ahead, const float *table, size_t terms, size_t left) {
    size_t n = ahead->left > left ? 2 * terms : terms;
    if (n > ahead->left) n = ahead->left;
    if (ahead->far)
        for (size_t i = 0; i < n; i++) vwl_prefetch_l2(table + 4 * (size_t)ahead->index[i]);
    else
        for (size_t i = 0; i < n; i++) vwl_prefetch(table + 4 * (size_t)ahead->index[i]);
    ahead->index += n;
    ahead->left -= n;
}

#endif
