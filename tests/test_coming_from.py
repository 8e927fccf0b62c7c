"""docs/coming-from.md: the lines of its tables run, on small files."""

import re
import shlex

from pages import PROJECT

LINES = re.findall(
    r"`vwlite ((?:train|convert|l1|crr|tune|predict|evaluate) [^`]+)`", (PROJECT / "docs/coming-from.md").read_text()
)
FILES = {
    "train.ft": "__label__good a fine film\n__label__bad slow and long\n" * 9,
    "sets.ft": "__label__a __label__b x y\n__label__c z\n" * 9,
    "train.svm": "1 1:0.5 7:1\n-1 2:1 8:1\n" * 9,
    "sets.svm": "1,3 1:0.5 7:1\n2 2:1 8:1\n" * 9,
    "ranked.svm": "1 qid:1 1:0.5 7:1 # a\n0 qid:1 2:1 8:1\n" * 9,
    "train.ffm": "1 0:1:0.5 3:7:1\n-1 0:2:1 3:8:1\n" * 9,
    "train.conll": "The DT B-NP\ncat NN I-NP\nsat VBD O\n\n" * 9,
    "train.crfsuite": "B-NP\tw=The\nI-NP\tw=cat\n\n" * 9,
    "pattern": '*\n*1:%x[0,0]\nu:w=%X[-1,0]\nu:t=%t[0,0,"^\\u"]\n',
}


def test_the_lines_of_the_tables_run(run_here, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert len(LINES) > 30
    for line in LINES:
        done = run_here(*shlex.split(line), status=None)
        assert done.status == 0, (line, done.stderr)
