/* The paths of hit files in sink.directory, with the name sink.name (config/hit_name.h). The caller
 * frees them; NULL: out of memory. */
#ifndef ICS_PRODUCTION_UNITS_HIT_PATH_H
#define ICS_PRODUCTION_UNITS_HIT_PATH_H

#include "pipeline/photons/config/config.h"

/* The hit file for a step file, in sink.directory with the name sink.name. The stem of a.steps.npy
 * and of a.npy is a, and that of any other name is the name. */
char *ics_hit_path_of_file(const icestream_config *config, const char *path);
/* A file for generated steps in sink.directory, whose name is the pattern (config/hit_name.h). The
 * stem is particles for .../particles.f2k, or for the run file .../particles.yaml; stdin for
 * particles from standard input, generated without a run file. */
char *ics_hit_path_of_light(const icestream_config *config, const char *pattern);
/* The hit file for message `number` (from 0) of a stream, as of a step file. The stem is
 * stdin-000000, or PIPE-000000 for a named pipe at .../PIPE. */
char *ics_hit_path_of_message(const icestream_config *config, const char *path, uint64_t number);

#endif
