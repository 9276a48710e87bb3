#!/usr/bin/env bash
# Promises: `icestream send` gives the hits of files, byte for byte, over the connection, also if the run is killed
# and started again, and one client gets no more photons than another one. Nothing is left of a wrong client.
# ICESTREAM_PRODUCERS, ICESTREAM_MESSAGES, ICESTREAM_STEPS: the size; 32, 200 and 5000 are 32 times 1e6 steps.
# ICESTREAM_JAIN: what Jain's index of the photons that were done when the first producer ended must exceed. Without it the
# index is only shown: if messages are few and small, it depends on how fast the clients are.
source "$(dirname "$0")/../common.bash"

producers=${ICESTREAM_PRODUCERS:-8} messages=${ICESTREAM_MESSAGES:-16} steps=${ICESTREAM_STEPS:-4}
jain=${ICESTREAM_JAIN:-0}
# start OPTION...: a run that listens, up to the moment at which it does.
start() {
    rm -f service.err
    "$ICESTREAM" run -s source.listen=unix:socket -s source.clients=64 -s source.claims=4 -s device.threads=1 "$@" \
        2>service.err >service.out </dev/null &
    service=$!
    await grep -qs watching service.err || { cat service.err; exit 1; }
}

# Producer P has messages P-0, P-1, ... Odd producers have messages of twice the size, and half as many. The messages of
# all producers of a kind are parts of one step file, of about equal cost.
mkdir steps
: >empty.yaml
for ((kind = 0; kind < 2; ++kind)); do
    each=$((messages / (1 + kind))) of_kind=$(((producers + 1 - kind) / 2))
    expect 0 "$ICESTREAM" generate -s workload.event=$((kind + 1)) -s workload.steps=$((of_kind * messages * steps)) -o all.npy --force
    expect 0 "$ICESTREAM" split empty.yaml all.npy --parts $((of_kind * each)) -o 'part-{part}.npy'
    p=$kind m=0
    for file in part-*.npy; do
        mv "$file" "steps/$p-$m.steps.npy"
        p=$((m + 1 < each ? p : p + 2)) m=$(((m + 1) % each))
    done
done
rm all.npy
expect 0 "$ICESTREAM" run -q -s sink.directory=expected

# One client with its hits, as files and on standard output.
start
expect 0 "$ICESTREAM" send steps/0-0.steps.npy steps/0-1.steps.npy --to unix:socket -o got
says out '"state":"done"' '"input":"steps/0-1.steps.npy"'
same_rows expected/0-0.hits.npy got/0-0.hits.npy
same_rows expected/0-1.hits.npy got/0-1.hits.npy
cat steps/0-0.steps.npy steps/1-0.steps.npy >stream
"$ICESTREAM" send - --to unix:socket -o - <stream >hits.stream 2>err || fail "a stream: $(cat err)"
same_rows expected/0-0.hits.npy hits.stream
expect 74 "$ICESTREAM" send steps/0-0.steps.npy --to unix:socket -o got
says err "got/0-0.hits.npy: exists" "--force"
refuses 2 "two step files of the name 0-0" send steps/0-0.steps.npy ./steps/0-0.steps.npy --to unix:socket -o got2
echo nonsense >bad.npy
head -c 1500 steps/1-0.steps.npy >cut.npy
expect 3 "$ICESTREAM" send bad.npy cut.npy missing.npy steps/1-0.steps.npy --to unix:socket -o got
says err "bad.npy" "cut.npy" "missing.npy" "1 messages done"
same_rows expected/1-0.hits.npy got/1-0.hits.npy
expect 75 "$ICESTREAM" send steps/1-1.steps.npy --to unix:nobody --patience 0
says err "unix:nobody" "no answer"
expect 2 "$ICESTREAM" send steps/1-1.steps.npy --to nonsense
[ -z "$(find got -name '*.part')" ] || fail "an incomplete hit file is left"

# Many producers. When the first one ends, all of them have had about as many photons.
work() {
    # shellcheck disable=SC2046 # one word for each file
    exec "$ICESTREAM" send $(for ((m = 0; m < messages / (1 + $1 % 2); ++m)); do echo "steps/$1-$m.steps.npy"; done) \
        --to unix:socket -o many --patience 60 >"answers.$1" 2>"errors.$1" </dev/null
}
kill -STOP "$service" # all of them begin at the same time
senders=()
for ((p = 0; p < producers; ++p)); do
    work "$p" &
    senders+=($!)
done
kill -CONT "$service"
wait -n "${senders[@]}"
shares=$(for ((p = 0; p < producers; ++p)); do
    echo $(($(grep -c '"done"' "answers.$p") * (1 + p % 2)))
done)
for sender in "${senders[@]}"; do wait "$sender"; done
echo "$shares" | awk -v limit="$jain" '{ sum += $1; squares += $1 * $1 } END { jain = sum * sum / (NR * squares); print "Jain index " jain; exit !(jain > limit) }' ||
    fail "shares of producers: $(echo "$shares" | tr '\n' ' ')"

# The run is killed and started again: clients go on, and every hit file is there.
rm -rf many answers.*
senders=()
for ((p = 0; p < producers; ++p)); do
    work "$p" &
    senders+=($!)
done
# shellcheck disable=SC2317 # called by await
some_done() { [ "$(cat answers.* 2>/dev/null | grep -c '"done"')" -ge 1 ]; }
await some_done
kill -KILL "$service"
wait "$service" 2>/dev/null
start
for ((p = 0; p < producers; ++p)); do
    wait "${senders[$p]}" || fail "producer $p: $(cat "errors.$p")"
done
for file in expected/*.hits.npy; do
    same_rows "$file" "many/$(basename "$file")"
done
# How many were under way depends on the machine, so this number is shown and not tested.
cat errors.* | awk '{ again += $(NF - 2) } END { print again " messages were sent again" }'
kill -TERM "$service"
wait "$service"

# A token: never in output, and needed.
(umask 077 && echo 0123456789abcdef-secret >token && echo fedcba9876543210-wrong >wrong)
start -s source.token=token
expect 2 "$ICESTREAM" send steps/0-0.steps.npy --to unix:socket
says err "refuses this client" "wrong token"
expect 2 "$ICESTREAM" send steps/0-0.steps.npy --to unix:socket --token wrong
expect 0 "$ICESTREAM" send steps/0-0.steps.npy --to unix:socket --token token -o got3
same_rows expected/0-0.hits.npy got3/0-0.hits.npy
chmod 644 token
refuses 2 "--token" send steps/0-0.steps.npy --to unix:socket --token token
kill -TERM "$service"
wait "$service"
grep -rl -e "-secret" -e "-wrong" out err service.err service.out hits 2>/dev/null && fail "a token was written"
finish
