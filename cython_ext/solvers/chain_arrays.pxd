"""Chains of the kernels from the arrays of ``vwlite.solvers.loglinear``."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from solvers.label_chain cimport Chain, Terms


cdef inline Terms open_terms(rows, const int64_t[::1] pair_start, const uint32_t[::1] pair_label, size_t base) except *:
    """From a ``vwlite.data.batch.Csr``."""
    cdef const int64_t[::1] start = rows.indptr
    cdef const uint32_t[::1] feature = rows.indices
    cdef const float[::1] value = rows.values
    cdef Terms t
    t.start, t.pair_start, t.base = &start[0], &pair_start[0], base
    t.feature = &feature[0] if feature.shape[0] else NULL
    t.value = &value[0] if value.shape[0] else NULL
    t.pair_label = &pair_label[0] if pair_label.shape[0] else NULL
    return t


cdef inline Chain open_chain(data, pairs) except *:
    """From ``Chains`` and ``Pairs`` of ``vwlite.solvers.loglinear.problems``, whose arrays must outlive the call."""
    cdef const int64_t[::1] sequence = data.sequence
    cdef const int32_t[::1] label = data.label
    cdef const double[::1] weight = data.weight
    cdef const uint8_t[::1] stop = data.stop
    cdef const int32_t[::1] last, state_after, parent, order
    cdef Chain c
    c.labels, c.transitions, c.edges = pairs.labels, pairs.transitions, data.edge is not None
    if len(data.state) != label.shape[0] or weight.shape[0] != sequence.shape[0] - 1 or c.labels < 1:
        raise ValueError("the arrays do not fit together")
    c.sequence, c.stop = &sequence[0], &stop[0]
    c.label = &label[0] if label.shape[0] else NULL
    c.weight = &weight[0] if weight.shape[0] else NULL
    c.state = open_terms(data.state, pairs.start, pairs.label, 0)
    if c.edges:
        c.edge = open_terms(data.edge, pairs.edge_start, pairs.edge_label, pairs.first_edge)
    c.first_transition, c.states, c.parent, c.order = pairs.first_transition, 0, NULL, NULL
    if len(pairs.histories):
        last, state_after = pairs.last, pairs.state_after
        c.states, c.last, c.state_after = last.shape[0], &last[0], &state_after[0]
    if data.tree is not None and c.label != NULL:
        parent, order = data.tree.parent, data.tree.order
        if parent.shape[0] != label.shape[0] or order.shape[0] != label.shape[0] or c.states or not c.transitions:
            raise ValueError("the tree does not fit")
        c.parent, c.order = &parent[0], &order[0]
    return c
