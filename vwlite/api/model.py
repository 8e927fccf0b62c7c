"""``Model``: a learner in memory, with the options, the bytes and the refusals of ``vwlite train``."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from vwlite.api import memory_run, run_configs
from vwlite.api.data_source import check_labels, input_opener
from vwlite.api.describe import Described
from vwlite.api.keywords import declared_options, ranking_config, read_options
from vwlite.api.memory_run import LearnResult, decay_warning
from vwlite.api.run_configs import learner_changes, new_learner_config
from vwlite.api.small_calls import BlockLearner, BlockPredictor, is_simple, small_block
from vwlite.data.config import TEXTS, HoldoutConfig
from vwlite.data.memory import no_batches
from vwlite.errors import ModelError, UsageError
from vwlite.evaluation.config import RecommendConfig
from vwlite.evaluation.explain import Term
from vwlite.evaluation.measure import measure
from vwlite.evaluation.recommend import Recommendation
from vwlite.features.config import FeatureConfig
from vwlite.learners.base import Learner
from vwlite.learners.configs.base import shown_kind
from vwlite.options import OptionValues
from vwlite.training.config import CurriculumConfig, RunConfig
from vwlite.training.model_loader import Restored, begin_learner, go_on
from vwlite.training.predictions import Draws

Data = Any  # str, bytes, Path, an iterable of lines, or rows: see docs/python.md


class Model(Described):
    """An online learner and its weights.

    Options are those of ``vwlite train``, by any of their spellings, with ``_`` for ``-``: in a string, as they are
    typed, or as keyword arguments. The same data learned with the same options give the same model, byte for byte, as
    the command. One thread at a time learns or predicts; others wait. Different models are independent.
    """

    def __init__(self, args: str = "", /, **options: Any) -> None:
        """Raises UsageError for an unknown option, for one that contradicts another, and for values out of bounds."""
        typed = read_options(args, options)
        run_configs.check_option_effects({"passes": None, **typed}, declared_options())  # which ``learn`` takes
        learner = new_learner_config(typed)
        run_configs.check_unused_options(typed, declared_options(), learner)
        features = FeatureConfig(**run_configs.feature_changes(typed))
        self._begin(None, typed, run_configs.memory_run_config(typed, learner, features))

    def _begin(self, model: Restored | None, typed: OptionValues, config: RunConfig) -> None:
        self._lock, self._typed, self._config = threading.RLock(), typed, config
        self._model = model  # what the next run goes on from, unless ``_block_learner`` has learned since
        self._learner, self._plan = begin_learner(config, model)
        self._block_learner: BlockLearner | Literal[False] | None = None  # False: ruled out; None: not tried
        self._predictor: BlockPredictor | None = None
        self._decay_told = False

    def learn(
        self,
        data: Data,
        y: Any = None,
        *,
        weight: Any = None,
        base: Any = None,
        tags: Any = None,
        names: Any = None,
        namespaces: Mapping[str, Any] | None = None,
        kind: str | None = None,
        passes: int | None = None,
        shuffle: bool | None = None,
        threads: int | None = None,
        keep_predictions: bool = False,
        bad_lines: float | None = None,
    ) -> LearnResult:
        """Learn ``data``, going on from what was learned before.

        ``data``: lines of text (a str, bytes or an iterable of lines), a ``Path`` or several, or rows: a 2-D array, a
        CSR matrix, a dict of these by namespace, an iterable of dicts, a data frame. ``y``, ``weight``, ``base`` and
        ``tags`` are of rows: their labels (NaN or None where unlabelled), importance, initial predictions and tags,
        arrays of n. ``names`` of columns; ``kind``, as ``--format``. ``passes``, ``shuffle`` (of later passes) and
        ``threads`` as the options of these names; ``bad_lines``: the largest share of malformed lines. With several
        passes every tenth example is held out, unless the model has the option ``holdout_off``. A call is a pass, too,
        after which the learning rate falls by ``decay_learning_rate``.

        Raises DataError for data that must not be learned from, Diverged, UsageError, ModelError for a model saved with
        ``predict_only``. After an error the model is as it was after the last whole batch.
        """
        with self._lock:
            if not self._decay_told and (decayed := decay_warning(self._learner)):
                self._decay_told = True
                memory_run.log.warning(decayed)
            usual = y is weight is base is tags is names is None and namespaces is None and kind is None
            usual = usual and passes is None and shuffle is None and threads is None
            usual = usual and bad_lines is None and not keep_predictions
            if usual and (small := self._block_learner or self._fast_learner()) and (block := small_block(data)):
                if self._predictor:
                    self._predictor.outdated = True
                return small.learn(block)
            if self._model and not self._model.header["resumable"]:
                raise ModelError("the model cannot be trained further: it was saved with predict_only")
            changed = {"passes": passes, "shuffle": shuffle, "threads": threads, "kind": self._format_of(data, kind)}
            config = self._for_run({name: value for name, value in changed.items() if value is not None})
            typed = {**self._typed, **({} if passes is None else changed)}
            run_configs.check_option_effects(typed, declared_options(), continuing=True)
            columns = {"y": y, "weight": weight, "base": base, "tags": tags, "names": names, "namespaces": namespaces}
            check_labels(data, columns, config.input)
            run = memory_run.LearningRun(
                config, self._learner, self._plan, self._begun(), input_opener(data, columns),
                run_configs.bad_lines_config(self._typed, bad_lines),
                keep_predictions,
            )
            try:
                run.run()
            finally:
                self._take(run, config)
            return memory_run.learn_result(run)

    def predict(
        self,
        data: Data,
        *,
        raw: bool = False,
        probabilities: bool = False,
        scores: bool = False,
        answer: str | None = None,
        sample: int | None = None,
        base: Any = None,
        names: Any = None,
        namespaces: Mapping[str, Any] | None = None,
        kind: str | None = None,
        threads: int | None = None,
        bad_lines: float | None = None,
    ) -> np.ndarray | list[Any]:
        """Predictions of all rows of ``data``, which is as ``learn`` takes it; labels do not matter.

        float32[n]; of a model of classes their numbers, int64[n], or names, str[n], and with ``probabilities`` or
        ``scores`` float32[n, classes]; of one of sets a list of lists; of one of groups of lines, with ``scores``, for
        every group a list of classes and scores, the least first. ``answer``, of a model of labels with latent vectors:
        ``"mean"`` or ``"median"``, float32[n], or ``"class"``. ``sample``, of a policy that explores: the seed of an
        action drawn for every event, a list of pairs of it and its probability. ``raw``: sums of weights times values,
        neither clipped nor linked. The answer to a malformed line is NaN, or -1 or an empty one of classes.

        Raises DataError where too many lines are malformed, Diverged where a prediction is no finite number, UsageError
        for answers that the learner does not have.
        """
        with self._lock:
            asked = (raw, probabilities, scores, answer)
            usual = base is names is None and namespaces is None and kind is None and threads is bad_lines is None
            usual = usual and sample is None
            if usual and (tests := self._fast_predictor(asked)) and (block := small_block(data)):
                return tests.answers(block)
            tester, as_raw = self._tester(*asked)
            config = self._for_test(threads, self._format_of(data, kind))
            columns = {"base": base, "names": names, "namespaces": namespaces}
            inputs, limits = input_opener(data, columns), run_configs.bad_lines_config(self._typed, bad_lines)
            draws = self._draws(sample, asked)
            return memory_run.PredictionRun(config, tester, self._current(), inputs, limits, as_raw, draws).answers()

    def evaluate(
        self,
        data: Data,
        y: Any = None,
        *,
        weight: Any = None,
        metrics: str | Sequence[str] | None = None,
        qid: str | None = None,
        base: Any = None,
        names: Any = None,
        namespaces: Mapping[str, Any] | None = None,
        kind: str | None = None,
        threads: int | None = None,
        bad_lines: float | None = None,
        **ranking: Any,
    ) -> dict[str, Any]:
        """Metrics of the predictions for labelled rows of ``data``, which is as ``learn`` takes it.

        By name, as the command has them: all that fit the model, or those of ``metrics``, a list or names with commas.
        ``qid``: what tells queries apart (tag, or a namespace) in metrics of rankings; ``ranking``: gain, discount,
        bootstrap of these. Raises UsageError for metrics that do not fit, DataError without labels, and as ``predict``.
        """
        with self._lock:
            current, config = self._current(), self._for_test(threads, self._format_of(data, kind))
            tester = self._learner.tester(**self._learner.config.shows_probabilities_of_classes)
            columns = {"y": y, "weight": weight, "base": base, "names": names, "namespaces": namespaces}
            return measure(
                replace(config, learner=tester.config), replace(current, learner=tester),
                run_configs.bad_lines_config(self._typed, bad_lines),
                asked=metrics if metrics is None or isinstance(metrics, str) else ",".join(metrics),
                qid=qid,
                ranking=ranking_config(ranking),
                display=memory_run.Log(),
                open_inputs=input_opener(data, columns),
            )

    def explain(
        self,
        data: Data,
        *,
        top: int | None = None,
        base: Any = None,
        names: Any = None,
        namespaces: Mapping[str, Any] | None = None,
        kind: str | None = None,
        threads: int | None = None,
        bad_lines: float | None = None,
    ) -> list[list[Term]]:
        """Explain what the prediction for each row of ``data``, which is as ``predict`` takes it, is made of.

        A list of ``Term(name, slot, value, weight, product)`` for each row that has a prediction, those that move it
        most first, ``top`` at most (None: all). All products and the row's initial prediction add up to the raw
        prediction; see ``vwlite.evaluation.explain.Sum`` for how exactly. Terms of dot products and ``lrq`` have no
        slot. Of classes the terms are those of the answer's score, of a tree those of its first contest; of a
        malformed line there are none.

        Raises UsageError where predictions are no sums, and as ``predict``.
        """
        with self._lock:
            config = self._for_test(threads, self._format_of(data, kind))
            config = replace(config, output=replace(config.output, names=True))
            columns = {"base": base, "names": names, "namespaces": namespaces}
            inputs, limits = input_opener(data, columns), run_configs.bad_lines_config(self._typed, bad_lines)
            return memory_run.explain_terms(config, self._tester()[0], self._current(), inputs, limits, top)

    def recommend(
        self,
        data: Data,
        of: str,
        *,
        top: int = 10,
        exclude: Data = None,
        items: Data = None,
        names: Any = None,
        namespaces: Mapping[str, Any] | None = None,
        kind: str | None = None,
        threads: int | None = None,
        bad_lines: float | None = None,
    ) -> list[list[Recommendation]]:
        """The ``top`` features of namespace ``of`` that each row of ``data`` has the highest raw predictions with.

        Of a dyadic model, as ``vwlite recommend`` lists them: a list of ``Recommendation(name, score)`` for each row,
        none for a malformed line. ``data``, ``exclude``, examples whose features of the namespace are left out for the
        same persons, and ``items``, those whose items are chosen from, are as ``predict`` takes data.

        Raises UsageError where the model has no latent vectors of the namespace, or more than dot products of it, and
        as ``predict``.
        """
        with self._lock:
            columns = {"names": names, "namespaces": namespaces}
            seen, known = (None if source is None else input_opener(source, columns) for source in (exclude, items))
            current = replace(self._current(), learner=self._tester()[0])
            config, how = self._for_test(threads, self._format_of(data, kind)), RecommendConfig(of=of, top=top)
            return memory_run.recommendations(
                config, current, how, input_opener(data, columns),
                seen, known, run_configs.bad_lines_config(self._typed, bad_lines),
            )

    def save(self, path: str | os.PathLike[str], *, predict_only: bool = False) -> None:
        """Write the model to a file, whole or not at all. ``predict_only``: smaller, and cannot be trained further.

        Raises OutputError, Diverged where a number in the model is not finite.
        """
        with self._lock:
            self._writer(predict_only).write_model(os.fspath(path))

    def dumps(self) -> bytes:
        """The model as the bytes that ``save`` writes. Raises Diverged."""
        with self._lock:
            return self._writer().dumps()

    @classmethod
    def load(cls, path: str | os.PathLike[str], /, **changes: Any) -> Model:
        """The model of a file, some options changed, as beside ``vwlite train -i``.

        Raises InputMissing, ModelError for a damaged or foreign file, UsageError for an option that contradicts it.
        """
        return cls._opened(partial(memory_run.load_file, os.fspath(path)), os.fspath(path), changes)

    @classmethod
    def loads(cls, data: bytes, /, **changes: Any) -> Model:
        """The model that ``dumps`` has made bytes of, some options changed. Raises as ``load``."""
        return cls._opened(partial(memory_run.load_bytes, data), "the model", changes)

    @classmethod
    def _opened(cls, read: Callable[..., Restored], path: str, changes: Mapping[str, Any]) -> Model:
        """The model that ``read`` makes, some options changed; ``path`` is its name in messages."""
        typed = read_options("", changes)
        run_configs.check_option_effects({"passes": None, **typed}, declared_options(), continuing=True)
        changed = learner_changes(typed)
        features, loss = run_configs.feature_changes(typed), run_configs.loss_changes(typed)
        model = read(learner_changes=changed, feature_changes=features, loss_changes=loss)
        run_configs.check_unused_options(typed, declared_options(), model.learner.config)
        if model.header["resumable"]:
            go_on(path, model, changed)
        return cls._of(model, typed, changed=typed)

    @classmethod
    def _of(cls, model: Restored, typed: OptionValues, changed: Collection[str] = ()) -> Model:
        """A model that continues ``model``; ``typed`` are options of its runs, ``changed`` those that it did not
        have."""
        self = cls.__new__(cls)
        config = run_configs.memory_run_config(typed, model.learner.config, model.features)
        is_table = model.header["kind"] not in TEXTS  # what its columns are
        input = config.input.like(model.header, changed if is_table else typed)
        names = bool(model.header["names"])
        self._begin(model, typed, replace(config, input=input, output=replace(config.output, names=names)))
        return self

    def __getstate__(self) -> dict[str, object]:
        return {"data": self.dumps(), "typed": self._typed}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(self._of(memory_run.load_bytes(state["data"]), state["typed"]).__dict__)

    def __copy__(self) -> Model:
        other = type(self).__new__(type(self))
        other.__setstate__(self.__getstate__())
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self.__copy__()

    def __repr__(self) -> str:
        return f"Model({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    def _for_run(self, typed: OptionValues) -> RunConfig:
        options = {**self._typed, **typed}
        config = run_configs.memory_run_config(options, self._config.learner, self._config.features)
        return replace(config, input=config.input.like(self._config.input.kept, typed), output=self._config.output)

    def _for_test(self, threads: int | None, kind: str | None) -> RunConfig:
        """Return a tester for a pass in the order given, of which nothing is learned."""
        changed = {"threads": threads, "kind": kind}
        config = self._for_run({name: value for name, value in changed.items() if value is not None})
        config = replace(config, learning=False, passes=1, holdout=HoldoutConfig(), curriculum=CurriculumConfig())
        return replace(config, input=replace(config.input, shuffle=False, shuffle_first=False))

    def _tester(
        self, raw: bool = False, probabilities: bool = False, scores: bool = False, answer: str | None = None
    ) -> tuple[Learner, bool]:
        """A learner that only tests, for answers of this kind, and whether its raw answers are wanted."""
        kind = shown_kind({"raw": raw, "probabilities": probabilities, "scores": scores})
        if kind and answer:
            raise UsageError(f"{kind} and answer do not go together: each takes the place of the answers")
        changes = self._learner.config.to_show(kind) if kind else {}
        if answer:
            changes = self._learner.config.to_answer(answer)
        as_raw = changes.pop("as_raw", raw)
        return self._learner.tester(**({} if raw else changes)), as_raw

    def _draws(self, sample: int | None, asked: tuple[Any, ...]) -> Draws | None:
        if sample is not None and any(asked):
            raise UsageError("sample takes the place of the answers: ask for no others beside")
        return None if sample is None else Draws(self._learner, sample)

    def _fast_learner(self) -> BlockLearner | None:
        """The learner of small texts; None if the options or the model rule it out."""
        if self._block_learner is None:
            config, model = self._for_run({}), self._model
            run_configs.check_option_effects(self._typed, declared_options(), continuing=True)
            fits = (not model or model.header["resumable"]) and is_simple(config, self._learner)
            limits = run_configs.bad_lines_config(self._typed)
            self._block_learner = fits and BlockLearner(config, self._learner, self._plan, model, limits)
        return self._block_learner or None

    def _fast_predictor(self, asked: tuple[bool, bool, bool, str | None]) -> BlockPredictor | None:
        """The predictor of small texts. ``asked``: whether raw, probabilities or scores were requested, and
        ``answer``."""
        tests = self._predictor if self._predictor and self._predictor.asked == asked else None
        if tests and not tests.outdated:
            return tests
        tester, as_raw = self._tester(*asked)
        if tests:
            tests.set_learner(tester)
        elif is_simple(config := self._for_test(None, None), self._learner):
            limits = run_configs.bad_lines_config(self._typed)
            run = memory_run.PredictionRun(config, tester, self._current(), no_batches, limits, as_raw)
            tests = self._predictor = BlockPredictor(run, config, asked)
        return tests

    def _begun(self) -> Restored | None:
        """The model that the next run starts from; None before the first one."""
        if self._block_learner:
            self._model = memory_run.model_after(self._block_learner.parts)
        return self._model

    def _current(self) -> Restored:
        plan, features = self._plan, self._config.features
        return self._begun() or Restored(self._learner, features, plan, {}, None, 0, self._config.input.kept)

    def _take(self, run: memory_run.LearningRun, config: RunConfig) -> None:
        """Take over the model that a run has trained."""
        self._model, self._block_learner, self._predictor = memory_run.model_after(run.parts), None, None
        self._learner, self._plan = self._model.learner, self._model.plan
        self._config = replace(self._config, input=self._config.input.like(self._model.header, ()))
