"""The gradient flow of a dyadic model, reduced to one dimension (Mineiro, "Dyadic models", May 2011, generalised).

All parameters move along ``s`` with ``ds/dh = eta dl/dp``: ``h`` is the importance weight spent so far. A component is a dot
product a.b of two sums of latent vectors; along the flow it is ``(plus e^(-2 omega s) - minus e^(2 omega s)) / 4``, and the
prediction ``p(s)`` is the sum of components plus ``linear - s * square``. p falls strictly in s. With L2 decay ``lambda`` the
components also carry the factor ``e^(-2 eta lambda h)``.
"""

from libc.math cimport INFINITY, copysign, exp, fabs, fmax, isfinite, pow

from losses.loss_types cimport LossParams
from losses.losses cimport (
    LOSS_ABSOLUTE, LOSS_CLASSIC, LOSS_EXPECTILE, LOSS_EXPONENTIAL, LOSS_GEMAN_MCCLURE, LOSS_HINGE, LOSS_LOGISTIC, LOSS_LP,
    LOSS_MODIFIED_HUBER, LOSS_POISSON, LOSS_QUANTILE, LOSS_SQUARED, LOSS_SQUARED_HINGE, LOSS_TANH, LOSS_TRUNCATED, LOSS_TUBE,
)
from losses.robust_losses cimport (
    geman_curvature_of, geman_neg_gradient, lp_curvature_of, lp_neg_gradient, truncated_curvature_of,
    truncated_neg_gradient, tube_neg_gradient,
)
from losses.margin_losses cimport (
    exponential_curvature_of, exponential_neg_gradient, huber_curvature_of, huber_neg_gradient, squared_hinge_curvature_of,
    squared_hinge_neg_gradient, tanh_curvature_of, tanh_neg_gradient,
)


cdef enum:
    MAX_NEWTON = 200      # iterations of a root search
    PURE_NEWTON = 8       # iterations without bisections in between
    MAX_STEPS = 2000      # steps of an integration
    PATIENCE = 60         # steps after which a problem with decay is treated as stiff


cdef struct Component:
    double omega          # sqrt(A2 B2)
    double kappa          # sqrt(A2 / B2)
    double plus           # | a / sqrt(kappa) + b sqrt(kappa) |^2
    double minus          # | a / sqrt(kappa) - b sqrt(kappa) |^2
    double square         # where one vector is fixed, by which omega is 0: what the other adds to Flow.square


cdef struct Flow:
    const Component *component
    size_t components
    double linear         # w.x, the initial prediction included
    double square         # x.x
    double label
    double rate           # eta
    double decay          # lambda
    int loss              # code of losses/losses.pxd
    const LossParams *params


cdef struct Step:
    double s              # end of the flow
    double h              # importance used: less than given when the label was reached
    bint bounded          # False: an iteration limit was hit


cdef inline double safe_exp(double x) noexcept nogil:
    return exp(x if x < 600 else 600.0) if x > -600 else 0.0


cdef inline double components_at(const Flow *f, double s, double h, double *slope) noexcept nogil:
    """Sum of the components at ``s`` and ``h``; ``slope`` is its derivative in s."""
    cdef size_t i
    cdef double grown, fall, exponent, fade = 2 * f.rate * f.decay * h, shrink = safe_exp(-fade), total = 0
    slope[0] = 0
    for i in range(f.components):
        exponent = 2 * f.component[i].omega * s
        if fabs(exponent) + fade < 500:
            grown = exp(exponent)
            fall = shrink * f.component[i].plus / grown
            grown *= shrink * f.component[i].minus
        else:                    # the product may be finite where a factor overflows
            fall = f.component[i].plus * safe_exp(-exponent - fade)
            grown = f.component[i].minus * safe_exp(exponent - fade)
        total += 0.25 * (fall - grown)
        slope[0] -= 0.5 * f.component[i].omega * (fall + grown)
    return total


cdef inline double prediction_at(const Flow *f, double s, double h) noexcept nogil:
    cdef double slope
    return components_at(f, s, h, &slope) + f.linear - s * f.square


cdef inline double loss_slope(const Flow *f, double p) noexcept nogil:
    """dl/dp of the smooth losses, in double precision."""
    cdef double e = p - f.label, share
    if f.loss == LOSS_SQUARED or f.loss == LOSS_CLASSIC:
        return 2 * e
    if f.loss == LOSS_LOGISTIC:
        share = (f.label - f.params.logistic_min) / (f.params.logistic_max - f.params.logistic_min)
        return 1 / (1 + safe_exp(-p)) - share
    if f.loss == LOSS_POISSON:
        return safe_exp(p) - f.label
    if f.loss == LOSS_EXPECTILE:
        return 2 * e * (f.params.expectile if e > 0 else 1 - f.params.expectile)
    if f.loss == LOSS_EXPONENTIAL:
        return -f.label * exponential_neg_gradient(f.label * p if f.label * p > -600 else -600)
    if f.loss == LOSS_MODIFIED_HUBER:
        return -f.label * huber_neg_gradient(f.label * p)
    if f.loss == LOSS_SQUARED_HINGE:
        return -f.label * squared_hinge_neg_gradient(f.label * p)
    if f.loss == LOSS_TANH:
        return -f.label * tanh_neg_gradient(f.label * p)
    if f.loss == LOSS_TRUNCATED:
        return copysign(truncated_neg_gradient(fabs(e), f.params.scale), e)
    if f.loss == LOSS_GEMAN_MCCLURE:
        return copysign(geman_neg_gradient(fabs(e), f.params.scale), e)
    return copysign(lp_neg_gradient(f.params, fabs(e)), e) if e != 0 else 0


cdef inline double loss_curvature(const Flow *f, double p) noexcept nogil:
    """The second derivative of the smooth losses in p."""
    cdef double e = p - f.label
    if f.loss == LOSS_SQUARED or f.loss == LOSS_CLASSIC:
        return 2
    if f.loss == LOSS_LOGISTIC:
        e = safe_exp(-fabs(p))
        return e / ((1 + e) * (1 + e))
    if f.loss == LOSS_POISSON:
        return safe_exp(p)
    if f.loss == LOSS_EXPECTILE:
        return 2 * (f.params.expectile if e > 0 else 1 - <double>f.params.expectile)
    if f.loss == LOSS_EXPONENTIAL:
        return exponential_curvature_of(f.label * p if f.label * p > -600 else -600)
    if f.loss == LOSS_MODIFIED_HUBER:
        return huber_curvature_of(f.label * p)
    if f.loss == LOSS_SQUARED_HINGE:
        return squared_hinge_curvature_of(f.label * p)
    if f.loss == LOSS_TANH:
        return tanh_curvature_of(f.label * p)
    if f.loss == LOSS_TRUNCATED:
        return truncated_curvature_of(fabs(e), f.params.scale)
    if f.loss == LOSS_GEMAN_MCCLURE:
        return geman_curvature_of(fabs(e), f.params.scale)
    return lp_curvature_of(f.params, fabs(e))


cdef inline bint has_constant_slope(const Flow *f) noexcept nogil:
    """Whether the slope is the same on the whole way to where the loss is least."""
    return (f.loss == LOSS_HINGE or f.loss == LOSS_QUANTILE or f.loss == LOSS_ABSOLUTE or f.loss == LOSS_TUBE
            or (f.loss == LOSS_LP and f.params.power == 1))


cdef inline double constant_slope(const Flow *f, double p) noexcept nogil:
    """dl/dp at ``p`` of a loss that ``has_constant_slope``; 0 where the loss is 0."""
    if f.loss == LOSS_HINGE:
        return -f.label if f.label * p < 1 else 0
    if p == f.label:
        return 0
    if f.loss == LOSS_QUANTILE:
        return 1 - <double>f.params.tau if p > f.label else -<double>f.params.tau
    if f.loss == LOSS_TUBE:
        return copysign(tube_neg_gradient(fabs(p - f.label), f.params.tube), p - f.label)
    return 1 if p > f.label else -1


cdef inline double resting_prediction(const Flow *f, double p) noexcept nogil:
    """The prediction at which a flow of constant slope that begins at ``p`` ends."""
    return f.label + copysign(f.params.tube, p - f.label) if f.loss == LOSS_TUBE else f.label


cdef inline Step constant_slope_step(const Flow *f, double p, double importance) noexcept nogil:
    """Losses of constant slope: s grows with h at a constant speed until p reaches its goal, mostly the label.

    Where the end lies beyond the goal, the h at which p equals it is found by Newton's method within a bracket.
    """
    cdef double speed = f.rate * constant_slope(f, p), goal = resting_prediction(f, p), above = 1 if p > f.label else -1
    cdef double low = 0, high = importance, h, gap, dots, slope, width, tolerance
    cdef int i
    cdef Step step = Step(speed * importance, importance, True)
    if speed == 0 or (prediction_at(f, step.s, importance) - goal) * above >= 0:
        step.h = importance if speed else 0
        return step
    tolerance = 1e-9 * (fabs(f.label) if fabs(f.label) > 1 else 1)
    h = 0
    for i in range(MAX_NEWTON):
        dots = components_at(f, speed * h, h, &slope)
        gap = dots + f.linear - speed * h * f.square - goal
        if gap * above >= 0:
            low = h
            if gap * above <= tolerance:
                break
        else:
            high = h
        slope = speed * (slope - f.square) - 2 * f.rate * f.decay * dots
        width = high - low
        if width <= 1e-15 * high:
            break
        h = h - gap / slope
        # far from the root of an exponential Newton's steps are too short
        if not (low < h < high) or (i >= PURE_NEWTON and i & 1):
            h = low + 0.5 * width
    else:
        step.bounded = False
    step.h = low           # p has not passed its goal there
    step.s = speed * low
    return step


cdef inline double flow_speed(const Flow *f, double s, double h) noexcept nogil:
    return f.rate * loss_slope(f, prediction_at(f, s, h))


cdef inline double runge_kutta(const Flow *f, double s, double h, double size, double k1, double *k7,
                               double *error) noexcept nogil:
    """One step of the embedded pair of Dormand and Prince (1980); returns the new s, its slope in ``k7``."""
    cdef double k2, k3, k4, k5, k6, next
    k2 = flow_speed(f, s + size * (k1 / 5), h + size / 5)
    k3 = flow_speed(f, s + size * (3 * k1 + 9 * k2) / 40, h + 0.3 * size)
    k4 = flow_speed(f, s + size * (44 * k1 - 168 * k2 + 160 * k3) / 45, h + 0.8 * size)
    k5 = flow_speed(f, s + size * (19372 * k1 - 76080 * k2 + 64448 * k3 - 1908 * k4) / 6561, h + size * (8.0 / 9))
    k6 = flow_speed(
        f, s + size * (477901 * k1 - 1806240 * k2 + 1495424 * k3 + 46746 * k4 - 45927 * k5) / 167904, h + size)
    next = s + size * (12985 * k1 + 64000 * k3 + 92750 * k4 - 45927 * k5 + 18656 * k6) / 142464
    k7[0] = flow_speed(f, next, h + size)
    error[0] = fabs(size * (26341 * k1 - 90880 * k3 + 790230 * k4 - 1086939 * k5 + 895488 * k6 - 534240 * k7[0]) / 21369600)
    return next


cdef inline double speed_slope(const Flow *f, double s, double h, double *in_h) noexcept nogil:
    """Derivative of ``flow_speed`` in s; ``in_h`` is the one in h."""
    cdef double slope, dots = components_at(f, s, h, &slope)
    cdef double curvature = loss_curvature(f, dots + f.linear - s * f.square)
    in_h[0] = -2 * f.rate * f.rate * f.decay * curvature * dots
    return f.rate * curvature * (slope - f.square)


cdef inline double rosenbrock(const Flow *f, double s, double h, double size, double k1, double *k7,
                              double *error) noexcept nogil:
    """One step of Shampine's (1982) stiffly stable pair of orders 4 and 3; arguments as of ``runge_kutta``."""
    cdef double in_h, pivot = 2 / size - speed_slope(f, s, h, &in_h), g1, g2, g3, g4, k, next
    in_h *= size
    g1 = (k1 + 0.5 * in_h) / pivot
    k = flow_speed(f, s + 2 * g1, h + size)
    g2 = (k - 1.5 * in_h - 8 * g1 / size) / pivot
    k = flow_speed(f, s + (48 * g1 + 6 * g2) / 25, h + 0.6 * size)
    g3 = (k + 2.42 * in_h + (372 * g1 + 60 * g2) / (25 * size)) / pivot
    g4 = (k + 0.116 * in_h - (112 * g1 + 54 * g2 + 50 * g3) / (125 * size)) / pivot
    next = s + 19 * g1 / 9 + 0.5 * g2 + (25 * g3 + 125 * g4) / 108
    k7[0] = flow_speed(f, next, h + size)
    # the error estimate is of order 3; the step itself is of order 4
    error[0] = 0.01 * fabs(17 * g1 / 54 + 7 * g2 / 36 + 125 * g4 / 108)
    return next


cdef inline double resolution(const Flow *f) noexcept nogil:
    """The absolute tolerance of s: it changes the prediction by 1e-10 of the magnitude of its summands."""
    cdef double slope, size = 1 + fabs(f.label) + fabs(f.linear)
    cdef size_t i
    components_at(f, 0, 0, &slope)
    for i in range(f.components):
        size += 0.25 * (f.component[i].plus + f.component[i].minus)
    return 1e-10 * size / (f.square - slope) if f.square > slope else 1e-300


cdef inline Step smooth_step(const Flow *f, double p, double importance) noexcept nogil:
    """The smooth losses: s'(h) = eta l'(p(s)), integrated to 1e-9 of its value.

    Without decay the exact flow approaches the minimum of the loss and never passes it, so no step may pass it, and the flow ends
    when it is close enough.
    """
    cdef double s = 0, h = 0, k1 = f.rate * loss_slope(f, p), k7 = 0, error = 0, size = importance, next, ratio, in_h
    cdef double tolerance_s = resolution(f)
    cdef double near = 30 if f.loss == LOSS_LP else 3   # some powers reach the label in finite time, at an infinite curvature
    cdef bint without_decay = f.decay == 0
    cdef int i
    if k1 == 0 and without_decay:
        return Step(0, importance, True)
    for i in range(MAX_STEPS):
        if size > importance - h:
            size = importance - h
        if without_decay or i < PATIENCE:
            next = runge_kutta(f, s, h, size, k1, &k7, &error)
        else:
            next = rosenbrock(f, s, h, size, k1, &k7, &error)
        ratio = error / (1e-9 * fabs(next) + tolerance_s)
        if ratio <= 1 and (k7 * k1 >= 0 or not without_decay):
            s = next
            h += size
            k1 = k7
            if h >= importance or (without_decay and
                                   fabs(k1) <= near * (1e-9 * fabs(s) + tolerance_s) * fabs(speed_slope(f, s, h, &in_h))):
                return Step(s, importance, True)
            size *= 5 if ratio < 1e-4 else 0.85 * pow(ratio, -0.2)
        elif without_decay and k7 * k1 < 0 and fabs(next - s) <= 1e-9 * fabs(s) + tolerance_s:
            return Step(s, importance, True)         # the minimum is within the tolerance
        else:
            size *= 0.1 if not ratio < 1e4 else (0.85 * pow(ratio, -0.2) if ratio > 1 else 0.5)
    return Step(s, h, False)


cdef inline bint is_at_rest(const Flow *f, double p) noexcept nogil:
    """Whether ``p`` lies where the loss is constant, so that nothing moves and nothing decays."""
    if has_constant_slope(f):
        return constant_slope(f, p) == 0
    return (f.loss == LOSS_SQUARED_HINGE or f.loss == LOSS_MODIFIED_HUBER or f.loss == LOSS_TRUNCATED) and loss_slope(f, p) == 0


cdef inline Step flow_step(const Flow *f, double p, double importance) noexcept nogil:
    """The step of an update of this importance."""
    if has_constant_slope(f):
        return constant_slope_step(f, p, importance)
    if is_at_rest(f, p):
        return Step(0, 0, True)
    return smooth_step(f, p, importance)


cdef extern from *:
    """
    static const double VWL_NODES[4] = {0.18343464249564978, 0.525532409916329, 0.7966664774136267, 0.9602898564975362};
    static const double VWL_WEIGHTS[4] = {0.36268378337836166, 0.3137066458778869, 0.22238103445337443, 0.10122853629037706};
    """
    const double *NODES "VWL_NODES"          # of the Gauss-Legendre rule of 8 points on [-1, 1], those above 0
    const double *WEIGHTS "VWL_WEIGHTS"


cdef inline double s_at_zero(const Flow *f, double p) noexcept nogil:
    """The s at which the prediction, now ``p``, is 0; infinite if it does not get there. Decay is ignored.

    By Newton's method within a bracket; before there is one, steps at least double the way.
    """
    cdef double way = 1 if p > 0 else -1, low = 0, high = INFINITY, at = 0, gap = p, slope, next
    cdef int i
    components_at(f, 0, 0, &slope)
    for i in range(MAX_NEWTON):
        next = at - gap / (slope - f.square) if slope < f.square else INFINITY
        if high == INFINITY:
            next = way * fmax(way * next if isfinite(next) else 0, fmax(2 * way * low, 1e-3))
            if way * next > 1e15:
                return INFINITY
        elif not (way * low < way * next < way * high) or (i >= PURE_NEWTON and i & 1):
            next = 0.5 * (low + high)
        if fabs(next - at) <= 1e-12 * fabs(next):
            return next
        at = next
        gap = components_at(f, at, 0, &slope) + f.linear - at * f.square
        if gap == 0:
            return at
        if gap * way > 0:
            low = at
        else:
            high = at
    return at


cdef inline double slowness(const Flow *f, double s) noexcept nogil:
    """1 / |l'(p(s))|, infinite where the loss has no slope."""
    cdef double p = prediction_at(f, s, 0)
    return 1 / fabs(constant_slope(f, p) if has_constant_slope(f) else loss_slope(f, p))


cdef inline double importance_to_flip(Flow *f, double p) noexcept nogil:
    """The smallest importance with which the opposite label would carry the prediction across zero.

    That is the integral of ds / (eta l'(p(s))) from 0 to that s, by Gauss and Legendre's rule; for hinge loss, of constant
    slope, a quotient.
    """
    cdef double s = s_at_zero(f, p), total = 0
    cdef int i
    if p == 0 or s == INFINITY:
        return 0 if p == 0 else INFINITY
    f.label = -1 if p > 0 else 1
    if f.loss == LOSS_HINGE:
        return fabs(s) / f.rate
    for i in range(4):
        total += WEIGHTS[i] * (slowness(f, 0.5 * s * (1 - NODES[i])) + slowness(f, 0.5 * s * (1 + NODES[i])))
    return 0.5 * fabs(s) * total / f.rate
