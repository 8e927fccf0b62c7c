"""Rows of batches: their shapes, for the cache; copies of rows of many batches, in any order, in one batch; and random orders.

The shape of a row is its namespaces and the number of features in each; most rows repeat the shape of an earlier row.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy

from base.byte_scan cimport prefetch
from base.random cimport mix64
from base.status cimport FULL, OK
from text.batch_builder cimport TAGGED, BatchBuilder
from text.line_loop cimport open_builder

cdef enum:
    MAX_PROBES = 64               # slots probed; a row whose shape is not found by then gets a new number


cdef struct Segments:      # of a batch, see vwlite/data/batch.py
    const uint32_t *row_namespace  # (rows + 1,)
    const uint32_t *hash           # (segments,) namespace_hash
    const uint32_t *start          # (segments + 1,) namespace_start
    const uint8_t *letter          # (segments,) namespace_char


cdef inline uint64_t hash_row(const Segments *all, size_t row) noexcept nogil:
    """A hash of the row's shape: a sum with a different factor for each segment, so that the products are independent."""
    cdef uint64_t h = 0, size, factor = <uint64_t>0x9E3779B97F4A7C15
    cdef size_t i
    for i in range(all.row_namespace[row], all.row_namespace[row + 1]):
        size = all.start[i + 1] - all.start[i]
        h += (all.hash[i] ^ size << 32 ^ <uint64_t>all.letter[i] << 56) * factor
        factor += <uint64_t>0xD1B54A32D192ED02
    return h ^ h >> 32


cdef inline bint same_shape(const Segments *all, size_t row, size_t other) noexcept nogil:
    cdef size_t a = all.row_namespace[row], b = all.row_namespace[other], n = all.row_namespace[row + 1] - a, i
    if all.row_namespace[other + 1] - b != n:
        return False
    if n and (memcmp(all.letter + a, all.letter + b, n) != 0 or memcmp(all.hash + a, all.hash + b, 4 * n) != 0):
        return False
    for i in range(n):
        if all.start[a + i + 1] - all.start[a + i] != all.start[b + i + 1] - all.start[b + i]:
            return False
    return True


cdef inline uint32_t find_shape(const Segments *all, size_t row, uint32_t *table, size_t mask, uint32_t *first,
                                uint32_t shapes) noexcept nogil:
    """The number of the row's shape. A new shape gets the number ``shapes``, and the row is recorded as its first."""
    cdef size_t slot = hash_row(all, row) & mask
    cdef int probe
    for probe in range(MAX_PROBES):
        if table[slot] == 0:
            table[slot] = shapes + 1
            break
        if same_shape(all, row, first[table[slot] - 1]):
            return table[slot] - 1
        slot = (slot + 1) & mask
    first[shapes] = <uint32_t>row
    return shapes


def find_shapes(batch, uint32_t[::1] shape, uint32_t[::1] first):
    """Number the shapes of a batch's rows in order of first appearance; returns the number of shapes.

    ``shape``, uint32[rows], is filled with the number of each row's shape, ``first``, uint32[rows], with the first row of each
    shape. Raises MemoryError.
    """
    cdef const uint32_t[::1] row_namespace = batch.row_namespace, namespace_hash = batch.namespace_hash
    cdef const uint32_t[::1] namespace_start = batch.namespace_start
    cdef const uint8_t[::1] namespace_char = batch.namespace_char
    cdef size_t rows = shape.shape[0], slots = 64, row
    cdef uint32_t shapes = 0
    cdef uint32_t *table
    cdef Segments all
    if not rows:
        return 0
    if <size_t>row_namespace.shape[0] <= rows or <size_t>first.shape[0] < rows \
            or namespace_start.shape[0] <= row_namespace[rows] \
            or namespace_hash.shape[0] < row_namespace[rows] or namespace_char.shape[0] < row_namespace[rows]:
        raise IndexError("the rows lie outside the batch")
    all = Segments(&row_namespace[0], NULL, &namespace_start[0], NULL)
    if row_namespace[rows]:
        all.hash, all.letter = &namespace_hash[0], &namespace_char[0]
    while slots < 2 * rows:
        slots *= 2
    table = <uint32_t *>calloc(slots, sizeof(uint32_t))
    if table == NULL:
        raise MemoryError("not enough memory to pack a batch")
    with nogil:
        for row in range(rows):
            shape[row] = find_shape(&all, row, table, slots - 1, &first[0], shapes)
            shapes += shape[row] == shapes
    free(table)
    return shapes


def segment_offsets(const uint32_t[::1] row_namespace, const uint32_t[::1] first, uint32_t[::1] start):
    """Fill ``start``, uint32[shapes + 1], with the offsets of each shape's segments in the list of all; returns their total
    number.

    ``first``, uint32[shapes], as filled by ``find_shapes``.
    """
    cdef size_t shape, total = 0
    if start.shape[0] != first.shape[0] + 1:
        raise IndexError("there are not as many offsets as shapes")
    for shape in range(<size_t>first.shape[0]):
        start[shape] = <uint32_t>total
        if first[shape] + <size_t>1 >= <size_t>row_namespace.shape[0]:
            raise IndexError("the rows lie outside the batch")
        total += row_namespace[first[shape] + 1] - row_namespace[first[shape]]
    start[first.shape[0]] = <uint32_t>total
    return total


def copy_segments(batch, const uint32_t[::1] first, parts):
    """Copy the segments of each shape, from its first row, to ``parts``, whose first array is already filled; see
    ``expand_shapes``.
    """
    cdef const uint32_t[::1] row_namespace = batch.row_namespace, namespace_hash = batch.namespace_hash
    cdef const uint32_t[::1] namespace_start = batch.namespace_start
    cdef const uint8_t[::1] namespace_char = batch.namespace_char
    cdef const uint32_t[::1] start = parts[0]
    cdef uint32_t[::1] part_hash = parts[1], part_size = parts[2]
    cdef uint8_t[::1] part_char = parts[3]
    cdef size_t shape, i, at, segments = min(namespace_hash.shape[0], namespace_char.shape[0],
                                             max(namespace_start.shape[0] - 1, 0))
    cdef size_t capacity = min(part_hash.shape[0], part_size.shape[0], part_char.shape[0])
    if start.shape[0] <= first.shape[0]:
        raise IndexError("there are not as many offsets as shapes")
    for shape in range(<size_t>first.shape[0]):
        at = start[shape]
        if first[shape] + <size_t>1 >= <size_t>row_namespace.shape[0]:
            raise IndexError("the rows lie outside the batch")
        for i in range(row_namespace[first[shape]], row_namespace[first[shape] + 1]):
            if at >= capacity or i >= segments:
                raise IndexError("the segments lie outside the batch")
            part_hash[at], part_char[at] = namespace_hash[i], namespace_char[i]
            part_size[at] = namespace_start[i + 1] - namespace_start[i]
            at += 1


cdef inline bint expand_rows(const uint32_t[::1] shape, const uint32_t[::1] part, const uint32_t[::1] part_hash,
                             const uint32_t[::1] part_size, const uint8_t[::1] part_char, uint32_t[::1] row_namespace,
                             uint32_t[::1] namespace_hash, uint32_t[::1] namespace_start, uint8_t[::1] namespace_char,
                             uint64_t features) noexcept nogil:
    cdef uint64_t feature = 0
    cdef size_t row, i, at = 0, capacity = namespace_hash.shape[0], begin, n
    for row in range(<size_t>shape.shape[0]):
        row_namespace[row] = <uint32_t>at
        if shape[row] >= <size_t>part.shape[0] - 1:
            return False
        begin, n = part[shape[row]], part[shape[row] + 1] - part[shape[row]]
        if n > capacity - at:
            return False
        if n:
            memcpy(&namespace_hash[at], &part_hash[begin], 4 * n)
            memcpy(&namespace_char[at], &part_char[begin], n)
        for i in range(n):
            namespace_start[at + i] = <uint32_t>feature
            feature += part_size[begin + i]
        at += n
    row_namespace[shape.shape[0]] = <uint32_t>at
    namespace_start[at] = <uint32_t>feature
    return at == capacity and feature == features


def expand_shapes(parts, const uint32_t[::1] shape, batch, uint64_t features):
    """Fill the columns ``row_namespace``, ``namespace_hash``, ``namespace_start`` and ``namespace_char`` of a batch, given in
    this order, from the shapes of its rows, uint32[rows].

    ``parts`` are the segments of all shapes, four arrays: offsets of each shape's segments, uint32[shapes + 1], then the
    segments' hashes, numbers of features and characters. Raises ValueError where shapes, segments and ``features`` do not fit
    together.
    """
    cdef const uint32_t[::1] start = parts[0], part_hash = parts[1], part_size = parts[2]
    cdef const uint8_t[::1] part_char = parts[3]
    cdef uint32_t[::1] row_namespace = batch[0], namespace_hash = batch[1], namespace_start = batch[2]
    cdef uint8_t[::1] namespace_char = batch[3]
    cdef bint fits = start.shape[0] > 0 and start[start.shape[0] - 1] == part_hash.shape[0]
    fits = fits and part_hash.shape[0] == part_size.shape[0] == part_char.shape[0]
    fits = fits and row_namespace.shape[0] == shape.shape[0] + 1 and namespace_start.shape[0] == namespace_hash.shape[0] + 1
    fits = fits and namespace_char.shape[0] == namespace_hash.shape[0] and features < <uint64_t>1 << 32
    if fits:
        with nogil:
            fits = expand_rows(shape, start, part_hash, part_size, part_char, row_namespace, namespace_hash, namespace_start,
                               namespace_char, features)
    if not fits:
        raise ValueError("rows do not fit their shapes")


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
