"""What opens models: commands and calls, by the kind of the model, with the text that they get."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from battery.estimators import texts

from fuzz import forks

TEXT = b"1 |a b c:2 |b x |s d |user u\n-1 't |a x |b y z\n"
CLASSES = TEXT.replace(b"-1", b"3")
TARGETS = b"1,-2 |a b |c x:2\n,3.5 2 |a c:2 |b d\n"
GROUPS = b"1:0 |a c |s d\n2:0.5 |a d\n\n"
DECISIONS = b"1:0:0.5 |a b c:2 |b x |s d\n2:1:0.5 3 't |a x |b y z\n"
NAMED = b"B-NP 'x |a b c:2 |w x\nI-NP 'y^x |a b |w y\n\n"  # a tree as well
PREDICTING = (
    "predict -i model text --quiet",
    "predict -i model text --raw --quiet",
    "predict -i model text --probabilities --quiet",
    "predict -i model text --confidence --quiet",
    "predict -i model text --importance-to 0.4 --quiet",
    "predict -i model text --jsonl --quiet",
    "evaluate -i model text --json - --quiet",
    "evaluate -i good text --against model --qid none",
    "report run.json -i model --test text -o page",
    "explain -i model text",
    "explain -i model text --json -",
    "recommend -i model text --of b",
    "recommend -i model --of b --near b=x",
    "served text",
    "served rows",
    "loaded",
)
SHOWING = (
    "inspect model --top 5",
    "inspect model --json - --readable_model out.txt",
    "inspect model --factors a",
    "inspect model --factors b --out out.txt",
)
LEARNING = (
    "train text -i model -f out --quiet",
    "train text -i model -f out --names --passes 2 --quiet",
    "train text -i model -f out --shard 1/1 --quiet",
    "train text -f out --passes 2 --curriculum easy --curriculum-by loss:model --quiet",
    "tune text --test text --passes 2 --jobs 1 --with --curriculum~easy --vary curriculum-by~margin:model|length",
    "crr text -i model -f out --qid none --steps 5 --quiet",
    "l1 text -i model -f out --quiet",
    "merge model good -f out",
    "merge good model good -f out",
    "merge good --base model -f out",
    "merge model --base good -f out",
    "learned",
    "learned in shards",
    "merged",
)
OF_VW = (
    "vw -d text -i model -f out",
    "vw -d text -i model -f out -q ab --save_resume --preserve_performance_counters",
    "vw -d text -i model -t -p out.txt",
    "vw -d text -i model -t --invert_hash out.txt --quiet",
    "vw -d text --feature_mask model -f out",
)
COMMANDS = (*PREDICTING, *SHOWING, *LEARNING, *OF_VW)
OF_THETA = (
    "aso inspect model",
    "aso train text --theta model -f out --quiet",
    "aso cotrain text --unlabeled text --theta model -f out --views a,w --quiet",
    "aso apply text --theta model",
    "aso learn text -i model -f out --keep-weights --quiet",
    "train long.vw --theta model -f out --quiet",
    "l1 text --theta model -f out --model multinomial --quiet",
    "inspect model",
)
OF_TARGETS = ("aso train text -i model -f out --quiet", "aso train text -i model -f out --new-classes --quiet")
OF_NAMED = (*PREDICTING[:6], *SHOWING[:2], *OF_TARGETS[:1], LEARNING[0], LEARNING[7], OF_VW[2])
OF_COMPONENTS = (
    "project -i model text --quiet",
    "project -i model text --scale left --quiet",
    "pca text -i model -f out --quiet",
)
OF_CLUSTERS = ("cluster text -i model -f out --quiet",)
OF_WORDS = (
    "lm rank -i model text --quiet",
    "lm vectors -i model",
    "lm features -i model text --namespace a --quiet",
    "lm train text -i model -f out --quiet",
)
OF_DELTAS = (
    "merge model other.delta --base base -f out",
    "merge other.delta model --base base -f out",
    "merge model other.delta -f out",
    "merge model model --base base -f out",
    "merged deltas",
)
STOPPED = "train long.vw -f base -p base.p -q ab --passes 3 --names --quiet --block-size 100"
RESUMED = f"{STOPPED} --resume"  # the model is base.ckpt
BY_KIND = {
    "aso-theta": OF_THETA,
    "aso": (*OF_NAMED, *OF_TARGETS),
    "aso-tasks": OF_NAMED,
    "l1": OF_NAMED,
    "pca": (*OF_COMPONENTS, *PREDICTING[:1], *SHOWING, PREDICTING[5], LEARNING[0]),
    "cluster": (*PREDICTING[:6], *SHOWING, LEARNING[0], *OF_CLUSTERS),
    "lm": (*OF_WORDS, *PREDICTING[:1], *SHOWING, PREDICTING[5], LEARNING[0]),
    "delta": OF_DELTAS,
    "checkpoint": (RESUMED, *COMMANDS),
}
EVERY = tuple(dict.fromkeys((*COMMANDS, *(command for some in BY_KIND.values() for command in some))))


def text_for(learner: str) -> bytes:
    named = dict.fromkeys(("l1", "aso", "aso-theta"), NAMED)
    of_classes = (
        "many", "multiclass", "lfl", "filter_tree", "scoring_tree", "log_multi", "ect", "nn_classes",
        "bfgs_multiclass", "factored_classes",
    )
    of_outputs = dict.fromkeys(("outputs", "bfgs_outputs", "factored"), TARGETS)
    groups = b"0:0:0.5 |a c |s d\n|a d\n\n"
    logged = {**dict.fromkeys(("cb", "cb+coin", "cb_explore"), DECISIONS), "cb_adf": groups, "cb_explore_adf": groups}
    words = dict.fromkeys(("lm", "cluster"), texts()["numbers"].encode())  # which their models know
    result = {"ldf": GROUPS, **logged, **words, **of_outputs, **named, **dict.fromkeys(of_classes, CLASSES)}
    return result.get(learner, TEXT)


def commands_for(learner: str) -> tuple[str, ...]:
    return BY_KIND.get(learner, COMMANDS)


def serve(kind: str) -> None:
    from vwlite.serving.model_source import Served

    served = Served("model")
    told = served.text(Path("text").read_bytes()) if kind == "text" else served.json([{"a": {"b": 1}, "b": "x"}])
    print(told.content)


def load() -> None:
    import vwlite

    model = vwlite.Model.loads(Path("model").read_bytes())
    print(repr(model), model.predict(Path("text")), model.evaluate(Path("text")))
    model.save("out")


def learn() -> None:
    import vwlite

    model = vwlite.load("model")
    model.learn(Path("text"))
    model.save("out")


def learn_shards() -> None:
    import vwlite

    print(vwlite.train("text", shards=2, rounds=1, initial_regressor="model", final_regressor="out"))


def merge(*names: str, base: str | None = None) -> None:
    import vwlite

    print(vwlite.merge(names, base).predict(Path("text")))


CALLS: dict[str, Callable[[], None]] = {
    "served text": partial(serve, "text"),
    "served rows": partial(serve, "rows"),
    "loaded": load,
    "learned": learn,
    "learned in shards": learn_shards,
    "merged": partial(merge, "model", "good"),
    "merged deltas": partial(merge, "model", "other.delta", base="base"),
}


def called(name: str) -> None:
    """As the command line does: an error of vwlite is a sentence."""
    from vwlite.errors import VwliteError

    try:
        CALLS[name]()
    except (VwliteError, MemoryError) as error:
        print(error or "no memory")
        raise SystemExit(getattr(error, "exit_code", 71)) from None


def run(command: str, memory: int = forks.MEMORY) -> forks.Done:
    """What came of ``vwlite COMMAND``, or of the call of this name."""
    if command in CALLS:
        return forks.call(partial(called, command), memory)
    return forks.command([word.replace("~", " ") for word in command.split()], memory=memory)
