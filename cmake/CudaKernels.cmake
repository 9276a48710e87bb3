# The GPU part of the library: .cu files, the static runtime, and the sources of the run's kernels,
# which the program carries along as text.

# A device's code lives where NVRTC or a cache of compiled kernels is; neither needs the toolkit at
# build time, so every build has the sources.
include(Embed)
file(GLOB ICS_EMBEDDED CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
     ${CMAKE_SOURCE_DIR}/stages/*.h ${CMAKE_SOURCE_DIR}/stages/*/*.h
     ${CMAKE_SOURCE_DIR}/kernels/cuda/state.h ${CMAKE_SOURCE_DIR}/kernels/cuda/device/*.h)
ics_embed(ics_photons kernels/cuda/sources.h ics_embedded_source
         ${ICS_EMBEDDED} stages/registry.h stages/shape_list.h stages/shape_registry.h)
target_link_libraries(ics_photons PUBLIC ${CMAKE_DL_LIBS})

if(ICS_HAVE_CUDA)
    file(GLOB ICS_CUDA_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
         ${CMAKE_SOURCE_DIR}/kernels/cuda/*.cu)
    ics_add_cuda(icestream_library ${ICS_CUDA_SOURCES})
    target_link_libraries(ics_photons PUBLIC CUDA::cudart_static stdc++)
    # A driver serves all toolkits of its generation; graphs with conditions need 12.4.
    set(oldest ${CUDAToolkit_VERSION_MAJOR}000)
    if(oldest EQUAL 12000)
        set(oldest 12040)
    endif()
    set_source_files_properties(kernels/cuda/driver.c PROPERTIES COMPILE_DEFINITIONS ICS_DRIVER_OLDEST=${oldest})
    set(ICESTREAM_NVRTC_FOLDER ${CUDAToolkit_LIBRARY_DIR} CACHE PATH "One of the folders in which a run looks for NVRTC")
    target_compile_definitions(ics_photons PUBLIC ICS_HAVE_CUDA=1)
    set_source_files_properties(kernels/cuda/nvrtc.c PROPERTIES COMPILE_DEFINITIONS ICS_NVRTC_FOLDER="${ICESTREAM_NVRTC_FOLDER}")
endif()
