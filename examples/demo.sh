#!/bin/sh
# Which package does a line of code come from? Learns asyncio against email from the standard library
# of the Python at hand, then scores lines it has not seen.
#
#   sh examples/demo.sh [FOLDER]        PYTHON=... names an interpreter that has vwlite (python3)

set -eu
export LC_ALL=C
examples=$(dirname "$0")
out=${1:-demo-out}
python=${PYTHON:-python3}

command=$(dirname "$python")/vwlite
[ -f "$command" ] || command="$python -P -m vwlite"

vwlite() { "$python" -P -m vwlite "$@"; }
say() { printf '\n# %s\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

say 'Lines of code as VW text, one in five held out.'
run "$python" "$examples/stdlib_to_vw.py" "$out"
run head -n 3 "$out/train.vw"

say 'Learn in one pass; every loss in the table is on examples not yet learned from.'
run vwlite train "$out/train.vw" -f "$out/demo.model" --loss_function logistic --names

say 'Predict: how likely is it that a held-out line comes from asyncio?'
run vwlite predict -i "$out/demo.model" "$out/test.vw" -p "$out/test.pred"

say 'The first of them beside the lines as they stand in the source.'
printf '$ paste %s %s | head -n 8\n' "$out/test.pred" "$out/test.txt"
paste "$out/test.pred" "$out/test.txt" | head -n 8

say 'How good is it on all held-out lines?'
run vwlite evaluate -i "$out/demo.model" "$out/test.vw" --json "$out/scores.json"

say 'What it goes by: positive weights speak for asyncio, negative ones for email.'
run vwlite inspect "$out/demo.model" --top 15

say "To go on: a line of your own, predicted by the model; '$command --help' lists what there is."
printf "echo '|words await the next task' | %s predict -i %s\n" "$command" "$out/demo.model"
