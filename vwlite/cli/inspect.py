"""``vwlite inspect``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads, Writes
from vwlite.cli.parser import Command
from vwlite.cli.root import SETTINGS


@click.command("inspect", cls=Command, context_settings=SETTINGS, short_help="Show what is in a model.")
@click.argument("model", type=Reads("model"))
@options.count("-n", "--top", help="Show the N strongest weights (of each named label).", default=20, show_default=True)
@click.option("--by-class", is_flag=True, help="Show the N strongest weights of each class.")
@options.json_option("Write the same as JSON; - is standard output, without text.")
@options.output(
    "readable_model", "invert_hash",
    readable_model={"help": "Write all weights as text, as vw does."},
    invert_hash={"help": "Write them with the features' names."},
)
@click.option("--factors", metavar="NS", help="Write only the latent vectors of this namespace, tab-separated.")
@options.file(Writes("vectors"), "--out", help="Write them there; as NumPy arrays when the name ends in .npz.")
def command(**arguments: Any) -> int:
    """Show what is in a model: where it comes from and its strongest weights.

    \b
    vwlite train train.vw -f model --names
    vwlite inspect model --top 50

    \b
    vwlite train train.vw -f model --oaa 3 --named_labels cat,dog,bird --names
    vwlite inspect model --by-class --top 5

    \b
    vwlite inspect ratings.model --factors user --out user.npz

    Names are known when the model was trained with --names; otherwise slots of the table stand for them.
    """
    from vwlite.cli.runs.inspect import run

    return run(arguments)
