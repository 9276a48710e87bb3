/* How a group divides its batches between its members, and what happens when a member is lost. */
#include "pipeline/devices/device_group.h"

#include "base/clock.h"
#include "base/error.h"
#include "pipeline/devices/device_group_members.h"

#include <stdlib.h>

/* ---- dispatch -------------------------------------------------------------------------------- */

/* Returns the index of the member that would finish a batch first, after all that the member holds
 * and the `ahead` photons of its index. At least one member is alive. */
static uint32_t first_to_finish(const ics_device_group *group,
                                const uint64_t ahead[ICS_DEVICE_MEMBERS_MAX], uint64_t photons,
                                double now)
{
    uint32_t best = ICS_DEVICE_MEMBERS_MAX;
    double best_seconds = 0.0;
    for (uint32_t i = 0; i < group->count; ++i) {
        const ics_device_member *member = &group->members[i];
        if (member->lost) {
            continue;
        }
        double seconds = ics_device_meter_finish(&member->meter, ahead[i], photons, now);
        if (best == ICS_DEVICE_MEMBERS_MAX || seconds < best_seconds) {
            best = i;
            best_seconds = seconds;
        }
    }
    return best;
}

/* Chooses the next batch and the member that should compute it, and removes the batch from the
 * queue. Returns NULL if every batch should wait. The caller holds the lock.
 *
 * Goes through the waiting batches in order, assigns each to the member that would finish it first,
 * and stops at the first batch whose member has room. So a slow member gets a batch only if so much
 * work waits for the fast members that the slow one would still finish earlier. */
static ics_batch *pick_batch(ics_device_group *group, ics_device_member **out)
{
    uint64_t ahead[ICS_DEVICE_MEMBERS_MAX] = {0};
    const double now = ics_clock_seconds();
    if (group->alive == 0) {
        return NULL;
    }
    ics_job *job;
    STAILQ_FOREACH(job, &group->queue, link)
    {
        ics_batch *batch = ics_batch_of_job(job);
        const uint32_t best = first_to_finish(group, ahead, batch->photons, now);
        ics_device_member *member = &group->members[best];
        if (member->meter.held < member->backend.credits) {
            STAILQ_REMOVE(&group->queue, job, ics_job, link);
            ics_device_meter_add(&member->meter, batch->photons, now);
            *out = member;
            return batch;
        }
        ahead[best] += batch->photons;
    }
    return NULL;
}

/* Gives waiting batches to the members that have room. The caller does not hold the lock. A member
 * may return batches before its submit() returns; the dispatch() of that batch then leaves the work
 * to this one. */
static void dispatch(ics_device_group *group)
{
    pthread_mutex_lock(&group->lock);
    if (group->dispatching) {
        pthread_mutex_unlock(&group->lock);
        return;
    }
    group->dispatching = true;
    ics_device_member *member = NULL;
    for (ics_batch *batch; (batch = pick_batch(group, &member)) != NULL;) {
        pthread_mutex_unlock(&group->lock);
        member->backend.functions->submit(member->backend.self, batch);
        pthread_mutex_lock(&group->lock);
    }
    group->dispatching = false;
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->lock);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* The batch leaves the group. The caller does not hold the lock. */
static void post_batch(ics_device_group *group, ics_batch *batch)
{
    pthread_mutex_lock(&group->lock);
    group->held--;
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->lock);
    group->parts.finished.post(group->parts.finished.user, &batch->job);
}

/* Only after group->failed is set: `failure` does not change any more. */
static void post_failed(ics_device_group *group, ics_batch *batch)
{
    ics_batch_fail(batch, &group->failure);
    post_batch(group, batch);
}

void ics_device_group_submit(ics_device_group *group, ics_batch *batch)
{
    pthread_mutex_lock(&group->lock);
    group->held++;
    const bool failed = group->failed;
    if (!failed) {
        STAILQ_INSERT_TAIL(&group->queue, &batch->job, link);
    }
    pthread_mutex_unlock(&group->lock);
    if (failed) {
        post_failed(group, batch);
    } else {
        dispatch(group);
    }
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Marks a member as lost. Returns false if it is marked already. The caller holds the lock. */
static bool mark_lost(ics_device_member *member, const icestream_error *why)
{
    ics_device_group *group = member->group;
    if (member->lost || group->closing) {
        return false;
    }
    member->lost = true;
    group->alive--;
    ics_device_group_members_blame(group, why->status, "", why->text);
    return true;
}

static void log_loss(const ics_device_member *member, const icestream_error *why, uint32_t alive)
{
    char lines[sizeof why->text + 128];
    snprintf(lines, sizeof lines, "%s\n%s is given up; %s", why->text, member->name,
             alive > 0 ? "its unfinished batches start again on the other devices"
                       : "no other device is left");
    member->group->parts.note(member->group->parts.note_user, true, lines);
}

/* Ends all waiting batches with the failure. The caller does not hold the lock. */
static void fail_waiting(ics_device_group *group)
{
    for (;;) {
        pthread_mutex_lock(&group->lock);
        ics_batch *batch = ics_batch_of_job(ICS_QUEUE_TAKE(&group->queue, link));
        pthread_mutex_unlock(&group->lock);
        if (batch == NULL) {
            return;
        }
        post_failed(group, batch);
    }
}

/* No member is left: a CPU continues, or the group has failed. The caller has set `replacing`, so
 * that this happens once, and does not hold the lock. */
static void replace_members(ics_device_group *group)
{
    const int status = ics_device_group_members_add_cpu(group, true, NULL);
    pthread_mutex_lock(&group->lock);
    group->failed = status != ICESTREAM_OK;
    group->replacing = false;
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->lock);
    if (status != ICESTREAM_OK) {
        fail_waiting(group);
    } else {
        dispatch(group);
    }
}

/* A member is lost. It returns its batches after this. The caller does not hold the lock. */
static void lose_member(void *user, const icestream_error *why)
{
    ics_device_member *member = user;
    ics_device_group *group = member->group;
    pthread_mutex_lock(&group->lock);
    const bool first_report = mark_lost(member, why);
    const uint32_t alive = group->alive;
    group->replacing |= first_report && alive == 0;
    pthread_mutex_unlock(&group->lock);
    if (first_report) {
        log_loss(member, why, alive);
    }
    if (first_report && alive == 0) {
        replace_members(group);
    }
}

/* ---- batches that come back ------------------------------------------------------------------ */

/* Whether the result of a batch shows that its member computes wrongly: an account that does not
 * close, or a hit that no model explains. */
static bool is_impossible(const ics_batch *batch)
{
    return batch->error.status == ICESTREAM_E_FAILED;
}

/* Whether a batch must be computed again: its member is lost, and the member caused its error. The
 * caller holds the lock. */
static bool has_to_start_again(const ics_device_member *member, const ics_batch *batch)
{
    const int status = batch->error.status;
    if (!member->lost || member->group->failed || status == ICESTREAM_E_INTERRUPTED) {
        return false;
    }
    return member->distrusted || (status != ICESTREAM_OK && status != ICESTREAM_E_INPUT);
}

/* A member returns a batch, computed or not. */
static void take_back(void *user, ics_job *job)
{
    ics_device_member *member = user;
    ics_device_group *group = member->group;
    ics_batch *batch = ics_batch_of_job(job);
    pthread_mutex_lock(&group->lock);
    ics_device_meter_remove(&member->meter, batch->photons, batch->error.status == ICESTREAM_OK,
                            ics_clock_seconds());
    const bool impossible = !member->lost && is_impossible(batch);
    member->distrusted |= impossible;
    pthread_mutex_unlock(&group->lock);
    if (impossible) {
        icestream_error why;
        ics_error_copy_kept(&why, &batch->error);
        lose_member(member, &why);
    }
    pthread_mutex_lock(&group->lock);
    const bool again = has_to_start_again(member, batch);
    if (again) {
        ics_batch_clear_results(batch);
        /* It goes to the front of the queue, because its file has waited longest. */
        STAILQ_INSERT_HEAD(&group->queue, &batch->job, link);
    }
    pthread_mutex_unlock(&group->lock);
    if (!again) {
        post_batch(group, batch);
    }
    dispatch(group);
}

/* ---- tables ---------------------------------------------------------------------------------- */

int ics_device_group_finish_table(ics_device_group *group, icestream_error *error)
{
    for (uint32_t i = 0; i < group->count; ++i) {
        const ics_device_member *member = &group->members[i];
        if (member->backend.functions == NULL || member->backend.functions->finish_table == NULL) {
            continue;
        }
        if (member->lost) {
            return ics_error_set(error, ICESTREAM_E_FAILED,
                                 "%s was lost, and with it the part of the table that it filled "
                                 "since its sums were last collected",
                                 member->name);
        }
        ICS_TRY(member->backend.functions->finish_table(member->backend.self, error));
    }
    return ICESTREAM_OK;
}

/* ---- creation -------------------------------------------------------------------------------- */

int ics_device_group_create(const ics_device_parts *parts, const ics_device_maker *makers,
                            uint32_t count, ics_device_group **out, icestream_error *error)
{
    ics_device_group *group = calloc(1, sizeof *group);
    if (group == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a group of devices");
    }
    group->options = *parts->options;
    group->parts = *parts;
    group->parts.options = &group->options;
    group->asked = count;
    group->finished = take_back;
    group->lost = lose_member;
    STAILQ_INIT(&group->queue);
    pthread_mutex_init(&group->lock, NULL);
    pthread_cond_init(&group->changed, NULL);
    int status = ics_device_choices_create(group->options.gpu_count, &group->parts.choices, error);
    if (status == ICESTREAM_OK) {
        status = ics_device_group_members_create(group, makers, count, error);
    }
    if (status != ICESTREAM_OK) {
        ics_device_group_destroy(group);
        return status;
    }
    *out = group;
    return ICESTREAM_OK;
}

void ics_device_group_destroy(ics_device_group *group)
{
    if (group == NULL) {
        return;
    }
    pthread_mutex_lock(&group->lock);
    while (group->held > 0 || group->dispatching || group->replacing) {
        pthread_cond_wait(&group->changed, &group->lock);
    }
    group->closing = true;
    pthread_mutex_unlock(&group->lock);
    ics_device_group_members_destroy(group);
    ics_device_choices_destroy(group->parts.choices);
    ics_error_forget(&group->failure);
    pthread_cond_destroy(&group->changed);
    pthread_mutex_destroy(&group->lock);
    free(group);
}

uint32_t ics_device_group_credits(const ics_device_group *group)
{
    return group->credits;
}
