#include "pipeline/photons/replay/replay.h"

#include "base/error.h"
#include "base/new.h"
#include "pipeline/photons/replay/photon.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Sums over the path of a photon in its own ice, [slots]: one slot for every layer, and the last
 * one for all columns. Slots outside of low .. high - 1 are 0. */
typedef struct layer_sums {
    ics_replay_layer *items;
    uint32_t slots, low, high;
} layer_sums;

static ics_replay_layer *slot_of(layer_sums *sums, int32_t layer)
{
    const uint32_t slot = layer < 0 ? sums->slots - 1 : (uint32_t)layer;
    sums->low = slot < sums->low ? slot : sums->low;
    sums->high = slot >= sums->high ? slot + 1 : sums->high;
    return &sums->items[slot];
}

/* Adds the depths of a piece of a segment. `sums`: NULL for a target, whose layers nobody wants. */
static void put_piece(layer_sums *sums, int32_t layer, double scattering, double absorption)
{
    if (sums != NULL) {
        ics_replay_layer *slot = slot_of(sums, layer);
        slot->scattering_depth += scattering;
        slot->absorption_depth += absorption;
    }
}
#define ICE_PUT_PIECE(sink, layer, scattering, absorption)                                         \
    put_piece(sink, layer, scattering, absorption)
#define ICE_PUT_ARRIVAL(sink, arrival) ((void)(sink), (void)(arrival), 0) /* records no hit */
#include "stages/bounce.h"
#include "stages/path_weight.h"

/* An ice along the path of a photon. */
typedef struct path_ice {
    const ice_tables *tables;
    ice_variant scatter;
    ice_optics optics; /* at the wavelength of the photon */
    ice_path_sum sum;  /* without the densities of the angles, which are in `angles` */
    ice_path_sum angles;
    bool needs_angles; /* whether `angles` is summed: not for a target that scatters as the own ice
                        */
    double limit; /* the photon's absorption depth is at most this, because it has died before the
                     impact of an entry and lives on (physics.md 8.19); INFINITY: there was none */
} path_ice;

/* The results of one hit, as offsets in the arrays of a job. */
typedef struct hit_sums {
    size_t first_layer, layer_count;
    double angles[4]; /* of ics_replay_result, mean_cosine to column_mixture */
} hit_sums;

/* Consecutive hits of the list, and their results. One thread at a time works on it. */
typedef struct replay_job {
    ics_job job;
    const ics_replay_options *options;
    const icestream_hit *hits; /* [count] */
    const icestream_step *steps;
    size_t count;

    double *log_weights; /* [count][target_count] */
    hit_sums *sums;      /* [count] */
    ics_replay_layer *layers;
    size_t layer_count, layer_capacity;
    icestream_error error;

    /* The photon that is followed. */
    path_ice *ices; /* [1 + target_count], the own one first */
    size_t ice_count;
    layer_sums path, at_hit;
    double angles[4];
    ice_emission emission;
    const icestream_step *step;
    size_t first, end, missing; /* its hits: first .. end - 1; how many were not found yet */
    bool *found;                /* [count] */
} replay_job;

/* ---- hits ------------------------------------------------------------------------------------ */

bool ics_replay_is_same_path(const icestream_hit *a, const icestream_hit *b)
{
    icestream_hit other = *b;
    other.weight = a->weight;
    other.pmt = a->pmt;
    const void *one = a, *two = &other; /* compares all bytes: hits have no gaps */
    return memcmp(one, two, sizeof other) == 0;
}

static bool is_same_photon(const icestream_hit *a, const icestream_hit *b)
{
    return a->event_id == b->event_id && a->step_id == b->step_id && a->photon_id == b->photon_id;
}

/* ---- the path -------------------------------------------------------------------------------- */

static void clear_sums(layer_sums *sums)
{
    if (sums->low < sums->high) {
        memset(&sums->items[sums->low], 0, (sums->high - sums->low) * sizeof *sums->items);
    }
    sums->low = sums->slots;
    sums->high = 0;
}

static void begin_path(replay_job *job, float wavelength)
{
    for (size_t i = 0; i < job->ice_count; ++i) {
        path_ice *ice = &job->ices[i];
        ice->optics = ice_layer_optics_at(ice->tables, wavelength);
        ice->sum = ice->angles = ice_path_sum_begin();
        ice->limit = (double)ICE_INFINITY;
    }
    if (job->options->sums) {
        clear_sums(&job->path);
    }
    memset(job->angles, 0, sizeof job->angles);
}

/* Adds the scatter at the end of a segment. */
static void add_scatter(replay_job *job, const ics_replay_point *point)
{
    const ice_photon end = {.x = point->x,
                            .y = point->y,
                            .z = point->z,
                            .dx = point->dx,
                            .dy = point->dy,
                            .dz = point->dz};
    for (size_t i = 0; i < job->ice_count; ++i) {
        path_ice *ice = &job->ices[i];
        layer_sums *sums = i == 0 && job->options->sums ? &job->path : NULL;
        const ice_path_segment segment =
            ice_path_segment_of(ice->tables, ice->optics, point->begin);
        const ice_path_depth depth =
            ice_path_depth_of(ice->tables, &segment, (double)point->length, sums);
        ice_path_sum_add(&ice->sum, &depth);
        ice_path_sum_multiply(&ice->sum, depth.density);
        ice_density angle = {1.0, 0.0, 0.0};
        if (ice->needs_angles) {
            const float end_height = fmaf(point->length, point->begin->dz, segment.height);
            ice_path_sum_multiply(&ice->angles,
                                  ice_path_scatter(ice->scatter, ice->tables, end_height,
                                                   point->arriving, &end, &angle));
        }
        if (sums != NULL) {
            slot_of(sums, depth.layer)->scatters += 1;
            const bool in_hole =
                ICE_HAS(ice->tables, ICE_HAS_HOLES) && ice_in_hole(ice->tables, point->x, point->y);
            job->angles[in_hole ? 2 : 0] += angle.by_mean_cosine;
            job->angles[in_hole ? 3 : 1] += angle.by_mixture;
        }
    }
}

/* Returns the sum of an ice up to a hit or to an entry that was not reached. `sums` gets the
 * pieces. */
static ice_path_sum sum_at(const path_ice *ice, const ics_replay_point *point, layer_sums *sums)
{
    const ice_photon *begin = point->begin;
    const ice_path_segment segment = ice_path_segment_of(ice->tables, ice->optics, begin);
    const bool beyond = ICE_HAS(ice->tables, ICE_HAS_ENTRIES) && point->distance > point->length;
    const float length = point->distance < point->length ? point->distance : point->length;
    const ice_path_depth depth = ice_path_depth_of(ice->tables, &segment, (double)length, sums);
    ice_path_sum sum = ice->sum;
    ice_path_sum_add(&sum, &depth);
    if (beyond) {
        const ice_contact_search search = {
            begin->x, begin->y, begin->z, ice_direction_of(begin), point->length, -1.0f, 0};
        const float beyond_end = point->distance - point->length;
        const double cost =
            (double)(beyond_end * ice_absorption_beyond(ice->tables, &search, begin->wavelength));
        sum.absorption += cost;
        ice_path_sum_multiply(&sum, depth.density);
        if (sums != NULL) {
            ics_replay_layer *slot = slot_of(sums, depth.layer);
            slot->scatters += 1;
            slot->absorption_depth += cost;
        }
    }
    return sum;
}

/* Returns what the limit of the absorption depth adds to the logarithm of a path's probability: the
 * depth is above sum.absorption and at most `limit`, which has the probability
 * exp(-absorption) - exp(-limit). */
static double log_within_limit(const ice_path_sum *sum, double limit)
{
    return limit > sum->absorption ? log1p(-exp(sum->absorption - limit)) : -(double)ICE_INFINITY;
}

/* ---- results --------------------------------------------------------------------------------- */

/* Keeps the layers of the path up to a hit, of job->at_hit. */
static void keep_layers(replay_job *job, hit_sums *sums)
{
    const layer_sums *from = &job->at_hit;
    sums->first_layer = job->layer_count;
    for (uint32_t slot = from->low; slot < from->high; ++slot) {
        ics_replay_layer layer = from->items[slot];
        if (layer.scatters == 0 && layer.scattering_depth == 0.0 && layer.absorption_depth == 0.0) {
            continue;
        }
        if (job->layer_count == job->layer_capacity) {
            job->layer_capacity = job->layer_capacity ? 2 * job->layer_capacity : 1024;
            job->layers = ics_new_size(job->layers, job->layer_capacity, sizeof *job->layers);
        }
        layer.layer = slot == from->slots - 1 ? ICS_REPLAY_COLUMNS : slot;
        job->layers[job->layer_count++] = layer;
    }
    sums->layer_count = job->layer_count - sums->first_layer;
}

static int fail_at_hit(replay_job *job, const icestream_hit *hit, int status, const char *text)
{
    return ics_error_set(&job->error, status,
                         "hit of photon %" PRIu64 ":%u:%u on string %u, module %u at %.3f ns: %s",
                         hit->event_id, hit->step_id, hit->photon_id, hit->string, hit->module,
                         hit->t, text);
}

/* Sets the results of hit number `i` of the job, which is at this point. */
static int finish_hit(replay_job *job, size_t i, const ics_replay_point *point)
{
    layer_sums *layers = NULL;
    if (job->options->sums) {
        layers = &job->at_hit;
        clear_sums(layers);
        layers->low = job->path.low;
        layers->high = job->path.high;
        if (layers->low < layers->high) {
            memcpy(&layers->items[layers->low], &job->path.items[layers->low],
                   (layers->high - layers->low) * sizeof *layers->items);
        }
    }
    const ice_path_sum own = sum_at(&job->ices[0], point, layers);
    const double own_limit = job->ices[0].limit;
    for (size_t target = 0; target + 1 < job->ice_count; ++target) {
        const path_ice *ice = &job->ices[1 + target];
        const ice_path_sum other = sum_at(ice, point, NULL);
        double log_weight = ice_path_sum_log_ratio(&own, &other);
        if (ice->needs_angles) {
            log_weight += ice_path_sum_log_ratio(&job->ices[0].angles, &ice->angles);
        }
        if (own_limit < (double)ICE_INFINITY) {
            log_weight += log_within_limit(&other, ice->limit) - log_within_limit(&own, own_limit);
        }
        if (isnan(log_weight) || log_weight == (double)ICE_INFINITY) {
            return fail_at_hit(job, &job->hits[i], ICESTREAM_E_FAILED,
                               "its path has the probability 0 in the ice that made it");
        }
        job->log_weights[i * job->options->target_count + target] = log_weight;
    }
    job->sums[i] = (hit_sums){.layer_count = 0};
    if (layers != NULL) {
        keep_layers(job, &job->sums[i]);
        memcpy(job->sums[i].angles, job->angles, sizeof job->angles);
    }
    job->found[i] = true;
    job->missing -= 1;
    return ICESTREAM_OK;
}

/* What ends a path early. */
enum { ALL_FOUND = 1 };

static int take_hit(replay_job *job, const ics_replay_point *point)
{
    icestream_step step = *job->step;
    icestream_hit hit;
    const ics_batch batch = {.steps = &step, .emissions = &job->emission, .count = 1};
    ICS_TRY(ics_batch_hit_from_arrival(&job->options->models, &batch, point->arrival, &hit,
                                       &job->error));
    for (size_t i = job->first; i < job->end; ++i) {
        if (!job->found[i] && ics_replay_is_same_path(&job->hits[i], &hit)) {
            ICS_TRY(finish_hit(job, i, point));
        }
    }
    return job->missing == 0 ? ALL_FOUND : ICESTREAM_OK;
}

static int put_point(void *self, const ics_replay_point *point)
{
    replay_job *job = self;
    switch (point->kind) {
    case ICS_REPLAY_START:
        begin_path(job, point->wavelength);
        return ICESTREAM_OK;
    case ICS_REPLAY_SCATTER:
        add_scatter(job, point);
        return ICESTREAM_OK;
    case ICS_REPLAY_HIT:
        return take_hit(job, point);
    case ICS_REPLAY_UNREACHED:
        for (size_t i = 0; i < job->ice_count; ++i) {
            path_ice *ice = &job->ices[i];
            ice->limit = fmin(ice->limit, sum_at(ice, point, NULL).absorption);
        }
        return ICESTREAM_OK;
    case ICS_REPLAY_ABSORBED:
    case ICS_REPLAY_LEFT:
    case ICS_REPLAY_STOPPED:
        break;
    }
    return ICESTREAM_OK;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* Replays one photon, that of the hits first .. end - 1. */
static int replay_photon(replay_job *job)
{
    const ics_replay_options *options = job->options;
    const icestream_hit *hits = job->hits;
    const uint32_t photon_id = hits[job->first].photon_id;
    const ics_replay_follower follower = {.put = put_point, .self = job, .unreached = true};
    job->step = &job->steps[job->first];
    job->emission = ics_batch_step_emission(job->step, photon_id, 1);
    job->missing = job->end - job->first;
    const int result = ics_replay_photon_follow(&options->variants, options->models.tables,
                                                &job->emission, photon_id, &follower);
    if (result != ICESTREAM_OK && result != ALL_FOUND) {
        return result;
    }
    for (size_t i = job->first; i < job->end; ++i) {
        if (!job->found[i]) {
            return fail_at_hit(job, &hits[i], ICESTREAM_E_DIFFERENT,
                               "not found on the path of the repeated photon, expected the same "
                               "hit to the last bit (are configuration and step file those of the "
                               "run?)");
        }
    }
    return ICESTREAM_OK;
}

static void run_job(ics_job *of, void *thread_state)
{
    replay_job *job = ICS_CONTAINER_OF(of, replay_job, job);
    (void)thread_state;
    job->error.status = ICESTREAM_OK;
    job->layer_count = 0;
    memset(job->found, 0, job->count * sizeof *job->found);
    int status = ICESTREAM_OK;
    for (job->first = 0; job->first < job->count && status == ICESTREAM_OK; job->first = job->end) {
        job->end = job->first + 1;
        while (job->end < job->count &&
               is_same_photon(&job->hits[job->first], &job->hits[job->end])) {
            job->end += 1;
        }
        status = replay_photon(job);
    }
}

enum { JOB_HITS = 256 };

static layer_sums create_sums(uint32_t layers)
{
    const layer_sums sums = {ICS_NEW_ARRAY(ics_replay_layer, layers + 1), layers + 1, layers + 1,
                             0};
    return sums;
}

/* Whether two ices have the same density of the angle of every scatter, so that these densities
 * cancel. The answer may be false although they have. */
static bool scatters_alike(const ice_tables *a, const ice_tables *b)
{
    const uint32_t features =
        ICE_HAS_HOLES | ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_EVEN_ANISOTROPY;
    const void *one = &a->scatter, *two = &b->scatter;
    if (((a->features ^ b->features) & features) != 0 || memcmp(one, two, sizeof a->scatter) != 0) {
        return false;
    }
    if (a->features & ICE_HAS_HOLES) {
        const void *hole = &a->hole.scatter, *other = &b->hole.scatter;
        if (a->hole.radius != b->hole.radius || memcmp(hole, other, sizeof a->hole.scatter) != 0) {
            return false;
        }
    }
    const void *even = &a->even_anisotropy.to, *same = &b->even_anisotropy.to;
    return !(a->features & ICE_HAS_SCATTERING_ANISOTROPY) ||
           ((a->features & ICE_HAS_EVEN_ANISOTROPY) != 0 &&
            memcmp(even, same, sizeof a->even_anisotropy.to) == 0);
}

static void prepare_job(replay_job *job, const ics_replay_options *options)
{
    const ice_tables *own = options->models.tables;
    job->job.run = run_job;
    job->options = options;
    job->log_weights = ICS_NEW_ARRAY(double, JOB_HITS *(options->target_count + 1));
    job->sums = ICS_NEW_ARRAY(hit_sums, JOB_HITS);
    job->found = ICS_NEW_ARRAY(bool, JOB_HITS);
    job->ice_count = 1 + options->target_count;
    job->ices = ICS_NEW_ARRAY(path_ice, job->ice_count);
    job->ices[0].tables = own;
    job->ices[0].scatter = options->variants.scatter;
    job->ices[0].needs_angles = options->sums;
    for (size_t i = 0; i < options->target_count; ++i) {
        job->ices[1 + i].tables = &options->targets[i].tables->device;
        job->ices[1 + i].scatter = options->targets[i].scatter;
        job->ices[1 + i].needs_angles = options->targets[i].scatter != options->variants.scatter ||
                                        !scatters_alike(own, job->ices[1 + i].tables);
        job->ices[0].needs_angles |= job->ices[1 + i].needs_angles;
    }
    job->path = create_sums((uint32_t)own->layer_count);
    job->at_hit = create_sums((uint32_t)own->layer_count);
}

static void free_job(replay_job *job)
{
    free(job->log_weights);
    free(job->sums);
    free(job->found);
    free(job->ices);
    free(job->layers);
    free(job->path.items);
    free(job->at_hit.items);
}

/* Gives the results of a job to the sink. `first`: the index of its first hit in the list. */
static int put_results(const replay_job *job, size_t first, const ics_replay_sink *sink)
{
    for (size_t i = 0; i < job->count; ++i) {
        const hit_sums *sums = &job->sums[i];
        const ics_replay_result result = {
            .hit = first + i,
            .log_weights = &job->log_weights[i * job->options->target_count],
            .layers = sums->layer_count > 0 ? &job->layers[sums->first_layer] : NULL,
            .layer_count = sums->layer_count,
            .mean_cosine = sums->angles[0],
            .mixture = sums->angles[1],
            .column_mean_cosine = sums->angles[2],
            .column_mixture = sums->angles[3]};
        ICS_TRY(sink->put(sink->self, &result));
    }
    return ICESTREAM_OK;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* A list that is replayed: the jobs of one round after the other. */
typedef struct replay {
    ics_workers *workers;
    uv_sem_t finished;
    replay_job *jobs; /* [job_count] */
    size_t job_count;
} replay;

static void post_finished(void *user, ics_job *job)
{
    (void)job;
    uv_sem_post(user);
}

static int replay_list(replay *r, const icestream_hit *hits, const icestream_step *steps,
                       size_t count, const ics_replay_sink *sink, icestream_error *error)
{
    for (size_t first = 0; first < count;) {
        size_t jobs = 0, next = first;
        for (; jobs < r->job_count && next < count; ++jobs) {
            replay_job *job = &r->jobs[jobs];
            job->hits = &hits[next];
            job->steps = &steps[next];
            job->count = count - next < JOB_HITS ? count - next : JOB_HITS;
            next += job->count;
            if (!ics_workers_submit(r->workers, &job->job)) {
                return ics_error_set(error, ICESTREAM_E_FAILED,
                                     "replay: the queue of the threads is full");
            }
        }
        for (size_t i = 0; i < jobs; ++i) {
            uv_sem_wait(&r->finished);
        }
        for (size_t i = 0; i < jobs; ++i) {
            const replay_job *job = &r->jobs[i];
            if (job->error.status != ICESTREAM_OK) {
                return ics_error_copy(error, &job->error);
            }
            ICS_TRY(put_results(job, first, sink));
            first += job->count;
        }
    }
    return ICESTREAM_OK;
}

static int check_options(const ics_replay_options *options, icestream_error *error)
{
    if (!ics_replay_supports(&options->variants)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "stages: found a header of your own, expected variants of icestream, "
                             "because the replay of hits does not compile headers");
    }
    if ((options->maths & ICS_MATHS_FAST) != 0) {
        return ics_error_set(error, ICESTREAM_E_DIFFERENT,
                             "device.math: found hits that were made with %s maths, expected "
                             "portable maths, because the CPU cannot repeat the others to the last "
                             "bit; run with device.math: portable, or replay on the GPU that made "
                             "them (not built yet)",
                             ics_metadata_maths_name(options->maths));
    }
    if (options->target_count > ICS_REPLAY_TARGETS_MAX) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "replay: found %zu targets, expected at most %d in one pass",
                             options->target_count, ICS_REPLAY_TARGETS_MAX);
    }
    return ICESTREAM_OK;
}

int ics_replay_hits(const ics_replay_options *options, const icestream_hit *hits,
                    const icestream_step *steps, size_t count, const ics_replay_sink *sink,
                    icestream_error *error)
{
    ICS_TRY(check_options(options, error));
    const uint32_t threads = ics_workers_thread_count(options->threads);
    replay r = {.job_count = 4 * (size_t)threads};
    if (uv_sem_init(&r.finished, 0) != 0) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "replay: out of memory for a semaphore");
    }
    r.jobs = ICS_NEW_ARRAY(replay_job, r.job_count);
    for (size_t i = 0; i < r.job_count; ++i) {
        prepare_job(&r.jobs[i], options);
    }
    int status = ics_workers_create("replay", threads, 4 * threads, NULL,
                                    (ics_post){post_finished, &r.finished}, &r.workers, error);
    if (status == ICESTREAM_OK) {
        status = replay_list(&r, hits, steps, count, sink, error);
        ics_workers_destroy(r.workers);
    }
    for (size_t i = 0; i < r.job_count; ++i) {
        free_job(&r.jobs[i]);
    }
    free(r.jobs);
    uv_sem_destroy(&r.finished);
    return status;
}

void ics_replay_shares(const ice_tables *tables, uint32_t layer, float wavelength,
                       double *scattering, double *absorption)
{
    const ice_optics optics = ice_layer_optics_at(tables, wavelength);
    const ice_layer_row *row = &tables->layers[layer];
    const double b = (double)ice_scattering(optics, row->scattering, row->bubbles);
    const double a = (double)ice_absorption(optics, row->dust, row->ice);
    *scattering = (double)optics.scattering * (double)row->scattering / b;
    *absorption = (double)optics.dust * (double)row->dust / a;
}
