/* The work of a writer's thread for a unit: collecting hits, writing the hit file or the message.
 */
#include "base/container.h"
#include "base/error.h"
#include "pipeline/collect/waveform_rows.h"
#include "pipeline/files/format/npy.h"
#include "pipeline/files/metadata.h"
#include "pipeline/files/output.h"
#include "pipeline/files/table_writer.h"
#include "pipeline/spool/quarantine.h"
#include "pipeline/units/command_pending.h"
#include "pipeline/units/damaged_hits.h"
#include "pipeline/units/hit_check.h"
#include "pipeline/units/unit.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POLL_MILLISECONDS = 200 }; /* between checks of `cancel` */

static ics_unit *unit_of_writer_job(ics_job *job)
{
    return ICS_CONTAINER_OF(job, ics_unit, writer_job);
}

void ics_unit_store(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_batch *batch = ics_batch_of_job(job);
    ics_unit *unit = batch->owner;
    icestream_error error = {.status = ICESTREAM_OK};
    if (ics_unit_open_collector(unit, &error) == ICESTREAM_OK) {
        ics_unit_save_batch(unit, batch);
        const ics_photon_interval photons = {batch->first_photon,
                                             batch->first_photon + batch->photons};
        ics_collector_add_photons(unit->work->collector, batch->photon_cells, batch->large_cells,
                                  batch->steps, batch->emissions, batch->count);
        ics_collector_add_batch(unit->work->collector, batch->hits, batch->hit_count, photons,
                                &error);
        batch->hits = NULL;
        ics_unit_give_way(unit, &error);
    }
    if (error.status != ICESTREAM_E_MEMORY) { /* else the collector lacks hits */
        ics_unit_save_if_due(unit);
    }
    ics_error_keep(&batch->error, &error);
}

int ics_unit_spill(ics_unit *unit, icestream_error *error)
{
    ics_collector *collector = unit->work->collector; /* NULL: the unit is read again */
    int status = collector != NULL ? ics_collector_add(collector, NULL, 0, error) : ICESTREAM_OK;
    ics_unit_give_way(unit, error);
    return status;
}

static int append_to_file(void *user, const icestream_hit *hits, size_t count,
                          icestream_error *error)
{
    return ics_table_writer_append(user, hits, count, error);
}

/* A file with the name of the output exists. Another worker that had the claim in the meantime may
 * have made it, or an earlier attempt of this run, which failed after it had given the name, or,
 * for a message with --resume, an earlier run. All are fine if the file has the hits of this input.
 * *is_free: the file was damaged, and is in the quarantine now. */
static int judge_existing(ics_unit *unit, const json_t *metadata, bool *is_free,
                          icestream_error *error)
{
    const icestream_error found = *error;
    icestream_error why;
    ics_hit_verdict verdict = ICS_HITS_MISSING;
    *error = (icestream_error){.status = ICESTREAM_OK};
    int status = ICESTREAM_OK;
    ics_unit_look_for_claim(unit);
    if (!unit->work->lost) {
        status = ics_unit_judge_hits(unit, metadata, &verdict, &why, error);
    }
    if (status == ICESTREAM_E_INPUT) { /* the output is bad, not the step file */
        status = error->status = ICESTREAM_E_OUTPUT;
    }
    if (status != ICESTREAM_OK || unit->work->lost) {
        return status;
    }
    if (verdict == ICS_HITS_MATCH) { /* the earlier attempt may have failed before the name was
                                        synced */
        return ics_output_sync_folder(unit->output, error);
    }
    const bool resumes = unit->input->stream && unit->common->options->resume;
    if (verdict == ICS_HITS_UNSOUND && (unit->claim.name != NULL || resumes)) {
        status = ics_unit_quarantine_hits(unit, why.text, error);
        *is_free = !unit->work->lost;
        return status;
    }
    if (resumes) {
        ics_error_set(error, ICESTREAM_E_OUTPUT,
                      "%s: --resume does not replace finished hits of another message or of other "
                      "settings: choose another sink.directory, or replace them with --force",
                      unit->name);
        return ics_error_add(error, ICESTREAM_E_OUTPUT, "%s", why.text);
    }
    return unit->claim.name != NULL
               ? ics_error_set(error, ICESTREAM_E_INPUT,
                               "%s: found hits of another input or of other settings in %s, which "
                               "was made during this run, expected none (--force overwrites)",
                               unit->name, unit->output)
               : ics_error_copy(error, &found);
}

/* With --resume the reader has compared the output with the step file (unit.c). The digest of a
 * message is known at its end, so an output of a message is compared when it is in the way. */
static bool may_replace(const ics_unit *unit)
{
    const icestream_run_options *options = unit->common->options;
    return options->force || (options->resume && !unit->input->stream);
}

/* Gives the writer the waveforms of all hits, and notes how many hits they have. */
static int put_waveforms(const ics_unit *unit, ics_table_writer *writer, json_t *metadata,
                         icestream_error *error)
{
    const ics_unit_common *common = unit->common;
    ics_bin_totals totals;
    ICS_TRY(ics_waveform_rows_write(unit->work->collector, &common->origin.bins, writer,
                                    &common->cancel, &totals, error));
    return ics_hit_bins_store_hits(&common->origin.bins, &unit->account, totals.hits, metadata,
                                   error);
}

/* Gives the writer all hits: at once, if they are in the order of rows already, else merged. */
static int put_hits(const ics_unit *unit, ics_table_writer *writer, icestream_error *error)
{
    ics_collector *collector = unit->work->collector;
    ics_collected_rows rows;
    bool taken = false, adopted = false;
    ICS_TRY(ics_collector_take_rows(collector, &rows, &taken, error));
    if (taken) {
        int status =
            ics_table_writer_adopt(writer, rows.file, rows.count, &rows.sums, &adopted, error);
        ics_trailer_checksums_free(&rows.sums);
        ICS_TRY(status);
    }
    return adopted ? ICESTREAM_OK
                   : ics_collector_merge(collector, append_to_file, writer, &unit->common->cancel,
                                         error);
}

/* Puts the hits into the .part file of the output, and gives it its final name unless the claim is
 * lost. */
static int write_table(ics_unit *unit, json_t *metadata, icestream_error *error)
{
    ics_unit_common *common = unit->common;
    const bool has_bins = common->origin.bins.width > 0;
    /* For a claimed file the reader has checked whether the output exists (unit.c). */
    bool replace = may_replace(unit);
    ics_table_writer *writer = NULL;
    int status = ics_table_writer_create_as(
        unit->output, unit->claim.name != NULL ? common->writer : NULL,
        has_bins ? ics_layout_waveforms() : ics_layout_hits(), replace, &writer, error);
    if (status == ICESTREAM_OK && unit->claim.name == NULL) {
        ics_table_writer_expect(writer, &unit->replaces);
    }
    if (status == ICESTREAM_OK) {
        status =
            has_bins ? put_waveforms(unit, writer, metadata, error) : put_hits(unit, writer, error);
    }
    if (status == ICESTREAM_OK) {
        ics_unit_look_for_claim(unit);
    }
    if (status == ICESTREAM_OK && !unit->work->lost && ics_config_delivers(common->config)) {
        status = ics_command_pending_set(unit->output, error);
        unit->command_pending = status == ICESTREAM_OK;
    }
    if (status == ICESTREAM_OK && !unit->work->lost) {
        status = ics_table_writer_commit(writer, metadata, error);
    }
    ics_table_writer_destroy(writer);
    return status;
}

static int write_file(ics_unit *unit, icestream_error *error)
{
    json_t *metadata = NULL;
    int status = ics_unit_origin(unit, &metadata, error);
    if (status == ICESTREAM_OK) {
        status = ics_metadata_set_account(metadata, &unit->account, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_metadata_set_maths(metadata, unit->maths, error);
    }
    if (status == ICESTREAM_OK && unit->common->content != NULL) {
        status = ics_metadata_set_detection(metadata, unit->common->content, &unit->account, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_metadata_set_light_mismatch(metadata, unit->light_mismatch, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_collector_put_histograms(unit->work->collector, metadata, error);
    }
    if (status == ICESTREAM_OK) {
        ics_unit_look_for_claim(unit);
    }
    if (status == ICESTREAM_OK && !unit->work->lost) {
        status = write_table(unit, metadata, error);
    }
    if (status != ICESTREAM_OK && error->cause == EEXIST) {
        bool is_free = false;
        status = judge_existing(unit, metadata, &is_free, error);
        if (status == ICESTREAM_OK && is_free) {
            status = write_table(unit, metadata, error);
        }
    }
    json_decref(metadata);
    return status;
}

/* Standard output may be a pipe that nobody reads at the moment. A write of PIPE_BUF bytes after a
 * poll never blocks, so that the run can be cancelled at any time. */
static int write_to_stdout(const ics_unit *unit, const void *data, size_t size,
                           icestream_error *error)
{
    const char *bytes = data;
    while (size > 0) {
        if (atomic_load(&unit->common->cancel)) {
            return ics_error_set(error, ICESTREAM_E_INTERRUPTED, "interrupted while writing hits");
        }
        struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
        if (poll(&output, 1, POLL_MILLISECONDS) == 0) {
            continue;
        }
        ssize_t put = write(STDOUT_FILENO, bytes, size < PIPE_BUF ? size : PIPE_BUF);
        if (put < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (put < 0) {
            return ics_error_set(error, ICESTREAM_E_OUTPUT,
                                 "standard output: cannot write hits: %s", strerror(errno));
        }
        bytes += put;
        size -= (size_t)put;
    }
    return ICESTREAM_OK;
}

static int append_to_stdout(void *user, const icestream_hit *hits, size_t count,
                            icestream_error *error)
{
    return write_to_stdout(user, hits, count * sizeof *hits, error);
}

/* The number of hits is known before the first hit is written. So a message of any size is merged
 * directly into the pipe. */
static int write_message(ics_unit *unit, icestream_error *error)
{
    unsigned char header[ICS_NPY_OWN_HEADER];
    ics_npy_write_header(ics_layout_hits(), ics_collector_count(unit->work->collector), header);
    int status = write_to_stdout(unit, header, sizeof header, error);
    if (status == ICESTREAM_OK) {
        status = ics_collector_merge(unit->work->collector, append_to_stdout, unit,
                                     &unit->common->cancel, error);
    }
    return status;
}

static void measure_output(ics_unit *unit)
{
    struct stat about;
    if (unit->output != NULL && stat(unit->output, &about) == 0) {
        unit->output_bytes = (uint64_t)about.st_size;
        icestream_error error = {.status = ICESTREAM_OK};
        if (unit->common->config->sink.digest &&
            ics_output_digest_in_parts(unit->output, unit->output_digest, &error) != ICESTREAM_OK) {
            ics_unit_leave_notice(unit, "%s; the journal has no output_digest", error.text);
        }
    }
}

/* The hits of waveforms are counted when they are written. */
static int check_account(const ics_unit *unit, icestream_error *error)
{
    const icestream_account *account = &unit->account;
    const uint64_t rows = unit->common->origin.bins.width > 0
                              ? account->hits - account->undetected
                              : ics_collector_count(unit->work->collector);
    return ics_batch_account_check(account, unit->summary.photons, rows, error);
}

void ics_unit_write(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_unit *unit = unit_of_writer_job(job);
    icestream_error *error = &unit->work->write_error;
    *error = (icestream_error){.status = ICESTREAM_OK};
    unit->work->blocked = false;
    if (ics_unit_open_collector(unit, error) == ICESTREAM_OK &&
        check_account(unit, error) == ICESTREAM_OK) {
        if (unit->common->to_stdout) {
            write_message(unit, error);
        } else {
            write_file(unit, error);
        }
    }
    if (error->status == ICESTREAM_OK && !unit->work->lost) {
        measure_output(unit);
        ics_unit_append_line(unit, ICS_EVENT_DONE, unit->output);
        ics_unit_remove_checkpoint(unit);
    }
    ics_unit_give_way(unit, error);
    if (!ics_error_may_pass(error) && !unit->work->blocked) {
        ics_collector_destroy(unit->work->collector);
        unit->work->collector = NULL;
    }
}

/* A file that is not claimed stays where it is. Only the reason goes to the quarantine, if the run
 * keeps records. A list of particles has no reason there, because the error of the run has it. */
static int note_reason(const ics_unit *unit, icestream_error *error)
{
    const ics_quarantine quarantine = {.folder = unit->common->quarantine};
    const char *path = unit->input->stream || unit->input->generated ? NULL : unit->input->path;
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : path;
    const icestream_config *config = unit->common->config;
    const bool keeps = config->sink.records || config->sink.quarantine != NULL;
    if (unit->claim.name != NULL || name == NULL || quarantine.folder == NULL || !keeps ||
        unit->refusal == NULL) {
        return ICESTREAM_OK;
    }
    return ics_quarantine_note(&quarantine, name, unit->refusal, NULL, error);
}

void ics_unit_discard(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_unit *unit = unit_of_writer_job(job);
    ics_collector_destroy(unit->work->collector);
    unit->work->collector = NULL;
    unit->work->write_error = (icestream_error){.status = ICESTREAM_OK};
    ics_unit_remove_checkpoint(unit);
    note_reason(unit, &unit->work->write_error);
}
