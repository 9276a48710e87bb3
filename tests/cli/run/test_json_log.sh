#!/usr/bin/env bash
# Promise: with --log json every line on standard error is one JSON object with a time and an event, whatever goes
# wrong, and the error has the same text as without. To join: `json STATUS EVENT... -- ARGUMENTS...` runs with the
# arguments and looks for the events.
source "$(dirname "$0")/../common.bash"

cat >look.py <<'END'
import json, sys
found = [json.loads(line) for line in open("err", encoding="utf-8")]
assert found, "standard error is empty"
for event in found:
    assert event["event"] and event["time"].endswith("Z"), event
missing = set(sys.argv[1:]) - {event["event"] for event in found}
assert not missing, "%s of %s" % (missing, found)
END

json() {
    local status=$1 events=()
    shift
    while [ "$1" != -- ]; do
        events+=("$1")
        shift
    done
    shift
    expect "$status" "$ICESTREAM" run --log json "$@"
    python3 look.py "${events[@]}" || fail "not JSON in every line: $* $(cat err)"
}

expect 0 "$ICESTREAM" generate -s workload.steps=5 -o a.steps.npy
echo nonsense >b.steps.npy
json 0 start "done" stop -- -s source.files=a.steps.npy
json 74 error -- -s source.files=a.steps.npy
says err '"reason":"hits/a.hits.npy: already exists"'
json 3 error stop -- -s source.files=b.steps.npy
json 2 error -- -s run.seed=-1 -s no.key=3
says err '"reason":"--set run.seed=-1: error: run.seed: found '
echo 'run: [' >broken.yaml
json 2 error -- broken.yaml
json 2 error -- --frobnicate
says err '"reason":"icestream run: unknown option --frobnicate"' '"reason":"try: icestream run --help"'
expect 2 "$ICESTREAM" run --log=json one two
python3 look.py error || fail "not JSON: $(cat err)"
mkdir in
cp a.steps.npy in/good.steps.npy
cp b.steps.npy in/bad.steps.npy
touch -d "1 minute ago" in/bad.steps.npy
json 3 start claimed retried "done" quarantined stop -- -s source.directory=in -s sink.directory=folder \
    -s sink.command='[sh, -c, "test -e again || { touch again; false; }"]'
json 0 skipped -- --resume -s source.files=in/good.steps.npy -s sink.directory=folder -s sink.journal=folder/run.journal
# The log has the events of the journal with the same fields (telemetry.md). The time of an event and the time since
# the file came differ, because the line of the journal is written when the hit file is committed.
"$ICESTREAM" run --log json --resume -s source.directory=in -s sink.directory=compared 2>compared.err
cat >compare.py <<'END'
import json
def events(path):
    found = [json.loads(line) for line in open(path, encoding="utf-8")]
    found = [{key: event[key] for key in event if key not in ("time", "seconds")} for event in found]
    return [event for event in found if event["event"] not in ("message", "warning", "progress", "sample", "error")]
log, journal = events("compared.err"), events("compared/run.journal")
assert {event["event"] for event in journal} >= {"start", "claimed", "done", "stop"}, journal
key = lambda event: json.dumps(event, sort_keys=True)
assert sorted(map(key, log)) == sorted(map(key, journal)), "log %s, journal %s" % (log, journal)
END
expect 0 python3 compare.py
rm in/*.npy
expect 0 "$ICESTREAM" generate -s workload.steps=200000 -o in/big.steps.npy
json 75 error -- --time-limit 1 -s source.directory=in -s source.watch=true
finish
