# Toolchain for programs that run on other machines with glibc 2.31 or later: the compilers of this machine with the
# headers and libraries of Debian 11 in $ICESTREAM_TREE (scripts/wheel.sh).
set(tree $ENV{ICESTREAM_TREE})
set(triplet x86_64-linux-gnu)
if(NOT EXISTS ${tree}/usr/lib/${triplet}/libc.so.6)
    message(FATAL_ERROR "ICESTREAM_TREE: found '${tree}', expected a folder with Debian 11")
endif()
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER gcc)
set(CMAKE_SYSROOT ${tree})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
# gcc looks in its own folders first, which are those of this machine.
set(folders "-B${tree}/usr/lib/${triplet}/ -L${tree}/usr/lib/${triplet} -L${tree}/usr/lib/gcc/${triplet}/10")
set(CMAKE_EXE_LINKER_FLAGS_INIT ${folders})
set(CMAKE_SHARED_LINKER_FLAGS_INIT ${folders})
set(CMAKE_CUDA_FLAGS -Xcompiler=--sysroot=${tree} CACHE STRING "")
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${tree})
set(ENV{PKG_CONFIG_LIBDIR} ${tree}/usr/lib/${triplet}/pkgconfig:${tree}/usr/share/pkgconfig)
# Programs that a build runs need these libraries, too.
set(CMAKE_CROSSCOMPILING_EMULATOR ${tree}/lib64/ld-linux-x86-64.so.2 --library-path ${tree}/usr/lib/${triplet})
