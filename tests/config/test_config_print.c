/* A printed configuration reads back to the same values; configs/README.md lists all keys; the
 * shipped run files are valid. After a change of keys.def, build the target config-table. */
#include "pipeline/photons/config/keys.h"
#include "pipeline/photons/config/schema/value.h"
#include "tests/support/config_text.h"
#include "tests/support/test_main.h"

#include <glob.h>
#include <stdlib.h>

static char *print(const icestream_config *config)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(icestream_config_print(config, stream, NULL), ICESTREAM_OK);
    fclose(stream);
    return text;
}

START_TEST(printed_configuration_reads_back)
{
    static const char *const texts[] = {
        "",
        "ice: {directory: \"a \\\"b\\\"\\\\ \\n\\x85\\u2028\\uFEFF\xc3\xa4\xf0\x9f\x98\x80\"}",
        "ice: {file: i.yaml, absorb_above: 0.1, absorb_below: -1e-7, tilt_origin: 3.0052, "
        "tilt_outside: clamp, birefringence_subtraction: constant}\ndetector: {file: x/geo-f2k}",
        "source: {files: [a, \"-\", \"[b]\\\\*.npy\"]}\nsink: {directory: \"-\"}",
        "run: {seed: 18446744073709551615}\nlight: {acceptance: wv.dat, spectra: [{line: 337.1}, "
        "{file: a b.txt}]}",
        "workload: {kind: point, direction: [0.1, 0.2, -0.3], position: [0.1, 1e-300, -3], "
        "time: 3.3, spectrum: 6}\ndetector: {excluded: [[1, 2], [3, 4]], radius: "
        "0.30000000000000004}",
        "graph: {schedule: thread-per-step, pool: 16, reach_cull: false, bounces_per_wave: 7}\n"
        "stages: {scatter: sl, collide: cell-grid, propagate: layer-walk}\n"
        "device: {backend: cuda, threads: 3, instruction_set: avx512}",
        "device: {memory_limit: 1.5 GiB, math: portable, index: 2, fallback: cpu, watchdog: 1.5}\n"
        "graph: {schedule: wavefront, join: [scatter, propagate], lanes: 3, block: 96, refill: 7,\n"
        "  hits: 64, compact: {sort: depth, when: every-8}}\n"
        "stages: {scatter: {source: \"a b.h\"}, create: {source: /c.h}}",
        "stages: {detect: pe}\nsink: {hits: both}\ndetector: {angular_polynomial: [1, 0.5, -0.25], "
        "cables: c.dat, cable_length: 1, axes: none}",
        "device: {backend: cuda+cpu, math: portable, index: [3, 0]}",
        "device: {index: all}",
    };
    for (size_t i = 0; i < COUNT(texts); ++i) {
        icestream_config *first = load(texts[i]);
        char *printed = print(first);
        icestream_config *second = NULL;
        icestream_error error = {0};
        /* Printed paths do not depend on the folder, so this reads them in another one. */
        int status = ics_config_load_text("/elsewhere/e.yaml", printed, strlen(printed), NULL, 0,
                                          &second, &error);
        ck_assert_msg(status == ICESTREAM_OK, "%s\n%s", printed, error.text);
        char *again = print(second);
        ck_assert_str_eq(printed, again);
        ck_assert_uint_eq(first->run.seed, second->run.seed);
        ck_assert_double_eq(first->detector.radius, second->detector.radius);
        ck_assert_double_eq(first->workload.position[1], second->workload.position[1]);
        ck_assert_double_eq(first->workload.direction[2], second->workload.direction[2]);
        ck_assert_int_eq(first->graph.schedule, second->graph.schedule);
        ck_assert_uint_eq(first->source.count, second->source.count);
        ck_assert_uint_eq(first->device.memory_limit, second->device.memory_limit);
        ck_assert_uint_eq(first->device.index_count, second->device.index_count);
        ck_assert_uint_eq(first->device.index[0], second->device.index[0]);
        ck_assert_uint_eq(first->graph.compact.every, second->graph.compact.every);
        ck_assert_str_eq(first->stages.scatter, second->stages.scatter);
        ck_assert((first->ice.absorb_above == second->ice.absorb_above) &&
                  (first->ice.absorb_below == second->ice.absorb_below));
        ck_assert_double_eq(first->ice.tilt_origin, second->ice.tilt_origin);
        ck_assert_int_eq(first->ice.tilt_outside, second->ice.tilt_outside);
        ck_assert_int_eq(first->ice.birefringence_subtraction,
                         second->ice.birefringence_subtraction);
        ck_assert((first->ice.model == NULL) == (second->ice.model == NULL));
        icestream_config_destroy(first);
        icestream_config_destroy(second);
        free(printed);
        free(again);
    }
}
END_TEST

START_TEST(printed_text_is_as_expected)
{
    icestream_config *config =
        load("ice: {directory: /ice/bfr, tilt: false, "
             "birefringence_subtraction: scaled}\nsource: {files: [\"/s/*.npy\", \"-\"]}\n"
             "sink: {directory: /h}\nlight: {spectra: [{line: 400}]}\n"
             "detector: {excluded: [[63, 20]]}\n"
             "stages: {scatter: {source: /x/s.h}}\n"
             "device: {memory_limit: 4000 MB}\n");
    char *printed = print(config);
    /* A list, a path, a size, a key that is off, a header, a section in a section, a vector. */
    static const char *const lines[] = {"run:\n  seed: 1",
                                        "  files: [\"/s/*.npy\", \"-\"]",
                                        "  memory_limit: 4 GB",
                                        "ice:\n  directory: \"/ice/bfr\"",
                                        "  absorb_above: off",
                                        "  excluded: [[63, 20]]",
                                        "  spectra: [{line: 400}]",
                                        "  scatter: {source: \"/x/s.h\"}",
                                        "  compact:\n    sort: none",
                                        "  position: [0, 0, 0]",
                                        "  direction: isotropic"};
    for (size_t i = 0; i < COUNT(lines); ++i) {
        char line[128];
        snprintf(line, sizeof line, "%s\n", lines[i]);
        ck_assert_msg(strstr(printed, line) != NULL, "missing:\n%s\nin:\n%s", line, printed);
    }
    /* Keys of a group that are not chosen, and texts that are not given, are not printed. */
    static const char *const absent[] = {"\n  model:", "\n  file:", "\n  listen:", "\n  spool:"};
    for (size_t i = 0; i < COUNT(absent); ++i) {
        ck_assert_msg(strstr(printed, absent[i]) == NULL, "%s in:\n%s", absent[i], printed);
    }
    free(printed);
    icestream_config_destroy(config);
}
END_TEST

START_TEST(printing_to_a_full_disk_is_an_error)
{
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL) {
        test_skip("no /dev/full");
        return;
    }
    icestream_config *config = load("");
    icestream_error error = {0};
    ck_assert_int_eq(icestream_config_print(config, full, &error), ICESTREAM_E_OUTPUT);
    ck_assert_str_eq(error.text, "cannot write the configuration");
    fclose(full);
    icestream_config_destroy(config);
}
END_TEST

START_TEST(shipped_run_files_load)
{
    glob_t found;
    ck_assert_int_eq(glob(ICS_SOURCE_DIRECTORY "/configs/runs/*.yaml", 0, NULL, &found), 0);
    ck_assert_int_eq(
        glob(ICS_SOURCE_DIRECTORY "/configs/reference/*.yaml", GLOB_APPEND, NULL, &found), 0);
    ck_assert_uint_ge(found.gl_pathc, 20);
    for (size_t i = 0; i < found.gl_pathc; ++i) {
        icestream_config *config = NULL;
        icestream_error error = {0};
        ck_assert_msg(icestream_config_load(found.gl_pathv[i], NULL, 0, &config, &error) ==
                          ICESTREAM_OK,
                      "%s", error.text);
        icestream_config_destroy(config);
    }
    globfree(&found);
}
END_TEST

/* Writes all keys as the Markdown table of configs/README.md. Choices that registries add are not
 * listed. */
static void document(FILE *out)
{
    fputs("| key | value | unit | default | meaning |\n| --- | --- | --- | --- | --- |\n", out);
    for (size_t i = 0; i < ICS_CONFIG_KEYS; ++i) {
        char expected[512];
        const ics_schema_field *field = &ics_config_keys[i];
        const char *value = !field->growing
                                ? ics_schema_value_expected(field, expected, sizeof expected)
                            : field->type == ICS_SCHEMA_VARIANT ? "a name, or {source: path}"
                                                                : "a name";
        const char *tick = field->fallback != NULL ? "`" : "";
        fprintf(out, "| `%s` | %s | %s | %s%s%s | %s |\n", field->path, value,
                field->unit != NULL ? field->unit : "", tick,
                field->fallback != NULL ? field->fallback : "", tick, field->help);
    }
}

/* Replaces the table in configs/README.md: the lines from its head to the first line without "|".
 */
static void write_table(const char *text, const char *table)
{
    const size_t head = strcspn(table, "\n") + 1;
    const char *old = memmem(text, strlen(text), table, head);
    ck_assert_ptr_nonnull(old);
    const char *end = old;
    while (*end == '|') {
        end += strcspn(end, "\n") + 1;
    }
    FILE *file = fopen(ICS_SOURCE_DIRECTORY "/configs/README.md", "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%.*s%s%s", (int)(old - text), text, table, end);
    ck_assert_int_eq(fclose(file), 0);
}

/* The target config-table of the build runs this test with ICESTREAM_WRITE_TABLE, to write the
 * table.
 */
START_TEST(documentation_has_the_table_of_keys)
{
    FILE *file = fopen(ICS_SOURCE_DIRECTORY "/configs/README.md", "r");
    ck_assert_ptr_nonnull(file);
    static char text[65536];
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    char *table = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&table, &size);
    ck_assert_ptr_nonnull(stream);
    document(stream);
    fclose(stream);
    ck_assert_ptr_nonnull(strstr(table, "| `graph.pool` | a whole number from 16 to 268435456, or "
                                        "auto |  | `auto` | number of photon slots in a pool |\n"));
    if (getenv("ICESTREAM_WRITE_TABLE") != NULL) {
        write_table(text, table);
    } else if (strstr(text, table) == NULL) {
        /* Check cuts off long messages and fails on them, so the advice goes to the output. */
        printf("configs/README.md has another table of keys than the program; to write it: "
               "cmake --build build/release --target config-table\n%s",
               table);
        ck_abort_msg("the table of keys is out of date");
    }
    free(table);
}
END_TEST

ICS_TEST_MAIN("config_print")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, printed_configuration_reads_back);
    tcase_add_test(all, printed_text_is_as_expected);
    tcase_add_test(all, printing_to_a_full_disk_is_an_error);
    tcase_add_test(all, shipped_run_files_load);
    suite_add_tcase(suite, all);
    TCase *table = tcase_create("table");
    tcase_add_test(table, documentation_has_the_table_of_keys);
    suite_add_tcase(suite, table);
}
