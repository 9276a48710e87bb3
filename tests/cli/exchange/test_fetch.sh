#!/usr/bin/env bash
# Promise: source.fetch fetches step files whose names are URLs while others are computed, tries again what fails, and
# leaves neither a copy nor a way out of its folder; hits are those of the same files on the disk.
# The shell expands the scripts in single quotes.
# shellcheck disable=SC2016
source "$(dirname "$0")/../common.bash"
bash=$(command -v bash)
mkdir far
for i in 1 2 3; do
    expect 0 "$ICESTREAM" generate -s workload.steps=5 -s workload.event=$i -o far/s$i.steps.npy
done
echo '{ run: { seed: 2 }, detector: { oversize: 5 } }' >local.yaml
expect 0 "$ICESTREAM" run -q local.yaml 'far/*.steps.npy' -o 'reference/{stem}.hits.npy'
cat >get.sh <<'END'
name=$(basename "$1")
echo "$name $(stat -c %a "$(dirname "$2")")" >>fetched
[ -e "slow" ] && exec sleep 9
[ -e "fails.$name" ] && { mv "fails.$name" "failed.$name"; head -c 99 "far/$name" >"$2"; exit 1; }
cp -- "far/$name" "$2"
END
cat >run.yaml <<END
run: { seed: 2 }
detector: { oversize: 5 }
source: { fetch: [$bash, get.sh, "{url}", "{path}"] }
END

# --- one of them fails once, and nothing but the hits is left
touch fails.s2.steps.npy
expect 0 "$ICESTREAM" run run.yaml far://h/a/s1.steps.npy far://h/a/s2.steps.npy far://h/a/s3.steps.npy -o 'o/{stem}.hits.npy' -s sink.journal=j
for i in 1 2 3; do
    same reference/s$i.hits.npy o/s$i.hits.npy
done
[ "$(ls -A o)" = $'s1.hits.npy\ns2.hits.npy\ns3.hits.npy' ] || fail "o has $(ls -Am o)"
[ "$(sort fetched)" = $'s1.steps.npy 700\ns2.steps.npy 700\ns2.steps.npy 700\ns3.steps.npy 700' ] || fail "fetched: $(cat fetched)"
says j '"event":"fetched"' '"file":"far://h/a/s2.steps.npy"' '"event":"retried"' "source.fetch: $bash: exit status 1"
expect 0 "$ICESTREAM" run run.yaml far://h/a/s1.steps.npy -o o/s1.hits.npy --resume

# --- URLs that end in the same name are different files, also where hit files have no names
"$ICESTREAM" run -q run.yaml far://h/1/x.steps.npy far://h/2/x.steps.npy -o - \
    -s source.fetch="[$bash, -c, 'cp far/s\$(basename \$(dirname \$0)).steps.npy \$1', '{url}', '{path}']" |
    "$ICESTREAM" convert - - | grep HIT | sort >both
[ -s both ] || fail "no hits of two URLs"
{ "$ICESTREAM" convert reference/s1.hits.npy - && "$ICESTREAM" convert reference/s2.hits.npy -; } | grep HIT | sort | cmp - both ||
    fail "the hits of two URLs with the same end"

# --- from a run file; what cannot be fetched is an error, and the others are computed
cat >list.yaml <<END
detector: { oversize: 5 }
run: { seed: 2 }
source: { files: ["far://h/s1.steps.npy", "far://h/none.steps.npy", "far://h/s3.steps.npy"], fetch: [$bash, get.sh, "{url}", "{path}"] }
END
mkdir elsewhere
expect 0 "$ICESTREAM" validate list.yaml
"$ICESTREAM" run -q list.yaml -s source.fetch="[$bash, -c, 'case \$0 in *none*) exit 7 ;; esac; exec $bash get.sh \$0 \$1', '{url}', '{path}']" 2>err &
service=$!
await grep -q '"event":"retried"' hits/run.journal
await test -e hits/s3.hits.npy
# The copies of step files that are done are removed while the run goes on.
await bash -c '! ls hits/.fetched-*/*s[13].steps.npy 2>ls.err'
kill -TERM $service
wait $service
[ $? = 143 ] || fail "the status of a run that cannot fetch and is terminated"
same reference/s3.hits.npy hits/s3.hits.npy
is_missing hits/none.hits.npy
prints "moved: 2 step files fetched" status hits
cp far/s1.steps.npy far/none.steps.npy
expect 0 "$ICESTREAM" run -q list.yaml --resume
is_there hits/none.hits.npy
[ -z "$(ls -d hits/.fetched* 2>/dev/null)" ] || fail "left: $(ls -d hits/.fetched*)"
refuses 74 "far://h/gone.steps.npy: source.fetch: $bash: exit status 1" run -q run.yaml far://h/gone.steps.npy -o gone.npy --fail-fast

# shellcheck disable=SC2317 # `await` calls it
there() { compgen -G 'killed/.fetched-*' >there; }

# --- a killed run leaves its folder, which the next run removes; a folder that is no run's, or a link, stays
touch slow
"$ICESTREAM" run -q run.yaml far://h/s1.steps.npy -o killed/a.npy 2>err &
service=$!
await there
kill -9 $service
wait $service 2>/dev/null
rm slow
mkdir -p precious killed/.fetched-mine
touch precious/file
ln -s ../precious killed/.fetched-0000abcd
expect 0 "$ICESTREAM" run -q run.yaml far://h/s1.steps.npy -o killed/a.npy
# shellcheck disable=SC2012 # the names are those of this test
[ "$(ls -A killed | LC_ALL=C sort)" = $'.fetched-0000abcd\n.fetched-mine\na.npy' ] || fail "killed has $(ls -Am killed)"
is_there precious/file

# --- names from outside
long=$(printf 'x%.0s' {1..300}).npy
for case in "far://h/.." "far://h/..%2Fs1.steps.npy" "far://h/a/.hidden.npy" "far://h/a/" "far://h" "far://h/?a/b.npy" "far://h/$long" $'far://h/a\nb.npy' "far://h/a b.npy" $'far://h/\xc3\xa9.npy'; do
    expect 2 "$ICESTREAM" run -q run.yaml "$case" -o x.npy
    says err "source.files: found" "expected"
done
expect 2 "$ICESTREAM" run -q run.yaml "far://h/$(head -c 65536 /dev/zero | tr '\0' y).npy" -o x.npy
says err "expected at most 8191 bytes"
refuses 2 "would both be written to" run -q run.yaml far://a/s1.steps.npy far://b/s1.steps.npy -o 'x/{stem}.npy'
refuses 2 "found far://h/s1.steps.npy, expected source.fetch" run -q local.yaml far://h/s1.steps.npy -o y.npy
expect 2 "$ICESTREAM" run -q run.yaml 'far://me:hidden1@h/s1.steps.npy?k=hidden2' -o y.npy
says err "found far://h/s1.steps.npy, which has a user or a query" "ICESTREAM_URL"
grep -q hidden err && fail "a secret is in the error"
expect 0 "$ICESTREAM" run run.yaml 'far://me:hidden1@h/s1.steps.npy?k=hidden2' -o y.npy -s sink.journal=k \
    -s "source.fetch=[$bash, -c, '[ \$ICESTREAM_URL = far://me:hidden1@h/s1.steps.npy?k=hidden2 ] && cp far/s1.steps.npy \"\$0\"', '{path}']"
same y.npy reference/s1.hits.npy
says k '"file":"far://h/s1.steps.npy"'
grep -q hidden k err out && fail "a secret is in the journal or the log"
finish
