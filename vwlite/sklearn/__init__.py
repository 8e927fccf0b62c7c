"""scikit-learn estimators (extra ``sklearn``). A class is loaded when it is first asked for."""

from __future__ import annotations

import importlib
from typing import Any

from vwlite.errors import ExtraMissing

try:
    import sklearn  # noqa: F401
except ImportError:
    raise ExtraMissing("vwlite.sklearn needs scikit-learn: pip install 'vwlite[sklearn]'") from None

MODULES = {
    "ASOTransformer": "aso_transformer",
    "CRFTagger": "crf_tagger",
    "CRRRanker": "crr_ranker",
    "DyadicClassifier": "dyadic",
    "DyadicRegressor": "dyadic",
    "HashedKMeans": "pca_transformer",
    "L1Classifier": "l1_classifier",
    "Landmarks": "transformers",
    "PCATransformer": "pca_transformer",
    "RandomFeatures": "transformers",
    "TextHasher": "transformers",
    "VWClassifier": "linear",
    "VWPolicy": "policy",
    "VWRegressor": "linear",
}
__all__ = [*MODULES]


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
