#include "pipeline/photons/replay/results.h"

#include "base/error.h"
#include "base/new.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

size_t ics_replay_photon_end(const icestream_hit *hits, size_t count, size_t first)
{
    size_t end = first + 1;
    while (end < count && is_same_photon(&hits[first], &hits[end])) {
        end += 1;
    }
    return end;
}

/* ---- angles ---------------------------------------------------------------------------------- */

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

bool ics_replay_needs_angles(const ics_replay_options *options, size_t target)
{
    const ics_replay_target *to = &options->targets[target];
    return to->scatter != options->variants.scatter ||
           !scatters_alike(options->models.tables, &to->tables->device);
}

/* ---- memory ---------------------------------------------------------------------------------- */

ics_replay_results ics_replay_results_create(const ics_replay_options *options)
{
    ics_replay_results results = {.options = options};
    results.needs_angles = ICS_NEW_ARRAY(bool, options->target_count + 1);
    for (size_t i = 0; i < options->target_count; ++i) {
        results.needs_angles[i] = ics_replay_needs_angles(options, i);
    }
    return results;
}

void ics_replay_results_free(ics_replay_results *results)
{
    free(results->needs_angles);
    free(results->log_weights);
    free(results->found);
    free(results->layers);
}

void ics_replay_results_begin(ics_replay_results *results, const icestream_hit *hits,
                              const icestream_step *steps, size_t count)
{
    if (count > results->capacity) {
        const size_t row = (results->options->target_count + 1) * sizeof(double);
        results->log_weights = ics_new_size(results->log_weights, count, row);
        results->found = ics_new_size(results->found, count, sizeof *results->found);
        results->capacity = count;
    }
    results->hits = hits;
    results->steps = steps;
    results->count = count;
    results->layer_count = 0;
    results->error.status = ICESTREAM_OK;
    for (size_t i = 0; i < count; ++i) {
        results->found[i].is_found = false;
    }
}

/* ---- hits ------------------------------------------------------------------------------------ */

int ics_replay_results_make_hit(ics_replay_results *results, size_t first,
                                const ice_arrival *arrival, icestream_hit *out)
{
    icestream_step step = results->steps[first];
    ice_emission emission = ics_batch_step_emission(&step, results->hits[first].photon_id, 1);
    ice_arrival alone = *arrival;
    alone.emission = 0;
    ics_batch batch = {.steps = &step, .emissions = &emission, .count = 1};
    return ics_batch_repeat_hit(&results->options->models, &batch, &alone, out, &results->error);
}

static int fail_at_hit(ics_replay_results *results, size_t i, int status, const char *text)
{
    const icestream_hit *hit = &results->hits[i];
    return ics_error_set(&results->error, status,
                         "hit of photon %" PRIu64 ":%u:%u on string %u, module %u at %.3f ns: %s",
                         hit->event_id, hit->step_id, hit->photon_id, hit->string, hit->module,
                         hit->t, text);
}

/* Returns what the limit of the absorption depth adds to the logarithm of a path's probability: the
 * depth is above sum.absorption and at most `limit`, which has the probability
 * exp(-absorption) - exp(-limit). */
static double log_within_limit(const ice_path_sum *sum, double limit)
{
    return limit > sum->absorption ? log1p(-exp(sum->absorption - limit)) : -(double)ICE_INFINITY;
}

static double log_weight(const ice_path_end *own, const ice_path_end *other, bool needs_angles)
{
    double weight = ice_path_sum_log_ratio(&own->sum, &other->sum);
    if (needs_angles) {
        weight += ice_path_sum_log_ratio(&own->angles, &other->angles);
    }
    if (own->limit < (double)INFINITY) {
        weight +=
            log_within_limit(&other->sum, other->limit) - log_within_limit(&own->sum, own->limit);
    }
    return weight;
}

static void keep_layers(ics_replay_results *results, const ics_replay_path *path,
                        ics_replay_found *found)
{
    const size_t needed = results->layer_count + path->layer_count;
    if (needed > results->layer_capacity) {
        results->layer_capacity = needed > 1024 ? 2 * needed : 1024;
        results->layers =
            ics_new_size(results->layers, results->layer_capacity, sizeof *results->layers);
    }
    found->first_layer = results->layer_count;
    found->layer_count = path->layer_count;
    if (path->layer_count > 0) {
        memcpy(&results->layers[results->layer_count], path->layers,
               path->layer_count * sizeof *path->layers);
    }
    results->layer_count = needed;
}

int ics_replay_results_put(ics_replay_results *results, size_t i, const ics_replay_path *path)
{
    const size_t targets = results->options->target_count;
    for (size_t target = 0; target < targets; ++target) {
        const double weight =
            log_weight(&path->ends[0], &path->ends[1 + target], results->needs_angles[target]);
        if (isnan(weight) || weight == (double)INFINITY) {
            return fail_at_hit(results, i, ICESTREAM_E_FAILED,
                               "its path has the probability 0 in the ice that made it");
        }
        results->log_weights[i * targets + target] = weight;
    }
    results->found[i] = (ics_replay_found){.is_found = true};
    if (results->options->sums) {
        results->found[i].angles = path->angles;
        keep_layers(results, path, &results->found[i]);
    }
    return ICESTREAM_OK;
}

int ics_replay_results_check(ics_replay_results *results, size_t first, size_t end)
{
    for (size_t i = first; i < end; ++i) {
        if (!results->found[i].is_found) {
            return fail_at_hit(results, i, ICESTREAM_E_DIFFERENT,
                               "not found on the path of the repeated photon, expected the same "
                               "hit to the last bit (are configuration and step file those of the "
                               "run?)");
        }
    }
    return ICESTREAM_OK;
}

int ics_replay_results_give(const ics_replay_results *results, size_t first,
                            const ics_replay_sink *sink, icestream_error *error)
{
    if (results->error.status != ICESTREAM_OK) {
        return ics_error_copy(error, &results->error);
    }
    for (size_t i = 0; i < results->count; ++i) {
        const ics_replay_found *found = &results->found[i];
        const ics_replay_result result = {
            .hit = first + i,
            .log_weights = &results->log_weights[i * results->options->target_count],
            .layers = found->layer_count > 0 ? &results->layers[found->first_layer] : NULL,
            .layer_count = found->layer_count,
            .mean_cosine = found->angles.mean_cosine,
            .mixture = found->angles.mixture,
            .column_mean_cosine = found->angles.column_mean_cosine,
            .column_mixture = found->angles.column_mixture};
        ICS_TRY(sink->put(sink->self, &result));
    }
    return ICESTREAM_OK;
}
