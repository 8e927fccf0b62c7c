"""Which estimators do not keep which laws yet, and why. An entry that is no longer true fails the battery."""

SOLVERS = ("crr", "l1", "aso learn", "aso train", "aso tasks", "aso cotrain", "cluster", "pca", "lm train")
MISSING = {  # law: estimators, or commands whose estimators all are meant
    "stopped_and_resumed_it_gives_the_same_bytes": {
        **dict.fromkeys(SOLVERS, "there is no --resume"),
        "aso learn": None,
        "aso-learn-in-memory": "--resume is for --online",
    },
    "what_was_learned_is_known": dict.fromkeys(SOLVERS, "there is no ledger"),
    "the_report_has_a_history": {
        **dict.fromkeys((*SOLVERS, "cut"), "--json has no history"),
        "l1": None,
    },
    "one_writer_at_a_time": {"crr": "it takes no lock"},
    "empty_input_is_refused": dict.fromkeys(("clusters-cut", "pca"), "exit status 2, as of a wrong -k or --dim"),
    "a_byte_order_mark_means_nothing": {"lm": "with --tokens blanks it is a part of the first word"},
    "there_is_a_golden_model": dict.fromkeys(("aso learn", "aso cotrain"), "tests/golden/make.py has no line"),
}


def reason(one, law):
    """Why an estimator does not keep a law; None where it does."""
    found = MISSING.get(law, {})
    return found.get(one.name) or found.get(one.command)
