/* Rows of the hit file that a collector writes early (early_rows.h). */
#include "base/error.h"
#include "pipeline/photons/collect/collector_state.h"
#include "pipeline/photons/files/format/npy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Hits that wait in the order of the hit file before rows are written (bytes). */
enum { EARLY_BYTES = 4 << 20 };

void ics_collector_allow_early_rows(ics_collector *collector)
{
    collector->rows.is_allowed = true;
}

void ics_collector_set_listener(ics_collector *collector, ics_rows_listener listener, void *user)
{
    collector->rows.listener = listener;
    collector->rows.user = user;
}

void ics_collector_visit_memory(const ics_collector *collector)
{
    const ics_early_rows *rows = &collector->rows;
    for (size_t i = 0; rows->listener != NULL && i < collector->in_memory.count; ++i) {
        const ics_hit_piece *piece = &collector->in_memory.items[i];
        rows->listener(rows->user, piece->photons, piece->hits, piece->count, ICS_NO_ROW);
    }
}

bool ics_collector_allows_rows(const ics_collector *collector)
{
    return collector->rows.is_allowed;
}

void ics_collector_name_rows(const ics_collector *collector, const char *path, bool *named)
{
    *named = false;
    if (collector->rows.is_allowed && collector->rows.count > 0) {
        ics_early_rows_name(collector->file, path, named);
    }
}

/* Whether all hits that come before those of the piece, if the steps ascend, are in the collector.
 */
static bool is_ready(const ics_collector *collector, const ics_hit_piece *piece)
{
    return piece->photons.end <= ics_early_rows_end(&collector->rows);
}

/* Returns the piece in memory whose hits are the next rows; NULL: none is ready. */
static ics_hit_piece *next_ready(const ics_collector *collector)
{
    ics_hit_piece *next = NULL;
    for (size_t i = 0; i < collector->in_memory.count; ++i) {
        ics_hit_piece *piece = &collector->in_memory.items[i];
        if (is_ready(collector, piece) &&
            (next == NULL || piece->photons.first < next->photons.first)) {
            next = piece;
        }
    }
    return next;
}

static bool are_many_ready(const ics_collector *collector)
{
    size_t bytes = 0;
    for (size_t i = 0; i < collector->in_memory.count; ++i) {
        const ics_hit_piece *piece = &collector->in_memory.items[i];
        bytes += is_ready(collector, piece) ? piece->count * sizeof *piece->hits : 0;
    }
    return bytes >= EARLY_BYTES;
}

/* Makes the piece of the temporary file that gets the rows. */
static int begin_rows(ics_collector *collector, icestream_error *error)
{
    ICS_TRY(ics_collector_open_file(collector, error));
    if (!collector->can_get_name) { /* rows without a name would have to be written again */
        collector->rows.is_allowed = false;
        return ICESTREAM_OK;
    }
    const ics_hit_piece rows = {.offset = ICS_NPY_OWN_HEADER};
    ICS_TRY(ics_hit_pieces_append(&collector->in_file, rows, error));
    collector->file_end = ICS_NPY_OWN_HEADER;
    return ICESTREAM_OK;
}

/* Moves the hits of a piece from memory to the file. */
static int write_rows(ics_collector *collector, ics_hit_piece *piece, icestream_error *error)
{
    const off_t end = collector->file_end;
    const int status = ics_collector_write(collector, piece->hits, piece->count, error);
    if (status != ICESTREAM_OK) {
        ics_collector_undo_writing(collector, end);
        return status;
    }
    ics_early_rows *rows = &collector->rows;
    ics_early_rows_count(rows, piece->hits, piece->count, collector->file, collector->file_end);
    if (rows->listener != NULL) {
        rows->listener(rows->user, piece->photons, piece->hits, piece->count,
                       rows->count - piece->count);
    }
    collector->in_file.items[0].count += piece->count;
    const size_t bytes = piece->count * sizeof *piece->hits;
    collector->bytes -= bytes;
    atomic_fetch_sub(&collector->budget->used, bytes);
    free(piece->hits);
    *piece = collector->in_memory.items[--collector->in_memory.count];
    return ICESTREAM_OK;
}

int ics_collector_write_ready(ics_collector *collector, icestream_error *error)
{
    ics_early_rows *rows = &collector->rows;
    if (!rows->is_allowed || (collector->in_file.count == 0 && !are_many_ready(collector))) {
        return ICESTREAM_OK;
    }
    if (collector->in_file.count == 0) {
        ICS_TRY(begin_rows(collector, error));
    }
    for (ics_hit_piece *piece; rows->is_allowed && (piece = next_ready(collector)) != NULL;) {
        if (!ics_early_rows_precede(rows, piece->hits)) {
            rows->is_allowed = false; /* the steps do not ascend */
            return ICESTREAM_OK;
        }
        ICS_TRY(write_rows(collector, piece, error));
    }
    return ICESTREAM_OK;
}

int ics_collector_take_rows(ics_collector *collector, ics_collected_rows *out, bool *taken,
                            icestream_error *error)
{
    ics_early_rows *rows = &collector->rows;
    *taken = false;
    if (!rows->is_allowed || rows->is_adopted || rows->count == 0 ||
        rows->count != collector->count) {
        return ICESTREAM_OK;
    }
    *out = (ics_collected_rows){.file = collector->file, .count = rows->count};
    ICS_TRY(ics_early_rows_copy_sums(rows, &out->sums, error));
    *taken = rows->is_adopted = true;
    return ICESTREAM_OK;
}
