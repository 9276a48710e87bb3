/* The description of one file of steps, hits, paths or waveforms. Private to this folder. */
#ifndef ICS_COMMANDS_INFO_DESCRIPTION_H
#define ICS_COMMANDS_INFO_DESCRIPTION_H

#include "pipeline/photons/files/format/table_reader.h"
#include "pipeline/photons/files/weight_sum.h"

enum { ICS_DESCRIPTION_RANGES = 4 };

typedef struct ics_description {
    const ics_layout *schema;
    uint64_t rows, photons, events;
    ics_weight_sum weights; /* of hits; of waveforms only the sum is known */
    struct {
        const ics_layout_field *field; /* NULL: the schema has no such field */
        double low, high;              /* NaN without rows */
    } ranges[ICS_DESCRIPTION_RANGES];
    bool packed, verified;
    json_t *metadata; /* without the list of checksums; NULL: no trailer */
    json_t *light;    /* the record of the light of steps, in trailer or header; NULL: none */
    char digest[ICS_DIGEST_TEXT];
} ics_description;

/* Reads all rows of a .npy file. The caller frees what is in *out by ics_description_free(), also
 * after an error. ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY. */
int ics_description_read(const char *path, ics_description *out, icestream_error *error);
void ics_description_free(ics_description *about);

/* Write the description of a file, with `path` as its name. `is_line`: the JSON object is one line.
 * ICESTREAM_E_OUTPUT: JSON cannot be written; of the text check ferror(out). */
void ics_description_print(const char *path, const ics_description *about, FILE *out);
int ics_description_print_json(const char *path, const ics_description *about, bool is_line,
                               FILE *out, icestream_error *error);

#endif
