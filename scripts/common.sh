# Sourced by the scripts of this folder: goes to the top of the repository and gives them
# `usage` and `build`.
# shellcheck shell=bash
script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
# A copy of the repository in another folder finds what ccache keeps of this one.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# The comment at the top of the script is its help.
usage() {
    sed -n '2,/^[^#]/{/^[^#]/d;s/^# \{0,1\}//;p}' "$script"
}

wrong_usage() {
    usage >&2
    exit 2
}

# configure PRESET [CMAKE OPTIONS ...]
configure() {
    if command -v ninja >/dev/null; then
        export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
    fi
    # Where ccache is installed, it compiles nothing twice.
    if [[ -z ${CMAKE_C_COMPILER_LAUNCHER+set} ]] && command -v ccache >/dev/null; then
        export CMAKE_C_COMPILER_LAUNCHER=ccache
    fi
    cmake --preset "$@" --log-level=NOTICE
}

# build PRESET [BUILD OPTIONS ...]
build() {
    cmake --build --preset "$1" --parallel "$(nproc)" "${@:2}"
}
