#include "pipeline/collect/collector.h"

#include "base/error.h"
#include "pipeline/collect/early_rows.h"
#include "pipeline/collect/hit_pieces.h"
#include "pipeline/files/format/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SPILL_SHARE = 16,     /* the smallest spill is the budget divided by this number */
    EARLY_BYTES = 4 << 20 /* hits that wait in the order of the hit file before rows are written */
};

struct ics_collector {
    ics_hit_budget *budget;
    char *directory;
    ics_hit_pieces in_memory, in_file;
    size_t bytes;   /* of the hits in memory */
    uint64_t count; /* of all hits */
    int file;       /* the temporary file; -1: there is none yet */
    off_t file_end;
    bool can_get_name; /* the temporary file was made without one, and may get one */
    ics_early_rows rows;
    ics_hit_histograms *histograms; /* of all hits; NULL: none are made */
};

int ics_collector_create(ics_hit_budget *budget, const char *directory, ics_collector **out,
                         icestream_error *error)
{
    if (directory == NULL) {
        const char *temporary = getenv("TMPDIR");
        directory = temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp";
    }
    ics_collector *collector = calloc(1, sizeof *collector);
    char *copy = strdup(directory);
    if (collector == NULL || copy == NULL) {
        free(collector);
        free(copy);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for collecting hits");
    }
    collector->budget = budget;
    collector->directory = copy;
    collector->file = -1;
    *out = collector;
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
                               const icestream_step *steps, const ice_emission *emissions,
                               size_t count)
{
    if (collector->histograms == NULL) {
        return;
    }
    ics_hit_histograms_add_photons(collector->histograms, cells);
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

static int open_temporary(ics_collector *collector, icestream_error *error)
{
    int file = open(collector->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    collector->can_get_name = file >= 0;
    if (file < 0) { /* a file system without O_TMPFILE: the file has a name for a moment */
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/.hits-XXXXXX", collector->directory);
        if (length > 0 && (size_t)length < sizeof path) {
            file = mkostemp(path, O_CLOEXEC);
        } else {
            errno = ENAMETOOLONG;
        }
        if (file >= 0) {
            unlink(path);
        }
    }
    if (file < 0) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                   "%s: cannot make a temporary file for hits: %s",
                                   collector->directory, strerror(errno));
    }
    collector->file = file;
    return ICESTREAM_OK;
}

static int write_to_temporary(void *user, const icestream_hit *hits, size_t count,
                              icestream_error *error)
{
    ics_collector *collector = user;
    const char *bytes = (const char *)hits;
    size_t left = count * sizeof *hits;
    while (left > 0) {
        ssize_t put = pwrite(collector->file, bytes, left, collector->file_end);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                       "%s: cannot write the temporary file of hits: %s",
                                       collector->directory, strerror(errno));
        }
        bytes += put;
        left -= (size_t)put;
        collector->file_end += put;
    }
    return ICESTREAM_OK;
}

/* Cuts the temporary file to its length before a write that failed, because the part that was
 * written may be what fills the disk. */
static void undo_writing(ics_collector *collector, off_t end)
{
    int cause = errno;
    collector->file_end = end;
    (void)!ftruncate(collector->file, end); /* if this fails, the next hits overwrite the rest */
    errno = cause;
}

/* Merges the pieces in memory into one piece of the temporary file. */
static int spill_pieces(ics_collector *collector, icestream_error *error)
{
    int status = collector->file >= 0 ? ICESTREAM_OK : open_temporary(collector, error);
    ics_hit_piece spilled = {.count = collector->bytes / sizeof(icestream_hit),
                             .offset = collector->file_end};
    if (status == ICESTREAM_OK) {
        status = ics_hit_pieces_append(&collector->in_file, spilled, error);
    }
    if (status != ICESTREAM_OK) {
        return status;
    }
    collector->rows.is_allowed = false; /* the file gets a second piece */
    const ics_hit_pieces nothing = {NULL, 0, 0};
    status = ics_hit_pieces_merge(&collector->in_memory, &nothing, -1, write_to_temporary,
                                  collector, NULL, error);
    if (status == ICESTREAM_OK) {
        drop_memory_pieces(collector);
        return ICESTREAM_OK;
    }
    collector->in_file.count--; /* the hits are still in memory */
    undo_writing(collector, spilled.offset);
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

/* ---- rows that are written early ------------------------------------------------------------- */

void ics_collector_allow_early_rows(ics_collector *collector)
{
    collector->rows.is_allowed = true;
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
    if (collector->file < 0) {
        ICS_TRY(open_temporary(collector, error));
    }
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
    const int status = write_to_temporary(collector, piece->hits, piece->count, error);
    if (status != ICESTREAM_OK) {
        undo_writing(collector, end);
        return status;
    }
    ics_early_rows_count(&collector->rows, piece->hits, piece->count, collector->file,
                         collector->file_end);
    collector->in_file.items[0].count += piece->count;
    const size_t bytes = piece->count * sizeof *piece->hits;
    collector->bytes -= bytes;
    atomic_fetch_sub(&collector->budget->used, bytes);
    free(piece->hits);
    *piece = collector->in_memory.items[--collector->in_memory.count];
    return ICESTREAM_OK;
}

/* Writes the hits that are the next rows of the hit file. */
static int write_ready(ics_collector *collector, icestream_error *error)
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

/* ---- adding ---------------------------------------------------------------------------------- */

int ics_collector_add_batch(ics_collector *collector, icestream_hit *hits, size_t count,
                            ics_photon_interval photons, icestream_error *error)
{
    if (count == 0) {
        free(hits);
    } else {
        ics_hit_piece piece = {.hits = hits, .count = count, .photons = photons};
        int status = ics_hit_pieces_append(&collector->in_memory, piece, error);
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
    }
    ics_early_rows_return(&collector->rows, photons);
    ICS_TRY(write_ready(collector, error));
    return must_spill(collector) ? spill_pieces(collector, error) : ICESTREAM_OK;
}

int ics_collector_add(ics_collector *collector, icestream_hit *hits, size_t count,
                      icestream_error *error)
{
    if (count == 0) { /* only what is in memory already is looked at */
        free(hits);
        ICS_TRY(write_ready(collector, error));
        return must_spill(collector) ? spill_pieces(collector, error) : ICESTREAM_OK;
    }
    const ics_photon_interval unknown = {0, 0};
    return ics_collector_add_batch(collector, hits, count, unknown, error);
}

/* Appends the temporary file of another collector. */
static int copy_file(ics_collector *collector, const ics_collector *from, icestream_error *error)
{
    int status = collector->file >= 0 ? ICESTREAM_OK : open_temporary(collector, error);
    icestream_hit *hits = malloc(ICS_HIT_PIECES_PORTION * sizeof *hits);
    if (status == ICESTREAM_OK && hits == NULL) {
        status = ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for collecting hits");
    }
    off_t start = collector->file_end, at = 0;
    while (status == ICESTREAM_OK && at < from->file_end) {
        size_t left = (size_t)(from->file_end - at) / sizeof *hits;
        size_t count = left < ICS_HIT_PIECES_PORTION ? left : ICS_HIT_PIECES_PORTION;
        status = ics_hit_pieces_read(from->file, hits, count, at, error);
        if (status == ICESTREAM_OK) {
            status = write_to_temporary(collector, hits, count, error);
        }
        at += (off_t)(count * sizeof *hits);
    }
    if (status != ICESTREAM_OK && collector->file >= 0) {
        undo_writing(collector, start);
    }
    free(hits);
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
    off_t start = collector->file_end;
    int status = ics_hit_pieces_reserve(&collector->in_memory, from->in_memory.count, error);
    if (status == ICESTREAM_OK) {
        status = ics_hit_pieces_reserve(&collector->in_file, from->in_file.count, error);
    }
    if (status == ICESTREAM_OK && from->file_end > 0) {
        status = copy_file(collector, from, error);
    }
    if (status != ICESTREAM_OK) {
        return status;
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
