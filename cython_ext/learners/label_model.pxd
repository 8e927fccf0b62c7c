"""Models in which every label has latent vectors and linear weights of its own: tables, a row's dot products, every label's flow."""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc

from base.byte_scan cimport prefetch
from base.status cimport NO_MEMORY, OK
from features.row_buffer cimport Group, Scratch
from learners.dyadic_flow cimport Component, Flow
from learners.dyadic_moves cimport add_side, can_move, component_of
from learners.dyadic_scratch cimport DyadicScratch, close_work, open_work, reserve
from learners.latent_vectors cimport Latent, Side, read_vector


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
    double decay           # L2 on latent vectors
    size_t pairs
    int group[MAX_PAIRS][2]
    Latent latent[MAX_PAIRS][2]  # rows of (sets, rank) numbers
    DyadicScratch work     # sides of the row's dot products; a vector is of all labels
    Component *component   # (labels, MAX_PAIRS)
    Flow *label            # (labels,)


cdef inline size_t set_of(const LabelModel *m, size_t label) noexcept nogil:
    """The set of latent vectors of a label that is not the base."""
    return label - 1 if m.base >= 0 and label > <size_t>m.base else label


cdef inline const Group *group_of(const LabelModel *m, size_t pair, int side, const Scratch *s) noexcept nogil:
    cdef int index = s.where[m.group[pair][side]]
    if index < 0:
        return NULL
    return &s.group[index]


cdef inline int make_sides(LabelModel *m, const Scratch *s) noexcept nogil:
    """The sides of the row's dot products with their vectors."""
    cdef size_t pair, used = 0, features = 0
    cdef int side
    cdef const Group *group
    cdef const Group *other
    cdef DyadicScratch *work = &m.work
    for pair in range(m.pairs):
        for side in range(2):
            group = group_of(m, pair, side, s)
            features += group.size if group != NULL else 0
    if not reserve(work, 2 * features + 2 * MAX_PAIRS, m.sets * m.rank):
        return NO_MEMORY
    work.components = 0
    for pair in range(m.pairs):
        group, other = group_of(m, pair, 0, s), group_of(m, pair, 1, s)
        if group == NULL or other == NULL:
            continue
        add_side(work, &m.latent[pair][0], 0, group.index, group.value, group.size, &used, m.mask)
        add_side(work, &m.latent[pair][1], 1, other.index, other.value, other.size, &used, m.mask)
        for side in range(2):
            read_vector(&work.side[2 * work.components + side])
        work.components += can_move(&work.side[2 * work.components], &work.side[2 * work.components + 1])
    return OK


cdef inline void make_flow(LabelModel *m, const Scratch *s, uint32_t label) noexcept nogil:
    """Fill in the components of a label's flow, from the vectors of the sides, and its linear part."""
    cdef size_t i, start = set_of(m, label) * m.rank
    cdef Side *a
    cdef Side *b
    m.label[label].linear = 0
    for i in range(s.terms):
        m.label[label].linear += <double>m.w[s.index[i] * m.width + label] * s.value[i]
    m.label[label].components = m.work.components
    for i in range(m.work.components):
        a, b = &m.work.side[2 * i], &m.work.side[2 * i + 1]
        m.component[label * MAX_PAIRS + i] = component_of(a.vector + start, b.vector + start, a.square, b.square, m.rank)


cdef inline void make_flows(LabelModel *m, const Scratch *s, double rate) noexcept nogil:
    """The flow of every label: its components, its linear part and the squared values of the row."""
    cdef uint32_t label
    cdef size_t i
    cdef double square = 0
    for i in range(s.terms):
        square += <double>s.value[i] * s.value[i]
    for label in range(m.labels):
        m.label[label] = Flow(m.component + label * MAX_PAIRS, 0, 0, 0, 0, rate, m.decay, 0, NULL)
        if <int>label != m.base:
            m.label[label].square = square
            make_flow(m, s, label)


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


cdef inline Latent open_latent(state, config, size_t pair, int side, size_t rows):
    cdef const float[:, ::1] table = state.latent[pair][side]
    cdef size_t rank = config.sets * config.rank, stride = state.stride
    if <size_t>table.shape[0] != rows * stride or table.shape[1] != 1 or stride <= rank:
        raise ValueError("a table of latent vectors has a wrong shape")
    return Latent(<float *>&table[0, 0], stride, rank, config.seeds[pair][side], config.scale, config.normal,
                  0 if state.learning else config.fewest, 0, False)


cdef inline int open_model(LabelModel *m, state, config, plan) except -1:
    """From a learner of this kind and the kernel's configuration; the pairs of ``plan`` name the sides' groups."""
    cdef const float[:, ::1] w = state.weights
    cdef int shift = config.shift
    cdef size_t pair
    cdef int side
    m.w, m.labels, m.base, m.width = <float *>&w[0, 0], config.classes, config.base, <size_t>1 << shift
    m.mask = <uint32_t>(w.shape[0] >> shift) - 1
    m.sets, m.rank, m.decay = config.sets, config.rank, config.decay
    if m.width < m.labels or m.labels < 2 or w.shape[0] >> shift < 1 or w.shape[1] != 1:
        raise ValueError("the table does not fit the classes")
    if not -1 <= m.base < <int>m.labels or m.sets != m.labels - (m.base >= 0) or len(plan.pairs) > MAX_PAIRS:
        raise ValueError("as many latent vectors as labels")
    m.pairs = len(plan.pairs) if m.rank else 0
    for pair in range(m.pairs):
        for side in range(2):
            m.group[pair][side] = plan.pairs[pair][side]
            m.latent[pair][side] = open_latent(state, config, pair, side, w.shape[0] >> shift)
    return 0


cdef inline bint open_flows(LabelModel *m) noexcept nogil:
    """Get memory for the rows' flows. False when it has run out; ``close_model`` is due in any case."""
    open_work(&m.work)
    m.component = <Component *>malloc(m.labels * MAX_PAIRS * sizeof(Component))
    m.label = <Flow *>malloc(m.labels * sizeof(Flow))
    return m.component != NULL and m.label != NULL


cdef inline void close_model(LabelModel *m) noexcept nogil:
    close_work(&m.work)
    free(m.component)
    free(m.label)
