/* Runs of features like `160:0.3882`, a number's name and a short decimal, in windows of 64 bytes: where the parts of several
 * features end is seen at once, so that none waits for the one before it. Reads what text/fast_namespace_parser.pxd reads a byte after the other,
 * to the same numbers. */
#ifndef VWLITE_DECIMALS_H
#define VWLITE_DECIMALS_H

#include <stddef.h>
#include <stdint.h>

#include "base/byte_scan.h"

enum { VWL_IN_WINDOW = 4 }; /* features looked for: their number is foreseen */

static inline uint64_t vwl_window_of_nondigits(const char *p) {
    return (uint64_t)vwl_nondigits(p) | (uint64_t)vwl_nondigits(p + 16) << 16 | (uint64_t)vwl_nondigits(p + 32) << 32 |
           (uint64_t)vwl_nondigits(p + 48) << 48;
}

/* Features from the name at p on, as long as they are of this kind: name and fraction of up to eight and seven digits, one digit
 * before the point. They go to hash and value from *count on, which grows, as long as there is room. Returns the last one's end;
 * NULL when there is none or none is read here: whatever is left is read like any other feature. Not inlined: whoever reads other
 * features is to keep its registers. */
static VWL_NOINLINE const char *vwl_read_decimals_singly(const char *p, const char *end, uint32_t seed, const float *powers,
                                                         uint32_t *hash, float *value, size_t room, size_t *count) {
    const char *last = NULL;
    size_t n = *count, at = 1;
    while (at && n + VWL_IN_WINDOW <= room) {
        uint64_t ends = vwl_window_of_nondigits(p); /* from the end of a name on */
        at = 0;
        for (int k = 0; k < VWL_IN_WINDOW; k++) {
            uint64_t points = ends & (ends - 1), stops = points & (points - 1);
            size_t name, point, stop, places;
            int32_t whole;
            if (stops == 0) break;
            name = (size_t)vwl_first_bit64(ends), point = (size_t)vwl_first_bit64(points);
            stop = (size_t)vwl_first_bit64(stops);
            places = stop - point - 1;
            if (VWL_UNLIKELY(name - at - 1 > 7 || point != name + 2 || places - 1 > 6 || p[name] != ':' || p[point] != '.' ||
                             !(p[stop] == ' ' || p + stop == end)))
                goto done;
            whole = (int32_t)vwl_digits(p + point + 1, (int)places) + (p[name + 1] - '0') * (int32_t)vwl_integer_powers[places];
            if (VWL_UNLIKELY(whole > 16777160)) goto done;
            hash[n] = (uint32_t)vwl_digits(p + at, (int)(name - at)) + seed;
            value[n] = (float)whole * powers[128 - places];
            n += whole != 0;
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
                                            float *value, size_t room, size_t *count) {
    return (vwl_has_wide_decimals() ? vwl_read_decimals_wide : vwl_read_decimals_singly)(p, end, seed, powers, hash, value, room,
                                                                                         count);
}
#else
static inline const char *vwl_read_decimals(const char *p, const char *end, uint32_t seed, const float *powers, uint32_t *hash,
                                            float *value, size_t room, size_t *count) {
    return vwl_read_decimals_singly(p, end, seed, powers, hash, value, room, count);
}
#endif

#endif
