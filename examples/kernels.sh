#!/bin/sh
# Accuracy and time on MNIST: a linear model, random features of kernels, and landmarks.
#
#   sh examples/kernels.sh DIR [--images N] [--size D] [--passes N] [--methods rbf,poly2] [--json OUT]
#
# DIR holds the four idx files. PYTHON=... names an interpreter that has vwlite (python3).

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/kernels.py" "$@"
