"""The words before the first bar where labels are names, ``[label [importance]]``, or lists of words."""

from libc.math cimport NAN
from libc.stdint cimport uint32_t

from text.labels cimport Words, read_word
from text.namespace_parser cimport Reader
from text.batch_builder cimport BatchBuilder
from base.status cimport BAD_IMPORTANCE, BAD_LABEL_WORDS, OK


cdef inline int read_name_label(const Words *words, const Reader *reader, BatchBuilder *out, const char **where) noexcept nogil:
    """Importance of row ``out.rows``; its label is 1, or NaN without a name. On trouble ``where`` is the word."""
    cdef size_t row = out.rows
    cdef int status
    out.label[row], out.importance[row], out.base[row] = 1 if words.count else NAN, 1, 0
    if words.count < 2 or reader.lists:
        return OK
    where[0] = words.start[1]
    if words.count > 2:
        return BAD_LABEL_WORDS
    status = read_word(words.start[1], words.end[1], reader.powers, reader.strict, out.importance + row)
    if status == OK and reader.strict and out.importance[row] < 0:
        return BAD_IMPORTANCE
    return status


cdef inline void note_name(const Words *words, const Reader *reader, BatchBuilder *out) noexcept nogil:
    """The span of the row's tag begins with its label, and is just its name, or its words, where there is no tag."""
    cdef const char *text = reader.text
    cdef size_t row = out.rows
    if words.count:
        out.tag_start[row] = <uint32_t>(words.start[0] - text)
        if words.tag == words.tag_end and not reader.lists:
            out.tag_end[row] = <uint32_t>(words.end[0] - text)
