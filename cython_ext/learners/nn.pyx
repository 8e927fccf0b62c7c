"""Networks of tanh units: with one output, on any loss, and with an output for each class, whose softmax are the probabilities; see
``learners/network.pxd``.
"""

from libc.math cimport isfinite, isnan
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from base.status cimport OK, UNSTABLE
from losses.loss_types cimport LossParams, apply_link
from features.kernel_views cimport Results
from features.namespace_groups cimport Rows
from features.row_buffer cimport Scratch
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from learners.gd_update cimport RATE_NOW, SCALARS, Learner, clip, count_time, open_learner, widen_range
from learners.label_flow cimport softmax
from learners.label_steps cimport open_labels, scale_params, take_units
from learners.label_units cimport LABEL_MEAN, NextUnits, in_label_units, next_units
from learners.network cimport (
    Network, close_network, drop_half, find_rows, keep_all, learn_slopes, meet_inputs, open_network, output,
    sum_inputs, sum_layers,
)

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


cdef enum:                 # positions in the scalars, named in vwlite/learners/softmax.py and nn.py
    CLASS_RATE = 2
    FIRST = 3              # number of the first class, -1 while unknown
    CLASSES_LEARNED = 7    # number of examples learned
    CLASS_SCALARS = 8


cdef struct Classes:
    Network net
    double *scalars
    double *log_loss       # (2, 2) as in learners/class_update.pxd
    uint32_t classes
    bint vw_compat
    float *raw             # (rows of the batch, classes), or a single row
    float *score
    size_t score_stride
    double *z              # (classes,) scratch: scores, then probabilities


cdef void prepare_classes(void *learner, Scratch *s) noexcept nogil:
    find_rows(&(<Classes *>learner).net, s)


cdef inline double find_probabilities(Classes *q, float start) noexcept nogil:
    """Fill ``z`` with the probabilities of the classes; returns the log of the normaliser."""
    cdef uint32_t c
    for c in range(q.classes):
        q.z[c] = output(&q.net, c, start)
    return softmax(q.z, q.classes)


cdef inline int learn_class(Classes *q, const Scratch *s, uint32_t true, float start, float weight) noexcept nogil:
    """A step from the probabilities in ``z``; under dropout from those of the units that are kept."""
    cdef uint32_t c
    cdef int status
    if q.net.dropout:
        drop_half(&q.net)
        sum_layers(&q.net)
        find_probabilities(q, start)
    for c in range(q.classes):
        q.net.layer[q.net.hidden].slope[c] = <float>(q.z[c] - (c == true))
    status = learn_slopes(&q.net, s, <float>q.scalars[CLASS_RATE], weight)
    if q.net.dropout:
        keep_all(&q.net)
    return status


cdef int process_class(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Classes *q = <Classes *>learner
    cdef float y = rows.label[row], weight = rows.importance[row], start = rows.initial_prediction[row]
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef float *raw = q.raw + row * q.score_stride
    cdef float *score = q.score + row * q.score_stride
    cdef uint32_t c, best = 0, first, true
    cdef bint learns = learning and labeled and not held
    cdef double total
    cdef int status = OK
    if learns and q.scalars[FIRST] < 0 and (y == 0 or y == q.classes):
        q.scalars[FIRST] = 0 if y == 0 else 1
    first = 0 if q.scalars[FIRST] == 0 else 1
    true = <uint32_t>(y - first) if labeled and y >= first else q.classes
    learns = learns and weight > 0 and true < q.classes
    if learns:
        meet_inputs(&q.net, s, weight)
    sum_inputs(&q.net, s)
    sum_layers(&q.net)
    for c in range(q.classes):
        raw[c] = output(&q.net, c, start)
        best = c if raw[c] > raw[best] else best
        status |= OK if isfinite(raw[c]) else UNSTABLE
    out.prediction[row] = best + first
    out.raw[row] = first
    out.loss[row] = weight if labeled and weight > 0 and best != true else 0
    total = find_probabilities(q, start)
    for c in range(q.classes):
        score[c] = <float>q.z[c]
    if labeled:
        q.log_loss[held] += weight * (total - raw[true]) if true < q.classes else 0
        q.log_loss[2 + held] += weight
    if learns and status == OK:
        status = learn_class(q, s, true, start, weight)
    out.features[row] = <uint32_t>s.count
    return status


cdef void open_classes(Classes *q, state, config, Py_ssize_t rows) except *:
    cdef double[::1] scalars = state.scalars
    cdef double[:, ::1] log_loss = state.log_loss
    cdef float[:, ::1] raw = state.raw, score = state.score
    if scalars.shape[0] != CLASS_SCALARS or log_loss.shape[0] != 2 or log_loss.shape[1] != 2 or config.classes < 1:
        raise ValueError("scalars or classes do not fit")
    q.scalars, q.log_loss, q.classes, q.vw_compat = &scalars[0], &log_loss[0, 0], config.classes, config.vw_compat
    q.score_stride = q.classes if state.wants_scores else 0
    if min(raw.shape[0], score.shape[0]) < (rows if q.score_stride else 1) or not raw.shape[1] == score.shape[1] == q.classes:
        raise ValueError("no room for the scores")
    q.raw, q.score = &raw[0, 0], &score[0, 0]


def run_class_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn_class from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``per_class.pyx``."""
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef Classes q
    cdef int status
    call.plan.flat = plan.flat
    open_classes(&q, state, config, call.rows.size)
    check_fit(state, &call)
    q.net = open_network(state, config.network, call.learning, q.scalars, q.scalars + CLASSES_LEARNED)
    keep_all(&q.net)
    q.z = <double *>malloc(q.classes * sizeof(double))
    if q.z == NULL or q.net.outputs != q.classes:
        free(q.z)
        close_network(&q.net)
        raise MemoryError if q.z == NULL else ValueError("an output for each class")
    with nogil:
        status = process_in_order(&q, prepare_classes, process_class, not q.vw_compat, &call)
    free(q.z)
    close_network(&q.net)
    return status, call.row


class OfClasses:
    """What runs rows of classes, as this module does of one output."""

    run_rows = staticmethod(run_class_rows)
