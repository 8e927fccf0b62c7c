#!/bin/sh
# What does it bring to know more than ids? Dyadic models of ratings with and without ages, occupations and genres, on people and
# items that are known, and on such as were held out whole.
#
#   sh examples/side_information.sh RATINGS USERS ITEMS [--rank 10] [--passes 20] [--loss quantile] [--json OUT]
#   PYTHON=... names an interpreter that has vwlite (python3)
#
# The files are those of MovieLens: ratings.dat, users.dat and movies.dat, or u.data, u.user and u.item.

set -eu
export LC_ALL=C
examples=$(dirname "$0")
exec "${PYTHON:-python3}" "$examples/side_information.py" "$@"
