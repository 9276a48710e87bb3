#!/usr/bin/env bash
# The GPU suites of a build, first alone, then under compute-sanitizer; for a machine with a
# GPU. Builds nothing.
#
#   BUILD=FOLDER scripts/gpu_tests.sh [SUITE ...]
#
# BUILD (build/release) is a build folder; suites are its tests/gpu/test_gpu_*, or those named
# (identity, settings, ...). Ends with a table; exit 1 if anything failed. Logs: $LOGS, a new folder
# where it is not set.
#
# TOOLS            "none memcheck racecheck initcheck synccheck"; none: without compute-sanitizer
# SCALE            of samples without the sanitizer (1: 1e7 photons and more in all; 100: 1e9)
# SANITIZER_SCALE  under compute-sanitizer (0.02)
# TIME             seconds that one suite may take (1800)
# PARTS            processes that share the cases of identity, settings and photons, without a sanitizer (1)
#
# All runs share one cache of compiled kernels, $ICESTREAM_GPU_CACHE or a folder next to the logs.
# ICESTREAM_GPU_PART=0/9 takes every ninth case of these suites (tests/gpu/gpu_world.h).
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

[[ ${1:-} != -* ]] || wrong_usage
folder=${BUILD:-build/release}/tests/gpu
read -ra tools <<<"${TOOLS:-none memcheck racecheck initcheck synccheck}"
logs=${LOGS:-$(mktemp -d)}
mkdir -p "$logs/cache"
logs=$(cd "$logs" && pwd)
export ICESTREAM_GPU_CACHE=${ICESTREAM_GPU_CACHE:-$logs/cache}
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)

suites=()
for name in "$@"; do
    suites+=("$folder/test_gpu_${name#test_gpu_}")
done
if ((${#suites[@]} == 0)); then
    suites=("$folder"/test_gpu_*)
fi

# run TOOL SUITE: the suite's exit status.
run() {
    local -a command=(timeout --kill-after=30 "${TIME:-1800}")
    local scale=${SCALE:-1}
    if [[ $1 != none ]]; then
        scale=${SANITIZER_SCALE:-0.02}
        # A suite that is skipped still says so by its own status.
        # The sanitizer does not keep track of kernels in the body of a conditional node: it reports
        # divergent threads where there is no branch, and accesses that it can assign to no kernel.
        export ICESTREAM_GPU_HOST_LOOP=1
        command+=("$sanitizer" --tool "$1" --error-exitcode 86 --print-limit 50)
        [[ $1 != memcheck ]] || command+=(--leak-check full)
    fi
    export ICESTREAM_GPU_SCALE=$scale
    if [[ $1 != none || ${PARTS:-1} == 1 || ! $2 =~ identity|settings|photons ]]; then
        "${command[@]}" "$2"
        return
    fi
    local part status=0 ended
    local -a parts=()
    for ((part = 0; part < PARTS; ++part)); do
        ICESTREAM_GPU_PART=$part/$PARTS "${command[@]}" "$2" &
        parts+=($!)
    done
    for part in "${parts[@]}"; do
        ended=0
        wait "$part" || ended=$?
        # The worst of them; 77, skipped, is the best of the bad.
        if ((ended != 0 && (status == 0 || status == 77))); then status=$ended; fi
    done
    return "$status"
}

verdict() {
    case $1 in
    0) echo ok ;;
    77) echo skipped ;;
    86) echo reports ;;
    124 | 137) echo 'too long' ;;
    *) echo "failed ($1)" ;;
    esac
}

rows=()
failed=0
for tool in "${tools[@]}"; do
    if [[ $tool != none && ! -x $sanitizer ]]; then
        echo "gpu_tests.sh: no compute-sanitizer; it is part of the CUDA toolkit" >&2
        exit 1
    fi
    for suite in "${suites[@]}"; do
        if [[ ! -x $suite ]]; then
            echo "gpu_tests.sh: no such suite: $suite" >&2
            exit 1
        fi
        name=$(basename "$suite")
        log=$logs/$name.$tool.log
        start=$SECONDS
        status=0
        run "$tool" "$suite" >"$log" 2>&1 || status=$?
        errors=$(sed -n 's/.*ERROR SUMMARY: \([0-9]*\) error.*/\1/p;s/.*RACECHECK SUMMARY: \([0-9]*\) hazard.*/\1/p' \
            "$log" | tail -n 1)
        # Reports count even where the suite fails for another reason.
        [[ $status != 0 || ${errors:-0} == 0 ]] || status=86
        [[ $status == 0 || $status == 77 ]] || failed=1
        # Of all parts together; a case that is left to another part counts as passed in this one.
        checks=$(sed -n 's/.*Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\).*/\1 \2 \3/p' "$log" |
            awk '{ all += $1; failed += $2; errors += $3 }
                 END { if (NR) printf "%d checks, %d + %d failed", all, failed, errors }')
        row=$(printf '%-10s %-20s %-12s %7s s  %-26s %s' "$tool" "$name" "$(verdict "$status")" \
            "$((SECONDS - start))" "${checks:--}" "${errors:+$errors reports}")
        echo "$row"
        rows+=("$row")
    done
done

printf '\n%-10s %-20s %-12s %9s  %-26s %s\n' tool suite verdict time checks sanitizer
printf '%s\n' "${rows[@]}"
echo "logs: $logs"
exit "$failed"
