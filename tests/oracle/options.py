"""Options, what the oracles need to know of a command line."""

from dataclasses import dataclass, field


@dataclass
class Options:
    """Defaults are Vowpal Wabbit's. Letters are bytes with ``\\xHH`` already resolved."""

    # text to features
    hash: str = "strings"  # or "all"
    hash_seed: int = 0
    affix: str = ""  # "+2a,-3", as typed
    spelling: bytes = b""  # first bytes of namespaces, 32 for the anonymous one
    # features to terms
    bits: int = 18
    redefine: list[bytes] = field(default_factory=list)  # b"N:=S" each
    ignore: bytes = b""
    keep: bytes | None = None
    ignore_linear: bytes = b""
    ngram: list[bytes] = field(default_factory=list)  # b"2" or b"a2" each
    skips: list[bytes] = field(default_factory=list)
    noconstant: bool = False
    feature_limit: list[bytes] = field(default_factory=list)
    interactions: list[bytes] = field(default_factory=list)
    leave_duplicate_interactions: bool = False
    permutations: bool = False
    # learner
    rules: frozenset[str] = frozenset()  # of sgd, adaptive, normalized, invariant, as typed
    learning_rate: float | None = None  # None: not typed
    power_t: float = 0.5
    initial_t: float | None = None
    decay_learning_rate: float = 1.0
    initial_weight: float = 0.0
    constant: float = 0.0
    l1: float = 0.0
    l2: float = 0.0
    sparse_l2: float = 0.0
    loss: str = "squared"
    quantile_tau: float = 0.5
    expectile_q: float = 0.0
    logistic_min: float = -1.0
    logistic_max: float = 1.0
    link: str = "identity"
    min_prediction: float | None = None
    max_prediction: float | None = None
    test_only: bool = False  # -t
    own: bool = False  # vwlite's own mode, in which hinge is not clipped
    # run
    passes: int = 1
    holdout_off: bool = False
    holdout_period: int = 10
    holdout_after: int = 0
    early_terminate: int = 3
    examples: int | None = None
    progress: str | None = None  # -P, as typed
