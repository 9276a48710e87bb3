#!/usr/bin/env bash
# Installs what is missing to build and test icestream, and nothing else. It upgrades no package.
#
#   scripts/setup.sh [build] [test] [check] [sites] [python] [--dry-run]
#   scripts/setup.sh hist
#
# build: compiler, CMake and libraries (the default). test: Check, NumPy, h5py and astropy for the tests
# that read our files with them, PyYAML and jsonschema for the test of the JSON Schema, cffi, pytest and
# jinja2, crc32c and SciPy for the Python package. check: clang, formatter, linters, coverage, fuzzing.
# python: what makes virtual environments, for the Python package, and what its pages and pictures need.
# sites: Slurm and systemd, for tests of configs/sites; without them these say that they are skipped.
# hist: hist, boost-histogram and uhi, which Debian does not have, from the registry of Python packages into build/python-hist,
# a virtual environment of /usr/bin/python3 that sees Debian's NumPy and h5py (`test python`). Tests of tables and histograms
# read our files with them, and skip these checks without them. Exit status 1: they could not be installed.
# CUDA is none of its business: where there is a toolkit the GPU part is built, else it is left out.
# Nothing is started or enabled: redis-tools has the server of Redis without its service. Only with `sites` Debian starts
# the services of Slurm and munge, where it runs systemd.
# Uses apt-get, as root or through sudo, and asks no questions. Elsewhere, or with --dry-run, it
# names the packages that are wanted (Debian's names) and leaves the machine as it is.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

# group, how to see that it is there, Debian package
wanted='
build command:cc           gcc
build header:stdio.h       libc6-dev
build command:cmake        cmake
build command:ninja        ninja-build
build command:pkg-config   pkg-config
build module:yaml-0.1      libyaml-dev
build module:libuv         libuv1-dev
build module:jansson       libjansson-dev
build module:libcrypto     libssl-dev
build module:libmicrohttpd libmicrohttpd-dev
build module:libsystemd    libsystemd-dev
build header:isa-l/crc.h   libisal-dev
build command:scdoc        scdoc
build module:hiredis       libhiredis-dev
build module:assimp        libassimp-dev
test  module:check         check
test  python:numpy         python3-numpy
test  python:h5py          python3-h5py
test  python:astropy.io.fits python3-astropy
test  python:yaml          python3-yaml
test  python:jsonschema    python3-jsonschema
test  python:cffi          python3-cffi
test  python:pytest        python3-pytest
test  python:jinja2        python3-jinja2
test  python:crc32c        python3-crc32c
test  python:scipy.special python3-scipy
test  command:redis-check-rdb redis-tools
test  command:openssl      openssl
test  command:curl         curl
check command:clang        clang
check fuzzer:clang         libclang-rt-14-dev
check command:ld.lld       lld
check command:clang-tidy   clang-tidy
check format:16            clang-format-16
check command:llvm-symbolizer llvm
check command:shellcheck   shellcheck
check command:gcovr        gcovr
check command:ctags        universal-ctags
check clang:cindex         python3-clang-16
check command:ccache       ccache
sites command:slurmctld    slurm-wlm
sites command:munged       munge
sites command:systemd-analyze systemd
python python:ensurepip    python3-venv
python python:matplotlib   python3-matplotlib
'

hist() {
    local folder=build/python-hist
    local python=$folder/bin/python3
    is_there() { "$python" -c 'import boost_histogram, fastjsonschema, h5py, hist, uhi.io.hdf5' 2>/dev/null; }
    ! is_there || return 0
    rm -rf "$folder"
    /usr/bin/python3 -m venv --system-site-packages "$folder" >&2
    # No package is built from source: a wheel is there, or the script fails.
    timeout 180 "$folder/bin/pip" --disable-pip-version-check --no-input --timeout 10 --retries 1 install --quiet --only-binary :all: \
        --requirement tests/cli/table/requirements.txt >&2
    is_there || {
        echo "setup.sh: $folder is incomplete: found no NumPy or h5py, expected that \`scripts/setup.sh test\` has run" >&2
        return 1
    }
}
if [[ $* == hist ]]; then
    hist
    exit
fi

dry_run=no
groups=()
for argument in "$@"; do
    case $argument in
    build | test | check | sites | python) groups+=("$argument") ;;
    --dry-run) dry_run=yes ;;
    *) wrong_usage ;;
    esac
done
((${#groups[@]} > 0)) || groups=(build)

# is_there KIND:NAME
is_there() {
    local kind=${1%%:*} name=${1#*:}
    case $kind in
    command) command -v "$name" ;;
    header) cc -E -include "$name" -x c /dev/null ;;
    module) pkg-config --exists "$name" ;;
    python) /usr/bin/python3 -c "import $name" ;;
    clang) /usr/bin/python3 -c "from clang import $name; $name.Index.create()" ;;
    fuzzer) [[ -n $(find "$("$name" -print-resource-dir)" -name 'libclang_rt.fuzzer*' -print -quit) ]] ;;
    format) [[ $(clang-format-"$name" --version || clang-format --version) == *"version $name."* ]] ;;
    esac >/dev/null 2>&1 </dev/null
}

missing=()
while read -r group check package; do
    [[ -n $group && " ${groups[*]} " == *" $group "* ]] || continue
    is_there "$check" || missing+=("$package")
done <<<"$wanted"

if ((${#missing[@]} == 0)); then
    exit 0
fi
as_root=()
if ((EUID != 0)); then
    as_root=(sudo -n)
fi
if [[ $dry_run == yes ]] || ! command -v apt-get >/dev/null ||
    ! "${as_root[@]}" true 2>/dev/null; then
    echo "setup.sh: please install (Debian's names): ${missing[*]}" >&2
    [[ $dry_run == yes ]]
    exit
fi
# env: sudo does not hand variables on.
install() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" </dev/null >&2
}
install update || echo "setup.sh: apt-get update failed; trying with the lists that are here" >&2

# would_upgrade PACKAGE...: the installed packages that installing these would replace, one in a line.
would_upgrade() {
    LC_ALL=C apt-get -s install --no-install-recommends "$@" 2>/dev/null | sed -n 's/^Inst \([^ ]*\) \[.*/\1/p'
}

# icestream is built, and its tests pass, without these: what needs them is left out and says so.
optional=' libmicrohttpd-dev libsystemd-dev scdoc libhiredis-dev libassimp-dev python3-matplotlib python3-scipy python3-crc32c curl '
chosen=()
# One question for all of them, because each takes a second; if something would be upgraded, one for each.
candidates=("${missing[@]}")
if [[ -z $(would_upgrade "${missing[@]}") ]]; then
    chosen=("${missing[@]}")
    candidates=()
fi
for package in "${candidates[@]}"; do
    upgrades=$(would_upgrade "$package" | tr '\n' ' ')
    if [[ -z $upgrades ]]; then
        chosen+=("$package")
    elif [[ $optional == *" $package "* ]]; then
        echo "setup.sh: $package is left out, with what needs it, because it would upgrade: $upgrades" >&2
    else
        echo "setup.sh: $package would upgrade: ${upgrades}and this script upgrades nothing; to install it:" \
            "apt-get install $package" >&2
        exit 1
    fi
done
((${#chosen[@]} > 0)) || exit 0
echo "setup.sh: installing, with what they need: ${chosen[*]}" >&2
LC_ALL=C apt-get -s install --no-install-recommends --no-upgrade "${chosen[@]}" |
    sed -n 's/^Inst \([^ ]*\) (\([^ ]*\).*/setup.sh:     \1 \2/p' >&2
install install -y --no-install-recommends --no-upgrade "${chosen[@]}"
