"""L1-regularised log-linear models: two classes, several, label sequences (``vwlite l1``).

Maximises ``L(w) = sum of log p(y | x; w) - C |w|`` by stochastic gradient steps whose penalty is applied to the
features at hand only (Tsuruoka, Tsujii, Ananiadou, "Stochastic gradient descent training for L1-regularized log-linear
models with cumulative penalty", ACL 2009), or by OWL-QN (Andrew and Gao, "Scalable training of L1-regularized
log-linear models", ICML 2007).
"""
