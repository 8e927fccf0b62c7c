"""Which sets of weights an example was put to; for audits, of one row at a time, also what each said."""

from libc.stdint cimport uint32_t

from features.row_buffer cimport Scratch


cdef struct Trace:
    uint32_t *call         # (room,) twice the number of the set, plus 1 where it had learned the example
    float *score           # (room,)
    size_t size, room      # room is 0 where nobody asks
    size_t asked           # how often any set was, in all


cdef inline void note(Trace *trace, uint32_t number, bint learned, float score) noexcept nogil:
    trace.asked += 1
    if trace.size < trace.room:
        trace.call[trace.size] = 2 * number + learned
        trace.score[trace.size] = score
        trace.size += 1


cdef inline uint32_t counted_features(const Trace *trace, size_t asked, const Scratch *s, bint strict) noexcept nogil:
    """Of a row before which ``asked`` sets were. To vw, interactions are only where a prediction is made."""
    return <uint32_t>(s.count if strict or trace.asked > asked else s.count - (s.terms - s.linear))


cdef inline int open_trace(Trace *trace, state) except -1:
    """From ``trace_calls`` and ``trace_scores`` of a ``vwlite.learners.tree_base.Tree``; the trace begins anew."""
    cdef uint32_t[::1] call = state.trace_calls
    cdef float[::1] score = state.trace_scores
    if call.shape[0] != score.shape[0]:
        raise ValueError("a score for each call")
    trace.size, trace.asked, trace.room = 0, 0, call.shape[0]
    trace.call = &call[0] if trace.room else NULL
    trace.score = &score[0] if trace.room else NULL
    return 0
