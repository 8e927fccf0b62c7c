"""Float32 arithmetic for formulas that are rounded to float32 after every step.

Cython writes both ``1`` and ``1.0`` in float arithmetic as the C double ``1.0``, which silently
computes the whole expression in double. Literals are harmless only where no arithmetic follows:
comparisons, arguments, results.
"""

from libc.float cimport FLT_MAX
from libc.math cimport fminf

cdef extern from *:
    const float ONE "1.0f"
    const float TWO "2.0f"
    const float FOUR "4.0f"
    const float MILLIONTH "1e-6f"
    const float TWO_TO_24 "16777216.0f"


cdef inline float finite_product(float a, float b) noexcept nogil:
    """``a * b`` of non-negative numbers, at most FLT_MAX, so that a quotient of it cannot be inf / inf."""
    return fminf(a * b, FLT_MAX)
