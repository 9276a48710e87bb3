#!/usr/bin/env bash
# Promise: the recipe of EWMS in configs/sites makes a hit file of every step file in the queue, although pilots are
# killed, and the broker gives up a step file that cannot be used. It runs the real pilot (a Python with ewms_pilot:
# $EWMS_PYTHON, or python3) and the real RabbitMQ. Only the container is imitated: a script with the name apptainer
# runs the task with the paths that it has outside.
#
#   ewms.sh ICESTREAM [FILES]
recipes=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../configs/sites")
# shellcheck source=tests/cli/common.bash
. "$(dirname "$0")/../cli/common.bash"
python=${EWMS_PYTHON:-python3}
"$python" -c 'import ewms_pilot, pika' 2>/dev/null || skip "no ewms_pilot (pip install 'ewms-pilot[rabbitmq]' 'htcondor<25')"
server=$(find /usr/lib/rabbitmq/lib -name rabbitmq-server -path '*/sbin/*' 2>/dev/null | head -n 1)
[ -n "$server" ] || skip "no RabbitMQ (the package rabbitmq-server)"
files=${2:-100}

# ---- a broker in this folder ----
read -r port distribution names < <("$python" -c 'import socket
free = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(*(each.getsockname()[1] for each in free))')
export HOME=$FOLDER RABBITMQ_NODENAME=test@localhost RABBITMQ_MNESIA_BASE=$FOLDER/mnesia RABBITMQ_LOG_BASE=$FOLDER/log
export RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT=$port RABBITMQ_DIST_PORT=$distribution
export ERL_EPMD_PORT=$names ERL_EPMD_ADDRESS=127.0.0.1 RABBITMQ_ENABLED_PLUGINS_FILE=$FOLDER/plugins
export RABBITMQ_CONF_ENV_FILE=$FOLDER/none RABBITMQ_CONFIG_FILE=$FOLDER/rabbit
echo 'disk_free_limit.absolute = 50MB' >rabbit.conf
echo '[].' >plugins
"$server" >server.log 2>&1 &
broker=$!
# shellcheck disable=SC2317 # the trap calls it
stop() {
    "${server%/*}/rabbitmqctl" stop >/dev/null 2>&1 || kill "$broker" 2>/dev/null
    wait "$broker" 2>/dev/null
    local id
    id=$(pgrep -f "epmd .*-daemon" -u "$(id -u)" | while read -r each; do
        grep -qz "^ERL_EPMD_PORT=$names\$" "/proc/$each/environ" 2>/dev/null && echo "$each"
    done)
    [ -z "$id" ] || kill "$id"
    rm -rf "$FOLDER"
}
trap stop EXIT
control() { "${server%/*}/rabbitmqctl" -q "$@"; }
for ((try = 0; try < 120; ++try)); do
    control await_startup --timeout 60 >/dev/null 2>&1 && break
    sleep 1
done
# What docs/sites.md says: after some attempts a step file goes to the queue `refused`.
expect 0 control set_policy refused '^steps$' \
    '{"delivery-limit": 5, "dead-letter-exchange": "", "dead-letter-routing-key": "refused"}' --apply-to queues
address=localhost:$port
[ "$FAILURES" -eq 0 ] || { tail -n 20 server.log; finish; }

# ---- what stands for the container ----
mkdir bin image
cat >bin/apptainer <<END
#!/usr/bin/env bash
# apptainer run FLAGS [--mount type=bind,source=S,target=T[,readonly]]... [--env NAME=VALUE]... IMAGE ARGUMENTS
[ "\$1" = run ] || exit 9
shift
sources=() targets=()
while [[ \$1 == --* ]]; do
    case \$1 in
    --mount)
        s=\${2#*source=} t=\${2#*target=}
        sources+=("\${s%%,*}") targets+=("\${t%%,*}")
        shift
        ;;
    --env) export "\${2?}"; shift ;;
    esac
    shift
done
[ -d "\$1" ] || exit 8
shift
arguments=()
for word; do
    for i in "\${!targets[@]}"; do
        [[ \$word != "\${targets[i]}"/* ]] || word=\${sources[i]}\${word#"\${targets[i]}"}
    done
    arguments+=("\$word")
done
exec "$recipes/ewms-task.sh" "\${arguments[@]}"
END
chmod +x bin/apptainer
ln -s "$ICESTREAM" bin/icestream
export PATH=$FOLDER/bin:$PATH ICESTREAM_IMAGE=$FOLDER/image PYTHON=$python ICESTREAM_TASKS=2 ICESTREAM_WAIT=3

# ---- step files, of which one is cut ----
mkdir steps conf pilots
echo 'device: { backend: cpu, threads: 1 }' >conf/run.yaml
"$ICESTREAM" generate -s workload.steps=$((20 * files)) -o all.npy 2>err || fail "generate: $(cat err)"
expect 0 "$ICESTREAM" split conf/run.yaml all.npy --parts "$files" -o 'steps/f{part}.steps.npy'
expect 0 "$ICESTREAM" run -q conf/run.yaml 'steps/*.steps.npy' -o 'reference/{stem}.hits.npy'
bad=f000001
mkdir sound
mv steps/$bad.steps.npy sound
head -c 1500 sound/$bad.steps.npy >steps/$bad.steps.npy
expect 0 "$python" "$recipes/ewms.py" put "$address" steps steps/*.steps.npy
says out "$files step files were sent"

# ---- the first pilot is killed in the middle; its step files go back to the queue ----
pilot() {
    mkdir -p "pilots/$1"
    EWMS_PILOT_DATA_DIR_PARENT_PATH_ON_HOST=$FOLDER/pilots/$1 \
        exec "$recipes/ewms-pilot.sh" "$address" conf/run.yaml steps hits >"$1.log" 2>&1
}
touch first.log
(pilot first) &
first=$!
await grep -q 'TASK FINISHED' first.log
kill -KILL "$first"
wait "$first" 2>/dev/null
# ---- the second one does the rest. It ends with an error, because of the step file that cannot be used ----
(pilot second) && fail "the pilot does not report the task that failed"
says second.log "exit code 3"
control list_queues name messages >queues
grep -qP '^steps\t0$' queues || fail "step files are left: $(cat queues)"
expect 0 "$python" "$recipes/ewms.py" take "$address" hits steps hits
says out "$((files - 1)) hit files were written" "1 are missing: $bad"
cat out
# ---- the sound step file ----
cp sound/$bad.steps.npy steps
expect 0 "$python" "$recipes/ewms.py" put "$address" steps steps/$bad.steps.npy
(pilot third) || fail "the third pilot: $(tail -n 5 third.log)"
expect 0 "$python" "$recipes/ewms.py" take "$address" hits steps hits
says out "1 hit files were written" "0 are missing"
for file in reference/*.hits.npy; do
    same "$file" "hits/${file##*/}"
done
[ "$(find hits -type f | wc -l)" -eq "$files" ] || fail "found $(ls -Am hits)"
finish
