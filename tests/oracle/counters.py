"""What a run counts: losses, weights, labels; progress rows and the summary made of them."""

import numpy as np

from .options import Options

F32 = np.float32
NEVER = float(np.finfo(np.float32).max)  # before any pass; half of it without held-out weight


def cut(number: float, digits: int, width: int) -> str:
    return f"{number:.{digits}f}"[:width]


def text(number: float, own: bool) -> str:
    """Six decimals; in ``vwlite train`` six digits of numbers that have none among these."""
    return f"{number:.6g}" if own and 0 < abs(number) < 1e-5 else f"{number:.6f}"


def shown(number: float) -> str:
    text = f"{number:.4f}"
    return text if len(text) <= 14 else text[:11] + "..."


class Counters:
    """Sums are float64. ``held_*`` are those of held-out examples."""

    def __init__(self, options: Options):
        self.options = options
        self.loss = self.loss_since = self.labeled = self.labeled_before = self.unlabeled = 0.0
        self.weighted_labels = 0.0
        self.held_loss = self.held_weight = self.held_since = self.held_weight_since = 0.0
        self.pass_loss = self.pass_weight = 0.0  # of held-out examples, this pass
        self.examples = self.features = 0
        self.first_labels: list = []  # the first three distinct ones
        self.best, self.failures = NEVER, 0
        step = options.progress
        self.adds = step is not None and "." not in step
        self.step = float(step) if step is not None else 2.0
        if self.adds:
            self.step = max(self.step, 1.0)
        elif self.step <= 1:
            self.step += 1
        self.next_row = F32(self.step if self.adds else 1)

    def add(self, label, weight, loss, features: int, held: bool) -> None:
        """Count one example; ``label`` is NaN and ``loss`` 0 without a label."""
        weight, loss, labeled = float(weight), float(loss), not np.isnan(label)
        if labeled and label not in self.first_labels and len(self.first_labels) < 3:
            self.first_labels.append(label)
        if held and labeled:
            self.held_weight += weight
            self.held_weight_since += weight
            self.pass_weight += weight
            self.held_loss += loss
            self.held_since += loss
            self.pass_loss += loss
            return
        self.labeled += weight if labeled else 0
        self.unlabeled += 0 if labeled else weight
        self.loss += loss
        self.loss_since += loss
        self.features += features
        self.examples += 1
        if labeled:
            self.weighted_labels += float(label) * weight

    def row(self, label, prediction, held_columns: bool) -> str | None:
        """The progress row after an example, when one is due."""
        total = self.labeled + self.unlabeled
        if total < self.next_row:
            return None
        if held_columns:
            average = self.ratio(self.held_loss, self.held_weight, "unknown")
            since = self.ratio(self.held_since, self.held_weight_since, "unknown")
            self.held_since = self.held_weight_since = 0.0
        else:
            average = self.ratio(self.loss, self.labeled, "n.a.")
            since = self.ratio(self.loss_since, self.labeled - self.labeled_before, "n.a.")
        self.loss_since = 0.0
        self.labeled_before = self.labeled
        self.next_row = F32(F32(total) + F32(self.step) if self.adds else F32(total * self.step))
        columns = f"{average:<8} {since:<8} {self.examples:12d} {cut(total, 1, 14):>14}"
        known = "unknown" if np.isnan(label) else shown(label)
        return f"{columns} {known:>14} {shown(prediction.pred):>14} {prediction.features:8d}" + " h" * held_columns

    def end_pass(self) -> bool:
        """Close a pass of a run with holdout; False when the run has to stop."""
        average = NEVER if self.options.own else NEVER / 2  # of nothing
        if self.pass_weight > 0:
            average = float(F32(self.pass_loss / self.pass_weight))
        self.pass_loss = self.pass_weight = 0.0
        if average < self.best:
            self.best, self.failures = average, 0
        elif self.best < NEVER:
            self.failures += 1
        return self.failures != self.options.early_terminate

    def ratio(self, part: float, whole: float, missing: str) -> str:
        if whole <= 0:
            return missing
        loss = abs(np.float64(part) / whole)
        odd = self.options.own and (0 < loss < 1e-5 or 1e8 <= loss < np.inf)
        return f"{np.float64(part) / whole:.2e}" if odd else cut(np.float64(part) / whole, 6, 8)

    def average_loss(self, holdout: bool) -> str:
        own = self.options.own
        if holdout:
            return f"{text(self.best, own)} h" if self.best < NEVER / 2 else "undefined (no holdout)"
        return text(np.float64(self.loss) / self.labeled, own) if self.labeled > 0 else "n.a."
