"""``vwlite predict``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads
from vwlite.cli.parser import Choice, Command
from vwlite.cli.root import SETTINGS
from vwlite.learners.configs.base import ANSWERS
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.gd import GdConfig


@click.command("predict", cls=Command, context_settings=SETTINGS, short_help="Predict with a model.")
@options.data_files
@options.file(Reads("model"), "-i", "--initial_regressor", "initial", required=True, help="The model.")
@options.output("predictions", predictions={"help": "Where predictions go.", "default": "-"})
@click.option(
    "--each",
    metavar="PATTERN",
    help="Each input has predictions of its own: '{}.pred' writes them beside it, 'out/{/}.pred' into the folder out; "
    "{} is the input's path, {/} its name without the folder.",
)
@click.option("--raw", is_flag=True, help="Sums of weights times values without the link (one number: clipped).")
@options.output("raw_predictions", raw_predictions={"help": "Also write the sums, neither clipped nor linked."})
@click.option(
    "--confidence",
    "--active",
    "confidence",
    is_flag=True,
    help="Beside each prediction, the importance that would flip its sign, or let the second best label overtake: "
    "labels of the least are worth asking for.",
)
@options.number(
    "--importance-to",
    "importance_to",
    help="Beside each prediction, the least importance with which the example's label would carry it to this one; "
    "without a label the class, or the least or greatest label of training, on its side.",
)
@click.option("--probabilities", is_flag=True, help="Probabilities of all classes; of labels by name beside the label.")
@click.option("--scores", is_flag=True, help="The scores of all classes; of a group of lines the cheapest first.")
@options.count("--top", "most", help="Of scores or probabilities of classes: the N best, the best first.")
@options.count(
    "--nbest",
    help="Of label sequences: the N best, each behind a line '# RANK PROBABILITY', as CRF++ and Wapiti write.",
)
@click.option(
    "--with-labels", is_flag=True, help="The example's label behind each prediction; nan or unknown without one."
)
@click.option(
    "--sample",
    type=int,
    metavar="SEED",
    help="Of policies that explore: an action drawn for each event, by this seed, with its probability.",
)
@click.option(
    "--predict",
    "answer",
    type=Choice(ANSWERS),
    help="Of labels with latent vectors: the likeliest (the default), or as numbers the median or the mean.",
)
@click.option(
    "--jsonl", is_flag=True, help="Predictions as JSON, an object a line: prediction and, if there is one, tag."
)
@options.output(
    "audit",
    audit={"spelled": ("--audit",), "help": "Instead of predictions, on stdout: what they are made of, by name."},
)
@click.option("-t", "--testonly", is_flag=True, hidden=True, help="What this command does anyway.")
@options.options_in(GdConfig, only=["levels"])
@options.data_options
@options.options_in(DyadicConfig, "Dot products of latent vectors", only=("dot_unseen", "min_updates"))
@options.options_in(DyadicConfig, only=("confidence_rate",))
@options.memory_option
@options.bad_line_options
@options.quiet()
def command(**arguments: Any) -> int:
    """Predict with a model: one line per example, the prediction and the example's tag.

    \b
    vwlite predict -i model test.vw > predictions
    head -1000 more.vw | vwlite predict -i model -
    vwlite predict -i model odd.vw --audit
    vwlite predict -i model test.vw --jsonl --probabilities
    vwlite predict -i model test.vw --with-labels
    vwlite predict -i model 'days/*.vw' --each {}.pred

    Predictions of a logistic model are probabilities, those of a poisson model expected counts; --raw gives margins.
    --probabilities, --scores, --raw and --audit are there for every model that has them, whatever was typed when it was
    trained. An audit shows the sum before the link and, below, the terms it is made of: name:slot:value:weight, those
    that move it most first; the names are those of the line, and need not be in the model.

    A malformed line is reported, and its prediction is 'nan', so that predictions stay beside their lines; however many
    there are, all others have their answers, in pipes and in files, and the exit status reports it at the end: 65
    beyond
    --max-bad-ratio (70 where features were so large that a prediction is not a finite number). Empty lines have none.
    Labels do not matter to predictions. A model of labels by name predicts these: for sequences the most likely one
    (Viterbi), whose empty lines are kept; --probabilities adds 'label:probability' of all labels (marginals, in
    sequences), --nbest N the N most likely sequences; of aso train also --scores and --confidence, how far the best is
    above the second best.
    """
    from vwlite.cli.runs.predict import run

    return run(arguments)
