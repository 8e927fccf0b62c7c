"""Parser of labels that are names, ``[label [importance]]``, or lists of words."""

from libc.math cimport NAN
from libc.stdint cimport uint32_t

from text.labels cimport LabelWords, read_word
from text.namespace_parser cimport Reader
from text.batch_builder cimport BatchBuilder
from base.status cimport BAD_IMPORTANCE, BAD_LABEL_WORDS, OK


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
