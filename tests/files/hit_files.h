/* Hits, their metadata and hit files, for tests. */
#ifndef HIT_FILES_H
#define HIT_FILES_H

#include "pipeline/photons/files/table_writer.h"
#include "pipeline/photons/provenance/hit_check.h"

#include <check.h>

enum { HEADER = 1024 }; /* bytes before the rows */

/* A hit with good values in all fields. */
static inline icestream_hit good_hit(uint32_t photon)
{
    return (icestream_hit){.event_id = 5,
                           .t = 1000.25,
                           .x = 0.1f,
                           .dz = -1,
                           .wavelength = 400,
                           .weight = 1.5f,
                           .step_id = 9,
                           .photon_id = photon,
                           .string = 63,
                           .module = 20,
                           .pmt = -1,
                           .scatters = 12};
}

/* A photon account that closes, and an origin of hits. */
static const icestream_account closed = {.created = 100,
                                         .absorbed = 60,
                                         .detected = 3,
                                         .left = 36,
                                         .stopped = 1,
                                         .hits = 3,
                                         .bounces = 1234};
static const ics_metadata_origin origin = {
    .seed = UINT64_MAX, .configuration = "c0", .ice = "1ce", .detector = "de", .input = "1b"};

/* Metadata with an origin and, unless it is NULL, an account. The caller releases them. */
static inline json_t *make_metadata(const ics_metadata_origin *from,
                                    const icestream_account *account)
{
    json_t *metadata = NULL;
    icestream_error error = {.text = ""};
    ck_assert_msg(ics_metadata_create(from, &metadata, &error) == 0, "%s", error.text);
    if (account != NULL) {
        ck_assert_msg(ics_metadata_set_account(metadata, account, &error) == 0, "%s", error.text);
    }
    return metadata;
}

/* Writes a hit file. Returns the status of the first call that fails. */
static inline int write_hits(const char *path, const icestream_hit *hits, size_t count,
                             const json_t *metadata, bool force, icestream_error *error)
{
    ics_table_writer *writer = NULL;
    int status = ics_table_writer_create(path, ics_layout_hits(), force, &writer, error);
    if (!status) {
        status = ics_table_writer_append(writer, hits, count, error);
    }
    if (!status) {
        status = ics_table_writer_commit(writer, metadata, error);
    }
    ics_table_writer_destroy(writer);
    return status;
}

/* Writes a file of three hits over what is there. Fails the test on errors. */
static inline void write_three(const char *path)
{
    const icestream_hit hits[3] = {good_hit(0), good_hit(1), good_hit(7)};
    icestream_error error = {.text = ""};
    json_t *metadata = make_metadata(&origin, &closed);
    ck_assert_msg(write_hits(path, hits, 3, metadata, true, &error) == 0, "%s", error.text);
    json_decref(metadata);
}

/* Reads and checks all hits of a file. Returns the status. */
static inline int read_checked(const char *path, icestream_error *error)
{
    ics_hit_reader *reader = NULL;
    icestream_hit hits[2];
    size_t got = 1;
    *error = (icestream_error){.text = ""};
    int status = ics_hit_reader_open(path, true, &reader, error);
    while (!status && got > 0) {
        status = ics_hit_reader_read(reader, hits, 2, &got, error);
    }
    ics_hit_reader_destroy(reader);
    return status;
}

#endif
