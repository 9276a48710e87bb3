/* How a device divides its batches between its members, and what happens when a member is lost. */
#include "pipeline/photons/devices/group.h"

#include "base/clock.h"
#include "base/error.h"

/* ---- dispatch -------------------------------------------------------------------------------- */

/* Returns the index of the member that would finish a batch first, after all that the member holds
 * and the `ahead` photons of its index. At least one member is alive. */
static uint32_t first_to_finish(const ics_device *device,
                                const uint64_t ahead[ICS_DEVICE_MEMBERS_MAX], uint64_t photons,
                                double now)
{
    uint32_t best = ICS_DEVICE_MEMBERS_MAX;
    double best_seconds = 0.0;
    for (uint32_t i = 0; i < device->count; ++i) {
        const ics_device_member *member = &device->members[i];
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
static ics_batch *pick_batch(ics_device *device, ics_device_member **out)
{
    uint64_t ahead[ICS_DEVICE_MEMBERS_MAX] = {0};
    const double now = ics_clock_seconds();
    if (device->alive == 0) {
        return NULL;
    }
    ics_job *job;
    STAILQ_FOREACH(job, &device->queue, link)
    {
        ics_batch *batch = ics_batch_of_job(job);
        const uint32_t best = first_to_finish(device, ahead, batch->photons, now);
        ics_device_member *member = &device->members[best];
        if (member->meter.held < member->backend.credits) {
            STAILQ_REMOVE(&device->queue, job, ics_job, link);
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
static void dispatch(ics_device *device)
{
    pthread_mutex_lock(&device->lock);
    if (device->dispatching) {
        pthread_mutex_unlock(&device->lock);
        return;
    }
    device->dispatching = true;
    ics_device_member *member = NULL;
    for (ics_batch *batch; (batch = pick_batch(device, &member)) != NULL;) {
        pthread_mutex_unlock(&device->lock);
        member->backend.functions->submit(member->backend.self, batch);
        pthread_mutex_lock(&device->lock);
    }
    device->dispatching = false;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* The batch leaves the group. The caller does not hold the lock. */
static void post_batch(ics_device *device, ics_batch *batch)
{
    pthread_mutex_lock(&device->lock);
    device->held--;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    device->finished.post(device->finished.user, &batch->job);
}

/* Only after device->failed is set: `failure` does not change any more. */
static void post_failed(ics_device *device, ics_batch *batch)
{
    ics_batch_fail(batch, &device->failure);
    post_batch(device, batch);
}

bool ics_device_submit(ics_device *device, ics_batch *batch)
{
    pthread_mutex_lock(&device->lock);
    const bool has_room = device->held < device->credits, failed = device->failed;
    if (has_room) {
        device->held++;
        ics_error_forget(&batch->error);
    }
    if (has_room && !failed) {
        STAILQ_INSERT_TAIL(&device->queue, &batch->job, link);
    }
    pthread_mutex_unlock(&device->lock);
    if (has_room && failed) {
        post_failed(device, batch);
    } else if (has_room) {
        dispatch(device);
    }
    return has_room;
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Marks a member as lost. Returns false if it is marked already. The caller holds the lock. */
static bool mark_lost(ics_device_member *member, const icestream_error *why)
{
    ics_device *device = member->device;
    if (member->lost || device->closing) {
        return false;
    }
    member->lost = true;
    device->alive--;
    ics_device_blame(device, why->status, "", why->text);
    return true;
}

static void log_loss(const ics_device_member *member, const icestream_error *why, uint32_t alive)
{
    char lines[sizeof why->text + 128];
    snprintf(lines, sizeof lines, "%s\n%s is given up; %s", why->text, member->name,
             alive > 0 ? "its unfinished batches start again on the other devices"
                       : "no other device is left");
    member->device->parts.note(member->device->parts.note_user, true, lines);
}

/* Ends all waiting batches with the failure. The caller does not hold the lock. */
static void fail_waiting(ics_device *device)
{
    for (;;) {
        pthread_mutex_lock(&device->lock);
        ics_batch *batch = ics_batch_of_job(ICS_QUEUE_TAKE(&device->queue, link));
        pthread_mutex_unlock(&device->lock);
        if (batch == NULL) {
            return;
        }
        post_failed(device, batch);
    }
}

/* No member is left: a CPU continues, or the group has failed. The caller has set `replacing`, so
 * that this happens once, and does not hold the lock. */
static void replace_members(ics_device *device)
{
    const int status = ics_device_add_cpu(device, true, NULL);
    pthread_mutex_lock(&device->lock);
    device->failed = status != ICESTREAM_OK;
    device->replacing = false;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    if (status != ICESTREAM_OK) {
        fail_waiting(device);
    } else {
        dispatch(device);
    }
}

/* A member is lost. It returns its batches after this. The caller does not hold the lock. */
void ics_device_lose_member(void *user, const icestream_error *why)
{
    ics_device_member *member = user;
    ics_device *device = member->device;
    pthread_mutex_lock(&device->lock);
    const bool first_report = mark_lost(member, why);
    const uint32_t alive = device->alive;
    device->replacing |= first_report && alive == 0;
    pthread_mutex_unlock(&device->lock);
    if (first_report) {
        log_loss(member, why, alive);
    }
    if (first_report && alive == 0) {
        replace_members(device);
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
    if (!member->lost || member->device->failed || status == ICESTREAM_E_INTERRUPTED) {
        return false;
    }
    return member->distrusted || (status != ICESTREAM_OK && status != ICESTREAM_E_INPUT);
}

/* A member returns a batch, computed or not. */
void ics_device_receive(void *user, ics_job *job)
{
    ics_device_member *member = user;
    ics_device *device = member->device;
    ics_batch *batch = ics_batch_of_job(job);
    pthread_mutex_lock(&device->lock);
    ics_device_meter_remove(&member->meter, batch->photons, batch->error.status == ICESTREAM_OK,
                            ics_clock_seconds());
    const bool impossible = !member->lost && is_impossible(batch);
    member->distrusted |= impossible;
    pthread_mutex_unlock(&device->lock);
    if (impossible) {
        icestream_error why;
        ics_error_copy_kept(&why, &batch->error);
        ics_device_lose_member(member, &why);
    }
    pthread_mutex_lock(&device->lock);
    const bool again = has_to_start_again(member, batch);
    if (again) {
        ics_batch_clear_results(batch);
        /* It goes to the front of the queue, because its file has waited longest. */
        STAILQ_INSERT_HEAD(&device->queue, &batch->job, link);
    }
    pthread_mutex_unlock(&device->lock);
    if (!again) {
        post_batch(device, batch);
    }
    dispatch(device);
}

/* ---- tables ---------------------------------------------------------------------------------- */

int ics_device_finish_table(ics_device *device, icestream_error *error)
{
    for (uint32_t i = 0; i < device->count; ++i) {
        const ics_device_member *member = &device->members[i];
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
