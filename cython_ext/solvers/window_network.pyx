"""A network that scores windows of words, f(s) = u . tanh(A [E_s1; ...; E_sn] + b), learned so that the right last word scores
higher than others by a margin of 1 (Collobert and Weston, ICML 2008).

A network has ``words`` E float32[vocabulary, dim], ``inputs`` A float32[n dim, width], one row for each input, ``bias`` b and
``output`` u float32[width]; width is the number of hidden units, rounded up to a multiple of eight. What the added units have
is 0, and stays 0.
"""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from base.byte_scan cimport unlikely
from base.random cimport mix64, unit_interval
from base.status cimport OK, STOPPED, UNSTABLE

cdef extern from "solvers/window_network.h" nogil:
    void vwl_add_inputs(const float *rows, const float *x, size_t inputs, size_t width, float *out)
    void vwl_squash(float *x, size_t width)
    float vwl_product(const float *a, const float *b, size_t width)
    void vwl_learn_inputs(float *rows, const float *x, const float *d, float step, size_t inputs, size_t width, float *slope)
    void vwl_learn_two(float *rows, const float *x, const float *y, const float *d, const float *e, float step, size_t inputs,
                       size_t width, float *slope, float *slope_y)


cdef struct Network:
    float *words
    float *inputs
    float *bias
    float *output
    size_t vocabulary, dim, window, width


cdef struct Scratch:
    float *x            # window dim: the vectors of the context, then that of the last word
    float *other        # dim: the vector of the other word
    float *slope        # window dim
    float *slope_other  # dim
    float *context      # width: what the context adds up to, then the slope of both scores
    float *right        # width: hidden units of the right word, then the slope of its score
    float *wrong        # width


cdef struct Rates:
    float words, layers


cdef inline void gather(const Network *n, const int32_t *word, size_t count, float *x) noexcept nogil:
    cdef size_t j
    for j in range(count):
        memcpy(x + j * n.dim, n.words + <size_t>word[j] * n.dim, n.dim * sizeof(float))


cdef inline void hidden_units(const Network *n, const float *context, const float *x, float *h) noexcept nogil:
    """tanh(``context`` + the part of A for the last word times ``x``)."""
    memcpy(h, context, n.width * sizeof(float))
    vwl_add_inputs(n.inputs + (n.window - 1) * n.dim * n.width, x, n.dim, n.width, h)
    vwl_squash(h, n.width)


cdef inline void add_to_word(const Network *n, int32_t word, const float *slope, float step) noexcept nogil:
    cdef size_t i
    cdef float *target = n.words + <size_t>word * n.dim
    for i in range(n.dim):
        target[i] += step * slope[i]


cdef inline void take_step(const Network *n, const int32_t *window, int32_t other, const Rates *rate, Scratch *s) noexcept nogil:
    """A gradient step for f(window) - f(the window that ends with ``other``); ``right`` and ``wrong`` hold hidden units."""
    cdef size_t k, j, context = (n.window - 1) * n.dim
    cdef float a, b, u
    for k in range(n.width):
        a, b, u = s.right[k], s.wrong[k], n.output[k]
        n.output[k] += rate.layers * (a - b)
        s.right[k] = u * (<float>1 - a * a)
        s.wrong[k] = u * (b * b - <float>1)
        s.context[k] = s.right[k] + s.wrong[k]
        n.bias[k] += rate.layers * s.context[k]
    vwl_learn_inputs(n.inputs, s.x, s.context, rate.layers, context, n.width, s.slope)
    vwl_learn_two(n.inputs + context * n.width, s.x + context, s.other, s.right, s.wrong, rate.layers, n.dim, n.width,
                  s.slope + context, s.slope_other)
    for j in range(n.window):
        add_to_word(n, window[j], s.slope + j * n.dim, rate.words)
    add_to_word(n, other, s.slope_other, rate.words)


cdef inline float score_window(const Network *n, const int32_t *window, Scratch *s) noexcept nogil:
    """f(window); fills ``x``, ``context`` and ``right``."""
    cdef size_t context = (n.window - 1) * n.dim
    gather(n, window, n.window, s.x)
    memcpy(s.context, n.bias, n.width * sizeof(float))
    vwl_add_inputs(n.inputs, s.x, context, n.width, s.context)
    hidden_units(n, s.context, s.x + context, s.right)
    return vwl_product(n.output, s.right, n.width)


cdef inline float score_other(const Network *n, int32_t other, Scratch *s) noexcept nogil:
    """f(the window of ``score_window`` with ``other`` in place of its last word); fills ``other`` and ``wrong``."""
    gather(n, &other, 1, s.other)
    hidden_units(n, s.context, s.other, s.wrong)
    return vwl_product(n.output, s.wrong, n.width)


cdef inline uint64_t below(uint64_t bits, size_t limit) noexcept nogil:
    return <uint64_t>(unit_interval(bits) * <double>limit)


cdef int run_steps(const Network *n, const int32_t *text, const int64_t *begin, size_t windows, size_t known, size_t draws,
                   uint64_t key, uint64_t *step, uint64_t last, const Rates *rate, const volatile uint8_t *stop, Scratch *s,
                   double *total) noexcept nogil:
    cdef const int32_t *window
    cdef int32_t other
    cdef float right, loss
    cdef uint64_t bits
    cdef size_t drawn
    while step[0] < last:
        if unlikely(stop[0]):
            return STOPPED
        window = text + begin[below(mix64(key + 2 * step[0]), windows)]
        right = score_window(n, window, s)
        bits = mix64(key + 2 * step[0] + 1)
        for drawn in range(1, draws + 1):
            other = <int32_t>below(bits, known)
            loss = <float>1 - right + score_other(n, other, s)
            if unlikely(not isfinite(loss)):
                return UNSTABLE
            if drawn == 1 and loss > 0:
                total[0] += loss
            if loss > 0 and other != window[n.window - 1]:
                take_step(n, window, other, rate, s)
                break
            bits = mix64(bits + drawn)
        step[0] += 1
    return OK


cdef int open_network(network, Network *n) except -1:
    cdef float[:, ::1] words = network.words
    cdef float[:, ::1] inputs = network.inputs
    cdef float[::1] bias = network.bias
    cdef float[::1] output = network.output
    n.vocabulary, n.dim, n.width = words.shape[0], words.shape[1], inputs.shape[1]
    if not (n.vocabulary and n.dim and n.width) or n.width % 8 or <size_t>inputs.shape[0] % n.dim:
        raise ValueError("the layers do not fit each other")
    n.window = <size_t>inputs.shape[0] // n.dim
    if n.window < 2 or <size_t>bias.shape[0] != n.width or <size_t>output.shape[0] != n.width:
        raise ValueError("the layers do not fit each other")
    n.words, n.inputs, n.bias, n.output = &words[0, 0], &inputs[0, 0], &bias[0], &output[0]
    return 0


cdef int open_scratch(const Network *n, Scratch *s) except -1:
    cdef size_t inputs = n.window * n.dim
    s.x = <float *>malloc((2 * inputs + 2 * n.dim + 3 * n.width) * sizeof(float))
    if s.x == NULL:
        raise MemoryError
    s.other, s.slope = s.x + inputs, s.x + inputs + n.dim
    s.slope_other = s.slope + inputs
    s.context = s.slope_other + n.dim
    s.right, s.wrong = s.context + n.width, s.context + 2 * n.width
    return 0


cdef int check_windows(const int32_t[::1] text, const int64_t[::1] begin, size_t window, size_t known) except -1:
    """Raises ValueError for windows that are not within the text or have words that are not known."""
    cdef Py_ssize_t i
    cdef size_t j
    for i in range(begin.shape[0]):
        if begin[i] < 0 or begin[i] + <int64_t>window > text.shape[0]:
            raise ValueError("a window is not within the text")
        for j in range(window):
            if <size_t>text[begin[i] + j] >= known:
                raise ValueError("a word is not known")
    return 0


def learn(network, const int32_t[::1] text, const int64_t[::1] begin, size_t known, size_t draws, uint64_t key, uint64_t first,
          uint64_t last, float rate, float layer_rate, const uint8_t[::1] stop, double total=0):
    """Take the steps ``[first, last)``: each draws a window ``text[begin[i]:begin[i] + n]`` and up to ``draws`` of the first
    ``known`` words, until one misses the margin and is learned from (Weston, Bengio and Usunier, IJCAI 2011, section 3).

    What is drawn depends on ``key`` and the number of the step alone. Returns ``(status, step, loss)``: OK, or UNSTABLE or
    STOPPED and the step at which the run ended; the sum of the losses of the first words drawn, those before in ``total``.
    Raises ValueError, MemoryError.
    """
    cdef Network n
    cdef Scratch s
    cdef Rates rates
    cdef int status
    open_network(network, &n)
    if not begin.shape[0] or not 0 < known <= n.vocabulary:
        raise ValueError("there is no window or no word")
    check_windows(text, begin, n.window, known)
    open_scratch(&n, &s)
    rates.words, rates.layers = rate, layer_rate
    with nogil:
        status = run_steps(&n, &text[0], &begin[0], begin.shape[0], known, draws, key, &first, last, &rates, &stop[0], &s, &total)
    free(s.x)
    return status, first, total


cdef inline float score(const Network *n, const float *context, const float *part, float *h) noexcept nogil:
    """u . tanh(context + part); float32[width] each."""
    cdef size_t k
    for k in range(n.width):
        h[k] = context[k] + part[k]
    vwl_squash(h, n.width)
    return vwl_product(n.output, h, n.width)


cdef inline double rank_of(const Network *n, const float *context, const float *parts, size_t right, float *h) noexcept nogil:
    cdef float wanted = score(n, context, parts + right * n.width, h), found
    cdef size_t word, higher = 0, equal = 0
    for word in range(n.vocabulary):
        if word != right:
            found = score(n, context, parts + word * n.width, h)
            higher += found > wanted
            equal += found == wanted
    return 1 + higher + <double>equal / 2


def rank(network, const int32_t[::1] text, const int64_t[::1] begin, double[::1] out, const uint8_t[::1] stop):
    """Write to ``out`` float64[windows] the rank of the last word of each window ``text[begin[i]:begin[i] + n]`` among all words.

    1 is the best; words of the same score share the mean of their ranks. What the context adds up to is computed once for a
    window, what the last word adds once for a word. Returns OK or STOPPED. Raises ValueError, MemoryError.
    """
    cdef Network n
    cdef Scratch s
    cdef Py_ssize_t i
    cdef size_t word, context
    cdef const int32_t *window
    cdef float *parts
    cdef const volatile uint8_t *stopped = &stop[0]
    cdef int status = OK
    open_network(network, &n)
    check_windows(text, begin, n.window, n.vocabulary)
    if out.shape[0] != begin.shape[0]:
        raise ValueError("the ranks do not fit the windows")
    open_scratch(&n, &s)
    parts = <float *>calloc(n.vocabulary * n.width, sizeof(float))
    if parts == NULL:
        free(s.x)
        raise MemoryError
    context = (n.window - 1) * n.dim
    with nogil:
        for word in range(n.vocabulary):
            vwl_add_inputs(n.inputs + context * n.width, n.words + word * n.dim, n.dim, n.width, parts + word * n.width)
        for i in range(begin.shape[0]):
            if unlikely(stopped[0]):
                status = STOPPED
                break
            window = &text[begin[i]]
            gather(&n, window, n.window - 1, s.x)
            memcpy(s.context, n.bias, n.width * sizeof(float))
            vwl_add_inputs(n.inputs, s.x, context, n.width, s.context)
            out[i] = rank_of(&n, s.context, parts, window[n.window - 1], s.right)
    free(parts)
    free(s.x)
    return status
