"""Parser of Vowpal Wabbit text: one pass over the bytes, without the GIL and without a Python object per example."""

from libc.string cimport memchr

from text.labels cimport LabelWords, record_tag, read_simple_label, split_words
from text.name_labels cimport record_label_span, read_name_label
from text.batched_hash cimport has_batched_hash
from text.namespace_parser cimport Reader, make_block_features, record_issue, read_block, report_issue
from text.number_parser cimport POWERS, fill_powers
from text.fast_namespace_parser cimport read_simple_block
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
        if reader.makes_features:
            status = make_block_features(reader, p, bar, out)
            if status != OK:
                return status
        stop = read_simple_block(reader, p, out) if reader.fast_path else NULL
        if stop != NULL:
            p = stop
            continue
        status = read_block(reader, &p, bar, out)
        if status != OK:
            return status
    if p != reader.end and (reader.skip_malformed or p[0] != 13):
        return report_issue(reader, p, bar, AFTER_NAMESPACES, out)
    return OK


cdef inline int parse_line(const Reader *reader, const char *p, BatchBuilder *out) noexcept nogil:
    """Parse ``[p, reader.end)`` into row ``out.rows``; the row is kept if the status is OK."""
    cdef LabelWords words
    cdef const char *bar
    cdef const char *error_at = p
    cdef size_t first_segment = out.segments
    cdef int status
    bar = <const char *>memchr(p, 124, <size_t>(reader.end - p)) if p != reader.end else NULL
    if bar == NULL:
        bar = reader.end
        if p == reader.end:
            fill_blank(out)
            return OK
        if reader.skip_malformed:
            record_issue(out, reader, p, p, NO_BAR)
            return NO_BAR
    split_words(p, bar, &words)
    if reader.named_labels:
        status = read_name_label(&words, reader, out, &error_at)
    else:
        status = read_simple_label(&words, reader.powers, reader.skip_malformed, out, &error_at)
    if status != OK:
        record_issue(out, reader, error_at, p, status)
        if reader.skip_malformed:
            return status
    status = read_namespaces(reader, bar, out)
    record_tag(&words, reader.text, out.segments == first_segment, out)
    if reader.named_labels:
        record_label_span(&words, reader, out)
    return status


def parse(const unsigned char[::1] text, size_t size, format, workspace):
    """Parse ``text[:size]``, whole lines followed by at least 64 readable bytes, into a workspace.

    ``format`` is a ``vwlite.data.text_format.TextFormat``. Returns ``(status, rows, segments, features, lines,
    issues)``; with status FULL (100) the workspace was too small and its contents are undefined.
    """
    cdef Reader reader = open_reader(text, size, format, POWERS_OF_TEN)
    cdef BatchBuilder out = open_builder(workspace)
    cdef int status
    reader.fast_path = out.name == NULL
    reader.batched_hash = has_batched_hash()
    with nogil:
        status = parse_lines(&reader, size, parse_line, &out)
    return status, out.rows, out.segments, out.features, out.lines, out.bad
