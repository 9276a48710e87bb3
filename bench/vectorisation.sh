#!/usr/bin/env bash
# Shows what the compiler made of the loops over photons in kernels/cpu/isa/.
#
#   bench/vectorisation.sh [baseline | avx2 | avx512 ...]
#
# Compiles kernels.c there as the build does, and prints every loop of this folder that was
# vectorised: the file and line that the compiler names (of a loop or of its first statement, which
# may be in a function that was inlined), the function there, and how many bytes it handles at a
# time. Only marked loops are vectorised here (-fno-tree-vectorize). Exits with 1 if these are fewer than the
# loops marked ICS_VECTOR_LOOP, or as a reduction. `baseline` has no
# fused multiply-add in hardware, so none of the marked loops can be vectorised for it. Needs gcc;
# CC names another one.
set -euo pipefail

compiler=${CC:-gcc}
root=$(cd "$(dirname "$0")/.." && pwd)
folder_of_kernels=kernels/cpu/isa
source=$folder_of_kernels/kernels.c
if (($# == 0)); then
    set -- baseline avx2 avx512
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$root"

cmake -DOUTPUT="$folder/stages/registry.h" -P cmake/Registry.cmake
mapfile -t options < <(sed -n 's/^set(ICS_KERNEL_OPTIONS \(.*\))$/\1/p' cmake/CpuKernels.cmake |
    tr ' ' '\n')

marked=$(cat "$folder_of_kernels"/*.[ch] | grep -cE '^ *(ICS_VECTOR_LOOP|_Pragma\("omp simd reduction)')
missed=0
for set in "$@"; do
    case $set in
    baseline) target=() ;;
    avx2) target=(-march=x86-64-v3 -mtune=skylake) ;;
    avx512) target=(-march=x86-64-v4 -mprefer-vector-width=512 -mtune=icelake-server) ;;
    *) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2 ;;
    esac
    "$compiler" -std=gnu11 -D_GNU_SOURCE -I. -I"$folder" "${options[@]}" "${target[@]}" -fno-tree-vectorize \
        -DICS_KERNELS_SYMBOL=kernels "-DICS_KERNELS_NAME=\"$set\"" -fopt-info-vec-optimized \
        -c "$source" -o "$folder/kernels.o" 2>"$folder/report"
    echo "$set:"
    found=0
    while read -r file line bytes; do
        name=$(head -n "$line" "$file" |
            sed -n 's/^\(ICE_FN\|static\) .*[ *]\([a-z_]*\)(.*/\2/p' | tail -n 1)
        printf '  %-12s line %-5s %-28s %s bytes\n' "$(basename "$file")" "$line" "$name" "$bytes"
        found=$((found + 1))
    done < <(sed -n "s#^\(\./\)\{0,1\}\($folder_of_kernels/[a-z]*\.[ch]\):\([0-9]*\):.*loop vectorized using \([0-9]*\) byte.*#\2 \3 \4#p" \
        "$folder/report" | sort -k1,1 -k2,2n -k3,3nr | sort -su -k1,1 -k2,2n)
    echo "  $found loops vectorised, $marked marked"
    if [[ $set != baseline ]] && ((found < marked)); then
        missed=1
    fi
done
exit "$missed"
