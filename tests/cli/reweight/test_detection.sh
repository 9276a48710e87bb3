#!/usr/bin/env bash
# Promises: weighted hits agree with a run that detects light otherwise, or makes light of another spectrum: in the total, in modules and
# in wavelengths. Hits of photons do not depend on what detects them. What the own run did not make or not detect is refused with its key.
checks=$(dirname "$(realpath "$0")")/check_weights.py # before common.bash goes to another folder
source "$(dirname "$0")/../common.bash"

python3 - <<'END'
def write(name, *lines):
    with open(name, "w") as file:
        file.write("".join(line + "\n" for line in lines))

modules = [(string, module) for string in range(1, 5) for module in range(1, 12)]
positions = {1: (20, 0), 2: (0, 25), 3: (-30, 0), 4: (0, -35)}
write("few.csv", "string,module,x,y,z", *("%d,%d,%d,%d,%d" % (s, m, *positions[s], 85 - 17 * (m - 1)) for s, m in modules))
write("efficiencies", *("%d %d %.1f %d" % (s, m, 0.6 + 0.1 * ((3 * s + 5 * m) % 9), (s + m) % 2) for s, m in modules))
write("others", *("%d %d %.1f %d" % (s, m, 0.6 + 0.1 * ((7 * s + 4 * m) % 9), (s + m) % 3 == 0) for s, m in modules))
write("voltages", *("%d %d %d" % (s, m, 0 if (s, m) == (1, 6) else 1400) for s, m in modules))
write("cables", *("%d %d %d 0" % (s, m, 30 * m) for s, m in modules))
write("ratio", "250 1.2", "400 1.3", "500 1.5", "700 1.2")
write("ratio2", "250 2", "400 0.5", "500 0.4", "700 1")
write("acceptance", "wavelength_nm,qe", "270,0.01", "350,0.3", "450,0.2", "600,0.02", "690,0.001")
write("acceptance2", "wavelength_nm,qe", "290,0.02", "350,0.2", "400,0.35", "500,0.3", "650,0.001")
write("led", "380 0", "400 1", "420 0.4", "440 0")
write("led2", "385 0", "400 0.5", "420 1", "435 0")
END
cat >cascade.yaml <<'END'
run: { seed: 11 }
particles: { list: [ { type: e-, event: 1, x: 0, y: 0, z: 0, zenith: 60, azimuth: 170, energy: 1500 } ], cascades: profile }
ice: { model: uniform }
light: { acceptance: acceptance, high_efficiency: ratio }
detector: { file: few.csv, oversize: 5, crossing: entry, angular_polynomial: [1, 0.5, 0.3], efficiencies: efficiencies }
stages: { detect: pe }
sink: { records: false }
END
cat >led.yaml <<'END'
run: { seed: 11 }
workload: { kind: point, spectrum: 7, steps: 100, photons_per_step: 5000 }
ice: { model: uniform }
light: { spectra: [ { file: led } ], acceptance: acceptance }
detector: { file: few.csv, oversize: 5, crossing: entry, angular_polynomial: [1, 0.5, 0.3] }
stages: { detect: pe }
sink: { records: false }
END
polynomial='detector.angular_polynomial=[1, 0.5, -0.1, 0.2]'
spectrum='light.spectra=[{file: led2}]'

# own RUN CONTENT: makes RUN.CONTENT.npy.
own() {
    expect 0 "$ICESTREAM" run -q "$1.yaml" -s sink.hits="$2" -o "$1.$2.npy"
}

# closure RUN CONTENT SETTING: compares with a run of another seed.
closure() {
    expect 0 "$ICESTREAM" reweight "$1.$2.npy" --to "$3" -o w.npy -f
    expect 0 "$ICESTREAM" run -q "$1.yaml" -s run.seed=12 -s sink.hits="$2" -s "$3" -o direct.npy -f
    python3 "$checks" bins w.npy 0 "$1.$2.npy" direct.npy >found 2>&1 || fail "$1, $2, $3: $(tail -n 3 found)"
    echo "$1, $2, $3: $(cat found)"
}

# ones RUN CONTENT SETTING [WITHIN]: all weights are 1: exactly, or within a number.
ones() {
    expect 0 "$ICESTREAM" reweight "$1.$2.npy" --to "$3" -o w.npy -f
    python3 "$checks" equal w.npy 0 "${4:-0}" || fail "$1, $2, $3: weights are not 1"
}

own cascade pe
own cascade photons
own cascade both
own led pe
own led photons
closure cascade pe "$polynomial"
closure cascade pe detector.efficiencies=others
closure cascade pe light.acceptance=acceptance2
closure cascade pe light.high_efficiency=ratio2
closure cascade pe detector.cables=cables
closure cascade photons light.acceptance=acceptance2
closure led pe "$spectrum"
closure led photons "$spectrum"
ones cascade pe device.threads=1
ones cascade both device.threads=1
ones cascade photons "$polynomial"
ones cascade photons detector.efficiencies=others 1e-4 # spectra are linear between whole nm after thinning
ones led photons detector.cables=cables

# Modules with several PMTs, whose transit times are in the times of hits.
cat >pmts.yaml <<'END'
run: { seed: 11 }
workload: { kind: point, spectrum: 3, steps: 100, photons_per_step: 5000 }
ice: { model: uniform }
light: { acceptance: acceptance }
detector:
  file: few.csv
  oversize: 5
  crossing: entry
  types: { two: { shape: sphere, radius: 0.1651, pmt_radius: 0.1, beta: 0.5, pmts: [ { zenith: 180, azimuth: 0, spread: 3 }, { zenith: 0, azimuth: 0, delay: 5 } ] } }
stages: { detect: pmt-plane }
sink: { records: false }
END
own pmts pe
own pmts both
closure pmts pe light.acceptance=acceptance2
ones pmts both device.threads=1
expect 0 "$ICESTREAM" trace pmts.yaml --hits pmts.both.npy -o paths.npy
says out "2085 of 2085 hits are identical to the last bit"

# A module without voltage detects nothing.
expect 0 "$ICESTREAM" reweight cascade.pe.npy --to detector.voltages=voltages -o w.npy -f
python3 "$checks" off w.npy 1 6 || fail "weights of a module that is off"

no() {
    refuses 2 "$1" reweight "$2" --to "$3" -o no.npy
}
no "light.acceptance=none: light.acceptance: found 1 at 265.5 nm of spectrum 0 (Cherenkov), expected 0 as in the hits" cascade.pe.npy \
    light.acceptance=none
no "sink.hits: found both, expected hits of photons or of photo-electrons" cascade.both.npy "$polynomial"
no "light.spectra: found line 405 nm as spectrum 7, expected led as in the hits" led.pe.npy "light.spectra=[{line: 405}]"
for half in "[1, 0, 1]" "[0, 0.2]"; do
    expect 0 "$ICESTREAM" run -q led.yaml -s "detector.angular_polynomial=$half" -o half.npy -f
    no "detector.angular_acceptance: found " half.npy "$polynomial"
done
expect 0 "$ICESTREAM" run -q led.yaml -s detector.voltages=voltages -s detector.cables=cables -o sensors.npy
no "detector.voltages: found a voltage of string 1, module 6, expected none as in the hits" sensors.npy detector.voltages=none
no "detector.cables: found no cable of string 1, module 1" sensors.npy detector.cables=none
if [ -e no.npy ]; then fail "a refused target left a file"; fi
finish
