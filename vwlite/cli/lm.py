"""``vwlite lm``: train, rank, vectors, features."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS, Group
from vwlite.solvers.lm.config import FeaturesConfig, LmConfig, RankConfig

MODEL = options.file(Reads("model"), "-i", "--initial_regressor", "initial", required=True, help="A model of lm train.")


@click.group("lm", cls=Group, context_settings=SETTINGS, short_help="Learn vectors of words from plain text.")
def command() -> None:
    """Learn vectors of words from plain text: a language model that ranks what may be the last word of a window.

    \b
    vwlite lm train text.txt.gz --passes 4 -f model
    vwlite lm rank -i model test.txt
    vwlite lm features -i model tagged.vw --namespace w | vwlite train -f classifier

    Collobert and Weston, ICML 2008.
    """


@command.command("train", cls=Command, context_settings=SETTINGS, short_help="Learn from plain text.")
@options.data_files
@options.solver_output(required=True)
@options.options_in(LmConfig)
@options.usual_memory_option
@options.restart_options
@options.json_option("Write counts and losses of the training as JSON; - is stdout.")
@options.quiet()
def train(**arguments: Any) -> int:
    """Learn from plain text, a sentence or a document a line, which word may end a window of words.

    \b
    vwlite lm train text.txt.gz -f model
    vwlite lm train text.txt.gz --vocabulary 20000 --curriculum 5000 --passes 4 -f model
    vwlite lm train text.txt.gz -i model -f model

    The score of a window, f(s) = u tanh(A [vectors of its words] + b), is to be larger by 1 than that of the window
    with a random word in place of its last one. Each step draws a window and such a word, with --draws N up to N until
    one misses the margin. Windows do not go over the ends of lines. With --curriculum N the first pass takes windows of
    the N most frequent words alone and draws from these, the second those of 2N, and so on; all passes take as many
    steps. -i goes on: after a pass with -i the model is the one that two passes at once give.
    """
    from vwlite.cli.runs.solve import solve
    from vwlite.solvers.lm.solver import Lm

    return solve(arguments, Lm)


@command.command("rank", cls=Command, context_settings=SETTINGS, short_help="Rank the last words of windows.")
@options.data_files
@MODEL
@options.options_in(RankConfig)
@options.output("predictions", predictions={"help": "Write the rank of each window, a line each."})
@options.json_option("Write the same as JSON; - is stdout, without text.")
@options.quiet()
def rank(**arguments: Any) -> int:
    """Measure a model on other text: the mean logarithm of the rank that the right last word has among all words.

    \b
    vwlite lm rank -i model test.txt

    Windows with a word that the model does not know are counted and not ranked.
    """
    from vwlite.cli.runs.lm import run_rank

    return run_rank(arguments)


@command.command("vectors", cls=Command, context_settings=SETTINGS, short_help="Write words and their vectors.")
@MODEL
@options.count("-n", "--top", help="Write the N most frequent words. [default: all]")
@options.output("predictions", predictions={"help": "Where the lines go.", "default": "-"})
def vectors(**arguments: Any) -> int:
    """Write words and their vectors in word2vec's text format, the most frequent word first.

    \b
    vwlite lm vectors -i model > words.vec
    """
    from vwlite.cli.runs.lm import run_vectors

    return run_vectors(arguments)


@command.command("features", cls=Command, context_settings=SETTINGS, short_help="Add words' vectors to examples.")
@options.data_files
@MODEL
@options.options_in(FeaturesConfig)
@options.output("predictions", predictions={"help": "Where the text goes.", "default": "-"})
@options.bad_line_options
@options.quiet()
def features(**arguments: Any) -> int:
    """Add the vectors of words to the lines of examples, as features of any learner.

    \b
    vwlite lm features -i model tagged.vw --namespace w > with-vectors.vw
    vwlite lm features -i model tagged.vw --namespace w --namespace before | vwlite l1 --model crf -f tagger

    A line with the word Paris in the namespace w gets ' |e 0:0.31 1:-0.2 ...'. Of several words in the namespace it is
    the mean of their vectors, weighted by the values of the features; words that the model does not know count for
    nothing. With several --namespace each has its own, e_w and e_before. Labels, tags, empty and malformed lines are
    as they came.
    """
    from vwlite.cli.runs.lm import run_features

    return run_features(arguments)
