"""Which estimators do not keep which laws yet, and why. An entry that is no longer true fails the battery."""

MISSING = {  # law: estimators, or commands whose estimators all are meant
    "the_report_has_a_history": dict.fromkeys(("aso learn", "aso train", "cut"), "--json has no history"),
    "empty_input_is_refused": {"pca": "exit status 2, as of a wrong --dim"},
    "there_is_a_golden_model": dict.fromkeys(("aso learn", "aso cotrain"), "tests/golden/make.py has no line"),
}


def reason(one, law):
    """Why an estimator does not keep a law; None where it does."""
    result = MISSING.get(law, {})
    return result.get(one.name) or result.get(one.command)
