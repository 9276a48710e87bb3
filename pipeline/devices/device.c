/* A device: a group of members, the batches that it holds, its finished batches and its notes. */
#include "pipeline/devices/device.h"

#include "pipeline/devices/device_group.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Lines of notes, each with its newline. */
typedef struct note_list {
    char *lines; /* NULL: none yet */
    size_t size; /* bytes, without the final 0 */
    size_t read; /* bytes that ics_device_next_note() has returned */
} note_list;

struct ics_device {
    ics_device_group *group;
    ics_post receiver; /* of finished batches */
    atomic_uint held;  /* batches in the group */
    char first_name[256];

    pthread_mutex_t lock; /* protects the notes */
    note_list choice, warnings;
};

/* ---- notes ----------------------------------------------------------------------------------- */

/* Adds lines, unless all notes together would not fit into ics_device_notes or there is no memory.
 * The caller holds the lock. */
static void append_note(note_list *notes, const char *lines)
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
    pthread_mutex_lock(&device->lock);
    append_note(warning ? &device->warnings : &device->choice, lines);
    pthread_mutex_unlock(&device->lock);
}

void ics_device_notes_of(const ics_device *device, ics_device_notes *out)
{
    ics_device *locked = (ics_device *)device;
    pthread_mutex_lock(&locked->lock);
    const char *choice = device->choice.lines, *warnings = device->warnings.lines;
    snprintf(out->choice, sizeof out->choice, "%s", choice != NULL ? choice : "");
    snprintf(out->warnings, sizeof out->warnings, "%s", warnings != NULL ? warnings : "");
    pthread_mutex_unlock(&locked->lock);
}

/* Copies the next line that was not read yet, after `before`. Returns false if there is none. */
static bool next_line(note_list *notes, const char *before, char *line, size_t size)
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
    pthread_mutex_lock(&device->lock);
    const bool found = next_line(&device->warnings, "warning: ", line, size) ||
                       next_line(&device->choice, "", line, size);
    pthread_mutex_unlock(&device->lock);
    return found;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* The group returns a batch. */
static void finish_batch(void *user, ics_job *job)
{
    ics_device *device = user;
    atomic_fetch_sub(&device->held, 1);
    device->receiver.post(device->receiver.user, job);
}

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

int ics_device_create(const ics_device_options *options, const ics_tables *tables,
                      ics_hit_models models, ics_post finished, ics_device **out,
                      icestream_error *error)
{
    ics_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a device");
    }
    device->receiver = finished;
    atomic_init(&device->held, 0);
    pthread_mutex_init(&device->lock, NULL);
    if (options->reason[0] != '\0' && options->warn) {
        add_note(device, true, options->reason);
    }
    note_simulation(device, &options->simulated);
    const ics_device_parts parts = {.options = options,
                                    .tables = tables,
                                    .models = models,
                                    .finished = {.post = finish_batch, .user = device},
                                    .note = add_note,
                                    .note_user = device};
    ics_device_maker makers[ICS_DEVICE_MEMBERS_MAX];
    const uint32_t count = ics_device_makers_from_options(options, makers);
    int status = ics_device_group_create(&parts, makers, count, &device->group, error);
    if (status != ICESTREAM_OK) {
        ics_device_destroy(device);
        return status;
    }
    ics_device_facts facts;
    ics_device_group_facts(device->group, &facts);
    memcpy(device->first_name, facts.name, sizeof device->first_name);
    *out = device;
    return ICESTREAM_OK;
}

void ics_device_destroy(ics_device *device)
{
    if (device == NULL) {
        return;
    }
    ics_device_group_destroy(device->group);
    pthread_mutex_destroy(&device->lock);
    free(device->choice.lines);
    free(device->warnings.lines);
    free(device);
}

/* ---- batches --------------------------------------------------------------------------------- */

uint32_t ics_device_credits(const ics_device *device)
{
    return ics_device_group_credits(device->group);
}

ics_batch_limits ics_device_batch_limits(const ics_device *device)
{
    ics_device_facts facts;
    ics_device_group_facts(device->group, &facts);
    return facts.limits;
}

bool ics_device_submit(ics_device *device, ics_batch *batch)
{
    /* Only this thread adds to `held`, so there is still room after the comparison. */
    if (atomic_load(&device->held) >= ics_device_group_credits(device->group)) {
        return false;
    }
    atomic_fetch_add(&device->held, 1);
    ics_error_forget(&batch->error);
    ics_device_group_submit(device->group, batch);
    return true;
}

/* ---- facts ----------------------------------------------------------------------------------- */

void ics_device_facts_of(const ics_device *device, ics_device_facts *out)
{
    ics_device_group_facts(device->group, out);
    memcpy(out->first_name, device->first_name, sizeof out->first_name);
}

bool ics_device_member_facts_of(const ics_device *device, uint32_t index,
                                ics_device_member_facts *out)
{
    return ics_device_group_member_facts(device->group, index, out);
}

int ics_device_finish_table(ics_device *device, icestream_error *error)
{
    return ics_device_group_finish_table(device->group, error);
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
