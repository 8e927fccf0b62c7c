#!/bin/sh
# Regression, ranking and both combined on the topics of Reuters-21578: AUC loss and MSE, rarest topics first.
#
#   sh examples/reuters.sh SOURCE [--json OUT]     SOURCE is the folder or the tar of the reut2-*.sgm files
#
# PYTHON=... names an interpreter that has vwlite (python3). 'sh examples/reuters.sh --help' lists the options.

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/reuters.py" "$@"
