"""``vwlite convert``."""

from typing import Any

import click

from vwlite.cli import options
from vwlite.cli.files import Reads, Writes
from vwlite.cli.parser import Choice, Command
from vwlite.cli.root import SETTINGS
from vwlite.data.config import InputConfig
from vwlite.features.config import FeatureConfig
from vwlite.learners.configs.per_class import PerClassConfig
from vwlite.solvers.loglinear.crfpp_templates import READY, ColumnsConfig

FORMATS = ("conll", "csv", "tsv", "jsonl", "svmlight", "arrow", "parquet", "fasttext", "libffm", "crfsuite", "vw")


class TemplateFile(Reads):
    """A file, or the name of a template that is ready-made."""

    def __init__(self) -> None:
        super().__init__("template")
        self.metavar = f"{'|'.join(READY)}|FILE"

    def path(self, value: str) -> str | None:
        return None if value in READY else super().path(value)


@click.command("convert", cls=Command, context_settings=SETTINGS, short_help="Turn other formats into text.")
@click.argument("format", type=Choice(FORMATS))
@options.data_files
@click.option("--to", type=Choice(["text", "svmlight"]), default="text", help="What is written. [default: text]")
@options.file(Writes("text", stdout=True), "-o", "--out", default="-", help="Where the text goes. [default: stdout]")
@options.options_in(InputConfig, only=("columns", "threads", "examples"))
@options.options_in(FeatureConfig, only=("bits",))
@options.file(
    TemplateFile(), "--template",
    help="Features: a template in the manner of CRF++. [default: chunk for columns beside words, else ner]",
)  # fmt: skip
@options.options_in(ColumnsConfig)
@options.options_in(PerClassConfig, only=("named_labels",))
@options.bad_line_options
def command(**arguments: Any) -> int:
    """Turn tables, JSON lines, SVMlight, CoNLL column files and those of other tools into text.

    --to svmlight makes SVMlight of tables, JSON lines and text.

    \b
    vwlite convert csv clicks.csv --columns "label=click tag=view user=city,age" > clicks.vw
    vwlite convert parquet clicks.parquet --columns label=click --to svmlight -o clicks.svm
    vwlite convert fasttext train.txt > train.vw
    vwlite convert conll train.txt.gz --template my.template > train.vw
    vwlite convert conll --lines sentences.txt --template ner > unlabeled.vw

    The text has the names of its features, and models of it predict as those of the table. SVMlight has numbers in
    place of names: hashes of -b bits, but names of digits in no namespace stay as they are. A tag of digits is written
    as qid:, any other as a comment.

    fasttext ('__label__x' before or among the words of a line) gives labels by name, words in the namespace w; where
    lines have several labels, sets of numbers for --multilabel_oaa, in the order of --named_labels. libffm ('label
    field:index:value') makes a namespace f7 of field 7. crfsuite (a label and attributes, between tabs) makes text for
    'vwlite l1'.

    conll (last column the label, empty lines between sentences) makes text for 'vwlite l1' and 'vwlite aso'. A template
    line 'U05:%x[-1,0]/%x[0,0]' makes a feature of the words (column 0) before and at each token, in the namespace U05.
    Beside %x[row,column] there are

    \b
    %l[r,c]          in lower case
    %p[r,c,n]        the first n characters; n may be a range like 2-4
    %s[r,c,n]        the last n characters
    %t[r,c]          the character type: 'McDonald-12' is 'AaAa+-0+'
    %m[r,c,"regex"]  what a regular expression finds
    %t[r,c,"regex"]  'true' where it finds something, else 'false'
    %X, %T, %M       as %x, %t, %m, in lower case
    %k[r,c]          the tokens of the r-th chunk on, by the labels in column c

    Where such a macro has no value there is no feature. '*1:' stands for u1: and b1:, as in Wapiti. --template chunk
    takes columns 0 and 1: words and their bigrams, tags and their bigrams and trigrams, at most two tokens away; ner
    words, their types, beginnings and ends at most two tokens away; pos those of the word itself and words nearby.
    Lines named B... make features for 'vwlite l1 --edge B'. Options of 'vwlite l1' pick namespaces by their first
    letter: in chunk a token's own word is in w, its tag in t, all else in U..., as for --affix +3w,-3w. In features and
    labels ':', '|' and '%' become %3A, %7C and %25.
    """
    from vwlite.cli.runs.convert import run

    return run(arguments)
