"""Indices of a run's counters in the float64 array of vwlite.training.counters.Counters."""

cdef enum:
    # Sums over examples that are not held out.
    EXAMPLE_NUMBER       # examples, an integer
    TOTAL_FEATURES       # features with constant and interactions, an integer
    LABELED_WEIGHT       # importance of labelled examples
    OLD_LABELED_WEIGHT   # LABELED_WEIGHT when the last progress row was printed
    UNLABELED_WEIGHT
    WEIGHTED_LABELS      # sum of label times importance, 0 unless SIMPLE_LABELS
    SUM_LOSS
    SUM_LOSS_SINCE_DUMP  # since the last progress row
    # The same over held-out labelled examples: whole run, since the last row, since the pass began.
    HOLDOUT_WEIGHT
    HOLDOUT_LOSS
    HOLDOUT_WEIGHT_SINCE_DUMP
    HOLDOUT_LOSS_SINCE_DUMP
    HOLDOUT_WEIGHT_SINCE_PASS
    HOLDOUT_LOSS_SINCE_PASS
    HOLDOUT_BEST_LOSS    # average of the best pass, FLT_MAX before the first pass ends
    HOLDOUT_BEST_PASS
    # The first two distinct labels, NaN until seen; 1 once a third was seen.
    FIRST_LABEL
    SECOND_LABEL
    MORE_LABELS
    # When a progress row is due: at total importance DUMP_INTERVAL (a float32 value).
    DUMP_INTERVAL
    PROGRESS_ADDITIVE    # 1: next row PROGRESS_STEP later; 0: at PROGRESS_STEP times the total
    PROGRESS_STEP
    SIMPLE_LABELS        # 1: labels are real numbers; 0: classes or costs, which are not summed
    QUERIES              # labels requested by active learning, an integer
    ROW_DUE              # 1 when the last call of tally stopped for a progress row
    N_COUNTERS
