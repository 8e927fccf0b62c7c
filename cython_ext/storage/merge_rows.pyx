"""The rows of a table that several processes have changed, each starting with a share of its sums."""

from libc.math cimport isnan
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef enum:
    ROWS = 4096               # of a block, whose sums stay in the cache


cdef struct Changed:          # by one process
    const uint32_t *slot
    const float *column[3]
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
    cdef float largest
    while at < part.end and part.slot[at] < first + ROWS:
        row = part.slot[at] - first
        base, largest = table + stride * part.slot[at], part.column[2][at]
        if not s.touching[row]:
            s.change[row] = s.grown[row] = 0
            s.largest[row] = base[2]
        s.change[row] += <double>part.column[0][at] - <double>base[0]
        s.grown[row] += <double>part.column[1][at] - <double>(base[1] / of)
        if largest > s.largest[row] or isnan(largest):
            s.largest[row] = largest
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


def merge_split(float[:, ::1] table, slots, columns, const double[::1] divisor):
    """Merge the rows that ``len(slots)`` processes have made of those of ``table``, float32[slots, 3 or more].

    ``slots``: for each process uint32[n], ascending; ``columns``: for each three of float32[n]. The first column is
    added up from its changes, divided by ``divisor``, float64[processes + 1], at the number of processes that have the
    slot; the second is the sum of the changes from ``table``'s divided by the number of processes; of the third the
    largest stays. Sums are made in the order of the processes. Raises ValueError where the arrays do not fit.
    """
    cdef size_t count = len(slots), k, c
    cdef const uint32_t[::1] slot
    cdef const float[::1] column
    cdef Changed *parts = <Changed *>malloc(count * sizeof(Changed))
    cdef Sums *sums = <Sums *>malloc(sizeof(Sums))
    try:
        if parts == NULL or sums == NULL:
            raise MemoryError("the rows of several processes need more memory than there is")
        if <size_t>divisor.shape[0] <= count or table.shape[1] < 3:
            raise ValueError("a divisor for each number of processes, and three columns")
        for k in range(count):
            slot = slots[k]
            if len(columns[k]) != 3:
                raise ValueError("three columns")
            for c in range(3):
                column = columns[k][c]
                if column.shape[0] != slot.shape[0]:
                    raise ValueError("a number for each slot")
                parts[k].column[c] = &column[0] if slot.shape[0] else NULL
            if slot.shape[0] and slot[slot.shape[0] - 1] >= <size_t>table.shape[0]:
                raise ValueError("slots of the table")
            parts[k].slot = &slot[0] if slot.shape[0] else NULL
            parts[k].begin, parts[k].end = 0, slot.shape[0]
        with nogil:
            merge_blocks(parts, count, &table[0, 0], table.shape[1], table.shape[0], &divisor[0], sums)
    finally:
        free(parts)
        free(sums)
