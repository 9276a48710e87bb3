#!/usr/bin/env bash
# Promises: `icestream help --bash`, `--zsh` and `--fish` print completions that know every command, every option and
# every key, and the manual pages describe every option.
# A new command or option joins without being named.
source "$(dirname "$0")/../common.bash"
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
[ "$(complete_words run --log j)" = "json" ] || fail "choices: $(complete_words run --log j)"
[ "$(complete_words compare run.yaml --table "")" = "md" ] || fail "choices: $(complete_words compare run.yaml --table "")"
[ "$(complete_words table me)" = "merge" ] || fail "actions: $(complete_words table me)"
[ "$(complete_words run -s stages.scatter = hg)" = "hg-sl hg" ] || fail "values: $(complete_words run -s stages.scatter = hg)"
[ "$(complete_words run --set detector.crossing =)" = "entry disc" ] || fail "values: $(complete_words run --set detector.crossing =)"
[ -z "$(complete_words run ev)" ] || fail "files are not left to bash"
icestream help --zsh >zsh
icestream help --fish >fish
icestream help --scdoc >manual
for command in $(complete_words ""); do
    [[ $command == help || $command == version ]] && continue
    options=$(icestream "$command" --help | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p' | sort)
    says zsh "    $command)" "'$command:"
    says fish "-a $command -d '"
    says manual "*icestream-$command*(1)"
    expect 0 icestream help --scdoc "$command"
    for option in $options; do
        sed -n "/^    $command)/,/;;/p" zsh | grep -qE -- "$option(=-?)?('\[|\})" || fail "zsh: $command $option"
        grep -q "from $command' -l ${option#--} " fish || fail "fish: $command $option"
        grep -qF -- "*$option*" out || fail "manual: $command $option"
    done
    if command -v scdoc >/dev/null; then
        scdoc <out >page 2>err || fail "manual: $command: $(cat err)"
    fi
    [ "$(complete_words "$command" -- | tr ' ' '\n' | sort)" = "$options" ] || fail "options of $command"
done
# Programs that are here read what is theirs.
for program in scdoc zsh fish; do
    command -v $program >/dev/null || echo "skipped: no $program: it does not read what is made for it"
done
if command -v zsh >/dev/null; then
    expect 0 zsh -n zsh
fi
if command -v fish >/dev/null; then
    expect 0 fish -n fish
    HOME=$FOLDER fish --no-config -c 'source fish; complete -C "icestream run -s detector.over"' >out
    says out "detector.oversize="
    HOME=$FOLDER fish --no-config -c 'source fish; complete -C "icestream compare --table "' >out
    says out "md"
fi
expect 2 icestream help --csh
says err "unknown option --csh"
expect 2 icestream help --scdoc nothing
says err "unknown command nothing"
finish
