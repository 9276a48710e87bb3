# Everything that icestream takes from the distribution, gathered in one interface target.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(LIBYAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(LIBUV REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(LIBCRYPTO REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(LIBMICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(LIBSYSTEMD REQUIRED IMPORTED_TARGET libsystemd)
find_library(ISAL_LIBRARY isal REQUIRED)

add_library(ics_dependencies INTERFACE)
target_link_libraries(ics_dependencies INTERFACE PkgConfig::LIBYAML PkgConfig::LIBUV
                      PkgConfig::JANSSON PkgConfig::LIBCRYPTO PkgConfig::LIBMICROHTTPD
                      PkgConfig::LIBSYSTEMD ${ISAL_LIBRARY} Threads::Threads m)

option(ICESTREAM_HDF5 "Build `icestream convert` to and from HDF5" ON)
if(ICESTREAM_HDF5)
    find_package(HDF5 COMPONENTS C)
endif()
if(HDF5_FOUND)
    target_include_directories(ics_dependencies SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
    target_link_libraries(ics_dependencies INTERFACE ${HDF5_C_LIBRARIES})
    target_compile_definitions(ics_dependencies INTERFACE ICS_HAVE_HDF5=1)
else()
    message(STATUS "HDF5 not found: icestream convert will say so")
endif()
