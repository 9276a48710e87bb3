# What `cmake --install` copies: the program, the static and the shared library, their headers, the headers of
# the stages, icestream.pc, the CMake package, configurations, documents and examples. All paths in the files
# are relative to where they lie, so an installation may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A component is a package of Debian (Packages.cmake).
install(TARGETS icestream RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(TARGETS icestream_library ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
if(TARGET icestream_shared AND ICESTREAM_SHARED_LIBRARY)
    install(TARGETS icestream_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
            NAMELINK_COMPONENT development)
endif()
# For editors and for tests of stages of one's own: #include "stages/maths.h" with -I include/icestream.
install(DIRECTORY stages/ ${CMAKE_BINARY_DIR}/generated/stages/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/icestream/stages COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
# The runs of configs/reference read ice of the folder shared next to the repository, which is not installed.
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/icestream COMPONENT program
        PATTERN "reference" EXCLUDE PATTERN "*.service" EXCLUDE
        PATTERN "*.sh" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                   WORLD_EXECUTE)
# A program that notifies nobody never becomes ready for a service of Type=notify.
if(ICESTREAM_SYSTEMD AND LIBSYSTEMD_FOUND)
    install(DIRECTORY configs/sites/ DESTINATION lib/systemd/system COMPONENT program
            FILES_MATCHING PATTERN "*.service" PATTERN "transfer" EXCLUDE)
endif()
# Units and recipes name the program and each other by their paths: those of this installation.
install(CODE "
    set(bin \"${CMAKE_INSTALL_BINDIR}\")
    set(data \"${CMAKE_INSTALL_DATADIR}\")
    cmake_path(ABSOLUTE_PATH bin BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
    cmake_path(ABSOLUTE_PATH data BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
    file(GLOB recipes \"\$ENV{DESTDIR}\${data}/icestream/sites/*.*\" \"\$ENV{DESTDIR}\${data}/icestream/sites/transfer/*\"
         \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/icestream*.service\")
    foreach(recipe IN LISTS recipes)
        file(READ \"\${recipe}\" text)
        string(REPLACE /usr/local/bin/icestream \"\${bin}/icestream\" changed \"\${text}\")
        string(REPLACE /usr/share/icestream \"\${data}/icestream\" changed \"\${changed}\")
        if(NOT changed STREQUAL text)
            file(WRITE \"\${recipe}\" \"\${changed}\")
        endif()
    endforeach()" COMPONENT program)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program PATTERN "event.yaml" EXCLUDE)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)

# What a program needs that links the static library. Its headers need nothing, so icestream.pc requires no package.
set(ICS_STATIC_LIBRARIES ${LIBYAML_LDFLAGS} ${LIBUV_LDFLAGS} ${JANSSON_LDFLAGS} ${LIBCRYPTO_LDFLAGS} -lisal)
if(ICS_HAVE_METRICS_HTTP)
    list(APPEND ICS_STATIC_LIBRARIES ${LIBMICROHTTPD_LDFLAGS})
endif()
if(ICESTREAM_SYSTEMD AND LIBSYSTEMD_FOUND)
    list(APPEND ICS_STATIC_LIBRARIES ${LIBSYSTEMD_LDFLAGS})
endif()
if(ICS_HAVE_QUEUE)
    list(APPEND ICS_STATIC_LIBRARIES ${HIREDIS_LDFLAGS} ${LIBSSL_LDFLAGS})
endif()
if(ICS_HAVE_ASSIMP)
    list(APPEND ICS_STATIC_LIBRARIES ${ASSIMP_LDFLAGS})
endif()
if(ICS_HAVE_CUDA)
    # CUDA's static runtime comes along: another machine has no toolkit, or has it elsewhere.
    get_target_property(runtime CUDA::cudart_static IMPORTED_LOCATION)
    file(REAL_PATH ${runtime} runtime)
    install(FILES ${runtime} DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME libicestream_cudart.a COMPONENT development)
    list(PREPEND ICS_STATIC_LIBRARIES -licestream_cudart)
    list(APPEND ICS_STATIC_LIBRARIES -lstdc++ -lrt)
endif()
list(APPEND ICS_STATIC_LIBRARIES -lpthread -ldl -lm)
# pkg-config lists folders that the linker knows.
foreach(known IN LISTS CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    list(REMOVE_ITEM ICS_STATIC_LIBRARIES -L${known})
endforeach()
list(REMOVE_DUPLICATES ICS_STATIC_LIBRARIES)

file(RELATIVE_PATH ICS_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" ICS_PC_TO_PREFIX "${ICS_PC_TO_PREFIX}")
list(JOIN ICS_STATIC_LIBRARIES " " ICS_PC_LIBRARIES)
configure_file(cmake/templates/icestream.pc.in ${CMAKE_BINARY_DIR}/icestream.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/icestream.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

set(ICS_CMAKE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/icestream)
configure_package_config_file(cmake/templates/icestreamConfig.cmake.in
                              ${CMAKE_BINARY_DIR}/icestreamConfig.cmake
                              INSTALL_DESTINATION ${ICS_CMAKE_FOLDER}
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/icestreamConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/icestreamConfig.cmake ${CMAKE_BINARY_DIR}/icestreamConfigVersion.cmake
        DESTINATION ${ICS_CMAKE_FOLDER} COMPONENT development)
