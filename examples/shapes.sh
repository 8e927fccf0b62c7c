#!/bin/sh
# Errors of networks that see easy shapes first, by the epoch of the switch to all shapes.
#
#   sh examples/shapes.sh [--epochs 256] [--switch 0,1,2,4,8] [--seeds 20] [--examples 10000] [--side 32]
#                         [--nn 300,300,300] [--jobs 2] [--json OUT]
#
# With nothing said it takes days. The table of docs/networks.md takes five minutes of a processor: --epochs 48
# --switch 0,2,4,8,16 --seeds 6 --examples 3000 --tests 3000 --side 16 --nn 100,100,100 --bits 16.
# PYTHON=... names an interpreter that has vwlite (python3).

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/shapes.py" "$@"
