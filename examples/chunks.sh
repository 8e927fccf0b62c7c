#!/bin/sh
# Chunks with few labelled words: classifiers of words and CRFs, plain, and with what words without labels teach.
#
#   sh examples/chunks.sh CONLL2000 [--words 10000] [--unlabeled 200000] [--json OUT]
#
# CONLL2000 holds train.txt.gz and test.txt.gz. PYTHON=... names an interpreter that has vwlite.

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/few_tags.py" chunks "$@"
