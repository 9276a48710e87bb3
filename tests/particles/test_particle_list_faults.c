/* Promise: every error in a list of particles has its position and its message. To join: a new
 * fault is a row of `f2k_faults`, `csv_faults` or `yaml_faults`. */
#include "pipeline/photons/particles/source.h"
#include "tests/particles/list_text.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Reads a whole list. Writes the text of the first error to `out`, or "" without an error. */
static void fault_of(ics_particle_format format, const char *text, char *out, size_t size)
{
    icestream_error error = {0};
    ics_particle_source *source = NULL;
    ics_listed_particle particle;
    bool found = true;
    int status = ics_particle_source_borrow("list", format, ICS_EVENTS_FILE, text, strlen(text),
                                            &source, &error);
    while (status == ICESTREAM_OK && found) {
        status = ics_particle_source_next(source, &particle, &found, &error);
    }
    ck_assert_int_eq(status, error.status);
    ics_particle_source_destroy(source);
    snprintf(out, size, "%s", error.text);
}

static void expect_fault(ics_particle_format format, const char *text, const char *expected)
{
    char found[8192];
    fault_of(format, text, found, sizeof found);
    ck_assert_str_eq(found, expected);
}

#define EM "EM 1 1 1970 0 0 0\n"

static const struct {
    const char *text, *expected;
} f2k_faults[] = {
    {"TBEGIN ? ? ?\n", "list:1:1: error: found 'TBEGIN' here, expected V before it"},
    {FRAME_BEGIN "EE\n", "list:3:1: error: found 'EE' here, expected EM before it"},
    {FRAME_BEGIN EM EM, "list:4:1: error: found 'EM' here, expected it after TBEGIN and after the "
                        "EE of the event before"},
    {FRAME_BEGIN EM FRAME_END, "list:4:1: error: found 'TEND' here, expected it after all events"},
    {FRAME_BEGIN "Em 1\n", "list:3:1: error: found a line of 'Em', expected one of V, TBEGIN, EM, "
                           "TR, EE, TEND, END; did you mean 'EM'?"},
    {FRAME_BEGIN "EM\n", "list:3: error: EM: found no number, expected that of the event"},
    {FRAME_BEGIN "EM -1\n", "list:3:4: error: event: found '-1', expected a whole number from 0 to "
                            "18446744073709551615, from 9007199254740992 on in digits alone"},
    {FRAME_BEGIN "EM 18446744073709551616\n",
     "list:3:4: error: event: found '18446744073709551616', expected a whole number from 0 to "
     "18446744073709551615, from 9007199254740992 on in digits alone"},
    {FRAME_BEGIN EM "TR 1 0 mu 0 0 0 0 0 0 0.1 0\n",
     "list:4:8: error: mu: energy: found 0.1 GeV, expected the total energy, which is at least the "
     "mass, 0.105658 GeV"},
    {FRAME_BEGIN EM "TR 1 0 14.0 0 0 0 0 0 0 1 0\n",
     "list:4:8: error: type: found '14.0', expected a name of f2k as mu, e-, hadr, brems, flasher, "
     "a "
     "code of the PDG as 13, or a name of IceTray as MuMinus (docs/particles.md)"},
    {FRAME_BEGIN EM "TR 1 0 e- 0 0 0 181 0 0 1 0\n",
     "list:4:17: error: zenith: found '181', expected a number from 0 to 180 degrees"},
    {FRAME_BEGIN EM "TR 1 0 e- 0 0 0 0 0 0 ? 0\n", "list:4:8: error: e-: expected an energy"},
    {FRAME_BEGIN EM "TR 1 0 ph 0 0 0 0 0 0 1.5 0\n",
     "list:4:8: error: ph: photons: found a fraction, expected a whole number"},
};

START_TEST(bad_f2k)
{
    expect_fault(ICS_PARTICLES_F2K, f2k_faults[_i].text, f2k_faults[_i].expected);
}
END_TEST

#define COLUMNS "type,event,x,y,z,zenith,azimuth,energy\n"
#define FLASHER "type,x,y,z,string,module,zenith,azimuth,led,photons,brightness,width,beam,pulse\n"

static const struct {
    const char *text, *expected;
} csv_faults[] = {
    {"", "list:0: error: found nothing, expected a line with the names of columns"},
    {"type,x,type\n", "list:1:8: error: found column 'type' twice, expected it once"},
    {COLUMNS "e-,1,0,0,0,0,0,1e12\n",
     "list:2:16: error: energy: found '1e12', expected a number from 0 to 100000000000 GeV"},
    {COLUMNS "e-,1.5,0,0,0,0,0,1\n", "list:2:4: error: event: found '1.5', expected a whole number "
                                     "from 0 to 18446744073709551615, from 9007199254740992 on "
                                     "in digits alone"},
    {COLUMNS "e-,9007199254740992.0,0,0,0,0,0,1\n",
     "list:2:4: error: event: found '9007199254740992.0', expected a whole number from 0 to "
     "18446744073709551615, from 9007199254740992 on in digits alone"},
    {COLUMNS ",1,0,0,0,0,0,1\n", "list:2: error: type: found nothing, expected a type"},
    {COLUMNS "e-,1,0,,0,0,0,1\n", "list:2: error: e-: found x, z, expected a position: x, y, z"},
    {COLUMNS "e-,1,0,0,0,0,,1\n",
     "list:2: error: e-: found zenith, expected a direction: zenith and azimuth; or dx, dy, dz"},
    {"type,x,y,z,dx,dy,dz,energy\ne-,0,0,0,0,0,0,1\n",
     "list:2: error: e-: dx, dy, dz: found a vector of length 0, expected a direction"},
    {FLASHER "flasher,0,0,0,1,1,0,0,,10,,,,\n",
     "list:2: error: flasher: found x, y, z, string, module, expected a position: x, y, z; or "
     "string and module"},
    {FLASHER "flasher,,,,1,1,0,0,3,10,,,,\n",
     "list:2: error: flasher: found zenith, azimuth, led, expected a direction: zenith and "
     "azimuth; or dx, dy, dz; or led"},
    {FLASHER "flasher,,,,1,1,,,3,,127,,,\n",
     "list:2: error: flasher: found brightness, expected an amount of light: photons; or "
     "brightness and width"},
    {FLASHER "flasher,,,,1,1,,,3,10,,,gaus,\n",
     "list:2:25: error: beam: found 'gaus', expected one of gauss, lab, clsim, linear, isotropic, "
     "exact; did you mean 'gauss'?"},
    {FLASHER "flasher,,,,1,1,,,3,10,,,,led\n",
     "list:2: error: flasher: expected the width of pulse led"},
};

START_TEST(bad_csv)
{
    expect_fault(ICS_PARTICLES_CSV, csv_faults[_i].text, csv_faults[_i].expected);
}
END_TEST

static const struct {
    const char *text, *expected;
} yaml_faults[] = {
    {"particles: {list: 5}",
     "r:1:19: error: particles.list: found '5', expected a list of particles, as in "
     "[{type: sc1, photons: 1}]"},
    {"particles: {list: [e-]}",
     "r:1:20: error: found 'e-', expected a particle, as in {type: e-, x: 0, y: 0, z: 0, zenith: "
     "90, azimuth: 0, energy: 1e5}"},
    {"particles: {list: [{type: e-, x: \"5\"}]}",
     "r:1:34: error: x: found the quoted text \"5\", expected a value"},
    {"particles: {list: [{type: e-, x: [5]}]}",
     "r:1:34: error: x: found a list of 1, expected a value"},
    {"particles: {list: [{type: e-, type: e+}]}", "r:1:31: error: the key 'type' is given twice"},
    {"particles: {list: [{x: 5}]}", "r:1:20: error: type: found nothing, expected a type"},
    {"particles: {losses: simple}",
     "r:1:21: error: particles.losses: is for particles.file or particles.list, and neither is "
     "given"},
    {"particles: {file: a.csv, list: [{type: sc1, photons: 5}]}",
     "r:1:32: error: only one of 'particles.list' and 'particles.file' can be given, the other is "
     "at r:1:19"},
};

START_TEST(bad_yaml)
{
    icestream_error error = {0};
    icestream_config *config = NULL;
    const char *text = yaml_faults[_i].text;
    int status = ics_config_load_text("r", text, strlen(text), NULL, 0, &config, &error);
    if (status == ICESTREAM_OK) { /* faults inside the list are found when it is opened */
        ics_particle_source *source = NULL;
        status = ics_particle_source_open(config, -1, &source, &error);
        ck_assert_ptr_null(source);
        icestream_config_destroy(config);
    }
    ck_assert_int_eq(status, ICESTREAM_E_CONFIG);
    ck_assert_str_eq(error.text, yaml_faults[_i].expected);
}
END_TEST

/* --set replaces the list of the run file by a file, or the file by a list. The configuration that
 * is printed afterwards can be read again. */
START_TEST(last_setting_of_list_and_file_wins)
{
    const char *texts[] = {"particles: {list: [{type: sc1, photons: 5}]}",
                           "particles: {file: /a.csv}"};
    const char *sets[] = {"particles.file=/b.f2k", "particles.list=[{type: sc2, photons: 5}]"};
    for (size_t i = 0; i < 2; ++i) {
        icestream_error error = {0};
        icestream_config *config = NULL, *again = NULL;
        char *printed = NULL;
        size_t size = 0;
        ck_assert_msg(ics_config_load_text("r", texts[i], strlen(texts[i]), &sets[i], 1, &config,
                                           &error) == ICESTREAM_OK,
                      "%s", error.text);
        ck_assert_int_eq(config->particles.list != NULL, i == 1);
        if (i == 0) {
            ck_assert_str_eq(config->particles.file, "/b.f2k");
        } else {
            ck_assert_ptr_null(config->particles.file);
        }
        FILE *out = open_memstream(&printed, &size);
        ck_assert_int_eq(icestream_config_print(config, out, &error), ICESTREAM_OK);
        fclose(out);
        ck_assert_msg(ics_config_load_text("p", printed, size, NULL, 0, &again, &error) ==
                          ICESTREAM_OK,
                      "%s", error.text);
        ck_assert_int_eq(again->particles.list != NULL, i == 1);
        ck_assert_int_eq(again->particles.file != NULL, i == 0);
        icestream_config_destroy(again);
        icestream_config_destroy(config);
        free(printed);
    }
}
END_TEST

ICS_TEST_MAIN("particle list faults")
{
    TCase *faults = tcase_create("faults");
    tcase_add_loop_test(faults, bad_f2k, 0, COUNT(f2k_faults));
    tcase_add_loop_test(faults, bad_csv, 0, COUNT(csv_faults));
    tcase_add_loop_test(faults, bad_yaml, 0, COUNT(yaml_faults));
    tcase_add_test(faults, last_setting_of_list_and_file_wins);
    suite_add_tcase(suite, faults);
}
