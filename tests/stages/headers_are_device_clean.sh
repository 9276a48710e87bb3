#!/usr/bin/env bash
# The stage headers are in the common subset of C11 and CUDA C.
#
#   headers_are_device_clean.sh SOURCE GENERATED [NVCC]
#
# Compiles every header alone as strict C11, and all headers together, with gcc and with clang if they are
# installed. Compiles all headers together as CUDA C: for sm_80 and sm_90 in portable maths, for sm_90 in fast maths.
# Without a CUDA compiler this part is left out with a message. SOURCE is the root of the repository,
# GENERATED has stages/registry.h.
set -euo pipefail
source=$1 generated=$2 nvcc=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# compile WHAT COMMAND...: runs a compiler. If it fails, prints WHAT and its output, and counts the failure.
compile() {
    local what=$1
    shift
    if ! "$@" >"$folder/output" 2>&1; then
        echo "FAILED: $what" >&2
        cat "$folder/output" >&2
        failures=$((failures + 1))
    fi
}

strict=(-std=c11 -pedantic -O1 -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
        -Wstrict-prototypes -Wmissing-prototypes -Werror -I "$source" -I "$generated")
# The examples of docs/stages.md, one for every stage, in kernels that check what they return.
examples=(-DICE_CHECK)
for example in create=lambertian propagate=clear collide=upward scatter=rayleigh; do
    examples+=("-DICE_CUSTOM_${example%=*}=\"configs/stages/${example#*=}.h\"")
done
compilers=0
for compiler in gcc clang; do
    if ! command -v "$compiler" >/dev/null; then
        echo "skipped: no $compiler"
        continue
    fi
    compilers=$((compilers + 1))
    for header in "$source"/stages/*.h "$source"/stages/{shapes,histograms,hole_ice}/*.h "$source"/physics/*.h \
        "$source"/physics/*/*.h; do
        name=${header#"$source"/}
        what=ICE_PUT_ARRIVAL
        [[ $name != stages/path_@(walk|ice).h ]] || what=ICE_PUT_POINT
        printf '#define %s(sink, tables, put) ((void)(sink), (void)(tables), (void)(put), 0)\n#include "%s"\n' \
            "$what" "$name" >"$folder/alone.c"
        compile "$name alone with $compiler" "$compiler" "${strict[@]}" -Wno-unused-macros \
            -fsyntax-only "$folder/alone.c"
    done
    compile "all stages with $compiler" "$compiler" "${strict[@]}" -c "$source/tests/stages/every_stage.c" \
        -o "$folder/every_stage.o"
    compile "the example headers with $compiler" "$compiler" "${strict[@]}" "${examples[@]}" -c \
        "$source/tests/stages/every_stage.c" -o "$folder/every_stage.o"
done
((compilers > 0)) || { echo "FAILED: neither gcc nor clang" >&2; exit 1; }

if [[ -z $nvcc || $nvcc == *NOTFOUND ]]; then
    echo "skipped: no CUDA compiler"
else
    cuda=("$nvcc" --fmad=false -Werror all-warnings -I "$source" -I "$generated" -c
          "$source/tests/stages/every_stage.cu" -o "$folder/every_stage_cuda.o"
          -gencode "arch=compute_90,code=sm_90")
    compile "all stages as CUDA C" "${cuda[@]}" -gencode "arch=compute_80,code=sm_80"
    compile "all stages as CUDA C in fast maths" "${cuda[@]}" -DICE_MATH_FAST
    compile "the example headers as CUDA C" "${cuda[@]}" "${examples[@]}"
fi
((failures == 0)) || exit 1
echo "passed"
