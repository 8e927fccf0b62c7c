"""Latent feature log-linear models: every label has latent vectors and linear weights of its own, updated along the exact flow."""

from libc.math cimport isfinite, isnan
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from base.byte_scan cimport prefetch
from base.status cimport NO_MEMORY, OK, UNSTABLE
from features.kernel_views cimport Results, open_plan, open_results, open_rows
from features.namespace_groups cimport Rows
from features.plan cimport Plan
from features.row_buffer cimport Group, Scratch
from learners.dyadic_flow cimport Component, Flow, safe_exp
from learners.dyadic_moves cimport add_side, can_move, component_of, decayed_rate, vector_changes
from learners.dyadic_scratch cimport DyadicScratch, close_work, open_work, reserve
from learners.example_loop cimport check_fit, process_in_order
from learners.label_flow cimport STATES, LabelFlow, follow, scores_at, softmax
from learners.latent_vectors cimport Latent, Side, count_side, merge_slots, move_vector, read_vector


cdef enum:                 # positions in Lfl.scalars, named in vwlite/learners/lfl.py
    RATE = 0               # learning rate, decayed by the passes so far
    FIRST = 1              # number of the first class, -1 while unknown
    TIME = 2               # sum of importance of the examples learned
    UNBOUNDED = 3          # number of updates that hit an iteration limit
    LATER = 4              # 0 in the first pass
    SCALARS = 7            # the kernel does not use the others
    MAX_PAIRS = 16


cdef struct Lfl:
    float *w               # (rows, width) the linear weights of a feature for all labels
    double *scalars
    double *log_loss       # (2, 2) as in learners/class_update.pxd
    uint32_t labels
    int shift
    size_t width
    uint32_t mask          # of rows
    size_t sets            # of latent vectors: one for each label but the base
    size_t rank            # length of a label's vector
    double decay           # L2 on latent vectors
    double power_t, initial_t, first_pass_t
    bint vw_compat
    size_t pairs
    int group[MAX_PAIRS][2]
    Latent latent[MAX_PAIRS][2]  # rows of (sets, rank) numbers
    float *raw             # (rows of the batch, labels), or a single row
    float *score
    size_t score_stride
    DyadicScratch work     # sides of the row's dot products; a vector is of all labels
    Component *component   # (labels, MAX_PAIRS)
    Flow *label            # (labels,)
    LabelFlow flow


cdef inline size_t set_of(const Lfl *q, size_t label) noexcept nogil:
    """The set of latent vectors of a label that is not the base."""
    return label - 1 if q.flow.base >= 0 and label > <size_t>q.flow.base else label


cdef inline const Group *group_of(const Lfl *q, size_t pair, int side, const Scratch *s) noexcept nogil:
    cdef int index = s.where[q.group[pair][side]]
    if index < 0:
        return NULL
    return &s.group[index]


cdef inline int make_sides(Lfl *q, const Scratch *s) noexcept nogil:
    """The sides of the row's dot products with their vectors."""
    cdef size_t pair, used = 0, features = 0
    cdef int side
    cdef const Group *group
    cdef const Group *other
    cdef DyadicScratch *work = &q.work
    for pair in range(q.pairs):
        for side in range(2):
            group = group_of(q, pair, side, s)
            features += group.size if group != NULL else 0
    if not reserve(work, 2 * features + 2 * MAX_PAIRS, q.sets * q.rank):
        return NO_MEMORY
    work.components = 0
    for pair in range(q.pairs):
        group, other = group_of(q, pair, 0, s), group_of(q, pair, 1, s)
        if group == NULL or other == NULL:
            continue
        add_side(work, &q.latent[pair][0], 0, group.index, group.value, group.size, &used, q.mask)
        add_side(work, &q.latent[pair][1], 1, other.index, other.value, other.size, &used, q.mask)
        for side in range(2):
            read_vector(&work.side[2 * work.components + side])
        work.components += can_move(&work.side[2 * work.components], &work.side[2 * work.components + 1])
    return OK


cdef inline void make_flows(Lfl *q, const Scratch *s) noexcept nogil:
    """The flow of every label: its components, its linear part and the squared values of the row."""
    cdef size_t label, i, start
    cdef double square = 0
    cdef Side *a
    cdef Side *b
    cdef double rate = decayed_rate(q.scalars[RATE], q.scalars[TIME], q.first_pass_t if q.scalars[LATER] == 0 else 0,
                                    q.power_t, q.initial_t)
    for i in range(s.terms):
        square += <double>s.value[i] * s.value[i]
    for label in range(q.labels):
        q.label[label] = Flow(q.component + label * MAX_PAIRS, 0, 0, 0, 0, rate, q.decay, 0, NULL)
        if <int>label == q.flow.base:
            continue
        q.label[label].square = square
        for i in range(s.terms):
            q.label[label].linear += <double>q.w[s.index[i] * q.width + label] * s.value[i]
        start = set_of(q, label) * q.rank
        q.label[label].components = q.work.components
        for i in range(q.work.components):
            a, b = &q.work.side[2 * i], &q.work.side[2 * i + 1]
            q.component[label * MAX_PAIRS + i] = component_of(a.vector + start, b.vector + start, a.square, b.square, q.rank)


cdef inline void move_linear(Lfl *q, const Scratch *s, double shrink) noexcept nogil:
    cdef size_t label, i
    cdef float *row
    cdef const double *u = q.flow.state + q.flow.size - q.labels
    for i in range(s.terms):
        row = q.w + s.index[i] * q.width
        for label in range(q.labels):
            if <int>label != q.flow.base:
                row[label] = <float>(shrink * row[label] - u[label] * s.value[i])


cdef inline void move_latent(Lfl *q, double fade) noexcept nogil:
    cdef size_t label, i, start
    cdef double decay = safe_exp(-fade)
    cdef Side *a
    cdef Side *b
    for i in range(q.work.components):
        a, b = &q.work.side[2 * i], &q.work.side[2 * i + 1]
        for label in range(q.labels):
            if <int>label == q.flow.base:
                continue
            start = set_of(q, label) * q.rank
            vector_changes(&q.component[label * MAX_PAIRS + i], q.flow.state[label], fade, a.square, b.square, q.rank,
                           a.vector + start, b.vector + start)
        count_side(a)
        count_side(b)
        move_vector(a, a.vector, decay, 0)
        move_vector(b, b.vector, decay, 0)


cdef inline int learn(Lfl *q, const Scratch *s, double weight) noexcept nogil:
    """Follow the flow of the row's label for its importance, and move all parameters to where it ends."""
    cdef double rate = q.label[0].rate
    cdef size_t i
    q.scalars[UNBOUNDED] += not follow(&q.flow, weight)
    q.scalars[TIME] += weight
    for i in range(q.flow.size):
        if not isfinite(q.flow.state[i]):
            return UNSTABLE
    move_linear(q, s, safe_exp(-rate * q.flow.linear_decay * weight))
    move_latent(q, rate * q.decay * weight)
    return OK


cdef void prepare(void *learner, Scratch *s) noexcept nogil:
    """Replace hashes by rows of the tables."""
    cdef Lfl *q = <Lfl *>learner
    cdef size_t i, pair, at
    cdef int side
    cdef const Group *group
    cdef const Latent *latent
    for i in range(s.terms):
        s.index[i] = s.index[i] & q.mask
        if not s.in_cache:
            prefetch(q.w + q.width * s.index[i])
    for pair in range(0 if s.in_cache else q.pairs):
        for side in range(2):
            group, latent = group_of(q, pair, side, s), &q.latent[pair][side]
            for i in range(group.size if group != NULL else 0):
                for at in range(0, latent.stride, 16):
                    prefetch(latent.table + latent.stride * (group.index[i] & q.mask) + at)


cdef int process_example(void *learner, const Rows *rows, size_t row, Scratch *s, Results *out, bint learning) noexcept nogil:
    cdef Lfl *q = <Lfl *>learner
    cdef float y = rows.label[row], weight = rows.importance[row]
    cdef bint labeled = not isnan(y), held = out.holdout_mask != NULL and out.holdout_mask[row]
    cdef float *raw = q.raw + row * q.score_stride
    cdef float *score = q.score + row * q.score_stride
    cdef uint32_t label, best = 0, first, true
    cdef bint learns = learning and labeled and not held
    cdef double own
    cdef double *z = q.flow.memory
    cdef int status = OK
    if learns and q.scalars[FIRST] < 0 and (y == 0 or y == q.labels):
        q.scalars[FIRST] = 0 if y == 0 else 1
    first = 0 if q.scalars[FIRST] == 0 else 1
    true = <uint32_t>(y - first) if labeled and y >= first else q.labels
    if make_sides(q, s) != OK:
        return NO_MEMORY
    s.terms = merge_slots(s.index, s.value, s.terms)
    make_flows(q, s)
    q.flow.initial = rows.initial_prediction[row]
    for label in range(<uint32_t>q.flow.size):
        q.flow.state[label] = 0
    scores_at(&q.flow, q.flow.state, 0, z)
    for label in range(q.labels):
        raw[label] = <float>z[label]
        best = label if z[label] > z[best] else best
        status |= OK if isfinite(z[label]) else UNSTABLE
    out.prediction[row] = best + first
    out.raw[row] = first
    out.loss[row] = weight if labeled and weight > 0 and best != true else 0
    out.features[row] = <uint32_t>s.count
    own = z[true] if true < q.labels else 0
    own = softmax(z, q.labels) - own
    for label in range(q.labels):
        score[label] = <float>z[label]
    if labeled:
        q.log_loss[held] += weight * own if true < q.labels else 0
        q.log_loss[2 + held] += weight
    if learns and weight > 0 and true < q.labels and status == OK:
        q.flow.true = true
        status = learn(q, s, weight)
    return status


cdef Latent open_latent(state, config, size_t pair, int side, size_t rows):
    cdef const float[:, ::1] table = state.latent[pair][side]
    cdef size_t rank = config.sets * config.rank, stride = state.stride
    if <size_t>table.shape[0] != rows * stride or table.shape[1] != 1 or stride <= rank:
        raise ValueError("a table of latent vectors has a wrong shape")
    return Latent(<float *>&table[0, 0], stride, rank, config.seeds[pair][side], config.scale, config.normal,
                  0, 0, False)


cdef void open_tables(Lfl *q, state, config, plan) except *:
    cdef const float[:, ::1] w = state.weights
    cdef double[::1] scalars = state.scalars
    cdef double[:, ::1] log_loss = state.log_loss
    cdef const double[::1] values = config.values
    cdef size_t pair
    cdef int side
    q.w, q.scalars, q.log_loss = <float *>&w[0, 0], &scalars[0], &log_loss[0, 0]
    q.labels, q.shift, q.width = config.classes, config.shift, <size_t>1 << <int>config.shift
    q.mask = <uint32_t>(w.shape[0] >> q.shift) - 1
    q.sets, q.rank, q.vw_compat = config.sets, config.rank, config.vw_compat
    q.decay, q.first_pass_t, q.power_t, q.initial_t = config.decay, config.first_pass_t, config.power_t, config.initial_t
    q.flow.base, q.flow.mean, q.flow.linear_decay = config.base, config.mean, config.linear_decay
    q.flow.value = &values[0]
    if values.shape[0] != <Py_ssize_t>q.labels or scalars.shape[0] != SCALARS or log_loss.shape[0] != 2 or log_loss.shape[1] != 2 or q.width < q.labels or q.labels < 2:
        raise ValueError("scalars or classes do not fit")
    if w.shape[0] >> q.shift < 1 or w.shape[1] != 1 or not -1 <= q.flow.base < <int>q.labels or len(plan.pairs) > MAX_PAIRS:
        raise ValueError("the tables do not fit the classes")
    if q.sets != q.labels - (q.flow.base >= 0):
        raise ValueError("as many latent vectors as labels")
    q.pairs = len(plan.pairs) if q.rank else 0
    for pair in range(q.pairs):
        for side in range(2):
            q.group[pair][side] = plan.pairs[pair][side]
            q.latent[pair][side] = open_latent(state, config, pair, side, w.shape[0] >> q.shift)


cdef void open_scores(Lfl *q, state, size_t rows) except *:
    cdef float[:, ::1] raw = state.raw, score = state.score
    q.score_stride = q.labels if state.wants_scores else 0
    if <size_t>min(raw.shape[0], score.shape[0]) < (rows if q.score_stride else 1) or (
            raw.shape[1] != <Py_ssize_t>q.labels or score.shape[1] != <Py_ssize_t>q.labels):
        raise ValueError("no room for the scores")
    q.raw, q.score = &raw[0, 0], &score[0, 0]


cdef bint reserve_flow(Lfl *q) noexcept nogil:
    q.flow.labels = q.labels
    q.flow.size = 2 * q.labels if q.flow.linear_decay > 0 else q.labels
    q.component = <Component *>malloc(q.labels * MAX_PAIRS * sizeof(Component))
    q.label = <Flow *>malloc(q.labels * sizeof(Flow))
    q.flow.memory = <double *>malloc(STATES * q.flow.size * sizeof(double))
    q.flow.label, q.flow.state = q.label, q.flow.memory + (STATES - 1) * q.flow.size
    return q.component != NULL and q.label != NULL and q.flow.memory != NULL


def run_rows(state, config, plan, batch, results, size_t begin, end_and_mode):
    """Predict, and learn from, the rows ``[begin, end)`` of a batch in order; as ``run_rows`` of ``per_class.pyx``."""
    cdef size_t end = end_and_mode[0]
    cdef bint learning = end_and_mode[1]
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    cdef Results out = open_results(results)
    cdef Lfl q
    cdef int status = NO_MEMORY
    open_tables(&q, state, config, plan)
    open_scores(&q, state, rows.size)
    check_fit(state, &native_plan, &rows, end, learning)
    open_work(&q.work)
    if reserve_flow(&q):
        with nogil:
            status = process_in_order(&q, prepare, process_example, not q.vw_compat, &rows, &native_plan, &out, &begin, end,
                                      learning)
    close_work(&q.work)
    free(q.component)
    free(q.label)
    free(q.flow.memory)
    return status, begin
