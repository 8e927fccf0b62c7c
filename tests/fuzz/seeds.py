"""What fuzzing begins with: good text, good files, and whatever once went wrong (``regressions/TARGET-NAME``)."""

import tempfile
from functools import cache
from pathlib import Path

from fuzz import named, solvers
from fuzz.sealing import unsealed_model
from vwlite.data.config import InputConfig
from vwlite.features.config import FeatureConfig
from vwlite.learners.configs.active import ActiveConfig
from vwlite.learners.configs.active_dyadic import ActiveDyadicConfig
from vwlite.learners.configs.average import AverageConfig
from vwlite.learners.configs.bfgs import BfgsConfig
from vwlite.learners.configs.bfgs_multiclass import BfgsMulticlassConfig
from vwlite.learners.configs.bfgs_outputs import BfgsOutputsConfig
from vwlite.learners.configs.coin import CoinConfig
from vwlite.learners.configs.dual import DualConfig
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.ect import EctConfig
from vwlite.learners.configs.factored import FactoredConfig
from vwlite.learners.configs.filter_tree import FilterTreeConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.ksvm import KsvmConfig
from vwlite.learners.configs.lfl import LflConfig
from vwlite.learners.configs.log_multi import LogMultiConfig
from vwlite.learners.configs.lrq import LrqConfig
from vwlite.learners.configs.multiline import MultilineConfig
from vwlite.learners.configs.nn import NnConfig
from vwlite.learners.configs.nn_classes import NnClassesConfig
from vwlite.learners.configs.outputs import OutputsConfig
from vwlite.learners.configs.per_class import PerClassConfig
from vwlite.learners.configs.scoring_tree import ScoringTreeConfig
from vwlite.learners.configs.softmax import MulticlassConfig
from vwlite.learners.configs.vw_nn import VwNnConfig
from vwlite.learners.losses import LossConfig
from vwlite.training.config import RunConfig
from vwlite.training.output_config import OutputConfig
from vwlite.training.train import train

QUANTILE = LossConfig("quantile")
HINGE, SCORING = LossConfig("hinge"), {"filter_tree": 3, "scoring": True, "indexing": 1}
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
    b"y,w,a,b,t\n1,2,0.5,red,r1\n-1,,1e-3,\"a \"\"b\"\", c\",\n\n,1,nan,,r2\n",
    b"\xef\xbb\xbfy,a,c,o\r\n1,hello big world,12,0.25\r\n0,\"quoted words\",true,-1e400\r\n",
    b"y,a\n1,2,3\nx,\"open\n1,\"shut\"x\n1,1234567890.12345678901234567890e-5\n",
)
JSONL = (
    b'{"y": 1, "w": 2, "a": "b c", "t": "r1", "n": -1.5e3}\n{"y": -1, "a": null, "b": {"x": 1, "l": ["u", "v"]}}\n',
    b'{"y": "1", "a": ["\\u00e9", "\\ud83d\\ude00\\n"], "c": true}\n\n{"y": NaN, "a": {"b": {"c": 1}}}\n[1]\n',
    b'{"y": 1, "o": 0.25, "b": {}, "c": [], "": "\\"", "long": "0123456789abcdef0123456789abcdef"}\n{"y": 1,}\n',
)


@cache
def made() -> dict[str, list[bytes]]:
    """Models and caches of the learners, as bytes."""
    models, caches = [], []
    with tempfile.TemporaryDirectory() as folder:
        data, model, cache_file = (f"{folder}/{name}" for name in ("data.vw", "model", "cache"))
        text = VW[0] + VW[5]
        targets = b"1,-2 |a b\n,3.5 2 |a c:2 |b d\n"
        classes, theta = text.replace(b"-1", b"3"), named.theta_in(folder)
        for features, learner, lines in (
            (FeatureConfig(bits=6), GdConfig(), text),
            (FeatureConfig(bits=4, quadratic=("::",)), GdConfig(sgd=True), text),
            (FeatureConfig(bits=3, dotproduct=("ab",)), DyadicConfig(rank=2), text),
            (FeatureConfig(bits=3, dotproduct=("ab",)), DyadicConfig(rank=2, negatives=2, negative_label=-9), text),
            (FeatureConfig(bits=7, random_features="rbf:64", fold=64), GdConfig(), text),
            (FeatureConfig(bits=7, theta=theta), GdConfig(), text),
            (FeatureConfig(bits=6), PerClassConfig(oaa=3, indexing=1), classes),
            (FeatureConfig(bits=6), MulticlassConfig(multiclass=3, indexing=1), classes),
            (FeatureConfig(bits=4, dotproduct=("ab",)), LflConfig(multiclass=3, indexing=1, rank=2), classes),
            (FeatureConfig(bits=6), NnClassesConfig(multiclass=3, indexing=1, nn="3,2"), classes),
            (FeatureConfig(bits=6), NnConfig(nn="3", inpass=True), text),
            (FeatureConfig(bits=6), VwNnConfig(vw_nn=3), text),
            (FeatureConfig(bits=6), FilterTreeConfig(filter_tree=3, base=GdConfig()), classes),
            (FeatureConfig(bits=4, dotproduct=("ab",)), ScoringTreeConfig(HINGE, **SCORING, pairs=1, rank=2), classes),
            (FeatureConfig(bits=6), OutputsConfig(outputs=2), targets),
            (FeatureConfig(bits=6), OutputsConfig(outputs=2, shared_rates=False, l2=0.1), targets),
            (FeatureConfig(bits=6), FactoredConfig(outputs=2, trace=0.1), targets),
            (FeatureConfig(bits=6), LogMultiConfig(QUANTILE, log_multi=3), classes * 4),
            (FeatureConfig(bits=6), EctConfig(ect=3, error=1), classes),
            (FeatureConfig(bits=4), CoinConfig(coin=True), text),
            (FeatureConfig(bits=4), AverageConfig(average=True, l2=0.1), text),
            (FeatureConfig(bits=6), MulticlassConfig(multiclass=3, indexing=1, average=True), classes),
            (FeatureConfig(bits=6), MulticlassConfig(multiclass=3, indexing=1, group_l1=0.1), classes),
            (FeatureConfig(bits=4), BfgsConfig(), text),
            (FeatureConfig(bits=6), BfgsOutputsConfig(outputs=2), targets),
            (FeatureConfig(bits=6), BfgsMulticlassConfig(multiclass=3, indexing=1), classes),
            (FeatureConfig(bits=4), KsvmConfig(LossConfig("hinge"), ksvm=True, kernel="rbf"), text),
            (FeatureConfig(bits=4), DualConfig(LossConfig("squared"), l2=1.0), text),
            (FeatureConfig(bits=6), FilterTreeConfig(filter_tree=3, base=LrqConfig(lrq=("ab2",))), classes),
            (FeatureConfig(bits=4), ActiveConfig(active=True), text),
            (FeatureConfig(bits=3, dotproduct=("ab",)), ActiveDyadicConfig(active=True, simulation=True, rank=2), text),
            (FeatureConfig(bits=5), LrqConfig(lrq=("ab2",)), text),
            (FeatureConfig(bits=5, quadratic=("sa",)), MultilineConfig(csoaa_ldf="m"), GROUPS),
        ):
            Path(data).write_bytes(lines)
            output = OutputConfig(model=model, names=True, quiet=True)
            passes = 2 if isinstance(learner, BfgsConfig) else 1
            train(RunConfig(InputConfig((data,)), features, learner, output, passes=passes))
            models.append(Path(model).read_bytes())
        models += [*named.models(folder), *solvers.models(folder)]
        Path(data).write_bytes(VW[0] + VW[5] * 3)
        train(RunConfig(InputConfig((data,), cache=cache_file, block_size=100), output=OutputConfig(quiet=True)))
        caches.append(Path(cache_file).read_bytes())
    return {
        "vw": [
            *(bytes([choice]) + text for choice, text in enumerate(VW * 5)),
            *(b"\x20" + named.LINES, b"\x40" + GROUPS, b"\x41" + GROUPS, b"\x58" + GROUPS),
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
    return [*made()[target], *regressions(target)]
