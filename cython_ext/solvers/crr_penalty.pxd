"""The cumulative L1 penalty (Tsuruoka, Tsujii, Ananiadou, ACL 2009) on a float32 table of which weights are a multiple.

``total`` is what a table entry could have received so far, ``received`` what it did, with its sign, both in units of the table:
a penalty c on the weight is one of c / scale on the entry, so that both commute with the L2 shrinkage of the scale. An entry is
settled before it is read.
"""

from libc.math cimport fmax, fmin

from base.byte_scan cimport prefetch
from features.row_buffer cimport Scratch


cdef inline void settle_entry(float *entry, double *received, double total) noexcept nogil:
    cdef double before = entry[0]
    if before > 0:
        entry[0] = <float>fmax(0, fmin(before, before - (total + received[0])))
    elif before < 0:
        entry[0] = <float>fmin(0, fmax(before, before + (total - received[0])))
    received[0] += entry[0] - before


cdef inline void settle_terms(float *table, double *received, double total, const Scratch *s) noexcept nogil:
    cdef size_t i
    for i in range(s.terms):
        settle_entry(table + s.index[i], received + s.index[i], total)


cdef inline void prefetch_received(const double *received, const Scratch *s) noexcept nogil:
    cdef size_t i
    for i in range(s.terms):
        prefetch(<const float *>(received + s.index[i]))
