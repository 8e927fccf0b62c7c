#!/bin/sh
# Raters label tasks, and not all raters are alike. How well is a rater's label of a task predicted from both ids: by a constant, by
# linear models, and by dyadic ones of rank 1 to 3, in scoring filter trees, filter trees and models of labels with vectors?
#
#   sh examples/raters.sh [FILE] [--tasks 10000] [--raters 100] [--passes 20] [--seed 1] [--json OUT]
#   PYTHON=... names an interpreter that has vwlite (python3)
#
# FILE has lines of rater, task and label, between tabs; without it the labels are drawn.

set -eu
export LC_ALL=C
examples=$(dirname "$0")
exec "${PYTHON:-python3}" "$examples/raters.py" "$@"
