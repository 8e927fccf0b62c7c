"""Kernel support vector machines, see ``lasvm.pxd``; the vectors, their numbers and what they have learned belong to an object."""

from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc

import numpy as np

from base.status cimport NO_MEMORY, OK, STOPPED, UNSTABLE
from learners.kernel_rows cimport NOBODY, Vector, Vectors, found_by_origin, free_vectors, pop_vector, push_vector, renumber
from learners.lasvm cimport Machine, append, gather, learn_pool, place_of, reserve, settle, step, weighted_sum

cdef enum:
    ABSENT = 0               # what is to be done with a row, numbered as in vwlite/learners/ksvm.py
    PREDICT = 1
    LEARN = 2

cdef float ENOUGH = 1 - 1e-4  # a margin of an example that need not be added in a later pass


cdef struct Row:
    const uint32_t *index
    const float *value
    size_t size
    float label
    float importance
    int64_t origin
    bint learn
    bint again               # the pass is not the first: an example that is a support vector takes another step


cdef inline int learn_known(Machine *m, size_t number, float *raw) noexcept nogil:
    cdef int status
    if not gather(m, number):
        return NO_MEMORY
    raw[0] = weighted_sum(m) / m.lambda_
    status = settle(m, step(m, place_of(m, number)))
    renumber(&m.v, m.order, m.support)
    return status


cdef inline int process(Machine *m, const Row *row, float *raw) noexcept nogil:
    cdef int64_t known = found_by_origin(&m.v, row.origin) if row.learn and row.again else NOBODY
    if known != NOBODY:
        return learn_known(m, known, raw)
    if not push_vector(&m.v, row.index, row.value, row.size, row.origin):
        return NO_MEMORY
    if not reserve(m, m.support + 1) or not gather(m, m.v.count - 1):
        return NO_MEMORY
    raw[0] = weighted_sum(m) / m.lambda_
    if not isfinite(raw[0]) or not isfinite(m.v.vector[m.v.count - 1].self_kernel):
        pop_vector(&m.v)
        return UNSTABLE
    if not row.learn or (row.again and row.label * raw[0] >= ENOUGH):
        pop_vector(&m.v)
        return OK
    m.pool[m.waiting] = <uint32_t>(m.v.count - 1)
    m.pool_label[m.waiting], m.pool_most[m.waiting] = row.label, row.importance
    m.waiting += 1
    return learn_pool(m) if m.waiting == m.pool_size else OK


cdef class KernelMachine:
    """Support vectors and what they have learned; one row after the other, in batches."""

    cdef Machine m

    def __cinit__(self, config, int bits, most_held):
        """``config``: ``vwlite.learners.ksvm.KernelConfig``; ``most_held`` numbers of kernel rows are kept. MemoryError."""
        cdef Machine *m = &self.m
        m.v.kernel, m.v.degree, m.v.bandwidth, m.v.bias = config.kernel, config.degree, config.bandwidth, config.bias
        m.v.delayed, m.v.most_held = config.pool_size > 1, most_held
        m.v.oldest = m.v.newest = NOBODY
        m.lambda_, m.reprocess, m.pool_size = config.strength, config.reprocess, config.pool_size
        m.budget, m.chance = config.budget, config.chance
        m.v.dense = <float *>calloc(<size_t>1 << bits, sizeof(float))
        m.pool = <uint32_t *>malloc(m.pool_size * sizeof(uint32_t))
        m.pool_label = <float *>malloc(m.pool_size * sizeof(float))
        m.pool_most = <float *>malloc(m.pool_size * sizeof(float))
        if m.v.dense == NULL or m.pool == NULL or m.pool_label == NULL or m.pool_most == NULL:
            raise MemoryError("a kernel machine needs more memory than there is")

    def __dealloc__(self):
        free_vectors(&self.m.v)
        free(self.m.order)
        free(self.m.a)
        free(self.m.slope)
        free(self.m.label)
        free(self.m.most)
        free(self.m.kernels)
        free(self.m.pool)
        free(self.m.pool_label)
        free(self.m.pool_most)

    def run_rows(self, rows, const float[::1] label, const float[::1] importance, const uint8_t[::1] task, float[::1] raw,
                 size_t begin, size_t end, int64_t origin, bint again, const uint8_t[::1] stop):
        """Predict the rows ``[begin, end)`` in order, and learn those whose ``task`` says so.

        ``rows`` is a ``vwlite.data.batch.Csr`` whose slots ascend and are below 2^bits; ``label``, ``importance`` and ``raw``
        float32[rows], ``task`` uint8[rows]. ``origin`` numbers the row ``begin`` in the pass. Returns ``(status, row)``, the row
        behind the last one processed.
        """
        cdef const int64_t[::1] start = rows.indptr
        cdef const uint32_t[::1] index = rows.indices
        cdef const float[::1] value = rows.values
        cdef bint empty = index.shape[0] == 0
        cdef size_t i = begin
        cdef int status = OK
        cdef Row row
        if end >= <size_t>start.shape[0] or end > <size_t>min(label.shape[0], importance.shape[0], task.shape[0], raw.shape[0]):
            raise ValueError("the arrays do not fit the rows")
        row.again, row.index, row.value = again, NULL, NULL
        with nogil:
            while i < end and status == OK:
                if stop[0]:
                    status = STOPPED
                    break
                raw[i] = 0
                if task[i] != ABSENT:
                    if not empty:
                        row.index = &index[0] + start[i]
                        row.value = &value[0] + start[i]
                    row.size = start[i + 1] - start[i]
                    row.label, row.importance, row.learn = label[i], importance[i], task[i] == LEARN
                    row.origin = origin + <int64_t>(i - begin)
                    status = process(&self.m, &row, &raw[i])
                i += 1
        return status, i

    def take(self, rows, const float[::1] a, const float[::1] slope, const float[::1] label, const float[::1] most):
        """Begin with these support vectors, the rows of a ``Csr`` as ``run_rows`` has it. MemoryError."""
        cdef const int64_t[::1] start = rows.indptr
        cdef const uint32_t[::1] index = rows.indices
        cdef const float[::1] value = rows.values
        cdef Machine *m = &self.m
        cdef size_t i, size, count = start.shape[0] - 1
        for i in range(count):
            size = start[i + 1] - start[i]
            if not push_vector(&m.v, &index[start[i]] if size else NULL, &value[start[i]] if size else NULL, size, NOBODY):
                raise MemoryError("a kernel machine needs more memory than there is")
            if not append(m, m.v.count - 1, label[i], most[i]):
                raise MemoryError("a kernel machine needs more memory than there is")
            m.a[i], m.slope[i] = a[i], slope[i]

    def begin_run(self):
        """Other examples follow: no support vector is one of them."""
        cdef Vectors *v = &self.m.v
        cdef size_t i
        for i in range(v.count):
            v.vector[i].origin = NOBODY
        for i in range(v.max_origins):
            v.of_origin[i] = NOBODY

    def vectors(self):
        """The support vectors in their places: ``(indptr, indices, values)`` as in a ``Csr``."""
        cdef Machine *m = &self.m
        cdef size_t p, i, n = 0
        cdef Vector *one
        start = np.zeros(m.support + 1, np.int64)
        cdef int64_t[::1] starts = start
        for p in range(m.support):
            starts[p + 1] = starts[p] + <int64_t>m.v.vector[m.order[p]].size
        index, value = np.zeros(starts[m.support], np.uint32), np.zeros(starts[m.support], np.float32)
        cdef uint32_t[::1] indices = index
        cdef float[::1] values = value
        for p in range(m.support):
            one = &m.v.vector[m.order[p]]
            for i in range(one.start, one.start + one.size):
                indices[n], values[n] = m.v.index[i], m.v.value[i]
                n += 1
        return start, index, value

    def numbers(self):
        """float32[4, support vectors]: a, slope, label and largest a, and int64[support vectors], the examples' numbers."""
        cdef Machine *m = &self.m
        cdef size_t p
        found, origin = np.zeros((4, m.support), np.float32), np.zeros(m.support, np.int64)
        cdef float[:, ::1] number = found
        cdef int64_t[::1] origins = origin
        for p in range(m.support):
            number[0, p], number[1, p], number[2, p], number[3, p] = m.a[p], m.slope[p], m.label[p], m.most[p]
            origins[p] = m.v.vector[m.order[p]].origin
        return found, origin

    @property
    def support(self):
        return self.m.support

    @property
    def counts(self):
        """Kernels evaluated, the same as vw counts them, its queries of the cache, and mergers."""
        return self.m.v.evaluations, self.m.counted_evaluations, self.m.counted_queries, self.m.merges

    @property
    def chance(self):
        return self.m.chance

    @chance.setter
    def chance(self, value):
        self.m.chance = value
