#!/usr/bin/env bash
# Runs what the public program ppc has run, and judges the hits against ppc's.
#
#   scripts/reference.sh PHOTONS [RUN ...]
#
# PHOTONS in each run, e.g. 2e7; a multiple of 1000. RUN: ids of configs/runs/reference-RUN.yaml; all
# if none is named. Prints a table in Markdown: hits, ratio of totals to ppc, p-values per family of
# tests; then the ratio by distance. Exit status 0: all agree at the level 1e-3; 1: one does not.
# Times are judged by Kolmogorov-Smirnov; their chi-square counts only where a run has a fortieth of
# ppc's photons or more. With fewer it stands in brackets: its bins then hold hits of ppc and next to
# none of the run's, and it rejects two of three correct runs of 2e6 photons, one of ten of 2e7.
#
# ICESTREAM         the program (icestream)
# ICESTREAM_SHARED  the folder with ice, reference and tools (shared, beside the repository)
# PYTHON            a Python with NumPy (/usr/bin/python3)
# THREADS           CPU threads (auto)
# SEED              run.seed, if not the one in the file
# KEEP              a folder for steps, hits, summaries and verdicts; else they are removed
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
program=${ICESTREAM:-icestream}
shared=$(realpath "${ICESTREAM_SHARED:-$root/../shared}")
python=${PYTHON:-/usr/bin/python3}

fail() {
    echo "reference.sh: $1" >&2
    exit 2
}
if (($# < 1)) || [[ $1 == -* ]]; then
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
fi
per_step=$(awk -v photons="$1" 'BEGIN { printf "%d", photons / 1000 }')
((per_step > 0)) || fail "PHOTONS: found '$1', expected a number of at least 1000"
photons=$((per_step * 1000))
shift
judge=$shared/tools/against_reference.py
reference=$shared/reference/ppc
[[ -r $judge ]] || fail "no $judge; set ICESTREAM_SHARED"
command -v "$program" >/dev/null || fail "no program '$program'; set ICESTREAM to where it was built"
"$python" -c 'import numpy' 2>/dev/null || fail "$python has no NumPy; set PYTHON"

runs=("$@")
if (($# == 0)); then
    for file in "$root"/configs/runs/reference-*.yaml; do
        run=${file##*/reference-}
        runs+=("${run%.yaml}")
    done
fi
if [[ -n ${KEEP:-} ]]; then
    folder=$KEEP
    mkdir -p "$folder"
else
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi

for run in "${runs[@]}"; do
    config=$root/configs/runs/reference-$run.yaml
    [[ -r $config ]] || fail "no $config"
    ice=$shared/ice/spice_bfr-v2
    [[ $run == *_ftp-* ]] && ice=$shared/ice/spice_ftp-v3m
    settings=(--set "source.files=$folder/$run.steps.npy" --set "sink.directory=$folder"
        --set "device.threads=${THREADS:-auto}" --set "workload.photons_per_step=$per_step"
        --set "detector.file=$ice/geo-f2k")
    [[ $run == homog_* ]] || settings+=(--set "ice.directory=$ice")
    [[ -z ${SEED:-} ]] || settings+=(--set "run.seed=$SEED")
    echo "$run: $photons photons" >&2
    if ! { "$program" generate "$config" "${settings[@]}" --force -o "$folder/$run.steps.npy" &&
        "$program" run "$config" "${settings[@]}" --force --quiet --summary "$folder/$run.summary.json"
    } 2>"$folder/$run.log"; then
        cat "$folder/$run.log" >&2
        exit 1
    fi
    "$python" "$judge" "$folder/$run.hits.npy" "$run" --photons "$photons" \
        --reference "$reference" --json >"$folder/$run.verdict.json" || [[ $? == 1 ]]
done

cd "$folder"
"$python" - "$reference/runs.csv" "${runs[@]}" <<'PROGRAM'
import csv, json, sys

emitted = {r['id']: float(r['photons_emitted']) for r in csv.DictReader(open(sys.argv[1]))}
verdicts = [json.load(open(run + '.verdict.json')) for run in sys.argv[2:]]
families = ['total', 'modules', 'modules_shape', 'times_chi2', 'times_ks']
all_agree = True
print('| run | photons | hits | hits/ppc | ' + ' | '.join('p ' + f for f in families) + ' | agrees |')
print('|---' * (len(families) + 5) + '|')
for v in verdicts:
    counts = {f: f != 'times_chi2' or v['photons'] >= emitted[v['run']] / 40 for f in families}
    cells = [('%.3g' if counts[f] else '(%.3g)') % v['p'][f] if f in v['p'] else '-' for f in families]
    agrees = all(v['p'].get(f, 1) > 1e-3 for f in families if counts[f])
    all_agree = all_agree and agrees
    print('| %s | %.3g | %d | %.4f +- %.4f | %s | %s |' % (
        v['run'], v['photons'], v['hits'], *v['total_ratio'], ' | '.join(cells), 'yes' if agrees else 'NO'))
bands = sorted({(b[0], b[1]) for v in verdicts for b in v['ratio_by_distance_m']})
print('\nRatio of hits to ppc by distance from the source:\n')
print('| run | ' + ' | '.join('%d-%d m' % b if b[1] < 1e9 else 'from %d m' % b[0] for b in bands) + ' |')
print('|---' * (len(bands) + 1) + '|')
for v in verdicts:
    by = {(b[0], b[1]): '%.4f +- %.4f' % (b[2], b[3]) for b in v['ratio_by_distance_m']}
    print('| %s | %s |' % (v['run'], ' | '.join(by.get(b, '-') for b in bands)))
sys.exit(0 if all_agree else 1)
PROGRAM
