# kernels/cpu/isa/kernels.c, once per instruction set. Reassociation and contraction stay off, so all
# of them give the same bits; no-math-errno and no-trapping-math only say that nobody reads errno or
# the floating-point flags, which loops with square roots and selections need to vectorise.
set(ICS_KERNEL_OPTIONS -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp-simd)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    # clang warns of every loop that it leaves scalar, which depends on its version and on sanitizers;
    # speed is bench's business and must not fail a build with ICESTREAM_WERROR.
    list(APPEND ICS_KERNEL_OPTIONS -Wno-pass-failed)
endif()
# clang 14 loses that the iterations of a marked loop are independent where an inlined function returns a struct of 16 bytes,
# and leaves the loop that drops photons scalar (bench/results/2026-11-30-toolkits.md).
set(ICS_SLOW_KERNELS "")
if(CMAKE_C_COMPILER_ID STREQUAL "Clang" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 19)
    set(ICS_SLOW_KERNELS ", slower on a CPU than gcc and clang 19")
    if(NOT ICESTREAM_SANITIZE)
        message(WARNING "clang ${CMAKE_C_COMPILER_VERSION}: photons on a CPU may take 1.6 times as long as with gcc or with clang 19, "
                        "because loops over photons stay scalar (measured with clang 14)")
    endif()
endif()

# The undefined-behaviour sanitizer asks about each pointer whether it is null, aligned, inside its object and did not
# wrap around: in the loops over photons this took two thirds of the time of a run. So only the kernels `baseline` have
# these questions, which the tests of instruction sets run (tests/graphs/test_graph.c and others). In the other
# kernels, which are the same source, the address sanitizer still finds a pointer that is null or outside when it is
# used. All other checks are in all kernels.
set(ICS_KERNEL_SANITIZE_LESS "")
if(ICESTREAM_SANITIZE MATCHES "address" AND ICESTREAM_SANITIZE MATCHES "undefined")
    set(ICS_KERNEL_SANITIZE_LESS -fno-sanitize=null,alignment,object-size,pointer-overflow)
endif()

set(ICS_KERNEL_TARGETS "")
function(ics_add_kernels name)
    add_library(ics_kernels_${name} OBJECT ${CMAKE_SOURCE_DIR}/kernels/cpu/isa/kernels.c)
    target_include_directories(ics_kernels_${name} PRIVATE ${CMAKE_SOURCE_DIR}
                               ${CMAKE_BINARY_DIR}/generated)
    target_compile_definitions(ics_kernels_${name} PRIVATE _GNU_SOURCE
                               ICS_KERNELS_SYMBOL=ics_cpu_kernels_${name} ICS_KERNELS_NAME="${name}")
    target_compile_options(ics_kernels_${name} PRIVATE ${ICS_KERNEL_OPTIONS} ${ARGN})
    if(NOT name STREQUAL baseline)
        target_compile_options(ics_kernels_${name} PRIVATE ${ICS_KERNEL_SANITIZE_LESS})
    endif()
    set_target_properties(ics_kernels_${name} PROPERTIES C_VISIBILITY_PRESET hidden
                          POSITION_INDEPENDENT_CODE ON)
    target_sources(icestream_library PRIVATE $<TARGET_OBJECTS:ics_kernels_${name}>)
    list(JOIN ARGN "\", \"" options)
    set(ICS_KERNEL_TARGETS "${ICS_KERNEL_TARGETS} \\\n    {\"${name}\", {\"${options}\"}}," PARENT_SCOPE)
endfunction()

ics_add_kernels(baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # Tuned for processors that gather in hardware: 6 % faster than generic tuning on an AMD EPYC (family 25,
    # model 17), where gathers are not even fast.
    ics_add_kernels(avx2 -march=x86-64-v3 -mtune=skylake)
    ics_add_kernels(avx512 -march=x86-64-v4 -mprefer-vector-width=512 -mtune=icelake-server)
    target_compile_definitions(ics_photons PRIVATE ICS_HAVE_X86_KERNELS=1)
endif()

# For kernels/cpu/custom.c: the same options and the same sources, as text.
list(JOIN ICS_KERNEL_OPTIONS "\", \"" options)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/kernels/cpu/options.h CONTENT
"/* Made by cmake/CpuKernels.cmake. */
#define ICS_KERNEL_OPTIONS \"${options}\"
#define ICS_KERNEL_TARGETS${ICS_KERNEL_TARGETS}
" @ONLY)
include(Embed)
file(GLOB ICS_CPU_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
     ${CMAKE_SOURCE_DIR}/stages/*.h ${CMAKE_SOURCE_DIR}/stages/*/*.h
     ${CMAKE_SOURCE_DIR}/kernels/cpu/kernels.h ${CMAKE_SOURCE_DIR}/kernels/cpu/wave.h
     ${CMAKE_SOURCE_DIR}/kernels/cpu/isa/*.c
     ${CMAKE_SOURCE_DIR}/kernels/cpu/isa/*.h)
ics_embed(ics_photons kernels/cpu/sources.h ics_cpu_source
         ${ICS_CPU_SOURCES} stages/registry.h stages/shape_list.h stages/shape_registry.h)
target_link_libraries(ics_photons PUBLIC ${CMAKE_DL_LIBS})
