#!/usr/bin/env bash
# What every feature of the ice costs: the flasher of string 63, module 20, in a ppc ice folder, with
# one feature at a time and with all, for every schedule.
#
#   bench/features.sh ICE-FOLDER [OPTIONS OF icestream bench]
#
# Prints a table in Markdown: ns per photon (of kernels on a GPU, of a thread on a CPU), registers of
# the largest kernels in the order of the columns, bounces and hits. Holes, which no public folder switches on, are columns of 0.165 m with the optics of
# the folder's cfg.txt.
#
# ICESTREAM  the program (icestream)
# PHOTONS    per run, a multiple of 100000 (2e8)
# FEATURES   of plain tilt anisotropy birefringence full hole all (these); full: all but holes
set -euo pipefail

program=${ICESTREAM:-icestream}
here=$(cd "$(dirname "$0")" && pwd)
config=$here/../configs/reference/63-20_bfr-layers_x5.yaml
if (($# < 1)) || [[ ! -r $1/icemodel.dat ]]; then
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
fi
ice=$(realpath "$1")
shift
command -v "$program" >/dev/null || {
    echo "features.sh: no program '$program'; set ICESTREAM to where it was built" >&2
    exit 1
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/ice"
cp "$ice"/* "$folder/ice/"
chmod -R u+w "$folder/ice"
# The eighth number of the file is the radius of the holes in radii of a module.
awk '/^[ \t]*[-+.0-9]/ && ++n == 8 { sub(/[-+.0-9eE]+/, "1.0") } { print }' "$ice/cfg.txt" >"$folder/ice/cfg.txt"

read -ra features <<<"${FEATURES:-plain tilt anisotropy birefringence full hole all}"
per_step=$(awk -v photons="${PHOTONS:-2e8}" 'BEGIN { printf "%d", photons / 100000 }')
for feature in "${features[@]}"; do
    settings=()
    for key in tilt anisotropy birefringence hole_ice; do
        value=false
        case $feature in
        all | "${key%_ice}") value=true ;;
        full) [[ $key == hole_ice ]] || value=true ;;
        esac
        # The modules are five times wider than the columns, which other runs refuse.
        [[ $key != hole_ice || $value == false ]] || value=unscaled
        settings+=(--set "ice.$key=$value")
    done
    # Without a file `version` the scattering by crystals would be taken out of this table, too.
    subtraction=constant
    [[ $ice != *ftp* ]] || subtraction=none
    [[ ! ${settings[*]} =~ birefringence=true ]] ||
        settings+=(--set "ice.birefringence_subtraction=$subtraction")
    "$program" bench "$config" --set "ice.directory=$folder/ice" --set "detector.file=$ice/geo-f2k" \
        "${settings[@]}" --steps 100000 --photons "$per_step" --json "$@" >"$folder/$feature.json"
done

cd "$folder"
/usr/bin/env python3 - "${features[@]}" <<'PROGRAM'
import json, sys

def cost(row):
    if 'gpu' in row:
        return '%.3f' % row['gpu']['nanoseconds_per_photon']
    return '%.0f' % row['nanoseconds_per_photon_and_thread']

def registers(table):
    return ' '.join(str(row['gpu']['registers']) for row in table['rows'] if 'gpu' in row) or '-'

tables = {f: json.load(open(f + '.json')) for f in sys.argv[1:]}
names = []
for table in tables.values():
    for row in table['rows']:
        name = row['name'] if row['backend'] != 'cpu' else '%s, %d threads' % (row['name'], row['threads'])
        row['name'] = name
        if name not in names:
            names.append(name)
print('| ice | ' + ' | '.join(names) + ' | registers | bounces per photon | hits per 1e6 photons |')
print('| --- |' + ' ---: |' * (len(names) + 3))
for feature, table in tables.items():
    cells = {row['name']: cost(row) for row in table['rows']}
    row = table['rows'][0]
    print('| %s | %s | %s | %.2f | %.0f |' % (feature, ' | '.join(cells.get(n, '-') for n in names), registers(table),
                                              row['bounces_per_photon'], 1e6 * row['hits'] / table['photons']))
PROGRAM
