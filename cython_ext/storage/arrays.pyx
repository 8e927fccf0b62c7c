"""What ``vwlite/arrays.py`` does without NumPy."""

cimport cython
from cpython.buffer cimport (
    PyBUF_FORMAT, PyBUF_ND, PyBUF_SIMPLE, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX

SIZES = {"B": 1, "i": 4, "I": 4, "f": 4, "d": 8, "q": 8, "Q": 8}  # the kinds, as the module struct has them, to bytes


def to_float32(double value):
    """The nearest float32, endless beyond the largest, as a float."""
    return <float>value


@cython.no_gc  # an owner never leads back to it, and to be cleared would not give the owner's bytes back
cdef class Numbers:
    """The bytes of ``owner`` from ``offset`` on as ``rows`` numbers, or rows of ``columns`` numbers; without one, zeros.

    Kernels, and whatever else takes a buffer, read and write them in place; a slice of rows shares the bytes. What is
    not done here is left to NumPy. Raises ValueError when the owner has fewer bytes, MemoryError.
    """

    cdef Py_buffer held
    cdef readonly object owner
    cdef char *data
    cdef char *own         # NULL where the bytes are the owner's
    cdef bytes format
    cdef Py_ssize_t offset, dimensions, size
    cdef Py_ssize_t extent[2]
    cdef Py_ssize_t step[2]
    cdef char letter

    def __cinit__(self, owner, str kind, Py_ssize_t rows=-1, Py_ssize_t columns=0, Py_ssize_t offset=0):
        cdef Py_ssize_t room
        self.size = SIZES[kind]
        if owner is None:
            self.take_room(rows, max(columns, 1) * self.size)
        else:
            try:
                PyObject_GetBuffer(owner, &self.held, PyBUF_WRITABLE)
            except (BufferError, TypeError, ValueError):
                PyObject_GetBuffer(owner, &self.held, PyBUF_SIMPLE)
        self.owner, self.offset, self.format = owner, offset, kind.encode()
        self.letter = self.format[0]
        self.dimensions = 2 if columns else 1
        self.step[0] = self.size * max(columns, 1)
        self.step[1], self.extent[1] = self.size, columns
        room = self.held.len - offset
        if rows < 0 and room >= 0:
            rows = room // self.step[0]
        if offset < 0 or room < 0 or rows < 0 or columns < 0 or rows > room // self.step[0]:
            raise ValueError(f"{room} bytes are no {rows} rows of {self.step[0]}")
        self.extent[0] = rows
        self.data = <char *>self.held.buf + offset

    cdef int take_room(self, Py_ssize_t rows, Py_ssize_t step) except -1:
        """Memory that takes no room before it is written to."""
        if rows < 0 or step <= 0 or rows > PY_SSIZE_T_MAX // step:
            raise ValueError(f"{rows} rows of {step} bytes")
        self.own = <char *>calloc(max(rows * step, 1), 1)
        if self.own == NULL:
            raise MemoryError(f"not enough memory for {rows * step} bytes")
        self.held.buf, self.held.len = self.own, rows * step
        return 0

    def __dealloc__(self):
        if self.own != NULL:
            free(self.own)
        else:
            PyBuffer_Release(&self.held)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        if flags & PyBUF_WRITABLE and self.held.readonly:
            raise BufferError("these numbers are not to be written to")
        buffer.buf, buffer.obj, buffer.len = self.data, self, self.extent[0] * self.step[0]
        buffer.itemsize, buffer.readonly, buffer.ndim = self.size, self.held.readonly, <int>self.dimensions
        buffer.format = <char *>self.format if flags & PyBUF_FORMAT else NULL
        buffer.shape = self.extent if flags & PyBUF_ND else NULL
        buffer.strides = self.step if flags & PyBUF_STRIDES == PyBUF_STRIDES else NULL
        buffer.suboffsets = buffer.internal = NULL

    def __len__(self):
        return self.extent[0]

    @property
    def shape(self):
        return (self.extent[0], self.extent[1])[:self.dimensions]

    @property
    def nbytes(self):
        return self.extent[0] * self.step[0]

    @property
    def address(self):
        return <size_t>self.data

    def numpy(self):
        """A NumPy array of the same bytes."""
        from numpy import asarray

        return asarray(self)

    def tobytes(self):
        return PyBytes_FromStringAndSize(self.data, self.extent[0] * self.step[0])

    def tolist(self):
        return memoryview(self).tolist()

    def any(self, *arguments, **named):
        if arguments or named:
            return self.numpy().any(*arguments, **named)
        cdef Py_ssize_t i
        if self.letter in b"fd":
            return bool(self.numpy().any())  # there is a zero with a sign
        for i in range(self.extent[0] * self.step[0]):
            if self.data[i]:
                return True
        return False

    cdef Py_ssize_t place(self, key) except -1:
        """Where a number is, in bytes; raises IndexError."""
        cdef Py_ssize_t index = key
        if index < 0:
            index += self.extent[0]
        if not 0 <= index < self.extent[0]:
            raise IndexError(f"{key} of {self.extent[0]} numbers")
        return index * self.size

    def __getitem__(self, key):
        cdef Py_ssize_t start, stop, step
        if type(key) is slice:
            start, stop, step = key.indices(self.extent[0])
            if step == 1:
                return type(self)(
                    self if self.owner is None else self.owner, self.format.decode(), max(stop - start, 0), self.extent[1],
                    self.offset + start * self.step[0],
                )
        elif type(key) is int and self.dimensions == 1:
            return self.number(self.data + self.place(key))
        return self.numpy()[key]

    cdef number(self, const char *at):
        if self.letter == b"B":
            return (<uint8_t *>at)[0]
        if self.letter == b"I":
            return (<uint32_t *>at)[0]
        if self.letter == b"f":
            return (<float *>at)[0]
        if self.letter == b"d":
            return (<double *>at)[0]
        if self.letter == b"i":
            return (<int32_t *>at)[0]
        return (<int64_t *>at)[0] if self.letter == b"q" else (<uint64_t *>at)[0]

    cdef bint put(self, char *at, value) except -1:
        """Write a number; false where the kind is left to NumPy. Raises OverflowError for whole ones that do not fit."""
        if self.letter == b"f" and isinstance(value, (int, float)):
            (<float *>at)[0] = value
        elif self.letter == b"d" and isinstance(value, (int, float)):
            (<double *>at)[0] = value
        elif self.letter == b"B" and isinstance(value, int):
            (<uint8_t *>at)[0] = value
        elif self.letter == b"I" and isinstance(value, int):
            (<uint32_t *>at)[0] = value
        elif self.letter == b"i" and isinstance(value, int):
            (<int32_t *>at)[0] = value
        elif self.letter == b"Q" and isinstance(value, int):
            (<uint64_t *>at)[0] = value
        else:
            return False
        return True

    def __setitem__(self, key, value):
        if type(key) is not int or self.dimensions != 1 or self.held.readonly or not self.put(
            self.data + self.place(key), value
        ):
            self.numpy()[key] = value
