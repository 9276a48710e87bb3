#!/bin/bash
# Promises of runs with a queue in which something is wrong: a ticket that no run can use stops no worker, and is a dead letter
# after source.attempts; malformed tickets count in the exit status; two tickets of one name are both computed; `put` goes on after a bad file, and
# `put --remove` removes tickets; `status` knows that a worker was killed; a mute broker keeps no run. It needs a redis-server. To join: one more ticket, or one more part.
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/common.bash
. "$here/../common.bash"
command -v redis-server >/dev/null || skip "there is no redis-server"
python=$(python_with json) || skip "there is no Python"
"$ICESTREAM" version --verbose >facts
grep -q 'hiredis: [0-9]' facts || skip "this icestream was built without hiredis"

mkdir -p broker
port=$("$python" -c 'import socket
print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
# A producer that is earlier than the broker waits for it.
expect 0 "$ICESTREAM" generate -s workload.steps=20 -o early.steps.npy
"$ICESTREAM" put early.steps.npy --queue "redis://127.0.0.1:$port/early" 2>early.err &
early=$!
sleep 0.5
redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$FOLDER/broker" --logfile log &
broker=$!
queue=redis://127.0.0.1:$port/ice
redis() {
    redis-cli -p "$port" --raw "$@" >answer
}
await redis ping
wait $early || fail "put did not wait for the broker: $(cat early.err)"

# shellcheck disable=SC2120,SC2317 # called through `expect`, also with arguments
work() {
    "$ICESTREAM" run -q -s "source.queue=$queue" -s source.scan=0.1 -s source.lease=1 -s source.attempts=2 \
        -s source.claims=1 -s device.backend=cpu -s sink.directory=hits --resume "$@"
}
# tickets WAITING DONE DEAD: compares the numbers of the queue, with the tickets in work as waiting.
tickets() {
    expect 0 "$ICESTREAM" status --json "$queue"
    local found
    found=$("$python" -c 'import json
report = json.load(open("out"))
print(report["waiting"] + report["in_work"], report["done"], report["dead"])')
    [ "$found" = "$*" ] || fail "found the tickets $found, expected $*"
}
for i in 1 2 3 4 5 6 7 8; do
    expect 0 "$ICESTREAM" generate -s workload.steps=20 -s workload.event=$i -o "s$i.steps.npy"
done

# --- put goes on after a bad file
echo nothing >.hidden.steps.npy
refuses 3 "error: missing.steps.npy: No such file or directory" put s1.steps.npy missing.steps.npy .hidden.steps.npy s2.steps.npy \
    --queue "$queue"
says err "error: .hidden.steps.npy: " "2 tickets put, 0 were there already" "2 of 4 files were not put"
tickets 2 0 0

# --- tickets that no run can use, in front of good ones: they stop nobody, and are dead letters after their attempts
digest=$(printf 'a%.0s' {1..64})
redis DEL ice
redis XADD ice '*' name x1.steps.npy steps x configuration "$digest"
redis XADD ice '*' name x2.steps.npy url file:///nowhere/x2.steps.npy
redis XADD ice '*' name x3.steps.npy url s3://bucket/x3.steps.npy
redis DEL ice:names
expect 0 "$ICESTREAM" put s1.steps.npy s2.steps.npy --queue "$queue"
expect 74 work
says err "for the configuration with the digest aaaaaaaaaaaa" "3 tickets that this run cannot use were left to other workers"
tickets 3 2 0
# shellcheck disable=SC2317 # called by `await`
dead_letters() {
    # shellcheck disable=SC2119
    work 2>err
    redis XLEN ice:dead
    [ "$(cat answer)" = "$1" ]
}
await dead_letters 3
tickets 0 2 3
redis XRANGE ice:dead - +
says answer "for the configuration with the digest aaaaaaaaaaaa" "in source.queue_files" "expected source.fetch"
expect 0 work

# --- malformed tickets count in the exit status, and hide no ticket behind them
redis XADD ice '*' name y1.steps.npy steps x bytes 1 sha256 "$digest"
redis XADD ice '*' steps x
expect 0 "$ICESTREAM" put s3.steps.npy --queue "$queue"
expect 3 work
says hits/run.journal "found steps with the SHA-256" "found no name"
tickets 0 3 5

# --- two tickets of one name
"$python" -c '
import socket, sys
steps = open("s4.steps.npy", "rb").read()
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as broker:
    for _ in range(2):
        words = [b"XADD", b"ice", b"*", b"name", b"s4.steps.npy", b"steps", steps]
        broker.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        broker.recv(100)' "$port"
expect 0 work
tickets 0 5 5

# --- removing tickets
expect 0 "$ICESTREAM" put s5.steps.npy s6.steps.npy --queue "$queue"
refuses 3 "found no ticket with the name none.steps.npy" put --remove s5.steps.npy none.steps.npy --queue "$queue"
says err "1 ticket removed"
tickets 1 5 6
redis XRANGE ice - +
expect 0 "$ICESTREAM" put --remove "$(head -n 1 answer)" --queue "$queue"
tickets 0 5 7
redis XRANGE ice:dead - +
says answer "removed by icestream put --remove"
refuses 2 "found --remove with --config, --url or --embed" put --remove s5.steps.npy --embed 1 --queue "$queue"

# --- a worker that was killed
"$ICESTREAM" run -q -s "source.queue=$queue" -s source.watch=true -s source.lease=3600 -s source.worker=killed \
    -s device.backend=cpu -s sink.directory=hits-killed 2>killed.err &
killed=$!
# shellcheck disable=SC2317 # called by `await`
worker_is() {
    "$ICESTREAM" status "$queue" >out && grep -q "killed .*$1" out
}
await worker_is alive
kill -KILL $killed
wait $killed 2>/dev/null
expect 0 "$ICESTREAM" status "$queue"
grep -q 'killed *lost' out || fail "the worker was killed: $(cat out)"

# --- texts of tickets: `status` shows what is printable, of any language
redis XADD ice '*' name $'\xc3\xb6 100% \x1b[2J\xff' steps x
expect 3 work
says hits/run.journal "expected no newlines and other control characters"
prints '\x1b[2J\xff' status "$queue"
says out 'ö 100%'
expect 0 "$ICESTREAM" status --json "$queue"
"$python" -c 'import json
[name] = [letter["name"] for letter in json.load(open("out"))["failures"] if "100" in letter["name"]]
assert name == "ö 100% \\x1b[2J\\xff", name' || fail "the name in: $(cat out)"

# --- a broker that is there and does not answer keeps no run beyond its time limit, or two signals
mute() {
    expect 0 "$ICESTREAM" put "s$1.steps.npy" --queue "$queue"
    timeout -s KILL 60 "$ICESTREAM" run -q -s "source.queue=$queue" -s source.watch=true -s source.lease=40 \
        -s device.backend=cpu -s "sink.directory=mute-$1" --time-limit "$2" 2>mute.err &
    run=$!
    await test -e "mute-$1/s$1.hits.npy"
    kill -STOP $broker
}
ended() { # STATUS
    local status=0
    wait $run || status=$?
    [ $status = "$1" ] || fail "a run with a mute broker ended with $status, expected $1: $(cat mute.err)"
    kill -CONT $broker
}
mute 7 8
ended 75
mute 8 1000
kill -TERM $run
sleep 1 # the same signal within 0.5 s is one
kill -TERM $run
ended 143

finish
