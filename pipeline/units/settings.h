/* The settings of a hit file for people: the values whose digests are in its metadata
 * (files.md 2.2).
 *
 *   "settings": {"values": {"run.seed": "1", ...},      what `digests.configuration` is made from
 *                "models": {"ice.model": "...", ...}}   the keys that ice, detector and light come
 * from
 */
#ifndef ICS_UNITS_SETTINGS_H
#define ICS_UNITS_SETTINGS_H

#include "pipeline/icestream.h"

#include <jansson.h>

/* Adds one line to `error` for each setting in which the metadata of the hit file `path` differ
 * from those that are expected: "a.hits.npy: run.seed: found 1, expected 2". Keys of models count
 * only if a digest of a model differs. If the file lists no settings, or if none of them explains a
 * digest that differs, the line names the digest. Adds nothing if seed and digests (without
 * `input`) are the same. Returns how many lines were added. */
size_t ics_settings_explain(const char *path, const json_t *found, const json_t *expected,
                            icestream_error *error);

#endif
