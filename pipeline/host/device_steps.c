/* All steps through a device at once. */
#include "pipeline/error.h"
#include "pipeline/host/device.h"

#include <stdlib.h>
#include <string.h>

/* Hits of all batches in one growing array. */
typedef struct hit_array {
    is_hit *items;
    size_t count, capacity;
} hit_array;

static int append_hits(hit_array *array, const is_hit *hits, size_t count, is_error *error)
{
    if (count == 0) {
        return IS_OK;
    }
    if (count > array->capacity - array->count) {
        size_t capacity = array->capacity * 2;
        if (capacity < array->count + count) {
            capacity = array->count + count;
        }
        is_hit *items = capacity <= SIZE_MAX / sizeof *items
                            ? realloc(array->items, capacity * sizeof *items)
                            : NULL;
        if (items == NULL) {
            return is_error_set(error, IS_E_MEMORY, "out of memory for %zu hits", capacity);
        }
        array->items = items;
        array->capacity = capacity;
    }
    memcpy(array->items + array->count, hits, count * sizeof *hits);
    array->count += count;
    return IS_OK;
}

/* Adds what a batch holds; destroys it. */
static int gather_batch(is_batch *batch, hit_array *hits, is_account *account, is_error *error)
{
    int status = is_error_copy(error, &batch->error);
    if (status == IS_OK) {
        is_account_add(account, &batch->account);
        status = append_hits(hits, batch->hits, batch->hit_count, error);
    }
    is_batch_destroy(batch);
    return status;
}

static int run_cursor(is_device *device, is_step_cursor cursor, uint64_t photon_limit,
                      hit_array *hits, is_account *account, is_error *error)
{
    bool full = true;
    int status = IS_OK;
    while (full && status == IS_OK) {
        const is_batch_limits limits = is_device_batch_limits(device);
        is_batch *batch = NULL;
        status = is_batch_create(&limits, photon_limit, &batch, error);
        if (status == IS_OK) {
            status = is_batch_fill(batch, &cursor, &full, error);
        }
        if (status != IS_OK || batch->count == 0) {
            is_batch_destroy(batch);
            return status;
        }
        while (status == IS_OK && !is_device_submit(device, batch)) {
            status = gather_batch(is_device_take(device), hits, account, error);
        }
        if (status != IS_OK) {
            is_batch_destroy(batch);
        }
    }
    return status;
}

int is_device_run_steps(is_device *device, const is_step *steps, size_t count,
                        uint64_t photon_limit, is_hit **hits, size_t *hit_count,
                        is_account *account, is_error *error)
{
    hit_array array = {NULL, 0, 0};
    *account = (is_account){0};
    int status = run_cursor(device, (is_step_cursor){.steps = steps, .count = count}, photon_limit,
                            &array, account, error);
    is_batch *batch;
    while ((batch = is_device_take(device)) != NULL) { /* also after an error: they come home */
        is_error later = {.status = IS_OK};
        int gathered = gather_batch(batch, &array, account, &later);
        if (status == IS_OK && gathered != IS_OK) {
            status = is_error_copy(error, &later);
        }
    }
    if (status != IS_OK) {
        free(array.items);
        return status;
    }
    is_hits_sort(array.items, array.count);
    *hits = array.items;
    *hit_count = array.count;
    return IS_OK;
}
