"""Options that several learners have."""

from __future__ import annotations

from typing import Any

from vwlite.options import option


def random_seed() -> Any:
    return option(
        0,
        "Seed of start values, of --shuffle, --shuffle-first, --dual, --ksvm, --oaa_subsample and --active.",
        section="Passes",
        spelled=("--random_seed", "--seed"),
        settled=True,
    )
