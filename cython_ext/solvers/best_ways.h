/* The inner loop of the Viterbi algorithm (see solvers/best_labels.pxd), without branches: which way is better is hard to
 * predict. */

#ifndef VWLITE_BEST_WAYS_H
#define VWLITE_BEST_WAYS_H

#include <stddef.h>

/* now[y] = the maximum over z of before[z] + way[z * labels + y]. */
static inline void vwl_best_ways(const double *restrict way, const double *restrict before, size_t labels, double *restrict now) {
    for (size_t y = 0; y < labels; y++)
        now[y] = before[0] + way[y];
    for (size_t z = 1; z < labels; z++) {
        const double *restrict row = way + z * labels;
        const double base = before[z];
        for (size_t y = 0; y < labels; y++) {
            double here = base + row[y];
            now[y] = here > now[y] ? here : now[y];
        }
    }
}

#endif
