/* The record of light: what the light of a step file was thinned, weighted and made with (files.md
 * 2.5). It is the member `light` of the trailer, and of the header of a message:
 *
 *   {"thinned": true,          the numbers of photons are those after thinning
 *    "seed": "1",              run.seed of the light; is not compared
 *    "settings": {"detector.oversize": "5", "light.acceptance": "standard", ...},
 *    "digest": "..."}          SHA-256 of the settings on which the light depends
 *
 * A setting is a text; or, if it is a table, {"name": "wv.dat", "digest": "..."}, of which only the
 * digest is compared.
 */
#ifndef ICS_PHOTONS_MODELS_LIGHT_RECORD_H
#define ICS_PHOTONS_MODELS_LIGHT_RECORD_H

#include "pipeline/photons/models/models.h"

#include <jansson.h>

/* Makes the record of steps that are made with this configuration and its models. `thinned` false:
 * of a workload, which depends on light.spectra alone; `models` may be NULL then. The settings
 * `particles.` are left out if the configuration has no particles. The caller owns *out.
 * ICESTREAM_E_CONFIG: a file of light.spectra cannot be read. ICESTREAM_E_MEMORY. */
int ics_light_record_create(const icestream_config *config, const ics_models *models, bool thinned,
                            json_t **out, icestream_error *error);

/* Compares the record of steps with the record of a run. *out: a new array of {"key", "steps",
 * "run"} with both values as texts for people, one for each setting that differs; empty: the steps
 * suit the run. Settings that only one of them has are not compared, except for spectra. `name`: of
 * the step file, for messages. ICESTREAM_E_INPUT: the record has another form. ICESTREAM_E_MEMORY.
 */
int ics_light_record_compare(const char *name, const json_t *steps, const json_t *run, json_t **out,
                             icestream_error *error);

/* Compares the record of a step file (NULL: it has none) with that of the run, as
 * source.light_mismatch says: steps of other light are refused, or *accepted gets the differences,
 * which the caller owns. *accepted is NULL if there is nothing to accept. ICESTREAM_E_INPUT,
 * ICESTREAM_E_MEMORY. */
int ics_light_record_judge(const icestream_config *config, const json_t *run, const char *name,
                           const json_t *steps, json_t **accepted, icestream_error *error);

/* Writes a setting for people: its text, or name and digest of a table; "nothing" for NULL. Returns
 * buffer. */
const char *ics_light_record_value_text(const json_t *value, char *buffer, size_t size);
/* Whether two settings (or NULL) are the same: of tables only the digests count. */
bool ics_light_record_value_same(const json_t *left, const json_t *right);

/* What is assumed of steps without a record, for people: "light.acceptance standard,
 * detector.oversize 5, detector.angular_acceptance 0.68". Returns buffer. */
const char *ics_light_record_assumed(const json_t *run, char *buffer, size_t size);

/* Refuses steps without any photon, unless source.empty accepts them. `name`: of the steps, for the
 * message. ICESTREAM_E_INPUT. Any thread. */
int ics_light_record_refuse_empty(const icestream_config *config, const char *name, uint64_t rows,
                                  uint64_t photons, icestream_error *error);

#endif
