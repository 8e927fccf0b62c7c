"""Options of vw that vwlite does not have, each with what to use instead; docs/coming-from-vw.md shows the same."""

from fnmatch import fnmatchcase
from typing import NamedTuple


class Absent(NamedTuple):
    """``options`` may end in ``*``; ``instead`` has commands and options between backticks."""

    what: str
    options: tuple[str, ...]
    instead: str


ABSENT = (
    Absent(
        "other bandits",
        (
            "cb_force_legacy", "cb_sample", "cb_dro", "cbzo", "ccb_*", "cats*",
            "slates", "warm_cb*", "multiworld_test", "large_action_space",
            "epsilon_decay*", "rnd*", "synthcover*",
        ),
        "`--cb K` for decisions that were logged, or `--cb_adf` for actions with features, and `--cb_explore K` or "
        "`--cb_explore_adf` for the probabilities of actions",
    ),
    Absent("learning to search", ("search*",), "`vwlite l1 --model crf` for label sequences"),
    Absent("topics", ("lda*",), "`vwlite aso learn` for structure in text without labels"),
    Absent(
        "neural networks",
        ("multitask", "meanfield"),
        "`vwlite train --nn`, with `--multiclass` for classes, or with `--inpass` and `--dropout`",
    ),
    Absent("kernel machines learned in parallel", ("para_active",), "`--ksvm` by itself"),
    Absent("boosting", ("boosting", "alg"), "one model with crossed features (`-q`, `--interactions`)"),
    Absent(
        "bootstrap",
        ("bootstrap", "bs_type"),
        "several models, each of lines drawn anew; `--confidence` tells how firm a prediction's sign is",
    ),
    Absent(
        "polynomials by stages",
        ("stage_poly", "autolink", "interact"),
        "the crossings by name: `-q`, `--cubic`, `--interactions`",
    ),
    Absent("other factorisations", ("new_mf", "lrqfa"), "`--dotproduct ui --rank 10`, or `--lrq ui10`"),
    Absent(
        "marginals and baselines",
        ("marginal", "baseline*"),
        "a mean calculated beforehand, as a feature or as the base (the third number of a line)",
    ),
    Absent(
        "other trees of classes",
        ("recall_tree", "memory_tree", "emt*", "plt", "ot"),
        "`--log_multi`, `--ect` or `--filter_tree`; `--multilabel_oaa` for sets of labels",
    ),
    Absent("other active learning", ("active_cover", "cs_active", "direct"), "`--active`, or `--active --simulation`"),
    Absent("the best K", ("top", "topk"), "`--csoaa_ldf m --csoaa_rank`, which gives all in order"),
    Absent(
        "other formats of data",
        ("chain_hash", "flatbuffer", "csv*"),
        "text, one example a line, LIBSVM's format with `--format svmlight`, or tables and objects with "
        "`--format csv`, `--format jsonl` and `--columns`",
    ),
    Absent(
        "sending examples to a daemon",
        ("sendto",),
        "lines of text sent to its port, as by `nc localhost 26542`",
    ),
    Absent(
        "several machines",
        ("span_server*", "unique_id", "total", "node"),
        "one machine, all of whose cores take part (`--threads`)",
    ),
    Absent("dictionaries", ("dictionary*",), "the features of the dictionary in the lines themselves"),
    Absent(
        "other update rules",
        ("freegrad", "OjaNewton", "svrg", "adax"),
        "`--coin`, `--pistol`, `--ftrl` or `--bfgs`",
    ),
    Absent("search for options while learning", ("automl*",), "`vwlite tune`"),
    Absent("experience replay", ("replay_*",), "several passes: `--passes 3 -c`"),
    Absent(
        "models as JSON, regularisers as files",
        ("dump_json_weights*", "input_feature_regularizer", "output_feature_regularizer_binary"),
        "`--readable_model`, `--invert_hash` or `vwlite inspect --json`",
    ),
    Absent("figures of a run as JSON", ("extra_metrics",), "`vwlite train --json`"),
    Absent("runs that learn nothing", ("noop", "print"), "`vwlite check`"),
)
FORMATS = ("flatbuffer",)  # options of vw that are formats
CONVERTED = {  # formats of other tools, by their names, and what 'vwlite convert' calls them
    **dict.fromkeys(("fasttext", "fast_text"), "fasttext"),
    **dict.fromkeys(("libffm", "ffm", "xlearn"), "libffm"),
    **dict.fromkeys(("crfsuite", "python_crfsuite"), "crfsuite"),
    **dict.fromkeys(("conll", "conll2000", "conll2003", "crfpp", "crf++", "wapiti"), "conll"),
}
SAME = {"libsvm": "svmlight", "svm": "svmlight", "svm_light": "svmlight", "ndjson": "jsonl", "json_lines": "jsonl"}
SAME |= {"feather": "arrow", "ipc": "arrow", "text": "vw", "txt": "vw", "vowpal_wabbit": "vw", "libfm": "svmlight"}


def format_instead(name: str) -> str:
    """What to use in place of a format of vw's or another tool's, as ``what_instead``."""
    plain = name.lower().replace("-", "_")
    if plain in CONVERTED:
        return f" ('vwlite convert {CONVERTED[plain]} FILE > data.vw' turns it into text)"
    if plain in SAME:
        return f" (it is called {SAME[plain]} here)"
    return what_instead(name) if name in FORMATS else ""


def what_instead(option: str) -> str:
    """What to use in place of an option of vw, to stand behind its name; empty if it is none of those above."""
    name = option.lstrip("-").replace("-", "_")
    found = next((one for one in ABSENT if any(fnmatchcase(name, pattern) for pattern in one.options)), None)
    return f" (not in vwlite: {found.what}; use {found.instead.replace('`', chr(39))})" if found else ""
