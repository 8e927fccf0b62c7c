"""Options of what is made of an example's features: plain data, so that ``--help`` shows them without NumPy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from vwlite.config_check import JsonObject
from vwlite.errors import UsageError
from vwlite.options import Config, again, config, not_one_of, option


def sides_of_pair(pair: str) -> tuple[str, ...]:
    """The namespaces of a pair as typed: ``ui`` or ``user,item``."""
    return tuple(pair.split(",") if "," in pair else pair)


def covers(name: str, side: str) -> bool:
    """Whether everything in namespace ``side`` is in ``name``: a letter stands for all names that begin with it.

    A character of several bytes is no letter, but a name.
    """
    single = len(name.encode("utf-8", "surrogateescape")) == 1
    return name == side or (single and side.startswith(name))


def read_numbers(text: str, option: str) -> dict[str, float]:
    """``NS=X,NS=Y``. Raises UsageError."""
    numbers: dict[str, float] = {}
    for part in text.split(","):
        name, equals, value = part.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            equals = ""
        if not (name and equals):
            raise UsageError(f"{option} takes numbers by namespace, like user=0.1, not {part!r}")
        if name in numbers:
            raise UsageError(f"{option} names {name} twice")
        numbers[name] = number
    return numbers


def check_crossed(name: str, option: str, crossed: Iterable[str]) -> None:
    """Raises UsageError where no pair and no interaction, as typed, has the namespace."""
    for value in crossed:
        for side in sides_of_pair(value):
            if side == ":" or covers(name, side) or covers(side, name):
                return
    raise UsageError(f"{option}: no pair of --dotproduct and no interaction has the namespace {name!r}")


NOTHING_KNOWN = "no feature of the text is in Theta"


@config
class ApplyConfig(Config):
    """Options of ``aso apply``. ``unit``: are the features of a group scaled to length ``scale``, or by it?"""

    scale: float = option(
        1.0, "Length of each group's features.", spelled=("--theta-scale",), key="theta_scale", above=0,
    )
    unit: bool = option(
        True, "Scale them to that length; else multiply them by it.", spelled=("--theta-unit/--no-theta-unit",),
        key="theta_unit", shown="yes",
    )
    dim: int | None = option(None, "Rows of each group.", spelled=("--theta-dim",), key="theta_dim", low=1, shown="all")
    groups: tuple[str, ...] = option(
        (), "Groups of Theta to keep.", spelled=("--theta-groups",), key="theta_groups", metavar="A,B",
        shown="all",
    )


TABLE = "Table of weights"
WEIGHTING = "Values of terms"
RANDOM = "Features of kernels"
VALUES = ("raw", "log", "binary")  # numbered as in the kernel
KERNELS = ("rbf", "laplace", "poly2", "poly3", "arccos")  # numbered as in the kernel's code
LANDMARK_KERNELS = ("linear", "rbf", "poly2", "poly3", "cosine")  # numbered as in the kernel's code
MOST_WHITENED = 8192  # landmarks
STEP, MOST = 64, 2**20  # of the number of random features
MOST_DIRECTIONS = 2**26  # numbers that laplace keeps in memory
CROSSINGS = ("quadratic", "cubic", "interactions", "dotproduct")
LEARNED = "Learning of namespaces"
OF_THETA = "Features of Theta"
LATER = (WEIGHTING, RANDOM, LEARNED, OF_THETA)  # sections of options that models do not tell of where they are usual


def feature(default: Any, help: str, **declared: Any) -> Any:
    """An option that is settled when a model is begun."""
    return option(default, help, **{"section": "Features", "settled": True, **declared})


def of_theta(name: str, default: Any, **declared: Any) -> Any:
    """An option of ``vwlite aso apply``, settled when a model is begun."""
    return again(ApplyConfig, name, default, section=OF_THETA, settled=True, needs=("theta",), **declared)


@config
class FeatureConfig(Config):
    """The feature pipeline's options, spelled as Vowpal Wabbit spells them."""

    bits: int = feature(
        18, "Bits of a slot's number: the table has 2^N slots.", section=TABLE, spelled=("-b", "--bit_precision"),
        low=1, high=32, unit="bits", shape=True,
    )
    hash: str = feature(
        "strings", "Whether names of digits are numbers (strings) or hashed as names (all).", section=TABLE,
        choices=("strings", "all"),
        shape=True,
    )
    hash_seed: int = feature(0, "Seed of the hash.", section=TABLE, low=0, high=2**32 - 1, shape=True)
    noconstant: bool = feature(False, "No constant feature.")
    quadratic: tuple[str, ...] = feature(
        (), "Cross two namespaces: letters, ':' for any, or full names 'a,b'.", spelled=("-q", "--quadratic"),
        metavar="AB", letters=True,
    )
    cubic: tuple[str, ...] = feature((), "Cross three namespaces.", metavar="ABC", letters=True)
    interactions: tuple[str, ...] = feature((), "Cross two or more namespaces.", metavar="ABC...", letters=True)
    permutations: bool = feature(
        False, "Cross a namespace with itself in every order.", in_vw_models="forgotten", needs=CROSSINGS
    )
    leave_duplicate_interactions: bool = feature(
        False, "Keep interactions that differ only in order.", in_vw_models="forgotten", needs=CROSSINGS,
    )
    ignore: tuple[str, ...] = feature(
        (), "Drop namespaces beginning with these letters.", metavar="ABC", in_vw_models="added", letters=True,
    )
    keep: tuple[str, ...] = feature((), "Drop all others.", metavar="ABC", in_vw_models="added", letters=True)
    ignore_linear: tuple[str, ...] = feature(
        (), "Use them only within interactions.", metavar="ABC", in_vw_models="added", letters=True,
    )
    redefine: tuple[str, ...] = feature(
        (), "File namespaces S under letter N.", metavar="N:=S", in_vw_models="added", letters=True
    )
    ngram: tuple[str, ...] = feature(
        (), "Add n-grams, of namespace A or of all.", metavar="[A]N", in_vw_models="added", letters=True
    )
    skips: tuple[str, ...] = feature(
        (), "Let n-grams skip up to N features.", metavar="[A]N", in_vw_models="added", letters=True
    )
    feature_limit: tuple[str, ...] = feature(
        (), "Keep N features of namespace A or of each.", metavar="[A]N", in_vw_models="forgotten", letters=True,
    )
    affix: str = feature(
        "", "Add prefixes (+) and suffixes (-) of length N of names, like +2a,-3b.", metavar="SPEC", letters=True,
    )
    spelling: tuple[str, ...] = feature(
        (), "Add the spelling classes of names; _ is the anonymous namespace.", metavar="A", in_vw_models="added",
        letters=True,
    )
    sort_features: bool = feature(
        False, "Sort a namespace's features and drop repeated ones.", section="", vw_only=True,
        in_vw_models="forgotten",
    )
    dotproduct: tuple[str, ...] = feature(
        (), "Add the dot product of two namespaces' latent vectors.", section="Dot products of latent vectors",
        metavar="AB|A,B", shape=True, letters=True,
    )
    mask_ids: tuple[str, ...] = feature(
        (), "Leave namespace NS out of a share P of the examples learned, so that the rest learns to do without.",
        section=LEARNED, spelled=("--mask-ids",), metavar="NS=P",
    )
    freeze: tuple[str, ...] = feature(
        (), "Parts that do not change while the rest learns: namespaces, the Constant, all latent vectors or linear "
        "weights.",
        section=LEARNED, metavar="latent,NS,...",
    )
    centred: tuple[str, ...] = feature(
        (), "Subtract running means from the features of a namespace that every example has; _: the anonymous one.",
        section=LEARNED, metavar="NS", shape=True,
    )

    value: str = feature(
        "raw", "Of terms: as they are, 1 + ln of what is beyond 1, or 1.", section=WEIGHTING, choices=VALUES,
    )
    weight: str = feature(
        "none", "Of terms: ln(examples / examples with it), or divided by an example's degree.", section=WEIGHTING,
        choices=("none", "idf", "degree"),
    )
    unit: bool = feature(False, "Scale examples to length 1.", section=WEIGHTING)
    min_df: int = feature(
        3, "Leave out terms that fewer examples have.", section=WEIGHTING, low=1, unit="examples", needs=("weight",),
    )

    random_features: str = feature(
        "", f"Add D features whose dot products are about those of a kernel: {', '.join(KERNELS)}.", section=RANDOM,
        metavar="KERNEL:D", shape=True,
    )
    gamma: float | None = feature(
        None, "Of rbf, exp(-X |x - y|^2), and of laplace, the same of the sum of absolute differences.", section=RANDOM,
        above=0, shown="1 / the median distance of pairs of the first 2,000 examples", shape=True,
    )
    random_of: tuple[str, ...] = feature(
        (), "Make them of these namespaces' features, not of all terms.", section=RANDOM, metavar="ABC", shape=True,
        needs=("random_features", "landmarks"), letters=True,
    )
    random_only: bool = feature(
        False, "Replace the terms that they are made from.", section=RANDOM, shape=True,
        needs=("random_features", "landmarks"),
    )
    fold: int = feature(
        1024, "Fold terms to N buckets by their hash first; a power of two.", section=RANDOM, low=64, high=65536,
        shape=True, needs=("random_features",),
    )
    landmarks: str = feature(
        "", "Add the kernel of each example with every line of FILE, or with N of the first 2,000 examples: "
        f"{', '.join(LANDMARK_KERNELS)}.",
        section=RANDOM, metavar="KERNEL:FILE|N", read_as="landmarks", shape=True,
        once="one file has the lines of all landmarks",
    )
    whiten: bool = feature(
        False, "Transform landmark features so that their dot products approximate the kernel.", section=RANDOM,
        shape=True,
        needs=("landmarks",),
    )
    nearest: int = feature(
        0, "1 for the N landmarks with the largest kernels, and nothing for others.", section=RANDOM, low=0, shape=True,
        needs=("landmarks",), shown="the kernels themselves",
    )

    theta: str = feature(
        "", "Add the features that this Theta of 'vwlite aso learn' makes of examples.", section=OF_THETA,
        reads="Theta",
    )
    theta_scale: float = of_theta("scale", 1.0)
    theta_unit: bool = of_theta("unit", True, shown="yes")
    theta_dim: int | None = of_theta("dim", None, shown="all")
    theta_groups: tuple[str, ...] = of_theta("groups", (), shown="all")

    def __post_init__(self) -> None:
        for pair in self.dotproduct:
            if len(sides := sides_of_pair(pair)) != 2:
                raise UsageError(f"--dotproduct takes 2 namespaces, not {len(sides)}: {pair!r}")
        if self.theta:
            self.check_theta()
        if self.random_features:
            self.check_random()
        elif self.landmarks:
            self.check_landmarks()
        elif self.gamma is not None:
            raise UsageError("--gamma does nothing without --random_features or --landmarks with a kernel that has it")
        if self.weighs_terms and self.dotproduct:
            raise UsageError("--value, --weight and --unit do not go with --dotproduct")
        if self.weight == "degree" and self.unit:
            raise UsageError("--unit undoes --weight degree: drop one of the two")
        self.check_learned()
        if self.centred:
            self.check_centred()
        if self.sort_features and self.ngram:
            raise UsageError("--ngram goes by the order of features: drop --sort_features")
        if self.skips and not self.ngram:
            raise UsageError("--skips needs --ngram")

    def check_random(self) -> None:
        """Raises UsageError for what random features cannot be made from."""
        kernel, size = self.random_kernel, self.random_features.partition(":")[2]
        if kernel not in KERNELS:
            raise UsageError(f"--random_features: {not_one_of(kernel, KERNELS)}")
        if not (size.isascii() and size.isdigit() and 0 < int(size) <= MOST):
            raise UsageError(f"--random_features takes KERNEL:D, D from 1 to {MOST}, not {self.random_features!r}")
        if self.random_size > 2**self.bits:
            raise UsageError(f"--random_features: {self.random_size} features need as many slots: give a larger -b")
        if self.gamma is not None and not self.has_gamma:
            raise UsageError(f"--gamma does nothing with --random_features {kernel}")
        if self.fold & (self.fold - 1):
            raise UsageError(f"--fold takes a power of two, not {self.fold}")
        if kernel == "laplace" and self.fold * self.random_size > MOST_DIRECTIONS:
            raise UsageError(f"--random_features laplace: D times --fold is {MOST_DIRECTIONS} at most")
        if self.landmarks:
            raise UsageError("--random_features and --landmarks do not go together: drop one")
        self.check_mapped()

    def check_landmarks(self) -> None:
        """Raises UsageError."""
        kernel, _, path = self.landmarks.partition(":")
        if kernel not in LANDMARK_KERNELS:
            raise UsageError(f"--landmarks takes KERNEL:FILE: {not_one_of(kernel, LANDMARK_KERNELS)}")
        if not path:
            raise UsageError(f"--landmarks takes KERNEL:FILE, like {kernel}:centres.vw, not {self.landmarks!r}")
        if path.isdecimal() and not self.landmark_count:
            raise UsageError(f"--landmarks {kernel}:N takes 1 or more")
        if self.gamma is not None and not self.has_gamma:
            raise UsageError(f"--gamma does nothing with --landmarks {kernel}")
        self.check_mapped()

    def check_mapped(self) -> None:
        """Raises UsageError for ``--random_of`` and ``--random_only`` where they cannot be."""
        if self.random_of and self.weighs_terms:
            raise UsageError("--value, --weight and --unit leave no namespaces for --random_of")
        if self.random_only and self.dotproduct:
            raise UsageError("--random_only leaves no features for --dotproduct")

    def check_theta(self) -> None:
        """Raises UsageError for what leaves nothing of Theta's features."""
        check_plan(self, self.theta_unit)
        if self.value != "raw" or self.weight != "none":
            raise UsageError("--value and --weight are for counts, not for --theta: learn Theta with --idf instead")

    def check_centred(self) -> None:
        """Raises UsageError for what needs the features as the text has them."""
        others = {"--value, --weight and --unit": self.weighs_terms, "--ngram": self.ngram, "--theta": self.theta}
        others |= {"--dotproduct": self.dotproduct, "--freeze": self.freeze}
        for name, value in others.items():
            if value:
                raise UsageError(f"--centred does not go with {name}")
        if wrong := [name for name in self.centred if not name or ":" in name]:
            raise UsageError(f"--centred takes the name of a namespace, _ for the anonymous one, not {wrong[0]!r}")

    def check_learned(self) -> None:
        """Raises UsageError for ``--mask-ids`` and ``--freeze`` where they cannot be."""
        crossed = [value for name in CROSSINGS for value in getattr(self, name)]
        for text in self.mask_ids:
            for name, share in read_numbers(text, "--mask-ids").items():
                if not 0 <= share < 1:
                    raise UsageError(f"--mask-ids takes shares from 0 to below 1, not {name}={share:g}")
                check_crossed(name, "--mask-ids", crossed)
        words = [word for value in self.freeze for word in value.split(",")]
        if "none" in words and words != ["none"]:
            raise UsageError("--freeze none does not go with other parts: nothing is frozen any more")
        object.__setattr__(self, "freeze", tuple(word for word in dict.fromkeys(words) if word != "none"))
        if not all(self.freeze):
            raise UsageError("--freeze: a name is empty")
        if {"latent", "linear"} & {*self.freeze} and not self.dotproduct:
            raise UsageError("--freeze latent and linear are parts of a dyadic model: they need --dotproduct")
        if {"latent", "linear"} <= {*self.freeze}:
            raise UsageError("--freeze latent,linear leaves nothing to learn")

    @property
    def of_theta(self) -> ApplyConfig:
        """How Theta's features are made."""
        return ApplyConfig(self.theta_scale, self.theta_unit, self.theta_dim, self.theta_groups)

    @property
    def random_kernel(self) -> str:
        return self.random_features.partition(":")[0]

    @property
    def random_size(self) -> int:
        """The number of random features: as asked for, rounded up."""
        return -(-int(self.random_features.partition(":")[2]) // STEP) * STEP

    @property
    def has_gamma(self) -> bool:
        return self.random_kernel in ("rbf", "laplace") or self.landmarks.startswith("rbf:")

    @property
    def landmark_count(self) -> int:
        """The number of first examples that are landmarks; 0 where a file has them."""
        path = self.landmarks.partition(":")[2]
        return int(path) if path.isdecimal() else 0

    @property
    def finds_gamma(self) -> bool:
        """Whether the first examples say what ``gamma`` is."""
        return self.has_gamma and self.gamma is None

    @property
    def needs_examples(self) -> bool:
        """Whether features of kernels are made from the first examples."""
        return self.finds_gamma or self.landmark_count > 0

    @property
    def weighs_terms(self) -> bool:
        """Whether terms have other values than their features."""
        return self.value != "raw" or self.weight != "none" or self.unit

    def header(self) -> JsonObject:
        """The options in models and checkpoints, as JSON data; later options only if they differ from the default."""
        usual = {one.name: one.default for one in self.OPTIONS.values() if one.section in LATER}
        return {name: value for name, value in asdict(self).items() if name not in usual or value != usual[name]}


def check_plan(features: FeatureConfig, unit: bool) -> None:
    """Raises UsageError for features of which Theta knows nothing."""
    if features.hash != "strings" or features.hash_seed:
        raise UsageError("--theta identifies features by their default hash: drop --hash and --hash_seed")
    if not unit and (features.affix or features.spelling):
        raise UsageError("--no-theta-unit goes by the lengths of examples, which --affix and --spelling change")


def check_no_theta(features: FeatureConfig) -> None:
    """Raises UsageError for a model that has no use for Theta, or takes it otherwise."""
    if features.theta:
        raise UsageError("theta is among the features of Model only")


@config
class QueryConfig(Config):
    """``by`` is ``"tag"``, ``"none"`` (all rows are one query), a namespace's name, or None: tags if there are any."""

    by: str | None = option(
        None, "What identifies a query: tag, none, or a namespace.", spelled=("--qid",), key="qid", metavar="NS",
        shown="tags",
    )

    def __post_init__(self) -> None:
        if self.by == "":
            raise UsageError("--qid takes tag, none or the name of a namespace")
