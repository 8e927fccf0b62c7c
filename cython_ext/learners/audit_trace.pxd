"""A trace of the sets of weights that scored an example, for audits of a single row."""

from libc.stdint cimport uint32_t

from features.row_buffer cimport Scratch


cdef struct Trace:
    uint32_t *call         # (capacity,) 2 * number of the set, plus 1 if it had learned the example before
    float *score           # (capacity,)
    size_t size, capacity  # capacity is 0 when no trace is wanted
    size_t calls           # number of predictions of all sets so far, also of those not recorded


cdef inline void note(Trace *trace, uint32_t number, bint learned, float score) noexcept nogil:
    trace.calls += 1
    if trace.size < trace.capacity:
        trace.call[trace.size] = 2 * number + learned
        trace.score[trace.size] = score
        trace.size += 1


cdef inline uint32_t counted_features(const Trace *trace, size_t calls, const Scratch *s, bint vw_compat) noexcept nogil:
    """The number of features of a row; ``calls`` is the number of predictions before it. vw counts interactions only if some set
    predicted the row.
    """
    return <uint32_t>(s.count if not vw_compat or trace.calls > calls else s.count - (s.terms - s.linear))


cdef inline int open_trace(Trace *trace, state) except -1:
    """From ``trace_calls`` and ``trace_scores`` of a ``vwlite.learners.trees.Tree``; the trace is emptied."""
    cdef uint32_t[::1] call = state.trace_calls
    cdef float[::1] score = state.trace_scores
    if call.shape[0] != score.shape[0]:
        raise ValueError("there must be a score for each call")
    trace.size, trace.calls, trace.capacity = 0, 0, call.shape[0]
    trace.call = &call[0] if trace.capacity else NULL
    trace.score = &score[0] if trace.capacity else NULL
    return 0
