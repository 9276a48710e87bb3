# Source files as text in the program.
#
# ics_embed(TARGET HEADER SYMBOL NAME ...): adds to TARGET the list of sources that HEADER, such as
# kernels/cuda/sources.h, declares: `const ics_embedded_source SYMBOLs[]` (kernels/embedded.h) and
# `const size_t SYMBOL_count`. A NAME is what a file is included by; files are looked for in the
# repository and among what configuring generates.
#
# The same file is the script that writes the list when the program is built.
if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(ICS_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

    function(ics_embed target header symbol)
        string(REGEX REPLACE "\\.h$" ".c" output ${CMAKE_BINARY_DIR}/generated/${header})
        set(paths)
        foreach(name IN LISTS ARGN)
            if(EXISTS ${CMAKE_SOURCE_DIR}/${name})
                list(APPEND paths ${CMAKE_SOURCE_DIR}/${name})
            else()
                list(APPEND paths ${CMAKE_BINARY_DIR}/generated/${name})
            endif()
        endforeach()
        add_custom_command(
            OUTPUT ${output}
            COMMAND ${CMAKE_COMMAND} "-DNAMES=${ARGN}" "-DPATHS=${paths}" -DHEADER=${header}
                    -DSYMBOL=${symbol} -DOUTPUT=${output} -P ${ICS_EMBED_SCRIPT}
            DEPENDS ${paths} ${ICS_EMBED_SCRIPT}
            COMMENT "Embedding the sources of ${header}"
            VERBATIM)
        target_sources(${target} PRIVATE ${output})
    endfunction()
    return()
endif()

set(text "/* Made by cmake/Embed.cmake. */\n#include \"${HEADER}\"\n")
set(table "")
set(count 0)
foreach(name path IN ZIP_LISTS NAMES PATHS)
    file(READ ${path} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    # Lines that editors and compilers can take: 20 bytes each.
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
           "\\1\n" bytes "${bytes}")
    string(APPEND text "static const char text_${count}[] = {\n${bytes}0};\n")
    string(APPEND table "    {\"${name}\", text_${count}},\n")
    math(EXPR count "${count} + 1")
endforeach()
string(APPEND text "const ics_embedded_source ${SYMBOL}s[] = {\n${table}};\n"
       "const size_t ${SYMBOL}_count = ${count};\n")
file(WRITE ${OUTPUT} "${text}")
