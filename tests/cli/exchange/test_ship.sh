#!/usr/bin/env bash
# Promise: sink.ship puts every hit file where sink.url says, sink.verify decides whether it arrived, and nothing is
# moved or deleted before both have succeeded; a failed shipment stays an error until a later run has shipped the file;
# secrets in a URL are in no command line, log, journal or summary.
# The shell expands the scripts in single quotes, and `expect` calls run_with.
# shellcheck disable=SC2016,SC2317
source "$(dirname "$0")/../common.bash"
bash=$(command -v bash)
for i in 1 2; do
    expect 0 "$ICESTREAM" generate -s workload.steps=5 -s workload.event=$i -o s$i.steps.npy
done
mkdir far
cat >ship.sh <<'END'
echo "$1 $2 $ICESTREAM_PATH $ICESTREAM_URL" >>shipped
find in -name "*.steps.npy" >>before
[ ! -e broken ] && cp -- "$1" "far/$(basename "$2")"
END
cat >verify.sh <<'END'
cmp -- "$1" "far/$(basename "$2")"
END
moves="[$bash, ship.sh, '{path}', '{url}']"
checks="[$bash, verify.sh, '{path}', '{url}']"
run_with() { "$ICESTREAM" run -q -s "sink.ship=$moves" -s "sink.verify=$checks" -s 'sink.url=file:///x y/{name}' "$@"; }

# --- the URL is checked
expect 2 run_with -s source.files=s1.steps.npy
says err "sink.url: expected printable ASCII characters only"
run_with() { "$ICESTREAM" run -q -s "sink.ship=$moves" -s "sink.verify=$checks" -s 'sink.url=file:///far/{name}' "$@"; }

# --- claimed step files: deleted only when the hits have arrived
mkdir in
cp s1.steps.npy in/a.steps.npy
cp s2.steps.npy 'in/b %.steps.npy'
touch broken
expect 74 run_with --fail-fast -s source.directory=in -s source.after=delete -s sink.directory=claimed
says err "sink.ship: $bash" "exit status 1"
is_there in/a.steps.npy
is_there 'in/b %.steps.npy'
prints "has not succeeded for" status claimed
rm broken
expect 0 run_with -s source.directory=in -s source.after=delete -s sink.directory=claimed
[ -z "$(ls in)" ] || fail "in has $(ls in)"
[ "$(grep -c .steps.npy before)" -gt 0 ] || fail "a step file was deleted before its hits were shipped"
same claimed/a.hits.npy far/a.hits.npy
same 'claimed/b %.hits.npy' far/b%20%25.hits.npy
says shipped 'claimed/b %.hits.npy file:///far/b%20%25.hits.npy claimed/b %.hits.npy file:///far/b%20%25.hits.npy'
says claimed/run.journal '"event":"shipped"' '"url":"file:///far/a.hits.npy"'
prints "moved: 0 step files fetched, 2 hit files shipped" status claimed

# --- what did not arrive whole is shipped again
cat >half.sh <<'END'
if [ -e tried ]; then cp -- "$1" "far/$(basename "$2")"; else touch tried; head -c 100 "$1" >"far/$(basename "$2")"; fi
END
expect 0 run_with -s "sink.ship=[$bash, half.sh, '{path}', '{url}']" -s source.files=s1.steps.npy -s sink.directory=half
same half/s1.hits.npy far/s1.hits.npy
says half/run.journal '"event":"retried"' "sink.verify: "
[ "$(grep -c '"event":"shipped"' half/run.journal)" = 1 ] || fail "shipped $(grep -c shipped half/run.journal) times"

# --- a run that was killed while it shipped: the next one ships
rm -f shipped far/*
expect 137 run_with -s "sink.ship=[$bash, -c, 'kill -9 \$PPID', '{path}']" -s source.files=s1.steps.npy -s sink.directory=killed
is_missing far/s1.hits.npy
expect 0 run_with --resume -s source.files=s1.steps.npy -s sink.directory=killed
same killed/s1.hits.npy far/s1.hits.npy
expect 0 run_with --resume -s source.files=s1.steps.npy -s sink.directory=killed
[ "$(wc -l <shipped)" = 1 ] || fail "shipped: $(cat shipped)"

# --- OUT is a URL
rm -f far/*
touch empty.yaml
expect 0 "$ICESTREAM" run empty.yaml s1.steps.npy -o file:///any/where.npy -s "sink.ship=$moves" -s sink.directory=local
same local/where.npy far/where.npy
[ "$(ls -A local)" = where.npy ] || fail "local has $(ls -Am local)"

# --- secrets
expect 2 run_with -s 'sink.url=https://me:hidden1@host/{name}' -s source.files=s1.steps.npy -s sink.directory=s
says err "sink.ship: found {url}, and sink.url has a user or a query" "ICESTREAM_URL"
cat >env.sh <<'END'
tr '\0' ' ' </proc/$PPID/cmdline >>lines
tr '\0' ' ' </proc/$$/cmdline >>lines
[ "$ICESTREAM_URL" = 'https://me:hidden1@host/s1.hits.npy?key=hidden2' ] && [ -e good ]
END
cat >secret.yaml <<END
source: { files: s1.steps.npy }
sink: { directory: s, url: "https://me:hidden1@host/{name}?key=hidden2", ship: [$bash, env.sh, "{path}"] }
END
expect 74 "$ICESTREAM" run secret.yaml --fail-fast
cp err log1
touch good
expect 0 "$ICESTREAM" run secret.yaml --resume --log json
says s/run.journal '"url":"https://host/s1.hits.npy"'
grep -rq hidden s lines log1 err out && fail "a secret is in $(grep -rl hidden s lines log1 err out)"
finish
