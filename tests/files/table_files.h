/* Files of many steps or hits with known values, for tests. Every function fails the test on
 * errors. */
#ifndef TABLE_FILES_H
#define TABLE_FILES_H

#include "pipeline/photons/files/hit_reader.h"
#include "pipeline/photons/files/table_writer.h"

#include <check.h>
#include <string.h>

enum { ROWS = 20000 }; /* more than one chunk and one block of checksums */

/* The values of row i. */
static inline icestream_step step_number(uint32_t i)
{
    return (icestream_step){.x = (float)i / 100,
                            .y = -1,
                            .z = 0.1f,
                            .t = -5,
                            .dx = 0.6f,
                            .dy = -0.8f,
                            .length = 2,
                            .beta = 0.99f,
                            .weight = 0.5f,
                            .photons = i,
                            .source_id = 4000000000u,
                            .event_id = UINT64_MAX - i / 1000,
                            .step_id = i % 1000,
                            .kind = 2,
                            .spectrum = 200,
                            .flags = 0};
}

static inline icestream_hit hit_number(uint32_t i)
{
    return (icestream_hit){.event_id = i / 500,
                           .t = 1e6 + i * 0.125,
                           .x = 0.1f,
                           .dz = 1,
                           .wavelength = 300 + (float)(i % 300),
                           .weight = 2,
                           .step_id = 1,
                           .photon_id = i,
                           .string = 86,
                           .module = 60,
                           .pmt = -1,
                           .scatters = 65535};
}

/* Writes the first rows of steps or hits over what is there. */
static inline void write_table(const char *path, const ics_layout *schema, size_t rows,
                               const json_t *metadata)
{
    ics_table_writer *writer = NULL;
    icestream_error error = {.text = ""};
    ck_assert_msg(ics_table_writer_create(path, schema, true, &writer, &error) == 0, "%s",
                  error.text);
    for (uint32_t i = 0; i < rows; ++i) {
        const icestream_step step = step_number(i);
        const icestream_hit hit = hit_number(i);
        const void *row = schema == ics_layout_steps() ? (const void *)&step : (const void *)&hit;
        ck_assert_int_eq(ics_table_writer_append(writer, row, 1, &error), 0);
    }
    ck_assert_int_eq(ics_table_writer_commit(writer, metadata, &error), 0);
    ics_table_writer_destroy(writer);
}

/* Metadata of a hit file, with an account of `hits` hits. The caller releases them. */
static inline json_t *hit_metadata(uint64_t hits)
{
    const ics_metadata_origin origin = {.seed = 17, .configuration = "c0ffee", .input = "f00d"};
    const icestream_account account = {.created = 1000000,
                                       .absorbed = 1000000 - hits,
                                       .detected = hits,
                                       .hits = hits,
                                       .bounces = 5};
    json_t *metadata = NULL;
    icestream_error error;
    ck_assert_int_eq(ics_metadata_create(&origin, &metadata, &error), 0);
    ck_assert_int_eq(ics_metadata_set_account(metadata, &account, &error), 0);
    return metadata;
}

static inline void expect_in(const char *text, const char *expected)
{
    ck_assert_msg(strstr(text, expected) != NULL, "'%s' is not in '%s'", expected, text);
}

#endif
