#!/usr/bin/env bash
# How many tickets per second one broker on this machine gives to 64 workers and takes back, how long a claim takes, and
# whether the memory of the workers grows.
#
#   bench/claims.sh [BUILD [TICKETS [WORKERS]]]
#
# BUILD (build/release) is a build folder with the target bench_claims. It starts a redis-server (or $BROKER, such as
# valkey-server) on loopback with an append-only file, for each row a new one. TICKETS (1000000) is the number of tickets of the
# first row; the others have a fifth. The workers compute nothing: bench/claims.c explains what is measured. Prints a table in
# Markdown: claims per second, times of calls (ms), the largest anonymous memory of a worker after a tenth of its
# tickets and at the end (KiB), CPU time of the broker as a share of the time, and memory of the broker at the end (MB).
# A second table is about one `icestream run` with a twentieth of the tickets, each with one photon: its memory (KiB).
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release} tickets=${2:-1000000} workers=${3:-64}
cmake --build "$build" --target bench_claims >/dev/null
program=$(find "$PWD/$build" -name bench_claims -type f -perm -u+x)
folder=$(mktemp -d)
broker=
trap '[[ -z $broker ]] || kill "$broker"; rm -rf "$folder"' EXIT

start_broker() {
    port=$(python3 -c 'import socket
print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
    mkdir "$folder/broker" "$folder/workers"
    "${BROKER:-redis-server}" --port "$port" --bind 127.0.0.1 --save '' --appendonly yes --appendfsync everysec \
        --dir "$folder/broker" --logfile log &
    broker=$!
    until python3 -c "import socket; socket.create_connection(('127.0.0.1', $port))" 2>/dev/null; do sleep 0.1; done
}

stop_broker() {
    kill "$broker"
    wait "$broker" || true
    broker=
    rm -rf "$folder/broker" "$folder/workers"
}

# measure TICKETS MOST BYTES
measure() {
    start_broker
    "$program" "redis://127.0.0.1:$port/bench" "$workers" "$1" "$2" "$3" "$folder/workers"
    stop_broker
}

# measure_run TICKETS
measure_run() {
    start_broker
    "$build/icestream" generate -s workload.steps=1 -s workload.photons_per_step=1 -o "$folder/one.npy" 2>/dev/null
    python3 - "$1" "$port" "$folder" "$build/icestream" <<'PYTHON'
import os, socket, subprocess, sys, time

count, port, folder, icestream = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], os.path.abspath(sys.argv[4])
queue = "redis://127.0.0.1:%d/bench" % port
names = ["%s/workers/%07d.steps.npy" % (folder, i) for i in range(count)]
for name in names:
    os.symlink(folder + "/one.npy", name)
for i in range(0, count, 1000):
    subprocess.run([icestream, "put", "--queue", queue, *names[i:i + 1000]], stderr=subprocess.DEVNULL, check=True)
begun = time.monotonic()
run = subprocess.Popen([icestream, "run", "-q", "-s", "source.queue=" + queue, "-s", "sink.directory=%s/hits" % folder,
                        "-s", "device.backend=cpu"], stderr=subprocess.DEVNULL)
broker = socket.create_connection(("127.0.0.1", port)).makefile("rw", newline="")
memory = {}
while run.poll() is None:
    broker.write("HLEN bench:done\r\n")
    broker.flush()
    done = int(broker.readline()[1:])
    try:
        with open("/proc/%d/status" % run.pid) as status:
            kib = [int(line.split()[1]) for line in status if line.startswith("RssAnon")]
    except OSError:
        break
    for part in (0.1, 0.5, 0.9):
        if done >= part * count and kib:
            memory.setdefault(part, kib[0])
    time.sleep(0.2)
print("| %d | %.0f | %s |" % (count, count / (time.monotonic() - begun), " | ".join(str(memory.get(part)) for part in (0.1, 0.5, 0.9))))
sys.exit(run.wait())
PYTHON
    stop_broker
    rm -rf "$folder/hits"
}

echo "$(nproc) CPUs ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)), load before: $(cut -d' ' -f1-3 /proc/loadavg)," \
    "commit $(git rev-parse --short HEAD), $("${BROKER:-redis-server}" --version | cut -d' ' -f1-3)"
echo
echo "| workers | tickets | of a claim | bytes of steps | claims/s | claim, median | p99 | largest | end, p99 | KiB early | KiB late | broker's CPU | broker's MB |"
echo "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
measure "$tickets" 1 0
measure $((tickets / 5)) 8 0
measure $((tickets / 5)) 1 3000
echo
echo "| tickets of one run | tickets/s | KiB after 10 % | after 50 % | after 90 % |"
echo "| ---: | ---: | ---: | ---: | ---: |"
measure_run $((tickets / 20))
echo
echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
