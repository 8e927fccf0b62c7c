"""The actions of a logged decision: their terms and weights, predictions and updates. They are lines of a group, or every row
has the same ones.
"""

from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint8_t, uint32_t

from base.byte_scan cimport prefetch, unlikely
from base.status cimport NO_MEMORY, OK, UNSTABLE
from features.expand_row cimport CONSTANT, expand_made_groups
from features.group_lines cimport NO_ROW, GroupLines, find_line, set_row
from features.multiline_expand cimport Line, expand_line, features_of, reserve_line
from features.namespace_groups cimport Rows, make_groups
from features.plan cimport Plan
from features.row_buffer cimport Scratch
from learners.explorers cimport COVER, Explorer
from learners.gd_update cimport L2_SCALE, NORMS, SCALARS, Learner, clip, inner_product, learn_row, sync_if_due, widen_range

cdef enum:
    MTR = 0                # what is learned, numbered as TYPES in vwlite/learners/configs/bandit.py
    IPS = 1
    DM = 2
    DR = 3
    DIRECT = 4
    SM = 5
    EVENTS = SCALARS       # positions in the scalars, named in vwlite/learners/bandit.py
    ACTIONS = SCALARS + 1
    HIGHEST_COST = SCALARS + 2
    REGRESSOR_NORMS = SCALARS + 3
    LEARNED = SCALARS + 6  # from here on those of explorers
    RANDOM_HIGH = SCALARS + 7
    RANDOM_LOW = SCALARS + 8
    SEEN = SCALARS + 9
    RATIO_SUM = SCALARS + 10
    LEAST_RATIO = SCALARS + 11
    UPDATES = SCALARS + 12
    ACCEPTED = SCALARS + 13
    VIOLATIONS = SCALARS + 14
    MORE_MODELS = SCALARS + 15     # of every policy but the first: its events, their actions, two times NORMS
    OF_MODEL = 2 + 2 * NORMS
    LANES = 4                      # lines that are scored together
    PREFETCH_LINES = 16            # cache lines of a feature's slots that are prefetched, at most


# Called for every score of a line of a group: ``place`` is that of the set of weights that predicted it
ctypedef void (*ScoreObserver)(void *observer, size_t row, size_t place, float score) noexcept nogil


cdef struct Bandit:
    Learner m              # at work on a set of weights: its table and norms point there
    float *table
    int type
    uint32_t actions       # of every row; 0: those of a group are its lines
    uint32_t block         # size of the block of slots that an action's terms are moved to before crossing, as in vw; 0: after it
    uint32_t width         # of blocks: slots of an action
    uint32_t spread        # what hashes are multiplied with: the least power of two that is not below it
    int shift              # the slots of a feature begin at its hash * 2^shift
    uint32_t mask
    float clip_p
    bint from_highest      # costs are learned as differences to the highest one so far, otherwise to ``offset``
    float offset
    # CSR lists of each row's actions, from 1, with the cost observed or infinite; of a group's line one entry at most
    const int64_t *start
    const uint32_t *named
    const float *cost
    const float *probability  # (rows,) of the action shown; NaN: none was
    double *sums           # (2, SUMS) over events not held out and held out
    float *scores          # (rows, actions) costs predicted, or NULL
    GroupLines *lines
    float *score           # (max_actions,) scratch
    float *estimate        # (max_actions,) scratch: the regressor's predictions
    uint8_t *allowed       # (max_actions,) scratch
    float *total           # (max_actions,) scratch: the sums of the costs that all policies predict
    float *pmf             # (max_actions,) scratch: probabilities of being shown
    float *lower           # (max_actions,) scratch
    float *upper           # (max_actions,) scratch
    uint8_t *left          # (max_actions,) scratch
    size_t max_actions
    Explorer x
    float *shown           # probabilities of all actions: (rows, actions), of groups (rows,); or NULL
    int simulated          # labels have the costs of all actions, numbered as SIMULATED in vwlite/learners/configs/explore.py
    float right, wrong     # costs of the class of the label and of others
    double target_rate     # of --explore_eval; negative: not asked for
    double ratio           # its multiplier; 0: the least of the ratios so far
    bint valued            # --explore_eval
    void *observer         # NULL for none
    ScoreObserver on_score
    bint observed          # whether scores are shown to the observer now
    bint testing           # nothing is learned
    bint evaluates         # a row's list begins with an action to be valued


cdef struct Event:
    size_t first           # row of the first action, or the only row
    size_t last            # row with the event's label and answer
    size_t shared
    const size_t *has_shared
    size_t count           # of actions
    size_t possible        # how many of them are allowed
    size_t observed        # the action shown; ``count``: none
    float cost
    float probability


cdef inline void select_weights(Bandit *q, size_t action, size_t model, bint regressor) noexcept nogil:
    """Work with the weights of an action of a policy; those of its regressor lie behind them."""
    cdef size_t place = model * (1 + (q.type == DR)) + regressor
    if q.x.kind == COVER and model:
        place = 1 + model
    if q.actions and not q.block:
        place = place * <size_t>q.actions + action
    q.m.table = q.table + q.m.stride * place
    q.m.norms = q.m.scalars + (REGRESSOR_NORMS if regressor else 0)
    if model:
        q.m.norms = q.m.scalars + MORE_MODELS + OF_MODEL * (model - 1) + 2 + NORMS * <size_t>regressor


cdef inline float score(Bandit *q, const Line *line, const Event *e, size_t action) noexcept nogil:
    """What the weights selected predict of an action."""
    cdef float raw = inner_product(&q.m, &line.s, 0)
    if unlikely(q.observer != NULL) and q.observed:
        q.on_score(q.observer, e.first + action, <size_t>(q.m.table - q.table) / q.m.stride, clip(raw, &q.m))
    return raw


cdef inline float add_terms(float sum, const float *table, size_t stride, const Scratch *s, size_t begin) noexcept nogil:
    """``sum`` and the products of a row's terms from ``begin`` on."""
    cdef size_t i
    for i in range(begin, s.terms):
        sum += table[stride * s.index[i]] * s.value[i]
    return sum


cdef inline void score_lanes(Bandit *q, Line **line, const float **table, float *found) noexcept nogil:
    """``score`` of LANES lines at once: the sum of a line waits for each of its terms, and the others fill that time."""
    cdef const Scratch *s = &line[0].s
    cdef const Scratch *t = &line[1].s
    cdef const Scratch *u = &line[2].s
    cdef const Scratch *v = &line[3].s
    cdef size_t i, stride = q.m.stride, common = min(min(s.terms, t.terms), min(u.terms, v.terms))
    cdef float a = 0, b = 0, c = 0, d = 0, scale = <float>q.m.scalars[L2_SCALE]
    for i in range(common):
        a += table[0][stride * s.index[i]] * s.value[i]
        b += table[1][stride * t.index[i]] * t.value[i]
        c += table[2][stride * u.index[i]] * u.value[i]
        d += table[3][stride * v.index[i]] * v.value[i]
    found[0] = add_terms(a, table[0], stride, s, common) * scale
    found[1] = add_terms(b, table[1], stride, t, common) * scale
    found[2] = add_terms(c, table[2], stride, u, common) * scale
    found[3] = add_terms(d, table[3], stride, v, common) * scale


cdef inline int expand_moved(const Bandit *q, const Rows *rows, size_t row, uint32_t action, const Plan *plan,
                             Line *line) noexcept nogil:
    """Fill ``line.s`` with the terms of a row whose features are moved to the slots of an action, and then crossed."""
    cdef Scratch *s = &line.s
    cdef uint32_t low = ~(q.block - 1)
    cdef size_t i, at = 0
    cdef int g, status
    s.terms = 0
    status = make_groups(rows, row, plan, s)
    if status != OK:
        return status
    for g in range(s.groups):
        at += s.group[g].size
    if not reserve_line(line, 0, at):
        return NO_MEMORY
    at = 0
    for g in range(s.groups):
        for i in range(s.group[g].size):
            line.hash[at + i] = (q.spread * s.group[g].index[i] & low) + q.width * action
        s.group[g].index = line.hash + at
        at += s.group[g].size
    status = expand_made_groups(plan, s)
    if status == OK and plan.constant:
        s.index[s.linear - 1] = ((q.spread * <uint32_t>CONSTANT & low) + q.width * action) & plan.mask
    return status


cdef inline void place_terms(Bandit *q, const Rows *rows, const Event *e, size_t action, Scratch *s) noexcept nogil:
    """Turn hashes of a line of a group into slots, and prefetch those that no line before it has."""
    cdef size_t i, seen = 0, begin
    if action and e.has_shared != NULL:
        seen = min(features_of(rows, e.shared), s.linear)
    begin = s.linear - seen
    if q.shift:
        for i in range(s.terms):
            s.index[i] = (s.index[i] << q.shift) & q.mask
    for i in range(begin):
        prefetch(q.table + q.m.stride * s.index[i])
    for i in range(s.linear, s.terms):
        prefetch(q.table + q.m.stride * s.index[i])


cdef inline int ready_action(Bandit *q, const Rows *rows, const Plan *plan, const Event *e, size_t action,
                             Line **line) noexcept nogil:
    """Point ``line`` to the terms of an action, at their slots, which are prefetched unless they are kept."""
    cdef size_t i, part, parts = 1, row = e.first, first = e.first
    cdef int status
    if not q.actions:
        row += action
    elif q.block:
        first = e.first * q.actions
        row = first + action
    else:
        parts = min(<size_t>PREFETCH_LINES, (q.m.stride * q.actions + 15) / 16)
    if find_line(q.lines, row, first, row & 1, line):
        return OK
    set_row(q.lines, line[0], NO_ROW)
    if q.block:
        status = expand_moved(q, rows, e.first, <uint32_t>action, plan, line[0])
    else:
        status = expand_line(rows, row, e.has_shared, plan, line[0])
    if status != OK:
        return status
    if not q.actions:
        place_terms(q, rows, e, action, &line[0].s)
        set_row(q.lines, line[0], <ssize_t>row)
        return OK
    for i in range(line[0].s.terms):
        line[0].s.index[i] = (line[0].s.index[i] << q.shift) & q.mask
        if line[0].s.index[i] > q.mask - q.width + 1:
            line[0].s.index[i] -= q.width   # a crossing, of which not all slots are in the table
        for part in range(parts):
            prefetch(q.table + q.m.stride * line[0].s.index[i] + 16 * part)
    set_row(q.lines, line[0], <ssize_t>row)
    return OK


cdef inline int update_action(Bandit *q, Line *line, const Event *e, size_t action, size_t model, bint regressor, float target,
                              float weight, float *predicted) noexcept nogil:
    """Learn a cost. ``predicted`` is the prediction made before, within the range of all targets."""
    cdef float raw
    cdef int status
    select_weights(q, action, model, regressor)
    if not q.m.frozen:
        widen_range(&q.m, target)
    raw = score(q, line, e, action)
    predicted[0] = clip(raw, &q.m)
    status = OK if isfinite(raw) else UNSTABLE
    if weight > 0 and (q.m.vw_compat or status == OK):
        status |= learn_row(&q.m, &line.s, predicted[0], target, weight)
        if q.m.rule != NULL:
            predicted[0] = clip(q.m.raw, &q.m)
        q.m.table = q.table
        sync_if_due(&q.m)
    return status
