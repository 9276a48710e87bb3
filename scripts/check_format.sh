#!/usr/bin/env bash
# Holds every C source against .clang-format. --fix: formats them.
#
# Versions of clang-format disagree with each other, so it is version 14 for everybody.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

action=(--dry-run -Werror)
case ${1:-} in
'') ;;
--fix) action=(-i) ;;
*) wrong_usage ;;
esac
for formatter in clang-format-14 clang-format; do
    [[ $("$formatter" --version 2>/dev/null) == *"version 14."* ]] && break
    formatter=
done
if [[ -z $formatter ]]; then
    echo "check_format.sh: needs clang-format 14; scripts/setup.sh check installs it" >&2
    exit 1
fi
# find, not git: it also works where git mistrusts the owner of a clone.
find pipeline graphs kernels stages tests bench -type f -regex '.*\.\(c\|h\|cu\|cuh\)' -print0 |
    xargs -0 "$formatter" "${action[@]}"
