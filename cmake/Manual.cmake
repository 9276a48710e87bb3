# Manual pages and completions, which the program prints from its own tables of commands and options. The pages
# need scdoc; without it there are none.
include(GNUInstallDirs)
if(ICESTREAM_SANITIZE)
    return() # programs with sanitizers are not installed
endif()
find_program(SCDOC scdoc)
find_program(GZIP gzip)
set(ICS_MANUAL_FOLDER ${CMAKE_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${ICS_MANUAL_FOLDER})
set(ICS_MANUAL_FILES)

# Names of the files are those by which the shells find them.
foreach(pair bash=icestream zsh=_icestream fish=icestream.fish)
    string(REGEX MATCH "^([a-z]+)=(.*)$" matched ${pair})
    set(shell ${CMAKE_MATCH_1})
    set(file ${ICS_MANUAL_FOLDER}/${shell}/${CMAKE_MATCH_2})
    file(MAKE_DIRECTORY ${ICS_MANUAL_FOLDER}/${shell})
    add_custom_command(OUTPUT ${file} COMMAND icestream help --${shell} > ${file} DEPENDS icestream VERBATIM)
    list(APPEND ICS_MANUAL_FILES ${file})
endforeach()
if(SCDOC AND GZIP)
    set(pages icestream)
    foreach(file IN LISTS ICS_COMMAND_FILES)
        string(REGEX REPLACE "^.*/command_([a-z]+)\\.c$" "icestream-\\1" page ${file})
        list(APPEND pages ${page})
    endforeach()
    foreach(page IN LISTS pages)
        string(REGEX REPLACE "^icestream-?" "" command ${page})
        set(file ${ICS_MANUAL_FOLDER}/${page}.1.gz)
        add_custom_command(OUTPUT ${file}
                           COMMAND icestream help --scdoc ${command} > ${ICS_MANUAL_FOLDER}/${page}.scd
                           COMMAND ${SCDOC} < ${ICS_MANUAL_FOLDER}/${page}.scd > ${ICS_MANUAL_FOLDER}/${page}.1
                           COMMAND ${GZIP} -9nf ${ICS_MANUAL_FOLDER}/${page}.1
                           DEPENDS icestream VERBATIM)
        list(APPEND ICS_MANUAL_FILES ${file})
        install(FILES ${file} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
    endforeach()
else()
    message(STATUS "no scdoc: no manual pages are made")
endif()
add_custom_target(manual ALL DEPENDS ${ICS_MANUAL_FILES})

install(FILES ${ICS_MANUAL_FOLDER}/bash/icestream
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
# Debian's zsh looks elsewhere below /usr: the first folder is for `cmake --install`, the second for the package.
install(FILES ${ICS_MANUAL_FOLDER}/zsh/_icestream DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT zsh)
install(FILES ${ICS_MANUAL_FOLDER}/zsh/_icestream DESTINATION share/zsh/vendor-completions COMPONENT program EXCLUDE_FROM_ALL)
install(FILES ${ICS_MANUAL_FOLDER}/fish/icestream.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
