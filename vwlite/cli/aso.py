"""``vwlite aso``: learn, problems, train, cotrain, apply, inspect."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads, Writes
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS, Group
from vwlite.data.config import InputConfig
from vwlite.features.config import ApplyConfig
from vwlite.solvers.aso.config import (
    ContinuedConfig,
    CotrainConfig,
    LearnConfig,
    OnlineConfig,
    SelectionConfig,
    SequenceConfig,
    SolverConfig,
    TargetConfig,
    TasksConfig,
    ThresholdConfig,
)
from vwlite.storage.output_checks import CHECKPOINT, LEDGER, LOCK

output = options.family(
    "Output",
    options.json_option("Write counts and losses of the training as JSON; - is stdout."),
    options.quiet(),
)


of_tables = options.options_in(
    InputConfig, "Input",
    only=("kind", "columns"),
    kind={"choices": ("vw", "csv", "tsv", "jsonl", "arrow", "parquet")},
)
of_input = options.family("", options.options_in(SolverConfig, "Input"), of_tables, options.bad_line_options)


@click.group("aso", cls=Group, context_settings=SETTINGS, short_help="Learn what many problems have in common.")
def command() -> None:
    """Learn what many problems have in common, and use it: alternating structure optimization.

    \b
    vwlite aso learn unlabeled.vw --aux freq -f theta
    vwlite aso train labeled.vw --theta theta -f model
    vwlite predict -i model test.vw

    Labels are names of classes. Ando and Zhang, Journal of Machine Learning Research 6 (2005).
    """


THETA = Writes("Theta", LOCK, CHECKPOINT, LEDGER)
ABOUT_PROBLEMS = options.family(
    "",
    options.list_option("--aux", help="Problems, of a kind described below.", metavar="KIND"),
    options.list_option("--where", help="Only examples with such a feature; NS!=REGEX: without.", metavar="NS=REGEX"),
    options.file(Reads("labelled data"), "--labeled", help="Labelled examples, for top-k, pivot and others."),
    click.option("--multilabel", is_flag=True, help="Their labels are lists: a,b,c."),
)


@command.command("learn", cls=Command, context_settings=SETTINGS, short_help="Learn Theta from unlabeled text.")
@options.data_files
@options.file(THETA, "-f", "--theta", "model", required=True, help="Write Theta there.")
@ABOUT_PROBLEMS
@options.file(Reads("a list of problems"), "--problems", help="Only those of a list that aso problems wrote.")
@options.list_option("--group", help="Namespaces decomposed together. [default: each its own]", metavar="NS,NS,...")
@options.list_option("--dim", help="Rows of Theta, of each group or of GROUP=N. [default: 50]", metavar="N")
@options.options_in(LearnConfig)
@options.options_in(SolverConfig)
@options.options_in(OnlineConfig)
@options.usual_memory_option
@options.options_in(SolverConfig, "Update")
@options.options_in(TargetConfig, "Update")
@of_input
@options.restart_options
@output
def learn(**arguments: Any) -> int:
    """Learn Theta, the structure that problems share, from text without labels.

    \b
    vwlite aso learn unlabeled.vw --aux freq -f theta
    vwlite aso learn unlabeled.vw --labeled labeled.vw --aux freq --aux top-k:2 -f theta
    vwlite aso learn words.vw --aux mask:left --aux mask:word --dim 50 -f theta
    zcat days/*.gz | vwlite aso learn --online --keep-weights --aux freq-k:10 -f theta
    vwlite aso learn today.vw -i theta -f theta --keep-weights

    freq[:NS] splits the features into two halves, at random or by --view-words, and predicts from one which of the
    other is the most frequent; freq-k:K[:NS] which K are. mask:NS[,NS...] predicts the features of the first
    namespace from all namespaces but those named, mask:NS+NS the pairs of features of two namespaces. more:N[:NS]
    predicts which features of a half, or of NS, have values above N. pivot:N[:NS] predicts, from all others, the N
    features that say most of the labels of --labeled and are in --min-count examples of both texts. top-k:K[:NS]
    predicts, from one half (or from all but NS), the K best classes in order that a classifier finds by the other;
    multi-k:K[:NS] the same as a set, multi-k:auto of as many as the labelled examples have labels on average;
    confidence[:NS] the best class and the range of its score, range:K[:NS] the same in K ranges of as many examples
    each. labels takes the problems that the examples' labels list: 3,17,204. Kinds may be combined. NS=REGEX is of
    whole names.
    """
    from vwlite.cli.runs.solve import solve
    from vwlite.solvers.aso.solver import LearnOnline, LearnTheta

    online = arguments["online"]
    return solve(arguments, lambda *asked: (LearnOnline if online or asked[1] else LearnTheta)(*asked))


@command.command("problems", cls=Command, context_settings=SETTINGS, short_help="List problems, learn nothing.")
@options.data_files
@ABOUT_PROBLEMS
@options.options_in(LearnConfig, only=("most", "least", "stop_words", "view_words"))
@options.options_in(SolverConfig, "Update")
@options.options_in(TargetConfig, "Update")
@of_input
@options.quiet()
def problems(**arguments: Any) -> int:
    """List the problems that vwlite aso learn would make of a text, without solving them.

    \b
    vwlite aso problems unlabeled.vw --aux freq-k:3 > list
    vwlite aso learn unlabeled.vw --aux freq-k:3 --problems list -f theta

    A line has, between tabs, the kind, the problem's name, the number of its positive examples and that of the
    features it is predicted from. Of a kind that has two views, kind/1 and kind/2 are these. Put a - before a line, or
    delete it, to leave a problem out.
    """
    from vwlite.cli.runs.aso import run_problems

    return run_problems(arguments)


@command.command("train", cls=Command, context_settings=SETTINGS, short_help="Learn classes with Theta's help.")
@options.data_files
@options.output("model", model={"beside": (LOCK, CHECKPOINT, LEDGER), "required": True})
@options.file(Reads("Theta"), "--theta", help="What aso learn made. [default: none, plain one-versus-rest]")
@click.option("--multilabel", is_flag=True, help="Labels are lists: a,b,c.")
@options.options_in(ContinuedConfig)
@options.options_in(ThresholdConfig)
@options.options_in(TargetConfig)
@options.options_in(SelectionConfig)
@options.options_in(SolverConfig, passes={"default": TargetConfig().solver.passes})
@options.usual_memory_option
@options.options_in(SelectionConfig, "Choice")
@options.options_in(SolverConfig, "Update")
@options.options_in(TargetConfig, "Update")
@options.options_in(SequenceConfig, "Sequences")
@of_input
@options.restart_options
@output
def train(**arguments: Any) -> int:
    """Learn classes from labelled text, one-versus-rest, with the features that Theta makes of it.

    \b
    vwlite aso train labeled.vw --theta theta -f model
    vwlite aso train labeled.vw --theta theta --folds 5 --vary 'theta-scale 0.1|0.3|1' -f model
    vwlite aso train later.vw -i model --new-classes -f model
    vwlite evaluate -i model test.vw

    The label is the name of the class; with --multilabel a list of names, and all labels of scores above 0 are given
    or, with --threshold tuned, above the cut of each label that is best in five folds. Weights of Theta's features are
    not regularised. --folds tries all combinations of the values of --vary, and doing without Theta, and learns with
    the best: theta-scale, theta-dim, lambda, learning_rate, passes and loss_function can vary.

    With --sequences an empty line or a file's end ends a sequence, whose labels are chosen together. --decode none
    takes the best label of each example; bio the labels with the largest sum of scores in which I-X follows B-X or
    I-X only; viterbi does so with features of the labels before: y1 of the last one, y2 of the last two, y1*NS of the
    last one with each feature of a namespace, y-prev*NS of the label given to the last example of another sequence
    that had the same features of the namespace.

    -i learns on from the weights, the number of steps and the options of a model. New classes come behind its others.
    """
    from vwlite.cli.runs.solve import solve
    from vwlite.solvers.aso.solver import ContinueClasses, TrainClasses

    return solve(arguments, lambda *asked: (ContinueClasses if asked[1] else TrainClasses)(*asked))


@command.command("cotrain", cls=Command, context_settings=SETTINGS, short_help="Learn classes by proposed labels.")
@options.data_files
@options.file(Reads("unlabelled data"), "--unlabeled", required=True, help="Examples to propose labels for.")
@options.output("model", model={"beside": (LOCK, CHECKPOINT, LEDGER), "required": True})
@options.list_option(
    "--views", help="Namespaces of a view. [default: halves of the features at random]", metavar="NS,NS"
)
@options.file(Reads("labelled data"), "--test", help="Examples to measure the accuracy of each round on.")
@options.file(Reads("Theta"), "--theta", help="What aso learn made. [default: none]")
@options.options_in(CotrainConfig)
@options.options_in(TargetConfig)
@options.options_in(SolverConfig, passes={"default": TargetConfig().solver.passes})
@options.usual_memory_option
@options.options_in(SolverConfig, "Update")
@options.options_in(TargetConfig, "Update")
@of_input
@options.restart_options_without_i
@output
def cotrain(**arguments: Any) -> int:
    """Learn classes from few labelled examples and the labels that classifiers propose for others.

    \b
    vwlite aso cotrain labeled.vw --unlabeled more.vw -f model
    vwlite aso cotrain labeled.vw --unlabeled more.vw --one-view --holdout 0.2 -f model
    vwlite aso cotrain words.vw --unlabeled more.vw --views w,l1,l2 --views w,r1,r2 -f model

    Co-training: two classifiers see two views, which are random halves of the features, the namespaces of --views
    against the others, or those of --views given twice. In each round each labels some examples of a pool, and both
    learn from these too; the model is the sum of the two. With --one-view this is self-training. The model is that of
    the last round; with --holdout of the round that was the best on that share of the labelled examples.
    """
    from vwlite.cli.runs.solve import solve
    from vwlite.solvers.aso.solver import Cotrain

    return solve(arguments, Cotrain)


@command.command("tasks", cls=Command, context_settings=SETTINGS, short_help="Learn many tasks, each with its data.")
@options.data_files
@options.output("model", model={"beside": (LOCK, CHECKPOINT, LEDGER), "required": True})
@options.options_in(TasksConfig)
@of_tables
@options.list_option("--lambda-task", help="Another lambda for one task.", metavar="TASK=X")
@options.list_option("--own", help="Namespaces that are in w only, not in Theta.", metavar="NS,NS")
@options.file(Reads("labelled data"), "--test", help="Examples to show the error on, with --dim 0 and --pooled too.")
@options.usual_memory_option
@options.bad_line_options
@options.restart_options_without_i
@output
def tasks(**arguments: Any) -> int:
    """Learn regressions of many tasks at once, people or shops, each of which has examples of its own.

    \b
    vwlite aso tasks train.vw --task shop --dim 2 -f model
    vwlite predict -i model test.vw

    The weights of a task are w + Theta' v: Theta is what the tasks have in common, v is free, and w is regularised.
    Labels are numbers or, with --loss_function logistic, -1 and 1, and answers are log odds then.

    Each round finds the best w and v of every task, then Theta by the singular value
    decomposition of these, and never raises the objective, which is printed. A task that was not seen in training is
    predicted by the mean of all v.
    """
    from vwlite.cli.runs.solve import solve
    from vwlite.solvers.aso.solver import Tasks

    return solve(arguments, Tasks)


@command.command("apply", cls=Command, context_settings=SETTINGS, short_help="Add Theta's features to text.")
@options.data_files
@options.file(Reads("Theta"), "--theta", required=True, help="What aso learn made.")
@options.options_in(ApplyConfig)
@options.file(Writes("text", stdout=True), "-o", "--out", default="-", help="Where the text goes. [default: stdout]")
@of_input
@options.quiet()
def apply(**arguments: Any) -> int:
    """Add the features that Theta makes of examples to their lines, for any learner.

    \b
    vwlite aso apply --theta theta train.vw | vwlite train -f model --oaa 20
    vwlite aso apply --theta theta test.vw | vwlite predict -i model

    Each group of Theta makes a namespace theta_GROUP, whose features are numbered from 0. Labels, tags, empty and
    malformed lines are as they came.
    """
    from vwlite.cli.runs.aso import run_apply

    return run_apply(arguments)


@command.command("inspect", cls=Command, context_settings=SETTINGS, short_help="Show what Theta's rows are about.")
@click.argument("model", type=Reads("Theta"), metavar="THETA")
@options.count("-n", "--top", help="Show N features of either sign.", default=10, show_default=True)
@options.file(Writes("arrays"), "--out", help="Write Theta as NumPy arrays, X.npz.")
@options.count("--rows", help="Show the first N rows of each group.", default=5, show_default=True)
@options.flag("--problems", help="List the problems that it was learned from instead.")
@options.json_option("Write the same as JSON; - is standard output, without text.")
def inspect(**arguments: Any) -> int:
    """Show what Theta's rows are about: their strongest positive and negative features, by name.

    \b
    vwlite aso inspect theta --rows 5

    A feature is shown in the row where it counts most. --out writes for each feature its name, namespace, group (its
    place in groups, -1 for none), row of the matrix and weight (idf), and the groups' singular values.
    """
    from vwlite.cli.runs.aso import run_inspect

    return run_inspect(arguments)
