#!/usr/bin/env bash
# Promise: with the recipe curl.sh icestream fetches step files from http: and https: URLs and ships hit files there, and it
# copies file: itself. A connection that breaks costs only the rest of a file, nothing damaged is used, nothing is replaced or
# removed before the hits have arrived, and no secret is shown. The server is transfer_server.py; test_transfer_s3.sh has S3.
# `expect` calls functions of this file.
# shellcheck disable=SC2016,SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/common.bash
source "$here/../common.bash"
needs_curl
python=$(python_with ssl) || skip "no Python"

# serve FOLDER OPTION...: starts a server, and sets `port`.
serve() {
    mkdir -p "$1"
    "$python" "$here/transfer_server.py" "$@" >"$1.port" 2>"$1.err" &
    await test -s "$1.port"
    [ -s "$1.port" ] || { fail "no server: $(cat "$1.err")"; finish; }
    port=$(cat "$1.port")
}

# asked FOLDER TEXT COUNT: checks how many requests of this kind came.
asked() {
    local found
    found=$(grep -c -- "$2" "$1.log")
    [ "$found" = "$3" ] || fail "$found requests '$2' instead of $3: $(cat "$1.log")"
}

run() { "$ICESTREAM" run -q run.yaml "$@"; }
ship() { "$ICESTREAM" run -q ship.yaml "$@"; }

# A curl in front of the real one writes down what everybody can see: its command line and its process.
mkdir tools
printf '#!/bin/sh\necho "$*" >>%q\necho $$ >%q\nexec %q "$@"\n' "$PWD/lines" "$PWD/process" "$(command -v curl)" >tools/curl
chmod +x tools/curl
PATH=$PWD/tools:$PATH

serve far
http=http://127.0.0.1:$port
for i in 1 2 3; do
    expect 0 "$ICESTREAM" generate -s workload.steps=200 -s workload.event=$i -o far/s$i.steps.npy
done
printf 'run: { seed: 2 }\nsource: { fetch: [%s, fetch, "{path}"] }\n' "$RECIPE" >run.yaml
{ cat run.yaml && printf 'sink: { ship: [%s, ship, "{path}"] }\n' "$RECIPE"; } >ship.yaml
echo 'run: { seed: 2 }' >plain.yaml
expect 0 run 'far/*.steps.npy' -o 'reference/{stem}.hits.npy'

# --- fetched and shipped in one run; the hit files are those of local files
expect 0 "$ICESTREAM" run -q ship.yaml "$http"/s1.steps.npy "$http"/s2.steps.npy "$http"/s3.steps.npy -o "$http/out/{stem}.hits.npy" -s sink.directory=local -s sink.journal=j
for i in 1 2 3; do
    same reference/s$i.hits.npy far/out/s$i.hits.npy
done
says j '"event":"fetched"' '"event":"shipped"' "\"url\":\"$http/out/s1.hits.npy\""
asked far '^HEAD /out/' 3
asked far '^GET /out/' 0
[ "$(ls -A local)" = $'s1.hits.npy\ns2.hits.npy\ns3.hits.npy' ] || fail "local has $(ls -Am local)"

# --- again: what arrived is known by its digest; other bytes there are an error, and only --force replaces them
expect 0 ship "$http"/s1.steps.npy -o "$http"/out/s1.hits.npy -s sink.directory=again
expect 74 ship "$http"/s1.steps.npy -o "$http"/out/s2.hits.npy -s sink.directory=other
says err "$http/out/s2.hits.npy: found a file with other bytes there" "--force replaces it" "other/s2.hits.npy: exit status 73"
asked far '^PUT /out/s2.hits.npy - 412' 1
same reference/s2.hits.npy far/out/s2.hits.npy
is_there other/s2.hits.npy.command
expect 74 ship "$http"/s1.steps.npy -o "$http"/out/s2.hits.npy -s sink.directory=other --resume
expect 0 ship "$http"/s1.steps.npy -o "$http"/out/s2.hits.npy -s sink.directory=other --force
same reference/s1.hits.npy far/out/s2.hits.npy

# --- a connection that breaks: the rest is asked for, of the same version only
: >far.log
echo 'GET cut=5000 2' >far.faults
expect 0 run "$http"/s1.steps.npy -o cut.npy -s sink.journal=k
same cut.npy reference/s1.hits.npy
asked far 'GET /s1.steps.npy - 200' 1
asked far 'GET /s1.steps.npy bytes=5000- 206' 1
asked far 'GET /s1.steps.npy bytes=10000- 206' 1
[ "$(grep -c '"event":"retried"' k)" = 2 ] || fail "retried $(grep -c '"event":"retried"' k) times"
cp far/s1.steps.npy far/v.steps.npy
printf 'GET cut=5000 1\nGET changed=s2.steps.npy 1\n' >far.faults
expect 0 run "$http"/v.steps.npy -o version.npy
same version.npy reference/s2.hits.npy
asked far 'GET /v.steps.npy bytes=5000- 200' 1
# What has changed on the way is fetched again; an answer that is not whole is no file.
echo 'GET corrupt 1' >far.faults
expect 0 run "$http"/s1.steps.npy -o corrupt.npy
same corrupt.npy reference/s1.hits.npy
says err 'fetched a file with the SHA-256'
echo 'GET headers 1' >far.faults
expect 0 run "$http"/s1.steps.npy -o headers.npy
same headers.npy reference/s1.hits.npy
says err 'the answer of the server ends in its headers'
echo 'GET status=503 1' >far.faults
expect 0 run "$http"/s1.steps.npy -o busy.npy
says err 'the server answered HTTP 503 (the server is busy)'

# --- what will not pass ends at once, and the others are computed
: >far.log
: >far.faults
expect 74 run "$http"/none.steps.npy "$http"/s2.steps.npy -o 'gone/{stem}.npy'
says err "$http/none.steps.npy: cannot fetch: the server answered HTTP 404 (there is no such file)"
is_there gone/s2.npy
asked far 'GET /none.steps.npy' 1

# --- shipping that fails is an error that a later run takes up again; step files stay until the hits have arrived
mkdir in
cp far/s1.steps.npy in/a.steps.npy
echo '* status=500 1000' >far.faults
claimed() { ship -s source.directory=in -s source.after=delete -s sink.directory=claimed -s "sink.url=$http/claimed/{name}" "$@"; }
expect 74 claimed --fail-fast
says err "$http/claimed/a.hits.npy: cannot ship: the server answered HTTP 500, SlowDown" "sink.ship: $RECIPE claimed/a.hits.npy: exit status 75"
is_there in/a.steps.npy
prints "has not succeeded for 1" status claimed
# A connection that breaks, and bytes that change on the way: what the server stored is taken away and shipped again.
printf 'PUT drop 1\nPUT corrupt 1\n' >far.faults
expect 0 claimed
is_missing in/a.steps.npy
cmp -n 3000 reference/s1.hits.npy far/claimed/a.hits.npy || fail "shipped after two failures"
says err "found other bytes there than were shipped"
asked far '^DELETE /claimed/a.hits.npy' 1
says claimed/run.journal '"event":"shipped"'
# A run that is killed while it ships: the next one ships.
echo 'PUT status=503 1000' >far.faults
"$ICESTREAM" run -q ship.yaml far/s1.steps.npy -o "$http"/killed/s1.hits.npy -s sink.directory=killed 2>err &
service=$!
await test -e killed/s1.hits.npy
kill -9 $service
wait $service 2>/dev/null
: >far.faults
expect 0 ship far/s1.steps.npy -o "$http"/killed/s1.hits.npy -s sink.directory=killed --resume
same killed/s1.hits.npy far/killed/s1.hits.npy

# --- a server that names no digests: the file is read back
serve plain --no-digest
expect 0 ship far/s1.steps.npy -o "http://127.0.0.1:$port/s1.hits.npy" -s sink.directory=plainly
same reference/s1.hits.npy plain/s1.hits.npy
asked plain 'GET /s1.hits.npy - 200' 1

# --- redirections: followed without a token, and never to another protocol
serve other
other=http://127.0.0.1:$port
cp far/s1.steps.npy other/r.steps.npy
: >far.log
echo "GET to=$other/r.steps.npy 1" >far.faults
expect 0 env BEARER_TOKEN=hidden-token "$ICESTREAM" run -q run.yaml "$http"/s1.steps.npy -o moved.npy
same moved.npy reference/s1.hits.npy
asked far 'GET /s1.steps.npy - 302 with-token' 1
asked other 'GET /r.steps.npy - 200' 1
asked other 'with-token' 0
for to in "file://$PWD/far/s1.steps.npy" "ftp://127.0.0.1/s1.steps.npy" "$http/s1.steps.npy"; do
    echo "GET to=$to 6" >far.faults
    expect 74 run "$http"/s1.steps.npy -o refused.npy
    case $to in
    "$http"/*) says err 'found more than 5 redirections' ;;
    *) says err "found a redirection to ${to%%:*}:, expected one to http,https" ;;
    esac
    : >far.faults
done

# --- a file that is too large is no file, with and without an announced size; a stopped recipe stops curl
small=$(stat -c %s far/s1.steps.npy)
expect 74 run "$http"/s1.steps.npy -o large.npy -s "source.fetch=[$RECIPE, fetch, '{path}', '$((small - 1))']"
says err "found a file that is larger than $((small - 1)) bytes" "exit status 77"
echo 'GET long=9000000 1' >far.faults
expect 74 run "$http"/s1.steps.npy -o large.npy -s "source.fetch=[$RECIPE, fetch, '{path}', '1000']"
says err "found a file that is larger than 1000 bytes"
is_missing large.npy
# One without a size that does not begin as a step file does has perhaps no end: its first bytes are enough.
echo 'GET zeros 1' >far.faults
expect 3 run "$http"/s1.steps.npy -o zeros.npy
says err "s1.steps.npy: byte 0: found no .npy magic string"
is_missing zeros.npy
# A full disk ends the attempt, which leaves nothing there; files that would be waited for are refused.
mkfifo pipe
chmod 600 pipe
for name in CURL_CA_BUNDLE SSL_CERT_FILE BEARER_TOKEN_FILE; do
    env "$name=pipe" "ICESTREAM_URL=$http/s1.steps.npy" "$RECIPE" fetch piped.npy 2>err
    [ $? = 78 ] || fail "$name: the status of a pipe"
    says err "$name: pipe: expected a regular file"
done
if ln -s /dev/full full.npy.more 2>/dev/null; then
    ICESTREAM_URL=$http/s1.steps.npy "$RECIPE" fetch full.npy 2>err
    [ $? = 75 ] || fail "the status of a full disk: $(cat err)"
    says err "cannot write the file: "
    is_missing full.npy
    is_missing full.npy.part
fi
echo 'GET stall 1' >far.faults
: >process
ICESTREAM_URL=$http/s1.steps.npy "$RECIPE" fetch stalled.npy &
service=$!
await test -s process
kill $service
wait $service
[ $? = 75 ] || fail "the status of a recipe that is stopped"
await bash -c '! kill -0 $(cat process) 2>ended'
is_missing stalled.npy
says lines '--connect-timeout 20' '--speed-limit 1 --speed-time 60'
: >far.faults

# --- file: the folder must be there, and the name is one
run() { "$ICESTREAM" run -q plain.yaml "$@"; }
mkdir archive
expect 0 run "file://$PWD/far/s1.steps.npy" -o "file://localhost$PWD/archive/a.npy" -s sink.directory=copy
same reference/s1.hits.npy archive/a.npy
expect 0 run "file://$PWD/far/s1.steps.npy" -o "file://localhost$PWD/archive/a.npy" -s sink.directory=copy2
expect 74 run far/s2.steps.npy -o "file://$PWD/archive/a.npy" -s sink.directory=copy3
says err "/archive/a.npy: found a file with other bytes there"
expect 74 run far/s1.steps.npy -o "file://$PWD/missing/a.npy" -s sink.directory=copy4
says err "missing/a.npy"
is_missing missing
expect 74 run "file://$PWD/none.npy" -o n.npy
says err "file://$PWD/none.npy: No such file or directory"
# Names from outside stay in the folder of the run: one part, no links, no escapes.
mkdir victim
for case in "$http/.." "$http/a%2F..%2Fb%0A.npy" "file:///a/%2e%2e/..%2Fs1.npy"; do
    "$ICESTREAM" run -q plain.yaml -s "source.fetch=[$RECIPE, fetch, '{path}']" "$case" -o victim/x.npy 2>err && fail "$case was accepted"
done
[ -z "$(find . -newer victim -name '*%*')" ] || fail "left: $(find . -newer victim -name '*%*')"

# --- TLS is checked, a token goes to a server with TLS or on this machine, and no secret is shown
if openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>openssl.log; then
    mkdir secure
    cp far/s1.steps.npy secure
    serve secure --tls cert.pem key.pem --bearer hidden-token
    https=https://localhost:$port
    fetch() { "$ICESTREAM" run -q run.yaml "$https"/s1.steps.npy -o "$@"; }
    expect 74 fetch tls0.npy
    says err "$https/s1.steps.npy: SSL certificate problem"
    export CURL_CA_BUNDLE=$PWD/cert.pem
    expect 74 fetch tls1.npy
    says err "the server answered HTTP 401"
    echo hidden-token >token
    BEARER_TOKEN_FILE=token expect 74 fetch tls2.npy
    says err "BEARER_TOKEN_FILE: token: expected a file of this user or root that nobody else may read"
    chmod 600 token
    export BEARER_TOKEN_FILE=token
    echo "GET to=$http/s1.steps.npy 1" >secure.faults
    expect 74 fetch tls3.npy
    says err 'found a redirection to http:, expected one to https'
    expect 0 "$ICESTREAM" run ship.yaml "https://me:hidden1@localhost:$port/s1.steps.npy?k=hidden2" -o "$https/tls.npy?k=hidden3" -s sink.directory=tls -s sink.journal=tls/j --summary tls/summary.json
    same secure/tls.npy reference/s1.hits.npy
    says tls/j "\"url\":\"$https/tls.npy\"" "\"file\":\"$https/s1.steps.npy\""
    expect 74 "$ICESTREAM" run run.yaml "https://me:hidden1@localhost:$port/none.npy?k=hidden2" -o none.npy --summary none.json
    grep -rq hidden err out tls none.json lines && fail "a secret is in $(grep -rl hidden err out tls none.json lines)"
fi

# --- a URL that icestream itself fetched or shipped to until version 0.2 names the recipe
for url in http://h/a.npy https://h/a.npy s3://bucket/a.npy; do
    expect 2 "$ICESTREAM" run -q plain.yaml "$url" -o x.npy
    says err "found $url, expected source.fetch" "sites/transfer/curl.sh"
    expect 2 "$ICESTREAM" run -q plain.yaml far/s1.steps.npy -o "$url"
    says err "sink.url" "sink.ship" "sites/transfer/curl.sh"
done
finish
