/* Tables whose coordinates a header of the user computes: a header that repeats the cylindrical
 * coordinates gives the same sums as these in all schedules and instruction sets, the example
 * nearest_string.h gives numbers that were worked out by hand, and broken headers are refused with
 * their names.
 *
 * How to join: a new example of a header joins with what it must give in a simple case. */
#include "kernels/cpu/kernels.h"
#include "kernels/fault.h"
#include "tests/graphs/graph_world.h"
#include "tests/kernels/custom_stages.h"
#include "tests/support/custom_table.h"
#include "tests/support/small_table.h"
#include "tests/support/test_main.h"

typedef struct filled {
    ice_tabulation table;
    uint64_t samples;
    ice_account account;
} filled;

static size_t cells_of(const ice_tabulation *table)
{
    return (size_t)table->axes[0].stride * ((size_t)table->axes[0].bins + 2);
}

/* Fills a table, by a header unless that is NULL. `options` have a schedule and so on. */
static int fill(const stage_world *world, ics_graph_options options, const char *header,
                const ice_emission *emissions, uint32_t count, filled *out, icestream_error *error)
{
    ice_tabulate_origin origins[GRAPH_STEPS];
    ics_graph *graph = NULL;
    out->table.geometry = header != NULL ? ICE_TABULATE_CUSTOM : out->table.geometry;
    out->table.sums = calloc(cells_of(&out->table), sizeof *out->table.sums);
    ck_assert_ptr_nonnull(out->table.sums);
    small_table_origins(emissions, count, origins);
    options.variants = world_variants();
    options.custom[ICS_STAGE_TABULATE] = header;
    options.table = &out->table;
    int status = ics_graph_create(&options, world->tables, &graph, error);
    if (status == ICESTREAM_OK) {
        status = ics_graph_tabulate(graph, emissions, origins, count, &out->samples, &out->account);
        const ice_fault fault = ics_graph_fault(graph);
        if (fault.kind != ICE_FAULT_NONE) {
            ics_fault_report(&fault, options.custom, error);
        }
    }
    ics_graph_destroy(graph);
    return status;
}

static filled fill_well(const stage_world *world, ics_graph_options options, const char *header,
                        ice_tabulation table, const ice_emission *emissions, uint32_t count)
{
    filled out = {.table = table};
    icestream_error error = {.text = ""};
    ck_assert_msg(fill(world, options, header, emissions, count, &out, &error) == 0, "%s",
                  error.text);
    return out;
}

/* ---- the same coordinates -------------------------------------------------------------------- */

START_TEST(a_header_that_repeats_a_geometry_fills_the_same_table)
{
    const ics_graph_options ways[] = {
        {.schedule = ICS_SCHEDULE_MONOLITHIC, .instruction_set = "baseline"},
        {.schedule = ICS_SCHEDULE_WAVEFRONT, .instruction_set = "baseline", .pool = 170},
        {.schedule = ICS_SCHEDULE_WAVEFRONT, .instruction_set = "auto"},
    };
    const scratch place = custom_start();
    char path[SCRATCH_PATH];
    custom_write(&place, "cylinder.h", custom_table_header, path);
    stage_world world = graph_world(false);
    world_medium_add(world.medium, ICE_HAS_TILT_LINE | ICE_HAS_ABSORPTION_ANISOTROPY |
                                       ICE_HAS_SCATTERING_ANISOTROPY);
    world.options.reach_cull = false;
    stage_world_tables(&world);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    for (size_t i = 0; i < GRAPH_STEPS; ++i) {
        emissions[i].photons = (emissions[i].photons + 9) / 10;
    }
    ice_tabulation table = custom_table_cylinder();
    table.axes[0].ends_above = 1;
    filled expected = fill_well(&world, ways[0], NULL, table, emissions, GRAPH_STEPS);
    ck_assert_uint_gt(expected.samples, 10000);
    ck_assert_uint_gt(expected.account.left, 0);
    table.axes[0].ends_above = 0;
    for (size_t i = 0; i < COUNT(ways); ++i) {
        filled found = fill_well(&world, ways[i], path, table, emissions, GRAPH_STEPS);
        ck_assert_uint_eq(found.samples, expected.samples);
        ck_assert_mem_eq(&found.account, &expected.account, sizeof found.account);
        ck_assert_mem_eq(found.table.sums, expected.table.sums,
                         cells_of(&table) * sizeof *found.table.sums);
        free(found.table.sums);
    }
    free(expected.table.sums);
    stage_world_destroy(&world);
    scratch_remove(&place);
}
END_TEST

/* ---- coordinates of a detector ----------------------------------------------------------------
 */

enum { DISTANCES = 20 };

/* Light along (0.8, 0, 0.6) from the origin does not scatter, and strings stand at (8, 0) and
 * (8, 50). After a path s it is |0.8 s - 8| m from the nearest one, and comes from a zenith angle
 * with the cosine -0.6. So bin m of the distance, which is 0.8 m wide, gets the light of the paths
 * 9 - m to 10 - m and 10 + m to 11 + m. With the absorption length 50 m and one sample per metre
 * that is the integral of exp(-s / 50), times the weight 0.5 of small_table_origins(). A sample
 * differs from the mean of its metre by less than 1 %, so the mean of 10000 photons is right within
 * 6e-5 at one standard deviation. */
START_TEST(distance_to_strings_and_zenith_are_right)
{
    static const double modules[][3] = {{8, 0, 5}, {8, 0, 20}, {8, 50, 0}};
    const scratch place = custom_start();
    const double photons = 10000;
    stage_world world =
        stage_world_create(world_medium_uniform(1e9, 0.9, 0.0, 50.0),
                           world_detector(modules, COUNT(modules), 1.0), world_light_line(400.0));
    world.options.reach_cull = false;
    stage_world_tables(&world);
    const ice_emission emission = {
        .dx = 0.8f, .dz = 0.6f, .beta = 1, .photons = (uint32_t)photons, .spectrum = 1};
    const ice_tabulation table = {
        .axes = {{.stride = 6, .bins = DISTANCES, .power = 1, .scale = 1 / 0.8f},
                 {.stride = 1, .coordinate = 1, .bins = 4, .power = 1, .first = -1, .scale = 2}},
        .axis_count = 2,
        .step = 1,
        .inverse_step = 1,
        .absorption_lengths = 1};
    const ics_graph_options options = {.schedule = ICS_SCHEDULE_WAVEFRONT,
                                       .instruction_set = "baseline"};
    filled found = fill_well(&world, options, CUSTOM_TABLE_STRINGS, table, &emission, 1);
    for (int m = 0; m < DISTANCES; ++m) {
        double expected = exp(-(10 + m) / 50.0) - exp(-(11 + m) / 50.0);
        expected += m < 10 ? exp(-(9 - m) / 50.0) - exp(-(10 - m) / 50.0) : 0.0;
        for (int c = 0; c < 6; ++c) {
            const double sum =
                (double)found.table.sums[6 * (m + 1) + c] * 0x1p-32 / (0.5 * photons);
            /* -0.6 lies in the first bin of the cosine, behind the underflow. */
            ck_assert_double_eq_tol(sum, c == 1 ? 50.0 * expected : 0.0, 1e-3);
        }
    }
    free(found.table.sums);
    stage_world_destroy(&world);
    scratch_remove(&place);
}
END_TEST

/* ---- broken headers -------------------------------------------------------------------------- */

#define CUSTOM(number, result)                                                                     \
    "#include \"stages/tabulate/tabulate_custom.h\"\n" number                                      \
    "ICE_FN ice_tabulate_coordinates ice_tabulate_custom(const ice_tables *tables,\n"              \
    "    const ice_tabulation *table, const ice_tabulate_view *view)\n"                            \
    "{\n"                                                                                          \
    "    const ice_tabulate_coordinates result = {{" result "}, 0};\n"                             \
    "    (void)tables, (void)table, (void)view;\n"                                                 \
    "    return result;\n"                                                                         \
    "}\n"

static const struct {
    const char *text, *expected;
    bool check;
} broken[] = {
    {CUSTOM("", "view->x"), "must define ICE_TABULATE_COORDINATES", false},
    {CUSTOM("#define ICE_TABULATE_COORDINATES 6\n", "view->x"), "must be a number from 1 to 5",
     false},
    {CUSTOM("#define ICE_TABULATE_COORDINATES 2\n", "view->x, view->depth"), "wrong.h:6:", false},
    {"#include \"stages/tabulate/tabulate_custom.h\"\n#define ICE_TABULATE_COORDINATES 2\n",
     "ice_tabulate_custom", false},
    {CUSTOM("#define ICE_TABULATE_COORDINATES 4\n", "view->x"),
     "wrong.h: error: stages.tabulate: found ICE_TABULATE_COORDINATES 4, expected at least 5, the "
     "number of table.axes",
     false},
    {CUSTOM("#define ICE_TABULATE_COORDINATES 5\n", "0.0f, ice_div(view->x - view->x, 0.0f)"),
     "wrong.h: error: stages.tabulate: device.check: found nan as a coordinate for a sample at (",
     true},
};

START_TEST(broken_headers_are_refused)
{
    const scratch place = custom_start();
    char path[SCRATCH_PATH];
    custom_write(&place, "wrong.h", broken[_i].text, path);
    stage_world world = graph_world(false);
    world.options.reach_cull = false;
    stage_world_tables(&world);
    const ice_emission emission = {.dz = 1, .beta = 1, .photons = 1};
    const ics_graph_options options = {.schedule = ICS_SCHEDULE_WAVEFRONT,
                                       .instruction_set = "baseline",
                                       .check = broken[_i].check};
    filled out = {.table = custom_table_cylinder()};
    icestream_error error = {.text = ""};
    ck_assert_int_eq(fill(&world, options, path, &emission, 1, &out, &error), ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, broken[_i].expected) != NULL, "'%s' is missing in:\n%s",
                  broken[_i].expected, error.text);
    free(out.table.sums);
    stage_world_destroy(&world);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("graph_table_custom")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_header_that_repeats_a_geometry_fills_the_same_table);
    TCase *strings = tcase_create("strings");
    suite_add_tcase(suite, strings);
    tcase_add_test(strings, distance_to_strings_and_zenith_are_right);
    tcase_add_loop_test(all, broken_headers_are_refused, 0, COUNT(broken));
    suite_add_tcase(suite, all);
}
