#include "tests/kernels/emulated/lane.h"

#include "tests/kernels/emulated/profile.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 128, PHOTONS_MAX = 4096 };

const grid_schedule *const grid_schedules[ICS_SCHEDULE_COUNT] = {
#define X(constant, name, word) [ICS_SCHEDULE_##constant] = &grid_##word,
    ICS_SCHEDULE_LIST(X)
#undef X
};
grid_words grid_large_words;

/* ---- the memory -------------------------------------------------------------------------------
 */

static void *filled(size_t bytes, int with)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    ck_assert_ptr_nonnull(memory);
    memset(memory, with, bytes);
    return memory;
}

void grid_lane_make(grid_lane *self, const grid_setting *with, const ice_emission *emissions,
                    uint32_t emission_count)
{
    memset(self, 0, sizeof *self);
    self->emissions = emissions;
    self->emission_count = emission_count;
    const ics_gpu_schedule *row = ics_schedule_row(with->schedule);
    const uint32_t threads =
        row->loops ? ICS_CHAIN_PER_THREAD * GRID_BLOCK * with->chains : THREADS;
    const uint32_t slots = threads * row->slots_per_thread;
    ics_lane_memory *memory = &self->memory;
    memory->capacity = slots;
    memory->start_count = PHOTONS_MAX / ICS_START_STRIDE + 2;
#define COLUMN(type, name, entries, of_slots, needed, fill, in_cache)                              \
    if ((needed) == 0 || (row->columns & (needed)) != 0) {                                         \
        memory->name = filled(slots / (of_slots) * (entries) * sizeof(type),                       \
                              (fill) == ICS_ANY_FILL ? 0x7f : (fill));                             \
    }
    ICS_POOL_COLUMNS(COLUMN, ICS_EACH_COLUMN)
#undef COLUMN
    memory->emissions = filled(sizeof(ice_emission) * ICS_LANE_BATCHES * GRID_BATCH, 0x7f);
    memory->offsets = filled(sizeof(uint32_t) * ICS_LANE_BATCHES * GRID_BATCH, 0x7f);
    memory->starts = filled(sizeof(uint32_t) * ICS_LANE_BATCHES * memory->start_count, 0x7f);
    memory->launch = &self->launch;
    memory->progress = &self->progress;
    memory->shares = self->shares;
    const size_t bytes = ICS_LANE_BATCHES * GRID_BATCH_COUNTS * sizeof *memory->photon_cells +
                         (row->counts_at_once ? (size_t)ICS_COUNT_COPIES : 0) * ICS_LANE_BATCHES *
                             GRID_LARGE_CELLS * sizeof(uint32_t);
    memory->photon_cells = filled(bytes + grid_large_words.count * sizeof(uint32_t), 0);
    if (grid_large_words.count > 0) {
        memcpy((char *)memory->photon_cells + bytes, grid_large_words.items,
               grid_large_words.count * sizeof(uint32_t));
    }
    self->launch.hits = filled(with->hits * sizeof(ice_arrival), 0x7f);
    self->launch.hit_capacity = with->hits;
}

void grid_lane_free(grid_lane *self)
{
    ics_lane_memory *memory = &self->memory;
/* A pointer of two columns is freed once. */
#define COLUMN(type, name, ...)                                                                    \
    free(memory->name);                                                                            \
    memory->name = NULL;
    ICS_POOL_COLUMNS(COLUMN, ICS_EACH_COLUMN)
#undef COLUMN
    void *const pieces[] = {memory->emissions, memory->offsets, memory->starts, self->launch.hits,
                            memory->photon_cells};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; ++i) {
        free(pieces[i]);
    }
    ics_graph_arrivals_free(&self->arrivals);
}

/* Puts the next batch into a free place, if there is another batch and a free place. */
static void add_batch(grid_lane *self, const grid_setting *with)
{
    uint32_t place = 0;
    while (place < ICS_LANE_BATCHES && self->created[place] > 0) {
        ++place;
    }
    if (place == ICS_LANE_BATCHES || self->next_emission == self->emission_count) {
        return;
    }
    const uint32_t left = self->emission_count - self->next_emission;
    const uint32_t count = with->batch < left ? with->batch : left;
    uint32_t *starts = self->memory.starts + (size_t)place * self->memory.start_count;
    uint32_t photons = 0, start = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const ice_emission *emission = &self->emissions[self->next_emission + i];
        self->memory.emissions[place * GRID_BATCH + i] = *emission;
        self->memory.offsets[place * GRID_BATCH + i] = photons;
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

/* The size of the blocks for which a kernel is compiled here (grid.h). */
static uint32_t threads_of(const char *name)
{
    static const struct {
        const char *name;
        uint32_t threads;
    } sizes[] = {{"gpu_create", GPU_THREADS_CREATE},
                 {"gpu_propagate", GPU_THREADS_PROPAGATE},
                 {"gpu_collide", GPU_THREADS_COLLIDE},
                 {"gpu_scatter", GPU_THREADS_SCATTER},
                 {"gpu_scatter_propagate", GPU_THREADS_SCATTER_PROPAGATE},
                 {"gpu_fly", GPU_THREADS_FLY},
                 {"gpu_column", GPU_THREADS_COLUMN}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        if (strcmp(name, sizes[i].name) == 0) {
            return sizes[i].threads;
        }
    }
    return GRID_BLOCK;
}

/* Runs a kernel of the schedule with a grid for `slots` slots. */
static void run_kernel(grid_lane *self, const grid_setting *with, uint32_t kernel, ics_chain chain,
                       uint32_t slots)
{
    grid_arguments arguments = {.tables = grid_tables, .lane = &self->memory, .chain = chain};
    const ics_gpu_schedule *row = ics_schedule_row(with->schedule);
    const grid_schedule *grid = grid_schedules[with->schedule];
    const ics_schedule_kernel *one = &ics_schedule_kernels(row, with->join)[kernel];
    const uint32_t threads = threads_of(one->name), stretch = threads * one->slots_per_thread;
    grid_run((slots + stretch - 1) / stretch, threads,
             (with->join ? grid->joined : grid->threads)[kernel], &arguments);
}

static void add_up(grid_lane *self)
{
    self->progress.alive = self->progress.stalled = 0;
    for (uint32_t i = 0; i < ICS_SHARES; ++i) {
        self->progress.alive += self->shares[i].alive;
        self->progress.stalled += self->shares[i].stalled;
    }
}

/* The row of a schedule with trips of the length that the kernels here are made for. */
static ics_gpu_schedule emulated_row(ics_schedule schedule)
{
    ics_gpu_schedule row = *ics_schedule_row(schedule);
    if (row.waves_per_create > 1) {
        row.waves_per_trip = ICS_WAVES_PER_TRIP;
    }
    return row;
}

/* Parallel kernels that have not run yet, one of a wave with an even and one of a wave with an odd
 * number. */
typedef struct later_kernels {
    bool wait[2];
    uint32_t kernels[2];
    ics_chain chains[2];
} later_kernels;

/* Runs the parallel kernels that kernel `k` waits for. */
static void run_awaited(grid_lane *self, const grid_setting *with, const ics_gpu_schedule *row,
                        uint32_t k, uint32_t wave, later_kernels *later)
{
    const ics_schedule_kernel *kernel = &ics_schedule_kernels(row, with->join)[k];
    for (uint32_t parity = 0; parity < 2; ++parity) {
        if (later->wait[parity] && ics_schedule_awaits(row, kernel, wave, parity)) {
            const ics_chain chain = later->chains[parity];
            run_kernel(self, with, later->kernels[parity], chain, chain.slots);
            later->wait[parity] = false;
        }
    }
}

/* Runs a trip of a chain. With with->late, parallel kernels run as late as the graph allows,
 * otherwise as early. */
static void run_trip(grid_lane *self, const grid_setting *with, const ics_gpu_schedule *row,
                     ics_chain chain)
{
    const ics_schedule_kernel *kernels = ics_schedule_kernels(row, with->join);
    later_kernels later = {.wait = {false, false}};
    if (with->profile) {
        grid_profile_begin(self, with);
    }
    for (chain.wave = 0; chain.wave < row->waves_per_trip; ++chain.wave) {
        for (uint32_t k = 0; kernels[k].name != NULL; ++k) {
            if (!ics_schedule_has_kernel(row, &kernels[k], chain.wave)) {
                continue;
            }
            run_awaited(self, with, row, k, chain.wave, &later);
            if (with->late && kernels[k].parallel) {
                const uint32_t own = chain.wave % 2;
                ck_assert(!later.wait[own]);
                later.wait[own] = true;
                later.kernels[own] = k;
                later.chains[own] = chain;
            } else {
                run_kernel(self, with, k, chain, chain.slots);
            }
            if (with->profile) {
                grid_profile_end(self, with, row, k);
            }
        }
    }
    ck_assert(!later.wait[0] && !later.wait[1]);
}

/* Runs the loop of a launch. The rule for its end is that of kernels/cuda/compact.cu. */
static void run_loop(grid_lane *self, const grid_setting *with)
{
    const ics_gpu_schedule row = emulated_row(with->schedule);
    const ics_launch_progress *progress = &self->progress;
    do {
        ics_chain chain = {.slots = self->memory.capacity / with->chains};
        for (uint32_t c = 0; c < with->chains; ++c) {
            chain.first = c * chain.slots;
            run_trip(self, with, &row, chain);
        }
        add_up(self);
        ++self->progress.trips;
        ck_assert_uint_lt(++self->progress.waves, 10000);
    } while (progress->stalled == 0 &&
             (progress->next < self->launch.end || (self->launch.drain && progress->alive > 0)));
}

/* Two blocks, each of which has more than one turn. */
static void add_copies(grid_lane *self, const grid_setting *with)
{
    grid_arguments arguments = {.tables = grid_tables, .lane = &self->memory};
    void (*const thread)(void *) = grid_schedules[with->schedule]->add_copies;
    if (thread != NULL) {
        grid_run(2, GRID_BLOCK, thread, &arguments);
    }
}

static void take_hits(grid_lane *self)
{
    const uint32_t most = self->launch.hit_capacity;
    const uint32_t count = self->progress.hits < most ? self->progress.hits : most;
    for (uint32_t i = 0; i < count; ++i) {
        ice_arrival arrival = self->launch.hits[i];
        const uint32_t place = arrival.emission >> GRID_START_SHIFT;
        ck_assert_uint_lt(place, ICS_LANE_BATCHES);
        ck_assert_uint_gt(self->created[place], 0);
        arrival.emission = self->origins[place] + arrival.emission % GRID_BATCH;
        ck_assert_int_eq(ics_graph_arrivals_put(&self->arrivals, &arrival), 0);
    }
}

/* Moves the histograms of a batch to those of all batches. */
static void take_cells(grid_lane *self, uint32_t place)
{
    unsigned long long *counts = self->memory.photon_cells + (size_t)place * GRID_BATCH_COUNTS;
    for (uint32_t i = 0; i < GRID_LARGE_FIRST; ++i) {
        self->cells[i % GRID_PHOTON_CELLS] += counts[i];
    }
    for (uint32_t i = 0; i < GRID_LARGE_CELLS; ++i) {
        self->large_cells[i] += counts[GRID_LARGE_FIRST + i];
    }
    memset(counts, 0, GRID_BATCH_COUNTS * sizeof *counts);
}

/* Frees the places of batches that are complete. */
static void finish_batches(grid_lane *self)
{
    for (uint32_t place = 0; place < ICS_LANE_BATCHES; ++place) {
        ice_account one = {0};
        for (uint32_t i = 0; i < ICS_SHARES; ++i) {
            const ics_batch_count *count = &self->shares[i].batches[place];
            one.absorbed += count->of[ICS_COUNT_ABSORBED];
            one.detected += count->of[ICS_COUNT_DETECTED];
            one.left += count->of[ICS_COUNT_LEFT];
            one.stopped += count->of[ICS_COUNT_STOPPED];
            one.hits += count->of[ICS_COUNT_HITS];
            one.bounces += count->of[ICS_COUNT_BOUNCES];
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
        take_cells(self, place);
        self->created[place] = 0;
        self->launch.batches[place] = (ics_queue_batch){0};
        for (uint32_t i = 0; i < ICS_SHARES; ++i) {
            self->shares[i].batches[place] = (ics_batch_count){0};
        }
    }
}

bool grid_lane_launch(grid_lane *self, const grid_setting *with)
{
    const uint32_t before = self->next_emission;
    grid_row = ics_schedule_row(with->schedule);
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
        add_copies(self, with);
    } else {
        run_kernel(self, with, 0, (ics_chain){0}, THREADS);
    }
    add_up(self);
    take_hits(self);
    finish_batches(self);
    bool more = self->next_emission < self->emission_count;
    for (uint32_t place = 0; place < ICS_LANE_BATCHES; ++place) {
        more = more || self->created[place] > 0;
    }
    return more;
}
