/* A unit as a source and a sink of the engine (pipeline/photons/engine), and the other work of its
 * writer.
 */
#include "base/container.h"
#include "base/error.h"
#include "pipeline/production/spool/quarantine.h"
#include "pipeline/production/units/sources.h"
#include "pipeline/production/units/unit.h"

#include <string.h>
#include <sys/stat.h>

/* ---- batches --------------------------------------------------------------------------------- */

uint64_t ics_unit_photons(const ics_unit *unit)
{
    return unit->input->source->repeats ? unit->summary.photons : UINT64_MAX;
}

int ics_unit_read(void *user, icestream_step *steps, size_t capacity, size_t *got,
                  icestream_error *error)
{
    ics_unit *unit = user;
    if (unit->work->propagation.skips) {
        *got = 0;
        return unit->input->source->skip(unit, error);
    }
    return unit->input->source->read(unit, steps, capacity, got, error);
}

int ics_unit_store(void *user, ics_batch *batch, icestream_error *error)
{
    ics_unit *unit = user;
    if (ics_unit_open_collector(unit, error) == ICESTREAM_OK) {
        ics_unit_save_batch(unit, batch);
        const ics_photon_interval photons = {batch->first_photon,
                                             batch->first_photon + batch->photons};
        ics_collector_add_photons(unit->work->collector, batch->photon_cells, batch->large_cells,
                                  batch->steps, batch->emissions, batch->count);
        ics_collector_add_batch(unit->work->collector, batch->hits, batch->hit_count, photons,
                                error);
        batch->hits = NULL;
        ics_unit_give_way(unit, error);
    }
    if (error->status != ICESTREAM_E_MEMORY) { /* else the collector lacks hits */
        ics_unit_save_if_due(unit);
    }
    return error->status;
}

/* ---- all hits -------------------------------------------------------------------------------- */

static ics_unit *unit_of_writer_job(ics_job *job)
{
    return ICS_CONTAINER_OF(job, ics_unit, writer_job);
}

int ics_unit_spill(ics_unit *unit, icestream_error *error)
{
    ics_collector *collector = unit->work->collector; /* NULL: the unit is read again */
    int status = collector != NULL ? ics_collector_add(collector, NULL, 0, error) : ICESTREAM_OK;
    ics_unit_give_way(unit, error);
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
        unit->common->sink->write(unit, error);
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
    const ics_source *source = unit->input->source;
    const char *path = source->repeats && !source->makes ? unit->input->path : NULL;
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
