#include "pipeline/tools/roofline/cupti.h"

#include "base/error.h"
#include "pipeline/tools/roofline/cupti_context.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXTS_MAX = 64 };

struct ics_cupti {
    ics_cupti_library library;
    CUpti_SubscriberHandle subscriber; /* NULL: no callbacks */
    pthread_mutex_t lock;              /* of everything below; callbacks come from any thread */
    bool initialized;
    ics_cupti_context contexts[CONTEXTS_MAX]; /* [count] */
    size_t count;
    char *path;
    FILE *table;
    uint64_t launches;     /* in the table */
    icestream_error error; /* the first one */
};

/* ---- the table ------------------------------------------------------------------------------- */

static void print_heads(FILE *table)
{
    fputs("\"ID\",\"Kernel Name\"", table);
    for (int i = 0; i < ICS_COUNTERS; ++i) {
        fprintf(table, ",\"%s\"", ics_counters_metric((ics_counter)i));
    }
    fputs("\n\"\",\"\"", table);
    for (int i = 0; i < ICS_COUNTERS; ++i) {
        fprintf(table, ",\"%s\"", ics_counters_unit((ics_counter)i));
    }
    fputc('\n', table);
}

/* Adds a launch to the table of an ics_cupti, the `user`. */
static int print_launch(const char *kernel, const double values[ICS_COUNTERS], void *user,
                        icestream_error *error)
{
    ics_cupti *cupti = user;
    fprintf(cupti->table, "\"%" PRIu64 "\",\"", cupti->launches++);
    for (const char *next = kernel; *next != '\0'; ++next) {
        fputs(*next == '"' ? "\"\"" : (char[]){*next, '\0'}, cupti->table);
    }
    fputc('"', cupti->table);
    for (int i = 0; i < ICS_COUNTERS; ++i) {
        if (!isfinite(values[i]) || values[i] < 0) {
            return ics_error_set(error, ICESTREAM_E_FAILED,
                                 "CUPTI: kernel %s: metric %s: found %g, expected a number of at "
                                 "least 0",
                                 kernel, ics_counters_metric((ics_counter)i), values[i]);
        }
        fprintf(cupti->table, ",\"%.17g\"", values[i]);
    }
    fputc('\n', cupti->table);
    return ICESTREAM_OK;
}

/* ---- launches -------------------------------------------------------------------------------- */

static const CUpti_CallbackId kernel_calls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
};
/* cuGraphCreate comes first: kernels that are captured for a graph must not start the counting. */
static const CUpti_CallbackId graph_calls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuGraphCreate,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

static int find_context(ics_cupti *cupti, CUcontext context, ics_cupti_context **out,
                        icestream_error *error)
{
    for (size_t i = 0; i < cupti->count; ++i) {
        if (cupti->contexts[i].context == context) {
            *out = &cupti->contexts[i];
            return ICESTREAM_OK;
        }
    }
    if (cupti->count == CONTEXTS_MAX) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "CUPTI: found more than %d CUDA contexts, expected one for each GPU",
                             CONTEXTS_MAX);
    }
    if (!cupti->initialized) {
        CUpti_Profiler_Initialize_Params all = {.structSize =
                                                    CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
        ICS_CUPTI_TRY(&cupti->library, error, cuptiProfilerInitialize, &all);
        cupti->initialized = true;
    }
    *out = &cupti->contexts[cupti->count++];
    return ics_cupti_context_open(&cupti->library, context, *out, error);
}

static int note_launch(ics_cupti *cupti, const CUpti_CallbackData *call, icestream_error *error)
{
    ics_cupti_context *one = NULL;
    ICS_TRY(find_context(cupti, call->context, &one, error));
    if (one->count == ICS_CUPTI_LAUNCHES) {
        ICS_TRY(ics_cupti_context_read(&cupti->library, one, print_launch, cupti, error));
    }
    return ics_cupti_context_launch(&cupti->library, one,
                                    call->symbolName != NULL ? call->symbolName : "unknown", error);
}

static bool is_one_of(CUpti_CallbackId call, const CUpti_CallbackId *calls, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count; ++i) {
        found |= calls[i] == call;
    }
    return found;
}

/* CUPTI calls this before and after each launch. After an error nothing more is counted. */
static void CUPTIAPI on_call(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void *data)
{
    ics_cupti *cupti = user;
    const CUpti_CallbackData *call = data;
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || call->callbackSite != CUPTI_API_ENTER) {
        return;
    }
    pthread_mutex_lock(&cupti->lock);
    if (cupti->error.status != ICESTREAM_OK) {
        /* The first error is the cause of all others. */
    } else if (is_one_of(id, graph_calls, sizeof graph_calls / sizeof *graph_calls)) {
        ics_error_set(
            &cupti->error, ICESTREAM_E_FAILED,
            "CUPTI: found a CUDA Graph, whose kernels it does not count; expected a schedule "
            "without a loop; --profiler ncu counts loops");
    } else {
        (void)note_launch(cupti, call, &cupti->error);
    }
    pthread_mutex_unlock(&cupti->lock);
}

/* ---- begin and end --------------------------------------------------------------------------- */

static int enable(ics_cupti *cupti, const CUpti_CallbackId *calls, size_t count,
                  icestream_error *error)
{
    for (size_t i = 0; i < count; ++i) {
        ICS_CUPTI_TRY(&cupti->library, error, cuptiEnableCallback, 1, cupti->subscriber,
                      CUPTI_CB_DOMAIN_DRIVER_API, calls[i]);
    }
    return ICESTREAM_OK;
}

static int begin(ics_cupti *cupti, const char *path, icestream_error *error)
{
    ICS_TRY(ics_cupti_library_load(&cupti->library, error));
    cupti->path = strdup(path);
    cupti->table = fopen(path, "we");
    if (cupti->path == NULL || cupti->table == NULL) {
        const int cause = errno;
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause, "%s: cannot be written: %s",
                                   path, strerror(cause));
    }
    print_heads(cupti->table);
    ICS_CUPTI_TRY(&cupti->library, error, cuptiSubscribe, &cupti->subscriber, on_call, cupti);
    ICS_TRY(enable(cupti, kernel_calls, sizeof kernel_calls / sizeof *kernel_calls, error));
    return enable(cupti, graph_calls, sizeof graph_calls / sizeof *graph_calls, error);
}

/* Ends all callbacks, and frees. */
static void destroy(ics_cupti *cupti)
{
    if (cupti->subscriber != NULL) {
        (void)cupti->library.cuptiUnsubscribe(cupti->subscriber);
    }
    for (size_t i = 0; i < cupti->count; ++i) {
        ics_cupti_context_close(&cupti->library, &cupti->contexts[i]);
    }
    if (cupti->initialized) {
        CUpti_Profiler_DeInitialize_Params all = {
            .structSize = CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE};
        (void)cupti->library.cuptiProfilerDeInitialize(&all);
    }
    if (cupti->table != NULL) {
        (void)fclose(cupti->table); /* ics_cupti_end has checked that all is written */
    }
    pthread_mutex_destroy(&cupti->lock);
    free(cupti->path);
    free(cupti);
}

int ics_cupti_begin(const char *path, ics_cupti **out, icestream_error *error)
{
    ics_cupti *cupti = calloc(1, sizeof *cupti);
    *out = NULL;
    if (cupti == NULL || pthread_mutex_init(&cupti->lock, NULL) != 0) {
        free(cupti);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for CUPTI");
    }
    const int status = begin(cupti, path, error);
    if (status != ICESTREAM_OK) {
        destroy(cupti);
        return status;
    }
    *out = cupti;
    return ICESTREAM_OK;
}

/* Reads what has not been read, and checks the table. */
static int finish(ics_cupti *cupti, icestream_error *error)
{
    ICS_TRY(ics_error_copy(error, &cupti->error));
    for (size_t i = 0; i < cupti->count; ++i) {
        ICS_TRY(ics_cupti_context_read(&cupti->library, &cupti->contexts[i], print_launch, cupti,
                                       error));
    }
    if (cupti->launches == 0) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "CUPTI: found no launch of a kernel, expected at least one");
    }
    if (fflush(cupti->table) != 0 || ferror(cupti->table)) {
        const int cause = errno;
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause, "%s: cannot be written: %s",
                                   cupti->path, strerror(cause));
    }
    return ICESTREAM_OK;
}

int ics_cupti_end(ics_cupti *cupti, icestream_error *error)
{
    if (cupti == NULL) {
        return ICESTREAM_OK;
    }
    pthread_mutex_lock(&cupti->lock);
    const int status = finish(cupti, error);
    pthread_mutex_unlock(&cupti->lock);
    destroy(cupti);
    return status;
}
