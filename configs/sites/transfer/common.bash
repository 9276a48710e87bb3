# shellcheck shell=bash
# What the recipes for source.fetch, sink.ship and sink.verify share (docs/transfers.md). icestream starts a recipe
# with the words of the run file, and with these variables:
#
#   ICESTREAM_URL    where the file comes from or goes to
#   ICESTREAM_ALLOW  source.fetch: the prefixes of source.allow, with blanks between them; "": any URL
#   ICESTREAM_FORCE  sink.ship: 1 if --force was given, otherwise ""
#
# The exit status says what icestream does then: after 66 (there is no such file), 73 (the URL has other bytes), 77
# (not allowed) and 78 (wrong use) it does not try again, after any other one it does.
set -ufo pipefail
export LC_ALL=C
recipe=${0##*/}

# end STATUS TEXT: ends the recipe with an error. A user and a query of the URL may be secrets.
end() {
    echo "$recipe: ${shown:-}${shown:+: }$2" >&2
    exit "$1"
}

shown=
case ${action:-} in fetch | ship | verify) ;; *) end 78 "found '${action:-}', expected fetch, ship or verify" ;; esac
[[ -n ${path:-} ]] || end 78 'expected {path} as the word behind it'
[[ ${ICESTREAM_URL:-} =~ ^([A-Za-z][A-Za-z0-9+.-]*://)([^/?#]*@)?([^?#]*) ]] ||
    end 78 'ICESTREAM_URL: expected a URL; for ship and verify it comes from sink.url'
shown=${BASH_REMATCH[1]}${BASH_REMATCH[3]}

decoded=
# decode TEXT: sets `decoded` to the text with bytes for %XX.
decode() {
    [[ ! $1 =~ %($|.$|[^0-9A-Fa-f]|.[^0-9A-Fa-f]|00) ]] ||
        end 66 'expected two hexadecimal digits behind every %, and not %00'
    local escaped=${1//\\/\\\\}
    printf -v decoded '%b' "${escaped//%/\\x}"
}

# digest_of FILE: prints its SHA-256.
digest_of() {
    sha256sum <"$1" | cut -c 1-64
}
