"""L1 penalties, or an L2 penalty, of stochastic gradient descent, applied when a weight is next used (Tsuruoka, Tsujii, Ananiadou, ACL 2009).

Each weight has a ``memory``, from which its outstanding penalty is computed. ``cumulative_penalty`` is u_k, the total penalty
that a weight could have received so far. Consecutive penalties without a gradient step in between equal one penalty of their
sum, so they can be applied late.
"""

from libc.math cimport exp, pow, sqrt
from libc.stdint cimport int64_t


cdef enum:                  # in the order of vwlite.solvers.loglinear.config.PENALTIES
    NAIVE = 0
    CLIPPING = 1            # memory: u when the weight was last penalised
    CUMULATIVE = 2          # memory: q, the total penalty received, with its sign
    NONE = 3                # memory: of a mean, the sum of each change times the iterates in the mean before it


cdef enum:                  # behind PENALTIES
    CUMULATIVE_ROWS = 4     # CUMULATIVE, of the lengths of rows; memory: the part of each weight in what its row received
    SQUARES = 5             # L2, in place of an L1 penalty; memory: u when the weight was last penalised


cdef enum:                  # in the order of vwlite.solvers.loglinear.config.RATES
    HARMONIC = 0
    EXPONENTIAL = 1


cdef enum:
    STEPS_PER_POWER = 64               # steps between calls of pow; runs stop and resume at multiples of it


cdef struct Schedule:
    int penalty                # NAIVE, CLIPPING, CUMULATIVE, NONE, CUMULATIVE_ROWS or SQUARES
    int rate                   # HARMONIC or EXPONENTIAL
    double start               # eta_0
    double decay               # alpha of the exponential rate
    double begin               # passes completed before this one
    double examples            # in this pass
    double share               # C / N, of a step; of SQUARES lambda / N
    double cumulative_penalty  # u
    double mean_begins         # update of this pass that the mean of the iterates begins with; infinite: there is no mean
    double power, ratio        # exponential rate: decay^passes at the last step; its factor from a step to the next


cdef inline Schedule open_schedule(source):
    """From a ``vwlite.solvers.loglinear.sgd.Schedule``."""
    cdef Schedule s
    s.penalty, s.rate, s.start, s.decay = source.penalty, source.rate, source.start, source.decay
    s.begin, s.examples, s.share, s.cumulative_penalty = source.begin, source.examples, source.share, source.cumulative_penalty
    s.mean_begins = source.mean_begins
    s.power, s.ratio = 1, pow(s.decay, 1 / s.examples)
    return s


cdef inline double rate_of(Schedule *s, int64_t step) noexcept nogil:
    """The learning rate of update ``step`` of this pass, counted from 0. Must be called for consecutive steps.

    Powers are computed every STEPS_PER_POWER steps and continued by multiplication in between, so that a resumed run gets the
    same rates.
    """
    if s.rate == HARMONIC:
        return s.start / (1 + s.begin + <double>step / s.examples)
    if step & (STEPS_PER_POWER - 1):
        s.power *= s.ratio
    else:
        s.power = pow(s.decay, s.begin + <double>step / s.examples)
    return s.start * s.power


cdef inline double iterates_before(const Schedule *s, int64_t step) noexcept nogil:
    """How many iterates the mean is of before update ``step`` of this pass; 0 where there is no mean."""
    cdef double count = <double>step - s.mean_begins
    return count if count > 0 else 0


cdef extern from * nogil:
    """
    /* L1 penalties of consecutive weights (see solvers/l1_penalties.pxd), without branches, as the signs of weights are hard to
     * predict. */

    #include <stddef.h>

    #if defined(__SSE2__)
    #include <emmintrin.h>

    typedef __m128d vwl_doubles;
    #define VWL_WIDTH 2
    static inline vwl_doubles vwl_load(const double *p) { return _mm_loadu_pd(p); }
    static inline void vwl_store(double *p, vwl_doubles x) { _mm_storeu_pd(p, x); }
    static inline vwl_doubles vwl_broadcast(double x) { return _mm_set1_pd(x); }
    static inline vwl_doubles vwl_max(vwl_doubles a, vwl_doubles b) { return _mm_max_pd(a, b); }
    static inline vwl_doubles vwl_min(vwl_doubles a, vwl_doubles b) { return _mm_min_pd(a, b); }
    static inline vwl_doubles vwl_add(vwl_doubles a, vwl_doubles b) { return _mm_add_pd(a, b); }
    static inline vwl_doubles vwl_sub(vwl_doubles a, vwl_doubles b) { return _mm_sub_pd(a, b); }
    #else
    typedef double vwl_doubles;
    #define VWL_WIDTH 1
    static inline vwl_doubles vwl_load(const double *p) { return *p; }
    static inline void vwl_store(double *p, vwl_doubles x) { *p = x; }
    static inline vwl_doubles vwl_broadcast(double x) { return x; }
    static inline vwl_doubles vwl_max(vwl_doubles a, vwl_doubles b) { return a > b ? a : b; }
    static inline vwl_doubles vwl_min(vwl_doubles a, vwl_doubles b) { return a < b ? a : b; }
    static inline vwl_doubles vwl_add(vwl_doubles a, vwl_doubles b) { return a + b; }
    static inline vwl_doubles vwl_sub(vwl_doubles a, vwl_doubles b) { return a - b; }
    #endif

    /* The weight after a penalty: `up` is subtracted from a positive weight and `down` added to a negative one, but not beyond 0:
     * max(0, w - up) + min(0, w + down). */
    static inline vwl_doubles vwl_shrunk(vwl_doubles w, vwl_doubles up, vwl_doubles down) {
        const vwl_doubles zero = vwl_broadcast(0);
        vwl_doubles above = vwl_max(vwl_sub(w, vwl_max(up, zero)), zero);
        vwl_doubles below = vwl_min(vwl_add(w, vwl_max(down, zero)), zero);
        return vwl_add(above, below);
    }

    static inline void vwl_cumulative(double *weight, double *memory, vwl_doubles cumulative_penalty, vwl_doubles w, vwl_doubles q,
                                      int whole_vector) {
        vwl_doubles after = vwl_shrunk(w, vwl_add(cumulative_penalty, q), vwl_sub(cumulative_penalty, q));
        q = vwl_add(q, vwl_sub(after, w));
    #if VWL_WIDTH == 2
        if (!whole_vector) {
            _mm_store_sd(weight, after);
            _mm_store_sd(memory, q);
            return;
        }
    #endif
        vwl_store(weight, after);
        vwl_store(memory, q);
    }

    /* memory: the total penalty that each weight has received, with its sign. */
    static inline void vwl_settle_cumulative(double *weight, double *memory, size_t n, double cumulative_penalty) {
        const vwl_doubles u = vwl_broadcast(cumulative_penalty);
        size_t i = 0;
        for (; i + VWL_WIDTH <= n; i += VWL_WIDTH)
            vwl_cumulative(weight + i, memory + i, u, vwl_load(weight + i), vwl_load(memory + i), 1);
    #if VWL_WIDTH == 2
        if (i < n)
            vwl_cumulative(weight + i, memory + i, u, _mm_load_sd(weight + i), _mm_load_sd(memory + i), 0);
    #endif
    }

    static inline double vwl_settle_one(double *weight, double *memory, double cumulative_penalty) {
        const vwl_doubles u = vwl_broadcast(cumulative_penalty);
    #if VWL_WIDTH == 2
        const vwl_doubles w = _mm_load_sd(weight), q = _mm_load_sd(memory);
    #else
        const vwl_doubles w = *weight, q = *memory;
    #endif
        vwl_cumulative(weight, memory, u, w, q, 0);
        return *weight;
    }

    /* memory: the cumulative penalty when the weight was last settled. */
    static inline void vwl_settle_clipping(double *weight, double *memory, size_t n, double cumulative_penalty) {
        const vwl_doubles u = vwl_broadcast(cumulative_penalty);
        size_t i = 0;
        for (; i + VWL_WIDTH <= n; i += VWL_WIDTH) {
            vwl_doubles step = vwl_sub(u, vwl_load(memory + i));
            vwl_store(weight + i, vwl_shrunk(vwl_load(weight + i), step, step));
            vwl_store(memory + i, u);
        }
    #if VWL_WIDTH == 2
        if (i < n) {
            vwl_doubles step = vwl_sub(u, _mm_load_sd(memory + i));
            _mm_store_sd(weight + i, vwl_shrunk(_mm_load_sd(weight + i), step, step));
            memory[i] = cumulative_penalty;
        }
    #endif
    }

    /* The naive penalty: every weight moves by `step` towards 0, possibly past it. */
    static inline void vwl_shrink_all(double *weight, size_t n, double step) {
        size_t i = 0;
    #if VWL_WIDTH == 2
        const vwl_doubles zero = vwl_broadcast(0), up = vwl_broadcast(step);
        for (; i + 2 <= n; i += 2) {
            vwl_doubles w = vwl_load(weight + i);
            vwl_doubles down = _mm_sub_pd(_mm_and_pd(_mm_cmpgt_pd(w, zero), up), _mm_and_pd(_mm_cmplt_pd(w, zero), up));
            vwl_store(weight + i, vwl_sub(w, down));
        }
    #endif
        for (; i < n; i++)
            weight[i] -= weight[i] > 0 ? step : weight[i] < 0 ? -step : 0;
    }
    """
    void settle_cumulative "vwl_settle_cumulative"(double *weight, double *memory, size_t n, double cumulative_penalty) noexcept
    double settle_one "vwl_settle_one"(double *weight, double *memory, double cumulative_penalty) noexcept
    void settle_clipping "vwl_settle_clipping"(double *weight, double *memory, size_t n, double cumulative_penalty) noexcept
    void shrink_all "vwl_shrink_all"(double *weight, size_t n, double step) noexcept


cdef inline void settle_row(double *weight, double *memory, size_t n, double cumulative_penalty) noexcept nogil:
    """Make of a row what the gradient steps alone would have made of it, shortened by all that it could have received."""
    cdef size_t i
    cdef double unpenalised, square = 0, length, share
    for i in range(n):
        unpenalised = weight[i] - memory[i]
        square += unpenalised * unpenalised
    length = sqrt(square)
    share = (length - cumulative_penalty) / length if length > cumulative_penalty else 0
    for i in range(n):
        unpenalised = weight[i] - memory[i]
        weight[i] = unpenalised * share if share > 0 else 0
        memory[i] = weight[i] - unpenalised


cdef inline void settle_squares(double *weight, double *memory, size_t n, double cumulative_penalty) noexcept nogil:
    """The flow of w' = -w over the time since the last penalty: what many small steps come to."""
    cdef size_t i
    cdef double due, before = 0, share = 1
    for i in range(n):
        due = cumulative_penalty - memory[i]
        if due != before:  # mostly the weights of a row were last used together
            before, share = due, exp(-due)
        weight[i] *= share
        memory[i] = cumulative_penalty


cdef inline void settle_all(double *weight, double *memory, size_t weights, int penalty,
                            double cumulative_penalty) noexcept nogil:
    """Apply the outstanding penalties of ``weights`` consecutive weights, which are one row if penalties are of rows."""
    if penalty == CUMULATIVE:
        settle_cumulative(weight, memory, weights, cumulative_penalty)
    elif penalty == CLIPPING:
        settle_clipping(weight, memory, weights, cumulative_penalty)
    elif penalty == CUMULATIVE_ROWS:
        settle_row(weight, memory, weights, cumulative_penalty)
    elif penalty == SQUARES:
        settle_squares(weight, memory, weights, cumulative_penalty)
