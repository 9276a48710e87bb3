#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "pipeline/photons/collect/collector_state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SPILL_SHARE = 16 }; /* the smallest spill is the budget divided by this number */

int ics_collector_create(ics_hit_budget *budget, const char *directory, ics_collector **out,
                         icestream_error *error)
{
    ICS_FREES ics_collector *collector = calloc(1, sizeof *collector);
    ICS_FREES char *copy = strdup(directory != NULL ? directory : ics_disk_temporary_folder());
    if (collector == NULL || copy == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for collecting hits");
    }
    collector->budget = budget;
    collector->directory = ICS_HAND_OVER(copy);
    collector->file = -1;
    *out = ICS_HAND_OVER(collector);
    return ICESTREAM_OK;
}

static void drop_memory_pieces(ics_collector *collector)
{
    for (size_t i = 0; i < collector->in_memory.count; ++i) {
        free(collector->in_memory.items[i].hits);
    }
    collector->in_memory.count = 0;
    atomic_fetch_sub(&collector->budget->used, collector->bytes);
    collector->bytes = 0;
}

void ics_collector_destroy(ics_collector *collector)
{
    if (collector == NULL) {
        return;
    }
    drop_memory_pieces(collector);
    free(collector->in_memory.items);
    free(collector->in_file.items);
    if (collector->file >= 0) {
        close(collector->file);
    }
    ics_early_rows_free(&collector->rows);
    ics_hit_histograms_destroy(collector->histograms);
    free(collector->directory);
    free(collector);
}

int ics_collector_make_histograms(ics_collector *collector, const ics_histogram_config *configs,
                                  size_t count, icestream_error *error)
{
    return count > 0 ? ics_hit_histograms_create(configs, count, &collector->histograms, error)
                     : ICESTREAM_OK;
}

void ics_collector_add_photons(ics_collector *collector, const uint64_t *cells,
                               const uint64_t *large, const icestream_step *steps,
                               const ice_emission *emissions, size_t count)
{
    if (collector->histograms == NULL) {
        return;
    }
    ics_hit_histograms_add_photons(collector->histograms, cells, large);
    for (size_t i = 0; i < count; ++i) {
        if (emissions[i].first_photon == 0) {
            ics_hit_histograms_add_step(collector->histograms, steps[i].photons);
        }
    }
}

int ics_collector_put_histograms(const ics_collector *collector, json_t *metadata,
                                 icestream_error *error)
{
    if (collector->histograms == NULL) {
        return ICESTREAM_OK;
    }
    json_t *all = ics_hit_histograms_json(collector->histograms);
    return json_object_set_new(metadata, "histograms", all) == 0
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for metadata");
}

uint64_t ics_collector_count(const ics_collector *collector)
{
    return collector->count;
}

/* ---- spilling -------------------------------------------------------------------------------- */

/* Merges the pieces in memory into one piece of the temporary file. */
static int spill_pieces(ics_collector *collector, icestream_error *error)
{
    ICS_TRY(ics_collector_open_file(collector, error));
    const ics_hit_piece spilled = {.count = collector->bytes / sizeof(icestream_hit),
                                   .offset = collector->file_end};
    const ics_hit_pieces nothing = {NULL, 0, 0};
    ICS_TRY(ics_hit_pieces_append(&collector->in_file, spilled, error));
    ics_collector_visit_memory(collector);
    collector->rows.is_allowed = false; /* the file gets a second piece */
    const int status = ics_hit_pieces_merge(&collector->in_memory, &nothing, -1,
                                            ics_collector_write, collector, NULL, error);
    if (status == ICESTREAM_OK) {
        drop_memory_pieces(collector);
        return ICESTREAM_OK;
    }
    collector->in_file.count--; /* the hits are still in memory */
    ics_collector_undo_writing(collector, spilled.offset);
    return status;
}

/* Whether the hits in memory must go to the temporary file. Several collectors share the budget: a
 * collector with few hits does not spill them while another one fills the memory. */
static bool must_spill(const ics_collector *collector)
{
    ics_hit_budget *budget = collector->budget;
    return collector->bytes > 0 && atomic_load(&budget->used) > budget->limit &&
           collector->bytes >= budget->limit / SPILL_SHARE;
}

static int spill_if_needed(ics_collector *collector, icestream_error *error)
{
    ICS_TRY(ics_collector_write_ready(collector, error));
    return must_spill(collector) ? spill_pieces(collector, error) : ICESTREAM_OK;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static int keep_piece(ics_collector *collector, icestream_hit *hits, size_t count,
                      ics_photon_interval photons, icestream_error *error)
{
    const ics_hit_piece piece = {.hits = hits, .count = count, .photons = photons};
    const int status = ics_hit_pieces_append(&collector->in_memory, piece, error);
    if (status != ICESTREAM_OK) {
        free(hits);
        return status;
    }
    if (collector->histograms != NULL) {
        ics_hit_histograms_add(collector->histograms, hits, count);
    }
    collector->count += count;
    collector->bytes += count * sizeof *hits;
    atomic_fetch_add(&collector->budget->used, count * sizeof *hits);
    return ICESTREAM_OK;
}

int ics_collector_add_batch(ics_collector *collector, icestream_hit *hits, size_t count,
                            ics_photon_interval photons, icestream_error *error)
{
    if (count == 0) {
        free(hits);
    } else {
        ICS_TRY(keep_piece(collector, hits, count, photons, error));
    }
    ics_early_rows_return(&collector->rows, photons);
    return spill_if_needed(collector, error);
}

int ics_collector_add(ics_collector *collector, icestream_hit *hits, size_t count,
                      icestream_error *error)
{
    if (count == 0) { /* only what is in memory already is looked at */
        free(hits);
        return spill_if_needed(collector, error);
    }
    const ics_photon_interval unknown = {0, 0};
    return ics_collector_add_batch(collector, hits, count, unknown, error);
}

/* Appends the temporary file of another collector. */
static int copy_file(ics_collector *collector, const ics_collector *from, icestream_error *error)
{
    ICS_FREES icestream_hit *hits = malloc(ICS_HIT_PIECES_PORTION * sizeof *hits);
    if (hits == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for collecting hits");
    }
    ICS_TRY(ics_collector_open_file(collector, error));
    const off_t start = collector->file_end;
    int status = ICESTREAM_OK;
    for (off_t at = 0; status == ICESTREAM_OK && at < from->file_end;) {
        const size_t left = (size_t)(from->file_end - at) / sizeof *hits;
        const size_t count = left < ICS_HIT_PIECES_PORTION ? left : ICS_HIT_PIECES_PORTION;
        status = ics_hit_pieces_read(from->file, hits, count, at, error);
        status = status ? status : ics_collector_write(collector, hits, count, error);
        at += (off_t)(count * sizeof *hits);
    }
    if (status != ICESTREAM_OK) {
        ics_collector_undo_writing(collector, start);
    }
    return status;
}

static void move_pieces(ics_hit_pieces *to, ics_hit_pieces *from, off_t offset)
{
    for (size_t i = 0; i < from->count; ++i) {
        ics_hit_piece piece = from->items[i];
        piece.offset += offset;
        to->items[to->count++] = piece;
    }
    from->count = 0;
}

int ics_collector_take(ics_collector *collector, ics_collector *from, icestream_error *error)
{
    const off_t start = collector->file_end;
    ICS_TRY(ics_hit_pieces_reserve(&collector->in_memory, from->in_memory.count, error));
    ICS_TRY(ics_hit_pieces_reserve(&collector->in_file, from->in_file.count, error));
    if (from->file_end > 0) {
        ICS_TRY(copy_file(collector, from, error));
    }
    move_pieces(&collector->in_memory, &from->in_memory, 0);
    move_pieces(&collector->in_file, &from->in_file, start);
    if (collector->histograms != NULL) {
        ics_hit_histograms_merge(collector->histograms, from->histograms);
    }
    collector->count += from->count;
    collector->bytes += from->bytes;
    from->count = from->bytes = 0;
    from->file_end = 0; /* the content of the file is not used any more */
    return ICESTREAM_OK;
}

int ics_collector_merge(ics_collector *collector, ics_hits_receiver receive, void *user,
                        const atomic_bool *cancel, icestream_error *error)
{
    if (collector->rows.is_adopted) {
        ICS_TRY(ics_early_rows_verify(&collector->rows, collector->file, error));
    }
    return ics_hit_pieces_merge(&collector->in_memory, &collector->in_file, collector->file,
                                receive, user, cancel, error);
}
