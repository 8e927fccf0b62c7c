#!/bin/sh
# What 20 newsgroups are about: their clusters and their principal components, by their strongest words, and how well
# clusters agree with the groups: of the words, and of the components.
#
#   sh examples/topics.sh DATA [CLUSTERS] [COMPONENTS]
#
# DATA is 20news.txt.gz, or its folder. PYTHON=... names an interpreter that has vwlite (python3).

set -eu
here=$(dirname "$0")
python=${PYTHON:-python3}
data=${1:?DATA is 20news.txt.gz, or its folder}
[ -d "$data" ] && data=$data/20news.txt.gz
clusters=${2:-20}
components=${3:-100}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

vwlite() {
    "$python" -m vwlite "$@"
}

"$python" "$here/newsgroups_to_vw.py" "$data" >"$out/text.vw"

echo "clusters of the words"
vwlite cluster "$out/text.vw" -f "$out/clusters" -k "$clusters" --spherical --weight idf --names --quiet
vwlite inspect "$out/clusters" --top 8
vwlite evaluate -i "$out/clusters" "$out/text.vw" --metric nmi,purity,adjusted_rand

echo
echo "components"
vwlite pca "$out/text.vw" -f "$out/components" --dim "$components" --weight idf --unit --names --quiet
vwlite inspect "$out/components" --top 8 | head -30

echo
echo "clusters of the components"
vwlite project -i "$out/components" "$out/text.vw" -p "$out/components.vw"
vwlite cluster "$out/components.vw" -f "$out/clusters" -k "$clusters" --spherical --quiet
vwlite evaluate -i "$out/clusters" "$out/components.vw" --metric nmi,purity,adjusted_rand
