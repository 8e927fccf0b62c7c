"""The charts of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vwlite.config_check import JsonObject
from vwlite.data.config import BadLinesConfig
from vwlite.errors import DataError
from vwlite.evaluation import metrics
from vwlite.evaluation.evaluate import evaluate
from vwlite.evaluation.inspect_model import inspect
from vwlite.evaluation.measure import NO_LABELS, average, comparable_columns, measure
from vwlite.evaluation.metric_table import to_finite
from vwlite.learners.base import has_simple_labels
from vwlite.reporting import curves
from vwlite.reporting.curves import effective_number, wilson
from vwlite.reporting.runs import Run, number
from vwlite.reporting.svg import COLOURS, GREY, Axis, Chart, NamedAxis, Point, axis
from vwlite.training.config import RunConfig
from vwlite.training.listener import Display
from vwlite.training.model_loader import Restored

STRONGEST = 20
MOST = 4  # charts of one run each
ENDS = ("value", "low", "high", "logged")  # lines of a policy's series

Bins = tuple[list[Point], list[float]]  # and the number of trials of each, where points are shares


@dataclass(frozen=True)
class Tested:
    """``figures`` as ``vwlite evaluate`` has them. ``sample``: None for a model of classes."""

    figures: JsonObject
    strongest: list[tuple[str, float]]  # features and their weights
    sample: metrics.Sample | None = None
    shares: bool = False  # predictions are probabilities

    @property
    def two_sides(self) -> bool:
        """Whether labels are positive or negative, and both occur."""
        sample = self.sample
        return sample is not None and metrics.are_binary(sample.label) and 0 < sample.positive.sum() < len(sample.label)


def measure_model(
    config: RunConfig,
    model: Restored,
    path: str,
    bad_lines: BadLinesConfig,
    display: Display,
    learned: Sequence[str] = (),
) -> Tested:
    """The model of the file ``path`` on the data of ``config``, of which it has ``learned`` these.

    Raises as ``vwlite.evaluation.measure.measure``.
    """
    strongest = strongest_of(path)
    if not has_simple_labels(model.learner):
        return Tested(to_finite(measure(config, model, bad_lines, display=display, learned=learned)), strongest)
    counters, outcomes = evaluate(config, model, bad_lines, display=display)
    if not len(outcomes):
        raise DataError(NO_LABELS)
    columns, kind = comparable_columns(config, outcomes)
    figures = to_finite(metrics.evaluate(*columns, **kind, loss=average(counters)))
    return Tested(figures, strongest, metrics.sample(*columns, **kind), kind["output"] == "probability")


def strongest_of(path: str) -> list[tuple[str, float]]:
    """The largest weights, by name, or by slot where the model holds no names; of classes with these behind it."""
    return [(display_name(feature), feature["weight"]) for feature in inspect(path).top(STRONGEST)]


def display_name(weight: JsonObject) -> str:
    name = weight["name"] or f"slot {weight['slot']}"
    return f"{name} ({weight['class']})" if "class" in weight else name


SHARE = {"low": 0.0, "high": 1.0}
STEADY = 0.01  # share of the examples after which losses say how far an axis goes
SHOWN = STEADY / 10  # share of the examples with which that of examples begins
OF_ROUNDS = (  # figures of solvers, what they are drawn over, and what stands above
    ("accuracy", "labelled", "Accuracy by examples with a label, their own or a proposed one"),
    ("agreement", "labelled", "Share of the pool on whose class both views agree"),
    ("objective", "round", "Objective by round"),
    ("objective", "iteration", "Objective by iteration"),
)
DASHED = {"stroke_dasharray": "7 4"}
DIAGONAL = {"stroke_dasharray": "3 3", "stroke_width": "1"}


def colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def of_runs(runs: Sequence[Run]) -> list[str]:
    """Charts of the progress of trainings that have a record of it; empty if none has."""
    charts = []
    if any(run.curve("loss") for run in runs):
        charts.append(loss_chart(runs, "Average loss so far", ("loss", "holdout") if len(runs) == 1 else ("loss",)))
        charts.append(loss_chart(runs, "Loss since the row before", ("since_last",)))
    for name, title in (("holdout", "Held-out loss at the end of each pass"), ("objective", "Objective by pass")):
        passes = [run.by_pass(name) if len(run.by_pass("pass")) > 1 else [] for run in runs]
        if any(len(points) > 1 for points in passes):
            charts.append(overlay_chart(runs, passes, title, "pass", {"holdout": "loss"}.get(name, name)))
    for name, across, title in OF_ROUNDS:
        passes = [run.curve(name, across) for run in runs]
        if any(len(points) > 1 for points in passes):
            charts.append(overlay_chart(runs, passes, title, across, name))
    bins = [calibration_of(run.result) for run in runs]
    if any(points for points, _ in bins):
        charts.append(calibration_chart([(run.name, *passes) for run, passes in zip(runs, bins, strict=True)]))
    return charts


def loss_chart(runs: Sequence[Run], title: str, names: Sequence[str]) -> str:
    """Losses by examples; those of examples held out, in the pass so far, are dashed."""
    chart = Chart(title, *loss_axes(runs, names))
    for place, run in enumerate(runs):
        for name in names:
            held = name == "holdout"
            if points := run.curve(name):
                label = run.name + " held out" * held
                chart.line(points, colour(place), label, **(DASHED if held else {}))
                chart.hover(points, label)
    return chart.text()


def loss_axes(runs: Sequence[Run], names: Sequence[str]) -> tuple[Axis, Axis]:
    """Make the axes of losses, whose range leaves out what the first few examples cost: that may be very much."""
    points = [point for run in runs for name in names for point in run.curve(name)]
    last = max((x for x, _ in points), default=1.0)
    steady = [y for x, y in points if x >= STEADY * last]
    return axis("examples", (x for x, _ in points if x >= SHOWN * last), logarithmic=True), wide_axis("loss", steady)


def wide_axis(label: str, values: Sequence[float]) -> Axis:
    plain = axis(label, values)
    margin = (plain.high - plain.low) / 20
    return Axis(label, plain.low - margin, plain.high + margin)


def overlay_chart(runs: Sequence[Run], curves: Sequence[list[Point]], title: str, x: str, y: str) -> str:
    points = [point for curve in curves for point in curve]
    chart = Chart(title, axis(x, [across for across, _ in points], whole=True), wide_axis(y, [up for _, up in points]))
    for place, (run, curve) in enumerate(zip(runs, curves, strict=True)):
        if curve:
            chart.line(curve, colour(place), run.name)
            chart.hover(curve, run.name)
    return chart.text()


def calibration_of(result: JsonObject) -> Bins:
    """The points of a report's bins, where it has any, and of two classes the weight of each."""
    bins = result.get("calibration_bins")
    entries = [entry for entry in bins if isinstance(entry, dict)] if isinstance(bins, list) else []
    rows = [[number(entry.get(name)) for name in ("mean_prediction", "observed_rate", "weight")] for entry in entries]
    sound = [(x, y, w) for x, y, w in rows if x is not None and y is not None]
    counted = "auc" in result and all(w is not None and 0 <= y <= 1 for _, y, w in sound)
    share = equal_rows(result) if counted else 0.0
    return [(x, y) for x, y, _ in sound], [(w or 0.0) * share for *_, w in sound] if counted else []


def equal_rows(result: JsonObject) -> float:
    """Examples, for a weight of 1."""
    examples, weight = number(result.get("examples")), number(result.get("weight"))
    return examples / weight if examples and weight else 0.0


def calibration_chart(named: Sequence[tuple[str, list[Point], list[float]]]) -> str:
    """Observed means by mean predictions of bins of equal weight; the diagonal is right.

    ``named``: a name, points, and the number of trials of each where they are shares.
    """
    ends = [
        [(x, *wilson(y, count)) for (x, y), count in zip(points, counts, strict=True)] if counts else []
        for _, points, counts in named
    ]
    values = [value for _, points, _ in named for point in points for value in point]
    whole = wide_axis("", [*values, *(value for spans in ends for _, *both in spans for value in both)])
    chart = Chart(
        "Calibration", Axis("mean prediction", whole.low, whole.high), Axis("mean label", whole.low, whole.high)
    )
    chart.line([(whole.low, whole.low), (whole.high, whole.high)], GREY, **DIAGONAL)
    for place, ((name, points, _), spans) in enumerate(zip(named, ends, strict=True)):
        if points:
            chart.line(points, colour(place), name)
            chart.spans(spans, colour(place))
            chart.marked(points, colour(place), name, [interval_text(low, high) for _, low, high in spans])
    return chart.text()


def interval_text(low: float, high: float) -> str:
    return f"95%: {low:.4g} to {high:.4g}"


def of_values(runs: Sequence[Run]) -> list[str]:
    """Charts of the costs of policies up to places of their logs, and at the end beside others."""
    valued = [(place, run) for place, run in enumerate(runs) if run.series]
    beside = [estimates_chart(place, run) for place, run in valued[:MOST] if run.intervals("estimate")]
    return [log_chart(valued), *beside] if valued else []


def log_chart(valued: Sequence[tuple[int, Run]]) -> str:
    """A chart over the log, with a band if there is one run."""
    chart = Chart("Value up to a place of the log", *value_axes([run for _, run in valued], ENDS))
    for place, run in valued:
        value, low, high, logged = ([(row["examples"], row[end]) for row in run.series] for end in ENDS)
        if len(valued) == 1:
            chart.band(low, high, colour(place), "95% at each point")
            chart.line(logged, GREY, "logged", **DASHED)
            chart.hover(logged, "logged")
        chart.line(value, colour(place), f"{run.name} (cv)")
        chart.hover(value, run.name)
    return chart.text()


def value_axes(runs: Sequence[Run], ends: Sequence[str]) -> tuple[Axis, Axis]:
    """The axes of these lines. The first tenth of a log, whose intervals are wide, does not count for the axis of
    costs."""
    rows = [row for run in runs for row in run.series]
    last = max(row["examples"] for row in rows)
    steady = [row[end] for row in rows for end in ends if row["examples"] >= last / 10]
    x = axis("logged decisions", [0.0, *(row["examples"] for row in rows)], whole=True)
    return x, wide_axis("cost", steady)


def estimates_chart(place: int, run: Run) -> str:
    """Values of the whole log with their intervals: of the policy by all estimates, and of other policies."""
    own, others = run.intervals("estimate"), run.intervals("policy")
    every = [*own, *others]
    names = tuple(interval.name for interval in every)
    x = NamedAxis("estimates of the policy, and other policies (cv)", -0.5, len(names) - 0.5, names=names)
    known = [end for interval in every for end in interval[1:] if end is not None]
    chart = Chart(f"Values by the whole log: {run.name}", x, wide_axis("cost", known))
    for hue, first, intervals in ((colour(place), 0, own), (GREY, len(own), others)):
        both = [(at, interval.low, interval.high) for at, interval in enumerate(intervals, first)]
        chart.spans([(at, low, high) for at, low, high in both if low is not None and high is not None], hue)
        notes = ["" if low is None or high is None else interval_text(low, high) for _, low, high in both]
        chart.marked([(at, interval.value or 0.0) for at, interval in enumerate(intervals, first)], hue, notes=notes)
    return chart.text()


def of_test(tested: Tested) -> list[str]:
    """ROC, precision and recall, calibration and predictions by label, as far as the model and the labels have them; of
    a policy its value.
    """
    sample, charts = tested.sample, []
    if sample is None:
        return of_values([Run("", "policy", (), {}, [], [], tested.figures, {})])
    if tested.two_sides:
        charts.append(roc(tested))
        charts.append(precision_recall(tested))
    predicted, observed, weight = sample.bins
    points = [(p / w, y / w) for p, y, w in zip(predicted, observed, weight, strict=True) if w > 0]
    if points:
        share = effective_number(sample.weight) / sample.total
        counts = [w * share for w in weight if w > 0] if tested.two_sides and tested.shares else []
        charts.append(calibration_chart([("ten bins of equal weight", points, counts)]))
    if tested.two_sides:
        charts.append(histogram_chart(tested))
    return charts


def roc(tested: Tested) -> str:
    sample = tested.sample
    chart = Chart("ROC", Axis("false positive rate", **SHARE), Axis("true positive rate", **SHARE))
    points = curves.roc(sample)
    count = effective_number(sample.weight[sample.positive])
    draw_intervals(chart, points, [wilson(y, count) for _, y in points])
    chart.line([(0, 0), (1, 1)], GREY, "chance", **DIAGONAL)
    chart.line(points, COLOURS[0], f"AUC {tested.figures['auc']:.4f}")
    chart.hover(points)
    return chart.text()


def draw_intervals(chart: Chart, points: Sequence[Point], ends: Sequence[tuple[float, float]]) -> None:
    """95% intervals, each of its point alone."""
    lows, highs = ([(x, pair[side]) for (x, _), pair in zip(points, ends, strict=True)] for side in (0, 1))
    chart.band(lows, highs, COLOURS[0], "95% at each point")


def precision_recall(tested: Tested) -> str:
    sample = tested.sample
    rate = sample.mean(sample.positive)
    points = curves.precision_recall(sample)
    most = effective_number(sample.weight[sample.positive])  # found among recall / precision times as many
    ends = [wilson(up, most * recall / up) if up > 0 else (0.0, 1.0) for recall, up in points]
    chart = Chart("Precision and recall", Axis("recall", **SHARE), Axis("precision", 0.0, precision_end(points)))
    draw_intervals(chart, points, ends)
    chart.line([(0, rate), (1, rate)], GREY, f"chance {rate:.4f}", **DIAGONAL)
    chart.line(points, COLOURS[0], f"average precision {tested.figures['pr_auc']:.4f}")
    chart.hover(points)
    return chart.text()


def precision_end(points: Sequence[Point]) -> float:
    """Tell where the axis of precision ends: 1, or less where positives are rare and all precisions low."""
    largest = max((up for recall, up in points if recall >= STEADY), default=1.0) * 1.1
    return next((step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if largest <= step), 1.0)


def histogram_chart(tested: Tested) -> str:
    histogram = curves.histogram(tested.sample)
    heights = [*histogram.positive, *histogram.negative]
    x = Axis("predicted probability" if tested.shares else "prediction", histogram.edges[0], histogram.edges[-1])
    chart = Chart("Predictions by label", x, Axis("share of the label's examples", 0.0, max(heights) * 1.05))
    chart.bars(histogram.edges, histogram.negative, COLOURS[1], "negative")
    chart.bars(histogram.edges, histogram.positive, COLOURS[0], "positive")
    return chart.text()
