#include "pipeline/devices/device_choice.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct choice {
    ics_gpu_device kind;
    ics_gpu_options settings;
} choice;

struct ics_device_choices {
    uint32_t gpus;
    pthread_mutex_t lock; /* held while a GPU measures, so that the others wait for its choice */
    choice items[ICS_CONFIG_GPUS];
    uint32_t count;
};

int ics_device_choices_create(uint32_t gpus, ics_device_choices **out, icestream_error *error)
{
    ics_device_choices *choices = calloc(1, sizeof *choices);
    if (choices == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a group of devices");
    }
    choices->gpus = gpus;
    pthread_mutex_init(&choices->lock, NULL);
    *out = choices;
    return ICESTREAM_OK;
}

void ics_device_choices_destroy(ics_device_choices *choices)
{
    if (choices != NULL) {
        pthread_mutex_destroy(&choices->lock);
        free(choices);
    }
}

/* Compares everything but the memory that is free at the moment. */
static bool same_kind(const ics_gpu_device *left, const ics_gpu_device *right)
{
    return strcmp(left->name, right->name) == 0 && left->architecture == right->architecture &&
           left->processors == right->processors && left->memory_bytes == right->memory_bytes;
}

/* The caller holds the lock. */
static int choose(ics_device_choices *choices, ics_gpu_options *settings, const ics_tables *tables,
                  const ics_batch *batch, char *report, size_t report_size, icestream_error *error)
{
    ics_gpu_device kind;
    memset(&kind, 0, sizeof kind);
    int result = ics_gpu_describe(settings->ordinal, &kind, error);
    if (result != ICESTREAM_OK) {
        return result;
    }
    for (uint32_t i = 0; i < choices->count; ++i) {
        if (same_kind(&choices->items[i].kind, &kind)) {
            const int ordinal = settings->ordinal;
            *settings = choices->items[i].settings;
            snprintf(report, report_size, "GPU %d: %s, as measured on GPU %d", ordinal,
                     ics_graph_schedule_name(settings->schedule), settings->ordinal);
            settings->ordinal = ordinal;
            return ICESTREAM_OK;
        }
    }
    int length = 0;
    if (choices->gpus > 1) {
        length = snprintf(report, report_size, "GPU %d:\n", settings->ordinal);
    }
    result = ics_gpu_choose(settings, tables, batch->emissions, batch->count, report + length,
                            report_size - (size_t)length, error);
    if (result == ICESTREAM_OK && choices->count < ICS_CONFIG_GPUS) {
        choices->items[choices->count++] = (choice){.kind = kind, .settings = *settings};
    }
    return result;
}

int ics_device_choice_make(ics_device_choices *choices, ics_gpu_options *settings,
                           const ics_tables *tables, const ics_batch *batch, char *report,
                           size_t report_size, icestream_error *error)
{
    pthread_mutex_lock(&choices->lock);
    const int result = choose(choices, settings, tables, batch, report, report_size, error);
    pthread_mutex_unlock(&choices->lock);
    return result;
}
