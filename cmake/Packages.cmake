# Debian packages: cmake --preset package, cmake --build --preset package, cpack --config build/package/CPackConfig.cmake
# (docs/building.md). Any other build makes them, too. A package is a component of Installation.cmake. The kernels of GPUs
# are a package only if the target `kernels` was built.
set(ICESTREAM_PACKAGE_CONTACT "The icestream authors <authors@icestream.invalid>"
    CACHE STRING "The maintainer in the packages: NAME <ADDRESS>")
set(ICS_LIBRARY_PACKAGE libicestream${PROJECT_VERSION_MAJOR})
set(ICS_PACKAGES program=icestream library=${ICS_LIBRARY_PACKAGE} development=libicestream-dev
    kernels=icestream-kernels)
if(ICESTREAM_PYTHON)
    list(APPEND ICS_PACKAGES module=python3-icestream)
    add_dependencies(manual icestream_python)
    install(DIRECTORY python/src/icestream DESTINATION lib/python3/dist-packages COMPONENT module EXCLUDE_FROM_ALL
            PATTERN "__pycache__" EXCLUDE)
    install(FILES ${ICS_PYTHON_ABI} DESTINATION lib/python3/dist-packages/icestream COMPONENT module EXCLUDE_FROM_ALL)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME icestream)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${ICESTREAM_PACKAGE_CONTACT})
# Packages of Debian install into /usr, whatever the prefix of the build is. With DESTDIR the recipes get their paths.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/PackagesChosen.cmake)
set(CPACK_ICS_KERNELS_STAMP ${CMAKE_BINARY_DIR}/kernels.stamp)

set(ICS_PACKAGE_TITLE_program "photon propagation for neutrino telescopes")
set(ICS_PACKAGE_TEXT_program
    "icestream carries photons through glacial ice or sea water to optical modules,
on GPUs and CPUs, as a stream of steps and hits. This package has the program,
its configurations, manual pages and documents.")
set(ICS_PACKAGE_TITLE_library "photon propagation for neutrino telescopes, shared library")
set(ICS_PACKAGE_TEXT_library
    "icestream carries photons through glacial ice or sea water to optical modules,
on GPUs and CPUs. This package has the library that does in memory what the
program icestream does with files.")
set(ICS_PACKAGE_TITLE_development "photon propagation for neutrino telescopes, development files")
set(ICS_PACKAGE_TEXT_development
    "icestream carries photons through glacial ice or sea water to optical modules,
on GPUs and CPUs. This package has the headers, the static library, the files
for pkg-config and CMake, the headers for stages of one's own, and examples.")
set(ICS_PACKAGE_TITLE_kernels "photon propagation for neutrino telescopes, GPU kernels")
set(ICS_PACKAGE_TEXT_kernels
    "icestream carries photons through glacial ice or sea water to optical modules,
on GPUs and CPUs. This package has compiled kernels for NVIDIA's GPUs: with
them a machine needs NVIDIA's driver, but neither NVRTC nor the CUDA toolkit.")
set(ICS_PACKAGE_TITLE_module "photon propagation for neutrino telescopes, Python module")
set(ICS_PACKAGE_TEXT_module
    "icestream carries photons through glacial ice or sea water to optical modules,
on GPUs and CPUs. This package has the Python module icestream, which gives
hits as NumPy arrays.")

set(ICS_SAME_VERSION "(= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "icestream-kernels, python3-icestream, curl")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
# From them other packages learn which version they need, and the linker that there is a new library.
configure_file(packaging/debian/shlibs.in ${CMAKE_BINARY_DIR}/packaging/shlibs @ONLY)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
    "${CMAKE_BINARY_DIR}/packaging/shlibs;${CMAKE_SOURCE_DIR}/packaging/debian/triggers")
configure_file(packaging/debian/libicestream.overrides.in ${CMAKE_BINARY_DIR}/packaging/overrides @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/packaging/overrides DESTINATION share/lintian/overrides
        RENAME ${ICS_LIBRARY_PACKAGE} COMPONENT library EXCLUDE_FROM_ALL)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_MODULE_PACKAGE_SECTION python)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${ICS_LIBRARY_PACKAGE} ${ICS_SAME_VERSION}")
# A program that links the static library needs the others.
set(suggests "icestream ${ICS_SAME_VERSION}" libyaml-dev libuv1-dev libjansson-dev libssl-dev libisal-dev)
if(ICS_HAVE_METRICS_HTTP)
    list(APPEND suggests libmicrohttpd-dev)
endif()
if(ICS_HAVE_QUEUE)
    list(APPEND suggests libhiredis-dev)
endif()
if(ICESTREAM_SYSTEMD AND LIBSYSTEMD_FOUND)
    list(APPEND suggests libsystemd-dev)
endif()
if(ICS_HAVE_ASSIMP)
    list(APPEND suggests libassimp-dev)
endif()
if(ICS_HAVE_CUDA)
    list(APPEND suggests g++)
endif()
list(JOIN suggests ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS)
set(CPACK_DEBIAN_KERNELS_PACKAGE_DEPENDS "icestream ${ICS_SAME_VERSION} | ${ICS_LIBRARY_PACKAGE} ${ICS_SAME_VERSION}")
set(CPACK_DEBIAN_KERNELS_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_MODULE_PACKAGE_DEPENDS
    "${ICS_LIBRARY_PACKAGE} ${ICS_SAME_VERSION}, python3 (>= 3.9), python3-cffi (>= 1.15), python3-crc32c, python3-numpy")
set(CPACK_DEBIAN_MODULE_PACKAGE_SUGGESTS "python3-matplotlib, python3-scipy")
set(CPACK_DEBIAN_MODULE_PACKAGE_ARCHITECTURE all)
# They compile the module when it is installed, and remove what they and Python have compiled.
set(CPACK_DEBIAN_MODULE_PACKAGE_CONTROL_EXTRA
    "${CMAKE_SOURCE_DIR}/packaging/debian/postinst;${CMAKE_SOURCE_DIR}/packaging/debian/prerm")

# Where gzip is missing, so is everything else that makes packages of Debian.
if(NOT GZIP)
    return()
endif()
# Every package has a changelog and the licence. The date is SOURCE_DATE_EPOCH, if that is set.
string(TIMESTAMP ICS_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(CPACK_COMPONENTS_ALL)
foreach(pair IN LISTS ICS_PACKAGES)
    string(REGEX MATCH "^([a-z]+)=(.*)$" matched ${pair})
    set(component ${CMAKE_MATCH_1})
    set(package ${CMAKE_MATCH_2})
    string(TOUPPER ${component} upper)
    list(APPEND CPACK_COMPONENTS_ALL ${component})
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
    set(CPACK_DEBIAN_${upper}_DESCRIPTION "${ICS_PACKAGE_TITLE_${component}}\n${ICS_PACKAGE_TEXT_${component}}")
    set(folder ${CMAKE_BINARY_DIR}/packaging/${package})
    configure_file(packaging/debian/changelog.in ${folder}/changelog @ONLY)
    configure_file(packaging/debian/copyright.in ${folder}/copyright @ONLY)
    execute_process(COMMAND ${GZIP} -9nf ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
    install(FILES ${folder}/changelog.gz ${folder}/copyright DESTINATION share/doc/${package} COMPONENT ${component}
            EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
