/* Promise: a muon whose pieces are listed is passed over, losses are made for bare muons and for no
 * others, the decision depends on the event alone, a doubt is said once with its place, and light
 * below the threshold is balanced. To join: a new way in which lists give losses gets a row in
 * `decisions`. */
#include "pipeline/photons/particles/events.h"
#include "tests/particles/list_text.h"
#include "tests/particles/particle_world.h"
#include "tests/support/test_main.h"

#include <string.h>

#define EM_LINE "EM 1 1 1970 0 0 0\n"
/* A muon downwards from the origin, 300 m long. */
#define MUON(energy) "TR 1 0 mu 0 0 0 0 0 300 " energy " 0\n"

static ics_particle_events_reader *open_text(const char *text)
{
    icestream_error error = {0};
    ics_particle_source *source = NULL;
    ics_particle_events_reader *events = NULL;
    ck_assert_msg(ics_particle_source_borrow("list", ICS_PARTICLES_F2K, ICS_EVENTS_FILE, text,
                                             strlen(text), &source, &error) == ICESTREAM_OK,
                  "%s", error.text);
    const ics_track_rule rule = {.length = 2000, .muon = ice_muon_loss_in(ICE_DENSITY)};
    ck_assert_int_eq(ics_particle_events_create(source, &rule, &events, &error), ICESTREAM_OK);
    return events;
}

/* Lines of an event, and what is found about its first track. */
static const struct {
    const char *lines;
    ics_track_losses expected;
} decisions[] = {
    {MUON("1000"), ICS_LOSSES_MISSING},
    {MUON("19"), ICS_LOSSES_NOT_NEEDED},
    {MUON("1000") "TR 2 1 brems 0 0 -100 0 0 0 5 0\n", ICS_LOSSES_LISTED},
    {"TR 2 1 epair 0 0 -100 0 0 0 5 0\n" MUON("1000"), ICS_LOSSES_LISTED},
    {MUON("1000") "TR 2 1 e- 0.5 0.5 -100 0 0 0 5 0\n", ICS_LOSSES_LISTED},
    /* the cascade of the vertex, and an electron from the decay at the end */
    {MUON("1000") "TR 2 1 hadr 0 0 0 0 0 0 500 0\n", ICS_LOSSES_MISSING},
    {MUON("1000") "TR 2 1 e- 0 0 -300 0 0 0 0.03 0\n", ICS_LOSSES_MISSING},
    /* a loss at the end of one piece of a track */
    {MUON("1000") "TR 2 1 brems 0 0 -300 0 0 0 50 0\n", ICS_LOSSES_LISTED},
    /* next to the track, before it and behind it */
    {MUON("1000") "TR 2 1 brems 5 0 -100 0 0 0 5 0\n", ICS_LOSSES_MISSING},
    {MUON("1000") "TR 2 1 brems 0 0 10 0 0 0 5 0\n", ICS_LOSSES_MISSING},
    {MUON("1000") "TR 2 1 brems 0 0 -310 0 0 0 5 0\n", ICS_LOSSES_MISSING},
    {"TR 1 0 tau 0 0 0 0 0 300 1e6 0\n", ICS_LOSSES_MISSING},
    {"TR 1 0 e- 0 0 0 0 0 ? 1e6 0\n", ICS_LOSSES_NOT_NEEDED},
};

START_TEST(decision)
{
    char text[1024];
    bool found = true, is_track = false;
    icestream_error error = {0};
    ics_listed_particle p = {0};
    /* An event before and after it changes nothing. */
    snprintf(text, sizeof text,
             FRAME_BEGIN "EM 0 1 1970 0 0 0\nTR 1 0 brems 0 0 -100 0 0 0 5 0\nEE\n" EM_LINE
                         "%sEE\nEM 2 1 1970 0 0 0\nTR 1 0 brems 0 0 -100 0 0 0 5 0\nEE\n" FRAME_END,
             decisions[_i].lines);
    ics_particle_events_reader *events = open_text(text);
    while (!is_track) {
        ck_assert_int_eq(ics_particle_events_next(events, &p, &found, &error), ICESTREAM_OK);
        ck_assert(found);
        is_track = p.event == 1 && (p.particle.values[ICS_PARTICLE_LENGTH] > 0 ||
                                    p.particle.values[ICS_PARTICLE_ENERGY] >= 1e6);
    }
    ck_assert_int_eq(p.track_losses, decisions[_i].expected);
    ics_particle_events_destroy(events);
}
END_TEST

#define AMU(z)      "TR 2 1 amu 0 0 " z " 0 0 50 900 0\n"
#define AT(name, x) "TR 2 1 " name " " x " 0 -100 0 0 50 900 0\n"

/* Lines of an event, and what happens to its particles: '+' light, '-' a muon that is passed over.
 */
static const struct {
    const char *lines, *passed;
} pieces[] = {
    {MUON("1000"), "+"},
    {MUON("1000") AMU("0") "TR 3 1 brems 0 0 -50 0 0 0 5 0\n" AMU("-50"), "-+++"},
    {AMU("-50") "TR 1 0 mu+ 0 0 0 0 0 0 1000 0\n", "+-"},
    {"TR 1 0 mu- 0 0 0 0 0 ? 1000 0\n" AT("amu-", "1.5"), "-+"},
    {MUON("1000") AT("amu+", "4"), "++"},
    /* the position of the muon is its end, which mmc writes with -surf */
    {"TR 1 0 mu 0 0 -500 0 0 ? 10 0\n" AMU("0"), "-+"},
    /* another direction, another muon, and particles that are no muons */
    {MUON("1000") "TR 2 1 amu 0 0 -50 20 0 50 900 0\n", "++"},
    {MUON("1000") "TR 2 1 mu 50 0 0 0 0 300 900 0\n" AMU("0"), "-++"},
    {"TR 1 0 tau 0 0 0 0 0 300 1000 0\n" AMU("0"), "++"},
};

START_TEST(muons_with_pieces)
{
    char text[1024];
    bool found;
    icestream_error error = {0};
    ics_listed_particle p = {0};
    snprintf(text, sizeof text,
             FRAME_BEGIN EM_LINE "%sEE\nEM 2 1 1970 0 0 0\n" AMU("0") "EE\n" FRAME_END,
             pieces[_i].lines);
    ics_particle_events_reader *events = open_text(text);
    for (const char *expected = pieces[_i].passed; *expected != '\0'; ++expected) {
        ck_assert_int_eq(ics_particle_events_next(events, &p, &found, &error), ICESTREAM_OK);
        ck_assert(found && p.event == 1);
        ck_assert_int_eq(p.passed, *expected == '-' ? ICS_PASSED_PIECES : ICS_PASSED_NOT);
        /* A piece of a muon of the list has no losses but those of the list. */
        if (ics_particle_is_piece(&p.particle) && strchr(pieces[_i].passed, '-') != NULL) {
            ck_assert_int_eq(p.track_losses, ICS_LOSSES_LISTED);
        }
    }
    ics_particle_events_destroy(events);
}
END_TEST

/* An event of `count` cascades, then a muon, then a loss of it. */
static char *large_event(int count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    fputs("particles:\n  list:\n", out);
    for (int i = 0; i < count; ++i) {
        fputs("    - {type: brems, energy: 0, " HERE "}\n", out);
    }
    fputs("    - {type: mu, energy: 1000, length: 300, x: 50, y: 0, z: 0, zenith: 0, azimuth: 0}\n"
          "    - {type: brems, energy: 5, x: 50, y: 0, z: -100, zenith: 0, azimuth: 0}\n",
          out);
    fclose(out);
    return text;
}

/* A muon and its loss in different pieces of an event that is too large: an error, no guess. */
START_TEST(too_large_event)
{
    for (int more = 0; more < 2; ++more) {
        char *text = large_event(ICS_EVENT_PARTICLES - 2 + more);
        world w = open_world(text);
        icestream_step steps[16];
        size_t count;
        icestream_error error = {0};
        const int status = particle_fill(w.steps, steps, COUNT(steps), &count, &error);
        ck_assert_int_eq(status, more ? ICESTREAM_E_CONFIG : ICESTREAM_OK);
        ck_assert(!more || strstr(error.text, "particle 16384: error: mu: found no losses on this "
                                              "track among 16384 particles of its event") != NULL);
        close_world(&w);
        free(text);
    }
}
END_TEST

#define DARK "TR 2 1 nu_mu 0 0 0 0 0 0 1 0\n"
#define FAR  "TR 1 0 mu 100 0 0 180 0 10 5 0\n"

/* A large event: `first`, `count` times `filler`, `last`. What is expected of it: words of an
 * error, or the number of muons that are passed over, and of particles that cannot be compared. */
static const struct {
    const char *first, *filler, *last;
    int count;
    const char *expected;
    int passed, incomparable;
} large[] = {
    {MUON("10"), DARK, AMU("0"), ICS_EVENT_PARTICLES - 2, NULL, 1, 0},
    {MUON("10"), DARK, AMU("0"), ICS_EVENT_PARTICLES - 1,
     "list:16388: error: amu: found a piece of the muon at list:4, whose light is already made", 0,
     0},
    /* a muon without pieces, and its neighbour, which has the piece */
    {MUON("10"), DARK, "TR 1 0 mu 1 0 0 0 0 300 10 0\n" AMU("0"), ICS_EVENT_PARTICLES, NULL, 1, 0},
    /* the muon has a piece already, and gets another one */
    {MUON("10") AMU("0"), DARK, AMU("-50"), ICS_EVENT_PARTICLES, NULL, 1, 0},
    /* a piece that makes its light before its muon comes */
    {AMU("0"), DARK, MUON("10"), ICS_EVENT_PARTICLES,
     "list:16389: error: mu: found a muon whose piece at list:4 has already made its light", 0, 0},
    {AMU("0"), DARK, "TR 1 0 mu 50 0 0 0 0 300 10 0\n", ICS_EVENT_PARTICLES, NULL, 0, 0},
    {"TR 2 1 amu 0 0 0 0 0 0 1 0\n" MUON("10"), DARK, MUON("10"), ICS_EVENT_PARTICLES, NULL, 1, 0},
    /* the last muon of a part of the event has its pieces in the next part */
    {"TR 1 0 mu 50 0 0 0 0 300 10 0\n" AT("amu", "50"), DARK, MUON("10") DARK AMU("0"),
     ICS_EVENT_PARTICLES - 4, NULL, 2, 0},
    /* more muons than are compared with pieces of a later part */
    {"", FAR, AMU("0"), ICS_EVENT_PARTICLES, NULL, 0, 1},
    {"", FAR, AMU("0") DARK AT("amu", "200"), ICS_EVENT_PARTICLES - 1, NULL, 0, 1},
    {"", AMU("0"), FAR, ICS_EVENT_PARTICLES, NULL, 0, 1},
};

static char *large_text(size_t at)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    fprintf(out, FRAME_BEGIN EM_LINE "%s", large[at].first);
    for (int i = 0; i < large[at].count; ++i) {
        fputs(large[at].filler, out);
    }
    fprintf(out, "%sEE\n" FRAME_END, large[at].last);
    fclose(out);
    return text;
}

/* Light that is already made cannot be taken back: a piece or a muon that comes too late is an
 * error, not light that counts twice. Lists in the order of mmc have no such error. */
START_TEST(pieces_in_large_events)
{
    char *text = large_text((size_t)_i);
    int passed = 0, incomparable = 0, status = ICESTREAM_OK;
    bool found = true;
    icestream_error error = {0};
    ics_listed_particle p;
    ics_particle_events_reader *events = open_text(text);
    while (found && status == ICESTREAM_OK) {
        status = ics_particle_events_next(events, &p, &found, &error);
        passed += found && p.passed == ICS_PASSED_PIECES;
        incomparable += found && p.is_incomparable;
    }
    ck_assert_msg(status == (large[_i].expected ? ICESTREAM_E_CONFIG : ICESTREAM_OK), "%s",
                  error.text);
    ck_assert_msg(large[_i].expected == NULL || strstr(error.text, large[_i].expected) != NULL,
                  "%s", error.text);
    ck_assert(large[_i].expected != NULL || passed == large[_i].passed);
    ck_assert(large[_i].expected != NULL || incomparable == large[_i].incomparable);
    ics_particle_events_destroy(events);
    free(text);
}
END_TEST

/* The error of a line is reported after the steps of all lines before it, although the whole event
 * is read first. */
START_TEST(errors_keep_their_order)
{
    icestream_error error = {0};
    ics_listed_particle p;
    bool found;
    ics_particle_events_reader *events =
        open_text(FRAME_BEGIN EM_LINE MUON("1000") MUON("50") "TR 1 0 what 0 0 0 0 0 0 1 0\n");
    for (size_t line = 4; line < 6; ++line) {
        ck_assert_int_eq(ics_particle_events_next(events, &p, &found, &error), ICESTREAM_OK);
        ck_assert(found && p.position == line);
    }
    ck_assert_int_eq(ics_particle_events_next(events, &p, &found, &error), ICESTREAM_E_CONFIG);
    ck_assert(!found && strstr(error.text, "list:6:8: error: type: found 'what'") != NULL);
    ics_particle_events_destroy(events);
}
END_TEST

#define BARE "{type: mu, energy: 1e5, length: 300, " HERE "}"
#define MUON_PIECE                                                                                 \
    "{type: amu, energy: 10, length: 30, " HERE "}, {type: amu, energy: 1e4, length: 0, " HERE "}"
#define LOSS       ", {type: brems, energy: 5, x: 0, y: 0, z: -50, zenith: 0, azimuth: 0"
#define LISTED     BARE LOSS ", time: 166.78}"

#define STRAY      "{type: brems, energy: 5, x: 0, y: 0, z: 50, zenith: 0, azimuth: 0}"
#define TURNED     BARE ", " STRAY
#define PRODUCT    "{type: e-, energy: 5, x: 0, y: 0, z: -30, zenith: 0, azimuth: 0}"
#define BARE_BELOW "{type: mu, energy: 10, length: 10, " HERE "}"

/* auto makes the light of a bare muon and leaves a list with losses alone. */
START_TEST(light)
{
    const double bare = photons_of("losses: none, ", BARE), with = photons_of("", BARE);
    ck_assert_double_gt(with, 100 * bare);
    ck_assert_double_eq(with, photons_of("losses: simple, ", BARE));
    ck_assert_double_eq(photons_of("", LISTED), photons_of("losses: none, ", LISTED));
    ck_assert_double_eq(photons_of("", MUON_PIECE ", " BARE), photons_of("", MUON_PIECE));
    ck_assert_double_eq(
        photons_of("decays: none, ", "{type: tau, energy: 1e5, length: 300, " HERE "}"),
        photons_of("decays: none, losses: none, ",
                   "{type: tau, energy: 1e5, length: 300, " HERE "}"));
}
END_TEST

/* Options and a list, and words of the only warning. NULL: none. */
static const struct {
    const char *options, *list, *expected;
} doubts[] = {
    {"", BARE, NULL},
    {"", LISTED, NULL},
    {"losses: none, ", LISTED, NULL},
    {"losses: none, ", BARE,
     "particle 1: 1 track, the first one of 100000 GeV and 300 m, has no "
     "energy losses in the list, and particles.losses: none"},
    {"losses: simple, ", LISTED, "particles.losses: simple makes them again"},
    {"", LISTED ", {event: 1, type: mu, energy: 1e4, length: 30, " HERE "}",
     "particle 3: 1 track, the first one of 10000 GeV and 30 m, has no energy losses in the list "
     "and get simple ones"},
    {"", "{type: tau, energy: 1e5, length: 30, " HERE "}, " PRODUCT, "knows those of muons only"},
    {"",
     "{type: tau, energy: 3e5, length: 14, " HERE
     "}, {type: e-, energy: 5, x: 0, y: 0, z: -14, zenith: 0, azimuth: 0}",
     NULL},
    {"", "{type: tau, energy: 10, length: 30, " HERE "}, " PRODUCT,
     "particle 1: 1 track, the first one of 10 GeV and 30 m, has more length than a tau of this"},
    /* The muon passes z = -50 m at 166.78 ns. Of two muons on one line any may have made a loss. */
    {"", BARE LOSS "}",
     "particle 2: time: found 0 ns for the brems of 5 GeV on the line of the mu at "
     "work/run.yaml:2:20: particle 1, expected 166.78 ns, when it passes (1 such loss, "},
    {"", BARE LOSS ", time: 1.6678e-7}", "expected 166.78 ns, when it passes; this time is in s"},
    {"", BARE LOSS ", time: 173}", NULL},
    {"", BARE LOSS ", time: 174}", "found 174 ns for the brems"},
    {"", BARE ", {type: mu, energy: 1e5, length: 300, time: -166.78, " HERE "}" LOSS "}", NULL},
    {"", BARE ", {type: e+, energy: 5, x: 0, y: 0, z: -50, zenith: 0, azimuth: 0}",
     "found 0 ns for the e+ of 5 GeV on the line of the mu"},
    {"", BARE ", {type: e+, energy: 5, x: 0, y: 0, z: -50, zenith: 4, azimuth: 0}", NULL},
    {"", "{type: mu, energy: 4, length: 9, " HERE "}, {type: brems, energy: 5, " HERE "}",
     "particle 1: energy: found losses of 5 GeV in all on the line of this mu, expected at most "
     "its energy, 4 GeV"},
    {"", "{type: mu, energy: 5, length: 9, " HERE "}, {type: brems, energy: 5, " HERE "}", NULL},
    {"", "{type: nu, energy: 5}, {event: 1, type: e-, energy: 5, " HERE "}",
     "particle 1: event 0: found only particles without light, neutrinos or nuclei, in 1 of 2"},
    {"", "{type: nu, energy: 5}, {type: e-, energy: 5, " HERE "}", NULL},
    {"", "{type: mu, energy: 0.2, length: 30, " HERE "}", "more length than a muon of this energy"},
    {"", MUON_PIECE, NULL},
    {"", BARE ", " MUON_PIECE,
     "particle 1: 1 track, the first one of 100000 GeV and 300 m, has pieces (amu, amu-, amu+) in "
     "the same event, so only the pieces make light"},
    /* Losses on the other side of the start of a muon, or next to its line. A cascade at the vertex
       is none. */
    {"", TURNED,
     "particle 2: found brems of 5 GeV on no track of its event, 50 m from the mu of 100000 GeV "
     "at"},
    {"", BARE ", {type: epair, energy: 5, x: 9, y: 0, z: -50, zenith: 0, azimuth: 0}",
     "particle 2: found epair of 5 GeV on no track of its event, 9 m from the mu of 100000 GeV at"},
    {"losses: none, ", BARE_BELOW ", " STRAY, NULL},
    {"", BARE ", {type: hadr, energy: 5, " HERE "}", NULL},
    {"conventions: ppc, ", "{type: e-, energy: 5, length: 3, " HERE "}",
     "1 particle, the first one of 5 GeV and 3 m, has a length of a cascade, over which ppc "
     "spreads"},
    {"conventions: ppc, ", "{type: e-, energy: 5, length: 0, " HERE "}", NULL},
    {"", "{type: e-, energy: 5, length: 3, " HERE "}", NULL},
    {"", BARE ", {event: 1, type: brems, energy: 5, x: 9, y: 0, z: -50, zenith: 0, azimuth: 0}",
     NULL},
};

START_TEST(warnings)
{
    world w = open_particles(doubts[_i].options, doubts[_i].list);
    ics_warnings found = {0};
    count_all(&w);
    ck_assert_int_eq(ics_light_totals_warn(ics_particle_steps_light(w.steps),
                                           ics_particle_steps_source(w.steps), &found),
                     ICESTREAM_OK);
    ck_assert_uint_eq(found.count, doubts[_i].expected != NULL);
    ck_assert_msg(found.count == 0 || strstr(found.items[0], doubts[_i].expected) != NULL, "%s",
                  found.items[0]);
    ics_warnings_free(&found);
    close_world(&w);
}
END_TEST

/* The light by types, and the events with the least and the most light. */
START_TEST(by_type)
{
    char *text = NULL;
    size_t size = 0;
    world w = open_particles("", "{type: NuMu}, {type: 12}, {type: e-, event: 7, energy: 10, " HERE
                                 "}, {type: e-, event: 7, energy: 30, " HERE "}");
    const ics_particle_totals totals = count_all(&w);
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    const ics_light_totals *made = ics_particle_steps_light(w.steps);
    ics_light_totals_describe(made, out);
    fclose(out);
    ck_assert(made->events == 2 && made->least == 0 && made->least_event == 0);
    ck_assert(made->most == (double)totals.photons && made->most_event == 7);
    ck_assert_ptr_nonnull(strstr(text, "  nu       2: 0 photons\n"));
    ck_assert_ptr_nonnull(strstr(text, "  e-       2, 40 GeV: "));
    free(text);
    close_world(&w);
}
END_TEST

ICS_TEST_MAIN("track losses")
{
    TCase *tracks = tcase_create("tracks");
    tcase_add_loop_test(tracks, decision, 0, COUNT(decisions));
    tcase_add_loop_test(tracks, muons_with_pieces, 0, COUNT(pieces));
    tcase_add_loop_test(tracks, pieces_in_large_events, 0, COUNT(large));
    tcase_add_test(tracks, too_large_event);
    tcase_add_test(tracks, errors_keep_their_order);
    tcase_add_test(tracks, light);
    tcase_add_loop_test(tracks, warnings, 0, COUNT(doubts));
    tcase_add_test(tracks, by_type);
    suite_add_tcase(suite, tracks);
}
