#include "pipeline/photons/collect/hit_pieces.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "pipeline/photons/devices/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

enum {
    READ_HITS_TOTAL = 1 << 18, /* hits read ahead for all pieces together: 16 MiB */
    READ_HITS_MIN = 64,        /* least for one piece: one page */
    READ_HITS_MAX = 4096,      /* most for one piece */
    RUN_LONG = 64 /* hits that follow each other in one piece and are given without a copy */
};

int ics_hit_pieces_reserve(ics_hit_pieces *list, size_t more, icestream_error *error)
{
    size_t capacity = list->capacity == 0 ? 16 : list->capacity;
    while (capacity < list->count + more) {
        capacity *= 2;
    }
    if (capacity == list->capacity) {
        return ICESTREAM_OK;
    }
    ics_hit_piece *items = realloc(list->items, capacity * sizeof *items);
    if (items == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu pieces of hits",
                             capacity);
    }
    list->items = items;
    list->capacity = capacity;
    return ICESTREAM_OK;
}

int ics_hit_pieces_append(ics_hit_pieces *list, ics_hit_piece piece, icestream_error *error)
{
    ICS_TRY(ics_hit_pieces_reserve(list, 1, error));
    list->items[list->count++] = piece;
    return ICESTREAM_OK;
}

/* ---- merging --------------------------------------------------------------------------------- */

/* The position of the merge in one piece. */
typedef struct piece_cursor {
    const icestream_hit *next, *end; /* hits in memory */
    icestream_hit *buffer;           /* memory for a piece in the file; else NULL */
    size_t left;                     /* hits of the piece that are still in the file */
    off_t offset;                    /* offset of these hits in the file */
} piece_cursor;

typedef struct merge {
    piece_cursor *heap; /* [count], a binary heap: no cursor's next hit is before its parent's */
    size_t count;
    icestream_hit *read_memory; /* all buffers */
    size_t read_hits;           /* hits per buffer */
    int file;
    icestream_hit output[ICS_HIT_PIECES_PORTION];
} merge;

int ics_hit_pieces_read(int file, icestream_hit *hits, size_t count, off_t offset,
                        icestream_error *error)
{
    const size_t size = count * sizeof *hits;
    return ics_disk_read_at(file, hits, size, offset) == size
               ? ICESTREAM_OK
               : ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                     "cannot read back the temporary file of hits: %s",
                                     errno != 0 ? strerror(errno) : "it has become shorter");
}

/* Reads the next hits of a cursor that has none in memory. Afterwards next == end means that the
 * piece has ended. */
static int refill_cursor(const merge *merging, piece_cursor *cursor, icestream_error *error)
{
    if (cursor->next != cursor->end || cursor->left == 0) {
        return ICESTREAM_OK;
    }
    size_t count = cursor->left < merging->read_hits ? cursor->left : merging->read_hits;
    int status = ics_hit_pieces_read(merging->file, cursor->buffer, count, cursor->offset, error);
    cursor->next = cursor->buffer;
    cursor->end = cursor->buffer + count;
    cursor->left -= count;
    cursor->offset += (off_t)(count * sizeof(icestream_hit));
    return status;
}

static void sift_down(merge *merging, size_t at)
{
    piece_cursor *heap = merging->heap;
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
        piece_cursor moved = heap[at];
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

/* How many hits are read ahead for each of `pieces` pieces in the file. */
static size_t choose_read_hits(size_t pieces)
{
    const size_t share = READ_HITS_TOTAL / (pieces > 0 ? pieces : 1);
    return MAX(MIN(share, READ_HITS_MAX), READ_HITS_MIN);
}

static void end_merge(merge *merging)
{
    if (merging != NULL) {
        free(merging->heap);
        free(merging->read_memory);
        free(merging);
    }
}
ICS_CAN_DESTROY(merge, end_merge)

/* Returns NULL without memory. */
static merge *begin_merge(size_t memory_pieces, size_t file_pieces, int file)
{
    ICS_DESTROYS(end_merge) merge *merging = calloc(1, sizeof *merging);
    if (merging == NULL) {
        return NULL;
    }
    merging->file = file;
    merging->heap = calloc(memory_pieces + file_pieces + 1, sizeof *merging->heap);
    merging->read_hits = choose_read_hits(file_pieces);
    if (file_pieces > 0) {
        merging->read_memory =
            reallocarray(NULL, file_pieces, merging->read_hits * sizeof(icestream_hit));
    }
    return merging->heap != NULL && (file_pieces == 0 || merging->read_memory != NULL)
               ? ICS_HAND_OVER(merging)
               : NULL;
}

/* Puts a cursor at the start of every piece, and the cursor with the first hit on top. */
static int fill_heap(merge *merging, const ics_hit_pieces *in_memory, const ics_hit_pieces *in_file,
                     icestream_error *error)
{
    for (size_t i = 0; i < in_memory->count; ++i) {
        const ics_hit_piece *piece = &in_memory->items[i];
        merging->heap[merging->count++] =
            (piece_cursor){.next = piece->hits, .end = piece->hits + piece->count};
    }
    for (size_t i = 0; i < in_file->count; ++i) {
        const ics_hit_piece *piece = &in_file->items[i];
        piece_cursor cursor = {.buffer = merging->read_memory + i * merging->read_hits,
                               .left = piece->count,
                               .offset = piece->offset};
        ICS_TRY(refill_cursor(merging, &cursor, error));
        merging->heap[merging->count++] = cursor;
    }
    for (size_t i = merging->count / 2; i-- > 0;) {
        sift_down(merging, i);
    }
    return ICESTREAM_OK;
}

/* Returns how many hits of the piece on top, at least 1 and at most ICS_HIT_PIECES_PORTION, come
 * before the hits of all other pieces. Batches of a file whose steps ascend do not interleave, so
 * that a run is long there. */
static size_t run_on_top(const merge *merging)
{
    const piece_cursor *heap = merging->heap;
    const size_t there = (size_t)(heap[0].end - heap[0].next);
    const size_t most = there < ICS_HIT_PIECES_PORTION ? there : ICS_HIT_PIECES_PORTION;
    if (merging->count == 1) {
        return most;
    }
    const bool third = merging->count > 2 && ics_hit_sort_order(heap[2].next, heap[1].next) < 0;
    const icestream_hit *limit = heap[third ? 2 : 1].next;
    size_t before = 1, beyond = 2; /* hits known to be before the limit; the next guess */
    while (beyond <= most && ics_hit_sort_order(&heap[0].next[beyond - 1], limit) <= 0) {
        before = beyond;
        beyond *= 2;
    }
    beyond = beyond <= most ? beyond : most + 1;
    while (beyond - before > 1) {
        const size_t middle = before + (beyond - before) / 2;
        if (ics_hit_sort_order(&heap[0].next[middle - 1], limit) <= 0) {
            before = middle;
        } else {
            beyond = middle;
        }
    }
    return before;
}

/* Where the hits of a merge go. */
typedef struct merge_target {
    ics_hits_receiver receive;
    void *user;
    size_t filled; /* hits in merge.output that were not given yet */
} merge_target;

static int give_output(merge *merging, merge_target *target, icestream_error *error)
{
    const size_t filled = target->filled;
    target->filled = 0;
    return filled > 0 ? target->receive(target->user, merging->output, filled, error)
                      : ICESTREAM_OK;
}

/* Gives the next hits: few are collected, many are given from where they are. */
static int give_run(merge *merging, const icestream_hit *hits, size_t count, merge_target *target,
                    icestream_error *error)
{
    if (count >= RUN_LONG || target->filled + count > ICS_HIT_PIECES_PORTION) {
        ICS_TRY(give_output(merging, target, error));
    }
    if (count >= RUN_LONG) {
        return target->receive(target->user, hits, count, error);
    }
    memcpy(&merging->output[target->filled], hits, count * sizeof *hits);
    target->filled += count;
    return ICESTREAM_OK;
}

static int empty_heap(merge *merging, merge_target *target, const atomic_bool *cancel,
                      icestream_error *error)
{
    while (merging->count > 0) {
        if (cancel != NULL && atomic_load(cancel)) {
            return ics_error_set(error, ICESTREAM_E_INTERRUPTED, "interrupted while merging hits");
        }
        piece_cursor *first = &merging->heap[0];
        const size_t run = run_on_top(merging);
        ICS_TRY(give_run(merging, first->next, run, target, error));
        first->next += run;
        ICS_TRY(refill_cursor(merging, first, error));
        if (first->next == first->end) {
            *first = merging->heap[--merging->count];
        }
        sift_down(merging, 0);
    }
    return give_output(merging, target, error);
}

int ics_hit_pieces_merge(const ics_hit_pieces *in_memory, const ics_hit_pieces *in_file, int file,
                         ics_hits_receiver receive, void *user, const atomic_bool *cancel,
                         icestream_error *error)
{
    ICS_DESTROYS(end_merge) merge *merging = begin_merge(in_memory->count, in_file->count, file);
    if (merging == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY,
                             "out of memory for merging %zu pieces of hits",
                             in_memory->count + in_file->count);
    }
    merge_target target = {.receive = receive, .user = user};
    ICS_TRY(fill_heap(merging, in_memory, in_file, error));
    return empty_heap(merging, &target, cancel, error);
}
