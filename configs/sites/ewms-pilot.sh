#!/usr/bin/env bash
# icestream under EWMS: what a worker runs. The pilot takes step files from a queue of RabbitMQ, runs icestream in a
# container for each of them, and sends the hit files to another queue.
#
#   ICESTREAM_IMAGE=/images/icestream-ewms ewms-pilot.sh ADDRESS /data/production/run.yaml STEPS-QUEUE HITS-QUEUE
#
# ADDRESS is that of the broker; its password or token is in EWMS_QUEUE_TOKEN. ICESTREAM_IMAGE is the image of
# ewms.def, a folder. The folder of run.yaml must be there on the worker under the same name; the container sees it
# read-only. HTCondor starts pilots: one for each slot, as EWMS does it. docs/sites.md has the details.
#
# ICESTREAM_TASKS   tasks at a time [default: 1]
# ICESTREAM_WAIT    how long (s) the pilot waits for a message before it ends [default: 60]
# ICESTREAM_OPTIONS further options of icestream run, for example "--threads 4"
set -euo pipefail

if (($# != 4)); then
    echo "usage: ewms-pilot.sh ADDRESS RUN.yaml STEPS-QUEUE HITS-QUEUE" >&2
    exit 2
fi
config=$(realpath -e "$2")

export EWMS_PILOT_TASK_IMAGE=${ICESTREAM_IMAGE:?expected the folder of the image}
export EWMS_PILOT_TASK_ARGS="$config {{INFILE}} {{OUTFILE}} ${ICESTREAM_OPTIONS:-}"
export EWMS_PILOT_INFILE_EXT=.b64 EWMS_PILOT_OUTFILE_EXT=.b64
export EWMS_PILOT_EXTERNAL_DIRECTORIES
EWMS_PILOT_EXTERNAL_DIRECTORIES=$(dirname "$config")
export _EWMS_PILOT_CONTAINER_PLATFORM=apptainer

export EWMS_PILOT_QUEUE_INCOMING=$3 EWMS_PILOT_QUEUE_OUTGOING=$4
for way in INCOMING OUTGOING; do
    export "EWMS_PILOT_QUEUE_${way}_BROKER_TYPE=rabbitmq" "EWMS_PILOT_QUEUE_${way}_BROKER_ADDRESS=$1"
    export "EWMS_PILOT_QUEUE_${way}_AUTH_TOKEN=${EWMS_QUEUE_TOKEN:-}"
done
export EWMS_PILOT_TIMEOUT_QUEUE_INCOMING=${ICESTREAM_WAIT:-60}
export EWMS_PILOT_MAX_CONCURRENT_TASKS=${ICESTREAM_TASKS:-1} EWMS_PILOT_PREFETCH=${ICESTREAM_TASKS:-1}
# A step file that cannot be used (exit status 3) goes back to the queue, and the broker moves it to another queue
# after as many attempts as its policy says. The pilot goes on with the others.
export EWMS_PILOT_STOP_LISTENING_ON_TASK_ERROR=False

exec "${PYTHON:-python3}" -m ewms_pilot
