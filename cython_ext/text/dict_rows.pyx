"""Rows that are dicts of names and values, as the features of a batch."""

from libc.math cimport INFINITY, isfinite, isnan
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy
from cpython.bytes cimport PyBytes_AsString, PyBytes_Size
from cpython.float cimport PyFloat_AsDouble, PyFloat_Check
from cpython.long cimport PyLong_Check
from cpython.unicode cimport PyUnicode_Check

from text.batch_builder cimport ANONYMOUS_CHAR, NAMED, TEXT_VALUE
from text.murmur3 cimport murmur3
from text.name_text cimport hash_outside_name
from text.number_parser cimport POWERS, fill_powers

import numbers

import numpy as np

from vwlite._native.hash_names import text_of
from vwlite.errors import DataError

cdef float POWERS_OF_TEN[POWERS]
fill_powers(POWERS_OF_TEN)

cdef bytes NOTHING = bytes(16)
SCALARS = (np.bool_,)


cdef class DictRows:
    """Features of rows, which ``read`` adds and ``take`` hands out as arrays."""

    cdef uint32_t seed, anonymous_hash
    cdef bint hash_all, named
    cdef uint32_t *hash
    cdef float *value
    cdef uint32_t *namespace_hash
    cdef uint32_t *namespace_start
    cdef uint8_t *namespace_char
    cdef size_t features, max_features, segments, max_segments
    cdef list row_namespace, names, namespace_names
    cdef bytearray text
    cdef readonly Py_ssize_t row  # number of the next row

    def __cinit__(self, uint32_t seed, bint hash_all, bint named, Py_ssize_t row=0):
        """``row`` is the number of the first row. With ``named`` names are kept, which takes longer."""
        self.seed, self.hash_all, self.named = seed, hash_all, named
        self.anonymous_hash = murmur3(PyBytes_AsString(NOTHING), 0, seed)
        self.row = row
        self.clear()

    def __dealloc__(self):
        free(self.hash)
        free(self.value)
        free(self.namespace_hash)
        free(self.namespace_start)
        free(self.namespace_char)

    cdef void clear(self):
        self.features = self.segments = 0
        self.row_namespace, self.names, self.namespace_names, self.text = [0], [], [], bytearray()

    def read(self, rows, Py_ssize_t max_rows, size_t max_features):
        """Read from the iterator ``rows`` until the limit of rows or features; returns the number of rows. Raises DataError."""
        cdef Py_ssize_t count = 0
        for row in rows:
            self.read_row(row if type(row) is dict else self.as_dict(row))
            count += 1
            if count == max_rows or self.features >= max_features:
                break
        return count

    cdef dict as_dict(self, row):
        if not hasattr(row, "keys"):
            raise DataError(f"row {self.row}: expected a dict of names and values, not {type(row).__name__}")
        return dict(row)

    cdef int read_row(self, dict row) except -1:
        """The anonymous features first, then the namespaces and lists in their order."""
        cdef bint nested = False
        cdef size_t begin = self.features
        for key, value in row.items():
            if not self.read_feature(key, value, self.anonymous_hash):
                nested = True
        self.close_segment("", begin, ANONYMOUS_CHAR, self.anonymous_hash)
        if nested:
            for key, value in row.items():
                if isinstance(value, (dict, list, tuple)):
                    self.read_namespace(key, value)
        self.row_namespace.append(self.segments)
        self.row += 1
        return 0

    cdef int read_namespace(self, key, members) except -1:
        cdef size_t begin = self.features
        cdef uint32_t hash = self.anonymous_hash
        cdef uint8_t char = ANONYMOUS_CHAR
        key = self.as_text(key)
        if key:
            hash = self.hash_text(key, self.seed, False)
            name = key.encode("utf-8", "surrogateescape")[:1]
            char = <uint8_t>text_of(name, False)[0]
        if isinstance(members, dict):
            for name, value in (<dict>members).items():
                if not self.read_feature(name, value, hash):
                    if isinstance(value, dict):
                        raise DataError(f"row {self.row}, column {key!r}: a dict in a dict in a dict has no place in a line")
                    self.read_words(name, value, hash)
        else:
            self.read_words(key, members, hash)
        self.close_segment(key, begin, char, hash)
        return 0

    cdef int read_words(self, key, words, uint32_t seed) except -1:
        for word in words:
            if not PyUnicode_Check(word):
                raise DataError(f"row {self.row}, column {key!r}: expected a list of texts, not of {type(word).__name__}")
            self.emit(word, None, self.hash_text(word, seed, False), 1)
        return 0

    cdef bint read_feature(self, key, value, uint32_t seed) except -1:
        """Add the feature of a number, text or truth value; False, and nothing added, for what holds several."""
        cdef double number
        cdef float single
        if PyFloat_Check(value):
            number = PyFloat_AsDouble(value)
        elif PyUnicode_Check(value):
            key = self.as_text(key)
            self.emit(key, value, self.hash_text(value, self.hash_text(key, seed, False), True), 1)
            return True
        elif value is None:
            return True
        elif isinstance(value, (dict, list, tuple)):
            return False
        else:
            number = self.as_number(key, value)
        if isnan(number):
            return True
        single = <float>number
        if not isfinite(single):
            raise DataError(f"row {self.row}, column {key!r}: number out of range, expected a finite one")
        if single != 0:
            key = self.as_text(key)
            self.emit(key, None, self.hash_text(key, seed, False), single)
        return True

    cdef double as_number(self, key, value) except? -1:
        if PyLong_Check(value) or isinstance(value, numbers.Number) or isinstance(value, SCALARS):
            try:
                return float(value)
            except OverflowError:
                return INFINITY
            except TypeError:
                pass
        raise DataError(
            f"row {self.row}, column {key!r}: expected a number, a text, a list of texts or a dict, not {type(value).__name__}"
        )

    cdef object as_text(self, key):
        if PyUnicode_Check(key):
            return key
        if isinstance(key, int):
            return str(int(key))
        raise DataError(f"row {self.row}: expected names that are text, not {type(key).__name__}: {key!r}")

    cdef uint32_t hash_text(self, text, uint32_t seed, bint text_value) except? 0:
        cdef uint32_t hash
        cdef bytes raw = (<str>text).encode("utf-8", "surrogateescape")
        hash_outside_name(<const uint8_t *>PyBytes_AsString(raw), <size_t>PyBytes_Size(raw), seed, self.hash_all, text_value,
                          POWERS_OF_TEN, &hash)
        return hash

    cdef int emit(self, name, text, uint32_t hash, float value) except -1:
        if self.features == self.max_features:
            self.max_features = 2 * self.max_features + 1024
            self.hash = <uint32_t *>resized(self.hash, 4 * self.max_features)
            self.value = <float *>resized(self.value, 4 * self.max_features)
        self.hash[self.features] = hash
        self.value[self.features] = value
        self.features += 1
        if self.named:
            entry = self.keep(name, False)
            self.names.append((*entry, NAMED, 0, 0, 0) if text is None else (*entry, TEXT_VALUE, 0, *self.keep(text, True)))
        return 0

    cdef tuple keep(self, name, bint text_value):
        """Append the name to the text; where it begins and ends."""
        cdef size_t begin = len(self.text)
        self.text += text_of(name.encode("utf-8", "surrogateescape"), text_value)
        return begin, len(self.text)

    cdef int close_segment(self, name, size_t begin, uint8_t char, uint32_t hash) except -1:
        """Make the features from ``begin`` on a segment, if there are any."""
        if begin == self.features:
            return 0
        if self.segments == self.max_segments:
            self.max_segments = 2 * self.max_segments + 1024
            self.namespace_char = <uint8_t *>resized(self.namespace_char, self.max_segments)
            self.namespace_hash = <uint32_t *>resized(self.namespace_hash, 4 * self.max_segments)
            self.namespace_start = <uint32_t *>resized(self.namespace_start, 4 * self.max_segments)
        self.namespace_char[self.segments] = char
        self.namespace_hash[self.segments] = hash
        self.namespace_start[self.segments] = <uint32_t>begin
        self.segments += 1
        if self.named:
            self.namespace_names.append(self.keep(name, False) if name else (len(self.text), len(self.text)))
        return 0

    def take(self):
        """The columns of ``Batch`` that hold features, for the rows read since the last call; their names, or None: text, and
        uint32[features, 6] and uint32[segments, 2] in the order of ``Names``.
        """
        names = None
        if self.named:
            names = (
                bytes(self.text),
                np.array(self.names, np.uint32).reshape(-1, 6),
                np.array(self.namespace_names, np.uint32).reshape(-1, 2),
            )
        columns = {
            "row_namespace": np.array(self.row_namespace, np.uint32),
            "namespace_char": copied(self.namespace_char, self.segments, np.uint8),
            "namespace_hash": copied(self.namespace_hash, self.segments, np.uint32),
            "namespace_start": np.append(copied(self.namespace_start, self.segments, np.uint32), np.uint32(self.features)),
            "feature_hash": copied(self.hash, self.features, np.uint32),
            "value": copied(self.value, self.features, np.float32),
        }
        self.clear()
        return columns, names


cdef void *resized(void *array, size_t size) except NULL:
    cdef void *larger = realloc(array, size)
    if larger == NULL:
        raise MemoryError()
    return larger


cdef object copied(const void *array, size_t entries, dtype):
    made = np.empty(entries, dtype)
    cdef uint8_t[::1] raw = made.view(np.uint8)
    if entries:
        memcpy(&raw[0], array, raw.shape[0])
    return made
