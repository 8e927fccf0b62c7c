"""What contextual bandits learn from an event, and what their policies predict of it."""

from libc.math cimport INFINITY, expf, fabsf, isfinite, log, sqrt
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

from base.byte_scan cimport unlikely
from base.status cimport NO_MEMORY, OK, UNSTABLE
from base.random cimport random_next
from features.kernel_views cimport Results
from features.group_lines cimport KEPT_LINES, LONG_LINE, release_long_line
from features.multiline_expand cimport Line
from features.namespace_groups cimport Rows
from features.plan cimport Plan
from learners.bandit_actions cimport ACTIONS, DIRECT, DR, EVENTS, HIGHEST_COST, IPS, LANES, LEARNED, MORE_MODELS, MTR, OF_MODEL, \
    RANDOM_HIGH, RANDOM_LOW, SM, Bandit, Event, ready_action, score, score_lanes, select_weights, update_action
from learners.explorers cimport BAG, COVER, FIRST, GREEDY, REGCB, SOFTMAX, SQUARECB, cut, drawn_number, \
    explore_bounds, explore_by_gap, explore_softly, find_best, is_tied, keep_plausible, poisson, set_floor, set_uniform, \
    share_best, widest
from learners.gd_update cimport clip, falling_scale, sensitivity, squared_norm


cdef inline float base_of(const Bandit *q) noexcept nogil:
    """What scores are differences to."""
    return <float>q.m.scalars[HIGHEST_COST] if q.from_highest else q.offset


cdef inline int score_actions(Bandit *q, const Rows *rows, const Plan *plan, const Event *e, size_t model, bint regressor,
                              float *found, uint32_t *features) noexcept nogil:
    """Fill ``found`` with what a policy, or its regressor within the range of targets, predicts of the allowed actions."""
    cdef Line *line[LANES]
    cdef const float *table[LANES]
    cdef size_t a = 0, lanes, k
    cdef int status = OK, done
    cdef bint alone
    features[0] = 0
    while a < e.count:
        alone, lanes = q.observer != NULL or q.m.rule != NULL or q.m.l1 > 0, 0
        while lanes == 0 or (lanes < LANES and a + lanes < min(e.count, <size_t>KEPT_LINES) and not alone):
            done = ready_action(q, rows, plan, e, a + lanes, &line[lanes])
            if done != OK:
                return done
            features[0] += <uint32_t>line[lanes].s.count
            alone = alone or not q.allowed[a + lanes] or line[lanes].s.max_terms > LONG_LINE
            select_weights(q, a + lanes, model, regressor)
            table[lanes] = q.m.table
            lanes += 1
        if lanes == LANES and not alone:
            score_lanes(q, line, table, found + a)
        for k in range(lanes):
            if alone or lanes < LANES:
                select_weights(q, a + k, model, regressor)
                found[a + k] = score(q, line[k], e, a + k) if q.allowed[a + k] else INFINITY
            if q.allowed[a + k] and unlikely(not isfinite(found[a + k])):
                status = UNSTABLE
            if regressor:
                found[a + k] = clip(found[a + k], &q.m)
            release_long_line(q.lines, line[k])
        a += lanes
    return status


cdef inline int estimate_costs(Bandit *q, const Rows *rows, const Plan *plan, const Event *e, float cost, float weight,
                               size_t model) noexcept nogil:
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
            status |= update_action(q, line, e, a, model, True, cost, weight / e.probability, &q.estimate[a])
        else:
            select_weights(q, a, model, True)
            q.estimate[a] = clip(score(q, line, e, a), &q.m)
        release_long_line(q.lines, line)
    return status


cdef inline float target_of(const Bandit *q, const Event *e, size_t action, float cost, float p) noexcept nogil:
    """What the policy is to predict as an action's cost."""
    if q.type == DR:
        return q.estimate[action] + ((cost - q.estimate[action]) / p if action == e.observed else 0)
    if action != e.observed:
        return 0
    return cost / p if q.type == IPS else cost


cdef inline int learn_one(Bandit *q, const Rows *rows, const Plan *plan, const Event *e, size_t action, size_t model,
                          bint regressor, float target, float weight) noexcept nogil:
    cdef Line *line
    cdef float ignored
    cdef int status = ready_action(q, rows, plan, e, action, &line)
    if status == OK:
        status = update_action(q, line, e, action, model, regressor, target, weight, &ignored)
        release_long_line(q.lines, line)
    return status


cdef inline bint fails(const Bandit *q, int status) noexcept nogil:
    """Whether an event ends here; vw goes on with what is no number."""
    return status != OK and (status != UNSTABLE or not q.m.vw_compat)


cdef inline int learn_softmax(Bandit *q, const Rows *rows, const Plan *plan, const Event *e, size_t model) noexcept nogil:
    """As vw's type sm: the action shown moves away from its score and the others towards theirs, by 1, weighted with the gradient
    of a softmax. The line at a place among the lines has the target of the action at this place in the order of scores, as in vw.
    """
    cdef float *order = q.lower
    cdef float sign = -1 if e.cost < 0 else 1, weight = fabsf(e.cost) / e.probability, norm = 0, least, target, share
    cdef size_t a, place, ranked, count = 0
    cdef uint32_t features
    cdef int status = score_actions(q, rows, plan, e, model, False, q.estimate, &features)
    if fails(q, status):
        return status
    for a in range(e.count):
        if q.allowed[a]:
            place = count
            while place and q.estimate[<size_t>order[place - 1]] > q.estimate[a]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = <float>a
            count += 1
    least = q.estimate[<size_t>order[0]]
    for place in range(count):
        norm += expf(least - q.estimate[<size_t>order[place]])
    weight *= expf(least - q.estimate[e.observed]) / norm
    place = 0
    for a in range(e.count):
        if not q.allowed[a]:
            continue
        ranked = <size_t>order[place]
        place += 1
        target = q.estimate[ranked] + (sign if ranked == e.observed else -sign)
        target = cut(target, -100, 100)
        share = expf(least - q.estimate[a]) / norm
        share = weight * (1 - share if a == e.observed else share)
        status |= learn_one(q, rows, plan, e, a, model, False, target, share if share > 1e-15 else 0)
        if fails(q, status):
            return status
    return status


cdef inline int learn_model(Bandit *q, const Rows *rows, const Plan *plan, const Event *e, float weight,
                            size_t model) noexcept nogil:
    """Have a policy learn an event with a cost."""
    cdef double *counts = q.m.scalars + (MORE_MODELS + OF_MODEL * (model - 1) if model else EVENTS)
    cdef float p = e.probability if e.probability > q.clip_p else q.clip_p, cost = e.cost - base_of(q)
    cdef size_t a
    cdef uint32_t ignored
    cdef int status = OK
    counts[0] += 1
    counts[1] += e.possible
    if q.type == SM:
        return learn_softmax(q, rows, plan, e, model)
    if q.type == DR:
        status = estimate_costs(q, rows, plan, e, cost, weight, model)
        if fails(q, status):
            return status
    if unlikely(q.observer != NULL) and not (q.type == MTR and (q.x.kind == GREEDY or q.x.kind == BAG)):
        score_actions(q, rows, plan, e, model, False, q.lower, &ignored)   # once more, as vw does
    if q.type == MTR:
        weight *= <float>(counts[0] / (counts[1] * p))
    for a in range(e.count):
        if not q.allowed[a] or ((q.type == MTR or q.type == DIRECT) and a != e.observed):
            continue
        status |= learn_one(q, rows, plan, e, a, model, False, target_of(q, e, a, cost, p), weight)
        if fails(q, status):
            return status
    return status


cdef inline int value_action(Bandit *q, const Rows *rows, const Plan *plan, const Event *e, Results *out, bint learns) noexcept nogil:
    """Estimate the cost of the action that a label names first. The regressor learns the one observed meanwhile, as in vw."""
    cdef size_t given = q.named[q.start[e.last]] - 1
    cdef float weight = rows.importance[e.last], cost = 0, missed = e.cost
    cdef uint32_t features
    cdef Line *line
    cdef int status = ready_action(q, rows, plan, e, given, &line)
    if status != OK:
        return status
    out.features[e.last] = <uint32_t>line.s.count
    if q.type == DR:
        if learns:
            status = estimate_costs(q, rows, plan, e, e.cost, weight, 0)
        else:
            status = score_actions(q, rows, plan, e, 0, True, q.estimate, &features)
        cost = q.estimate[given]
        missed -= cost
    out.prediction[e.last] = <float>(given + 1)
    out.loss[e.last] = weight * (cost + (missed / e.probability if given == e.observed else 0))
    return status


cdef inline double draw_for(Bandit *q, size_t model) noexcept nogil:
    """A number in [0, 1) for what a policy does with the event that is learned: vw's next one, or one of its own."""
    cdef uint64_t state
    cdef double number
    if not q.m.vw_compat:
        return drawn_number(q.x.seed, <uint64_t>q.m.scalars[LEARNED], model)
    state = (<uint64_t>q.m.scalars[RANDOM_HIGH] << 32) + <uint64_t>q.m.scalars[RANDOM_LOW]
    number = random_next(&state)
    q.m.scalars[RANDOM_HIGH], q.m.scalars[RANDOM_LOW] = <double>(state >> 32), <double><uint32_t>state
    return number


cdef inline float least_share(const Bandit *q, const Event *e) noexcept nogil:
    """What cover shows every action with at least: it falls with the events learned unless it was asked for."""
    cdef double actions = <double>e.possible, falling = 1 / sqrt(q.m.scalars[LEARNED] * actions)
    if q.x.typed_epsilon:
        return <float>(q.x.epsilon / actions)
    return <float>(falling if falling < 1 / actions else 1 / actions)


cdef inline void add_share(const Bandit *q, const Event *e, const float *found, float least, float *norm) noexcept nogil:
    """Add the choice of one of cover's policies to ``pmf``, and to the norm what goes beyond the least share."""
    cdef size_t a
    cdef float share, rest
    memset(q.lower, 0, e.count * sizeof(float))
    share_best(&q.x, found, q.allowed, e.count, <float>1 / q.x.models, q.lower)
    for a in range(e.count):
        share = q.lower[a]
        if share > 0:
            rest = share if q.pmf[a] >= least else share - (least - q.pmf[a])
            norm[0] += rest if rest > 0 else 0
            q.pmf[a] += share


cdef inline int learn_cover(Bandit *q, const Rows *rows, const Plan *plan, const Event *e, float weight) noexcept nogil:
    """The first policy learns by its type, each other one to choose what is cheap and not chosen by those before."""
    cdef float least = least_share(q, e), cost = e.cost - base_of(q), target
    cdef float norm = e.possible * least + <float>1 / q.x.models - least, ignored = 0
    cdef uint32_t features
    cdef size_t a, model
    cdef int status = OK
    memset(q.upper, 0, e.count * sizeof(float))
    if q.type == DR:
        status = score_actions(q, rows, plan, e, 0, True, q.upper, &features)
    elif q.type == MTR:
        status = estimate_costs(q, rows, plan, e, cost, weight, 0)
        memcpy(q.upper, q.estimate, e.count * sizeof(float))
    if fails(q, status):
        return status
    q.upper[e.observed] += (cost - q.upper[e.observed]) / e.probability
    status |= learn_model(q, rows, plan, e, weight, 0)
    memset(q.pmf, 0, e.count * sizeof(float))
    add_share(q, e, q.score, least, &ignored)
    for model in range(1, q.x.models):
        if fails(q, status):
            return status
        status |= score_actions(q, rows, plan, e, model, False, q.estimate, &features)
        for a in range(e.count):
            if q.allowed[a] and not fails(q, status):
                target = q.upper[a] - q.x.psi * least * norm / (q.pmf[a] if q.pmf[a] > least else least)
                status |= learn_one(q, rows, plan, e, a, model, False, target, weight)
        add_share(q, e, q.estimate, least, &norm)
    return status


cdef inline int learn_event(Bandit *q, const Rows *rows, const Plan *plan, Event *e, float weight) noexcept nogil:
    cdef double *scalars = q.m.scalars
    cdef size_t model
    cdef int status = OK, times, i
    if scalars[LEARNED if q.x.kind else EVENTS] == 0 or e.cost > scalars[HIGHEST_COST]:
        scalars[HIGHEST_COST] = e.cost
        q.sums[4] = 0
    if q.x.kind == COVER:
        status = learn_cover(q, rows, plan, e, weight)
    elif q.x.kind == BAG:
        for model in range(q.x.models):
            times = 1 if q.x.greedify and model == 0 else poisson(draw_for(q, model))
            for i in range(times):
                if not fails(q, status):
                    status |= learn_model(q, rows, plan, e, weight, model)
    else:
        if q.x.kind == SQUARECB or q.x.kind == REGCB:
            if not (q.m.vw_compat and e.observed == e.count - 1):   # as in vw, which has its probability
                e.probability = 1
        status = learn_model(q, rows, plan, e, weight, 0)
    if q.x.kind:
        scalars[LEARNED] += 1
    return status


cdef inline float felt_by(const Bandit *q, const Line *line, float predicted, float label, float weight) noexcept nogil:
    """How much an update towards a label would change what is predicted. With -t vw does not have the rates of features."""
    if q.m.vw_compat and q.testing:
        return falling_scale(&q.m, 1) * squared_norm(&line.s)
    return sensitivity(&q.m, &line.s, predicted, label, weight)


cdef inline int find_bounds(Bandit *q, const Rows *rows, const Plan *plan, const Event *e) noexcept nogil:
    """Fill ``lower`` and ``upper`` with the costs that a good regressor may have for the actions."""
    cdef float base = base_of(q), low = q.x.least_cost, high = q.x.most_cost, breadth = high - low, cost, felt
    cdef double learned = q.m.scalars[LEARNED], limit = 0
    cdef size_t a
    cdef int status
    cdef Line *line
    if learned > 0:
        limit = q.x.mellowness * log(e.possible * learned) * breadth * breadth
    for a in range(e.count):
        if not q.allowed[a]:
            continue
        status = ready_action(q, rows, plan, e, a, &line)
        if status != OK:
            return status
        select_weights(q, a, 0, False)
        cost = q.score[a] + base
        felt = felt_by(q, line, q.score[a], low - 1 - base, rows.importance[e.last])
        q.lower[a] = low if cost < low else cut(cost - felt * widest(cost - low + 1, felt, limit), low, high)
        felt = felt_by(q, line, q.score[a], high + 1 - base, rows.importance[e.last])
        q.upper[a] = high if cost > high else cut(cost + felt * widest(high + 1 - cost, felt, limit), low, high)
        release_long_line(q.lines, line)
    return OK


cdef inline int find_pmf(Bandit *q, const Rows *rows, const Plan *plan, const Event *e) noexcept nogil:
    """Fill ``pmf``, how likely each action is to be shown, and ``total``; ``score`` is what the first policy predicts."""
    cdef size_t model, a, count = e.count
    cdef uint32_t features
    cdef int status = OK
    memcpy(q.total, q.score, count * sizeof(float))
    memset(q.pmf, 0, count * sizeof(float))
    if q.x.kind == GREEDY:
        share_best(&q.x, q.score, q.allowed, count, 1 - q.x.epsilon, q.pmf)
        for a in range(count):
            q.pmf[a] += q.x.epsilon / e.possible if q.allowed[a] else 0
    elif q.x.kind == FIRST:
        if q.m.scalars[LEARNED] < q.x.first:
            set_uniform(q.allowed, count, e.possible, q.pmf)
        else:
            q.pmf[find_best(q.score, q.allowed, count)] = 1
            set_floor(q.allowed, count, q.x.epsilon, False, q.pmf)
    elif q.x.kind == SOFTMAX:
        explore_softly(&q.x, q.score, q.allowed, count, q.pmf)
        set_floor(q.allowed, count, q.x.epsilon, False, q.pmf)
    elif q.x.kind == SQUARECB or q.x.kind == REGCB:
        if q.x.kind == REGCB or q.x.elim:
            status = find_bounds(q, rows, plan, e)
        memcpy(q.left, q.allowed, count)
        if q.x.kind == REGCB:
            explore_bounds(&q.x, q.lower, q.upper, q.left, count, q.pmf)
        else:
            if q.x.elim:
                keep_plausible(q.lower, q.upper, q.left, count)
            explore_by_gap(&q.x, q.score, q.left, count, q.m.scalars[LEARNED], q.pmf)
        if q.x.epsilon > 0 and not (q.m.vw_compat and (q.x.kind == REGCB or q.x.elim)):   # for which vw has no floor
            set_floor(q.allowed, count, q.x.epsilon, False, q.pmf)
    elif q.x.kind == BAG or q.x.kind == COVER:
        for model in range(q.x.models):
            if model:
                status |= score_actions(q, rows, plan, e, model, False, q.estimate, &features)
                if fails(q, status):
                    return status
                for a in range(count):
                    q.total[a] += q.estimate[a]
            share_best(&q.x, q.estimate if model else q.score, q.allowed, count, <float>1 / q.x.models, q.pmf)
        if q.x.kind == COVER:
            set_floor(q.allowed, count, e.possible * least_share(q, e), q.x.nounif, q.pmf)
        else:
            set_floor(q.allowed, count, q.x.epsilon, False, q.pmf)
    return status
