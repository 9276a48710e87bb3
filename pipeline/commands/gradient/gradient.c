/* icestream_gradient: derivatives of the weights of hits. */
#include "base/clock.h"
#include "base/error.h"
#include "base/visible_text.h"
#include "pipeline/commands/gradient/parameters.h"
#include "pipeline/commands/hits/output.h"
#include "pipeline/commands/measure/report.h"
#include "pipeline/photons/files/table_writer.h"
#include "pipeline/production/telemetry/task_progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 28 }; /* bytes of a row: hit, parameter, value, second */

static const ics_layout_field fields[] = {{"hit", {'u', 8}, 0, "1", 0},
                                          {"parameter", {'u', 4}, 8, "1", 0},
                                          {"value", {'f', 8}, 12, "that of the parameter", 0},
                                          {"second", {'f', 8}, 20, "that of the parameter", 0}};
static const ics_layout sparse = {.name = "icestream.gradient",
                                  .short_name = "gradient",
                                  .version = 1,
                                  .row_bytes = ROW,
                                  .coordinates = "none",
                                  .fields = fields,
                                  .field_count = sizeof fields / sizeof *fields};

typedef struct differentiator {
    const icestream_gradient_options *options;
    ics_made_run run;
    ics_gradient_keys keys;
    ics_table_writer *writer;
    unsigned char *rows; /* the rows of one hit */
    size_t filled;       /* sparse rows so far */
    uint64_t hit;
    uint64_t values; /* that are not 0 */
    double seconds;  /* that the replay took, with writing the file */
    ics_task_progress progress;
    icestream_error *error;
} differentiator;

static void put_value(void *self, uint32_t parameter, ics_gradient_value value)
{
    differentiator *d = self;
    d->values += 1;
    if (d->options->dense) {
        memcpy(d->rows + ICS_MADE_RUN_HEAD + parameter * sizeof(double), &value.first, 8);
        return;
    }
    unsigned char *row = d->rows + d->filled * ROW;
    memcpy(row, &d->hit, 8);
    memcpy(row + 8, &parameter, 4);
    memcpy(row + 12, &value, sizeof value);
    d->filled += 1;
}

static int put(void *self, const ics_replay_result *result)
{
    differentiator *d = self;
    const ics_progress_state state = {
        .photons = result->hit, .photons_total = (double)d->run.list.count, .hits = result->hit};
    ics_task_progress_show(&d->progress, &state);
    d->hit = result->hit;
    d->filled = 0;
    if (d->options->dense) {
        memset(d->rows, 0, ICS_MADE_RUN_HEAD + d->keys.parameters * sizeof(double));
        ics_made_run_head(&d->run.list.hits[result->hit], d->rows);
    }
    ics_gradient_of_hit(&d->run, &d->keys, result, put_value, d);
    return ics_table_writer_append(d->writer, d->rows, d->options->dense ? 1 : d->filled, d->error);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int write_rows(differentiator *d, const ics_layout *layout)
{
    json_auto_t *metadata = NULL;
    json_t *parameters = NULL;
    const ics_replay_sink sink = {put, d};
    ICS_TRY(ics_table_writer_create(d->options->output, layout, d->options->force, &d->writer,
                                    d->error));
    ics_task_progress_next(&d->progress, "replaying hits");
    const double start = ics_clock_seconds();
    const int status = ics_replay_hits(&d->run.replay, d->run.list.hits, d->run.steps,
                                       d->run.list.count, &sink, d->error);
    ics_task_progress_end(&d->progress);
    ICS_TRY(status);
    d->seconds = ics_clock_seconds() - start;
    ICS_TRY(ics_made_run_metadata(&d->run, &metadata, d->error));
    ICS_TRY(ics_gradient_describe(&d->run, &d->keys, &parameters, d->error));
    if (json_object_set_new(metadata, "parameters", parameters) != 0) {
        return ics_error_set(d->error, ICESTREAM_E_MEMORY, "gradient: out of memory for metadata");
    }
    return ics_table_writer_commit(d->writer, metadata, d->error);
}

static int write_dense(differentiator *d)
{
    ics_layout_field columns[ICS_MADE_RUN_HEAD_FIELDS + 1];
    const uint64_t bytes = ICS_MADE_RUN_HEAD + d->keys.parameters * sizeof(double);
    const uint64_t all = bytes * d->run.list.count;
    const ics_layout layout = {.name = "icestream.gradients",
                               .short_name = "gradients",
                               .version = 1,
                               .row_bytes = (uint32_t)bytes,
                               .coordinates = "none",
                               .fields = columns,
                               .field_count = ICS_MADE_RUN_HEAD_FIELDS + 1};
    if (all > d->options->dense_limit) {
        return ics_error_set(d->error, ICESTREAM_E_USAGE,
                             "--dense: found %zu hits and %u parameters, which make a file of "
                             "%" PRIu64 " bytes, expected at most %" PRIu64
                             "; without --dense the file has only derivatives that are not 0, and "
                             "--dense=%" PRIu64 " writes it all the same",
                             d->run.list.count, d->keys.parameters, all, d->options->dense_limit,
                             all);
    }
    ics_made_run_fields("gradient", d->keys.parameters, columns);
    return write_rows(d, &layout);
}

static int differentiate(differentiator *d, const icestream_config *config, FILE *out)
{
    const icestream_gradient_options *options = d->options;
    const ics_made_run_options made = {.hits = options->hits,
                                       .hit_count = options->hit_count,
                                       .steps = options->steps,
                                       .backend = options->backend};
    ICS_TRY(ics_hits_output_check("gradient", options->output, options->hits, options->hit_count,
                                  d->error));
    ICS_TRY(ics_made_run_create(config, &made, &d->run, d->error));
    ICS_TRY(ics_gradient_keys_create(&d->run, options->parameters, options->parameter_count,
                                     &d->keys, d->error));
    d->run.replay.sums = true;
    d->run.replay.angles = d->keys.angles;
    d->run.replay.targets = d->keys.targets;
    d->run.replay.target_count = d->keys.target_count;
    d->rows = malloc(ICS_MADE_RUN_HEAD + (size_t)d->keys.parameters * ROW);
    if (d->rows == NULL) {
        return ics_error_set(d->error, ICESTREAM_E_MEMORY, "gradient: out of memory for rows");
    }
    ICS_TRY(options->dense ? write_dense(d) : write_rows(d, &sparse));
    ics_visible_printf(
        out, "%s: ", strcmp(options->output, "-") == 0 ? "standard output" : options->output);
    fprintf(out,
            "%" PRIu64 " derivatives that are not 0, of %zu hits of %" PRIu64
            " photons by %u parameters in %.3g s\n",
            d->values, d->run.list.count, d->run.photon_count, d->keys.parameters, d->seconds);
    return ics_report_end("gradient", out, d->error);
}

int icestream_gradient(const icestream_config *config, const icestream_gradient_options *options,
                       FILE *out, icestream_error *error)
{
    differentiator d = {
        .options = options, .progress = ics_task_progress_begin(options->progress), .error = error};
    const int status = differentiate(&d, config, out);
    ics_table_writer_destroy(d.writer);
    free(d.rows);
    ics_gradient_keys_free(&d.keys);
    ics_made_run_free(&d.run);
    return status;
}
