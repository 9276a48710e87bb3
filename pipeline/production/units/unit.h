/* A unit of a run: one step file, or one message of a stream, from reading to its hit file. Its
 * hits are in a collector (pipeline/photons/collect).
 *
 * The loop owns every unit. While a thread has a job of a unit, the thread may use the members that
 * belong to the job, which are named below, and the loop does not use them. No lock is needed.
 *
 * The files of pipeline/production/units:
 *   unit_rules   the table of states and events; docs/unit-life.md is printed from it
 *   sources      what a source of steps is; file_source, message_source, light_source
 *   sinks        what a sink of hits is; file_sink, stream_sink
 *   unit         unit.c makes and checks a unit, and looks for hits that exist already;
 *                units/input.c has what is known about its input,
 *                units/output.c is its side of the engine and the work of its writer,
 *                units/saving.c keeps its hits while it is computed, and reads its checkpoint,
 *                units/records.c writes its checkpoint, units/claim.c ends its claim
 *   inputs       the list of inputs of a run, and the names of their outputs
 *   origin       digests of everything that hits depend on
 *   known_hits   finds hit files that have the hits of several step files
 *   damaged_hits  a damaged hit file goes to the quarantine, and its step file is computed again
 *   output_digest  the digest of a hit file, for the journal
 *   command_pending  the file that says that sink.command has not succeeded for a hit file
 */
#ifndef ICS_PRODUCTION_UNITS_UNIT_H
#define ICS_PRODUCTION_UNITS_UNIT_H

#include "base/queue.h"
#include "pipeline/photons/collect/collector.h"
#include "pipeline/photons/engine/engine.h"
#include "pipeline/photons/files/step_reader.h"
#include "pipeline/photons/files/table_writer.h"
#include "pipeline/photons/generator/forecast.h"
#include "pipeline/photons/generator/step_generator.h"
#include "pipeline/photons/provenance/origin.h"
#include "pipeline/photons/provenance/output_digest.h"
#include "pipeline/production/checkpoint/checkpoint.h"
#include "pipeline/production/spool/claims.h"
#include "pipeline/production/telemetry/run_journal.h"
#include "pipeline/production/units/inputs.h"
#include "pipeline/production/units/known_hits.h"
#include "pipeline/production/units/rules.h"
#include "pipeline/production/units/sinks.h"
#include "pipeline/production/units/sources.h"

#include <sys/stat.h>

/* What is tried again. */
typedef enum ics_retry_what {
    ICS_RETRY_NOTHING,
    ICS_RETRY_CHECK,   /* a unit is read again from its beginning */
    ICS_RETRY_WRITE,   /* the hits of a unit are written */
    ICS_RETRY_CLAIM,   /* the claim of a unit is ended */
    ICS_RETRY_COMMAND, /* sink.command is run */
    ICS_RETRY_LOOK     /* the intake looks for files */
} ics_retry_what;

/* What is known about work that failed for a reason that may pass, and that is tried again later. A
 * unit, the intake and each program of sink.command own one; only pipeline/production/run/retry.h
 * changes it. All zero: nothing failed. */
typedef struct ics_retry {
    ics_retry_what what; /* ICS_RETRY_NOTHING: no retry is pending */
    double due;          /* ics_clock_seconds() from which the retry may begin (s) */
    double failed;       /* ics_clock_seconds() of the last failure (s) */
    uint32_t tries;      /* number of failures in a row */
    bool needs_room;     /* the last failure was a full disk, and nothing has succeeded since */
} ics_retry;

enum { ICS_UNIT_WORKER = 160 }; /* bytes of the name of a worker */

/* What all threads of a run share. Constant while the threads run, except for the atomic members
 * and those that have their own locks. */
typedef struct ics_unit_common {
    const icestream_config *config;
    const icestream_run_options *options;
    const ics_models *models;
    char *keep_steps; /* the step file for steps that the run makes; NULL: none */
    uint32_t makers;  /* number of threads that make steps */
    ics_origin origin;
    ics_maths_used maths;         /* with which the run may compute; of several all */
    const char *content;          /* what hit files carry; NULL: stages.detect is none */
    char worker[ICS_UNIT_WORKER]; /* name of this process */
    char writer[9];               /* short name of this process in names of .part files */
    uint32_t spectrum_count;      /* number of spectra that steps may name */
    json_t *light; /* what the steps' light must be made with (models/light_record.h) */
    const ics_sink *sink;
    int wake;                  /* an eventfd, readable once `stop` is set */
    atomic_bool stop;          /* nothing more is read; batches that exist are finished */
    atomic_bool cancel;        /* nothing more is computed or written */
    ics_hit_budget budget;     /* for the hits of all units */
    const ics_claims *claims;  /* NULL: files are not claimed */
    const char *intake_folder; /* of the claimed files; NULL: files are not claimed */
    ics_after after;           /* what is done with a claimed file when it is finished */
    ics_known_hits *known;     /* hit files of several step files; NULL: there are none */
    char *quarantine;          /* folder for reasons and bad files; NULL: there is none */
    ics_run_journal *journal;  /* NULL: there is none */
} ics_unit_common;

/* A batch whose hits are in the memory of the collector, and may become rows of the hit file. */
typedef struct ics_unit_unsaved {
    ics_photon_interval photons;
    icestream_account account;
    ics_maths_used maths;
    ics_kernels kernels;
} ics_unit_unsaved;

/* The checkpoint of a unit, which the writer writes. */
typedef struct ics_unit_saving {
    ics_checkpoint *file;        /* NULL: not begun */
    ics_checkpoint_part waiting; /* other batches whose hits only the collector has */
    ics_unit_unsaved *unsaved;   /* [unsaved_count] */
    size_t unsaved_count, unsaved_capacity;
    ics_checkpoint_rows rows; /* the rows of the batches that wait */
    uint64_t row_count;       /* of them */
    bool uses_rows;           /* the file of rows has the name that records refer to */
    bool refuses_rows;        /* it does not get it */
    double due;    /* ics_clock_seconds() at which the disk gets everything (s); 0: no batch came */
    bool unsynced; /* a record may not be on the disk yet */
    bool ended;    /* nothing more is written */
} ics_unit_saving;

/* What a unit needs while it is open. */
typedef struct ics_unit_work {
    ics_propagation
        propagation; /* pipeline/photons/engine/engine.h names the owners of its parts */

    /* These belong to a reader while it checks the unit or makes a batch. */
    ics_step_reader *reader;
    char other_digest[ICS_PARTS_DIGEST_TEXT]; /* of ics_unit_change_digest(); "": not known yet */
    int pipe; /* descriptor of the named pipe that is read; -1: none */
    /* Of steps that the run makes: what is known and what is doubtful of them beforehand, the list
     * of particles as it was then, what makes them, the file that keeps them, and a digest of the
     * steps if the particles come through a pipe. The last three are NULL if they are not used. */
    ics_forecast forecast;
    ics_warnings warnings;
    struct stat list;
    ics_step_generator *generator;
    ics_table_writer *copy;
    ics_digest *rows_digest;
    char *found_in;  /* the hit file of several step files that has the hits; NULL: none */
    char *unlike;    /* why the existing output does not match; NULL: it does, or there is none */
    bool matches;    /* an output with these hits exists; for a message the writer sets it */
    bool in_the_way; /* the output exists, does not match, and must not be replaced */
    bool found;      /* there is a unit; false: the stream has no more messages */
    bool again;      /* before the job: the file was read before */
    bool young;      /* the input is bad, and the claimed file changed less than a second ago */
    bool no_record;  /* the steps do not say what their light was made with */
    ics_checkpoint_part taken_over; /* from the checkpoint of an earlier run */
    icestream_error read_error;     /* result of the check */

    /* These belong to the reader that checks the unit, or to the writer. */
    struct stat judged; /* the hit file that was found and judged */
    bool blocked;       /* its place is taken by something that cannot be read or moved */

    /* These belong to the writer while it has a batch or the hits of the unit. */
    ics_collector *collector; /* a reader that checks puts the hits of a checkpoint into it */
    ics_unit_saving saving;
    bool lost; /* another worker has the claim; set by a reader that checks, or by the writer */
    icestream_error write_error;
} ics_unit_work;

typedef struct ics_unit ics_unit;
/* Units that wait for one part of the loop, in the order of their arrival there. */
typedef STAILQ_HEAD(ics_unit_queue, ics_unit) ics_unit_queue;
struct ics_unit {
    ics_unit *next;                /* in the order of the outputs */
    STAILQ_ENTRY(ics_unit) queued; /* the unit is in one ics_unit_queue at most */
    ics_unit_common *common;
    void *run; /* the ics_run_state of the unit; only the loop uses it */
    ics_unit_state state;
    ics_unit_result result; /* while the claim is being ended: the result that the unit will get */
    /* Counter of the unit's jobs that are out (pipeline/production/run/jobs.h): with a reader, the
     * writer or the I/O thread. The engine counts those of its propagation. */
    uint32_t jobs_out;
    ics_retry retry;
    bool was_looked_at; /* the loop has warned of what is odd about the steps */

    const ics_input *input;   /* the step file, or the stream that has this message */
    ics_input own_input;      /* where a claimed file has no entry in the list of inputs */
    ics_claim claim;          /* of a claimed file; name NULL: the file is not claimed */
    uint64_t message;         /* number of the message in the stream, from 0 */
    char *name;               /* for people: the path, or "standard input, message 0" */
    char *output;             /* NULL: standard output */
    ics_output_mark replaces; /* what had this name when the unit was made; not of a claimed file */
    char *checkpoint; /* path, known once the unit was checked; NULL: the unit cannot have one */
    _Atomic(char *) notice; /* a line for the log; see ics_unit_next_notice */

    ics_job reader_job, writer_job;
    ics_unit_work *work; /* NULL unless the unit is open */
    /* By a reader. Of a message complete when the message is read; the digest of a file may be
     * complete only then, too. */
    ics_step_summary summary;
    atomic_bool digest_due; /* the digest is still computed, and nobody may read it */

    uint32_t writer;              /* which of the writers has the hits */
    icestream_account account;    /* of the batches that came back, and of the checkpoint */
    icestream_account taken_over; /* of the checkpoint only */
    ics_maths_used maths;         /* of all these */
    ics_kernels kernels;          /* of those with fast maths */
    double seconds;               /* of compute threads (s) */
    uint64_t output_bytes;        /* of the hit file (bytes) */
    char *refusal;                /* why the input is bad; NULL: it is not */
    double arrived;               /* when the file came, or the unit was opened; since 1970 (s) */
    /* Settings of the light that differ from those of the run and were accepted; NULL: none. A
     * reader sets it. */
    json_t *light_mismatch;
    /* What the run makes the steps of (generator/light_settings.h); NULL: the steps are in a file.
     * A reader sets it. */
    json_t *light_settings;
    char output_digest[ICS_PARTS_DIGEST_TEXT]; /* of the hit file that was written; "": unknown */
    /* The hit file has a note that sink.command has not succeeded (command_pending.h). Set by a
     * reader or the writer. */
    bool command_pending;
};

/* ---- the loop ---------------------------------------------------------------------------------
 *
 * Nothing below may be called while a job of the unit is out, unless its comment says so. */

/* Makes a unit for a file, or for a message of a stream. */
ics_unit *ics_unit_create(ics_unit_common *common, const ics_input *input, uint64_t message);
/* Makes a unit for a claimed file. The unit owns the texts of the claim from now on. `name`: of the
 * file, for people. */
ics_unit *ics_unit_create_claimed(ics_unit_common *common, const ics_claim *claim,
                                  const char *name);
/* Accepts NULL. */
void ics_unit_destroy(ics_unit *unit);

/* Allocates the memory that an open unit needs, and forgets what was read and computed of the unit
 * before. The unit must be closed. */
void ics_unit_open(ics_unit *unit);
/* Frees the part of that memory that only readers use. Jobs of the writer may be out. */
void ics_unit_close_reader(ics_unit *unit);
/* Frees all of that memory. */
void ics_unit_close(ics_unit *unit);

/* Whether a job of the unit or of its propagation is out. */
bool ics_unit_has_jobs(const ics_unit *unit);
/* All photons of the unit; UINT64_MAX: they are not known yet. */
uint64_t ics_unit_photons(const ics_unit *unit);
/* Whether the checkpoint of an unfinished unit lacks hits. */
bool ics_unit_has_unsaved(const ics_unit *unit);
/* If a reader found the hits in a file of several step files, makes that file the output of the
 * unit. */
void ics_unit_use_found_output(ics_unit *unit);
/* An event about the unit, for log and journal. Its texts belong to the unit. */
ics_event ics_unit_report(const ics_unit *unit, ics_event_kind kind);
/* Returns a line for the log that a thread has left, for the caller to free; NULL: there is none.
 * Any thread. */
char *ics_unit_next_notice(ics_unit *unit);

/* ---- jobs -------------------------------------------------------------------------------------
 *
 * The functions of jobs, each for the thread that is named. */

/* A reader, job = &unit->reader_job. Opens the source of the unit. If the unit is claimed, or with
 * --resume, compares an existing output. Fills summary, matches, found, found_in, lost, in_the_way,
 * taken_over, read_error. */
void ics_unit_check(ics_job *job, void *thread_state);
/* A reader: the unit as a source of the engine, ics_step_source.read and .pass_over; `user` is the
 * unit. If the propagation skips, `read` reads a message to its end and gives no step. `pass_over`
 * moves the cursor over photons that were taken over, and sets its barrier where the next ones
 * begin. */
int ics_unit_read(void *user, icestream_step *steps, size_t capacity, size_t *got,
                  icestream_error *error);
void ics_unit_pass_over(void *user, ics_step_cursor *cursor);
/* The writer: the unit as a sink of the engine, ics_hit_sink.add, which moves the hits of the batch
 * into the collector. */
int ics_unit_store(void *user, ics_batch *batch, icestream_error *error);
/* The writer: tries again to move hits from memory to the disk. The errors of ics_collector_add. */
int ics_unit_spill(ics_unit *unit, icestream_error *error);
/* The writer, job = &unit->writer_job: merges, writes and commits the hits, unless the claim is
 * lost, and appends a line to the journal. Fills lost, matches, write_error; may be called again
 * after an error that may pass. */
void ics_unit_write(ics_job *job, void *thread_state);
/* The writer, job = &unit->writer_job: discards the collected hits, and writes the reason into the
 * quarantine if the file is not claimed. Fills write_error. */
void ics_unit_discard(ics_job *job, void *thread_state);
/* The writer, job = &unit->writer_job: writes what the checkpoint of an unfinished unit lacks. */
void ics_unit_save_rest(ics_job *job, void *thread_state);
/* The I/O thread: ends the claim in the way of unit->result, or gives it back, and appends a line
 * to the journal if no other thread has done so. *held false: another worker had the claim already.
 * A unit without a claim only gets its line. The errors of ics_claims_done. */
int ics_unit_end_claim(ics_unit *unit, bool *held, icestream_error *error);

/* ---- a reader's thread, for sources ---------------------------------------------------------- */

/* With an open reader: compares the record of light of the step file or message with that of the
 * run. Fills no_record and light_mismatch. ICESTREAM_E_INPUT: it differs and is not accepted.
 * ICESTREAM_E_MEMORY. */
int ics_unit_check_light(ics_unit *unit, icestream_error *error);
/* The same for the record behind the rows of a message, which is a copied file, once the message is
 * read. */
int ics_unit_check_late_light(ics_unit *unit, icestream_error *error);
/* The check of the unit had this status. If the input is bad, finds out whether a producer may
 * still be writing it, and fills work->young. */
void ics_unit_judge_age(ics_unit *unit, int status);
/* If the hits of the unit exist already, looks whether sink.command still has to run for them, and
 * fills command_pending. */
void ics_unit_look_for_command(ics_unit *unit);
/* At the end of a check: takes the hits of a checkpoint over, or, if the output is complete,
 * removes the checkpoint. Fills work->taken_over. A checkpoint that cannot be used leaves a notice
 * and is no error, except for one of other settings without --force: that of a claimed step file
 * goes to the quarantine, any other is ICESTREAM_E_OUTPUT. The errors of ics_collector_add and
 * ics_quarantine_move; ICESTREAM_E_INTERRUPTED. */
int ics_unit_read_checkpoint(ics_unit *unit, icestream_error *error);

/* ---- the writer's thread: the checkpoint ------------------------------------------------------
 *
 * No failure of a checkpoint is an error: the unit gets a notice, and its checkpoint gets nothing
 * more. */

/* Makes work->collector unless it exists, also for a reader that checks. The errors of
 * ics_collector_create. */
int ics_unit_open_collector(ics_unit *unit, icestream_error *error);
/* Appends the hits of a batch to the checkpoint, if it is begun. Call it before the collector gets
 * the hits. */
void ics_unit_save_batch(ics_unit *unit, const ics_batch *batch);
/* An ics_rows_listener of the collector; `user` is the unit: appends the record of a batch whose
 * hits have become rows, or whose hits will leave the memory in another way. */
void ics_unit_save_hits(void *user, ics_photon_interval photons, const icestream_hit *hits,
                        size_t count, uint64_t row);
/* Once per sink.checkpoint: begins the checkpoint with all hits of the collector, or waits until
 * its records are on the disk. */
void ics_unit_save_if_due(ics_unit *unit);
/* If `error` is a full disk, removes the checkpoint: the hits of the collector need the room. */
void ics_unit_give_way(ics_unit *unit, const icestream_error *error);
/* Removes the checkpoint, because the hits are complete or will not be needed. Leaves a notice on
 * failure. */
void ics_unit_remove_checkpoint(ics_unit *unit);
/* The same without the file of rows, which keeps its name: a file that had a name can become the
 * hit file only as long as it has one. The unit has a checkpoint. */
void ics_unit_remove_records(ics_unit *unit);
/* Closes the checkpoint, which stays, and frees what was taken over. */
void ics_unit_close_saving(ics_unit_work *work);

/* ---- a thread that has a job of the unit ----------------------------------------------------- */

/* Leaves a line for the log about something that no result depends on. */
void ics_unit_leave_notice(ics_unit *unit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The event of a unit that is refused: a list of particles stays where it is, and a step file goes
 * into the quarantine. */
ics_event_kind ics_unit_refusal_kind(const ics_unit *unit);
/* Appends a line about the unit to the journal. `output`: path of the hit file, or NULL. Waits for
 * the disk. The thread that did the work calls it. */
void ics_unit_append_line(const ics_unit *unit, ics_event_kind kind, const char *output);
/* Whether another worker has the claim by now (work->lost). A file that is not claimed is never
 * lost. */
void ics_unit_look_for_claim(ics_unit *unit);
/* Waits until the digest of the step file is known. On a reader's thread, or when no job of a
 * reader is out. The errors of ics_step_reader_await_digest(). */
int ics_unit_await_digest(ics_unit *unit, const atomic_bool *cancel, icestream_error *error);
/* Whether it is known, or nobody computes it. Any thread. */
bool ics_unit_has_digest(const ics_unit *unit);
/* Versions before 0.3.0 name a large step file by the SHA-256 that sha256sum prints. Of a unit
 * whose digest is in parts, makes that one its digest, and back at the next call: what such a
 * version has begun goes on under its name. In a check, when the digest is known. The errors of
 * ics_step_reader_plain_digest(). */
int ics_unit_change_digest(ics_unit *unit, icestream_error *error);
/* Makes the metadata of the unit's hits, without what is known only at the end:
 * ics_origin_metadata() with the settings of light that the run makes. ICESTREAM_E_MEMORY. */
int ics_unit_origin(const ics_unit *unit, json_t **out, icestream_error *error);
/* Makes what a checkpoint of the unit depends on: ics_unit_origin() with the content of the hits.
 */
int ics_unit_checkpoint_origin(const ics_unit *unit, json_t **out, icestream_error *error);

#endif
