#!/usr/bin/env bash
# Promise: libicestream.so exports every function of the public headers and no other symbol.
# To join: declare the function with ICESTREAM_PUBLIC in a public header.
#
#   shared_library.sh LIBRARY SOURCE_DIRECTORY
set -eu
library=$1
source=$2

exported=$(nm -D --defined-only "$library" | awk '{ print $NF }' | sort)
declared=$(cat "$source/base/icestream_error.h" "$source"/pipeline/icestream*.h |
    grep -oE '\bicestream_[a-z_]+\(' | tr -d '(' | sort -u)
[ "$(wc -l <<<"$declared")" -ge 32 ] || {
    echo "FAILED: found too few functions in the public headers: $declared"
    exit 1
}
diff <(echo "$declared") <(echo "$exported") || {
    echo "FAILED: the functions of the public headers (<) are not the exported symbols (>)"
    exit 1
}
