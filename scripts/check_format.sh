#!/usr/bin/env bash
# Holds every C source against .clang-format. --fix: formats them.
#
# Versions of clang-format disagree with each other, so it is version 16 for everybody.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

action=(--dry-run -Werror)
case ${1:-} in
'') ;;
--fix) action=(-i) ;;
*) wrong_usage ;;
esac
for formatter in clang-format-16 clang-format; do
    [[ $("$formatter" --version 2>/dev/null) == *"version 16."* ]] && break
    formatter=
done
if [[ -z $formatter ]]; then
    echo "check_format.sh: needs clang-format 16; scripts/setup.sh check installs it" >&2
    exit 1
fi
# find, not git: it also works where git mistrusts the owner of a clone.
find base bench graphs kernels physics pipeline stages tables tests -type f -regex '.*\.\(c\|h\|cu\|cuh\)' -print0 |
    xargs -0 "$formatter" "${action[@]}"
