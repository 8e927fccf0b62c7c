"""What is checked once all lines have been read: no model is written of data that are not fit to learn from."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError
from vwlite.training.counters import Counters
from vwlite.training.listener import Listener, Run

if TYPE_CHECKING:
    from vwlite.features.theta_map import FeatureMap


class MalformedLineCheck(Listener):
    """Raises DataError where the policy has had too many malformed lines."""

    def __init__(self, policy: BadLines) -> None:
        self.policy = policy

    def pass_read(self, number: int) -> None:
        if number == 1:
            self.policy.finish()


class ColumnCheck(Listener):
    """Raises DataError for labelled data without the column of labels, or any of features; tells of other columns."""

    def __init__(self, inputs: Inputs, say: Callable[[str], None] | None) -> None:
        self.inputs, self.say = inputs, say

    def begin(self, run: Run) -> None:
        self.inputs.check_label()

    def pass_read(self, number: int) -> None:
        if number == 1:
            self.inputs.check_columns(labelled=True)

    def end(self) -> None:
        if self.say and (missing := self.inputs.missing_columns(labelled=True)):
            self.say(f"note: {missing}")


class ThetaCheck(Listener):
    """Raises DataError where a Theta that is learned with for the first time knows nothing of the text."""

    def __init__(self, theta: "FeatureMap | None") -> None:
        self.theta = theta

    def pass_read(self, number: int) -> None:
        if number == 1 and self.theta and not self.theta.loaded:
            self.theta.check()


def no_labels(inputs: str, model: str | None) -> DataError:
    """What is wrong with data that have no label; ``inputs`` and ``model`` name the files."""
    kept = f"; {model} is not written" if model else ""
    return DataError(f"there is no labelled example to learn from in {inputs}{kept}")


class LabelledExampleCheck(Listener):
    """Raises DataError where an untrained model would take the place of a good one."""

    def __init__(self, counters: Counters, inputs: str, model: str | None, wanted: bool) -> None:
        """``inputs`` and ``model`` name the files. Unless ``wanted``, as where a model is gone on from, nothing is
        checked.
        """
        self.counters, self.inputs, self.model, self.wanted = counters, inputs, model, wanted

    def pass_read(self, number: int) -> None:
        if number == 1 and self.wanted and not self.counters.labeled_weight:
            raise no_labels(self.inputs, self.model)

    def state(self) -> dict[str, bool]:
        return {"fresh": self.wanted}

    def restore(self, state: dict[str, bool]) -> None:
        self.wanted = state["fresh"]
