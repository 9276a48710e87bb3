# What `icestream --version --verbose` prints: generated/build_facts.h with what configuring knows, and
# generated/build_commit.h with the commit, which every build looks up again.
#
# The same file is the script that looks it up.
if(CMAKE_SCRIPT_MODE_FILE)
    set(commit "unknown: no git repository")
    find_program(GIT git)
    if(GIT AND EXISTS ${SOURCE}/.git)
        execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
    # Writes only a file that changes, so that nothing is compiled again for the same commit.
    set(text "#define ICS_BUILD_COMMIT \"${commit}\"\n")
    set(before "")
    if(EXISTS ${OUTPUT})
        file(READ ${OUTPUT} before)
    endif()
    if(NOT text STREQUAL before)
        file(WRITE ${OUTPUT} "${text}")
    endif()
    return()
endif()

set(cuda "none (${ICS_CUDA_MISSING})")
if(ICS_HAVE_CUDA)
    set(cuda "${CUDAToolkit_VERSION}, for ${CMAKE_CUDA_ARCHITECTURES}")
    string(REPLACE ";" " " cuda "${cuda}")
endif()
set(metrics none)
if(ICS_HAVE_METRICS_HTTP)
    set(metrics ${LIBMICROHTTPD_VERSION})
endif()
set(systemd none)
if(ICESTREAM_SYSTEMD AND LIBSYSTEMD_FOUND)
    set(systemd ${LIBSYSTEMD_VERSION})
endif()
set(hiredis none)
if(ICS_HAVE_QUEUE)
    set(hiredis ${HIREDIS_VERSION})
endif()
set(assimp none)
if(ICS_HAVE_ASSIMP)
    set(assimp ${ASSIMP_VERSION})
endif()
set(sanitizers "")
if(ICESTREAM_SANITIZE)
    set(sanitizers ", sanitizers ${ICESTREAM_SANITIZE}")
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/build_facts.h @ONLY CONTENT
"/* Made by cmake/BuildFacts.cmake: name, what is there. */
#define ICS_BUILD_FACTS(X) \\
    X(\"compiler\", \"@CMAKE_C_COMPILER_ID@ @CMAKE_C_COMPILER_VERSION@, @CMAKE_BUILD_TYPE@@sanitizers@@ICS_SLOW_KERNELS@\") \\
    X(\"CUDA\", \"@cuda@\") \\
    X(\"libyaml\", \"@LIBYAML_VERSION@\") \\
    X(\"libuv\", \"@LIBUV_VERSION@\") \\
    X(\"jansson\", \"@JANSSON_VERSION@\") \\
    X(\"libcrypto\", \"@LIBCRYPTO_VERSION@\") \\
    X(\"libmicrohttpd\", \"@metrics@\") \\
    X(\"libsystemd\", \"@systemd@\") \\
    X(\"hiredis\", \"@hiredis@\") \\
    X(\"Assimp\", \"@assimp@\")
")
set(ICS_BUILD_COMMIT ${CMAKE_BINARY_DIR}/generated/build_commit.h)
# Also now, for tools that read the sources and build nothing.
execute_process(COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${ICS_BUILD_COMMIT}
                        -P ${CMAKE_CURRENT_LIST_FILE})
add_custom_target(ics_build_commit
                  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${ICS_BUILD_COMMIT}
                          -P ${CMAKE_CURRENT_LIST_FILE}
                  BYPRODUCTS ${ICS_BUILD_COMMIT} VERBATIM)
add_dependencies(ics_photons ics_build_commit)
