"""What updates of models with dot products share: the sides of a row's products, and the moves of their latent vectors."""

from libc.math cimport exp, expm1, isfinite, pow, sqrt
from libc.stdint cimport uint32_t

from learners.dyadic_flow cimport Component, safe_exp
from learners.dyadic_scratch cimport DyadicScratch
from learners.latent_vectors cimport Latent, Side, merge_slots


cdef inline void add_side(DyadicScratch *work, const Latent *latent, int which, const uint32_t *index, const float *value,
                          size_t size, size_t *used, uint32_t mask) noexcept nogil:
    """Add one side of the component being built, without its vector; its features are copied, and those that share a slot are
    merged.
    """
    cdef size_t i
    cdef Side *side = &work.side[2 * work.components + which]
    side.latent = latent
    side.index, side.value = work.index + used[0], work.value + used[0]
    for i in range(size):
        side.index[i] = index[i] & mask
        side.value[i] = value[i]
    side.size = merge_slots(side.index, side.value, size)
    side.vector = work.vector + (2 * work.components + which) * latent.rank
    used[0] += side.size
    side.square = 0
    for i in range(side.size):
        side.square += <double>side.value[i] * side.value[i]


cdef inline bint can_move(const Side *a, const Side *b) noexcept nogil:
    """False where a side is all zeros: such a dot product never changes and contributes a constant."""
    return a.square > 0 and b.square > 0 and isfinite(a.square * b.square)


cdef inline Component component_of(const double *a, const double *b, double a_square, double b_square, size_t rank) noexcept nogil:
    """The component of two vectors, float64[rank], and the squared values of their sides."""
    cdef Component c
    cdef double root, sum, difference
    cdef size_t d
    c.omega = sqrt(a_square) * sqrt(b_square)
    c.kappa = sqrt(a_square / b_square)
    root = sqrt(c.kappa)
    c.plus = c.minus = c.square = 0
    for d in range(rank):
        sum = a[d] / root + b[d] * root
        difference = a[d] / root - b[d] * root
        c.plus += sum * sum
        c.minus += difference * difference
    return c


cdef inline double decayed_rate(double rate, double time, double first_pass_t, double power_t, double initial_t) noexcept nogil:
    """The current learning rate: decayed by passes and, unless power_t is 0, by ``(t0 / (t0 + t))^power_t`` within them.

    With power_t 0 it is multiplied by ``sqrt(t1 / (t1 + t))`` where t1, ``first_pass_t``, is above 0.
    """
    if power_t == 0:
        return rate * (sqrt(first_pass_t / (first_pass_t + time)) if first_pass_t > 0 else 1)
    return rate * pow(initial_t / (initial_t + time), power_t)


cdef inline double growth(double exponent, double fade) noexcept nogil:
    """e^-fade (e^way - 1), without overflow in between."""
    return exp(-fade) * expm1(exponent) if exponent < 1 else safe_exp(exponent - fade) - exp(-fade)


cdef inline void vector_changes(const Component *component, double s, double fade, double a_square, double b_square,
                                size_t rank, double *a, double *b) noexcept nogil:
    """Replace two vectors by their changes along the flow up to ``s``, for a value of 1, before they decay by e^-fade."""
    cdef double exponent = component.omega * s, root = sqrt(component.kappa), sum, difference
    cdef double grow = 0.5 * growth(exponent, fade), fall = 0.5 * growth(-exponent, fade)
    cdef size_t d
    for d in range(rank):                            # the terms of plus shrink by e^-exponent, those of minus grow
        sum = (a[d] / root + b[d] * root) * fall
        difference = (a[d] / root - b[d] * root) * grow
        a[d] = root / a_square * (sum + difference)
        b[d] = (sum - difference) / (b_square * root)
