#!/bin/sh
# Accuracy on 20 newsgroups by the number of labelled examples: plain, and with what unlabelled text teaches.
#
#   sh examples/newsgroups.sh DATA [--runs N] [--labeled 100,200,500,1000] [--json OUT] [--plot]
#
# DATA is 20news.txt.gz, or its folder. PYTHON=... names an interpreter that has vwlite (python3).

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/newsgroups.py" "$@"
