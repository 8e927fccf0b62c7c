"""The terms of one example for Python (audits, feature names, tests), whether the slots of a batch are in the caches, and the terms of
all rows of a batch as a CSR matrix, for learners that keep their training set in memory.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy

from base.status cimport FULL, OK, STOPPED, TOO_MANY
from text.batch_builder cimport BLANK
from features.expand_row cimport expand
from features.kernel_views cimport open_plan, open_rows, slots_in_cache as rows_in_cache
from features.namespace_groups cimport Rows, make_groups
from features.plan cimport LETTERS, MAX_NAMES, Plan
from features.row_buffer cimport Group, Scratch, close_scratch, open_scratch


def expand_row(batch, plan, size_t row):
    """The terms of row ``row`` of a batch: ``(index, value, count, groups)``.

    ``index`` is the bytes of a uint32[terms], ``value`` of a float32[terms], in Vowpal Wabbit's order; ``count`` is the number
    of features as Vowpal Wabbit counts them; ``groups`` lists the namespaces of the example as ``(character, number of
    features)``, n-grams included. Raises IndexError, MemoryError, and OverflowError for more than MAX_TERMS terms.
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


def group_of_row(batch, plan, size_t row, int number):
    """The features of group ``number`` of a row, a namespace's character or ``LETTERS + k``, n-grams and limits applied.

    ``(index, value)``: the bytes of a uint32[features], unmasked, and of a float32[features]; empty where the row has no such
    group. Raises IndexError, MemoryError.
    """
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    cdef Scratch scratch
    cdef const Group *group
    cdef int status
    if row >= rows.size or not 0 <= number < LETTERS + MAX_NAMES:
        raise IndexError(row)
    open_scratch(&scratch)
    try:
        with nogil:
            status = make_groups(&rows, row, &native_plan, &scratch)
        if status != OK:
            raise MemoryError("the example's n-grams need more memory than there is")
        if scratch.where[number] < 0:
            return b"", b""
        group = &scratch.group[scratch.where[number]]
        return (
            PyBytes_FromStringAndSize(<char *>group.index, group.size * 4),
            PyBytes_FromStringAndSize(<char *>group.value, group.size * 4),
        )
    finally:
        close_scratch(&scratch)


def group_sizes(batch, plan, const int32_t[::1] numbers, uint32_t[:, ::1] sizes):
    """Fill ``sizes``, uint32[rows, numbers], with the numbers of features of these groups, as ``group_of_row`` has them.

    Raises IndexError, MemoryError.
    """
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    cdef Scratch scratch
    cdef size_t row, i, count = numbers.shape[0]
    cdef int status = OK, group
    if <size_t>sizes.shape[0] != rows.size or <size_t>sizes.shape[1] != count:
        raise IndexError("a size for every row and number")
    for i in range(count):
        if not 0 <= numbers[i] < LETTERS + MAX_NAMES:
            raise IndexError(numbers[i])
    open_scratch(&scratch)
    with nogil:
        for row in range(rows.size):
            status = make_groups(&rows, row, &native_plan, &scratch)
            if status != OK:
                break
            for i in range(count):
                group = scratch.where[numbers[i]]
                sizes[row, i] = scratch.group[group].size if group >= 0 else 0
    close_scratch(&scratch)
    if status != OK:
        raise MemoryError("the example's n-grams need more memory than there is")


def slots_in_cache(batch, plan, size_t begin, size_t end):
    """Whether a learner of the rows ``[begin, end)`` does without prefetching its slots. Raises IndexError."""
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    if not begin <= end <= rows.size:
        raise IndexError(end)
    return rows_in_cache(&rows, &native_plan, begin, end)


def flatten(batch, plan, int64_t[::1] start, uint32_t[::1] index, float[::1] value):
    """Fill ``start`` int64[rows + 1], ``index`` uint32[n] and ``value`` float32[n] with the terms of every row; blank rows have
    none.

    Returns ``(status, terms)``. With status FULL (100) the arrays are too small; ``terms`` is then the number of terms of the
    rows so far and the one that did not fit. With any other status but OK ``terms`` is the row at which it stopped.
    """
    cdef Rows rows = open_rows(batch)
    cdef Plan native_plan = open_plan(plan)
    cdef Scratch scratch
    cdef size_t row, count = 0, capacity = index.shape[0]
    cdef int status = OK
    native_plan.flat = plan.flat
    if <size_t>start.shape[0] != rows.size + 1 or value.shape[0] != index.shape[0]:
        raise ValueError("the arrays do not fit the batch")
    open_scratch(&scratch)
    with nogil:
        start[0] = 0
        for row in range(rows.size):
            if native_plan.stop[0]:
                status = STOPPED
                break
            if rows.flags[row] & BLANK:
                start[row + 1] = count
                continue
            status = expand(&rows, row, &native_plan, &scratch)
            if status != OK:
                count = row
                break
            if count + scratch.terms > capacity:
                count += scratch.terms
                status = FULL
                break
            if scratch.terms:
                memcpy(&index[count], scratch.index, scratch.terms * sizeof(uint32_t))
                memcpy(&value[count], scratch.value, scratch.terms * sizeof(float))
            count += scratch.terms
            start[row + 1] = count
        close_scratch(&scratch)
    return status, count
