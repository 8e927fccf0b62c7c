#!/bin/sh
# Topics of Reuters-21578, several a text, by the number of labelled texts: plain, and with what unlabelled text teaches.
#
#   sh examples/reuters_topics.sh DATA [--runs N] [--labeled 100,200,500,1000] [--json OUT]
#
# DATA is reuters21578.tar.gz, or its folder. PYTHON=... names an interpreter that has vwlite (python3).

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/reuters_topics.py" "$@"
