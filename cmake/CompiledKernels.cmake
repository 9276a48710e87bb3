# The target `kernels`: the GPU kernels of the configurations that icestream comes with, compiled,
# so that a machine without NVRTC runs them. Part of every installation, not of every build.
#
# The program looks for them in ../share/icestream/kernels and share/icestream/kernels from where it
# lies (kernels/cuda/program_cache.h), so those of a build serve the programs of that build.
option(ICESTREAM_KERNELS "Install the GPU kernels that the target `kernels` has compiled" ON)
set(ICESTREAM_KERNEL_ARCHITECTURES 80,86,89,90,100,120 CACHE STRING "GPUs that they are compiled for")
# Kernels for sm_90 and later are bound to fewer registers (graphs/cuda/settings.c): a text for each.
set(ICESTREAM_KERNEL_PTX 80,90 CACHE STRING "The oldest of the other GPUs, whose driver compiles them")
if(NOT ICS_HAVE_CUDA)
    return()
endif()

add_executable(ics_prefill ${CMAKE_SOURCE_DIR}/pipeline/prefill.c)
target_link_libraries(ics_prefill PRIVATE icestream_library)

# A package must not depend on whether there are real ice models next to the repository.
file(GLOB ICS_SHIPPED_RUNS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/configs/runs/*.yaml)
set(ICS_KERNEL_RUNS)
foreach(run IN LISTS ICS_SHIPPED_RUNS)
    file(STRINGS ${run} shared REGEX "\\.\\./shared/")
    if(NOT shared)
        list(APPEND ICS_KERNEL_RUNS ${run})
    endif()
endforeach()
set(ICS_KERNEL_FOLDER ${CMAKE_BINARY_DIR}/share/icestream/kernels)
add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/kernels.stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${ICS_KERNEL_FOLDER}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${ICS_KERNEL_FOLDER}
    COMMAND ics_prefill --architectures ${ICESTREAM_KERNEL_ARCHITECTURES} --ptx ${ICESTREAM_KERNEL_PTX}
            ${ICS_KERNEL_FOLDER} ${ICS_KERNEL_RUNS}
    COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/kernels.stamp
    DEPENDS ics_prefill ${ICS_KERNEL_RUNS}
    COMMENT "Compiling the GPU kernels of the shipped configurations"
    VERBATIM)
add_custom_target(kernels DEPENDS ${CMAKE_BINARY_DIR}/kernels.stamp)

if(ICESTREAM_KERNELS)
    # Installing compiles nothing: as root it would write root's files into the build folder.
    install(CODE "if(NOT EXISTS \"${CMAKE_BINARY_DIR}/kernels.stamp\")
                      message(\"no GPU kernels are installed, because none were compiled: a run compiles \"
                              \"its own, which needs NVRTC. To install some, first run \"
                              \"cmake --build ${CMAKE_BINARY_DIR} --target kernels\")
                  endif()" COMPONENT kernels)
    install(DIRECTORY ${ICS_KERNEL_FOLDER}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/icestream/kernels
            COMPONENT kernels OPTIONAL)
endif()
