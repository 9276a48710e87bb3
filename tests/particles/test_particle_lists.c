/* Lists of particles: every name of docs/physics.md 10.6 has its class and profile, the three
 * formats give the same particles, and every error in a list has its position and its message. */
#include "pipeline/particles/particle_source.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_BEGIN "V 2000.1.2\nTBEGIN ? ? ?\n"
#define FRAME_END   "TEND ? ? ?\nEND\n"

static ics_particle_source *open_text(ics_particle_format format, ics_particle_events events,
                                      const char *text)
{
    icestream_error error = {0};
    ics_particle_source *source = NULL;
    ck_assert_msg(ics_particle_source_borrow("list", format, events, text, strlen(text), &source,
                                             &error) == ICESTREAM_OK,
                  "%s", error.text);
    return source;
}

static bool take(ics_particle_source *source, ics_listed_particle *out)
{
    icestream_error error = {0};
    bool found;
    ck_assert_msg(ics_particle_source_next(source, out, &found, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return found;
}

/* The text of the first error; "" without one. */
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

/* ---- names ----------------------------------------------------------------------------------- */

/* The rows of the table in docs/physics.md 10.6: words in the column "light" tell the class, and in
 * rows of cascades ";" separates the profiles, in this order. */
static const struct {
    const char *light;
    ics_particle_class kind;
    ice_cascade first_profile;
} classes[] = {{"electromagnetic cascade", ICS_PARTICLE_CASCADE, ICE_CASCADE_ELECTRON},
               {"hadronic cascade", ICS_PARTICLE_CASCADE, ICE_CASCADE_PI_PLUS},
               {"track", ICS_PARTICLE_TRACK, 0},
               {"beam from a module", ICS_PARTICLE_FLASHER, 0},
               {"isotropic light", ICS_PARTICLE_POINT, 0},
               {"standard candles", ICS_PARTICLE_CANDLE, 0},
               {"exact number of photons", ICS_PARTICLE_RAY, 0}};
enum { CLASSES = sizeof classes / sizeof *classes };

/* f2k files name particles by type; calibration sources come from other lists. */
static void check_f2k(const char *name, ics_particle_class kind)
{
    char text[256];
    ics_listed_particle listed;
    snprintf(text, sizeof text,
             FRAME_BEGIN "EM 1 1 1970 0 0 0\nTR 1 0 %s 1 2 3 90 0 ? 100 5\nEE\n" FRAME_END, name);
    ics_particle_source *source = open_text(ICS_PARTICLES_F2K, ICS_EVENTS_FILE, text);
    ck_assert(take(source, &listed));
    const ics_particle *particle = &listed.particle;
    ck_assert_int_eq(ics_particle_class_of(particle), kind);
    const bool has_energy = kind == ICS_PARTICLE_CASCADE || kind == ICS_PARTICLE_TRACK;
    ck_assert_double_eq(particle->values[has_energy ? ICS_PARTICLE_ENERGY : ICS_PARTICLE_PHOTONS],
                        100);
    ck_assert(!ics_particle_has(particle, ICS_PARTICLE_LENGTH));
    ck_assert(!take(source, &listed));
    ics_particle_source_destroy(source);
}

/* Checks the names of one row of the table and returns how many there are. */
static size_t check_row(const char *row, size_t class_index)
{
    size_t names = 0;
    int profile = (int)classes[class_index].first_profile;
    const ics_particle_class kind = classes[class_index].kind;
    const char *end = strchr(row + 1, '|'), *at = row;
    while ((at = strpbrk(at, "`;")) != NULL && at < end) {
        if (*at++ == ';') {
            ++profile;
            continue;
        }
        char name[16], message[ICS_PARTICLE_MESSAGE];
        ics_particle particle = {0};
        const size_t length = strcspn(at, "`");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        ck_assert_msg(ics_particle_set(&particle, ICS_PARTICLE_TYPE, at, length, message), "%s",
                      message);
        ck_assert_int_eq(ics_particle_class_of(&particle), kind);
        if (kind == ICS_PARTICLE_CASCADE) {
            ck_assert_int_eq(ics_particle_cascade_of(&particle), profile);
        }
        if (kind != ICS_PARTICLE_POINT && kind != ICS_PARTICLE_CANDLE &&
            strcmp(name, "beam") != 0) {
            check_f2k(name, kind);
        }
        at += length + 1;
        ++names;
    }
    return names;
}

START_TEST(names_are_complete)
{
    char line[512];
    size_t documented = 0, known = 0, rows = 0;
    bool inside = false;
    FILE *file = fopen(ICS_SOURCE_DIRECTORY "/docs/physics.md", "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#') {
            inside = strstr(line, "10.6 Names of particles") != NULL;
        }
        for (size_t i = 0; i < CLASSES && inside && strncmp(line, "| `", 3) == 0; ++i) {
            if (strstr(line, classes[i].light) != NULL) {
                documented += check_row(line, i);
                ++rows;
            }
        }
    }
    fclose(file);
    ck_assert_uint_eq(rows, CLASSES);
    while (ics_particle_type_name(known) != NULL) {
        ++known;
    }
    ck_assert_uint_eq(known, documented);
}
END_TEST

/* ---- formats --------------------------------------------------------------------------------- */

START_TEST(f2k)
{
    ics_listed_particle p;
    ics_particle_source *source =
        open_text(ICS_PARTICLES_F2K, ICS_EVENTS_FILE,
                  "V 2000.1.2\r\nARRAY x 1 2\nTBEGIN ? ? ?\n\n# nothing\nEM 7 1 1970 0 0 0\n"
                  "TR 1 0 amu -107.219 -448.644 -127.234 90 0 1000 1e3 12.5\n"
                  "TR 2 1 brems -1 2 3 0 123 0 20 0 # a loss\nEE\nEM 9 1 1970 0 0 0\nEE\n"
                  "EM 12 2 ? ? ?\nHT 1 2 3\nTR 1 0 e- 0 0 0 180 360 ? 5 0\r\nEE\nTEND ? ? ?\nEND");
    ck_assert(take(source, &p));
    ck_assert_uint_eq(p.event, 7);
    ck_assert_uint_eq(p.number, 0);
    ck_assert_double_eq(p.particle.values[ICS_PARTICLE_X], -107.219);
    ck_assert_double_eq(p.particle.values[ICS_PARTICLE_LENGTH], 1000);
    ck_assert_double_eq(p.particle.values[ICS_PARTICLE_TIME], 12.5);
    ice_axis axis = ics_particle_axis(&p.particle);
    ck_assert_double_eq_tol(axis.x, -1, 1e-15);
    char place[64];
    ck_assert_str_eq(ics_particle_source_place(source, place, sizeof place), "list:7");
    ck_assert(take(source, &p));
    ck_assert_uint_eq(p.event, 7);
    ck_assert_uint_eq(p.number, 1);
    ck_assert_double_eq(ics_particle_axis(&p.particle).z, -1);
    ck_assert(take(source, &p));
    ck_assert_uint_eq(p.event, 12);
    ck_assert_uint_eq(p.number, 0);
    ck_assert(!take(source, &p));
    ck_assert(!take(source, &p));
    ics_particle_source_destroy(source);
}
END_TEST

START_TEST(csv)
{
    ics_listed_particle p;
    ics_particle_source *source =
        open_text(ICS_PARTICLES_CSV, ICS_EVENTS_FILE,
                  "\xEF\xBB\xBFtype, event,x,y,z,dx,dy,dz,energy,photons,spectrum\n"
                  "e-,3,1,2,3,0,0,-2,1e5,,\n# no event\nph,3,1,2,3,3,4,0,,1000,6\n\n"
                  "point,4,0,0,0,,,,,5.5,");
    ck_assert(take(source, &p));
    ck_assert_uint_eq(p.event, 3);
    ck_assert_double_eq(ics_particle_axis(&p.particle).z, -1);
    ck_assert(take(source, &p));
    ck_assert_uint_eq(p.event, 3);
    ck_assert_uint_eq(p.number, 1);
    ck_assert_double_eq(ics_particle_axis(&p.particle).y, 0.8);
    ck_assert_double_eq(p.particle.values[ICS_PARTICLE_PHOTONS], 1000);
    ck_assert(take(source, &p));
    ck_assert_uint_eq(p.event, 4);
    ck_assert_uint_eq(p.number, 0);
    ck_assert(!take(source, &p));
    ics_particle_source_destroy(source);
}
END_TEST

START_TEST(counted_events)
{
    ics_listed_particle p;
    static const uint64_t expected[] = {0, 0, 1, 2};
    ics_particle_source *source =
        open_text(ICS_PARTICLES_F2K, ICS_EVENTS_COUNT,
                  FRAME_BEGIN "EM 5 1 1970 0 0 0\nTR 1 0 e 0 0 0 0 0 0 1 0\n"
                              "TR 1 0 e 0 0 0 0 0 0 1 0\nEE\nEM 5 1 1970 0 0 0\n"
                              "TR 1 0 e 0 0 0 0 0 0 1 0\nEE\nEM 2 1 1970 0 0 0\n"
                              "TR 1 0 e 0 0 0 0 0 0 1 0\nEE\n" FRAME_END);
    for (size_t i = 0; i < 4; ++i) {
        ck_assert(take(source, &p));
        ck_assert_uint_eq(p.event, expected[i]);
    }
    ck_assert(!take(source, &p));
    ics_particle_source_destroy(source);
}
END_TEST

/* A list in the run file, printed and read again. */
START_TEST(yaml)
{
    static const char text[] =
        "particles:\n  list:\n"
        "    - {type: e-, event: 2, x: 1, y: 2, z: 3, zenith: 30, azimuth: 60, energy: 1e5}\n"
        "    - {type: \"flasher\", event: 2, string: 63, module: 20, led: 7, brightness: 127,\n"
        "       width: 20, beam: lab}\n";
    icestream_error error = {0};
    icestream_config *config = NULL;
    ck_assert_msg(ics_config_load_text("r.yaml", text, strlen(text), NULL, 0, &config, &error) ==
                      ICESTREAM_OK,
                  "%s", error.text);
    char *printed = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&printed, &size);
    ck_assert_int_eq(icestream_config_print(config, stream, &error), ICESTREAM_OK);
    fclose(stream);
    icestream_config_destroy(config);
    ck_assert_msg(ics_config_load_text("p.yaml", printed, size, NULL, 0, &config, &error) ==
                      ICESTREAM_OK,
                  "%s\n%s", error.text, printed);
    free(printed);
    ics_particle_source *source = NULL;
    ics_listed_particle p;
    ck_assert_int_eq(ics_particle_source_open(config, &source, &error), ICESTREAM_OK);
    ck_assert(take(source, &p));
    ck_assert_uint_eq(p.event, 2);
    ck_assert_double_eq(p.particle.values[ICS_PARTICLE_ENERGY], 1e5);
    ck_assert(take(source, &p));
    ck_assert_uint_eq(p.number, 1);
    ck_assert_double_eq(p.particle.values[ICS_PARTICLE_BEAM], ICS_BEAM_LAB);
    ck_assert(!take(source, &p));
    ics_particle_source_destroy(source);
    icestream_config_destroy(config);
}
END_TEST

/* A file many times longer than the part of it that is in memory. */
START_TEST(long_file)
{
    enum { EVENTS = 20000 };
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    FILE *file = fopen(scratch_path(&place, "long.f2k", path), "w");
    ck_assert_ptr_nonnull(file);
    fputs(FRAME_BEGIN, file);
    for (int i = 0; i < EVENTS; ++i) {
        fprintf(file, "EM %d 1 1970 0 0 0\nTR 1 0 mu %d.25 0 0 90 0 100 1 0\nEE\n", i, i % 1000);
    }
    fputs(FRAME_END, file);
    fclose(file);
    icestream_error error = {0};
    icestream_config *config = NULL;
    char set[SCRATCH_PATH + 32];
    snprintf(set, sizeof set, "particles.file=%s", path);
    const char *const sets[] = {set, "particles.format=f2k"};
    ck_assert_int_eq(ics_config_load_text("r", "", 0, sets, 2, &config, &error), ICESTREAM_OK);
    ics_particle_source *source = NULL;
    ck_assert_msg(ics_particle_source_open(config, &source, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ics_listed_particle p;
    for (uint64_t i = 0; i < EVENTS; ++i) {
        ck_assert(take(source, &p));
        ck_assert_uint_eq(p.event, i);
        ck_assert_double_eq(p.particle.values[ICS_PARTICLE_X], (double)(i % 1000) + 0.25);
    }
    ck_assert(!take(source, &p));
    ics_particle_source_destroy(source);
    icestream_config_destroy(config);
    scratch_remove(&place);
}
END_TEST

/* ---- faults ---------------------------------------------------------------------------------- */

#define EM "EM 1 1 1970 0 0 0\n"

static const struct {
    const char *text, *expected;
} f2k_faults[] = {
    {"", "list:0: error: the file ends here, expected V, TBEGIN and events"},
    {"TBEGIN ? ? ?\n", "list:1:1: error: found 'TBEGIN' here, expected V before it"},
    {FRAME_BEGIN, "list:2: error: the file ends here, expected END"},
    {FRAME_BEGIN EM, "list:3: error: the file ends here, expected EE"},
    {FRAME_BEGIN "TR 1 0 e- 0 0 0 0 0 0 1 0\n",
     "list:3:1: error: found 'TR' here, expected EM before it"},
    {FRAME_BEGIN "EE\n", "list:3:1: error: found 'EE' here, expected EM before it"},
    {FRAME_BEGIN EM EM, "list:4:1: error: found 'EM' here, expected it after TBEGIN and after the "
                        "EE of the event before"},
    {FRAME_BEGIN EM FRAME_END, "list:4:1: error: found 'TEND' here, expected it after all events"},
    {FRAME_BEGIN FRAME_END "TR 1\n", "list:5:1: error: found 'TR' here, expected EM before it"},
    {FRAME_BEGIN "Em 1\n", "list:3:1: error: found a line of 'Em', expected one of V, TBEGIN, EM, "
                           "TR, EE, TEND, END; did you mean 'EM'?"},
    {FRAME_BEGIN "EM\n", "list:3: error: EM: found no number, expected that of the event"},
    {FRAME_BEGIN "EM -1\n", "list:3:4: error: event: found '-1', expected a whole number from 0 to "
                            "9007199254740992"},
    {FRAME_BEGIN EM "TR 1 0 e- 0 0 0 0 0 0 1\n",
     "list:4: error: TR: found 11 fields, expected 12: TR generation parent type x y z zenith "
     "azimuth length energy time"},
    {FRAME_BEGIN EM "TR 1 0 E- 0 0 0 0 0 0 1 0\n",
     "list:4:8: error: type: found 'E-', expected one of e, e-, e+, gamma, pi0, brems, epair, "
     "delta, hadr, munu, pi+, pi-, K0L, p, n, pbar, mu, amu, amu-, amu+, tau, ph, flasher, beam, "
     "point, sc1, sc2; did you mean 'e-'?"},
    {FRAME_BEGIN EM "TR 1 0 e- 0 0 nan 0 0 0 1 0\n",
     "list:4:15: error: z: found 'nan', expected a number from -10000 to 10000 m"},
    {FRAME_BEGIN EM "TR 1 0 e- 0 0 0 181 0 0 1 0\n",
     "list:4:17: error: zenith: found '181', expected a number from 0 to 180 degrees"},
    {FRAME_BEGIN EM "TR 1 0 e- 0 0 0 0 0 0 -1 0\n",
     "list:4:23: error: energy: found '-1', expected a number from 0 to 100000000000 GeV"},
    {FRAME_BEGIN EM "TR 1 0 e- 0 0 0 0 0 0 ? 0\n", "list:4:8: error: e-: expected an energy"},
    {FRAME_BEGIN EM "TR 1 0 ph 0 0 0 0 0 0 1.5 0\n",
     "list:4:8: error: ph: photons: found a fraction, expected a whole number"},
    {FRAME_BEGIN "EM 2\nTR 1 0 e 0 0 0 0 0 0 1 0\nEE\nEM 2\nTR 1 0 e 0 0 0 0 0 0 1 0\nEE\n",
     "list:6:4: error: event: found 2 after 2, expected ascending numbers (particles.events: count "
     "gives new ones)"},
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
    {"x,y\n", "list:1: error: found no column 'type', expected one"},
    {"type,energie\n", "list:1:6: error: found column 'energie', expected one of type, event, x, "
                       "y, z, zenith, azimuth, energy, length, time, photons, ...; did you mean "
                       "'energy'?"},
    {"type,x,type\n", "list:1:8: error: found column 'type' twice, expected it once"},
    {COLUMNS "e-,1,0,0,0,0,0\n", "list:2: error: found 7 columns, expected 8 as in the first line"},
    {COLUMNS "e-,1,0,0,0,0,0,1e12\n",
     "list:2:16: error: energy: found '1e12', expected a number from 0 to 100000000000 GeV"},
    {COLUMNS "e-,1.5,0,0,0,0,0,1\n", "list:2:4: error: event: found '1.5', expected a whole number "
                                     "from 0 to 9007199254740992"},
    {COLUMNS ",1,0,0,0,0,0,1\n", "list:2: error: type: found nothing, expected a type"},
    {COLUMNS "e-,1,0,,0,0,0,1\n", "list:2: error: e-: expected a position: x, y, z"},
    {COLUMNS "e-,1,0,0,0,0,,1\n",
     "list:2: error: e-: expected a direction: zenith and azimuth; or dx, dy, dz"},
    {COLUMNS "ph,1,0,0,0,0,0,1\n", "list:2: error: ph: energy: is not for this type"},
    {COLUMNS "e-,2,0,0,0,0,0,1\ne-,1,0,0,0,0,0,1\n",
     "list:3:4: error: event: found 1 after 2, expected ascending numbers (particles.events: count "
     "gives new ones)"},
    {"type,x,y,z,dx,dy,dz,energy\ne-,0,0,0,0,0,0,1\n",
     "list:2: error: e-: dx, dy, dz: found a vector of length 0, expected a direction"},
    {FLASHER "flasher,0,0,0,1,1,0,0,,10,,,,\n",
     "list:2: error: flasher: expected a position: x, y, z; or string and module"},
    {FLASHER "flasher,,,,1,1,0,0,3,10,,,,\n",
     "list:2: error: flasher: expected a direction: zenith and azimuth; or dx, dy, dz; or led"},
    {FLASHER "flasher,,,,1,1,,,3,,127,,,\n",
     "list:2: error: flasher: expected an amount of light: photons; or brightness and width"},
    {FLASHER "flasher,,,,1,1,,,13,10,,,,\n",
     "list:2:18: error: led: found '13', expected a whole number from 1 to 12"},
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

START_TEST(endless_line)
{
    static char text[200000];
    memset(text, 'x', sizeof text - 1);
    expect_fault(ICS_PARTICLES_F2K, text,
                 "list:1: error: found a line of more than 4096 characters");
}
END_TEST

static const struct {
    const char *text, *expected;
} yaml_faults[] = {
    {"particles: {list: 5}", "r:1:19: error: found '5', expected a list of particles"},
    {"particles: {list: [e-]}",
     "r:1:20: error: found 'e-', expected a particle, as in {type: e-, x: 0, y: 0, z: 0, zenith: "
     "90, azimuth: 0, energy: 1e5}"},
    {"particles: {list: [{type: e-, energi: 5}]}",
     "r:1:31: error: unknown key 'energi', did you mean 'energy'?"},
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

/* --set replaces the list of the run file by a file, or a file by a list, and the configuration
 * that is printed then can be read. */
START_TEST(the_last_of_list_and_file)
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
        ck_assert_uint_eq(config->particles.count, i);
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
        ck_assert_uint_eq(again->particles.count, i);
        ck_assert_int_eq(again->particles.file != NULL, i == 0);
        icestream_config_destroy(again);
        icestream_config_destroy(config);
        free(printed);
    }
}
END_TEST

START_TEST(bad_yaml)
{
    icestream_error error = {0};
    icestream_config *config = NULL;
    const char *text = yaml_faults[_i].text;
    int status = ics_config_load_text("r", text, strlen(text), NULL, 0, &config, &error);
    if (status == ICESTREAM_OK) { /* what is in the list shows when it is opened */
        ics_particle_source *source = NULL;
        status = ics_particle_source_open(config, &source, &error);
        ck_assert_ptr_null(source);
        icestream_config_destroy(config);
    }
    ck_assert_int_eq(status, ICESTREAM_E_CONFIG);
    ck_assert_str_eq(error.text, yaml_faults[_i].expected);
}
END_TEST

/* Faults that appear only when the file is opened. */
START_TEST(bad_files)
{
    static const struct {
        const char *set, *expected;
    } cases[] = {{"particles.file=/tmp", "expected a name that ends in .f2k, .csv or .yaml"},
                 {"particles.file=/none/a.f2k", "/none/a.f2k: error: No such file or directory"},
                 {"particles.file=/none/a.yaml", "/none/a.yaml: error: cannot open the file"}};
    for (size_t i = 0; i < 3; ++i) {
        icestream_error error = {0};
        icestream_config *config = NULL;
        ics_particle_source *source = NULL;
        ck_assert_int_eq(ics_config_load_text("r", "", 0, &cases[i].set, 1, &config, &error),
                         ICESTREAM_OK);
        ck_assert_int_eq(ics_particle_source_open(config, &source, &error), ICESTREAM_E_CONFIG);
        ck_assert_msg(strstr(error.text, cases[i].expected) != NULL, "%s", error.text);
        ck_assert_ptr_null(source);
        icestream_config_destroy(config);
    }
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

ICS_TEST_MAIN("particle lists")
{
    TCase *formats = tcase_create("formats");
    tcase_add_test(formats, names_are_complete);
    tcase_add_test(formats, f2k);
    tcase_add_test(formats, csv);
    tcase_add_test(formats, counted_events);
    tcase_add_test(formats, yaml);
    tcase_add_test(formats, long_file);
    suite_add_tcase(suite, formats);
    TCase *faults = tcase_create("faults");
    tcase_add_loop_test(faults, bad_f2k, 0, COUNT(f2k_faults));
    tcase_add_loop_test(faults, bad_csv, 0, COUNT(csv_faults));
    tcase_add_test(faults, endless_line);
    tcase_add_loop_test(faults, bad_yaml, 0, COUNT(yaml_faults));
    tcase_add_test(faults, the_last_of_list_and_file);
    tcase_add_test(faults, bad_files);
    suite_add_tcase(suite, faults);
}
