#!/bin/bash
# Promise: the Snakefile in configs/sites makes a hit file of every step file, goes on when one of them is bad, and
# a second start makes only what is missing. It runs the real Snakemake ($SNAKEMAKE, or snakemake in PATH).
#
#   snakemake.sh ICESTREAM [FILES]
recipe=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../configs/sites/Snakefile")
# shellcheck source=tests/cli/common.bash
. "$(dirname "$0")/../cli/common.bash"
snakemake=${SNAKEMAKE:-$(command -v snakemake)} || skip "snakemake is missing (pip install snakemake)"
files=${2:-6}

mkdir steps
echo 'device: { backend: cpu }' >run.yaml
for ((i = 0; i < files; ++i)); do
    "$ICESTREAM" generate -s workload.steps=20 -s workload.event="$i" -o "steps/f$i.steps.npy" 2>log || fail "generate"
done
expect 0 "$ICESTREAM" run -q run.yaml 'steps/*.steps.npy' -o 'reference/{stem}.hits.npy'
cp steps/f1.steps.npy good
head -c 1500 good >steps/f1.steps.npy
# shellcheck disable=SC2317 # `expect` calls it
make() { "$snakemake" --snakefile "$recipe" --cores 2 --set-threads propagate=1 --keep-going --config icestream="$ICESTREAM"; }

expect 1 make
says hits/f1.log "steps/f1.steps.npy" "cut short"
is_missing hits/f1.hits.npy
before=$(stat -c %Y.%i hits/f0.hits.npy)
[ "$(find hits -name '*.hits.npy' | wc -l)" -eq $((files - 1)) ] || fail "hits of $(find hits -name '*.hits.npy' | wc -l) files"

cp good steps/f1.steps.npy
expect 0 make
[ "$(stat -c %Y.%i hits/f0.hits.npy)" = "$before" ] || fail "a finished hit file was made again"
for ((i = 0; i < files; ++i)); do
    same "reference/f$i.hits.npy" "hits/f$i.hits.npy"
done
[ "$(find hits -type f | grep -cv -e '\.hits\.npy$' -e '\.log$')" -eq 0 ] || fail "found $(ls -Am hits)"
expect 0 make
says err "Nothing to be done"
finish
