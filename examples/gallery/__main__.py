"""Runs the examples of the gallery and writes commands and figures as JSON; --page writes docs/gallery.md from it."""

import argparse
import json
import shlex
import sys
import tempfile
import time
from pathlib import Path

import choices
import page
import tables
import texts
from work import Missing, Work

EXAMPLES = {
    "prices": tables.prices,
    "clicks": tables.clicks,
    "churn": tables.churn,
    "queues": texts.queues,
    "search": choices.search,
    "films": choices.films,
    "names": texts.names,
    "few-labels": texts.few_labels,
    "topics": texts.topics,
    "nights": tables.nights,
    "bandits": choices.bandits,
    "machines": tables.machines,
}


def options_of(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("gallery.sh", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(EXAMPLES)}; all by default")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of data sets")
    parser.add_argument("--out", type=Path, default=Path("gallery.json"), help="results, into which new ones are put")
    parser.add_argument("--rows", type=int, metavar="N", help="a small version, with N rows of each data set")
    parser.add_argument("--vw", default="", metavar="COMMAND", help="vw, such as 'python3 -m vowpalwabbit'")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the page from the results, and run nothing")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> None:
    options = options_of(arguments)
    results = json.loads(options.out.read_text()) if options.out.exists() else {}
    if options.page:
        options.page.write_text(page.text(results), encoding="utf-8")
        return
    for name in options.names or EXAMPLES:
        with tempfile.TemporaryDirectory(prefix="gallery-") as folder:
            work = Work(Path(folder), options.data.resolve(), options.rows, shlex.split(options.vw))
            started = time.monotonic()
            try:
                result = EXAMPLES[name](work)
            except Missing as error:
                print(f"{name}: left out, there is no {error}")
                continue
        result.update(commands=work.commands, seconds=round(work.seconds, 2))
        results[name] = rounded(result)
        print(f"{name}: {time.monotonic() - started:.1f} s")
        for row in results[name]["rows"]:
            print("   ", *row)
        ordered = {example: results[example] for example in EXAMPLES if example in results}
        options.out.write_text(json.dumps(ordered, indent=1) + "\n")


def rounded(value: object) -> object:
    """The value with all numbers rounded to five digits."""
    if isinstance(value, dict):
        return {name: rounded(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(entry) for entry in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


if __name__ == "__main__":
    main(sys.argv[1:])
