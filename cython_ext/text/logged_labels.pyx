"""Fast reading of the commonest label of a logged decision, one word ``action:cost:probability``. Others are left to Python."""

from libc.math cimport isfinite
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memchr

from text.labels cimport read_word
from text.single_word cimport end_of_label, read_digits
from text.number_parser cimport POWERS, fill_powers
from text.batch_builder cimport TAGGED
from base.status cimport OK


cdef inline bint read_observation(const char *p, const char *end, bint tagged, const float *powers, uint32_t *action, float *cost,
                                  float *probability) noexcept nogil:
    """Read the word and, if ``tagged``, a tag from ``[p, end)``. False for anything else."""
    cdef const char *stop = end_of_label(p, end, tagged)
    cdef const char *begin = p
    cdef const char *colon
    if stop == NULL:
        return False
    p = read_digits(p, action)
    if p == begin or p[0] != 58:
        return False
    colon = <const char *>memchr(p + 1, 58, <size_t>(stop - p - 1))
    return colon != NULL and read_word(p + 1, colon, powers, True, cost) == OK and \
        read_word(colon + 1, stop, powers, True, probability) == OK and isfinite(cost[0]) and 0 < probability[0] <= 1


def read_observations(batch, const uint8_t[::1] wanted, uint32_t[::1] action, float[::1] cost, float[::1] probability,
                      uint8_t[::1] found):
    """Read the labels of the rows marked in ``wanted``. ``found`` marks those that could be read, whose other entries are filled
    in. All arrays have an entry per row.

    Raises ValueError where a span of the batch lies outside its text.
    """
    cdef const uint8_t[::1] flags = batch.flags
    cdef const uint32_t[::1] start = batch.tag_start, end = batch.tag_end
    cdef const unsigned char[::1] text = batch.text if len(batch.text) else b" "
    cdef const char *letters = <const char *>&text[0]
    cdef float powers[POWERS]
    cdef Py_ssize_t i, rows = wanted.shape[0]
    if min(flags.shape[0], start.shape[0], end.shape[0], action.shape[0], cost.shape[0], probability.shape[0], found.shape[0]) < rows:
        raise ValueError("an array is too short")
    for i in range(rows):
        if wanted[i] and (start[i] > end[i] or end[i] > text.shape[0]):
            raise ValueError("a label lies outside the text")
    fill_powers(powers)
    with nogil:
        for i in range(rows):
            found[i] = wanted[i] and read_observation(letters + start[i], letters + end[i], flags[i] & TAGGED, powers, &action[i],
                                                      &cost[i], &probability[i])
