#!/usr/bin/env bash
# Promises: weighted hits have the sum of a run in the other ice; the own ice has weights of exactly 1; weights depend neither on threads nor
# on the order of files; derivatives are those of weights; what cannot be weighted is refused and nothing is written.
checks=$(dirname "$(realpath "$0")")/check_weights.py # before common.bash goes to another folder
source "$(dirname "$0")/../common.bash"

check() {
    python3 "$checks" "$@" >found 2>&1 || fail "check_weights.py $*: $(tail -n 3 found)"
    cat found
}

# ice NAME SCATTERING ABSORPTION: layers whose coefficients are these factors times 0.04 and 0.01 per m, and those above and below 0.7 times.
ice() {
    python3 - "$2" "$3" >"$1.csv" <<'END'
import sys
b, a = (float(word) for word in sys.argv[1:])
print("depth_m,be400_per_m,adust400_per_m,delta_tau_K")
for depth in range(1848, 2049, 20):
    side = 1 if 1900 < depth < 2000 else 0.7
    print("%d,%.9g,%.9g,0" % (depth, 0.04 * b * side, 0.01 * a * side))
END
    printf 'name: %s\nlayers: {file: %s.csv}\nabsorption_a: 0\n' "$1" "$1" >"$1.yaml"
    printf 'ice: {file: %s.yaml}\n' "$1" >"to-$1.yaml"
}

ice own 1 1
ice other 1.05 1.5
ice scattering 1.03 1
ice absorption 1 1.03
python3 - >few.csv <<'END'
print("string,module,x,y,z")
for string, (x, y) in enumerate(((20, 0), (0, 25), (-30, 0), (0, -35)), 1):
    for module in range(11):
        print("%d,%d,%d,%d,%d" % (string, module + 1, x, y, 85 - 17 * module))
END
cat >run.yaml <<'END'
run: { seed: 11 }
workload: { kind: point, spectrum: 3, steps: 100, photons_per_step: 20000 }
ice: { file: own.yaml }
detector: { file: few.csv, oversize: 5, keep_hit_photons: false }
sink: { records: false, name: own.hits.npy }
END

expect 0 "$ICESTREAM" run -q run.yaml
expect 0 "$ICESTREAM" run -q run.yaml -s run.seed=12 -s ice.file=other.yaml -o other.hits.npy
own=hits/own.hits.npy
expect 0 "$ICESTREAM" reweight $own --to to-other.yaml --to ice.file=own.yaml -o w.npy
says out "to-other.yaml: ice.file \"other.yaml\" (hits: \"own.yaml\")"
check closure w.npy 0 other.hits.npy
check equal w.npy 1

# Threads, the configuration in front, and two files.
for threads in 1 2 4; do
    expect 0 "$ICESTREAM" reweight run.yaml $own --to to-other.yaml --to ice.file=own.yaml -o again.npy -f --threads $threads
    same w.npy again.npy
done
for event in 1 2; do
    expect 0 "$ICESTREAM" generate run.yaml -s workload.event=$event -s workload.steps=20 -o $event.steps.npy
    expect 0 "$ICESTREAM" run -q run.yaml $event.steps.npy -o $event.hits.npy
done
steps=(-s 'source.files=[1.steps.npy,2.steps.npy]')
expect 0 "$ICESTREAM" reweight run.yaml 1.hits.npy 2.hits.npy "${steps[@]}" --to to-other.yaml -o first.npy
expect 0 "$ICESTREAM" reweight run.yaml 2.hits.npy 1.hits.npy "${steps[@]}" --to to-other.yaml -o second.npy
check order first.npy second.npy

expect 0 "$ICESTREAM" gradient $own -o g.npy
expect 0 "$ICESTREAM" reweight $own --to to-scattering.yaml --to to-absorption.yaml -o factors.npy
check gradient g.npy factors.npy 1.03
expect 0 "$ICESTREAM" reweight $own --to ice.scattering_factor=1.03 --to ice.absorption_factor=1.03 -o factors.npy --force
says out "ice.scattering_factor=1.03: ice.scattering_factor 1.03 (hits: 1)"
check gradient g.npy factors.npy 1.03
expect 0 "$ICESTREAM" gradient $own -o dense.npy --dense
check dense g.npy dense.npy
printf '[layers.scattering, layers.absorption]\n' >keys.yaml
expect 0 "$ICESTREAM" gradient $own -p keys.yaml -o listed.npy
same g.npy listed.npy
printf 'layers.scattering\n' >keys.yaml
refuses 2 "keys.yaml:1:1: error: found 'layers.scattering', expected a list of keys" gradient $own -p keys.yaml -o d.npy
printf '[layers.scattering, layers.scattering]\n' >keys.yaml
refuses 2 "--parameters: found layers.scattering, expected each key once" gradient $own -p keys.yaml -o d.npy
expect 0 "$ICESTREAM" info w.npy g.npy dense.npy --verify
says out "w.npy: weights, "
says out ": to-other.yaml"
says out "g.npy: gradient, "
says out "dense.npy: gradients, "
says out "layers.absorption (11)"
says out "verified: checksums, metadata"
printf X | dd of=dense.npy bs=1 seek=3000 conv=notrunc 2>/dev/null
refuses 3 "dense.npy: rows 0 to " info dense.npy
mkfifo pipe
refuses 3 "pipe: found a pipe, expected a regular file" info pipe
refuses 2 "--parameters: found detector.efficiencies, expected a key of the ice, because hits of photons" gradient $own -o d.npy \
    -p detector.efficiencies
refuses 2 "--backend: found gpu, expected auto, cpu or cuda" gradient $own -o d.npy --backend gpu
refuses 2 "which make a file of" gradient $own -o d.npy --dense=1kB
refuses 2 "--parameters: found depth, expected one of layers.scattering" gradient $own -o d.npy -p depth
refuses 2 "--parameters: found hole.absorption, expected a key of the ice of the hits" gradient $own -o d.npy -p hole.absorption

expect 0 "$ICESTREAM" reweight $own --to to-other.yaml --dry-run
says out "from a sample of 1000 hits"

refuses 2 "detector.oversize: found 3, expected 5 as in the hits, because" reweight $own --to detector.oversize=3 -o no.npy
refuses 2 "found hits of another run than that of the configuration" reweight run.yaml -s run.seed=13 $own --to to-other.yaml -o no.npy
refuses 2 "run.seed (11, 13)" reweight run.yaml -s run.seed=13 $own --to to-other.yaml -o no.npy
refuses 3 "found no such step in" reweight run.yaml 1.hits.npy -s 'source.files=[2.steps.npy]' --to to-other.yaml -o no.npy
refuses 3 "once more, expected each file once" reweight $own $own --to to-other.yaml -o no.npy
expect 0 "$ICESTREAM" run -q run.yaml -s workload.event=1 -s workload.steps=5 -o light.hits.npy
refuses 3 "light.hits.npy: found hits of other light than in hits/own.hits.npy" reweight $own light.hits.npy --to to-other.yaml -o no.npy
refuses 2 "expected 1 to 64" reweight $own -o no.npy
head -c 2000 $own >cut.npy
refuses 3 "cut.npy: " reweight run.yaml cut.npy --to to-other.yaml -o no.npy
if [ -e no.npy ] || [ -e d.npy ]; then fail "a refused target left a file"; fi
finish
