/* The metadata of a step or hit file: the JSON object of its trailer (formats.md, Layout).
 *
 * Whoever writes a file makes the object with is_metadata_create, adds what it knows, and hands it
 * to is_table_writer_commit, which completes it with what the file itself determines. Keys:
 *
 *   schema, version     "icestream.steps" or "icestream.hits", 1                      (the writer)
 *   producer            "icestream 0.1.0", kept when it is already there              (the writer)
 *   coordinates, units  what positions refer to; the unit of every field              (the writer)
 *   rows                how many                                                      (the writer)
 *   crc32c              {"block_bytes": 1048576, "values": [one per MiB of rows]}     (the writer)
 *   seed                the run's seed, as decimal text because JSON integers end at 2^63
 *   digests             {"configuration", "ice", "detector", "input"}: SHA-256, text; may be absent
 *   inputs              hit files for many step files (sink.rotate): their SHA-256, an array
 *   account             hit files: seven counts of is_account, and photo_electrons where
 *                       photo-electrons were made
 *   content             hit files, likewise: what rows are, "pe", "both" or "photons"; absent:
 *                       photons
 *   math                hit files: "portable", "fast" or "mixed"; absent with no photon computed
 *
 * Other keys are allowed and kept. Nothing in it depends on time or place: equal runs give equal
 * files.
 */
#ifndef IS_METADATA_H
#define IS_METADATA_H

#include "pipeline/icestream.h"

#include <jansson.h>

/* What a file was made from, SHA-256 in hexadecimal digits; NULL: does not apply. */
typedef struct is_origin {
    uint64_t seed;
    const char *configuration, *ice, *detector, *input;
} is_origin;

/* The maths that photons were computed with (device.math). Hits of portable maths are the same on
 * every device, those of fast maths are others. Kinds add up by or. */
typedef enum is_maths_used {
    IS_MATHS_NONE = 0, /* no photon, or nobody knows */
    IS_MATHS_PORTABLE = 1,
    IS_MATHS_FAST = 2,
    IS_MATHS_MIXED = IS_MATHS_PORTABLE | IS_MATHS_FAST
} is_maths_used;

/* Its word in files and messages, NULL for IS_MATHS_NONE. */
const char *is_maths_name(is_maths_used maths);

/* A new metadata object with seed and digests; the caller owns *out (json_decref). IS_E_MEMORY. */
int is_metadata_create(const is_origin *origin, json_t **out, is_error *error);

/* Stores the account. IS_E_FAILED: it does not close, or a count is 2^63 or more. IS_E_MEMORY. */
int is_metadata_set_account(json_t *metadata, const is_account *account, is_error *error);
/* Adds the number of photo-electrons to the account that is stored, and the content ("pe": rows are
 * photo-electrons alone). IS_E_FAILED: more of them than hits. IS_E_MEMORY. */
int is_metadata_set_detection(json_t *metadata, const char *content, const is_account *account,
                              is_error *error);
/* Reads the account; false: absent or malformed. Photo-electrons are 0 where it has none,
 * `undetected` follows from the content. */
bool is_metadata_account(const json_t *metadata, is_account *out);

/* Stores the maths; IS_MATHS_NONE: nothing. IS_E_MEMORY. */
int is_metadata_set_maths(json_t *metadata, is_maths_used maths, is_error *error);
/* Reads them; IS_MATHS_NONE where they are absent or no known word. */
is_maths_used is_metadata_maths(const json_t *metadata);

/* created = absorbed + detected + left + stopped, exactly (sums that overflow do not close). */
bool is_account_closes(const is_account *account);

/* Whether two metadata objects name the same seed and the same four digests. */
bool is_metadata_same_origin(const json_t *a, const json_t *b);
/* The same without the digest of the input: made by the same settings, from whatever file. */
bool is_metadata_same_settings(const json_t *a, const json_t *b);

#endif
