/* The state of a run; private to the files that make up is_run. */
#ifndef IS_RUN_STATE_H
#define IS_RUN_STATE_H

#include "pipeline/host/device.h"
#include "pipeline/host/progress.h"
#include "pipeline/host/unit.h"
#include "pipeline/models/models.h"

enum { IS_WRITERS_MAX = 4 };

/* How much of everything works beside the device. */
typedef struct is_run_shape {
    uint32_t readers;     /* threads */
    uint32_t units_ahead; /* being checked, checked or being read */
    uint32_t filling;     /* units that batches are made of at a time */
    uint32_t writers;     /* threads; all hits of a unit go to one of them */
    size_t hit_memory;    /* before hits go to temporary files, bytes */
} is_run_shape;

/* Everything here belongs to the thread of the loop, except what unit.h says about `common`. */
typedef struct is_run_state {
    const is_config *config;
    const is_run_options *options;

    /* Made at start, constant while the run lasts. */
    is_inputs inputs;
    is_models *models;
    is_tables *tables;
    is_device_options device_options;
    is_device *device;
    is_run_common common;

    /* The loop and its workers. */
    bool loop_open;
    uv_loop_t loop;
    uv_signal_t interrupt, terminate;
    uv_timer_t ticker;
    is_mailbox *mailbox;
    is_workers *readers, *writers[IS_WRITERS_MAX];
    is_run_shape shape;

    /* Units in the order of their outputs; units before a pointer have passed that station. */
    is_unit *first;
    is_unit *to_open, *to_read, *to_write;
    uint32_t units_open, units_open_limit; /* opened and not finished */
    uint32_t units_ahead;                  /* of them, being checked, checked or being read */
    bool message_open;                     /* one of those is a message of standard input */
    uint32_t credits;                      /* batches that may still be made */
    uint32_t jobs_out;                     /* with readers, device and writer together */
    uint32_t next_writer;                  /* for the next unit */
    is_job *ready, **ready_last;           /* batches that wait for the device */
    is_job *spare;                         /* empty batches, kept for their memory */

    /* How it goes. */
    int signal;               /* the first one received, 0: none */
    is_error fatal;           /* what ended the run early */
    is_account account;       /* of finished batches */
    double seconds_computing; /* of all threads that compute or make hits */
    double start;             /* when the loop began, s */
    uint64_t bytes_checked, bytes_total, photons_checked;
    size_t files_total, files_finished;
    bool streaming; /* standard input is among the inputs */
    is_progress progress;
} is_run_state;

/* Loads models, builds tables, plans inputs and outputs, starts device and workers. On failure
 * is_run_teardown() is still to be called. */
int is_run_setup(is_run_state *run, is_error *error);
/* With --resume, when the device is made: hit files that the run would keep, and that were computed
 * with other maths than it computes with, are IS_E_OUTPUT, each with its name; where
 * device.fallback allows to mix maths, they are told of in a warning. IS_E_MEMORY. */
int is_run_check_maths(is_run_state *run, is_error *error);
/* Stops the workers and frees everything. */
void is_run_teardown(is_run_state *run);

/* Starts the loop, its mailbox, and listening for SIGINT and SIGTERM: one that comes before
 * is_run_loop() is dealt with there. IS_E_FAILED, IS_E_MEMORY. */
int is_run_loop_open(is_run_state *run, is_error *error);
/* After all workers have ended; fine when it was never opened. */
void is_run_loop_close(is_run_state *run);

/* Runs the loop until nothing is left to do or the run was stopped. */
int is_run_loop(is_run_state *run, is_error *error);

/* Tells what the device has to tell. */
void is_run_tell_news(is_run_state *run);

/* Writes summary.json; `result` is what is_run will return. IS_E_OUTPUT, IS_E_MEMORY. */
int is_run_summary(const is_run_state *run, const is_error *result, is_error *error);

/* Units in these states, over all units. */
size_t is_run_count(const is_run_state *run, is_unit_state state);
/* Files that were not finished, whatever their state. */
size_t is_run_unfinished(const is_run_state *run);

#endif
