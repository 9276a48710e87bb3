#!/usr/bin/env bash
# One hit file for many step files of a watched folder: every hit once, whatever happens to who
# makes it. Each step file has an event of its own, so sorted rows are comparable as bytes.
source "$(dirname "$0")/common.bash"

hit_files() {
    find hits -maxdepth 1 -name '*.hits.npy'
}

# journal_has FOLDER EVENT COUNT: so many such lines at least.
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
    cmp first second || fail "the hits in $1 and $2 are not the same"
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
    await grep -qs "^icestream" "$log" # it listens for signals
}

stop() {
    local status=0
    kill -TERM "$service" || fail "the service is gone"
    wait "$service" || status=$?
    [ $status = 143 ] || {
        fail "a service that was terminated says $status"
        cat "$log"
    }
}

mkdir steps
for event in 1 2 3 4 5 6; do
    expect 0 "$ICESTREAM" generate -s run.seed=$event -s workload.event=$event \
        -s workload.steps=$((event < 4 ? 100 : 200)) -o steps/$event.steps.npy
done
expect 0 "$ICESTREAM" run -q -s sink.directory=each

# computed HITS: the service says that it has so many.
# shellcheck disable=SC2317 # called by await
computed() {
    kill -USR1 "$service"
    grep -q "$1 hits" "$log"
}

# What a signal left to who comes next.
make_the_rest() {
    expect 0 "$ICESTREAM" run -q -s source.directory=in -s sink.directory=hits \
        -s sink.rotate=1e9 "$@"
}

# A signal commits what is there; a bad file changes nothing of that, and the program that hears of
# hit files hears of each one once.
mkdir in
cp steps/* in
echo nonsense >in/bad.steps.npy
command="sink.command=[$(command -v bash), -c, 'echo \$0 >>$FOLDER/called']"
start hits -s source.after=move -s "$command"
await grep -q "bad.steps.npy" "$log"
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

# Killed with a volume that is not committed: who comes next makes it all. What was committed
# before is not made again, also where the mark of it is gone.
rm -rf in hits
mkdir in
cp steps/[12].steps.npy in
start hits -s sink.rotate=1
await journal_has hits 'done' 2
volumes=$(hit_files | wc -l)
kill -9 $service
wait $service
rm -rf in/.icestream
cp steps/* in
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

# Who was stopped for longer than its lease loses what it held to another worker. It goes on with
# what it takes afterwards, and nothing is there twice: the volume that gets full has lost step
# files in it, so it is dropped, and the others are made anew.
rm -rf in hits
mkdir in
cp steps/[123].steps.npy in
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
cp steps/[456].steps.npy in
await grep -q "^warning: [123] of [234] step files of a hit file" "$first_log"
await journal_has hits failed 3
await journal_has hits 'done' 5
service=$first
stop
make_the_rest
same_hits each hits
finish
