"""``vwlite samples``."""

import click

from vwlite.cli.root import SETTINGS


@click.command("samples", context_settings=SETTINGS, short_help="Write the data files of the manual's pages.")
@click.argument("folder", default=".", type=click.Path(file_okay=False))
def command(folder: str) -> None:
    """Write the small data files that the manual's pages use into a folder, the current one if none is named.

    \b
    vwlite samples
    vwlite samples try

    They are made up: clicks, prices of houses, ratings, queries, texts with and without labels, sentences. The lines
    are the same every time. A file that has one of their names, but holds something else, is never overwritten.
    """
    from vwlite.cli.runs.samples import write

    write(folder)
    click.echo(f"vwlite: the data files of the pages are in {folder}", err=True)
