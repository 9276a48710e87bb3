#!/usr/bin/env bash
# Promises: step files that clients send through a socket give the same hits as files; every client gets
# answers about its own step files; bad clients disturb no other client; a step file that was received is
# done, also if the service is killed.
# To join: start a service with `start`, send files with `client`, and check its answers.
source "$(dirname "$0")/../common.bash"

python=$(python_with socket) || skip "no Python"

# start OPTION...: a service in the background, up to the moment at which it listens.
start() {
    rm -f service.err # otherwise the lines of a killed service are found
    "$ICESTREAM" run -s source.listen=unix:socket "$@" 2>service.err &
    service=$!
    await grep -qs watching service.err # the socket alone may be of a killed service
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
    # Only the rows are compared, because the trailers name different inputs.
    same_rows expected/$seed.hits.npy "$output"
done
# A file with damaged rows is refused before anything is computed, and the connection goes on. Steps with
# another light are refused, too; the record is in the trailer.
cp steps/2.steps.npy damaged.npy
printf '\001' | dd of=damaged.npy bs=1 seek=1068 conv=notrunc status=none
client done,refused steps/1.steps.npy damaged.npy steps/3.steps.npy >answers
says answers "refused client" "message 1: rows 0 to" "CRC-32C"
[ "$(grep -c '^done' answers)" -eq 2 ] || fail "not both good files are done: $(cat answers)"
[ "$(grep -c '^received' answers)" -eq 2 ] || fail "a damaged file was received"
particles='particles.list=[{type: e-, x: 30, y: 0, z: -300, zenith: 60, azimuth: 30, energy: 1}]'
expect 0 "$ICESTREAM" generate -s "$particles" -s detector.oversize=2 -o light.steps.npy
client refused light.steps.npy >answers
says answers "light: detector.oversize: found steps that were made for 2, expected 1"
[ "$(find hits -name 'message-*.hits.npy' | wc -l)" -eq 5 ] || fail "a refused message has hits"

# A step file that the service has received is done, also if the service is killed.
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
await hit_files 6
kill -TERM $service
wait $service
[ $? = 143 ] || fail "the exit status of a terminated service is not 143"
is_missing socket
[ -z "$(find hits/received -name '*.npy')" ] || fail "messages are left"
finish
