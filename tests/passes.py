"""Passes of a learner over lines of text, and what they made of each row."""

import numpy as np
from vwtext import feature_config

from vwlite.data.text_format import parse_text
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.row_results import Results


def run_passes(learner, problem, passes, chunk=None):
    """float32[passes * n, 4]: prediction, raw prediction, loss and features of each row, ``chunk`` rows a time.

    ``problem`` is lines, options and what is held out.
    """
    lines, options, held = problem
    features = feature_config(options)
    batch = parse_text(b"\n".join(lines), text_format(features, skip_malformed=False))
    plan, results = Plan(features), Results()
    results.reserve(len(batch))
    results.holdout_mask = None if held is None else np.array(held, np.uint8)
    rows = [np.empty((0, 4), np.float32)]
    for _ in range(passes):
        for begin in range(0, len(batch), chunk or len(batch)):
            learner.run(batch, plan, results, begin, min(begin + (chunk or len(batch)), len(batch)))
        columns = results.prediction, results.raw, results.loss, results.features.astype(np.float32)
        rows.append(np.column_stack(columns))
        learner.end_pass()
    return np.concatenate(rows)
