#!/usr/bin/env bash
# Installs hist, boost-histogram and uhi, which Debian does not have, from the registry of Python packages into
# build/python-hist.
#
#   scripts/setup_hist.sh
#
# Tests of tables and histograms read our files with them, and skip these checks without them. The folder is a
# virtual environment of /usr/bin/python3 that sees Debian's NumPy and h5py, so run `scripts/setup.sh test python`
# before. Nothing outside the folder changes. If the libraries are there, the script does nothing.
# Exit status 1: they could not be installed.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
(($# == 0)) || wrong_usage

folder=build/python-hist
is_there() {
    "$folder/bin/python3" -c 'import boost_histogram, fastjsonschema, h5py, hist, uhi.io.hdf5' 2>/dev/null
}
if is_there; then
    exit 0
fi
rm -rf "$folder"
/usr/bin/python3 -m venv --system-site-packages "$folder" >&2
# No package is built from source: a wheel is there, or the script fails.
timeout 180 "$folder/bin/pip" --disable-pip-version-check --no-input --timeout 10 --retries 1 install --quiet --only-binary :all: \
    --requirement tests/cli/table/requirements.txt >&2
is_there || {
    echo "setup_hist.sh: $folder is incomplete: found no NumPy or h5py, expected that \`scripts/setup.sh test\` has run" >&2
    exit 1
}
