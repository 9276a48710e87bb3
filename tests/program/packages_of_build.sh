#!/usr/bin/env bash
# Promise: cpack makes packages of any build for /usr, with copyright and changelog, and their units and recipes name the
# program there. lintian, where it is installed, finds no error.
#
#   packages_of_build.sh BUILD_DIRECTORY
#
# Exit status 77: dpkg-dev, file or gzip are missing. debian_packages.sh installs packages in a clean Debian.
set -u
build=$(realpath "$1")
for tool in dpkg-shlibdeps file gzip; do
    command -v $tool >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
fail() {
    echo "FAILED: $*"
    tail -n 20 log
    failures=1
}

# With the generator make cpack would first build everything.
cpack --config "$build/CPackConfig.cmake" -B packages -D CPACK_CMAKE_GENERATOR=Ninja >log 2>&1 || fail "cpack"
for package in icestream libicestream0 libicestream-dev; do
    deb=$(echo packages/"$package"_*.deb)
    [ -e "$deb" ] || {
        fail "no package $package"
        continue
    }
    dpkg-deb -x "$deb" "$package"
    find "$package" -type f | grep -vE "^$package/usr/(bin|include|lib|share)/" >log && fail "$package has files outside /usr"
    for file in copyright changelog.gz; do
        [ -s "$package/usr/share/doc/$package/$file" ] || fail "$package has no $file"
    done
done
for recipe in icestream/usr/share/icestream/sites/*.sub icestream/usr/lib/systemd/system/*.service; do
    [ -e "$recipe" ] || continue # no units without libsystemd
    [ "$(grep -cE '^(executable +|ExecStart)= */usr/bin/icestream\b' "$recipe")" = 1 ] ||
        fail "$recipe: $(grep -E '^(executable|ExecStart)' "$recipe")"
done
grep -q '/usr/share/icestream/sites/transfer/curl.sh' icestream/usr/share/icestream/sites/queue.yaml || fail "queue.yaml names no curl.sh"
[ -e icestream/usr/share/zsh/vendor-completions/_icestream ] || fail "no completion for zsh"
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error packages/*.deb >log 2>&1 || fail "lintian"
else
    echo "skipped: no lintian: the packages were not checked by it"
fi
[ "$failures" -eq 0 ]
