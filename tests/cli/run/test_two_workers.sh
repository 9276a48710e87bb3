#!/usr/bin/env bash
# Promise: runs at the same time that write into one folder do not overwrite each other's summary and metrics. The first
# one has the configured names, the others put their worker's name into them; a run alone keeps the names.
# To join: `worker NAME ARGUMENTS...` starts a worker in the background, `run NAME ARGUMENTS...` runs one to its end.
source "$(dirname "$0")/../common.bash"

options=(-s source.directory=in -s metrics.file=numbers.prom -s source.scan=0.1)
mkdir in
for name in a b; do
    expect 0 "$ICESTREAM" generate -s workload.steps=5 -o $name.npy
done
run() {
    local worker=$1
    shift
    expect 0 "$ICESTREAM" run "${options[@]}" -s source.worker="$worker" "$@"
}

# Alone, twice: the second run replaces the files of the first one.
for name in a b; do
    cp $name.npy in/$name.steps.npy
    run alone
done
says hits/summary.json '"done": 1'
says numbers.prom 'icestream_files_total{result="done"} 1' 'icestream_hits_total '
[ "$(ls -A hits)" = $'a.hits.npy\nb.hits.npy\nrun.journal\nsummary.json' ] || fail "there are other files: $(ls -A hits)"
[ "$(ls -A)" = $'a.npy\nb.npy\nerr\nhits\nin\nnumbers.prom\nout' ] || fail "there are other files: $(ls -A)"

# A service, and a second worker that comes and goes meanwhile, two times.
rm hits/summary.json numbers.prom
"$ICESTREAM" run -q "${options[@]}" -s source.worker=first -s source.watch=true 2>first.err &
service=$!
await test -e numbers.prom
for _ in 1 2; do
    run second
    says err "hits/summary.json: another run writes this file at the moment; this run writes hits/summary-second.json" \
        "numbers.prom: another run writes this file at the moment; this run writes numbers-second.prom"
    is_missing hits/summary.json
    says hits/summary-second.json '"exit_status": 0' '"schema": "icestream.summary"'
    says numbers-second.prom 'icestream_files_total{worker="second",result="done"} 0' 'icestream_hits_total{worker="second"} 0'
done
# With its own path a worker needs no other name.
run third --summary third.json --metrics third.prom
says third.json '"exit_status": 0'
says third.prom 'icestream_hits_total 0'
kill -TERM $service
wait $service
says hits/summary.json '"exit_status": 143'
says numbers.prom 'icestream_hits_total 0'
is_missing hits/.summary.json.lock
is_missing .numbers.prom.lock

# The reports of other workers in the folder of the step files are not step files.
cp hits/summary-second.json numbers-second.prom in
cp hits/summary-second.json in/summary.json
run alone -s 'source.pattern="*"' -s sink.directory=elsewhere --summary in/summary.json --metrics in/numbers.prom
is_there in/summary-second.json
is_there in/numbers-second.prom
is_missing elsewhere/quarantine
finish
