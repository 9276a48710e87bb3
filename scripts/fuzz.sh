#!/usr/bin/env bash
# Lets libFuzzer at every parser, each for SECONDS, starting from the corpus in tests/fuzz/corpus.
#
#   scripts/fuzz.sh [--seed NUMBER] SECONDS [TARGET ...]
#
# TARGET: a name of tests/fuzz/fuzz_TARGET.c; all if none is named. The corpus itself stays as it
# is. An input that crashes is kept in build/fuzz/crashes/, is printed as base64, and the exit
# status is 1.
# --seed: the fuzzer tries the same inputs each time, as far as the seconds last (1 .. 2^31 - 1).
# Without it, each run tries other inputs.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

export FUZZ_SEED=0 # 0: the fuzzer chooses one
if [[ ${1:-} == --seed ]]; then
    [[ ${2:-} =~ ^[1-9][0-9]{0,9}$ ]] || wrong_usage
    FUZZ_SEED=$2
    shift 2
fi
[[ ${1:-} =~ ^[1-9][0-9]*$ ]] || wrong_usage
export SECONDS_EACH=$1
shift
scripts/setup.sh build check
configure fuzz

targets=("$@")
if ((${#targets[@]} == 0)); then
    mapfile -t targets < <(find tests/fuzz -maxdepth 1 -name 'fuzz_*.c' -printf '%f\n' |
        sed 's/^fuzz_//;s/\.c$//' | sort)
fi
build fuzz --target "${targets[@]/#/fuzz_}"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export FUZZ_FOLDER=$folder
export crashes=build/fuzz/crashes
mkdir -p "$crashes"

fuzz() {
    local target=$1 copy=$FUZZ_FOLDER/$1 log=$FUZZ_FOLDER/$1.log
    mkdir -p "$copy/corpus" "$copy/tmp"
    # -L: a corpus may be a link to another target's.
    [[ ! -d tests/fuzz/corpus/$target ]] || cp -RL "tests/fuzz/corpus/$target/." "$copy/corpus"
    local seeds result=ok
    seeds=$(find "$copy/corpus" -type f | wc -l)
    TMPDIR=$copy/tmp "build/fuzz/tests/fuzz/fuzz_$target" -max_total_time="$SECONDS_EACH" \
        -seed="$FUZZ_SEED" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$crashes/$target-" "$copy/corpus" >"$log" 2>&1 ||
        result=CRASHED
    awk -v target="$target" -v seeds="$seeds" -v result="$result" '
        /^stat::number_of_executed_units:/ { runs = $2 }
        /^stat::peak_rss_mb:/ { memory = $2 }
        match($0, / cov: [0-9]+/) { covered = substr($0, RSTART + 6, RLENGTH - 6) }
        END {
            printf "%-16s %5d seeds %10d runs %6d edges %5d MiB  %s\n",
                   target, seeds, runs, covered, memory, result
        }' "$log"
    if [[ $result != ok ]]; then
        tail -n 40 "$log" >&2
        return 1
    fi
}
export -f fuzz
# xargs gives 123 if any of them failed; all of them run.
# shellcheck disable=SC2016 # the inner shell expands it
printf '%s\n' "${targets[@]}" |
    xargs -P "$(nproc)" -I '{}' bash -c 'fuzz "$1"' fuzz '{}' || {
    echo "fuzz.sh: inputs that crashed are in $crashes/" >&2
    exit 1
}
