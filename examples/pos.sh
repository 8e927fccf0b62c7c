#!/bin/sh
# Parts of speech with few labelled words: plain, and with what words without labels teach.
#
#   sh examples/pos.sh CONLL2000 [--conll2003 CONLL2003] [--words 23000] [--unlabeled 200000] [--json OUT]
#
# CONLL2000 holds train.txt.gz and test.txt.gz, CONLL2003 eng.train.gz. PYTHON=... names an interpreter that has vwlite.

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/few_tags.py" pos "$@"
