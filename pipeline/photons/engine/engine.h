/* The engine: steps of sources go in, batches go to a device, hits go to sinks.
 *
 *   the steps of a file, a message, an array, generated light         source   (reader's thread)
 *     -> the next batch of a propagation                              engine   (reader's thread)
 *     -> batches that wait for the device                             engine
 *     -> the device computes the photons and makes hits               device   (its threads)
 *     -> the hits of the batch                                        sink     (writer's thread)
 *     -> the owner learns what was read, computed and stored          owner
 *
 * A propagation is the work of one source item and one sink item. The engine alone cuts steps into
 * batches, submits these, gathers their hits, and counts what is out; it does not know what kind of
 * source or sink it serves. Its owner decides which propagation is read next: a run takes its units
 * in order (pipeline/production/run), a session its oldest ticket (pipeline/photons/session), and
 * ics_engine_run_steps() has one array.
 *
 * One thread, the engine's, calls all functions below except ics_engine_wake(), and runs the
 * owner's functions. It waits in ics_engine_wait(), or in a loop such as that of a run, which then
 * calls the `done` of each job that came back.
 *
 * The files of pipeline/photons/engine:
 *   engine       the turn of the engine, and where jobs come back
 *   steps        computes an array of steps and waits for it
 *   memory_sink  keeps the hits in memory, in the order of hit files
 *   step_feed    from rows of steps to batches
 *   step_watch   notices steps that make no light, and the events of the steps
 */
#ifndef ICS_PHOTONS_ENGINE_ENGINE_H
#define ICS_PHOTONS_ENGINE_ENGINE_H

#include "base/cleanup.h"
#include "pipeline/photons/devices/device.h"
#include "pipeline/photons/engine/step_feed.h"

#include <pthread.h>

typedef struct ics_engine ics_engine;
typedef struct ics_propagation ics_propagation;

/* Where hits go. `add` runs on the thread of the writer, for one batch of a propagation at a time,
 * in any order of batches. It may block, and must not call the engine. It may take batch->hits over
 * (and set it to NULL); the rest of the batch stays with the engine. Any error ends up in
 * ics_engine_owner.stored. */
typedef struct ics_hit_sink {
    int (*add)(void *user, ics_batch *batch, icestream_error *error);
    void *user;
} ics_hit_sink;

/* Zero-initialise, and fill the first part. It belongs to its owner; while `out` is not 0 it must
 * stay where it is. */
struct ics_propagation {
    /* Set by the owner. */
    const char *name; /* name of the steps in messages */
    void *user;       /* argument of the owner */
    ics_step_source source;
    ics_hit_sink sink;
    ics_workers *reader; /* threads that read the source; NULL: the engine's thread does */
    ics_workers *writer; /* one thread, which runs the sink; NULL: the engine's thread does */
    uint64_t photons;    /* all photons of the source, UINT64_MAX: not known */
    bool skips; /* steps that were read and are in no batch are dropped, before the next reading */

    /* Changed by the engine. */
    uint32_t out;     /* jobs and batches that are with threads, or wait for the device */
    uint64_t batches; /* batches that were made */

    /* These belong to the reader while job.out. */
    ics_step_feed feed;
    ics_batch_limits limits;
    ics_batch *batch;      /* before the reading: memory for it, or NULL; then the batch, or NULL */
    icestream_error error; /* result of the last reading */

    ics_engine *engine;
    ics_job job;
};

/* What the owner of the engine does, on the engine's thread. */
typedef struct ics_engine_owner {
    /* Names the propagation of which the next batch is made now; NULL: none. Its job is not out,
     * and its source is not at its end. */
    ics_propagation *(*next)(void *user);
    /* The source was read: propagation->error says how; feed.at_end: no more batches will come. */
    void (*read)(ics_propagation *propagation);
    /* A batch came back from the device. Returns whether its hits are wanted; those of a batch with
     * an error are never stored. */
    bool (*computed)(ics_propagation *propagation, const ics_batch *batch);
    /* The batch has ended: its hits are in the sink, are not wanted, or `error` says why not. */
    void (*stored)(ics_propagation *propagation, const icestream_error *error);
    void *user;
} ics_engine_owner;

/* Of all batches that came back and were wanted. */
typedef struct ics_engine_sums {
    icestream_account account;
    ics_weight_sum weights; /* weights of the hits */
    ics_light_levels light; /* where the photons were made */
    double seconds;         /* time of all threads of the host that compute or make hits (s) */
} ics_engine_sums;

/* Other files read it and change nothing but `owner`. */
struct ics_engine {
    ics_device *device;
    ics_engine_owner owner;
    uint64_t batch_photons; /* graph.batch */
    float least_beta;       /* steps below it make no Cherenkov light; see step_watch.h */

    /* How many batches may still be made: a limit of memory. A batch has its credit from the moment
     * a reader begins to make it until its hits are stored. Below 0 while more batches exist than
     * are allowed since the last ics_engine_allow_more(). */
    int32_t credits;
    uint32_t out;        /* jobs and batches of all propagations that are out */
    ics_job_queue queue; /* batches that wait for the device */
    uint32_t queued;     /* number of these */
    ics_job_queue spare; /* empty batches, kept for their memory */
    ics_engine_sums sums;

    /* Unless a loop waits for the engine: protected by the lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    ics_job_queue came_back;
    bool woken;
};

/* What an engine is made of. */
typedef struct ics_engine_parts {
    const ics_device_options *device; /* with what ics_device_create() wants of them */
    const ics_tables *tables;
    ics_hit_models models;
    uint64_t batch_photons; /* 0: the device's choice */
    float least_beta;
    uint32_t ahead; /* batches that are ready when the device has room for them */
    ics_post loop;  /* receives jobs that come back; post NULL: ics_engine_wait() does */
} ics_engine_parts;

/* Makes the engine and its device. The errors of ics_device_create(). */
int ics_engine_create(const ics_engine_parts *parts, ics_engine **out, icestream_error *error);
/* Waits for the batches of the device. No reader or writer may have a job. Accepts NULL. */
void ics_engine_destroy(ics_engine *engine);
ICS_CAN_DESTROY(ics_engine, ics_engine_destroy)
/* Lets `batches` more exist, or fewer if it is negative: those that are made before the device has
 * room, wait for writers, or belong to a reader that may wait for ever. */
void ics_engine_allow_more(ics_engine *engine, int32_t batches);

/* Where jobs of an engine and of its threads come back, unless a loop receives them. */
ics_post ics_engine_post(ics_engine *engine);
/* Begins everything that can be begun now: reads sources, and gives the device batches. */
void ics_engine_turn(ics_engine *engine);
/* Waits until jobs came back or ics_engine_wake() was called, and handles these jobs. */
void ics_engine_wait(ics_engine *engine);
/* Ends the next or current ics_engine_wait(). Any thread. */
void ics_engine_wake(ics_engine *engine);

/* Allocates what reading needs. ICESTREAM_E_MEMORY without a text. */
int ics_engine_begin_reading(ics_propagation *propagation);
/* Frees it. The propagation is not being read. */
void ics_engine_end_reading(ics_propagation *propagation);

/* The two jobs of the engine, for a model of its threads. */
void ics_engine_read(ics_job *job, void *thread_state);
void ics_engine_store(ics_job *job, void *thread_state);

/* ---- an array of steps ----------------------------------------------------------------------- */

/* All hits of some steps. */
typedef struct ics_engine_hits {
    icestream_hit *hits; /* [count], in the order of hit files; the caller frees them */
    size_t count;
    icestream_account account;
} ics_engine_hits;

/* Functions that are called on the caller's thread. */
typedef struct ics_engine_watch {
    /* After each batch that came back, with the account of all of them so far. */
    void (*done)(void *user, const icestream_account *account);
    /* After each batch that was made. True: no more batches are made, and those that were made are
     * computed. NULL: all photons are computed. */
    bool (*stops)(void *user);
    void *user;
} ics_engine_watch;

/* Computes the steps of a cursor and waits for them. The engine has no other propagation, and no
 * loop. `watch` may be NULL. After a stop out->account counts the photons that were computed, which
 * are the first ones from the cursor on. ICESTREAM_E_MEMORY; the errors of batches. */
int ics_engine_run_steps(ics_engine *engine, ics_step_cursor steps, const ics_engine_watch *watch,
                         ics_engine_hits *out, icestream_error *error);

#endif
