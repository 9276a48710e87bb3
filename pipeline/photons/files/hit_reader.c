#include "pipeline/photons/files/hit_reader.h"

#include "base/error.h"
#include "base/terminal.h"
#include "physics/model.h"
#include "pipeline/photons/files/format/table_reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Wavelengths of photons (nm, physics.md 14.4), with room for rounding. */
#define WAVELENGTH_LOW  249.99
#define WAVELENGTH_HIGH 700.01
/* No photon travels longer (ns): light covers 2e8 m in this time. */
#define TRAVEL_MOST 1e9

struct ics_hit_reader {
    ics_table_reader *table;
    bool check;
    bool begun;
    bool has_message; /* a file, or a stream of which a message has begun */
    bool is_single;   /* the hits are those of one step file, so that no photon is there twice */
    bool stops;       /* photons stop at their first hit */
    icestream_hit previous; /* the last row that was read */
    double first_t;         /* time of the first hit of its step */
};

static int open_table(const char *path, ics_table_reader **out, icestream_error *error)
{
    if (strcmp(path, "-") != 0) {
        return ics_table_reader_open(path, ics_layout_hits(), out, error);
    }
    ICS_TRY(ics_terminal_check_input(path, error));
    return ics_table_reader_open_stream(STDIN_FILENO, "standard input", ics_layout_hits(), -1, out,
                                        error);
}

int ics_hit_reader_open(const char *path, bool check, ics_hit_reader **out, icestream_error *error)
{
    ICS_DESTROYS(ics_hit_reader_destroy) ics_hit_reader *reader = calloc(1, sizeof *reader);
    icestream_account account;
    const bool is_file = strcmp(path, "-") != 0;
    *out = NULL;
    if (reader == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    ICS_TRY(open_table(path, &reader->table, error));
    const json_t *metadata = ics_table_reader_metadata(reader->table);
    reader->check = check;
    reader->has_message = is_file;
    /* Of a message it is not known whether its hits are those of one step file. */
    reader->is_single = metadata != NULL ? json_object_get(metadata, "inputs") == NULL : is_file;
    reader->stops = ics_metadata_account(metadata, &account) && account.detected > 0 &&
                    account.detected == account.hits;
    *out = ICS_HAND_OVER(reader);
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
        {"wavelength", hit->wavelength,
         hit->wavelength >= WAVELENGTH_LOW && hit->wavelength <= WAVELENGTH_HIGH, "250 to 700 nm"},
        {"weight", hit->weight, hit->weight >= 0 && isfinite(hit->weight), "a finite value >= 0"},
        {"pmt", hit->pmt, hit->pmt >= -1 && hit->pmt < ICE_PMTS_MAX,
         "-1 (a photon), or 0 to 1022 (the PMT of a photo-electron)"},
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

static bool is_same_photon(const icestream_hit *left, const icestream_hit *right)
{
    return left->event_id == right->event_id && left->step_id == right->step_id &&
           left->photon_id == right->photon_id;
}

/* Compares a row with the row before it: order, hits that are there twice, times of one step. */
static int check_next(ics_hit_reader *reader, const icestream_hit *hit, uint64_t row,
                      icestream_error *error)
{
    const char *name = ics_table_reader_name(reader->table);
    const icestream_hit *before = &reader->previous;
    const void *left = before, *right = hit; /* compares all bytes: rows have no gaps */
    if (ics_hit_compare(before, hit) > 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: row %" PRIu64 ": found a hit that belongs before the previous "
                             "one, expected order by event_id, step_id, photon_id, string, "
                             "module",
                             name, row);
    }
    if (reader->is_single && is_same_photon(before, hit) &&
        (reader->stops || memcmp(left, right, sizeof *hit) == 0)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: row %" PRIu64 ": found photon %" PRIu32 " of event %" PRIu64
                             ", step %" PRIu32 " again, expected %s",
                             name, row, hit->photon_id, hit->event_id, hit->step_id,
                             reader->stops ? "one hit of each photon, because photons stop at a hit"
                                           : "each hit once");
    }
    const bool same_step = before->event_id == hit->event_id && before->step_id == hit->step_id;
    reader->first_t = same_step ? reader->first_t : hit->t;
    if (reader->is_single && fabs(hit->t - reader->first_t) > TRAVEL_MOST) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: row %" PRIu64
                             ", field t: found %.9g, which is %.3g ns away from another hit of the "
                             "same step, expected at most %.0e ns",
                             name, row, hit->t, fabs(hit->t - reader->first_t), TRAVEL_MOST);
    }
    return ICESTREAM_OK;
}

static int check_hits(ics_hit_reader *reader, const icestream_hit *hits, size_t count,
                      uint64_t first, icestream_error *error)
{
    const char *name = ics_table_reader_name(reader->table);
    for (size_t i = 0; i < count; ++i) {
        ICS_TRY(check_hit(&hits[i], name, first + i, error));
        if (reader->begun) {
            ICS_TRY(check_next(reader, &hits[i], first + i, error));
        } else {
            reader->first_t = hits[i].t;
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
    bool found = true;
    ICS_TRY(ics_table_reader_read(reader->table, hits, capacity, got, error));
    while (*got == 0 && found) { /* the end of the file or of a message */
        ICS_TRY(ics_table_reader_next(reader->table, &found, error));
        first = 0;
        reader->begun = false;
        reader->has_message = reader->has_message || found;
        if (!reader->has_message) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: found the end of the input, expected a file or a message of "
                                 "hits (a run that makes no hits sends a message without rows, one "
                                 "that failed may send nothing)",
                                 ics_table_reader_name(reader->table));
        }
        if (found) {
            ICS_TRY(ics_table_reader_read(reader->table, hits, capacity, got, error));
        }
    }
    return reader->check ? check_hits(reader, hits, *got, first, error) : ICESTREAM_OK;
}

uint64_t ics_hit_reader_rows(const ics_hit_reader *reader)
{
    return ics_table_reader_rows(reader->table);
}

const json_t *ics_hit_reader_metadata(const ics_hit_reader *reader)
{
    return ics_table_reader_metadata(reader->table);
}
