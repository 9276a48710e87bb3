#!/bin/bash
# Promises of URLs in the tickets of a queue: source.allow says which ones a worker fetches, and others are dead letters; a
# file that the server does not have is a dead letter at once, and what may pass, or depends on the worker, stays in the
# queue; a URL with a secret is shown nowhere. It needs a redis-server. To join: one more ticket.
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/common.bash
. "$here/../common.bash"
command -v redis-server >/dev/null || skip "there is no redis-server"
python=$(python_with http.server) || skip "there is no Python"
"$ICESTREAM" version --verbose >facts
grep -q 'hiredis: [0-9]' facts || skip "this icestream was built without hiredis"
needs_curl

mkdir -p broker far/steps far/private
broker_port=$("$python" -c 'import socket
print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
redis-server --port "$broker_port" --bind 127.0.0.1 --save '' --dir "$FOLDER/broker" --logfile log &
"$python" "$here/transfer_server.py" far >port 2>far.errors &
await test -s port
http=http://127.0.0.1:$(cat port)
queue=redis://127.0.0.1:$broker_port/ice
await redis-cli -p "$broker_port" ping >/dev/null

work=("$ICESTREAM" run -q -s "source.queue=$queue" -s source.scan=0.1 -s device.backend=cpu -s sink.directory=hits
    -s "source.fetch=[$RECIPE, fetch, '{path}']" --resume)
put() {
    expect 0 "$ICESTREAM" put --queue "$queue" "$@"
}
# tickets WAITING DONE DEAD: compares the numbers of the queue, with the tickets in work as waiting.
tickets() {
    expect 0 "$ICESTREAM" status --json "$queue"
    local found
    found=$("$python" -c 'import json
report = json.load(open("out"))
print(report["waiting"] + report["in_work"], report["done"], report["dead"])')
    [ "$found" = "$*" ] || fail "found the tickets $found, expected $*"
}
asked() {
    [ "$(grep -cF -- "$1" far.log)" = "$2" ] || fail "$1 was asked $(grep -cF -- "$1" far.log) times, expected $2"
}

for i in 1 2 3; do
    expect 0 "$ICESTREAM" generate -s workload.steps=20 -s workload.event=$i -o "far/steps/s$i.steps.npy"
done
cp far/steps/s1.steps.npy far/private/p.steps.npy

# --- source.allow: foreign URLs are dead letters, and nobody asks for them
put "$http"/steps/s1.steps.npy "$http"/private/p.steps.npy "$http"/steps/../private/q.steps.npy \
    "http://127.0.0.2:1/steps/r.steps.npy?key=topsecret" root://127.0.0.2/steps/t.steps.npy file:///etc/u.steps.npy
expect 3 "${work[@]}" -s "source.allow=[$http/steps/]"
tickets 0 1 5
is_there hits/s1.hits.npy
asked 'GET /private' 0
says hits/run.journal "found the URL $http/private/p.steps.npy, expected one that begins with a prefix of source.allow, as $http/steps/" \
    "found the URL root://127.0.0.2/steps/t.steps.npy"
expect 0 redis-cli -p "$broker_port" --raw XRANGE ice:dead - +
says out "found the URL http://127.0.0.2:1/steps/r.steps.npy, expected" "found the URL file:///etc/u.steps.npy, expected"
if grep -q topsecret err hits/run.journal hits/summary.json; then
    fail "a secret of a URL is shown"
fi
prints "source.allow" status "$queue"
grep -q topsecret out && fail "a secret of a URL is shown"

# --- a redirection to a URL that source.allow does not name: nobody asks for it, and another worker may try
for to in "$http/private/p.steps.npy" "$http/steps/%2e%2E/private/p.steps.npy" "http://127.0.0.1:1/steps/p.steps.npy"; do
    name=x${#to}.steps.npy # a name that was put before is no new ticket
    echo "GET to=$to 1" >far.faults
    cp far/steps/s1.steps.npy "far/steps/$name"
    put "$http/steps/$name"
    expect 74 "${work[@]}" -s "source.allow=[$http/steps/]"
    says err "found a redirection to a URL that source.allow does not name"
    asked 'GET /private' 0
    expect 0 redis-cli -p "$broker_port" DEL ice
done
: >far.faults

# --- a file that is not there: at once, also while watching; the other tickets are computed
: >far.log
put "$http"/steps/none.steps.npy "$http"/steps/s2.steps.npy
expect 3 "${work[@]}"
asked 'GET /steps/none.steps.npy' 1
says err "none.steps.npy: cannot fetch: the server answered HTTP 404 (there is no such file)"
says hits/run.journal "none.steps.npy: source.fetch: $RECIPE: exit status 66: there is no such file"
tickets 0 2 6
echo 'GET status=410 1' >far.faults
put "$http"/steps/s3.steps.npy
expect 3 "${work[@]}"
says err "the server answered HTTP 410 (there is no such file)"
tickets 0 2 7
put "$http"/steps/s3.steps.npy # a dead letter may be put again
: >far.faults
expect 0 "${work[@]}"
tickets 0 3 7

# --- a file that never ends, with a program that knows no limit: at once
expect 0 redis-cli -p "$broker_port" XADD ice '*' name y.steps.npy url far://h/y.steps.npy bytes 1000
expect 3 "${work[@]}" -s "source.fetch=[sh, -c, 'ulimit -f >limit; cat /dev/zero >\"\$1.part\"', sh, '{path}']"
grep -q '^[0-9]*$' limit || fail "the program began with the limit $(cat limit)"
says hits/run.journal "source.fetch: sh: ended by SIGXFSZ: the file became too large"
tickets 0 3 8
[ -z "$(find . -name '*.part')" ] || fail "a part of a file was left: $(find . -name '*.part')"

# --- what may pass is tried again; what depends on the worker's rights waits for another one
echo 'GET status=503 1' >far.faults
cp far/steps/s1.steps.npy far/steps/v.steps.npy
put "$http"/steps/v.steps.npy
expect 0 "${work[@]}"
says err "the server answered HTTP 503"
tickets 0 4 8
echo 'GET status=403 1' >far.faults
cp far/steps/s1.steps.npy far/steps/w.steps.npy
put "$http"/steps/w.steps.npy
expect 74 "${work[@]}"
says err "the server answered HTTP 403"
tickets 1 4 8
: >far.faults
expect 0 "${work[@]}"
tickets 0 5 8

# --- what no worker may fetch: each delivery counts, also while watching, and the last one makes a dead letter
refuser="[sh, -c, 'echo fetched >>deliveries; exit 77', sh, '{path}']"
expect 0 redis-cli -p "$broker_port" XADD ice '*' name z.steps.npy url far://h/z.steps.npy bytes 1000
expect 74 "${work[@]}" -s "source.fetch=$refuser" -s source.attempts=2
tickets 1 5 8
expect 3 "${work[@]}" -s "source.fetch=$refuser" -s source.attempts=2
says hits/run.journal "exit status 77: it is not allowed" "delivery 2 of at most 2 (source.attempts)"
tickets 0 5 9
rm deliveries
expect 0 redis-cli -p "$broker_port" XADD ice '*' name z2.steps.npy url far://h/z2.steps.npy bytes 1000
cp far/steps/s1.steps.npy far/steps/u.steps.npy
put far/steps/u.steps.npy
"${work[@]}" -s "source.fetch=$refuser" -s source.attempts=3 -s source.lease=0.5 -s source.watch=true 2>err &
worker=$!
await grep -q 'delivery 3 of at most 3' hits/run.journal
await test -s hits/u.hits.npy
kill $worker
wait $worker
tickets 0 6 10
[ "$(wc -l <deliveries)" = 3 ] || fail "the program was started $(wc -l <deliveries) times, expected 3"
finish
