"""The names of a batch's features as its text has them, and as audits show them."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from base.memory cimport grow
from text.batch_builder cimport AFFIX, ANONYMOUS_CHAR, SPELLING, TEXT_VALUE
from text.namespace_parser cimport character_class

cdef extern from "Python.h":
    object PyUnicode_DecodeUTF8(const char *text, Py_ssize_t size, const char *errors)


cdef class FeatureWords:
    """The words of a ``vwlite.data.batch.Batch`` that has names. ``redefine``, uint8[256]: a ``Plan``'s.

    Methods raise IndexError for what is not in the batch or not in its text, MemoryError.
    """

    cdef const uint8_t[::1] text, redefine
    cdef const uint8_t[:] character
    cdef const uint32_t[:] row_edges
    cdef const uint8_t[:] kind, detail  # these and those below are columns of tables
    cdef const uint32_t[:] start, end, value_start, value_end, space_start, space_end, edges
    cdef char *buffer
    cdef size_t room, size

    def __cinit__(self, batch, const uint8_t[::1] redefine):
        names = batch.names
        self.text, self.edges, self.redefine = batch.text, batch.namespace_start, redefine
        self.character, self.row_edges = batch.namespace_char, batch.row_namespace
        self.start, self.end, self.kind, self.detail = names.start, names.end, names.kind, names.detail
        self.value_start, self.value_end = names.value_start, names.value_end
        self.space_start, self.space_end = names.namespace_start, names.namespace_end
        self.buffer, self.room, self.size = NULL, 0, 0
        if redefine.shape[0] != 256:
            raise IndexError("redefine has 256 characters")

    def __dealloc__(self):
        free(self.buffer)

    def parts(self, Py_ssize_t feature, Py_ssize_t segment):
        """The name of the namespace that audits show, the feature's and its text value: three texts, empty where there is none."""
        cdef size_t space, name
        self.check(feature, segment)
        self.size = 0
        self.write_space(feature, segment)
        space = self.size
        self.write_name(feature, segment)
        name = self.size
        self.write_value(feature)
        return self.written(0, space), self.written(space, name), self.written(name, self.size)

    def shown(self, Py_ssize_t feature, Py_ssize_t segment):
        """``namespace^name^text``, of which only the name is always there."""
        self.check(feature, segment)
        return self.whole_name(feature, segment)

    def of_segment(self, Py_ssize_t segment):
        """``shown`` of the segment's features, list[str]."""
        cdef Py_ssize_t feature
        if not 0 <= segment < self.edges.shape[0] - 1:
            raise IndexError("no such segment")
        names = []
        for feature in range(self.edges[segment], self.edges[segment + 1]):
            self.check(feature, segment)
            names.append(self.whole_name(feature, segment))
        return names

    def of_rows(self, const int64_t[::1] rows, bytes constant):
        """The names of all features of ``rows``, int64[n]: ``(text, ends)``, bytes and the bytes of an int64[names].

        Each is ``shown``, those of namespaces of one character together, where the first of these stands. ``constant`` is the
        last name of each row where it is not empty. Name ``i`` ends before byte ``ends[i]``.
        """
        cdef Py_ssize_t i, row, first, last, segment, other, feature, count = 0, size = rows.shape[0]
        cdef int64_t[::1] ends
        cdef uint8_t[256] seen
        cdef bytearray made
        for i in range(size):
            row = rows[i]
            if not 0 <= row < self.row_edges.shape[0] - 1:
                raise IndexError("no such row")
            first, last = self.row_edges[row], self.row_edges[row + 1]
            if not first <= last < self.edges.shape[0] or last > self.character.shape[0]:
                raise IndexError("no such segments")
            count += <Py_ssize_t>self.edges[last] - <Py_ssize_t>self.edges[first] + (1 if constant else 0)
        if count < 0:
            raise IndexError("segments that do not rise")
        made = bytearray(count * sizeof(int64_t))
        if count == 0:
            return b"", made
        ends = memoryview(made).cast("q")
        count = 0
        self.size = 0
        for i in range(size):
            first, last = self.row_edges[rows[i]], self.row_edges[rows[i] + 1]
            memset(seen, 0, sizeof(seen))
            for segment in range(first, last):
                if seen[self.character[segment]]:
                    continue
                seen[self.character[segment]] = 1
                for other in range(segment, last):
                    if self.character[other] != self.character[segment]:
                        continue
                    for feature in range(self.edges[other], self.edges[other + 1]):
                        self.check(feature, other)
                        self.write_whole_name(feature, other)
                        if count >= ends.shape[0]:
                            raise IndexError("segments that do not rise")
                        ends[count] = <int64_t>self.size
                        count += 1
            if constant:
                self.write(constant, len(constant))
                if count >= ends.shape[0]:
                    raise IndexError("segments that do not rise")
                ends[count] = <int64_t>self.size
                count += 1
        return PyBytes_FromStringAndSize(self.buffer, <Py_ssize_t>self.size), made

    cdef int check(self, Py_ssize_t feature, Py_ssize_t segment) except -1:
        cdef Py_ssize_t size = self.text.shape[0]
        if not (0 <= feature < self.start.shape[0] and 0 <= segment < self.space_start.shape[0]):
            raise IndexError("no such feature")
        if self.kind[feature] == TEXT_VALUE:
            if not self.value_start[feature] <= self.value_end[feature] <= size:
                raise IndexError("a text value is not in the text")
        if not (self.start[feature] <= self.end[feature] <= size and self.space_start[segment] <= self.space_end[segment] <= size):
            raise IndexError("a name is not in the text")
        return 0

    cdef object whole_name(self, Py_ssize_t feature, Py_ssize_t segment):
        self.size = 0
        self.write_whole_name(feature, segment)
        return self.written(0, self.size)

    cdef int write_whole_name(self, Py_ssize_t feature, Py_ssize_t segment) except -1:
        cdef size_t begin = self.size
        self.write_space(feature, segment)
        if self.size > begin:
            self.write(b"^", 1)
        self.write_name(feature, segment)
        if self.kind[feature] == TEXT_VALUE and self.value_end[feature] > self.value_start[feature]:
            self.write(b"^", 1)
            self.write_value(feature)
        return 0

    cdef object written(self, size_t begin, size_t end):
        if end == begin:
            return ""
        return PyUnicode_DecodeUTF8(self.buffer + begin, <Py_ssize_t>(end - begin), b"surrogateescape")

    cdef int write(self, const char *source, size_t length) except -1:
        if self.size + length > self.room:
            if not grow(<void **>&self.buffer, 2 * (self.size + length)):
                raise MemoryError("no memory for a name")
            self.room = 2 * (self.size + length)
        memcpy(self.buffer + self.size, source, length)
        self.size += length
        return 0

    cdef int write_text(self, uint32_t begin, uint32_t end) except -1:
        if end > begin:
            self.write(<const char *>&self.text[begin], end - begin)
        return 0

    cdef int write_mark(self, Py_ssize_t segment, const char *behind, size_t length) except -1:
        """The character, after ``redefine``, of a named namespace, and what stands behind it; nothing for the anonymous one."""
        cdef uint8_t mark = ANONYMOUS_CHAR
        if self.space_end[segment] > self.space_start[segment]:
            mark = self.redefine[self.text[self.space_start[segment]]]
        if mark != ANONYMOUS_CHAR:
            self.write(<const char *>&mark, 1)
            self.write(behind, length)
        return 0

    cdef int write_space(self, Py_ssize_t feature, Py_ssize_t segment) except -1:
        if self.kind[feature] == AFFIX:
            return self.write(b"affix", 5)
        if self.kind[feature] == SPELLING:
            return self.write(b"spelling", 8)
        return self.write_text(self.space_start[segment], self.space_end[segment])

    cdef int write_name(self, Py_ssize_t feature, Py_ssize_t segment) except -1:
        cdef size_t name
        cdef uint8_t detail = self.detail[feature]
        cdef char side[3]
        if self.kind[feature] == AFFIX:
            side[0], side[1], side[2] = 43 if detail & 1 else 45, <char>(48 + (detail >> 1)), 61
            self.write_mark(segment, b"", 0)
            self.write(side, 3)
        elif self.kind[feature] == SPELLING:
            self.write_mark(segment, b"_", 1)
        name = self.size
        self.write_text(self.start[feature], self.end[feature])
        if self.kind[feature] == SPELLING:
            while name < self.size:
                self.buffer[name] = <char>character_class(<uint8_t>self.buffer[name])
                name += 1
        return 0

    cdef int write_value(self, Py_ssize_t feature) except -1:
        if self.kind[feature] == TEXT_VALUE:
            return self.write_text(self.value_start[feature], self.value_end[feature])
        return 0
