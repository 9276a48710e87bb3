#!/usr/bin/env bash
# Promise: with the recipe curl.sh icestream fetches from s3: URLs and ships there; every request has a signature that an
# independent implementation of SigV4 accepts, nothing is replaced, and keys are never shown.
# `expect` calls functions of this file.
# shellcheck disable=SC2317
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/cli/common.bash
source "$here/../common.bash"
needs_curl
python=$(python_with hmac) || skip "no Python"
mkdir -p far/steps home
"$python" "$here/transfer_server.py" far --s3 hidden-key hidden/secret+ >port 2>server.err &
await test -s port
[ -s port ] || { fail "no server: $(cat server.err)"; finish; }
export HOME=$PWD/home
unset AWS_PROFILE AWS_SHARED_CREDENTIALS_FILE AWS_SESSION_TOKEN AWS_ENDPOINT_URL_S3 AWS_REGION AWS_DEFAULT_REGION
printf 'run: { seed: 2 }\nsource: { fetch: [%s, fetch, "{path}"] }\n' "$RECIPE" >run.yaml
{ cat run.yaml && printf 'sink: { ship: [%s, ship, "{path}"] }\n' "$RECIPE"; } >ship.yaml
expect 0 "$ICESTREAM" generate -s workload.steps=50 -o 'far/steps/a+b c.steps.npy'
expect 0 "$ICESTREAM" run -q run.yaml 'far/steps/*.steps.npy' -o reference.npy
in='s3://steps/a%2Bb%20c.steps.npy'
run() { "$ICESTREAM" run run.yaml "$@"; }
ship() { "$ICESTREAM" run ship.yaml "$@"; }

# --- keys
AWS_ENDPOINT_URL=http://127.0.0.1:$(cat port)
export AWS_ENDPOINT_URL
expect 74 run $in -o x.npy
says err "found no keys for S3, expected AWS_ACCESS_KEY_ID" "$HOME/.aws/credentials"
mkdir home/.aws
printf '[other]\naws_access_key_id = no\n[default]\naws_access_key_id = hidden-key\naws_secret_access_key=hidden/secret+\n' >home/.aws/credentials
chmod 644 home/.aws/credentials
expect 74 run $in -o x.npy
says err "expected a file of this user or root that nobody else may read"
chmod 600 home/.aws/credentials
AWS_ACCESS_KEY_ID=hidden-key AWS_SECRET_ACCESS_KEY=hidden-wrong expect 74 run $in -o x.npy
says err "$in: cannot fetch: the server answered HTTP 403, SignatureDoesNotMatch (access is denied)"
grep -q hidden err && fail "a secret is in the error"
expect 74 run s3://b/a.npy -o x.npy
says err "expected s3://BUCKET/KEY"
expect 74 env AWS_ENDPOINT_URL=127.0.0.1 "$ICESTREAM" run run.yaml $in -o x.npy
says err "AWS_ENDPOINT_URL: expected http://HOST:PORT"

# --- there and back; a session token and other regions are signed, too
expect 0 env AWS_SESSION_TOKEN=hidden-session AWS_REGION=eu-north-1 "$ICESTREAM" run ship.yaml $in -o s3://hits/sub/x.npy -s sink.directory=local -s sink.journal=local/j --summary local/s
same reference.npy far/hits/sub/x.npy
grep -q '^HEAD /hits/sub/x.npy - 200' far.log || fail "not verified: $(cat far.log)"
grep -q '^GET /hits' far.log && fail "read back although the digest is known"
grep -rq hidden local err out far.log && fail "a secret is in $(grep -rl hidden local err out far.log)"
expect 0 ship $in -o s3://hits/sub/x.npy -s sink.directory=again
expect 74 ship $in -o s3://hits/sub/x.npy -s sink.directory=other -s run.seed=3
says err "s3://hits/sub/x.npy: found a file with other bytes there"
finish
