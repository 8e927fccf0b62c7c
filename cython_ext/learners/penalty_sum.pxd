"""A sum of penalties that all rows of a table share, and how far each row has been brought up to it, exactly.

Tables are of single precision, so a row has the sum as that of two numbers; the sum itself is rounded to what two can hold.
"""


cdef inline float since(const float *reached, double total) noexcept nogil:
    """What the sum has gained since the row, two numbers, was brought up."""
    return <float>(total - (<double>reached[0] + reached[1]))


cdef inline void reach(float *reached, double total) noexcept nogil:
    reached[0] = <float>total
    reached[1] = <float>(total - reached[0])


cdef inline double sum_of(double total, double more) noexcept nogil:
    cdef float high = <float>(total + more)
    return <double>high + <float>(total + more - high)
