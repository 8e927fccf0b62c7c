"""Exponentials and the Lambert W function as importance-aware logistic updates need it; see ``losses/exponentials.h``."""

cdef extern from "losses/exponentials.h" nogil:
    const float LONGEST_MOVE "VWL_LONGEST_MOVE"
    float expf "vwl_expf"(float x) noexcept
    double fast_log "vwl_log"(double x) noexcept  # x >= 11/16 only
    float lambert_excess "vwl_lambert_excess"(double x) noexcept  # W(exp(x)) - x
