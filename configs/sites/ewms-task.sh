#!/usr/bin/env bash
# icestream under EWMS: one task, inside the container. A message of EWMS is a text, so step files and hit files travel
# in base64.
#
#   ewms-task.sh RUN.yaml INFILE OUTFILE [OPTIONS of icestream run ...]
#
# The exit status is that of icestream run; OUTFILE is made only if it is 0.
set -euo pipefail

config=$1 infile=$2 outfile=$3
shift 3
folder=$(mktemp -d "$(dirname "$outfile")/task.XXXXXX")
trap 'rm -rf "$folder"' EXIT
base64 -d "$infile" >"$folder/task.steps.npy"
icestream run "$config" "$folder/task.steps.npy" -o "$folder/task.hits.npy" -q "$@"
base64 -w 0 "$folder/task.hits.npy" >"$folder/message"
mv "$folder/message" "$outfile"
