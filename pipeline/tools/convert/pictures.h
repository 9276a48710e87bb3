/* Modules, hits and paths as .vtp (files.md 12), for programs that show them in three dimensions.
 * All positions are relative to the detector's centre. `to` "-" is standard output. All functions:
 * ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
#ifndef ICS_TOOLS_CONVERT_PICTURES_H
#define ICS_TOOLS_CONVERT_PICTURES_H

#include "pipeline/icestream.h"

/* Makes a dot of each module of the configured detector. Also ICESTREAM_E_CONFIG: the detector
 * cannot be used. Warnings about the detector go to options->notes. */
int ics_pictures_put_modules(const char *to, const icestream_convert_options *options,
                             icestream_error *error);
/* Makes a dot of each hit of a hit file or of messages (`from` "-"). The detector says where the
 * modules are. Also ICESTREAM_E_CONFIG; ICESTREAM_E_INPUT: no good hit file, or a hit of a module
 * that the detector does not have; ICESTREAM_E_USAGE: standard input is a terminal. */
int ics_pictures_put_hits(const char *from, const char *to,
                          const icestream_convert_options *options, icestream_error *error);
/* Makes a line of each path of a file of `icestream trace`. Also ICESTREAM_E_INPUT: no good file of
 * paths; ICESTREAM_E_USAGE: the file has hits, or standard input is a terminal. */
int ics_pictures_put_paths(const char *from, const char *to,
                           const icestream_convert_options *options, icestream_error *error);

#endif
