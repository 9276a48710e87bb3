#!/usr/bin/env bash
# Promises: `icestream --version --verbose` says what it finds of the driver, GPUs and NVRTC, and why no GPU can be used; a run that
# asks for a GPU has the same reason as its error. The driver and NVRTC are small libraries that this test makes.
# To join: another state of a driver is a row below, with the variables that fake.c reads.
source "$(dirname "$0")/../common.bash"
export XDG_CACHE_HOME=$FOLDER/cache
command -v cc >/dev/null || skip "no C compiler for the fake libraries"
[ ! -e /proc/driver/nvidia/version ] || skip "this machine has an NVIDIA driver, whose release would be in the messages"

mkdir cuda nvrtc12 nvrtc13
cat >fake.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static int number(const char *name, int initial)
{
    const char *text = getenv(name);
    return text != NULL ? atoi(text) : initial;
}
int cuDriverGetVersion(int *version) { *version = number("FAKE_VERSION", 13000); return 0; }
int cuInit(unsigned flags) { (void)flags; return number("FAKE_INIT", 0); }
int cuDeviceGetCount(int *count) { *count = number("FAKE_COUNT", 1); return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int size, int device) { (void)device; snprintf(name, size, "Fake GPU"); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { (void)device; *bytes = (size_t)16 << 30; return 0; }
int cuGetErrorString(int result, const char **text) { (void)result; *text = "a fake error"; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == 20 ? number("FAKE_MODE", 0)
             : attribute == 75 ? number("FAKE_CAPABILITY", 90) / 10 : number("FAKE_CAPABILITY", 90) % 10;
    return 0;
}
END
cat >nvrtc.c <<'END'
int nvrtcVersion(int *major, int *minor) { *major = MAJOR; *minor = 4; return 0; }
int nvrtcGetNumSupportedArchs(int *count) { *count = 2; return 0; }
int nvrtcGetSupportedArchs(int *list) { list[0] = OLDEST; list[1] = 120; return 0; }
#define F(name) int name(void) { return 1; }
F(nvrtcCreateProgram) F(nvrtcDestroyProgram) F(nvrtcCompileProgram) F(nvrtcGetCUBINSize) F(nvrtcGetCUBIN) F(nvrtcGetPTXSize)
F(nvrtcGetPTX) F(nvrtcGetProgramLogSize) F(nvrtcGetProgramLog) F(nvrtcGetErrorString)
END
cc -shared -fPIC -o cuda/libcuda.so.1 fake.c || fail "the fake driver does not compile"
for major in 12 13; do
    cc -shared -fPIC -DMAJOR=$major -DOLDEST=$((major == 12 ? 50 : 75)) -o nvrtc$major/libnvrtc.so.$major nvrtc.c ||
        fail "the fake NVRTC does not compile"
done
both=$FOLDER/cuda:$FOLDER/nvrtc12:$FOLDER/nvrtc13
whole=$ICESTREAM
has_cuda=yes
"$ICESTREAM" --version --verbose | grep -q '^CUDA: none' && has_cuda=no
# The driver that this build needs.
needed=12.4
"$ICESTREAM" --version --verbose | grep -q '^CUDA: 13' && needed=13.0

# broken REASON VARIABLE=VALUE...: no GPU can be used; the report and a run say why.
broken() {
    local reason=$1
    shift
    expect 0 env -u CUDA_VISIBLE_DEVICES LD_LIBRARY_PATH="$FOLDER/cuda" "$@" "$ICESTREAM" --version --verbose
    says out "no GPU can be used: $reason"
    [ $has_cuda = no ] && return
    expect 1 env -u CUDA_VISIBLE_DEVICES LD_LIBRARY_PATH="$FOLDER/cuda" "$@" "$ICESTREAM" run -s device.backend=cuda
    says err "device.backend: found cuda, but $reason" "expected cpu or auto, or device.fallback: cpu"
}
broken "this machine has no NVIDIA driver; install one that supports CUDA $needed" LD_LIBRARY_PATH=
broken "the NVIDIA driver supports CUDA 12.2, expected $needed or later; update the driver" FAKE_VERSION=12020
broken "the NVIDIA driver does not start: a fake error (999)" FAKE_INIT=999
broken "the NVIDIA driver finds no GPU, and this process cannot use /dev/nvidiactl" FAKE_INIT=100
broken "CUDA_VISIBLE_DEVICES: found \"\", which lets this process see no GPU" FAKE_INIT=100 CUDA_VISIBLE_DEVICES=
broken "CUDA_VISIBLE_DEVICES: found \"7\", which" FAKE_COUNT=0 CUDA_VISIBLE_DEVICES=7
broken "GPU 0 (Fake GPU): found compute capability 6.1, expected 7.0 or later" FAKE_CAPABILITY=61
broken "GPU 0 (Fake GPU): found compute mode prohibited, expected default or exclusive process" FAKE_MODE=2

# found LINES... -- VARIABLE=VALUE...: GPUs can be used; the report has these lines.
found() {
    local lines=()
    while [ "$1" != -- ]; do
        lines+=("$1")
        shift
    done
    shift
    expect 0 env -u CUDA_VISIBLE_DEVICES LD_LIBRARY_PATH="$both" "$@" "$ICESTREAM" --version --verbose
    says out "${lines[@]}"
    grep 'no GPU can be used' out && fail "a GPU that can be used counts as none"
}
found "driver: of unknown release, supports CUDA 13.0" "GPU 0: Fake GPU, compute capability 9.0, 16.0 GiB" \
    "NVRTC: 13.4, for compute capability 7.5 to 12.0, $FOLDER/nvrtc13/libnvrtc.so.13" "installed kernels: " \
    "cache: $FOLDER/cache/icestream" "cores: " -- FAKE_MODE=0
found "GPU 1: Fake GPU, compute capability 9.0, 16.0 GiB, compute mode exclusive process" -- FAKE_COUNT=2 FAKE_MODE=3
# An NVRTC that does not know the GPU is passed over.
found "NVRTC: 12.4, for compute capability 5.0 to 12.0" -- FAKE_CAPABILITY=70
found "NVRTC: none (nvrtc 13.4 compiles for compute capability 7.5 or later, found 7.0; expected NVRTC of an earlier CUDA" -- \
    FAKE_CAPABILITY=70 ICESTREAM_NVRTC="$FOLDER/nvrtc13/libnvrtc.so.13"
found "NVRTC: none (ICESTREAM_NVRTC: " -- ICESTREAM_NVRTC=none
found "NVRTC: none (the library is no NVRTC of CUDA 12 or later: nvrtcVersion is missing)" -- \
    ICESTREAM_NVRTC="$FOLDER/cuda/libcuda.so.1"
# Packages of PyPI next to the Python package come first, whatever the working folder is.
site=$FOLDER/site
mkdir -p "$site/icestream/bin" "$site/nvidia/cu13/lib" "$site/nvidia/cuda_nvrtc/lib"
cp "$ICESTREAM" "$site/icestream/bin/icestream"
cp nvrtc12/libnvrtc.so.12 "$site/nvidia/cuda_nvrtc/lib"
cp nvrtc13/libnvrtc.so.13 "$site/nvidia/cu13/lib"
ICESTREAM=$site/icestream/bin/icestream
found "NVRTC: 13.4, for compute capability 7.5 to 12.0, $site/nvidia/cu13/lib/libnvrtc.so.13" -- FAKE_MODE=0
found "NVRTC: 12.4, for compute capability 5.0 to 12.0, $site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12" -- FAKE_CAPABILITY=70
ICESTREAM=$whole
# So is one of a later CUDA than the driver's. A build with CUDA 13 refuses this driver before.
if [ $needed = 12.4 ]; then
    found "NVRTC: 12.4, for" -- FAKE_VERSION=12080
    # None else, as far as this machine has none itself.
    expect 0 env LD_LIBRARY_PATH="$FOLDER/cuda:$FOLDER/nvrtc13" FAKE_VERSION=12080 "$ICESTREAM" --version --verbose
    grep -q '^NVRTC: 12' out || says out "NVRTC: none (the driver supports CUDA 12.8 and loads no kernels of nvrtc 13"
fi
finish
