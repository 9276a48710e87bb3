#!/usr/bin/env bash
# Promises: `icestream plan --production` gives the numbers of docs/production.md for its light, its rate and its files,
# takes rate and hits from a report of bench, and refuses options that do not fit. To join: a new number gets a line
# in check.py.
source "$(dirname "$0")/../common.bash"
python=$(python_with json) || skip "no Python"
cat >check.py <<'PYTHON' || fail "no script"
import json, math, sys
plan, split = json.load(open("plan.json")), json.load(open("split.json"))
file, rate, hits, overhead = plan["file"], *(float(word) for word in sys.argv[1:])
steps, photons = (sum(part[key] for part in split["parts"]) for key in ("steps", "photons"))
def near(found, expected, what):
    assert math.isclose(found, expected, rel_tol=1e-9), f"{what}: found {found}, expected {expected}"
near(file["bounces"], split["bounces"], "bounces")
near(file["seconds"], file["bounces"] / rate + overhead, "time of a file")
near(file["step_bytes"], 72 * steps + 1024, "bytes of steps")
near(file["hit_bytes"], 64 * hits * photons + 1024, "bytes of hits")
near(plan["gpu_hours"], 3000 * file["seconds"] / 3600, "GPU hours")
near(plan["hours"], plan["gpu_hours"] / 20, "hours")
near(plan["tickets_per_second"], 20 / file["seconds"], "tickets")
near(plan["step_bytes"], 3000 * file["step_bytes"], "all steps")
near(plan["hit_bytes"], 3000 * file["hit_bytes"], "all hits")
PYTHON
# shellcheck disable=SC2317 # `expect` calls it
plan() { "$ICESTREAM" plan -s workload.steps=300 --production 3000 --gpus 20 "$@"; }
expect 0 "$ICESTREAM" split -s workload.steps=300 --parts 3 --json -o '{part}.npy'
mv out split.json
expect 0 plan --rate 2e6 --hits 0.02 --overhead 1.5 --json
mv out plan.json
expect 0 "$python" check.py 2e6 0.02 1.5

expect 0 "$ICESTREAM" bench -s workload.steps=20 -s device.backend=cpu --json --threads 2
mv out bench.json
expect 0 plan --bench bench.json --json
mv out plan.json
read -r rate hits < <("$python" -c 'import json
bench = json.load(open("bench.json"))
print(*max((row["bounces"] / row["seconds"], row["hits"] / bench["photons"]) for row in bench["rows"]))')
expect 0 "$python" check.py "$rate" "$hits" 0

expect 0 plan --rate 2e6
says out "GPU hours" "tickets " "hit files   unknown without --hits or --bench"
expect 2 plan
says err "--production needs --gpus M, and --bench FILE or --rate R"
expect 2 plan --rate 2e6 --bench bench.json
says err "--production needs"
expect 2 plan --rate none
says err '--rate: found "none", expected a number of at least 1'
refuses 2 "found --gpus, expected --production N with it" plan --gpus 5
expect 3 plan --bench check.py
says err "--bench: check.py: line 1: " "expected what \`icestream bench --json\` writes"
echo '{"rows": []}' >empty.json
expect 3 plan --bench empty.json
says err "empty.json: found no rows with seconds and bounces"
finish
