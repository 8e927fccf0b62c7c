"""Exponentials and the Lambert W function as importance-aware logistic updates need it; see ``losses/exponentials.h``."""

cdef extern from "losses/exponentials.h" nogil:
    float expf "vwl_expf"(float x) noexcept
    double log_above "vwl_log"(double x) noexcept  # for x of 11/16 and more
    float lambert_excess "vwl_lambert_excess"(double x) noexcept
