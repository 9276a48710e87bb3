#!/usr/bin/env bash
# Steps from clients of a socket: hits as from files, answers to who sent them, bad clients harm
# nobody, what was received is done after a kill.
source "$(dirname "$0")/common.bash"

python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import socket' 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || skip "no Python"

# start OPTION...: a service in the background, up to the moment at which it listens.
start() {
    "$ICESTREAM" run -s source.listen=unix:socket "$@" 2>service.err &
    service=$!
    await grep -q watching service.err # the socket may be that of a killed one
}

# client STATES FILE...: sends the files, prints the answers until each has one of the states.
client() {
    "$python" - "$@" <<'PYTHON'
import json, socket, sys
states, files = sys.argv[1].split(","), sys.argv[2:]
connection = socket.socket(socket.AF_UNIX)
connection.settimeout(60)
connection.connect("socket")
for name in files:
    with open(name, "rb") as file:
        connection.sendall(file.read())
ended = 0
for line in connection.makefile("r"):
    answer = json.loads(line)
    print(answer["state"], answer.get("output", answer.get("reason", "")))
    ended += answer["state"] in states
    if ended == len(files):
        break
PYTHON
}

mkdir steps
for seed in 1 2 3; do
    expect 0 "$ICESTREAM" generate -s run.seed=$seed -s workload.event=$seed \
        -s workload.steps=$((100 * seed)) -o steps/$seed.steps.npy
done
expect 0 "$ICESTREAM" run -q -s sink.directory=expected

start
client "done" steps/1.steps.npy steps/2.steps.npy >first &
one=$!
client "done" steps/3.steps.npy >second &
two=$!
echo nonsense >bad
client refused bad >third
wait $one $two
says third "refused" "found no .npy magic string"
for seed in 1 2 3; do
    answers=first number=$seed
    [ $seed = 3 ] && answers=second number=1
    output=$(sed -n 's/^done //p' $answers | sed -n ${number}p)
    # The trailer names another input: a message is a step file without a trailer.
    rows_end=$((1024 + 64 * $(row_count expected/$seed.hits.npy)))
    cmp -n $rows_end "expected/$seed.hits.npy" "$output" || fail "$seed differs"
done
# Received is as good as done, whatever happens.
kill -STOP $service
kill -KILL $service
wait $service 2>/dev/null
start
client received steps/1.steps.npy >fourth
kill -KILL $service
wait $service 2>/dev/null
start -s run.seed=1
# shellcheck disable=SC2317 # called by await
hit_files() { [ "$(find hits -name 'message-*.hits.npy' | wc -l)" -eq "$1" ]; }
await hit_files 4
kill -TERM $service
wait $service
[ $? = 143 ] || fail "a service that was terminated does not say 143"
is_missing socket
[ -z "$(find hits/received -name '*.npy')" ] || fail "messages are left"

# Others can reach it: refused without a token.
expect 2 "$ICESTREAM" run -s source.listen=0.0.0.0:0
says err "source.listen: found 0.0.0.0:0, which other machines can reach"
finish
