"""Views of a batch, a plan and a kernel's results as structs of pointers, which are valid during one call; and an estimate of whether
the slots of a learner's features are in the processor's caches anyway, so that prefetching them would be wasted work.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memset

from features.namespace_groups cimport Rows
from features.plan cimport Plan, open_map


cdef struct Results:             # arrays that a kernel fills, one entry per row
    float *prediction            # clipped and linked
    float *raw                   # the prediction before it is clipped and linked
    float *loss                  # multiplied by the importance; 0 where unlabelled
    uint32_t *features           # as Vowpal Wabbit counts them
    const uint8_t *holdout_mask  # 1: held out, only predicted; NULL when no row is held out
    float *flip_importance       # importance of an update that would change the prediction's sign; NULL unless requested


cdef inline Rows open_rows(batch):
    cdef const float[::1] label = batch.label, importance = batch.importance, initial = batch.initial_prediction
    cdef const float[::1] value = batch.value
    cdef const uint8_t[::1] flags = batch.flags, namespace_char = batch.namespace_char
    cdef const uint32_t[::1] row_namespace = batch.row_namespace, namespace_hash = batch.namespace_hash
    cdef const uint32_t[::1] namespace_start = batch.namespace_start
    cdef const uint32_t[::1] hash = batch.feature_hash
    cdef Rows rows
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
    return rows


cdef inline Plan open_plan(source):
    """A view of a ``vwlite.features.feature_plan.Plan``, whose arrays must outlive the call."""
    cdef const uint8_t[::1] redefine = source.redefine, ignore = source.ignore, nonlinear = source.nonlinear
    cdef const uint8_t[::1] ngram = source.ngram, skips = source.skips
    cdef const int32_t[::1] limit = source.limit, first_letter = source.first_letter, letters = source.letters
    cdef const int32_t[::1] pair_run = source.pair_run
    cdef const uint8_t[::1] stop = source.stop
    cdef const uint32_t[::1] name_hash = source.name_hash
    cdef uint8_t[::1] matched = source.matched
    cdef Plan plan
    plan.mask = <uint32_t>((<unsigned long long>1 << <int>source.bits) - 1)
    plan.constant, plan.permutations, plan.plain = source.constant, source.permutations, source.plain
    plan.sort = source.sort
    plan.flat = False            # kernels that need no groups set it
    plan.redefine, plan.ignore, plan.nonlinear = &redefine[0], &ignore[0], &nonlinear[0]
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
    return plan


cdef inline Results open_results(source):
    cdef float[::1] prediction = source.prediction, raw = source.raw, loss = source.loss
    cdef uint32_t[::1] features = source.features
    cdef const uint8_t[::1] mask
    cdef float[::1] flip
    cdef Results results
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
    return results


cdef enum:
    SAMPLE = 4096          # features in the sample
    TABLE_BITS = 14        # log2 of the entries of the table that counts them
    ONE_IN = 16            # slots count as cached if fewer than 1 of so many features in the sample occur only once


cdef inline bint slots_in_cache(const Rows *rows, const Plan *plan, size_t row, size_t end) noexcept nogil:
    """Judge by the first features of the rows ``[row, end)``: the share of those that occur once estimates the probability that
    the next feature has not occurred yet (Good, 1953). False where the sample is too small, or where the plan changes features.
    """
    cdef uint8_t seen[1 << TABLE_BITS]
    cdef size_t first = rows.namespace_start[rows.row_namespace[row]], i
    cdef uint32_t entry, seen_once = 0
    if not plan.plain or plan.interactions or rows.namespace_start[rows.row_namespace[end]] - first < SAMPLE:
        return False
    memset(seen, 0, sizeof(seen))
    for i in range(first, first + SAMPLE):
        entry = (rows.hash[i] & plan.mask) * <uint32_t>2654435769 >> (32 - TABLE_BITS)
        seen_once += seen[entry] == 0
        seen_once -= seen[entry] == 1
        seen[entry] += seen[entry] < 2
    return seen_once * ONE_IN < SAMPLE
