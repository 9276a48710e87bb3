#include "tests/support/replay_check.h"

#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 40, MODULES = 48 };

static void *zeros(uint64_t bytes)
{
    void *memory = calloc(1, bytes + 1);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

/* ---- worlds ---------------------------------------------------------------------------------- */

const replay_place replay_places[REPLAY_PLACES] = {
    {0, ICE_CROSSING_DISC, 1.0, false},
    {ICE_HAS_TILT_LINE | ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_OLD_ABSORPTION_ANISOTROPY |
         ICE_HAS_BIREFRINGENCE,
     ICE_CROSSING_DISC, 1.0, true},
    {ICE_HAS_TILT_MAP | ICE_HAS_ABSORPTION_ANISOTROPY | ICE_HAS_HOLES, ICE_CROSSING_ENTRY, 4.0,
     true},
};

/* `change`: of all coefficients, and of the mean cosine. */
static stage_world make_world(const replay_place *at, double change)
{
    double b[LAYERS], a[LAYERS];
    for (int i = 0; i < LAYERS; ++i) {
        b[i] = (0.3 + 0.15 * (i % 4)) * change;
        a[i] = (0.02 + 0.01 * (i % 3)) / change;
    }
    ice_medium *medium = world_medium_layered(-100.0, 5.0, LAYERS, b, a);
    world_medium_add(medium, at->features);
    medium->mean_cosine *= 2.0 - change;
    static const world_ring rings[] = {{6.0, MODULES / 2, 0}, {14.0, MODULES / 2, 0}};
    ice_detector *detector = world_detector_rings(rings, COUNT(rings), at->oversize);
    detector->keep_hit_photons = at->keep;
    detector->crossing = at->crossing;
    stage_world world = stage_world_create(medium, detector, world_light_line(400.0));
    stage_world_tables(&world);
    return world;
}

static ics_hit_models models_of(const stage_world *world)
{
    return (ics_hit_models){
        .tables = &world->tables->device, .detector = world->detector, .light = world->light};
}

replay_sample replay_sample_create(const replay_place *place)
{
    replay_sample out = {.world = make_world(place, 1.0),
                         .others = {make_world(place, 1.0), make_world(place, 1.02)}};
    const stage_world *world = &out.world;
    icestream_step steps[2] = {{.dz = 1.0f,
                                .beta = 1.0f,
                                .weight = 1.0f,
                                .event_id = 7,
                                .step_id = 3,
                                .spectrum = 1,
                                .flags = ICESTREAM_STEP_ISOTROPIC}};
    steps[0].photons = place->oversize > 1.0 ? 3000 : 20000;
    steps[1] = steps[0];
    steps[1].step_id = 4;
    steps[1].flags = ICE_PROFILE_CASCADE << ICE_PROFILE_SHIFT;
    steps[1].length = 0.6f;
    steps[1].beta = 4.2f;
    steps[1].spectrum = 0;
    const ice_emission emissions[2] = {ics_batch_step_emission(&steps[0], 0, steps[0].photons),
                                       ics_batch_step_emission(&steps[1], 0, steps[1].photons)};
    const ice_variants variants = world_variants();
    world_result result =
        world_run(world, ICS_SCHEDULE_MONOLITHIC, &variants, "baseline", 0, emissions, 2);
    out.count = result.arrivals.count;
    out.hits = zeros(out.count * sizeof *out.hits);
    out.steps = zeros(out.count * sizeof *out.steps);
    const ics_hit_models models = models_of(world);
    for (size_t i = 0; i < out.count; ++i) {
        icestream_error error = {.text = ""};
        const ics_batch batch = {
            .steps = steps, .emissions = (ice_emission *)(uintptr_t)emissions, .count = 2};
        ck_assert_msg(ics_batch_hit_from_arrival(&models, &batch, &result.arrivals.items[i],
                                                 &out.hits[i], &error) == ICESTREAM_OK,
                      "%s", error.text);
        out.steps[i] = steps[result.arrivals.items[i].emission];
    }
    world_result_free(&result);
    ck_assert_uint_ge(out.count, 100);
    return out;
}

void replay_sample_free(replay_sample *sample)
{
    free(sample->hits);
    free(sample->steps);
    stage_world_destroy(&sample->world);
    for (int i = 0; i < REPLAY_TARGETS; ++i) {
        stage_world_destroy(&sample->others[i]);
    }
}

/* ---- replays --------------------------------------------------------------------------------- */

static void add(replay_results *to, const void *bytes, size_t size)
{
    to->bytes = realloc(to->bytes, to->size + size + 1);
    ck_assert_ptr_nonnull(to->bytes);
    if (size > 0) {
        memcpy(to->bytes + to->size, bytes, size);
    }
    to->size += size;
}

static int put_result(void *self, const ics_replay_result *result)
{
    replay_results *to = self;
    const double sums[] = {result->mean_cosine, result->mixture, result->column_mean_cosine,
                           result->column_mixture};
    ck_assert_uint_eq(result->hit, to->hits++);
    add(to, result->log_weights, REPLAY_TARGETS * sizeof *result->log_weights);
    add(to, result->layers, result->layer_count * sizeof *result->layers);
    add(to, sums, sizeof sums);
    to->layers += result->layer_count;
    return ICESTREAM_OK;
}

int replay_sample_fly(const replay_sample *sample, bool sums, const ics_gpu_options *gpu,
                      replay_results *out, icestream_error *error)
{
    const ice_variant scatter = world_variants().scatter;
    const ics_replay_target targets[REPLAY_TARGETS] = {
        {sample->others[0].tables, scatter, "same"}, {sample->others[1].tables, scatter, "other"}};
    const ics_replay_options options = {.models = models_of(&sample->world),
                                        .variants = world_variants(),
                                        .maths = ICS_MATHS_PORTABLE,
                                        .targets = targets,
                                        .target_count = REPLAY_TARGETS,
                                        .sums = sums,
                                        .angles = sums,
                                        .threads = 2,
                                        .gpu = gpu,
                                        .own = sample->world.tables};
    const ics_replay_sink sink = {put_result, out};
    *out = (replay_results){.size = 0};
    return ics_replay_hits(&options, sample->hits, sample->steps, sample->count, &sink, error);
}

void replay_sample_check(const replay_sample *sample, bool sums, const ics_gpu_options *gpu)
{
    replay_results cpu, other;
    icestream_error error = {.text = ""};
    ck_assert_msg(replay_sample_fly(sample, sums, NULL, &cpu, &error) == 0, "%s", error.text);
    ck_assert_msg(replay_sample_fly(sample, sums, gpu, &other, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(other.hits, sample->count);
    ck_assert_uint_eq(other.layers, cpu.layers);
    ck_assert_uint_eq(other.size, cpu.size);
    ck_assert(memcmp(other.bytes, cpu.bytes, cpu.size) == 0);
    ck_assert(sums == (cpu.layers > 0));
    free(cpu.bytes);
    free(other.bytes);
}
