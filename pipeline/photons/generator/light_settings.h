/* What a run makes its steps of, for people: every key of `particles` or of `workload` on which the
 * steps depend.
 *
 *   {"particles.events": "file", "particles.file": {"name": "a.f2k", "digest": "..."}, ...}
 *
 * A setting is a text; or, if it is a file or a long list, a name with the SHA-256 of the content,
 * as in the record of light (models/light_record.h). Hit files have these settings in their
 * metadata (files.md 2.2), so that --resume can name what has changed. */
#ifndef ICS_PHOTONS_GENERATOR_LIGHT_SETTINGS_H
#define ICS_PHOTONS_GENERATOR_LIGHT_SETTINGS_H

#include "pipeline/photons/config/config.h"

#include <jansson.h>

/* Makes the settings. Particles that come through a pipe have no digest. The caller owns *out.
 * ICESTREAM_E_CONFIG: particles.file cannot be read. ICESTREAM_E_MEMORY. */
int ics_light_settings_make(const icestream_config *config, json_t **out, icestream_error *error);

/* Compares the settings of finished hits, or of another configuration, with those of a run. *out: a
 * new array of {"key", "steps", "run"} with both values as texts, one for each key that differs.
 * ICESTREAM_E_MEMORY. */
int ics_light_settings_compare(const json_t *found, const json_t *expected, json_t **out,
                               icestream_error *error);

/* Whether a key decides which light there is: the list of particles with its events, or a workload.
 * Other keys decide how the same particles make light. */
bool ics_light_settings_is_source(const char *key);

#endif
