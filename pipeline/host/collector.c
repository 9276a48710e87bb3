#include "pipeline/host/collector.h"

#include "pipeline/error.h"
#include "pipeline/host/batch.h"

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
    is_hit *hits;
    size_t count;
    off_t offset;
} hit_run;

typedef struct run_list {
    hit_run *items;
    size_t count, capacity;
} run_list;

struct is_collector {
    is_hit_budget *budget;
    char *directory;
    run_list in_memory, in_file;
    size_t bytes; /* in memory */
    uint64_t count;
    int file; /* -1: none yet */
    off_t file_end;
};

/* Makes room for so many runs more. */
static int reserve_runs(run_list *list, size_t more, is_error *error)
{
    size_t capacity = list->capacity == 0 ? 16 : list->capacity;
    while (capacity < list->count + more) {
        capacity *= 2;
    }
    if (capacity == list->capacity) {
        return IS_OK;
    }
    hit_run *items = realloc(list->items, capacity * sizeof *items);
    if (items == NULL) {
        return is_error_set(error, IS_E_MEMORY, "out of memory for %zu runs of hits", capacity);
    }
    list->items = items;
    list->capacity = capacity;
    return IS_OK;
}

static int append_run(run_list *list, hit_run run, is_error *error)
{
    int status = reserve_runs(list, 1, error);
    if (status == IS_OK) {
        list->items[list->count++] = run;
    }
    return status;
}

int is_collector_create(is_hit_budget *budget, const char *directory, is_collector **out,
                        is_error *error)
{
    if (directory == NULL) {
        const char *temporary = getenv("TMPDIR");
        directory = temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp";
    }
    is_collector *collector = calloc(1, sizeof *collector);
    char *copy = strdup(directory);
    if (collector == NULL || copy == NULL) {
        free(collector);
        free(copy);
        return is_error_set(error, IS_E_MEMORY, "out of memory for collecting hits");
    }
    collector->budget = budget;
    collector->directory = copy;
    collector->file = -1;
    *out = collector;
    return IS_OK;
}

static void drop_memory_runs(is_collector *collector)
{
    for (size_t i = 0; i < collector->in_memory.count; ++i) {
        free(collector->in_memory.items[i].hits);
    }
    collector->in_memory.count = 0;
    atomic_fetch_sub(&collector->budget->used, collector->bytes);
    collector->bytes = 0;
}

void is_collector_destroy(is_collector *collector)
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

uint64_t is_collector_count(const is_collector *collector)
{
    return collector->count;
}

/* ---- merging --------------------------------------------------------------------------------- */

/* Where the merge stands in one run. */
typedef struct run_cursor {
    const is_hit *next, *end; /* what is at hand */
    is_hit *buffer;           /* of a run in the file, else NULL */
    size_t left;              /* hits of the run that are still in the file */
    off_t offset;             /* where they are */
} run_cursor;

typedef struct merge {
    run_cursor *heap; /* [count], a binary heap: no cursor's next hit is before its parent's */
    size_t count;
    is_hit *read_memory; /* what all buffers are cut from */
    size_t read_hits;    /* hits per buffer */
    int file;
    is_hit output[OUTPUT_HITS];
} merge;

static int read_hits(int file, is_hit *hits, size_t count, off_t offset, is_error *error)
{
    char *bytes = (char *)hits;
    size_t left = count * sizeof *hits;
    while (left > 0) {
        ssize_t got = pread(file, bytes, left, offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return is_error_set_cause(error, IS_E_OUTPUT, got < 0 ? errno : 0,
                                      "cannot read back the temporary file of hits: %s",
                                      got < 0 ? strerror(errno) : "it has become shorter");
        }
        bytes += got;
        left -= (size_t)got;
        offset += got;
    }
    return IS_OK;
}

/* Makes the next hits of a cursor available; afterwards next == end means that the run is over. */
static int refill_cursor(const merge *merging, run_cursor *cursor, is_error *error)
{
    if (cursor->next != cursor->end || cursor->left == 0) {
        return IS_OK;
    }
    size_t count = cursor->left < merging->read_hits ? cursor->left : merging->read_hits;
    int status = read_hits(merging->file, cursor->buffer, count, cursor->offset, error);
    cursor->next = cursor->buffer;
    cursor->end = cursor->buffer + count;
    cursor->left -= count;
    cursor->offset += (off_t)(count * sizeof(is_hit));
    return status;
}

static void sift_down(merge *merging, size_t at)
{
    run_cursor *heap = merging->heap;
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < merging->count; ++child) {
            if (is_hit_order(heap[child].next, heap[least].next) < 0) {
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
        merging->read_memory = calloc(file_runs + 1, merging->read_hits * sizeof(is_hit));
        if (merging->heap == NULL || merging->read_memory == NULL) {
            end_merge(merging);
            merging = NULL;
        }
    }
    return merging;
}

/* Puts a cursor at the start of every run, the least first. */
static int fill_heap(merge *merging, const run_list *in_memory, const run_list *in_file,
                     is_error *error)
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
        if (status != IS_OK) {
            return status;
        }
        merging->heap[merging->count++] = cursor;
    }
    for (size_t i = merging->count / 2; i-- > 0;) {
        sift_down(merging, i);
    }
    return IS_OK;
}

static int empty_heap(merge *merging, is_hits_receiver receive, void *user,
                      const atomic_bool *cancel, is_error *error)
{
    while (merging->count > 0) {
        if (cancel != NULL && atomic_load(cancel)) {
            return is_error_set(error, IS_E_INTERRUPTED, "interrupted while merging hits");
        }
        size_t filled = 0;
        while (filled < OUTPUT_HITS && merging->count > 0) {
            run_cursor *first = &merging->heap[0];
            merging->output[filled++] = *first->next++;
            int status = refill_cursor(merging, first, error);
            if (status != IS_OK) {
                return status;
            }
            if (first->next == first->end) {
                *first = merging->heap[--merging->count];
            }
            sift_down(merging, 0);
        }
        int status = receive(user, merging->output, filled, error);
        if (status != IS_OK) {
            return status;
        }
    }
    return IS_OK;
}

static int merge_runs(const run_list *in_memory, const run_list *in_file, int file,
                      is_hits_receiver receive, void *user, const atomic_bool *cancel,
                      is_error *error)
{
    merge *merging = begin_merge(in_memory->count, in_file->count, file);
    if (merging == NULL) {
        return is_error_set(error, IS_E_MEMORY, "out of memory for merging %zu runs of hits",
                            in_memory->count + in_file->count);
    }
    int status = fill_heap(merging, in_memory, in_file, error);
    if (status == IS_OK) {
        status = empty_heap(merging, receive, user, cancel, error);
    }
    end_merge(merging);
    return status;
}

/* ---- spilling -------------------------------------------------------------------------------- */

static int open_temporary(is_collector *collector, is_error *error)
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
        return is_error_set_cause(error, IS_E_OUTPUT, errno,
                                  "%s: cannot make a temporary file for hits: %s",
                                  collector->directory, strerror(errno));
    }
    collector->file = file;
    return IS_OK;
}

static int write_to_temporary(void *user, const is_hit *hits, size_t count, is_error *error)
{
    is_collector *collector = user;
    const char *bytes = (const char *)hits;
    size_t left = count * sizeof *hits;
    while (left > 0) {
        ssize_t put = pwrite(collector->file, bytes, left, collector->file_end);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return is_error_set_cause(error, IS_E_OUTPUT, errno,
                                      "%s: cannot write the temporary file of hits: %s",
                                      collector->directory, strerror(errno));
        }
        bytes += put;
        left -= (size_t)put;
        collector->file_end += put;
    }
    return IS_OK;
}

/* As if it had not been tried. What was written may be what fills the disk. */
static void undo_writing(is_collector *collector, off_t end)
{
    int cause = errno;
    collector->file_end = end;
    (void)!ftruncate(collector->file, end); /* else the next ones write over it */
    errno = cause;
}

/* Merges the runs in memory into one run of the temporary file. */
static int spill_runs(is_collector *collector, is_error *error)
{
    int status = collector->file >= 0 ? IS_OK : open_temporary(collector, error);
    hit_run spilled = {.count = collector->bytes / sizeof(is_hit), .offset = collector->file_end};
    if (status == IS_OK) {
        status = append_run(&collector->in_file, spilled, error);
    }
    if (status != IS_OK) {
        return status;
    }
    const run_list nothing = {NULL, 0, 0};
    status =
        merge_runs(&collector->in_memory, &nothing, -1, write_to_temporary, collector, NULL, error);
    if (status == IS_OK) {
        drop_memory_runs(collector);
        return IS_OK;
    }
    collector->in_file.count--; /* the hits are still in memory */
    undo_writing(collector, spilled.offset);
    return status;
}

/* Several files may share the budget; the share keeps one that has just begun from spilling crumbs
 * while another one fills the memory. */
static bool must_spill(const is_collector *collector)
{
    is_hit_budget *budget = collector->budget;
    return collector->bytes > 0 && atomic_load(&budget->used) > budget->limit &&
           collector->bytes >= budget->limit / SPILL_SHARE;
}

int is_collector_add(is_collector *collector, is_hit *hits, size_t count, is_error *error)
{
    if (count == 0) {
        free(hits);
    } else {
        hit_run run = {.hits = hits, .count = count};
        int status = append_run(&collector->in_memory, run, error);
        if (status != IS_OK) {
            free(hits);
            return status;
        }
        collector->count += count;
        collector->bytes += count * sizeof *hits;
        atomic_fetch_add(&collector->budget->used, count * sizeof *hits);
    }
    return must_spill(collector) ? spill_runs(collector, error) : IS_OK;
}

/* Appends what another one has in its temporary file. */
static int copy_file(is_collector *collector, const is_collector *from, is_error *error)
{
    int status = collector->file >= 0 ? IS_OK : open_temporary(collector, error);
    is_hit *hits = malloc(OUTPUT_HITS * sizeof *hits);
    if (status == IS_OK && hits == NULL) {
        status = is_error_set(error, IS_E_MEMORY, "out of memory for collecting hits");
    }
    off_t start = collector->file_end, at = 0;
    while (status == IS_OK && at < from->file_end) {
        size_t left = (size_t)(from->file_end - at) / sizeof *hits;
        size_t count = left < OUTPUT_HITS ? left : OUTPUT_HITS;
        status = read_hits(from->file, hits, count, at, error);
        if (status == IS_OK) {
            status = write_to_temporary(collector, hits, count, error);
        }
        at += (off_t)(count * sizeof *hits);
    }
    if (status != IS_OK && collector->file >= 0) {
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

int is_collector_take(is_collector *collector, is_collector *from, is_error *error)
{
    off_t start = collector->file_end;
    int status = reserve_runs(&collector->in_memory, from->in_memory.count, error);
    if (status == IS_OK) {
        status = reserve_runs(&collector->in_file, from->in_file.count, error);
    }
    if (status == IS_OK && from->file_end > 0) {
        status = copy_file(collector, from, error);
    }
    if (status != IS_OK) {
        return status;
    }
    move_runs(&collector->in_memory, &from->in_memory, 0);
    move_runs(&collector->in_file, &from->in_file, start);
    collector->count += from->count;
    collector->bytes += from->bytes;
    from->count = from->bytes = 0;
    from->file_end = 0; /* what is in the file belongs to nobody */
    return IS_OK;
}

int is_collector_merge(is_collector *collector, is_hits_receiver receive, void *user,
                       const atomic_bool *cancel, is_error *error)
{
    return merge_runs(&collector->in_memory, &collector->in_file, collector->file, receive, user,
                      cancel, error);
}
