#!/usr/bin/env bash
# Promise: with the recipe copy.sh the programs rclone, aws, pelican and xrdcp fetch step files and ship hit files: each with
# the words that it expects, nothing that is there is replaced without --force, a part of a file is no file, and what arrived
# damaged is not believed. Stand-ins for the programs write down their words and copy to and from the folder `store`.
# To join: a further program in the `case` below.
source "$(dirname "$0")/../common.bash"
recipe=$REPOSITORY/configs/sites/transfer/copy.sh
mkdir tools
cat >tools/stand-in <<'STAND_IN'
#!/bin/bash
# The last two words say from where and to where; `rclone cat` has only the first.
echo "${0##*/} $*" | sed -E 's, /[^ ]*/copy$, COPY,' >>calls
from=${*: -2:1} to=${*: -1}
[[ $1 != cat ]] || from=$2 to=-
from=$(sed -E 's,^(store:|s3://|osdf:///|root://h//),store/,' <<<"$from")
to=$(sed -E 's,^(store:|s3://|osdf:///|root://h//),store/,' <<<"$to")
[[ -e $from ]] || { echo "$from: no such file or directory" >&2; exit 1; }
[[ $to != - ]] || exec cat "$from"
mkdir -p "$(dirname "$to")"
cp "$from" "$to"
if [[ -e breaks ]]; then
    truncate -s 99 "$to"
    exit 1
elif [[ -e damages ]]; then
    truncate -s 99 "$to"
fi
STAND_IN
chmod +x tools/stand-in
for tool in rclone aws pelican xrdcp; do
    ln -s stand-in tools/$tool
done
PATH=$PWD/tools:$PATH
expect 0 "$ICESTREAM" generate -s workload.steps=5 -o s.steps.npy
expect 0 "$ICESTREAM" run -q "${WIDE[@]}" -s source.files=s.steps.npy -s sink.directory=reference

# calls STATUS ACTION FILE WORDS...: runs the recipe, which must call the program with these words one after the other.
calls() {
    : >calls
    expect "$1" env ICESTREAM_URL="$url" ICESTREAM_FORCE="${force:-}" "$recipe" "$tool" "$2" "$3" "$remote"
    printf "$tool %s\n" "${@:4}" | cmp - calls || fail "$tool $2: found the calls $(cat calls), expected ${*:4}"
}

for tool in rclone aws pelican xrdcp; do
    remote=
    case $tool in
    rclone)
        remote=store: base=s3://bucket plain='store:bucket/a b.npy'
        get="copyto $plain got.npy.part" show="cat $plain"
        put="copyto --immutable s.npy $plain" replace="copyto --ignore-times s.npy $plain"
        ;;
    aws)
        base=s3://bucket plain='s3://bucket/a b.npy'
        get="s3 cp --only-show-errors $plain got.npy.part" show="s3 cp --only-show-errors $plain -"
        put="s3 cp --only-show-errors s.npy $plain" replace=$put
        ;;
    pelican)
        base=osdf:///bucket
        get="object get $base/a%20b.npy got.npy.part" show="object get $base/a%20b.npy COPY"
        put="object put s.npy $base/a%20b.npy" replace=$put
        ;;
    xrdcp)
        base=root://h//bucket
        get="--silent --force $base/a%20b.npy got.npy.part" show="--silent $base/a%20b.npy -"
        put="--silent --posc s.npy $base/a%20b.npy" replace="--silent --posc --force s.npy $base/a%20b.npy"
        ;;
    esac
    url=$base/a%20b.npy
    rm -rf store got.npy
    cp s.steps.npy s.npy

    calls 0 ship s.npy "$show" "$put" "$show"
    calls 0 ship s.npy "$show"
    calls 0 verify s.npy "$show"
    there=$(find store -type f)
    same s.npy "$there"
    calls 0 fetch got.npy "$get"
    same s.npy got.npy
    is_missing got.npy.part
    rm got.npy
    touch breaks
    calls 75 fetch got.npy "$get"
    is_missing got.npy
    rm breaks

    echo other >"$there"
    calls 73 ship s.npy "$show"
    says err 'found a file with other bytes there, expected none or the same; --force replaces it'
    calls 75 verify s.npy "$show"
    [ "$(cat "$there")" = other ] || fail "$tool has replaced a file"
    force=1
    calls 0 ship s.npy "$show" "$replace" "$show"
    force=
    same s.npy "$there"
    rm "$there"
    calls 66 fetch got.npy "$get"
    touch damages
    calls 75 ship s.npy "$show" "$put" "$show"
    says err 'found other bytes there than were shipped'
    rm damages "$there"

    : >calls
    expect 78 env ICESTREAM_URL="$base/x.npy?key=hidden" "$recipe" "$tool" fetch got.npy "$remote"
    says err "which everybody can read in the command line of $tool"
    grep -q hidden err calls && fail "a secret is shown"

    # --- with icestream
    url=$base/a%20b.npy
    cp s.steps.npy "$there"
    expect 0 "$ICESTREAM" run -q "${WIDE[@]}" -s "source.files=[$url]" -s "source.fetch=[$recipe, $tool, fetch, '{path}', '$remote']" \
        -s "sink.ship=[$recipe, $tool, ship, '{path}', '$remote']" -s "sink.verify=[$recipe, $tool, verify, '{path}', '$remote']" \
        -s "sink.url=$base/hits/{name}" -s sink.directory="hits-$tool" -s sink.name=a.hits.npy
    same reference/s.hits.npy "hits-$tool/a.hits.npy"
    same reference/s.hits.npy "store/bucket/hits/a.hits.npy"
done
expect 78 env ICESTREAM_URL=s3://b/x "$recipe" scp fetch got.npy
says err "found the program 'scp', expected rclone, aws, pelican or xrdcp"
expect 78 env ICESTREAM_URL=s3://b/x "$recipe" rclone fetch got.npy
says err "found the remote ''"
finish
