/* The kernels of the GPU schedules run on the CPU, thread by thread (tests/kernels/emulated). They
 * give the same arrivals as the graph of the CPU, bit for bit, for any size of hit buffer and
 * batches, and whether or not photons stay in the pool between launches. The host's part here is as
 * short as possible: one launch after the other.
 *
 * How to join: a new schedule joins with its line in graphs/options.h, its row in
 * graphs/schedule.c, and a file emulated/WORD.c that names its kernels. */
#include "tests/kernels/emulated/grid.h"
#include "tests/kernels/emulated/light.h"
#include "tests/support/shape_world.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    EMISSIONS = 18,
    THREADS = 128,
    BATCH = 1 << GRID_START_SHIFT,
    PHOTONS_MAX = 4096,
    LAYERS = 70
};

/* The kernels of every schedule, by ics_schedule. */
static const grid_schedule *const schedules[ICS_SCHEDULE_COUNT] = {
#define X(constant, name, word) [ICS_SCHEDULE_##constant] = &grid_##word,
    ICS_SCHEDULE_LIST(X)
#undef X
};
enum { FIRST_SCHEDULE = ICS_SCHEDULE_AUTO + 1 };

static stage_world world;
static ice_emission emissions[EMISSIONS];
static world_result expected;

/* Makes the world, the light and the expected arrivals. The layers are flat without `features`
 * (ICE_HAS_...). With `has_shapes` there are modules of every shape, orientations and cables. */
static void prepare_with(uint32_t features, bool has_shapes)
{
    world = stage_world_from_config(NULL, "detector.oversize=40", "detector.keep_hit_photons=true",
                                    NULL);
    /* The ice is clear and segments are long, so that many segments have several hits. */
    double b[LAYERS], a[LAYERS];
    for (int i = 0; i < LAYERS; ++i) {
        b[i] = 1.0 / (30.0 + 5.0 * (i % 4));
        a[i] = 1.0 / (50.0 + 10.0 * (i % 3));
    }
    ice_medium *medium = world_medium_layered(-700.0, 20.0, LAYERS, b, a);
    medium->absorb_above = 600.0;
    world_medium_add(medium, features);
    stage_world_set_medium(&world, medium);
    if (has_shapes) {
        shape_world_fill(world.detector, 40.0);
    }
    world.options.bounce_limit = 30;
    grid_tables = stage_world_tables(&world);
    grid_light(&world, emissions, EMISSIONS);
    const ice_variants variants = world_variants();
    expected =
        world_run(&world, ICS_SCHEDULE_MONOLITHIC, &variants, "baseline", 0, emissions, EMISSIONS);
    ck_assert_uint_gt(expected.arrivals.count, 100);
}

static void prepare(void)
{
    prepare_with(0, false);
}

static void prepare_shapes(void)
{
    prepare_with(0, true);
}

static void prepare_line(void)
{
    prepare_with(ICE_HAS_TILT_LINE | ICE_HAS_SCATTERING_ANISOTROPY |
                     ICE_HAS_OLD_ABSORPTION_ANISOTROPY | ICE_HAS_BIREFRINGENCE | ICE_HAS_HOLES,
                 false);
}

static void prepare_map(void)
{
    prepare_with(ICE_HAS_TILT_MAP | ICE_HAS_ABSORPTION_ANISOTROPY | ICE_HAS_BIREFRINGENCE, false);
}

static void clean_up(void)
{
    world_result_free(&expected);
    stage_world_destroy(&world);
}

/* ---- a lane ---------------------------------------------------------------------------------- */

typedef struct setting {
    ics_schedule schedule;
    uint32_t hits, batch, chains;
    bool stream; /* photons stay in the pool between launches while more batches will come */
    bool join;   /* scatter and propagate are one kernel */
} setting;

typedef struct lane {
    ics_lane_memory memory;
    ics_launch launch;
    ics_launch_progress progress;
    ics_share shares[ICS_SHARES];
    uint32_t origins[ICS_LANE_BATCHES]; /* the first emission of the batch in a place */
    uint64_t created[ICS_LANE_BATCHES]; /* photons of the batch in a place; 0: the place is free */
    uint32_t next_emission, launches;
    uint64_t queue_end;
    uint32_t leftovers; /* counted between launches */
    ics_arrivals arrivals;
    ice_account account;
} lane;

static void *filled(size_t bytes, int with)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    ck_assert_ptr_nonnull(memory);
    memset(memory, with, bytes);
    return memory;
}

static void make_lane(lane *self, const setting *with)
{
    memset(self, 0, sizeof *self);
    const ics_gpu_schedule *row = ics_schedule_row(with->schedule);
    /* A schedule with leftovers creates in its visits the photons for which the pool has no room: a
     * small pool tests this. */
    const uint32_t blocks = row->columns & ICS_COLUMN_LEFTOVERS ? 2 : ICS_CHAIN_PER_THREAD;
    const uint32_t threads = row->loops ? blocks * GRID_BLOCK * with->chains : THREADS;
    const uint32_t slots = threads * row->slots_per_thread;
    ics_lane_memory *memory = &self->memory;
    memory->capacity = slots;
    memory->start_count = PHOTONS_MAX / ICS_START_STRIDE + 2;
    memory->position = filled(slots * sizeof(ics_word), 0x7f);
    memory->direction = filled(slots * sizeof(ics_word), 0x7f);
    memory->identity = filled(slots * sizeof(ics_word), 0xff);
    memory->random = filled(slots * sizeof(ice_random), 0x7f);
    memory->extract = filled(slots * sizeof(ics_pair), 0xff);
    memory->segment = filled(slots * sizeof(ics_pair), 0xff);
    memory->height = filled(slots * sizeof(float), 0x7f);
    memory->recorded = filled(slots * sizeof(uint32_t), 0);
    memory->candidates = filled(slots / 8, 0x7f);
    memory->vacant = filled(slots / 8, 0xff);
    memory->cursors = filled(slots * sizeof(uint32_t) * 2, 0xff);
    memory->leftovers = filled(slots / 32 * sizeof(ics_leftover), 0);
    memory->emissions = filled(sizeof(ice_emission) * ICS_LANE_BATCHES * BATCH, 0x7f);
    memory->offsets = filled(sizeof(uint32_t) * ICS_LANE_BATCHES * BATCH, 0x7f);
    memory->starts = filled(sizeof(uint32_t) * ICS_LANE_BATCHES * memory->start_count, 0x7f);
    memory->launch = &self->launch;
    memory->progress = &self->progress;
    memory->shares = self->shares;
    self->launch.hits = filled(with->hits * sizeof(ice_arrival), 0x7f);
    self->launch.hit_capacity = with->hits;
}

static void free_lane(lane *self)
{
    ics_lane_memory *memory = &self->memory;
    void *const pieces[] = {
        memory->position, memory->direction, memory->identity,   memory->segment,
        memory->recorded, memory->vacant,    memory->candidates, memory->cursors,
        memory->offsets,  memory->starts,    memory->emissions,  memory->leftovers,
        memory->random,   memory->extract,   memory->height,     self->launch.hits};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; ++i) {
        free(pieces[i]);
    }
    ics_graph_arrivals_free(&self->arrivals);
}

/* Puts the next batch into a free place, if there is another batch and a free place. */
static void add_batch(lane *self, const setting *with)
{
    uint32_t place = 0;
    while (place < ICS_LANE_BATCHES && self->created[place] > 0) {
        ++place;
    }
    if (place == ICS_LANE_BATCHES || self->next_emission == EMISSIONS) {
        return;
    }
    const uint32_t left = EMISSIONS - self->next_emission;
    const uint32_t count = with->batch < left ? with->batch : left;
    uint32_t *starts = self->memory.starts + (size_t)place * self->memory.start_count;
    uint32_t photons = 0, start = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const ice_emission *emission = &emissions[self->next_emission + i];
        self->memory.emissions[place * BATCH + i] = *emission;
        self->memory.offsets[place * BATCH + i] = photons;
        photons += emission->photons;
        while (start * ICS_START_STRIDE < photons) {
            starts[start++] = i;
        }
    }
    starts[start] = count - 1;
    self->origins[place] = self->next_emission;
    self->created[place] = photons;
    const uint32_t size = ics_schedule_row(with->schedule)->takes_steps ? count : photons;
    self->launch.batches[place] = (ics_queue_batch){self->queue_end, size, count};
    self->queue_end += size;
    self->next_emission += count;
    self->progress.slots = self->memory.capacity;
    for (uint32_t i = 0; i < ICS_SHARES; ++i) {
        self->shares[i].batches[place] = (ics_batch_count){0};
    }
}

/* ---- a launch -------------------------------------------------------------------------------- */

/* Runs a kernel of the schedule with a grid for `slots` slots. */
static void run_kernel(lane *self, const setting *with, uint32_t kernel, ics_chain chain,
                       uint32_t slots)
{
    grid_arguments arguments = {grid_tables, &self->memory, chain};
    const ics_gpu_schedule *row = ics_schedule_row(with->schedule);
    const grid_schedule *grid = schedules[with->schedule];
    const uint32_t stretch =
        GRID_BLOCK * ics_schedule_kernels(row, with->join)[kernel].slots_per_thread;
    grid_run((slots + stretch - 1) / stretch, GRID_BLOCK,
             (with->join ? grid->joined : grid->threads)[kernel], &arguments);
}

static void add_up(lane *self)
{
    self->progress.alive = self->progress.stalled = 0;
    for (uint32_t i = 0; i < ICS_SHARES; ++i) {
        self->progress.alive += self->shares[i].alive;
        self->progress.stalled += self->shares[i].stalled;
    }
}

/* Runs the loop of a launch. The rule for its end is that of kernels/cuda/compact.cu. */
static void run_loop(lane *self, const setting *with)
{
    const ics_gpu_schedule *row = ics_schedule_row(with->schedule);
    const ics_schedule_kernel *kernels = ics_schedule_kernels(row, with->join);
    const ics_launch_progress *progress = &self->progress;
    do {
        ics_chain chain = {.slots = self->memory.capacity / with->chains};
        for (uint32_t c = 0; c < with->chains; ++c) {
            chain.first = c * chain.slots;
            for (chain.wave = 0; chain.wave < row->waves_per_trip; ++chain.wave) {
                for (uint32_t k = 0; kernels[k].name != NULL; ++k) {
                    if (ics_schedule_has_kernel(row, &kernels[k], chain.wave)) {
                        run_kernel(self, with, k, chain, chain.slots);
                    }
                }
            }
        }
        add_up(self);
        ++self->progress.trips;
        ck_assert_uint_lt(++self->progress.waves, 10000);
    } while (progress->stalled == 0 &&
             (progress->next < self->launch.end || (self->launch.drain && progress->alive > 0)));
}

static void take_hits(lane *self)
{
    const uint32_t most = self->launch.hit_capacity;
    const uint32_t count = self->progress.hits < most ? self->progress.hits : most;
    for (uint32_t i = 0; i < count; ++i) {
        ice_arrival arrival = self->launch.hits[i];
        const uint32_t place = arrival.emission >> GRID_START_SHIFT;
        ck_assert_uint_lt(place, ICS_LANE_BATCHES);
        ck_assert_uint_gt(self->created[place], 0);
        arrival.emission = self->origins[place] + arrival.emission % BATCH;
        ck_assert_int_eq(ics_graph_arrivals_put(&self->arrivals, &arrival), 0);
    }
}

/* Frees the places of batches that are complete. */
static void finish_batches(lane *self)
{
    for (uint32_t place = 0; place < ICS_LANE_BATCHES; ++place) {
        ice_account one = {0};
        for (uint32_t i = 0; i < ICS_SHARES; ++i) {
            const ics_batch_count *count = &self->shares[i].batches[place];
            one.absorbed += count->absorbed;
            one.detected += count->detected;
            one.left += count->left;
            one.stopped += count->stopped;
            one.hits += count->hits;
            one.bounces += count->bounces;
        }
        const uint64_t ended = one.absorbed + one.detected + one.left + one.stopped;
        ck_assert_uint_le(ended, self->created[place]);
        if (self->created[place] == 0 || ended < self->created[place]) {
            continue;
        }
        self->account.created += self->created[place];
        self->account.absorbed += one.absorbed;
        self->account.detected += one.detected;
        self->account.left += one.left;
        self->account.stopped += one.stopped;
        self->account.hits += one.hits;
        self->account.bounces += one.bounces;
        self->created[place] = 0;
        self->launch.batches[place] = (ics_queue_batch){0};
        for (uint32_t i = 0; i < ICS_SHARES; ++i) {
            self->shares[i].batches[place] = (ics_batch_count){0};
        }
    }
}

/* Returns whether there is more to do. */
static bool launch_once(lane *self, const setting *with)
{
    const uint32_t before = self->next_emission;
    add_batch(self, with);
    self->launch.end = self->queue_end;
    /* In a stream, a launch without new steps drains only every second time, as if more steps could
     * come. */
    self->launch.drain =
        !with->stream || (self->next_emission == before && self->launches % 2 == 1);
    ++self->launches;
    self->progress.hits = 0;
    self->progress.waves = 0;
    for (uint32_t i = 0; i < ICS_SHARES; ++i) {
        self->shares[i].stalled = 0;
    }
    if (ics_schedule_row(with->schedule)->loops) {
        run_loop(self, with);
    } else {
        run_kernel(self, with, 0, (ics_chain){0}, THREADS);
    }
    add_up(self);
    for (uint32_t i = 0; i < self->memory.capacity / 32; ++i) {
        self->leftovers += self->memory.leftovers[i].count;
    }
    take_hits(self);
    finish_batches(self);
    bool more = self->next_emission < EMISSIONS;
    for (uint32_t place = 0; place < ICS_LANE_BATCHES; ++place) {
        more = more || self->created[place] > 0;
    }
    return more;
}

/* Computes all emissions with a setting and compares the arrivals with the expected ones. Returns
 * how many photons were left over between launches, before they were created. */
static uint32_t compare(const setting *with)
{
    lane self;
    make_lane(&self, with);
    while (launch_once(&self, with)) {
        ck_assert_uint_lt(self.launches, 100000);
    }
    char name[120];
    snprintf(name, sizeof name, "%s%s, %u hits, batches of %u, %u chains%s",
             ics_graph_schedule_name(with->schedule), with->join ? " with the join" : "",
             with->hits, with->batch, with->chains, with->stream ? ", a stream" : "");
    ck_assert_uint_eq(self.progress.alive, 0);
    for (uint32_t i = 0; i < self.memory.capacity / 32; ++i) {
        ck_assert_uint_eq(self.memory.leftovers[i].count, 0);
    }
    world_sort(&self.arrivals);
    ck_assert_msg(self.arrivals.count == expected.arrivals.count, "%s: found %zu arrivals, %zu",
                  name, self.arrivals.count, expected.arrivals.count);
    ck_assert_mem_eq(self.arrivals.items, expected.arrivals.items,
                     expected.arrivals.count * sizeof(ice_arrival));
    ck_assert_msg(memcmp(&self.account, &expected.account, sizeof self.account) == 0,
                  "%s: the account differs", name);
    free_lane(&self);
    return self.leftovers;
}

/* Returns what compare() does, summed over all sizes. Every size of a batch is combined with every
 * size of the list of hits. Where ICESTREAM_TEST_SCALE is below 1, it is combined with one of them.
 */
static uint32_t compare_sizes(ics_schedule schedule, bool join)
{
    const ics_gpu_schedule *row = ics_schedule_row(schedule);
    uint32_t leftovers = 0;
    static const uint32_t hits[] = {2, 20, 4096}, batches[] = {1, 5, BATCH};
    const bool all = test_scaled(1000000) >= 1000000;
    for (int h = 0; h < 3; ++h) {
        for (int b = all ? 0 : h; b < (all ? 3 : h + 1); ++b) {
            for (int stream = 0; stream < 2; ++stream) {
                for (uint32_t chains = 1; chains <= (row->loops ? 2 : 1); ++chains) {
                    const setting with = {.schedule = schedule,
                                          .hits = hits[h],
                                          .batch = batches[b],
                                          .chains = chains,
                                          .stream = stream,
                                          .join = join};
                    leftovers += compare(&with);
                }
            }
        }
    }
    return leftovers;
}

START_TEST(kernels_give_what_the_cpu_gives)
{
    const ics_gpu_schedule *row = ics_schedule_row((ics_schedule)_i);
    const uint32_t leftovers = compare_sizes((ics_schedule)_i, false);
    ck_assert_int_eq(leftovers > 0, (row->columns & ICS_COLUMN_LEFTOVERS) != 0);
}
END_TEST

START_TEST(joined_kernels_give_what_the_cpu_gives)
{
    int joined = 0;
    for (int i = FIRST_SCHEDULE; i < ICS_SCHEDULE_COUNT; ++i) {
        if (ics_schedule_can_join(ics_schedule_row((ics_schedule)i))) {
            compare_sizes((ics_schedule)i, true);
            ++joined;
        }
    }
    ck_assert_int_eq(joined, 1);
}
END_TEST

/* A warp takes new photons after 1, after 31 or after all 32 of its threads have no photon. */
START_TEST(refills)
{
    static const uint32_t idle[] = {1, 31, 32};
    grid_refill = idle[_i];
    for (int i = FIRST_SCHEDULE; i < ICS_SCHEDULE_COUNT; ++i) {
        const ics_gpu_schedule *row = ics_schedule_row((ics_schedule)i);
        for (int join = 0; join <= ics_schedule_can_join(row); ++join) {
            compare(&(setting){(ics_schedule)i, .hits = 64, .batch = 5, .chains = 1, .join = join});
        }
    }
}
END_TEST

ICS_TEST_MAIN("kernels")
{
    TCase *tests = tcase_create("schedules");
    tcase_add_unchecked_fixture(tests, prepare, clean_up);
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, kernels_give_what_the_cpu_gives, FIRST_SCHEDULE, ICS_SCHEDULE_COUNT);
    tcase_add_test(tests, joined_kernels_give_what_the_cpu_gives);
    tcase_add_loop_test(tests, refills, 0, 3);
    suite_add_tcase(suite, tests);
    static const struct {
        const char *name;
        void (*prepare)(void);
    } rich[] = {{"1-D tilt, anisotropy, birefringence, hole ice", prepare_line},
                {"2-D tilt, absorption anisotropy, birefringence", prepare_map},
                {"shapes, orientations, cables", prepare_shapes}};
    for (size_t i = 0; i < COUNT(rich); ++i) {
        TCase *features = tcase_create(rich[i].name);
        tcase_add_unchecked_fixture(features, rich[i].prepare, clean_up);
        tcase_set_timeout(features, 300);
        tcase_add_loop_test(features, refills, 0, 3);
        suite_add_tcase(suite, features);
    }
}
