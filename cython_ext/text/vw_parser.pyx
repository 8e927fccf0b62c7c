"""Vowpal Wabbit text to arrays: one pass over the bytes, without the GIL and without an object per example."""

from libc.string cimport memchr

from text.labels cimport Words, note_tag, read_simple_label, split_words
from text.name_labels cimport note_name, read_name_label
from text.batched_hash cimport has_names
from text.namespace_parser cimport Reader, note, read_block, trouble
from text.number_parser cimport POWERS, fill_powers
from text.fast_namespace_parser cimport read_plain_block
from text.batch_builder cimport BatchBuilder
from text.line_loop cimport fill_blank, open_reader, open_builder, parse_lines
from base.status cimport AFTER_NAMESPACES, NO_BAR, OK

cdef float POWERS_OF_TEN[POWERS]
fill_powers(POWERS_OF_TEN)


cdef inline int read_namespaces(const Reader *reader, const char *bar, BatchBuilder *out) noexcept nogil:
    """``{ "|" namespace }`` up to the line's end."""
    cdef const char *p = bar
    cdef const char *stop
    cdef int status = OK
    while p != reader.end and p[0] == 124:
        p += 1
        stop = read_plain_block(reader, p, out) if reader.plain else NULL
        if stop != NULL:
            p = stop
            continue
        status = read_block(reader, &p, bar, out)
        if status != OK:
            return status
    if p != reader.end and (reader.strict or p[0] != 13):
        return trouble(reader, p, bar, AFTER_NAMESPACES, out)
    return OK


cdef inline int parse_line(const Reader *reader, const char *p, BatchBuilder *out) noexcept nogil:
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
    if reader.words:
        status = read_name_label(&words, reader, out, &where)
    else:
        status = read_simple_label(&words, reader.powers, reader.strict, out, &where)
    if status != OK:
        note(out, reader, where, p, status)
        if reader.strict:
            return status
    status = read_namespaces(reader, bar, out)
    note_tag(&words, reader.text, out.segments == first_segment, out)
    if reader.words:
        note_name(&words, reader, out)
    return status


def parse(const unsigned char[::1] text, size_t size, format, workspace):
    """Parse ``text[:size]``, whole lines followed by at least 64 readable bytes, into a workspace.

    ``format`` is a ``vwlite.data.text_format.TextFormat``. Returns ``(status, rows, segments, features, lines,
    remarks)``; with status FULL (100) the workspace was too small and holds nothing of use.
    """
    cdef Reader reader = open_reader(text, size, format, POWERS_OF_TEN)
    cdef BatchBuilder out = open_builder(workspace)
    cdef int status
    reader.plain = out.name == NULL and not reader.makes_features
    reader.lanes = has_names()
    with nogil:
        status = parse_lines(&reader, size, parse_line, &out)
    return status, out.rows, out.segments, out.features, out.lines, out.bad
