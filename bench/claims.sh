#!/usr/bin/env bash
# How many tickets per second one broker on this machine gives to runs and takes back, and whether the memory of a run grows.
#
#   bench/claims.sh [ICESTREAM [TICKETS [RUNS]]]
#
# It starts a redis-server (or $BROKER, such as valkey-server) on loopback with an append-only file, puts TICKETS (50000) tickets
# for one step file with one photon, and starts RUNS (1 and 16) of `icestream run`. Prints a table in Markdown: tickets per second,
# and anonymous memory (KiB) of the first run after parts of the tickets.
set -euo pipefail
icestream=$(realpath "${1:-icestream}")
tickets=${2:-50000} runs=${3:-1 16}
folder=$(mktemp -d)
broker=
trap '[[ -z $broker ]] || kill "$broker"; rm -rf "$folder"' EXIT
cd "$folder"

# measure RUNS: one row of the table, with a new broker.
measure() {
    port=$(python3 -c 'import socket
print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
    mkdir broker workers
    "${BROKER:-redis-server}" --port "$port" --bind 127.0.0.1 --save '' --appendonly yes --appendfsync everysec \
        --dir broker --logfile log &
    broker=$!
    until python3 -c "import socket; socket.create_connection(('127.0.0.1', $port))" 2>/dev/null; do sleep 0.1; done
    python3 - "$tickets" "$port" "$icestream" "$1" <<'PYTHON'
import os, socket, subprocess, sys, time

count, port, icestream, runs = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
queue = "redis://127.0.0.1:%d/bench" % port
names = ["workers/%07d.steps.npy" % i for i in range(count)]
for name in names:
    os.symlink(os.path.abspath("one.npy"), name)
for i in range(0, count, 1000):
    subprocess.run([icestream, "put", "--queue", queue, *names[i:i + 1000]], stderr=subprocess.DEVNULL, check=True)
begun = time.monotonic()
workers = [subprocess.Popen([icestream, "run", "-q", "-s", "source.queue=" + queue, "-s", "sink.directory=hits", "-s",
                             "device.backend=cpu", "-s", "device.threads=1", "-s", "source.worker=w%d" % i],
                            stderr=subprocess.DEVNULL) for i in range(runs)]
broker = socket.create_connection(("127.0.0.1", port)).makefile("rw", newline="")
memory = {}
while workers[0].poll() is None:
    broker.write("HLEN bench:done\r\n")
    broker.flush()
    done = int(broker.readline()[1:])
    try:
        with open("/proc/%d/status" % workers[0].pid) as status:
            kib = [int(line.split()[1]) for line in status if line.startswith("RssAnon")]
    except OSError:
        break
    for part in (0.1, 0.5, 0.9):
        if done >= part * count and kib:
            memory.setdefault(part, kib[0])
    time.sleep(0.2)
status = max(worker.wait() for worker in workers)
print("| %d | %d | %.0f | %s |" % (runs, count, count / (time.monotonic() - begun),
                                   " | ".join(str(memory.get(part)) for part in (0.1, 0.5, 0.9))))
sys.exit(status)
PYTHON
    kill "$broker"
    wait "$broker" || true
    broker=
    rm -rf broker workers hits
}

"$icestream" generate -s workload.steps=1 -s workload.photons_per_step=1 -o one.npy 2>/dev/null
echo "$(nproc) CPUs ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)), load before: $(cut -d' ' -f1-3 /proc/loadavg)," \
    "$("${BROKER:-redis-server}" --version | cut -d' ' -f1-3)"
echo
echo "| runs | tickets | tickets/s | KiB after 10 % | after 50 % | after 90 % |"
echo "| ---: | ---: | ---: | ---: | ---: | ---: |"
for number in $runs; do
    measure "$number"
done
echo
echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
