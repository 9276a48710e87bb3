/* The state of a run, which all files of this folder share. Each struct below names the file that
 * owns it: only that file changes it, unless a comment at a member says otherwise. Other files may
 * read it.
 *
 * A job is `out` from the moment it is sent until the loop has it back; jobs.h counts. A `look` is
 * one search for new step files.
 *
 * The files, from the lowest to the highest. A file calls functions of lower files only. A file
 * marked (part) has an ics_run_part, which only the loop calls.
 *
 *   stop       stops or cancels the run, and keeps the first error
 *   jobs       sends jobs to threads, counts those that are out, and wakes the loop
 *   log        writes the log, and the journal on the I/O thread
 *   disk_full  pauses the run while a disk is full                              (part)
 *   retry      tries failed work again after a delay
 *   save       takes checkpoints over, and writes them at the end of the run    (part)
 *   clients    receives messages from clients and answers them                  (part)
 *   unit_states  changes the states of units by the rules of units/rules.h         (part)
 *   ending     ends the claims of units                                         (part)
 *   claim_ahead  decides how many step files are claimed ahead
 *   own_outputs  knows the names of outputs that are never claimed as step files
 *   intake     claims step files, and gives unused claims back                  (part)
 *   warnings   warns of inputs and results that are most likely mistakes
 *   fetch      fetches step files whose names are URLs                          (part)
 *   check      opens and checks units                                           (part)
 *   propagate  owns the engine, and names the unit that is next                 (part)
 *   write      writes hits to a file or a message                               (part)
 *   command    ships hit files, and runs sink.verify and sink.command           (part)
 *   progress   reports progress and metrics
 *   turn       calls the parts of the loop in turn
 *   loop       waits for jobs, signals and timers, and turns
 *   exit_status  decides the status of the run from the results of its units
 *   resume     looks before the run at the hit files of earlier runs
 *   summary    writes summary.json, and chooses its name and that of the metrics
 *   generated_steps  a run that makes its steps itself
 *   setup      creates everything that a run needs, and frees it
 *   run        icestream_run: setup, loop, exit_status, summary
 */
#ifndef ICS_PRODUCTION_RUN_STATE_H
#define ICS_PRODUCTION_RUN_STATE_H

#include "pipeline/photons/devices/wake.h"
#include "pipeline/photons/engine/engine.h"
#include "pipeline/photons/models/models.h"
#include "pipeline/photons/session/input_warnings.h"
#include "pipeline/production/source/fetch_folder.h"
#include "pipeline/production/source/listener.h"
#include "pipeline/production/source/watch.h"
#include "pipeline/production/telemetry/events.h"
#include "pipeline/production/telemetry/kept_lines.h"
#include "pipeline/production/telemetry/latency.h"
#include "pipeline/production/telemetry/metrics_listener.h"
#include "pipeline/production/telemetry/output_names.h"
#include "pipeline/production/telemetry/record_file.h"
#include "pipeline/production/telemetry/report_file.h"
#include "pipeline/production/telemetry/service_notify.h"
#include "pipeline/production/transfer/errand.h"
#include "pipeline/production/units/unit.h"

#include <signal.h>

enum {
    ICS_RUN_WRITERS = 16, /* at most */
    ICS_RUN_CLAIMS = 64,  /* files claimed by one job, at most */
    ICS_RUN_ENDINGS = 64, /* claims that are being ended, at most */
    ICS_RUN_COMMANDS = 4, /* programs for hit files that run, at most */
    ICS_RUN_SIGNALS = 4
};

typedef struct ics_run_state ics_run_state;

/* A part of the loop, which does one thing for units on their way from the source to the end of
 * their claims. The loop calls the functions of all parts in the order of setup.c, on its own
 * thread; parts do not call each other. A function that is NULL does nothing. */
typedef struct ics_run_part {
    /* Begins everything that can be begun now. The loop calls it once in each turn. */
    void (*offer)(ics_run_state *run);
    /* Whether the part has or expects work although no job is out. */
    bool (*waits)(const ics_run_state *run);
    /* Called when no job is out and no part waits: begins what the part has kept for the end of the
     * run. Returns whether there was anything. */
    bool (*last)(ics_run_state *run);
    /* Called when the loop ends: closes the handles of libuv that keep the loop running. */
    void (*close)(ics_run_state *run);
} ics_run_part;

/* How many threads and how much memory work next to the device. Chosen by setup.c. */
typedef struct ics_run_shape {
    uint32_t readers;     /* threads */
    uint32_t units_ahead; /* units that readers may check or read at the same time */
    uint32_t filling;     /* units from which batches are made at the same time */
    uint32_t writers;     /* threads; one of them gets all hits of a unit */
    size_t hit_memory;    /* hits above this size go to temporary files (bytes) */
} ics_run_shape;

/* Owned by stop.c. */
typedef struct ics_run_stop {
    int signal;            /* the first signal that stopped the run; 0: none */
    double signalled;      /* ics_clock_seconds() of that signal (s) */
    double began;          /* ics_clock_seconds() when the run began to stop (s) */
    bool limit_reached;    /* the time limit is over; set by loop.c */
    icestream_error fatal; /* the error that ended the run early */
    size_t blocked;        /* units that were left because of what has the names of their outputs */
    icestream_error why_blocked; /* what these outputs are, a line each */
} ics_run_stop;

/* Owned by jobs.c. */
typedef struct ics_run_jobs {
    uint32_t out;              /* all jobs that are out, without those of the engine */
    ics_workers *readers, *io; /* io: one thread for claims, journal, metrics */
    ics_workers *writers[ICS_RUN_WRITERS];
    double wake_at; /* ics_clock_seconds() at which the loop must turn again (s); 0: never */
} ics_run_jobs;

/* Owned by log.c. */
typedef struct ics_run_log {
    ics_events events;
    uint32_t lines_out; /* counter of the jobs that write lines of the journal */
    bool ended;         /* the loop has ended: nothing more goes to the I/O thread; set by loop.c */
} ics_run_log;

/* Owned by disk_full.c: a full disk. */
typedef struct ics_run_disk_full {
    bool paused;         /* nothing is read */
    double since, until; /* ics_clock_seconds() (s); until 0: the retry of a unit ends the pause */
    uint32_t retries;    /* retries, pending or begun, of work that found the disk full; retry.c
                            counts them */
    uint32_t spills;     /* attempts to move hits to the disk that failed in a row */
    ics_unit *of_unit; /* the last attempt that failed was for this unit; NULL: for no open unit */
    ics_unit *tries_unit; /* the job is for this unit */
    ics_job job;
    icestream_error error; /* belongs to the writer while the job is out */
    char reason[1024];
} ics_run_disk_full;

/* Owned by retry.c. */
typedef struct ics_run_retries {
    uint32_t pending;  /* retries that have not begun */
    double room_found; /* ics_clock_seconds() at which a retry of disk_full.retries succeeded (s) */
    uint64_t total;    /* of the run, for metrics and summary */
} ics_run_retries;

/* A message whose client waits for an answer. */
typedef struct ics_run_message ics_run_message;

/* Owned by clients.c. */
typedef struct ics_run_clients {
    ics_listener *listener;    /* NULL: source.listen is not used, or it is closed */
    ics_run_message *messages; /* list of those that are not answered yet */
    char *folder;              /* for the messages; NULL: source.listen is not used */
    char *lock_path;           /* the file that locks the folder */
    int lock;                  /* its descriptor; -1: none */
    bool stopped;
} ics_run_clients;

/* Owned by unit_states.c. */
typedef struct ics_run_units {
    /* All units in the order of their outputs. Those before `oldest` need no more of the parts from
     * reading to writing. */
    ics_unit *first, *last, *oldest;
    ics_unit *to_open;               /* the first one that was never opened; check.c changes it */
    bool forgets;                    /* finished units are freed: files are claimed */
    bool message_open;               /* a message of a stream is being read */
    uint32_t open, open_limit;       /* units that have ics_unit.work */
    uint32_t opened;                 /* units that check.c has opened, so that writers take turns */
    uint32_t reading;                /* units for which ics_unit_rules_is_reading is true */
    ics_unit_queue complete, ending; /* for the parts command and ending */
    size_t made, finished, freed, results[ICS_UNIT_RESULTS];
    size_t no_record;         /* files and messages without a record of their light */
    bool mismatch_noted;      /* the log has the warning about light that was accepted */
    icestream_error refusals; /* the reasons of quarantined units */
    bool list_refused;        /* the list of particles, which is no step file, was refused */
    ics_latency latency;      /* from arrival to commit */
} ics_run_units;

/* Owned by claim_ahead.c. */
typedef struct ics_run_claim_ahead {
    double file_seconds; /* mean time between the ends of two files (s); 0: not known yet */
    double since;    /* ics_clock_seconds() of the last such end, or when work came (s); 0: there is
                        no work */
    size_t finished; /* units.finished at that time */
} ics_run_claim_ahead;

/* Owned by intake.c: files of source.directory and of clients, claimed one by one. */
typedef struct ics_run_intake {
    char *folder; /* source.directory without slashes at its end; NULL: it is not given */
    char *spool;  /* folder of the claims; NULL: nothing is claimed */
    ics_watch *watch;
    bool watching;      /* more files may come at any time */
    bool look;          /* there may be files that are not claimed; clients.c sets it, too */
    bool closed;        /* the run is at its end and gives claims back: nothing more is claimed */
    uint64_t ended;     /* claims that had ended at the last look */
    double quiet_until; /* ics_clock_seconds() before which the folder is left alone (s) */
    ics_retry retry;    /* of a look that failed */
    size_t lost_logged; /* claims that were lost at the last heartbeat */
    ics_job claim_job, beat_job;
    uv_timer_t heartbeat;

    /* These belong to the I/O thread while the jobs are out. */
    ics_claim claimed[ICS_RUN_CLAIMS];
    size_t wanted, claimed_count, lost;
    size_t declined;              /* tickets that this run cannot use, and left to others */
    icestream_error why_declined; /* the first of them */
    double claim_seconds;         /* duration of the last look (s) */
    icestream_error claim_error, beat_error;

    ics_kept_lines notes; /* of the claims, for the log */

    size_t given_back; /* claims that were given back */
    /* At the end of the run: files that it has not claimed. If they cannot be counted there may be
     * some, and left_error says why. */
    uint64_t left;
    icestream_error left_error;
} ics_run_intake;

/* Shipping, sink.verify and sink.command, which run or will run one after the other for one hit
 * file. */
typedef struct ics_run_program {
    STAILQ_ENTRY(ics_run_program) link;
    ics_run_state *run;
    char *output;         /* path of the hit file */
    ics_unit_queue units; /* those whose hits are in the hit file */
    ics_retry retry;
    ics_user_program step; /* the one that runs, or is next */
    double began;          /* ics_clock_seconds() when shipping began (s) */
    char *url;             /* where the hit file is shipped to; NULL: nowhere */
    ics_errand *errand;    /* what runs; NULL: nothing does */
} ics_run_program;

/* Owned by command.c. */
typedef struct ics_run_commands {
    STAILQ_HEAD(, ics_run_program) programs;
    ics_run_program *newest; /* the one that was added last; NULL: it has ended */
    uint32_t running;
    size_t left;         /* units that the run left because their program has not succeeded */
    bool stopped;        /* the programs were asked to end */
    icestream_error why; /* why shipping or a program failed for good, the first time */
    json_t *succeeded; /* {path: true} of each hit file of several step files for which sink.command
                          has succeeded */
} ics_run_commands;

typedef struct ics_run_fetch ics_run_fetch;

/* Owned by fetch.c. */
typedef struct ics_run_fetches {
    LIST_HEAD(, ics_run_fetch) list; /* programs that run */
    ics_fetch_folder folder;
    bool stopped; /* the programs were asked to end */
} ics_run_fetches;

/* A unit whose claim is being ended. */
typedef struct ics_run_ending {
    ics_job job;
    ics_unit *unit; /* NULL: this entry is free */
    /* These belong to the I/O thread while the job is out. */
    bool held; /* this worker still had the claim */
    icestream_error error;
} ics_run_ending;

/* Owned by ending.c. */
typedef struct ics_run_endings {
    uint64_t ended; /* claims, in the whole run */
    ics_run_ending entries[ICS_RUN_ENDINGS];
} ics_run_endings;

/* Owned by progress.c. */
typedef struct ics_run_measures {
    ics_metrics_listener *listener;
    uint64_t calls;         /* of ics_run_progress_publish() */
    double sampled;         /* s after the beginning of the run, of the last sample */
    uint64_t files_waiting; /* when the I/O thread last counted them */
    ics_job job;
    /* These belong to the I/O thread while the job is out. */
    ics_metrics metrics;
    icestream_error error;
} ics_run_measures;

/* Owned by warnings.c. */
typedef struct ics_run_warnings {
    ics_input_warnings inputs;
    size_t slow_files;  /* step files with steps that make no light */
    ics_warnings texts; /* what was said while the run lasted */
} ics_run_warnings;

/* Owned by loop.c. */
typedef struct ics_run_loop {
    const ics_run_part *const *parts; /* [part_count], by setup.c */
    size_t part_count;
    uv_loop_t uv;
    bool open; /* the loop of libuv exists */
    uv_signal_t signals[ICS_RUN_SIGNALS];
    struct sigaction before[ICS_RUN_SIGNALS]; /* what the signals did before the run */
    uv_prepare_t turn;
    uv_timer_t ticker, waker, limit, metrics;
    ics_mailbox *mailbox;
    ics_service_notify service;
    double start;          /* ics_clock_seconds() when the loop began (s) */
    double cpu_seconds;    /* CPU time of the loop, once it has ended (s) */
    double compiler_began; /* ics_clock_seconds() (s); 0: no compiler ran */
    double compiler_seconds;
    double waits_since; /* ics_clock_seconds() since when no unit is open (s); 0: one is */
} ics_run_loop;

/* A run. Everything belongs to the thread of the loop, except what unit.h says about `common` and
 * what belongs to a thread while a job is out. */
struct ics_run_state {
    const icestream_config *config;
    const icestream_run_options *options;

    /* Made by setup.c, constant while the run lasts. */
    ics_inputs inputs;
    ics_models *models;
    ics_tables *tables;
    ics_device_options device_options;
    ics_device_wake *wake; /* while the GPUs become ready, during the set-up */
    ics_engine *engine;
    ics_device *device; /* of the engine */
    ics_unit_common common;
    ics_claims claims;
    ics_run_journal journal;
    char *programs[ICS_PROGRAMS]; /* paths of the programs that the configuration names, or NULL */
    ics_report_file summary_file, metrics_file;
    bool streaming; /* the number of inputs is not known */
    size_t files_total;
    double start_time; /* since 1970 (s) */
    ics_run_shape shape;

    /* How much of the input is known; check.c and intake.c add to it. */
    uint64_t bytes_checked, bytes_total, photons_checked;
    uint64_t bytes_written;       /* of all complete outputs; write.c adds to it */
    icestream_account taken_over; /* from checkpoints; save.c adds to it */

    ics_run_loop loop;
    ics_run_stop stop;
    ics_run_jobs jobs;
    ics_run_log log;
    ics_run_disk_full disk_full;
    ics_run_retries retries;
    ics_run_clients clients;
    ics_run_units units;
    ics_run_claim_ahead claim_ahead;
    ics_output_names own_outputs; /* owned by own_outputs.c, and the next one, too */
    /* The paths of what the run writes about itself; NULL: it does not write this. The summary may
     * be "-", standard output. What sink.records leaves out is written where a key or an option
     * names it. */
    char *records[ICS_RECORDS];
    ics_run_intake intake;
    ics_run_commands commands;
    ics_run_fetches fetches;
    ics_run_endings endings;
    ics_run_measures measures;
    ics_run_warnings warnings;
};

#endif
