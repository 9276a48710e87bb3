# The GPU part of the library: .cu files, the static runtime, and the sources of the run's kernels,
# which the program carries along as text.

# A device's code lives where NVRTC or a cache of compiled kernels is; neither needs the toolkit at
# build time, so every build has the sources.
file(GLOB IS_EMBEDDED CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
     ${CMAKE_SOURCE_DIR}/stages/*.h ${CMAKE_SOURCE_DIR}/stages/registry.def
     ${CMAKE_SOURCE_DIR}/kernels/cuda/state.h ${CMAKE_SOURCE_DIR}/kernels/cuda/device/*.h)
set(IS_EMBEDDED_PATHS ${IS_EMBEDDED})
list(TRANSFORM IS_EMBEDDED_PATHS PREPEND ${CMAKE_SOURCE_DIR}/)
set(IS_EMBEDDED_SOURCE ${CMAKE_BINARY_DIR}/generated/kernels/cuda/sources.c)
add_custom_command(
    OUTPUT ${IS_EMBEDDED_SOURCE}
    COMMAND ${CMAKE_COMMAND} "-DNAMES=${IS_EMBEDDED};stages/variant_headers.h"
            "-DFOLDERS=${CMAKE_SOURCE_DIR};${CMAKE_BINARY_DIR}/generated"
            -DOUTPUT=${IS_EMBEDDED_SOURCE} -P ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake
    DEPENDS ${IS_EMBEDDED_PATHS} ${CMAKE_BINARY_DIR}/generated/stages/variant_headers.h
            ${CMAKE_SOURCE_DIR}/cmake/Embed.cmake
    COMMENT "Embedding the sources of GPU kernels"
    VERBATIM)
target_sources(icestream_library PRIVATE ${IS_EMBEDDED_SOURCE})
target_link_libraries(icestream_library PUBLIC ${CMAKE_DL_LIBS})

if(IS_HAVE_CUDA)
    file(GLOB IS_CUDA_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
         ${CMAKE_SOURCE_DIR}/kernels/cuda/*.cu)
    is_add_cuda(icestream_library ${IS_CUDA_SOURCES})
    target_link_libraries(icestream_library PUBLIC CUDA::cudart_static stdc++)
    target_compile_definitions(icestream_library PUBLIC IS_HAVE_CUDA=1
                               PRIVATE IS_NVRTC_FOLDER="${CUDAToolkit_LIBRARY_DIR}")
endif()
