"""``vwlite recommend``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import People, Reads
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS
from vwlite.evaluation.config import RecommendConfig


@click.command(
    "recommend", cls=Command, context_settings=SETTINGS, short_help="List the items that a person would rate highest."
)
@options.data_files
@options.file(Reads("model"), "-i", "--initial_regressor", "initial", required=True, help="The model.")
@options.options_in(RecommendConfig, only=("of", "items"))
@options.file(
    People(), "--for", "people", multiple=True,
    help="For the lines of this file, the same as a bare FILE, or for one line of such features. Repeatable.",
)
@options.file(
    Reads("input"), "--for-file", "for_file",
    help="For one line of such features for each line of this file, NS=NAME with blanks between; - is standard input.",
)
@options.options_in(RecommendConfig, only=("near", "top", "exclude", "test", "relevant"))
@options.json_option("Write the same as JSON; - is standard output, without text.")
@options.data_options
@options.memory_option
@options.bad_line_options
@options.quiet("Print nothing but errors and recommendations.")
def command(**arguments: Any) -> int:
    """List the features of a namespace, items, that examples score highest with: recommendations by a dyadic model.

    \b
    vwlite train ratings.vw -f model --dotproduct user,item --names
    vwlite recommend -i model --of item --for users.vw --exclude ratings.vw
    vwlite recommend -i model --of item --for user=u17 --top 3
    vwlite recommend -i model --of item --for-file ids
    vwlite recommend -i model --of item,genre --items catalogue.vw users.vw
    vwlite recommend -i model --near item=i42
    vwlite recommend -i model --of item --test held-out.vw --exclude ratings.vw --relevant 4

    Items are those features of the namespace that training has met with the other namespaces of its dot products. With
    --items they are those of its lines, a catalogue or the training data, each with all its features: the first feature
    of --of is the id; namespaces behind it, and those that dot products pair with the same ones, belong to it. Names
    are known when the model was trained with --names, otherwise slots of the table stand for them. A line of output is
    the example's tag (without one its place in the data), the score and the item's name, with tabs between. The score
    is the raw prediction, neither clipped nor linked, for the example with this item in place of those it has; equal
    scores are sorted by name. With a model of a table, --for COLUMN=VALUE names a cell, and columns that do not tell
    persons apart may be missing.

    A person is the first feature without a number in the namespace that is paired with items: an id stands first, and
    other features of the same person, such as the age, may change. Of several such namespaces it is the one with the
    most features. --exclude leaves out all items that stand beside the same person in its lines. --test takes labelled
    lines of persons and items, lists items for every person, and prints precision, recall, NDCG and the share of
    persons with a hit among the first --top: means over those who have a relevant item.

    --near lists the features of the same namespace whose latent vectors have the largest cosine with those of one.
    """
    from vwlite.cli.runs.recommend import run

    return run(arguments)
