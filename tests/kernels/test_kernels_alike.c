/* `icestream-lab impact divergence`: the kernels of the GPU schedules without divergence, on the
 * CPU (tests/kernels/emulated). Every photon is created once and counts for its batch, and the
 * threads of a warp have copies of one photon, from the birth to the end.
 *
 * How to join: a new schedule joins as in test_kernels.c. If its warps mix photons, its kernels
 * need a case for GPU_WITHOUT_DIVERGENCE (kernels/cuda/device/run.h). */
#include "tests/kernels/emulated/lane.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <string.h>

/* A batch has a whole number of warps of photons, and a step has not. */
enum { EMISSIONS = 6 * GRID_BATCH, PHOTONS = 24, FIRST_SCHEDULE = ICS_SCHEDULE_AUTO + 1 };

static stage_world world;
static ice_emission emissions[EMISSIONS];

static void prepare(void)
{
    world = stage_world_from_config(NULL, "detector.oversize=40", "detector.crossing=disc",
                                    "detector.keep_hit_photons=true", "ice.model=uniform", NULL);
    world.options.bounce_limit = 30;
    grid_tables = stage_world_tables(&world);
    for (uint32_t i = 0; i < EMISSIONS; ++i) {
        const ice_module *near = &world.detector->modules[(size_t)i * 50];
        emissions[i] = (ice_emission){.x = (float)near->x + 2.0f,
                                      .y = (float)near->y,
                                      .z = (float)near->z + 1.0f,
                                      .dz = 1.0f,
                                      .beta = 1.0f,
                                      .event_low = i / 7,
                                      .step_id = i,
                                      .photons = PHOTONS,
                                      .flags = i % 2 ? ICE_EMISSION_ISOTROPIC : 0};
    }
}

static void clean_up(void)
{
    stage_world_destroy(&world);
}

/* Fails unless the photons in the slots of each warp are at one place. Returns how many photons
 * there are. */
static uint32_t expect_copies(const ics_lane_memory *memory)
{
    uint32_t photons = 0;
    for (uint32_t first = 0; first < memory->capacity; first += 32) {
        const ics_word *place = NULL;
        for (uint32_t slot = first; slot < first + 32; ++slot) {
            const float vacant = memory->identity[slot].y;
            uint32_t emission;
            memcpy(&emission, &vacant, sizeof emission);
            if (emission == ICS_NOBODY) {
                continue;
            }
            place = place != NULL ? place : &memory->position[slot];
            ck_assert_mem_eq(place, &memory->position[slot], sizeof *place);
            ++photons;
        }
    }
    return photons;
}

/* Fails unless every arrival has been recorded by `copies` threads, or a multiple of it. */
static void expect_arrivals(ics_arrivals *arrivals, size_t copies)
{
    size_t different = 0;
    world_sort(arrivals);
    for (size_t i = 0; i < arrivals->count; i += copies) {
        ck_assert_uint_le(i + copies, arrivals->count);
        for (size_t k = 1; k < copies; ++k) {
            ck_assert_mem_eq(&arrivals->items[i], &arrivals->items[i + k], sizeof(ice_arrival));
        }
        different += i == 0 ||
                     memcmp(&arrivals->items[i - 1], &arrivals->items[i], sizeof(ice_arrival)) != 0;
    }
    ck_assert_uint_gt(different, 20);
}

/* The least number of copies that a photon has in batches of this test. A thread of thread-per-step
 * has a step, and a batch has steps for half of a warp. A warp of job-queue ends a batch with parts
 * of steps, which are multiples of 8 photons. */
static size_t least_copies(ics_schedule schedule)
{
    return schedule == ICS_SCHEDULE_THREAD_PER_STEP ? GRID_BATCH
           : schedule == ICS_SCHEDULE_JOB_QUEUE     ? 8
                                                    : 32;
}

/* Photons stay in the pool between launches. */
START_TEST(the_threads_of_a_warp_have_copies)
{
    const ics_schedule schedule = (ics_schedule)_i;
    const size_t copies = least_copies(schedule);
    const ics_gpu_schedule *row = ics_schedule_row(schedule);
    for (int join = 0; join <= ics_schedule_can_join(row); ++join) {
        const grid_setting with = {.schedule = schedule,
                                   .hits = 4096,
                                   .batch = GRID_BATCH,
                                   .chains = row->loops ? 2 : 1,
                                   .stream = true,
                                   .join = join != 0};
        grid_lane self;
        uint32_t stayed = 0;
        grid_lane_make(&self, &with, emissions, EMISSIONS);
        while (grid_lane_launch(&self, &with)) {
            ck_assert_uint_lt(self.launches, 1000);
            stayed += copies == 32 ? expect_copies(&self.memory) : 0;
        }
        ck_assert(!row->loops || stayed > 0);
        /* A launch ends here when threads have no photon and there are no more: all at once. */
        ck_assert(schedule != ICS_SCHEDULE_MONOLITHIC || stayed == 0);
        ck_assert_uint_eq(self.account.created, EMISSIONS * PHOTONS);
        ck_assert_uint_eq(self.account.hits, self.arrivals.count);
        expect_arrivals(&self.arrivals, copies);
        grid_lane_free(&self);
    }
}
END_TEST

ICS_TEST_MAIN("kernels alike")
{
    TCase *tests = tcase_create("schedules");
    tcase_add_unchecked_fixture(tests, prepare, clean_up);
    tcase_add_loop_test(tests, the_threads_of_a_warp_have_copies, FIRST_SCHEDULE,
                        ICS_SCHEDULE_COUNT);
    suite_add_tcase(suite, tests);
}
