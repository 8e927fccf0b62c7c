/* Vectors of four and eight 32-bit words, by the vector extensions of GCC and Clang. */
#ifndef VWLITE_SIMD_H
#define VWLITE_SIMD_H

#include <stdint.h>
#include <string.h>

#define VWL_MIN_SQUARE 1.175494351e-38f /* squares of inputs below this are raised to it */
#define VWL_FLOAT_MAX 3.402823466e+38f

#if defined(__GNUC__) && !defined(VWLITE_SCALAR)
#define VWL_HAS_SIMD 1
typedef int32_t vwl_i4 __attribute__((vector_size(16)));
typedef float vwl_f4 __attribute__((vector_size(16)));
typedef int32_t vwl_i8 __attribute__((vector_size(32)));
typedef float vwl_f8 __attribute__((vector_size(32)));
/* VWL_JOIN(vwl_f, LANES) is vwl_f4 or vwl_f8 */
#define VWL_PASTE(a, b) a##b
#define VWL_JOIN(a, b) VWL_PASTE(a, b)

static inline int vwl_any(vwl_i4 x) {
    uint64_t half[2];
    memcpy(half, &x, 16);
    return (half[0] | half[1]) != 0;
}
#else
#define VWL_HAS_SIMD 0
#endif

static inline int vwl_has_simd(void) { return VWL_HAS_SIMD; }

#endif
