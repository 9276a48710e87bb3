#include "pipeline/photons/engine/memory_sink.h"

#include <stdlib.h>
#include <string.h>

int ics_memory_sink_add(void *user, ics_batch *batch, icestream_error *error)
{
    ics_memory_sink *sink = user;
    if (batch->hit_count == 0) {
        return ICESTREAM_OK;
    }
    if (sink->count == sink->capacity) {
        const size_t capacity = sink->capacity == 0 ? 8 : 2 * sink->capacity;
        ics_memory_part *parts = reallocarray(sink->parts, capacity, sizeof *parts);
        if (parts == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for hits",
                                 sink->name);
        }
        sink->parts = parts;
        sink->capacity = capacity;
    }
    sink->parts[sink->count++] =
        (ics_memory_part){.index = batch->index, .hits = batch->hits, .count = batch->hit_count};
    batch->hits = NULL;
    batch->hit_count = 0;
    return ICESTREAM_OK;
}

static int by_index(const void *left, const void *right)
{
    const ics_memory_part *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

static bool is_sorted(const icestream_hit *hits, size_t count)
{
    for (size_t i = 1; i < count; ++i) {
        if (ics_hit_sort_order(&hits[i - 1], &hits[i]) > 0) {
            return false;
        }
    }
    return true;
}

/* The photons of batches follow each other, so only steps without an order need sorting. */
static void join(const ics_memory_sink *sink, icestream_hit *hits, size_t total)
{
    qsort(sink->parts, sink->count, sizeof *sink->parts, by_index);
    for (size_t i = 0, at = 0; i < sink->count; ++i) {
        ics_memory_part *part = &sink->parts[i];
        memcpy(hits + at, part->hits, part->count * sizeof *hits);
        at += part->count;
        free(part->hits);
        part->hits = NULL;
    }
    if (!is_sorted(hits, total)) {
        ics_hit_sort(hits, total);
    }
}

int ics_memory_sink_take(ics_memory_sink *sink, icestream_hit **out, size_t *count,
                         icestream_error *error)
{
    int status = ICESTREAM_OK;
    size_t total = 0;
    for (size_t i = 0; i < sink->count; ++i) {
        total += sink->parts[i].count;
    }
    *out = NULL;
    if (sink->count == 1) { /* the array of a single batch stays as it is */
        *out = sink->parts[0].hits;
        sink->parts[0].hits = NULL;
    } else if (sink->count > 1) {
        *out = malloc(total * sizeof **out);
        if (*out != NULL) {
            join(sink, *out, total);
        } else {
            status = ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for %zu hits",
                                   sink->name, total);
        }
    }
    *count = *out != NULL ? total : 0;
    ics_memory_sink_clear(sink);
    return status;
}

void ics_memory_sink_clear(ics_memory_sink *sink)
{
    for (size_t i = 0; i < sink->count; ++i) {
        free(sink->parts[i].hits);
    }
    free(sink->parts);
    *sink = (ics_memory_sink){.name = sink->name};
}
