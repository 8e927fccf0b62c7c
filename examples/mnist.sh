#!/bin/sh
# Errors on the digits of MNIST by the number of labelled images: plain, and with what the other images teach.
#
#   sh examples/mnist.sh DATA [--runs N] [--labeled 100,500,1000,5000] [--jobs 2] [--json OUT]
#
# DATA is the folder of the four idx files, compressed or not. A job takes some 5 GiB of memory. PYTHON=... names an
# interpreter that has vwlite (python3).

set -eu
exec "${PYTHON:-python3}" "$(dirname "$0")/mnist.py" "$@"
