#include "tests/gpu/gpu_world.h"

#include "tests/support/scratch_files.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int gpu_suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    icestream_error error = {0};
    if (ics_gpu_count(&error) == 0) {
        printf("skipped: no device: %s\n", error.text);
        srunner_free(runner);
        return GPU_SKIPPED;
    }
    /* Not scratch_create(), which may fail a test only while one is running. */
    scratch cache = {"/tmp/icestream-XXXXXX"};
    const char *shared = getenv("ICESTREAM_GPU_CACHE");
    if (shared == NULL && mkdtemp(cache.folder) == NULL) {
        perror(cache.folder);
        srunner_free(runner);
        return EXIT_FAILURE;
    }
    setenv("XDG_CACHE_HOME", shared != NULL ? shared : cache.folder, 1);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    if (shared == NULL) {
        scratch_remove(&cache);
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

bool gpu_is_of_another_part(int index)
{
    const char *text = getenv("ICESTREAM_GPU_PART");
    int part = 0, parts = 1;
    ck_assert_msg(!text || (sscanf(text, "%d/%d", &part, &parts) == 2 && part >= 0 && part < parts),
                  "ICESTREAM_GPU_PART: found %s, expected i/n", text);
    return index % parts != part;
}

bool gpu_host_loop(void)
{
    return getenv("ICESTREAM_GPU_HOST_LOOP") != NULL;
}

uint64_t gpu_scaled(uint64_t count, uint64_t least)
{
    const char *text = getenv("ICESTREAM_GPU_SCALE");
    const double scale = text != NULL ? strtod(text, NULL) : 1.0;
    const double scaled = scale > 0.0 ? (double)count * scale : (double)count;
    return (uint64_t)fmax(scaled, (double)least);
}

ics_gpu_options gpu_options(ics_schedule schedule, ics_math math)
{
    const ics_gpu_options options = {.schedule = schedule,
                                     .variants = world_variants(),
                                     .math = math,
                                     .watchdog = 60.0,
                                     .host_loop = gpu_host_loop(),
                                     /* It takes longer to allocate pinned memory of the default
                                      * size than to compute the light of these tests. */
                                     .hits = 1u << 15,
                                     .batch_emissions = 1u << 13,
                                     .batch_photons = 1u << 20,
                                     .use_cache = true};
    return options;
}

ics_gpu *gpu_create(const stage_world *world, const ics_gpu_options *options)
{
    icestream_error error = {0};
    ics_gpu *gpu = NULL;
    const int status = ics_gpu_create(options, world->tables, &gpu, &error);
    ck_assert_msg(status == 0 && gpu, "%s: %s", ics_graph_schedule_name(options->schedule),
                  error.text);
    return gpu;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Where the next batch begins. */
typedef struct cursor {
    const gpu_load *load;
    size_t emission;
    uint32_t done; /* photons of this emission that were submitted */
    uint32_t most_photons, most_emissions;
} cursor;

/* A batch on the GPU: for each piece, the emission of the load from which it was cut. */
typedef struct batch {
    uint32_t count;
    uint32_t origins[];
} batch;

static uint32_t at_most(uint32_t wanted, uint32_t limit)
{
    return wanted && wanted < limit ? wanted : limit;
}

/* Skips emissions without photons, which are no part of a batch. */
static void skip_empty(cursor *at)
{
    while (at->emission < at->load->count &&
           at->done == at->load->emissions[at->emission].photons) {
        at->emission += 1;
        at->done = 0;
    }
}

/* Cuts the next batch. Returns NULL if everything was submitted. */
static batch *next_batch(cursor *at, ice_emission *pieces)
{
    skip_empty(at);
    if (at->emission == at->load->count) {
        return NULL;
    }
    batch *made = malloc(sizeof *made + at->most_emissions * sizeof *made->origins);
    ck_assert_ptr_nonnull(made);
    made->count = 0;
    uint32_t room = at->most_photons;
    while (room > 0 && made->count < at->most_emissions && at->emission < at->load->count) {
        const ice_emission *from = &at->load->emissions[at->emission];
        ice_emission *piece = &pieces[made->count];
        *piece = *from;
        piece->first_photon += at->done;
        piece->photons = at_most(from->photons - at->done, room);
        made->origins[made->count++] = (uint32_t)at->emission;
        at->done += piece->photons;
        room -= piece->photons;
        skip_empty(at);
    }
    return made;
}

static void add_account(ice_account *to, const ice_account *from)
{
    to->created += from->created;
    to->absorbed += from->absorbed;
    to->detected += from->detected;
    to->left += from->left;
    to->stopped += from->stopped;
    to->hits += from->hits;
    to->bounces += from->bounces;
}

static void finish(ics_gpu_result *result, const gpu_load *load, ice_account *account,
                   void (*take)(void *user, ics_arrivals *arrivals), void *user)
{
    batch *done = result->tag;
    ck_assert_uint_eq(result->account.hits, result->arrivals.count);
    for (size_t i = 0; i < result->arrivals.count; ++i) {
        ice_arrival *arrival = &result->arrivals.items[i];
        ck_assert_uint_lt(arrival->emission, done->count);
        arrival->emission = done->origins[arrival->emission];
    }
    add_account(account, &result->account);
    for (uint32_t i = 0; load->photon_cells != NULL && i < ICE_PHOTON_CELLS; ++i) {
        load->photon_cells[i] += result->photon_cells[i];
    }
    for (uint32_t i = 0; load->large_cells != NULL && i < load->large_count; ++i) {
        load->large_cells[i] += result->large_cells[i];
    }
    free(result->large_cells);
    take(user, &result->arrivals);
    ics_graph_arrivals_free(&result->arrivals);
    free(done);
}

ice_account gpu_stream(ics_gpu *gpu, const gpu_load *load,
                       void (*take)(void *user, ics_arrivals *arrivals), void *user)
{
    const ics_gpu_options *options = ics_gpu_options_of(gpu);
    const uint32_t credits = at_most(load->in_flight, ics_gpu_credits(gpu));
    cursor at = {.load = load,
                 .most_photons = at_most(load->batch_photons, options->batch_photons),
                 .most_emissions = at_most(load->batch_emissions, options->batch_emissions)};
    ck_assert_uint_gt(credits, 0);
    ice_emission *pieces = malloc(at.most_emissions * sizeof *pieces);
    ck_assert_ptr_nonnull(pieces);
    ice_account account = {0};
    icestream_error error = {0};
    uint32_t out = 0;
    for (bool more = true; more || out > 0;) {
        while (more && out < credits) {
            batch *made = next_batch(&at, pieces);
            more = made != NULL;
            if (!more) {
                break;
            }
            ck_assert_msg(ics_gpu_submit(gpu, pieces, NULL, made->count, made, &error) == 0, "%s",
                          error.text);
            ++out;
        }
        ck_assert_msg(ics_gpu_advance(gpu, &error) == 0, "%s", error.text);
        ics_gpu_result result;
        bool taken = false;
        while (ics_gpu_take(gpu, &result)) {
            ck_assert_uint_gt(out, 0);
            finish(&result, load, &account, take, user);
            taken = true;
            --out;
        }
        if (!taken && out > 0) {
            ics_gpu_wait(gpu, 1.0);
        }
    }
    free(pieces);
    return account;
}

static void append(void *user, ics_arrivals *from)
{
    ics_arrivals *to = user;
    if (from->count == 0) {
        return;
    }
    if (to->count + from->count > to->capacity) {
        to->capacity = 2 * (to->count + from->count);
        to->items = realloc(to->items, to->capacity * sizeof *to->items);
        ck_assert_ptr_nonnull(to->items);
    }
    memcpy(to->items + to->count, from->items, from->count * sizeof *to->items);
    to->count += from->count;
}

world_result gpu_carry(ics_gpu *gpu, const gpu_load *load)
{
    world_result result = {{0}, {0}};
    result.account = gpu_stream(gpu, load, append, &result.arrivals);
    world_sort(&result.arrivals);
    return result;
}

world_result gpu_run(const stage_world *world, const ics_gpu_options *options, const gpu_load *load)
{
    ics_gpu *gpu = gpu_create(world, options);
    const world_result result = gpu_carry(gpu, load);
    ics_gpu_destroy(gpu);
    return result;
}

/* ---- the CPU --------------------------------------------------------------------------------- */

enum { THREADS_MAX = 64 };

/* What one thread computes: an equal part of the photons of every emission. */
typedef struct part {
    ics_graph *graph;
    ice_emission *emissions;
    size_t count;
    int status;
    world_result result;
} part;

static void *run_part(void *argument)
{
    part *self = argument;
    self->status = ics_graph_run(self->graph, self->emissions, (uint32_t)self->count,
                                 &self->result.arrivals, &self->result.account);
    return NULL;
}

static ics_graph *cpu_graph(const stage_world *world, const ics_gpu_options *like)
{
    ics_graph_options options = {
        .schedule = ICS_SCHEDULE_WAVEFRONT, .variants = like->variants, .instruction_set = "auto"};
    memcpy(options.custom, like->custom, sizeof options.custom);
    icestream_error why;
    ics_graph *graph = NULL;
    ics_graph_create(&options, world->tables, &graph, &why);
    ck_assert_msg(graph != NULL, "%s", why.text);
    return graph;
}

static ice_emission *cut_part(const ice_emission *emissions, size_t count, uint64_t index,
                              uint64_t parts)
{
    ice_emission *cut = malloc(count * sizeof *cut);
    ck_assert_ptr_nonnull(cut);
    for (size_t i = 0; i < count; ++i) {
        const uint32_t from = (uint32_t)(emissions[i].photons * index / parts);
        const uint32_t to = (uint32_t)(emissions[i].photons * (index + 1) / parts);
        cut[i] = emissions[i];
        cut[i].first_photon += from;
        cut[i].photons = to - from;
    }
    return cut;
}

world_result gpu_cpu_run(const stage_world *world, const ics_gpu_options *options,
                         const ice_emission *emissions, size_t count)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t threads =
        processors < 1 ? 1 : (processors > THREADS_MAX ? THREADS_MAX : (size_t)processors);
    part parts[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    for (size_t i = 0; i < threads; ++i) {
        parts[i] = (part){.graph = cpu_graph(world, options),
                          .emissions = cut_part(emissions, count, i, threads),
                          .count = count};
        ck_assert_int_eq(pthread_create(&ids[i], NULL, run_part, &parts[i]), 0);
    }
    world_result all = {{0}, {0}};
    for (size_t i = 0; i < threads; ++i) {
        ck_assert_int_eq(pthread_join(ids[i], NULL), 0);
        ck_assert_int_eq(parts[i].status, 0);
        append(&all.arrivals, &parts[i].result.arrivals);
        add_account(&all.account, &parts[i].result.account);
        world_result_free(&parts[i].result);
        ics_graph_destroy(parts[i].graph);
        free(parts[i].emissions);
    }
    world_sort(&all.arrivals);
    return all;
}

/* ---- comparison ------------------------------------------------------------------------------ */

static void print_arrival(const char *whose, const ice_arrival *a)
{
    printf("  %s: emission %u photon %u module %u scatters %u at (%.9g, %.9g, %.9g) path %.9g "
           "direction (%.9g, %.9g, %.9g) wavelength %.9g\n",
           whose, a->emission, a->photon_id, a->module, a->scatters, (double)a->x, (double)a->y,
           (double)a->z, (double)a->path, (double)a->dx, (double)a->dy, (double)a->dz,
           (double)a->wavelength);
}

static void print_account(const char *whose, const ice_account *a)
{
    printf("  %s: created %llu absorbed %llu detected %llu left %llu stopped %llu hits %llu "
           "bounces %llu\n",
           whose, (unsigned long long)a->created, (unsigned long long)a->absorbed,
           (unsigned long long)a->detected, (unsigned long long)a->left,
           (unsigned long long)a->stopped, (unsigned long long)a->hits,
           (unsigned long long)a->bounces);
}

/* Prints both accounts and the first arrival that differs, so that a failure can be understood. */
static void print_difference(const world_result *result, const world_result *expected)
{
    print_account("found", &result->account);
    print_account("expected", &expected->account);
    const ics_arrivals *a = &result->arrivals, *b = &expected->arrivals;
    size_t i = 0;
    while (i < a->count && i < b->count && !memcmp(&a->items[i], &b->items[i], sizeof *a->items)) {
        ++i;
    }
    if (i < a->count) {
        print_arrival("found", &a->items[i]);
    }
    if (i < b->count) {
        print_arrival("expected", &b->items[i]);
    }
}

void gpu_expect_same(const world_result *result, const world_result *expected, const char *name)
{
    const bool same_count = result->arrivals.count == expected->arrivals.count;
    const bool same = same_count && (expected->arrivals.count == 0 ||
                                     !memcmp(result->arrivals.items, expected->arrivals.items,
                                             expected->arrivals.count * sizeof(ice_arrival)));
    const bool same_account = !memcmp(&result->account, &expected->account, sizeof(ice_account));
    if (!same || !same_account) {
        print_difference(result, expected);
    }
    ck_assert_msg(same_count, "%s: %zu arrivals, expected %zu", name, result->arrivals.count,
                  expected->arrivals.count);
    ck_assert_msg(same, "%s: other arrivals", name);
    ck_assert_msg(same_account, "%s: another account", name);
}
