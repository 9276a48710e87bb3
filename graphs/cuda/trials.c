/* schedule: auto. A run begins with the fastest candidate that is known, and computes with it.
 * Trials of other candidates follow now and then, as long as all trials together take at most one
 * hundredth of the time of the GPU. What they measure is kept for later runs. A trial computes a
 * limited number of photons of the real input and drops their hits, so that no trial can take long
 * and none changes a hit. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "graphs/cuda/choice.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The share of the time of the GPU that trials may take, and the longest time (s) of one trial. */
#define SHARE   0.01
#define LONGEST 0.3
/* The share of LONGEST in which the first photons of a trial must end, or the trial ends. */
#define FIRST_SHARE 0.3

enum {
    FIRST_PHOTONS = 1 << 20, /* they show how many more a trial can afford */
    MOST_PHOTONS = 1 << 22,  /* in one batch of a trial */
    LEAST_PHOTONS = 1 << 16,
    MORE_BATCHES = 4 /* that the longer measurement has in addition to the shorter one */
};

/* A text of a fixed size that lines are added to; what does not fit is left out. */
typedef struct report_text {
    char *text;
    size_t size;
} report_text;

static void report_line(report_text report, const ics_gpu_options *options, const char *result)
{
    const ics_gpu_schedule *schedule = ics_schedule_row(options->schedule);
    char bounces[48] = "", refill[32] = "";
    if (schedule->long_visits) {
        snprintf(bounces, sizeof bounces, ", bounces per wave %u", options->bounces_per_wave);
    }
    if (schedule->refill > 0) {
        snprintf(refill, sizeof refill, ", refill %u", options->refill);
    }
    const size_t used = strlen(report.text);
    if (used < report.size) {
        snprintf(report.text + used, report.size - used, "%s, pool %u, block %u%s%s: %s\n",
                 ics_graph_schedule_name(options->schedule), options->pool, options->block, bounces,
                 refill, result);
    }
}

/* ---- photons for a trial --------------------------------------------------------------------- */

/* The first photons of a batch. */
typedef struct trial_photons {
    ice_emission *emissions; /* [count], the last one may have fewer photons than its step */
    uint32_t count;
    uint64_t photons;
} trial_photons;

/* Takes at most `most` photons. out->emissions has room for all `count`, or is NULL: then there was
 * no memory. */
static int cut_photons(const ice_emission *emissions, uint32_t count, uint64_t most,
                       trial_photons *out, icestream_error *error)
{
    if (out->emissions == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a trial of a schedule");
    }
    while (out->count < count && out->photons < most) {
        ice_emission one = emissions[out->count];
        const uint64_t room = most - out->photons;
        one.photons = one.photons > room ? (uint32_t)room : one.photons;
        out->emissions[out->count++] = one;
        out->photons += one.photons;
    }
    return ICESTREAM_OK;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* Computes a batch `times` times and drops the hits. Sets *seconds to the time (s) on the GPU. */
static int compute(ics_gpu *gpu, const trial_photons *batch, uint32_t times, double *seconds,
                   icestream_error *error)
{
    uint32_t sent = 0, done = 0;
    ics_gpu_usage before, after;
    ics_gpu_usage_of(gpu, &before);
    while (done < times) {
        while (sent < times && sent - done < ics_gpu_credits(gpu)) {
            ICS_TRY(ics_gpu_submit(gpu, batch->emissions, NULL, batch->count, NULL, error));
            ++sent;
        }
        ICS_TRY(ics_gpu_advance(gpu, error));
        ics_gpu_result result;
        bool any = false;
        while (ics_gpu_take(gpu, &result)) {
            ics_graph_arrivals_free(&result.arrivals);
            free(result.large_cells);
            ++done;
            any = true;
        }
        if (!any && done < times) {
            ics_gpu_wait(gpu, 1);
        }
    }
    ics_gpu_usage_of(gpu, &after);
    *seconds = after.seconds - before.seconds;
    return ICESTREAM_OK;
}

/* Measures with batches of `photons` photons. The last photons of a stream of batches live long and
 * leave most of the GPU idle. So the result is the difference between a longer and a shorter
 * stream, which both have this end. */
static int measure_streams(ics_gpu *gpu, const ice_emission *emissions, uint32_t count,
                           uint64_t photons, double *nanoseconds, icestream_error *error)
{
    ICS_FREES ice_emission *memory = malloc(count * sizeof *memory);
    trial_photons batch = {.emissions = memory};
    double shorter, longer;
    ICS_TRY(cut_photons(emissions, count, photons, &batch, error));
    ICS_TRY(compute(gpu, &batch, 1, &shorter, error));
    ICS_TRY(compute(gpu, &batch, 1 + MORE_BATCHES, &longer, error));
    const double more = longer - shorter;
    *nanoseconds = 1e9 * (more > 0 ? more / MORE_BATCHES : longer / (1 + MORE_BATCHES)) /
                   (double)batch.photons;
    return ICESTREAM_OK;
}

/* Sets *nanoseconds to the time (ns) per photon. The number of photons is limited, so that slow
 * settings do not take longer than LONGEST by much. */
static int measure(ics_gpu *gpu, const ice_emission *emissions, uint32_t count, double *nanoseconds,
                   icestream_error *error)
{
    ICS_FREES ice_emission *memory = malloc(count * sizeof *memory);
    trial_photons first = {.emissions = memory};
    double seconds;
    ICS_TRY(cut_photons(emissions, count, FIRST_PHOTONS, &first, error));
    ICS_TRY(compute(gpu, &first, 1, &seconds, error));
    const double each = seconds / (double)first.photons;
    *nanoseconds = 1e9 * each;
    const double room = LONGEST - seconds;
    if (seconds > FIRST_SHARE * LONGEST || each <= 0) {
        return ICESTREAM_OK;
    }
    uint64_t photons = (uint64_t)(room / (2 + MORE_BATCHES) / each);
    const uint64_t most = ics_gpu_options_of(gpu)->batch_photons;
    photons = photons < MOST_PHOTONS ? photons : MOST_PHOTONS;
    photons = photons < most ? photons : most;
    photons = photons > LEAST_PHOTONS ? photons : LEAST_PHOTONS;
    return measure_streams(gpu, emissions, count, photons, nanoseconds, error);
}

/* Makes a GPU's graph with these options next to the one in use, and measures it. A pool that had
 * to be made smaller would not show how fast the candidate is, so this counts as too little memory.
 */
static int try_candidate(const ics_gpu_options *options, const ics_tables *tables,
                         const ice_emission *emissions, uint32_t count, double *nanoseconds,
                         icestream_error *error)
{
    ics_gpu *gpu = NULL;
    int status = ics_gpu_create(options, tables, &gpu, error);
    if (status == ICESTREAM_OK && ics_gpu_options_of(gpu)->pool < options->pool) {
        status = ics_error_set(error, ICESTREAM_E_MEMORY, "too little memory for the whole pool");
    }
    if (status == ICESTREAM_OK) {
        status = measure(gpu, emissions, count, nanoseconds, error);
    }
    ics_gpu_destroy(gpu);
    return status;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static int describe_request(const ics_gpu_options *options, const ics_tables *tables,
                            ics_choice_request *request, icestream_error *error)
{
    *request = (ics_choice_request){.options = options, .tables = tables};
    memset(&request->device, 0, sizeof request->device); /* the key digests its padding, too */
    ICS_TRY(ics_gpu_describe(options->ordinal, &request->device, error));
    request->device.memory_free = 0; /* changes from moment to moment */
    return ICESTREAM_OK;
}

bool ics_gpu_suits(const ics_gpu_options *options, const ice_emission *emissions, uint32_t count)
{
    return ics_choice_suits(options, emissions, count);
}

/* Sets the options to the best candidate that is known, and reports why it was chosen. */
static int choose_best(const ics_choice_request *request, const ics_choice_results *results,
                       const ice_emission *emissions, uint32_t count, ics_gpu_options *options,
                       report_text report, icestream_error *error)
{
    const int best = ics_choice_best(request, results, emissions, count);
    if (best < 0) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "no schedule takes blocks of this size");
    }
    ics_gpu_options chosen;
    (void)ics_choice_candidate(request, (size_t)best, &chosen);
    char reason[96];
    if (results->nanoseconds[best] > 0) {
        snprintf(reason, sizeof reason, "chosen, %.3f ns per photon in a trial",
                 results->nanoseconds[best]);
    } else {
        snprintf(reason, sizeof reason, "chosen without a trial");
    }
    report_line(report, &chosen, reason);
    *options = chosen;
    return ICESTREAM_OK;
}

int ics_gpu_choose(ics_gpu_options *options, const ics_tables *tables,
                   const ice_emission *emissions, uint32_t count, char *report, size_t report_size,
                   icestream_error *error)
{
    report[0] = '\0';
    const ics_gpu_options given = *options;
    ics_choice_request request;
    ICS_TRY(describe_request(&given, tables, &request, error));
    ics_choice_results known = {{0}};
    char path[4200];
    if (ics_choice_path(&request, path, sizeof path) == 0) {
        (void)ics_choice_read(path, &known);
    }
    return choose_best(&request, &known, emissions, count, options,
                       (report_text){report, report_size}, error);
}

/* ---- trials ---------------------------------------------------------------------------------- */

struct ics_gpu_trials {
    ics_gpu_options given; /* what the user has fixed */
    ics_choice_request request;
    ics_choice_results results;
    char path[4200]; /* path of the file of results; empty: none */
    double spent;    /* s, by trials */

    /* A thread compiles the kernels of the next candidate while the GPU computes. */
    int compiled; /* number of the candidate; -1: none */
    bool compiles;
    pthread_t compiler;
    atomic_bool ready;
};

int ics_gpu_trials_create(const ics_gpu_options *options, const ics_tables *tables,
                          ics_gpu_trials **out, icestream_error *error)
{
    *out = NULL;
    ics_gpu_trials *trials = calloc(1, sizeof *trials);
    if (trials == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for trials of schedules");
    }
    trials->given = *options;
    trials->given.sums = NULL; /* the hits are dropped */
    trials->compiled = -1;
    const int status = describe_request(&trials->given, tables, &trials->request, error);
    if (status != ICESTREAM_OK) {
        ics_gpu_trials_destroy(trials);
        return status;
    }
    if (ics_choice_path(&trials->request, trials->path, sizeof trials->path) == 0) {
        (void)ics_choice_read(trials->path, &trials->results);
    } else {
        trials->path[0] = '\0';
    }
    *out = trials;
    return ICESTREAM_OK;
}

static void end_compilation(ics_gpu_trials *trials)
{
    if (trials->compiles) {
        pthread_join(trials->compiler, NULL);
    }
    trials->compiles = false;
}

void ics_gpu_trials_destroy(ics_gpu_trials *trials)
{
    if (trials == NULL) {
        return;
    }
    end_compilation(trials);
    free(trials);
}

/* Compiles a program, which this process keeps for the GPU that needs it (kernels/cuda/program.h).
 * If it does not compile, the trial reports why. */
static void *compile(void *user)
{
    ics_gpu_trials *trials = user;
    ics_gpu_options options;
    char definitions[ICS_DEFINITIONS_SIZE];
    ics_program_options made_from;
    ics_program *program = NULL;
    if (ics_choice_candidate(&trials->request, (size_t)trials->compiled, &options) &&
        ics_settings_program(&options, trials->request.tables, trials->request.device.architecture,
                             &made_from, definitions, NULL) == ICESTREAM_OK &&
        ics_program_create(&made_from, &program, NULL) == ICESTREAM_OK) {
        ics_program_destroy(program);
    }
    atomic_store(&trials->ready, true);
    return NULL;
}

/* Whether the program of a candidate is there. If not, a thread begins to make it. */
static bool has_program(ics_gpu_trials *trials, int candidate)
{
    if (trials->compiled == candidate) {
        return !trials->compiles || atomic_load(&trials->ready);
    }
    end_compilation(trials);
    trials->compiled = candidate;
    atomic_store(&trials->ready, false);
    trials->compiles = pthread_create(&trials->compiler, NULL, compile, trials) == 0;
    return !trials->compiles; /* without a thread the trial compiles */
}

bool ics_gpu_trials_due(ics_gpu_trials *trials, double computed, const ice_emission *emissions,
                        uint32_t count)
{
    /* Compilation begins earlier, because it takes about as long as one trial saves. */
    const double wanted = (trials->spent + LONGEST) / SHARE;
    if (computed < 0.5 * wanted) {
        return false;
    }
    const int next = ics_choice_next(&trials->request, &trials->results, emissions, count);
    return next >= 0 && has_program(trials, next) && computed >= wanted;
}

/* Measures one candidate and keeps the result. */
static int run_trial(ics_gpu_trials *trials, int candidate, uint64_t bytes_in_use,
                     const ice_emission *emissions, uint32_t count, report_text report,
                     icestream_error *error)
{
    ics_gpu_options tried;
    (void)ics_choice_candidate(&trials->request, (size_t)candidate, &tried);
    const uint64_t limit = tried.memory_limit;
    if (limit > 0) {
        tried.memory_limit = limit > bytes_in_use ? limit - bytes_in_use : 1;
    }
    icestream_error why = {.status = ICESTREAM_OK};
    double nanoseconds = 0;
    int status =
        try_candidate(&tried, trials->request.tables, emissions, count, &nanoseconds, &why);
    char line[64];
    if (status == ICESTREAM_OK && nanoseconds > 0) {
        trials->results.nanoseconds[candidate] = nanoseconds;
        snprintf(line, sizeof line, "%.3f ns per photon in a trial", nanoseconds);
        report_line(report, &tried, line);
    } else if (status == ICESTREAM_OK || status == ICESTREAM_E_MEMORY) {
        trials->results.nanoseconds[candidate] = ICS_CHOICE_IMPOSSIBLE;
        report_line(report, &tried, "too little memory for a trial");
        status = ICESTREAM_OK;
    } else if (status == ICESTREAM_E_CONFIG) { /* the schedule in use goes on */
        trials->results.nanoseconds[candidate] = ICS_CHOICE_IMPOSSIBLE;
        report_line(report, &tried, "its kernels do not compile");
        status = ICESTREAM_OK;
    } else {
        return ics_error_copy(error, &why);
    }
    return status;
}

int ics_gpu_trials_run(ics_gpu_trials *trials, const ice_emission *emissions, uint32_t count,
                       uint64_t bytes_in_use, ics_gpu_options *options,
                       char report[ICS_GPU_REPORT_SIZE], icestream_error *error)
{
    const double start = ics_clock_seconds();
    const report_text lines = {report, ICS_GPU_REPORT_SIZE};
    const int next = ics_choice_next(&trials->request, &trials->results, emissions, count);
    report[0] = '\0';
    if (next >= 0) {
        ICS_TRY(run_trial(trials, next, bytes_in_use, emissions, count, lines, error));
        if (trials->path[0] != '\0') {
            ics_choice_write(trials->path, &trials->results);
        }
        trials->spent += ics_clock_seconds() - start;
    }
    return choose_best(&trials->request, &trials->results, emissions, count, options, lines, error);
}

void ics_gpu_trials_spend(ics_gpu_trials *trials, double seconds)
{
    trials->spent += seconds;
}

double ics_gpu_trials_seconds(const ics_gpu_trials *trials)
{
    return trials->spent;
}
