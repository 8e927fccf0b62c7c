"""The interface of an update rule for one weight per feature, on which other learners can be built.

A kernel fills in an ``UpdateRule`` and exports it to Python with ``as_capsule``; ``KernelConfig.rule`` passes it to the
learner that uses it. Gradient descent and FTRL have none: their code is compiled into each learner.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New

from features.row_buffer cimport Scratch

cdef enum:
    MAX_COLUMNS = 64      # of a table

# ``learner`` is a ``learners.gd_update.Learner``, whose table has the rule's columns, the weight first.
ctypedef int (*LearnRow)(void *learner, Scratch *s, float y, float weight) noexcept nogil


cdef struct UpdateRule:
    size_t stride          # columns of the table while learning
    # Predicts from ``start`` and updates; leaves the raw prediction that it learned from in ``raw``. UNSTABLE where a number is
    # not finite, in which case a learner with ``check_finite`` must not be changed.
    LearnRow learn
    bint shows_learned     # the reported prediction is this one, not that of the weights before


cdef inline object as_capsule(UpdateRule *rule):
    """``rule`` must live as long as its module."""
    return PyCapsule_New(rule, "vwlite.update_rule", NULL)


cdef inline const UpdateRule *from_capsule(capsule, size_t stride) except? NULL:
    """NULL where there is none, or the table, which has but one column, is not to be learned.

    Raises ValueError where it has other columns.
    """
    cdef const UpdateRule *rule
    if capsule is None or stride == 1:
        return NULL
    rule = <const UpdateRule *>PyCapsule_GetPointer(capsule, "vwlite.update_rule")
    if rule.stride != stride:
        raise ValueError("the table has other columns")
    return rule
