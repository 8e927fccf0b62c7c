"""A running sum of penalties shared by all rows of a table, and the part of it that has been applied to each row.

Tables are float32, so a row stores its part exactly as the sum of two floats, ``applied[0]`` and ``applied[1]``; the running
sum is therefore rounded to the precision of two floats.
"""


cdef inline float outstanding(const float *applied, double total) noexcept nogil:
    """The part of the sum that has not been applied to the row yet."""
    return <float>(total - (<double>applied[0] + applied[1]))


cdef inline void mark_applied(float *applied, double total) noexcept nogil:
    """Record that the whole sum has been applied to the row."""
    applied[0] = <float>total
    applied[1] = <float>(total - applied[0])


cdef inline double add_to_sum(double total, double penalty) noexcept nogil:
    """The sum of both, rounded to what two floats can hold."""
    cdef float high = <float>(total + penalty)
    return <double>high + <float>(total + penalty - high)
