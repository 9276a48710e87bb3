#!/usr/bin/env bash
# Promises: icestream status reports on the folder of a run, as text and as JSON, and its exit statuses.
# To join: the content of reports is tested in tests/commands/test_status.c; here only the command line is.
source "$(dirname "$0")/../common.bash"

refuses 2 "icestream status: expected DIR" status
is_empty out
refuses 2 "unexpected argument two" status one two
refuses 3 "none: No such file or directory" status none
is_empty out
echo "no folder" >file
refuses 3 "file: Not a directory" status file

mkdir steps
for name in a b; do
    expect 0 "$ICESTREAM" generate --set workload.steps=10 -o steps/$name.steps.npy
done
expect 0 "$ICESTREAM" run --quiet
touch hits/c.hits.npy.part
expect 0 "$ICESTREAM" status hits
says out "here: 2 hit files" "1 unfinished (.part)"
is_empty err
expect 0 "$ICESTREAM" status steps
if grep -q "note:" out; then fail "a folder of step files that nobody watches has a note"; fi
expect 0 "$ICESTREAM" run --quiet -s source.directory=steps -s sink.directory=watched
expect 0 "$ICESTREAM" status steps
says out "note: steps: found a folder from which workers take step files; expected the folder of their hits"
expect 0 "$ICESTREAM" status hits --json
says out '"schema": "icestream.status"' '"hit_files": 2' '"parts": 1'
is_empty err

# --watch: two reports on a terminal, then Ctrl-C.
refuses 2 "--watch is for a terminal" status hits --watch
cat >watch.py <<'PYTHON'
import os, pty, select, signal, subprocess, sys

master, slave = pty.openpty()
child = subprocess.Popen([sys.argv[1], 'status', 'hits', '--watch'], stdin=slave, stdout=slave, stderr=slave)
seen = b''
while seen.count(b'\x1b[H\x1b[J') < 2:
    if not select.select([master], [], [], 60)[0]:
        sys.exit(f'nothing came after {seen!r}')
    seen += os.read(master, 65536)
child.send_signal(signal.SIGINT)
assert child.wait(60) == -signal.SIGINT, child.returncode
assert b'here: 2 hit files' in seen, seen
PYTHON
! has_terminals || python3 watch.py "$ICESTREAM" || fail "status --watch does not renew its report"
refuses 2 "the command top left in version 0.3.0; use icestream status DIR --watch" top hits

# A run that is stopped in the middle of a step file: nobody computes the file, and a part of it is computed.
expect 0 "$ICESTREAM" generate -s workload.steps=40000 -o big.steps.npy
mkdir in
mv big.steps.npy in
"$ICESTREAM" run -q -s source.directory=in -s source.worker=farm-7 -s sink.directory=part -s sink.checkpoint=0.01 2>/dev/null &
worker=$!
await test -e part/big.hits.npy.checkpoint
expect 0 "$ICESTREAM" status part
says out "1 in work" "  in/big.steps.npy, farm-7, for " "% of 8.00 million photons"
kill -TERM $worker
wait $worker
expect 0 "$ICESTREAM" status part
says out "0 in work" "checkpoints, from which the next run continues:" "  in/big.steps.npy: " \
    "% of 8.00 million photons, " "; begun by the worker farm-7 on $(hostname); written " "stopped (143)"
grep -q "farm-7, for" out && fail "the file that nobody computes is in work: $(cat out)"
expect 0 "$ICESTREAM" status --json part
says out '"photons_total": 8000000' '"worker": "farm-7"'
expect 0 "$ICESTREAM" info part/big.hits.npy.checkpoint
says out "part/big.hits.npy.checkpoint: checkpoint" "% of 8.00 million photons, " "file           in/big.steps.npy"
expect 0 "$ICESTREAM" info --json part/big.hits.npy.checkpoint
says out '"kind": "checkpoint"' '"share": 0.'
refuses 3 "found a checkpoint, expected steps, hits, paths, waveforms or a table for --verify" info --verify part/big.hits.npy.checkpoint

# A worker that is killed: its file waits for another worker.
"$ICESTREAM" run -q -s source.directory=in -s source.worker=farm-8 -s sink.directory=part 2>/dev/null &
worker=$!
await grep -q '"event":"continued"' part/run.journal
kill -KILL $worker
wait $worker 2>/dev/null
expect 0 "$ICESTREAM" status part
says out "0 in work, 1 left by workers that are gone" \
    "  in/big.steps.npy, farm-8, claimed " "nobody computes it, because this worker is gone"

"$ICESTREAM" status hits >/dev/full 2>err
[ $? -eq 74 ] || fail "a full standard output is no error"
finish
