#!/bin/sh
# Regression, ranking and both combined on a LETOR collection: MAP, NDCG and MSE, mean over the folds.
#
#   sh examples/letor.sh DIR [--json OUT]     DIR holds Fold*/train.txt, vali.txt, test.txt, possibly compressed
#
# PYTHON=... names an interpreter that has vwlite (python3). 'sh examples/letor.sh --help' lists the options.

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/letor.py" "$@"
