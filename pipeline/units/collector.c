#include "pipeline/units/collector.h"

#include "base/error.h"
#include "pipeline/units/hit_pieces.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The smallest spill is the budget divided by this number. */
enum { SPILL_SHARE = 16 };

struct ics_collector {
    ics_hit_budget *budget;
    char *directory;
    ics_hit_pieces in_memory, in_file;
    size_t bytes;   /* of the hits in memory */
    uint64_t count; /* of all hits */
    int file;       /* the temporary file; -1: there is none yet */
    off_t file_end;
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
    free(collector->directory);
    free(collector);
}

uint64_t ics_collector_count(const ics_collector *collector)
{
    return collector->count;
}

/* ---- spilling -------------------------------------------------------------------------------- */

static int open_temporary(ics_collector *collector, icestream_error *error)
{
    int file = open(collector->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
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

int ics_collector_add(ics_collector *collector, icestream_hit *hits, size_t count,
                      icestream_error *error)
{
    if (count == 0) {
        free(hits);
    } else {
        ics_hit_piece piece = {.hits = hits, .count = count};
        int status = ics_hit_pieces_append(&collector->in_memory, piece, error);
        if (status != ICESTREAM_OK) {
            free(hits);
            return status;
        }
        collector->count += count;
        collector->bytes += count * sizeof *hits;
        atomic_fetch_add(&collector->budget->used, count * sizeof *hits);
    }
    return must_spill(collector) ? spill_pieces(collector, error) : ICESTREAM_OK;
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
    collector->count += from->count;
    collector->bytes += from->bytes;
    from->count = from->bytes = 0;
    from->file_end = 0; /* the content of the file is not used any more */
    return ICESTREAM_OK;
}

int ics_collector_merge(ics_collector *collector, ics_hits_receiver receive, void *user,
                        const atomic_bool *cancel, icestream_error *error)
{
    return ics_hit_pieces_merge(&collector->in_memory, &collector->in_file, collector->file,
                                receive, user, cancel, error);
}
