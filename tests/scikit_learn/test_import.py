"""``import vwlite.sklearn`` loads no estimator, and says what is missing where scikit-learn is."""

import importlib.util
import subprocess
import sys

import pytest


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_without_scikit_learn_the_extra_is_named():
    done = run("import sys; sys.modules['sklearn'] = None; import vwlite.sklearn")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last == "vwlite.errors.ExtraMissing: vwlite.sklearn needs scikit-learn: pip install 'vwlite[sklearn]'"


@pytest.mark.skipif(not importlib.util.find_spec("sklearn"), reason="scikit-learn is not installed")
def test_estimators_are_loaded_when_they_are_asked_for():
    done = run(
        "import sys, sklearn; before = {*sys.modules}; import vwlite.sklearn\n"
        "print(*sorted({*sys.modules} - before))\n"
        "print(*(getattr(vwlite.sklearn, name).__name__ for name in dir(vwlite.sklearn)))"
    )
    loaded, names = done.stdout.splitlines()
    assert loaded == "vwlite vwlite.errors vwlite.sklearn vwlite.version"
    assert names.split() == [
        "ASOTransformer", "CRFTagger", "CRRRanker", "DyadicClassifier", "DyadicRegressor", "HashedKMeans",
        "L1Classifier", "Landmarks", "PCATransformer", "RandomFeatures", "TextHasher", "VWClassifier", "VWPolicy",
        "VWRegressor",
    ]


@pytest.mark.skipif(not importlib.util.find_spec("sklearn"), reason="scikit-learn is not installed")
def test_an_unknown_name_is_no_attribute():
    import vwlite.sklearn

    with pytest.raises(AttributeError, match="no attribute 'VWRanker'"):
        _ = vwlite.sklearn.VWRanker
