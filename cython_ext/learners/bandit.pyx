"""Contextual bandits: the cost of each action is predicted, though only that of the action shown was observed."""

from cpython.ref cimport PyObject
from libc.math cimport INFINITY, isfinite, isnan
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from base.byte_scan cimport unlikely
from base.memory cimport grow
from base.status cimport NO_MEMORY, OK, STOPPED, UNSTABLE
from base.random cimport random_after
from features.group_lines cimport close_group_lines, open_group_lines
from features.kernel_views cimport Results
from features.multiline_expand cimport kept_features_of
from features.namespace_groups cimport Rows
from features.plan cimport Plan
from learners.bandit_actions cimport ACCEPTED, DR, HIGHEST_COST, LEARNED, LEAST_RATIO, MORE_MODELS, MTR, OF_MODEL, RATIO_SUM, SEEN, UPDATES, VIOLATIONS, Bandit, Event
from learners.bandit_learning cimport base_of, draw_for, find_pmf, learn_event, score_actions, value_action
from learners.explorers cimport COVER, GREEDY, comes_before, draw, drawn_number, find_best
from learners.example_loop cimport Call, check_fit, open_call
from learners.gd_update cimport NORMS, count_time, open_learner
from text.batch_builder cimport BLANK, INNER, SAVE, SHARED

cdef enum:
    SUMS = 6               # of events with a cost, see ``sums`` in vwlite/learners/bandit.py
    CLASSES = 1            # whose cost is simulated, numbered as SIMULATED in vwlite/learners/configs/explore.py
    COSTS = 2
    VW_SEED = 0x337ad8c   # of draws of simulated actions: the hash of the letters vw


cdef void call_observer(void *observer, size_t row, size_t place, float score) noexcept with gil:
    (<object><PyObject *>observer)(row, place, score)


cdef inline bint reserve_actions(Bandit *q, size_t count) noexcept nogil:
    """False without memory."""
    if count > q.max_actions:
        if not (grow(<void **>&q.score, 8 * count) and grow(<void **>&q.estimate, 8 * count) and
                grow(<void **>&q.total, 8 * count) and grow(<void **>&q.pmf, 8 * count) and
                grow(<void **>&q.lower, 8 * count) and grow(<void **>&q.upper, 8 * count) and
                grow(<void **>&q.left, 2 * count) and grow(<void **>&q.allowed, 2 * count)):
            return False
        q.max_actions = 2 * count
    return True


cdef inline void close_actions(Bandit *q) noexcept nogil:
    free(q.score)
    free(q.estimate)
    free(q.total)
    free(q.pmf)
    free(q.lower)
    free(q.upper)
    free(q.left)
    free(q.allowed)


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
    cdef bint listed = q.actions and not (q.block or q.simulated or q.evaluates) and q.start[e.last + 1] > q.start[e.last]
    memset(q.allowed, not listed, e.count)
    e.observed, e.cost, e.probability = e.count, 0, 1
    for a in range(1 if q.actions else e.count):
        read_label(q, e.first + a, a, e)
    if listed and q.start[e.last + 1] == q.start[e.last] + 1 and e.observed < e.count:
        memset(q.allowed, True, e.count)   # what was shown is all that is said
    if q.simulated:
        e.observed = e.count
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


cdef inline size_t first_shown(const Bandit *q, const Event *e) noexcept nogil:
    """The action that comes first where all are shown with their probabilities."""
    cdef size_t a, best = e.count
    for a in range(e.count):
        if q.allowed[a] and (best == e.count or
                             comes_before(q.total, q.pmf, q.x.kind, a, best)):
            best = a
    return best


cdef inline float simulated_cost(const Bandit *q, const Event *e, size_t action) noexcept nogil:
    """What the label says that an action costs."""
    cdef int64_t i
    cdef size_t row = e.last if q.actions else e.first + action
    for i in range(q.start[row], q.start[row + 1]):
        if q.simulated == CLASSES:
            return q.right if q.named[i] == action + 1 else q.wrong
        if not q.actions or q.named[i] == action + 1:
            return q.cost[i] if isfinite(q.cost[i]) else q.wrong
    return q.wrong


cdef inline double next_number(const Bandit *q) noexcept nogil:
    """In [0, 1), for the event that was predicted last."""
    cdef uint64_t seen = <uint64_t>q.m.scalars[SEEN] - 1
    return random_after(VW_SEED + seen) if q.m.vw_compat else drawn_number(q.x.seed, seen, <uint64_t>1 << 32)


cdef inline void play(Bandit *q, Event *e) noexcept nogil:
    """Draw an action and observe what it costs."""
    memcpy(q.left, q.allowed, e.count)
    e.observed = draw(q.total, q.pmf, q.x.kind, q.left, e.count, next_number(q))
    e.cost, e.probability = simulated_cost(q, e, e.observed), q.pmf[e.observed]


cdef inline void write_pmf(Bandit *q, const Event *e) noexcept nogil:
    cdef size_t a, first = e.last * q.actions if q.actions else e.first
    for a in range(e.count if q.shown != NULL else 0):
        q.shown[first + a] = q.pmf[a]


cdef inline bint accepts(Bandit *q, Event *e, float *weight) noexcept nogil:
    """Whether an explorer whose actions are replayed from a log would have shown what was shown; it learns only then."""
    cdef double *scalars = q.m.scalars
    cdef double chance = q.pmf[e.observed], ratio, u = 0
    cdef double least = e.probability / chance if chance > 0 else 1
    ratio = q.ratio
    if ratio <= 0:
        if least < scalars[LEAST_RATIO]:
            scalars[LEAST_RATIO] = least
        ratio = scalars[LEAST_RATIO]
    if q.target_rate >= 0:
        ratio = 1
    ratio = ratio * chance / e.probability
    if q.target_rate >= 0:
        least = scalars[SEEN] - 1
        if scalars[RATIO_SUM] > 0:
            u = q.target_rate * least / scalars[RATIO_SUM]
        scalars[RATIO_SUM] += ratio
        scalars[LEAST_RATIO] = u if scalars[SEEN] > 1 else q.target_rate
        ratio *= scalars[LEAST_RATIO]
    u = draw_for(q, 0)
    if u >= ratio:
        return False
    if ratio > 1:
        weight[0] *= <float>ratio
        scalars[VIOLATIONS] += 1
    e.probability = <float>chance
    scalars[UPDATES] += ratio if ratio > 1 else 1
    scalars[ACCEPTED] += 1
    return True


cdef inline int predict_event(Bandit *q, const Rows *rows, const Plan *plan, const Event *e, uint32_t *features,
                              size_t *best) noexcept nogil:
    cdef int status = score_actions(q, rows, plan, e, 0, False, q.score, features)
    if status != OK and (status != UNSTABLE or not q.m.vw_compat):
        best[0] = find_best(q.score, q.allowed, e.count) if status == UNSTABLE else e.count
        return status
    if not q.x.kind:
        best[0] = find_best(q.score, q.allowed, e.count)
        return status
    status |= find_pmf(q, rows, plan, e)
    best[0] = first_shown(q, e)
    return status


cdef inline int observe_prediction(Bandit *q, const Rows *rows, const Plan *plan, const Event *e, bint learns, bint labeled,
                                   uint32_t *features, size_t *best) noexcept nogil:
    """Predict an event, and show its scores to the observer where and as often as vw does."""
    cdef bint once = q.valued or not q.x.kind or q.x.kind == COVER or (q.x.kind == GREEDY and q.type != MTR)
    cdef int status
    q.observed = q.valued or not (learns and labeled and once)    # which are shown while they are learned
    status = predict_event(q, rows, plan, e, features, best)
    if unlikely(q.observer != NULL) and learns and not (labeled or once):
        predict_event(q, rows, plan, e, features, best)
    q.observed = True
    return status


cdef int process_event(Bandit *q, const Rows *rows, const Plan *plan, Event *e, Results *out, bint learning) noexcept nogil:
    cdef bint held = out.holdout_mask != NULL and out.holdout_mask[e.last], labeled, learn
    cdef bint learns = learning and not (held and (q.actions or not q.m.vw_compat))   # vw learns groups that are held out, too
    cdef float weight = rows.importance[e.last], base = base_of(q), chance = 0, p, used = weight, least
    cdef double *sums = q.sums + (SUMS if held else 0)
    cdef const float *score = q.total if q.x.kind else q.score
    cdef size_t a, best
    cdef uint32_t features
    cdef int status, done
    if not reserve_actions(q, e.count + 1):
        return NO_MEMORY
    score = q.total if q.x.kind else q.score
    open_event(q, e)
    labeled = not isnan(rows.label[e.last]) and (e.observed < e.count or q.simulated)
    if q.evaluates and labeled:
        status = value_action(q, rows, plan, e, out, learns)
        count_time(&q.m, weight, True, held)
        return status
    status = observe_prediction(q, rows, plan, e, learns, labeled, &features, &best)
    if status != OK and status != UNSTABLE:
        return status
    if q.x.kind:
        q.m.scalars[SEEN] += labeled or not q.valued
        write_pmf(q, e)
    if q.simulated and labeled:
        play(q, e)
    p = e.probability
    if labeled:
        chance = q.pmf[e.observed] if q.x.kind else best == e.observed
    learn = learns and labeled and (q.m.vw_compat or status == OK)
    if q.valued and labeled:
        learn = accepts(q, e, &used) and learn
    if learn:
        done = learn_event(q, rows, plan, e, used)
        status = status | done if done == OK or done == UNSTABLE else done
    if q.m.vw_compat and e.has_shared != NULL and q.valued:            # as vw counts them: not at all
        features -= <uint32_t>(e.count * kept_features_of(rows, e.shared, plan))
    elif q.m.vw_compat and e.has_shared != NULL and not q.x.kind:      # once for the group
        features += plan.constant - <uint32_t>((e.count - 1) * kept_features_of(rows, e.shared, plan))
    out.features[e.last] = features / <uint32_t>(q.actions if q.simulated and q.actions else 1)
    if q.simulated and labeled:
        least = simulated_cost(q, e, best)
        sums[5] += weight * (<float>(least != q.right) if q.simulated == CLASSES else least)
        best = e.observed
    out.prediction[e.last] = <float>(best + (1 if q.actions and (q.simulated or not q.m.vw_compat) else 0))
    e.probability = p
    out.loss[e.last] = 0
    if labeled:
        out.loss[e.last] = weight * (chance * e.cost / p if q.x.kind else loss_of(q, e, best, learn))
        if q.simulated:
            out.loss[e.last] = weight * (<float>(e.cost != q.right) if q.simulated == CLASSES else e.cost)
    for a in range(e.count if not q.actions else 0):
        out.raw[e.first + a] = score[a] / q.x.models + base
    if q.actions:
        out.raw[e.last] = score[best] / q.x.models + base
        for a in range(e.count if q.scores != NULL else 0):
            q.scores[e.last * q.actions + a] = score[a] / q.x.models + base
    if labeled:
        sums[0] += weight
        sums[1] += weight * e.cost
        sums[2] += weight * chance / p
        sums[3] += weight * chance * (e.cost / p)
        if e.cost == <float>q.m.scalars[HIGHEST_COST]:
            sums[4] += weight
    count_time(&q.m, weight, labeled, held)
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


cdef int open_explorer(Bandit *q, state, config, size_t rows) except -1:
    cdef float[::1] shown
    x = config.explorer
    q.x.kind, q.x.models, q.x.first, q.x.epsilon, q.x.typed_epsilon = x.kind, x.models, x.first, x.epsilon, x.typed_epsilon
    q.x.softness, q.x.gamma_scale, q.x.gamma_exponent = x.softness, x.gamma_scale, x.gamma_exponent
    q.x.least_cost, q.x.most_cost, q.x.mellowness, q.x.psi = x.least_cost, x.most_cost, x.mellowness, x.psi
    q.x.optimistic, q.x.elim, q.x.nounif = x.optimistic, x.elim, x.nounif
    q.x.first_only, q.x.greedify, q.x.like_vw, q.x.seed = x.first_only, x.greedify, q.m.vw_compat, x.seed
    q.simulated, q.right, q.wrong = x.simulated, x.right, x.wrong
    q.valued, q.target_rate, q.ratio = x.valued, x.target_rate, x.ratio
    q.shown = NULL
    if q.x.kind:
        shown = state.pmf
        if <size_t>shown.shape[0] < rows * max(q.actions, 1):
            raise ValueError("no room for the probabilities")
        q.shown = &shown[0] if rows else NULL
    if q.x.models < 1 or (q.x.kind == COVER and config.sets < q.x.models + 1) or \
            (q.x.kind != COVER and config.sets < q.x.models * (1 + (q.type == DR))):
        raise ValueError("the sets of weights are too few")
    return 0


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
    q.from_highest, q.offset, q.evaluates = config.from_highest, config.offset, config.evaluates
    if <size_t>start.shape[0] != rows + 1 or start[0] < 0 or min(named.shape[0], cost.shape[0]) < start[rows] or \
            <size_t>probability.shape[0] < rows or sums.shape[0] != 2 or sums.shape[1] != SUMS:
        raise ValueError("the labels or the sums do not fit the batch")
    open_explorer(&q, state, config, rows)
    q.width = state.width
    q.spread = 1 << (state.width - 1).bit_length()
    if q.block:
        q.shift = 0
    sets = config.sets * (1 if q.block else max(config.actions, 1))
    if <size_t>len(state.scalars) < (MORE_MODELS + OF_MODEL * (q.x.models - 1) if q.x.kind else LEARNED) or sets > 1 << state.layout[0] or <size_t>1 << state.layout[0] > q.m.slots:
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
    q.score = q.estimate = q.total = q.pmf = q.lower = q.upper = NULL
    q.allowed = q.left = NULL
    q.observer, q.on_score = <void *>NULL, call_observer
    if state.observer is not None:
        q.observer = <void *>state.observer
    q.max_actions = 0
    return q


def uniform(uint64_t seed, uint64_t event, uint64_t stream):
    """A number in [0, 1) for an event, the same whatever was drawn before."""
    return drawn_number(seed, event, stream)


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the events of the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``gd.pyx``.

    The results of a group are those of its last row, but for ``raw``, which has the cost predicted of every action.
    ``state.observer``, if not None, is called for every score of a line of a group with its row, the place of the set of weights
    and the clipped score, as often as vw makes it. It must not raise.
    """
    cdef Call call = open_call(plan, batch, results, begin, end_and_mode)
    cdef Bandit q = open_bandit(state, config, batch, call.rows.size)
    cdef int status
    q.testing = not call.learning
    check_fit(state, &call)
    q.lines = open_group_lines()
    if q.lines == NULL:
        raise MemoryError("no memory for the lines of a group")
    with nogil:
        status = process_events(&q, &call.rows, &call.plan, &call.out, &call.row, call.end, call.learning)
    close_group_lines(q.lines)
    close_actions(&q)
    return status, call.row
