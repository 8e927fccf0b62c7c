"""What a run over rows has beside the tables of a ``LabelModel``: scalars and their rates, sums of log losses, room for scores."""

from learners.dyadic_moves cimport decayed_rate
from learners.label_model cimport LabelModel, open_model
from learners.query_choice cimport Asking, open_asking


cdef enum:                 # positions in the scalars, named in vwlite/learners/label_vectors.py
    RATE = 0               # learning rate, decayed by the passes so far
    FIRST = 1              # number of the first class, -1 while unknown
    TIME = 2               # sum of importance of the examples learned
    UNBOUNDED = 3          # number of updates that hit an iteration limit
    LATER = 4              # 0 in the first pass
    MISMATCHED = 7         # number of rows whose sides cannot be paired by position
    SCALARS = 9            # kernels do not use the others


cdef struct LabelRun:
    double *scalars
    double *log_loss       # (2, 2) as in learners/class_update.pxd
    double power_t, initial_t, first_pass_t
    double flip_rate       # the learning rate at which the importance to change a prediction is found
    Asking asking
    bint vw_compat
    float *raw             # (rows of the batch, labels), or a single row
    float *score
    size_t score_stride


cdef inline double rate_now(const LabelRun *run) noexcept nogil:
    return decayed_rate(run.scalars[RATE], run.scalars[TIME], run.first_pass_t if run.scalars[LATER] == 0 else 0, run.power_t,
                        run.initial_t)


cdef inline int open_run(LabelRun *run, LabelModel *m, state, config, plan, size_t rows, size_t end) except -1:
    """Open the model as well; ``rows`` are those of the batch, up to ``end`` they are run. Raises ValueError for arrays of other
    shapes.
    """
    cdef double[::1] scalars = state.scalars
    cdef double[:, ::1] log_loss = state.log_loss
    cdef float[:, ::1] raw = state.raw, score = state.score
    open_model(m, state, config, plan)
    run.scalars, run.log_loss, run.vw_compat = &scalars[0], &log_loss[0, 0], config.vw_compat
    run.first_pass_t, run.power_t, run.initial_t = config.first_pass_t, config.power_t, config.initial_t
    run.flip_rate, run.asking = config.confidence_rate, open_asking(state, config, end)
    if scalars.shape[0] != SCALARS or log_loss.shape[0] != 2 or log_loss.shape[1] != 2:
        raise ValueError("scalars or sums of losses do not fit")
    run.score_stride = m.labels if state.wants_scores else 0
    if <size_t>min(raw.shape[0], score.shape[0]) < (rows if run.score_stride else 1) or (
            raw.shape[1] != <Py_ssize_t>m.labels or score.shape[1] != <Py_ssize_t>m.labels):
        raise ValueError("no room for the scores")
    run.raw, run.score = &raw[0, 0], &score[0, 0]
    return 0
