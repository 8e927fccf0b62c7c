"""A network of tanh units with one output, on any loss; see ``learners/network.pxd``."""

from libc.math cimport isfinite, isnan
from libc.stdint cimport uint32_t

from base.status cimport OK, UNSTABLE
from features.kernel_views cimport Results
from features.namespace_groups cimport Rows
from features.row_buffer cimport Scratch
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from learners.gd_update cimport RATE_NOW, SCALARS, Learner, clip, count_time, open_learner, widen_range
from learners.label_steps cimport open_labels, scale_params, take_units
from learners.label_units cimport LABEL_MEAN, NextUnits, in_label_units, next_units
from learners.network cimport (
    Network, close_network, drop_half, find_rows, keep_all, learn_slopes, meet_inputs, open_network, output, sum_inputs, sum_layers
)
from losses.loss_types cimport LossParams, apply_link

cdef enum:
    LEARNED = SCALARS      # index into the scalars: number of examples learned


cdef struct Nn:
    Learner m              # of which the label range, the loss and the scalars are used
    Network net


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    find_rows(&(<Nn *>learner).net, s)


cdef inline int learn(Nn *q, const Scratch *s, float p, float start, float y, float weight, double scale) noexcept nogil:
    """A step from the prediction ``p``; under dropout from that of the units that are kept, of whose output ``scale`` is the unit."""
    cdef int status
    if q.net.dropout:
        drop_half(&q.net)
        sum_layers(&q.net)
        p = clip(<float>(output(&q.net, 0, start) * scale), &q.m)
    q.net.layer[q.net.hidden].slope[0] = q.m.loss.slope(&q.m.params, p, y)
    status = learn_slopes(&q.net, s, <float>q.m.scalars[RATE_NOW], weight)
    if q.net.dropout:
        keep_all(&q.net)
    return status


cdef inline int learn_in_units(Nn *q, const Scratch *s, float product, float start, float y, float weight) noexcept nogil:
    """``learn`` in units of the labels' spread, in which the network's output is ``product``."""
    cdef NextUnits new = next_units(&q.m.labels, <double>y - start, weight)
    cdef double middle = start + new.sums[LABEL_MEAN], scale = new.units.spread * new.part
    cdef LossParams before
    cdef int status = OK
    take_units(&q.m, &new, y)
    if new.units.spread > 0:
        before = scale_params(&q.m, middle, new.part)
        status = learn(q, s, clip(<float>(product * scale), &q.m), 0, <float>((y - middle) * new.part), weight, scale)
        q.m.params = before
    return status


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Nn *q = <Nn *>learner
    cdef float y = rows.label[row], weight = rows.importance[row], start = rows.initial_prediction[row]
    cdef float product, p
    cdef bint in_units = q.m.labels.sums != NULL
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef bint known = learning and labeled and not held
    cdef int status = OK
    if known and not q.m.frozen and not in_units:   # of labels in units of their spread the range is that before the row
        widen_range(&q.m, y)
    if known and weight > 0:
        meet_inputs(&q.net, s, weight)
    sum_inputs(&q.net, s)
    sum_layers(&q.net)
    product = output(&q.net, 0, 0 if in_units else start)
    out.raw[row] = <float>in_label_units(&q.m.labels, product, start) if in_units else product
    p = clip(out.raw[row], &q.m)
    status = OK if isfinite(out.raw[row]) else UNSTABLE
    out.loss[row] = q.m.loss.value(&q.m.params, p, y) * weight if labeled and weight > 0 else 0
    if known and weight > 0 and status == OK:
        status = learn_in_units(q, s, product, start, y, weight) if in_units else learn(q, s, p, start, y, weight, 1)
    out.prediction[row] = apply_link(q.m.link, p)
    out.features[row] = <uint32_t>s.count
    count_time(&q.m, weight, labeled, held)
    return status


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``."""
    cdef Nn q
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef int status
    q.m = open_learner(state, config)
    q.m.labels = open_labels(state, config, True, False)
    check_fit(state, &call)
    if state.scalars.shape[0] != SCALARS + 1 or state.mask is not None:
        raise ValueError("a network has one more scalar, and no mask")
    q.net = open_network(state, config.network, call.learning, q.m.scalars, q.m.scalars + LEARNED)
    keep_all(&q.net)
    with nogil:
        status = process_in_order(&q, prepare, process_example, not q.m.vw_compat, &call)
    close_network(&q.net)
    return status, call.row
