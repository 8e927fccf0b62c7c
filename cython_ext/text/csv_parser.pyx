"""Parser of comma- and tab-separated values after RFC 4180: one pass over the bytes, a row a line; a quoted cell does not go over
a line's end.
"""

from libc.math cimport NAN
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcpy, memset

from base.byte_scan cimport either, first_bit
from base.status cimport (
    AFTER_QUOTE, BAD_CELL, BAD_FIELDS, BAD_IMPORTANCE, BAD_LABEL_NAME, BAD_LABEL_NUMBER, BAD_TAG, COMMENT, FULL,
    NO_MEMORY, OK, OPEN_QUOTE,
)
from text.batch_builder cimport TAGGED, BatchBuilder
from text.cell_numbers cimport ABSENT, read_cell_number
from text.line_loop cimport fill_blank, open_builder, open_reader, parse_lines
from text.lower_words cimport lower_words
from text.namespace_parser cimport NamespaceBlock, Reader, close_segment, open_segment, record_issue
from text.number_parser cimport POWERS, fill_powers
from text.table_rows cimport (
    BASE, LABEL, NUMBER, TAG, TEXT, TOKENS, WEIGHT, Scratch, emit_number, emit_text, emit_word, is_word, keep,
    keep_class, leave_out_blanks, reserve, word_length,
)

cdef enum:
    QUOTE = 34


cdef struct Cell:
    const char *start    # of its text, behind the quote where it is quoted
    const char *end
    bint escaped         # there are doubled quotes in it


cdef inline int split_quoted(const char *p, const char *end, char delimiter, Cell *cells, size_t columns,
                             const char **at) noexcept nogil:
    """``split_cells`` of any line."""
    cdef const char *stop
    cdef size_t count = 0
    while True:
        at[0] = p
        if count == columns:
            return BAD_FIELDS
        cells[count].start, cells[count].escaped = p, False
        if p < end and p[0] == QUOTE:
            p += 1
            cells[count].start = p
            while True:
                stop = <const char *>memchr(p, QUOTE, <size_t>(end - p)) if p < end else NULL
                if stop == NULL:
                    return OPEN_QUOTE
                p = stop + 1
                if p == end or p[0] != QUOTE:
                    break
                cells[count].escaped = True
                p += 1
            if p < end and p[0] != delimiter:
                at[0] = p
                return AFTER_QUOTE
        else:
            stop = <const char *>memchr(p, delimiter, <size_t>(end - p)) if p < end else NULL
            p = stop = end if stop == NULL else stop
        cells[count].end = stop
        count += 1
        if p == end:
            break
        p += 1
    at[0] = end
    return OK if count == columns else BAD_FIELDS


cdef inline int split_cells(const char *p, const char *end, char delimiter, Cell *cells, size_t columns,
                            const char **at) noexcept nogil:
    """Split the line ``[p, end)`` into this number of cells; unless the status is OK, ``at`` is the position of the fault."""
    cdef const char *window = p
    cdef const char *start = p
    cdef const char *stop
    cdef size_t count = 0, last = columns - 1
    cdef uint32_t mask
    while window < end:
        mask = either(window, delimiter, QUOTE)
        while mask:
            stop = window + first_bit(mask)
            if stop >= end:
                break
            if stop[0] == QUOTE:
                return split_quoted(p, end, delimiter, cells, columns, at)
            if count == last:
                at[0] = stop + 1
                return split_quoted(p, end, delimiter, cells, columns, at)
            cells[count].start, cells[count].end, cells[count].escaped = start, stop, False
            count += 1
            start = stop + 1
            mask &= mask - 1
        window += 16
    cells[count].start, cells[count].end, cells[count].escaped = start, end, False
    at[0] = end
    return OK if count == last else BAD_FIELDS


cdef inline size_t unescape(const Cell *cell, char *out) noexcept nogil:
    """Write the cell's text with single quotes in place of doubled ones; returns its length."""
    cdef const char *p = cell.start
    cdef const char *stop
    cdef char *begin = out
    while True:
        stop = <const char *>memchr(p, QUOTE, <size_t>(cell.end - p)) if p < cell.end else NULL
        if stop == NULL:
            break
        stop += 1
        memcpy(out, p, <size_t>(stop - p))
        out += stop - p
        p = stop + 1
    memcpy(out, p, <size_t>(cell.end - p))
    return <size_t>(out + (cell.end - p) - begin)


cdef float POWERS_OF_TEN[POWERS]
fill_powers(POWERS_OF_TEN)

cdef enum:
    MAX_DECIMAL_COMMA = 64  # characters of a cell with a decimal comma


cdef struct TableReader:
    Reader reader              # first: the loop over lines hands on its address
    Scratch scratch
    Cell *cells                # (columns,) of the current line
    size_t columns
    size_t features            # columns that are features
    size_t spaces
    char delimiter
    bint header                # the first line names the columns
    const int32_t *role        # (4,) column of each role, -1 where there is none
    const int32_t *column      # (features,) column of each, those of a namespace together
    const uint8_t *type        # (features,) NUMBER, TEXT, WORDS or TOKENS
    const uint32_t *hash       # (features,) of the column's name in its namespace; of WORDS and TOKENS the namespace's
    const uint16_t *lower      # (65536,) of TOKENS, see lower_words.pxd
    const int32_t *first       # (spaces + 1,) first feature of each namespace
    const uint8_t *space_char  # (spaces,)
    const uint32_t *space_hash
    uint32_t *name             # (features, 2) where names stand in the text, if they are kept
    uint32_t *space_name       # (spaces, 2)


cdef inline const Cell *role_cell(const TableReader *table, int role) noexcept nogil:
    """The cell of a role, NULL where it is empty or there is none."""
    cdef const Cell *cell
    if table.role[role] >= 0:
        cell = table.cells + table.role[role]
        if cell.start != cell.end:
            return cell
    return NULL


cdef int read_decimal_comma(const char *p, const char *end, float *out) noexcept nogil:
    """As ``read_cell_number``, of a cell that has a comma where its decimal point would be."""
    cdef char copy[MAX_DECIMAL_COMMA + 16]
    cdef size_t length = <size_t>(end - p), i
    if length > MAX_DECIMAL_COMMA:
        return BAD_CELL
    memset(copy, 0, sizeof(copy))
    memcpy(copy, p, length)
    for i in range(length):
        if copy[i] == 44:
            copy[i] = 46
    return read_cell_number(copy, copy + length, out)


cdef inline int read_number(const TableReader *table, const Cell *cell, float *out) noexcept nogil:
    if table.delimiter == 59 and memchr(cell.start, 44, <size_t>(cell.end - cell.start)) != NULL:
        return read_decimal_comma(cell.start, cell.end, out)
    return read_cell_number(cell.start, cell.end, out)


cdef inline int read_role(const TableReader *table, int role, float absent, float *out, const char **at) noexcept nogil:
    """The number of a role."""
    cdef const Cell *cell = role_cell(table, role)
    cdef int status = ABSENT
    if cell != NULL:
        at[0] = cell.start
        status = read_number(table, cell, out)
    if status == ABSENT:
        out[0] = absent
        return OK
    return status


cdef inline int read_span(TableReader *table, BatchBuilder *out, const char **at) noexcept nogil:
    """The words of a label that is a name or a list, and the tag; one behind the other where there are both.

    A name is one word: ``_`` stands for the blanks in its cell. A label that is a name or a list is NaN or 1.
    """
    cdef const Cell *cell = role_cell(table, LABEL) if table.reader.named_labels else NULL
    cdef const Cell *tag = role_cell(table, TAG)
    cdef const char *text = table.reader.text
    cdef const char *label = NULL
    cdef const char *label_end = NULL
    cdef bint lists = table.reader.label_lists, as_it_is = True
    cdef size_t row = out.rows, length
    if cell != NULL:
        label, label_end = cell.start, cell.end
        if not lists:
            leave_out_blanks(&label, &label_end)
        as_it_is = is_word(label, label_end, lists)
    length = <size_t>(label_end - label)
    if table.reader.named_labels:
        out.label[row] = 1 if length else NAN
    out.flags[row] = TAGGED if tag != NULL else 0
    out.tag_start[row] = out.tag_end[row] = 0
    if length:
        at[0] = cell.start
        if cell.escaped or label[0] == 39 or (lists and not as_it_is):
            return BAD_LABEL_NAME
    if tag != NULL:
        at[0] = tag.start
        if tag.escaped or not is_word(tag.start, tag.end, False):
            return BAD_TAG
    if length and (tag != NULL or not as_it_is):
        out.tag_start[row] = keep(&table.scratch, label, length) if lists else keep_class(&table.scratch, label, length)
        out.tag_end[row] = out.tag_start[row] + <uint32_t>length
        if tag != NULL:
            keep(&table.scratch, b" '", 2)
            out.tag_end[row] = keep(&table.scratch, tag.start, <size_t>(tag.end - tag.start)) + <uint32_t>(tag.end - tag.start)
    elif length:
        out.tag_start[row], out.tag_end[row] = <uint32_t>(label - text), <uint32_t>(label_end - text)
    elif tag != NULL:
        out.tag_start[row], out.tag_end[row] = <uint32_t>(tag.start - text), <uint32_t>(tag.end - text)
    return OK


cdef inline int read_roles(TableReader *table, BatchBuilder *out, const char **at) noexcept nogil:
    """Label, importance, initial prediction and tag of row ``out.rows``."""
    cdef size_t row = out.rows
    cdef int status
    if not table.reader.named_labels:
        status = read_role(table, LABEL, NAN, out.label + row, at)
        if status != OK:
            return BAD_LABEL_NUMBER
    status = read_role(table, WEIGHT, 1, out.importance + row, at)
    if status != OK:
        return status
    if out.importance[row] < 0:
        return BAD_IMPORTANCE
    status = read_role(table, BASE, 0, out.initial_prediction + row, at)
    return read_span(table, out, at) if status == OK else status


cdef inline int read_words(TableReader *table, const char *p, const char *end, uint32_t seed, BatchBuilder *out) noexcept nogil:
    cdef size_t length
    while p < end:
        length = word_length(p, end)
        if length:
            if out.features == out.max_features:
                return FULL
            if emit_word(out, &table.scratch, &table.reader, p, length, seed) != OK:
                return NO_MEMORY
        p += length + 1
    return OK


cdef inline int read_cell(TableReader *table, size_t number, BatchBuilder *out, const char **at) noexcept nogil:
    """The features of a column."""
    cdef const Cell *cell = table.cells + table.column[number]
    cdef const char *start = cell.start
    cdef size_t length = <size_t>(cell.end - start)
    cdef uint32_t *name = NULL if out.name == NULL else table.name + 2 * number
    cdef float value = 0
    cdef int status
    if length == 0:
        return OK
    if table.type[number] == NUMBER:
        at[0] = start
        status = read_number(table, cell, &value)
        if status == OK and value != 0:
            emit_number(out, table.hash[number], value, name)
        return OK if status == ABSENT else status
    if cell.escaped or table.type[number] == TOKENS:
        if reserve(&table.scratch, length) != OK:
            return NO_MEMORY
    if cell.escaped:
        length = unescape(cell, table.scratch.plain)
        start = table.scratch.plain
    if table.type[number] == TEXT:
        return emit_text(out, &table.scratch, &table.reader, start, length, table.hash[number], name)
    if table.type[number] == TOKENS:
        lower_words(start, length, table.lower, table.scratch.plain)
        start = table.scratch.plain
    return read_words(table, start, start + length, table.hash[number], out)


cdef inline int read_features(TableReader *table, BatchBuilder *out, const char **at) noexcept nogil:
    cdef NamespaceBlock block
    cdef size_t space
    cdef int32_t number
    cdef int status
    block.name = block.name_end = table.reader.text
    for space in range(table.spaces):
        open_segment(out, table.space_char[space], table.space_hash[space], &block, &table.reader)
        if out.namespace_name != NULL:
            out.namespace_name[2 * out.segments] = table.space_name[2 * space]
            out.namespace_name[2 * out.segments + 1] = table.space_name[2 * space + 1]
        for number in range(table.first[space], table.first[space + 1]):
            status = read_cell(table, <size_t>number, out, at)
            if status != OK:
                return status
        close_segment(out)
    return OK


cdef inline int parse_line(const Reader *reader, const char *p, BatchBuilder *out) noexcept nogil:
    """A line without a character makes a blank row, the header none."""
    cdef TableReader *table = <TableReader *>reader
    cdef const char *at = p
    cdef size_t used = table.scratch.used
    cdef int status
    if table.header and out.lines == 0:
        return COMMENT
    if p == reader.end:
        fill_blank(out)
        return OK
    if out.max_segments - out.segments < table.spaces or out.max_features - out.features < table.features:
        return FULL
    status = split_cells(p, reader.end, table.delimiter, table.cells, table.columns, &at)
    if status == OK:
        status = read_roles(table, out, &at)
    if status == OK:
        status = read_features(table, out, &at)
    if status != OK and status != FULL and status != NO_MEMORY:
        table.scratch.used = used
        record_issue(out, reader, at, at, status)
    return status


cdef int parse_table(TableReader *table, size_t size, BatchBuilder *out) noexcept nogil:
    cdef int status = NO_MEMORY
    table.cells = <Cell *>malloc(table.columns * sizeof(Cell))
    if table.cells != NULL and reserve(&table.scratch, 1024) == OK:
        status = parse_lines(&table.reader, size, parse_line, out)
    free(table.cells)
    free(table.scratch.text)
    free(table.scratch.plain)
    return status


def parse(const unsigned char[::1] text, size_t size, format, workspace, layout, bint header):
    """Parse ``text[:size]``, whole lines followed by at least 64 readable bytes, into a workspace.

    ``format`` is a ``vwlite.data.text_format.TextFormat``; a malformed line always makes no row. ``layout`` is a
    ``vwlite.data.csv_table.CsvTable``; with ``header`` the first line names the columns. Offsets of ``size`` and more are into
    ``workspace.more``, whose first ``workspace.used`` bytes are then in use. Returns ``(status, rows, segments, features, lines,
    issues)``; with status FULL (100) the workspace was too small and its contents are undefined.
    """
    cdef TableReader table
    cdef BatchBuilder out = open_builder(workspace)
    cdef const int32_t[::1] role = layout.role, column = layout.column, first = layout.first
    cdef const uint8_t[::1] type = layout.type, space_char = layout.space_char
    cdef const uint16_t[::1] lower = layout.lower
    cdef const uint32_t[::1] hash = layout.hash, space_hash = layout.space_hash
    cdef uint32_t[:, ::1] name = layout.name + size, space_name = layout.space_name + size
    cdef uint8_t[::1] more = workspace.begin_text(layout.text, 2 * size + 64) if layout.keeps_text else workspace.more
    cdef int status
    if not layout.keeps_text:
        workspace.used = 0
    memset(&table.scratch, 0, sizeof(Scratch))
    table.reader = open_reader(text, size, format, POWERS_OF_TEN)
    table.columns, table.features, table.spaces = layout.columns, layout.features, layout.spaces
    table.delimiter, table.header = <char>layout.delimiter, header
    table.role, table.column, table.type, table.hash = &role[0], &column[0], &type[0], &hash[0]
    table.first, table.space_char, table.space_hash = &first[0], &space_char[0], &space_hash[0]
    table.lower = &lower[0]
    table.name, table.space_name = &name[0, 0], &space_name[0, 0]
    table.scratch.more, table.scratch.room, table.scratch.block_size = <char *>&more[0], more.shape[0], size
    table.scratch.used = workspace.used
    with nogil:
        status = parse_table(&table, size, &out)
    workspace.used = table.scratch.used
    return status, out.rows, out.segments, out.features, out.lines, out.bad
