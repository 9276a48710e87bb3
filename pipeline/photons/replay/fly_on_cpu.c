#include "base/error.h"
#include "base/new.h"
#include "pipeline/photons/replay/fly.h"
#include "pipeline/photons/replay/results.h"

#include <stdlib.h>
#include <string.h>

struct ice_walk;
struct ice_path_point;
static int put_point(struct ice_walk *walk, const struct ice_path_point *point);
#define ICE_PUT_POINT(walk, tables, point) ((void)(tables), put_point(walk, point))
#define ICE_WANTS_ENDS                     0
#include "stages/path_ice.h"

/* Consecutive hits of the list, and their results. One thread at a time works on it. */
typedef struct replay_job {
    ice_walk walk; /* the photon that is followed; the first member */
    ics_job job;
    const ics_replay_options *options;
    ics_replay_results results;

    /* The sums of the photon. */
    ice_path_ice *ices; /* [ice_count], the own one first */
    ice_path_state *states;
    ice_path_end *ends;
    size_t ice_count;
    ice_layer_sums path, at_hit;
    ice_layer_sum *layers; /* [path.slots], of a hit */
    ice_angle_sums angles;
    size_t first, end, missing; /* its hits: first .. end - 1; how many were not found yet */
} replay_job;

/* ---- the path -------------------------------------------------------------------------------- */

static void begin_path(replay_job *job, float wavelength)
{
    for (size_t i = 0; i < job->ice_count; ++i) {
        job->states[i] = ice_path_begin(&job->ices[i], wavelength);
    }
    if (job->options->sums) {
        ice_layer_sums_clear(&job->path);
    }
    job->angles = (ice_angle_sums){.mean_cosine = 0.0};
}

static void add_scatter(replay_job *job, const ice_path_point *point)
{
    const bool sums = job->options->sums;
    ice_path_add_scatter(&job->ices[0], &job->states[0], point, sums ? &job->path : NULL,
                         &job->angles);
    for (size_t i = 1; i < job->ice_count; ++i) {
        ice_path_add_scatter(&job->ices[i], &job->states[i], point, NULL, NULL);
    }
}

/* Finds what the path of a hit gives. */
static ics_replay_path path_of(replay_job *job, const ice_path_point *point)
{
    ics_replay_path path = {.ends = job->ends, .layers = job->layers, .angles = job->angles};
    ice_layer_sums *sums = NULL;
    if (job->options->sums) {
        sums = &job->at_hit;
        ice_layer_sums_copy(sums, &job->path);
    }
    for (size_t i = 0; i < job->ice_count; ++i) {
        job->ends[i] = ice_path_end_at(&job->ices[i], &job->states[i], point, i == 0 ? sums : NULL);
    }
    if (sums != NULL) {
        uint32_t slot = sums->low;
        while (ice_layer_sums_next(sums, &slot, &job->layers[path.layer_count])) {
            path.layer_count += 1;
        }
    }
    return path;
}

/* What ends a path early. */
enum { ALL_FOUND = 1 };

static int take_hit(replay_job *job, const ice_path_point *point)
{
    ics_replay_results *results = &job->results;
    icestream_hit hit;
    ICS_TRY(ics_replay_results_make_hit(results, job->first, point->arrival, &hit));
    for (size_t i = job->first; i < job->end; ++i) {
        if (!results->found[i].is_found && ics_replay_is_same_path(&results->hits[i], &hit)) {
            const ics_replay_path path = path_of(job, point);
            ICS_TRY(ics_replay_results_put(results, i, &path));
            job->missing -= 1;
        }
    }
    return job->missing == 0 ? ALL_FOUND : ICESTREAM_OK;
}

static int put_point(ice_walk *walk, const ice_path_point *point)
{
    replay_job *job = (replay_job *)(void *)walk;
    switch (point->kind) {
    case ICE_POINT_START:
        begin_path(job, point->wavelength);
        return ICESTREAM_OK;
    case ICE_POINT_SCATTER:
        add_scatter(job, point);
        return ICESTREAM_OK;
    case ICE_POINT_HIT:
        return take_hit(job, point);
    case ICE_POINT_UNREACHED:
        for (size_t i = 0; i < job->ice_count; ++i) {
            ice_path_add_unreached(&job->ices[i], &job->states[i], point);
        }
        return ICESTREAM_OK;
    case ICE_POINT_ABSORBED:
    case ICE_POINT_LEFT:
    case ICE_POINT_STOPPED:
        break;
    }
    return ICESTREAM_OK;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* Replays one photon, that of the hits first .. end - 1. */
static int replay_photon(replay_job *job)
{
    const ics_replay_options *options = job->options;
    const uint32_t photon_id = job->results.hits[job->first].photon_id;
    const ice_emission emission =
        ics_batch_step_emission(&job->results.steps[job->first], photon_id, 1);
    ice_walk *walk = &job->walk;
    job->missing = job->end - job->first;
    ice_walk_begin(walk, &options->variants, options->models.tables, &emission, 0, photon_id);
    while (ice_walk_goes_on(walk)) {
        ice_walk_segment(walk, &options->variants, options->models.tables);
    }
    return walk->result < 0 ? walk->result
                            : ics_replay_results_check(&job->results, job->first, job->end);
}

static void run_job(ics_job *of, void *thread_state)
{
    replay_job *job = ICS_CONTAINER_OF(of, replay_job, job);
    const ics_replay_results *results = &job->results;
    int status = ICESTREAM_OK;
    (void)thread_state;
    for (job->first = 0; job->first < results->count && status == ICESTREAM_OK;
         job->first = job->end) {
        job->end = ics_replay_photon_end(results->hits, results->count, job->first);
        status = replay_photon(job);
    }
}

enum { JOB_HITS = 256 };

static ice_layer_sums create_sums(uint32_t layers)
{
    const ice_layer_sums sums = {ICS_NEW_ARRAY(ice_layer_sum, layers + 1), layers + 1, layers + 1,
                                 0};
    return sums;
}

static void prepare_job(replay_job *job, const ics_replay_options *options)
{
    const ice_tables *own = options->models.tables;
    job->job.run = run_job;
    job->options = options;
    job->results = ics_replay_results_create(options);
    job->ice_count = 1 + options->target_count;
    job->ices = ICS_NEW_ARRAY(ice_path_ice, job->ice_count);
    job->states = ICS_NEW_ARRAY(ice_path_state, job->ice_count);
    job->ends = ICS_NEW_ARRAY(ice_path_end, job->ice_count);
    job->ices[0] = (ice_path_ice){own, options->variants.scatter, 1, options->angles};
    for (size_t i = 0; i < options->target_count; ++i) {
        const ics_replay_target *target = &options->targets[i];
        const bool needs_angles = job->results.needs_angles[i];
        job->ices[1 + i] =
            (ice_path_ice){&target->tables->device, target->scatter, 0, needs_angles};
        job->ices[0].needs_angles |= needs_angles;
    }
    job->path = create_sums((uint32_t)own->layer_count);
    job->at_hit = create_sums((uint32_t)own->layer_count);
    job->layers = ICS_NEW_ARRAY(ice_layer_sum, job->path.slots + 1);
}

static void free_job(replay_job *job)
{
    ics_replay_results_free(&job->results);
    free(job->ices);
    free(job->states);
    free(job->ends);
    free(job->path.items);
    free(job->at_hit.items);
    free(job->layers);
}

/* ---- the list -------------------------------------------------------------------------------- */

/* A list that is replayed: the jobs of one round after the other. */
typedef struct replay {
    ics_replay_crew *crew;
    replay_job *jobs; /* [job_count] */
    ics_job **round;  /* [job_count], the same */
    size_t job_count;
} replay;

static int replay_list(replay *r, const icestream_hit *hits, const icestream_step *steps,
                       size_t count, const ics_replay_sink *sink, icestream_error *error)
{
    for (size_t first = 0; first < count;) {
        size_t jobs = 0;
        for (size_t next = first; jobs < r->job_count && next < count; ++jobs) {
            const size_t now = count - next < JOB_HITS ? count - next : JOB_HITS;
            ics_replay_results_begin(&r->jobs[jobs].results, &hits[next], &steps[next], now);
            next += now;
        }
        ics_replay_crew_work(r->crew, r->round, jobs);
        for (size_t i = 0; i < jobs; ++i) {
            const ics_replay_results *results = &r->jobs[i].results;
            ICS_TRY(ics_replay_results_give(results, first, sink, error));
            first += results->count;
        }
    }
    return ICESTREAM_OK;
}

int ics_replay_fly_on_cpu(const ics_replay_options *options, const icestream_hit *hits,
                          const icestream_step *steps, size_t count, const ics_replay_sink *sink,
                          icestream_error *error)
{
    const uint32_t threads = ics_workers_thread_count(options->threads);
    replay r = {.job_count = 4 * (size_t)threads};
    ICS_TRY(ics_replay_crew_create(threads, (uint32_t)r.job_count, &r.crew, error));
    r.jobs = ICS_NEW_ARRAY(replay_job, r.job_count);
    r.round = ICS_NEW_ARRAY(ics_job *, r.job_count);
    for (size_t i = 0; i < r.job_count; ++i) {
        prepare_job(&r.jobs[i], options);
        r.round[i] = &r.jobs[i].job;
    }
    const int status = replay_list(&r, hits, steps, count, sink, error);
    ics_replay_crew_destroy(r.crew);
    for (size_t i = 0; i < r.job_count; ++i) {
        free_job(&r.jobs[i]);
    }
    free(r.jobs);
    free(r.round);
    return status;
}
