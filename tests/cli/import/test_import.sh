#!/usr/bin/env bash
# Promise: `python -m icestream import` writes run files that are valid and run, for folders of ppc and of clsim, and it does
# not guess what a folder does not say. To join: make a folder with `folder NAME` and import it.
shared=$(realpath "$(dirname "$0")/../../../../shared/ice" 2>/dev/null || true)
source "$(dirname "$0")/../common.bash"
library=$(dirname "$ICESTREAM")/libicestream.so
[ -e "$library" ] || skip "there is no $library"
python=$(python_with "cffi, numpy") || skip "no Python with cffi and NumPy"
cp -r "$REPOSITORY/python/src/icestream" .
"$python" "$REPOSITORY/python/make_abi.py" "$REPOSITORY/base" "$REPOSITORY/pipeline" icestream/_abi.py >/dev/null
export PYTHONPATH=$PWD PYTHONDONTWRITEBYTECODE=1 ICESTREAM_LIBRARY=$library
IMPORT=("$python" -m icestream import)
expect 2 "$ICESTREAM" import ppc ice -o run.yaml
says err "the command import left in version 0.3.0; use python -m icestream import"

plain='3\n0.99\n0.45\n0.9\n'
crystals='216\n0\n0\n0\n0.03\n100\n0.25\n0.8\n0\n0\n0\n0\n0.0768\n5443\n2.23\n0.0026\n0.0774\n15476\n2.45\n0.0025
0.001\n0.25\n2.35\n1.68\n'

# folder NAME: a small ppc folder, whose reference string is at 7 m along the tilt.
folder() {
    mkdir "$1"
    printf '0.9 0.1\n1.1 0.1\n6954.1 0\n6617.75 0\n' >"$1/icemodel.par"
    printf '%b' "$plain" >"$1/cfg.txt"
    printf '1900 0.03 0.01 0\n1910 0.04 0.01 0.5\n' >"$1/icemodel.dat"
    printf '1 -100\n86 0\n2 100\n' >"$1/tilt.par"
    printf '1000 1 0 2\n1010 1 0 2\n' >"$1/tilt.dat"
    printf 'A 0x1 -4.949747468 -4.949747468 -1948 86 1\nB 0x2 100 0 -1948 1 1\n' >"$1/geo-f2k"
    printf '86 1 1.2\n' >"$1/eff-f2k"
}

# works RUN: the run file is valid and runs.
works() {
    expect 0 "$ICESTREAM" validate "$1.yaml" -s particles.file=few.yaml
    cp out "$1.out"
    expect 0 "$ICESTREAM" run -q "$1.yaml" -s particles.file=few.yaml -s sink.directory="$1.hits"
    is_there "$1.hits/few.hits.npy"
}

# refused STATUS TEXT ARGUMENT...
refused() {
    expect "$1" "${IMPORT[@]}" "${@:3}"
    says err "$2"
}

echo '[{type: e-, x: 0, y: 5, z: 0, zenith: 20, azimuth: 0, energy: 2}]' >few.yaml
printf 'V 2000.1.2\nTBEGIN ? ? ?\nEM 1 1 1970 0 0 0\nTR 1 0 e-  1 2 3 90 0 0 10 0\nEE\nTEND ? ? ?\nEND\n' >e.f2k

folder ice
expect 0 "${IMPORT[@]}" ppc ice -o ppc.yaml
says ppc.yaml "  tilt_origin: 7 " "  oversize: 3 " "  crossing: disc " "  keep_hit_photons: true" "  conventions: ppc" "  losses: none "
works ppc
says ppc.out "geo-f2k of ice.directory, because neither" "1 with another efficiency" "origin 7 m"
refused 74 "ppc.yaml" ppc ice -o ppc.yaml
expect 0 "${IMPORT[@]}" ppc ice -o ppc.yaml --force
expect 0 "${IMPORT[@]}" ppc ice -o -
same out ppc.yaml

# Files that ppc needs and a copy of its folder may lack, and files that are not read.
says err "found no as.dat in ice, wrote detector.angular_acceptance: standard" "found no wv.dat in ice"
says ppc.yaml "  acceptance: standard" "  angular_acceptance: standard" "has no wv.dat, without which ppc ends"
for command in validate "run -s sink.directory=none.hits --force -s particles.file=few.yaml"; do
    # shellcheck disable=SC2086 # the words of a command
    expect 0 "$ICESTREAM" $command -s ice.directory=ice
    cat out err >both
    says both "light.acceptance: found no wv.dat in ice, used the built-in curve" \
        "detector.angular_acceptance: found no as.dat in ice, used the built-in curve"
done
folder whole
printf '0 300\n0.5 400\n1 500\n' >whole/wv.dat
printf '0.68\n0.34\n0.34\n' >whole/as.dat
touch whole/str-f2k whole/om.dirs
expect 0 "${IMPORT[@]}" ppc whole -o whole.yaml
is_empty err
says whole.yaml "  acceptance: auto" "  angular_acceptance: auto"
expect 0 "$ICESTREAM" validate whole.yaml
says out "not simulated yet: str-f2k"
grep -q "built-in curve" out && fail "the curves are there"
sed -i 's/ 86 1$/ 85 1/' whole/geo-f2k
printf '1 %d 1.1\n' 1 {71..85} >whole/eff-f2k
expect 0 "$ICESTREAM" validate -s ice.directory=whole -s stages.detect=pe
says out "whole/eff-f2k: 15 of 16 rows are of modules that whole/geo-f2k does not have; are string and module swapped?"
rm whole/eff-f2k
expect 0 "${IMPORT[@]}" ppc whole -o whole.yaml --force
says err "warning: found no string 86 in geo-f2k of whole" "wrote no ice.tilt_origin"

# A run file in another folder has whole paths. The particles are those of the file.
mkdir other
expect 0 "${IMPORT[@]}" ppc ice e.f2k -o other/run.yaml
expect 0 "$ICESTREAM" validate other/run.yaml
says out "particles  1 in 1 event" "e.f2k"

# A list whose events all have the number 1 runs as it is imported; ppc reads such lists.
printf 'V 2000.1.2\nTBEGIN ? ? ?\n' >same.f2k
for _ in 1 2; do
    printf 'EM 1 1 1970 0 0 0\nTR 1 0 e-  1 2 3 90 0 0 1 0\nEE\n' >>same.f2k
done
printf 'TEND ? ? ?\nEND\n' >>same.f2k
expect 0 "${IMPORT[@]}" ppc ice same.f2k -o same.yaml
says same.yaml "  events: count "
prints "particles  2 in 2 events" validate same.yaml
grep -q "events: count" other/run.yaml && fail "these events have their numbers"

expect 0 "${IMPORT[@]}" clsim ice -o clsim.yaml
says clsim.yaml "  crossing: disc " "  keep_hit_photons: false" "  conventions: clsim" "  tilt_origin: 0 "
works clsim

# Folders as clsim and Prometheus have them: no station at 0, rounded depths, rows of different width, a cfg.txt
# with a number behind its last group. Positions count from the origin, also for ppc.
folder older
printf '50 -528.4\n66 -451.9\n2 448.5\n' >older/tilt.par
printf '1900 1 2 3\n1907 1 2 3\n1914 1 2 3\n1921.006 1 2 4\n' >older/tilt.dat
printf '1900 0.03 0.01 0\n1910 0.04 0.01 0.5 -0.1 0.05\n' >older/icemodel.dat
printf '%b' "${plain}130\n" >older/cfg.txt
for program in ppc clsim; do
    expect 0 "${IMPORT[@]}" "$program" older -o "older_$program.yaml"
    works "older_$program"
    says "older_$program.out" "3 stations along azimuth 225, origin 0 m" "older/cfg.txt: found 5 numbers, of which ppc and icestream use the first 4" "older/"
done
grep -q "found no string" err && fail "without a station at 0 there is no reference string"

# Birefringent ice without a version is not guessed.
folder crystals
printf '%b' "$plain$crystals" >crystals/cfg.txt
refused 2 "found birefringent ice without a file 'version'" ppc crystals -o no.yaml
is_missing no.yaml
expect 0 "${IMPORT[@]}" ppc crystals --subtraction none -o crystals.yaml
works crystals
echo 0 >crystals/version
expect 0 "${IMPORT[@]}" ppc crystals -o version.yaml
says version.yaml "birefringence_subtraction: auto"

# A tilt and birefringence of the run file can be switched off; their other keys then have no effect.
expect 0 "$ICESTREAM" validate ppc.yaml -s ice.tilt=false
grep -q "  tilt  " out && fail "a tilt that is off"
expect 0 "$ICESTREAM" validate crystals.yaml -s ice.birefringence_subtraction=constant -s ice.birefringence=true
sed 's/subtraction: none/subtraction: constant/' crystals.yaml >constant.yaml
expect 0 "$ICESTREAM" validate constant.yaml -s ice.birefringence=false

# Files of a folder that do not fit together.
folder typed
echo '86 1 1.2 1' >typed/eff-f2k
expect 0 "$ICESTREAM" validate -s ice.directory=typed -s stages.detect=pe
says out "no wv.rde lies in the folder of the ice, and 1 module is of type 1" "while ppc records no light of them"
expect 0 "$ICESTREAM" validate -s ice.directory=typed -s stages.detect=pe -s light.high_efficiency=none
grep -q "of type 1" out && fail "none is a decision of the user"
printf '300 1\n500 1\n' >typed/wv.rde
expect 0 "$ICESTREAM" validate -s ice.directory=typed -s stages.detect=pe
grep -q "of type 1" out && fail "wv.rde is there"

folder columns
printf '%b' "${plain}216\n0\n0\n0.5\n0.03\n100\n0.25\n0.8\n" >columns/cfg.txt
printf '0.68\n0.34\n0.21\n' >columns/as.dat
twice="columns/as.dat, and ice with columns around the strings; such curves usually contain the effect"
prints "$twice" validate -s ice.directory=columns -s stages.detect=pe
for other in ice.hole_ice=false detector.angular_acceptance=none stages.detect=none; do
    expect 0 "$ICESTREAM" validate -s ice.directory=columns -s stages.detect=pe -s "$other"
    grep -qF "$twice" out && fail "a warning with $other"
done

# Wide modules stick out of their columns in ppc, so the imported run does what ppc does, and says what that costs.
expect 0 "${IMPORT[@]}" ppc columns -o columns.yaml
says columns.yaml "  oversize: 3 " "  hole_ice: unscaled " "0.875 of that in clear ice at" "oversize 5, 0.133 at 2, 0.0074 at 1"
expect 0 "$ICESTREAM" validate columns.yaml
says out "detector.oversize: found 3, with which modules are" "wrong except for comparisons with ppc"
sed -i '1s/.*/1/' columns/cfg.txt
expect 0 "${IMPORT[@]}" ppc columns -o columns.yaml --force
grep -q "hole_ice: unscaled" columns.yaml && fail "modules of true size need no unscaled columns"

rm ice/geo-f2k
refused 2 "found no geo-f2k" ppc ice -o no.yaml
expect 0 "${IMPORT[@]}" clsim ice -o none.yaml
prints "detector   hex86" validate none.yaml
refused 2 "no: No such file" ppc no -o no.yaml
refused 2 "few.yaml: error: found no line that begins with EM or TR" ppc crystals few.yaml -o no.yaml
refused 2 "-: error: F2K: found standard input, expected an f2k file" ppc crystals - -o no.yaml
refused 2 "error: F2K: found a pipe" ppc crystals <(cat e.f2k) -o no.yaml
is_missing no.yaml
refused 2 "invalid choice: 'ppd'" ppd ice -o no.yaml
refused 2 "required: -o/--output" ppc ice
refused 2 "is for ppc" clsim ice e.f2k -o no.yaml
refused 2 "none.f2k: error: No such file" ppc crystals none.f2k -o no.yaml

for model in spice_bfr-v2 spice_ftp-v3m; do
    if [ ! -d "$shared/$model" ]; then
        echo "skipped: $model is not installed"
        continue
    fi
    for program in ppc clsim; do
        expect 0 "${IMPORT[@]}" $program "$shared/$model" -o $program-$model.yaml
        expect 0 "$ICESTREAM" validate $program-$model.yaml
        # clsim's photons stop at wide modules, which loses light.
        grep '^warning' out | grep -vE '^warning    clsim.*sums are wrong by more than 1 %' && fail "$program, $model: a warning"
    done
    expect 0 "${IMPORT[@]}" ppc "$shared/$model" --subtraction scaled -o wrong.yaml --force
    says err "warning: --subtraction: found scaled, and icemodel.dat of" "is that of $model (by its numbers)"
    expect 0 "$ICESTREAM" validate wrong.yaml
    says out "birefringence_subtraction: found scaled, and icemodel.dat of" "whose scattering needs"
done
finish
