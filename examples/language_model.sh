#!/bin/sh
# The mean log rank of the last words of windows on 20 newsgroups, by the number of updates, with and without a curriculum.
#
#   sh examples/language_model.sh DATA [--updates 100000000] [--vocabulary 5000] [--stage 1250] [--seeds 5] [--json OUT]
#
# DATA is 20news.txt.gz, or its folder. PYTHON=... names an interpreter that has vwlite (python3).

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/language_model.py" "$@"
