#!/usr/bin/env bash
# Moves a file for icestream with the program of a site: rclone, aws, pelican or xrdcp, which have their own
# configuration and credentials, and split files of any size into parts.
#
#   source: { fetch: [/usr/share/icestream/sites/transfer/copy.sh, pelican, fetch, "{path}"] }
#   sink:
#     url: "s3://bucket/hits/{name}"
#     ship: [/usr/share/icestream/sites/transfer/copy.sh, rclone, ship, "{path}", "store:"]
#
# rclone needs one more word, its remote: "store:" makes store:bucket/hits/NAME of the URL above. A shipped file is read
# back. These programs look for a file at the URL before they write: unlike curl.sh with `If-None-Match: *`, two workers
# that ship at the same moment may replace each other's file, and rclone's and xrdcp's own checks (--immutable, no -f)
# are the only protection then. docs/transfers.md says what is promised.
tool=${1:-} action=${2:-} path=${3:-} remote=${4:-}
# shellcheck source=configs/sites/transfer/common.bash
. "$(dirname "$(realpath "$0")")/common.bash"
[[ $ICESTREAM_URL == "$shown" ]] ||
    end 78 "found a URL with a user, a query or a fragment, which everybody can read in the command line of $tool"
force=${ICESTREAM_FORCE:-}
decode "${shown#*://}"
work=$(mktemp -d) || exit 75
child=
trap 'rm -rf "$work"' EXIT

# call COMMAND...: runs the program, and returns its exit status; what it says is in `said`.
call() {
    "$@" 2>"$work/said" &
    child=$!
    wait "$child"
    local status=$?
    said=$(<"$work/said")
    [[ -z $said ]] || echo "$said" >&2
    return "$status"
}

# How each program gets the file (get FILE), shows it on its standard output (show), and puts it there (put).
case $tool in
rclone)
    [[ $remote == *: ]] || end 78 "found the remote '$remote', expected a word such as store: behind {path}"
    get() { call rclone copyto "$remote$decoded" "$1"; }
    show() { call rclone cat "$remote$decoded"; }
    put() { call rclone copyto "$([[ $force == 1 ]] && echo --ignore-times || echo --immutable)" "$path" "$remote$decoded"; }
    ;;
aws)
    get() { call aws s3 cp --only-show-errors "s3://$decoded" "$1"; }
    show() { call aws s3 cp --only-show-errors "s3://$decoded" -; }
    put() { call aws s3 cp --only-show-errors "$path" "s3://$decoded"; }
    ;;
pelican)
    get() { call pelican object get "$shown" "$1" >&2; }
    show() { rm -f "$work/copy"; get "$work/copy" && cat "$work/copy"; }
    put() { call pelican object put "$path" "$shown" >&2; }
    ;;
xrdcp)
    get() { call xrdcp --silent --force "$shown" "$1"; }
    show() { call xrdcp --silent "$shown" -; }
    put() { call xrdcp --silent --posc ${force:+--force} "$path" "$shown"; }
    ;;
*) end 78 "found the program '$tool', expected rclone, aws, pelican or xrdcp" ;;
esac
command -v "$tool" >/dev/null || end 78 "found no program $tool in PATH"
trap '[[ -z $child ]] || kill "$child"; exit 75' TERM INT

# is_missing: whether the program has just said that there is no such file.
is_missing() {
    [[ $said =~ [Nn]o\ such\ file|[Nn]ot\ found|[Dd]oes\ not\ exist|\(404\)|\[3011\] ]]
}

# compare: sets `found` to none, same or other: what is at the URL.
compare() {
    rm -f "$work/pipe"
    mkfifo "$work/pipe"
    sha256sum <"$work/pipe" | cut -c 1-64 >"$work/digest" &
    local reader=$!
    if show >"$work/pipe"; then
        wait "$reader"
        found=other
        [[ $(<"$work/digest") != "$(digest_of "$path")" ]] || found=same
    else
        is_missing || end 75 "$tool cannot read what is there"
        found=none
    fi
}

case $action in
fetch)
    rm -f -- "$path.part"
    if ! get "$path.part"; then
        rm -f -- "$path.part" # perhaps the disk is full
        is_missing && end 66 "$tool has found no such file"
        end 75 "$tool has failed"
    fi
    [[ -f $path.part && ! -L $path.part ]] || end 75 "$tool has succeeded and made no file"
    mv -f -- "$path.part" "$path"
    ;;
ship)
    compare
    [[ $found != same ]] || exit 0
    [[ $found == none || $force == 1 ]] ||
        end 73 'found a file with other bytes there, expected none or the same; --force replaces it'
    put || end 75 "$tool has failed"
    compare
    [[ $found == same ]] || end 75 'found other bytes there than were shipped'
    ;;
verify)
    compare
    [[ $found == same ]] || end 75 "found no file there with the bytes of $path"
    ;;
esac
