"""Functions that one kernel compiles for all: each gets them once, by a capsule."""

from cpython.pycapsule cimport PyCapsule_Import

cdef extern from "Python.h":
    object PyImport_ImportModule(const char *name)


cdef inline void *find_capsule(void **kept, const char *module, const char *name) except NULL:
    """What the capsule ``name``, which begins with its ``module``, points to; ``kept`` has it from the first call on, as the
    look-up takes longer than the prediction of a row.
    """
    if kept[0] == NULL:
        PyImport_ImportModule(module)   # which PyCapsule_Import does not do
        kept[0] = PyCapsule_Import(name, False)
    return kept[0]
