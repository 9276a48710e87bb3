/* Computing an array of steps with an engine. */
#include "base/error.h"
#include "pipeline/photons/engine/engine.h"
#include "pipeline/photons/engine/memory_sink.h"

#include <stdlib.h>

/* The owner of the engine while the array is computed. */
typedef struct computation {
    ics_propagation propagation;
    ics_memory_sink hits;
    const ics_engine_watch *watch;
    uint64_t made; /* batches */
    bool ends;     /* no more batches are made */
    icestream_account account;
    icestream_error error; /* the first one */
} computation;

/* The steps are in memory already: they are in the cursor from the beginning. */
static int read_nothing(void *user, icestream_step *steps, size_t capacity, size_t *got,
                        icestream_error *error)
{
    (void)user;
    (void)steps;
    (void)capacity;
    (void)error;
    *got = 0;
    return ICESTREAM_OK;
}

static ics_propagation *next(void *user)
{
    computation *c = user;
    return c->ends ? NULL : &c->propagation;
}

static void keep_error(computation *c, const icestream_error *error)
{
    if (error->status != ICESTREAM_OK) {
        c->ends = true;
        if (c->error.status == ICESTREAM_OK) {
            ics_error_copy(&c->error, error);
        }
    }
}

static void take_read(ics_propagation *propagation)
{
    computation *c = propagation->user;
    const ics_engine_watch *watch = c->watch;
    const bool made = propagation->batches > c->made;
    keep_error(c, &propagation->error);
    c->made = propagation->batches;
    c->ends |= propagation->feed.at_end;
    c->ends |= made && watch != NULL && watch->stops != NULL && watch->stops(watch->user);
}

static bool take_computed(ics_propagation *propagation, const ics_batch *batch)
{
    computation *c = propagation->user;
    if (batch->error.status == ICESTREAM_OK) {
        ics_batch_account_add(&c->account, &batch->account);
    }
    return true;
}

static void take_stored(ics_propagation *propagation, const icestream_error *error)
{
    computation *c = propagation->user;
    keep_error(c, error);
    if (c->watch != NULL) {
        c->watch->done(c->watch->user, &c->account);
    }
}

static int compute(ics_engine *engine, ics_step_cursor steps, computation *c)
{
    ics_propagation *propagation = &c->propagation;
    if (ics_engine_begin_reading(propagation) != ICESTREAM_OK) {
        return ics_error_set(&c->error, ICESTREAM_E_MEMORY, "out of memory for steps");
    }
    propagation->feed.cursor = steps;
    engine->owner = (ics_engine_owner){.next = next,
                                       .read = take_read,
                                       .computed = take_computed,
                                       .stored = take_stored,
                                       .user = c};
    ics_engine_turn(engine);
    while (engine->out > 0) {
        ics_engine_wait(engine);
        ics_engine_turn(engine);
    }
    ics_engine_end_reading(propagation);
    return c->error.status;
}

int ics_engine_run_steps(ics_engine *engine, ics_step_cursor steps, const ics_engine_watch *watch,
                         ics_engine_hits *out, icestream_error *error)
{
    *out = (ics_engine_hits){0};
    computation *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for steps");
    }
    c->watch = watch;
    c->hits.name = "steps";
    c->propagation = (ics_propagation){.name = "steps",
                                       .user = c,
                                       .source = {.read = read_nothing},
                                       .sink = {.add = ics_memory_sink_add, .user = &c->hits},
                                       .photons = UINT64_MAX};
    int status = compute(engine, steps, c);
    if (status == ICESTREAM_OK) {
        status = ics_memory_sink_take(&c->hits, &out->hits, &out->count, &c->error);
    }
    if (status != ICESTREAM_OK) {
        ics_error_copy(error, &c->error);
    }
    out->account = c->account;
    ics_memory_sink_clear(&c->hits);
    free(c);
    return status;
}
