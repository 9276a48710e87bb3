/* The settings of a hit file for people: the values whose digests are in its metadata
 * (files.md 2.2).
 *
 *   "settings": {"values": {"run.seed": "1", ...},
 *                "models": {"ice.model": "...", ...},
 *                "light": {"particles.file": ...}}
 *
 * `digests.configuration` is made from the values. The models are the keys that ice, detector and
 * light come from. The light is there only if the run made its steps itself; `digests.input` is
 * made from it.
 */
#ifndef ICS_PHOTONS_PROVENANCE_SETTINGS_H
#define ICS_PHOTONS_PROVENANCE_SETTINGS_H

#include "pipeline/icestream.h"

#include <jansson.h>

/* Lists the settings in which the metadata of hits differ from those that are expected: *out is a
 * new array of {"key", "found", "expected"}. Keys of models count only if a digest of a model
 * differs, and those of light only if `digests.input` differs. If the metadata list no settings, or
 * if none of them explains a digest that differs, the digest is listed with the name of what it
 * covers. The array is empty if seed and digests are the same; the digest of a step file does not
 * count. ICESTREAM_E_MEMORY. */
int ics_settings_compare(const json_t *found, const json_t *expected, json_t **out,
                         icestream_error *error);

/* Adds one line to `error` for each difference: "a.hits.npy: run.seed: found 1, expected 2". The
 * status is ICESTREAM_E_OUTPUT. Returns whether there is a line; without memory it says this. */
bool ics_settings_explain(const char *path, const json_t *found, const json_t *expected,
                          icestream_error *error);

/* Writes the differences in one line: "run.seed (1, 2), ice.model (uniform, my.yaml)"; text that
 * does not fit is cut. ICESTREAM_E_MEMORY. */
int ics_settings_list(const json_t *found, const json_t *expected, char *text, size_t size,
                      icestream_error *error);

/* Whether these are the metadata of a run that makes its steps itself. */
bool ics_settings_has_light(const json_t *metadata);

#endif
