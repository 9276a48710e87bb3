/* Files that a key of the configuration names, or that lie in the folder of the ice. */
#ifndef ICS_PHOTONS_MODELS_FILE_H
#define ICS_PHOTONS_MODELS_FILE_H

#include "pipeline/photons/config/config.h"
#include "pipeline/photons/models/text/text.h"

/* Finds the file that a key of the configuration means. `value` is a path, or "auto" for the file
 * `name` in ice.directory, if it exists, or "none". The caller frees *out; NULL: there is no file.
 * ICESTREAM_E_MEMORY. */
int ics_model_file_find(const icestream_config *config, const char *value, const char *name,
                        char **out, icestream_error *error);
/* The same, and reads the text; out->name is NULL if there is no file. ICESTREAM_E_CONFIG,
 * ICESTREAM_E_MEMORY. The caller frees *out. */
int ics_model_file_read(const icestream_config *config, const char *value, const char *name,
                        ics_text *out, icestream_error *error);

#endif
