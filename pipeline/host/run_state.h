/* The state of a run; private to the files that make up is_run.
 *
 *   run.c          from beginning to end         run_loop.c     loop, signals, timers
 *   run_setup.c    what it is made of            run_stations.c units from reader to writer
 *   resume.c       maths of kept outputs         run_intake.c   files that are claimed
 *   summary.c      summary.json                  run_retry.c    trouble that may pass
 *   run_end.c      what it came to               run_tell.c     log, journal, metrics
 *   run_rotate.c   one hit file for many units
 */
#ifndef IS_RUN_STATE_H
#define IS_RUN_STATE_H

#include "pipeline/host/device.h"
#include "pipeline/host/unit.h"
#include "pipeline/host/volume.h"
#include "pipeline/models/models.h"
#include "pipeline/source/listener.h"
#include "pipeline/source/watch.h"
#include "pipeline/telemetry/events.h"
#include "pipeline/telemetry/latency.h"
#include "pipeline/telemetry/metrics_listener.h"
#include "pipeline/telemetry/service_notify.h"

enum { IS_WRITERS_MAX = 16, IS_TAKE_MAX = 64, IS_WORKER_NAME = 160, IS_RUN_SIGNALS = 4 };

/* How much of everything works beside the device. */
typedef struct is_run_shape {
    uint32_t readers;     /* threads */
    uint32_t units_ahead; /* being checked, checked or being read */
    uint32_t filling;     /* units that batches are made of at a time */
    uint32_t writers;     /* threads; all hits of a unit go to one of them */
    size_t hit_memory;    /* before hits go to temporary files, bytes */
} is_run_shape;

/* Files from source.directory, claimed one by one. */
typedef struct is_run_intake {
    char *spool; /* where claims are kept; NULL: nothing is claimed */
    is_watch *watch;
    bool watching;      /* more files may come */
    bool look;          /* there may be files that are not claimed */
    bool taking;        /* take_job is out */
    bool beating;       /* beat_job is out */
    bool ended;         /* a claim has ended since the last look */
    double look_at;     /* s of is_seconds(): look again then; 0: no need */
    double quiet_until; /* likewise: do not look before */
    uint32_t refused;   /* looks that failed in a row */
    size_t lost_told;   /* claims that were lost at the last heartbeat */
    is_job take_job, beat_job;
    uv_timer_t heartbeat;

    /* With the thread of the claims while the jobs are out. */
    is_claim taken[IS_TAKE_MAX];
    size_t wanted, taken_count, lost;
    double take_seconds; /* that the last look took */
    is_error take_error, beat_error;

    pthread_mutex_t notes_lock;
    char notes[4096]; /* lines of the claims that the log has not told yet */
} is_run_intake;

/* Why nothing is read at the moment. */
typedef struct is_run_pause {
    bool on;
    double since, until; /* s of is_seconds(); until 0: a unit's retry ends it */
    uint32_t spills;     /* that failed in a row */
    is_unit *unit;       /* the last one that failed was of; NULL: of none that is open */
    is_unit *tried;      /* the unit of spill_job while that is out, else NULL */
    is_job spill_job;
    is_error spill_error; /* with the writer while the job is out */
    char reason[1024];
} is_run_pause;

typedef struct is_unit_list {
    is_unit **items;              /* [count] */
    size_t count, capacity, next; /* those before `next` have been dealt with */
} is_unit_list;

/* sink.rotate. Everything is empty where each unit has a hit file of its own. */
typedef struct is_run_rotation {
    is_volume *volume; /* with the writer's thread while `writing` or `committing` */
    is_known_hits *known;
    is_unit_list kept; /* their hits are in the volume */
    is_unit_list ends; /* of a volume that was committed or dropped: their claims are to be ended */
    is_unit_list anew; /* of a volume that was dropped: they are to be begun anew */
    uint32_t ending;   /* of `ends`, begun and not finished */
    uint64_t hits;     /* of the units in `kept` */
    bool writing;      /* a unit's hits are on their way into the volume */
    bool sealed;       /* the volume gets no more hits before it is committed */
    bool committing;   /* commit_job is out */
    bool left;         /* it could not be committed, and the run stops */
    bool *lost;        /* [kept.count], by the commit: whose claims are lost */
    is_volume_result result;
    is_job commit_job;
    is_unit *carrier;  /* stands for the volume where commits are tried again; in no list */
    json_t *commanded; /* {path: true}: volumes that sink.command was started for */
} is_run_rotation;

typedef struct is_run_message is_run_message;
typedef struct is_run_command is_run_command;

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
    is_run_claims claims;
    is_run_journal journal;
    char worker[IS_WORKER_NAME];
    char writer[9];        /* common.writer */
    bool loop_open, ended; /* of the loop */
    char *quarantine;      /* common.quarantine */

    /* The loop and its workers. */
    uv_loop_t loop;
    uv_signal_t signals[IS_RUN_SIGNALS];
    uv_timer_t ticker, waker, limit, metrics_timer;
    is_mailbox *mailbox;
    is_workers *readers, *writers[IS_WRITERS_MAX];
    is_workers *keeper; /* one thread for claims, journal lines of the loop, metrics */
    is_run_shape shape;

    /* Units in the order of their outputs; those before `oldest` are finished or in a volume. */
    is_unit *first, *last;
    is_unit *oldest, *to_open;
    bool forgets;                          /* finished units: files are claimed, without end */
    bool message_open;                     /* one of those that are read is a message of a stream */
    uint32_t units_open, units_open_limit; /* opened and not finished */
    uint32_t units_ahead;                  /* of them, being checked, checked or being read */
    uint32_t credits;                      /* batches that may still be made */
    uint32_t lines_out;                    /* of the journal, with the keeper */
    uint32_t jobs_out;                     /* with readers, device, writers and keeper together */
    uint32_t next_writer;                  /* for the next unit */
    uint32_t ready_count;
    is_job *ready, **ready_last; /* batches that wait for the device */
    is_job *spare;               /* empty batches, kept for their memory */

    is_run_intake intake;
    is_run_rotation rotation;
    is_listener *listener;
    is_run_message *messages; /* of clients, that are not answered yet */
    char *received;           /* the folder that they go to */
    is_run_command *commands; /* that run or wait for their turn */
    int received_lock;
    uint32_t commands_running;
    is_run_pause pause;

    /* How it goes. */
    int signal;               /* the first one received, 0: none */
    bool limit_reached;       /* the time limit */
    bool metrics_out;         /* metrics_job is */
    bool streaming;           /* how many inputs there are is not known */
    is_error fatal;           /* what ended the run early */
    is_error set_aside;       /* reasons */
    is_account account;       /* of finished batches */
    double seconds_computing; /* of all threads that compute or make hits */
    double loop_seconds;      /* CPU time of the loop, once it has ended */
    double start;             /* when the loop began, s */
    double start_time;        /* likewise, s since 1970 */
    uint64_t bytes_checked, bytes_total, bytes_written, photons_checked, retries;
    size_t files_total, files_finished;
    size_t units_made, finished[IS_UNIT_STATES];
    is_latency latency; /* from arrival to commit */
    is_events events;
    is_service_notify service;
    is_metrics_listener *metrics_listener;
    is_job metrics_job;
    is_metrics metrics; /* with the keeper while that is out */
    is_error metrics_error;
} is_run_state;

/* ---- run_setup.c */

/* Loads models, builds tables, plans inputs and outputs, starts device and workers. On failure
 * is_run_teardown() is still to be called. */
int is_run_setup(is_run_state *run, is_error *error);
/* Stops the workers and frees everything. */
void is_run_teardown(is_run_state *run);

/* ---- resume.c */

/* With --resume, when the device is made: hit files that the run would keep, and that were computed
 * with other maths than it computes with, are IS_E_OUTPUT, each with its name; where
 * device.fallback allows to mix maths, they are told of in a warning. IS_E_MEMORY. */
int is_run_check_maths(is_run_state *run, is_error *error);

/* ---- run_loop.c */

/* Starts the loop, its mailbox, and listening for signals: one that comes before is_run_loop() is
 * dealt with there. IS_E_FAILED, IS_E_MEMORY. */
int is_run_loop_open(is_run_state *run, is_error *error);
/* After all workers have ended; fine when it was never opened. */
void is_run_loop_close(is_run_state *run);
/* Runs the loop until nothing is left to do or the run was stopped. */
int is_run_loop(is_run_state *run, is_error *error);
/* Gives every station what it can do now. Called after each event; when no job is out any more and
 * nothing is waited for, the loop ends. */
void is_run_advance(is_run_state *run);
/* The run cannot go on; the first cause counts. */
void is_run_fail(is_run_state *run, const is_error *cause);
/* Whether no more work is begun. */
bool is_run_stopping(const is_run_state *run);
void is_run_send_job(is_run_state *run, is_workers *workers, is_job *job,
                     void (*work)(is_job *job, void *thread_state), void (*done)(is_job *job));

/* ---- run_stations.c */

void is_run_append_unit(is_run_state *run, is_unit *unit);
/* Checks, batches, hits, outputs: whatever can be begun now. */
void is_run_open_units(is_run_state *run);
void is_run_read_units(is_run_state *run);
void is_run_compute_batches(is_run_state *run);
void is_run_write_units(is_run_state *run);
/* Checks a unit from the beginning. */
void is_run_check_unit(is_run_state *run, is_unit *unit);
void is_run_write_unit(is_run_state *run, is_unit *unit);
/* Nothing more happens to a unit. */
void is_run_finish_unit(is_run_state *run, is_unit *unit, is_unit_state state);

/* ---- run_intake.c */

/* Becomes the owner of the claims, and watches. IS_E_CONFIG, IS_E_OUTPUT, IS_E_FAILED, ... */
int is_run_intake_open(is_run_state *run, is_error *error);
/* Begins to look for files. */
void is_run_intake_start(is_run_state *run);
/* Takes files while there is room for units. */
void is_run_take_files(is_run_state *run);
/* Whether more files may come without a job that is out. */
bool is_run_intake_waits(const is_run_state *run);
/* Ends the claim of a unit as its state says, and finishes the unit. */
void is_run_end_claim(is_run_state *run, is_unit *unit, is_unit_state state);
/* Claims of units that will not be finished go back to others. Returns whether there are any. */
bool is_run_give_back(is_run_state *run);
/* No more looking; closes its handles. */
void is_run_intake_close(is_run_state *run);
/* After the keeper's last job. */
void is_run_intake_destroy(is_run_state *run);

/* ---- run_clients.c */

/* Listens, if it is configured; before the intake is opened. As is_listener_create. */
int is_run_clients_open(is_run_state *run, is_error *error);
/* Tells the client what came of his message, if the unit is one. */
void is_run_answer_client(is_run_state *run, const is_unit *unit);
/* Takes nothing more. */
void is_run_clients_stop(is_run_state *run);
void is_run_clients_close(is_run_state *run);
/* After the loop. */
void is_run_clients_destroy(is_run_state *run);

/* ---- run_command.c */

/* Starts sink.command for a unit whose output is complete, before its claim is ended: who finds the
 * claim expired starts it again. False: there is nothing to start; else the unit's claim is ended
 * as `state` when the program has ended. */
bool is_run_start_command(is_run_state *run, is_unit *unit, is_unit_state state);
/* Ends the programs that run. */
void is_run_stop_commands(is_run_state *run);

/* ---- run_rotate.c */

/* With sink.rotate, when the writers are there. IS_E_MEMORY, IS_E_OUTPUT. */
int is_run_rotation_open(is_run_state *run, is_error *error);
/* After the workers have ended. */
void is_run_rotation_destroy(is_run_state *run);
/* Whether a unit's hits may go to the writer now: one at a time, and none while the volume waits to
 * be committed. Always where there are no volumes. */
bool is_run_rotation_admits(const is_run_state *run);
/* A unit's hits are in the volume: it is open no more, and keeps its claim. */
void is_run_keep_unit(is_run_state *run, is_unit *unit);
/* Commits a full volume, ends the claims of committed units, begins dropped ones anew. */
void is_run_rotate(is_run_state *run);
/* Nothing is out: commits what there is if nobody can add to it, or somebody waits for it. Returns
 * whether a job is out now. */
bool is_run_commit_rest(is_run_state *run);
/* Whether sink.command is to be started for this volume; true only once. */
bool is_run_commands_volume(is_run_state *run, const char *path);

/* ---- run_retry.c */

/* Whether it is tried again: then `what` of the unit will be, when its time has come. */
bool is_run_retry(is_run_state *run, is_unit *unit, is_unit_retry what, const is_error *error);
/* A unit's hits had to stay in memory: nothing more is read until they found room. */
void is_run_pause_for_room(is_run_state *run, is_unit *unit, const is_error *error);
/* What was tried again has succeeded. */
void is_run_succeeded(is_run_state *run, is_unit *unit);
/* Begins what is due, and sees to it that the loop wakes up for the rest. */
void is_run_do_retries(is_run_state *run);
/* Whether something will be tried again. */
bool is_run_retries_wait(const is_run_state *run);

/* ---- run_tell.c */

/* Tells what the device has to tell. */
void is_run_tell_news(is_run_state *run);
/* That the run begins, before the loop does; and that it has ended, and as what. */
void is_run_tell_start(is_run_state *run, const is_event *event);
void is_run_tell_stop(is_run_state *run, const is_error *result);
/* To log and journal; texts are copied. */
void is_run_tell(is_run_state *run, const is_event *event);
void is_run_say(is_run_state *run, is_event_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void is_run_show_progress(is_run_state *run);
/* Publishes metrics and sends them to their file. */
void is_run_publish(is_run_state *run);
/* The same when the loop has ended. */
void is_run_publish_last(is_run_state *run);
/* Reopens the journal. */
void is_run_reopen_logs(is_run_state *run);

/* ---- run_end.c, summary.c */

/* What the run came to. */
int is_run_judge(const is_run_state *run, is_error *error);
/* Writes summary.json; `result` is what is_run will return. IS_E_OUTPUT, IS_E_MEMORY. */
int is_run_summary(const is_run_state *run, const is_error *result, is_error *error);
/* Removes what killed runs left of theirs. IS_E_OUTPUT, IS_E_MEMORY. */
int is_run_summary_clean(const is_run_state *run, is_error *error);
/* Finished units in a state. */
size_t is_run_count(const is_run_state *run, is_unit_state state);
/* Files that were not finished, whatever their state. */
size_t is_run_unfinished(const is_run_state *run);

#endif
