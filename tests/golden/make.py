"""Writes the golden models of this version: make.py, from a source tree that is built; see tests/test_golden.py.

Only those that are not there: later code must load what stands, and predict the same bytes. One whose line has changed
is written anew once it is deleted, which a model of a released version never is.
"""

import subprocess
import sys
from pathlib import Path

from vwlite.version import __version__

HERE = Path(__file__).resolve().parent
BITS = ("-b", "8")
THETA = ("--theta", "theta", "--theta-scale", "2")  # which ``write`` learns
ASKING = ("--active", "--simulation", "--mellowness", "1e-4")
AGGRESSIVE = ("--passive_aggressive", "pa-i", "--aggressiveness", "0.5")
QUANTILES = ("--loss_function", "quantile", "--quantile_tau", "0.1,0.5,0.9")
LEARNERS = {  # name: the text it learns, and the command
    "gd": ("numbers", "train", *BITS, "-q", "ui", "--names"),
    "logistic": ("signs", "train", *BITS, "--loss_function", "logistic", "--passes", "2", "-q", "ui"),
    "sgd": ("numbers", "train", *BITS, "--sgd", "-l", "0.1", "--l1", "1e-4", "--l2", "1e-4"),
    "average": ("signs", "train", *BITS, "--average", "--loss_function", "logistic"),
    "poisson": ("counts", "train", *BITS, "--loss_function", "poisson"),
    "quantile": ("numbers", "train", *BITS, "--loss_function", "quantile", "--quantile_tau", "0.8", "--ngram", "2"),
    "ftrl": ("signs", "train", *BITS, "--ftrl", "--loss_function", "logistic"),
    "coin": ("numbers", "train", *BITS, "--coin"),
    "passive-aggressive": ("signs", "train", *BITS, *AGGRESSIVE, "--loss_function", "hinge"),
    "pistol": ("numbers", "train", *BITS, "--pistol"),
    "bfgs": ("signs", "train", *BITS, "--bfgs", "--loss_function", "logistic", "--passes", "4", "--l2", "1"),
    "bfgs-outputs": ("targets", "train", *BITS, "--bfgs", "--outputs", "3", "--passes", "4", "--l2", "1"),
    "bfgs-multiclass": ("classes", "train", *BITS, "--bfgs", "--multiclass", "3", "--passes", "4", "--l2", "1"),
    "dual": ("signs", "train", *BITS, "--dual", "--l2", "1"),
    "ksvm": ("signs", "train", *BITS, "--ksvm", "--kernel", "poly", "--l2", "2"),
    "active": ("signs", "train", *BITS, "--active", "--simulation", "--loss_function", "logistic"),
    "lrq": ("numbers", "train", *BITS, "--lrq", "ui2", "--random_seed", "3"),
    "dotproduct": ("numbers", "train", *BITS, "--dotproduct", "ui", "--rank", "2", "--random_seed", "3"),
    "negatives": ("numbers", "train", *BITS, "--dotproduct", "ui", "--rank", "2", "--negatives", "2"),
    "als": ("counts", "train", *BITS, "--dotproduct", "ui", "--rank", "2", "--als"),
    "active-dyadic": ("signs", "train", *BITS, *ASKING, "--loss_function", "logistic", "--dotproduct", "ui"),
    "oaa": ("classes", "train", *BITS, "--oaa", "3", "--loss_function", "logistic", "--probabilities"),
    "oaa-lrq": ("classes", "train", *BITS, "--oaa", "3", "--lrq", "ui2"),
    "oaa-coin": ("classes", "train", *BITS, "--oaa", "3", "--coin"),
    "oaa-names": ("names", "train", *BITS, "--oaa", "3", "--named_labels", "a,b,c"),
    "csoaa": ("costs", "train", *BITS, "--csoaa", "3"),
    "multilabel": ("lists", "train", *BITS, "--multilabel_oaa", "3"),
    "multilabel-f1": (
        "lists",
        "train",
        *BITS,
        "--multilabel_oaa",
        "3",
        "--set-loss",
        "f1",
        "--label-order",
        "rare",
        "--passes",
        "2",
    ),
    "multiclass": ("classes", "train", *BITS, "--multiclass", "3"),
    "multiclass-rows": ("classes", "train", *BITS, "--multiclass", "3", "--group_l1", "0.02", "--passes", "2"),
    "multiclass-shares": ("costs", "train", *BITS, "--multiclass", "3", "--label_shares"),
    "lfl": ("classes", "train", *BITS, "--multiclass", "3", "--dotproduct", "ui", "--rank", "2", "--random_seed", "3"),
    "nn": ("numbers", "train", *BITS, "--nn", "4,3", "--inpass", "--random_seed", "3"),
    "nn-classes": ("classes", "train", *BITS, "--multiclass", "3", "--nn", "4", "--random_seed", "3"),
    "outputs": ("targets", "train", *BITS, "--outputs", "3", "--passes", "2"),
    "factored": ("targets", "train", *BITS, "--outputs", "3", "--trace", "0.01", "--rank", "2", "--passes", "2"),
    "factored-classes": ("classes", "train", *BITS, "--multiclass", "3", "--trace", "0.01", "--rank", "2"),
    "outputs-apart": ("targets", "train", *BITS, "--outputs", "3", "--no-shared_rates", "--l1", "1e-4", "--l2", "1e-4"),
    "outputs-quantiles": ("targets", "train", *BITS, "--outputs", "3", *QUANTILES, "--monotone"),
    "log-multi": ("classes", "train", *BITS, "--log_multi", "3"),
    "ect": ("classes", "train", *BITS, "--ect", "3"),
    "filter-tree": ("classes", "train", *BITS, "--filter_tree", "3"),
    "scoring-tree": ("classes", "train", *BITS, "--filter_tree", "3", "--scoring", "--dotproduct", "ui", "--rank", "2"),
    "csoaa-ldf": ("groups", "train", *BITS, "--csoaa_ldf", "mc"),
    "wap-ldf": ("groups", "train", *BITS, "--wap_ldf", "m"),
    "cb": ("decisions", "train", *BITS, "--cb", "3", "--cost_offset", "max"),
    "cb-coin": ("decisions", "train", *BITS, "--cb", "3", "--coin"),
    "cb-adf": ("decision-groups", "train", *BITS, "--cb_adf", "--cb_type", "dr"),
    "cb-explore": ("decisions", "train", *BITS, "--cb_explore", "3", "--bag", "2", "--random_seed", "3"),
    "cb-explore-adf": ("decision-groups", "train", *BITS, "--cb_explore_adf", "--cover", "3"),
    "cbify": ("classes", "train", *BITS, "--cbify", "3", "--squarecb"),
    "cbify-ldf": ("groups", "train", *BITS, "--cbify_ldf", "--first", "9"),
    "vw": ("numbers", "vw", *BITS, "-q", "ui", "--save_resume"),
    "vw-rank": ("numbers", "vw", *BITS, "-q", "ui", "--rank", "2", "-l", "0.05"),
    "vw-nn": ("numbers", "vw", *BITS, "--nn", "3"),
    "crr": ("signs", "crr", *BITS, "--qid", "none", "--steps", "500"),
    "crr-queries": ("counts", "crr", *BITS, "--qid", "u", "--pairs", "lambda-ndcg", "--calibrate"),
    "l1-binary": ("signs", "l1", *BITS, "--passes", "3"),
    "l1-multinomial": ("names", "l1", "--model", "multinomial", "--passes", "3"),
    "l1-crf": ("sequences", "l1", "--model", "crf", "--passes", "3"),
    "l1-order-2": ("sequences", "l1", "--model", "crf", "--order", "2", "--passes", "3"),
    "l1-tree": ("trees", "l1", "--model", "tree", "--passes", "3"),
    "l1-tree-mira": ("trees", "l1", "--model", "tree", "--loss", "mira", "--passes", "3"),
    "l1-perceptron": ("sequences", "l1", "--model", "crf", "--loss", "perceptron", "--passes", "3"),
    "l1-margin": ("sequences", "l1", "--model", "crf", "--loss", "margin", "--l2", "0.5", "--passes", "3"),
    "l1-mira": ("sequences", "l1", "--model", "crf", "--loss", "mira", "--passes", "3"),
    "aso": ("names", "aso train"),
    "aso-sequences": ("sequences", "aso train", "--sequences", "--decode", "viterbi", "--label-features", "y1,y2,y1*u"),
    "aso-tasks": ("numbers", "aso tasks", "--task", "u"),
    "clusters": ("names", "cluster", *BITS, "-k", "3", "--spherical", "--weight", "idf", "--min_df", "1", "--names"),
    "clusters-cut": ("names", "cluster", *BITS, "-k", "3", "--cut", "--weight", "idf", "--min_df", "1", "--unit"),
    "random-features": ("signs", "train", *BITS, "--random_features", "poly2:64", "--fold", "64", "--unit"),
    "landmarks": ("signs", "train", *BITS, "--landmarks", "rbf:signs.vw", "--gamma", "0.5", "--nearest", "3"),
    "theta": ("names", "train", *BITS, "--oaa", "3", "--named_labels", "a,b,c", *THETA),
    "centred": ("numbers", "train", *BITS, "--centred", "i", "-q", "ui"),
    "degree": ("signs", "train", *BITS, "--weight", "degree", "--value", "log"),
    "pca": ("names", "pca", *BITS, "--dim", "3", "--center", "--names"),
    "lm": ("names", "lm train", "--tokens", "blanks", "--vocabulary", "20", "--dim", "3", "--hidden", "4"),
}
APPLIED = {  # the command that uses the models of another, where that is not predict
    "pca": "project",
    "lm train": "lm features --namespace u",
}


def texts():
    """By name, sixty lines each, from whole numbers alone."""
    rows = [(row, row * 7 % 5, row * 11 % 7, row * 13 % 3) for row in range(60)]
    words = [f"|u u{u} |i i{i}:{1 + c / 2} w{c}" for _, u, i, c in rows]
    labels = {
        "numbers": [f"{u / 2 + c - 1}" for _, u, _, c in rows],
        "signs": ["1" if (u + c) % 3 else "-1" for _, u, _, c in rows],
        "counts": [str(u + c) for _, u, _, c in rows],
        "classes": [str(c + 1) for _, _, _, c in rows],
        "names": ["abc"[c] for _, _, _, c in rows],
        "costs": [f"1:{c} 2:{(c + 1) % 3} 3:{u}" for _, u, _, c in rows],
        "targets": [f"{u / 2 + c - 1},{'' if c else u},{c - u}" for _, u, _, c in rows],
        "lists": [("0", "1,2", "0,2")[c] for _, _, _, c in rows],
    }
    result = {
        name: [f"{label} 'r{row} {word}" for row, (label, word) in enumerate(zip(of, words, strict=True))]
        for name, of in labels.items()
    }
    result["sequences"] = [line + "\n" * (row % 5 == 4) for row, line in enumerate(result["names"])]
    result["trees"] = [
        line.replace(f"'r{row}", f"'{row}^{row - row % 5 + (row % 5 - 1) // 2}" if row % 5 else f"'{row}")
        for row, line in enumerate(result["sequences"])
    ]
    result["groups"] = [
        f"{1 + row % 3}:{c} {word}" + "\n" * (row % 3 == 2) for (row, _, _, c), word in zip(rows, words, strict=True)
    ]
    result["decisions"] = [
        f"{1 + c}:{u / 4}:{(1 + i % 2) / 2} 'r{row} {word}" for (row, u, i, c), word in zip(rows, words, strict=True)
    ]
    result["decision-groups"] = [
        f"{f'{c}:{u / 4}:0.5 ' if row % 9 in (0, 4, 8) else ''}{word}" + "\n" * (row % 3 == 2)
        for (row, u, _, c), word in zip(rows, words, strict=True)
    ]
    return {name: "\n".join(lines) + "\n" for name, lines in result.items()}


def vwlite(folder, *words):
    subprocess.run([sys.executable, "-m", "vwlite", *words], cwd=folder, check=True)


def write(folder):
    folder.mkdir(exist_ok=True)
    for name, text in texts().items():
        (folder / f"{name}.vw").write_text(text)
    vwlite(folder, "aso", "learn", "names.vw", "--aux", "mask:u", "--dim", "2", "--quiet", "-f", "theta")
    for path in (*folder.glob("*.model"), *folder.glob("*.predictions")):
        if path.stem not in LEARNERS:
            path.unlink()
    for name, (text, command, *options) in LEARNERS.items():
        if (folder / f"{name}.model").exists():
            continue
        vwlite(folder, *command.split(), f"{text}.vw", *options, "--quiet", "-f", f"{name}.model")
        apply = APPLIED.get(command, "predict")
        vwlite(folder, *apply.split(), f"{text}.vw", "-i", f"{name}.model", "-p", f"{name}.predictions", "--quiet")
    for beside in (folder / "theta", *folder.glob("*.ledger"), *folder.glob("*.lock")):
        beside.unlink()
    rows = [(name, f"{text}.vw", APPLIED.get(command, "predict")) for name, (text, command, *_) in LEARNERS.items()]
    (folder / "models.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))


if __name__ == "__main__":
    write(HERE / __version__)
