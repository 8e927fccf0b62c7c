"""Error-correcting tournaments of classes, as Vowpal Wabbit's ``--ect`` (Beygelzimer, Langford and Ravikumar 2009).

A contest between two classes is a binary problem with its own set of weights: the label is -1 if the left class wins and 1
if the right one does. There are errors + 1 elimination tournaments; the loser of a contest moves on to the next tournament, and
the winners of all tournaments meet in a final one.
"""

from libc.math cimport isnan
from libc.stdint cimport int64_t, uint8_t, uint32_t

from learners.gd_update cimport count_time, prefetch_slots
from features.namespace_groups cimport Rows
from learners.example_loop cimport Call, check_fit, open_call, process_in_order
from losses.loss_types cimport LINK_LOGISTIC, apply_link
from learners.class_update cimport (
    PerClass, begin_row, close_path, end_row, first_class, infer_first_class, move_slots, open_path, open_weight_sets,
    predict_and_update, predict_once
)
from learners.path_lanes cimport (
    LANES, PathLanes, begin_lanes, close_lanes, end_lanes, learn_lanes, open_lanes, prefetch_lanes, take_lane
)
from features.row_buffer cimport Scratch
from base.status cimport OK
from learners.audit_trace cimport Trace, counted_features, note, open_trace
from features.kernel_views cimport Results


cdef struct Contest:       # columns named in vwlite/learners/trees.py: numbers of the next contests (0: none) and of both sides
    uint32_t winner
    uint32_t loser
    uint32_t left
    uint32_t right
    uint32_t last          # whether it is the last contest of its tournament


cdef struct Tournaments:
    PerClass q
    Trace trace
    const Contest *contest  # the first rows are the classes, not contests
    const uint32_t *finals  # (errors + 1,) the last contest of each tournament
    uint32_t errors
    uint32_t winners_offset # first set of weights of the contests between tournament winners
    int height              # levels of the tournament of winners
    uint32_t root           # set of weights of the first contest to predict
    float boundary          # the right side wins where the prediction is above it
    uint8_t *won            # (errors + 2,) scratch: 1 for each tournament won by the label
    float *counted          # (rows,) weights with which examples are counted
    PathLanes lanes         # the label's contests, as far as it wins them
    float sign[LANES]       # what each of these learns


cdef inline int predict_contest(Tournaments *t, const Rows *rows, size_t row, Scratch *s, uint32_t c, bint learned,
                                float *prediction) noexcept nogil:
    cdef int status = predict_once(&t.q, rows, row, s, c, t.q.raw, t.q.score)
    note(&t.trace, c, learned, t.q.score[c])
    prediction[0] = apply_link(t.q.m.link, t.q.score[c])
    return status


cdef inline int learn_contest(Tournaments *t, const Rows *rows, size_t row, Scratch *s, uint32_t c, float sign, float weight,
                              float *prediction) noexcept nogil:
    """Learn the winner of a contest; ``prediction`` is the one before the update."""
    cdef int status = OK
    if not take_lane(&t.lanes, &t.q, row, c, sign):
        status = predict_and_update(&t.q, rows, row, s, c, sign, weight, t.q.raw, t.q.score)
    note(&t.trace, c, False, t.q.score[c])
    prediction[0] = apply_link(t.q.m.link, t.q.score[c])
    return status


cdef inline int predict_class(Tournaments *t, const Rows *rows, size_t row, Scratch *s, uint32_t *found) noexcept nogil:
    """Predict a class: follow the winning sides from the final contest back to a class."""
    cdef uint32_t winner = 0, number, bit
    cdef float prediction = 0
    cdef int level = t.height - 1, status = OK
    found[0] = 0
    if t.q.classes == 1:
        return OK
    while level >= 0:
        bit = <uint32_t>1 << level
        if winner | bit <= t.errors:
            status |= predict_contest(t, rows, row, s, t.winners_offset + (winner | bit) - 1, False, &prediction)
            if prediction > t.boundary:
                winner |= bit
        level -= 1
    number = t.finals[winner]
    while number >= t.q.classes:
        status |= predict_contest(t, rows, row, s, number - t.q.classes, False, &prediction)
        number = t.contest[number].right if prediction > t.boundary else t.contest[number].left
    found[0] = number
    return status


cdef inline uint32_t train_tournaments(Tournaments *t, const Rows *rows, size_t row, Scratch *s, uint32_t label,
                                       int *status) noexcept nogil:
    """Train the contests on the label's path. Fills ``won`` for each tournament decided, and returns their number."""
    cdef uint32_t number = t.contest[label].winner, next, size = 0
    cdef bint left = t.contest[number].left == label, wins
    cdef float prediction = 0, sign
    while number:
        sign = -1 if left else 1
        status[0] |= learn_contest(t, rows, row, s, number - t.q.classes, sign, rows.importance[row], &prediction)
        status[0] |= predict_contest(t, rows, row, s, number - t.q.classes, True, &prediction)
        wins = (prediction - t.boundary) * sign > 0
        next = t.contest[number].winner if wins else t.contest[number].loser
        if t.contest[number].last or (not wins and next == 0):
            if size <= t.errors:
                t.won[size] = wins
                size += 1
        if not t.contest[number].last:  # as in vw, the side is not updated after a last contest
            left = t.contest[next].left == number
        number = next
    return size


cdef inline int train_winners(Tournaments *t, const Rows *rows, size_t row, Scratch *s, uint32_t size,
                              float *counted) noexcept nogil:
    """Train the contests between tournaments won and not won by the label, level by level.

    As in vw, earlier levels weigh more, by powers of two, and ``size`` shrinks within a level, which ends early. With
    ``vw_compat`` the example's importance is ignored, as in vw. ``counted``: the weight of the last update.
    """
    cdef float scale = 1 if t.q.m.vw_compat else rows.importance[row], sign, prediction = 0
    cdef uint32_t j, contest
    cdef int level, status = OK
    for level in range(t.height):
        j = 0
        while j < size / 2:
            if t.won[2 * j] != t.won[2 * j + 1]:
                sign = -1 if t.won[2 * j] else 1
                counted[0] = scale * <float>(<uint32_t>1 << (t.height - level - 1))
                contest = t.winners_offset + (j << (level + 1)) + (<uint32_t>1 << level) - 1
                status |= learn_contest(t, rows, row, s, contest, sign, counted[0], &prediction)
                t.won[j] = t.won[2 * j + 1] if prediction > t.boundary else t.won[2 * j]
            else:
                t.won[j] = t.won[2 * j]
            if size % 2:
                t.won[size / 2] = t.won[size - 1]
            size = (size + 1) / 2
            j += 1
    return status


cdef inline int train(Tournaments *t, const Rows *rows, size_t row, Scratch *s, uint32_t label,
                      float *counted) noexcept nogil:
    cdef int status = OK
    cdef uint32_t size
    if t.q.classes == 1 or label >= t.q.classes:
        return OK
    size = train_tournaments(t, rows, row, s, label, &status)
    return status | train_winners(t, rows, row, s, size, counted)


cdef inline uint32_t find_winners(const Tournaments *t, uint32_t label, uint32_t *sets, float *sign) noexcept nogil:
    """The contests of a label that wins, at most LANES, and what each learns; returns how many."""
    cdef uint32_t count = 0, side = label, number
    while label < t.q.classes and count < LANES and t.contest[side].winner:
        number = t.contest[side].winner
        sets[count] = number - t.q.classes
        sign[count] = -1 if t.contest[number].left == side else 1
        side = number
        count += 1
    return count


cdef inline bint class_of(const Tournaments *t, const Rows *rows, size_t row, uint32_t *label) noexcept nogil:
    """The class of a row's label, from 0; False without one."""
    cdef float y = rows.label[row] if row < rows.size else -1
    if not first_class(&t.q) <= y < 4294967296.0:
        return False
    label[0] = <uint32_t>(y - first_class(&t.q))
    return True


cdef inline void begin_winners(Tournaments *t, const Rows *rows, size_t row, Scratch *s) noexcept nogil:
    """Predict by the contests of the row's label, which are learned then, and prefetch those of the next row's."""
    cdef uint32_t sets[LANES]
    cdef uint32_t label
    if class_of(t, rows, row + 1, &label):
        prefetch_lanes(&t.lanes, &t.q, s, row, sets, find_winners(t, label, sets, t.sign))
    if class_of(t, rows, row, &label):
        begin_lanes(&t.lanes, &t.q, s, row, rows.initial_prediction[row], sets, find_winners(t, label, sets, t.sign))


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Tournaments *t = <Tournaments *>learner
    cdef float y = rows.label[row], weight = rows.importance[row]
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef uint32_t found = 0, first
    cdef size_t calls_before = t.trace.calls
    cdef int status
    begin_row(&t.q, s, learning and labeled and not held)
    if t.lanes.on and learning and labeled and not held and weight > 0:
        begin_winners(t, rows, row, s)
    status = predict_class(t, rows, row, s, &found)
    out.prediction[row] = found + first_class(&t.q)
    out.raw[row] = 0
    if learning and labeled and not held and (t.q.m.vw_compat or (status == OK and weight > 0)):
        if not t.q.m.vw_compat:
            infer_first_class(&t.q, y)
        first = first_class(&t.q)
        learn_lanes(&t.lanes, &t.q, s, rows.initial_prediction[row], t.sign, weight)
        status |= train(t, rows, row, s, <uint32_t>(y - first) if first <= y < 4294967296.0 else t.q.classes, &weight)
    end_lanes(&t.lanes, &t.q)
    end_row(&t.q, s, t.root)
    if not t.q.m.vw_compat:
        weight = rows.importance[row]
    t.counted[row] = weight
    out.loss[row] = weight if labeled and weight > 0 and out.prediction[row] != y else 0
    out.features[row] = counted_features(&t.trace, calls_before, s, t.q.m.vw_compat)
    count_time(&t.q.m, weight, labeled, held)
    return status


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    cdef Tournaments *t = <Tournaments *>learner
    move_slots(&t.q, s)
    prefetch_slots(&t.q.m, s)


cdef int open_tournaments(Tournaments *t, state, config, Py_ssize_t rows) except -1:
    """From a ``vwlite.learners.trees.Ect`` and its ``KernelConfig``, whose ``contests`` are as ``draw`` makes them."""
    cdef const uint32_t[:, ::1] contests = config.contests
    cdef const uint32_t[::1] finals = config.finals
    cdef uint8_t[::1] won = state.won
    cdef float[::1] counted = state.counted_weights
    open_weight_sets(&t.q, state, config)
    open_trace(&t.trace, state)
    t.errors, t.height = <uint32_t>finals.shape[0] - 1, config.height
    t.winners_offset = <uint32_t>(contests.shape[0] - t.q.classes)
    if contests.shape[1] * 4 != sizeof(Contest) or contests.shape[0] < t.q.classes or \
            t.winners_offset + t.errors > t.q.models or t.height > 16 or won.shape[0] < <Py_ssize_t>t.errors + 1:
        raise ValueError("the contests do not fit the sets of weights")
    if counted.shape[0] < rows:
        raise ValueError("no room for the weights of the rows")
    t.contest, t.finals, t.won = <const Contest *>&contests[0, 0], &finals[0], &won[0]
    t.counted = &counted[0] if counted.shape[0] else NULL
    t.root = t.finals[0] - t.q.classes if t.errors == 0 and t.finals[0] >= t.q.classes else 0
    t.boundary = 0.5 if t.q.m.link == LINK_LOGISTIC else 0
    return 0


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``."""
    cdef Tournaments t
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef int status
    open_tournaments(&t, state, config, call.rows.size)
    check_fit(state, &call)
    open_path(&t.q, config)
    open_lanes(&t.lanes, &t.q)
    with nogil:
        status = process_in_order(&t, prepare, process_example, not t.q.m.vw_compat, &call)
    close_lanes(&t.lanes)
    close_path(&t.q)
    state.trace_size = t.trace.size
    return status, call.row
