#!/usr/bin/env bash
# The kernels of the shipped configurations compile for sm_80 and sm_90. A machine on which they are
# installed needs no NVRTC, also for a later GPU such as sm_121. The test needs no GPU. Without NVRTC it is
# skipped (77). An installation has PTX of sm_80, too. This test leaves it out, and with it GPUs such as sm_87,
# because the compiler makes it on the way to the cubin of sm_80.
#
#   kernels.sh PREFILL ICESTREAM CONFIG.yaml ...
set -euo pipefail
prefill=$1 icestream=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/kernels"

if ! "$prefill" --architectures 80,90 --ptx 90 "$folder/kernels" "$@" 2>&1 | tee "$folder/log"; then
    if grep -q "NVRTC cannot be loaded" "$folder/log"; then
        echo "skipped: no NVRTC"
        exit 77
    fi
    exit 1
fi

# Now without a compiler and without a user's cache. A configuration that needs files from elsewhere was
# left out above.
export ICESTREAM_KERNELS=$folder/kernels ICESTREAM_NVRTC=none HOME=$folder/home
unset XDG_CACHE_HOME
checked=0
for config in "$@"; do
    if grep -qF "$config is left out" "$folder/log"; then
        continue
    fi
    for math in fast portable; do
        for architecture in 80 90 121; do
            "$icestream" plan --architecture $architecture -s device.math=$math "$config" >"$folder/plan"
            found=$(grep -c ", $math maths, kernels installed" "$folder/plan" || true)
            expected=$(grep -c "^[a-z-]*, $math maths, kernels " "$folder/plan" || true)
            if ((found == 0 || found != expected)); then
                cat "$folder/plan"
                echo "FAILED: $config, $math, sm_$architecture: $found schedules have installed kernels," \
                     "expected $expected"
                exit 1
            fi
            checked=$((checked + found))
        done
    done
done
echo "$checked programs were found without NVRTC"
((checked > 0))
