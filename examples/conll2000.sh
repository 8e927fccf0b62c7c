#!/bin/sh
# Chunking, or any tagging in CoNLL columns, by linear-chain CRFs with an L1 penalty: OWL-QN against stochastic steps.
#
#   sh examples/conll2000.sh TRAIN TEST [TEMPLATE] [--json OUT] [--plot SVG]     column files, compressed or not
#
# PYTHON=... names an interpreter that has vwlite (python3). 'sh examples/conll2000.sh --help' lists the options.

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/conll2000.py" "$@"
