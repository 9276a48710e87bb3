#!/usr/bin/env bash
# Promise: the same steps give the same hits, byte for byte, through every source and into every sink. The test prints the table
# of the combinations. Sessions are compared with runs in tests/program/installed.sh.
# To join: a new source is a function that runs the program with the options of a sink, and a word in the list of the loop.
# shellcheck disable=SC2317 # the sources are called by their names
source "$(dirname "$0")/../common.bash"

light=(-s workload.steps=300 -s workload.photons_per_step=400)
options=("${WIDE[@]}" -s device.threads=2 -q)
python=$(python_with numpy) || skip "there is no Python with NumPy"
mkdir given folder
expect 0 "$ICESTREAM" generate "${light[@]}" -o given/a.steps.npy
mkfifo pipe
"$ICESTREAM" version --verbose >facts
queue=queue
if ! command -v redis-server >/dev/null || ! grep -q 'hiredis: [0-9]' facts; then
    echo "skipped: there is no redis-server, or icestream was built without hiredis: a queue is no source here"
    queue=
fi

# Each source runs the program with the options of a sink, and hits of files are in ./hits afterwards.
file() { "$ICESTREAM" run "${options[@]}" -s 'source.files=[given/a.steps.npy]' "$@"; }
url() { "$ICESTREAM" run "${options[@]}" -s "source.files=[file://$PWD/given/a.steps.npy]" "$@"; }
input() { "$ICESTREAM" run "${options[@]}" -s source.files=- "$@" <given/a.steps.npy; }
pipe() {
    cat given/a.steps.npy >pipe &
    "$ICESTREAM" run "${options[@]}" -s 'source.files=[pipe]' "$@"
}
light() { "$ICESTREAM" run "${options[@]}" "${light[@]}" "$@"; }
folder() {
    cp given/a.steps.npy folder/
    "$ICESTREAM" run "${options[@]}" -s source.directory=folder -s source.after=delete "$@"
}
clients() {
    "$ICESTREAM" run "${options[@]}" -s source.listen=unix:socket "$@" 2>service.err &
    local service=$!
    await test -S socket
    "$ICESTREAM" send given/a.steps.npy --to unix:socket -o sent >sent.out 2>&1 || fail "send: $(cat sent.out)"
    kill -TERM "$service"
    wait "$service"
    [ $? -eq 143 ]
}
queue() {
    local port status=0
    port=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
    redis-server --port "$port" --bind 127.0.0.1 --save '' >/dev/null 2>&1 &
    local server=$! address=redis://127.0.0.1:$port/ice
    await "$ICESTREAM" put given/a.steps.npy --queue "$address" >/dev/null 2>&1
    "$ICESTREAM" run "${options[@]}" -s "source.queue=$address" "$@" || status=$?
    kill "$server"
    wait "$server" 2>/dev/null
    return "$status"
}

# digest FILE: of the rows of a NumPy array, without its header and trailer.
digest() {
    "$python" -c '
import hashlib, numpy, sys
rows = numpy.load(sys.argv[1]).tobytes()
print(hashlib.sha256(rows).hexdigest()[:16], len(rows) > 1000)' "$1"
}

# Hit files, and a message on standard output. What comes from a folder, clients or a queue needs a folder for its hits.
printf '%-10s %-22s %-22s\n' source 'hit file' message
expected=
for name in file url input pipe light folder clients $queue; do
    rm -rf hits out
    "$name" -s sink.directory=hits >log 2>&1 || fail "$name into a hit file: $(cat log)"
    found=$(digest hits/*.hits.npy)
    expected=${expected:-$found}
    [ "$found" = "$expected" ] || fail "$name gives other rows in a hit file"
    message=-
    case $name in
    clients | queue) ;;
    *)
        "$name" -s sink.directory=- >out 2>log || fail "$name into a message: $(cat log)"
        message=$(digest out)
        [ "$message" = "$expected" ] || fail "$name gives other rows in a message"
        ;;
    esac
    printf '%-10s %-22s %-22s\n' "$name" "$found" "$message"
done
[ "$(row_count hits/*.hits.npy)" -gt 100 ] || fail "too few hits to compare"

# Waveforms and tables are sums: files and light give the same ones. A comparison of schedules gives as many hits.
for kind in file light; do
    "$kind" -s sink.directory="waves-$kind" -s sink.hits=waveforms >log 2>&1 || fail "$kind into waveforms: $(cat log)"
done
[ "$(digest waves-file/*)" = "$(digest waves-light/*)" ] || fail "light gives other waveforms than its step file"
table=(-s stages.tabulate=spherical -s ice.model=uniform -s table.source=fixed -s device.threads=2)
expect 0 "$ICESTREAM" tabulate "${table[@]}" -s 'source.files=[given/a.steps.npy]' -o file.npy
expect 0 "$ICESTREAM" tabulate "${table[@]}" "${light[@]}" -o light.npy
[ "$(digest file.npy)" = "$(digest light.npy)" ] || fail "light gives another table than its step file"
expect 0 "$ICESTREAM" compare "${WIDE[@]}" -s 'source.files=[given/a.steps.npy]'
grep -qw "$(row_count hits/*.hits.npy)" out || fail "compare finds another number of hits than $(row_count hits/*.hits.npy): $(cat out)"
finish
