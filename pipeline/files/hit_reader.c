#include "pipeline/files/hit_reader.h"

#include "base/error.h"
#include "pipeline/files/format/table_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ics_hit_reader {
    ics_table_reader *table;
    bool check;
    bool begun;
    icestream_hit previous; /* the last row delivered, once begun */
};

int ics_hit_reader_open(const char *path, bool check, ics_hit_reader **out, icestream_error *error)
{
    *out = NULL;
    ics_hit_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    reader->check = check;
    int status = ics_table_reader_open(path, ics_layout_hits(), &reader->table, error);
    if (status) {
        ics_hit_reader_destroy(reader);
        return status;
    }
    *out = reader;
    return ICESTREAM_OK;
}

void ics_hit_reader_destroy(ics_hit_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    ics_table_reader_destroy(reader->table);
    free(reader);
}

int ics_hit_compare(const void *a, const void *b)
{
    const icestream_hit *left = a, *right = b;
    if (left->event_id != right->event_id) {
        return left->event_id < right->event_id ? -1 : 1;
    }
    if (left->step_id != right->step_id) {
        return left->step_id < right->step_id ? -1 : 1;
    }
    if (left->photon_id != right->photon_id) {
        return left->photon_id < right->photon_id ? -1 : 1;
    }
    if (left->string != right->string) {
        return left->string < right->string ? -1 : 1;
    }
    return (left->module > right->module) - (left->module < right->module);
}

/* One line per field of a hit that has a range. NaN fails every comparison. */
static int check_hit(const icestream_hit *hit, const char *name, uint64_t row,
                     icestream_error *error)
{
    const struct {
        const char *field;
        double value;
        bool good;
        const char *expected;
    } checks[] = {
        {"t", hit->t, isfinite(hit->t), "a finite value"},
        {"x", hit->x, isfinite(hit->x), "a finite value"},
        {"y", hit->y, isfinite(hit->y), "a finite value"},
        {"z", hit->z, isfinite(hit->z), "a finite value"},
        {"dx", hit->dx, fabsf(hit->dx) <= 1.001f, "part of a unit vector"},
        {"dy", hit->dy, fabsf(hit->dy) <= 1.001f, "part of a unit vector"},
        {"dz", hit->dz, fabsf(hit->dz) <= 1.001f, "part of a unit vector"},
        {"wavelength", hit->wavelength, hit->wavelength > 0 && isfinite(hit->wavelength),
         "a finite value > 0"},
        {"weight", hit->weight, hit->weight >= 0 && isfinite(hit->weight), "a finite value >= 0"},
        {"pmt", hit->pmt, hit->pmt >= -1, "-1 or more"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i) {
        if (!checks[i].good) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: row %" PRIu64 ", field %s: found %.9g, expected %s", name,
                                 row, checks[i].field, checks[i].value, checks[i].expected);
        }
    }
    double norm =
        sqrt((double)hit->dx * hit->dx + (double)hit->dy * hit->dy + (double)hit->dz * hit->dz);
    if (!(fabs(norm - 1) <= 1e-3)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: row %" PRIu64 ", fields dx, dy, dz: found a vector of length "
                             "%.6g, expected 1 within 0.001",
                             name, row, norm);
    }
    return ICESTREAM_OK;
}

static int check_hits(ics_hit_reader *reader, const icestream_hit *hits, size_t count,
                      uint64_t first, icestream_error *error)
{
    const char *name = ics_table_reader_name(reader->table);
    for (size_t i = 0; i < count; ++i) {
        ICS_TRY(check_hit(&hits[i], name, first + i, error));
        if (reader->begun && ics_hit_compare(&reader->previous, &hits[i]) > 0) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: row %" PRIu64
                                 ": found a hit that belongs before the previous "
                                 "one, expected order by event_id, step_id, photon_id, string, "
                                 "module",
                                 name, first + i);
        }
        reader->begun = true;
        reader->previous = hits[i];
    }
    return ICESTREAM_OK;
}

int ics_hit_reader_read(ics_hit_reader *reader, icestream_hit *hits, size_t capacity, size_t *got,
                        icestream_error *error)
{
    uint64_t first = ics_table_reader_position(reader->table);
    int status = ics_table_reader_read(reader->table, hits, capacity, got, error);
    if (status || !reader->check) {
        return status;
    }
    return check_hits(reader, hits, *got, first, error);
}

uint64_t ics_hit_reader_rows(const ics_hit_reader *reader)
{
    return ics_table_reader_rows(reader->table);
}

const json_t *ics_hit_reader_metadata(const ics_hit_reader *reader)
{
    return ics_table_reader_metadata(reader->table);
}

/* Reads all rows, for the sake of their checksums. */
static int read_through(ics_hit_reader *reader, icestream_error *error)
{
    enum { PIECE = 16384 };
    icestream_hit *piece = malloc(PIECE * sizeof *piece);
    if (piece == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for reading hits");
    }
    int status = ICESTREAM_OK;
    for (size_t got = 1; got > 0 && !status;) {
        status = ics_hit_reader_read(reader, piece, PIECE, &got, error);
    }
    free(piece);
    return status;
}

int ics_hit_file_matches(const char *path, const json_t *expected, bool thorough, bool *matches,
                         icestream_error *error)
{
    ics_hit_reader *reader = NULL;
    icestream_account account;
    icestream_error reason = {.status = ICESTREAM_OK};
    *matches = false;
    int status = ics_hit_reader_open(path, false, &reader, &reason);
    if (reader != NULL) {
        const json_t *metadata = ics_hit_reader_metadata(reader);
        *matches = ics_metadata_same_origin(metadata, expected) &&
                   ics_metadata_account(metadata, &account) &&
                   ics_metadata_account_closes(&account);
        if (*matches && thorough) {
            status = read_through(reader, &reason);
            *matches = status == ICESTREAM_OK;
        }
    }
    ics_hit_reader_destroy(reader);
    /* A file that cannot be read simply does not match, unless that may pass. */
    bool ours = status == ICESTREAM_E_MEMORY || status == ICESTREAM_E_FAILED;
    return ours || ics_error_may_pass(&reason) ? ics_error_copy(error, &reason) : ICESTREAM_OK;
}
