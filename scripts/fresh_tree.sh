#!/usr/bin/env bash
# Runs commands of the repository as on a bare Debian 12: in a chroot without CUDA, as root, without a terminal, /sys and
# /dev/pts.
#
#   scripts/fresh_tree.sh COMMAND ...     such as: scripts/fresh_tree.sh scripts/demo.sh scripts/test.sh
#
# The commands see a clone of HEAD and what debootstrap installs (minbase), nothing else of this machine. With
# ICESTREAM_TREE_CCACHE=1 they also get ccache and the cache of the user, so that nothing is compiled twice; what they do
# is the same. Packages are kept in ${XDG_CACHE_HOME:-~/.cache}/icestream-packages for the next time.
# Needs root, debootstrap and mount. Exit status: 0, that of the first command that fails, or 69 if no such tree can be made
# here. The output of a command is printed as it comes.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
(($# > 0)) || wrong_usage

cannot() {
    echo "fresh_tree.sh: $*" >&2
    exit 69
}
((EUID == 0)) || cannot "only root can make a fresh tree"
command -v debootstrap >/dev/null || cannot "there is no debootstrap (apt-get install debootstrap)"

packages=${XDG_CACHE_HOME:-$HOME/.cache}/icestream-packages
tree=$(mktemp -d)
chmod 755 "$tree" # for commands of another user
mounted=()
finish() {
    local place
    for place in "${mounted[@]}"; do
        umount "$tree$place"
    done
    rm -rf --one-file-system "$tree"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
bind() { # FOLDER PLACE
    mkdir -p "$tree$2"
    mount --bind "$1" "$tree$2" && mounted=("$2" "${mounted[@]}")
}

# The archive that this machine uses, and how it reaches it.
mirror=$(find /etc/apt/sources.list* -type f \( -name '*.list' -o -name '*.sources' \) -exec cat {} + |
    awk '($1 == "deb" || $1 == "URIs:") && /debian/ && !/security/ {
        for (i = 2; i <= NF; ++i) if ($i ~ /^https?:/ && !found++) print $i
    }')
mkdir -p "$packages/base" "$packages/archives/partial"
start=$SECONDS
debootstrap --variant=minbase --cache-dir="$packages/base" bookworm "$tree" ${mirror:+"$mirror"} >"$packages/log" 2>&1 || {
    tail -n 5 "$packages/log" >&2
    cannot "debootstrap failed"
}
echo "fresh_tree.sh: debootstrap took $((SECONDS - start)) s"
mount -t proc proc "$tree/proc" 2>/dev/null || cannot "this machine does not let root mount"
mounted=(/proc)
for file in /etc/resolv.conf /etc/ssl/certs/ca-certificates.crt /etc/apt/apt.conf.d/*; do
    if [[ -e $file && $file != *docker* ]]; then
        mkdir -p "$tree$(dirname "$file")"
        cp -L "$file" "$tree$file"
    fi
done
echo '127.0.0.1 localhost' >"$tree/etc/hosts" # as every installed Debian has it
bind "$packages/archives" /var/cache/apt/archives
variables=()
if [[ -n ${ICESTREAM_TREE_CCACHE:-} ]]; then
    chroot "$tree" bash -c 'apt-get -q update && apt-get -q install -y --no-install-recommends ccache' >"$packages/log" 2>&1 </dev/null ||
        cannot "ccache cannot be installed: $(tail -n 1 "$packages/log")"
    mkdir -p "${CCACHE_DIR:-$HOME/.cache/ccache}"
    bind "${CCACHE_DIR:-$HOME/.cache/ccache}" /var/cache/ccache
    # The compilers of both are the same files of different times.
    variables+=(CCACHE_DIR=/var/cache/ccache CCACHE_COMPILERCHECK=content)
fi
for name in http_proxy https_proxy ICESTREAM_TEST_SCALE; do
    [[ -z ${!name:-} ]] || variables+=("$name=${!name}")
done
git clone -q . "$tree/root/icestream"
for command in "$@"; do
    start=$SECONDS status=0
    chroot "$tree" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        "${variables[@]}" bash -c "cd /root/icestream && $command" </dev/null || status=$?
    echo "fresh_tree.sh: $command: exit status $status after $((SECONDS - start)) s"
    ((status == 0)) || exit "$status"
done
