"""Points for ``vwlite tune`` from those before: optuna's tree-structured Parzen estimator (Bergstra et al., 2011)."""

from collections.abc import Iterator, Sequence
from typing import Any

from vwlite.errors import ExtraMissing
from vwlite.evaluation.tuning import Dimension, Trial, better_when_larger

BATCH_SIZE = 4  # trials asked for at once, independent of the number of jobs so that results are too


def estimated(dimensions: Sequence[Dimension], count: int, seed: int, metric: str) -> Iterator[list[Trial]]:
    """``count`` trials, a portion at a time; each portion follows from the first scores of those before it.

    Raises ExtraMissing.
    """
    try:
        import optuna
    except ImportError:
        raise ExtraMissing("--sampler tpe needs optuna: pip install 'vwlite[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    direction = "maximize" if better_when_larger(metric) else "minimize"
    study = optuna.create_study(direction=direction, sampler=optuna.samplers.TPESampler(seed=seed))
    space = {str(number): distribution(optuna, dimension) for number, dimension in enumerate(dimensions)}
    return _portions(study, space, dimensions, count)


def distribution(optuna: Any, dimension: Dimension) -> Any:
    if dimension.choices:
        return optuna.distributions.CategoricalDistribution(dimension.choices)
    if dimension.whole:
        return optuna.distributions.IntDistribution(int(dimension.low), int(dimension.high))
    return optuna.distributions.FloatDistribution(dimension.low, dimension.high, log=dimension.logarithmic)


def _portions(study: Any, space: dict[str, Any], dimensions: Sequence[Dimension], count: int) -> Iterator[list[Trial]]:
    made = 0
    while made < count:
        asked = [study.ask(space) for _ in range(min(BATCH_SIZE, count - made))]
        trials = []
        for index, one in enumerate(asked):
            values = [one.params[name] for name in space]
            words = [word for d, value in zip(dimensions, values, strict=True) for word in d.words(value)]
            trials.append(Trial(made + index + 1, words))
        yield trials
        for one, trial in zip(asked, trials, strict=True):
            score = next(iter(trial.scores.values()), None)
            study.tell(one, score, state=None if score is not None else _failed())
        made += len(asked)


def _failed() -> Any:
    from optuna.trial import TrialState

    return TrialState.FAIL
