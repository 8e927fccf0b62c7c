"""Options of ``vwlite l1``, validated once."""

from dataclasses import dataclass

from vwlite.errors import UsageError

MODELS = ("binary", "multinomial", "crf")
PENALTIES = ("naive", "clipping", "cumulative")  # in the order of solvers/l1_penalties.pxd
RATES = ("harmonic", "exponential")
SOLVERS = ("sgd", "owlqn")
PASSES = {"sgd": 30, "owlqn": 1000}
STEEPEST = {"binary": 0.05, "multinomial": 0.1, "crf": 0.2}  # learning rates where none is given
BITS = {"binary": 18, "multinomial": 32, "crf": 32}


@dataclass(frozen=True, slots=True)
class L1Config:
    """What is learned, and how. ``learning_rate`` None depends on the model, ``passes`` None on the solver."""

    model: str = "binary"
    l1: float = 1.0  # C
    solver: str = "sgd"
    penalty: str = "cumulative"
    rate: str = "exponential"
    learning_rate: float | None = None  # eta_0
    decay: float = 0.85  # alpha, by pass
    passes: int | None = None
    tolerance: float = 1e-7  # of OWL-QN
    dense_pairs: bool = False
    edge: tuple[str, ...] = ()
    shuffle: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        for option, value, known in (
            ("--model", self.model, MODELS),
            ("--solver", self.solver, SOLVERS),
            ("--penalty", self.penalty, PENALTIES),
            ("--rate", self.rate, RATES),
        ):
            if value not in known:
                raise UsageError(f"{option} is one of {', '.join(known)}, not {value!r}")
        if not 0 <= self.l1 < float("inf"):
            raise UsageError(f"--l1 takes a number of 0 or more, not {self.l1:g}")
        if not 0 < self.initial_learning_rate < float("inf"):
            raise UsageError(f"-l takes a number above 0, not {self.initial_learning_rate:g}")
        if not 0 < self.decay < 1:
            raise UsageError(f"--decay_learning_rate takes a number between 0 and 1, not {self.decay:g}")
        if self.most_passes < 1:
            raise UsageError(f"--passes takes 1 or more, not {self.passes}")
        if not 0 < self.tolerance < 1:
            raise UsageError(f"--tolerance takes a number between 0 and 1, not {self.tolerance:g}")
        if self.edge and self.model != "crf":
            raise UsageError("--edge conditions transitions between labels: it needs --model crf")
        if self.dense_pairs and self.model == "binary":
            raise UsageError("--dense-pairs pairs features with labels: it needs --model multinomial or crf")

    @property
    def initial_learning_rate(self) -> float:
        return STEEPEST[self.model] if self.learning_rate is None else self.learning_rate

    @property
    def most_passes(self) -> int:
        return PASSES[self.solver] if self.passes is None else self.passes

    @property
    def words(self) -> bool:
        """Whether labels are names."""
        return self.model != "binary"
