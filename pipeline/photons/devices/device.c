/* The life of a device, its notes, and a line about it. */
#include "base/error.h"
#include "pipeline/photons/devices/group.h"

#include <stdlib.h>
#include <string.h>

/* ---- notes ----------------------------------------------------------------------------------- */

/* Adds lines, unless all notes together would not fit into ics_device_notes or there is no memory.
 * The caller holds the lock. */
static void append_note(ics_device_note_list *notes, const char *lines)
{
    const size_t limit = sizeof(((ics_device_notes *)NULL)->choice);
    size_t length = strlen(lines);
    const bool ends = length > 0 && lines[length - 1] == '\n';
    if (length == 0 || notes->size + length + 2 > limit) {
        return;
    }
    char *grown = realloc(notes->lines, notes->size + length + 2);
    if (grown != NULL) {
        notes->lines = grown;
        notes->size += (size_t)sprintf(grown + notes->size, "%s%s", lines, ends ? "" : "\n");
    }
}

/* The `note` of ics_device_parts. */
static void add_note(void *user, bool warning, const char *lines)
{
    ics_device *device = user;
    pthread_mutex_lock(&device->note_lock);
    append_note(warning ? &device->warnings : &device->choice, lines);
    pthread_mutex_unlock(&device->note_lock);
}

void ics_device_notes_of(const ics_device *device, ics_device_notes *out)
{
    ics_device *locked = (ics_device *)device;
    pthread_mutex_lock(&locked->note_lock);
    const char *choice = device->choice.lines, *warnings = device->warnings.lines;
    snprintf(out->choice, sizeof out->choice, "%s", choice != NULL ? choice : "");
    snprintf(out->warnings, sizeof out->warnings, "%s", warnings != NULL ? warnings : "");
    pthread_mutex_unlock(&locked->note_lock);
}

/* Copies the next line that was not read yet, after `before`. Returns false if there is none. */
static bool next_line(ics_device_note_list *notes, const char *before, char *line, size_t size)
{
    if (notes->read >= notes->size) {
        return false;
    }
    const char *begin = notes->lines + notes->read;
    const size_t length = strcspn(begin, "\n");
    snprintf(line, size, "%s%.*s", before, (int)length, begin);
    notes->read += length + 1;
    return true;
}

bool ics_device_next_note(ics_device *device, char *line, size_t size)
{
    pthread_mutex_lock(&device->note_lock);
    const bool found = next_line(&device->warnings, "warning: ", line, size) ||
                       next_line(&device->choice, "", line, size);
    pthread_mutex_unlock(&device->note_lock);
    return found;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Warns, so that nobody takes a run with a simulated loss for a real one. */
static void note_simulation(ics_device *device, const ics_device_loss *loss)
{
    if (loss->batches > 0) {
        char line[256];
        snprintf(line, sizeof line,
                 "ICESTREAM_GPU_FAIL is set: GPU %d will be treated as lost after %u batches; this "
                 "is for tests only",
                 loss->ordinal, loss->batches);
        add_note(device, true, line);
    }
}

int ics_device_create_of(const ics_device_options *options, const ics_tables *tables,
                         ics_hit_models models, ics_post finished, const ics_device_makers *makers,
                         ics_device **out, icestream_error *error)
{
    ics_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a device");
    }
    device->options = *options;
    device->finished = finished;
    device->asked = makers->count;
    device->parts = (ics_device_parts){.options = &device->options,
                                       .tables = tables,
                                       .models = models,
                                       .finished = {.post = ics_device_receive},
                                       .note = add_note,
                                       .note_user = device,
                                       .lost = ics_device_lose_member};
    STAILQ_INIT(&device->queue);
    pthread_mutex_init(&device->note_lock, NULL);
    pthread_mutex_init(&device->lock, NULL);
    pthread_cond_init(&device->changed, NULL);
    if (options->reason[0] != '\0' && options->warn) {
        add_note(device, true, options->reason);
    }
    note_simulation(device, &options->simulated);
    int status = ics_device_choices_create(options->gpu_count, &device->parts.choices, error);
    if (status == ICESTREAM_OK) {
        status = ics_device_create_members(device, makers, error);
    }
    if (status != ICESTREAM_OK) {
        ics_device_destroy(device);
        return status;
    }
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    memcpy(device->first_name, facts.name, sizeof device->first_name);
    *out = device;
    return ICESTREAM_OK;
}

int ics_device_create(const ics_device_options *options, const ics_tables *tables,
                      ics_hit_models models, ics_post finished, ics_device **out,
                      icestream_error *error)
{
    const ics_device_makers makers = ics_device_makers_of(options);
    return ics_device_create_of(options, tables, models, finished, &makers, out, error);
}

void ics_device_destroy(ics_device *device)
{
    if (device == NULL) {
        return;
    }
    pthread_mutex_lock(&device->lock);
    while (device->held > 0 || device->dispatching || device->replacing) {
        pthread_cond_wait(&device->changed, &device->lock);
    }
    device->closing = true;
    pthread_mutex_unlock(&device->lock);
    for (uint32_t i = 0; i < device->count; ++i) {
        const ics_device_backend *backend = &device->members[i].backend;
        if (backend->functions != NULL) {
            backend->functions->destroy(backend->self);
        }
    }
    ics_device_choices_destroy(device->parts.choices);
    ics_error_forget(&device->failure);
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->note_lock);
    free(device->choice.lines);
    free(device->warnings.lines);
    free(device);
}

/* ---- facts ----------------------------------------------------------------------------------- */

uint32_t ics_device_credits(const ics_device *device)
{
    return device->credits;
}

ics_batch_limits ics_device_batch_limits(const ics_device *device)
{
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    return facts.limits;
}

const char *ics_device_text(const ics_device *device, char *buffer, size_t size)
{
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    const char *maths = ics_metadata_maths_name(facts.maths);
    char schedule[64] = "schedule chosen on the first batch";
    if (facts.schedule != ICS_SCHEDULE_AUTO) {
        snprintf(schedule, sizeof schedule, "%s schedule", ics_graph_schedule_name(facts.schedule));
    }
    if (facts.is_gpu && facts.members > 1) { /* the name has the ordinals */
        snprintf(buffer, size, "%s, %s maths, %s", facts.name, maths, schedule);
    } else if (facts.is_gpu) {
        snprintf(buffer, size, "%s (GPU %d), %s maths, %s", facts.name, facts.gpu.ordinal, maths,
                 schedule);
    } else {
        snprintf(buffer, size, "%s, %u thread%s, %s, %s", facts.name, facts.threads,
                 facts.threads == 1 ? "" : "s", facts.instruction_set, schedule);
    }
    return buffer;
}
