/* Parser of runs of features like `160:0.3882`, whose name is a number and whose value is a short decimal. The ends of names
 * and values are found for a window of 64 bytes at a time, so that the parts of several features are parsed in parallel.
 * Results equal those of text/fast_namespace_parser.pxd, which parses one feature after the other. */
#ifndef VWLITE_DECIMALS_H
#define VWLITE_DECIMALS_H

#include <stddef.h>
#include <stdint.h>

#include "base/byte_scan.h"

enum { VWL_FEATURES_IN_WINDOW = 4 }; /* features parsed per window; a fixed number, so that the loop's branches are predicted */

static inline uint64_t vwl_window_of_nondigits(const char *p) {
    return (uint64_t)vwl_nondigits(p) | (uint64_t)vwl_nondigits(p + 16) << 16 | (uint64_t)vwl_nondigits(p + 32) << 32 |
           (uint64_t)vwl_nondigits(p + 48) << 48;
}

/* Parse features from the name at p on as long as the name has at most eight digits and the value one digit, a point and one to
 * seven digits. Hashes and values are appended at *count while they fit into `capacity`; values of 0 are dropped. Returns the
 * end of the last feature parsed, or NULL if there is none; the caller parses what follows. Not inlined, so that the caller's
 * loop over other features keeps its registers. */
static VWL_NOINLINE const char *vwl_read_decimals_scalar(const char *p, const char *end, uint32_t seed, const float *powers,
                                                         uint32_t *hash, float *value, size_t capacity, size_t *count) {
    const char *last = NULL;
    size_t n = *count, at = 1;
    while (at && n + VWL_FEATURES_IN_WINDOW <= capacity) {
        uint64_t ends = vwl_window_of_nondigits(p); /* bit i: p[i] is no digit; from the end of a name on */
        at = 0;
        for (int k = 0; k < VWL_FEATURES_IN_WINDOW; k++) {
            uint64_t points = ends & (ends - 1), stops = points & (points - 1);
            size_t name, point, stop, decimals;
            int32_t mantissa;
            if (stops == 0) break;
            name = (size_t)vwl_first_bit64(ends), point = (size_t)vwl_first_bit64(points);
            stop = (size_t)vwl_first_bit64(stops);
            decimals = stop - point - 1;
            if (VWL_UNLIKELY(name - at - 1 > 7 || point != name + 2 || decimals - 1 > 6 || p[name] != ':' || p[point] != '.' ||
                             !(p[stop] == ' ' || p + stop == end)))
                goto done;
            mantissa = (int32_t)vwl_digits(p + point + 1,
                                           (int)decimals) + (p[name + 1] - '0') * (int32_t)vwl_integer_powers[decimals];
            if (VWL_UNLIKELY(mantissa > 16777160)) goto done;
            hash[n] = (uint32_t)vwl_digits(p + at, (int)(name - at)) + seed;
            value[n] = (float)mantissa * powers[128 - decimals];
            n += mantissa != 0;
            last = p + stop;
            if (last == end) goto done;
            at = stop + 1;
            ends = stops & (stops - 1);
        }
        p += at;
    }
done:
    *count = n;
    return last;
}

#if defined(__GNUC__) && defined(__x86_64__) && !defined(VWLITE_SCALAR)
#include "text/decimals_avx512.h"
static inline const char *vwl_read_decimals(const char *p, const char *end, uint32_t seed, const float *powers, uint32_t *hash,
                                            float *value, size_t capacity, size_t *count) {
    return (vwl_has_avx512_decimals() ? vwl_read_decimals_avx512 : vwl_read_decimals_scalar)(p, end, seed, powers, hash, value,
                                                                                             capacity,
                                                                                         count);
}
#else
static inline const char *vwl_read_decimals(const char *p, const char *end, uint32_t seed, const float *powers, uint32_t *hash,
                                            float *value, size_t capacity, size_t *count) {
    return vwl_read_decimals_scalar(p, end, seed, powers, hash, value, capacity, count);
}
#endif

#endif
