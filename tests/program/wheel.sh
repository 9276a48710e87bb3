#!/usr/bin/env bash
# Promises: the wheel and the archive of scripts/wheel.sh work on bare machines: in trees of debootstrap with Python and nothing else
# pip installs the wheel, the program and the package make hits, the kernels and NVRTC of PyPI are found, and the tests
# of the package pass; the archive works from a read-only folder, and gives the same hits.
#
#   wheel.sh FOLDER SOURCE_DIRECTORY [SUITE ...]
#
# FOLDER has the wheel and the archive. SUITE: bullseye, bookworm, trixie (all three). Needs root, debootstrap, mount and PyPI: without
# them the test is skipped. ICESTREAM_TREES: a folder that keeps the trees for the next time.
set -u
skip() {
    echo "skipped: $*"
    exit 77
}
((EUID == 0)) || skip "chroot needs root"
command -v debootstrap >/dev/null || skip "no debootstrap"
built=$(realpath "$1") source=$(realpath "$2")
shift 2
(($# > 0)) || set -- bullseye bookworm trixie
folder=$(mktemp -d)
trees=${ICESTREAM_TREES:-$folder}
mounted=()
# shellcheck disable=SC2317 # called by the trap
end() {
    local place
    for place in "${mounted[@]}"; do
        umount "$place" || umount --lazy "$place"
    done
    rm -rf --one-file-system "$folder"
}
trap end EXIT
failures=0

cat >"$folder/inside.sh" <<'END'
set -e
cd /opt/try
. /etc/os-release
echo "$PRETTY_NAME, $(python3 --version), $(ldd --version | head -n 1)"
# Names of the host in the tree: its certificates are in a file next to this one.
export SSL_CERT_FILE=/opt/try/certificates PIP_CERT=/opt/try/certificates XDG_CACHE_HOME=/opt/try/cache
python3 -m venv v
v/bin/pip --quiet --disable-pip-version-check install "$(echo icestream-*.whl)[cuda12]" pytest
cat >event.yaml <<'YAML'
detector: { layout: hex86, oversize: 5 }
device: { backend: cpu }
particles:
  list:
    - {type: e-, event: 2, x: 60, y: 20, z: -350, zenith: 60, azimuth: 170, energy: 100}
YAML
v/bin/icestream run -q event.yaml
v/bin/python -c '
import icestream, numpy
assert len(icestream.run("event.yaml")) == len(numpy.load("hits/event.hits.npy")) > 0'
v/bin/icestream version --verbose >version
grep -q "^NVRTC: 12.*/nvidia/cuda_nvrtc/lib/libnvrtc.so.12" version || { cat version; exit 1; }
if [ -d v/lib/python3*/site-packages/icestream/share/icestream/kernels ]; then
    grep -q "^installed kernels: by nvrtc" version || { cat version; exit 1; }
    ICESTREAM_NVRTC=none v/bin/icestream plan --architecture 90 -s device.backend=cuda -s graph.schedule=monolithic |
        grep "kernels installed"
fi
mkdir archive
tar -C archive -xf icestream-*.tar.gz
mount --bind archive archive
mount -o remount,bind,ro archive
archive/icestream-*/bin/icestream run -q event.yaml -s sink.directory=other
umount archive
cmp hits/event.hits.npy other/event.hits.npy && echo "the archive gives the same file"
v/bin/python -m pytest -q -p no:cacheprovider tests | tail -n 5
END

for suite in "$@"; do
    tree=$trees/$suite
    if [ ! -x "$tree/usr/bin/python3" ]; then
        debootstrap --variant=minbase --include=python3-venv "$suite" "$tree" >"$folder/log" 2>&1 || skip "no tree of $suite: $(tail -n 1 "$folder/log")"
    fi
    rm -rf "$tree/opt/try"
    mkdir -p "$tree/opt/try"
    cp "$built"/*.whl "$built"/*.tar.gz "$folder/inside.sh" "$tree/opt/try"
    cp -r "$source/python/tests" "$tree/opt/try"
    cp /etc/ssl/certs/ca-certificates.crt "$tree/opt/try/certificates"
    cp /etc/resolv.conf /etc/hosts "$tree/etc"
    for place in dev proc; do
        mount --bind "/$place" "$tree/$place" && mounted+=("$tree/$place")
    done
    env -i "PATH=$PATH" HOME=/root unshare --mount chroot "$tree" /bin/bash -o pipefail /opt/try/inside.sh || {
        echo "FAILED: $suite"
        failures=1
    }
done
exit "$failures"
