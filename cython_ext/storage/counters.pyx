"""Adding the examples of a batch to the counters of a run, one after the other, and properties of a batch's labels, of which NaN
means that there is none. Indices of counters are those of the float64 array of ``vwlite.training.counters.Counters``.
"""

from libc.math cimport NAN, floorf

cdef enum:
    # Sums over examples that are not held out.
    EXAMPLE_NUMBER       # examples, an integer
    TOTAL_FEATURES       # features with constant and interactions, an integer
    LABELED_WEIGHT       # importance of labelled examples
    OLD_LABELED_WEIGHT   # LABELED_WEIGHT when the last progress row was printed
    UNLABELED_WEIGHT
    WEIGHTED_LABELS      # sum of label times importance, 0 unless SIMPLE_LABELS
    SUM_LOSS
    SUM_LOSS_SINCE_DUMP  # since the last progress row
    # The same over held-out labelled examples: whole run, since the last row, since the pass began.
    HOLDOUT_WEIGHT
    HOLDOUT_LOSS
    HOLDOUT_WEIGHT_SINCE_DUMP
    HOLDOUT_LOSS_SINCE_DUMP
    HOLDOUT_WEIGHT_SINCE_PASS
    HOLDOUT_LOSS_SINCE_PASS
    HOLDOUT_BEST_LOSS    # average of the best pass, FLT_MAX before the first pass ends
    HOLDOUT_BEST_PASS
    # The first two distinct labels, NaN until seen; 1 once a third was seen.
    FIRST_LABEL
    SECOND_LABEL
    MORE_LABELS
    # When a progress row is due: at total importance DUMP_INTERVAL (a float32 value).
    DUMP_INTERVAL
    PROGRESS_ADDITIVE    # 1: next row PROGRESS_STEP later; 0: at PROGRESS_STEP times the total
    PROGRESS_STEP
    SIMPLE_LABELS        # 1: labels are real numbers; 0: classes or costs, which are not summed
    QUERIES              # labels requested by active learning, an integer
    ROW_DUE              # 1 when the last call of tally stopped for a progress row
    N_COUNTERS


# Name of every counter -> its index in the array; the properties of Counters are made from it.
INDEX = {
    "example_number": EXAMPLE_NUMBER,
    "total_features": TOTAL_FEATURES,
    "labeled_weight": LABELED_WEIGHT,
    "old_labeled_weight": OLD_LABELED_WEIGHT,
    "unlabeled_weight": UNLABELED_WEIGHT,
    "weighted_labels": WEIGHTED_LABELS,
    "sum_loss": SUM_LOSS,
    "sum_loss_since_dump": SUM_LOSS_SINCE_DUMP,
    "holdout_weight": HOLDOUT_WEIGHT,
    "holdout_loss": HOLDOUT_LOSS,
    "holdout_weight_since_dump": HOLDOUT_WEIGHT_SINCE_DUMP,
    "holdout_loss_since_dump": HOLDOUT_LOSS_SINCE_DUMP,
    "holdout_weight_since_pass": HOLDOUT_WEIGHT_SINCE_PASS,
    "holdout_loss_since_pass": HOLDOUT_LOSS_SINCE_PASS,
    "holdout_best_loss": HOLDOUT_BEST_LOSS,
    "holdout_best_pass": HOLDOUT_BEST_PASS,
    "first_label": FIRST_LABEL,
    "second_label": SECOND_LABEL,
    "more_labels": MORE_LABELS,
    "dump_interval": DUMP_INTERVAL,
    "progress_additive": PROGRESS_ADDITIVE,
    "progress_step": PROGRESS_STEP,
    "simple_labels": SIMPLE_LABELS,
    "queries": QUERIES,
    "row_due": ROW_DUE,
}
COUNT = N_COUNTERS  # length of the array

cdef enum:
    NO_EXAMPLE = 21  # BLANK | SAVE | INNER of vwlite.data.batch

cdef struct Rows:
    const float* label            # [n], NaN where unlabelled
    const float* importance       # [n]
    const unsigned char* flags    # [n]
    const unsigned char* holdout_mask# [n], or NULL when nothing is held out
    const float* loss             # [n], already times importance
    const unsigned int* features  # [n]


def tally(
    double[::1] counters, batch, results, const unsigned char[::1] holdout_mask,
    Py_ssize_t begin, Py_ssize_t end,
):
    """Add the rows ``begin <= i < end`` of ``batch`` to ``counters`` (float64[COUNT]), in order.

    ``batch`` gives ``label`` float32[n] (NaN = unlabelled), ``importance`` float32[n] and ``flags``
    uint8[n] (blank lines, save commands and all but the last line
    of a group are no examples), ``results`` gives ``loss`` float32[n]
    and ``features`` uint32[n]; ``holdout_mask`` is uint8[n], non-zero where held out, or None.

    Returns the row to continue with: one past the example after which a progress row is due, or
    ``end``. The counter ``row_due`` (1 or 0) tells which of the two it is, as both may be the same row.
    As in Vowpal Wabbit sums are float64 and sequential, so they do not depend on how the rows are split.
    Raises ValueError when an array is too short for the rows asked for.
    """
    cdef const float[::1] label = batch.label
    cdef const float[::1] importance = batch.importance
    cdef const unsigned char[::1] flags = batch.flags
    cdef const float[::1] loss = results.loss
    cdef const unsigned int[::1] features = results.features
    cdef Py_ssize_t stop
    cdef Rows rows
    if counters.shape[0] != N_COUNTERS:
        raise ValueError(f"expected {N_COUNTERS} counters, got {counters.shape[0]}")
    if begin < 0 or end > min(
        label.shape[0], importance.shape[0], flags.shape[0], loss.shape[0], features.shape[0]
    ) or (holdout_mask is not None and end > holdout_mask.shape[0]):
        raise ValueError(f"rows {begin}:{end} are not all there")
    counters[ROW_DUE] = 0
    if begin >= end:
        return end
    rows.label = &label[0]
    rows.importance = &importance[0]
    rows.flags = &flags[0]
    rows.holdout_mask = NULL
    if holdout_mask is not None:
        rows.holdout_mask = &holdout_mask[0]
    rows.loss = &loss[0]
    rows.features = &features[0]
    with nogil:
        stop = _add_rows(&counters[0], &rows, begin, end)
    return stop


cdef Py_ssize_t _add_rows(
    double* counters, const Rows* rows, Py_ssize_t begin, Py_ssize_t end
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(begin, end):
        if rows.flags[i] & NO_EXAMPLE:
            continue
        _add_row(counters, rows, i)
        if counters[LABELED_WEIGHT] + counters[UNLABELED_WEIGHT] >= counters[DUMP_INTERVAL]:
            counters[ROW_DUE] = 1
            return i + 1
    return end


cdef inline void _add_row(double* counters, const Rows* rows, Py_ssize_t i) noexcept nogil:
    cdef double label = rows.label[i]
    cdef double weight = rows.importance[i]
    cdef double loss = rows.loss[i]
    cdef bint labelled = label == label
    cdef bint held = rows.holdout_mask != NULL and rows.holdout_mask[i] != 0
    if labelled and counters[SIMPLE_LABELS] != 0:
        _record_label(counters, label)
        if not held:
            counters[WEIGHTED_LABELS] += label * weight
    if held and labelled:
        counters[HOLDOUT_WEIGHT] += weight
        counters[HOLDOUT_WEIGHT_SINCE_DUMP] += weight
        counters[HOLDOUT_WEIGHT_SINCE_PASS] += weight
        counters[HOLDOUT_LOSS] += loss
        counters[HOLDOUT_LOSS_SINCE_DUMP] += loss
        counters[HOLDOUT_LOSS_SINCE_PASS] += loss
        return
    counters[LABELED_WEIGHT if labelled else UNLABELED_WEIGHT] += weight
    counters[SUM_LOSS] += loss
    counters[SUM_LOSS_SINCE_DUMP] += loss
    counters[TOTAL_FEATURES] += rows.features[i]
    counters[EXAMPLE_NUMBER] += 1


def record_labels(double[::1] counters, const float[::1] label, const unsigned char[::1] flags, Py_ssize_t begin, Py_ssize_t end):
    """Record the labels of the rows ``begin <= i < end`` for the best constant, without counting the rows."""
    cdef Py_ssize_t i
    if counters.shape[0] != N_COUNTERS or not 0 <= begin <= end <= min(label.shape[0], flags.shape[0]):
        raise ValueError(f"rows {begin}:{end} are not all there")
    for i in range(begin, end):
        if not flags[i] & NO_EXAMPLE and label[i] == label[i] and counters[SIMPLE_LABELS] != 0:
            _record_label(&counters[0], label[i])


cdef inline void _record_label(double* counters, double label) noexcept nogil:
    cdef double first = counters[FIRST_LABEL]
    cdef double second = counters[SECOND_LABEL]
    if label == first or label == second or counters[MORE_LABELS] != 0:
        return
    if first != first:
        counters[FIRST_LABEL] = label
    elif second != second:
        counters[SECOND_LABEL] = label
    else:
        counters[MORE_LABELS] = 1


cdef enum:
    ZERO_BIT = 1
    MINUS_ONE_BIT = 2
    OTHER_BIT = 4

ZERO, MINUS_ONE, OTHER = ZERO_BIT, MINUS_ONE_BIT, OTHER_BIT


def label_flags(const float[::1] labels):
    """Which labels occur: the union of the flags ``ZERO``, ``MINUS_ONE`` and ``OTHER`` (neither of these, nor 1)."""
    cdef Py_ssize_t i
    cdef float label
    cdef int flag, found = 0
    for i in range(labels.shape[0]):
        label = labels[i]
        flag = (label == 0) * ZERO_BIT | (label == -1) * MINUS_ONE_BIT
        found |= flag | (flag == 0 and label != 1 and label == label) * OTHER_BIT
    return found


def label_range(const float[::1] labels):
    """The smallest and the largest label; both NaN where there is none."""
    cdef Py_ssize_t i
    cdef float low = NAN, high = NAN
    for i in range(labels.shape[0]):
        if not low <= labels[i] and labels[i] == labels[i]:
            low = labels[i]
        if not high >= labels[i] and labels[i] == labels[i]:
            high = labels[i]
    return low, high


def all_integers(const float[::1] labels):
    """Whether all labels are integers."""
    cdef Py_ssize_t i
    for i in range(labels.shape[0]):
        if labels[i] == labels[i] and labels[i] != floorf(labels[i]):
            return False
    return True
