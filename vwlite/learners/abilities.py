"""What only some learners can do: a small class each, which they also are. Who needs an ability asks ``isinstance``.

Methods with a body are for learners that have the ability and nothing of their own to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.errors import UsageError
from vwlite.learners.row_results import CrossedTerms, Results, WeightedSum, value_text

if TYPE_CHECKING:
    from vwlite.data.batch import Batch
    from vwlite.features.feature_plan import Plan
    from vwlite.storage.weight_table import PageToucher

Answers = np.ndarray | list[Any]


class StructuredLabels:
    """Labels are classes, costs, lists or logged decisions, not numbers to be summed."""

    limits_answers = False  # labels say what can be predicted: also those of data to predict are read
    shows_raw = True  # has raw predictions

    def labels(self, log: Callable[[str], None] | None = None) -> Any:
        """What reads the labels of batches and ``log`` warnings; its ``check(batch)`` gives float32[rows]."""
        raise NotImplementedError

    def answers(self, batch: Batch, results: Results, rows: np.ndarray, raw: bool) -> Answers:
        """What the learner has predicted for ``rows``, int64[n], of the batch run last.

        Class numbers or names, float32[n, classes] where all classes' scores are asked for, lists of sets.
        ``raw``: predictions before clip and link.
        """
        return (results.raw if raw else results.prediction)[rows]

    def no_answer(self, raw: bool) -> Answers:
        """The prediction for a malformed row, in the form of ``answers`` for one row."""
        return np.full(1, np.nan, np.float32)

    def label_text(self, batch: Batch, row: int) -> str:
        """A row's label as the progress table shows it."""
        return value_text(float(batch.label[row]))

    def prediction_text(self, results: Results, row: int) -> str:
        return value_text(float(results.prediction[row]))

    def withdraw(self, row: int) -> None:
        """Replace the predictions of a row that the learner keeps itself by NaN."""


class OwnLines:
    """Predictions are written in lines of the learner's own form."""

    custom_output = True  # false where this model's predictions are a number a row
    places_tags = False  # ``lines`` puts the tags in as well

    def lines(self, batch: Batch, results: Results, row: int, raw: bool) -> str:
        """A row's prediction as it is written, without the tag."""
        raise NotImplementedError


class GroupsOfLines:
    """An example is a group of lines (see ``vwlite/data/multiline.py``); so ``config.multiline``."""

    def group_lines(self, batch: Batch, results: Results, begin: int, end: int, raw: bool) -> bytes:
        """The predictions for the rows ``[begin, end)`` as they are written."""
        raise NotImplementedError

    def observe_scores(self, observer: Callable[..., None]) -> None:
        """Call it with every score while the weights are those that it was made of."""
        raise NotImplementedError

    def shown_features(self, results: Results, row: int) -> int:
        """How many features a row just run has, as the progress table shows it."""
        return int(results.features[row])


class ClassScores:
    """Scores or probabilities of several classes or actions."""

    def want_scores(self) -> None:
        """Have the kernel keep the scores of every class of every row."""
        raise NotImplementedError

    def show_top(self, top: int, raw: bool) -> None:
        """Show those of ``top`` classes, the best first; ``raw``: these are raw predictions."""
        raise NotImplementedError


class WeightsByClass:
    """A feature has a weight for each class, action or output, in the slots that ``layout`` tells."""

    class_names: Sequence[str] = ()  # whose weights these are; none where the weights are of something else


class SeveralOutputs:
    """A prediction is several numbers."""

    outputs: Sequence[str]  # their names


class LabelDistribution:
    """``score``, float32[rows, labels], may be the probabilities of labels that are numbers."""

    label_numbers: np.ndarray  # float64[labels]
    score: np.ndarray


class LoggedDecisions:
    """Learns from logged decisions: what it would do where something else was done."""

    shows_actions = True  # has ``decision``, an action with how likely all were

    def decisions(
        self, batch: Batch, results: Results, begin: int, end: int, costs: Callable[[], np.ndarray] | None = None
    ) -> list[tuple[float, ...]]:
        raise NotImplementedError

    def decision(self, batch: Batch, results: Results, row: int, u: float | None = None) -> Any:
        raise NotImplementedError


class Explainable:
    """Predictions are sums of terms."""

    is_sum = True  # of this model

    def want_sums(self) -> None:
        """Have the kernel keep what ``weighted_sums`` tells, of rows, or groups of lines, that are run one by one."""

    def weighted_sums(self, batch: Batch, results: Results, row: int, classes: int | None = None) -> list[WeightedSum]:
        """What the answer to a row of those just run was made from, the answer's own sum first."""
        return [WeightedSum(0, "", float(results.raw[row]))]

    def crossed_terms(self, batch: Batch, plan: Plan, row: int) -> list[CrossedTerms] | None:
        """Terms of a row's sum beside those of its features; None where the row cannot be used, not even its features.

        Raises MemoryError.
        """
        return []

    def answer_of(self, results: Results, row: int) -> float | str:
        """The prediction for a row just run; of classes with a name, and of sets, that."""
        return float(results.prediction[row])

    def in_label_units(self, weights: np.ndarray, names: Sequence[str], slots: np.ndarray) -> np.ndarray:
        """Weights, float32[n], of features of these names and slots, as they add up to predictions of labels."""
        return weights


class Audited:
    """Has what --audit shows where ``config.supports_audit``."""

    def audited_classes(self, batch: Batch, row: int) -> Iterable[int]:
        """The classes that a row's audit shows, from 0."""
        return (0,)

    def clipped_prediction(self, results: Results, row: int, number: int) -> float:
        """Class ``number``'s prediction for the row just run, before the link."""
        raise NotImplementedError

    def reported_predictions(
        self, results: Results, row: int, classes: Iterable[int]
    ) -> Iterator[tuple[int, bool, float]]:
        """Of the row just run: the predictions of these classes, and whether each was made after they had learned."""
        return ((number, False, self.clipped_prediction(results, row, number)) for number in classes)


class LatentVectors:
    """Namespaces that are paired have latent vectors."""

    latent: Sequence[Sequence[np.ndarray]] = ()  # tables float32[slots, stride], by pair and side

    def has_learned_pair(self, number: int) -> bool:
        """Whether any row taught the latent vectors of pair ``number`` something."""
        raise NotImplementedError


class PairFactors(LatentVectors):
    """A prediction has the dot products of the vectors of both sides of each pair."""

    rank: int
    new_is_mean = False  # what it has not met is predicted as the mean of what it has

    def factors(self, pair: int, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Slots uint32[n] that were ever updated and their vectors float32[n, rank]."""
        raise NotImplementedError


class FactoredWeights:
    """Weights are a product of matrices."""

    def own_norms(self) -> JsonObject:
        """``norms`` by name and the list ``singular_values``."""
        raise NotImplementedError


class Confident:
    """Fills ``Results.flip_importance``."""

    tells_confidence = False  # this model has all that this needs


class Querying:
    """Asks for labels, and learns only the rows whose label it asked for."""

    queried = 0  # labels that were asked for in the rows run last

    def counted(self, batch: Batch) -> Batch:
        """The rows run last, with labels and importance as they count."""
        return batch


class LazyWeights:
    """The table is not yet what a model predicts with: penalties are outstanding, labels have units of their own."""

    def apply_shrinkage(self) -> None:
        """Apply outstanding regularisation, if any, to the weights."""

    def predicting(self) -> Any:
        """A learner whose ``weights`` are those of a model that only predicts; mostly this learner itself."""
        return self


class PagedTable:
    """What is to come can be told to the memory of the table."""

    def pages(self) -> PageToucher | None:
        """What looks after the table's memory ahead of the learner, where that is worth while."""
        raise NotImplementedError


class Threaded:
    """Can learn with several threads."""

    def use_threads(self, count: int) -> None:
        """Learn with this number of threads, where that is worth while and gives the same bytes."""
        raise NotImplementedError


class PassByPass:
    """What a pass is for depends on those before it."""

    finished = False  # nothing is left to be done, whatever the number of passes
    measured = True  # the last pass was one with the weights of now, or on the way to them
    own_rows: Sequence[str] = ()  # what heads a table of the learner's own rows, one a pass; none: it is vw's

    def watch(self, passes: int, say: Callable[[str], None], held_out: Callable[[], float | None]) -> None:
        """How many passes there will be, where to tell of them, and the loss held out since the last one, if any.

        Raises UsageError where the passes are too few.
        """


class SolvedInMemory(PassByPass):
    """Keeps what it needs of all examples in a first pass, solves at its end, and measures itself in a second."""

    gathered = True  # the examples are kept
    solver_passes = 1  # those over memory, where --passes is not given
    bound = 1  # passes of the solver at most, as told
    say: Callable[[str], None] = staticmethod(lambda line: None)
    fitted: JsonObject  # what the solver has reached, {} before

    def watch(self, passes: int, say: Callable[[str], None], held_out: Callable[[], float | None]) -> None:
        if self.fitted and self.learning:  # type: ignore[attr-defined]
            raise UsageError(
                f"a model of --{self.name} does not go on learning, "  # type: ignore[attr-defined]
                "which would need all examples that it was fitted to: train again without -i"
            )
        self.say, self.bound = say, passes if passes > 1 else self.solver_passes
        self.measured = self.gathered = not self.learning  # type: ignore[attr-defined]


class JointClasses:
    """The learners of several classes can be fitted together."""

    def join(self, first: Any) -> None:
        """It predicts whether examples are of its class; ``first`` is the learner of the first class, maybe itself."""
        raise NotImplementedError


class SupportVectors:
    """A solution of a dual problem."""

    has_no_model = False  # there is none of these examples
    solution: Any  # as ``vwlite/training/text_model.py`` writes it


class SizedByHeader:
    """The size of its arrays stands in the header of a model."""

    @classmethod
    def check_size(cls, header: Mapping[str, Any], config: Any) -> None:
        """Raises ValueError where the header has less than ``config`` asks memory for, before that is taken."""
        raise NotImplementedError


class Reporting:
    """Has something to say of its own, in the header and the summary of a run and in the JSON report."""

    own_settings: Sequence[str] = ()  # lines of the header that tell of the learner's own options
    closing_line = ""  # the last line of the summary, "" for none

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        """Name and value of each line of the summary besides the average loss."""
        return []

    def warnings(self) -> list[str]:
        """Problems with some examples, a sentence each."""
        return []

    def failures(self) -> list[str]:
        """Goals that the run failed to reach, a sentence each; reported with --quiet, too."""
        return []

    def report(self) -> JsonObject:
        """Entries of the JSON report of training besides counts and losses."""
        return {}
