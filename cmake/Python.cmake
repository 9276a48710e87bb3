# What a wheel of the Python package contains besides its modules (python/pyproject.toml): the shared library, the
# program, compiled kernels if there are some, and the declarations for cffi, which are made of the public headers.
option(ICESTREAM_PYTHON "Make the parts of the Python package that are compiled" OFF)
if(ICESTREAM_PYTHON)
    find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
    set(ICS_PYTHON_ABI ${CMAKE_BINARY_DIR}/python/_abi.py)
    add_custom_command(OUTPUT ${ICS_PYTHON_ABI}
                       COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/python
                       COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/python/make_abi.py ${CMAKE_SOURCE_DIR}/base
                               ${CMAKE_SOURCE_DIR}/pipeline ${ICS_PYTHON_ABI}
                       DEPENDS python/make_abi.py base/icestream_error.h pipeline/icestream.h pipeline/icestream_session.h
                       VERBATIM)
    add_custom_target(icestream_python DEPENDS ${ICS_PYTHON_ABI})
    # A wheel keeps no links, so the library lies there once, under its soname.
    install(FILES ${ICS_PYTHON_ABI} DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
    install(FILES $<TARGET_FILE:icestream_shared> DESTINATION lib RENAME $<TARGET_SONAME_FILE_NAME:icestream_shared>
            COMPONENT python EXCLUDE_FROM_ALL)
    install(PROGRAMS $<TARGET_FILE:icestream> DESTINATION bin COMPONENT python EXCLUDE_FROM_ALL)
    install(DIRECTORY ${CMAKE_BINARY_DIR}/share/icestream/kernels/ DESTINATION share/icestream/kernels COMPONENT python
            EXCLUDE_FROM_ALL OPTIONAL)
endif()
