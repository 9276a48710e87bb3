/* The metadata of a step or hit file: the JSON object of its trailer (files.md 2.2).
 *
 * A program that writes a file creates the object with ics_metadata_create(), adds keys, and passes
 * it to ics_table_writer_commit(), which adds the keys that the file determines ("the writer"
 * below). Keys:
 *
 *   schema, version     "icestream.steps" or "icestream.hits", 1                      (the writer)
 *   producer            "icestream 0.2.0", kept if it exists already                  (the writer)
 *   coordinates, units  what positions refer to; the unit of every field              (the writer)
 *   rows                number of rows                                                (the writer)
 *   crc32c              {"block_bytes": 1048576, "values": [one per MiB of rows]}     (the writer)
 *   seed                the run's seed, as decimal text because JSON integers end at 2^63
 *   random_numbers      which random numbers a seed means: ice_random_version() of stages/random.h;
 *                       absent: version 1
 *   digests             {"configuration", "ice", "detector", "input"}: SHA-256, text; may be absent
 *   inputs              hit files of several step files: their SHA-256, an array
 *   account             hit files: seven counts of icestream_account, and photo_electrons if
 *                       photo-electrons were made
 *   content             hit files with photo-electrons: what rows are, "pe", "both" or "photons";
 *                       absent: photons
 *   histograms          hit files: histograms (sink.histograms), an array of objects in
 *                       the schema of the Unified Histogram Interface
 *   light               step files: what their light was made with (models/light_record.h)
 *   light_mismatch      hit files: settings of the steps' light that differ and were accepted
 *   math                hit files: "portable", "fast" or "mixed"; absent with no photon computed
 *
 * Other keys are allowed and kept. Nothing depends on the time or the folder of the run: equal runs
 * give equal files.
 */
#ifndef ICS_PHOTONS_FILES_METADATA_H
#define ICS_PHOTONS_FILES_METADATA_H

#include "pipeline/icestream.h"

#include <jansson.h>

/* The version of icestream that last changed what a seed, a configuration and steps give. It is a
 * part of the digests, so files of all versions that compute alike belong together. If rows change,
 * tests/cli/run/test_physics_version.sh fails until this version changes, too. */
#define ICS_PHYSICS_VERSION "0.2.0"

/* What a file was made from: seed, and SHA-256 digests in hexadecimal digits; NULL: does not apply.
 */
typedef struct ics_metadata_origin {
    uint64_t seed;
    const char *configuration, *ice, *detector, *input;
} ics_metadata_origin;

/* The maths that computed the photons (device.math). Portable maths gives the same hits on every
 * device; fast maths gives other hits. Values can be combined with `|`. */
typedef enum ics_maths_used {
    ICS_MATHS_NONE = 0, /* no photon was computed, or it is not known */
    ICS_MATHS_PORTABLE = 1,
    ICS_MATHS_FAST = 2,
    ICS_MATHS_MIXED = ICS_MATHS_PORTABLE | ICS_MATHS_FAST
} ics_maths_used;

/* The word for it in files and messages, or NULL for ICS_MATHS_NONE. */
const char *ics_metadata_maths_name(ics_maths_used maths);

/* A new metadata object with seed, version of the random numbers and digests; the caller owns *out
 * (json_decref). ICESTREAM_E_MEMORY. */
int ics_metadata_create(const ics_metadata_origin *origin, json_t **out, icestream_error *error);

/* Stores the account. ICESTREAM_E_FAILED: it does not close, or a count is 2^63 or more.
 * ICESTREAM_E_MEMORY. */
int ics_metadata_set_account(json_t *metadata, const icestream_account *account,
                             icestream_error *error);
/* Adds the number of photo-electrons to the stored account, and stores the content ("pe": all rows
 * are photo-electrons). ICESTREAM_E_FAILED: there are more photo-electrons than hits.
 * ICESTREAM_E_MEMORY. */
int ics_metadata_set_detection(json_t *metadata, const char *content,
                               const icestream_account *account, icestream_error *error);
/* Reads the account. Returns false if it is absent or malformed. Photo-electrons are 0 if the
 * account has none; `undetected` follows from the content. */
bool ics_metadata_account(const json_t *metadata, icestream_account *out);

/* Stores the maths, unless it is ICS_MATHS_NONE. ICESTREAM_E_MEMORY. */
int ics_metadata_set_maths(json_t *metadata, ics_maths_used maths, icestream_error *error);
/* Adds settings of the light of the steps that differ from those of the run and were accepted: an
 * array of {"key", "steps", "run"}, or NULL. What is stored already stays. ICESTREAM_E_MEMORY. */
int ics_metadata_set_light_mismatch(json_t *metadata, json_t *differences, icestream_error *error);
/* Reads the maths. ICS_MATHS_NONE: absent, or an unknown word. */
ics_maths_used ics_metadata_maths(const json_t *metadata);

/* Reads the version of the random numbers, >= 1. */
json_int_t ics_metadata_random_version(const json_t *metadata);

/* Whether created = absorbed + detected + left + stopped. A sum that overflows does not close. */
bool ics_metadata_account_closes(const icestream_account *account);

/* Whether two metadata objects have the same seed and the same four digests. */
bool ics_metadata_same_origin(const json_t *a, const json_t *b);
/* The same without the digest of the input: both were made with the same settings, from any file.
 */
bool ics_metadata_same_settings(const json_t *a, const json_t *b);

#endif
