#!/bin/sh
# How much do latent vectors add to a linear model of ratings? Trains the best constant, a linear model and dyadic
# models of every rank K, and prints their errors on ratings held out. movielens_to_vw.py makes the two files.
#
#   sh examples/movielens.sh TRAIN.vw TEST.vw [K...] [--pair u,i] [--passes 20] [--levels] [--json OUT]
#   PYTHON=... names an interpreter that has vwlite (python3)

set -eu
export LC_ALL=C
examples=$(dirname "$0")
exec "${PYTHON:-python3}" "$examples/movielens.py" "$@"
