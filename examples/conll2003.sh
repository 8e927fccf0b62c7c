#!/bin/sh
# Named entities of CoNLL-2003 with few labelled words: plain, and with what Reuters-21578 teaches without labels.
#
#   sh examples/conll2003.sh CONLL REUTERS [--words 10000] [--unlabeled 100000] [--plot SVG] [--json OUT]
#
# CONLL holds eng.train.gz, eng.testa.gz and eng.testb.gz, REUTERS reuters21578.tar.gz. All words: --words 0.
# PYTHON=... names an interpreter that has vwlite.

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/conll2003.py" "$@"
