"""What fuzzing begins with: good text, good files, and whatever once went wrong (``regressions/TARGET-NAME``)."""

import tempfile
from functools import cache
from pathlib import Path

from battery.case import whole
from battery.estimators import ESTIMATORS, KINDS
from in_process import call

from fuzz import named, solvers
from fuzz.sealing import unsealed_model

HERE = Path(__file__).resolve().parent
VW = (
    b"1 |a b c\n",
    b"-1 2.5 0.25 'tag|user:2 ann age:3.5 |item tea:-1e-3 |  7 8:2 x:nan\n",
    b"|a\n\n1\n'just_a_tag| x y\n1 1 1 1 1 1 |six words\n",
    b"\xef\xbb\xbf0.5 |\xc3\xa4 \xe6\x97\xa5:.5\r\n 2  |a  b\t c \n3 |:2 x\nnan |a\nh:nan |a b:inf\n",
    b"1 |a x:1e38 y:1e39 |b 12345678901234567890 -7:1 |user s |item t\n" * 4,
    b"1 |a one two three four |b Big5 sma11 |c d |d c\n-1 |d x y\n",
    b"0x1.8p-3 0x1p1 -0x.8P+2 't|a:0x1p-149 x:0x1.fffffep127 y:-0X1.8p0 z:0x10 w:0x1p |b x:0x1p128 y:0x1p3\n",
)
GROUPS = (
    b"shared 'g |s a b\n1:0 'x |a c:2 |s d\n2:0.5 |a d\n\n\n2 |a c\n17 |\n"
    b"1:1 |a d\nfoo:2 |b x\n3:1e3 |a b\n\nshared |s\n"
)
SVMLIGHT = (
    b"1 1:0.5 7:2 # note\n-1 3:1\n",
    b"3 qid:12 1:1 2:0 4294967295:1e-3 #docid = G1\n2 qid:12 1:.25\n",
    b"0x1p0 1:0x1.99999ap-4 2:-0x1p-149 3:0x1p\n",
    b"x1 1:2\n1 2\n1 a:b\n1 3:nan\n1 18446744073709551616:1\n\n# only a note\n",
)
CSV = (
    b'y,w,a,b,t\n1,2,0.5,red,r1\n-1,,1e-3,"a ""b"", c",\n\n,1,nan,,r2\n',
    b'\xef\xbb\xbfy,a,c,o\r\n1,hello big world,12,0.25\r\n0,"quoted words",true,-1e400\r\n',
    b'y,a\n1,2,3\nx,"open\n1,"shut"x\n1,1234567890.12345678901234567890e-5\n',
)
JSONL = (
    b'{"y": 1, "w": 2, "a": "b c", "t": "r1", "n": -1.5e3}\n{"y": -1, "a": null, "b": {"x": 1, "l": ["u", "v"]}}\n',
    b'{"y": "1", "a": ["\\u00e9", "\\ud83d\\ude00\\n"], "c": true}\n\n{"y": NaN, "a": {"b": {"c": 1}}}\n[1]\n',
    b'{"y": 1, "o": 0.25, "b": {}, "c": [], "": "\\"", "long": "0123456789abcdef0123456789abcdef"}\n{"y": 1,}\n',
)


@cache
def make_seeds() -> dict[str, list[bytes]]:
    """Models of every kind, those of ``golden`` and a Theta, and a cache, as bytes."""
    models = [one.golden.read_bytes() for one in KINDS.values() if one.golden]
    models += [ESTIMATORS[name].golden.read_bytes() for name in ("random-features", "landmarks", "theta", "oaa")]
    models.append(whole(ESTIMATORS["aso-learn"])["model"])
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "data.vw").write_bytes(VW[0] + VW[5] * 3)
        call(folder, "train", "data.vw", "--cache_file", "cache", "--block-size", "100", "--quiet")
        caches = [Path(folder, "cache").read_bytes()]
    return {
        "vw": [
            *(bytes([choice]) + text for choice, text in enumerate(VW * 5)),
            b"\x20" + named.LINES, b"\x40" + GROUPS, b"\x41" + GROUPS, b"\x58" + GROUPS,
        ],
        "groups": [bytes([choice]) + GROUPS for choice in range(0, 32, 5)],
        "sequences": [
            *(bytes([choice]) + named.LINES for choice in range(6)),
            *(bytes([choice]) + named.TREES for choice, one in enumerate(named.CONFIGS) if one.model == "tree"),
            b"\x851 |a b\n-1 |w x\n",
        ],
        "svmlight": [bytes([choice]) + text for choice, text in enumerate(SVMLIGHT * 4)],
        "csv": [bytes([choice]) + text for choice, text in enumerate(CSV * 20)],
        "jsonl": [bytes([choice]) + text for choice, text in enumerate(JSONL * 20)],
        "model": models,
        "cache": caches,
        "columns": [named.COLUMNS],
        "graph": [solvers.GRAPH, solvers.GRAPH * 2],
        "plain": [b"the cat sat. the cat ran\n3,5 a|b \xc3\xa9 \xff the cat\n"],
        "landmarks": [bytes([choice]) + solvers.LANDMARKS for choice in range(0, 32, 3)],
        "sealed_model": [unsealed_model(model) for model in models],
        "sealed_cache": caches,
    }


def regressions(target: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((HERE / "regressions").glob(f"{target}-*"))]


def seeds(target: str) -> list[bytes]:
    return [*make_seeds()[target], *regressions(target)]
