"""Dyadic models of ratings with and without what is known of people and items; side_information.sh says how to run it.

A tenth of the people and a tenth of the items are held out whole, by a hash of their ids: "new people" and "new items"
are their ratings, but for those that are both. Of all other ratings a tenth is held out ("known"). Ids are in the
namespaces u and i, what is known of them in a and g. Printed is the mean absolute error; predictions are kept within
the range of the ratings.
"""

import argparse
import json
import sys
import tempfile
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from movielens import find_vwlite, run
from movielens_to_vw import Malformed, is_test, item_features, ratings, side_information, user_features

MODELS = {  # name: options
    "linear, ids": "",
    "linear, ids and what is known": "-q ag",
    "ids": "--dotproduct u,i",
    "ids, and what is known in linear terms": "--dotproduct u,i -q ag",
    "the same, ids masked": "--dotproduct u,i -q ag --mask-ids i=0.1 --mask-ids u=0.1",
    "the same, with vectors": "--dotproduct u,i --dotproduct u,g --dotproduct a,i -q ag "
    "--mask-ids i=0.1 --mask-ids u=0.1",
}
TESTS = ("known", "new_people", "new_items")
LINE = "{:42}" + "{:>12}" * len(TESTS)


def is_held_out(kind, name):
    """Whether a tenth of all ids has this one; people and items are drawn apart."""
    return zlib.crc32(f"{kind} {name}".encode()) % 10 == 0


def part_of(number, user, item):
    """The file that a rating goes to; None: its person and its item are both new."""
    new_user, new_item = is_held_out("u", user), is_held_out("i", item)
    if new_user and new_item:
        return None
    if new_user or new_item:
        return "new_people" if new_user else "new_items"
    return "known" if is_test(number, 10) else "train"


def split(options, folder):
    """Write the files of all parts; the smallest and the largest rating."""
    users = side_information(options.users, user_features)
    items = side_information(options.items, item_features)
    files = {name: open(f"{folder}/{name}.vw", "w") for name in ("train", *TESTS)}  # noqa: SIM115
    labels = []
    for number, (user, item, rating) in enumerate(ratings(options.ratings, None, (1, 2, 3)), 1):
        labels.append(float(rating))
        if part := part_of(number, user, item):
            known = f" |a{users.get(user, '')} |g{items.get(item, '')}"
            files[part].write(f"{rating} |u {user} |i {item}{known}\n")
    for file in files.values():
        file.close()
    return min(labels), max(labels)


def errors_of(vwlite, options, folder, model, bounds):
    learn = ["--loss_function", options.loss, "--passes", options.passes, "--holdout_off", "--shuffle", "--quiet"]
    if "--dotproduct" in model:
        learn += ["--rank", options.rank]
    low, high = bounds
    limits = ["--min_prediction", low, "--max_prediction", high]
    learn += ["--shuffle-first", *limits, *model.split()]
    run(vwlite, "train", f"{folder}/train.vw", *learn, "-f", f"{folder}/model")
    test = ["evaluate", "-i", f"{folder}/model", "--metric", "mae", "--json", "-", "--quiet"]
    return {name: json.loads(run(vwlite, *test, f"{folder}/{name}.vw"))["mae"] for name in TESTS}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("ratings", "users", "items"):
        parser.add_argument(name, metavar=name.upper())
    parser.add_argument("--rank", type=int, default=10)
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--loss", default="quantile", choices=("quantile", "squared"))
    parser.add_argument("--json", metavar="OUT", help="write all figures there")
    options = parser.parse_args()
    vwlite, rows = find_vwlite(), []
    print(LINE.format("mean absolute error", *(name.replace("_", " ") for name in TESTS)), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        bounds = split(options, folder)
        for name, model in MODELS.items():
            errors = errors_of(vwlite, options, folder, model, bounds)
            rows.append({"model": name, "options": model, **errors})
            print(LINE.format(name, *(f"{errors[test]:.4f}" for test in TESTS)), flush=True)
    if options.json:
        settings = {"rank": options.rank, "passes": options.passes, "loss": options.loss}
        Path(options.json).write_text(json.dumps({**settings, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except (OSError, Malformed) as error:
        sys.exit(f"side_information.sh: {error}")
