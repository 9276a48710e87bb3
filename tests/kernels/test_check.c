/* The contracts of the stages (docs/stages.md) on the CPU: with checks every value that a stage
 * must not return is reported with the stage, the value and what was expected. The checks change no
 * arrival of stages that keep their contract.
 *
 * How to join: a new fault of stages/check.h is a row in `faults`, and a case in the header that
 * makes it. */
#include "graphs/graph.h"
#include "kernels/fault.h"
#include "tests/kernels/custom_stages.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 4, PHOTONS = 500 };

static const ics_schedule schedules[] = {ICS_SCHEDULE_WAVEFRONT, ICS_SCHEDULE_MONOLITHIC};

/* Fills the emissions: beams upwards, near the centre of the detector. */
static void make_light(ice_emission emissions[STEPS])
{
    for (uint32_t i = 0; i < STEPS; ++i) {
        emissions[i] = (ice_emission){.x = 5.0f,
                                      .y = 3.0f,
                                      .z = 40.0f * (float)i - 100.0f,
                                      .dx = 0.6f,
                                      .dz = 0.8f,
                                      .beta = 1.0f,
                                      .event_low = 7,
                                      .step_id = i,
                                      .photons = PHOTONS};
    }
}

/* Runs the light. Returns what ics_graph_run() returns; with ICESTREAM_E_CONFIG *why has the
 * report. The caller frees the result. */
static int run(const stage_world *world, const ics_graph_options *options, world_result *result,
               icestream_error *why)
{
    ice_emission emissions[STEPS];
    make_light(emissions);
    ics_graph *graph = NULL;
    ics_graph_create(options, world->tables, &graph, why);
    ck_assert_msg(graph != NULL, "%s", why->text);
    *result = (world_result){{0}, {0}};
    const int status = ics_graph_run(graph, emissions, STEPS, &result->arrivals, &result->account);
    if (status == ICESTREAM_E_CONFIG) {
        const ice_fault fault = ics_graph_fault(graph);
        ck_assert_int_eq(ics_fault_report(&fault, options->custom, why), ICESTREAM_E_CONFIG);
    }
    ics_graph_destroy(graph);
    world_sort(&result->arrivals);
    return status;
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* Stages that break one promise: the number of the fault is the bounce limit minus FIRST_LIMIT, and
 * for scatter it is in the mean cosine. The stages are right otherwise. */
enum { FIRST_LIMIT = 1000 };
static const char create_text[] =
    "#include \"stages/create_cherenkov.h\"\n"
    "ICE_FN ice_photon ice_create_custom(const ice_tables *t, const ice_emission *e,\n"
    "                                    uint32_t index, uint32_t id)\n"
    "{\n"
    "    ice_photon p = ice_create_cherenkov(t, e, index, id);\n"
    "    switch (t->bounce_limit - 1000) {\n"
    "    case ICE_FAULT_POSITION: p.y = ICE_INFINITY; break;\n"
    "    case ICE_FAULT_DIRECTION: p.dz += 1.0f; break;\n"
    "    case ICE_FAULT_DEPTH: p.absorption = -1.0f; break;\n"
    "    case ICE_FAULT_WAVELENGTH: p.wavelength = 0.4f; break;\n"
    "    case ICE_FAULT_PATH: p.path = ICE_INFINITY - ICE_INFINITY; break;\n"
    "    case ICE_FAULT_EMISSION: p.emission += 1; break;\n"
    "    case ICE_FAULT_PHOTON: p.photon_id += 1; break;\n"
    "    case ICE_FAULT_SCATTERS: p.scatters = 3; break;\n"
    "    }\n"
    "    return p;\n"
    "}\n";
static const char propagate_text[] =
    "#include \"stages/propagate_cumulative.h\"\n"
    "ICE_FN ice_segment ice_propagate_custom(const ice_tables *t, ice_segment_start start)\n"
    "{\n"
    "    ice_segment s = ice_propagate_cumulative(t, start);\n"
    "    if (t->bounce_limit - 1000 == ICE_FAULT_LENGTH) s.length = -2.0f;\n"
    "    if (t->bounce_limit - 1000 == ICE_FAULT_REST) s.absorption = start.absorption + 1.0f;\n"
    "    return s;\n"
    "}\n";
static const char collide_text[] =
    "#include \"stages/collide_string_grid.h\"\n"
    "ICE_FN ice_contact ice_collide_custom(const ice_tables *t, const ice_contact_search *s)\n"
    "{\n"
    "    ice_contact c = ice_collide_string_grid(t, s);\n"
    "    switch (t->bounce_limit - 1000) {\n"
    "    case ICE_FAULT_MODULE: c.module = t->module_count; break;\n"
    "    case ICE_FAULT_DISTANCE: c.module = 0; c.distance = s->length + 1.0f; break;\n"
    "    case ICE_FAULT_MISS: c.module = 0; c.distance = 0.0f; break;\n"
    "    case ICE_FAULT_ORDER:\n"
    "        if (s->after_distance >= 0.0f) {\n"
    "            c.module = s->after_module;\n"
    "            c.distance = s->after_distance;\n"
    "        }\n"
    "        break;\n"
    "    }\n"
    "    return c;\n"
    "}\n";
static const char scatter_text[] =
    "#include \"stages/scatter_hg.h\"\n"
    "ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)\n"
    "{\n"
    "    if (constants->g == 0.75f) return ICE_INFINITY - ICE_INFINITY;\n"
    "    return constants->g == 0.5f ? 5.0f : ice_scatter_hg(constants, u);\n"
    "}\n";

static const struct {
    ice_fault_kind kind;
    const char *stage, *found, *expected;
} faults[] = {
    {ICE_FAULT_POSITION, "create", "found inf as a coordinate", "a finite number (m)"},
    {ICE_FAULT_DIRECTION, "create", "as the length of the direction", "1 within 0.001"},
    {ICE_FAULT_DEPTH, "create", "found -1 as the absorption depth",
     "a finite number from 0 up, or ICE_NOT_EMITTED"},
    {ICE_FAULT_WAVELENGTH, "create", "found 0.400000006 as the wavelength", "250 to 700 (nm)"},
    {ICE_FAULT_PATH, "create", "found nan as the path", "a finite number from 0 up (m)"},
    {ICE_FAULT_EMISSION, "create", "as the index of the emission", "the one that was given"},
    {ICE_FAULT_PHOTON, "create", "as photon_id for photon ", "the one that was given"},
    {ICE_FAULT_SCATTERS, "create", "found 3 as the number of scatters", "expected 0"},
    {ICE_FAULT_LENGTH, "propagate", "found -2 as the length of the segment", "from 0 up (m)"},
    {ICE_FAULT_REST, "propagate", "as the absorption depth left for z ", "absorption depth at the"},
    {ICE_FAULT_MODULE, "collide", "found 5160 as the index of the module", "ICE_NO_MODULE"},
    {ICE_FAULT_DISTANCE, "collide", "as the distance of the contact", "0 to the length"},
    {ICE_FAULT_ORDER, "collide", "as the distance of the contact", "after after_distance"},
    {ICE_FAULT_MISS, "collide", "found 0 as the index of the module", "crosses"},
    {ICE_FAULT_COSINE, "scatter", "found nan as 1 - cos of the scattering angle for u ",
     "a number from 0 to 2"},
    {ICE_FAULT_COSINE, "scatter", "found 5 as 1 - cos of the scattering angle", "from 0 to 2"},
    {ICE_FAULT_NONE, "", "", ""},
};
enum { FAULTS = sizeof faults / sizeof *faults, FIVE = FAULTS - 2 };

/* Checks change no arrival: `checked` has those of the built-in variants without checks. */
static void expect_unchecked(const stage_world *world, ics_schedule schedule,
                             const world_result *checked)
{
    ics_graph_options options = {
        .schedule = schedule, .variants = world_variants(), .instruction_set = "baseline"};
    options.variants.scatter = ICE_scatter_hg;
    world_result expected;
    icestream_error why;
    ck_assert_int_eq(run(world, &options, &expected, &why), ICESTREAM_OK);
    ck_assert_uint_gt(expected.arrivals.count, 10);
    ck_assert_uint_eq(checked->arrivals.count, expected.arrivals.count);
    ck_assert_mem_eq(checked->arrivals.items, expected.arrivals.items,
                     expected.arrivals.count * sizeof *expected.arrivals.items);
    ck_assert_mem_eq(&checked->account, &expected.account, sizeof expected.account);
    world_result_free(&expected);
}

START_TEST(faults_are_reported_with_their_stage)
{
    const scratch place = custom_start();
    static const char *const texts[ICS_STAGES] = {create_text, propagate_text, collide_text,
                                                  scatter_text};
    static const char *const names[ICS_STAGES] = {"my_create.h", "my_propagate.h", "my_collide.h",
                                                  "my_scatter.h"};
    ics_graph_options options = {
        .variants = world_variants(), .instruction_set = "baseline", .check = true};
    char paths[ICS_STAGES][SCRATCH_PATH];
    for (int stage = 0; stage < ICS_STAGE_TABULATE; ++stage) { /* hits are recorded */
        custom_write(&place, names[stage], texts[stage], paths[stage]);
        options.custom[stage] = paths[stage];
    }
    stage_world world = stage_world_from_config(NULL, "detector.oversize=20",
                                                "detector.keep_hit_photons=true", NULL);
    world.options.reach_cull = 0; /* kernels with headers for these stages drop no photon */
    stage_world_tables(&world);
    ice_tables *tables = &world.tables->device;
    const float g = tables->scatter.g;
    for (size_t i = 0; i < 2 * FAULTS; ++i) {
        const size_t row = i / 2;
        tables->bounce_limit = FIRST_LIMIT + (uint32_t)faults[row].kind;
        tables->scatter.g = faults[row].kind != ICE_FAULT_COSINE ? g : row == FIVE ? 0.5f : 0.75f;
        options.schedule = schedules[i % 2];
        world_result result;
        icestream_error why = {.status = ICESTREAM_OK};
        const int status = run(&world, &options, &result, &why);
        const bool faulty = faults[row].kind != ICE_FAULT_NONE;
        ck_assert_msg(status == (faulty ? ICESTREAM_E_CONFIG : ICESTREAM_OK), "%zu: status %d: %s",
                      row, status, why.text);
        char begin[SCRATCH_PATH + 64];
        snprintf(begin, sizeof begin, "%s/my_%s.h: error: stages.%s: device.check: found ",
                 place.folder, faults[row].stage, faults[row].stage);
        const char *const parts[] = {begin, faults[row].found, faults[row].expected};
        if (!faulty) {
            expect_unchecked(&world, options.schedule, &result);
        }
        for (size_t k = 0; faulty && k < 3; ++k) {
            ck_assert_msg(strstr(why.text, parts[k]) != NULL, "'%s' is missing in: %s", parts[k],
                          why.text);
        }
        world_result_free(&result);
    }
    stage_world_destroy(&world);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("check")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, faults_are_reported_with_their_stage);
    suite_add_tcase(suite, all);
}
