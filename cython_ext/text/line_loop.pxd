"""The loop over the lines of a block of text, which all text formats share: it fills a workspace."""

from libc.math cimport NAN
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy, memset

from text.murmur3 cimport drop_queued, flush_queue, hash_name, murmur3, open_queue
from text.namespace_parser cimport Reader
from text.batch_builder cimport BLANK, BatchBuilder
from base.status cimport FULL, NO_MEMORY, OK


# Parses the line [start, reader.end) into row out.rows; the row is kept if the status is OK.
ctypedef int (*LineParser)(const Reader *reader, const char *start, BatchBuilder *out) noexcept nogil


cdef inline void fill_blank(BatchBuilder *out) noexcept nogil:
    """Fill row ``out.rows`` for a blank line."""
    out.label[out.rows] = NAN
    out.importance[out.rows] = 1
    out.initial_prediction[out.rows] = 0
    out.flags[out.rows] = BLANK
    out.tag_start[out.rows] = out.tag_end[out.rows] = 0


cdef inline int parse_lines(Reader *reader, size_t size, LineParser parse_line, BatchBuilder *out) noexcept nogil:
    """Parse all lines of the block. FULL when the arrays are too small: then the whole block must be parsed again with larger
    ones.

    A carriage return before the newline and a UTF-8 byte order mark before the line are skipped.
    """
    cdef const char *p = reader.text
    cdef const char *newline
    cdef size_t segments, features
    cdef int status
    open_queue(&out.queue, reader.text)
    while p < reader.text + size:
        if out.rows == out.max_rows:
            return FULL
        newline = <const char *>memchr(p, 10, <size_t>(reader.text + size - p))
        reader.end = newline - (newline != p and (newline - 1)[0] == 13)
        if reader.end - p >= 3 and p[0] == <char>0xef and p[1] == <char>0xbb and p[2] == <char>0xbf:
            p += 3
        segments = out.segments
        features = out.features
        out.line[out.rows] = <uint32_t>out.lines
        out.row_namespace[out.rows] = <uint32_t>segments
        status = parse_line(reader, p, out)
        if status == FULL or status == NO_MEMORY:
            return status
        if status == OK:
            out.rows += 1
        else:
            out.segments = segments
            out.features = features
            drop_queued(&out.queue, out.hash + features)
        out.lines += 1
        p = newline + 1
    if out.queue.count:
        flush_queue(&out.queue)
    out.row_namespace[out.rows] = <uint32_t>out.segments
    out.namespace_start[out.segments] = <uint32_t>out.features
    return FULL if out.bad > out.max_bad else OK


cdef inline BatchBuilder open_builder(workspace):
    """Pointers into the arrays of a ``vwlite.data.text_format.Workspace``; NULL for the arrays of names where names are not
    kept. They are kept in ``workspace.opened`` as long as the arrays are the same: to open them takes as long as a line.
    """
    cdef BatchBuilder out
    opened = workspace.opened
    if opened is not None:
        memcpy(&out, <const char *><bytes>opened, sizeof(BatchBuilder))
    else:
        out = opened_builder(workspace)
        workspace.opened = <bytes>(<char *>&out)[:sizeof(BatchBuilder)]
    return out


cdef inline BatchBuilder opened_builder(workspace):
    cdef BatchBuilder out
    cdef float[::1] label = workspace.label, importance = workspace.importance, initial = workspace.initial_prediction
    cdef float[::1] value = workspace.value
    cdef uint8_t[::1] flags = workspace.flags, namespace_char = workspace.namespace_char, bad_code = workspace.bad_code
    cdef uint32_t[::1] line = workspace.line, tag_start = workspace.tag_start, tag_end = workspace.tag_end
    cdef uint32_t[::1] row_namespace = workspace.row_namespace, namespace_hash = workspace.namespace_hash
    cdef uint32_t[::1] namespace_start = workspace.namespace_start
    cdef uint32_t[::1] hash = workspace.feature_hash, bad_line = workspace.bad_line
    cdef uint32_t[::1] bad_at = workspace.bad_at, bad_from = workspace.bad_from
    cdef uint32_t[:, ::1] namespace_name, name
    cdef uint8_t[:, ::1] name_kind
    out.max_rows = label.shape[0] - 1
    out.max_segments = namespace_char.shape[0] - 1
    out.max_features = hash.shape[0]
    out.max_bad = bad_line.shape[0]
    out.rows = out.segments = out.features = out.bad = out.lines = 0
    out.label, out.importance, out.initial_prediction, out.flags = &label[0], &importance[0], &initial[0], &flags[0]
    out.line, out.tag_start, out.tag_end, out.row_namespace = &line[0], &tag_start[0], &tag_end[0], &row_namespace[0]
    out.namespace_char, out.namespace_hash, out.namespace_start = &namespace_char[0], &namespace_hash[0], &namespace_start[0]
    out.hash, out.value = &hash[0], &value[0]
    out.bad_line, out.bad_at, out.bad_from, out.bad_code = &bad_line[0], &bad_at[0], &bad_from[0], &bad_code[0]
    out.namespace_name = out.name = NULL
    out.name_kind = NULL
    if workspace.name is not None:
        namespace_name, name, name_kind = workspace.namespace_name, workspace.name, workspace.kind
        out.namespace_name, out.name, out.name_kind = &namespace_name[0, 0], &name[0, 0], &name_kind[0, 0]
    return out


cdef inline Reader open_reader(const unsigned char[::1] text, size_t size, format, const float *powers):
    """A reader of ``text`` for a ``vwlite.data.text_format.TextFormat``. Its pointers are valid as long as ``text`` and
    ``format`` live. What depends on ``format`` alone is kept in it.
    """
    cdef Reader reader
    opened = format.opened.get("reader")
    if opened is not None:
        memcpy(&reader, <const char *><bytes>opened, sizeof(Reader))
    else:
        reader = format_reader(format)
        format.opened["reader"] = <bytes>(<char *>&reader)[:sizeof(Reader)]
    if text.shape[0] < <Py_ssize_t>size + 64 or size > <size_t>0xffffff00:
        raise ValueError("a block needs 64 bytes of slack and must be below 4 GiB")
    if size and text[size - 1] != 10:
        raise ValueError("a block must end with a newline")
    reader.text = reader.end = <const char *>&text[0]
    reader.powers = powers
    return reader


cdef inline Reader format_reader(format):
    cdef const uint64_t[::1] affix = format.affix
    cdef const uint8_t[::1] spelling = format.spelling, redefine = format.redefine
    cdef Reader reader
    cdef char letter_name[32]  # one byte and the slack that the hash reads
    cdef int letter
    memset(letter_name, 0, 32)
    if not (affix.shape[0] == spelling.shape[0] == redefine.shape[0] == 256):
        raise ValueError("format tables must have 256 entries")
    reader.text = reader.end = NULL
    reader.powers = NULL
    reader.affix, reader.spelling, reader.redefine = &affix[0], &spelling[0], &redefine[0]
    reader.seed = format.hash_seed
    reader.hash_all, reader.skip_malformed = format.hash_all, format.skip_malformed
    reader.makes_features = format.makes_features
    reader.named_labels, reader.label_lists = format.words, format.lists
    reader.fast_path = reader.batched_hash = False
    reader.anonymous_hash = murmur3(letter_name, 0, reader.seed) if reader.seed else 0
    for letter in range(256):
        letter_name[0] = <char>letter
        reader.letter_hash[letter] = hash_name(letter_name, 1, reader.seed, reader.hash_all)
    return reader
