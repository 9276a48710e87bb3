#include "pipeline/photons/generator/step_generator.h"

#include "base/container.h"
#include "base/error.h"
#include "pipeline/photons/devices/workers.h"
#include "pipeline/photons/files/format/step_check.h"
#include "pipeline/photons/generator/assembly.h"
#include "pipeline/photons/generator/workload.h"
#include "pipeline/photons/models/light_record.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct ics_step_generator {
    const icestream_config *config;
    ics_light_setup setup;         /* of the particles */
    ics_particle_steps *particles; /* NULL: the workload makes the steps */
    ics_workload *workload;        /* NULL: the particles make the steps */
    uint64_t next;                 /* the next step of the workload that is not planned yet */
    char name[64];                 /* name of a workload */
    json_t *light;                 /* the record of what the light is made with */

    int (*take)(void *user, const icestream_step *steps, size_t count, icestream_error *error);
    void *take_user;

    uint32_t spectrum_count; /* the makers check and normalise steps with it; 0: they do not */
    atomic_bool has_bad;     /* whether they have found a bad step */

    ics_workers *driver; /* one thread, which leads the others; NULL: not started */
    ics_job job;
    uint32_t threads;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled when a block is offered or given back, and at the end */
    /* The lock protects what follows up to `error`. */
    const icestream_step *steps; /* [count], the block that is offered or taken */
    size_t count;
    bool offered;          /* there is a block that nobody has given back */
    bool stopped;          /* nobody takes blocks any more */
    bool ended;            /* all steps were made, or there was an error */
    icestream_error error; /* the first error, once `ended` */

    /* These belong to the thread that takes steps. */
    bool has_block;
    size_t used;   /* steps of the block that ics_step_generator_read() has given */
    uint64_t rows; /* all steps that it has given */
};

static int open_particles(ics_step_generator *made, const ics_models *models, int wake,
                          icestream_error *error)
{
    ics_particle_source *source = NULL;
    made->setup = ics_light_setup_of(made->config, models);
    ICS_TRY(ics_particle_source_open(made->config, wake, &source, error));
    return ics_particle_steps_of(source, &made->setup, &made->particles, error);
}

/* Opens the particles or the workload, and makes the record of the light. */
static int open_light(ics_step_generator *made, const ics_models *models, int wake,
                      icestream_error *error)
{
    ICS_TRY(ics_config_check_light(made->config, NULL, error));
    if (ics_config_has_particles(made->config)) {
        ICS_TRY(open_particles(made, models, wake, error));
    } else {
        ICS_TRY(ics_workload_create(made->config, &made->workload, error));
        snprintf(made->name, sizeof made->name, "workload %s", ics_workload_name(made->workload));
    }
    return ics_light_record_create(made->config, models, made->particles != NULL, &made->light,
                                   error);
}

int ics_step_generator_create(const icestream_config *config, const ics_models *models, int wake,
                              ics_step_generator **out, icestream_error *error)
{
    *out = NULL;
    ics_step_generator *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for making steps");
    }
    made->config = config;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    const int status = open_light(made, models, wake, error);
    if (status != ICESTREAM_OK) {
        ics_step_generator_destroy(made);
        return status;
    }
    *out = made;
    return ICESTREAM_OK;
}

void ics_step_generator_destroy(ics_step_generator *generator)
{
    if (generator == NULL) {
        return;
    }
    pthread_mutex_lock(&generator->lock);
    generator->stopped = true;
    pthread_cond_broadcast(&generator->changed);
    pthread_mutex_unlock(&generator->lock);
    ics_workers_destroy(generator->driver);
    pthread_cond_destroy(&generator->changed);
    pthread_mutex_destroy(&generator->lock);
    ics_particle_steps_destroy(generator->particles);
    ics_workload_destroy(generator->workload);
    json_decref(generator->light);
    free(generator);
}

void ics_step_generator_copy_to(ics_step_generator *generator,
                                int (*take)(void *user, const icestream_step *steps, size_t count,
                                            icestream_error *error),
                                void *user)
{
    generator->take = take;
    generator->take_user = user;
}

void ics_step_generator_prepare(ics_step_generator *generator, uint32_t spectrum_count)
{
    generator->spectrum_count = spectrum_count;
}

/* Whether the makers check and normalise steps. A copy of steps has them as they were made. */
static bool prepares(const ics_step_generator *generator)
{
    return generator->spectrum_count > 0 && generator->take == NULL;
}

/* Checks and normalises steps up to the first bad one. The reader finds this one again, because it
 * knows the number of its row. */
static void prepare(ics_step_generator *generator, icestream_step *steps, size_t count)
{
    const uint32_t spectra = generator->spectrum_count;
    icestream_error ignored = {.status = ICESTREAM_OK};
    size_t good = count;
    if (ics_step_check(steps, count, spectra, "", 0, &ignored) != ICESTREAM_OK) {
        atomic_store(&generator->has_bad, true);
        for (good = 0; ics_step_check(&steps[good], 1, spectra, "", 0, &ignored) == ICESTREAM_OK;) {
            ++good;
        }
    }
    ics_step_normalise(steps, good);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Largest number of spans in a piece. A piece with many faint particles stays small in memory, and
 * is still large compared with the cost of passing it to another thread. */
enum { SPANS = 128 };

typedef struct particle_piece {
    uint32_t count;
    ics_step_span spans[SPANS];
} particle_piece;

static int plan_particles(void *user, uint32_t most, void *out, uint32_t *count,
                          icestream_error *error)
{
    particle_piece *piece = out;
    ics_step_generator *generator = user;
    bool found = true;
    int status = ICESTREAM_OK;
    *count = piece->count = 0;
    while (found && status == ICESTREAM_OK && *count < most && piece->count < SPANS) {
        ics_step_span *span = &piece->spans[piece->count];
        status = ics_particle_steps_plan(generator->particles, most - *count, span, &found, error);
        if (status == ICESTREAM_OK && found) {
            *count += span->count;
            ++piece->count;
        }
    }
    return status;
}

static int make_particles(void *user, const void *of, icestream_step *out, icestream_error *error)
{
    const particle_piece *piece = of;
    ics_step_generator *generator = user;
    icestream_step *next = out;
    int status = ICESTREAM_OK;
    for (uint32_t i = 0; i < piece->count && status == ICESTREAM_OK; ++i) {
        status = ics_particle_steps_make(generator->particles, &piece->spans[i], next, error);
        next += piece->spans[i].count;
    }
    if (status == ICESTREAM_OK && prepares(generator)) {
        prepare(generator, out, (size_t)(next - out));
    }
    return status;
}

typedef struct workload_piece {
    uint64_t first;
    uint32_t count;
} workload_piece;

static int plan_workload(void *user, uint32_t most, void *out, uint32_t *count,
                         icestream_error *error)
{
    ics_step_generator *generator = user;
    const uint64_t left = ics_workload_steps(generator->workload) - generator->next;
    (void)error;
    *count = left < most ? (uint32_t)left : most;
    *(workload_piece *)out = (workload_piece){.first = generator->next, .count = *count};
    generator->next += *count;
    return ICESTREAM_OK;
}

static int make_workload(void *user, const void *of, icestream_step *out, icestream_error *error)
{
    const workload_piece *piece = of;
    ics_step_generator *generator = user;
    (void)error;
    ics_workload_fill(generator->workload, piece->first, piece->count, out);
    if (prepares(generator)) {
        prepare(generator, out, piece->count);
    }
    return ICESTREAM_OK;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Offers a block, and waits until it was taken and given back: then its memory is used again. */
static int offer_block(void *user, const icestream_step *steps, size_t count,
                       icestream_error *error)
{
    ics_step_generator *generator = user;
    if (count > 0 && generator->take != NULL) {
        ICS_TRY(generator->take(generator->take_user, steps, count, error));
    }
    pthread_mutex_lock(&generator->lock);
    generator->steps = steps;
    generator->count = count;
    generator->offered = count > 0;
    pthread_cond_broadcast(&generator->changed);
    while (generator->offered && !generator->stopped) {
        pthread_cond_wait(&generator->changed, &generator->lock);
    }
    const bool stopped = generator->stopped;
    pthread_mutex_unlock(&generator->lock);
    return stopped ? ics_error_set(error, ICESTREAM_E_INTERRUPTED, "interrupted while making steps")
                   : ICESTREAM_OK;
}

/* Makes all steps, on the thread that leads the others. */
static void make_all(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_step_generator *generator = ICS_CONTAINER_OF(job, ics_step_generator, job);
    icestream_error error = {.status = ICESTREAM_OK};
    ics_assembly work = {.user = generator,
                         .piece_bytes = sizeof(workload_piece),
                         .plan = plan_workload,
                         .make = make_workload,
                         .write = offer_block};
    if (generator->particles != NULL) {
        work.piece_bytes = sizeof(particle_piece);
        work.plan = plan_particles;
        work.make = make_particles;
    }
    ics_assembly_run(&work, generator->threads, &error);
    pthread_mutex_lock(&generator->lock);
    ics_error_copy(&generator->error, &error);
    generator->ended = true;
    pthread_cond_broadcast(&generator->changed);
    pthread_mutex_unlock(&generator->lock);
}

int ics_step_generator_start(ics_step_generator *generator, uint32_t threads,
                             icestream_error *error)
{
    generator->threads = threads;
    ICS_TRY(ics_workers_create("generate", 1, 1, NULL, (ics_post){0}, &generator->driver, error));
    generator->job.run = make_all;
    (void)ics_workers_submit(generator->driver, &generator->job); /* there is room for one */
    return ICESTREAM_OK;
}

int ics_step_generator_next(ics_step_generator *generator, const icestream_step **steps,
                            size_t *count, icestream_error *error)
{
    int status = ICESTREAM_OK;
    *count = 0;
    pthread_mutex_lock(&generator->lock);
    if (generator->has_block) {
        generator->offered = generator->has_block = false;
        pthread_cond_broadcast(&generator->changed);
    }
    while (!generator->offered && !generator->ended) {
        pthread_cond_wait(&generator->changed, &generator->lock);
    }
    if (generator->offered) {
        generator->has_block = true;
        *steps = generator->steps;
        *count = generator->count;
    } else {
        status = ics_error_copy(error, &generator->error);
    }
    pthread_mutex_unlock(&generator->lock);
    return status;
}

/* The steps of a run are checked like those of a file, because the light of particles may be wrong
 * as well. Their order needs no check: numbers of events and of steps ascend. */
int ics_step_generator_read(ics_step_generator *generator, uint32_t spectrum_count,
                            icestream_step *steps, size_t capacity, size_t *got,
                            icestream_error *error)
{
    *got = 0;
    if (!generator->has_block || generator->used == generator->count) {
        const icestream_step *block;
        size_t count;
        int status = ics_step_generator_next(generator, &block, &count, error);
        generator->used = 0;
        if (status == ICESTREAM_E_CONFIG) { /* the list is the input of this run */
            status = error->status = ICESTREAM_E_INPUT;
        }
        if (status != ICESTREAM_OK || count == 0) {
            return status;
        }
    }
    const size_t left = generator->count - generator->used;
    const size_t most = left < capacity ? left : capacity;
    memcpy(steps, generator->steps + generator->used, most * sizeof *steps);
    if (!prepares(generator) || atomic_load(&generator->has_bad)) {
        ICS_TRY(ics_step_check(steps, most, spectrum_count, ics_step_generator_name(generator),
                               generator->rows, error));
    }
    if (!prepares(generator)) {
        ics_step_normalise(steps, most);
    }
    generator->used += most;
    generator->rows += most;
    *got = most;
    return ICESTREAM_OK;
}

/* ---- about the steps ------------------------------------------------------------------------- */

ics_particle_totals ics_step_generator_totals(const ics_step_generator *generator)
{
    return generator->particles != NULL
               ? ics_particle_steps_totals(generator->particles)
               : (ics_particle_totals){.events = 1,
                                       .steps = ics_workload_steps(generator->workload),
                                       .photons = ics_workload_photons(generator->workload)};
}

ics_particle_steps *ics_step_generator_particles(ics_step_generator *generator)
{
    return generator->particles;
}

int ics_step_generator_judge(ics_step_generator *generator, ics_warnings *out,
                             icestream_error *error)
{
    if (generator->particles == NULL) {
        return ICESTREAM_OK;
    }
    const ics_light_totals *light = ics_particle_steps_light(generator->particles);
    const ics_particle_source *source = ics_particle_steps_source(generator->particles);
    return ics_light_totals_warn(light, source, out) == ICESTREAM_OK &&
                   ics_list_warnings_report(&light->list, source, out) == ICESTREAM_OK
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY,
                               "%s: out of memory for warnings about particles",
                               ics_step_generator_name(generator));
}

const json_t *ics_step_generator_light(const ics_step_generator *generator)
{
    return generator->light;
}

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "generate: no memory for the metadata");
}

/* Makes the metadata of a workload, in words of the configuration (files.md 2.2). */
static int describe_workload(const icestream_config *config, const ics_workload *workload,
                             json_t **out, icestream_error *error)
{
    char event[24];
    /* The event is a text, because integers of JSON end at 2^63. */
    snprintf(event, sizeof event, "%" PRIu64, config->workload.event);
    json_auto_t *description =
        json_pack("{s:s, s:I, s:I, s:s, s:I, s:s}", "kind", ics_workload_name(workload), "steps",
                  (json_int_t)ics_workload_steps(workload), "photons_per_step",
                  (json_int_t)config->workload.photons_per_step, "counts",
                  config->workload.counts == ICS_COUNTS_SHUFFLED ? "shuffled" : "balanced",
                  "photons", (json_int_t)ics_workload_photons(workload), "event", event);
    int failed = description == NULL;
    if (config->workload.kind == ICS_WORKLOAD_POINT) {
        const double *position = config->workload.position;
        const double *direction = config->workload.direction;
        json_t *heading = config->workload.isotropic
                              ? json_string("isotropic")
                              : json_pack("[f, f, f]", direction[0], direction[1], direction[2]);
        failed |= json_object_update_new(
            description,
            json_pack("{s:[f, f, f], s:f, s:o, s:f, s:i}", "position", position[0], position[1],
                      position[2], "time", config->workload.time, "direction", heading,
                      "surface_radius", config->workload.surface_radius, "spectrum",
                      (int)config->workload.spectrum));
    }
    *out = failed ? NULL
                  : json_pack("{s:s, s:O}", "producer", "icestream " ICESTREAM_VERSION " generate",
                              "workload", description);
    return *out != NULL ? ICESTREAM_OK : no_memory(error);
}

/* Makes the metadata of particles, after all their steps were made. */
static int describe_particles(const icestream_config *config, const ics_particle_totals *totals,
                              json_t **out, icestream_error *error)
{
    static const char *const conventions[] = {"standard", "clsim", "ppc"};
    static const char *const losses[] = {"auto", "none", "simple"};
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, config->run.seed);
    *out =
        json_pack("{s:s, s:{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:b, s:s, s:s, s:b}}",
                  "producer", "icestream " ICESTREAM_VERSION " generate", "particles", "source",
                  config->particles.file != NULL ? config->particles.file : "particles.list",
                  "seed", seed, "conventions", conventions[config->particles.conventions], "events",
                  (json_int_t)totals->events, "particles", (json_int_t)totals->particles, "steps",
                  (json_int_t)totals->steps, "photons", (json_int_t)totals->photons, "largest_step",
                  (json_int_t)totals->largest_step, "kind", "particles", "losses",
                  (int)(config->particles.losses == ICS_LOSSES_SIMPLE), "track_losses",
                  losses[config->particles.losses], "decays",
                  config->particles.decays == ICS_DECAYS_AUTO ? "auto" : "none", "stopping",
                  (int)config->particles.stopping);
    return *out != NULL ? ICESTREAM_OK : no_memory(error);
}

int ics_step_generator_describe(const ics_step_generator *generator, json_t **out,
                                icestream_error *error)
{
    if (generator->particles == NULL) {
        ICS_TRY(describe_workload(generator->config, generator->workload, out, error));
    } else {
        const ics_particle_totals totals = ics_particle_steps_totals(generator->particles);
        ICS_TRY(describe_particles(generator->config, &totals, out, error));
    }
    return json_object_set(*out, "light", generator->light) == 0 ? ICESTREAM_OK : no_memory(error);
}

const char *ics_step_generator_name(const ics_step_generator *generator)
{
    const char *file = generator->config->particles.file;
    if (generator->workload != NULL) {
        return generator->name;
    }
    return file == NULL ? "particles.list" : strcmp(file, "-") == 0 ? "standard input" : file;
}
