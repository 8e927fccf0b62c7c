#!/bin/sh
# Sets of topics of Reuters-21578: what is learned by each loss of sets (--set-loss), measured by each.
#
#   sh examples/reuters_sets.sh SOURCE [--json OUT]     SOURCE is the folder or the tar of the reut2-*.sgm files
#
# PYTHON=... names an interpreter that has vwlite (python3). 'sh examples/reuters_sets.sh --help' lists the options.

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/reuters_sets.py" "$@"
