"""Vowpal Wabbit text to arrays: one pass over the bytes, without the GIL and without an object per example."""

from libc.string cimport memchr

from core.labels cimport Words, note_tag, read_simple_label, split_words
from core.namespaces cimport Reader, note, read_namespaces
from core.numbers cimport POWERS, fill_powers
from core.rows cimport Sink
from core.sink cimport fill_blank, open_reader, open_sink, parse_lines
from core.status cimport NO_BAR, OK

cdef float POWERS_OF_TEN[POWERS]
fill_powers(POWERS_OF_TEN)


cdef inline int parse_line(const Reader *reader, const char *p, Sink *out) noexcept nogil:
    """Parse ``[p, reader.end)`` into row ``out.rows``; any status but OK means the row must not be kept."""
    cdef Words words
    cdef const char *bar
    cdef const char *where = p
    cdef size_t first_segment = out.segments
    cdef int status
    bar = <const char *>memchr(p, 124, <size_t>(reader.end - p)) if p != reader.end else NULL
    if bar == NULL:
        bar = reader.end
        if p == reader.end:
            fill_blank(out)
            return OK
        if reader.strict:
            note(out, reader, p, p, NO_BAR)
            return NO_BAR
    split_words(p, bar, &words)
    status = read_simple_label(&words, reader.powers, reader.strict, out, &where)
    if status != OK:
        note(out, reader, where, p, status)
        if reader.strict:
            return status
    status = read_namespaces(reader, bar, out)
    note_tag(&words, reader.text, out.segments == first_segment, out)
    return status


def parse(const unsigned char[::1] text, size_t size, format, workspace):
    """Parse ``text[:size]``, whole lines followed by at least 64 readable bytes, into a workspace.

    ``format`` is a ``vwlite.parsing.TextFormat``. Returns ``(status, rows, segments, features, lines,
    remarks)``; with status FULL (100) the workspace was too small and holds nothing of use.
    """
    cdef Reader reader = open_reader(text, size, format, POWERS_OF_TEN)
    cdef Sink out = open_sink(workspace)
    cdef int status
    with nogil:
        status = parse_lines(&reader, size, parse_line, &out)
    return status, out.rows, out.segments, out.features, out.lines, out.bad
