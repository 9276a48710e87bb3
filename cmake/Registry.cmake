# stages/registry.def names every stage variant on a line of its own; the header of variant NAME of
# stage STAGE is stages/STAGE_NAME.h. The list of includes is made from those lines.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/stages/registry.def)
file(STRINGS ${CMAKE_SOURCE_DIR}/stages/registry.def ICS_REGISTRY REGEX "^ICE_VARIANT\\(")
set(ICS_VARIANT_INCLUDES "/* Made from stages/registry.def by CMake. */\n")
foreach(line IN LISTS ICS_REGISTRY)
    string(REGEX REPLACE "^ICE_VARIANT\\(([a-z_]+), *([a-z_0-9]+),.*" "stages/\\1_\\2.h" header "${line}")
    if(NOT EXISTS ${CMAKE_SOURCE_DIR}/${header})
        message(FATAL_ERROR "stages/registry.def: no such header: ${header}")
    endif()
    string(APPEND ICS_VARIANT_INCLUDES "#include \"${header}\"\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/stages/variant_headers.h
     CONTENT "${ICS_VARIANT_INCLUDES}" @ONLY)
