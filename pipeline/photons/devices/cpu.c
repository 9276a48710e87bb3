/* The CPU as a member of a group: several threads, each with one graph. */
#include "base/clock.h"
#include "kernels/fault.h"
#include "kernels/stage_guard.h"
#include "pipeline/photons/devices/backend.h"
#include "pipeline/photons/devices/table.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Smallest number of photons in a batch of a small file. With fewer photons many slots of the
     * pool would be empty. */
    LEAST_BATCH_PHOTONS = 1 << 14,
    /* A file is divided into this number of batches per thread, or a batch into this number of
     * pieces, so that all threads finish at about the same time. */
    BATCHES_PER_THREAD = 8,
    /* For a table if graph.batch is auto. Photons with samples are much more work, and a checkpoint
     * waits for the last batch. */
    TABLE_BATCH_PHOTONS = 1 << 13
};

typedef struct cpu_device cpu_device;
typedef struct cut_batch cut_batch;

/* The job of one thread for a batch that is divided: it computes pieces until none is left. */
typedef struct cut_job {
    ics_job job;
    cut_batch *cut;
} cut_job;

/* A batch that all threads compute together. A thread cuts off its next piece when it needs one. */
struct cut_batch {
    SLIST_ENTRY(cut_batch) link; /* entry of cpu_device.free_cuts */
    ics_batch *batch;
    uint64_t piece; /* photons in a piece */
    cut_job *jobs;  /* [threads] */

    pthread_mutex_t lock; /* protects what follows */
    uint32_t emission;    /* the next piece begins in this emission */
    uint32_t photon;      /* photons of that emission that are in pieces already */
    uint32_t jobs_left;
    icestream_error why;   /* error of the first piece that failed; status ICESTREAM_OK: none has */
    ics_arrivals arrivals; /* arrivals of all pieces so far */
    ice_account account;
    double seconds;
};

/* The state of one compute thread. */
typedef struct compute_thread {
    ics_graph *graph;
    cpu_device *cpu;
    /* Memory that is kept from batch to batch: */
    ics_arrivals arrivals;
    ice_emission *emissions; /* [capacity], of a piece */
    uint32_t capacity;
    ics_device_table_memory table;
} compute_thread;

struct cpu_device {
    ics_hit_models models;
    ics_device_table *table; /* filled instead of recording hits; NULL: hits */
    ics_post finished;
    ics_workers *workers;
    uint32_t threads;
    ics_large_axes large;           /* histograms of photons with many bins */
    const char *custom[ICS_STAGES]; /* the user's stage headers; NULL: none */
    compute_thread *compute;        /* [threads] */
    void **states;                  /* [threads], pointers to them */

    /* ICS_CPU_PIECES */
    cut_batch *cuts; /* [cut_count]; NULL: batches are not divided */
    uint32_t cut_count;
    pthread_mutex_t lock;
    SLIST_HEAD(, cut_batch) free_cuts; /* protected by `lock` */
};

/* ---- whole batches --------------------------------------------------------------------------- */

/* Describes why ics_graph_run() failed. */
static void explain(const compute_thread *thread, int result, uint32_t count, icestream_error *why)
{
    if (result == ICESTREAM_E_INTERRUPTED) {
        ics_error_set(why, ICESTREAM_E_INTERRUPTED, "interrupted");
    } else if (result == ICESTREAM_E_CONFIG) {
        const ice_fault fault = ics_graph_fault(thread->graph);
        ics_fault_report(&fault, thread->cpu->custom, why);
    } else {
        ics_error_set(why, ICESTREAM_E_MEMORY, "out of memory while computing %u steps", count);
    }
}

/* Computes emissions to their end: arrivals go to thread->arrivals, or samples to the table.
 * `steps`: of the emissions. `why` is filled after an error. */
static int compute(compute_thread *thread, const icestream_step *steps,
                   const ice_emission *emissions, uint32_t count, ice_account *account,
                   icestream_error *why)
{
    const cpu_device *cpu = thread->cpu;
    const ics_device_table_light light = {steps, emissions, count, cpu->models.light};
    thread->arrivals.count = 0;
    why->status = ICESTREAM_OK;
    const int result =
        cpu->table != NULL
            ? ics_device_table_fill(cpu->table, thread->graph, &light, &thread->table, account, why)
            : ics_graph_run(thread->graph, emissions, count, &thread->arrivals, account);
    if (result != ICESTREAM_OK && why->status != result) {
        explain(thread, result, count, why);
    }
    return result;
}

/* Adds the histograms of a thread's photons to those of their batch. Fills `why` after an error. */
static int add_photons(const compute_thread *thread, ics_batch *batch, icestream_error *why)
{
    const int result = ics_batch_add_photons(batch, thread->graph, &thread->cpu->large);
    if (result != ICESTREAM_OK) {
        explain(thread, result, batch->count, why);
    }
    return result;
}

/* Posts a finished batch. A job does this itself, and the workers post nothing, because a job is
 * not always a batch, and a cut_job may be used again before the workers would post it. */
static void post_batch(const cpu_device *cpu, ics_batch *batch)
{
    cpu->finished.post(cpu->finished.user, &batch->job);
}

static void compute_batch(ics_job *job, void *thread_state)
{
    ics_batch *batch = ics_batch_of_job(job);
    compute_thread *thread = thread_state;
    double start = ics_clock_seconds();
    ice_account account = {0};
    icestream_error why;
    if (compute(thread, batch->steps, batch->emissions, batch->count, &account, &why) ==
            ICESTREAM_OK &&
        add_photons(thread, batch, &why) == ICESTREAM_OK) {
        batch->maths = ICS_MATHS_PORTABLE;
        ics_batch_finish(batch, &thread->cpu->models, &account, &thread->arrivals);
    } else {
        ics_error_keep(&batch->error, &why);
    }
    batch->seconds = ics_clock_seconds() - start;
    post_batch(thread->cpu, batch);
}

/* ---- batches in pieces ----------------------------------------------------------------------- */

/* Makes room for one more emission. Returns false if there is no memory. */
static bool grow_piece(compute_thread *thread, uint32_t count)
{
    if (count < thread->capacity) {
        return true;
    }
    uint32_t capacity = thread->capacity == 0 ? 256 : thread->capacity * 2;
    ice_emission *emissions = realloc(thread->emissions, capacity * sizeof *emissions);
    if (emissions == NULL) {
        return false;
    }
    thread->emissions = emissions;
    thread->capacity = capacity;
    return true;
}

/* Cuts the next piece off a batch, into thread->emissions. A piece may begin and end inside an
 * emission. *first: the index in the batch of the first emission. Returns the number of emissions;
 * 0: nothing is left to do, or a piece has failed. */
static uint32_t cut_piece(cut_batch *cut, compute_thread *thread, uint32_t *first)
{
    const ics_batch *batch = cut->batch;
    uint32_t count = 0;
    uint64_t photons = 0;
    pthread_mutex_lock(&cut->lock);
    *first = cut->emission;
    while (cut->why.status == ICESTREAM_OK && cut->emission < batch->count &&
           photons < cut->piece && count < ICS_BATCH_STEPS) {
        if (!grow_piece(thread, count)) {
            explain(thread, ICESTREAM_E_MEMORY, batch->count, &cut->why);
            count = 0;
            break;
        }
        ice_emission part = batch->emissions[cut->emission];
        const uint64_t room = cut->piece - photons;
        const uint32_t left = part.photons - cut->photon;
        const bool whole = left <= room;
        part.first_photon += cut->photon;
        part.photons = whole ? left : (uint32_t)room;
        cut->photon = whole ? 0 : cut->photon + part.photons;
        cut->emission += whole;
        photons += part.photons;
        thread->emissions[count++] = part;
    }
    pthread_mutex_unlock(&cut->lock);
    return count;
}

/* Adds the result of a piece to that of the batch. `first` converts indices of emissions in the
 * piece into indices in the batch. */
static void add_piece(cut_batch *cut, const compute_thread *thread, uint32_t first,
                      const ice_account *account, icestream_error *why)
{
    int result = why->status;
    pthread_mutex_lock(&cut->lock);
    for (size_t i = 0; result == ICESTREAM_OK && i < thread->arrivals.count; ++i) {
        ice_arrival arrival = thread->arrivals.items[i];
        arrival.emission += first;
        result = ics_graph_arrivals_put(&cut->arrivals, &arrival);
        if (result != ICESTREAM_OK) {
            explain(thread, result, cut->batch->count, why);
        }
    }
    if (result == ICESTREAM_OK) { /* the owner of the batch waits */
        (void)add_photons(thread, cut->batch, why);
    }
    if (cut->why.status == ICESTREAM_OK) {
        cut->why = *why;
    }
    ice_account *sum = &cut->account;
    sum->created += account->created;
    sum->absorbed += account->absorbed;
    sum->detected += account->detected;
    sum->left += account->left;
    sum->stopped += account->stopped;
    sum->hits += account->hits;
    sum->bounces += account->bounces;
    pthread_mutex_unlock(&cut->lock);
}

/* All pieces are finished, and no other thread uses the batch. */
static void finish_cut(cut_batch *cut, cpu_device *cpu)
{
    ics_batch *batch = cut->batch;
    double start = ics_clock_seconds();
    if (cut->why.status == ICESTREAM_OK) {
        batch->maths = ICS_MATHS_PORTABLE;
        ics_batch_finish(batch, &cpu->models, &cut->account, &cut->arrivals);
    } else {
        ics_error_keep(&batch->error, &cut->why);
    }
    ics_graph_arrivals_free(&cut->arrivals);
    batch->seconds = cut->seconds + ics_clock_seconds() - start;
    pthread_mutex_lock(&cpu->lock);
    SLIST_INSERT_HEAD(&cpu->free_cuts, cut, link);
    pthread_mutex_unlock(&cpu->lock);
    post_batch(cpu, batch);
}

static void compute_pieces(ics_job *job, void *thread_state)
{
    cut_batch *cut = ICS_CONTAINER_OF(job, cut_job, job)->cut;
    compute_thread *thread = thread_state;
    double start = ics_clock_seconds();
    uint32_t first = 0;
    for (uint32_t count; (count = cut_piece(cut, thread, &first)) > 0;) {
        ice_account account = {0};
        icestream_error why;
        (void)compute(thread, cut->batch->steps + first, thread->emissions, count, &account, &why);
        add_piece(cut, thread, first, &account, &why);
    }
    pthread_mutex_lock(&cut->lock);
    cut->seconds += ics_clock_seconds() - start;
    bool last = --cut->jobs_left == 0;
    pthread_mutex_unlock(&cut->lock);
    if (last) {
        finish_cut(cut, thread->cpu);
    }
}

/* Photons in the pieces of a batch. */
static uint64_t choose_piece(const cpu_device *cpu, uint64_t photons)
{
    const uint64_t share = photons / ((uint64_t)cpu->threads * BATCHES_PER_THREAD) + 1;
    return share < LEAST_BATCH_PHOTONS ? LEAST_BATCH_PHOTONS
           : share > ICS_BATCH_PHOTONS ? ICS_BATCH_PHOTONS
                                       : share;
}

static void submit_pieces(cpu_device *cpu, ics_batch *batch, uint64_t piece)
{
    pthread_mutex_lock(&cpu->lock);
    cut_batch *cut = SLIST_FIRST(&cpu->free_cuts); /* there is one for every credit */
    SLIST_REMOVE_HEAD(&cpu->free_cuts, link);
    pthread_mutex_unlock(&cpu->lock);
    const uint64_t pieces = batch->photons / piece + 1;
    const uint32_t jobs = pieces < cpu->threads ? (uint32_t)pieces : cpu->threads;
    cut->batch = batch;
    cut->piece = piece;
    cut->emission = cut->photon = 0;
    cut->jobs_left = jobs;
    cut->why.status = ICESTREAM_OK;
    cut->account = (ice_account){0};
    cut->seconds = 0.0;
    for (uint32_t i = 0; i < jobs; ++i) {
        cut->jobs[i] = (cut_job){.job = {.run = compute_pieces}, .cut = cut};
        (void)ics_workers_submit(cpu->workers, &cut->jobs[i].job);
    }
}

/* ---- the device ------------------------------------------------------------------------------ */

static void destroy_cuts(cpu_device *cpu)
{
    for (uint32_t i = 0; cpu->cuts != NULL && i < cpu->cut_count; ++i) {
        pthread_mutex_destroy(&cpu->cuts[i].lock);
        free(cpu->cuts[i].jobs);
    }
    free(cpu->cuts);
}

static void destroy(void *self)
{
    cpu_device *cpu = self;
    ics_workers_destroy(cpu->workers);
    for (uint32_t i = 0; cpu->compute != NULL && i < cpu->threads; ++i) {
        ics_graph_destroy(cpu->compute[i].graph);
        ics_graph_arrivals_free(&cpu->compute[i].arrivals);
        free(cpu->compute[i].emissions);
        free(cpu->compute[i].table.origins);
    }
    destroy_cuts(cpu);
    pthread_mutex_destroy(&cpu->lock);
    free(cpu->compute);
    free(cpu->states);
    free(cpu);
}

static void submit(void *self, ics_batch *batch)
{
    cpu_device *cpu = self;
    const uint64_t piece = choose_piece(cpu, batch->photons);
    if (cpu->cuts != NULL && batch->photons > piece) {
        submit_pieces(cpu, batch, piece);
        return;
    }
    batch->job.run = compute_batch;
    (void)ics_workers_submit(cpu->workers, &batch->job); /* the queue has room for all credits */
}

static void facts_of(void *self, ics_device_facts *out)
{
    const cpu_device *cpu = self;
    const ics_graph *graph = cpu->compute[0].graph;
    *out = (ics_device_facts){.name = "cpu",
                              .schedule = ics_graph_schedule(graph),
                              .maths = ICS_MATHS_PORTABLE,
                              .threads = cpu->threads,
                              .pool = ics_graph_pool(graph),
                              .limits = ics_batch_limits_default()};
    if (cpu->table != NULL) {
        out->limits.photons = TABLE_BATCH_PHOTONS;
    }
    out->limits.least_photons = LEAST_BATCH_PHOTONS;
    out->limits.shares = cpu->threads * BATCHES_PER_THREAD;
    snprintf(out->instruction_set, sizeof out->instruction_set, "%s",
             ics_graph_instruction_set(graph));
}

/* Relative error of effective scattering lengths that no warning names. */
#define MEAN_COSINE_SLACK 0.01

/* Warns if a user's scatter stage has another mean cosine than the ice: the mean path between two
 * scatters follows from that of the ice (docs/stages.md). ICESTREAM_E_CONFIG: it is no cosine. */
static int check_cosine(const ics_device_parts *parts, const ics_graph *graph,
                        icestream_error *error)
{
    const ice_scatter_constants *ice = &parts->tables->device.scatter;
    const char *header = parts->options->graph.custom[ICS_STAGE_SCATTER];
    if (header == NULL) {
        return ICESTREAM_OK;
    }
    /* Scattering by molecules has the mean cosine 0. */
    const double expected = (double)ice->g * (1.0 - (double)ice->molecules.fraction);
    const double found = ics_graph_mean_cosine(graph);
    const ice_fault fault = ics_graph_fault(graph);
    const double factor = (1.0 - expected) / (1.0 - found);
    if (fault.kind != ICE_FAULT_NONE) {
        return ics_fault_report(&fault, parts->options->graph.custom, error);
    }
    if (!(fabs(found) <= 1.0 + MEAN_COSINE_SLACK)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: error: stages.scatter: found a mean cosine of %.3g, expected a "
                             "number from -1 to 1 (device.check: true names the first wrong value)",
                             header, isnan(found) ? fabs(found) : found); /* NaN has a sign */
    }
    if (fabs(factor - 1.0) <= MEAN_COSINE_SLACK) {
        return ICESTREAM_OK;
    }
    char line[1024];
    snprintf(line, sizeof line,
             "stages.scatter: %s has the mean cosine %.3g, and the ice has %.3g: effective "
             "scattering lengths are multiplied by %.3g; expected mean_cosine: %.3g in the ice "
             "file, or another function (docs/stages.md)",
             header, found, expected, factor, found);
    parts->note(parts->note_user, true, line);
    return ICESTREAM_OK;
}

static int create_graphs(cpu_device *cpu, const ics_device_parts *parts, icestream_error *error)
{
    const ics_device_options *options = parts->options;
    ics_graph_options graph = {.schedule = options->graph.schedule,
                               .variants = options->graph.variants,
                               .pool = options->graph.pool,
                               .instruction_set = options->instruction_set,
                               .check = options->graph.check,
                               .table = options->table != NULL ? &options->table->stage : NULL,
                               .fills_table_alone = cpu->threads == 1,
                               .photons = options->graph.photons,
                               .large = options->graph.large,
                               .compiling = options->compiling,
                               .cancel = options->cancel};
    memcpy(graph.custom, options->graph.custom, sizeof graph.custom);
    cpu->large = options->graph.large;
    for (uint32_t i = 0; i < cpu->threads; ++i) {
        ICS_TRY(ics_graph_create(&graph, parts->tables, &cpu->compute[i].graph, error));
        cpu->compute[i].cpu = cpu;
        cpu->states[i] = &cpu->compute[i];
    }
    return ICESTREAM_OK;
}

/* Compiles the headers of the user, and calls one of them. */
static int try_headers(cpu_device *cpu, const ics_device_parts *parts, icestream_error *error)
{
    char names[ICS_STAGE_GUARD_TEXT];
    ics_stage_guard_setup_begin(ics_stage_guard_names(cpu->custom, names));
    int status = create_graphs(cpu, parts, error);
    if (status == ICESTREAM_OK) {
        status = check_cosine(parts, cpu->compute[0].graph, error);
    }
    ics_stage_guard_setup_end();
    return status;
}

static int create_cuts(cpu_device *cpu, uint32_t count, icestream_error *error)
{
    cpu->cuts = calloc(count, sizeof *cpu->cuts);
    bool complete = cpu->cuts != NULL;
    for (uint32_t i = 0; complete && i < count; ++i) {
        cut_batch *cut = &cpu->cuts[i];
        pthread_mutex_init(&cut->lock, NULL);
        cut->jobs = calloc(cpu->threads, sizeof *cut->jobs);
        complete = cut->jobs != NULL;
        SLIST_INSERT_HEAD(&cpu->free_cuts, cut, link);
        cpu->cut_count++;
    }
    return complete ? ICESTREAM_OK
                    : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a device");
}

/* Makes the graphs and starts the threads of a CPU of which the caller frees everything. */
static int start(cpu_device *cpu, const ics_device_parts *parts, ics_cpu_work work,
                 uint32_t credits, icestream_error *error)
{
    uint32_t jobs = credits;
    cpu->compute = calloc(cpu->threads, sizeof *cpu->compute);
    cpu->states = calloc(cpu->threads, sizeof *cpu->states);
    if (cpu->compute == NULL || cpu->states == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a device");
    }
    ICS_TRY(try_headers(cpu, parts, error));
    if (work == ICS_CPU_PIECES) {
        jobs *= cpu->threads;
        ICS_TRY(create_cuts(cpu, credits, error));
    }
    return ics_workers_create("compute", cpu->threads, jobs, cpu->states, (ics_post){0},
                              &cpu->workers, error);
}

int ics_device_cpu_create(const ics_device_parts *parts, ics_cpu_work work, ics_device_backend *out,
                          icestream_error *error)
{
    static const ics_device_functions functions = {
        .destroy = destroy, .submit = submit, .facts_of = facts_of};
    cpu_device *cpu = calloc(1, sizeof *cpu);
    if (cpu == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a device");
    }
    pthread_mutex_init(&cpu->lock, NULL);
    cpu->models = parts->models;
    cpu->table = parts->options->table;
    memcpy(cpu->custom, parts->options->graph.custom, sizeof cpu->custom);
    cpu->finished = parts->finished;
    cpu->threads = ics_workers_thread_count(parts->options->threads);
    const uint32_t credits = 2 * cpu->threads; /* per thread one is computed and one waits */
    const int status = start(cpu, parts, work, credits, error);
    if (status != ICESTREAM_OK) {
        destroy(cpu);
        return status;
    }
    *out = (ics_device_backend){.functions = &functions, .self = cpu, .credits = credits};
    return ICESTREAM_OK;
}
