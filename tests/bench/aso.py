"""1,000 auxiliary problems in one pass beside as many one-versus-rest fits of scikit-learn's SGDClassifier.

    python tests/bench/aso.py all.vw        all.vw: examples/newsgroups_to_vw.py 20news.txt.gz

Both take one pass over unit-length rows on one thread; times are those of the processor. scikit-learn fits a sample of
the problems, evenly spaced from the most to the least frequent; its time for all is the sample's times (problems /
sample).
"""

import sys
import time

import numpy as np

from vwlite.data.malformed_lines import BadLines
from vwlite.solvers.aso.auxiliary import most_frequent, read_aux, views
from vwlite.solvers.aso.config import SolverConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.sgd import solve, zero_weights

SAMPLE, ROUNDS = 25, 3


def main() -> None:
    corpus = Corpus(BadLines(None, None)).read([sys.argv[1]])
    words = corpus.vocabulary(2)
    rows = corpus.rows(words, unit=False)
    view = views(read_aux("freq"), words, 0)[0]
    made = most_frequent(rows, view, words, 1000)
    seen, count = rows.select(view.seen).unit(), len(made.names)
    print(f"{len(seen)} documents, {int(view.seen.sum())} features, {len(seen.terms.values)} values, {count} problems")
    config = SolverConfig(passes=1)
    ours = []
    for _ in range(ROUNDS):
        weights = zero_weights(int(view.seen.sum()), 0, count)
        weights.w += 0  # touch the memory
        begin = time.process_time()
        solve(config, seen, made, weights)
        ours.append(time.process_time() - begin)
    print(f"vwlite: {min(ours):.2f} s for all problems")
    try:
        from scipy.sparse import csr_matrix
        from sklearn.linear_model import SGDClassifier
    except ImportError:
        sys.exit("scikit-learn is not installed: nothing to compare with")
    terms, shape = seen.terms, (len(seen), int(view.seen.sum()))
    x = csr_matrix((terms.values.astype(np.float64), terms.indices, terms.indptr), shape)
    theirs = 0.0
    for problem in np.linspace(0, count - 1, SAMPLE).astype(int).tolist():
        y = np.zeros(len(seen), int)
        y[made.positive.owner[made.positive.indices == problem]] = 1
        fit = SGDClassifier(loss="modified_huber", alpha=1e-4, max_iter=1, tol=None)
        begin = time.process_time()
        fit.fit(x, y)
        theirs += time.process_time() - begin
    whole = theirs / SAMPLE * count
    print(f"SGDClassifier: {theirs:.2f} s for {SAMPLE} problems, {whole:.1f} s for {count} (extrapolated)")
    print(f"ratio {whole / min(ours):.1f}")


if __name__ == "__main__":
    main()
