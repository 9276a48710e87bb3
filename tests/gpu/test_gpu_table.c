/* Tables that a GPU fills have the bytes of those that the CPU fills, in portable maths: in every
 * kind of ice, for spherical and cylindrical coordinates, with and without squares, however the
 * light is divided into batches, however often sums are collected, and whatever the settings are.
 * So do tables of a header of the user.
 *
 * How to join: a new feature of the ice joins with a gpu_place. A new kind of axis joins in
 * `shapes`. */
#include "graphs/gpu_table.h"
#include "tests/gpu/gpu_light.h"
#include "tests/support/custom_table.h"
#include "tests/support/scratch_files.h"
#include "tests/support/small_table.h"

#include <stdlib.h>
#include <string.h>

enum { PHOTONS = 20000, LEAST = 1000 };

/* ---- tables ---------------------------------------------------------------------------------- */

typedef struct shape {
    const char *name;
    bool is_cylinder, has_squares;
    bool has_two_axes;
} shape;
static const shape shapes[] = {{"sphere", false, true, false}, {"cylinder", true, false, false}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void *zeros(uint64_t bytes)
{
    void *memory = calloc(1, bytes);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

static ice_tabulation empty_table(const shape *of)
{
    ice_tabulation table = of->is_cylinder ? custom_table_cylinder() : small_table(NULL, NULL);
    if (of->has_two_axes) { /* a distance of 0 to 150 m, and a cosine */
        table.axes[1] = table.axes[4];
        table.axes[1].coordinate = 1;
        table.axes[0].stride = table.axes[1].stride * ((uint32_t)table.axes[1].bins + 2);
        table.axis_count = 2;
    }
    const uint64_t bytes = ics_gpu_table_cells(&table) * sizeof(uint64_t);
    table.sums = zeros(bytes);
    table.squares = of->has_squares ? zeros(bytes) : NULL;
    return table;
}

static void free_table(ice_tabulation *table)
{
    free(table->sums);
    free(table->squares);
}

/* ---- light ----------------------------------------------------------------------------------- */

typedef struct light {
    ice_emission *emissions;
    ice_tabulate_origin *origins;
    size_t count;
} light;

static light make_light(gpu_light kind, uint64_t photons)
{
    light out;
    out.emissions = gpu_light_create(kind, photons, &out.count);
    out.origins = zeros(out.count * sizeof *out.origins);
    small_table_origins(out.emissions, out.count, out.origins);
    for (size_t i = 0; i < out.count; ++i) {
        out.emissions[i].flags &= ~(uint32_t)ICE_EMISSION_PULSE; /* a table knows no pulses */
    }
    return out;
}

static void free_light(light *it)
{
    free(it->emissions);
    free(it->origins);
}

typedef struct filled {
    ice_tabulation table;
    ics_gpu_table_result counts;
} filled;

/* `header`: of the user; NULL: the coordinates of the shape. */
static filled fill_on_cpu(const stage_world *world, const shape *of, const light *from,
                          const char *header)
{
    filled out = {.table = empty_table(of)};
    const ics_graph_options options = {.schedule = ICS_SCHEDULE_WAVEFRONT,
                                       .variants = world_variants(),
                                       .table = &out.table,
                                       .custom = {[ICS_STAGE_TABULATE] = header},
                                       .instruction_set = "auto"};
    out.table.geometry = header != NULL ? ICE_TABULATE_CUSTOM : out.table.geometry;
    icestream_error error;
    ics_graph *graph = NULL;
    ck_assert_msg(ics_graph_create(&options, world->tables, &graph, &error) == 0, "%s", error.text);
    ck_assert_int_eq(ics_graph_tabulate(graph, from->emissions, from->origins,
                                        (uint32_t)from->count, &out.counts.samples,
                                        &out.counts.account),
                     ICESTREAM_OK);
    ics_graph_destroy(graph);
    return out;
}

static void collect(ics_gpu_table *gpu, ice_tabulation *to)
{
    icestream_error error;
    bool overflows = false;
    ck_assert_msg(ics_gpu_table_collect(gpu, to->sums, to->squares, &overflows, &error) == 0, "%s",
                  error.text);
    ck_assert(!overflows);
}

/* `batch`: emissions of a batch. Sums are collected after every second batch and at the end. */
static filled fill_on_gpu(const stage_world *world, const shape *of, const light *from,
                          const ics_gpu_options *options, size_t batch)
{
    filled out = {.table = empty_table(of)};
    icestream_error error;
    ics_gpu_table *gpu = NULL;
    if (options->custom[ICS_STAGE_TABULATE] != NULL) {
        out.table.geometry = ICE_TABULATE_CUSTOM;
    }
    ck_assert_msg(ics_gpu_table_create(options, world->tables, &out.table, &gpu, &error) == 0, "%s",
                  error.text);
    for (size_t i = 0; i < from->count; i += batch) {
        const size_t left = from->count - i;
        const ics_gpu_table_light now = {.emissions = from->emissions + i,
                                         .origins = from->origins + i,
                                         .count = (uint32_t)(left < batch ? left : batch)};
        ics_gpu_table_result result;
        ck_assert_msg(ics_gpu_table_fill(gpu, &now, &result, &error) == 0, "%s", error.text);
        ck_assert(!result.overflows);
        out.counts.samples += result.samples;
        out.counts.account.created += result.account.created;
        out.counts.account.absorbed += result.account.absorbed;
        out.counts.account.detected += result.account.detected;
        out.counts.account.left += result.account.left;
        out.counts.account.stopped += result.account.stopped;
        out.counts.account.bounces += result.account.bounces;
        if (i / batch % 2 == 1) { /* as for a checkpoint */
            collect(gpu, &out.table);
        }
    }
    collect(gpu, &out.table);
    ics_gpu_table_destroy(gpu);
    return out;
}

static void expect_same(filled result, const filled *expected, const char *name)
{
    const size_t bytes = ics_gpu_table_cells(&expected->table) * sizeof(uint64_t);
    ck_assert_msg(
        result.counts.samples == expected->counts.samples, "%s: %llu samples, expected %llu", name,
        (unsigned long long)result.counts.samples, (unsigned long long)expected->counts.samples);
    ck_assert_msg(
        !memcmp(&result.counts.account, &expected->counts.account, sizeof result.counts.account),
        "%s: another account", name);
    ck_assert_msg(!memcmp(result.table.sums, expected->table.sums, bytes), "%s: other sums", name);
    if (expected->table.squares != NULL) {
        ck_assert_msg(!memcmp(result.table.squares, expected->table.squares, bytes),
                      "%s: other squares", name);
    }
    free_table(&result.table);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static ics_gpu_options options_with(uint32_t block, uint32_t blocks, uint32_t refill)
{
    ics_gpu_options options = gpu_options(ICS_SCHEDULE_AUTO, ICS_MATH_AUTO);
    options.block = block;
    options.blocks_per_processor = blocks;
    options.refill = refill;
    options.light_profiles = true;
    return options;
}

START_TEST(tables_are_those_of_the_cpu)
{
    const gpu_place place = (gpu_place)_i;
    stage_world world = gpu_place_create(place);
    world.tables->device.reach_cull = 0; /* as for all tables */
    if (gpu_is_of_another_part(_i) || (world.tables->device.features & ICE_HAS_HOLES)) {
        stage_world_destroy(&world);
        return;
    }
    for (int s = 0; s < SHAPES; ++s) {
        light from =
            make_light(s == 0 ? GPU_LIGHT_MIXED : GPU_LIGHT_EVENTS, gpu_scaled(PHOTONS, LEAST));
        filled expected = fill_on_cpu(&world, &shapes[s], &from, NULL);
        const ics_gpu_options usual = options_with(0, 0, 0);
        const ics_gpu_options other = options_with(256, 1, 1);
        expect_same(fill_on_gpu(&world, &shapes[s], &from, &usual, from.count), &expected,
                    gpu_place_name(place));
        expect_same(fill_on_gpu(&world, &shapes[s], &from, &other, 7), &expected,
                    gpu_place_name(place));
        free_table(&expected.table);
        free_light(&from);
    }
    stage_world_destroy(&world);
}
END_TEST

/* A header that repeats the cylindrical coordinates fills the table of these, and the example
 * nearest_string.h fills the table of the CPU. */
START_TEST(headers_fill_the_tables_of_the_cpu)
{
    static const shape two = {"two axes", true, false, true};
    const scratch folder = scratch_create();
    char path[SCRATCH_PATH];
    scratch_write(scratch_path(&folder, "cylinder.h", path), custom_table_header,
                  strlen(custom_table_header));
    stage_world world = gpu_place_create(GPU_PLACE_PLAIN);
    light from = make_light(GPU_LIGHT_EVENTS, gpu_scaled(PHOTONS, LEAST));
    ics_gpu_options options = options_with(0, 0, 0);
    world.tables->device.reach_cull = 0;
    filled expected = fill_on_cpu(&world, &shapes[1], &from, path);
    options.custom[ICS_STAGE_TABULATE] = path;
    expect_same(fill_on_gpu(&world, &shapes[1], &from, &options, from.count), &expected,
                "a header of cylindrical coordinates");
    free_table(&expected.table);
    expected = fill_on_cpu(&world, &two, &from, CUSTOM_TABLE_STRINGS);
    options.custom[ICS_STAGE_TABULATE] = CUSTOM_TABLE_STRINGS;
    expect_same(fill_on_gpu(&world, &two, &from, &options, 7), &expected, "nearest_string.h");
    free_table(&expected.table);
    free_light(&from);
    scratch_remove(&folder);
    stage_world_destroy(&world);
}
END_TEST

/* The sums of a GPU are added to those that are there, and 2^63 units are too many. */
START_TEST(sums_that_are_too_large_are_reported)
{
    stage_world world = gpu_place_create(GPU_PLACE_PLAIN);
    light from = make_light(GPU_LIGHT_MIXED, 1000);
    ice_tabulation table = empty_table(&shapes[0]);
    const ics_gpu_options options = options_with(0, 0, 0);
    const ics_gpu_table_light all = {
        .emissions = from.emissions, .origins = from.origins, .count = (uint32_t)from.count};
    ics_gpu_table_result result;
    icestream_error error;
    ics_gpu_table *gpu = NULL;
    bool overflows = false;
    world.tables->device.reach_cull = 0;
    ck_assert_int_eq(ics_gpu_table_create(&options, world.tables, &table, &gpu, &error), 0);
    ck_assert_int_eq(ics_gpu_table_fill(gpu, &all, &result, &error), 0);
    for (size_t i = 0; i < SMALL_TABLE_CELLS; ++i) {
        table.sums[i] = (1ull << 63) - 1;
    }
    ck_assert_int_eq(ics_gpu_table_collect(gpu, table.sums, table.squares, &overflows, &error), 0);
    ck_assert(overflows);
    /* The table of the GPU is empty now. */
    overflows = false;
    memset(table.sums, 0, SMALL_TABLE_CELLS * sizeof *table.sums);
    ck_assert_int_eq(ics_gpu_table_collect(gpu, table.sums, table.squares, &overflows, &error), 0);
    ck_assert(!overflows);
    for (size_t i = 0; i < SMALL_TABLE_CELLS; ++i) {
        ck_assert_uint_eq(table.sums[i], 0);
    }
    ics_gpu_table_destroy(gpu);
    free_table(&table);
    free_light(&from);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(broken_headers_are_errors)
{
    static const char text[] = "#include \"stages/tabulate/tabulate_custom.h\"\n"
                               "#define ICE_TABULATE_COORDINATES 2\n";
    const scratch folder = scratch_create();
    char path[SCRATCH_PATH];
    scratch_write(scratch_path(&folder, "wrong.h", path), text, strlen(text));
    stage_world world = gpu_place_create(GPU_PLACE_PLAIN);
    ice_tabulation table = empty_table(&shapes[1]);
    table.geometry = ICE_TABULATE_CUSTOM;
    ics_gpu_options options = options_with(0, 0, 0);
    options.custom[ICS_STAGE_TABULATE] = path;
    icestream_error error;
    ics_gpu_table *gpu = NULL;
    ck_assert_int_eq(ics_gpu_table_create(&options, world.tables, &table, &gpu, &error),
                     ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, "more axes than the header") != NULL, "%s", error.text);
    free_table(&table);
    scratch_remove(&folder);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(too_little_memory_is_an_error)
{
    stage_world world = gpu_place_create(GPU_PLACE_PLAIN);
    ice_tabulation table = empty_table(&shapes[0]);
    ics_gpu_options options = options_with(0, 0, 0);
    icestream_error error;
    ics_gpu_table *gpu = NULL;
    options.memory_limit = 1 << 20;
    ck_assert_int_eq(ics_gpu_table_create(&options, world.tables, &table, &gpu, &error),
                     ICESTREAM_E_MEMORY);
    ck_assert_ptr_null(gpu);
    ck_assert_ptr_nonnull(strstr(error.text, "device.memory_limit = 1048576"));
    free_table(&table);
    stage_world_destroy(&world);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu_table");
    TCase *tests = tcase_create("tables");
    tcase_add_loop_test(tests, tables_are_those_of_the_cpu, 0, GPU_PLACES);
    tcase_add_test(tests, sums_that_are_too_large_are_reported);
    tcase_add_test(tests, too_little_memory_is_an_error);
    suite_add_tcase(suite, tests);
    TCase *headers = tcase_create("headers");
    tcase_add_test(headers, headers_fill_the_tables_of_the_cpu);
    tcase_add_test(headers, broken_headers_are_errors);
    suite_add_tcase(suite, headers);
    return gpu_suite_run(suite);
}
