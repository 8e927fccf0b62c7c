"""The cells of a line of comma- or tab-separated values, after RFC 4180; a quoted cell does not go over a line's end."""

from libc.stdint cimport uint32_t
from libc.string cimport memchr, memcpy

from base.byte_scan cimport either, first_bit
from base.status cimport AFTER_QUOTE, BAD_FIELDS, OK, OPEN_QUOTE


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
