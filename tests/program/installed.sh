#!/usr/bin/env bash
# Promises: what `cmake --install` copies is enough for another program: pkg-config alone and find_package find
# the shared library, also after the folder was moved; the program of examples/ has at most 40 lines; the hits of
# a session are those of the installed `icestream run`, byte for byte; a stage can include its contract; manual pages
# and completions are there; icestream.pc needs no other package and no path of this machine, also to link the static
# library; units and recipes name the program where it was installed; every installed configuration works.
# To join: a new installed file needs a line here that uses it.
#
#   installed.sh BUILD_DIRECTORY SOURCE_DIRECTORY
set -u
build=$(realpath "$1")
source=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
fail() {
    echo "FAILED: $*"
    tail -n 20 log 2>/dev/null
    failures=1
}

cmake --install "$build" --prefix "$folder/first" >log 2>&1 || fail "cmake --install"
# Units and recipes have paths of the installation, and these exist.
grep -rlE '/usr/(local|share)/(bin/)?icestream' first/share/icestream/sites first/lib/systemd 2>/dev/null >log && fail "another installation is named in these"
for submit in first/share/icestream/sites/*.sub; do
    [ "$(sed -n 's/^executable *= *//p' "$submit")" = "$folder/first/bin/icestream" ] || fail "$submit: another program"
done
[ "$(grep -o '/[^ ,]*/transfer/curl.sh' first/share/icestream/sites/queue.yaml | sort -u)" = "$folder/first/share/icestream/sites/transfer/curl.sh" ] ||
    fail "queue.yaml: another curl.sh"
[ -z "$(find first/share -name '*.service' -o -path '*/icestream/reference*')" ] || fail "units or runs of configs/reference in share"
if first/bin/icestream --version --verbose | grep -q '^libsystemd: none'; then
    echo "skipped: built without libsystemd: no units"
    [ ! -e first/lib/systemd ] || fail "units of a program that cannot notify systemd"
else
    for unit in icestream icestream-queue; do
        file=first/lib/systemd/system/$unit@.service
        program=$(sed -nE 's/^ExecStart=(\S+) .*/\1/p' $file)
        [ "$program" = "$folder/first/bin/icestream" ] || fail "$file: found $program"
        cp $file $unit@test.service
        if command -v systemd-analyze >/dev/null; then
            # What it says about other units of this machine is none of our business.
            systemd-analyze verify --man=no "$folder/$unit@test.service" 2>&1 | grep -F "$unit@" >log && fail "systemd-analyze verify $file"
        else
            echo "skipped: systemd-analyze is missing: $file was not verified"
        fi
    done
fi

mv first prefix
export PKG_CONFIG_PATH=$folder/prefix/lib/pkgconfig LD_LIBRARY_PATH=$folder/prefix/lib
pc=$(find prefix -name icestream.pc)
[ "$pc" = prefix/lib/pkgconfig/icestream.pc ] || {
    PKG_CONFIG_PATH=$folder/$(dirname "$pc")
    LD_LIBRARY_PATH=$folder/$(dirname "$(dirname "$pc")")
}
version=$(pkg-config --modversion icestream)
[ "$version" = "$(prefix/bin/icestream --version | cut -d' ' -f2)" ] || fail "another version"

# Words of pkg-config are words of the compiler's command line.
# shellcheck disable=SC2046
compile() {
    cc -std=c11 -Wall -Wextra -Werror "$1" $(pkg-config --cflags --libs icestream) -o "$2" >log 2>&1 || fail "compiling $1"
}
program=prefix/share/doc/icestream/examples/brightest_string.c
[ "$(wc -l <"$program")" -le 40 ] || fail "the example has more than 40 lines"
compile "$program" brightest
compile "$source/tests/program/installed_hits.c" write_rows
readelf -d brightest | grep -q 'NEEDED.*libicestream\.so\.0\]' || fail "no soname"

cat >run.yaml <<'YAML'
run: { seed: 3 }
sink: { directory: hits/ }
workload: { kind: cascade, steps: 500, photons_per_step: 200 }
YAML
prefix/bin/icestream run -q run.yaml >log 2>&1 || fail "icestream run"
./write_rows run.yaml >rows 2>log || fail "a session"
[ -s rows ] || fail "no hits"
# A hit file: a header of a multiple of 64 bytes, then the rows, then a trailer.
header=$(($(od -An -tu2 -j8 -N2 hits/run.hits.npy) + 10))
cmp <(tail -c "+$((header + 1))" hits/run.hits.npy | head -c "$(stat -c %s rows)") rows || fail "other hits than icestream run"
head -c "$header" hits/run.hits.npy | grep -aq "( *$(($(stat -c %s rows) / 64)),)" || fail "another number of hits"
./brightest run.yaml >out 2>log || fail "the example"
grep -qE '^string [0-9]+: [0-9.e+]+ photons of [0-9]+ hits$' out || fail "the example prints: $(cat out)"
./brightest missing.yaml >out 2>err && fail "a missing file is no error"
prefix/bin/icestream run missing.yaml 2>expected
cmp err expected || fail "another message than that of icestream"
recipe=prefix/share/icestream/sites/transfer/curl.sh
ICESTREAM_URL=none $recipe fetch x 2>err
[ $? = 78 ] || fail "another exit status of $recipe"
grep -q 'curl.sh: ICESTREAM_URL: expected a URL' err || fail "$recipe says: $(cat err)"

# A static link, too, needs nothing but icestream.pc, which has no path of this machine.
export PKG_CONFIG_LIBDIR=$PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs icestream) || fail "pkg-config --libs without other packages"
read -ra flags <<<"$flags"
[ "${#flags[*]}" = 3 ] || fail "pkg-config --cflags --libs: found ${flags[*]}, expected -I, -L and -licestream"
grep -E '(=|[ L])/' "$PKG_CONFIG_PATH/icestream.pc" >log && fail "icestream.pc has a path of this machine"
read -ra flags <<<"$(pkg-config --static --cflags --libs icestream)"
cc -std=c11 "$program" "${flags[@]/%-licestream/-l:libicestream.a}" -o linked_static >log 2>&1 || fail "linking the static library by pkg-config"
readelf -d linked_static | grep -q 'NEEDED.*libicestream' && fail "the shared library in a static link"
[ "$(./linked_static run.yaml)" = "$(./brightest run.yaml)" ] || fail "the program with the static library"
unset PKG_CONFIG_LIBDIR

mkdir consumer
cat >consumer/CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES C)
find_package(icestream ${version%.*} REQUIRED)
add_executable(brightest ../prefix/share/doc/icestream/examples/brightest_string.c)
target_link_libraries(brightest PRIVATE icestream::icestream)
add_executable(static ../prefix/share/doc/icestream/examples/brightest_string.c)
target_link_libraries(static PRIVATE icestream::static)
CMAKE
{ cmake -S consumer -B consumer/build -DCMAKE_PREFIX_PATH="$folder/prefix" && cmake --build consumer/build; } >log 2>&1 || fail "find_package"
for program in brightest static; do
    [ "$(consumer/build/$program run.yaml)" = "$(./brightest run.yaml)" ] || fail "the program $program of find_package"
done

# Every installed configuration works, as a run or as the part of a run that its folder holds.
configs=$folder/prefix/share/icestream
mkdir used
while read -r file; do
    case ${file#"$configs"/} in
    runs/*.yaml) words=(run -q "$file" -s workload.steps=20 -s "sink.directory=used/$(basename "$file")") ;;
    detectors/types/*.csv) continue ;; # parts of the types
    ice/*.yaml) words=(validate -s "ice.file=$file") ;;
    media/*.yaml) words=(validate -s "ice.file=$file" -s stages.scatter=rayleigh-hg) ;;
    detectors/*.csv) words=(validate -s "detector.file=$file") ;;
    particles/*.yaml) words=(validate -s "particles.file=$file") ;;
    detectors/types/*.yaml) words=(validate -s "detector.types={a: $file}") ;;
    sites/queue.yaml) # the installation was moved
        sed "s:^\(.*\)$folder/first:\1$folder/prefix:" "$file" >queue.yaml
        words=(validate queue.yaml)
        ;;
    sites/queue-kubernetes.yaml) continue ;; # tests/sites/queue_recipes.py reads it
    *) words=(validate "$file") ;;
    esac
    ICESTREAM_QUEUE_PASSWORD=none prefix/bin/icestream "${words[@]}" >log 2>&1 || fail "icestream ${words[*]}"
done < <(find "$configs" -name '*.yaml' -o -path '*/detectors/*.csv')
for stage in "$configs"/stages/*.h; do
    cc -std=c11 -fsyntax-only -x c -I"$(pkg-config --variable=stagesdir icestream)" "$stage" >log 2>&1 || fail "$stage cannot include its contract"
done
# What scripts/demo.sh advises at its end needs the program alone.
advice=$(sed -n '/^cat <<END/,/^END/s/^    //p' "$source/scripts/demo.sh")
[[ $advice == "build/release/icestream "* && $advice != *$'\n'* ]] || fail "scripts/demo.sh advises: $advice"
eval "${advice/build\/release/prefix\/bin}" >log 2>&1 || fail "the advice of scripts/demo.sh: $advice"
languages=c
if echo | cc -fsyntax-only -x c++ - 2>/dev/null; then
    languages="c c++"
else
    echo "skipped: cc has no C++ here: icestream.h as C++"
fi
for language in $languages; do
    cc -Wall -Wextra -Werror -fsyntax-only -x "$language" prefix/include/icestream.h >log 2>&1 || fail "icestream.h as $language"
done
share=$folder/prefix/share
bash -n "$share/bash-completion/completions/icestream" || fail "the completion for bash"
grep -q "^#compdef icestream" "$share/zsh/site-functions/_icestream" || fail "the completion for zsh"
grep -q "^complete -c icestream" "$share/fish/vendor_completions.d/icestream.fish" || fail "the completion for fish"
if grep -q '^SCDOC:.*NOTFOUND' "$build/CMakeCache.txt"; then
    echo "no scdoc: there are no manual pages to look at"
else
    for command in "" $(prefix/bin/icestream help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/-\1/p'); do
        gzip -dc "$share/man/man1/icestream$command.1.gz" | grep -q '^.SH NAME' || fail "no manual page icestream$command(1)"
    done
fi
for name in icestream commit "instruction sets" compiler CUDA libyaml libuv libmicrohttpd libsystemd Assimp; do
    prefix/bin/icestream --version --verbose | grep -q "^$name: ." || fail "icestream --version --verbose: no $name"
done
prefix/bin/icestream --version --loud 2>err && fail "an unknown option of version is no error"
grep -q "found --loud after version, expected --verbose" err || fail "$(cat err)"
[ "$failures" -eq 0 ]
