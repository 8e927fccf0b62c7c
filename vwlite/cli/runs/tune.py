"""What ``vwlite tune`` does: trials in threads, and what they found."""

import gc
import math
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event, Lock
from types import MappingProxyType
from typing import Any

import click

from vwlite.api.run_configs import check_option_effects, check_unused_options
from vwlite.api.train_files import counts_of_classes, loss_advice, new_config, train_files, with_classes
from vwlite.cli import build
from vwlite.cli.build import evaluation_changes
from vwlite.cli.files import Difficulty, FileName, check_named_files
from vwlite.cli.output import Bar, write_json
from vwlite.cli.parser import error_sentence
from vwlite.cli.root import cli, command_of, sentence_of
from vwlite.cli.runs.classes import score_of_classes
from vwlite.cli.settings import plain_name
from vwlite.config_check import JsonObject
from vwlite.data.blocks import check_inputs
from vwlite.data.config import BadLinesConfig, InputConfig, available_cores, kind_by_name
from vwlite.data.shuffle import split_files
from vwlite.errors import DataError, UsageError, VwliteError
from vwlite.evaluation.config import STEPS_PER_PASS, TuneConfig
from vwlite.evaluation.measure import measure
from vwlite.evaluation.metric_table import canonical_name, to_finite
from vwlite.evaluation.tuning import Dimension, Outcome, Search, Trial, TrialFailed, better_when_larger, draw
from vwlite.interrupts import SIGINT, Guard, Interrupted, TemporaryFolder
from vwlite.options import AUTO, OptionValues, fields_of
from vwlite.solvers.aso.model_file import TARGET
from vwlite.solvers.crr import solver as crr
from vwlite.solvers.loglinear import model_file, tagger
from vwlite.solvers.loglinear import solver as loglinear
from vwlite.storage.atomic_file import atomic_copy
from vwlite.storage.model_file import learner_name_of
from vwlite.storage.named_files import NamedFile
from vwlite.training.config import OutputConfig, RunConfig
from vwlite.training.ledger import be_silent
from vwlite.training.listener import Display
from vwlite.training.model_loader import start

Interrupts = Callable[[], AbstractContextManager[Any]]


def passes_words(name: str, passes: int) -> list[str]:
    """The words by which training takes a number of passes."""
    if name == "crr":
        return ["--steps", str(passes * STEPS_PER_PASS)]
    return ["--passes", str(passes), *(["--holdout_off"] if name == "train" else [])]


def words_of(name: str) -> list[str]:
    """The command as it is typed."""
    return ["vwlite", *(["aso", "train"] if name == "aso" else [name])]


def train(name: str, words: list[str], interrupts: Interrupts) -> None:
    """Raises what the command would end with."""
    with command_of(name).make_context(name, words, parent=click.Context(cli, info_name="vwlite")) as context:
        check_named_files(context)
        if name != "train":
            context.invoke(context.command.callback, **context.params)
            return
        request = build.request()
    check_option_effects(request.given, request.known)
    train_files(request, say=be_silent, display=lambda output: Display(), interrupts=interrupts)


def score_model(path: str, tests: list[str], metric: str, scheme: str | None = None) -> tuple[Any, str]:
    """The metric of the model ``path`` on these files, and how phrases were counted, if they were.

    Raises what 'vwlite evaluate' would end with.
    """
    input = InputConfig(tuple(tests), kind_by_name(tests), threads=available_cores())
    if learner_name_of(path) == TARGET:
        return to_finite(score_of_classes(path, input, metric, scheme))[metric], ""
    if learner_name_of(path) == model_file.CHAIN:
        report = score_of_names(path, input, metric, scheme)
        return to_finite(report)[metric], f"{report['scheme']}, {report['counting']}" if "counting" in report else ""
    run = RunConfig(input=input, output=OutputConfig(quiet=True), learning=False)
    config, model = start(run, path, evaluation_changes(path))
    config = build.read_alike(config, model)
    return to_finite(measure(config, model, BadLinesConfig(), asked=metric, quiet=True))[metric], ""


def score_of_names(path: str, input: InputConfig, metric: str, scheme: str | None) -> JsonObject:
    """The metric of a model of named labels; ``f1`` is that of phrases."""
    model = model_file.load(path)
    alike = input.like({"kind": model.past.kind, "columns": model.past.columns}, ())
    tagged = tagger.Tagger(model, tagger.read_batches(model, alike, build.bad_lines_policy({})))
    crf = bool(tagged.pairs.transitions)
    return tagger.measure(tagged, "conll" if crf and metric == "f1" else metric, scheme)


OF_DATA = {"kind": "--format", "columns": "--columns"}
THETA = "theta"  # the file that trials may have beside the data
OURS = ("passes", "steps", "cache", "folds")  # names of parameters, beside those that name files


def read_fixed(text: str, beside: Mapping[str, Any] = MappingProxyType({}), command: str = "train") -> list[str]:
    """The options every trial has, read as the command reads them; ``beside``: those typed of ``OF_DATA``.

    Raises UsageError for those that are not to be passed on, or are typed twice.
    """
    try:
        words = shlex.split(text)
        values, _, order = command_of(command).make_parser(context_of(command)).parse_args(list(words))
    except ValueError as error:
        raise UsageError(f"--with: {error}") from error
    except click.UsageError as error:
        raise UsageError(f"--with: {error_sentence(error)}") from error
    files = values.get("files")  # click's own mark, or nothing, where there are none
    if isinstance(files, tuple) and files:
        raise UsageError(f"--with: {files[0]} is no option: {in_its_place(files, values.get('columns'))}")
    for param in order:
        check(param, "--with", param.opts[0], "hand on")
        if param.name in beside:
            raise UsageError(f"{param.opts[0]} is there twice: drop it from --with")
    return [*words, *(word for name, value in beside.items() for word in (OF_DATA[name], value))]


def with_names(fixed: list[str], files: list[str], varied: list[str], tell: Callable[[str], None]) -> list[str]:
    """The same with the names of classes that trials would find, those of all of ``files``. ``tell`` takes a note on
    the loss, unless that is ``varied``.
    """
    with command_of("train").make_context("train", [*files, *fixed], parent=click.Context(cli, info_name="vwlite")):
        request = build.request()
    words = with_classes(request, be_silent)
    if words is request:
        if OF_LOSS[0] not in varied and (advice := loss_advice(request)):
            tell(f"note: {advice}")
        return fixed
    count = next(str(words.given[key]) for key in counts_of_classes(words))
    counted = [count if word == AUTO else word.replace(f"={AUTO}", f"={count}") for word in fixed]
    return [*counted, "--named_labels", ",".join(words.given["named_labels"])]


def in_its_place(files: Sequence[str], columns: str | None) -> str:
    """A hint on what to type in place of ``files``, which are items of --columns without their quotes."""
    if columns and all("=" in file for file in files):
        return f"tune itself takes --columns, in quotes: --columns {shlex.quote(' '.join([columns, *files]))}"
    return "name data as FILE of tune"


def context_of(name: str) -> click.Context:
    command = command_of(name)
    return click.Context(command, info_name=name, **command.context_settings)


def check_varied(option: str, command: str) -> None:
    """Raises UsageError."""
    name = plain_name(option)
    for param in command_of(command).get_params(context_of(command)):
        if isinstance(param, click.Option) and name in map(plain_name, (*param.opts, *param.secondary_opts)):
            check(param, "--vary", option, "vary")


def models_in(words: list[str], vary: Sequence[Dimension], name: str) -> Iterator[tuple[NamedFile, list[str], str]]:
    """Options that are passed on and may name a model, as ``vwlite.storage.named_files.files_of`` has it."""
    values, _, _ = command_of(name).make_parser(context_of(name)).parse_args(list(words))
    for param in command_of(name).params:
        if param.name == THETA:
            yield param.type, list(filter(None, [values.get(THETA)])), param.opts[0]
        if isinstance(param.type, Difficulty):
            searches = [search for search in vary if plain_name(search.option) in map(plain_name, param.opts)]
            choices = [choice for search in searches for choice in search.choices]
            yield param.type, [*choices, *filter(None, [values.get(param.name or "")])], param.opts[0]


def check(param: Any, where: str, option: str, what: str) -> None:
    names_file = isinstance(param.type, FileName) and not isinstance(param.type, Difficulty) and param.name != THETA
    if param.name in OURS or "--help" in param.opts or (names_file and isinstance(param, click.Option)):
        raise UsageError(f"{where}: {option} is not for tune to {what}")


class Halt(Guard):
    """Stops trials in other threads: signals are heard by the main one alone, and kernels need not hear them."""

    def __init__(self) -> None:
        self.event = Event()

    def check(self) -> None:
        if self.event.is_set():
            raise Interrupted(SIGINT)


class TrialRunner:
    """Trains and measures; keeps the best model, ``model``.

    Every score is that of one training from the start: not all learners go on as if they had never stopped. Trials of
    different threads share nothing but the data and the table of the best.
    """

    def __init__(
        self, folder: Path, files: list[str], fixed: list[str], config: TuneConfig, tell: Callable[[str], None]
    ) -> None:
        self.folder, self.files, self.tests, self.fixed = folder, files, list(config.tests), fixed
        self.metric, self.scheme, self.command = config.metric, config.scheme, config.command
        self.tell, self.counting = tell, ""
        self.model = str(folder / "best.model")
        self.best: Outcome | None = None
        self.choosing = Lock()
        self.halt = Halt()

    @contextmanager
    def stopping(self) -> Iterator[None]:
        """A context that ends the running trials if an error ends it."""
        try:
            yield
        except BaseException:
            self.halt.event.set()
            raise

    def run(self, trial: Trial, passes: int) -> float:
        """Raises TrialFailed, with what the command would say, when it fails or the metric is not a number."""
        model = str(self.folder / f"{trial.number}-{passes}.model")
        words = [*self.files, *self.fixed, *trial.options, *passes_words(self.command, passes)]
        failed, score = None, None
        try:
            self.train([*words, "-f", model, "--quiet", "--threads", "1"])
            self.halt.check()
            score, counting = score_model(model, self.tests, self.metric, self.scheme)
            self.tell_counting(counting)
        except Exception as error:
            failed = as_failure(error)
        if failed:
            gc.collect()  # the error's frames hold the tables of the run, in circles
            raise failed
        if not isinstance(score, int | float) or not math.isfinite(score):
            raise TrialFailed(f"{self.metric} is {score}", DataError.exit_code)
        self.keep(model, Outcome.of(self.metric, float(score), passes, trial.number))
        return float(score)

    def tell_counting(self, counting: str) -> None:
        """Tell the guess of labels once: it is the same for all trials."""
        with self.choosing:
            if counting and not self.counting:
                self.tell(f"note: {self.metric} is that of phrases ({counting})")
                self.counting = counting

    def train(self, words: list[str]) -> None:
        train(self.command, words, partial(nullcontext, self.halt))

    def keep(self, model: str, outcome: Outcome) -> None:
        with self.choosing:
            if self.best is None or outcome < self.best:
                self.best = outcome
                os.replace(model, self.model)
            else:
                os.unlink(model)


def as_failure(error: Exception) -> TrialFailed:
    """The error that the command would have ended with."""
    try:
        line, status = sentence_of(error)
    except Exception:
        return TrialFailed(f"{type(error).__name__}: {error}", 1)
    return TrialFailed(f"vwlite: {line}", status)


USUAL_SPACES = {  # of each command: parameter, option, values, of which those are varied that the learner takes
    "train": [
        ("ftrl_alpha", "--ftrl_alpha", "0.05..10"), ("aggressiveness", "--aggressiveness", "0.01..10"),
        ("learning_rate", "-l", "0.05..10"), ("power_t", "--power_t", "0|0.25|0.5"), ("l2", "--l2", "off|1e-8|1e-6"),
    ],
    "l1": [
        ("l1", "--l1", "0.05..5"), ("learning_rate", "-l", "0.02..1"),
        ("aggressiveness", "--aggressiveness", "0.001..1"),
    ],
    "crr": [("penalty", "--lambda", "1e-6..1"), ("alpha", "--alpha", "0|0.5|1")],
    "aso": [("penalty", "--lambda", "1e-6..1e-2"), ("learning_rate", "-l", "0.1..2")],
}
OF_SOLVERS = {"l2": "0.001..10"}  # of ``train`` where there is no learning rate: a penalty on all of the data
WITHOUT_RATE = {"ftrl", "coin", "pistol"}  # what --ftrl_alpha is of
OF_LOSS = ("--loss_function", "--quantile_tau", "--expectile_q", "--lp_power", "--loss_scale", "--tube")


def run(arguments: OptionValues) -> int:
    config = TuneConfig(**fields_of(TuneConfig, arguments))
    config = replace(config, metric=canonical_name(config.metric))
    if config.scheme and (config.command, config.metric) != ("l1", "f1"):
        raise UsageError("--scheme is of phrases: it does nothing without --command l1 --metric f1")
    files = list(arguments["files"])
    if not files or "-" in files or "-" in config.tests:
        raise UsageError("tune reads its data many times: name files, not standard input")
    of_data = {name: value for name, value in build.typed_options().items() if name in OF_DATA}
    fixed = read_fixed(config.fixed, of_data, config.command)
    dimensions = [Dimension.read(text) for text in config.vary or usual_space(config, fixed, files)]
    check_named_files(click.get_current_context(), models_in(fixed, dimensions, config.command))
    points, count = points_of(config, dimensions)
    better_when_larger(config.metric)  # or it is refused before anything is tried
    check_inputs((*files, *config.tests))
    bar = Bar(arguments["quiet"], to_stdout=False)
    tell = (lambda line: None) if arguments["quiet"] else bar.message
    if config.command == "train":
        fixed = with_names(fixed, files, [spelling_of(dimension.option) for dimension in dimensions], tell)
    kind = of_data.get("kind") or kind_by_name(files)
    jobs = config.jobs or available_cores()
    with closing(bar), TemporaryFolder("vwlite-tune-") as folder, ThreadPoolExecutor(max(jobs, 1)) as pool:
        learned = files
        if not config.tests:
            training, test = split_files(files, kind, of_data.get("columns", ""), Path(folder))
            learned, config = [training], replace(config, tests=(test,))
            tell(f"note: {config.metric} is measured on every fifth example, set aside (--test names others)")
        bench = TrialRunner(Path(folder), learned, fixed, config, tell)
        search = Search(points, count, config.passes, config.metric, bench.run, pool.map, tell, bar.steps("trials"))
        with bench.stopping():
            best, passes = search.best()
        if arguments["model"]:
            atomic_copy(bench.model, arguments["model"])
    if arguments["json_path"]:
        report = {"metric": config.metric, "best": best.number, "passes": passes, "score": best.scores[passes]}
        write_json(arguments["json_path"], {**report, "trials": [as_entry(trial) for trial in search.trials]})
    if arguments["json_path"] != "-":
        words = [*words_of(config.command), *files, *fixed, *best.options, *passes_words(config.command, passes)]
        print(shlex.join([*words, "-f", arguments["model"] or "model"]))
    return 0


def usual_space(config: TuneConfig, fixed: list[str], files: Sequence[str]) -> list[str]:
    """The space without ``--vary``: the usual options of the command that are not fixed, and that the learner
    takes. Raises UsageError.
    """
    command, train = config.command, config.command == "train"
    given = {param.name for param in command_of(command).make_parser(context_of(command)).parse_args(list(fixed))[2]}
    words = [*files, *fixed, *passes_words(command, config.passes), "-f", "model"]
    whole, space = why_refused(command, words), dict[str, str]()
    needed = ["--l2", "1"] if whole and not why_refused(command, [*words, "--l2", "1"]) else []  # --dual needs it
    with_rate = train and not why_refused(command, [*words, *needed, "-l", "0.5"])
    idle = {"learning_rate", "power_t"} if given & WITHOUT_RATE else {"ftrl_alpha"}
    for name, option, usual in USUAL_SPACES[command]:
        values = OF_SOLVERS.get(name, usual) if train and not with_rate else usual
        tried = Dimension.read(f"{option} {values}")
        ends, beside = tried.choices or (tried.low, tried.high), [] if option in needed else needed
        if name in given or (train and name in idle):
            continue
        if not any(why_refused(command, [*words, *beside, *tried.words(end)]) not in ("", whole) for end in ends):
            space[option] = values
    if not space:
        raise UsageError(
            "the options that are usually varied are all given, or are none of this learner: name others with --vary"
        )
    return [f"{option} {values}" for option, values in space.items()]


def why_refused(command: str, words: list[str]) -> str:
    """Why a command refuses these words, whatever is in its files; empty where it does not."""
    try:
        with command_of(command).make_context(command, list(words), parent=click.Context(cli, info_name="vwlite")):
            request = build.request()
        check_option_effects(request.given, request.known)
        if command == "crr":
            crr.configure(request)
        elif command == "l1":
            loglinear.configure(request, None)
        else:
            for key in counts_of_classes(request):
                request = request.having({key: 2}) if request.given[key] == AUTO else request
            check_unused_options(request.given, request.known, new_config(request, be_silent).learner)
    except (VwliteError, click.ClickException) as error:
        return sentence_of(error)[0]
    return ""


def as_entry(trial: Trial) -> JsonObject:
    scores, failure = dict(sorted(trial.scores.items())), str(trial.failure or "")
    return {"trial": trial.number, "options": shlex.join(trial.options), "scores": scores, "failure": failure}


def points_of(config: TuneConfig, dimensions: list[Dimension]) -> tuple[Iterable[list[Trial]], int]:
    """The points to try, and how many. Raises UsageError, ExtraMissing."""
    for option in (dimension.option for dimension in dimensions):
        check_varied(option, config.command)
        if config.metric == "loss" and spelling_of(option) in OF_LOSS:
            raise UsageError(f"--vary: losses of different {option} do not compare; measure by another --metric")
    if config.sampler == "random":
        trials = draw(dimensions, config.trials, config.seed)
        if not trials:
            raise UsageError("--vary leaves nothing to try but the defaults: give an option more than one value")
        return [trials], len(trials)
    from vwlite.evaluation.tuning import propose_trials

    return propose_trials(dimensions, config.trials, config.seed, config.metric), config.trials


def spelling_of(option: str) -> str:
    """``-`` within a long option's name is ``_``."""
    return "--" + option[2:].replace("-", "_") if option.startswith("--") else option
