#!/usr/bin/env bash
# Promises: the example lists of particles give valid step files that NumPy reads; streams of particles of
# any length need little memory; errors of output end the program at once and leave no incomplete file.
# To join: a new format of lists gets an example in configs/particles and its ending in the first loop.
examples=$(realpath "$(dirname "$0")/../../../configs/particles")
source "$(dirname "$0")/../common.bash"

for ending in f2k csv yaml; do
    expect 0 "$ICESTREAM" generate -s particles.file="$examples/example.$ending" -s particles.cascades=steps -o $ending.steps.npy
    expect 0 "$ICESTREAM" info --verify $ending.steps.npy
    says out 'particles  ' verified
done

# The same list with tabs is the same light.
grep -v '^ *#' "$examples/example.csv" | tr ',' '\t' >example.tsv
expect 0 "$ICESTREAM" generate -s particles.file=example.tsv -s particles.cascades=steps -o tsv.steps.npy
for ending in csv tsv; do
    untrailed $ending.steps.npy 72 | tail -c +1025 >$ending.rows
done
same csv.rows tsv.rows

# The first event of both lists is the same particle, so it has the same light.
if python=$(python_with numpy); then
    cat >check.py <<'PYTHON' || fail "no script"
import numpy
f2k, csv, sources = (numpy.load(name + ".steps.npy") for name in ("f2k", "csv", "yaml"))
assert (f2k[f2k["event_id"] == 1] == csv[csv["event_id"] == 1]).all()
assert set(f2k["source_id"][f2k["event_id"] == 2]) == {0, 1, 2}
for steps in (f2k, csv):
    assert steps["photons"].max() == 200 and (steps["photons"] > 0).all()
for event in (1, 2):
    ids = f2k["step_id"][f2k["event_id"] == event]
    assert (ids == numpy.arange(len(ids))).all()
assert (sources["photons"][sources["event_id"] == 4]).sum() == 1000
PYTHON
    expect 0 "$python" check.py
else
    echo "skipped: no Python with NumPy: the files are not compared"
fi

# A list through a pipe gives the same bytes.
expect 0 "$ICESTREAM" generate -s particles.file=- -s particles.format=f2k -s particles.cascades=steps -o again.steps.npy \
    <"$examples/example.f2k"
cmp <(untrailed f2k.steps.npy 72) <(untrailed again.steps.npy 72) || fail "other steps from a pipe"

# A run and `generate` warn of a list that they can read only once as they do of a file.
echo 'type,x,y,z,zenith,azimuth,energy,length' >doubtful.csv
for angle in 0.1 0.3 0.5 0.7 0.9; do
    echo "mu,0,0,0,$angle,$angle,1000,1" >>doubtful.csv
done
doubtful=(-s particles.losses=none -s run.seed=1)
for from in - doubtful.csv; do
    expect 0 "$ICESTREAM" run "${doubtful[@]}" -s particles.file=$from -s particles.format=csv -s sink.directory=doubts \
        --force <doubtful.csv
    says err "5 tracks, the first one of 1000 GeV and 1 m, have no energy losses" "are these angles in radians?" \
        "event: found no such column"
    [ "$(grep -c 'radians' err)" -eq 1 ] || fail "the warning is not said once"
    expect 0 "$ICESTREAM" generate "${doubtful[@]}" -s particles.file=$from -s particles.format=csv -o - <doubtful.csv
    says err "have no energy losses" "are these angles in radians?" "event: found no such column"
done

# A run receives steps while they are made.
"$ICESTREAM" generate -s particles.file="$examples/example.f2k" -s particles.cascades=steps -o - |
    "$ICESTREAM" run -q -s source.files=- -s sink.directory=piped || fail "the pipe broke"
expect 0 "$ICESTREAM" run -q -s source.files=f2k.steps.npy -s sink.directory=filed
same_rows filed/f2k.hits.npy piped/stdin-000000.hits.npy
[ "$(row_count filed/f2k.hits.npy)" -gt 100 ] || fail "too few hits to compare"

# If generate is terminated, it ends at once, also if all threads wait for a reader that does not read. An
# incomplete file never has its final name, and the next run overwrites it.
# A profile of this cascade would be written in a tenth of a second.
endless=(-s particles.cascades=steps -s 'particles.list=[{type: e-, x: 0, y: 0, z: 0, zenith: 0, azimuth: 0, energy: 9e7}]')
mkfifo stalled
"$ICESTREAM" generate --threads 3 "${endless[@]}" -o - >stalled 2>err &
process=$!
exec 3<stalled
head -c 1024 <&3 >first
kill -TERM $process
status=0
wait $process || status=$?
exec 3<&-
[ $status -eq 143 ] || fail "a terminated writer: exit status $status"
rows first 65536

expect 0 "$ICESTREAM" generate -s workload.steps=10 -o endless.steps.npy
cp endless.steps.npy short.steps.npy
"$ICESTREAM" generate --threads 3 "${endless[@]}" -s particles.file_limit=1000000000000000 -o endless.steps.npy --force 2>err &
process=$!
await [ -s endless.steps.npy.part ]
kill -TERM $process
status=0
wait $process || status=$?
[ $status -eq 143 ] || fail "a terminated generate: exit status $status"
same endless.steps.npy short.steps.npy
expect 0 "$ICESTREAM" generate -s workload.steps=10 -o endless.steps.npy --force
same endless.steps.npy short.steps.npy
is_missing endless.steps.npy.part

# The reader of the pipe ends.
"$ICESTREAM" generate --threads 3 "${endless[@]}" -o - 2>err | head -c 1024 >first
[ "${PIPESTATUS[0]}" -eq 74 ] || fail "the reader has gone: exit status ${PIPESTATUS[0]}"
! grep -q "cannot write" err || fail "generate says that its reader has gone, which only a run says"
rows first 65536

# The number of threads does not change the bytes.
for threads in 1 2 3 7; do
    expect 0 "$ICESTREAM" generate --threads $threads -s particles.file="$examples/example.csv" \
        -s particles.losses=simple -o $threads.steps.npy
    same 1.steps.npy $threads.steps.npy
done

# 40 TeV, 3.5e8 photons: all its steps together would not fit into the limit of memory.
grep -qaE '__(asan|tsan)_init' "$ICESTREAM" && finish
large='particles.list=[{type: e-, x: 0, y: 0, z: 0, zenith: 0, azimuth: 0, energy: 4e4}]'
for threads in 1 4; do
    (ulimit -v 100000 && "$ICESTREAM" generate --threads $threads -s "$large" -s particles.cascades=steps -o -) | cksum >$threads.sum
    read -r _ bytes <$threads.sum
    echo "40 TeV, $threads threads: $bytes bytes of steps in less than 100000 KiB"
    [ "$bytes" -gt 105000000 ] || fail "$bytes bytes are too few"
done
same 1.sum 4.sum
finish
