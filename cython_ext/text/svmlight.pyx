"""Parser of SVMlight and LIBSVM text, ``label [qid:query] index:value ... [# comment]``, in one pass over the bytes."""

from libc.math cimport isfinite
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memchr, memcmp

from text.murmur3 cimport murmur3
from text.labels cimport read_word
from text.namespace_parser cimport Reader, NamespaceBlock, close_segment, emit, is_blank, record_issue, record_name, open_segment
from text.number_parser cimport POWERS, fill_powers, is_number_form, is_digit, read_number
from text.batch_builder cimport ANONYMOUS_CHAR, NAMED, TAGGED, BatchBuilder
from text.line_loop cimport fill_blank, open_reader, open_builder, parse_lines
from base.status cimport BAD_INDEX, BAD_LABEL_NUMBER, BAD_VALUE, COMMENT, EXPECTED_COLON, FULL, NOT_FINITE, OK

from vwlite.errors import UsageError

cdef float POWERS_OF_TEN[POWERS]
fill_powers(POWERS_OF_TEN)


cdef inline const char *skip_blanks(const char *p, const char *end) noexcept nogil:
    while p < end and is_blank(p[0]):
        p += 1
    return p


cdef inline const char *word_end(const char *p, const char *end) noexcept nogil:
    while p < end and not is_blank(p[0]):
        p += 1
    return p


cdef inline const char *read_label(const Reader *reader, const char *p, const char *end, BatchBuilder *out,
                                   int *status) noexcept nogil:
    cdef const char *stop = word_end(p, end)
    cdef size_t row = out.rows
    out.importance[row] = 1
    out.initial_prediction[row] = 0
    if reader.label_lists and memchr(p, 58, <size_t>(stop - p)) != NULL:  # the empty set is no word
        stop = p
    if reader.named_labels:
        out.label[row] = 1
        status[0] = BAD_LABEL_NUMBER if stop != p and memchr(p, 58, <size_t>(stop - p)) != NULL else OK
    else:
        status[0] = read_word(p, stop, reader.powers, True, out.label + row)
    return stop


cdef inline const char *read_query(const Reader *reader, const char *p, const char *end, BatchBuilder *out,
                                   int *status) noexcept nogil:
    """``qid:query`` becomes the row's tag; anything else leaves ``p`` where it is."""
    cdef const char *tag = p
    cdef size_t row = out.rows
    if end - p >= 4 and memcmp(p, b"qid:", 4) == 0:
        tag = p + 4
        p = word_end(tag, end)
        if p == tag:
            status[0] = BAD_VALUE
    out.flags[row] = TAGGED if p != tag else 0
    out.tag_start[row] = <uint32_t>(tag - reader.text)
    out.tag_end[row] = <uint32_t>(p - reader.text)
    return p


cdef inline const char *read_index(const Reader *reader, const NamespaceBlock *block, const char *p, const char *end,
                                   uint32_t *hash, int *status) noexcept nogil:
    """Read ``index:`` and hash the index as Vowpal Wabbit hashes a name of digits; returns the position behind the colon."""
    cdef const char *name = p
    cdef uint64_t number = 0
    while is_digit(p[0]):
        number = number * 10 + <uint64_t>(p[0] - 48)
        p += 1
    if p >= end or p[0] != 58 or p == name:
        end = word_end(name, end)
        status[0] = EXPECTED_COLON if memchr(name, 58, <size_t>(end - name)) == NULL else BAD_INDEX
        return name
    hash[0] = murmur3(name, <size_t>(p - name), block.hash) if reader.hash_all else <uint32_t>number + block.hash
    return p + 1


cdef inline const char *read_value(const Reader *reader, const char *p, const char *end, float *value,
                                   int *status) noexcept nogil:
    cdef const char *stop
    if p >= end or is_blank(p[0]):
        status[0] = BAD_VALUE
        return p
    stop = read_number(p, end, reader.powers, value)
    if stop == p or stop > end or not (stop == end or is_blank(stop[0])):
        status[0] = BAD_VALUE
    elif not isfinite(value[0]):
        status[0] = NOT_FINITE
    elif not is_number_form(p, stop):
        status[0] = BAD_VALUE
    return stop if status[0] == OK else p


cdef inline const char *read_features(const Reader *reader, const NamespaceBlock *block, const char *p, const char *end,
                                      BatchBuilder *out, int *status) noexcept nogil:
    """``{ index:value }`` up to ``end``; values of 0 are dropped. Returns the end, or the position of the issue."""
    cdef const char *name
    cdef uint32_t hash = 0
    cdef float value = 0
    while True:
        p = skip_blanks(p, end)
        if p >= end:
            return p
        if out.features == out.max_features:
            status[0] = FULL
            return p
        name = p
        p = read_index(reader, block, p, end, &hash, status)
        if status[0] == OK:
            p = read_value(reader, p, end, &value, status)
        if status[0] != OK:
            return p
        if value != 0:
            if out.name != NULL:
                record_name(out, reader, name, <size_t>(<const char *>memchr(name, 58, <size_t>(p - name)) - name), NAMED)
            emit(out, hash, value)


cdef inline int read_row(const Reader *reader, const char *p, const char *end, BatchBuilder *out) noexcept nogil:
    """Label, query and features; the features form one anonymous namespace block."""
    cdef NamespaceBlock block
    cdef const char *start = p
    cdef const char *stop
    cdef int status = OK
    if out.segments == out.max_segments:
        return FULL
    p = read_label(reader, p, end, out, &status)
    if status != OK:
        p = start
    else:
        stop = p
        p = read_query(reader, skip_blanks(p, end), end, out, &status)
        if reader.named_labels:  # the label's name takes the tag's place, see vwlite/data/batch.py
            out.flags[out.rows] = 0
            out.tag_start[out.rows], out.tag_end[out.rows] = <uint32_t>(start - reader.text), <uint32_t>(stop - reader.text)
    if status == OK:
        block.hash = murmur3(p, 0, reader.seed)
        block.name = block.name_end = p
        open_segment(out, ANONYMOUS_CHAR, block.hash, &block, reader)
        p = read_features(reader, &block, p, end, out, &status)
        close_segment(out)
    if status != OK and status != FULL:
        record_issue(out, reader, p, start, status)
    return status


cdef inline int parse_line(const Reader *reader, const char *p, BatchBuilder *out) noexcept nogil:
    """A line with only a comment makes no row; a line with only white space makes a blank row."""
    cdef const char *comment = <const char *>memchr(p, 35, <size_t>(reader.end - p))
    cdef const char *end = reader.end if comment == NULL else comment
    p = skip_blanks(p, end)
    if p != end:
        return read_row(reader, p, end, out)
    if comment != NULL:
        return COMMENT
    fill_blank(out)
    return OK


def parse(const unsigned char[::1] text, size_t size, format, workspace):
    """Parse ``text[:size]``, whole lines followed by at least 64 readable bytes, into a workspace.

    ``format`` is a ``vwlite.data.text_format.TextFormat``; a malformed line always makes no row, even without its ``skip_malformed``.
    The feature ``index:value`` gets the hash that Vowpal Wabbit gives it in ``| index:value``. Returns ``(status, rows,
    segments, features, lines, issues)``; with status FULL (100) the workspace was too small and its contents are undefined.
    Raises UsageError for a format with affixes or spellings, which need names.
    """
    cdef Reader reader = open_reader(text, size, format, POWERS_OF_TEN)
    cdef BatchBuilder out = open_builder(workspace)
    cdef int status
    if reader.makes_features:
        raise UsageError("--affix and --spelling need names: SVMlight features have only numbers")
    with nogil:
        status = parse_lines(&reader, size, parse_line, &out)
    return status, out.rows, out.segments, out.features, out.lines, out.bad
