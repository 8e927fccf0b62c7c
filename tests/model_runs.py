"""Options of models of every kind, with text for them; and tables."""

import re
from types import SimpleNamespace

import numpy as np
from battery.estimators import ESTIMATORS, texts

NUMBERS = b"".join(
    b"%d %d 't%d |u u%d x:%d.25 |i i%d\n" % ((-1) ** (n // 3 % 2), n % 2 + 1, n, n % 5, n % 4, n % 7) for n in range(90)
)
CLASSES = b"".join(b"%d |u u%d |i i%d\n" % (n % 3 + 1, n % 5, n % 7) for n in range(60))
COSTS = b"".join(b"1:%d 2:%d 3:1 |u u%d\n" % (n % 3, (n + 1) % 3, n % 5) for n in range(60))
SETS = b"".join(b"%s |u u%d\n" % ((b"1", b"0,1", b"2", b"")[n % 4], n % 5) for n in range(60))
GROUPS = b"".join(b"1:%d |a a%d\n2:%d |a b%d\n\n" % (n % 2, n % 5, (n + 1) % 2, n % 3) for n in range(40))
LOGISTIC = "--loss_function logistic"
DYADIC = "--dotproduct ui --rank 3 --decay_learning_rate 1"  # which by default falls with every pass, and so every run
RUNS = [  # of the battery, without tags, which would stand beside the answers
    (" ".join(one.options), re.sub(r" '[r\d][^|\s]*", " ", texts()[one.text]).encode())
    for one in ESTIMATORS.values()
    if one.command == "train" and not {"--theta", "--landmarks"} & {*one.options}
]


def csr_of(table):
    """A dense table as a sparse one of SciPy's kind."""
    rows, columns = np.nonzero(table)
    indptr = np.searchsorted(rows, np.arange(len(table) + 1)).astype(np.int32)
    arrays = {"indptr": indptr, "indices": columns.astype(np.int32), "data": table[rows, columns].astype(np.float32)}
    return SimpleNamespace(**arrays, shape=table.shape, format="csr")
