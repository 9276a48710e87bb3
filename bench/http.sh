#!/usr/bin/env bash
# How close a run whose step files come through HTTP on loopback is to the rate of its kernels.
#
#   bench/http.sh [ICESTREAM [FILES [STEPS [PHOTONS_PER_STEP]]]] [KEY=VALUE ...]
#
# FILES (20) step files of STEPS (800000, 51 MB) steps of PHOTONS_PER_STEP (1000) photons are run twice: from the disk,
# and from a server in Python on this machine, which other programs would replace by a faster one. Prints a table in
# Markdown: seconds from the start of the process to its end, seconds of kernels of a GPU, and their share. The start of
# the program is within the time; a run of one photon shows how long it is. KEY=VALUE are settings of all runs, for
# example device.backend=cuda. TMPDIR is the folder of all files: a folder in memory leaves the disk out.
set -euo pipefail
icestream=$(realpath "${1:-icestream}")
files=${2:-20} steps=${3:-800000} photons=${4:-1000}
shift $(($# < 4 ? $# : 4))
settings=()
for setting in "$@"; do
    settings+=(-s "$setting")
done
folder=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$folder"' EXIT
cd "$folder"
mkdir steps
for ((i = 0; i < files; ++i)); do
    "$icestream" generate -s workload.steps="$steps" -s workload.photons_per_step="$photons" -s workload.event="$i" \
        -o "steps/$i.steps.npy" 2>>log
done
"$icestream" generate -s workload.steps=1 -s workload.photons_per_step=1 -o one.steps.npy 2>>log
python3 - <<'PYTHON' &
import functools, http.server, os

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(
    http.server.SimpleHTTPRequestHandler, directory="steps"))
server.RequestHandlerClass.func.log_message = lambda *words: None
with open("port.part", "w") as file:
    file.write(str(server.server_port))
os.rename("port.part", "port")
server.serve_forever()
PYTHON
server=$!
while [[ ! -e port ]]; do sleep 0.1; done

# measure NAME FILE...: one row of the table.
measure() {
    local name=$1 list start end
    shift
    list=$(IFS=,; echo "$*")
    start=$(date +%s.%N)
    "$icestream" run -q --force -s "source.files=[$list]" -s sink.directory="hits" "${settings[@]}" 2>>log || {
        cat log >&2
        exit 1
    }
    end=$(date +%s.%N)
    python3 - "$name" "$start" "$end" <<'PYTHON'
import json, sys
name, start, end = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
with open("hits/summary.json") as file:
    summary = json.load(file)
kernels = (summary["device"]["gpu"] or {}).get("kernel_seconds") or 0.0
print("| %s | %.3f | %.3f | %.1f %% | %.3g |" % (
    name, end - start, kernels, 100 * kernels / (end - start), summary["account"]["created"]))
PYTHON
    rm -rf hits
}
echo "| step files | wall time (s) | kernels (s) | share | photons |"
echo "| --- | ---: | ---: | ---: | ---: |"
address=http://127.0.0.1:$(cat port)
from_disk=(steps/*.npy)
from_server=("${from_disk[@]/#steps/"$address"}")
for _ in 1 2 3; do
    measure "one photon" one.steps.npy
    measure "from the disk" "${from_disk[@]}"
    measure "through HTTP" "${from_server[@]}"
done
