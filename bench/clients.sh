#!/usr/bin/env bash
# Many producers of steps send small messages to one run, which is killed and started again in the middle.
#
#   bench/clients.sh [ICESTREAM [PRODUCERS [MESSAGES [STEPS [THREADS]]]]]
#
# Each of the producers (32) is an `icestream send` with MESSAGES (200) messages of STEPS (5000) steps of one photon, and
# gets its hits over the connection. In the first round nothing is disturbed. In the second one the run gets kill -9 when a
# third of all messages is done, and is started again a second later. Each round prints how long it took, and Jain's
# index of the photons of the producers at the moment at which the first one ends: 1 if all have got the same. The
# script fails if a producer fails, or if the hits of any message are not those of the same steps in a file, byte for byte.
set -euo pipefail
icestream=$(realpath "${1:-icestream}")
producers=${2:-32} messages=${3:-200} steps=${4:-5000} threads=${5:-$(nproc)}
python=$(for each in python3 /usr/bin/python3; do "$each" -c 'import numpy' 2>/dev/null && echo "$each" && break; done) ||
    { echo "clients.sh: no Python with NumPy" >&2; exit 1; }
folder=$(mktemp -d)
# shellcheck disable=SC2317 # called by the trap
clean() {
    local id
    for id in $(jobs -p); do kill -KILL "$id" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap clean EXIT
cd "$folder"

seconds() { awk -v begin="$1" -v end="$(date +%s.%N)" 'BEGIN { printf "%.1f", end - begin }'; }
done_messages() { cat answers.* 2>/dev/null | grep -c '"done"' || true; }

# ---- the steps of all producers, as parts of one step file, and their hits from files ----
mkdir steps
: >empty.yaml
"$icestream" generate -s workload.photons_per_step=1 -s workload.steps=$((producers * messages * steps)) -o all.npy 2>>log
"$icestream" split empty.yaml all.npy --parts $((producers * messages)) -o 'steps/{part}.steps.npy' >>log 2>&1
rm all.npy
parts=(steps/*.steps.npy)
begun=$(date +%s.%N)
"$icestream" run -q -s sink.directory=expected -s device.backend=cpu -s device.threads="$threads" -s 'source.files=[steps/*.steps.npy]'
echo "files: $(seconds "$begun") s for ${#parts[@]} files of about $steps steps, $(du -sb steps | awk '{ printf "%.2f", $1 / 1e9 }') GB"

start() {
    rm -f service.err
    "$icestream" run -s source.listen=unix:socket -s source.clients=$((2 * producers)) -s sink.directory="$1" \
        -s device.backend=cpu -s device.threads="$threads" >service.out 2>service.err </dev/null &
    service=$!
    until grep -qs watching service.err; do
        kill -0 "$service" || { cat service.err; exit 1; }
        sleep 0.05
    done
}
# The messages of a producer are every PRODUCERS-th part.
produce() {
    local mine=()
    for ((m = 0; m < messages; ++m)); do mine+=("${parts[m * producers + $1]}"); done
    exec "$icestream" send "${mine[@]}" --to unix:socket -o "$2" >"answers.$1" 2>"errors.$1" </dev/null
}

# round NAME KILLED: all producers send everything.
round() {
    local begun first="" senders=() p
    rm -f answers.* errors.*
    start "hits-$1"
    kill -STOP "$service" # all of them begin at the same time
    for ((p = 0; p < producers; ++p)); do
        produce "$p" "$1" &
        senders+=($!)
    done
    sleep 1
    begun=$(date +%s.%N)
    kill -CONT "$service"
    if [[ $2 == yes ]]; then
        until (($(done_messages) >= ${#parts[@]} / 3)); do sleep 0.1; done
        kill -KILL "$service"
        wait "$service" 2>/dev/null || true
        sleep 1
        start "hits-$1"
    fi
    wait -n "${senders[@]}" || { cat errors.*; exit 1; }
    first=$(for ((p = 0; p < producers; ++p)); do grep -c '"done"' "answers.$p" || true; done)
    for ((p = 0; p < producers; ++p)); do
        wait "${senders[p]}" || { echo "producer $p failed:" && cat "errors.$p"; exit 1; }
    done
    echo "$first" | awk -v name="$1" -v time="$(seconds "$begun")" -v again="$(awk '{ n += $(NF - 2) } END { print n + 0 }' errors.*)" '
        { sum += $1; squares += $1 * $1; least = NR == 1 || $1 < least ? $1 : least }
        END { printf "%s: %s s; Jain index %.4f, the last producer had %d messages when the first one ended; %d messages were sent again\n",
              name, time, sum * sum / (NR * squares), least, again }'
    kill -TERM "$service"
    wait "$service" 2>/dev/null || true
    compare "$1"
}

# compare FOLDER: only rows, because the trailers name different inputs.
compare() {
    "$python" - "$1" <<'END'
import glob, os, sys, numpy
expected = sorted(glob.glob("expected/*.hits.npy"))
hits = 0
for path in expected:
    want, found = numpy.load(path), numpy.load(os.path.join(sys.argv[1], os.path.basename(path)))
    assert want.tobytes() == found.tobytes(), path
    hits += len(want)
print("%s: the hits of all %d messages are those of files, %d in all" % (sys.argv[1], len(expected), hits))
END
}

round undisturbed no
round killed yes
