"""Contextual bandits: the cost of each action is predicted, though only that of the action shown was observed."""

from libc.math cimport INFINITY, isfinite, isnan
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memset

from base.byte_scan cimport unlikely
from base.memory cimport grow
from base.status cimport NO_MEMORY, OK, STOPPED, UNSTABLE
from features.group_lines cimport close_group_lines, open_group_lines, release_long_line
from features.kernel_views cimport Results, open_plan, open_results, open_rows
from features.multiline_expand cimport Line, features_of
from features.namespace_groups cimport Rows
from features.plan cimport Plan
from learners.bandit_actions cimport REGRESSOR_NORMS, Bandit, Event, ready_action, select_weights, update_action
from learners.example_loop cimport check_fit
from learners.gd_update cimport NORMS, SCALARS, UNLABELED_WEIGHT, clip, count_time, inner_product, open_learner
from text.batch_builder cimport BLANK, INNER, SAVE, SHARED

cdef enum:
    MTR = 0                # what is learned, numbered as TYPES in vwlite/learners/configs/bandit.py
    IPS = 1
    DM = 2
    DR = 3
    DIRECT = 4
    EVENTS = SCALARS       # positions in the scalars, named in vwlite/learners/bandit.py
    ACTIONS = SCALARS + 1
    HIGHEST_COST = SCALARS + 2
    SUMS = 5               # of events with a cost, see ``sums`` in vwlite/learners/bandit.py


cdef inline int estimate_costs(Bandit *q, const Rows *rows, const Plan *plan, const Event *e, float cost,
                               float weight) noexcept nogil:
    """Fill ``estimate`` from the regressor, which learns the cost observed in its turn."""
    cdef size_t a
    cdef int status = OK, done
    cdef Line *line
    for a in range(e.count):
        if not q.allowed[a]:
            continue
        done = ready_action(q, rows, plan, e, a, &line)
        if done != OK:
            return done
        if a == e.observed:
            status |= update_action(q, line, a, True, cost, weight / e.probability, &q.estimate[a])
        else:
            select_weights(q, a, True)
            q.estimate[a] = clip(inner_product(&q.m, &line.s, 0), &q.m)
        release_long_line(q.lines, line)
    return status


cdef inline float target_of(const Bandit *q, const Event *e, size_t action, float cost, float p) noexcept nogil:
    """What the policy is to predict as an action's cost."""
    if q.type == DR:
        return q.estimate[action] + ((cost - q.estimate[action]) / p if action == e.observed else 0)
    if action != e.observed:
        return 0
    return cost / p if q.type == IPS else cost


cdef inline float base_of(const Bandit *q) noexcept nogil:
    """What scores are differences to."""
    return <float>q.m.scalars[HIGHEST_COST] if q.from_highest else q.offset


cdef inline int learn_event(Bandit *q, const Rows *rows, const Plan *plan, const Event *e, float weight) noexcept nogil:
    cdef double *scalars = q.m.scalars
    cdef float p = e.probability if e.probability > q.clip_p else q.clip_p, cost, ignored
    cdef size_t a
    cdef int status = OK, done
    cdef Line *line
    if scalars[EVENTS] == 0 or e.cost > scalars[HIGHEST_COST]:
        scalars[HIGHEST_COST] = e.cost
        q.sums[4] = 0
    scalars[EVENTS] += 1
    scalars[ACTIONS] += e.possible
    cost = e.cost - base_of(q)
    if q.type == DR:
        status = estimate_costs(q, rows, plan, e, cost, weight)
        if status != OK and (status != UNSTABLE or not q.m.vw_compat):
            return status
    if q.type == MTR:
        weight *= <float>(scalars[EVENTS] / (scalars[ACTIONS] * p))
    for a in range(e.count):
        if not q.allowed[a] or ((q.type == MTR or q.type == DIRECT) and a != e.observed):
            continue
        done = ready_action(q, rows, plan, e, a, &line)
        if done == OK:
            done = update_action(q, line, a, False, target_of(q, e, a, cost, p), weight, &ignored)
            release_long_line(q.lines, line)
        status |= done
        if done == NO_MEMORY or (not q.m.vw_compat and status != OK):
            return done
    return status


cdef inline int score_actions(Bandit *q, const Rows *rows, const Plan *plan, const Event *e, uint32_t *features,
                              size_t *best) noexcept nogil:
    """Fill ``score``; ``best`` is the allowed action of the lowest one, and of equals the first."""
    cdef size_t a
    cdef int status = OK, done
    cdef Line *line
    features[0] = 0
    best[0] = e.count
    for a in range(e.count):
        done = ready_action(q, rows, plan, e, a, &line)
        if done != OK:
            return done
        features[0] += <uint32_t>line.s.count
        select_weights(q, a, False)
        q.score[a] = inner_product(&q.m, &line.s, 0) if q.allowed[a] else INFINITY
        release_long_line(q.lines, line)
        if not q.allowed[a]:
            continue
        if unlikely(not isfinite(q.score[a])):
            status = UNSTABLE
        if best[0] == e.count or q.score[a] < q.score[best[0]]:
            best[0] = a
    return status


cdef inline bint reserve_actions(Bandit *q, size_t count) noexcept nogil:
    """False without memory."""
    if count > q.max_actions:
        if not (grow(<void **>&q.score, 8 * count) and grow(<void **>&q.estimate, 8 * count) and
                grow(<void **>&q.allowed, 2 * count)):
            return False
        q.max_actions = 2 * count
    return True


cdef inline void read_label(Bandit *q, size_t row, size_t action, Event *e) noexcept nogil:
    """Take over what a row's list says; ``action`` is that of a line of a group."""
    cdef int64_t i
    cdef size_t number
    for i in range(q.start[row], q.start[row + 1]):
        number = <size_t>q.named[i] - 1 if q.actions else action
        if q.actions:
            q.allowed[number] = True
        if isfinite(q.cost[i]):
            e.observed, e.cost, e.probability = number, q.cost[i], q.probability[row]


cdef inline void open_event(Bandit *q, Event *e) noexcept nogil:
    """Fill in which actions are possible, and which was shown."""
    cdef size_t a
    cdef bint listed = q.actions and not q.block and q.start[e.last + 1] > q.start[e.last]
    memset(q.allowed, not listed, e.count)
    e.observed, e.cost, e.probability = e.count, 0, 1
    for a in range(1 if q.actions else e.count):
        read_label(q, e.first + a, a, e)
    if listed and q.start[e.last + 1] == q.start[e.last] + 1 and e.observed < e.count:
        memset(q.allowed, True, e.count)   # what was shown is all that is said
    e.possible = 0
    for a in range(e.count):
        e.possible += q.allowed[a]


cdef inline float loss_of(const Bandit *q, const Event *e, size_t best, bint learned) noexcept nogil:
    """An estimate of what the best action costs; as in vw that of ``dr`` needs the regressor's, made while learning."""
    cdef float missed = e.cost
    if q.m.vw_compat and q.type == DR and learned:
        missed -= q.estimate[e.observed]
        return q.estimate[best] + (missed / e.probability if best == e.observed else 0)
    return e.cost / e.probability if best == e.observed else 0


cdef int process_event(Bandit *q, const Rows *rows, const Plan *plan, Event *e, Results *out, bint learning) noexcept nogil:
    cdef bint held = out.holdout_mask != NULL and out.holdout_mask[e.last], labeled, learn
    cdef float weight = rows.importance[e.last], base = base_of(q)
    cdef double *sums = q.sums + (SUMS if held else 0)
    cdef size_t a, best
    cdef uint32_t features
    cdef int status, done
    if not reserve_actions(q, e.count + 1):
        return NO_MEMORY
    open_event(q, e)
    labeled = not isnan(rows.label[e.last]) and e.observed < e.count
    status = score_actions(q, rows, plan, e, &features, &best)
    if status != OK and status != UNSTABLE:
        return status
    learn = learning and labeled and not held and (q.m.vw_compat or status == OK)
    if learn:
        done = learn_event(q, rows, plan, e, weight)
        status = status | done if done == OK or done == UNSTABLE else done
    if q.m.vw_compat and e.has_shared != NULL:     # as vw counts them, once for the group
        features += plan.constant - <uint32_t>((e.count - 1) * features_of(rows, e.shared))
    out.features[e.last] = features
    out.prediction[e.last] = <float>(best + (1 if q.actions and not q.m.vw_compat else 0))
    out.loss[e.last] = weight * loss_of(q, e, best, learn) if labeled else 0
    for a in range(e.count if not q.actions else 0):
        out.raw[e.first + a] = q.score[a] + base
    if q.actions:
        out.raw[e.last] = q.score[best] + base
        for a in range(e.count if q.scores != NULL else 0):
            q.scores[e.last * q.actions + a] = q.score[a] + base
    if labeled:
        sums[0] += weight
        sums[1] += weight * e.cost
        if best == e.observed:
            sums[2] += weight / e.probability
            sums[3] += weight * (e.cost / e.probability)
        if e.cost == <float>q.m.scalars[HIGHEST_COST]:
            sums[4] += weight
    if q.actions:
        count_time(&q.m, weight, labeled, held)
    elif q.m.vw_compat and not labeled:
        q.m.scalars[UNLABELED_WEIGHT] += 1
    return status


cdef int process_events(Bandit *q, const Rows *rows, const Plan *plan, Results *out, size_t *row, size_t end,
                        bint learning) noexcept nogil:
    """Process the events of the rows ``[row, end)``; ``row`` is advanced past the last one processed."""
    cdef size_t last, i
    cdef int status = OK
    cdef Event e
    while row[0] < end and status == OK:
        if unlikely(plan.stop[0]):
            return STOPPED
        last = row[0]
        while not q.actions and rows.flags[last] & INNER and last + 1 < end:
            last += 1
        for i in range(row[0], last + 1):
            out.raw[i] = out.prediction[i] = out.loss[i] = 0
            out.features[i] = 0
        if not rows.flags[last] & (BLANK | SAVE):
            e.first, e.last, e.shared, e.has_shared = row[0], last, row[0], NULL
            if not q.actions and rows.flags[row[0]] & SHARED:
                e.first, e.has_shared = row[0] + 1, &e.shared
            e.count = q.actions if q.actions else last + 1 - e.first
            if e.count:
                status = process_event(q, rows, plan, &e, out, learning)
            if q.m.vw_compat and status == UNSTABLE:
                status = OK
        row[0] = last + 1
    return status


cdef Bandit open_bandit(state, config, batch, size_t rows):
    """From a ``vwlite.learners.bandit.Bandit``, its ``KernelConfig`` and a batch with the lists of its labels."""
    cdef const int64_t[::1] start = batch.lists.indptr
    cdef const uint32_t[::1] named = batch.lists.indices
    cdef const float[::1] cost = batch.lists.values, probability = batch.probability
    cdef double[:, ::1] sums = state.sums
    cdef float[:, ::1] scores
    cdef size_t i, row
    cdef Bandit q
    q.m = open_learner(state, config)
    if state.mask is not None:
        raise ValueError("no mask")
    q.table, q.type, q.actions, q.block = q.m.table, config.type, config.actions, state.block
    q.shift, q.mask, q.clip_p = state.layout[0], <uint32_t>(q.m.slots - 1), config.clip_p
    q.from_highest, q.offset = config.from_highest, config.offset
    if <size_t>start.shape[0] != rows + 1 or start[0] < 0 or min(named.shape[0], cost.shape[0]) < start[rows] or \
            <size_t>probability.shape[0] < rows or sums.shape[0] != 2 or sums.shape[1] != SUMS:
        raise ValueError("the labels or the sums do not fit the batch")
    sets = (1 + (q.type == DR)) * (1 if q.block else max(config.actions, 1))
    if len(state.scalars) < REGRESSOR_NORMS + NORMS or sets > 1 << q.shift or <size_t>1 << q.shift > q.m.slots:
        raise ValueError("the scalars or the slots are too few")
    for row in range(rows):
        if start[row] > start[row + 1]:
            raise ValueError("the labels are out of order")
    for i in range(<size_t>start[rows] if q.actions else 0):
        if not 1 <= named[i] <= q.actions:
            raise ValueError("there is no such action")
    q.start, q.probability, q.sums = &start[0], &probability[0] if rows else NULL, &sums[0, 0]
    q.named = &named[0] if named.shape[0] else NULL
    q.cost = &cost[0] if cost.shape[0] else NULL
    q.scores = NULL
    if q.actions and state.wants_scores:
        scores = state.scores
        if <size_t>scores.shape[0] < rows or scores.shape[1] != config.actions:
            raise ValueError("no room for the scores")
        q.scores = &scores[0, 0] if rows else NULL
    q.score = q.estimate = NULL
    q.allowed = NULL
    q.max_actions = 0
    return q


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the events of the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``.

    What is told of a group is that of its last row, but for ``raw``, which has the cost predicted of every action.
    """
    cdef size_t end = end_and_mode[0]
    cdef bint learning = end_and_mode[1]
    cdef Rows rows = open_rows(batch)
    cdef Bandit q = open_bandit(state, config, batch, rows.size)
    cdef Plan native_plan = open_plan(plan)
    cdef Results out = open_results(results)
    cdef int status
    check_fit(state, &native_plan, &rows, end, learning)
    q.lines = open_group_lines()
    if q.lines == NULL:
        raise MemoryError("no memory for the lines of a group")
    with nogil:
        status = process_events(&q, &rows, &native_plan, &out, &begin, end, learning)
    close_group_lines(q.lines)
    free(q.score)
    free(q.estimate)
    free(q.allowed)
    return status, begin
