#!/usr/bin/env bash
# Promise: the derivatives of `icestream gradient` are those of weights of `icestream reweight`, to 1e-5, for every key.
checks=$(dirname "$(realpath "$0")")/check_weights.py # before common.bash goes to another folder
source "$(dirname "$0")/../common.bash"

# The ice, and four ices for each key, in which its parameter differs by -2 to 2 steps.
python3 - <<'END'
import math

with open("few.csv", "w") as file:
    file.write("string,module,x,y,z\n" + "".join("1,%d,0,0,%d\n" % (i, 40 - 10 * i) for i in range(1, 8)))
ice = {"mean_cosine": 0.9, "liu_fraction": 0.35, "anisotropy[0]": 0.05, "anisotropy[1]": -0.08, "flow_azimuth": 130,
       "hole.effective_scattering": 0.5, "hole.absorption": 20, "hole.mean_cosine": 0.85, "hole.liu_fraction": 0.3, "efficiency": 1,
       "detector.efficiencies": 1}
steps = {"mean_cosine": 0.002, "liu_fraction": 0.01, "anisotropy[0]": 0.02, "anisotropy[1]": 0.02, "flow_azimuth": 2,
         "hole.mean_cosine": 0.003, "hole.liu_fraction": 0.01}     # of others: of the logarithm, 0.02


def write(name, values):
    with open(name + ".ice.yaml", "w") as file:
        file.write("""layers: {file: layers.csv}
mean_cosine: %(mean_cosine).10g
liu_fraction: %(liu_fraction).10g
flow_azimuth: %(flow_azimuth).10g
anisotropy: [%(anisotropy[0]).10g, %(anisotropy[1]).10g]
absorption_exponent: 0
""" % values + "hole: {radius: 0.6, effective_scattering: %.10g, absorption: %.10g, mean_cosine: %.10g, liu_fraction: %.10g}\n" % tuple(
            values["hole." + key] for key in ("effective_scattering", "absorption", "mean_cosine", "liu_fraction")))
    with open(name + ".efficiencies", "w") as file:
        for module in range(1, 8):
            file.write("1 %d %.12g\n" % (module, 0.5 * values["efficiency"] * (values["detector.efficiencies"] if module == 4 else 1)))
    with open(name + ".yaml", "w") as file:
        file.write("ice: {file: %s.ice.yaml}\ndetector: {efficiencies: %s.efficiencies}\n" % (name, name))


with open("layers.csv", "w") as file:
    file.write("depth_m,be400_per_m,adust400_per_m,delta_tau_K\n" + "".join("%d,%.9g,0.01,0\n" % (depth, 0.05 + 0.0005 * (depth % 40))
                                                                       for depth in range(1848, 2049, 20)))
write("own", ice)
names = []
for number, key in enumerate(ice):
    for step in (2, 1, -1, -2):
        other = dict(ice)
        other[key] = ice[key] + step * steps[key] if key in steps else ice[key] * math.exp(0.02 * step)
        names.append("%d_%d" % (number, step + 2))
        write(names[-1], other)
with open("run.yaml", "w") as file:
    file.write("""run: {seed: 5}
workload: {kind: point, spectrum: 3, steps: 20, photons_per_step: 5000, position: [2, 0, 0]}
ice: {file: own.ice.yaml}
detector: {file: few.csv, efficiencies: own.efficiencies, keep_hit_photons: false}
light: {acceptance: none}
stages: {detect: pe}
sink: {records: false}
""")
with open("keys", "w") as file:
    file.write("\n".join("%s %.10g" % (key, steps.get(key, 0.02)) for key in ice) + "\n")
with open("targets", "w") as file:
    file.write("\n".join(names) + "\n")
END
expect 0 "$ICESTREAM" run -q run.yaml -o own.npy
targets=()
while read -r name; do targets+=(--to "$name.yaml"); done <targets
expect 0 "$ICESTREAM" reweight own.npy "${targets[@]}" -o w.npy
mapfile -t keys < <(cut -d' ' -f1 keys)
expect 0 "$ICESTREAM" gradient own.npy -p "${keys[@]}" -o g.npy
python3 "$checks" differences g.npy w.npy keys || fail "derivatives are not those of weights"
finish
