#!/usr/bin/env bash
# Promises: outputs do not follow symbolic links that somebody placed under their names, and names of files and
# bytes of headers reach terminals, logs, reasons and JSON only in a harmless form.
# To join: an output that is opened by name gets a link; a message that shows a name gets the name of this test.
source "$(dirname "$0")/../common.bash"

mkdir in steps
expect 0 "$ICESTREAM" generate -s workload.steps=2 -o steps/a.steps.npy

# Links.
echo precious >victim
for name in run.journal summary.json; do
    rm -rf hits && mkdir hits && ln -s ../victim hits/$name
    refuses 74 "/$name: found a symbolic link, expected" run
done
rm -rf hits
ln -s victim metrics
ln -s victim other.npy
expect 0 "$ICESTREAM" run -q --metrics metrics
expect 0 "$ICESTREAM" generate -s workload.steps=2 -o other.npy --force
[ "$(cat victim)" = precious ] || fail "a link was followed: $(head -c 200 victim)"
# Devices and streams that the user names are no such links.
expect 0 "$ICESTREAM" run -q --force --summary /dev/null -s sink.journal=/dev/null
prints '"schema": "icestream.summary"' run -q --force --summary /dev/stdout

# A lock on a folder, for which the right to read is enough, stops no start. Locks are in files of mode 0600.
mkdir -p run locked/received
flock --no-fork run sleep 60 &
holders=$!
flock --no-fork locked/received sleep 60 &
holders="$holders $!"
"$ICESTREAM" run -s source.listen=unix:run/s -s sink.directory=locked 2>err &
service=$!
await test -S run/s
[ "$(stat -c %a locked/received/.lock)" = 600 ] || fail "the mode of the lock: $(stat locked/received/.lock)"
[ "$(stat -c %a locked/received/.icestream/locks/*)" = 600 ] || fail "the mode of the lock of the name"
# shellcheck disable=SC2086 # several numbers
kill "$service" $holders
wait
is_missing locked/received/.lock
is_missing run/s.lock

# Names with control characters, with bytes that are not UTF-8, and with a newline.
printf -v evil 'in/\033[31mred\033]0;title\007\r\377.steps.npy'
printf -v forged 'in/x\n1 file done.steps.npy'
echo "no steps" >"$evil"
echo "no steps" >"$forged"
# A header with such bytes.
printf '\223NUMPY\001\000v\000{%-117s' "'\033[31m\377" >in/header.steps.npy
expect 3 "$ICESTREAM" run -s source.directory=in
says err '\x1b[31mred' '\xff' 'x?1 file done'
! grep -q '^1 file done' err || fail "a name has made a line: $(cat err)"
prints '\x1b[31mred' status hits
clean() {
    if LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' "$1" || ! iconv -f UTF-8 -t UTF-8 "$1" >/dev/null; then
        fail "$1 has control characters, or is not UTF-8: $(od -c "$1" | head -20)"
    fi
}
"$ICESTREAM" status hits >status.txt
"$ICESTREAM" status hits --json >status.json
"$ICESTREAM" run -s source.directory=in -q --log json 2>log.json
printf -v evil '\033[31mred\377.npy'
cp steps/a.steps.npy "$evil"
expect 0 "$ICESTREAM" info "$evil" --json
cp out info.json
prints '\x1b[31mred\xff.npy: steps' info "$evil"
cp out info.txt
"$ICESTREAM" info "${evil%.npy}" 2>error.txt
for file in err status.txt status.json log.json info.txt info.json error.txt hits/quarantine/*.reason hits/run.journal; do
    clean "$file"
done
# A newline in a name begins no line of a reason or of an error.
for reason in hits/quarantine/*.reason; do
    [ "$(wc -l <"$reason")" = 1 ] || fail "a reason has more than one line: $(cat "$reason")"
done
echo "no steps" >$'new\nline.npy'
refuses 3 "new?line.npy: byte 0: found no .npy magic string" run -q -s 'source.files="new*"' -s sink.directory=named
says "named/quarantine/"$'new\nline.npy.reason' "new?line.npy: byte 0: found no .npy magic string"

# Words of the command line; and characters that write from right to left.
for words in $'\033[31mx' $'run --\033[31m' $'convert --format \033[31m a b' $'run \u202ekcabdnuora'; do
    # shellcheck disable=SC2086 # several words
    "$ICESTREAM" $words 2>words.txt && fail "$words is accepted"
    clean words.txt
    ! grep -q $'\u202e' words.txt || fail "the direction of writing: $(cat words.txt)"
done
says words.txt '\u202ekcabdnuora'

# A link that leads nowhere is no missing file.
ln -s nowhere link.npy
expect 3 "$ICESTREAM" run -q -s source.files=link.npy -s sink.directory=named
says err "link.npy: found a link to nowhere, which leads to no file, expected a file"
python3 -c 'import json, sys; [json.load(open(name)) for name in sys.argv[1:]]' status.json info.json ||
    fail "no JSON"
finish
