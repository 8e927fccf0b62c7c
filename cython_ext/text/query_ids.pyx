"""Query ids: a 64-bit hash of each row's tag or of the features of one namespace."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from base.splitmix64 cimport mix64


cdef inline uint64_t hash_bytes(const uint8_t *text, size_t begin, size_t end) noexcept nogil:
    """64-bit FNV-1a (Fowler, Noll and Vo), mixed by SplitMix64's finaliser."""
    cdef uint64_t h = <uint64_t>0xcbf29ce484222325
    cdef size_t i
    for i in range(begin, end):
        h = (h ^ text[i]) * <uint64_t>0x100000001b3
    return mix64(h)


def tag_numbers(batch, uint64_t[::1] out):
    """Fill ``out``, uint64[rows], with a hash of each row's tag."""
    cdef const uint32_t[::1] start = batch.tag_start, end = batch.tag_end
    cdef const uint8_t[::1] text = memoryview(batch.text).cast("B")
    cdef const uint8_t *bytes = &text[0] if text.shape[0] else NULL
    cdef Py_ssize_t i
    if out.shape[0] > start.shape[0] or out.shape[0] > end.shape[0]:
        raise ValueError("the batch has fewer rows")
    with nogil:
        for i in range(out.shape[0]):
            out[i] = hash_bytes(bytes, start[i], end[i])


def namespace_numbers(batch, uint32_t name_hash, uint8_t character, uint64_t[::1] out):
    """Fill ``out``, uint64[rows], with a hash of the features, in order, that each row has in one namespace; 0 without any."""
    cdef const uint32_t[::1] row_namespace = batch.row_namespace, namespace_hash = batch.namespace_hash
    cdef const uint32_t[::1] namespace_start = batch.namespace_start
    cdef const uint32_t[::1] feature = batch.feature_hash
    cdef const uint8_t[::1] namespace_char = batch.namespace_char
    cdef const float[::1] value = batch.value
    cdef Py_ssize_t i
    cdef uint32_t j, k, bits
    cdef uint64_t h
    if out.shape[0] >= row_namespace.shape[0]:
        raise ValueError("the batch has fewer rows")
    with nogil:
        for i in range(out.shape[0]):
            h = 0
            for j in range(row_namespace[i], row_namespace[i + 1]):
                if namespace_hash[j] == name_hash and namespace_char[j] == character:
                    for k in range(namespace_start[j], namespace_start[j + 1]):
                        memcpy(&bits, &value[k], 4)
                        h = mix64(h + <uint64_t>0x9e3779b97f4a7c15 + (<uint64_t>feature[k] << 32 | bits))
            out[i] = h
