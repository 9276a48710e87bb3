#include "pipeline/units/collector.h"

#include "base/error.h"
#include "pipeline/devices/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OUTPUT_HITS = 4096,        /* handed on at a time: 256 KiB */
    READ_HITS_TOTAL = 1 << 18, /* read ahead for all runs together: 16 MiB */
    READ_HITS_MIN = 64,        /* per run: one page */
    READ_HITS_MAX = 4096,
    SPILL_SHARE = 16, /* smallest spill: this fraction of the budget */
};

/* One sorted run: in memory, or `count` hits of the temporary file from `offset` on. */
typedef struct hit_run {
    icestream_hit *hits;
    size_t count;
    off_t offset;
} hit_run;

typedef struct run_list {
    hit_run *items;
    size_t count, capacity;
} run_list;

struct ics_collector {
    ics_hit_budget *budget;
    char *directory;
    run_list in_memory, in_file;
    size_t bytes; /* in memory */
    uint64_t count;
    int file; /* -1: none yet */
    off_t file_end;
};

/* Makes room for so many runs more. */
static int reserve_runs(run_list *list, size_t more, icestream_error *error)
{
    size_t capacity = list->capacity == 0 ? 16 : list->capacity;
    while (capacity < list->count + more) {
        capacity *= 2;
    }
    if (capacity == list->capacity) {
        return ICESTREAM_OK;
    }
    hit_run *items = realloc(list->items, capacity * sizeof *items);
    if (items == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu runs of hits",
                             capacity);
    }
    list->items = items;
    list->capacity = capacity;
    return ICESTREAM_OK;
}

static int append_run(run_list *list, hit_run run, icestream_error *error)
{
    int status = reserve_runs(list, 1, error);
    if (status == ICESTREAM_OK) {
        list->items[list->count++] = run;
    }
    return status;
}

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

static void drop_memory_runs(ics_collector *collector)
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
    drop_memory_runs(collector);
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

/* ---- merging --------------------------------------------------------------------------------- */

/* Where the merge stands in one run. */
typedef struct run_cursor {
    const icestream_hit *next, *end; /* what is at hand */
    icestream_hit *buffer;           /* of a run in the file, else NULL */
    size_t left;                     /* hits of the run that are still in the file */
    off_t offset;                    /* where they are */
} run_cursor;

typedef struct merge {
    run_cursor *heap; /* [count], a binary heap: no cursor's next hit is before its parent's */
    size_t count;
    icestream_hit *read_memory; /* what all buffers are cut from */
    size_t read_hits;           /* hits per buffer */
    int file;
    icestream_hit output[OUTPUT_HITS];
} merge;

static int read_hits(int file, icestream_hit *hits, size_t count, off_t offset,
                     icestream_error *error)
{
    char *bytes = (char *)hits;
    size_t left = count * sizeof *hits;
    while (left > 0) {
        ssize_t got = pread(file, bytes, left, offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, got < 0 ? errno : 0,
                                       "cannot read back the temporary file of hits: %s",
                                       got < 0 ? strerror(errno) : "it has become shorter");
        }
        bytes += got;
        left -= (size_t)got;
        offset += got;
    }
    return ICESTREAM_OK;
}

/* Makes the next hits of a cursor available; afterwards next == end means that the run is over. */
static int refill_cursor(const merge *merging, run_cursor *cursor, icestream_error *error)
{
    if (cursor->next != cursor->end || cursor->left == 0) {
        return ICESTREAM_OK;
    }
    size_t count = cursor->left < merging->read_hits ? cursor->left : merging->read_hits;
    int status = read_hits(merging->file, cursor->buffer, count, cursor->offset, error);
    cursor->next = cursor->buffer;
    cursor->end = cursor->buffer + count;
    cursor->left -= count;
    cursor->offset += (off_t)(count * sizeof(icestream_hit));
    return status;
}

static void sift_down(merge *merging, size_t at)
{
    run_cursor *heap = merging->heap;
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < merging->count; ++child) {
            if (ics_hit_sort_order(heap[child].next, heap[least].next) < 0) {
                least = child;
            }
        }
        if (least == at) {
            return;
        }
        run_cursor moved = heap[at];
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

/* Hits that are read ahead for each of `runs` runs in the file. */
static size_t choose_read_hits(size_t runs)
{
    size_t per_run = runs > 0 ? READ_HITS_TOTAL / runs : READ_HITS_MIN;
    if (per_run < READ_HITS_MIN) {
        return READ_HITS_MIN;
    }
    return per_run < READ_HITS_MAX ? per_run : READ_HITS_MAX;
}

static void end_merge(merge *merging)
{
    if (merging != NULL) {
        free(merging->heap);
        free(merging->read_memory);
        free(merging);
    }
}

/* NULL: out of memory. */
static merge *begin_merge(size_t memory_runs, size_t file_runs, int file)
{
    merge *merging = calloc(1, sizeof *merging);
    if (merging != NULL) {
        merging->file = file;
        merging->heap = calloc(memory_runs + file_runs + 1, sizeof *merging->heap);
        merging->read_hits = choose_read_hits(file_runs);
        merging->read_memory = calloc(file_runs + 1, merging->read_hits * sizeof(icestream_hit));
        if (merging->heap == NULL || merging->read_memory == NULL) {
            end_merge(merging);
            merging = NULL;
        }
    }
    return merging;
}

/* Puts a cursor at the start of every run, the least first. */
static int fill_heap(merge *merging, const run_list *in_memory, const run_list *in_file,
                     icestream_error *error)
{
    for (size_t i = 0; i < in_memory->count; ++i) {
        const hit_run *run = &in_memory->items[i];
        merging->heap[merging->count++] =
            (run_cursor){.next = run->hits, .end = run->hits + run->count};
    }
    for (size_t i = 0; i < in_file->count; ++i) {
        const hit_run *run = &in_file->items[i];
        run_cursor cursor = {.buffer = merging->read_memory + i * merging->read_hits,
                             .left = run->count,
                             .offset = run->offset};
        int status = refill_cursor(merging, &cursor, error);
        if (status != ICESTREAM_OK) {
            return status;
        }
        merging->heap[merging->count++] = cursor;
    }
    for (size_t i = merging->count / 2; i-- > 0;) {
        sift_down(merging, i);
    }
    return ICESTREAM_OK;
}

static int empty_heap(merge *merging, ics_hits_receiver receive, void *user,
                      const atomic_bool *cancel, icestream_error *error)
{
    while (merging->count > 0) {
        if (cancel != NULL && atomic_load(cancel)) {
            return ics_error_set(error, ICESTREAM_E_INTERRUPTED, "interrupted while merging hits");
        }
        size_t filled = 0;
        while (filled < OUTPUT_HITS && merging->count > 0) {
            run_cursor *first = &merging->heap[0];
            merging->output[filled++] = *first->next++;
            int status = refill_cursor(merging, first, error);
            if (status != ICESTREAM_OK) {
                return status;
            }
            if (first->next == first->end) {
                *first = merging->heap[--merging->count];
            }
            sift_down(merging, 0);
        }
        int status = receive(user, merging->output, filled, error);
        if (status != ICESTREAM_OK) {
            return status;
        }
    }
    return ICESTREAM_OK;
}

static int merge_runs(const run_list *in_memory, const run_list *in_file, int file,
                      ics_hits_receiver receive, void *user, const atomic_bool *cancel,
                      icestream_error *error)
{
    merge *merging = begin_merge(in_memory->count, in_file->count, file);
    if (merging == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY,
                             "out of memory for merging %zu runs of hits",
                             in_memory->count + in_file->count);
    }
    int status = fill_heap(merging, in_memory, in_file, error);
    if (status == ICESTREAM_OK) {
        status = empty_heap(merging, receive, user, cancel, error);
    }
    end_merge(merging);
    return status;
}

/* ---- spilling -------------------------------------------------------------------------------- */

static int open_temporary(ics_collector *collector, icestream_error *error)
{
    int file = open(collector->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) { /* file systems without O_TMPFILE: the name exists for a moment */
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

/* As if it had not been tried. What was written may be what fills the disk. */
static void undo_writing(ics_collector *collector, off_t end)
{
    int cause = errno;
    collector->file_end = end;
    (void)!ftruncate(collector->file, end); /* else the next ones write over it */
    errno = cause;
}

/* Merges the runs in memory into one run of the temporary file. */
static int spill_runs(ics_collector *collector, icestream_error *error)
{
    int status = collector->file >= 0 ? ICESTREAM_OK : open_temporary(collector, error);
    hit_run spilled = {.count = collector->bytes / sizeof(icestream_hit),
                       .offset = collector->file_end};
    if (status == ICESTREAM_OK) {
        status = append_run(&collector->in_file, spilled, error);
    }
    if (status != ICESTREAM_OK) {
        return status;
    }
    const run_list nothing = {NULL, 0, 0};
    status =
        merge_runs(&collector->in_memory, &nothing, -1, write_to_temporary, collector, NULL, error);
    if (status == ICESTREAM_OK) {
        drop_memory_runs(collector);
        return ICESTREAM_OK;
    }
    collector->in_file.count--; /* the hits are still in memory */
    undo_writing(collector, spilled.offset);
    return status;
}

/* Several files may share the budget; the share keeps one that has just begun from spilling crumbs
 * while another one fills the memory. */
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
        hit_run run = {.hits = hits, .count = count};
        int status = append_run(&collector->in_memory, run, error);
        if (status != ICESTREAM_OK) {
            free(hits);
            return status;
        }
        collector->count += count;
        collector->bytes += count * sizeof *hits;
        atomic_fetch_add(&collector->budget->used, count * sizeof *hits);
    }
    return must_spill(collector) ? spill_runs(collector, error) : ICESTREAM_OK;
}

/* Appends what another one has in its temporary file. */
static int copy_file(ics_collector *collector, const ics_collector *from, icestream_error *error)
{
    int status = collector->file >= 0 ? ICESTREAM_OK : open_temporary(collector, error);
    icestream_hit *hits = malloc(OUTPUT_HITS * sizeof *hits);
    if (status == ICESTREAM_OK && hits == NULL) {
        status = ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for collecting hits");
    }
    off_t start = collector->file_end, at = 0;
    while (status == ICESTREAM_OK && at < from->file_end) {
        size_t left = (size_t)(from->file_end - at) / sizeof *hits;
        size_t count = left < OUTPUT_HITS ? left : OUTPUT_HITS;
        status = read_hits(from->file, hits, count, at, error);
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

static void move_runs(run_list *to, run_list *from, off_t offset)
{
    for (size_t i = 0; i < from->count; ++i) {
        hit_run run = from->items[i];
        run.offset += offset;
        to->items[to->count++] = run;
    }
    from->count = 0;
}

int ics_collector_take(ics_collector *collector, ics_collector *from, icestream_error *error)
{
    off_t start = collector->file_end;
    int status = reserve_runs(&collector->in_memory, from->in_memory.count, error);
    if (status == ICESTREAM_OK) {
        status = reserve_runs(&collector->in_file, from->in_file.count, error);
    }
    if (status == ICESTREAM_OK && from->file_end > 0) {
        status = copy_file(collector, from, error);
    }
    if (status != ICESTREAM_OK) {
        return status;
    }
    move_runs(&collector->in_memory, &from->in_memory, 0);
    move_runs(&collector->in_file, &from->in_file, start);
    collector->count += from->count;
    collector->bytes += from->bytes;
    from->count = from->bytes = 0;
    from->file_end = 0; /* what is in the file belongs to nobody */
    return ICESTREAM_OK;
}

int ics_collector_merge(ics_collector *collector, ics_hits_receiver receive, void *user,
                        const atomic_bool *cancel, icestream_error *error)
{
    return merge_runs(&collector->in_memory, &collector->in_file, collector->file, receive, user,
                      cancel, error);
}
