"""Parser of the part of a line before the first bar: the words of the label, which is a number, a name ``[label [importance]]`` or a
list of words, and the tag.
"""

from libc.math cimport NAN, isfinite, isnan
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memchr, memcmp

from base.status cimport BAD_IMPORTANCE, BAD_LABEL_NUMBER, BAD_LABEL_WORDS, NOT_FINITE, OK
from text.batch_builder cimport SAVE, TAGGED, BatchBuilder
from text.namespace_parser cimport Reader
from text.number_parser cimport is_number_form, read_number


cdef struct LabelWords:
    const char *start[3]   # the first three words
    const char *end[3]
    int count              # number of words, the tag not included
    const char *tag        # empty without a tag
    const char *tag_end


cdef inline void split_words(const char *p, const char *end, LabelWords *words) noexcept nogil:
    """Split ``[p, end)`` at spaces. The last word is the tag when it touches ``end`` or begins with an apostrophe.

    Text before a tab is ignored.
    """
    cdef const char *tab = <const char *>memchr(p, 9, <size_t>(end - p)) if p != end else NULL
    cdef const char *last = NULL
    cdef const char *last_end = NULL
    words.count = 0
    words.tag = words.tag_end = end
    if tab != NULL:
        p = tab + 1
    while True:
        while p != end and p[0] == 32:
            p += 1
        if p == end:
            break
        last = p
        while p != end and p[0] != 32:
            p += 1
        last_end = p
        if words.count < 3:
            words.start[words.count] = last
            words.end[words.count] = p
        words.count += 1
    if last != NULL and (last_end == end or last[0] == 39):
        words.count -= 1
        words.tag = last + (last[0] == 39)
        words.tag_end = last_end


cdef inline int read_word(const char *p, const char *end, const float *powers, bint skip_malformed, float *out) noexcept nogil:
    """Read a word of a label as float32. A word that is not a number gives 0 and the status BAD_LABEL_NUMBER."""
    cdef const char *stop = read_number(p, end, powers, out)
    if stop == p or stop > end or isnan(out[0]):
        out[0] = 0
        return BAD_LABEL_NUMBER
    if not skip_malformed:
        return OK
    if stop != end:
        return BAD_LABEL_NUMBER
    if not isfinite(out[0]):
        return NOT_FINITE
    return OK if is_number_form(p, stop) else BAD_LABEL_NUMBER


cdef inline int read_simple_label(const LabelWords *words, const float *powers, bint skip_malformed, BatchBuilder *out,
                                  const char **error_at) noexcept nogil:
    """``[label [importance [base]]]`` into row ``out.rows``. Where the status is not OK, ``error_at`` is the word at fault."""
    cdef size_t row = out.rows
    cdef int status = OK, code
    cdef float *fields[3]
    cdef int i
    out.label[row] = NAN
    out.importance[row] = 1
    out.initial_prediction[row] = 0
    if words.count == 0:
        return OK
    error_at[0] = words.start[0]
    if words.count > 3:
        return BAD_LABEL_WORDS
    fields[0] = out.label + row
    fields[1] = out.importance + row
    fields[2] = out.initial_prediction + row
    for i in range(words.count):
        code = read_word(words.start[i], words.end[i], powers, skip_malformed, fields[i])
        if code != OK and status == OK:
            status = code
            error_at[0] = words.start[i]
    if skip_malformed and status == OK and out.importance[row] < 0:
        error_at[0] = words.start[1]
        return BAD_IMPORTANCE
    return status


cdef inline void record_tag(const LabelWords *words, const char *text, bint featureless, BatchBuilder *out) noexcept nogil:
    cdef size_t row = out.rows, length = <size_t>(words.tag_end - words.tag)
    cdef uint8_t flags = TAGGED if length else 0
    if featureless and length >= 4 and memcmp(words.tag, b"save", 4) == 0:
        flags |= SAVE
    out.flags[row] = flags
    out.tag_start[row] = <uint32_t>(words.tag - text)
    out.tag_end[row] = <uint32_t>(words.tag_end - text)


cdef inline int read_name_label(const LabelWords *words, const Reader *reader, BatchBuilder *out,
                                const char **error_at) noexcept nogil:
    """Read the importance of row ``out.rows`` and set its label to 1, or to NaN without a name. Where the status is not OK,
    ``error_at`` is the word at fault.
    """
    cdef size_t row = out.rows
    cdef int status
    out.label[row], out.importance[row], out.initial_prediction[row] = 1 if words.count else NAN, 1, 0
    if words.count < 2 or reader.label_lists:
        return OK
    error_at[0] = words.start[1]
    if words.count > 2:
        return BAD_LABEL_WORDS
    status = read_word(words.start[1], words.end[1], reader.powers, reader.skip_malformed, out.importance + row)
    if status == OK and reader.skip_malformed and out.importance[row] < 0:
        return BAD_IMPORTANCE
    return status


cdef inline void record_label_span(const LabelWords *words, const Reader *reader, BatchBuilder *out) noexcept nogil:
    """Extend the span of the row's tag to the left to include the label. Without a tag it is the label's name or, with lists,
    all words.
    """
    cdef const char *text = reader.text
    cdef size_t row = out.rows
    if words.count:
        out.tag_start[row] = <uint32_t>(words.start[0] - text)
        if words.tag == words.tag_end and not reader.label_lists:
            out.tag_end[row] = <uint32_t>(words.end[0] - text)
