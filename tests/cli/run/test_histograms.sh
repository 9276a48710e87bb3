#!/usr/bin/env bash
# Promises: the histograms in the trailer of a hit file count its rows, and are the same bytes for every
# schedule, batch, number of threads and way in which the file came about.
# To join: another way to get the same file is one more call of `same_file`.
CHECK=$(realpath "$(dirname "$0")/check_histograms.py")
source "$(dirname "$0")/../common.bash"
python=$(python_with numpy) || skip "no Python with NumPy"

cat >base.yaml <<'END'
detector: {oversize: 30, crossing: disc, keep_hit_photons: false}
workload: {kind: point, position: [0, 0, 5], steps: 1300, photons_per_step: 200}
run: {bounce_limit: 1}
END
cat base.yaml - >many.yaml <<'END'
sink:
  histograms:
    - {name: time, from: 1, to: 2000, bins: 50, scale: log}
    - {name: time, from: 20, to: 60.3, bins: 37}
    - {name: wavelength, from: 300, to: 600, bins: 30}
    - {name: impact, from: -1, to: 1, bins: 7}
    - {name: weight, from: 0, to: 1, bins: 3}
    - {name: pmt, from: -1, to: 0, bins: 1}
    - [{name: string, from: 1, to: 87, bins: 86}, {name: module, from: 1, to: 61, bins: 60}]
    - [{name: event, from: 0, to: 4, bins: 4}, {name: time, from: 0, to: 500, bins: 5}, {name: scatters, from: 0, to: 10, bins: 10}]
END
compute() { expect 0 "$ICESTREAM" run -q many.yaml "$@"; }
same_file() {
    compute --set sink.directory="$1" "${@:2}"
    same many.hits.npy "$1/many.hits.npy"
}
counts() { "$python" "$CHECK" "$@" 2>err || fail "histograms: $(cat err)"; }

# The file is merged at the end, or written while photons are computed (more than 4 MiB of hits in small batches).
compute --threads 1 --set sink.directory=first
mv first/many.hits.npy .
[ "$(stat -c %s many.hits.npy)" -gt 5000000 ] || fail "too few hits for this test"
counts many.hits.npy
expect 0 "$ICESTREAM" info --verify many.hits.npy
says out "histograms     time (50 bins), time (37 bins), wavelength (30 bins)" \
    "string (86 bins) by module (60 bins), event (4 bins) by time (5 bins) by scatters (10 bins)"
same_file early --threads 2 --set graph.batch=3000
same_file monolithic --threads 2 --set graph.schedule=monolithic --set graph.batch=100000
same_file pool --threads 1 --set graph.pool=64
same_file uncounted --threads 2 --set sink.checkpoint=off --set sink.digest=false

# Rows and the rest of the trailer do not depend on histograms; a file without them has no such key.
expect 0 "$ICESTREAM" run -q base.yaml --set sink.directory=plain
same_rows many.hits.npy plain/base.hits.npy
expect 0 "$ICESTREAM" info --json plain/base.hits.npy
grep -q '"histograms"' out && fail "histograms that nobody asked for"

# A run that is killed and continued counts the hits of its checkpoint.
"$ICESTREAM" run -q many.yaml --threads 1 --set workload.steps=12000 --set sink.directory=killed \
    --set sink.checkpoint=0.05 2>err &
await test -e killed/many.hits.npy.checkpoint
kill -9 $!
wait $! 2>/dev/null
is_missing killed/many.hits.npy
compute --threads 2 --set workload.steps=12000 --set sink.directory=killed
compute --threads 2 --set workload.steps=12000 --set sink.directory=whole
same killed/many.hits.npy whole/many.hits.npy

# A hit file of several step files counts all of its rows.
mkdir steps
for event in 0 1 2 3; do
    expect 0 "$ICESTREAM" generate base.yaml -s workload.event=$event -s workload.steps=100 \
        -o steps/$event.steps.npy
done
compute --set source.files='steps/*.steps.npy' --set sink.directory=each
counts each/*.hits.npy
expect 0 "$ICESTREAM" merge each -o merged.hits.npy
counts merged.hits.npy

# Photons and steps: every one counts once, on every schedule, batch and number of threads, also in a file of
# several step files. A batch of 7000 photons cuts steps of 10000, which count once.
cat >photons.yaml <<'END'
workload: {steps: 31, photons_per_step: 10000}
sink:
  checkpoint: off
  histograms:
    - {name: bounces, from: 1, to: 1000, bins: 24, scale: log}
    - {name: path, from: 0, to: 500, bins: 64}
    - {name: candidates, from: 0, to: 9, bins: 9}
    - {name: layers, from: 1, to: 9, bins: 8}
    - {name: photons, from: 10000, to: 10001, bins: 1}
    - {name: time, from: 0, to: 5000, bins: 10}
END
cat >many-bins.yaml <<'END'
workload: {steps: 31, photons_per_step: 10000}
sink:
  checkpoint: off
  histograms:
    - {name: path, from: 0, to: 500, bins: 65536}
    - {name: path, from: 0, to: 500, bins: 64}
    - {name: bounces, from: 0, to: 1000, bins: 1000}
    - {name: delay, from: 1, to: 2000, bins: 5000, scale: log}
END
for schedule in wavefront monolithic; do
    for threads in 1 2; do
        for name in photons many-bins; do
            expect 0 "$ICESTREAM" run -q $name.yaml --threads $threads --set graph.schedule=$schedule \
                --set graph.batch=$((7000 * threads)) --set sink.directory=$schedule$threads
            same wavefront1/$name.hits.npy $schedule$threads/$name.hits.npy
        done
    done
done
# Of a batch that is divided among threads, too. 1024 of the many bins of paths are one of the few bins.
expect 0 "$ICESTREAM" run -q many-bins.yaml --threads 2 --set sink.directory=divided
same wavefront1/many-bins.hits.npy divided/many-bins.hits.npy
python3 - wavefront1/many-bins.hits.npy <<'END' || fail "the sums of many bins are not the few bins"
import json, struct, sys
data = open(sys.argv[1], "rb").read()
offset, length = struct.unpack("<QQ", data[-32:-16])
many, few = [h["storage"]["values"] for h in json.loads(data[offset : offset + length])["histograms"]][:2]
sums = [sum(many[1 + 1024 * i : 1025 + 1024 * i]) for i in range(64)]
sys.exit([many[0], *sums, many[-1]] != few or sum(many) != 310000 or len(set(few)) < 30)
END
expect 0 "$ICESTREAM" run -q photons.yaml --set source.files='steps/*.steps.npy' --set sink.directory=each-photons
expect 0 "$ICESTREAM" merge each-photons -o merged-photons.hits.npy
counts wavefront1/photons.hits.npy wavefront1/many-bins.hits.npy merged-photons.hits.npy
expect 0 "$ICESTREAM" info --json wavefront1/photons.hits.npy
tr -d ' \n' <out | grep -q '"values":\[0,31,0\]' || fail "the histogram of steps has not all 31 steps in its bin"

# Photo-electrons are what the file has, and what its histograms count.
compute --set stages.detect=pe --set sink.hits=both --set sink.directory=pe
counts pe/many.hits.npy

# Other programs read them.
if python=$(python_with "boost_histogram, numpy, uhi.io.json"); then
    "$python" "$CHECK" --uhi many.hits.npy 2>err || fail "boost_histogram: $(cat err)"
else
    echo "skipped: no Python with boost_histogram and uhi: the histograms are not read with them"
fi
finish
