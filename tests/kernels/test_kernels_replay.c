/* The kernel that replays photons on a GPU, run on the CPU thread by thread
 * (tests/kernels/emulated) behind a stand-in for graphs/gpu_replay.h. Weights, layers, derivatives
 * and paths have the bits of the CPU's replay, in every kind of ice, also if a launch has too
 * little room and is divided; a hit that is not on the path of its photon is an error.
 *
 * How to join: a new feature of the ice joins in replay_places. */
#include "base/error.h"
#include "graphs/gpu_replay.h"
#include "pipeline/photons/replay/photon.h"
#include "tests/kernels/emulated/replay.h"
#include "tests/support/replay_check.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { TARGETS = REPLAY_TARGETS };

static const ics_gpu_options gpu = {.ordinal = 0};

/* ---- a stand-in for a GPU ---------------------------------------------------------------------
 */

/* Room for arrivals and for layers, and photons of a launch. */
static struct {
    uint64_t arrivals, layers;
    uint32_t photons, overflows, launches;
} room;

struct ics_gpu_replay {
    const ice_tables *tables;
    bool sums, angles, points;
    ics_replay_ice ices[TARGETS];
    ics_replay_work works[ICS_GPU_REPLAY_LAUNCHES];
};

static void *zeros(uint64_t bytes)
{
    void *memory = calloc(1, bytes + 1);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

int ics_gpu_replay_create(const ics_gpu_options *options, const ics_tables *tables,
                          const ics_gpu_replay_wish *wish, ics_gpu_replay **out,
                          icestream_error *error)
{
    ics_gpu_replay *replay = zeros(sizeof *replay);
    const uint64_t slots = (uint64_t)tables->device.layer_count + 1;
    (void)error;
    ck_assert_int_eq(options->math, ICS_MATH_PORTABLE);
    ck_assert_uint_le(wish->target_count, TARGETS);
    replay->tables = &tables->device;
    replay->sums = wish->sums;
    replay->points = wish->points;
    replay->angles = wish->own_angles;
    for (uint32_t i = 0; i < wish->target_count; ++i) {
        const ics_gpu_replay_target *target = &wish->targets[i];
        replay->ices[i] =
            (ics_replay_ice){target->tables->device, target->scatter, target->needs_angles ? 1 : 0};
    }
    for (int i = 0; i < ICS_GPU_REPLAY_LAUNCHES; ++i) {
        ics_replay_work *work = &replay->works[i];
        *work = (ics_replay_work){.ices = replay->ices,
                                  .targets = wish->target_count,
                                  .arrival_capacity = room.arrivals,
                                  .layer_capacity = room.layers};
        work->states = zeros(GRID_REPLAY_THREADS * TARGETS * sizeof *work->states);
        work->sums = zeros(GRID_REPLAY_THREADS * 2 * slots * sizeof *work->sums);
        work->counts = zeros(sizeof *work->counts);
        work->arrivals = zeros(room.arrivals * sizeof *work->arrivals);
        work->ends = zeros(room.arrivals * (1 + TARGETS) * sizeof *work->ends);
        work->layers = zeros(room.layers * sizeof *work->layers);
        work->points = zeros(room.arrivals * sizeof *work->points);
    }
    *out = replay;
    return ICESTREAM_OK;
}

void ics_gpu_replay_destroy(ics_gpu_replay *replay)
{
    for (int i = 0; i < ICS_GPU_REPLAY_LAUNCHES; ++i) {
        const ics_replay_work *work = &replay->works[i];
        free(work->states);
        free(work->sums);
        free(work->counts);
        free(work->arrivals);
        free(work->ends);
        free(work->layers);
        free(work->points);
    }
    free(replay);
}

ics_kernels ics_gpu_replay_kernels(const ics_gpu_replay *replay)
{
    (void)replay;
    return (ics_kernels){.code = 0};
}

uint32_t ics_gpu_replay_most(const ics_gpu_replay *replay)
{
    (void)replay;
    return room.photons;
}

int ics_gpu_replay_submit(ics_gpu_replay *replay, uint32_t launch,
                          const ics_gpu_replay_photons *photons, icestream_error *error)
{
    ics_replay_work *work = &replay->works[launch];
    (void)error;
    work->emissions = photons->emissions;
    work->items = photons->items;
    work->count = photons->count;
    *work->counts = (ics_replay_counts){.next = 0};
    room.launches += 1;
    if (replay->points) {
        grid_trace_run(replay->tables, work);
    } else {
        grid_replay_run(replay->tables, work, replay->sums, replay->angles);
    }
    return ICESTREAM_OK;
}

int ics_gpu_replay_wait(ics_gpu_replay *replay, uint32_t launch, ics_gpu_replay_output *out,
                        icestream_error *error)
{
    const ics_replay_work *work = &replay->works[launch];
    (void)error;
    *out = (ics_gpu_replay_output){.arrivals = work->arrivals,
                                   .ends = work->ends,
                                   .layers = work->layers,
                                   .points = work->points,
                                   .arrival_count = work->counts->arrivals,
                                   .layer_count = work->counts->layers};
    out->overflows = out->arrival_count > room.arrivals || out->layer_count > room.layers;
    room.overflows += out->overflows;
    return ICESTREAM_OK;
}

START_TEST(kernel_replays_as_the_cpu)
{
    replay_sample sample = replay_sample_create(&replay_places[_i]);
    memset(&room, 0, sizeof room);
    room.arrivals = 10000;
    room.layers = 100000;
    room.photons = 1u << 20;
    replay_sample_check(&sample, true, &gpu);
    replay_sample_check(&sample, false, &gpu);
    ck_assert_uint_eq(room.launches, 2);
    ck_assert_uint_eq(room.overflows, 0);
    /* Several launches, some of which have too little room. */
    room.photons = 100;
    room.arrivals = 90;
    replay_sample_check(&sample, true, &gpu);
    ck_assert_uint_gt(room.overflows, 0);
    room.overflows = 0;
    room.arrivals = 1000;
    room.layers = 60;
    replay_sample_check(&sample, true, &gpu);
    ck_assert_uint_gt(room.overflows, 0);
    replay_sample_free(&sample);
}
END_TEST

/* All points of the paths of photons, with the arrivals of hits. */
typedef struct paths {
    ice_path_point *points;
    ice_arrival *arrivals;
    size_t count, hits, photons, ended;
} paths;

static int begin_photon(void *self, size_t photon)
{
    ck_assert_uint_eq(photon, ((paths *)self)->photons++);
    return 0;
}

static int end_photon(void *self, size_t photon)
{
    ck_assert_uint_eq(photon, ((paths *)self)->ended++);
    return 0;
}

static int put_point(void *self, const ice_path_point *point)
{
    paths *to = self;
    to->points = reallocarray(to->points, to->count + 1, sizeof *to->points);
    to->arrivals = reallocarray(to->arrivals, to->count + 1, sizeof *to->arrivals);
    to->points[to->count] = *point;
    if (point->arrival != NULL) {
        to->arrivals[to->count] = *point->arrival;
        to->arrivals[to->count].emission = 0; /* the number of the photon in its launch */
        to->hits += 1;
    }
    to->count += 1;
    return 0;
}

static void check_paths(const paths *one, const paths *other)
{
    ck_assert_uint_eq(one->count, other->count);
    ck_assert_uint_eq(one->hits, other->hits);
    for (size_t i = 0; i < one->count; ++i) {
        const ice_path_point *a = &one->points[i], *b = &other->points[i];
        ck_assert_int_eq(a->kind, b->kind);
        ck_assert_uint_eq(a->scatters, b->scatters);
        ck_assert_mem_eq(&a->x, &b->x, 9 * sizeof a->x); /* up to the wavelength */
        ck_assert((a->arrival != NULL) == (b->arrival != NULL));
        if (a->arrival != NULL) {
            ck_assert_mem_eq(&one->arrivals[i], &other->arrivals[i], sizeof *one->arrivals);
        }
    }
}

START_TEST(kernel_traces_as_the_cpu)
{
    enum { PHOTONS = 60 };
    replay_sample sample = replay_sample_create(&replay_places[_i]);
    const ice_variants variants = world_variants();
    ics_replay_photon photons[PHOTONS];
    paths cpu = {.count = 0}, other = {.count = 0};
    icestream_error error = {.text = ""};
    for (int i = 0; i < PHOTONS; ++i) {
        const icestream_hit *hit = &sample.hits[i];
        const ics_replay_follower follower = {put_point, &cpu};
        const ice_emission emission = ics_batch_step_emission(&sample.steps[i], hit->photon_id, 1);
        photons[i] = (ics_replay_photon){hit->event_id, hit->step_id, hit->photon_id};
        ics_replay_photon_follow(&variants, &sample.world.tables->device, &emission, hit->photon_id,
                                 &follower);
    }
    memset(&room, 0, sizeof room);
    room.photons = 50;
    room.arrivals = cpu.count / 3; /* too little for 50 photons */
    const ics_replay_gpu_paths wanted = {.options = {.math = ICS_MATH_PORTABLE},
                                         .tables = sample.world.tables,
                                         .photons = photons,
                                         .steps = sample.steps,
                                         .count = PHOTONS,
                                         .begin = begin_photon,
                                         .end = end_photon,
                                         .follower = {put_point, &other}};
    ck_assert_msg(ics_replay_follow_on_gpu(&wanted, &error) == 0, "%s", error.text);
    ck_assert_uint_gt(room.overflows, 0);
    ck_assert_uint_eq(other.ended, PHOTONS);
    ck_assert_uint_ge(cpu.hits, PHOTONS);
    check_paths(&cpu, &other);
    free(cpu.points);
    free(cpu.arrivals);
    free(other.points);
    free(other.arrivals);
    replay_sample_free(&sample);
}
END_TEST

START_TEST(kernel_misses_a_hit_that_is_not_on_the_path)
{
    replay_sample sample = replay_sample_create(&replay_places[0]);
    icestream_error error = {.text = ""};
    replay_results results;
    memset(&room, 0, sizeof room);
    room.arrivals = room.layers = 10000;
    room.photons = 50;
    sample.hits[sample.count / 2].z += 1e-3f;
    ck_assert_int_eq(replay_sample_fly(&sample, false, &gpu, &results, &error),
                     ICESTREAM_E_DIFFERENT);
    ck_assert_ptr_nonnull(strstr(error.text, "not found on the path of the repeated photon"));
    free(results.bytes);
    replay_sample_free(&sample);
}
END_TEST

ICS_TEST_MAIN("kernels_replay")
{
    TCase *tests = tcase_create("kernels_replay");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, kernel_replays_as_the_cpu, 0, REPLAY_PLACES);
    tcase_add_loop_test(tests, kernel_traces_as_the_cpu, 0, REPLAY_PLACES);
    tcase_add_test(tests, kernel_misses_a_hit_that_is_not_on_the_path);
    suite_add_tcase(suite, tests);
}
