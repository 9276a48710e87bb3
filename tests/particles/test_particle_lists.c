/* Promise: every name of docs/physics.md 10.6 has its class and profile, and the three formats of
 * lists give the same particles. To join: a new name is a word in the table of physics.md, a new
 * format gets a test like `csv`. */
#include "pipeline/photons/particles/source.h"
#include "tests/particles/list_text.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

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

/* Reads the next particle. Returns false at the end of the list. */
static bool take(ics_particle_source *source, ics_listed_particle *out)
{
    icestream_error error = {0};
    bool found;
    ck_assert_msg(ics_particle_source_next(source, out, &found, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return found;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The rows of the table in docs/physics.md 10.6: words in the column "light" name the class, and in
 * rows of cascades ";" separates the profiles, in this order. */
static const struct {
    const char *light;
    ics_particle_class kind;
    ice_cascade first_profile;
} classes[] = {{"electromagnetic cascade", ICS_PARTICLE_CASCADE, ICE_CASCADE_ELECTRON},
               {"hadronic cascade", ICS_PARTICLE_CASCADE, ICE_CASCADE_PI_PLUS},
               {"track", ICS_PARTICLE_TRACK, 0},
               {"magnetic monopole", ICS_PARTICLE_MONOPOLE, 0},
               {"beam from a module", ICS_PARTICLE_FLASHER, 0},
               {"isotropic light", ICS_PARTICLE_POINT, 0},
               {"standard candles", ICS_PARTICLE_CANDLE, 0},
               {"exact number of photons", ICS_PARTICLE_RAY, 0},
               {"no light", ICS_PARTICLE_DARK, 0}};
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
    const bool has_energy =
        kind == ICS_PARTICLE_CASCADE || kind == ICS_PARTICLE_TRACK || kind == ICS_PARTICLE_DARK;
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
            kind != ICS_PARTICLE_MONOPOLE && strcmp(name, "beam") != 0) {
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

/* Codes of the PDG and names of IceTray mean types of f2k. */
START_TEST(names_of_other_programs)
{
    static const struct {
        const char *name, *type; /* NULL: unknown */
    } names[] = {{"13", "mu"},
                 {"-13", "mu+"},
                 {"+11", "e-"},
                 {"-11", "e+"},
                 {"22", "gamma"},
                 {"111", "pi0"},
                 {"-211", "pi-"},
                 {"2112", "n"},
                 {"-2112", "pbar"},
                 {"-2000001006", "hadr"},
                 {"-2000001001", "brems"},
                 {"MuMinus", "mu"},
                 {"mu-", "mu"},
                 {"tau-", "tau"},
                 {"nu_mu", "nu"},
                 {"~nu_tau", "nu"},
                 {"p-", "pbar"},
                 {"k+", "pi+"},
                 {"mupair", "epair"},
                 {"EMinus", "e-"},
                 {"PPlus", "p"},
                 {"NuclInt", "munu"},
                 {"NuMu", "nu"},
                 {"-16", "nu"},
                 {"1000080160", "nucleus"},
                 {"1000010010", "nucleus"},
                 {"2000000101", "dark"},
                 {"2000000001", "hadr"},
                 {"0", NULL},
                 {"99", NULL},
                 {"13.0", NULL},
                 {"1e3", NULL},
                 {"--13", NULL},
                 {"13-", NULL},
                 {"muminus", NULL},
                 {"-1000080160", "nucleus"},
                 {"", NULL},
                 {"99999999999999999999999", NULL}};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        ics_particle particle = {0};
        char message[ICS_PARTICLE_MESSAGE];
        const bool known = ics_particle_set(&particle, ICS_PARTICLE_TYPE, names[i].name,
                                            strlen(names[i].name), message);
        ck_assert_msg(known == (names[i].type != NULL), "%s", names[i].name);
        if (known) {
            ck_assert_str_eq(ics_particle_type_name(ics_particle_type_of(&particle)),
                             names[i].type);
        } else {
            ck_assert_ptr_nonnull(strstr(message, "a code of the PDG as 13"));
        }
    }
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
    ck_assert_str_eq(ics_particle_source_place_of(source, p.position, place, sizeof place),
                     "list:7");
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
                  "\"point\",\"4.0\",0,0,0,,,,,5.5,");
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

/* What pandas and spreadsheets write is the same list: other separators, an index, quotes around
 * fields, a byte order mark, CR LF, and empty columns and rows at the ends. */
START_TEST(csv_of_other_programs)
{
    static const char *const texts[] = {
        "event,type,x,y,z,energy,zenith,azimuth\n0,e-,1,2,-3.5,1e3,0,0\n4,e-,1,2,-7.5,1e3,0,0\n",
        "event;type;x;y;z;energy;zenith;azimuth\n0;e-;1;2;-3.5;1e3;0;0\n4;e-;1;2;-7.5;1e3;0;0\n",
        ",event,type,x,y,z,energy,zenith,azimuth\n0,0,e-,1,2,-3.5,1e3,0,0\n1,4,e-,1,2,-7.5,1e3,0,0",
        "Unnamed: 0,event,type,x,y,z,energy,zenith,azimuth\n0,0,e-,1,2,-3.5,1e3,0,0\n"
        "a,4,e-,1,2,-7.5,1e3,0,0\n",
        "\tevent\ttype\tx\ty\tz\tenergy\tzenith\tazimuth\n0\t0\te-\t1\t2\t-3.5\t1e3\t0\t0\n"
        "\t4\te-\t1\t2\t-7.5\t1e3\t0\t0\n",
        "\"\",\"event\",\"type\",\"x\",\"y\",\"z\",\"energy\",\"zenith\",\"azimuth\"\n"
        "\"a,b\",0,\"e-\",1,2,-3.5,1e3,0,0\n\"2\",4,\"e-\",1,2,-7.5,1e3,0,0\n",
        "\xEF\xBB\xBF"
        "sep=;\r\nevent;type;x;y;z;energy;zenith;azimuth;;\r\n0;e-;1;2;-3.5;1e3;0;0;;\r\n"
        "4;e-;1;2;-7.5;1e3;0;0;;\r\n;;;;;;;;;\r\n"};
    for (size_t i = 0; i < COUNT(texts); ++i) {
        ics_listed_particle p;
        ics_particle_source *source = open_text(ICS_PARTICLES_CSV, ICS_EVENTS_FILE, texts[i]);
        ck_assert(take(source, &p));
        ck_assert(p.event == 0 && p.particle.values[ICS_PARTICLE_Z] == -3.5);
        ck_assert(take(source, &p));
        ck_assert(p.event == 4 && p.particle.values[ICS_PARTICLE_Z] == -7.5);
        ck_assert(!take(source, &p));
        ics_particle_source_destroy(source);
    }
}
END_TEST

/* particles.first_event is added to all numbers of events. */
START_TEST(first_event)
{
    static const char list[] = "particles: {first_event: 1000, %slist: [{type: nu, event: 3}, "
                               "{type: nu, event: 5}]}\n";
    static const char *const options[] = {"", "events: count, "};
    static const uint64_t expected[][2] = {{1003, 1005}, {1000, 1001}};
    for (size_t i = 0; i < 2; ++i) {
        char text[256];
        icestream_error error = {0};
        icestream_config *config = NULL;
        ics_particle_source *source = NULL;
        ics_listed_particle p;
        snprintf(text, sizeof text, list, options[i]);
        ck_assert_int_eq(ics_config_load_text("r", text, strlen(text), NULL, 0, &config, &error),
                         0);
        ck_assert_int_eq(ics_particle_source_open(config, -1, &source, &error), ICESTREAM_OK);
        ck_assert(take(source, &p));
        ck_assert_uint_eq(p.event, expected[i][0]);
        ck_assert(take(source, &p));
        ck_assert_uint_eq(p.event, expected[i][1]);
        ics_particle_source_destroy(source);
        icestream_config_destroy(config);
    }
}
END_TEST

/* Every number of 64 bits is kept, also next to those that a double can hold. */
START_TEST(large_events_are_exact)
{
    static const uint64_t expected[] = {9007199254740993, UINT64_MAX};
    ics_listed_particle p;
    ics_particle_source *rows = open_text(ICS_PARTICLES_CSV, ICS_EVENTS_FILE,
                                          "type,event\nnu,9007199254740993\nnu,"
                                          "18446744073709551615\n");
    ics_particle_source *frames =
        open_text(ICS_PARTICLES_F2K, ICS_EVENTS_FILE,
                  FRAME_BEGIN "EM 9007199254740993 1 1970 0 0 0\nTR 1 0 e 0 0 0 0 0 0 1 0\nEE\n"
                              "EM 18446744073709551615 1 1970 0 0 0\nTR 1 0 e 0 0 0 0 0 0 1 0\nEE"
                              "\n" FRAME_END);
    for (size_t i = 0; i < 2; ++i) {
        ck_assert(take(rows, &p));
        ck_assert_uint_eq(p.event, expected[i]);
        ck_assert(take(frames, &p));
        ck_assert_uint_eq(p.event, expected[i]);
    }
    ics_particle_source_destroy(rows);
    ics_particle_source_destroy(frames);
}
END_TEST

START_TEST(first_event_beyond_64_bits)
{
    static const char text[] = "particles: {first_event: 18446744073709551610, list: [{type: nu, "
                               "event: 5}, {type: nu, event: 6}]}\n";
    icestream_error error = {.text = ""};
    icestream_config *config = NULL;
    ics_particle_source *source = NULL;
    ics_listed_particle p;
    bool found;
    ck_assert_msg(ics_config_load_text("r", text, strlen(text), NULL, 0, &config, &error) == 0,
                  "%s", error.text);
    ck_assert_int_eq(ics_particle_source_open(config, -1, &source, &error), ICESTREAM_OK);
    ck_assert(take(source, &p));
    ck_assert_uint_eq(p.event, UINT64_MAX);
    ck_assert_int_eq(ics_particle_source_next(source, &p, &found, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "event: found 6, expected at most 5, because "
                                             "particles.first_event is added to it"));
    ics_particle_source_destroy(source);
    icestream_config_destroy(config);
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
    ck_assert_int_eq(ics_particle_source_open(config, -1, &source, &error), ICESTREAM_OK);
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

/* The file is much longer than the part of it that is in memory. */
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
    ck_assert_msg(ics_particle_source_open(config, -1, &source, &error) == ICESTREAM_OK, "%s",
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

ICS_TEST_MAIN("particle lists")
{
    TCase *formats = tcase_create("formats");
    tcase_add_test(formats, names_are_complete);
    tcase_add_test(formats, names_of_other_programs);
    tcase_add_test(formats, f2k);
    tcase_add_test(formats, csv);
    tcase_add_test(formats, csv_of_other_programs);
    tcase_add_test(formats, first_event);
    tcase_add_test(formats, large_events_are_exact);
    tcase_add_test(formats, first_event_beyond_64_bits);
    tcase_add_test(formats, counted_events);
    tcase_add_test(formats, yaml);
    tcase_add_test(formats, long_file);
    suite_add_tcase(suite, formats);
}
