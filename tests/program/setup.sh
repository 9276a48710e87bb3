#!/usr/bin/env bash
# Promises: scripts/setup.sh says what it will install before it does, asks apt-get to upgrade nothing, leaves out
# an optional package that would upgrade others, and stops if a required one would. It asks apt-get once for all packages. What
# builds and tests need has no service.
# To join: give the script's new behaviour a package in the false apt-get below.
set -u
setup=$(realpath "$(dirname "$0")/../../scripts/setup.sh")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
fail() {
    echo "FAILED: $*"
    cat err calls 2>/dev/null
    failures=1
}
says() { grep -qF -- "$1" err || fail "'$1' is not said"; }

mkdir tools
# Nothing is there that pkg-config could find.
printf '#!/bin/sh\nexit 1\n' >tools/pkg-config
printf '#!/bin/sh\nshift\nexec "$@"\n' >tools/sudo
cat >tools/apt-get <<'SCRIPT'
#!/bin/sh
case "$*" in
-s\ *) # a simulation
    echo "$*" >>"$CALLS"
    for package in "$@"; do
        case $package in
        "${OPTIONAL:-libsystemd-dev}") echo "Inst libsystemd0 [252.1] (252.2 Debian:12 [amd64])" ;;
        "$UPGRADES") echo "Inst other [1.0] (2.0 Debian:12 [amd64])" ;;
        esac
        case $package in lib*-dev) echo "Inst $package (1.2 Debian:12 [amd64])" ;; esac
    done
    ;;
*) echo "$*" >>"$CALLS" ;;
esac
SCRIPT
chmod +x tools/*
export PATH=$folder/tools:$PATH UPGRADES=nothing CALLS=$folder/calls

"$setup" build >out 2>err || fail "exit status $?"
says "libsystemd-dev is left out, with what needs it, because it would upgrade: libsystemd0"
says "installing, with what they need: "
says "setup.sh:     libyaml-dev 1.2"
grep -q -- "install -y --no-install-recommends --no-upgrade .*libyaml-dev" calls || fail "another call"
! grep -q -- "-y .*libsystemd-dev" calls || fail "an upgrade"

rm calls
UPGRADES=libuv1-dev "$setup" build >out 2>err && fail "an upgrade is accepted"
says "libuv1-dev would upgrade: other and this script upgrades nothing; to install it: apt-get install libuv1-dev"
! grep -q "install -y" calls || fail "something is installed"

rm calls
OPTIONAL=none "$setup" build >out 2>err || fail "exit status $?"
[ "$(grep -c '^-s' calls)" = 2 ] || fail "expected two simulations: whether something would be upgraded, and what is installed"

# Debian starts a service as soon as its package is installed. Only `sites` is for machines that have services.
sed -nE 's/^(build|test|check|python) +[^ ]+ +([^ ]+)$/\2/p' "$setup" >packages
[ "$(wc -l <packages)" -ge 40 ] || fail "found $(wc -l <packages) packages in $setup"
while read -r package; do
    files=$(dpkg -L "$package" 2>/dev/null)
    if [[ $package == *-server ]] || grep -E '/systemd/system/.|^/etc/init\.d/.' <<<"$files"; then
        fail "$package has a service"
    fi
done <packages
[ "$failures" -eq 0 ]
