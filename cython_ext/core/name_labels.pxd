"""The part of a line before the first bar where labels are names: ``[label [importance]] [tag]``."""

from libc.math cimport NAN
from libc.stdint cimport uint32_t

from core.labels cimport read_word
from core.namespaces cimport Reader
from core.rows cimport TAGGED, Sink
from core.status cimport BAD_IMPORTANCE, BAD_LABEL_WORDS, OK


cdef inline const char *word_end(const char *p, const char *end) noexcept nogil:
    while p != end and p[0] != 32 and p[0] != 9:
        p += 1
    return p


cdef inline const char *next_word(const char *p, const char *end) noexcept nogil:
    while p != end and (p[0] == 32 or p[0] == 9):
        p += 1
    return p


cdef inline int read_name_label(const char *p, const char *bar, const Reader *reader, Sink *out, const char **where) noexcept nogil:
    """The label's place goes where that of a tag goes elsewhere; ``out.label`` is 1, or NaN without a label.

    A word that touches the bar is a tag and not kept, and so is one after the label that begins with an apostrophe.
    """
    cdef size_t row = out.rows
    cdef const char *stop
    cdef int words = 0, status
    out.label[row], out.importance[row], out.base[row] = NAN, 1, 0
    out.flags[row] = 0
    out.tag_start[row] = out.tag_end[row] = <uint32_t>(bar - reader.text)
    p = next_word(p, bar)
    while p != bar:
        stop = word_end(p, bar)
        if stop == bar or (words and p[0] == 39):
            return OK
        where[0] = p
        if words == 0:
            out.label[row], out.flags[row] = 1, TAGGED
            out.tag_start[row], out.tag_end[row] = <uint32_t>(p - reader.text), <uint32_t>(stop - reader.text)
        elif words == 1:
            status = read_word(p, stop, reader.powers, reader.strict, out.importance + row)
            if status != OK:
                return status
            if reader.strict and out.importance[row] < 0:
                return BAD_IMPORTANCE
        else:
            return BAD_LABEL_WORDS
        words += 1
        p = next_word(stop, bar)
    return OK
