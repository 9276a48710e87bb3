#!/usr/bin/env bash
# Runs what the public program ppc has run, and judges the hits against ppc's.
#
#   scripts/reference.sh PHOTONS [RUN ...]
#
# PHOTONS in each run, e.g. 2e7; a multiple of 1000, but about as many of particles, a whole number of
# which make light. RUN: ids of configs/reference/RUN.yaml; all if none is named. Prints a table in
# Markdown: hits, ratio of totals to ppc, p-values per family of tests; then the ratio by distance, and
# from a point by zenith and by the angle to the axis of the flow (seen from the source, folded at 90
# degrees). Exit status 0: all agree at the level 1e-3; 1: one does not.
# Times are judged by Kolmogorov-Smirnov; their chi-square counts only where a run has a fortieth of
# ppc's photons or more. With fewer it stands in brackets: its bins then hold hits of ppc and next to
# none of the run's, and it rejects two of three correct runs of 2e6 photons, one of ten of 2e7.
#
# ICESTREAM         the program (icestream)
# ICESTREAM_SHARED  the folder with ice, reference and tools (shared, next to the repository)
# PYTHON            a Python with NumPy (/usr/bin/python3)
# OPTIONS           further options of `icestream generate` and `icestream run`
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
    for file in "$root"/configs/reference/*.yaml; do
        run=${file##*/}
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

# The particles of a run, as many as make about PHOTONS photons (shared/reference/ppc/README.md says what
# one makes): as CSV.
particles() {
    awk -v run="$1" -v photons="$photons" 'BEGIN {
        metre = 2450.08 * 1.015 / 25
        if (run ~ /^cascade/) {
            each = metre * 5.321 * (0.910 / 0.9216) * 2e4
            rest = "e-,25,-60,-350,50,70,2e4,0"
        } else {
            each = metre * 900 * (1 + (0.1880 + 0.0206 * log(1000)) * 0.910 / 0.9216)
            rest = "mu,-400,120,300,60,170,1000,900"
        }
        print "event,type,x,y,z,zenith,azimuth,energy,length"
        count = int(photons / each + 0.5)
        for (i = 0; i == 0 || i < count; ++i)
            print i "," rest
    }'
}

cat >"$folder/judge.py" <<'PROGRAM'
# Hits per module against the reference's, seen from a point source.
import csv, json, math, sys
import numpy

hits, table, photons, emitted, inflation = sys.argv[1], sys.argv[2], *map(float, sys.argv[3:6])
FLOW = math.radians(130)
edges = [0, 0.2, 0.4, 0.6, 0.8, 1.0001]
rows = [r for r in csv.DictReader(open(table)) if r['dist_m'] and float(r['hits']) >= 200]
h = numpy.load(hits, mmap_mode='r')
key, count = numpy.unique(h['string'].astype(numpy.int64) * 1000 + h['module'], return_counts=True)
found = dict(zip(key.tolist(), count.tolist()))
source = {'63-20': (-66.70, 276.92, 174.43), 'homog': (0, 0, 0)}[table.split('hits_')[1].split('_')[0]]
sums = {}
for r in rows:
    d = [float(r[k]) - s for k, s in zip(('x_m', 'y_m', 'z_m'), source)]
    across = math.hypot(d[0], d[1])
    bands = [('up', d[2] / math.hypot(across, d[2]))]
    if across > 1:
        bands.append(('flow', abs(d[0] * math.cos(FLOW) + d[1] * math.sin(FLOW)) / across))
    for name, x in bands:
        x = x if name == 'flow' else (x + 1) / 2
        band = next(i for i in range(5) if x < edges[i + 1])
        s = sums.setdefault((name, band), [0, 0])
        s[0] += found.get(int(r['string']) * 1000 + int(r['dom']), 0)
        s[1] += float(r['hits'])
json.dump([[name, band, a / photons / (b / emitted),
            a / photons / (b / emitted) * math.sqrt(inflation * (1 / a + 1 / b))]
           for (name, band), (a, b) in sorted(sums.items()) if a > 20], sys.stdout)
PROGRAM

# Judges a run: photons emitted, photons of the reference.
judge() {
    local run=$1
    "$python" "$judge" "$folder/$run.hits.npy" "$run" --photons "$2" \
        --reference "$reference" --json >"$folder/$run.verdict.json" || [[ $? == 1 ]] || return
    echo '[]' >"$folder/$run.bands.json"
    [[ $run != cascade* && $run != muon* ]] || return 0
    local inflation
    inflation=$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["variance_inflation"])' \
        "$folder/$run.verdict.json") || return
    "$python" "$folder/judge.py" "$folder/$run.hits.npy" "$reference/hits_$run.csv" "$2" "$3" "$inflation" \
        >"$folder/$run.bands.json"
}

judges=()
for run in "${runs[@]}"; do
    config=$root/configs/reference/$run.yaml
    [[ -r $config ]] || fail "no $config"
    ice=$shared/ice/spice_bfr-v2
    [[ $run == *_ftp-* ]] && ice=$shared/ice/spice_ftp-v3m
    settings=(--set "source.files=$folder/$run.steps.npy" --set "sink.directory=$folder"
        --set "device.threads=${THREADS:-auto}" --set "detector.file=$ice/geo-f2k")
    [[ $run == homog_* ]] || settings+=(--set "ice.directory=$ice")
    [[ -z ${SEED:-} ]] || settings+=(--set "run.seed=$SEED")
    if [[ $run == cascade* || $run == muon* ]]; then
        particles "$run" >"$folder/$run.csv"
        settings+=(--set "particles.file=$folder/$run.csv")
    else
        settings+=(--set "workload.photons_per_step=$per_step")
    fi
    # shellcheck disable=SC2206 # words
    settings+=(${OPTIONS:-})
    echo "$run" >&2
    if ! { "$program" generate "$config" "${settings[@]}" --force -o "$folder/$run.steps.npy" &&
        "$program" run "$config" "${settings[@]}" --force --quiet --summary "$folder/$run.summary.json"
    } 2>"$folder/$run.log"; then
        cat "$folder/$run.log" >&2
        exit 1
    fi
    emitted=$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["account"]["created"])' \
        "$folder/$run.summary.json")
    judge "$run" "$emitted" "$(awk -F, -v run="$run" '$1 == run { print $7 }' "$reference/runs.csv")" &
    judges+=($!)
done
for each in "${judges[@]}"; do
    wait "$each" || fail "a judge failed"
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
bands = {v['run']: json.load(open(v['run'] + '.bands.json')) for v in verdicts}
for name, title in (('up', 'zenith of the module: cosine, upwards'), ('flow', 'angle of the module to the flow: cosine')):
    low = (lambda i: 0.4 * i - 1) if name == 'up' else (lambda i: 0.2 * i)
    print('\nRatio of hits to ppc by %s:\n' % title)
    print('| run | ' + ' | '.join('%.1f to %.1f' % (low(i), low(i + 1)) for i in range(5)) + ' |')
    print('|---' * 6 + '|')
    for run, rows in bands.items():
        by = {b[1]: '%.4f +- %.4f' % (b[2], b[3]) for b in rows if b[0] == name}
        if by:
            print('| %s | %s |' % (run, ' | '.join(by.get(i, '-') for i in range(5))))
sys.exit(0 if all_agree else 1)
PROGRAM
