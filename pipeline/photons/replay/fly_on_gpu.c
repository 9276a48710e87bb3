#include "base/error.h"
#include "base/new.h"
#include "graphs/gpu_replay.h"
#include "pipeline/photons/replay/backend.h"
#include "pipeline/photons/replay/fly.h"
#include "pipeline/photons/replay/results.h"

#include <stdlib.h>
#include <string.h>

enum { JOB_PHOTONS = 1024 };

/* Photons of consecutive hits of the list. */
typedef struct replay_round {
    size_t first, end; /* their hits: first .. end - 1 */
    uint32_t count;    /* photons */
    size_t *hits;      /* [count + 1], the first hit of each photon, and last `end` */
    ice_emission *emissions;
    ics_replay_item *items;
    uint32_t emission_count;
} replay_round;

/* Some photons of the round whose arrivals are there. */
typedef struct gpu_job {
    ics_job job;
    struct gpu_replay *replay;
    uint32_t first, end; /* photons */
    ics_replay_results results;
} gpu_job;

typedef struct gpu_replay {
    const ics_replay_options *options;
    const icestream_hit *hits;
    const icestream_step *steps;
    size_t count;
    ics_gpu_replay *gpu;
    uint32_t most; /* photons of a round */
    replay_round rounds[ICS_GPU_REPLAY_LAUNCHES];
    ics_replay_crew *crew;
    gpu_job *jobs;  /* [job_count] */
    ics_job **work; /* [job_count], the same */
    size_t job_count;
    /* The round whose arrivals are there. */
    const replay_round *landed;
    ics_gpu_replay_output output;
    uint32_t *starts; /* [most + 1], where the arrivals of each photon begin in */
    uint32_t *order;  /* [order_capacity], the arrivals by photon */
    size_t order_capacity;
} gpu_replay;

/* ---- rounds --------------------------------------------------------------------------------- */

/* Whether two steps are the same; then photons of both have the same emission. */
static bool is_same_step(const icestream_step *a, const icestream_step *b)
{
    const void *one = a, *other = b; /* compares all bytes: steps have no gaps */
    return memcmp(one, other, sizeof *a) == 0;
}

/* Adds the photon of the hits first .. end - 1. */
static void add_photon(const gpu_replay *r, replay_round *f, size_t first, size_t end)
{
    const icestream_hit *hits = r->hits;
    uint32_t scatters = 0;
    if (f->count == 0 || !is_same_step(&r->steps[first], &r->steps[first - 1])) {
        f->emissions[f->emission_count++] =
            ics_batch_step_emission(&r->steps[first], hits[first].photon_id, 1);
    }
    for (size_t i = first; i < end; ++i) {
        scatters = hits[i].scatters > scatters ? hits[i].scatters : scatters;
    }
    f->hits[f->count] = first;
    f->items[f->count++] =
        (ics_replay_item){.emission = f->emission_count - 1,
                          .photon_id = hits[first].photon_id,
                          .scatters = scatters < UINT16_MAX ? scatters : UINT32_MAX};
}

/* Takes the hits from `first` on, at most those of `most` photons and those before `end`. */
static void fill(const gpu_replay *r, replay_round *f, size_t first, size_t end, uint32_t most)
{
    f->first = first;
    f->count = f->emission_count = 0;
    while (first < end && f->count < most) {
        const size_t next = ics_replay_photon_end(r->hits, end, first);
        add_photon(r, f, first, next);
        first = next;
    }
    f->hits[f->count] = f->end = first;
}

static int launch(gpu_replay *r, uint32_t number, icestream_error *error)
{
    const replay_round *f = &r->rounds[number];
    const ics_gpu_replay_photons photons = {f->emissions, f->items, f->emission_count, f->count};
    return ics_gpu_replay_submit(r->gpu, number, &photons, error);
}

/* ---- arrivals -------------------------------------------------------------------------------- */

/* Compares the arrivals on the path of one photon with its hits, in the order of the path. */
static int take_photon(gpu_job *job, uint32_t photon)
{
    const gpu_replay *r = job->replay;
    ics_replay_results *results = &job->results;
    const size_t base = r->landed->hits[job->first];
    const size_t first = r->landed->hits[photon] - base, end = r->landed->hits[photon + 1] - base;
    for (uint32_t at = r->starts[photon]; at < r->starts[photon + 1]; ++at) {
        const uint64_t index = r->order[at];
        const ics_replay_arrival *arrival = &r->output.arrivals[index];
        icestream_hit hit;
        ICS_TRY(ics_replay_results_make_hit(results, first, &arrival->arrival, &hit));
        for (size_t i = first; i < end; ++i) {
            if (results->found[i].is_found || !ics_replay_is_same_path(&results->hits[i], &hit)) {
                continue;
            }
            const ics_replay_path path = {
                .ends = &r->output.ends[index * (1 + r->options->target_count)],
                .layers = &r->output.layers[arrival->first_layer],
                .layer_count = arrival->layer_count,
                .angles = arrival->angles};
            ICS_TRY(ics_replay_results_put(results, i, &path));
        }
    }
    return ics_replay_results_check(results, first, end);
}

static void run_job(ics_job *of, void *thread_state)
{
    gpu_job *job = ICS_CONTAINER_OF(of, gpu_job, job);
    const gpu_replay *r = job->replay;
    const size_t first = r->landed->hits[job->first], end = r->landed->hits[job->end];
    int status = ICESTREAM_OK;
    (void)thread_state;
    ics_replay_results_begin(&job->results, &r->hits[first], &r->steps[first], end - first);
    for (uint32_t photon = job->first; photon < job->end && status == ICESTREAM_OK; ++photon) {
        status = take_photon(job, photon);
    }
}

/* Puts the arrivals into the order of photons, and those of a photon into the order of its path. */
static void sort_arrivals(gpu_replay *r)
{
    const ics_replay_arrival *arrivals = r->output.arrivals;
    const uint32_t photons = r->landed->count;
    const size_t count = r->output.arrival_count;
    if (count > r->order_capacity) {
        r->order = ics_new_size(r->order, count, sizeof *r->order);
        r->order_capacity = count;
    }
    memset(r->starts, 0, (photons + 1) * sizeof *r->starts);
    for (size_t i = 0; i < count; ++i) {
        r->starts[arrivals[i].arrival.emission + 1] += 1;
    }
    for (uint32_t i = 0; i < photons; ++i) {
        r->starts[i + 1] += r->starts[i];
    }
    /* The numbers of a photon's arrivals are 0, 1, 2 and so on. */
    for (size_t i = 0; i < count; ++i) {
        r->order[r->starts[arrivals[i].arrival.emission] + arrivals[i].number] = (uint32_t)i;
    }
}

static int give(gpu_replay *r, const ics_replay_sink *sink, icestream_error *error)
{
    size_t jobs = 0;
    sort_arrivals(r);
    for (uint32_t first = 0; first < r->landed->count; first += JOB_PHOTONS) {
        const uint32_t left = r->landed->count - first;
        r->jobs[jobs].first = first;
        r->jobs[jobs++].end = first + (left < JOB_PHOTONS ? left : JOB_PHOTONS);
    }
    ics_replay_crew_work(r->crew, r->work, jobs);
    for (size_t i = 0; i < jobs; ++i) {
        const size_t first = r->landed->hits[r->jobs[i].first];
        ICS_TRY(ics_replay_results_give(&r->jobs[i].results, first, sink, error));
    }
    return ICESTREAM_OK;
}

/* Waits for a launch, and gives its results to the sink. A launch without enough room is repeated
 * in pieces of half as many photons. */
static int land(gpu_replay *r, uint32_t number, const ics_replay_sink *sink, icestream_error *error)
{
    replay_round *f = &r->rounds[number];
    const size_t end = f->end;
    for (;;) {
        ICS_TRY(ics_gpu_replay_wait(r->gpu, number, &r->output, error));
        if (!r->output.overflows) {
            r->landed = f;
            ICS_TRY(give(r, sink, error));
            if (f->end == end) {
                return ICESTREAM_OK;
            }
            fill(r, f, f->end, end, f->count);
        } else if (f->count == 1) {
            return ics_error_set(error, ICESTREAM_E_MEMORY,
                                 "replay: found a photon that meets too many modules for the "
                                 "memory of a GPU, expected --backend cpu");
        } else {
            fill(r, f, f->first, end, f->count / 2);
        }
        ICS_TRY(launch(r, number, error));
    }
}

static int replay_list(gpu_replay *r, const ics_replay_sink *sink, icestream_error *error)
{
    size_t next = 0;
    uint32_t flown = 0, landed = 0; /* rounds so far */
    while (next < r->count || landed < flown) {
        if (next < r->count && flown - landed < ICS_GPU_REPLAY_LAUNCHES) {
            const uint32_t number = flown % ICS_GPU_REPLAY_LAUNCHES;
            fill(r, &r->rounds[number], next, r->count, r->most);
            next = r->rounds[number].end;
            ICS_TRY(launch(r, number, error));
            flown += 1;
        } else {
            ICS_TRY(land(r, landed % ICS_GPU_REPLAY_LAUNCHES, sink, error));
            landed += 1;
        }
    }
    return ICESTREAM_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool has_profiles(const icestream_step *steps, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (ics_batch_step_emission(&steps[i], 0, 1).flags & ICE_EMISSION_PROFILE) {
            return true;
        }
    }
    return false;
}

static int create_gpu(gpu_replay *r, icestream_error *error)
{
    const ics_replay_options *options = r->options;
    ics_gpu_replay_target *targets =
        ICS_NEW_ARRAY(ics_gpu_replay_target, options->target_count + 1);
    ics_gpu_replay_wish wish = {.targets = targets,
                                .target_count = (uint32_t)options->target_count,
                                .sums = options->sums,
                                .own_angles = options->angles,
                                .profiles = has_profiles(r->steps, r->count)};
    for (size_t i = 0; i < options->target_count; ++i) {
        const ics_replay_target *from = &options->targets[i];
        targets[i] = (ics_gpu_replay_target){from->tables, from->scatter,
                                             ics_replay_needs_angles(options, i)};
        wish.own_angles |= targets[i].needs_angles;
    }
    ics_gpu_options gpu = *options->gpu;
    gpu.variants = options->variants;
    gpu.math = options->maths == ICS_MATHS_FAST ? ICS_MATH_FAST : ICS_MATH_PORTABLE;
    int status = ics_gpu_replay_create(&gpu, options->own, &wish, &r->gpu, error);
    free(targets);
    if (status == ICESTREAM_OK && options->maths == ICS_MATHS_FAST) {
        const ics_kernels here = ics_gpu_replay_kernels(r->gpu);
        status = ics_replay_check_kernels(&options->kernels, &here, error);
    }
    return status;
}

static void make_room(gpu_replay *r)
{
    r->most = ics_gpu_replay_most(r->gpu);
    r->job_count = (r->most + JOB_PHOTONS - 1) / JOB_PHOTONS;
    r->jobs = ICS_NEW_ARRAY(gpu_job, r->job_count);
    r->work = ICS_NEW_ARRAY(ics_job *, r->job_count);
    r->starts = ICS_NEW_ARRAY(uint32_t, r->most + 1);
    for (size_t i = 0; i < r->job_count; ++i) {
        r->jobs[i] = (gpu_job){
            .job = {.run = run_job}, .replay = r, .results = ics_replay_results_create(r->options)};
        r->work[i] = &r->jobs[i].job;
    }
    for (size_t i = 0; i < ICS_GPU_REPLAY_LAUNCHES; ++i) {
        r->rounds[i].hits = ICS_NEW_ARRAY(size_t, r->most + 1);
        r->rounds[i].emissions = ICS_NEW_ARRAY(ice_emission, r->most);
        r->rounds[i].items = ICS_NEW_ARRAY(ics_replay_item, r->most);
    }
}

static void free_all(gpu_replay *r)
{
    for (size_t i = 0; i < r->job_count; ++i) {
        ics_replay_results_free(&r->jobs[i].results);
    }
    for (size_t i = 0; i < ICS_GPU_REPLAY_LAUNCHES; ++i) {
        free(r->rounds[i].hits);
        free(r->rounds[i].emissions);
        free(r->rounds[i].items);
    }
    free(r->jobs);
    free(r->work);
    free(r->starts);
    free(r->order);
    ics_gpu_replay_destroy(r->gpu);
}

int ics_replay_fly_on_gpu(const ics_replay_options *options, const icestream_hit *hits,
                          const icestream_step *steps, size_t count, const ics_replay_sink *sink,
                          icestream_error *error)
{
    const uint32_t threads = ics_workers_thread_count(options->threads);
    gpu_replay r = {.options = options, .hits = hits, .steps = steps, .count = count};
    int status = create_gpu(&r, error);
    if (status == ICESTREAM_OK) {
        make_room(&r);
        status = ics_replay_crew_create(threads, (uint32_t)r.job_count, &r.crew, error);
    }
    if (status == ICESTREAM_OK) {
        status = replay_list(&r, sink, error);
        ics_replay_crew_destroy(r.crew);
    }
    free_all(&r);
    return status;
}
