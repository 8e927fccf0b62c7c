"""Contextual bandits: a policy that shows the action whose predicted cost is least, learned from logged decisions.

``mtr`` is importance-weighted regression (Bietti, Agarwal and Langford 2021, "A contextual bandit bake-off"), ``ips``
and ``dr`` are inverse propensity scores and doubly robust (Dudik, Langford and Li 2011).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from vwlite._native import bandit as kernel
from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch, tag_of
from vwlite.data.class_labels import LogFunction
from vwlite.data.logged_decisions import DecisionLabels, EvaluationLabels, clear_labels, offset_advice
from vwlite.errors import DataError, UsageError
from vwlite.features.feature_plan import Plan
from vwlite.learners.abilities import ClassScores, LoggedDecisions, OwnLines, StructuredLabels, WeightsByClass
from vwlite.learners.configs.bandit import HIGHEST, TYPES, BanditConfig
from vwlite.learners.configs.explore import EXPLORERS, GREEDY, ExplorationConfig
from vwlite.learners.gd import SCALARS, Gd, KernelConfig
from vwlite.learners.row_results import Results, WeightedSum

T = TypeVar("T")


class Shown(NamedTuple):
    """An action, how likely it is to be shown, the cost predicted of it, and the tag of its line."""

    action: int
    probability: float
    score: float
    tag: bytes = b""


START = {"norm_sum": 0.0, "norm_weight": 0.0, "multiplier": 1.0}
NORMS = tuple(START)  # of which the regressor has its own


def explorer_numbers(config: BanditConfig) -> SimpleNamespace:
    """An explorer as the kernel has it; kind 0 is none."""
    kind = config.explorer
    typed = config if kind else ExplorationConfig()
    narrow = 0.001 if kind == "squarecb" else 0.1
    return SimpleNamespace(
        kind=EXPLORERS.index(kind),
        models=typed.policies,
        first=typed.first,
        epsilon=(GREEDY if kind == "epsilon" else 0.0) if typed.epsilon is None else typed.epsilon,
        typed_epsilon=typed.epsilon is not None,
        softness=typed.lambda_,
        gamma_scale=typed.gamma_scale,
        gamma_exponent=typed.gamma_exponent,
        least_cost=typed.cb_min_cost,
        most_cost=typed.cb_max_cost,
        mellowness=narrow if typed.mellowness is None else typed.mellowness,
        psi=typed.psi,
        optimistic=typed.regcbopt,
        elim=typed.elim,
        nounif=typed.nounif,
        first_only=typed.first_only,
        greedify=typed.greedify,
        seed=typed.random_seed % 2**64,
        **typed.simulation,
    )


class BanditKernelConfig(KernelConfig):
    def __init__(self, config: BanditConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.type, self.actions, self.clip_p = TYPES.index(config.learned_type), config.cb, config.clip_p
        self.evaluates = config.eval_
        self.from_highest, self.offset = config.cost_offset == HIGHEST, config.offset
        self.sets, self.explorer = config.weight_sets, explorer_numbers(config)


class Bandit(Gd, StructuredLabels, OwnLines, ClassScores, WeightsByClass, LoggedDecisions):
    """The same actions for every row: ``(hash * W + action) mod 2^bits``, behind them those of ``dr``'s regressor.

    A model of ``vwlite vw`` has vw's slots instead: those of actions are apart before features are crossed.
    """

    name = "cb"
    config_type = BanditConfig
    # ``events``: with a cost; ``actions``: how many these had together
    SCALARS = (*SCALARS, "events", "actions", "highest_cost", *(f"regressor_{name}" for name in NORMS))
    native: Any = kernel
    kernel_config = BanditKernelConfig
    places_tags = True
    limits_answers = True
    shown_actions: int | None = None  # of scores, None: all
    limits_raw = False  # whether these are raw predictions
    lowest_first = True
    observer: Callable[[int, int, float], None] | None = None

    def __init__(
        self, config: BanditConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        if config.eval_ and not learning:
            raise UsageError("--eval estimates costs while it learns them, and does nothing where it may not (-t)")
        self.block = 0
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.lay_out(vw_compat and not config.eval_ and (config.cb > 0 or config.vw_sets > config.weight_sets))
        if self.layout[0] > bits:
            raise UsageError(f"{config.cb} actions need more than the {1 << bits} slots of -b {bits}")
        # Not held out, held out: weights, costs, of matches 1 / probability and cost / probability, weights of the
        # highest cost; of simulated events what the best action costs.
        self.sums = np.zeros((2, 6))
        self.wants_scores = config.scores
        self.scores = np.zeros((1, config.cb), np.float32)

    def lay_out(self, like_vw: bool) -> None:
        """Give actions vw's slots, or those of their own."""
        config = self.config
        self.like_vw, moves = like_vw, like_vw and config.cb > 0
        self.width = config.vw_sets if moves else 1
        self.block = 1 << (self.width * config.cb).bit_length() if moves else 0
        sets = config.vw_sets if like_vw else config.weight_sets * max(config.cb, 1)
        self.layout = (sets - 1).bit_length(), sets

    @property
    def is_sum(self) -> bool:  # type: ignore[override]
        """Not with vw's slots, which no name tells."""
        return not self.block

    @property
    def class_names(self) -> list[str]:  # type: ignore[override]
        actions = [str(action) for action in range(1, self.config.cb + 1)]
        return [*actions, *(f"{name} {action}" for name in self.set_names[1:] for action in actions)]

    @property
    def set_names(self) -> list[str]:
        """The names of the sets of weights."""
        return ["policy's", "regressor's"][: self.config.weight_sets]

    def set_scalars(self) -> None:
        super().set_scalars()
        self.set(regressor_multiplier=1.0)

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        if self.config.eval_:
            return (*super().description[0], "csoaa", "cb-eval"), "CB_EVAL", "MULTICLASS"
        stack = (*super().description[0], "csoaa_ldf-rank", "cb_adf", "shared_feature_merger", "cb_to_cbadf")
        return stack, "CB", "MULTICLASS"

    @property
    def own_settings(self) -> list[str]:  # type: ignore[override]
        return [f"cb_type = {self.config.learned_type}"]

    def labels(self, log: LogFunction | None = None) -> DecisionLabels:
        return (EvaluationLabels if self.config.eval_ else DecisionLabels)(self.config.cb, log)

    def want_scores(self) -> None:
        self.wants_scores = True

    want_sums = want_scores

    def tester(self, **changes: Any) -> Bandit:
        other = super().tester(**changes)
        other.sums, other.wants_scores = np.zeros((2, 6)), other.config.scores
        return other

    @property
    def offset(self) -> float:
        """The offset that scores are differences to."""
        highest = self.config.cost_offset == HIGHEST
        return self.get("highest_cost") if highest else self.config.offset

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        rows = len(results) if self.wants_scores else 1
        if len(self.scores) < rows:
            self.scores = np.zeros((rows, self.config.cb), np.float32)
        if batch.probability is None:
            clear_labels(batch)
        return super().run(batch, plan, results, begin, end)

    def answers(self, batch: Batch, results: Results, rows: np.ndarray, raw: bool) -> np.ndarray | list[Any]:
        if raw or self.config.scores:
            return self.scores[rows]
        return results.prediction[rows].astype(np.int64)

    def no_answer(self, raw: bool) -> np.ndarray | list[Any]:
        if raw or self.config.scores:
            return np.full((1, self.config.cb), np.nan, np.float32)
        return np.array([-1])

    def show_top(self, top: int, raw: bool) -> None:
        self.shown_actions, self.limits_raw = top, raw

    def shown(self, pairs: Iterable[tuple[T, Any]], raw: bool) -> list[tuple[T, Any]]:
        """The actions to show, with their costs; if only some are shown, the least cost first."""
        possible = [(action, cost) for action, cost in pairs if cost != np.inf]
        if self.shown_actions is None or raw != self.limits_raw:
            return possible
        return cheapest_first(possible)[: self.shown_actions]

    def lines(self, batch: Batch, results: Results, row: int, raw: bool) -> str:
        """The lines of an answer with the tag; vw ends every answer with an empty line."""
        if raw or self.config.scores:
            text = pairs_text(self.shown(enumerate(self.scores[row].tolist(), 1), raw))
        else:
            text = f"{results.prediction[row]:.0f}"
        tag = tag_of(batch, row)
        line = f"{text} {tag.decode('utf-8', 'surrogateescape')}" if tag else text
        return line + "\n" * (self.vw_compat and not self.config.eval_)

    @property
    def shows_raw(self) -> bool:  # type: ignore[override]
        return not self.vw_compat

    def weighted_sums(self, batch: Batch, results: Results, row: int, classes: int | None = None) -> list[WeightedSum]:
        """The least first."""
        scores = enumerate((self.scores[row] - np.float32(self.offset)).tolist())
        best = cheapest_first(self.shown(scores, False))[:classes]
        return [WeightedSum(place, str(place + 1), score) for place, score in best]

    def observed(self, batch: Batch, begin: int, end: int) -> np.ndarray:
        """The rows of the answers to the events with a cost among those just run."""
        return np.flatnonzero(~np.isnan(batch.probability[begin:end])) + begin

    def decisions(
        self, batch: Batch, results: Results, begin: int, end: int, costs: Callable[[], np.ndarray] | None = None
    ) -> list[tuple[float, ...]]:
        """For each of the ``observed`` events: cost, probability, the action shown and the best one, what the action
        shown and the policy are predicted to cost, how many actions were possible, and how likely the policy shows that
        action. ``costs``: gives the predicted costs of the next event's actions, None: the learner's own.
        ``want_scores`` is to be called before.
        """
        decisions = []
        for row in self.observed(batch, begin, end).tolist():
            label = self.event_row(batch, row)
            entries = batch.lists.row(label)
            values = batch.lists.values[entries]
            place = int(np.isfinite(values).argmax())
            first, scores, pmf = self.event(batch, results, row)
            logged = self.action_at(batch, label, int(batch.lists.indices[entries][place]))
            predicted, best = costs() if costs else scores, int(results.prediction[row])
            if len(predicted) != len(pmf):
                raise DataError("the model of costs has other actions than the policy")
            expected = float(predicted[best - first])
            if self.config.explorer:
                likely = pmf > 0
                expected = float(np.dot(pmf[likely].astype(float), predicted[likely].astype(float)))
            of = float(values[place]), float(batch.probability[label]), logged, best
            chance = float(pmf[logged - first])
            decisions.append((*of, float(predicted[logged - first]), expected, int((scores != np.inf).sum()), chance))
        return decisions

    def event(self, batch: Batch, results: Results, row: int) -> tuple[int, np.ndarray, np.ndarray]:
        """The number of the first action, and the scores and probabilities of all, of the event of ``row``."""
        first, scores = int(not self.vw_compat), self.scores[row]
        return first, scores, (np.arange(first, first + len(scores)) == results.prediction[row]).astype(np.float32)

    def ordered(self, batch: Batch, results: Results, row: int) -> list[Shown]:
        """The possible actions, as they are shown: the best first."""
        first, scores, pmf = self.event(batch, results, row)
        order = self.order(scores, pmf)
        actions = zip(order.tolist(), pmf[order].tolist(), scores[order].tolist(), strict=True)
        return [Shown(action + first, p, score) for action, p, score in actions if score != np.inf]

    def order(self, scores: np.ndarray, pmf: np.ndarray) -> np.ndarray:
        return np.argsort(scores, kind="stable")

    def decision(
        self, batch: Batch, results: Results, row: int, u: float | None = None
    ) -> tuple[Shown, list[Shown], bytes]:
        """The best action of an event, or the one that ``u`` of [0, 1) draws, all of them, and the event's tag."""
        every = self.ordered(batch, results, row)
        chosen = every[0] if u is None else draw_action(every, u)
        return chosen, every[: self.shown_actions], tag_of(batch, row)

    def event_row(self, batch: Batch, row: int) -> int:
        """The row with the label of the event whose answer is at ``row``, or ``row`` itself."""
        return row

    def label_text(self, batch: Batch, row: int) -> str:
        row = self.event_row(batch, row)
        entries = batch.lists.row(row)
        known = np.isfinite(batch.lists.values[entries])
        if not known.any():
            return "unknown"
        place = entries.start + int(known.argmax())
        cost, probability = batch.lists.values[place], batch.probability[row]
        return f"{self.action_at(batch, row, int(batch.lists.indices[place]))}:{cost:.2g}:{probability:.2g}"

    def action_at(self, batch: Batch, row: int, number: int) -> int:
        """The action that a label names, as it is shown."""
        return number - (self.vw_compat and not self.config.eval_)

    def prediction_text(self, results: Results, row: int) -> str:
        if self.config.eval_:
            return f"{results.prediction[row]:.0f}"
        best = self.best_score(results, row)
        score = decimals(best, 2)
        return f"{results.prediction[row]:.0f}:{'0' if score == '-0' and not (self.vw_compat and best) else score}"

    def best_score(self, results: Results, row: int) -> float:
        return float(results.raw[row])

    def summary_lines(self, held: bool) -> list[tuple[str, float | str]]:
        """The average loss is the inverse propensity score."""
        weight, cost, matched, estimate, *_ = self.sums[int(held)].tolist()
        if self.vw_compat or not weight:
            return []
        snips = estimate / matched if matched else "n.a."
        return [("ips", estimate / weight), ("snips", snips), ("cost", cost / weight)]

    def warnings(self) -> list[str]:
        weight, at_highest = self.sums[0, [0, 4]].tolist()
        if self.config.cost_offset or not weight:
            return super().warnings()
        return [*super().warnings(), *offset_advice(at_highest / weight, self.get("highest_cost"))]

    def report(self) -> JsonObject:
        weight, cost, matched, estimate, *_ = self.sums[0].tolist()
        if not weight:
            return {}
        return {"ips": estimate / weight, "snips": estimate / matched if matched else None, "cost": cost / weight}

    def header(self) -> JsonObject:
        return {**super().header(), "like_vw": self.like_vw}

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        self.lay_out(bool(header["like_vw"]))

    def load(self, arrays: Mapping[str, Any], scalars: Mapping[str, float], whole: bool) -> None:
        super().load(arrays, scalars, whole)
        for name in self.SCALARS[len(SCALARS) :]:
            self.set(**{name: float(scalars[name])})
        if self.vw_compat:
            self.set(**{f"regressor_{name}": START[name] for name in NORMS})  # of which vw keeps the policy's alone


def draw_action(every: list[Shown], u: float) -> Shown:
    """The first action at which the sum of the probabilities is above ``u`` times that of all."""
    sums = np.cumsum([one.probability for one in every])
    place = int(np.searchsorted(sums, u * sums[-1], side="right"))
    return every[min(place, len(every) - 1)]


def cheapest_first(pairs: list[tuple[T, Any]]) -> list[tuple[T, Any]]:
    return sorted(pairs, key=lambda pair: pair[1])


def pairs_text(pairs: Iterable[tuple[int, float]]) -> str:
    return " ".join(f"{action}:{cost:g}" for action, cost in pairs)


def decimals(value: float, digits: int) -> str:
    """As vw writes a probability or a score."""
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")
