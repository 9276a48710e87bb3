/* Promise: taus and muons at rest decay where, and when, their tracks end, unless the list has the
 * products of their decay or the run has none (physics.md 10.7). To join: a rule about lists gets a
 * row in `lists`.
 *
 * There are 8 statistical comparisons. tests/support/moments.h says how likely a correct program
 * fails one of them. */
#include "pipeline/photons/particles/events.h"
#include "tests/particles/particle_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

/* What one particle makes: the parts, and its decays. */
typedef struct first_cascade {
    double distance, time, photons;
    ice_axis axis;
    ics_decay_counts decayed;
    bool found;
} first_cascade;

/* Follows the particle of an open world as if it were in another event. Returns the first cascade,
 * which belongs to a decay if the track has no losses. */
static first_cascade follow(const world *w, uint64_t event)
{
    first_cascade out = {.found = false};
    ics_particle_source *source = NULL;
    ics_particle_events_reader *events = NULL;
    ics_listed_particle listed;
    ics_light_parts parts;
    ics_light_part part;
    icestream_error error = {0};
    char message[ICS_PARTICLE_MESSAGE];
    bool found;
    ck_assert_int_eq(ics_particle_source_open(w->config, -1, &source, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_particle_events_create(source, &w->setup->track, &events, &error),
                     ICESTREAM_OK);
    ck_assert_int_eq(ics_particle_events_next(events, &listed, &found, &error), ICESTREAM_OK);
    listed.event = event;
    ck_assert_msg(ics_light_parts_begin(&parts, w->setup, &listed, message), "%s", message);
    while (ics_light_parts_next(&parts, &part)) {
        ck_assert(isfinite(part.t) && fabs(part.z) <= 1e4);
        if (part.form == ICS_PART_CASCADE && !out.found) {
            out.found = true;
            out.distance = sqrt(part.x * part.x + part.y * part.y + part.z * part.z);
            out.time = part.t;
            out.axis = part.axis;
        }
        out.photons += part.form == ICS_PART_CASCADE ? (double)part.photons : 0;
    }
    ck_assert(!ics_light_parts_next(&parts, &part));
    out.decayed = parts.decayed;
    ics_particle_events_destroy(events);
    return out;
}

/* The second bang: its distance is exponential with the mean beta gamma c tau, it is there when the
 * tau is, and its light is that of the visible energy. */
START_TEST(second_bang)
{
    const double mean = ice_tau_decay_length(1e6);
    world w = open_particles("losses: none, ", "{type: tau, energy: 1e6, time: 100, " HERE "}");
    moment distance = {0}, light = {0};
    double half = 0;
    for (size_t i = 0; i < test_scaled(20000); ++i) {
        const first_cascade one = follow(&w, i);
        ck_assert_uint_eq(one.decayed.tau[ICE_DECAY_ELECTRON] + one.decayed.tau[ICE_DECAY_MUON] +
                              one.decayed.tau[ICE_DECAY_HADRONS],
                          1);
        ck_assert_uint_eq(one.found, one.decayed.tau[ICE_DECAY_MUON] == 0 ||
                                         one.decayed.muon[ICE_DECAY_ELECTRON] == 1);
        if (one.decayed.tau[ICE_DECAY_MUON] == 0) {
            ck_assert_double_eq_tol(one.time, 100 + one.distance / ICE_LIGHT_SPEED, 1e-9);
            moment_add(&distance, one.distance);
            half += one.distance < log(2) * mean;
            if (one.decayed.tau[ICE_DECAY_ELECTRON] == 1) {
                moment_add(&light, one.photons / (1e6 * EM * YIELD));
            }
        }
    }
    expect_mean("second bang: mean distance (m)", &distance, 48.977, 0.001);
    expect_share("second bang: within the median", half, distance.count, 0.5, 0);
    expect_mean("second bang: light of electrons", &light, 0.4, 1e-3);
    close_world(&w);
}
END_TEST

/* Tau to muon: the muon flies on with losses, and may be seen to decay in its turn. */
START_TEST(muon_of_tau)
{
    world w = open_particles("", "{type: tau, energy: 40, " HERE "}");
    double muons = 0, rests = 0;
    for (size_t i = 0; i < 2000; ++i) {
        const first_cascade one = follow(&w, i);
        muons += (double)one.decayed.tau[ICE_DECAY_MUON];
        rests +=
            (double)(one.decayed.muon[ICE_DECAY_ELECTRON] + one.decayed.muon[ICE_DECAY_CAPTURE]);
    }
    ck_assert_double_eq(muons, rests); /* 40 GeV stop within the 2 km of a track */
    expect_share("tau to a muon", muons, 2000, 0.17366, 0);
    close_world(&w);
}
END_TEST

START_TEST(muon_at_rest)
{
    const ice_muon_loss ice = ice_muon_loss_in(ICE_DENSITY);
    const double range = ice_muon_range(&ice, 1), lag = ice_muon_lag(&ice, range, 0);
    world w = open_particles("", "{type: mu+, energy: 1, " HERE "}");
    moment delay = {0}, light = {0}, up = {0};
    for (size_t i = 0; i < test_scaled(20000); ++i) {
        const first_cascade one = follow(&w, i);
        ck_assert(one.found && one.decayed.muon[ICE_DECAY_ELECTRON] == 1);
        ck_assert_double_eq_tol(one.distance, range, 1e-9);
        moment_add(&delay, one.time - range / ICE_LIGHT_SPEED - lag);
        moment_add(&light, one.photons);
        moment_add(&up, one.axis.z);
    }
    expect_mean("muon at rest: delay (ns)", &delay, 2196.98, 0.01);
    expect_mean("muon at rest: photons", &light, 0.7 * 0.0528306 * EM * YIELD, 0.1);
    expect_mean("muon at rest: direction", &up, 0, 0);
    close_world(&w);
}
END_TEST

#define TAU(more)   "{type: tau, energy: 1e6, " more HERE "}"
#define AT(what, z) ", {type: " what ", x: 0, y: 0, z: " #z ", zenith: 0, azimuth: 0}"
#define HADR        "hadr, energy: 5"

/* Lists, the decays of taus and of muons at rest in them, and what the error of a list says. */
static const struct {
    const char *options, *list;
    unsigned taus, muons;
    const char *error;
} lists[] = {
    {"losses: none, ", "{type: tau, energy: 4, " HERE "}", 1, 0, NULL},
    {"losses: none, ", "{type: tau, energy: 4, length: 0.0002, " HERE "}" AT(HADR, -0.0002), 0, 0,
     NULL},
    {"", TAU("length: 30, ") AT(HADR, -30), 0, 0, NULL},
    {"", TAU("length: 30, ") AT(HADR, -29), 0, 0, NULL},
    {"", TAU("length: 30, ") AT("mu, length: 9, energy: 5", -30), 0, 0, NULL},
    {"losses: none, ", TAU("length: 30, ") AT(HADR, 0), 1, 0, NULL},
    {"losses: none, ", TAU("length: 30, ") AT("nu, energy: 5", -30), 1, 0, NULL},
    {"losses: none, ", TAU("") AT(HADR, 0), 1, 0, NULL},
    {"", TAU("") AT(HADR, -50), 0, 0, "and particles on its line behind its start"},
    {"decays: none, ", TAU("length: 30, "), 0, 0, NULL},
    {"decays: none, ", TAU(""), 0, 0, "found no length, expected the length (m)"},
    {"conventions: clsim, ", TAU(""), 0, 0, "particles.decays: auto and conventions: standard"},
    {"", "{type: tau, energy: 2e9, length: 30, " HERE "}", 0, 0, "expected at most 1000000000 GeV"},
    {"", "{type: mu, energy: 1, " HERE "}", 0, 1, NULL},
    {"", "{type: mu, energy: 0.105658389, " HERE "}", 0, 1, NULL},
    {"", "{type: mu, energy: 1, length: 3.7, " HERE "}", 0, 0, NULL},
    {"stopping: true, ", "{type: mu, energy: 1, length: 30, " HERE "}", 0, 1, NULL},
    {"stopping: true, ", "{type: mu, energy: 50, length: 3000, " HERE "}", 0, 1, NULL},
    {"track_length: 100, ", "{type: mu, energy: 50, " HERE "}", 0, 0, NULL},
    {"", "{type: mu, energy: 1, " HERE "}" AT("e-, energy: 0.04", -3.6), 0, 0, NULL},
    {"", "{type: mu, energy: 1, " HERE "}" AT("e-, energy: 0.04", 0), 0, 1, NULL},
    {"", "{type: mu, energy: 1, " HERE "}" AT("e-, energy: 0.06", -3.6), 0, 1, NULL},
    {"decays: none, ", "{type: mu, energy: 1, " HERE "}", 0, 0, NULL},
    {"conventions: ppc, stopping: true, ", "{type: mu, energy: 1, " HERE "}", 0, 0, NULL},
};

START_TEST(rules)
{
    char all[256];
    icestream_step steps[64];
    size_t count = 64;
    icestream_error error = {0};
    snprintf(all, sizeof all, "%s photons_per_step: 1000000000,", lists[_i].options);
    world w = open_particles(all, lists[_i].list);
    int status = ICESTREAM_OK;
    while (status == ICESTREAM_OK && count == 64) {
        status = particle_fill(w.steps, steps, 64, &count, &error);
    }
    if (lists[_i].error != NULL) {
        ck_assert_int_eq(status, ICESTREAM_E_CONFIG);
        ck_assert_msg(strstr(error.text, lists[_i].error) != NULL, "%s", error.text);
    } else {
        ck_assert_msg(status == ICESTREAM_OK, "%s", error.text);
        const ics_decay_counts *decayed = &ics_particle_steps_light(w.steps)->decayed;
        uint64_t taus = 0, muons = 0;
        for (int i = 0; i < ICE_DECAY_KINDS; ++i) {
            taus += decayed->tau[i];
            muons += decayed->muon[i];
        }
        ck_assert_uint_eq(taus, lists[_i].taus);
        /* A muon of a tau may stop in its turn, too. */
        ck_assert(muons == lists[_i].muons || decayed->tau[ICE_DECAY_MUON] == 1);
    }
    close_world(&w);
}
END_TEST

ICS_TEST_MAIN("decays")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, second_bang);
    tcase_add_test(all, muon_of_tau);
    tcase_add_test(all, muon_at_rest);
    tcase_add_loop_test(all, rules, 0, sizeof lists / sizeof *lists);
    suite_add_tcase(suite, all);
}
