#!/usr/bin/env bash
# Promises: `icestream table` adds up parts exactly in any order, refuses a part that is there twice, cuts, compares and draws
# tables, and writes HDF5 and FITS that h5py, hist, astropy and photospline read, also of a table that `icestream tabulate`
# made. What is not installed is skipped with a line: scripts/setup.sh test and scripts/setup_hist.sh install everything.
checks=$(dirname "$(realpath "$0")")/check_tables.py # before common.bash goes to another folder
source "$(dirname "$0")/common.bash"

# look CHECK [MODULES]: a Python that has the modules looks at the files; see check_tables.py.
look() {
    local python
    if ! python=$(python_with "${2:-json}"); then
        echo "skipped: $1: no Python here has $2"
        return
    fi
    "$python" "$checks" "$1" . >found 2>&1 || fail "check_tables.py $1: $(tail -n 3 found)"
}

look make
expect 0 "$ICESTREAM" table merge a.npy b.npy c.npy -o merged.npy
expect 0 "$ICESTREAM" table merge c.npy b.npy -o cb.npy
expect 0 "$ICESTREAM" table merge cb.npy a.npy -o again.npy
same merged.npy again.npy
expect 3 "$ICESTREAM" table merge merged.npy b.npy -o twice.npy
says err "b.npy: found the part bbbbbbbbbbbbbbbb..., which merged.npy holds already"
expect 74 "$ICESTREAM" table merge c.npy b.npy -o cb.npy
expect 0 "$ICESTREAM" table merge c.npy b.npy -o cb.npy --force

expect 0 "$ICESTREAM" table info merged.npy
says out "photon table, spherical, 48 bins" "photons         300, weight 151.5" "parts           3"
expect 0 "$ICESTREAM" table info --json merged.npy
python3 -c 'import json; assert json.load(open("out"))["photons"] == "300"' || fail "info --json is wrong"

expect 0 "$ICESTREAM" table project merged.npy r t -o rt.npy
expect 0 "$ICESTREAM" table slice merged.npy azimuth=61 t=25:75 -o slice.npy
look merged
look numpy numpy

expect 0 "$ICESTREAM" table compare merged.npy again.npy --level 1
says out "identical    yes" "probability  1"
expect 1 "$ICESTREAM" table compare a.npy b.npy --level 1e-3
says out "identical    no"

# Groups of tables: the light of the second group is brighter, so only the real split and its exchange differ as much.
expect 0 "$ICESTREAM" table compare one-?.npy --against two-?.npy
says out "tables       4 against 4, all 70 splits" "probability  0.0285714: 2 of 70 splits differ as much"
expect 1 "$ICESTREAM" table compare one-?.npy --against two-?.npy --level 0.03
says err "the tables differ: found the probability 0.0285714, expected at least 0.03"
expect 0 "$ICESTREAM" table compare one-[13].npy two-[13].npy --against one-[24].npy two-[24].npy --level 0.03
expect 2 "$ICESTREAM" table compare one-?.npy --against two-?.npy --level 0.01
says err "4 against 4 tables, whose splits give no probability below 0.0285714; expected more tables for --level 0.01, such as 5 against 5"
expect 3 "$ICESTREAM" table compare one-?.npy --against two-?.npy one-1.npy
says err "one-1.npy: found the part 1000000000000000..., which one-1.npy has, too"

# A table of photons, for the libraries below.
expect 0 "$ICESTREAM" tabulate -s device.backend=cpu -s stages.tabulate=spherical -s table.squares=true \
    -s table.acceptance=detector -s light.acceptance=none -s workload.kind=point -s workload.steps=10 \
    -s workload.photons_per_step=200 \
    -s "table.axes=[{name: r, from: 0, to: 100, bins: 10, power: 2}, {name: azimuth, from: 0, to: 180, bins: 4}, \
        {name: cosine, from: -1, to: 1, bins: 5}, {name: delay, from: 0, to: 2000, bins: 8, power: 2}]" -o made.npy

if "$ICESTREAM" --version --verbose | grep -q 'HDF5.*none'; then
    expect 2 "$ICESTREAM" table convert squares.npy squares.h5
    says err "built without HDF5"
else
    expect 0 "$ICESTREAM" table convert squares.npy squares.h5
    expect 0 "$ICESTREAM" table convert squares.npy -o second.hdf5
    same squares.h5 second.hdf5
    look h5py "h5py, numpy"
    expect 0 "$ICESTREAM" table convert merged.npy merged.h5
    look hist "hist, uhi.schema, fastjsonschema, h5py, numpy"
    expect 0 "$ICESTREAM" table convert made.npy made.h5
    look made-hist "hist, uhi.schema, fastjsonschema, h5py, numpy"
fi
if "$ICESTREAM" --version --verbose | grep -q 'cfitsio.*none'; then
    expect 2 "$ICESTREAM" table convert squares.npy squares.fits
    says err "built without cfitsio"
else
    expect 0 "$ICESTREAM" table convert squares.npy squares.fits
    look astropy "astropy, numpy"
    expect 0 "$ICESTREAM" table convert made.npy made.fits
    look made-astropy "astropy, numpy"
    for name in a b c merged cylinder; do
        expect 0 "$ICESTREAM" table convert $name.npy $name.fits
    done
    look photospline "astropy, numpy"
    expect 3 "$ICESTREAM" table convert rt.npy rt.fits
    says err "expected spherical or cylindrical"
fi

if command -v gnuplot >/dev/null; then
    expect 0 "$ICESTREAM" table plot merged.npy r t -o rt.svg
    expect 0 "$ICESTREAM" table plot merged.npy t -o t.svg
    grep -q '</svg>' rt.svg || fail "rt.svg is no picture"
    grep -q 'weight per unit of t' t.svg || fail "t.svg does not name its axis"
else
    echo "skipped: gnuplot is not installed"
    expect 1 "$ICESTREAM" table plot merged.npy t -o t.svg
    says err "gnuplot is not installed"
fi

# A full disk leaves no file.
(
    ulimit -f 1
    trap '' XFSZ
    "$ICESTREAM" table slice merged.npy t=0:50 -o full.npy 2>err
) && fail "a full disk is no error"
says err "full.npy: " "File too large"
if [ -e full.npy ] || [ -e full.npy.part ]; then fail "a full disk left a file"; fi
finish
