#include "pipeline/photons/collect/early_rows.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "pipeline/photons/collect/hit_pieces.h"
#include "pipeline/photons/devices/batch.h"
#include "pipeline/photons/files/format/npy.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PUSH_BYTES = 8 << 20 }; /* written between two requests to begin writing to the disk */

void ics_early_rows_free(ics_early_rows *rows)
{
    ics_photon_intervals_clear(&rows->returned);
    ics_trailer_checksums_free(&rows->sums);
    *rows = (ics_early_rows){0};
}

void ics_early_rows_return(ics_early_rows *rows, ics_photon_interval photons)
{
    icestream_error ignored = {.status = ICESTREAM_OK};
    if (rows->is_allowed &&
        ics_photon_intervals_add(&rows->returned, photons, &ignored) != ICESTREAM_OK) {
        rows->is_allowed = false;
    }
}

uint64_t ics_early_rows_end(const ics_early_rows *rows)
{
    const ics_photon_intervals *returned = &rows->returned;
    return returned->count > 0 && returned->items[0].first == 0 ? returned->items[0].end : 0;
}

bool ics_early_rows_precede(const ics_early_rows *rows, const icestream_hit *first)
{
    return rows->count == 0 || ics_hit_sort_order(&rows->last, first) <= 0;
}

void ics_early_rows_count(ics_early_rows *rows, const icestream_hit *hits, size_t count, int file,
                          off_t file_end)
{
    icestream_error ignored = {.status = ICESTREAM_OK};
    if (ics_trailer_checksums_add(&rows->sums, hits, count * sizeof *hits, &ignored) !=
        ICESTREAM_OK) {
        rows->is_allowed = false;
    }
    rows->count += count;
    rows->last = hits[count - 1];
    if (file_end - rows->pushed >= PUSH_BYTES) { /* only a hint: errors do not matter */
        (void)sync_file_range(file, rows->pushed, file_end - rows->pushed, SYNC_FILE_RANGE_WRITE);
        rows->pushed = file_end;
    }
}

/* It begins with zeros, or as a hit file that it has become. */
bool ics_early_rows_is_file(const char *path)
{
    static const char zeros[6], numpy[6] = "\x93NUMPY";
    char found[6];
    struct stat about;
    ICS_CLOSES_DESCRIPTOR int file =
        TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    return file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
           ics_disk_read_at(file, found, sizeof found, 0) == sizeof found &&
           (memcmp(found, zeros, sizeof found) == 0 || memcmp(found, numpy, sizeof found) == 0);
}

void ics_early_rows_name(int file, const char *path, bool *named)
{
    char opened[32];
    snprintf(opened, sizeof opened, "/proc/self/fd/%d", file);
    if (ics_early_rows_is_file(path)) {
        (void)!unlink(path); /* else linkat() finds it */
    }
    *named = linkat(AT_FDCWD, opened, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
    if (*named) { /* a file system without permissions may refuse */
        (void)!fchmod(file, ics_disk_file_mode());
    }
}

int ics_early_rows_copy_sums(const ics_early_rows *rows, ics_trailer_checksums *out,
                             icestream_error *error)
{
    const ics_trailer_checksums *sums = &rows->sums;
    *out = *sums;
    out->capacity = sums->count > 0 ? sums->count : 1;
    out->values = calloc(out->capacity, sizeof *out->values);
    if (out->values == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu checksums",
                             sums->count);
    }
    if (sums->count > 0) {
        memcpy(out->values, sums->values, sums->count * sizeof *sums->values);
    }
    return ICESTREAM_OK;
}

static int add_up(const ics_early_rows *rows, int file, ics_trailer_checksums *sums,
                  icestream_error *error)
{
    ICS_FREES icestream_hit *hits = malloc(ICS_HIT_PIECES_PORTION * sizeof *hits);
    if (hits == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for reading hits");
    }
    for (uint64_t at = 0; at < rows->count;) {
        const uint64_t left = rows->count - at;
        const size_t count = left < ICS_HIT_PIECES_PORTION ? left : ICS_HIT_PIECES_PORTION;
        ICS_TRY(ics_hit_pieces_read(file, hits, count,
                                    (off_t)(ICS_NPY_OWN_HEADER + at * sizeof *hits), error));
        ICS_TRY(ics_trailer_checksums_add(sums, hits, count * sizeof *hits, error));
        at += count;
    }
    return ICESTREAM_OK;
}

int ics_early_rows_verify(const ics_early_rows *rows, int file, icestream_error *error)
{
    ics_trailer_checksums found = {0};
    const int status = add_up(rows, file, &found, error);
    const bool same = ics_trailer_checksums_same(&found, &rows->sums);
    ics_trailer_checksums_free(&found);
    return status != ICESTREAM_OK || same
               ? status
               : ics_error_set(error, ICESTREAM_E_OUTPUT,
                               "the temporary file of %" PRIu64
                               " hits: found other checksums than when it was written, expected "
                               "the same: the disk has lost or changed bytes",
                               rows->count);
}
