"""Networks of tanh units on hashed features: sums of all layers, their gradients, and a step for every weight.

The first layer's weights are rows of ``width`` floats of a table, one for each feature: those of the units, then, where
inputs go past the units (``inpass``), one for each output. A dense layer has a row for each unit below and one for the
constant. Steps are adaptive: rate / sqrt(sum of squared gradients), as AdaGrad has it (Duchi, Hazan and Singer 2011), divided by the norm that
the layer's inputs have, so that the rate means the same whatever their number is.
"""

from libc.math cimport fabsf, isfinite, sqrtf, tanhf
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from base.byte_scan cimport prefetch
from base.random cimport mix64, unit_interval
from base.status cimport OK, UNSTABLE
from features.row_buffer cimport Scratch
from learners.class_blocks cimport apply_rows, scan_rows, score_rows

cdef enum:
    LANES = 8              # rows are of a multiple of these
    MAX_HIDDEN = 16        # layers of units, as in vwlite/learners/configs/nn.py
    TERMS_AT_ONCE = 64     # whose rates are in memory at a time
    NORM_SUM = 0           # scalars: sum of squared inputs, each by its scale, times importance
    NORM_WEIGHT = 1        # sum of importance over the same examples


cdef struct Layer:         # of units, or of outputs, with the weights below it
    float *w               # (inputs, width)
    float *g               # (inputs, width) sums of squared gradients
    size_t units
    size_t width
    float *sum             # (width,) sums; of units then their tanh
    float *slope           # (width,) derivatives of the loss by the sums
    float *kept            # (units,) factors of the units: 1, or under dropout 0 or 2
    float *value           # (units + 1,) what the layer above is given; the last one is 1


cdef struct Network:
    Layer layer[MAX_HIDDEN + 1]
    size_t hidden          # layers of units; the outputs are the next one
    size_t outputs
    bint inpass, dropout
    float *scale           # (rows,) largest |x| of a feature; 0: its weights have not begun
    uint32_t mask          # of rows
    uint64_t seed
    double *norms          # scalars
    double *learned        # scalar, the number of examples that were learned
    uint32_t *order        # 0, 1, 2, ... the rows of dense layers
    float *gradient        # scratch by sum: squared gradients, steps, reaches
    float *step
    float *reach
    float *rates           # (TERMS_AT_ONCE, widest)
    float *inverse         # (TERMS_AT_ONCE,)
    float *memory


cdef inline double drawn(uint64_t seed, uint64_t place) noexcept nogil:
    """A number in (-1, 1), a pure function of seed and place."""
    return 2 * unit_interval(mix64(seed + (place + 1) * <uint64_t>0x9e3779b97f4a7c15)) - 1


cdef inline float input_norm(const Network *q) noexcept nogil:
    """1 / root mean squared norm of the inputs so far."""
    return sqrtf(<float>(q.norms[NORM_WEIGHT] / q.norms[NORM_SUM])) if q.norms[NORM_SUM] > 0 else 1


cdef inline void begin_row(Network *q, uint32_t row, float size, float norm) noexcept nogil:
    """Start values of a new feature's weights: the sums of an example that is new as a whole have variance 1 or less."""
    cdef size_t c
    cdef Layer *first = &q.layer[0]
    cdef double reach = 1.7320508 * norm / size
    for c in range(first.units):
        first.w[row * first.width + c] = <float>(reach * drawn(q.seed, <uint64_t>row * first.width + c))


cdef inline void meet_inputs(Network *q, const Scratch *s, float weight) noexcept nogil:
    """Count an example's inputs, begin the weights of new ones; weights of an input larger than any before it are reduced."""
    cdef size_t i, c
    cdef uint32_t row
    cdef float x, shrink, norm = 0
    cdef Layer *first = &q.layer[0]
    for i in range(s.terms):
        x = fabsf(s.value[i]) / q.scale[s.index[i]] if fabsf(s.value[i]) <= q.scale[s.index[i]] else 1
        norm += x * x if s.value[i] != 0 else 0
    q.norms[NORM_SUM] += <double>weight * norm
    q.norms[NORM_WEIGHT] += weight
    norm = input_norm(q)
    for i in range(s.terms):
        row, x = s.index[i], fabsf(s.value[i])
        if x <= q.scale[row]:
            continue
        if q.scale[row] == 0:
            begin_row(q, row, x, norm)
        else:
            shrink = q.scale[row] / x
            for c in range(first.width):
                first.w[row * first.width + c] *= shrink
        q.scale[row] = x


cdef inline void find_rows(const Network *q, Scratch *s) noexcept nogil:
    """Replace hashes by rows of the table, and prefetch these."""
    cdef size_t i, at
    for i in range(s.terms):
        s.index[i] = s.index[i] & q.mask
        for at in range(0, 0 if s.in_cache else q.layer[0].width, 16):
            prefetch(q.layer[0].w + q.layer[0].width * s.index[i] + at)


cdef inline void sum_inputs(Network *q, const Scratch *s) noexcept nogil:
    """The first layer's sums, and the tanh of those of units."""
    cdef Layer *first = &q.layer[0]
    cdef size_t i
    memset(first.sum, 0, first.width * sizeof(float))
    score_rows(first.w, s.index, s.value, s.terms, first.width, first.sum)
    for i in range(first.units):
        first.sum[i] = tanhf(first.sum[i])


cdef inline void sum_layers(Network *q) noexcept nogil:
    """The sums of the layers above the first, from its units as they are kept."""
    cdef size_t l, i
    cdef Layer *below
    cdef Layer *layer
    for l in range(1, q.hidden + 1):
        below, layer = &q.layer[l - 1], &q.layer[l]
        for i in range(below.units):
            below.value[i] = below.kept[i] * below.sum[i]
        memset(layer.sum, 0, layer.width * sizeof(float))
        score_rows(layer.w, q.order, below.value, below.units + 1, layer.width, layer.sum)
        if l < q.hidden:
            for i in range(layer.units):
                layer.sum[i] = tanhf(layer.sum[i])


cdef inline float output(const Network *q, size_t k, float start) noexcept nogil:
    """The sum of an output; ``start`` is the initial prediction."""
    cdef float z = start + q.layer[q.hidden].sum[k]
    return z + q.layer[0].sum[q.layer[0].units + k] if q.inpass else z


cdef inline void keep_all(Network *q) noexcept nogil:
    cdef size_t l, i
    for l in range(q.hidden):
        for i in range(q.layer[l].units):
            q.layer[l].kept[i] = 1


cdef inline void drop_half(Network *q) noexcept nogil:
    """Leave out units by chance, the others count twice: drawn by seed, layer, unit and the number of examples so far."""
    cdef size_t l, i
    cdef uint64_t seed = mix64(q.seed + <uint64_t>q.learned[0])
    for l in range(q.hidden):
        seed += 1
        for i in range(q.layer[l].units):
            q.layer[l].kept[i] = 2 if drawn(seed, i) > 0 else 0


cdef inline float row_product(const float *a, const float *b, size_t width) noexcept nogil:
    """The sum of products of two rows, in eight sums that are added in the end."""
    cdef float part[LANES]
    cdef size_t i
    cdef int lane
    for lane in range(LANES):
        part[lane] = a[lane] * b[lane]
    for i in range(<size_t>LANES, width, 8):
        for lane in range(LANES):
            part[lane] += a[i + lane] * b[i + lane]
    return ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]))


cdef inline void slopes_below(Network *q, size_t l) noexcept nogil:
    """The slopes of the units below layer ``l``, by its slopes and its weights."""
    cdef size_t i
    cdef Layer *layer = &q.layer[l]
    cdef Layer *below = &q.layer[l - 1]
    for i in range(below.units):
        below.slope[i] = below.kept[i] * (1 - below.sum[i] * below.sum[i]) * row_product(
            layer.w + i * layer.width, layer.slope, layer.width)


cdef inline int step_weights(Network *q, Layer *layer, const uint32_t *index, const float *value, size_t terms,
                             const float *scale, float rate, float weight) noexcept nogil:
    """A step of the weights of a layer; with ``scale`` the step of a row is divided by its scale."""
    cdef size_t begin = 0, i, n, c
    for c in range(layer.width):
        q.gradient[c] = weight * layer.slope[c] * layer.slope[c]
        q.step[c] = -rate * weight * layer.slope[c]
        if not isfinite(q.step[c]) or not isfinite(q.gradient[c]):
            return UNSTABLE
    while begin < terms:
        n = terms - begin if terms - begin < TERMS_AT_ONCE else TERMS_AT_ONCE
        for i in range(n):
            q.inverse[i] = 1
            if scale != NULL:
                q.inverse[i] = 1 / scale[index[begin + i]] if scale[index[begin + i]] > 0 else 0
        scan_rows(layer.g, index + begin, value + begin, q.inverse, n, layer.width, q.gradient, q.reach, q.rates)
        apply_rows(layer.w, index + begin, value + begin, n, layer.width, q.step, q.rates)
        begin += n
    return OK


cdef inline int learn_slopes(Network *q, const Scratch *s, float rate, float weight) noexcept nogil:
    """Carry the slopes of the outputs, ``layer[hidden].slope``, down, and make a step of every weight."""
    cdef size_t l, k
    cdef Layer *below
    cdef Layer *first = &q.layer[0]
    cdef int status = OK
    q.learned[0] += 1
    if q.inpass:
        for k in range(q.outputs):
            first.slope[first.units + k] = q.layer[q.hidden].slope[k]
    for l in range(q.hidden, 0, -1):
        below = &q.layer[l - 1]
        slopes_below(q, l)
        if status == OK:
            status = step_weights(q, &q.layer[l], q.order, below.value, below.units + 1, NULL,
                                  rate / sqrtf(below.units + 1), weight)
    if status == OK:
        status = step_weights(q, first, s.index, s.value, s.terms, q.scale, rate * input_norm(q), weight)
    return status


cdef inline size_t rounded(size_t units) noexcept nogil:
    return (units + LANES - 1) // LANES * LANES


cdef inline void close_network(Network *q) noexcept nogil:
    free(q.memory)
    free(q.order)


cdef inline int open_memory(Network *q) except -1:
    """The memory of a batch, filled with zeros. Raises MemoryError; what it took is then given back."""
    cdef size_t l, widest = 0, most = 0, need = 0
    cdef float *at
    for l in range(q.hidden + 1):
        widest = max(widest, q.layer[l].width)
        most = max(most, q.layer[l].units + 1)
        need += 2 * q.layer[l].width + 2 * (q.layer[l].units + 1)
    need += (3 + TERMS_AT_ONCE) * widest + TERMS_AT_ONCE
    q.memory = <float *>malloc(need * sizeof(float))
    q.order = <uint32_t *>malloc(most * sizeof(uint32_t))
    if q.memory == NULL or q.order == NULL:
        close_network(q)
        raise MemoryError
    memset(q.memory, 0, need * sizeof(float))
    at = q.memory
    for l in range(q.hidden + 1):
        q.layer[l].sum, q.layer[l].slope = at, at + q.layer[l].width
        q.layer[l].kept = q.layer[l].slope + q.layer[l].width
        q.layer[l].value = q.layer[l].kept + q.layer[l].units + 1
        q.layer[l].value[q.layer[l].units] = 1
        at = q.layer[l].value + q.layer[l].units + 1
    q.gradient, q.step, q.reach = at, at + widest, at + 2 * widest
    q.rates = q.reach + widest
    q.inverse = q.rates + TERMS_AT_ONCE * widest
    for l in range(most):
        q.order[l] = <uint32_t>l
    return 0


cdef inline Network open_network(state, config, bint learning, double *norms, double *learned) except *:
    """From a ``vwlite.learners.nn.NetworkTables`` and the ``hidden`` units, ``outputs`` and options of its kernel's config.

    Raises ValueError where the tables are not of this network.
    """
    cdef const float[:, ::1] w = state.weights, g = state.squares, scale = state.scale
    cdef const float[:, ::1] dense = state.dense, dense_g = state.dense_squares
    cdef Network q
    cdef size_t l, inputs, begin = 0, rows
    q.hidden, q.outputs, q.inpass, q.dropout = len(config.hidden), config.outputs, config.inpass, config.dropout
    q.seed, q.norms, q.learned = config.seed, norms, learned
    if not 1 <= q.hidden <= MAX_HIDDEN or q.outputs < 1:
        raise ValueError("a network has 1 to 16 layers of units, and outputs")
    for l in range(q.hidden + 1):
        q.layer[l].units = config.hidden[l] if l < q.hidden else q.outputs
        q.layer[l].width = rounded(q.layer[l].units)
    q.layer[0].width = <size_t>1 << <int>config.shift
    rows = w.shape[0] >> <int>config.shift
    q.mask = <uint32_t>(rows - 1)
    if q.layer[0].width < LANES or q.layer[0].width < q.layer[0].units + (q.outputs if q.inpass else 0) or rows < 1:
        raise ValueError("the units do not fit the rows")
    q.layer[0].w, q.layer[0].g, q.scale = <float *>&w[0, 0], <float *>&g[0, 0], <float *>&scale[0, 0]
    for l in range(1, q.hidden + 1):
        inputs = q.layer[l - 1].units + 1
        if begin + inputs * q.layer[l].width > <size_t>dense.shape[0]:
            raise ValueError("the dense layers do not fit")
        q.layer[l].w = <float *>&dense[0, 0] + begin
        q.layer[l].g = <float *>&dense_g[0, 0] + begin * (dense_g.shape[0] == dense.shape[0])
        begin += inputs * q.layer[l].width
    if begin != <size_t>dense.shape[0] or not (w.shape[1] == g.shape[1] == scale.shape[1] == dense.shape[1] == dense_g.shape[1] == 1):
        raise ValueError("the dense layers do not fit")
    if learning and (g.shape[0] != w.shape[0] or <size_t>scale.shape[0] != rows or dense_g.shape[0] != dense.shape[0]):
        raise ValueError("these tables cannot learn")
    open_memory(&q)
    return q
