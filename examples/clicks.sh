#!/bin/sh
# Click prediction: regression, ranking and both combined on clicks in the order of time, mean and deviation of ten seeds.
#
#   sh examples/clicks.sh FILE [--json OUT]     FILE: train_sample.csv of TalkingData, or text of vw; possibly compressed
#
# PYTHON=... names an interpreter that has vwlite (python3). 'sh examples/clicks.sh --help' lists the options.

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/clicks.py" "$@"
