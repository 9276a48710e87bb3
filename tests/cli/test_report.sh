#!/usr/bin/env bash
# Promises: icestream report writes one HTML file that needs nothing from elsewhere; its numbers are those of the
# run; texts of files never become HTML; faults of folders, journals and hit files are said clearly.
# To join: a part of the page that can be wrong in another way gets lines here; what the page looks like in a
# browser is no test.
source "$(dirname "$0")/common.bash"

report() {
    expect 0 "$ICESTREAM" report "$1" -o report.html --force
    is_empty err
}

expect 2 "$ICESTREAM" report
says err "icestream report: expected DIR"
expect 3 "$ICESTREAM" report none
says err "none: No such file or directory"
test ! -e report.html || fail "a report of nothing"
mkdir empty
expect 3 "$ICESTREAM" report empty
says err "empty: found no run.journal, no summary.json and no hit file, expected the folder into which a run wrote"
ls report.html* 2>/dev/null && fail "a report of nothing"

# A run with two good files and a bad one, whose names and reasons are HTML.
cat >run.yaml <<'YAML'
detector: { layout: hex86, oversize: 5 }
source: { directory: steps }
run: { seed: 7 }
YAML
evil='<img src=x onerror=alert(1)>&"'"'"
mkdir steps
expect 0 "$ICESTREAM" generate -s workload.steps=20 -o steps/a.steps.npy
cp steps/a.steps.npy "steps/$evil.steps.npy"
printf 'no steps' >"steps/bad$evil.steps.npy"
touch -d '1 minute ago' steps/* # a new file with a fault is read again after a second
expect 3 "$ICESTREAM" run run.yaml --quiet -s source.worker='<b>w'
report hits
says report.html "<!DOCTYPE html>" "</html>" "&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#39;.steps.npy" \
    "&lt;b&gt;w<" "Quarantined step files" "the account closes" "in quarantine"
grep -qE "<img|<b>w" report.html && fail "a name became HTML"
grep -qE "(src|href)=[\"']?(https?:|//)|@import|url\(" report.html && fail "the page needs something from elsewhere"
[ "$(wc -c <report.html)" -lt 2000000 ] || fail "the page has $(wc -c <report.html) bytes"
digest=$(grep -o '"detector": "[0-9a-f]*"' hits/summary.json | cut -d '"' -f 4)
says report.html "$digest" "south-pole-like" "detector.oversize" "Hits by height"
grep -q '"event":"sample"' hits/run.journal || fail "no sample in the journal"
[ "$(tail -n 1 hits/run.journal | grep -c '"event":"stop"')" -eq 1 ] || fail "the journal does not end with stop"
hits=$("$ICESTREAM" info "hits/a.hits.npy" | awk '$1 == "rows" { print $2 }')
[ "$((2 * hits))" -lt 1000 ] || fail "the test expects fewer hits: $hits"
says report.html "$((2 * hits)) hits of "
says report.html "<td>created</td><td class=\"n\">" "Photons made by height"
python3 - hits/run.journal <<'PY' || fail "the light by height is not that of the photons"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
light = [line["light"] for line in lines if line["event"] == "sample" and "light" in line]
assert len(light) == 1, lines
stop = [line for line in lines if line["event"] == "stop"][0]
assert light[0]["below"] + light[0]["above"] + sum(light[0]["photons"]) == stop["photons"] > 0, (light, stop)
PY

# An existing report, standard output, a full disk, a wrong ending.
expect 74 "$ICESTREAM" report hits -o report.html
says err "report.html: found an existing file, expected none (--force overwrites)"
expect 0 "$ICESTREAM" report hits -o -
cmp -s <(sed '/Made at/d' out) <(sed '/Made at/d' report.html) || fail "standard output has another page"
"$ICESTREAM" report hits -o - >/dev/full 2>err
[ $? -eq 74 ] || fail "a full standard output is no error"
expect 2 "$ICESTREAM" report hits -o report.npy
says err "report.npy" ".html"

# Without gnuplot the tables stay, and the page says what is missing.
expect 0 env PATH="$FOLDER/empty" "$ICESTREAM" report hits -o report.html --force
says report.html "Pictures are missing: gnuplot is not installed" "<details open>"
grep -q "<svg" report.html && fail "a picture without gnuplot"
# gnuplot that fails or writes nonsense leaves a message, too.
mkdir tools
printf '#!/bin/sh\necho "line 3: <i>broken</i>" >&2\nexit 1\n' >tools/gnuplot
chmod +x tools/gnuplot
PATH="$FOLDER/tools:$PATH" report hits
says report.html "gnuplot failed (exit status 1): line 3: &lt;i&gt;broken&lt;/i&gt;"
printf '#!/bin/sh\necho nonsense\n' >tools/gnuplot
PATH="$FOLDER/tools:$PATH" report hits
says report.html "gnuplot wrote no picture"

# Damaged lines of a journal are counted; a journal that is gone, or no file, is said.
cp -r hits damaged
printf '{"time":"2026-\n\377\n{"time":"2026-11-21T22:48:53.123Z","event":"new","worker":"w"}\n' >>damaged/run.journal
report damaged
says report.html "2 lines of the journal are damaged and 1 are unknown to this version"
echo '{"schema": ' >damaged/summary.json
report damaged
says report.html "damaged/summary.json:" "the summary is damaged"
rm damaged/run.journal damaged/summary.json
report damaged
says report.html "There is no run.journal in this folder" "There is no summary.json" "the account closes"
mkdir damaged/run.journal
report damaged
says report.html "There is no run.journal in this folder"

# A damaged hit file: the page has the others, and the command fails.
rmdir damaged/run.journal
printf 'X' | dd of=damaged/a.hits.npy bs=1 seek=300 conv=notrunc status=none
expect 3 "$ICESTREAM" report damaged -o report.html --force
says err "damaged/a.hits.npy" "report.html: the report is complete but for the hits of these files"
says report.html "Hit files that cannot be used" "$hits hits of "

command -v gnuplot >/dev/null || skip "gnuplot is not installed, so pictures were not tested"
report hits
for picture in "Rate" "Arrival times" "Scatters" "From above" "By depth" "Ice" "Light"; do
    says report.html "<figcaption><b>$picture</b>"
done
[ "$(grep -c '<svg' report.html)" -ge 6 ] || fail "$(grep -c '<svg' report.html) pictures"
grep -q "var(--one)" report.html || fail "pictures do not have the colours of the page"
grep -qiE "<script|<!DOCTYPE svg|<\?xml" report.html && fail "a picture has what a page must not have"
duplicates=$(grep -oE "id=[\"'][^\"']+" report.html | sort | uniq -d)
[ -z "$duplicates" ] || fail "ids are there twice: $duplicates"
finish
