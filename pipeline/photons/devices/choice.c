#include "pipeline/photons/devices/choice.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct choice {
    ics_gpu_device kind;
    ics_gpu_options settings;
    int first; /* the GPU that chose */
} choice;

/* The index of the choice for a GPU. */
typedef struct gpu_kind {
    int ordinal;
    uint32_t item;
} gpu_kind;

struct ics_device_choices {
    uint32_t gpus;
    pthread_mutex_t lock; /* held while a GPU chooses, so that the others wait for its choice */
    choice items[ICS_CONFIG_GPUS];
    uint32_t count;
    gpu_kind kind_of[ICS_CONFIG_GPUS];
    uint32_t ordinals;
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
    ICS_TRY(ics_gpu_describe(settings->ordinal, &kind, error));
    for (uint32_t i = 0; i < choices->count; ++i) {
        if (same_kind(&choices->items[i].kind, &kind)) {
            const int ordinal = settings->ordinal;
            *settings = choices->items[i].settings;
            snprintf(report, report_size, "GPU %d: %s, as chosen on GPU %d", ordinal,
                     ics_graph_schedule_name(settings->schedule), settings->ordinal);
            settings->ordinal = ordinal;
            if (choices->ordinals < ICS_CONFIG_GPUS) {
                choices->kind_of[choices->ordinals++] = (gpu_kind){ordinal, i};
            }
            return ICESTREAM_OK;
        }
    }
    int length = 0;
    if (choices->gpus > 1) {
        length = snprintf(report, report_size, "GPU %d:\n", settings->ordinal);
    }
    ICS_TRY(ics_gpu_choose(settings, tables, batch->emissions, batch->count, report + length,
                           report_size - (size_t)length, error));
    if (choices->count < ICS_CONFIG_GPUS) {
        choices->kind_of[choices->ordinals++] = (gpu_kind){settings->ordinal, choices->count};
        choices->items[choices->count++] =
            (choice){.kind = kind, .settings = *settings, .first = settings->ordinal};
    }
    return ICESTREAM_OK;
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

/* The choice for the kind of a GPU; NULL: this GPU has not chosen. The caller holds the lock. */
static choice *choice_of(ics_device_choices *choices, int ordinal)
{
    for (uint32_t i = 0; i < choices->ordinals; ++i) {
        if (choices->kind_of[i].ordinal == ordinal) {
            return &choices->items[choices->kind_of[i].item];
        }
    }
    return NULL;
}

bool ics_device_choice_is_first(ics_device_choices *choices, int ordinal)
{
    pthread_mutex_lock(&choices->lock);
    const choice *own = choice_of(choices, ordinal);
    const bool first = own != NULL && own->first == ordinal;
    pthread_mutex_unlock(&choices->lock);
    return first;
}

void ics_device_choice_change(ics_device_choices *choices, const ics_gpu_options *settings)
{
    pthread_mutex_lock(&choices->lock);
    choice *own = choice_of(choices, settings->ordinal);
    if (own != NULL) {
        own->settings = *settings;
    }
    pthread_mutex_unlock(&choices->lock);
}

bool ics_device_choice_equal(const ics_gpu_options *left, const ics_gpu_options *right)
{
    return left->schedule == right->schedule && left->block == right->block &&
           left->bounces_per_wave == right->bounces_per_wave && left->refill == right->refill;
}

bool ics_device_choice_differs(ics_device_choices *choices, ics_gpu_options *settings)
{
    pthread_mutex_lock(&choices->lock);
    const choice *own = choice_of(choices, settings->ordinal);
    const bool differs = own != NULL && !ics_device_choice_equal(&own->settings, settings);
    if (differs) {
        const int ordinal = settings->ordinal;
        *settings = own->settings;
        settings->ordinal = ordinal;
    }
    pthread_mutex_unlock(&choices->lock);
    return differs;
}
