/* The state of a run; private to the files that make up icestream_run.
 *
 *   run.c          from beginning to end         run_loop.c     loop, signals, timers
 *   run_setup.c    what it is made of            run_stations.c units from reader to writer
 *   resume.c       maths of kept outputs         run_intake.c   files that are claimed
 *   summary.c      summary.json                  run_retry.c    trouble that may pass
 *   run_end.c      what it came to               run_tell.c     log, journal, metrics
 *   run_rotate.c   one hit file for many units
 */
#ifndef ICS_RUN_STATE_H
#define ICS_RUN_STATE_H

#include "pipeline/devices/device.h"
#include "pipeline/models/models.h"
#include "pipeline/source/listener.h"
#include "pipeline/source/watch.h"
#include "pipeline/telemetry/events.h"
#include "pipeline/telemetry/latency.h"
#include "pipeline/telemetry/metrics_listener.h"
#include "pipeline/telemetry/service_notify.h"
#include "pipeline/units/unit.h"
#include "pipeline/units/volume.h"

enum { ICS_WRITERS_MAX = 16, ICS_TAKE_MAX = 64, ICS_WORKER_NAME = 160, ICS_RUN_SIGNALS = 4 };

/* How much of everything works beside the device. */
typedef struct ics_run_shape {
    uint32_t readers;     /* threads */
    uint32_t units_ahead; /* being checked, checked or being read */
    uint32_t filling;     /* units that batches are made of at a time */
    uint32_t writers;     /* threads; all hits of a unit go to one of them */
    size_t hit_memory;    /* before hits go to temporary files, bytes */
} ics_run_shape;

/* Files from source.directory, claimed one by one. */
typedef struct ics_run_intake {
    char *spool; /* where claims are kept; NULL: nothing is claimed */
    ics_watch *watch;
    bool watching;      /* more files may come */
    bool look;          /* there may be files that are not claimed */
    bool taking;        /* take_job is out */
    bool beating;       /* beat_job is out */
    bool ended;         /* a claim has ended since the last look */
    double look_at;     /* s of ics_progress_seconds(): look again then; 0: no need */
    double quiet_until; /* likewise: do not look before */
    uint32_t refused;   /* looks that failed in a row */
    size_t lost_told;   /* claims that were lost at the last heartbeat */
    ics_job take_job, beat_job;
    uv_timer_t heartbeat;

    /* With the thread of the claims while the jobs are out. */
    ics_claim taken[ICS_TAKE_MAX];
    size_t wanted, taken_count, lost;
    double take_seconds; /* that the last look took */
    icestream_error take_error, beat_error;

    pthread_mutex_t notes_lock;
    char notes[4096]; /* lines of the claims that the log has not told yet */
} ics_run_intake;

/* Why nothing is read at the moment. */
typedef struct ics_run_pause {
    bool on;
    double since, until; /* s of ics_progress_seconds(); until 0: a unit's retry ends it */
    uint32_t spills;     /* that failed in a row */
    ics_unit *unit;      /* the last one that failed was of; NULL: of none that is open */
    ics_unit *tried;     /* the unit of spill_job while that is out, else NULL */
    ics_job spill_job;
    icestream_error spill_error; /* with the writer while the job is out */
    char reason[1024];
} ics_run_pause;

typedef struct ics_unit_list {
    ics_unit **items;             /* [count] */
    size_t count, capacity, next; /* those before `next` have been dealt with */
} ics_unit_list;

/* sink.rotate. Everything is empty where each unit has a hit file of its own. */
typedef struct ics_run_rotation {
    ics_volume *volume; /* with the writer's thread while `writing` or `committing` */
    ics_known_hits *known;
    ics_unit_list kept; /* their hits are in the volume */
    ics_unit_list
        ends; /* of a volume that was committed or dropped: their claims are to be ended */
    ics_unit_list anew; /* of a volume that was dropped: they are to be begun anew */
    uint32_t ending;    /* of `ends`, begun and not finished */
    uint64_t hits;      /* of the units in `kept` */
    bool writing;       /* a unit's hits are on their way into the volume */
    bool sealed;        /* the volume gets no more hits before it is committed */
    bool committing;    /* commit_job is out */
    bool left;          /* it could not be committed, and the run stops */
    bool *lost;         /* [kept.count], by the commit: whose claims are lost */
    ics_volume_result result;
    ics_job commit_job;
    ics_unit *carrier; /* stands for the volume where commits are tried again; in no list */
    json_t *commanded; /* {path: true}: volumes that sink.command was started for */
} ics_run_rotation;

typedef struct ics_run_message ics_run_message;
typedef struct ics_run_command ics_run_command;

/* Everything here belongs to the thread of the loop, except what unit.h says about `common`. */
typedef struct ics_run_state {
    const icestream_config *config;
    const icestream_run_options *options;

    /* Made at start, constant while the run lasts. */
    ics_inputs inputs;
    ics_models *models;
    ics_tables *tables;
    ics_device_options device_options;
    ics_device *device;
    ics_unit_common common;
    ics_run_claims claims;
    ics_run_journal journal;
    char worker[ICS_WORKER_NAME];
    char writer[9];        /* common.writer */
    bool loop_open, ended; /* of the loop */
    char *quarantine;      /* common.quarantine */

    /* The loop and its workers. */
    uv_loop_t loop;
    uv_signal_t signals[ICS_RUN_SIGNALS];
    uv_prepare_t turn;
    uv_timer_t ticker, waker, limit, metrics_timer;
    ics_mailbox *mailbox;
    ics_workers *readers, *writers[ICS_WRITERS_MAX];
    ics_workers *keeper; /* one thread for claims, journal lines of the loop, metrics */
    ics_run_shape shape;

    /* Units in the order of their outputs; those before `oldest` are finished or in a volume. */
    ics_unit *first, *last;
    ics_unit *oldest, *to_open;
    bool forgets;                          /* finished units: files are claimed, without end */
    bool message_open;                     /* one of those that are read is a message of a stream */
    uint32_t units_open, units_open_limit; /* opened and not finished */
    uint32_t units_ahead;                  /* of them, being checked, checked or being read */
    uint32_t credits;                      /* batches that may still be made */
    uint32_t lines_out;                    /* of the journal, with the keeper */
    uint32_t jobs_out;                     /* with readers, device, writers and keeper together */
    uint32_t next_writer;                  /* for the next unit */
    uint32_t ready_count;
    ics_job *ready, **ready_last; /* batches that wait for the device */
    ics_job *spare;               /* empty batches, kept for their memory */

    ics_run_intake intake;
    ics_run_rotation rotation;
    ics_listener *listener;
    ics_run_message *messages; /* of clients, that are not answered yet */
    char *received;            /* the folder that they go to */
    ics_run_command *commands; /* that run or wait for their turn */
    int received_lock;
    uint32_t commands_running;
    ics_run_pause pause;

    /* How it goes. */
    int signal;                /* the first one received, 0: none */
    bool limit_reached;        /* the time limit */
    bool metrics_out;          /* metrics_job is */
    bool streaming;            /* how many inputs there are is not known */
    icestream_error fatal;     /* what ended the run early */
    icestream_error set_aside; /* reasons */
    icestream_account account; /* of finished batches */
    double seconds_computing;  /* of all threads that compute or make hits */
    double loop_seconds;       /* CPU time of the loop, once it has ended */
    double start;              /* when the loop began, s */
    double start_time;         /* likewise, s since 1970 */
    uint64_t bytes_checked, bytes_total, bytes_written, photons_checked, retries;
    size_t files_total, files_finished;
    size_t units_made, finished[ICS_UNIT_STATES];
    ics_latency latency; /* from arrival to commit */
    ics_events events;
    ics_service_notify service;
    ics_metrics_listener *metrics_listener;
    ics_job metrics_job;
    ics_metrics metrics; /* with the keeper while that is out */
    icestream_error metrics_error;
} ics_run_state;

/* ---- run_setup.c */

/* Loads models, builds tables, plans inputs and outputs, starts device and workers. On failure
 * ics_run_teardown() is still to be called. */
int ics_run_setup(ics_run_state *run, icestream_error *error);
/* Stops the workers and frees everything. */
void ics_run_teardown(ics_run_state *run);

/* ---- resume.c */

/* With --resume, when the device is made: hit files that the run would keep, and that were computed
 * with other maths than it computes with, are ICESTREAM_E_OUTPUT, each with its name; where
 * device.fallback allows to mix maths, they are told of in a warning. ICESTREAM_E_MEMORY. */
int ics_run_check_maths(ics_run_state *run, icestream_error *error);

/* ---- run_loop.c */

/* Starts the loop, its mailbox, and listening for signals: one that comes before ics_run_loop() is
 * dealt with there. ICESTREAM_E_FAILED, ICESTREAM_E_MEMORY. */
int ics_run_loop_open(ics_run_state *run, icestream_error *error);
/* After all workers have ended; fine when it was never opened. */
void ics_run_loop_close(ics_run_state *run);
/* Runs the loop until nothing is left to do or the run was stopped. */
int ics_run_loop(ics_run_state *run, icestream_error *error);
/* The run cannot go on; the first cause counts. */
void ics_run_fail(ics_run_state *run, const icestream_error *cause);
/* Whether no more work is begun. */
bool ics_run_stopping(const ics_run_state *run);
void ics_run_send_job(ics_run_state *run, ics_workers *workers, ics_job *job,
                      void (*work)(ics_job *job, void *thread_state), void (*done)(ics_job *job));

/* Gives a batch to the device, and counts it as a job that is out. False: the device takes no batch
 * at the moment. */
bool ics_run_submit_batch(ics_run_state *run, ics_batch *batch, void (*done)(ics_job *job));

/* ---- run_stations.c */

void ics_run_append_unit(ics_run_state *run, ics_unit *unit);
/* Checks, batches, hits, outputs: whatever can be begun now. */
void ics_run_open_units(ics_run_state *run);
void ics_run_read_units(ics_run_state *run);
void ics_run_compute_batches(ics_run_state *run);
void ics_run_write_units(ics_run_state *run);
/* Checks a unit from the beginning. */
void ics_run_check_unit(ics_run_state *run, ics_unit *unit);
void ics_run_write_unit(ics_run_state *run, ics_unit *unit);
/* Nothing more happens to a unit. */
void ics_run_finish_unit(ics_run_state *run, ics_unit *unit, ics_unit_state state);

/* ---- run_intake.c */

/* Becomes the owner of the claims, and watches. ICESTREAM_E_CONFIG, ICESTREAM_E_OUTPUT,
 * ICESTREAM_E_FAILED, ... */
int ics_run_intake_open(ics_run_state *run, icestream_error *error);
/* Begins to look for files. */
void ics_run_intake_start(ics_run_state *run);
/* Takes files while there is room for units. */
void ics_run_take_files(ics_run_state *run);
/* Whether more files may come without a job that is out. */
bool ics_run_intake_waits(const ics_run_state *run);
/* Ends the claim of a unit as its state says, and finishes the unit. */
void ics_run_end_claim(ics_run_state *run, ics_unit *unit, ics_unit_state state);
/* Claims of units that will not be finished go back to others. Returns whether there are any. */
bool ics_run_give_back(ics_run_state *run);
/* No more looking; closes its handles. */
void ics_run_intake_close(ics_run_state *run);
/* After the keeper's last job. */
void ics_run_intake_destroy(ics_run_state *run);

/* ---- run_clients.c */

/* Listens, if it is configured; before the intake is opened. As ics_listener_create. */
int ics_run_clients_open(ics_run_state *run, icestream_error *error);
/* Tells the client what came of his message, if the unit is one. */
void ics_run_answer_client(ics_run_state *run, const ics_unit *unit);
/* Takes nothing more. */
void ics_run_clients_stop(ics_run_state *run);
void ics_run_clients_close(ics_run_state *run);
/* After the loop. */
void ics_run_clients_destroy(ics_run_state *run);

/* ---- run_command.c */

/* Starts sink.command for a unit whose output is complete, before its claim is ended: who finds the
 * claim expired starts it again. False: there is nothing to start; else the unit's claim is ended
 * as `state` when the program has ended. */
bool ics_run_start_command(ics_run_state *run, ics_unit *unit, ics_unit_state state);
/* Ends the programs that run. */
void ics_run_stop_commands(ics_run_state *run);

/* ---- run_rotate.c */

/* With sink.rotate, when the writers are there. ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
int ics_run_rotation_open(ics_run_state *run, icestream_error *error);
/* After the workers have ended. */
void ics_run_rotation_destroy(ics_run_state *run);
/* Whether a unit's hits may go to the writer now: one at a time, and none while the volume waits to
 * be committed. Always where there are no volumes. */
bool ics_run_rotation_admits(const ics_run_state *run);
/* A unit's hits are in the volume: it is open no more, and keeps its claim. */
void ics_run_keep_unit(ics_run_state *run, ics_unit *unit);
/* Commits a full volume, ends the claims of committed units, begins dropped ones anew. */
void ics_run_rotate(ics_run_state *run);
/* Nothing is out: commits what there is if nobody can add to it, or somebody waits for it. Returns
 * whether a job is out now. */
bool ics_run_commit_rest(ics_run_state *run);
/* Whether sink.command is to be started for this volume; true only once. */
bool ics_run_commands_volume(ics_run_state *run, const char *path);

/* ---- run_retry.c */

/* Whether it is tried again: then `what` of the unit will be, when its time has come. */
bool ics_run_retry(ics_run_state *run, ics_unit *unit, ics_unit_retry what,
                   const icestream_error *error);
/* A unit's hits had to stay in memory: nothing more is read until they found room. */
void ics_run_pause_for_room(ics_run_state *run, ics_unit *unit, const icestream_error *error);
/* What was tried again has succeeded. */
void ics_run_succeeded(ics_run_state *run, ics_unit *unit);
/* Begins what is due, and sees to it that the loop wakes up for the rest. */
void ics_run_do_retries(ics_run_state *run);
/* Whether something will be tried again. */
bool ics_run_retries_wait(const ics_run_state *run);

/* ---- run_tell.c */

/* Tells what the device has to tell. */
void ics_run_tell_news(ics_run_state *run);
/* That the run begins, before the loop does; and that it has ended, and as what. */
void ics_run_tell_start(ics_run_state *run, const ics_event *event);
void ics_run_tell_stop(ics_run_state *run, const icestream_error *result);
/* To log and journal; texts are copied. */
void ics_run_tell(ics_run_state *run, const ics_event *event);
void ics_run_say(ics_run_state *run, ics_event_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ics_run_show_progress(ics_run_state *run);
/* Publishes metrics and sends them to their file. */
void ics_run_publish(ics_run_state *run);
/* The same when the loop has ended. */
void ics_run_publish_last(ics_run_state *run);
/* Reopens the journal. */
void ics_run_reopen_logs(ics_run_state *run);

/* ---- run_end.c, summary.c */

/* What the run came to. */
int ics_run_judge(const ics_run_state *run, icestream_error *error);
/* Writes summary.json; `result` is what icestream_run will return. ICESTREAM_E_OUTPUT,
 * ICESTREAM_E_MEMORY. */
int ics_run_summary(const ics_run_state *run, const icestream_error *result,
                    icestream_error *error);
/* Removes what killed runs left of theirs. ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_run_summary_clean(const ics_run_state *run, icestream_error *error);
/* Finished units in a state. */
size_t ics_run_count(const ics_run_state *run, ics_unit_state state);
/* Files that were not finished, whatever their state. */
size_t ics_run_unfinished(const ics_run_state *run);

#endif
