"""Copying rows of many batches, in any order, into one batch; and random orders."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from base.byte_scan cimport prefetch
from base.splitmix64 cimport mix64
from text.batch_builder cimport TAGGED, BatchBuilder
from text.line_loop cimport open_builder
from base.status cimport FULL, OK

# Columns of the address table, in order.
COLUMNS = ("label", "importance", "initial_prediction", "flags", "row_namespace", "namespace_char", "namespace_hash",
           "namespace_start", "feature_hash", "value")


cdef inline bint copy_row(const uint64_t *address, size_t row, BatchBuilder *out) noexcept nogil:
    """Append a row of the batch whose arrays begin at ``address``; False when it does not fit into ``out``."""
    cdef const uint32_t *row_namespace = <const uint32_t *>address[4]
    cdef const uint32_t *namespace_start = <const uint32_t *>address[7]
    cdef size_t first = row_namespace[row], segments = row_namespace[row + 1] - first
    cdef size_t begin = namespace_start[first], features = namespace_start[first + segments] - begin, j
    if out.segments + segments > out.max_segments or out.features + features > out.max_features:
        return False
    out.label[out.rows] = (<const float *>address[0])[row]
    out.importance[out.rows] = (<const float *>address[1])[row]
    out.initial_prediction[out.rows] = (<const float *>address[2])[row]
    out.flags[out.rows] = (<const uint8_t *>address[3])[row] & ~TAGGED      # tags are not copied
    out.line[out.rows] = 0
    out.tag_start[out.rows] = out.tag_end[out.rows] = 0
    out.row_namespace[out.rows] = <uint32_t>out.segments
    memcpy(out.namespace_char + out.segments, (<const uint8_t *>address[5]) + first, segments)
    memcpy(out.namespace_hash + out.segments, (<const uint32_t *>address[6]) + first, segments * sizeof(uint32_t))
    for j in range(segments):
        out.namespace_start[out.segments + j] = <uint32_t>(namespace_start[first + j] - begin + out.features)
    memcpy(out.hash + out.features, (<const uint32_t *>address[8]) + begin, features * sizeof(uint32_t))
    memcpy(out.value + out.features, (<const float *>address[9]) + begin, features * sizeof(float))
    out.segments += segments
    out.features += features
    out.rows += 1
    return True


cdef inline void prefetch_rows(const uint64_t[:, ::1] address, const int64_t[::1] batch, const int64_t[::1] row,
                               Py_ssize_t i) noexcept nogil:
    """Prefetch the data of rows after row ``i``, which are scattered in memory: the row's own fields 24 rows ahead, its
    segments, whose position these tell, 16 rows ahead, and its features, whose position the segments tell, 8 rows ahead.
    """
    cdef const uint64_t *at
    cdef const uint32_t *row_namespace
    cdef const uint32_t *namespace_start
    cdef uint32_t segment, feature
    if i + 24 < row.shape[0]:
        at = &address[batch[i + 24], 0]
        prefetch(<const float *>at[0] + row[i + 24])
        prefetch(<const float *>at[1] + row[i + 24])
        prefetch(<const float *>at[2] + row[i + 24])
        prefetch(<const uint8_t *>at[3] + row[i + 24])
        prefetch(<const uint32_t *>at[4] + row[i + 24])
    if i + 16 < row.shape[0]:
        at = &address[batch[i + 16], 0]
        row_namespace = <const uint32_t *>at[4]
        segment = row_namespace[row[i + 16]]
        prefetch(<const uint8_t *>at[5] + segment)
        prefetch(<const uint32_t *>at[6] + segment)
        prefetch(<const uint32_t *>at[7] + segment)
    if i + 8 < row.shape[0]:
        at = &address[batch[i + 8], 0]
        row_namespace = <const uint32_t *>at[4]
        namespace_start = <const uint32_t *>at[7]
        feature = namespace_start[row_namespace[row[i + 8]]]
        prefetch(<const uint32_t *>at[8] + feature)
        prefetch(<const float *>at[9] + feature)


def gather(const uint64_t[:, ::1] address, const int64_t[::1] batch, const int64_t[::1] row, workspace):
    """Copy row ``row[i]`` of batch ``batch[i]`` for every i into a ``vwlite.data.text_format.Workspace``.

    ``address`` holds, per batch, where the arrays of ``COLUMNS`` begin. Returns ``(status, rows, segments, features)``; with
    status FULL the workspace is too small.
    """
    cdef BatchBuilder out = open_builder(workspace)
    cdef Py_ssize_t i
    cdef int status = OK
    if address.shape[1] != len(COLUMNS) or batch.shape[0] != row.shape[0]:
        raise ValueError("the addresses or the rows do not fit")
    if <size_t>row.shape[0] > out.max_rows:
        return FULL, 0, 0, 0
    with nogil:
        for i in range(row.shape[0]):
            prefetch_rows(address, batch, row, i)
            if not copy_row(&address[batch[i], 0], <size_t>row[i], &out):
                status = FULL
                break
        out.row_namespace[out.rows] = <uint32_t>out.segments
        out.namespace_start[out.segments] = <uint32_t>out.features
    return status, out.rows, out.segments, out.features


def shuffle(int64_t[::1] order, uint64_t seed):
    """Permute ``order`` at random, depending only on ``seed`` (Fisher and Yates)."""
    cdef Py_ssize_t i, j
    cdef int64_t swapped
    cdef uint64_t bits, state = seed
    with nogil:
        for i in range(order.shape[0] - 1, 0, -1):
            state += <uint64_t>0x9e3779b97f4a7c15
            bits = mix64(state)
            j = <Py_ssize_t>(bits % <uint64_t>(i + 1))
            swapped = order[i]
            order[i] = order[j]
            order[j] = swapped
