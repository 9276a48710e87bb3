#!/usr/bin/env bash
# Promises: lintian finds no error and no warning in the Debian packages. In a clean Debian 12 `dpkg -i` installs them:
# the program, its manual pages, completions and units, its runs, the program of docs/library.md and the example with the
# shared and the static library and, if it is a package, the Python module work, and after `dpkg --purge` no file is left.
# To join: a new package or installed file needs a line in `inside` below that uses it.
#
#   debian_packages.sh SOURCE_DIRECTORY [PACKAGE_DIRECTORY]
#
# Without PACKAGE_DIRECTORY the packages are built, which takes minutes. The clean Debian 12 is made by debootstrap, in a
# new folder of $TMPDIR, from $ICESTREAM_DEBIAN_MIRROR (default: that of debootstrap). If ICESTREAM_DEBIAN_TREE is set, a
# copy of this folder serves instead. Needs root, debootstrap and lintian; without them the test is skipped.
set -u
skip() {
    echo "skipped: $*"
    exit 77
}
((EUID == 0)) || skip "chroot needs root"
command -v debootstrap >/dev/null || [ -n "${ICESTREAM_DEBIAN_TREE:-}" ] || skip "no debootstrap"
command -v lintian >/dev/null || skip "no lintian"
command -v dpkg-shlibdeps >/dev/null || skip "no dpkg-dev"

source=$(realpath "$1")
packages=${2:+$(realpath "$2")}
folder=$(mktemp -d)
tree=$folder/tree
mounted=()
end() {
    local place
    for place in "${mounted[@]}"; do
        umount "$place" || umount --lazy "$place"
    done
    rm -rf --one-file-system "$folder"
}
trap end EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}

if [ -z "$packages" ]; then
    packages=$folder/build/packages
    (cd "$source" && cmake --preset package -G Ninja -B "$folder/build" && cmake --build "$folder/build" -j "$(nproc)" &&
        cpack --config "$folder/build/CPackConfig.cmake") >"$folder/log" 2>&1 || {
        tail -n 30 "$folder/log"
        fail "building the packages"
    }
fi
ls "$packages"/*.deb || fail "no packages in $packages"
lintian --allow-root --fail-on error,warning "$packages"/*.deb || fail "lintian"

if [ -n "${ICESTREAM_DEBIAN_TREE:-}" ]; then
    cp -a "$ICESTREAM_DEBIAN_TREE" "$tree"
else
    # shellcheck disable=SC2086 # no mirror is no word
    debootstrap --variant=minbase bookworm "$tree" ${ICESTREAM_DEBIAN_MIRROR:-} >"$folder/log" 2>&1 || {
        tail -n 5 "$folder/log"
        skip "debootstrap makes no Debian here"
    }
fi
mount -t proc proc "$tree/proc" || skip "mount is not allowed"
mounted=("$tree/proc")
mkdir "$tree/packages"
cp "$packages"/*.deb "$tree/packages"
# Where the host finds names and packages, the tree does, too.
cp /etc/resolv.conf /etc/hosts "$tree/etc/"

cat >"$tree/packages/inside" <<'SCRIPT'
set -eu
trap 'echo "FAILED in line $LINENO of what runs inside"' ERR
export DEBIAN_FRONTEND=noninteractive HOME=/tmp/home LC_ALL=C.UTF-8
mkdir -p $HOME
cd $HOME
apt-get -qq update
# What the packages need of Debian, and what this test needs.
needs=$(for deb in /packages/*.deb; do dpkg-deb -f "$deb" Depends; done | tr ',' '\n' | grep -v icestream | sort -u | paste -sd ,)
apt-get -qq satisfy --no-install-recommends "$needs" </dev/null >/dev/null
apt-get -qq install -y --no-install-recommends gcc libc6-dev pkg-config man-db bash-completion </dev/null >/dev/null
files() { find / -xdev \( -path /proc -o -path /dev -o -path /sys -o -path /tmp -o -path /packages -o -path /var/lib/dpkg \
    -o -path /var/log -o -path /var/cache \) -prune -o -print | sort; }
files >/packages/before

dpkg -i /packages/*.deb >/dev/null
icestream --help | grep -q '^commands:'
man -w icestream icestream-run icestream-convert >/dev/null
man icestream-run | grep -q -- --keep-steps
bash -c 'source /usr/share/bash-completion/bash_completion; _completion_loader icestream
    COMP_WORDS=(icestream run --th) COMP_CWORD=2; _icestream; [ "${COMPREPLY[*]}" = --threads ]'
grep -q '^#compdef icestream' /usr/share/zsh/vendor-completions/_icestream
grep -q '^complete -c icestream' /usr/share/fish/vendor_completions.d/icestream.fish
cp /usr/share/icestream/runs/demo.yaml run.yaml
icestream run -q run.yaml
hits=$(ls hits/*.hits.npy)
# installed.sh looks at the configurations that are parts of a run.
for config in /usr/share/icestream/runs/*.yaml; do
    icestream validate "$config" >/dev/null
    icestream run -q "$config" -s workload.steps=20 -s "sink.directory=$(basename "$config")"
done
icestream info --verify "$hits"
program=/usr/share/doc/icestream/examples/brightest_string.c
[ "$(wc -l <$program)" -le 40 ]
cc -Wall -Wextra -Werror $program $(pkg-config --cflags --libs icestream) -o brightest
./brightest run.yaml
gzip -cdf /usr/share/doc/icestream/docs/library.md* | sed -n '/^```c$/,/^```$/{/^```/!p}' >library.c
cc -Wall -Wextra -Werror library.c $(pkg-config --cflags --libs icestream) -o library
[ "$(./library)" = "$(./brightest run.yaml | sed 's/.* of //')" ]
if dpkg -s python3-icestream >/dev/null 2>&1; then
    python3 -c '
import icestream, numpy, sys
hits = icestream.run("run.yaml")
same = numpy.asarray(hits).tobytes() == numpy.load(sys.argv[1]).tobytes()
print("Python:", len(hits), "hits,", "the same bytes" if same else "other bytes")
sys.exit(not same)' "$hits"
fi
if dpkg -s icestream-kernels >/dev/null 2>&1; then
    # Without a toolkit and without a GPU the kernels of the package are found, for one GPU at least.
    for gpu in 80 86 89 90 100 120; do
        ! ICESTREAM_NVRTC=none icestream plan --architecture $gpu /usr/share/icestream/runs/demo.yaml >plan 2>/dev/null || break
    done
    grep -m 1 "kernels installed" plan
fi
dpkg --purge $(dpkg-query -W -f '${Package}\n' '*icestream*') >/dev/null 2>&1
files >/packages/after
diff /packages/before /packages/after
echo "removal leaves nothing"

# The static library needs what libicestream-dev suggests.
dpkg -i /packages/*.deb >/dev/null
apt-get -qq satisfy --no-install-recommends "$(dpkg-query -W -f '${Suggests}' libicestream-dev | sed 's/^[^,]*, //')" </dev/null >/dev/null
cc $program $(pkg-config --static --cflags --libs icestream | sed 's/-licestream /-l:libicestream.a /') -o static
[ "$(./static run.yaml)" = "$(./brightest run.yaml)" ]
cc library.c $(pkg-config --static --cflags --libs icestream | sed 's/-licestream /-l:libicestream.a /') -o library_static
[ "$(./library_static)" = "$(./library)" ]
if ! icestream --version --verbose | grep -q '^libsystemd: none'; then
    # procps has /bin/kill, with which units reload.
    apt-get -qq install -y --no-install-recommends systemd procps </dev/null >/dev/null 2>&1
    for unit in icestream icestream-queue; do
        systemd-analyze verify --man=no $unit@test.service 2>verified || { cat verified; false; }
        if grep "$unit@" verified; then false; fi
    done
fi
SCRIPT
# Folders of this system, such as TMPDIR, are not in the tree.
chroot "$tree" /usr/bin/env -u TMPDIR /bin/bash /packages/inside || fail "the packages in a clean Debian"
