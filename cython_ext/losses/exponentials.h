/* exp and log for the logistic loss. They use only basic operations in double, which every machine rounds the same way; C
 * libraries differ in the last bits of exp and log. They have no branches, so that compilers can vectorise a loop over them.
 * The relative error of exp is below 1e-9, the error of log below 3e-11. */
#ifndef VWLITE_EXPONENTIALS_H
#define VWLITE_EXPONENTIALS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define VWL_LN2 0.6931471805599453
#if defined(__GNUC__)
#define VWL_INLINE static inline __attribute__((always_inline))
#else
#define VWL_INLINE static inline
#endif

/* 2^(i/32) */
static const double VWL_POWERS[32] = {
    1, 0x1.059b0d3158574p+0, 0x1.0b5586cf9890fp+0, 0x1.11301d0125b51p+0,
    0x1.172b83c7d517bp+0, 0x1.1d4873168b9aap+0, 0x1.2387a6e756238p+0, 0x1.29e9df51fdee1p+0,
    0x1.306fe0a31b715p+0, 0x1.371a7373aa9cbp+0, 0x1.3dea64c123422p+0, 0x1.44e086061892dp+0,
    0x1.4bfdad5362a27p+0, 0x1.5342b569d4f82p+0, 0x1.5ab07dd485429p+0, 0x1.6247eb03a5585p+0,
    0x1.6a09e667f3bcdp+0, 0x1.71f75e8ec5f74p+0, 0x1.7a11473eb0187p+0, 0x1.82589994cce13p+0,
    0x1.8ace5422aa0dbp+0, 0x1.93737b0cdc5e5p+0, 0x1.9c49182a3f090p+0, 0x1.a5503b23e255dp+0,
    0x1.ae89f995ad3adp+0, 0x1.b7f76f2fb5e47p+0, 0x1.c199bdd85529cp+0, 0x1.cb720dcef9069p+0,
    0x1.d5818dcfba487p+0, 0x1.dfc97337b9b5fp+0, 0x1.ea4afa2a490dap+0, 0x1.f50765b6e4540p+0};

/* Entry i is about 1/m for m in the middle of the i-th interval. The intervals start at 11/16: ten of width 1/32, then six of
 * width 1/16. The two intervals next to 1 have exactly 1, so that logarithms of numbers near 1 keep their relative precision.
 * */
static const double VWL_INVERSES[16] = {
    0x1.6c16c16c16c17p+0, 0x1.5c9882b931057p+0, 0x1.4e5e0a72f0539p+0, 0x1.4141414141414p+0,
    0x1.3521cfb2b78c1p+0, 0x1.29e4129e4129ep+0, 0x1.1f7047dc11f70p+0, 0x1.15b1e5f75270dp+0,
    0x1.0c9714fbcda3bp+0, 1, 1, 0x1.d41d41d41d41dp-1,
    0x1.bacf914c1bad0p-1, 0x1.a41a41a41a41ap-1, 0x1.8f9c18f9c18fap-1, 0x1.7d05f417d05f4p-1};

/* -log(VWL_INVERSES[i]) */
static const double VWL_LOGARITHMS[16] = {
    -0x1.68ac83e9c6a15p-2, -0x1.3c25277333183p-2, -0x1.1178e8227e47ap-2, -0x1.d1037f2655e7bp-3,
    -0x1.823c16551a3c0p-3, -0x1.365fcb0159014p-3, -0x1.da7276384469ep-4, -0x1.4d3115d207eacp-4,
    -0x1.894aa149fb34bp-5, 0, 0, 0x1.6f0d28ae56b4ep-4,
    0x1.29552f81ff521p-3, 0x1.9525a9cf456b6p-3, 0x1.fb9186d5e3e29p-3, 0x1.2e8e2bae11d31p-2};

/* exp(x) for -700 <= x <= 700 and NaN: 2^(k/32) exp(r), where |r| <= ln(2) / 64 and exp(r) is four terms of its series. */
VWL_INLINE double vwl_exp(double x) {
    const double shift = 0x1.8p52; /* adding it rounds to an integer, which then stands in the lowest bits */
    double k = x * (32 / VWL_LN2) + shift, r, power;
    uint64_t integer, bits;
    memcpy(&integer, &k, 8);
    r = x - (k - shift) * (VWL_LN2 / 32);
    memcpy(&bits, VWL_POWERS + (integer & 31), 8);
    bits += integer >> 5 << 52;
    memcpy(&power, &bits, 8);
    return power * ((1 + r) + r * r * (1.0 / 2 + r * (1.0 / 6)));
}

/* exp(x) rounded to float; 0 or infinity where it is outside the range of float. */
VWL_INLINE float vwl_expf(float x) {
    double clamped = x;
    if (!(fabsf(x) <= 87)) {
        clamped = x < -104 ? -104 : clamped;
        clamped = x > 89 ? 89 : clamped;
    }
    return (float)vwl_exp(clamped);
}

/* log(x) for finite x >= 11/16. With x = 2^e m, 11/16 <= m < 11/8, and a constant c near m: e log(2) + log(c) + log(m / c), the
 * last by eight terms of its series. */
VWL_INLINE double vwl_log(double x) {
    const double large = 0x1p52;
    uint64_t bits, offset, exponent, interval;
    double e, m, r, r2;
    memcpy(&bits, &x, 8);
    offset = bits - 0x3fe6000000000000; /* from the bits of 11/16 */
    exponent = offset >> 52;
    bits -= exponent << 52;
    memcpy(&m, &bits, 8);
    memcpy(&bits, &large, 8);
    exponent |= bits;
    memcpy(&e, &exponent, 8);
    interval = offset >> 48 & 15;
    r = m * VWL_INVERSES[interval] - 1;
    r2 = r * r;
    return ((e - large) * VWL_LN2 + VWL_LOGARITHMS[interval]) +
           (r + (r2 * (r * (1.0 / 3) - 1.0 / 2) +
                 r2 * r2 * ((r * (1.0 / 5) - 1.0 / 4) + r2 * (r * (1.0 / 7) - 1.0 / 6) - r2 * r2 * (1.0 / 8))));
}

/* The longest move of a logistic update, rate times importance times reach. It ends at the margin 20.7, where the loss is 0 in
 * single precision; of a larger x, W(exp(x)) - x is lost in rounding. */
#define VWL_LONGEST_MOVE 1e9f

/* W(exp(x)) - x by one Fritsch-Shafer-Crowley step (CACM Algorithm 443) from the initial guess w, where r = x - log(w) - w. */
VWL_INLINE double vwl_lambert_step(double x, double w, double r) {
    double t = 1 + w, v = 2 * t * (t + 2 * r / 3);
    return w * (1 + r / t * (v - r) / (v - 2 * r)) - x;
}

/* The same with Vowpal Wabbit's initial guesses: linear for x >= 1, exponential below. */
VWL_INLINE double vwl_linear_guess(double x) { return 0.86 * x + 0.01; }
VWL_INLINE double vwl_steep_exponent(double x) { return 0.8 * x - 0.65; }
static inline float vwl_lambert_excess(double x) {
    double w;
    if (x >= 1) {
        w = vwl_linear_guess(x);
        return (float)vwl_lambert_step(x, w, x - vwl_log(w) - w);
    }
    w = vwl_exp(vwl_steep_exponent(x < -800 ? -800 : x));
    return (float)vwl_lambert_step(x, w, x - vwl_steep_exponent(x) - w);
}

#endif
