# kernels/cpu/isa/kernels.c, once per instruction set. Reassociation and contraction stay off, so all
# of them give the same bits; no-math-errno and no-trapping-math only say that nobody reads errno or
# the floating-point flags, which loops with square roots and selections need to vectorise.
set(IS_KERNEL_OPTIONS -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp-simd)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    # clang warns of every loop that it leaves scalar, which depends on its version and on sanitizers;
    # speed is bench's business and must not fail a build with IS_WERROR.
    list(APPEND IS_KERNEL_OPTIONS -Wno-pass-failed)
endif()

set(IS_KERNEL_TARGETS "")
function(is_add_kernels name)
    add_library(is_kernels_${name} OBJECT ${CMAKE_SOURCE_DIR}/kernels/cpu/isa/kernels.c)
    target_include_directories(is_kernels_${name} PRIVATE ${CMAKE_SOURCE_DIR}
                               ${CMAKE_BINARY_DIR}/generated)
    target_compile_definitions(is_kernels_${name} PRIVATE _GNU_SOURCE
                               IS_KERNELS_SYMBOL=is_cpu_kernels_${name} IS_KERNELS_NAME="${name}")
    target_compile_options(is_kernels_${name} PRIVATE ${IS_KERNEL_OPTIONS} ${ARGN})
    target_sources(icestream_library PRIVATE $<TARGET_OBJECTS:is_kernels_${name}>)
    list(JOIN ARGN "\", \"" options)
    set(IS_KERNEL_TARGETS "${IS_KERNEL_TARGETS} \\\n    {\"${name}\", {\"${options}\"}}," PARENT_SCOPE)
endfunction()

is_add_kernels(baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    is_add_kernels(avx2 -march=x86-64-v3)
    is_add_kernels(avx512 -march=x86-64-v4 -mprefer-vector-width=512)
    target_compile_definitions(icestream_library PRIVATE IS_HAVE_X86_KERNELS=1)
endif()

# For kernels/cpu/custom.c: the same options and the same sources, as text.
list(JOIN IS_KERNEL_OPTIONS "\", \"" options)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/kernels/cpu/options.h CONTENT
"/* Made by cmake/CpuKernels.cmake. */
#define IS_KERNEL_OPTIONS \"${options}\"
#define IS_KERNEL_TARGETS${IS_KERNEL_TARGETS}
" @ONLY)
include(Embed)
file(GLOB IS_CPU_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
     ${CMAKE_SOURCE_DIR}/stages/*.h ${CMAKE_SOURCE_DIR}/stages/*.def
     ${CMAKE_SOURCE_DIR}/kernels/cpu/kernels.h ${CMAKE_SOURCE_DIR}/kernels/cpu/wave.h
     ${CMAKE_SOURCE_DIR}/kernels/cpu/isa/*.c)
is_embed(icestream_library kernels/cpu/sources.h is_cpu_source
         ${IS_CPU_SOURCES} stages/variant_headers.h)
target_link_libraries(icestream_library PUBLIC ${CMAKE_DL_LIBS})
