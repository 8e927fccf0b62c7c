"""Single commands that should not have been typed, or data that should not have come."""

import gzip
import io
import random
import zipfile

from forged import forged
from tool import TEXT

HOSTILE = "open('ran', 'w').close()\n"
HALF_GZ = gzip.compress(TEXT.encode(), mtime=0)[:-500]
NOISE = random.Random(1).randbytes(100_000)


def zip_of_notes() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("notes.txt", "not a model")
    return data.getvalue()


def data(text: str | bytes, options: str = "", name: str = "odd.vw") -> dict:
    """Train on this text."""
    return {"files": {name: text}, "run": f"{{train}} -d {name} -f out {options}"}


def noisy(seed: int) -> str:
    """Labels that one feature tells of; with every pass more of eight others is learned by heart."""
    words = [" ".join(f"x{(n * n * k + seed * n) % 61}" for k in range(1, 9)) for n in range(80)]
    return "".join(f"{(n * 37 + seed) % 11 - 5 + 4 * (n % 2)} |a s{n % 2} {words[n]}\n" for n in range(80))


def typed(command: str, **files: str | bytes) -> dict:
    return {"run": command, "files": files}


def over(command: str, name: str, setup: str = "true") -> dict:
    """A command that must not write over ``name``, which holds data."""
    kept = f"cmp -s good.vw {name} || echo error: the data are gone"
    return typed(f"{setup}; {command}; s=$?; {kept}; exit $s", **{name: TEXT})


JSON = '{"_label": 1, "user": {"u1": 1}}\n' * 3
NO_ZSTD = (
    "mkdir -p none/backports && echo 'raise ImportError' > none/backports/zstd.py; "
    ": > none/backports/__init__.py; zstd -q good.vw; "
)
CASES = {
    "label `x1`": data("x1 |a b\n" + TEXT),
    "every label `x1`": data("x1 |a b\n" * 1000),
    "label of six tokens": data("1 1 1 1 1 1 |a b\n1 |a\n"),
    "`h:nan`": data("1 |a h:nan\n1 |a\n"),
    "`h:1e39`": data("1 |a h:1e39\n1 |a\n"),
    "a line without a bar": data("1 a b c\n1 |a\n"),
    "negative importance": data("1 -2 |a b\n1 |a\n"),
    "5% of lines are malformed": data(TEXT + "x |a\n" * 50),
    "5% of lines are malformed, predicted in a pipe": typed(
        "cat bad.vw | {predict} -d /dev/stdin > answers; s=$?; "
        "[ $(grep -c . answers) = 1050 ] || echo error: answers are missing; exit $s",
        **{"bad.vw": TEXT + "x |a\n" * 50},
    ),
    "an empty file": data(""),
    "only empty lines": data("\n\n\n"),
    "no line has a label": data("|a b\n|a c\n"),
    "labels {0,2,5} with logistic": data("0 |a\n2 |a b\n5 |a c\n", "--loss_function logistic"),
    "the AUC of labels that are all 1": typed(
        "{tool} evaluate -i model ones.vw --metric auc | sed -n 's/^auc */vwlite: auc /p'",
        **{"ones.vw": "1 |a b\n1 |a c\n"},
    ),
    "`check` of class names and a cost": typed(
        "{tool} check odd.vw > counts", **{"odd.vw": "cat |a b\ndog |a c\ncat 1:0 |a b\n"}
    ),
    "`check --oaa 3` of class 4": typed(
        "{tool} check odd.vw --oaa 3 > counts", **{"odd.vw": "1 |a b\n3 |a c\n4 |a d\n"}
    ),
    "labels 0/1 and -1/1 mixed": data("0 |a\n1 |a b\n-1 |a c\n", "--loss_function logistic"),
    "lines sorted by label": typed("sort good.vw > sorted.vw; {tool} check sorted.vw > checked"),
    "binary noise as data": data(NOISE),
    "a byte order mark, CRLF, no last newline": data("\ufeff1 |a b\r\n-1 |a c\r\n1 |a b"),
    "`cat f | tool`": typed("cat good.vw | {train} -d /dev/stdin -f out"),
    "900 words with `--cubic aaa`": data(f"1 |a {' '.join(map(str, range(900)))}\n", "--cubic aaa"),
    "`--interactions` of 12 wildcards, 12 namespaces": data(
        f"1 {' '.join(f'|{letter} x' for letter in 'abcdefghijkl')}\n", "--interactions ::::::::::::"
    ),
    "one line of a million namespaces": data("1" + "".join(f" |n{n} x" for n in range(1_000_000)) + "\n"),
    "a model as data": typed("{train} -d model -f out"),
    "a model of other features": typed("{predict} -d odd.vw > answers", **{"odd.vw": TEXT.replace("|", "|new_")}),
    "data as a model": typed("{train} -d good.vw -i good.vw -f out"),
    "an empty file as a model": typed("{train} -d good.vw -i none -f out", none=""),
    "some other zip as a model": typed("{train} -d good.vw -i zip -f out", zip=zip_of_notes()),
    "a forged model with 16 million classes": typed(
        "ulimit -v 2000000; {predict} -d good.vw", model=forged(lambda header: header["config"].update(oaa=2**24 - 1))
    ),
    "a forged model whose counters are a list": typed(
        "{train} -d good.vw -i model -f out", model=forged(lambda header: header.update(counters=[]))
    ),
    "a file's name that terminals obey": typed("{train} -d \"$(printf 'x\\033[31mx')\" -f out"),
    "half a `.gz`": data(HALF_GZ, name="half.vw.gz"),
    "half a `.gz` on a pipe": typed("cat half.gz | {train} -d /dev/stdin -f out", **{"half.gz": HALF_GZ}),
    "half a `.zst`": typed("zstd -q good.vw && head -c 2000 good.vw.zst > half.vw.zst; {train} -d half.vw.zst -f out"),
    "a `.zst` without the extra": typed(f"{NO_ZSTD} PYTHONPATH=none:$PYTHONPATH {{train}} -d good.vw.zst -f out"),
    "labels changed after the cache was made": typed(
        "{train} -d good.vw -c --quiet; sed -i 's/^-1/0/; s/^1/-1/; s/^0/1/' good.vw; "
        "{train} -d good.vw -c -f out --quiet; {train} -d good.vw -f same --quiet; "
        "cmp -s out same && echo vwlite: the same as without a cache || echo error: the old labels are learned"
    ),
    "half a cache": typed(
        "{train} -d good.vw -c --quiet; head -c $(($(wc -c < good.vw.cache) / 2)) good.vw.cache > half; "
        "cat half > good.vw.cache; "
        "{train} -d good.vw -c -f out"
    ),
    "`-b` other than the model's": typed("{train} -d good.vw -i model -b 20 -f out"),
    "`-q` other than the model's": typed("{train} -d good.vw -i model -q ui -f out"),
    "loss other than the model's": typed("{train} -d good.vw -i model --loss_function logistic -f out"),
    "probabilities of a tree of classes": typed(
        "{train} -d classes.vw --ect 3 -f model --quiet; {predict} -d classes.vw --probabilities",
        **{"classes.vw": "1 |a x\n2 |a y\n3 |a z\n" * 9},
    ),
    "`-q` that matches nothing": typed("{train} -d good.vw -q zw -f out"),
    "`--min_prediction` alone, then predictions": typed(
        "{train} -d good.vw --min_prediction 0 -f model --quiet && {predict} -d good.vw > /dev/null"
    ),
    "`--bfgs` of a loss without curvature": typed(
        "{train} -d good.vw -c -k --passes 30 --holdout_off --bfgs --loss_function hinge --l2 1 -f out"
    ),
    "`--bfgs --sgd`": typed("{train} -d good.vw -c -k --passes 9 --bfgs --sgd -f out"),
    "`--bfgs` with a learning rate": typed("{train} -d good.vw -c -k --passes 9 --bfgs -l 0.1 -f out"),
    "an unknown option": typed("{train} -d good.vw --pases 3 -f out"),
    "`-l nan`": typed("{train} -d good.vw -l nan -f out"),
    "weights overflow": data("1e38 |a b:1e30\n-1e38 |a b:1e30 c:1e38\n" * 50, "--sgd -l 1e9"),
    "input that is not there": typed("{train} -d nosuch.vw -f out"),
    "a folder as input": typed("{train} -d . -f out"),
    "the input as `-f`": typed(
        "{train} -d out -f out; s=$?; cmp -s good.vw out || echo error: the data are gone; exit $s", out=TEXT
    ),
    "the input as `-p`": over("{train} -d data -p data", "data"),
    "the input as `-p`, by another folder": over("{train} -d data -p d/../data", "data", "mkdir d"),
    "the input as `-p`, by a symbolic link": over("{train} -d data -p link", "data", "ln -s data link"),
    "the input as `--readable_model`, by a hard link": over(
        "{train} -d data -f out --readable_model link", "data", "ln data link"
    ),
    "the input as `--cache_file`": over("{train} -d data --cache_file data -k -f out", "data"),
    "the model of `-i` as `-p`": typed("{train} -d good.vw -i model -p model"),
    "the model of `-i` as `--readable_model`": typed("{train} -d good.vw -i model --readable_model model"),
    "`-f` and `-p` of one name": typed("{train} -d good.vw -f out -p out"),
    "the input has the name of the model's lock": over("{train} -d out.lock -f out", "out.lock"),
    "a link to the data has the name of the model's lock": over(
        "{train} -d good.vw -f out", "data", "ln -s data out.lock"
    ),
    "`--json data.json`, which says to vw that the input is JSON": typed(
        "{train} --json data.json -f out; s=$?; grep -q _label data.json || echo error: the data are gone; exit $s",
        **{"data.json": JSON},
    ),
    "`-f \"$MODEL\"`, which is not set": typed('{train} -d good.vw -f "$MODEL"'),
    "`-f` into a missing folder": typed("{train} -d good.vw -f no/such/out"),
    "`-f` is a folder": typed("mkdir d; {train} -d good.vw -f d"),
    "`-f` on a read-only file system": {
        **typed("mkdir d; mount -t tmpfs -o ro none d && {train} -d good.vw -f d/out"),
        "afterwards": "umount d",
    },
    "`-f` on a full disk (64 KB), over a model": {
        **typed(
            "mkdir d; mount -t tmpfs -o size=64k none d && cp model d/ && "
            "{train} -d good.vw -b 20 --initial_weight 0.1 -f d/model; s=$?; "
            "cmp -s model d/model || echo error: the old model is gone; exit $s"
        ),
        "afterwards": "umount d",
    },
    "predictions to a full disk": typed("{predict} -d good.vw > /dev/full"),
    "`head -1` closes the pipe": typed(
        "for n in 0 1 2 3 4 5 6 7 8 9; do cat good.vw good.vw good.vw; done > long.vw; "
        "({predict} -d long.vw; echo error: status $? >&2) | head -1"
    ),
    "standard output closed": typed("{predict} -d good.vw >&-"),
    "two trainings of one model at once": typed(
        "mkfifo p; {train} -d p -f out > /dev/null 2>&1 & exec 3>p; echo '1 |a b' >&3; sleep 0.5; "
        "{train} -d good.vw -f out; s=$?; exec 3>&-; wait; exit $s"
    ),
    "the same file learned again": typed(
        "{train} -d good.vw -f out --quiet; {train} -d good.vw -i out -f out"
    ),
    "the same command every night: `-i m -f m --skip-seen`": typed(
        "for night in 1 2 3; do {train} -d good.vw -i out -f out --skip-seen || exit $?; done"
    ),
    "`--skip-seen` and one digit in 2 MB changed": typed(
        "{train} -d big.vw -f out --quiet; sed -i '31234s/x[0-9]:/x9:/' big.vw; "
        "{train} -d big.vw -i out -f out --skip-seen",
        **{"big.vw": TEXT * 60},
    ),
    "`--skip-seen` and a file that grew": typed(
        "{train} -d good.vw -f out --quiet; echo '1 |user new' >> good.vw; {train} -d good.vw -i out -f out --skip-seen"
    ),
    "`--skip-seen`, another model under the name": typed(
        "{train} -d good.vw -l 0.1 -f out --quiet; cp model out; {train} -d good.vw -i out -f out --skip-seen"
    ),
    "weights overflow in a later pass, over a model": typed(
        "{train} -d good.vw -c -k --passes 4 --decay_learning_rate 1e20 -f model"
    ),
    "code beside the data, named like a library": typed(
        "{tool} tune good.vw --test good.vw --vary '-l 0.1|1' --trials 1 --passes 1; s=$?; "
        "[ ! -e ran ] || echo error: the code has run; exit $s",
        **{f"{name}.py": HOSTILE for name in ("click", "json", "numpy")},
    ),
    "`tune` where more passes overfit": typed(
        "{tool} tune odd.vw --test held.vw --metric mse --vary '-l 1..4' --trials 3 --passes 3 -f out | "
        "sed 's/^/vwlite: /'",
        **{"odd.vw": noisy(1), "held.vw": noisy(7)},
    ),
    "`-l 1_000`": typed("{train} -d good.vw -f out -l 1_000"),
    "a cost of `1:1_0`": data("1:1_0 2:0 |a b\n1:0 2:1 |a c\n", "--csoaa 2"),
    "`-b 10 -b 12`": typed("{train} -d good.vw -f out -b 10 -b 12"),
    "`--curriculum` in a single pass": typed("{train} -d good.vw -f out --curriculum easy"),
    "`--curriculum-by` a namespace that is not there": typed(
        "{train} -d good.vw -f out --passes 3 -k -c --curriculum easy --curriculum-by value:use"
    ),
}
