"""The flat row of one example, for whoever needs it outside a kernel: audits, names, tests; and whether slots are near."""

from cpython.bytes cimport PyBytes_FromStringAndSize

from features.expand_row cimport expand
from features.namespace_groups cimport Rows
from features.cache_residency cimport are_near
from features.plan cimport LETTERS, Plan
from features.row_buffer cimport Scratch, close_scratch, open_scratch
from base.status cimport OK, TOO_MANY
from features.kernel_views cimport open_plan, open_rows


def expand_row(batch, plan, size_t row):
    """Terms of row ``row`` of a batch: ``(index, value, count, groups)``.

    ``index`` is the bytes of a uint32[terms], ``value`` of a float32[terms], in Vowpal Wabbit's order; ``count`` is the number of
    features as it counts them; ``groups`` lists ``(letter, features)`` of the example's namespaces, n-grams included. Raises
    IndexError, MemoryError, and OverflowError for more terms than are handled.
    """
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    cdef Scratch scratch
    cdef int status, g
    if row >= rows.size:
        raise IndexError(row)
    open_scratch(&scratch)
    try:
        with nogil:
            status = expand(&rows, row, &native_plan, &scratch)
        if status == TOO_MANY:
            raise OverflowError("the row makes too many features")
        if status != OK:
            raise MemoryError("the example's interactions need more memory than there is")
        groups = [
            (scratch.group[g].number, scratch.group[g].size)
            for g in range(scratch.groups)
            if scratch.group[g].number < LETTERS
        ]
        return (
            PyBytes_FromStringAndSize(<char *>scratch.index, scratch.terms * 4),
            PyBytes_FromStringAndSize(<char *>scratch.value, scratch.terms * 4),
            scratch.count,
            groups,
        )
    finally:
        close_scratch(&scratch)


def slots_are_near(batch, plan, size_t begin, size_t end):
    """Whether a learner of the rows ``[begin, end)`` spares the asking for its slots ahead. Raises IndexError."""
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    if not begin <= end <= rows.size:
        raise IndexError(end)
    return are_near(&rows, &native_plan, begin, end)
