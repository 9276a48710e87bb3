/* Computing an array of steps with a device. */
#include "pipeline/devices/device.h"

#include <stdlib.h>
#include <string.h>

/* An array of hits that grows. */
typedef struct hit_array {
    icestream_hit *items;
    size_t count, capacity;
} hit_array;

static int append_hits(hit_array *array, const icestream_hit *hits, size_t count,
                       icestream_error *error)
{
    if (count == 0) {
        return ICESTREAM_OK;
    }
    if (count > array->capacity - array->count) {
        size_t capacity = array->capacity * 2;
        if (capacity < array->count + count) {
            capacity = array->count + count;
        }
        icestream_hit *items = capacity <= SIZE_MAX / sizeof *items
                                   ? realloc(array->items, capacity * sizeof *items)
                                   : NULL;
        if (items == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu hits", capacity);
        }
        array->items = items;
        array->capacity = capacity;
    }
    memcpy(array->items + array->count, hits, count * sizeof *hits);
    array->count += count;
    return ICESTREAM_OK;
}

/* Adds the hits and the account of a batch, and destroys the batch. */
static int gather_batch(ics_batch *batch, hit_array *hits, icestream_account *account,
                        icestream_error *error)
{
    int status = ics_error_copy_kept(error, &batch->error);
    if (status == ICESTREAM_OK) {
        ics_batch_account_add(account, &batch->account);
        status = append_hits(hits, batch->hits, batch->hit_count, error);
    }
    ics_batch_destroy(batch);
    return status;
}

static void report(const ics_device_watch *watch, const icestream_account *account)
{
    if (watch != NULL) {
        watch->done(watch->user, account);
    }
}

static bool has_to_stop(const ics_device_watch *watch)
{
    return watch != NULL && watch->stops != NULL && watch->stops(watch->user);
}

/* Gives the device all batches, unless the watch stops this, and gathers finished ones where it has
 * no room. */
static int submit_steps(ics_device *device, ics_step_cursor cursor, uint64_t photon_limit,
                        const ics_device_watch *watch, hit_array *hits, icestream_account *account,
                        icestream_error *error)
{
    bool full = true, stopped = false;
    int status = ICESTREAM_OK;
    while (full && !stopped && status == ICESTREAM_OK) {
        const ics_batch_limits limits = ics_device_batch_limits(device);
        ics_batch *batch = NULL;
        status = ics_batch_create(&limits, photon_limit, &batch, error);
        if (status == ICESTREAM_OK) {
            status = ics_batch_fill(batch, &cursor, &full, error);
        }
        if (status != ICESTREAM_OK || batch->count == 0) {
            ics_batch_destroy(batch);
            return status;
        }
        while (status == ICESTREAM_OK && !ics_device_submit(device, batch)) {
            status = gather_batch(ics_device_take(device), hits, account, error);
            report(watch, account);
        }
        if (status != ICESTREAM_OK) {
            ics_batch_destroy(batch);
        }
        stopped = has_to_stop(watch);
    }
    return status;
}

int ics_device_run_steps(ics_device *device, const icestream_step *steps, size_t count,
                         uint64_t photon_limit, ics_device_hits *out, icestream_error *error)
{
    return ics_device_run_steps_watched(device, (ics_step_cursor){.steps = steps, .count = count},
                                        photon_limit, NULL, out, error);
}

int ics_device_run_steps_watched(ics_device *device, ics_step_cursor steps, uint64_t photon_limit,
                                 const ics_device_watch *watch, ics_device_hits *out,
                                 icestream_error *error)
{
    hit_array array = {NULL, 0, 0};
    *out = (ics_device_hits){0};
    int status = submit_steps(device, steps, photon_limit, watch, &array, &out->account, error);
    ics_batch *batch;
    while ((batch = ics_device_take(device)) != NULL) { /* after an error as well */
        icestream_error later = {.status = ICESTREAM_OK};
        int gathered = gather_batch(batch, &array, &out->account, &later);
        report(watch, &out->account);
        if (status == ICESTREAM_OK && gathered != ICESTREAM_OK) {
            status = ics_error_copy(error, &later);
        }
    }
    if (status != ICESTREAM_OK) {
        free(array.items);
        return status;
    }
    ics_hit_sort(array.items, array.count);
    out->hits = array.items;
    out->count = array.count;
    return ICESTREAM_OK;
}
