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
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/icestream COMPONENT program
        PATTERN "*.sh" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                   WORLD_EXECUTE)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program PATTERN "event.yaml" EXCLUDE)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)

# What a program needs that links the static library.
set(ICS_STATIC_PACKAGES yaml-0.1 libuv jansson libcrypto)
if(ICS_HAVE_METRICS_HTTP)
    list(APPEND ICS_STATIC_PACKAGES libmicrohttpd)
endif()
if(ICS_HAVE_TRANSFER)
    list(APPEND ICS_STATIC_PACKAGES libcurl)
endif()
if(ICESTREAM_SYSTEMD AND LIBSYSTEMD_FOUND)
    list(APPEND ICS_STATIC_PACKAGES libsystemd)
endif()
if(ICS_HAVE_QUEUE)
    list(APPEND ICS_STATIC_PACKAGES hiredis libssl)
endif()
if(ICS_HAVE_ASSIMP)
    list(APPEND ICS_STATIC_PACKAGES assimp)
endif()
set(ICS_STATIC_LIBRARIES -lisal)
if(ICS_HAVE_CUDA)
    list(APPEND ICS_STATIC_LIBRARIES ${CUDAToolkit_LIBRARY_DIR}/libcudart_static.a -lstdc++ -lrt)
endif()
list(APPEND ICS_STATIC_LIBRARIES -lpthread -ldl -lm)
list(REMOVE_DUPLICATES ICS_STATIC_LIBRARIES)

file(RELATIVE_PATH ICS_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" ICS_PC_TO_PREFIX "${ICS_PC_TO_PREFIX}")
list(JOIN ICS_STATIC_PACKAGES " " ICS_PC_REQUIRES)
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
