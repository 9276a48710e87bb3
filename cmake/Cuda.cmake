# The CUDA toolkit, if there is one: nvcc for the .cu files, the headers and the static runtime for
# the host code of GPU schedules. ICS_HAVE_CUDA says so; ics_add_cuda() compiles.
#
# CUDA is not a language of this CMake project: everything that links a CUDA file would then be
# linked by nvcc's host compiler, which is another one than that of the C files as soon as those are
# compiled by clang or instrumented. The .cu files have a C interface, and the C compiler links.
option(ICESTREAM_CUDA "Build the GPU part where a CUDA toolkit is found" ON)
set(ICS_HAVE_CUDA OFF)
set(ICS_CUDA_MISSING "switched off by ICESTREAM_CUDA")
if(ICESTREAM_CUDA)
    find_program(CMAKE_CUDA_COMPILER nvcc HINTS ENV CUDACXX /usr/local/cuda/bin)
    if(CMAKE_CUDA_COMPILER)
        if(NOT CUDAToolkit_ROOT)
            get_filename_component(CUDAToolkit_ROOT ${CMAKE_CUDA_COMPILER} REALPATH)
            get_filename_component(CUDAToolkit_ROOT ${CUDAToolkit_ROOT} DIRECTORY)
            get_filename_component(CUDAToolkit_ROOT ${CUDAToolkit_ROOT} DIRECTORY)
        endif()
        find_package(CUDAToolkit QUIET)
    endif()
    if(NOT CUDAToolkit_FOUND OR NOT TARGET CUDA::cudart_static)
        set(ICS_CUDA_MISSING "no CUDA toolkit found")
    elseif(CUDAToolkit_VERSION VERSION_LESS 12.4)
        # Conditional nodes of graphs came with it.
        set(ICS_CUDA_MISSING "CUDA ${CUDAToolkit_VERSION} is too old, 12.4 is needed")
    else()
        set(ICS_HAVE_CUDA ON)
        # Cubins serve later GPUs of the same generation (70: 75; 80: 86 and 89); PTX of the last all later ones.
        set(oldest 75-real)
        if(CUDAToolkit_VERSION VERSION_LESS 13.0)
            set(oldest 70-real)
        endif()
        set(CMAKE_CUDA_ARCHITECTURES ${oldest} 80-real 90 CACHE STRING "GPUs that the .cu files are compiled for")
    endif()
endif()

if(ICS_HAVE_CUDA)
    set(exceptions -fno-exceptions)
    if(CUDAToolkit_VERSION VERSION_LESS 13.0) # headers that CUB includes catch exceptions
        set(exceptions -fexceptions)
    endif()
    set(ICS_NVCC_OPTIONS -std=c++17 -O3 --fmad=false -Xcompiler=-Wall,-fPIC,${exceptions},-fvisibility=hidden)
    if(ICESTREAM_WERROR)
        list(APPEND ICS_NVCC_OPTIONS -Werror all-warnings)
    endif()
    if(CMAKE_CUDA_HOST_COMPILER)
        list(APPEND ICS_NVCC_OPTIONS -ccbin ${CMAKE_CUDA_HOST_COMPILER})
    endif()
    foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
        if(NOT architecture MATCHES "^([0-9]+[af]?)(-real|-virtual)?$")
            message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES: found ${architecture}, expected 90, "
                                "90-real, 90-virtual or the like")
        endif()
        set(number ${CMAKE_MATCH_1})
        if(NOT CMAKE_MATCH_2 STREQUAL "-virtual")
            list(APPEND ICS_NVCC_OPTIONS -gencode arch=compute_${number},code=sm_${number})
        endif()
        if(NOT CMAKE_MATCH_2 STREQUAL "-real")
            list(APPEND ICS_NVCC_OPTIONS -gencode arch=compute_${number},code=compute_${number})
        endif()
    endforeach()
    separate_arguments(ICS_CUDA_FLAGS NATIVE_COMMAND "${CMAKE_CUDA_FLAGS}")
    list(APPEND ICS_NVCC_OPTIONS ${ICS_CUDA_FLAGS})

    # nvcc without a host compiler that it takes, or without these architectures, is of no use.
    if(NOT ICS_NVCC_TRIED STREQUAL "${CMAKE_CUDA_COMPILER};${ICS_NVCC_OPTIONS}")
        set(trial ${CMAKE_BINARY_DIR}/CMakeFiles/ics_nvcc_trial.cu)
        file(WRITE ${trial} "__global__ void trial(int *out) { *out = 1; }\n")
        execute_process(COMMAND ${CMAKE_CUDA_COMPILER} ${ICS_NVCC_OPTIONS} -c ${trial} -o ${trial}.o
                        RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
        if(result EQUAL 0)
            set(ICS_NVCC_TRIED "${CMAKE_CUDA_COMPILER};${ICS_NVCC_OPTIONS}" CACHE INTERNAL "")
        else()
            message(WARNING "${CMAKE_CUDA_COMPILER} does not compile: ${output}")
            set(ICS_HAVE_CUDA OFF)
            set(ICS_CUDA_MISSING "nvcc does not compile")
        endif()
    endif()
endif()
if(ICS_HAVE_CUDA)
    message(STATUS "CUDA ${CUDAToolkit_VERSION}: ${CMAKE_CUDA_COMPILER}, for ${CMAKE_CUDA_ARCHITECTURES}")
else()
    message(STATUS "${ICS_CUDA_MISSING}: building for the CPU only")
endif()

# ics_add_cuda(TARGET FILE.cu ...): compiles the files, whose names count from the root of the
# repository, into TARGET of the same CMakeLists.txt.
function(ics_add_cuda target)
    foreach(file IN LISTS ARGN)
        set(object ${CMAKE_BINARY_DIR}/cuda/${file}.o)
        get_filename_component(folder ${object} DIRECTORY)
        file(MAKE_DIRECTORY ${folder})
        add_custom_command(
            OUTPUT ${object}
            COMMAND ${CMAKE_CUDA_COMPILER} ${ICS_NVCC_OPTIONS} -I${CMAKE_SOURCE_DIR}
                    -I${CMAKE_BINARY_DIR}/generated -MD -MF ${object}.d -MT ${object}
                    -c ${CMAKE_SOURCE_DIR}/${file} -o ${object}
            DEPENDS ${CMAKE_SOURCE_DIR}/${file}
            DEPFILE ${object}.d
            COMMENT "Building CUDA object ${file}.o"
            VERBATIM)
        target_sources(${target} PRIVATE ${object})
        set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    endforeach()
endfunction()
