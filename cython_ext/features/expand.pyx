"""Views of batches, plans and results for all kernels; the terms of one example for Python (audits, feature names, tests), whether the
slots of a batch are in the caches, and the terms of all rows of a batch as a CSR matrix, for learners that keep their training set
in memory.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from base.status cimport FULL, OK, STOPPED, TOO_MANY
from text.batch_builder cimport BLANK
from features.expand_row cimport expand
from features.kernel_views cimport Results, Views, open_plan, open_rows, slots_in_cache as rows_in_cache
from features.namespace_groups cimport Rows, make_groups
from features.plan cimport LETTERS, MAX_NAMES, FillFeatures, Landmarks, Plan, RandomMap
from features.row_buffer cimport Group, Scratch, close_scratch, open_scratch


cdef int open_landmarks(source, index, RandomMap *map) except -1:
    cdef const uint8_t[::1] of = source.of
    cdef const uint32_t[::1] slot = index.slot, landmark = index.landmark
    cdef const int64_t[::1] start = index.start
    cdef const float[::1] value = index.value
    cdef const float[:, ::1] whiten = index.whiten
    cdef const double[::1] norm = index.norm
    cdef Landmarks *m = &map.landmarks
    map.fill = (<FillFeatures *>PyCapsule_GetPointer(source.fill, "vwlite.random_features"))[0]
    map.kernel, map.only, map.chosen = source.kernel, source.only, source.chosen
    map.first, map.size, map.fold = source.first, norm.shape[0], (norm.shape[0] + 1) // 2
    map.of = &of[0]
    m.slots, m.slot, m.start = slot.shape[0], &slot[0], &start[0]
    m.landmark, m.value, m.norm = &landmark[0], &value[0], &norm[0]
    m.whiten = &whiten[0, 0] if whiten.shape[0] else NULL
    m.nearest, m.gamma = source.nearest, 0 if source.gamma is None else source.gamma
    return 0


cdef RandomMap open_map(source) except *:
    """A view of the map, whose arrays must outlive the call; one without ``fill`` for None."""
    cdef RandomMap map
    cdef const uint8_t[::1] of
    cdef const float[::1] sign, phase, direction
    memset(&map, 0, sizeof(map))
    if source is None:
        return map
    if source.index is not None:
        open_landmarks(source, source.index, &map)
        return map
    of, sign, phase, direction = source.of, source.sign, source.phase, source.direction
    map.fill = (<FillFeatures *>PyCapsule_GetPointer(source.fill, "vwlite.random_features"))[0]
    map.kernel, map.only, map.chosen = source.kernel, source.only, source.chosen
    map.first, map.size, map.fold = source.first, source.size, source.fold
    map.fold_key, map.sketch_key = source.fold_key, source.sketch_key
    map.scale, map.amplitude = source.scale, source.amplitude
    map.of = &of[0]
    map.sign = &sign[0] if sign.shape[0] else NULL
    map.phase = &phase[0] if phase.shape[0] else NULL
    map.direction = &direction[0] if direction.shape[0] else NULL
    return map


cdef int view_rows(batch, Rows *rows) except -1:
    cdef const float[::1] label = batch.label, importance = batch.importance, initial = batch.initial_prediction
    cdef const float[::1] value = batch.value
    cdef const uint8_t[::1] flags = batch.flags, namespace_char = batch.namespace_char
    cdef const uint32_t[::1] row_namespace = batch.row_namespace, namespace_hash = batch.namespace_hash
    cdef const uint32_t[::1] namespace_start = batch.namespace_start
    cdef const uint32_t[::1] hash = batch.feature_hash
    rows.size = label.shape[0]
    rows.label = &label[0] if rows.size else NULL
    rows.importance = &importance[0] if rows.size else NULL
    rows.initial_prediction = &initial[0] if rows.size else NULL
    rows.flags = &flags[0] if rows.size else NULL
    rows.row_namespace = &row_namespace[0]
    rows.namespace_char = &namespace_char[0] if namespace_char.shape[0] else NULL
    rows.namespace_hash = &namespace_hash[0] if namespace_hash.shape[0] else NULL
    rows.namespace_start = &namespace_start[0]
    rows.hash = &hash[0] if hash.shape[0] else NULL
    rows.value = &value[0] if value.shape[0] else NULL
    return 0


cdef int view_plan(source, Plan *plan) except -1:
    """A view of a ``vwlite.features.feature_plan.Plan``, whose arrays must outlive the call."""
    cdef const uint8_t[::1] redefine = source.redefine, ignore = source.ignore, nonlinear = source.nonlinear
    cdef const uint8_t[::1] ngram = source.ngram, skips = source.skips
    cdef const int32_t[::1] limit = source.limit, first_letter = source.first_letter, letters = source.letters
    cdef const int32_t[::1] pair_run = source.pair_run
    cdef const uint8_t[::1] stop = source.stop
    cdef const uint32_t[::1] name_hash = source.name_hash
    cdef uint8_t[::1] matched = source.matched
    plan.mask = <uint32_t>((<unsigned long long>1 << <int>source.bits) - 1)
    plan.constant, plan.permutations, plan.plain = source.constant, source.permutations, source.plain
    plan.sort = source.sort
    plan.flat = False            # kernels that need no groups set it
    plan.redefine, plan.ignore, plan.nonlinear = &redefine[0], &ignore[0], &nonlinear[0]
    plan.linear = not source.nonlinear.any()
    plan.ngram, plan.skips, plan.limit = &ngram[0], &skips[0], &limit[0]
    plan.names = name_hash.shape[0]
    plan.name_hash = &name_hash[0] if plan.names else NULL
    plan.interactions = first_letter.shape[0] - 1
    plan.first_letter = &first_letter[0]
    plan.letters = &letters[0] if plan.interactions else NULL
    plan.pair_run = &pair_run[0] if plan.interactions else NULL
    plan.stop = &stop[0]
    plan.matched = &matched[0] if plan.interactions else NULL
    plan.random = open_map(source.random)
    return 0


cdef int view_results(source, Results *results) except -1:
    cdef float[::1] prediction = source.prediction, raw = source.raw, loss = source.loss
    cdef uint32_t[::1] features = source.features
    cdef const uint8_t[::1] mask
    cdef float[::1] flip
    cdef bint any_rows = prediction.shape[0] > 0
    results.prediction = &prediction[0] if any_rows else NULL
    results.raw = &raw[0] if any_rows else NULL
    results.loss = &loss[0] if any_rows else NULL
    results.features = &features[0] if any_rows else NULL
    results.holdout_mask = NULL
    results.flip_importance = NULL
    if source.flip_importance is not None and any_rows:
        flip = source.flip_importance
        results.flip_importance = &flip[0]
    if source.holdout_mask is not None:
        mask = source.holdout_mask
        if mask.shape[0]:
            results.holdout_mask = &mask[0]
    return 0


cdef Views viewing = Views(view_rows, view_plan, view_results)
VIEWS = PyCapsule_New(&viewing, "vwlite._native.expand.VIEWS", NULL)


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
