"""``TextHasher``: hashed columns of Vowpal Wabbit text for any estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin

from vwlite.data.batch import joined
from vwlite.data.text_format import TextFormat
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, new_namespaces, text_format
from vwlite.features.term_weights import terms_of
from vwlite.sklearn.numeric_rows import row_batches


class TextHasher(TransformerMixin, BaseEstimator):
    """Turns lines of Vowpal Wabbit text, dicts or data frames into sparse rows of ``2 ** bits`` hashed columns.

    A feature's column is the slot that ``vwlite train`` has for it, n-grams and crossed namespaces included; the
    constant is left out. Labels, importance and tags of the lines are not used, whatever they are. Nothing is learned:
    ``fit`` only checks the parameters.

    Parameters
    ----------
    bits : int, default=18
        There are ``2 ** bits`` columns.
    hash : {"strings", "all"}, default="strings"
        With "strings" a name of digits is its own number; with "all" every name is hashed.
    hash_seed : int, default=0
        Seed of the hash.
    quadratic, cubic, interactions : sequences of str, default=()
        Namespaces to cross, by letters ("ui") or by names ("user,item").
    ignore, keep : sequences of str, default=()
        Drop the namespaces that begin with these letters, or all others.
    ngram, skips, feature_limit : sequences of str, default=()
        As the options of ``vwlite train`` of these names: "2" or, for namespace a, "a2".
    affix : str, default=""
        Prefixes and suffixes of names to add, like "+2a,-3b".
    spelling : sequence of str, default=()
        Namespaces whose names' spelling classes are added.
    namespaces : dict or None, default=None
        Of data frames: ``{"user": ["age", "city"]}``, the columns in each namespace; others are anonymous.
    """

    def __init__(
        self,
        *,
        bits: int = 18,
        hash: str = "strings",
        hash_seed: int = 0,
        quadratic: Sequence[str] = (),
        cubic: Sequence[str] = (),
        interactions: Sequence[str] = (),
        ignore: Sequence[str] = (),
        keep: Sequence[str] = (),
        ngram: Sequence[str] = (),
        skips: Sequence[str] = (),
        feature_limit: Sequence[str] = (),
        affix: str = "",
        spelling: Sequence[str] = (),
        namespaces: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.bits = bits
        self.hash = hash
        self.hash_seed = hash_seed
        self.quadratic = quadratic
        self.cubic = cubic
        self.interactions = interactions
        self.ignore = ignore
        self.keep = keep
        self.ngram = ngram
        self.skips = skips
        self.feature_limit = feature_limit
        self.affix = affix
        self.spelling = spelling
        self.namespaces = namespaces

    def fit(self, X: Any = None, y: Any = None) -> TextHasher:
        """Check the parameters. Raises UsageError."""
        self._plan_and_format()
        return self

    def transform(self, X: Any) -> csr_matrix:
        """Rows of ``X``: n lines; n dicts of name and value, a number, a text, a list of words, or a dict, which is a
        namespace; or a data frame (extra ``arrow``), whose columns are numbers, texts or lists of words.

        CSR of float32, n rows; a column that a row has twice counts the sum. Raises DataError for a malformed row,
        naming row and column from 0; UsageError for wrong parameters.
        """
        plan, format = self._plan_and_format()
        parts = []
        for batch in row_batches(X, format, namespaces=self.namespaces):
            if plan.wild:
                for characters in new_namespaces(batch, plan).values():
                    plan.see(characters)
            parts.append(terms_of(batch, plan))
            if batch.release:
                batch.release()
        terms = joined(parts)
        index = np.int32 if self.bits < 32 and terms.indptr[-1] < 2**31 else np.int64
        entries = (terms.values, terms.indices.astype(index), terms.indptr.astype(index))
        table = csr_matrix(entries, shape=(len(terms), 1 << self.bits))
        table.sum_duplicates()
        return table

    def _plan_and_format(self) -> tuple[Plan, TextFormat]:
        """Raises UsageError for what the options of these names do not take."""
        lists = ("quadratic", "cubic", "interactions", "ignore", "keep", "ngram", "skips", "feature_limit", "spelling")
        given: dict[str, Any] = {name: tuple(getattr(self, name)) for name in lists}
        single = {name: getattr(self, name) for name in ("bits", "hash", "hash_seed", "affix")}
        features = FeatureConfig(noconstant=True, **given, **single)
        return Plan(features), text_format(features, skip_malformed=True).of_words(lists=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.dict = True
        tags.requires_fit = False
        return tags
