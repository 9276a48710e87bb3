# stages/registry.def names every stage variant in its own row. This file makes
# stages/registry.h from those rows: the includes of the variants' headers, one list macro for every
# stage, and a list of all variants (stages/variants.h says what a list looks like). The header of
# variant NAME of stage STAGE is stages/STAGE_NAME.h.
#
# stages/shapes.def names every shape of a module in the same way. It becomes two headers in the same
# folder: shape_list.h has the list macro ICE_SHAPES, shape_registry.h includes the headers of the
# shapes, stages/shapes/shape_NAME.h.
#
# CMake makes the headers when it configures the project. This file is also a script, for those users who
# compile the stages without the project's build:
#   cmake -DOUTPUT=FOLDER/stages/registry.h -P cmake/Registry.cmake
function(ics_write_registry source output)
    file(STRINGS ${source}/stages/registry.def rows REGEX "^ *ICE_VARIANT")
    set(stages "")
    set(includes "")
    foreach(row IN LISTS rows)
        if(NOT row MATCHES "^ICE_VARIANT\\(([a-z_]+), *([a-z_0-9]+), *\".*\"\\)$")
            message(FATAL_ERROR "stages/registry.def: expected ICE_VARIANT(stage, name, \"yaml\", "
                                "\"text\") alone on a line, found: ${row}")
        endif()
        set(stage ${CMAKE_MATCH_1})
        set(header stages/${stage}_${CMAKE_MATCH_2}.h)
        if(NOT EXISTS ${source}/${header})
            message(FATAL_ERROR "stages/registry.def: no such header: ${header}")
        endif()
        string(APPEND includes "#include \"${header}\"\n")
        string(REPLACE "ICE_VARIANT(" "X(" item "${row}")
        string(APPEND list_of_${stage} " \\\n    ${item}")
        list(APPEND stages ${stage})
    endforeach()
    list(REMOVE_DUPLICATES stages)

    set(lists "")
    set(all "")
    foreach(stage IN LISTS stages)
        string(TOUPPER ${stage} capitals)
        string(APPEND lists "#define ICE_${capitals}_VARIANTS(X)${list_of_${stage}}\n\n")
        string(APPEND all " \\\n    ICE_${capitals}_VARIANTS(X)")
    endforeach()
    file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"/* Made from stages/registry.def by cmake/Registry.cmake. */
#ifndef ICS_STAGES_REGISTRY_H
#define ICS_STAGES_REGISTRY_H

${includes}
${lists}#define ICE_VARIANTS(X)${all}

#endif
")
endfunction()

function(ics_write_shapes source folder)
    file(STRINGS ${source}/stages/shapes.def rows REGEX "^ *ICE_SHAPE")
    set(list "")
    set(includes "")
    foreach(row IN LISTS rows)
        if(NOT row MATCHES "^ICE_SHAPE\\(([A-Z_0-9]+), *([a-z_0-9]+), *\".*\"\\)$")
            message(FATAL_ERROR "stages/shapes.def: expected ICE_SHAPE(NAME, name, \"yaml\", sizes, "
                                "\"text\") alone on a line, found: ${row}")
        endif()
        set(header stages/shapes/shape_${CMAKE_MATCH_2}.h)
        if(NOT EXISTS ${source}/${header})
            message(FATAL_ERROR "stages/shapes.def: no such header: ${header}")
        endif()
        string(APPEND includes "#include \"${header}\"\n")
        string(REPLACE "ICE_SHAPE(" "X(" item "${row}")
        string(APPEND list " \\\n    ${item}")
    endforeach()
    file(CONFIGURE OUTPUT ${folder}/shape_list.h @ONLY CONTENT
"/* Made from stages/shapes.def by cmake/Registry.cmake. */
#ifndef ICS_STAGES_SHAPE_LIST_H
#define ICS_STAGES_SHAPE_LIST_H

#define ICE_SHAPES(X)${list}

#endif
")
    file(CONFIGURE OUTPUT ${folder}/shape_registry.h @ONLY CONTENT
"/* Made from stages/shapes.def by cmake/Registry.cmake. */
#ifndef ICS_STAGES_SHAPE_REGISTRY_H
#define ICS_STAGES_SHAPE_REGISTRY_H

${includes}
#endif
")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
    get_filename_component(source ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
    get_filename_component(folder ${OUTPUT} DIRECTORY)
    ics_write_registry(${source} ${OUTPUT})
    ics_write_shapes(${source} ${folder})
else()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                 ${CMAKE_SOURCE_DIR}/stages/registry.def ${CMAKE_SOURCE_DIR}/stages/shapes.def)
    ics_write_registry(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated/stages/registry.h)
    ics_write_shapes(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated/stages)
endif()
