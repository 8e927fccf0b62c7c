"""The rows of a table that several processes have changed, each starting with a share of its sums."""

from libc.math cimport isnan
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef enum:
    ROWS = 4096               # of a block, whose sums stay in the cache


cdef struct Changed:          # by one process
    const uint32_t *slot
    const float *value        # a row for each slot
    size_t columns
    size_t begin, end         # the slots that are not merged yet


cdef struct Sums:             # of the rows of a block
    double change[ROWS]
    double grown[ROWS]
    double largest[ROWS]
    uint32_t touching[ROWS]   # processes


cdef size_t first_slot(const Changed *parts, size_t count) noexcept nogil:
    """The smallest slot that is left."""
    cdef size_t k, found = <size_t>-1
    for k in range(count):
        if parts[k].begin < parts[k].end and parts[k].slot[parts[k].begin] < found:
            found = parts[k].slot[parts[k].begin]
    return found


cdef void add(Changed *part, const float *table, size_t stride, float of, size_t first, Sums *s) noexcept nogil:
    """Add the changes of rows of the block that begins with the slot ``first``."""
    cdef size_t at = part.begin, row
    cdef const float *base
    cdef const float *value
    while at < part.end and part.slot[at] < first + ROWS:
        row = part.slot[at] - first
        base, value = table + stride * part.slot[at], part.value + part.columns * at
        if not s.touching[row]:
            s.change[row] = s.grown[row] = 0
            s.largest[row] = base[2]
        s.change[row] += <double>value[0] - <double>base[0]
        s.grown[row] += <double>value[1] - <double>(base[1] / of)
        if value[2] > s.largest[row] or isnan(value[2]):
            s.largest[row] = value[2]
        s.touching[row] += 1
        at += 1
    part.begin = at


cdef void merge_blocks(
    Changed *parts, size_t count, float *table, size_t stride, size_t rows, const double *divisor, Sums *s
) noexcept nogil:
    cdef size_t first, k, row
    cdef float *base
    while True:
        first = first_slot(parts, count)
        if first >= rows:
            return
        first -= first % ROWS
        memset(s.touching, 0, sizeof(s.touching))
        for k in range(count):
            add(parts + k, table, stride, <float>count, first, s)
        for row in range(min(<size_t>ROWS, rows - first)):
            if s.touching[row]:
                base = table + stride * (first + row)
                base[0] = <float>(<double>base[0] + s.change[row] / divisor[s.touching[row]])
                base[1] = <float>(<double>base[1] + s.grown[row])
                base[2] = <float>s.largest[row]


def merge_split(float[:, ::1] table, slots, values, const double[::1] divisor):
    """Merge the rows that ``len(slots)`` processes have made of those of ``table``, float32[slots, 3 or more].

    ``slots``: for each process uint32[n], ascending; ``values``: for each float32[n, 3 or more]. The first column is
    added up from its changes, divided by ``divisor``, float64[processes + 1], at the number of processes that have the
    slot; the second is the sum of the changes from ``table``'s divided by the number of processes; of the third the
    largest stays. Sums are made in the order of the processes.
    """
    cdef size_t count = len(slots), k
    cdef const uint32_t[::1] slot
    cdef const float[:, ::1] value
    cdef Changed *parts = <Changed *>malloc(count * sizeof(Changed))
    cdef Sums *sums = <Sums *>malloc(sizeof(Sums))
    try:
        if parts == NULL or sums == NULL:
            raise MemoryError("the rows of several processes need more memory than there is")
        if <size_t>divisor.shape[0] <= count or table.shape[1] < 3:
            raise ValueError("a divisor for each number of processes, and three columns")
        for k in range(count):
            slot, value = slots[k], values[k]
            if slot.shape[0] != value.shape[0] or value.shape[1] < 3:
                raise ValueError("three columns and a row for each slot")
            if slot.shape[0] and slot[slot.shape[0] - 1] >= <size_t>table.shape[0]:
                raise ValueError("slots of the table")
            if slot.shape[0]:
                parts[k].slot, parts[k].value = &slot[0], &value[0, 0]
            parts[k].columns, parts[k].begin, parts[k].end = value.shape[1], 0, slot.shape[0]
        with nogil:
            merge_blocks(parts, count, &table[0, 0], table.shape[1], table.shape[0], &divisor[0], sums)
    finally:
        free(parts)
        free(sums)
