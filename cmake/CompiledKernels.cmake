# The target `kernels`: the GPU kernels of the configurations that icestream comes with, compiled,
# so that a machine without NVRTC runs them. Part of every installation, not of every build.
#
# The program looks for them in ../share/icestream/kernels and share/icestream/kernels from where it
# lies (kernels/cuda/cache.h), so those of a build serve the programs of that build.
option(IS_KERNELS "Install compiled GPU kernels (needs NVRTC on the machine that builds)" ON)
set(IS_KERNEL_ARCHITECTURES 80,86,89,90,100,120 CACHE STRING "GPUs that they are compiled for")
# Kernels for sm_90 and later are bound to fewer registers (graphs/cuda/schedule.c): a text for each.
set(IS_KERNEL_PTX 80,90 CACHE STRING "The oldest of the other GPUs, whose driver compiles them")
if(NOT IS_HAVE_CUDA)
    return()
endif()

add_executable(is_prefill ${CMAKE_SOURCE_DIR}/pipeline/tools/prefill.c)
target_link_libraries(is_prefill PRIVATE icestream_library)

# A package must not depend on whether there are real ice models beside the repository.
file(GLOB IS_SHIPPED_RUNS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/configs/runs/*.yaml)
set(IS_KERNEL_RUNS)
foreach(run IN LISTS IS_SHIPPED_RUNS)
    file(STRINGS ${run} shared REGEX "\\.\\./shared/")
    if(NOT shared)
        list(APPEND IS_KERNEL_RUNS ${run})
    endif()
endforeach()
set(IS_KERNEL_FOLDER ${CMAKE_BINARY_DIR}/share/icestream/kernels)
add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/kernels.stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${IS_KERNEL_FOLDER}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${IS_KERNEL_FOLDER}
    COMMAND is_prefill --architectures ${IS_KERNEL_ARCHITECTURES} --ptx ${IS_KERNEL_PTX}
            ${IS_KERNEL_FOLDER} ${IS_KERNEL_RUNS}
    COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/kernels.stamp
    DEPENDS is_prefill ${IS_KERNEL_RUNS}
    COMMENT "Compiling the GPU kernels of the shipped configurations"
    VERBATIM)
add_custom_target(kernels DEPENDS ${CMAKE_BINARY_DIR}/kernels.stamp)

if(IS_KERNELS)
    install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\"
                                  --target kernels RESULT_VARIABLE result)
                  if(NOT result EQUAL 0)
                      message(FATAL_ERROR \"the GPU kernels do not compile; without NVRTC here, \"
                                          \"configure with -DIS_KERNELS=OFF\")
                  endif()")
    install(DIRECTORY ${IS_KERNEL_FOLDER}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/icestream/kernels)
endif()
