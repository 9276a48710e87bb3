#!/usr/bin/env bash
# Promises: `icestream help --bash` prints a completion that knows every command, every option and every key.
# A new command or option joins without being named.
source "$(dirname "$0")/common.bash"
mkdir path
ln -s "$ICESTREAM" path/icestream
PATH=$FOLDER/path:$PATH

expect 0 icestream help --bash
is_empty err
# shellcheck source=/dev/null
source out
# complete_words WORD...: what bash offers for the last word.
complete_words() {
    COMP_WORDS=(icestream "$@") COMP_CWORD=$#
    COMPREPLY=()
    _icestream
    echo "${COMPREPLY[*]}"
}
[ "$(complete_words ge)" = "generate geometry" ] || fail "commands: $(complete_words ge)"
[ "$(complete_words help sta)" = "status stages" ] || fail "help: $(complete_words help sta)"
[ "$(complete_words run --th)" = "--threads" ] || fail "options: $(complete_words run --th)"
[ "$(complete_words run -s detector.over)" = "detector.oversize=" ] || fail "keys: $(complete_words run -s detector.over)"
[ -z "$(complete_words run ev)" ] || fail "files are not left to bash"
for command in $(complete_words ""); do
    [[ $command == help || $command == version ]] && continue
    options=$(icestream "$command" --help | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p' | sort)
    [ "$(complete_words "$command" -- | tr ' ' '\n' | sort)" = "$options" ] || fail "options of $command"
done
finish
