#include "graphs/cuda/loop_check.h"

#include "base/clock.h"
#include "base/error.h"
#include "graphs/cuda/graph_nodes.h"
#include "kernels/cuda/compact.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What the loop counts, in device memory: its trips, and how often the body of the IF node ran. */
typedef struct counts {
    ics_launch launch;
    ics_launch_progress loop, branch;
} counts;

enum { TRIPS = 3, GPUS = 64, LONGEST = 5 /* seconds */, FAULT_SIZE = 256 };

typedef struct loop {
    int ordinal;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    counts *device;
} loop;

/* A decision, which adds 1 to progress->waves and sets the conditions of nodes. */
typedef struct decision {
    const loop *in;
    const unsigned long long *repeats;   /* NULL: no conditions */
    const ics_loop_compaction *branches; /* NULL: no branch */
    ics_launch_progress *progress;
} decision;

static int enqueue_decision(void *user, icestream_error *error)
{
    const decision *self = user;
    const int result = ics_compact_decide(self->in->stream, self->repeats, self->branches,
                                          &self->in->device->launch, NULL, self->progress);
    return result == cudaSuccess
               ? ICESTREAM_OK
               : ics_check_failed((cudaError_t)result, "decide", self->in->ordinal, error);
}

static int add_decision(const decision *added, cudaGraph_t graph, cudaGraphNode_t *node,
                        icestream_error *error)
{
    const ics_captured_work work = {enqueue_decision, (void *)added};
    return ics_graph_capture(added->in->ordinal, added->in->stream, graph, NULL, 0, &work, node,
                             error);
}

static int build(loop *self, icestream_error *error)
{
    const int ordinal = self->ordinal;
    cudaGraphConditionalHandle repeats;
    ics_loop_compaction branches = {.every = 1};
    cudaGraph_t body = NULL, inner = NULL;
    cudaGraphNode_t node = NULL;
    CUDA_TRY(ordinal, error, cudaGraphCreate(&self->graph, 0));
    CUDA_TRY(
        ordinal, error,
        cudaGraphConditionalHandleCreate(&repeats, self->graph, 1, cudaGraphCondAssignDefault));
    ICS_TRY(ics_graph_add_conditional(ordinal, self->graph, NULL, cudaGraphCondTypeWhile, repeats,
                                      &body, error));
    CUDA_TRY(ordinal, error, cudaGraphConditionalHandleCreate(&branches.handle, body, 0, 0));
    const decision outer_one = {self, &repeats, &branches, &self->device->loop};
    ICS_TRY(add_decision(&outer_one, body, &node, error));
    ICS_TRY(ics_graph_add_conditional(ordinal, body, &node, cudaGraphCondTypeIf, branches.handle,
                                      &inner, error));
    const decision inner_one = {self, NULL, NULL, &self->device->branch};
    ICS_TRY(add_decision(&inner_one, inner, &node, error));
    CUDA_TRY(ordinal, error, cudaGraphInstantiate(&self->executable, self->graph, 0));
    return ICESTREAM_OK;
}

/* Makes and launches the loop. */
static int start(loop *self, icestream_error *error)
{
    /* A photon is never created, so the limit alone ends the loop. */
    const counts begin = {.launch = {.end = 1, .wave_limit = TRIPS}};
    CUDA_TRY(self->ordinal, error, cudaStreamCreateWithFlags(&self->stream, cudaStreamNonBlocking));
    CUDA_TRY(self->ordinal, error, cudaMalloc((void **)&self->device, sizeof *self->device));
    CUDA_TRY(
        self->ordinal, error,
        cudaMemcpyAsync(self->device, &begin, sizeof begin, cudaMemcpyHostToDevice, self->stream));
    ICS_TRY(build(self, error));
    CUDA_TRY(self->ordinal, error, cudaGraphLaunch(self->executable, self->stream));
    return ICESTREAM_OK;
}

/* Waits for the loop, and reads what it counted. *ended: false if it goes on. */
static int finish(const loop *self, counts *found, bool *ended, icestream_error *error)
{
    const double until = ics_clock_seconds() + LONGEST;
    cudaError_t result = cudaErrorNotReady;
    while ((result = cudaStreamQuery(self->stream)) == cudaErrorNotReady &&
           ics_clock_seconds() < until) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    *ended = result != cudaErrorNotReady;
    if (*ended) {
        CUDA_TRY(self->ordinal, error, result);
        CUDA_TRY(self->ordinal, error,
                 cudaMemcpy(found, self->device, sizeof *found, cudaMemcpyDeviceToHost));
    }
    return ICESTREAM_OK;
}

static void destroy(loop *self)
{
    if (self->executable != NULL) {
        (void)cudaGraphExecDestroy(self->executable);
    }
    if (self->graph != NULL) {
        (void)cudaGraphDestroy(self->graph);
    }
    (void)cudaFree(self->device);
    if (self->stream != NULL) {
        (void)cudaStreamDestroy(self->stream);
    }
    (void)cudaGetLastError();
}

/* Writes what is wrong, or nothing, into `fault`. */
static int try_loop(int ordinal, char *fault, size_t size, icestream_error *error)
{
    loop self = {.ordinal = ordinal};
    counts found = {.loop.waves = 0};
    bool ended = true;
    icestream_error failure = {.status = ICESTREAM_OK};
    int status = start(&self, &failure);
    if (status == ICESTREAM_OK) {
        status = finish(&self, &found, &ended, &failure);
    }
    if (!ended) {
        /* What it uses cannot be freed. */
        return ics_error_set(
            error, ICESTREAM_E_FAILED,
            "GPU %d: a loop of a CUDA graph with %d trips did not end within %d s; "
            "update the driver, or set ICESTREAM_GPU_HOST_LOOP=1",
            ordinal, TRIPS, LONGEST);
    }
    if (status != ICESTREAM_OK) {
        snprintf(fault, size, "%.200s", failure.text);
    } else if (found.loop.waves != TRIPS || found.branch.waves != TRIPS - 1) {
        snprintf(fault, size, "found %llu trips and %llu branches, expected %d and %d",
                 (unsigned long long)found.loop.waves, (unsigned long long)found.branch.waves,
                 TRIPS, TRIPS - 1);
    }
    destroy(&self);
    return ICESTREAM_OK;
}

/* Tries the loop, or looks up what was found before. *is_new: this is the first call that finds the
 * fault. */
static int look(int ordinal, char *fault, size_t size, bool *is_new, icestream_error *error)
{
    static char faults[GPUS][FAULT_SIZE];
    static enum { UNKNOWN, KNOWN } states[GPUS];
    if (states[ordinal] == UNKNOWN) {
        ICS_TRY(try_loop(ordinal, faults[ordinal], sizeof faults[ordinal], error));
        states[ordinal] = KNOWN;
        *is_new = true;
    }
    snprintf(fault, size, "%s", faults[ordinal]);
    return ICESTREAM_OK;
}

int ics_loop_check(int ordinal, bool *works, char *warning, size_t size, icestream_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool said_fallback;
    const char *forced = getenv("ICESTREAM_GPU_HOST_LOOP");
    char fault[FAULT_SIZE] = "";
    bool is_new = false;
    int status = ICESTREAM_OK;
    pthread_mutex_lock(&lock);
    if (forced != NULL && strcmp(forced, "fallback") == 0) {
        snprintf(fault, sizeof fault, "ICESTREAM_GPU_HOST_LOOP is fallback");
        is_new = !said_fallback;
        said_fallback = true;
    } else if (ordinal < GPUS) {
        status = look(ordinal, fault, sizeof fault, &is_new, error);
    }
    pthread_mutex_unlock(&lock);
    *works = fault[0] == '\0';
    if (!*works && is_new) {
        snprintf(warning, size,
                 "GPU %d: the driver does not run loops of CUDA graphs (%s): the host runs the "
                 "loops, which is slower",
                 ordinal, fault);
    }
    return status;
}
