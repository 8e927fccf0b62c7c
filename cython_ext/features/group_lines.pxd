"""The expanded lines of a group: each is read to predict it and again to learn, alone or beside others, and expanded once."""

from libc.stdlib cimport calloc, free

from features.multiline_expand cimport Line, close_line, open_line

cdef enum:
    KEPT_LINES = 32        # of a group; the lines behind them take turns in two buffers
    LONG_LINE = 1 << 14    # terms of a line that is not kept: memory for one such line or two is enough
    NO_ROW = -1


cdef struct GroupLines:
    Line line[KEPT_LINES + 2]
    ssize_t row[KEPT_LINES + 2]  # of a batch, the one that the buffer holds
    size_t opened                # number of buffers in use so far


cdef inline GroupLines *open_group_lines() noexcept nogil:
    """NULL when memory has run out."""
    return <GroupLines *>calloc(1, sizeof(GroupLines))


cdef inline void close_group_lines(GroupLines *lines) noexcept nogil:
    cdef size_t i
    for i in range(lines.opened):
        close_line(&lines.line[i])
    free(lines)


cdef inline bint find_line(GroupLines *lines, size_t row, size_t first, bint other, Line **line) noexcept nogil:
    """Find the buffer of a row of the group that begins at the row ``first``, and whether it holds that row.

    ``other`` chooses one of two buffers for the lines that are not kept. If the row is not held, the caller expands it into
    the buffer and calls ``set_row``.
    """
    cdef size_t i = row - first if row - first < KEPT_LINES else KEPT_LINES + <size_t>other
    while lines.opened <= i:
        open_line(&lines.line[lines.opened])
        lines.row[lines.opened] = NO_ROW
        lines.opened += 1
    line[0] = &lines.line[i]
    return lines.row[i] == <ssize_t>row


cdef inline void set_row(GroupLines *lines, const Line *line, ssize_t row) noexcept nogil:
    lines.row[line - lines.line] = row


cdef inline void release_long_line(GroupLines *lines, Line *line) noexcept nogil:
    """Free the memory of a line after its use, if it is long."""
    if line.s.max_terms > LONG_LINE:
        close_line(line)
        open_line(line)
        set_row(lines, line, NO_ROW)
