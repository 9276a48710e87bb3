#!/usr/bin/env bash
# Promises: if one hit file has the hits of many step files of a watched folder, it has every hit once, also
# if workers are stopped, killed or lose their claims. Every step file has another event, so sorted rows can be
# compared as bytes.
# To join: do something to a service that `start` starts, then compare all_hits with the reference.
source "$(dirname "$0")/common.bash"

hit_files() {
    find hits -maxdepth 1 -name '*.hits.npy'
}

# journal_has FOLDER EVENT COUNT: the journal has at least COUNT lines of this event.
journal_has() {
    local lines
    lines=$(grep -c "\"event\":\"$2\"" "$1/run.journal" 2>/dev/null)
    [ "${lines:-0}" -ge "$3" ]
}

# all_hits FOLDER: the rows of all hit files in it, 64 bytes each, sorted, as text.
all_hits() {
    local file count
    for file in "$1"/*.hits.npy; do
        "$ICESTREAM" info --verify "$file" >/dev/null || fail "$file is not sound"
        count=$(row_count "$file")
        tail -c +1025 "$file" | head -c $((64 * count)) | od -An -v -tx1 -w64
    done | sort
}

same_hits() {
    all_hits "$1" >first
    all_hits "$2" >second
    [ -s first ] || fail "no hits in $1"
    cmp first second || {
        fail "the hits in $1 and $2 are not the same"
        cat "$2/run.journal"
    }
}

# start FOLDER [ARGUMENT...]: a service for the watched folder, its process in $service.
started=0
start() {
    local hits=$1
    shift
    log=service-$((++started)).err
    "$ICESTREAM" run -s source.directory=in -s source.watch=true -s sink.directory="$hits" \
        -s sink.rotate=1e9 -s source.lease=1 "$@" 2>"$log" &
    service=$!
    await grep -qs "^icestream" "$log" # from now on it handles signals
}

stop() {
    local status=0
    kill -TERM "$service" || fail "the service has ended"
    wait "$service" || status=$?
    [ $status = 143 ] || {
        fail "the exit status of a terminated service is $status"
        cat "$log"
    }
}

# put FILE...: adds step files to the folder. A service that watches it may claim a file as soon as the file
# has its final name, so the file gets this name when it is complete.
put() {
    local file name
    for file in "$@"; do
        name=$(basename "$file")
        cp "$file" "in/$name.part"
        mv "in/$name.part" "in/$name"
    done
}

mkdir steps
for event in 1 2 3 4 5 6; do
    expect 0 "$ICESTREAM" generate -s run.seed=$event -s workload.event=$event \
        -s workload.steps=$((event < 4 ? 100 : 200)) -o steps/$event.steps.npy
done
expect 0 "$ICESTREAM" run -q -s sink.directory=each

# computed HITS: the service reports this number of hits.
# shellcheck disable=SC2317 # called by await
computed() {
    kill -USR1 "$service"
    grep -q "$1 hits" "$log"
}

# Runs another worker, which does the step files that a signal left.
make_the_rest() {
    expect 0 "$ICESTREAM" run -q -s source.directory=in -s sink.directory=hits \
        -s sink.rotate=1e9 "$@"
}

# A signal commits the hits so far, also after a bad file, and sink.command is called once per hit file.
mkdir in
put steps/*
echo nonsense >in/bad.steps.npy
command="sink.command=[$(command -v bash), -c, 'echo \$0 >>$FOLDER/called']"
start hits -s source.after=move -s "$command"
await grep -q "bad.steps.npy.*(quarantined)" "$log"
all_hits each >first
await computed "$(wc -l <first)"
is_missing called
is_missing in/.icestream/done/1.steps.npy
stop
[ "$(hit_files | wc -l)" = 1 ] || fail "not one hit file: $(ls hits)"
expect 0 "$ICESTREAM" info hits/run-*-000000.hits.npy
says out "inputs" "step files"
journal_has hits 'done' 1 || fail "nothing is done in the journal"
make_the_rest -s source.after=move -s "$command"
same_hits each hits
[ "$(wc -l <called)" = "$(hit_files | wc -l)" ] ||
    fail "sink.command was not started once for each hit file: $(cat called)"
journal_has hits 'done' 6 || fail "not all are done in the journal"
is_there in/.icestream/done/3.steps.npy
is_there hits/quarantine/bad.steps.npy.reason

# If a worker is killed before it commits a volume, the next worker makes all its hits. Committed step
# files are not computed again, also if their marks are missing.
rm -rf in hits
mkdir in
put steps/[12].steps.npy
start hits -s sink.rotate=1
await journal_has hits 'done' 2
volumes=$(hit_files | wc -l)
kill -9 $service
wait $service
rm -rf in/.icestream
put steps/*
start hits
await journal_has hits skipped 2
await journal_has hits claimed 8
kill -9 $service
wait $service
[ "$(hit_files | wc -l)" = "$volumes" ] || fail "a killed run left a volume"
start hits
await journal_has hits claimed 12
stop
make_the_rest
same_hits each hits

# A worker that is stopped for longer than its lease loses its claims to another worker. It continues with
# later step files, and no hit appears twice: its volume has step files that it lost, so the volume is
# dropped, and the other step files in it are computed again.
rm -rf in hits
mkdir in
put steps/[123].steps.npy
few=0
for event in 1 2 3; do
    few=$((few + $(row_count each/$event.hits.npy)))
done
start hits -s sink.rotate=$((few + 1))
first=$service first_log=$log
await journal_has hits claimed 3
await computed "$few"
kill -STOP $first
start hits -s sink.rotate=1
await journal_has hits 'done' 3
stop
kill -CONT $first
put steps/[456].steps.npy
await grep -q "^warning: a hit file is not written: other workers have claimed [123] of its [234] step files" "$first_log"
await journal_has hits failed 3
await journal_has hits 'done' 5
service=$first
stop
make_the_rest
same_hits each hits
finish
