#!/bin/sh
# Policies from what a bandit sees, on MNIST, 20 newsgroups and simulated clicks: what explorers cost, what logs teach, how often
# intervals hold.
#
#   sh examples/bandits.sh DATA [--parts explore,learn,intervals] [--sets mnist,20news,clicks] [--orders 1] [--logs 200]
#                          [--explorers NAMES] [--types NAMES] [--vw COMMAND] [--json OUT]
#
# DATA holds mnist/train-images-idx3-ubyte.gz and its like, and 20news/20news.txt.gz.
# PYTHON=... names an interpreter that has vwlite (python3). 'sh examples/bandits.sh --help' lists the options.

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/bandits.py" "$@"
