/* Four words at a time in the compiler's own vectors. */
#ifndef VWLITE_LANES_H
#define VWLITE_LANES_H

#include <stdint.h>
#include <string.h>

#define VWL_LEAST_SQUARE 1.175494351e-38f /* smaller squares of inputs count as this much */
#define VWL_LARGEST 3.402823466e+38f

#if defined(__GNUC__) && !defined(VWLITE_SCALAR)
#define VWL_HAS_LANES 1
typedef int32_t vwl_i4 __attribute__((vector_size(16)));
typedef float vwl_f4 __attribute__((vector_size(16)));

static inline int vwl_any(vwl_i4 x) {
    uint64_t half[2];
    memcpy(half, &x, 16);
    return (half[0] | half[1]) != 0;
}
#else
#define VWL_HAS_LANES 0
#endif

static inline int vwl_has_lanes(void) { return VWL_HAS_LANES; }

#endif
