"""Options, in families: a command takes the families it needs, and no option is spelled twice."""

from collections.abc import Callable
from typing import Any

import click

from vwlite.cli.files import Difficulty, FileName, JsonFile, Reads, Writes
from vwlite.cli.parser import ClassWeights, DataOption, Finite, Names, Whole
from vwlite.learners.losses import LINKS, LOSSES

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


HEADINGS: dict[str, str] = {}  # name of an option -> its section in the --help of commands that learn


def family(heading: str, *options: Decorator, learns: bool = True) -> Decorator:
    """One decorator out of many, listed in --help in the order given, under ``heading`` if it is not empty.

    Without ``learns`` the names mean something else to commands that learn, whose ``HEADINGS`` stay.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            known = len(getattr(function, "__click_params__", ()))
            function = option(function)
            for param in function.__click_params__[known:] if heading else ():  # type: ignore[attr-defined]
                param.heading = heading
                if learns:
                    HEADINGS[param.name] = heading
        return function

    return decorate


def flag(*names: str, help: str, **more: Any) -> Decorator:
    return click.option(*names, is_flag=True, help=help, **more)


def number(*names: str, help: str, **more: Any) -> Decorator:
    return click.option(*names, type=Finite(), metavar="X", help=help, **more)


def count(*names: str, help: str, **more: Any) -> Decorator:
    return click.option(*names, type=Whole(), metavar="N", help=help, **more)


def text(*names: str, help: str, metavar: str, **more: Any) -> Decorator:
    return click.option(*names, type=str, metavar=metavar, help=help, **more)


def listed(*names: str, help: str, metavar: str, **more: Any) -> Decorator:
    return click.option(*names, type=str, metavar=metavar, multiple=True, help=f"{help} Repeatable.", **more)


def file(type: FileName, *names: str, help: str, **more: Any) -> Decorator:
    return click.option(*names, type=type, metavar=type.metavar, help=help, **more)


def json_option(help: str) -> Decorator:
    """``--json FILE`` and ``--force``."""
    json = file(JsonFile(), "--json", "json_path", help=help)
    force = flag("--force", help="Let --json replace a file that vwlite did not write.")
    return lambda function: json(force(function))


max_memory = number("--max-memory", "memory", help="GiB that weights may take.", default=4.0, show_default=True)
data_files = click.argument("files", nargs=-1, type=Reads("input"), metavar="[FILE]...")
data_options = family(
    "Input",
    file(
        *(Reads("input"), "-d", "--data"), help="Input file, - for stdin; the same as a bare FILE. Repeatable.",
        multiple=True, cls=DataOption,
    ),
    click.option(
        "--format",
        "kind",
        type=click.Choice(["vw", "svmlight"]),
        default="vw",
        help="Format of the text. [default: vw, or the model's]",
    ),
    count("--threads", help="Threads that parse; the result does not depend on it. [default: all cores]"),
    count("--examples", help="Read N examples at most, 0 for all. [default: 0]", default=0),
    count("--block-size", help="Bytes parsed at a time.", hidden=True),
)
cache_options = family(
    "Cache",
    flag("-c", "--cache", help="Keep the parsed data in FILE.cache for later passes and runs."),
    file(Writes("cache"), "--cache_file", help="Keep it there instead."),
    flag("-k", "--kill_cache", help="Make the cache anew even if it is up to date."),
)
bad_line_options = family(
    "Malformed lines",
    flag("--strict", help="Fail at the first malformed line."),
    number("--max-bad-ratio", help="Fail when a larger share of lines is malformed.", default=0.01, show_default=True),
    file(Writes("malformed lines"), "--bad-lines", help="Keep malformed lines there."),
)


def table_family(bits: str) -> Decorator:
    """``bits``: the default of ``-b``, in words."""
    slots = f"Bits of a slot's number: the table has 2^N slots. [default: {bits}]"
    return family(
        "Table of weights",
        count("-b", "--bit_precision", "bits", help=slots),
        click.option(
            "--hash", type=click.Choice(["strings", "all"]), help="Whether digits are numbers (strings) or names (all)."
        ),
        count("--hash_seed", help="Seed of the hash."),
    )


table_options = table_family("18")
feature_options = family(
    "Features",
    listed("-q", "--quadratic", help="Cross two namespaces: letters, ':' for any, or full names 'a,b'.", metavar="AB"),
    listed("--cubic", help="Cross three namespaces.", metavar="ABC"),
    listed("--interactions", help="Cross two or more namespaces.", metavar="ABC..."),
    flag("--permutations", help="Cross a namespace with itself in every order."),
    flag("--leave_duplicate_interactions", help="Keep interactions that differ only in order."),
    listed("--ignore", help="Drop namespaces beginning with these letters.", metavar="ABC"),
    listed("--keep", help="Drop all others.", metavar="ABC"),
    listed("--ignore_linear", help="Use them only within interactions.", metavar="ABC"),
    listed("--redefine", help="File namespaces S under letter N.", metavar="N:=S"),
    listed("--ngram", help="Add n-grams, of namespace A or of all.", metavar="[A]N"),
    listed("--skips", help="Let n-grams skip up to N features.", metavar="[A]N"),
    listed("--feature_limit", help="Keep N features of namespace A or of each.", metavar="[A]N"),
    text("--affix", help="Add prefixes (+) and suffixes (-) of length N of names, like +2a,-3b.", metavar="SPEC"),
    listed("--spelling", help="Add the spelling classes of names; _ is the anonymous namespace.", metavar="A"),
    flag("--noconstant", help="No constant feature."),
)
OF_CLASSES = {  # losses of --multiclass: the one that stands for it elsewhere
    "multinomial": "logistic",
    "crammer_singer": "hinge",
}
ABOUT = {
    **{loss.name: loss.about for loss in LOSSES.values()},
    "multinomial": "softmax of --multiclass",
    "crammer_singer": "hinge of --multiclass",
}
loss_options = family(
    "Loss",
    click.option(
        "--loss_function",
        type=click.Choice([*LOSSES, *OF_CLASSES]),
        help="; ".join(f"{name}: {about}" for name, about in ABOUT.items()) + ". [default: squared]",
    ),
    number("--quantile_tau", help="The quantile of the quantile loss. [default: 0.5]"),
    number("--expectile_q", help="The expectile loss's q, in (0, 0.5]."),
    number("--logistic_min", help="Label that means 'never'. Typed, it allows labels between the two. [default: -1]"),
    number("--logistic_max", help="Label that means 'always', likewise. [default: 1]"),
    number("--loss_scale", help="Residuals beyond are outliers to bounded losses. [default: 1]"),
    number("--lp_power", help="The power of the lp loss, above 1. [default: 1.5]"),
    click.option("--link", type=click.Choice(list(LINKS)), help="Scale of predictions."),
)
update_options = family(
    "Update",
    number("-l", "--learning_rate", help="Learning rate. [default: 0.5]"),
    number("--power_t", help="Power of the rates' decay. [default: 0.5]"),
    number("--initial_t", help="Start value of t and of the adaptive sums. [default: 0; 1 with plain --sgd]"),
    number("--decay_learning_rate", help="Multiply the rate by this after every pass. [default: 1]"),
    flag("--sgd", help="Plain stochastic gradient descent."),
    flag("--adaptive", help="Per-feature rates (AdaGrad)."),
    flag("--normalized", help="Rates that do not depend on the features' scale."),
    flag("--invariant", help="Importance-aware updates. [default: all three]"),
    number("--l1", help="L1 regularisation (truncated gradient, as vw's; 'vwlite l1' has another). [default: 0]"),
    number("--l2", help="L2 regularisation. [default: 0]"),
    number("--sparse_l2", help="L2 regularisation of the example's features only. [default: 0]"),
    number("--initial_weight", help="Start value of every weight. [default: 0]"),
    number("-C", "--constant", help="Start value of the constant's weight. [default: 0]"),
    flag("--ftrl", help="FTRL-proximal updates instead, with --l1 and --l2 as it has them."),
    number("--ftrl_alpha", help="Its learning rate. [default: 0.5; --coin 4, --pistol 1]"),
    number("--ftrl_beta", help="Added to the root of the squared gradients' sum. [default: 1; --pistol 0.5]"),
    flag("--coin", help="Coin betting, which needs no learning rate."),
    flag("--pistol", help="PiSTOL, which needs none either."),
    number("--min_prediction", help="Smallest prediction."),
    number("--max_prediction", help="Largest prediction."),
)
batch_options = family(
    "Batch optimisation",
    flag("--bfgs", help="L-BFGS over whole passes instead of one example after the other; needs --passes."),
    flag("--conjugate_gradient", help="The same with conjugate gradients."),
    flag("--hessian_on", help="Take a pass for the curvature before every step, not only the first."),
    count("--mem", help="Steps L-BFGS remembers. [default: 15]"),
    number("--termination", help="Stop when the loss falls by a smaller share than this. [default: 0.001]"),
)
class_options = family(
    "Classes",
    click.option("--classweight", type=ClassWeights(), metavar="L:W,...", help="Label L weighs W times as much."),
    flag("--binary", help="Predict -1 or 1; the loss is the share of errors."),
    count("--oaa", help="N classes, one against all; labels are 1..N, 0..N-1 or names.", default=0),
    count("--multiclass", help="N classes, all at once: softmax, or by --loss_function.", default=0),
    count("--csoaa", help="N classes with costs; labels are words class:cost.", default=0),
    count("--multilabel_oaa", help="Sets of N labels, from 0; labels are like 0,3.", default=0),
    count("--log_multi", help="N classes in a tree that grows with the examples, about log N steps deep.", default=0),
    count("--swap_resistance", help="How much fuller than the emptiest a leaf is that takes its place. [default: 4]"),
    count("--ect", help="N classes by error-correcting tournaments.", default=0),
    count("--error", help="Contests the right class may lose. [default: 0]"),
    count("--filter_tree", help="N classes by a tournament of learners of two classes, of any kind.", default=0),
    flag("--costs", help="Labels of --filter_tree are words class:cost."),
    click.option("--named_labels", type=Names(), metavar="NAME,...", help="Names of the classes, in order."),
    count("--indexing", help="Number of the first class, 0 or 1. [default: as the data tell]"),
    flag("--probabilities", help="Predict the probability of every class (with --loss_function logistic)."),
    flag("--scores", help="Predict the score of every class."),
    count("--oaa_subsample", help="Teach the label's class and N others each time, not all.", default=0),
    flag("--sequential", help="Of --multilabel_oaa: learn a label only while all before it were right."),
    flag("--cs_absolute_loss", help="Loss of --csoaa: the answer's cost, not what it costs more than the best."),
)
active_options = family(
    "Active learning",
    flag("--active", help="Beside predictions without a label (-p), the importance to ask for it with, if at all."),
    flag("--simulation", help="Of --active: ask for labels of the data, and learn no others."),
    number("--mellowness", help="Of --active: the larger, the more labels are asked for. [default: 8]"),
    flag("--confidence", help="Beside predictions (-p), the importance that would flip their sign."),
    flag("--confidence_after_training", help="The same once the example has been learned."),
)
LDF = click.Choice(["m", "mc", "multiline", "multiline-classifier"])
line_options = family(
    "Groups of lines",
    click.option(
        "--csoaa_ldf", type=LDF,
        help="Lines 'class:cost | features', a blank line after each group of them: learn what each costs (m) or "
        "which one costs least (mc). A group's first line 'shared | features' adds to all of them.",
    ),
    click.option("--wap_ldf", type=LDF, help="The same from differences of two lines."),
    click.option("--ldf_override", type=LDF, help="In place of what these two say."),
    flag("--csoaa_rank", help="Predict all classes of a group, the cheapest first, with their scores."),
)
L1_MODELS = click.Choice(["binary", "multinomial", "crf"])
label_options = family(
    "Labels",
    count("--oaa", help="N classes; labels are 1..N, 0..N-1 or names.", default=0),
    count("--csoaa", help="N classes with costs; labels are words class:cost.", default=0),
    count("--multilabel_oaa", help="Sets of N labels, from 0; labels are like 0,3.", default=0),
    click.option("--named_labels", type=Names(), metavar="NAME,...", help="Names of these classes."),
    click.option("--csoaa_ldf", type=LDF, help="Lines 'class:cost | features', a blank line after each group."),
    click.option(
        "--l1", type=L1_MODELS,
        help="As 'vwlite l1 --model': -1/1 or 0/1; names; names along a sequence (an empty line ends one).",
    ),
    learns=False,
)
low_rank_options = family(
    "Low-rank quadratic interactions",
    listed("--lrq", help="Cross namespaces A and B by factors of rank N, learned in turns.", metavar="ABN"),
    flag("--lrqdropout", help="Leave half of the factors out of each step, by chance."),
)
dyadic_options = family(
    "Dot products of latent vectors",
    listed("--dotproduct", help="Add the dot product of two namespaces' latent vectors.", metavar="AB|A,B"),
    count("--rank", help="Length of the latent vectors; 0 pairs features by position. [default: 10]"),
    number("--dot-l2", help="L2 decay of the latent vectors. [default: 0.035 or 0.12, by loss]"),
    number("--dot-init", help="Scale of their start values. [default: 0.1]"),
    click.option("--dot-init-kind", type=click.Choice(["uniform", "normal"]), help="Their distribution."),
    number("--dot-offset", help="Add this to every element of both vectors."),
    flag("--no-dot-linear", help="No linear weights for these namespaces."),
    count(
        *("--random_seed", "--seed", "random_seed"),
        help="Seed of start values, of --shuffle, --shuffle-first, --oaa_subsample and --active.",
        default=0,
    ),
)
pass_options = family(
    "Passes",
    count("--passes", help="Passes over the data.", default=1, show_default=True),
    flag("--holdout_off", help="Learn from every example, also with several passes."),
    count("--holdout_period", help="Hold out every Nth line.", default=10, show_default=True),
    count("--holdout_after", help="Hold out all lines after the Nth.", default=0),
    click.option(
        "--shuffle/--no-shuffle", default=None, help="Shuffle later passes. [default: with --dotproduct, not with -p]"
    ),
    flag("--shuffle-first", help="Read all first, then learn it in random order, as sorted data need."),
    count("--early_terminate", help="Stop after N passes without gain.", default=3, show_default=True),
)
curriculum_options = family(
    "Curriculum",
    click.option(
        "--curriculum", "curriculum_order", type=click.Choice(["easy", "anti", "random"]),
        help="Begin with the easiest examples, the hardest or any; every pass admits more, in the end all.",
    ),
    file(
        *(Difficulty(), "--curriculum-by"),
        help="What makes them hard: length, rarest, margin:MODEL, value:NAMESPACE. [default: length]",
    ),
    number("--curriculum-start", help="Share of the first pass. [default: 0.25]"),
    count("--curriculum-passes", help="Pass from which on all take part. [default: half of --passes]"),
)
lock_option = number(
    "--lock-wait", help="Seconds to wait while another process trains the same model. [default: 0]", default=0.0
)
progress_options = family(
    "Progress",
    text("-P", "--progress", help="Print a row every N examples or X.Y-fold. [default: 2.0]", metavar="N|X.Y"),
    flag("--quiet", help="Print nothing but errors."),
)
bar_options = family(
    "Progress",
    click.option("--bar/--no-bar", default=None, help="A bar on a terminal. [default: when the input's size is known]"),
)
