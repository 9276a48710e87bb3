/* Layers (physics.md 12.4): many equal layers give the photons of one layer, segments across two
 * half-spaces have their exact law, and both propagate variants give the same run.
 *
 * How to join: a new propagate variant joins in the tables `propagates` and `propagate_names`, a
 * new pair of half-spaces in `half_spaces`. */
#include "pipeline/commands/compare/verdict.h"
#include "pipeline/commands/measure/experiment.h"
#include "tests/propagation/walk.h"
#include "tests/support/model_files.h"
#include "tests/support/moments.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

static const ice_variant propagates[] = {ICE_propagate_cumulative, ICE_propagate_layer_walk};
static const char *const propagate_names[] = {"cumulative", "layer-walk"};
enum { PROPAGATES = 2 };

/* ---- identical layers ------------------------------------------------------------------------ */

typedef struct end_point {
    float x, y, z, path;
    uint32_t scatters;
} end_point;

static void see_end(void *user, const walk_block *b)
{
    end_point *ends = user;
    for (uint32_t i = 0; i < b->count; ++i) {
        if (walk_absorbed(b, i)) {
            ends[b->photon_id[i]] = (end_point){
                fmaf(b->length[i], b->dx[i], b->x[i]), fmaf(b->length[i], b->dy[i], b->y[i]),
                fmaf(b->length[i], b->dz[i], b->z[i]), b->path[i] + b->length[i], b->scatters[i]};
        }
    }
}

static end_point *absorb_in(size_t layers, ice_variant propagate, const ice_emission *emission,
                            uint32_t photons)
{
    /* Case U of physics.md 12.1, from -855 to 855 m. */
    double *b = sample_allocate(layers), *a = sample_allocate(layers);
    for (size_t i = 0; i < layers; ++i) {
        b[i] = 0.4;
        a[i] = 0.01;
    }
    ice_medium *medium = world_medium_layered(-855.0, 1710.0 / (double)layers, layers, b, a);
    free(b);
    free(a);
    stage_world world = stage_world_create(medium, world_detector_far(), world_light_line(400));
    world.options.seed = 1241;
    end_point *ends = calloc(photons, sizeof *ends);
    ck_assert_ptr_nonnull(ends);
    walk_job job = {.tables = stage_world_tables(&world),
                    .emission = emission,
                    .variants = world_variants(),
                    .photons = photons,
                    .path_limit = INFINITY,
                    .scatter_limit = UINT32_MAX,
                    .visit = see_end};
    job.variants.propagate = propagate;
    walk_run_halves(&job, (void *[2]){ends, ends});
    stage_world_destroy(&world);
    return ends;
}

/* Sources in a layer, on a face, above the highest and below the lowest layer. */
static const float source_heights[] = {3.0f, 5.0f, 840.0f, 900.0f, -850.0f, -1000.0f};
enum { HEIGHTS = sizeof source_heights / sizeof *source_heights };

START_TEST(identical_layers)
{
    const float height = source_heights[_i / PROPAGATES];
    const int which = _i % PROPAGATES;
    const uint32_t photons = (uint32_t)test_scaled(300000);
    const ice_emission lamp = {.z = height,
                               .dz = 1.0f,
                               .beta = 1.0f,
                               .step_id = 124,
                               .spectrum = 1,
                               .flags = ICE_EMISSION_ISOTROPIC};
    end_point *one = absorb_in(1, propagates[which], &lamp, photons);
    end_point *many = absorb_in(171, propagates[which], &lamp, photons);
    uint32_t other = 0;
    double largest = 0.0;
    for (uint32_t i = 0; i < photons; ++i) {
        ck_assert_float_gt(one[i].path, 0.0f);
        if (one[i].scatters != many[i].scatters) {
            ++other;
            continue;
        }
        const double dx = one[i].x - many[i].x, dy = one[i].y - many[i].y;
        const double dz = one[i].z - many[i].z, path = fabs((double)one[i].path - many[i].path);
        largest = fmax(largest, fmax(sqrt(dx * dx + dy * dy + dz * dz), path));
    }
    printf("%s from %g m: %u photons absorbed within %.3g m of where they should, %u after another "
           "number of scatters\n",
           propagate_names[which], height, photons - other, largest, other);
    /* A segment may be wrong by 0.5 mm (physics.md 5.3), and a photon has 40 segments in all
     * directions. If a scatter and the absorption are as close as rounding errors, the number of
     * scatters differs. */
    ck_assert_double_lt(largest, 5e-3);
    ck_assert_uint_le(other, photons / 10000 + 1);
    free(one);
    free(many);
}
END_TEST

/* ---- two half-spaces ------------------------------------------------------------------------- */

/* A photon starts at (0, 0, height) (m) in the direction (nx, 0, nz) and crosses the face. */
typedef struct half_space_case {
    double below, above; /* coefficient below and above the face, 1/m */
    float height, nx, nz;
    bool absorption; /* the coefficients are those of absorption; otherwise of scattering */
} half_space_case;

static const half_space_case half_spaces[] = {
    {0.4, 0.1, -5.0f, 0, 1, false},         {0.4, 0.1, 5.0f, 0, -1, false},
    {0.1, 0.4, -12.5f, 0, 1, false},        {0.1, 0.4, 3.0f, 0.8f, -0.6f, false},
    {0.4, 0.1, -0.5f, 0.96f, 0.28f, false}, {0.02, 0.01, -50.0f, 0, 1, true},
    {0.02, 0.01, 50.0f, 0.6f, -0.8f, true},
};

enum { HALF_SPACES = COUNT(half_spaces) };

/* P(the segment ends within s) = 1 - exp(-min(s, d) k1 - max(s - d, 0) k2). */
typedef struct half_space_law {
    double to_face;        /* d, m */
    double before, behind; /* k1 and k2, 1/m */
} half_space_law;

static half_space_law half_space_law_of(int k)
{
    const half_space_case *at = &half_spaces[k];
    const bool up = at->nz > 0;
    return (half_space_law){.to_face = fabs((double)at->height / at->nz),
                            .before = up ? at->below : at->above,
                            .behind = up ? at->above : at->below};
}

/* Makes the world of case k, with light of 400 nm and no module nearby. The tables are not built.
 * The other one of scattering and absorption has a length of 1e9 m. */
static stage_world half_space_world(int k)
{
    const double nothing[2] = {1e-9, 1e-9};
    const double coefficients[2] = {half_spaces[k].below, half_spaces[k].above};
    const bool absorption = half_spaces[k].absorption;
    ice_medium *medium =
        world_medium_layered(-1000.0, 1000.0, 2, absorption ? nothing : coefficients,
                             absorption ? coefficients : nothing);
    return stage_world_create(medium, world_detector_far(), world_light_line(400));
}

typedef struct crossing {
    double *lengths;
} crossing;

static void see_length(void *user, const walk_block *b)
{
    const crossing *self = user;
    for (uint32_t i = 0; i < b->count; ++i) {
        self->lengths[b->photon_id[i]] = b->length[i];
    }
}

static double crossing_distribution(double s, void *user)
{
    const half_space_law *l = user;
    return -expm1(-fmin(s, l->to_face) * l->before - fmax(s - l->to_face, 0.0) * l->behind);
}

START_TEST(two_half_spaces)
{
    const int k = _i / PROPAGATES, which = _i % PROPAGATES;
    stage_world world = half_space_world(k);
    world.options.seed = 1242;
    const ice_emission beam = {.z = half_spaces[k].height,
                               .dx = half_spaces[k].nx,
                               .dz = half_spaces[k].nz,
                               .beta = 1.0f,
                               .step_id = 1240 + (uint32_t)k,
                               .spectrum = 1};
    const uint32_t photons = (uint32_t)test_scaled(1000000);
    crossing seen = {sample_allocate(photons)};
    walk_job job = {.tables = stage_world_tables(&world),
                    .emission = &beam,
                    .variants = world_variants(),
                    .photons = photons,
                    .path_limit = INFINITY,
                    .scatter_limit = 1,
                    .visit = see_length};
    job.variants.propagate = propagates[which];
    walk_run_halves(&job, (void *[2]){&seen, &seen});

    half_space_law expected = half_space_law_of(k);
    char what[64];
    snprintf(what, sizeof what, "%s from %g m, nz %g: %s", propagate_names[which],
             half_spaces[k].height, half_spaces[k].nz,
             half_spaces[k].absorption ? "absorption" : "scattering");
    expect_distribution(what, seen.lengths, photons, crossing_distribution, &expected);
    if (k == 0) {
        /* A worked number: 5 m at a length of 2.5 m, then 10 m at a length of 10 m, give exp(-3).
         */
        double survived = 0.0;
        for (uint32_t i = 0; i < photons; ++i) {
            survived += seen.lengths[i] > 15.0;
        }
        expect_share("no scatter in 5 m + 10 m", survived, photons, 0.0497871, 1e-7);
    }
    free(seen.lengths);
    stage_world_destroy(&world);
}
END_TEST

/* ---- whole runs ------------------------------------------------------------------------------ */

enum { SETTINGS = 12 };

static ics_measurement run_with(const char *ice, const char *propagate, const char *seed)
{
    char steps[64];
    snprintf(steps, sizeof steps, "workload.steps=%zu", test_scaled(15000));
    const char *const sets[SETTINGS] = {ice,
                                        propagate,
                                        seed,
                                        steps,
                                        "workload.kind=uniform",
                                        "detector.layout=hex86",
                                        "detector.oversize=10",
                                        "device.threads=2",
                                        "graph.schedule=wavefront",
                                        MODEL_LAYERS_ONLY};
    icestream_error error = {0};
    icestream_config *config = NULL;
    ck_assert_msg(icestream_config_load(NULL, sets, SETTINGS, &config, &error) == ICESTREAM_OK,
                  "%s", error.text);
    ics_experiment *experiment = NULL;
    ck_assert_msg(ics_experiment_create(config, &experiment, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ics_step_list list = {0};
    ck_assert_msg(ics_step_list_generate(config, ics_experiment_models(experiment), &list,
                                         &error) == ICESTREAM_OK,
                  "%s", error.text);
    ics_measurement run = {0};
    const int status =
        ics_experiment_run(experiment, ICS_SCHEDULE_WAVEFRONT, 0, &list, &run, &error);
    ck_assert_msg(status == ICESTREAM_OK, "%s", error.text);
    ics_step_list_free(&list);
    ics_experiment_destroy(experiment);
    icestream_config_destroy(config);
    return run;
}

static ics_verdict judge(const char *what, const ics_measurement *a, const ics_measurement *b)
{
    const ics_hit_sample left = {a->hits, a->hit_count, a->account.created};
    const ics_hit_sample right = {b->hits, b->hit_count, b->account.created};
    icestream_error error = {0};
    ics_verdict verdict;
    ck_assert_msg(ics_verdict_reach(&left, &right, &verdict, &error) == ICESTREAM_OK, "%s",
                  error.text);
    printf("%s: %zu and %zu hits, %s\n", what, a->hit_count, b->hit_count,
           ics_verdict_name(verdict.kind));
    return verdict;
}

/* The two variants round differently, so that one photon in some thousands flies differently. With
 * other random numbers the two variants must agree like two runs of one variant. */
static void compare_variants(const char *ice)
{
    ics_measurement cumulative = run_with(ice, "stages.propagate=cumulative", "run.seed=1243");
    ics_measurement walked = run_with(ice, "stages.propagate=layer-walk", "run.seed=1243");
    ics_measurement independent = run_with(ice, "stages.propagate=layer-walk", "run.seed=1244");
    ck_assert_uint_gt(cumulative.hit_count, 500);
    const ics_verdict same = judge("same random numbers", &cumulative, &walked);
    printf("shared: %.4f %%\n", 100.0 * (double)same.shared / (double)cumulative.hit_count);
    ck_assert_double_ge((double)same.shared, 0.998 * (double)cumulative.hit_count);
    ck_assert_double_ge((double)same.shared, 0.998 * (double)walked.hit_count);

    const ics_verdict other = judge("other random numbers", &cumulative, &independent);
    /* Steps that begin next to a module hit it with any random numbers. */
    ck_assert_uint_lt(other.shared, cumulative.hit_count / 4);
    for (int i = 0; i < ICS_VERDICT_TESTS; ++i) {
        expect_probability(other.tests[i].name, other.tests[i].test);
    }
    ics_experiment_measurement_free(&cumulative);
    ics_experiment_measurement_free(&walked);
    ics_experiment_measurement_free(&independent);
}

START_TEST(variants_in_default_ice)
{
    compare_variants("ice.model=south-pole-like");
}
END_TEST

START_TEST(variants_in_real_ice)
{
    char path[MODEL_PATH], setting[MODEL_PATH + 32];
    const char *cfg = model_shared("ice/spice_bfr-v2/cfg.txt", path);
    if (cfg == NULL) {
        return;
    }
    snprintf(setting, sizeof setting, "ice.directory=%.*s", (int)(strrchr(cfg, '/') - cfg), cfg);
    compare_variants(setting);
}
END_TEST

ICS_TEST_MAIN("layered ice")
{
    TCase *layers = tcase_create("layers");
    tcase_add_loop_test(layers, identical_layers, 0, HEIGHTS * PROPAGATES);
    tcase_add_loop_test(layers, two_half_spaces, 0, HALF_SPACES * PROPAGATES);
    tcase_add_test(layers, variants_in_default_ice);
    tcase_add_test(layers, variants_in_real_ice);
    suite_add_tcase(suite, layers);
}
