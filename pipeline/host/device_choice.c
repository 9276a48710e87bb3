/* Schedule AUTO in a group of GPUs: what one has measured is right for others of its kind. Without
 * this each would measure for itself, all at the same time, and compile the same kernels. */
#include "pipeline/error.h"
#include "pipeline/host/device_backend.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct choice {
    is_gpu_device kind;
    is_gpu_options settings;
} choice;

struct is_device_choices {
    pthread_mutex_t lock; /* held while one measures: the others have to wait for it */
    choice items[IS_CONFIG_GPUS];
    uint32_t count;
};

int is_device_choices_create(is_device_choices **out, is_error *error)
{
    is_device_choices *choices = calloc(1, sizeof *choices);
    if (choices == NULL) {
        return is_error_set(error, IS_E_MEMORY, "out of memory for a group of devices");
    }
    pthread_mutex_init(&choices->lock, NULL);
    *out = choices;
    return IS_OK;
}

void is_device_choices_destroy(is_device_choices *choices)
{
    if (choices != NULL) {
        pthread_mutex_destroy(&choices->lock);
        free(choices);
    }
}

/* But for the memory that is free at the moment. */
static bool same_kind(const is_gpu_device *left, const is_gpu_device *right)
{
    return strcmp(left->name, right->name) == 0 && left->architecture == right->architecture &&
           left->processors == right->processors && left->memory_bytes == right->memory_bytes;
}

/* With the lock. */
static int choose(is_device_choices *choices, is_gpu_options *settings, const is_tables *tables,
                  const is_batch *batch, char *report, size_t report_size, is_gpu_error *error)
{
    is_gpu_device kind;
    memset(&kind, 0, sizeof kind);
    int result = is_gpu_describe(settings->ordinal, &kind, error);
    if (result != IS_GRAPH_OK) {
        return result;
    }
    for (uint32_t i = 0; i < choices->count; ++i) {
        if (same_kind(&choices->items[i].kind, &kind)) {
            const int ordinal = settings->ordinal;
            *settings = choices->items[i].settings;
            snprintf(report, report_size, "GPU %d: %s, as measured on GPU %d", ordinal,
                     is_schedule_name(settings->schedule), settings->ordinal);
            settings->ordinal = ordinal;
            return IS_GRAPH_OK;
        }
    }
    const int length = snprintf(report, report_size, "GPU %d:\n", settings->ordinal);
    result = is_gpu_choose(settings, tables, batch->emissions, batch->count, report + length,
                           report_size - (size_t)length, error);
    if (result == IS_GRAPH_OK && choices->count < IS_CONFIG_GPUS) {
        choices->items[choices->count++] = (choice){.kind = kind, .settings = *settings};
    }
    return result;
}

int is_device_choose(is_device_choices *choices, is_gpu_options *settings, const is_tables *tables,
                     const is_batch *batch, char *report, size_t report_size, is_gpu_error *error)
{
    if (choices == NULL) {
        return is_gpu_choose(settings, tables, batch->emissions, batch->count, report, report_size,
                             error);
    }
    pthread_mutex_lock(&choices->lock);
    const int result = choose(choices, settings, tables, batch, report, report_size, error);
    pthread_mutex_unlock(&choices->lock);
    return result;
}
