"""The loss table for Python: functions over arrays of predictions and labels, and the value of the loss for a single one."""

import numpy as np

from losses.loss_types cimport LINK_COUNT, Loss, LossParams, apply_link, needs_update, read_params
from losses.losses cimport get_loss


cdef int open_table(int code, const float[::1] values, LossParams* params, Loss* loss) except -1:
    if get_loss(code, loss) != 0:
        raise ValueError(f"no loss has the code {code}")
    return read_params(values, params)


cdef int same_length(Py_ssize_t n, Py_ssize_t other) except -1:
    if n != other:
        raise ValueError(f"arrays differ in length: {n} and {other}")
    return 0


def value(int code, const float[::1] params, float p, float y):
    """The loss ``code`` of predicting ``p`` for the label ``y``. Arguments and errors as in ``evaluate``."""
    cdef LossParams fields
    cdef Loss loss
    open_table(code, params, &fields, &loss)
    return loss.value(&fields, p, y)


def evaluate(int code, const float[::1] params, const float[::1] p, const float[::1] y):
    """Value, slope, curvature and squared gradient of the loss ``code``, four float32[n].

    ``params`` are the fields of ``LossParams`` in order, ``p`` the predictions and ``y`` the
    labels, n each.
    Raises ValueError for an unknown code or for arrays of the wrong length.
    """
    cdef LossParams fields
    cdef Loss loss
    cdef Py_ssize_t i, n = p.shape[0]
    open_table(code, params, &fields, &loss)
    same_length(n, y.shape[0])
    out = np.empty((4, n), dtype=np.float32)
    cdef float[:, ::1] rows = out
    with nogil:
        for i in range(n):
            rows[0, i] = loss.value(&fields, p[i], y[i])
            rows[1, i] = loss.slope(&fields, p[i], y[i])
            rows[2, i] = loss.curvature(&fields, p[i], y[i])
            rows[3, i] = loss.square_grad(&fields, p[i], y[i])
    return tuple(out)


def needs_updates(int code, const float[::1] params, const float[::1] p, const float[::1] y):
    """Where an example is learned, found as learners find it: bool[n]. Arguments and errors as in ``evaluate``."""
    cdef LossParams fields
    cdef Loss loss
    cdef Py_ssize_t i, n = p.shape[0]
    open_table(code, params, &fields, &loss)
    same_length(n, y.shape[0])
    out = np.empty(n, dtype=np.uint8)
    cdef unsigned char[::1] found = out
    with nogil:
        for i in range(n):
            found[i] = needs_update(&loss, &fields, p[i], y[i])
    return out.view(bool)


def update(
    int code,
    const float[::1] params,
    const float[::1] p,
    const float[::1] y,
    const float[::1] scale,
    const float[::1] pred_per_update,
):
    """Importance-aware and plain gradient updates, two float32[n].

    ``scale`` is the learning rate times the importance; an update ``d`` moves the prediction by
    ``d * pred_per_update``. Other arguments and errors as in ``evaluate``.
    """
    cdef LossParams fields
    cdef Loss loss
    cdef Py_ssize_t i, n = p.shape[0]
    open_table(code, params, &fields, &loss)
    for length in (y.shape[0], scale.shape[0], pred_per_update.shape[0]):
        same_length(n, length)
    out = np.empty((2, n), dtype=np.float32)
    cdef float[:, ::1] rows = out
    with nogil:
        for i in range(n):
            rows[0, i] = loss.update(&fields, p[i], y[i], scale[i], pred_per_update[i])
            rows[1, i] = loss.unsafe_update(&fields, p[i], y[i], scale[i])
    return tuple(out)


def link(int code, float[::1] predictions):
    """Apply the link function to predictions, float32[n], in place. Raises ValueError for an unknown code."""
    cdef Py_ssize_t i
    if not 0 <= code < LINK_COUNT:
        raise ValueError(f"no link has the code {code}")
    with nogil:
        for i in range(predictions.shape[0]):
            predictions[i] = apply_link(code, predictions[i])
