/* A group of devices at work: which member gets a batch, and what happens when one fails. */
#include "pipeline/devices/device_group.h"

#include "base/error.h"
#include "pipeline/telemetry/progress.h"

#include <stdlib.h>

/* ---- dispatch -------------------------------------------------------------------------------- */

/* The member that would be done first with a batch, behind what it holds and `ahead` photons. */
static uint32_t first_to_finish(const ics_device_group *group,
                                const uint64_t ahead[ICS_MEMBERS_MAX], uint64_t photons, double now)
{
    uint32_t best = ICS_MEMBERS_MAX;
    double best_seconds = 0.0;
    for (uint32_t i = 0; i < group->count; ++i) {
        const ics_device_member *member = &group->members[i];
        if (member->lost) {
            continue;
        }
        double seconds = ics_device_meter_finish(&member->meter, ahead[i], photons, now);
        if (best == ICS_MEMBERS_MAX || seconds < best_seconds) {
            best = i;
            best_seconds = seconds;
        }
    }
    return best;
}

/* With the lock. Takes a batch from the queue and finds its member; NULL: all that wait had better
 * wait on. Batches are dealt out in thought, in their order; the first one whose member has room is
 * taken. So a slow member gets one only if the queue in front of the fast ones is so long that it
 * would be done before them. */
static ics_batch *pick_batch(ics_device_group *group, ics_device_member **out)
{
    uint64_t ahead[ICS_MEMBERS_MAX] = {0};
    const double now = ics_progress_seconds();
    if (group->alive == 0) {
        return NULL;
    }
    ics_job *job;
    STAILQ_FOREACH(job, &group->queue, link)
    {
        ics_batch *batch = (ics_batch *)job;
        const uint32_t best = first_to_finish(group, ahead, batch->photons, now);
        ics_device_member *member = &group->members[best];
        if (member->meter.held < member->backend.credits) {
            STAILQ_REMOVE(&group->queue, job, ics_job, link);
            ics_device_meter_take(&member->meter, batch->photons, now);
            *out = member;
            return batch;
        }
        ahead[best] += batch->photons;
    }
    return NULL;
}

/* Hands out what can be handed out. Without the lock; a member may give batches back before its
 * submit returns, and those then find this thread at work. */
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

/* The batch leaves the group. Without the lock. */
static void post_batch(ics_device_group *group, ics_batch *batch)
{
    pthread_mutex_lock(&group->lock);
    group->held--;
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->lock);
    group->parts.finished.post(group->parts.finished.user, &batch->job);
}

static void post_failed(ics_device_group *group, ics_batch *batch)
{
    ics_error_copy(&batch->error, &group->failure); /* nothing writes to it any more */
    post_batch(group, batch);
}

/* As it was before it came to a device. */
static void renew_batch(ics_batch *batch)
{
    free(batch->hits);
    ics_graph_arrivals_free(&batch->arrivals);
    batch->hits = NULL;
    batch->hit_count = 0;
    batch->account = (icestream_account){0};
    batch->ended = (ice_account){0};
    batch->maths = ICS_MATHS_NONE;
    batch->seconds = 0.0;
    batch->error.status = ICESTREAM_OK;
}

void ics_device_group_submit(void *self, ics_batch *batch)
{
    ics_device_group *group = self;
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

/* With the lock: a member is no more; false: that is known. */
static bool mark_lost(ics_device_member *member, const icestream_error *why)
{
    ics_device_group *group = member->group;
    if (member->lost || group->closing) {
        return false;
    }
    member->lost = true;
    group->alive--;
    ics_error_add(&group->failure, why->status, "%s", why->text);
    return true;
}

/* Without the lock. */
static void tell_loss(const ics_device_member *member, const icestream_error *why, uint32_t alive)
{
    char lines[sizeof why->text + 128];
    snprintf(lines, sizeof lines, "%s\n%s is given up; %s", why->text, member->name,
             alive > 0 ? "what it did not finish starts anew on the others"
                       : "no other device is left");
    member->group->parts.note(member->group->parts.note_user, true, lines);
}

/* All batches that wait end with the failure. Without the lock. */
static void fail_waiting(ics_device_group *group)
{
    for (;;) {
        pthread_mutex_lock(&group->lock);
        ics_batch *batch = (ics_batch *)ICS_QUEUE_TAKE(&group->queue, link);
        pthread_mutex_unlock(&group->lock);
        if (batch == NULL) {
            return;
        }
        post_failed(group, batch);
    }
}

/* No member is left: a CPU comes in, or all is over. Without the lock, with `rescuing` set, so that
 * this happens once. */
static void rescue(ics_device_group *group)
{
    icestream_error problem = {.status = ICESTREAM_OK};
    int status = ICESTREAM_E_DEVICE;
    const ics_device_maker maker = ics_device_cpu_maker(&group->options, 0);
    if (ics_device_group_may_rescue(group)) {
        status = ics_device_group_add(group, &maker, &problem);
    }
    if (status == ICESTREAM_OK) {
        ics_device_group_tell_rescue(group, maker.threads, true);
    }
    pthread_mutex_lock(&group->lock);
    if (status != ICESTREAM_OK) {
        if (problem.status != ICESTREAM_OK) {
            ics_error_add(&group->failure, problem.status, "device.fallback cpu: %s", problem.text);
        }
        group->failed = true;
    }
    group->rescuing = false;
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->lock);
    if (status != ICESTREAM_OK) {
        fail_waiting(group);
    } else {
        dispatch(group);
    }
}

/* A member is lost. Its batches come back by themselves. Without the lock. */
static void lose_member(ics_device_member *member, const icestream_error *why)
{
    ics_device_group *group = member->group;
    pthread_mutex_lock(&group->lock);
    const bool news = mark_lost(member, why);
    const uint32_t alive = group->alive;
    group->rescuing |= news && alive == 0;
    pthread_mutex_unlock(&group->lock);
    if (news) {
        tell_loss(member, why, alive);
    }
    if (news && alive == 0) {
        rescue(group);
    }
}

void ics_device_group_lost(void *user, const icestream_error *why)
{
    lose_member(user, why);
}

/* ---- what comes back ------------------------------------------------------------------------- */

/* Whether a batch says that its member cannot be believed: numbers that do not add up, a hit that
 * no model explains. */
static bool is_impossible(const ics_batch *batch)
{
    return batch->error.status == ICESTREAM_E_FAILED;
}

/* With the lock. Whether a batch is to be computed again: it came from a device that is lost, and
 * its error is the device's and not its own. */
static bool starts_anew(const ics_device_member *member, const ics_batch *batch)
{
    const int status = batch->error.status;
    if (!member->lost || member->group->failed || status == ICESTREAM_E_INTERRUPTED) {
        return false;
    }
    return member->distrusted || (status != ICESTREAM_OK && status != ICESTREAM_E_INPUT);
}

/* From members: a batch is computed, or not. */
void ics_device_group_take_back(void *user, ics_job *job)
{
    ics_device_member *member = user;
    ics_device_group *group = member->group;
    ics_batch *batch = (ics_batch *)job;
    pthread_mutex_lock(&group->lock);
    ics_device_meter_give(&member->meter, batch->photons, batch->error.status == ICESTREAM_OK,
                          ics_progress_seconds());
    const bool impossible = !member->lost && is_impossible(batch);
    member->distrusted |= impossible;
    pthread_mutex_unlock(&group->lock);
    if (impossible) {
        lose_member(member, &batch->error);
    }
    pthread_mutex_lock(&group->lock);
    const bool anew = starts_anew(member, batch);
    if (anew) {
        renew_batch(batch);
        /* A batch that a device has had goes first: its file has waited longest. */
        STAILQ_INSERT_HEAD(&group->queue, &batch->job, link);
    }
    pthread_mutex_unlock(&group->lock);
    if (!anew) {
        post_batch(group, batch);
    }
    dispatch(group);
}
