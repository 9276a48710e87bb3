#include "pipeline/photons/engine/engine.h"

#include "base/container.h"
#include "base/error.h"

#include <stdlib.h>

/* ---- counting -------------------------------------------------------------------------------- */

static void count_out(ics_propagation *propagation)
{
    propagation->out++;
    propagation->engine->out++;
}

static void count_back(ics_propagation *propagation)
{
    propagation->out--;
    propagation->engine->out--;
}

/* ---- from the source to the device ----------------------------------------------------------- */

void ics_engine_read(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_propagation *propagation = ICS_CONTAINER_OF(job, ics_propagation, job);
    const ics_engine *engine = propagation->engine;
    const uint64_t photons =
        ics_batch_choose_photons(&propagation->limits, engine->batch_photons, propagation->photons);
    propagation->error.status = ICESTREAM_OK;
    if (propagation->skips) {
        propagation->feed.cursor = (ics_step_cursor){0};
    }
    ics_step_feed_fill(&propagation->feed, &propagation->source, &propagation->limits, photons,
                       engine->least_beta, &propagation->batch, &propagation->error);
}

/* The owner may free the propagation. */
static void take_read(ics_propagation *propagation)
{
    ics_engine *engine = propagation->engine;
    ics_batch *batch = propagation->batch;
    propagation->batch = NULL;
    if (batch != NULL) {
        batch->owner = propagation;
        batch->index = propagation->batches++;
        STAILQ_INSERT_TAIL(&engine->queue, &batch->job, link);
        engine->queued++;
        count_out(propagation);
    } else {
        engine->credits++;
    }
    engine->owner.read(propagation);
}

static void read_done(ics_job *job)
{
    ics_propagation *propagation = ICS_CONTAINER_OF(job, ics_propagation, job);
    job->out = false;
    count_back(propagation);
    take_read(propagation);
}

static void read_next(ics_engine *engine, ics_propagation *propagation)
{
    ics_job *job = &propagation->job;
    engine->credits--;
    propagation->engine = engine;
    propagation->limits = ics_device_batch_limits(engine->device);
    propagation->batch = ics_batch_of_job(ICS_QUEUE_TAKE(&engine->spare, link));
    job->run = ics_engine_read;
    job->done = read_done;
    if (propagation->reader == NULL) {
        ics_engine_read(job, NULL);
        take_read(propagation);
    } else if (ics_workers_submit(propagation->reader, job)) {
        job->out = true;
        count_out(propagation);
    } else {
        ics_batch_destroy(propagation->batch);
        propagation->batch = NULL;
        ics_error_set(&propagation->error, ICESTREAM_E_FAILED,
                      "internal error: a queue of readers is too short");
        take_read(propagation);
    }
}

/* ---- from the device to the sink ------------------------------------------------------------- */

/* The owner may free the propagation. */
static void end_batch(ics_batch *batch)
{
    ics_propagation *propagation = batch->owner;
    ics_engine *engine = propagation->engine;
    icestream_error error;
    ics_batch_error(batch, propagation->name, &error);
    ics_batch_clear_results(batch);
    engine->credits++;
    STAILQ_INSERT_HEAD(&engine->spare, &batch->job, link);
    count_back(propagation);
    engine->owner.stored(propagation, &error);
}

void ics_engine_store(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_batch *batch = ics_batch_of_job(job);
    const ics_hit_sink *sink = &((const ics_propagation *)batch->owner)->sink;
    icestream_error error = {.status = ICESTREAM_OK};
    sink->add(sink->user, batch, &error);
    ics_error_keep(&batch->error, &error);
}

static void store_done(ics_job *job)
{
    end_batch(ics_batch_of_job(job));
}

static void add_sums(ics_engine_sums *sums, const ics_batch *batch)
{
    ics_batch_account_add(&sums->account, &batch->account);
    ics_weight_sum_join(&sums->weights, &batch->weights);
    ics_light_levels_add(&sums->light, &batch->light);
    sums->seconds += batch->seconds;
}

static void compute_done(ics_job *job)
{
    ics_batch *batch = ics_batch_of_job(job);
    ics_propagation *propagation = batch->owner;
    ics_engine *engine = propagation->engine;
    const bool wanted = engine->owner.computed(propagation, batch);
    if (!wanted || batch->error.status != ICESTREAM_OK) {
        end_batch(batch);
        return;
    }
    add_sums(&engine->sums, batch);
    job->run = ics_engine_store;
    job->done = store_done;
    if (propagation->writer == NULL) {
        ics_engine_store(job, NULL);
        end_batch(batch);
    } else if (!ics_workers_submit(propagation->writer, job)) {
        icestream_error full;
        ics_error_set(&full, ICESTREAM_E_FAILED,
                      "internal error: the queue of a writer is too short");
        ics_error_keep(&batch->error, &full);
        end_batch(batch);
    }
}

static void submit_batches(ics_engine *engine)
{
    ics_job *job;
    while ((job = STAILQ_FIRST(&engine->queue)) != NULL) {
        STAILQ_REMOVE_HEAD(&engine->queue, link); /* before another thread links the job */
        job->done = compute_done;
        if (!ics_device_submit(engine->device, ics_batch_of_job(job))) {
            STAILQ_INSERT_HEAD(&engine->queue, job, link);
            return;
        }
        engine->queued--;
    }
}

static void destroy_batches(ics_job_queue *batches)
{
    for (ics_job *job; (job = ICS_QUEUE_TAKE(batches, link)) != NULL;) {
        ics_batch_destroy(ics_batch_of_job(job));
    }
}

void ics_engine_turn(ics_engine *engine)
{
    ics_propagation *propagation;
    submit_batches(engine);
    while (engine->credits > 0 && (propagation = engine->owner.next(engine->owner.user)) != NULL) {
        read_next(engine, propagation);
        submit_batches(engine); /* the device begins before the next batch is made */
    }
    if (engine->out == 0) {
        destroy_batches(&engine->spare);
    }
}

int ics_engine_begin_reading(ics_propagation *propagation)
{
    return ics_step_feed_begin(&propagation->feed);
}

void ics_engine_end_reading(ics_propagation *propagation)
{
    ics_step_feed_end(&propagation->feed);
}

/* ---- jobs that come back --------------------------------------------------------------------- */

static void receive(void *user, ics_job *job)
{
    ics_engine *engine = user;
    pthread_mutex_lock(&engine->lock);
    STAILQ_INSERT_TAIL(&engine->came_back, job, link);
    pthread_cond_signal(&engine->changed);
    pthread_mutex_unlock(&engine->lock);
}

ics_post ics_engine_post(ics_engine *engine)
{
    return (ics_post){.post = receive, .user = engine};
}

void ics_engine_wake(ics_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    engine->woken = true;
    pthread_cond_signal(&engine->changed);
    pthread_mutex_unlock(&engine->lock);
}

void ics_engine_wait(ics_engine *engine)
{
    ics_job_queue came_back;
    STAILQ_INIT(&came_back);
    pthread_mutex_lock(&engine->lock);
    while (STAILQ_EMPTY(&engine->came_back) && !engine->woken) {
        pthread_cond_wait(&engine->changed, &engine->lock);
    }
    engine->woken = false;
    STAILQ_CONCAT(&came_back, &engine->came_back);
    pthread_mutex_unlock(&engine->lock);
    for (ics_job *job; (job = ICS_QUEUE_TAKE(&came_back, link)) != NULL;) {
        job->done(job);
    }
}

/* ---- the engine itself ----------------------------------------------------------------------- */

int ics_engine_create(const ics_engine_parts *parts, ics_engine **out, icestream_error *error)
{
    ics_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory");
    }
    pthread_mutex_init(&engine->lock, NULL); /* these cannot fail on Linux */
    pthread_cond_init(&engine->changed, NULL);
    STAILQ_INIT(&engine->queue);
    STAILQ_INIT(&engine->spare);
    STAILQ_INIT(&engine->came_back);
    engine->batch_photons = parts->batch_photons;
    engine->least_beta = parts->least_beta;
    const ics_post to = parts->loop.post != NULL ? parts->loop : ics_engine_post(engine);
    const int status =
        ics_device_create(parts->device, parts->tables, parts->models, to, &engine->device, error);
    if (status != ICESTREAM_OK) {
        ics_engine_destroy(engine);
        return status;
    }
    engine->credits = (int32_t)(ics_device_credits(engine->device) + parts->ahead);
    *out = engine;
    return ICESTREAM_OK;
}

void ics_engine_destroy(ics_engine *engine)
{
    if (engine == NULL) {
        return;
    }
    ics_device_destroy(engine->device);
    destroy_batches(&engine->queue);
    destroy_batches(&engine->came_back);
    destroy_batches(&engine->spare);
    pthread_cond_destroy(&engine->changed);
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}

void ics_engine_allow_more(ics_engine *engine, int32_t batches)
{
    engine->credits += batches;
}
