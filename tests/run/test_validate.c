/* icestream_validate: what it reports about models, birefringence, density and particles. How to
 * join: call validated() with the settings and look for the line in the text. */
#include "pipeline/icestream.h"
#include "tests/support/model_files.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of icestream_validate for a configuration; the caller frees it. */
static char *validated(const char *const *sets, size_t count, int expected, icestream_error *error)
{
    icestream_config *config = NULL;
    *error = (icestream_error){.status = ICESTREAM_OK};
    ck_assert_msg(icestream_config_load(NULL, sets, count, &config, error) == ICESTREAM_OK, "%s",
                  error->text);
    char *text = NULL;
    size_t size = 0;
    FILE *report = open_memstream(&text, &size);
    ck_assert_int_eq(icestream_validate(config, report, error), expected);
    fclose(report);
    icestream_config_destroy(config);
    return text;
}

static void expect_text(const char *text, const char *expected)
{
    ck_assert_msg(strstr(text, expected) != NULL, "'%s' is not in: %s", expected, text);
}

/* Shows which subtraction is used: that of the ice folder or that of the user, but never "auto".
 * A ppc folder brings its detector. */
START_TEST(test_validate_shows_the_subtraction)
{
    static const struct {
        const char *set, *shows;
    } cases[] = {{"ice.birefringence_subtraction=constant", "(constant)\n"},
                 {"ice.birefringence_subtraction=scaled", "(scaled)\n"},
                 {"ice.birefringence_subtraction=none", "nothing (none)\n"},
                 {"ice.birefringence=false", NULL}};
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    if (model_shared("ice/spice_bfr-v2", path) == NULL) {
        return;
    }
    snprintf(set, sizeof set, "ice.directory=%s", path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        icestream_error error;
        const char *const sets[] = {set, cases[i].set, "device.threads=1"};
        char *text = validated(sets, 3, ICESTREAM_OK, &error);
        const char *shown = strstr(text, "subtracted from the scattering for it: ");
        ck_assert_msg((shown == NULL) == (cases[i].shows == NULL), "%s", text);
        if (shown != NULL) {
            expect_text(strchr(shown, ':'), cases[i].shows);
        }
        expect_text(text, "geo-f2k\n  from     geo-f2k of ice.directory, because neither");
        free(text);
    }
}
END_TEST

START_TEST(test_validate_shows_the_density)
{
    static const char *const sets[] = {
        "ice.file=" ICS_SOURCE_DIRECTORY "/configs/media/lake-water.yaml", "device.threads=1"};
    icestream_error error;
    char *text = validated(sets, 2, ICESTREAM_OK, &error);
    expect_text(text, "  density  1 g/cm3\n");
    free(text);
    /* Without the key the density follows from the water (UNESCO 1983), or it is not known. */
    static const char *const indices[][2] = {
        {"{salinity: 35, temperature: 10, pressure: 0}", "  density  1.02695 g/cm3\n"},
        {"{table: [[wavelength_nm, phase_index], [250, 1.38], [475, 1.35], [700, 1.34]]}",
         "  density  not given: particles make as much light as in ice of 0.9216 g/cm3"},
    };
    scratch place = scratch_create();
    for (size_t i = 0; i < 2; ++i) {
        char path[SCRATCH_PATH], set[SCRATCH_PATH + 32], water[512];
        snprintf(water, sizeof water,
                 "optics: {table: [[wavelength_nm, absorption_per_m, scattering_per_m], "
                 "[250, 0.02, 0.02], [700, 0.02, 0.02]]}\nscattering: {mean_cosine: 0.9}\n"
                 "index: %s\n",
                 indices[i][0]);
        scratch_write(scratch_path(&place, "water.yaml", path), water, strlen(water));
        snprintf(set, sizeof set, "ice.file=%s", path);
        text = validated((const char *const[]){set, "device.threads=1"}, 2, ICESTREAM_OK, &error);
        expect_text(text, indices[i][1]);
        free(text);
    }
    scratch_remove(&place);
}
END_TEST

START_TEST(test_validate_reads_particles)
{
#define COLUMNS "type,event,x,y,z,zenith,azimuth,photons,spectrum\n"
    scratch place = scratch_create();
    char path[SCRATCH_PATH], set[SCRATCH_PATH + 32], broken[SCRATCH_PATH];
    icestream_error error;
    static const char good[] = COLUMNS "ph,1,0,0,0,0,0,1000,2\nph,1,0,0,0,0,0,150,2\n"
                                       "ph,7,0,0,0,0,0,401,2\n";
    static const char bad[] = COLUMNS "ph,1,0,0,0,0,0,1000,2\nph,1,0,0,0,0,0,150,99\n";
    scratch_write(scratch_path(&place, "p.csv", path), good, strlen(good));
    scratch_write(scratch_path(&place, "bad.csv", broken), bad, strlen(bad));
    snprintf(set, sizeof set, "particles.file=%s", path);
    const char *const sets[] = {set, "device.threads=1"};
    char *text = validated(sets, 2, ICESTREAM_OK, &error);
    expect_text(text, "particles  3 in 2 events of ");
    expect_text(text, "about 1551 photons in 9 steps\n");
    free(text);
    /* An error names the line of the file, as generate does. */
    snprintf(set, sizeof set, "particles.file=%s", broken);
    text = validated(sets, 2, ICESTREAM_E_CONFIG, &error);
    expect_text(error.text, "bad.csv:3: error: spectrum: found 99");
    free(text);
    /* validate reads nothing from a stream. */
    snprintf(set, sizeof set, "particles.file=-");
    const char *const streams[] = {set, "particles.format=csv", "device.threads=1"};
    text = validated(streams, 3, ICESTREAM_OK, &error);
    expect_text(text, "particles  from a stream, -, which validate does not read\n");
    free(text);
    static const char *const none[] = {"device.threads=1"};
    text = validated(none, 1, ICESTREAM_OK, &error);
    ck_assert_ptr_null(strstr(text, "particles  "));
    free(text);
    scratch_remove(&place);
#undef COLUMNS
}
END_TEST

ICS_TEST_MAIN("validate")
{
    TCase *tests = tcase_create("validate");
    tcase_add_test(tests, test_validate_shows_the_subtraction);
    tcase_add_test(tests, test_validate_shows_the_density);
    tcase_add_test(tests, test_validate_reads_particles);
    suite_add_tcase(suite, tests);
}
