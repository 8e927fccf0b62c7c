"""Options of models of every kind, with text for them; and tables."""

from types import SimpleNamespace

import numpy as np

NUMBERS = b"".join(
    b"%d %d 't%d |u u%d x:%d.25 |i i%d\n" % ((-1) ** (n // 3 % 2), n % 2 + 1, n, n % 5, n % 4, n % 7) for n in range(90)
)
CLASSES = b"".join(b"%d |u u%d |i i%d\n" % (n % 3 + 1, n % 5, n % 7) for n in range(60))
TARGETS = b"".join(b"%d,%s |u u%d |i i%d\n" % (n % 3, (b"-1.5", b"", b"2")[n % 3], n % 5, n % 7) for n in range(60))
NAMED = b"".join(b"%s |u u%d |i i%d\n" % ((b"cat", b"dog", b"bird")[n % 3], n % 5, n % 7) for n in range(60))
COSTS = b"".join(b"1:%d 2:%d 3:1 |u u%d\n" % (n % 3, (n + 1) % 3, n % 5) for n in range(60))
SETS = b"".join(b"%s |u u%d\n" % ((b"1", b"0,1", b"2", b"")[n % 4], n % 5) for n in range(60))
GROUPS = b"".join(b"1:%d |a a%d\n2:%d |a b%d\n\n" % (n % 2, n % 5, (n + 1) % 2, n % 3) for n in range(40))
LOGISTIC = "--loss_function logistic"
DYADIC = "--dotproduct ui --rank 3 --decay_learning_rate 1"  # which by default falls with every pass, and so every run
RUNS = [
    ("", NUMBERS),
    (LOGISTIC, NUMBERS),
    (f"{LOGISTIC} -b 12 -q ui", NUMBERS),
    ("--interactions ::", NUMBERS),
    ("--sgd", NUMBERS),
    (f"{LOGISTIC} --l1 1e-3 --passes 3", NUMBERS),
    ("--l2 1e-3", NUMBERS),
    ("--passes 5 --holdout_period 4", NUMBERS),
    ("--passes 4 --shuffle --holdout_off --seed 3", NUMBERS),
    ("--passes 4 --curriculum easy", NUMBERS),
    ("--shuffle-first", NUMBERS),
    ("--classweight 1:2,-1:0.5", NUMBERS),
    ("--ngram 2 --affix +2", NUMBERS),
    ("--names", NUMBERS),
    ("--ftrl", NUMBERS),
    ("--average", NUMBERS),
    ("--coin", NUMBERS),
    ("--pistol", NUMBERS),
    ("--lrq ui3", NUMBERS),
    ("--nn 4,3 --inpass --dropout", NUMBERS),
    ("--bfgs --passes 5 --l2 1", NUMBERS),
    ("--bfgs --outputs 2 --passes 5 --holdout_period 4", TARGETS),
    ("--bfgs --multiclass 3 --passes 5 --l2 1", CLASSES),
    (f"{LOGISTIC} --binary", NUMBERS),
    (f"{LOGISTIC} --active --simulation", NUMBERS),
    (f"{LOGISTIC} --confidence", NUMBERS),
    ("--dotproduct ui --rank 3", NUMBERS),
    ("--dotproduct ui --rank 3 --passes 4", NUMBERS),
    ("--oaa 3", CLASSES),
    ("--oaa 3 --coin", CLASSES),
    ("--oaa 3 --l2 1e-3", CLASSES),
    ("--oaa 3 --average", CLASSES),
    ("--multiclass 3", CLASSES),
    ("--multiclass 3 --average", CLASSES),
    ("--multiclass 3 --group_l1 0.02 --passes 2", CLASSES),
    ("--multiclass 3 --dotproduct ui --rank 2", CLASSES),
    ("--multiclass 3 --dotproduct ui --rank 2 --passes 4 --lfl-loss mse", CLASSES),
    ("--multiclass 3 --nn 4 --passes 3", CLASSES),
    ("--multiclass 3 --smoothing 0.1", CLASSES),
    ("--multiclass 3 --label_shares --passes 2 --holdout_period 4", COSTS),
    ("--log_multi 3", CLASSES),
    ("--outputs 2 --passes 3 --holdout_period 4", TARGETS),
    ("--outputs 2 --no-shared_rates --l1 1e-3", TARGETS),
    ("--outputs 2 --loss_function quantile --quantile_tau 0.2,0.8 --monotone", TARGETS),
    ("--outputs 2 --trace 0.01 --passes 3 --holdout_period 4", TARGETS),
    ("--ect 3", CLASSES),
    ("--filter_tree 3", CLASSES),
    ("--filter_tree 3 --scoring --loss_function hinge", CLASSES),
    ("--filter_tree 3 --scoring --dotproduct ui --rank 2 --passes 2", CLASSES),
    ("--oaa 3 --named_labels cat,dog,bird", NAMED),
    ("--csoaa 3", COSTS),
    ("--multilabel_oaa 3", SETS),
    ("--csoaa_ldf m", GROUPS),
]


def csr_of(table):
    """A dense table as a sparse one of SciPy's kind."""
    rows, columns = np.nonzero(table)
    indptr = np.searchsorted(rows, np.arange(len(table) + 1)).astype(np.int32)
    arrays = {"indptr": indptr, "indices": columns.astype(np.int32), "data": table[rows, columns].astype(np.float32)}
    return SimpleNamespace(**arrays, shape=table.shape, format="csr")
