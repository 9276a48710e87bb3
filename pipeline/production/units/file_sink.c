/* Hit files as a sink. */
#include "base/error.h"
#include "pipeline/photons/collect/waveform_rows.h"
#include "pipeline/photons/files/kernels_record.h"
#include "pipeline/photons/files/metadata.h"
#include "pipeline/photons/files/output.h"
#include "pipeline/photons/files/table_writer.h"
#include "pipeline/photons/provenance/hit_check.h"
#include "pipeline/production/units/command_pending.h"
#include "pipeline/production/units/damaged_hits.h"
#include "pipeline/production/units/sinks.h"
#include "pipeline/production/units/unit.h"

#include <errno.h>

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
    ics_unit_look_for_claim(unit);
    if (unit->work->lost) {
        return ICESTREAM_OK;
    }
    const int status = ics_unit_judge_hits(unit, metadata, &verdict, &why, error);
    if (status == ICESTREAM_E_INPUT) { /* the output is bad, not the step file */
        return error->status = ICESTREAM_E_OUTPUT;
    }
    ICS_TRY(status);
    if (verdict == ICS_HITS_MATCH) { /* the earlier attempt may have failed before the name was
                                        synced */
        return ics_output_sync_folder(unit->output, error);
    }
    const bool resumes = !unit->input->source->repeats && unit->common->options->resume;
    if (verdict == ICS_HITS_UNSOUND && (unit->claim.name != NULL || resumes)) {
        ICS_TRY(ics_unit_quarantine_hits(unit, why.text, error));
        *is_free = !unit->work->lost;
        return ICESTREAM_OK;
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
    return options->force || (options->resume && unit->input->source->repeats);
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
static int fill_table(ics_unit *unit, ics_table_writer *writer, json_t *metadata,
                      icestream_error *error)
{
    const ics_unit_common *common = unit->common;
    if (unit->claim.name == NULL) {
        ics_table_writer_expect(writer, &unit->replaces);
    }
    ICS_TRY(common->origin.bins.width > 0 ? put_waveforms(unit, writer, metadata, error)
                                          : put_hits(unit, writer, error));
    ics_unit_look_for_claim(unit);
    if (unit->work->lost) {
        return ICESTREAM_OK;
    }
    if (ics_config_delivers(common->config)) {
        ICS_TRY(ics_command_pending_set(unit->output, error));
        unit->command_pending = true;
    }
    return ics_table_writer_commit(writer, metadata, error);
}

static int write_table(ics_unit *unit, json_t *metadata, icestream_error *error)
{
    const ics_unit_common *common = unit->common;
    ics_table_writer *writer = NULL;
    /* For a claimed file the reader has checked whether the output exists (unit.c). */
    ICS_TRY(ics_table_writer_create_as(
        unit->output, unit->claim.name != NULL ? common->writer : NULL,
        common->origin.bins.width > 0 ? ics_layout_waveforms() : ics_layout_hits(),
        may_replace(unit), &writer, error));
    const int status = fill_table(unit, writer, metadata, error);
    ics_table_writer_destroy(writer);
    return status;
}

static int describe(const ics_unit *unit, json_t *metadata, icestream_error *error)
{
    const char *content = unit->common->content;
    ICS_TRY(ics_metadata_set_account(metadata, &unit->account, error));
    ICS_TRY(ics_metadata_set_maths(metadata, unit->maths, error));
    ICS_TRY(ics_kernels_record_set(metadata, &unit->kernels, error));
    if (content != NULL) {
        ICS_TRY(ics_metadata_set_detection(metadata, content, &unit->account, error));
    }
    ICS_TRY(ics_metadata_set_light_mismatch(metadata, unit->light_mismatch, error));
    return ics_collector_put_histograms(unit->work->collector, metadata, error);
}

static int write_file(ics_unit *unit, icestream_error *error)
{
    bool is_free = false;
    json_auto_t *metadata = NULL;
    ICS_TRY(ics_unit_origin(unit, &metadata, error));
    ICS_TRY(describe(unit, metadata, error));
    ics_unit_look_for_claim(unit);
    if (unit->work->lost) {
        return ICESTREAM_OK;
    }
    const int status = write_table(unit, metadata, error);
    if (status == ICESTREAM_OK || error->cause != EEXIST) {
        return status;
    }
    ICS_TRY(judge_existing(unit, metadata, &is_free, error));
    return is_free ? write_table(unit, metadata, error) : ICESTREAM_OK;
}

const ics_sink ics_sink_files = {.files = true, .write = write_file};
