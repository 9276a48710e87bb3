#!/usr/bin/env bash
# Promises: clients that send garbage, stop in the middle of a message, or never read their hits get a clear message and
# disturb nobody: `icestream send` next to them gets the hits of files, the run goes on, and at its end nothing incomplete
# is left. A server that is silent, or sends what is of no use, is given up. A message that was received is computed, also if its client goes and the run is killed. To join: one more client in hostile.py, and what it and the run say about it.
source "$(dirname "$0")/../common.bash"

python=$(python_with socket) || skip "no Python"

cat >hostile.py <<'PYTHON'
"""hostile.py KIND FILE: one client that misbehaves; prints what it is answered."""
import os, random, re, socket, struct, sys, time
kind, path = sys.argv[1:]
steps = open(path, "rb").read()
connection = socket.socket(socket.AF_UNIX)
connection.settimeout(60)
connection.connect("socket")


def read_all():
    try:
        while block := connection.recv(65536):
            sys.stdout.write(block.decode(errors="replace"))
    except OSError as error:
        print("the connection ended:", type(error).__name__)


if kind == "garbage":
    connection.sendall(random.Random(1).randbytes(100000))
    read_all()
elif kind == "http":
    connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    read_all()
elif kind == "word":
    connection.sendall(b"HITTING\n" + steps)
    read_all()
elif kind == "huge":  # a header that announces more rows than anybody has
    header, count = re.subn(rb"\( {12} *10,\)", lambda old: b"(999999999999,)".ljust(len(old[0])), steps[:1024])
    assert count == 1, "no number of rows"
    connection.sendall(header)
    read_all()
elif kind == "half":  # ends its side in the middle of a message
    connection.sendall(b"HITS\n" + steps[:1500])
    connection.shutdown(socket.SHUT_WR)
    read_all()
elif kind == "received":  # goes when its message has been received
    connection.sendall(steps)
    assert b'"received"' in connection.recv(65536)
elif kind == "gone":  # closes in the middle of the second message, with its hits unread
    connection.sendall(b"HITS\n" + steps + steps[:1500])
elif kind == "reset":
    connection.sendall(b"HITS\n" + steps * 3)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
elif kind in ("deaf", "stuck"):
    # deaf: sends all it may, and never reads; stuck: stops in the middle of a message, and stays.
    connection.settimeout(1)
    try:
        for _ in range(50 if kind == "deaf" else 1):
            connection.sendall((b"HITS\n" if _ == 0 else b"") + (steps if kind == "deaf" else steps[:1500]))
    except TimeoutError:
        pass
    print("waits", flush=True)
    while os.getppid() > 1:
        time.sleep(0.2)
PYTHON

start() {
    rm -f service.err # otherwise the lines of a killed run are found
    "$ICESTREAM" run -s source.listen=unix:socket -s source.clients=8 -s source.photon_limit=100000 -s device.threads=1 \
        2>service.err >service.out </dev/null &
    service=$!
    await grep -qs watching service.err # the socket alone may be of a killed run
}
start
mkdir steps
for i in 1 2 3; do
    expect 0 "$ICESTREAM" generate -s workload.steps=10 -s run.seed=$i -s workload.event=$i -o steps/$i.steps.npy
done
# Steps with more hits than the buffers of the system hold.
expect 0 "$ICESTREAM" generate -s workload.steps=300 -s workload.event=9 -o many.steps.npy
expect 0 "$ICESTREAM" run -q -s sink.directory=expected

# Servers that are connected and silent: from the start, after `received`, within the hits; and one that accepts nobody.
cat >silent.py <<'PYTHON'
"""silent.py KIND: a server at the socket KIND that says something and stays."""
import socket, sys, time
kind = sys.argv[1]
server = socket.socket(socket.AF_UNIX)
server.bind(kind)
server.listen(0 if kind == "full" else 5)
if kind == "full":
    first = socket.socket(socket.AF_UNIX)
    first.connect(kind)
print("waits", flush=True)
if kind != "full":
    connection, got = server.accept()[0], b""
    while b"NUMPY" not in got:
        got += connection.recv(65536)
    connection.sendall({"mute": b"", "received": b'{"message":0,"state":"received"}\n',
                        "begun": b'{"message":0,"state":"done","bytes":200,"sha256":"00"}\nabc'}.get(kind, b""))
    while kind in ("drips", "repeats"):  # a line that never ends; an answer that says nothing more
        connection.sendall(b" " if kind == "drips" else b'{"message":0,"state":"received"}\n')
        time.sleep(0.1)
time.sleep(600)
PYTHON
for kind in mute received begun drips repeats full; do
    "$python" silent.py $kind >silent.$kind 2>&1 &
    silent=$!
    await grep -qs waits silent.$kind
    expect 75 timeout 120 "$ICESTREAM" send steps/1.steps.npy --to unix:$kind -o silent --patience 1
    if [ $kind = full ]; then
        says err "unix:full: no answer" "the connection was lost"
    else
        says err "unix:$kind: no answer and less than 1024 bytes of steps or hits came or went for 1 s, though the server is connected"
    fi
    kill $silent
done
is_missing silent/1.hits.npy

good() {
    expect 0 "$ICESTREAM" send steps/1.steps.npy steps/2.steps.npy steps/3.steps.npy --to unix:socket -o "$1" --patience 60
    for i in 1 2 3; do
        same_rows expected/$i.hits.npy "$1/$i.hits.npy"
    done
}

# Two that never go, and stay to the end.
"$python" hostile.py deaf many.steps.npy >deaf.out 2>&1 &
"$python" hostile.py stuck steps/1.steps.npy >stuck.out 2>&1 &
await grep -qs waits deaf.out
await grep -qs waits stuck.out
good meanwhile

for kind in garbage http word huge half gone reset; do
    "$python" hostile.py $kind steps/1.steps.npy >$kind.out 2>&1 || fail "$kind: $(cat $kind.out)"
done
says garbage.out '"state":"refused"' "found no .npy magic string"
says http.out '"state":"refused"' "found no .npy magic string"
says word.out '"state":"refused"' "expected the line HITS or a .npy message"
says huge.out '"state":"refused"' "expected at most"
says half.out '"state":"refused"' "byte 1500: found the end of the stream, expected the rest of the rows"
for said in "found no .npy magic string" "expected the line HITS" "byte 1500: found the end of the stream"; do
    says service.err "$said"
done
good behind

# A few bytes that ask for the work of hours.
expect 0 "$ICESTREAM" generate -s workload.steps=10 -s workload.photons_per_step=1000000000 -o greedy.steps.npy
expect 3 "$ICESTREAM" send greedy.steps.npy many.steps.npy --to unix:socket -o greedy
says err "message 0: found 10000000000 photons, expected at most 100000 (source.photon_limit)" "1 messages done"
is_missing greedy/greedy.hits.npy

# Steps that were made for other modules.
expect 0 "$ICESTREAM" generate -s detector.oversize=2 -o light.steps.npy \
    -s 'particles.list=[{type: e-, x: 30, y: 0, z: -300, zenith: 60, azimuth: 30, energy: 1}]'
refuses 3 "light: detector.oversize: found steps that were made for 2, expected 1" send light.steps.npy --to unix:socket

# More clients than source.clients allows: one more is refused with a message, and may come again.
for ((i = 0; i < 8; ++i)); do
    "$python" hostile.py stuck steps/1.steps.npy >stuck.$i 2>&1 &
    crowd[i]=$!
    await grep -qs waits stuck.$i
done
refuses 75 "as many as source.clients allows" send steps/1.steps.npy --to unix:socket --patience 1
kill "${crowd[@]}"
good after

kill -0 "$service" || fail "the run has ended: $(cat service.err)"
grep -aiE 'internal error|sanitizer' service.err && fail "the run reports an internal error"

# shellcheck disable=SC2317 # called by await
hit_files() { [ "$(find hits -name 'message-*.hits.npy' | wc -l)" -ge "$1" ]; }
before=$(find hits -name 'message-*.hits.npy' | wc -l)
"$python" hostile.py received steps/1.steps.npy || fail "no answer"
kill -KILL "$service"
wait "$service" 2>/dev/null
start
await hit_files $((before + 1))
kill -TERM "$service"
wait "$service"
[ $? = 143 ] || fail "the exit status of the run is not 143: $(cat service.err)"
is_missing socket
[ -z "$(find hits/received -name '*.npy')" ] || fail "messages are left"
[ -z "$(find hits expected meanwhile behind after -name '*.part')" ] || fail "an incomplete file is left: $(find . -name '*.part')"
expect 0 "$ICESTREAM" info --verify hits/*.hits.npy
finish
