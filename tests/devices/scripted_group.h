/* Fixtures for tests of groups: a group of three scripted members, or a CPU without a group.
 *
 * send_all() sends all steps through the group and checks that every batch comes back exactly
 * once; check_outcome() checks that the hits are those of the CPU alone.
 */
#ifndef SCRIPTED_GROUP_H
#define SCRIPTED_GROUP_H

#include "tests/devices/scripted_member.h"

typedef struct group {
    script scripts[MEMBERS];
    /* Rates (photons/s). 0: one rate for all, so low that the time of the test does not matter. */
    double assumed[MEMBERS];
    ics_device *device;
    ics_device_backend cpu; /* used if `device` is NULL */
    ics_device_parts parts;
    ics_device_options options;
    ics_device_notes notes; /* of the device: see notes_of() */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    ics_job_queue finished; /* the batch that came back last is the first */
    uint32_t out;           /* number of batches that the group holds */
    uint32_t returned[BATCHES];
} group;

static void take_finished(void *user, ics_job *job)
{
    group *self = user;
    pthread_mutex_lock(&self->lock);
    STAILQ_INSERT_HEAD(&self->finished, job, link);
    self->returned[ics_batch_of_job(job)->index]++;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

static void ignore_note(void *user, bool warning, const char *lines)
{
    (void)user;
    (void)warning;
    (void)lines;
}

/* The warnings of the device, a line each. */
static const char *notes_of(group *self)
{
    ics_device_notes_of(self->device, &self->notes);
    return self->notes.warnings;
}

/* Blocks all members; called before they are created. */
static void block_all(group *self)
{
    for (int i = 0; i < MEMBERS; ++i) {
        self->scripts[i].blocked = true;
    }
}

/* What a device is made of, a group as well as the CPU. */
static void open_parts(group *self, const world *here)
{
    self->options = here->device.options;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    STAILQ_INIT(&self->finished);
    self->parts = (ics_device_parts){.options = &self->options,
                                     .tables = here->device.tables,
                                     .models = here->device.hit_models,
                                     .finished = {.post = take_finished, .user = self},
                                     .note = ignore_note};
}

static void close_parts(group *self)
{
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
}

/* Makes a device of scripted members. Returns the status of ics_device_create_of(). */
static int open_group(group *self, const world *here, icestream_error *error)
{
    open_parts(self, here);
    self->options.backend = ICS_BACKEND_CUDA;
    ics_device_makers makers = {.count = MEMBERS};
    for (int i = 0; i < MEMBERS; ++i) {
        makers.items[i] =
            (ics_device_maker){.create = make_script,
                               .user = &self->scripts[i],
                               .is_gpu = true,
                               .ordinal = i,
                               .threads = 1 + (uint32_t)i,
                               .assumed = self->assumed[i] > 0.0 ? self->assumed[i] : 10};
        snprintf(makers.items[i].name, sizeof makers.items[i].name, "script %d", i);
    }
    return ics_device_create_of(&self->options, here->device.tables, here->device.hit_models,
                                self->parts.finished, &makers, &self->device, error);
}

static void close_group(group *self)
{
    ics_device_destroy(self->device);
    for (int i = 0; i < MEMBERS; ++i) {
        ck_assert(!self->scripts[i].made);
    }
    close_parts(self);
}

/* Makes a CPU, which is tested without a group. */
static void open_cpu(group *self, const world *here)
{
    icestream_error error = {0};
    open_parts(self, here);
    ck_assert_int_eq(ics_device_cpu_create(&self->parts, ICS_CPU_PIECES, &self->cpu, &error),
                     ICESTREAM_OK);
}

static void close_cpu(group *self)
{
    self->cpu.functions->destroy(self->cpu.self);
    close_parts(self);
}

/* Makes the next batch of the steps. */
static ics_batch *make_batch(ics_step_cursor *cursor, uint32_t index, uint64_t photons)
{
    icestream_error error = {0};
    const ics_batch_limits limits = ics_batch_limits_default();
    ics_batch *batch = NULL;
    bool full = false;
    ck_assert_int_eq(ics_batch_create(&limits, photons, &batch, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_batch_fill(batch, cursor, &full, &error), ICESTREAM_OK);
    batch->index = index;
    return batch;
}

static void submit_batch(group *self, ics_batch *batch)
{
    self->out++;
    if (self->device != NULL) {
        ck_assert(ics_device_submit(self->device, batch));
    } else {
        self->cpu.functions->submit(self->cpu.self, batch);
    }
}

/* Waits for a batch that the group has finished. */
static ics_batch *take_batch(group *self)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_SECONDS;
    pthread_mutex_lock(&self->lock);
    while (STAILQ_EMPTY(&self->finished)) {
        ck_assert_int_eq(pthread_cond_timedwait(&self->changed, &self->lock, &until), 0);
    }
    ics_job *job = ICS_QUEUE_TAKE(&self->finished, link);
    pthread_mutex_unlock(&self->lock);
    self->out--;
    return ics_batch_of_job(job);
}

/* The sum of the batches that came back. */
typedef struct outcome {
    icestream_hit *hits;
    size_t hit_count;
    icestream_account account;
    uint32_t done, failed;
    icestream_error error; /* of the last batch that failed */
} outcome;

static void add_outcome(outcome *sum, ics_batch *batch)
{
    if (batch->error.status != ICESTREAM_OK) {
        sum->failed++;
        ics_error_copy_kept(&sum->error, &batch->error);
    } else {
        sum->done++;
        ck_assert_int_eq(batch->maths, ICS_MATHS_PORTABLE);
        ck_assert_uint_eq(batch->account.created, batch->photons);
        ics_batch_account_add(&sum->account, &batch->account);
        sum->hits =
            realloc(sum->hits, (sum->hit_count + batch->hit_count + 1) * sizeof(icestream_hit));
        ck_assert_ptr_nonnull(sum->hits);
        if (batch->hit_count > 0) {
            memcpy(sum->hits + sum->hit_count, batch->hits,
                   batch->hit_count * sizeof(icestream_hit));
        }
        sum->hit_count += batch->hit_count;
    }
    ics_batch_destroy(batch);
}

/* Adds all batches that the group still holds, when it has finished them. */
static void take_all(group *self, outcome *sum)
{
    while (self->out > 0) {
        add_outcome(sum, take_batch(self));
    }
}

static void unblock_all(group *self)
{
    for (int i = 0; i < MEMBERS; ++i) {
        if (self->scripts[i].made) {
            unblock(&self->scripts[i]);
        }
    }
}

/* Computes all steps with the group, which holds as many batches as it can at all times. Checks
 * that every batch comes back once. The caller frees the hits. */
static outcome send_all(group *self, const world *here)
{
    outcome sum = {0};
    ics_step_cursor cursor = {.steps = here->steps, .count = STEPS};
    uint32_t count = 0;
    while (count < BATCHES) {
        const uint64_t photons = count == 10 ? 20000 : count + 1 == BATCHES ? 0 : BATCH_PHOTONS;
        while (self->out >= ics_device_credits(self->device)) {
            add_outcome(&sum, take_batch(self));
        }
        ics_batch *batch = make_batch(&cursor, count, photons);
        if (batch->count == 0) {
            ics_batch_destroy(batch);
            break;
        }
        submit_batch(self, batch);
        if (++count == ics_device_credits(self->device)) {
            unblock_all(self);
        }
    }
    unblock_all(self);
    ck_assert(cursor.count == 0 || cursor.first_photon == cursor.steps->photons);
    take_all(self, &sum);
    ck_assert_uint_gt(count, 10);
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(self->returned[i], 1);
    }
    ck_assert_uint_eq(sum.done + sum.failed, count);
    return sum;
}

/* Checks that no batch failed and that the hits are those of the CPU. Frees the hits. */
static void check_outcome(outcome *sum, const world *here)
{
    ck_assert_msg(sum->failed == 0, "%s", sum->error.text);
    ck_assert_uint_eq(sum->account.created, here->account.created);
    ck_assert_uint_eq(sum->account.bounces, here->account.bounces);
    ck_assert_uint_eq(sum->hit_count, here->hit_count);
    ics_hit_sort(sum->hits, sum->hit_count);
    ck_assert_int_eq(memcmp(sum->hits, here->hits, sum->hit_count * sizeof(icestream_hit)), 0);
    free(sum->hits);
}

#endif
