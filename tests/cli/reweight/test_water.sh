#!/usr/bin/env bash
# Promise: hits in water, weighted for other water, agree with a run in it: in the total, in modules and in wavelengths. Water with another
# index of refraction or density makes other light, and is refused.
checks=$(dirname "$(realpath "$0")")/check_weights.py # before common.bash goes to another folder
source "$(dirname "$0")/../common.bash"

cp "$REPOSITORY"/configs/media/sea-water.* .
python3 - <<'END'
rows = [line for line in open("sea-water.csv") if not line.startswith("#")]
names = rows[0].strip().split(",")
scale = {"absorption_length_m": 0.7, "scattering_length_m": 0.8, "effective_scattering_length_m": 0.8}
assert sum(name in scale for name in names) == 2, names
with open("other.csv", "w") as file:
    file.write(rows[0])
    for row in rows[1:]:
        file.write(",".join("%.9g" % (float(value) * scale.get(name, 1)) for name, value in zip(names, row.split(","))) + "\n")
water = open("sea-water.yaml").read()
for name, old, new in (("other", "sea-water.csv }", "other.csv }"), ("salty", "salinity: 38.5", "salinity: 30"), ("dense", "1.038", "1.05")):
    assert old in water
    text = water.replace(old, new)
    if name == "other":
        text = text.replace("rayleigh_fraction: 0.17, mean_cosine: 0.924", "rayleigh_fraction: 0.2, mean_cosine: 0.915")
    open(name + ".yaml", "w").write(text)
with open("few.csv", "w") as file:
    file.write("string,module,x,y,z\n" + "".join("%d,%d,%d,%d,%d\n" % (string, module, x, y, 60 - 20 * module)
               for string, (x, y) in enumerate(((30, 0), (0, 45), (-60, 0)), 1) for module in range(1, 6)))
END
cat >run.yaml <<'END'
run: { seed: 21 }
workload: { kind: point, steps: 1000, photons_per_step: 10000 }
ice: { file: sea-water.yaml }
detector: { file: few.csv, radius: 0.2159, oversize: 5, crossing: entry, angular_acceptance: none }
stages: { scatter: rayleigh-hg }
sink: { records: false }
END
expect 0 "$ICESTREAM" run -q run.yaml -o own.npy
expect 0 "$ICESTREAM" run -q run.yaml -s run.seed=22 -s ice.file=other.yaml -o direct.npy
expect 0 "$ICESTREAM" reweight own.npy --to ice.file=other.yaml -o w.npy
python3 "$checks" bins w.npy 0 own.npy direct.npy >found 2>&1 || fail "other water"
cat found
refuses 2 "index of refraction" reweight own.npy --to ice.file=salty.yaml -o no.npy
refuses 2 "density: found 1.05 g/cm3, expected 1.038 g/cm3 as in the hits" reweight own.npy --to ice.file=dense.yaml -o no.npy
if [ -e no.npy ]; then fail "a refused target left a file"; fi
finish
