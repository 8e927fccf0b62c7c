"""Models in which every label has latent vectors and linear weights of its own: tables, a row's dot products, every label's flow.

With an offset c a dot product is that of a + c and b + c, less rank * c^2. Where decay differs between parameters, or some of them are
frozen, decay is a step of its own (``separate``; see ``label_rates.pxd``), and flows have none.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from base.byte_scan cimport prefetch
from base.status cimport NO_MEMORY, OK
from features.row_buffer cimport Group, Scratch
from learners.dyadic_flow cimport Component, Flow
from learners.dyadic_model cimport (
    DyadicScratch, add_side, can_move, close_work, component_of, open_work, reserve, vector_changes,
)
from learners.frozen_terms cimport Groups, find_group, open_groups
from learners.latent_vectors cimport Latent, Side, count_side, merge_slots, read_part, read_vector


cdef enum:
    MAX_PAIRS = 16


cdef struct LabelModel:
    float *w               # (rows, width) the linear weights of a feature for all labels
    uint32_t labels
    int base               # the label without weights and vectors, whose score is always 0; -1: none
    size_t width
    uint32_t mask          # of rows
    size_t sets            # of latent vectors: one for each label but the base
    size_t rank            # length of a label's vector
    bint positional        # feature i of one side is paired with feature i of the other
    double offset          # added to every element of both vectors
    double offset_square   # subtracted from each dot product
    bint adaptive          # parameters have rates of their own, see ``label_rates.pxd``: the two arrays below, and in the tables of vectors
    float *gradients       # (rows, width) of linear weights the sums of squared gradients
    float *scale           # (rows, 2) the greatest value so far, the number of updates
    double decay           # L2 on latent vectors where the flow has it; else 0, and ``separate``
    bint separate
    double decay_power     # where ``separate``, the decay of what was updated n times is multiplied by (1 + n)^-decay_power
    double linear_decay    # L2 on linear weights, where ``separate`` or ``adaptive``
    bint decays_weights    # L2 on the vectors themselves, not on what the offset makes of them
    bint fixed_linear      # linear weights are not updated
    bint fixed_constant
    Groups fixed           # nor those of these namespaces
    Groups dropped         # namespaces without linear terms
    double *stands         # (labels,) of the row the sum of the linear terms that are not updated
    double square          # of the row's other terms
    size_t pairs
    int group[MAX_PAIRS][2]
    Latent latent[MAX_PAIRS][2]  # rows of (sets, rank) numbers
    DyadicScratch work     # sides of the row's dot products; a vector is of all labels
    size_t room            # for a label's components
    Component *component   # (labels, room)
    Component *contest     # (2 * room,) of the difference of two scores
    Flow *label            # (labels,)


cdef inline size_t set_of(const LabelModel *m, size_t label) noexcept nogil:
    """The set of latent vectors of a label that is not the base."""
    return label - 1 if m.base >= 0 and label > <size_t>m.base else label


cdef inline const Group *group_of(const LabelModel *m, size_t pair, int side, const Scratch *s) noexcept nogil:
    cdef int index = s.where[m.group[pair][side]]
    if index < 0:
        return NULL
    return &s.group[index]


cdef inline bint make_room(LabelModel *m, size_t components) noexcept nogil:
    """Grow the arrays to this number of components for each label. False when memory has run out."""
    if components <= m.room:
        return True
    free(m.component)
    free(m.contest)
    m.room = components
    m.component = <Component *>malloc(m.labels * m.room * sizeof(Component))
    m.contest = <Component *>malloc(2 * m.room * sizeof(Component))
    return m.component != NULL and m.contest != NULL


cdef inline bint repeats_slot(const Group *group, DyadicScratch *work, uint32_t mask) noexcept nogil:
    """Whether two features of a side share a slot. Overwrites the arrays of the sides."""
    cdef size_t i
    for i in range(group.size):
        work.index[i] = group.index[i] & mask
        work.value[i] = 1
    return merge_slots(work.index, work.value, group.size) < group.size


cdef inline void read_set(const LabelModel *m, Side *side, size_t label) noexcept nogil:
    """Sum a label's vectors of a side."""
    cdef size_t d, start = set_of(m, label) * m.rank
    read_part(side, start, m.rank)
    for d in range(start, start + m.rank if m.offset != 0 else start):
        side.vector[d] += m.offset


cdef inline void read_sides(LabelModel *m) noexcept nogil:
    """Sum the vectors of all sides of the row."""
    cdef size_t i, d
    cdef Side *side
    for i in range(2 * m.work.components):
        side = &m.work.side[i]
        read_vector(side)
        for d in range(side.latent.rank if m.offset != 0 else 0):
            side.vector[d] += m.offset


cdef inline int make_sides(LabelModel *m, const Scratch *s) noexcept nogil:
    """The sides of the row's dot products with their vectors. OK, NO_MEMORY, or -1 when those of a positional pair differ in length."""
    cdef size_t pair, i, used = 0, features = 0
    cdef int side
    cdef const Group *group
    cdef const Group *other
    cdef DyadicScratch *work = &m.work
    for pair in range(m.pairs):
        group, other = group_of(m, pair, 0, s), group_of(m, pair, 1, s)
        features += (group.size if group != NULL else 0) + (other.size if other != NULL else 0)
        if m.positional and (group.size if group != NULL else 0) != (other.size if other != NULL else 0):
            return -1
    if not reserve(work, 2 * features + 2 * MAX_PAIRS, m.sets * m.rank) or not make_room(m, features // 2 if m.positional else MAX_PAIRS):
        return NO_MEMORY
    work.components = 0
    work.repeats = False
    for pair in range(m.pairs if m.positional else 0):
        group, other = group_of(m, pair, 0, s), group_of(m, pair, 1, s)
        if group != NULL and (repeats_slot(group, work, m.mask) or repeats_slot(other, work, m.mask)):
            work.repeats = True
    for pair in range(m.pairs):
        group, other = group_of(m, pair, 0, s), group_of(m, pair, 1, s)
        if group == NULL or other == NULL:
            continue
        for i in range(group.size if m.positional else 1):
            add_side(work, &m.latent[pair][0], 0, group.index + i, group.value + i, 1 if m.positional else group.size, &used, m.mask)
            add_side(work, &m.latent[pair][1], 1, other.index + i, other.value + i, 1 if m.positional else other.size, &used, m.mask)
            work.components += can_move(&work.side[2 * work.components], &work.side[2 * work.components + 1])
    read_sides(m)
    return OK


cdef inline void take_groups(const LabelModel *m, const Groups *groups, Scratch *s, double *worth) noexcept nogil:
    """Give the linear terms of these groups the value 0; what they were worth is added to ``worth``, float64[labels] or NULL."""
    cdef const Group *group
    cdef size_t i, tried, at, label, labels = m.labels if worth != NULL else 0
    cdef int g
    for g in range(groups.size):
        group, at = find_group(groups.number[g], s), 0
        for i in range(group.size if group != NULL else 0):
            for tried in range(s.linear):
                if s.index[at] == group.index[i] & m.mask and s.value[at] == group.value[i]:
                    for label in range(labels):
                        worth[label] += <double>m.w[m.width * s.index[at] + label] * s.value[at]
                    s.value[at] = 0
                    break
                at = at + 1 if at + 1 < s.linear else 0


cdef inline void take_standing_terms(LabelModel *m, Scratch *s) noexcept nogil:
    """Leave the row's linear terms that are dropped, or not updated, to ``stands``; merge the others that share a slot."""
    cdef size_t i, label
    for label in range(m.labels):
        m.stands[label] = 0
    take_groups(m, &m.dropped, s, NULL)
    take_groups(m, &m.fixed, s, m.stands)
    if m.fixed_constant and s.constant:
        for label in range(m.labels):
            m.stands[label] += <double>m.w[m.width * s.index[s.linear - 1] + label] * s.value[s.linear - 1]
        s.value[s.linear - 1] = 0
    for i in range(s.terms if m.fixed_linear else 0):
        for label in range(m.labels):
            m.stands[label] += <double>m.w[m.width * s.index[i] + label] * s.value[i]
    s.terms = 0 if m.fixed_linear else merge_slots(s.index, s.value, s.terms)


cdef inline void make_flow(LabelModel *m, const Scratch *s, uint32_t label) noexcept nogil:
    """Fill in the components of a label's flow, from the vectors of the sides, and its linear part."""
    cdef size_t i, d, start = set_of(m, label) * m.rank
    cdef Side *a
    cdef Side *b
    cdef Component *c
    m.label[label].linear, m.label[label].square = m.stands[label], m.square
    for i in range(s.terms):
        m.label[label].linear += <double>m.w[s.index[i] * m.width + label] * s.value[i]
    m.label[label].components = m.work.components
    for i in range(m.work.components):
        a, b = &m.work.side[2 * i], &m.work.side[2 * i + 1]
        c = &m.component[label * m.room + i]
        c[0] = component_of(a.vector + start, b.vector + start, a.square, b.square, m.rank)
        if not (a.latent.fixed or b.latent.fixed):
            continue
        c[0] = component_of(a.vector + start, b.vector + start, 1, 1, m.rank)
        c.omega = 0
        for d in range(start, start + m.rank):
            c.square += (0 if a.latent.fixed else a.square) * b.vector[d] * b.vector[d]
            c.square += (0 if b.latent.fixed else b.square) * a.vector[d] * a.vector[d]
        m.label[label].square += c.square


cdef inline void make_flows(LabelModel *m, const Scratch *s, double rate) noexcept nogil:
    """The flow of every label: its components, its linear part and the squared values of the row."""
    cdef uint32_t label
    cdef size_t i
    m.square = 0
    for i in range(s.terms):
        m.square += <double>s.value[i] * s.value[i]
    for label in range(m.labels):
        m.label[label] = Flow(m.component + label * m.room, 0, 0, 0, 0, rate, m.decay, 0, NULL)
        if <int>label != m.base:
            make_flow(m, s, label)


cdef inline void change_vectors(LabelModel *m, uint32_t label, size_t number, double s, double fade, double a_square,
                                double b_square) noexcept nogil:
    """Replace a label's part of the vectors of both sides of a dot product by their changes along the flow up to ``s``, for a value
    of 1, before they decay by e^-fade. A side beside one that is fixed moves along that. The squares are those of the component.
    """
    cdef size_t d, start = set_of(m, label) * m.rank
    cdef Side *a = &m.work.side[2 * number]
    cdef Side *b = a + 1
    cdef const Component *c = &m.label[label].component[number]
    cdef double x
    if c.omega > 0:
        vector_changes(c, s, fade, a_square, b_square, m.rank, a.vector + start, b.vector + start)
        return
    for d in range(start, start + m.rank):
        x = a.vector[d]
        a.vector[d] = 0 if a.latent.fixed else -s * b.vector[d]
        b.vector[d] = 0 if b.latent.fixed else -s * x


cdef inline void count_sides(LabelModel *m) noexcept nogil:
    cdef size_t i
    for i in range(2 * m.work.components):
        if not m.work.side[i].latent.fixed:
            count_side(&m.work.side[i])


cdef inline void find_rows(const LabelModel *m, Scratch *s) noexcept nogil:
    """Replace hashes by rows of the tables, and prefetch these."""
    cdef size_t i, pair, at
    cdef int side
    cdef const Group *group
    cdef const Latent *latent
    for i in range(s.terms):
        s.index[i] = s.index[i] & m.mask
        if not s.in_cache:
            prefetch(m.w + m.width * s.index[i])
    for pair in range(0 if s.in_cache else m.pairs):
        for side in range(2):
            group = group_of(m, pair, side, s)
            latent = &m.latent[pair][side]
            for i in range(group.size if group != NULL else 0):
                for at in range(0, latent.stride, 16):
                    prefetch(latent.table + latent.stride * (group.index[i] & m.mask) + at)


cdef inline Latent open_latent(state, config, plan, size_t pair, int side, size_t rows):
    cdef const float[:, ::1] table = state.latent[pair][side]
    cdef size_t rank = config.sets * config.rank, stride = state.stride
    if <size_t>table.shape[0] != rows * stride or table.shape[1] != 1 or stride <= rank + (
            1 + config.sets if config.adaptive else 0):
        raise ValueError("a table of latent vectors has a wrong shape")
    return Latent(<float *>&table[0, 0], stride, rank, config.seeds[pair][side], config.scale, config.normal,
                  0 if state.learning else config.fewest, config.decays(plan)[pair][side],
                  state.learning and plan.frozen.sides[pair][side], NULL)


cdef inline int open_rates(LabelModel *m, state, size_t slots) except -1:
    cdef const float[:, ::1] gradients = state.gradients, scale = state.scale
    if <size_t>gradients.shape[0] != slots or gradients.shape[1] != 1 or scale.shape[1] != 2 or (
            <size_t>scale.shape[0] * m.width != slots):
        raise ValueError("tables of rates have a wrong shape")
    m.gradients, m.scale = <float *>&gradients[0, 0], <float *>&scale[0, 0]
    return 0


cdef inline int open_model(LabelModel *m, state, config, plan) except -1:
    """From a learner of this kind and the kernel's configuration; the pairs of ``plan`` name the sides' groups."""
    cdef const float[:, ::1] w = state.weights
    cdef int shift = config.shift
    cdef size_t pair
    cdef int side
    m.w, m.labels, m.base, m.width = <float *>&w[0, 0], config.classes, config.base, <size_t>1 << shift
    m.mask = <uint32_t>(w.shape[0] >> shift) - 1
    m.sets, m.rank, m.positional = config.sets, config.rank, config.positional
    m.offset, m.offset_square = config.offset, config.offset_square
    m.adaptive = config.adaptive
    m.separate = not m.adaptive and config.is_separate(plan, state.learning)
    m.linear_decay = config.linear_decay if m.separate or m.adaptive else 0
    m.decay = 0 if m.separate or m.adaptive else config.decays(plan)[0][0] if plan.pairs else config.decay
    m.gradients = m.scale = NULL
    if m.adaptive:
        open_rates(m, state, w.shape[0])
    m.decay_power, m.decays_weights = config.decay_power, config.decays_weights
    m.fixed_linear = state.learning and plan.frozen.linear
    m.fixed_constant = state.learning and plan.frozen.constant
    m.fixed = open_groups(plan.frozen.groups if state.learning else ())
    m.dropped = open_groups(plan.dropped)
    if m.width < m.labels or m.labels < 2 or w.shape[0] >> shift < 1 or w.shape[1] != 1:
        raise ValueError("the table does not fit the classes")
    if not -1 <= m.base < <int>m.labels or m.sets != m.labels - (m.base >= 0) or len(plan.pairs) > MAX_PAIRS:
        raise ValueError("as many latent vectors as labels")
    m.pairs = len(plan.pairs) if m.rank else 0
    for pair in range(m.pairs):
        for side in range(2):
            m.group[pair][side] = plan.pairs[pair][side]
            m.latent[pair][side] = open_latent(state, config, plan, pair, side, w.shape[0] >> shift)
    return 0


cdef inline bint open_flows(LabelModel *m) noexcept nogil:
    """Get memory for the rows' flows. False when it has run out; ``close_model`` is due in any case."""
    open_work(&m.work)
    m.component = m.contest = NULL
    m.room = 0
    m.stands = <double *>malloc(m.labels * sizeof(double))
    m.label = <Flow *>malloc(m.labels * sizeof(Flow))
    return make_room(m, MAX_PAIRS) and m.stands != NULL and m.label != NULL


cdef inline void close_model(LabelModel *m) noexcept nogil:
    close_work(&m.work)
    free(m.component)
    free(m.contest)
    free(m.stands)
    free(m.label)
