#!/usr/bin/env bash
# Runs the tests under gcov and prints the share of lines that they reach, file by file.
#
#   scripts/coverage.sh [CTEST OPTIONS ...]
#
# Fails if a folder that must be covered (the stages, and whatever reads what others wrote) stays
# below 90 % of its lines.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

required='stages physics tables pipeline/photons/config pipeline/photons/models pipeline/photons/files'
least=90

scripts/setup.sh build test check
# Counts of earlier runs would add to this one's.
[[ ! -d build/coverage ]] || find build/coverage -name '*.gcda' -delete
# The preset has no CUDA, and the tests see no NVRTC: they also show that icestream needs neither.
ICESTREAM_NVRTC=none scripts/test.sh --preset coverage "$@"

# Tests kill processes, also while these add their counts to those on the disk, which leaves a few
# negative counts. gcovr shall warn of them and not fail.
gcovr --root . --object-directory build/coverage --gcov-ignore-parse-errors \
    --filter 'base/' --filter 'stages/' --filter 'physics/' --filter 'tables/' --filter 'pipeline/' \
    --filter 'graphs/' --filter 'kernels/' \
    --exclude-directories '.*/CompilerId.*' --csv --output build/coverage/lines.csv build/coverage
awk -F, -v required="$required" -v least="$least" '
    NR == 1 {
        for (i = 1; i <= NF; i++)
            column[$i] = i
        printf "%-48s %8s %8s %8s\n", "file", "lines", "reached", "percent"
        next
    }
    {
        file = $column["filename"]; lines = $column["line_total"]; reached = $column["line_covered"]
        if (lines == 0)
            next
        printf "%-48s %8d %8d %8.1f\n", file, lines, reached, 100 * reached / lines
        folder = file
        while (sub("/[^/]*$", "", folder)) {
            total[folder] += lines
            covered[folder] += reached
        }
    }
    END {
        printf "\n%-48s %8s %8s %8s\n", "folder", "lines", "reached", "percent"
        count = split(required, names, " ")
        for (i = 1; i <= count; i++) {
            name = names[i]
            percent = total[name] ? 100 * covered[name] / total[name] : 0
            verdict = percent >= least ? "" : "  below " least " %"
            failed = failed || percent < least
            printf "%-48s %8d %8d %8.1f%s\n", name, total[name], covered[name], percent, verdict
        }
        exit failed
    }' build/coverage/lines.csv
