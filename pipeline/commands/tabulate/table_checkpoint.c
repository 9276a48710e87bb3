#include "pipeline/commands/tabulate/table_checkpoint.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/visible_text.h"
#include "pipeline/photons/config/table.h"
#include "pipeline/photons/files/metadata.h"
#include "pipeline/photons/generator/light_settings.h"
#include "pipeline/photons/provenance/settings.h"
#include "pipeline/photons/table/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what a table depends on ----------------------------------------------------------------- */

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the checkpoint of a table");
}

/* The values of the keys that only tables depend on, for people. */
static int add_values(const ics_table_making *m, json_t *values)
{
    const ics_device_options *options = &m->options;
    const bool is_fast =
        options->backend == ICS_BACKEND_CUDA && options->graph.math == ICS_MATH_FAST;
    /* The content of a header is a value already. */
    const char *geometry = ics_config_tabulate(m->config) == ICS_TABULATE_CUSTOM
                               ? "a header"
                               : m->config->stages.tabulate;
    int failed = json_object_set_new(values, "stages.tabulate", json_string(geometry));
    failed |=
        json_object_set_new(values, "device.math", json_string(is_fast ? "fast" : "portable"));
    const char *key;
    for (size_t k = 0; (key = ics_config_table_key(k)) != NULL; ++k) {
        char *text = ics_config_value_text(m->config, key);
        failed |= text == NULL || json_object_set_new(values, key, json_string(text)) != 0;
        free(text);
    }
    return failed;
}

static int add_settings(const ics_table_making *m, json_t *origin, icestream_error *error)
{
    json_t *settings = NULL;
    json_auto_t *light = NULL;
    ICS_TRY(ics_origin_settings(m->config, m->world.models, &settings, error));
    /* The origin owns the settings afterwards, also if it has no memory for them. */
    if (json_object_set_new(origin, "settings", settings) != 0 ||
        add_values(m, json_object_get(settings, "values")) != 0) {
        return no_memory(error);
    }
    if (!m->generates) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_light_settings_make(m->config, &light, error));
    return ics_origin_add_light(origin, light, error);
}

/* Makes what the metadata of a checkpoint say about it. */
static int make_content(const ics_table_making *m, json_t **out, icestream_error *error)
{
    const ics_table_facts *facts = &m->table->facts;
    const ics_metadata_origin digests = {.seed = facts->seed,
                                         .configuration = facts->configuration,
                                         .ice = facts->ice,
                                         .detector = facts->detector,
                                         .input = m->part};
    char photons[24];
    json_auto_t *origin = NULL;
    snprintf(photons, sizeof photons, "%" PRIu64, m->steps.photons);
    ICS_TRY(ics_metadata_create(&digests, &origin, error));
    ICS_TRY(add_settings(m, origin, error));
    *out = json_pack("{s:s, s:O}", "photons", photons, "origin", origin);
    return *out != NULL ? ICESTREAM_OK : no_memory(error);
}

/* ---- reading --------------------------------------------------------------------------------- */

static const char *input_of(const json_t *origin)
{
    const char *text =
        json_string_value(json_object_get(json_object_get(origin, "digests"), "input"));
    return text != NULL ? text : "nothing";
}

/* Explains in which settings the checkpoint is that of another table. */
static int compare(const ics_table_checkpoint *checkpoint, const ics_table *found,
                   icestream_error *error)
{
    const char *path = checkpoint->path;
    const json_t *had = json_object_get(found->checkpoint, "origin");
    const json_t *wanted = json_object_get(checkpoint->content, "origin");
    json_auto_t *list = NULL;
    ICS_TRY(ics_settings_compare(had, wanted, &list, error));
    const size_t differences = json_array_size(list);
    /* Files of models may have got other names. */
    if (differences == 0 && ics_metadata_same_origin(had, wanted)) {
        return ICESTREAM_OK;
    }
    ics_error_set(error, ICESTREAM_E_OUTPUT,
                  "nothing was computed; a checkpoint of another table is not replaced: give the "
                  "settings of this checkpoint, choose another name of the table, or begin afresh "
                  "with --force");
    if (differences > 0) {
        ics_settings_explain(path, had, wanted, error);
    } else {
        ics_error_add(error, ICESTREAM_E_OUTPUT,
                      "%s: steps: found those with the digest %.16s, expected %.16s", path,
                      input_of(had), input_of(wanted));
    }
    return error->status = ICESTREAM_E_OUTPUT;
}

static int take_over(ics_table_checkpoint *checkpoint, ics_table *found, FILE *report,
                     icestream_error *error)
{
    ics_table_making *m = checkpoint->making;
    if (found->checkpoint == NULL) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT,
                             "%s: found a table that is complete, expected a checkpoint or no file",
                             checkpoint->path);
    }
    ICS_TRY(compare(checkpoint, found, error));
    ICS_TRY(ics_table_exchange_sums(m->table, "the table", found, checkpoint->path, error));
    m->work.stage.sums = (uint64_t *)m->table->sums;
    m->work.stage.squares = (uint64_t *)m->table->squares;
    checkpoint->photons = m->done = m->taken_over = found->photons;
    if (report != NULL) {
        fprintf(report, "continues  after %" PRIu64 " of %" PRIu64 " photons, which %s has\n",
                m->done, m->steps.photons, checkpoint->path);
    }
    return ICESTREAM_OK;
}

/* A damaged checkpoint is not used. One that the system cannot read may be good work. */
static int read_file(ics_table_checkpoint *checkpoint, FILE *report, icestream_error *error)
{
    ICS_DESTROYS(ics_table_destroy) ics_table *found = NULL;
    icestream_error why = {.status = ICESTREAM_OK};
    const int status = ics_table_read(checkpoint->path, &found, &why);
    if (status == ICESTREAM_OK) {
        return take_over(checkpoint, found, report, error);
    }
    if (status != ICESTREAM_E_INPUT || why.cause != 0) {
        ics_error_copy(error, &why);
        return error->status = status == ICESTREAM_E_INPUT ? ICESTREAM_E_OUTPUT : status;
    }
    if (report != NULL) {
        fprintf(report,
                "warning: %s; this checkpoint is not used: the table is made from its beginning\n",
                why.text);
    }
    return ICESTREAM_OK;
}

/* Sets *is_there, and refuses a file that must stay: one that cannot be read, which may be good
 * work, and one of somebody else. A name that is too long has no file; to write it fails with a
 * warning. */
static int find_file(const char *path, bool *is_there, icestream_error *error)
{
    struct stat about;
    *is_there = lstat(path, &about) == 0;
    const bool is_missing = !*is_there && (errno == ENOENT || errno == ENAMETOOLONG);
    if (is_missing || (*is_there && ics_table_file_is(path))) {
        return ICESTREAM_OK;
    }
    if (errno != 0) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                   "%s: cannot read the checkpoint: %s", path, strerror(errno));
    }
    return ics_error_set(error, ICESTREAM_E_OUTPUT,
                         "%s: found a file that icestream did not make, expected a checkpoint or "
                         "no file",
                         path);
}

int ics_table_checkpoint_open(ics_table_making *making, const char *output, bool force,
                              FILE *report, ics_table_checkpoint *out, icestream_error *error)
{
    bool is_there = false;
    *out = (ics_table_checkpoint){.making = making};
    if (strcmp(output, "-") == 0) {
        return ICESTREAM_OK;
    }
    if (asprintf(&out->path, "%s.checkpoint", output) < 0) {
        out->path = NULL;
        return no_memory(error);
    }
    out->is_used = making->config->table.checkpoint > 0.0;
    if (!out->is_used) {
        return ICESTREAM_OK;
    }
    ICS_TRY(make_content(making, &out->content, error));
    ICS_TRY(find_file(out->path, &is_there, error));
    return force || !is_there ? ICESTREAM_OK : read_file(out, report, error);
}

/* ---- writing --------------------------------------------------------------------------------- */

int ics_table_checkpoint_save(ics_table_checkpoint *checkpoint, icestream_error *error)
{
    const ics_table_making *m = checkpoint->making;
    const double start = ics_clock_seconds();
    ics_table now = *m->table; /* a copy that shares the sums */
    now.checkpoint = checkpoint->content;
    ICS_TRY(ics_table_making_count(m, m->done, &now, error));
    ICS_TRY(ics_table_write(&now, checkpoint->path, true, error));
    checkpoint->photons = m->done;
    checkpoint->seconds += ics_clock_seconds() - start;
    ++checkpoint->saves;
    return ICESTREAM_OK;
}

void ics_table_checkpoint_remove(ics_table_checkpoint *checkpoint, FILE *report)
{
    icestream_error why = {.status = ICESTREAM_OK};
    if (checkpoint->path == NULL) {
        return;
    }
    const bool is_there = ics_table_file_is(checkpoint->path);
    int status =
        is_there || checkpoint->is_used ? ics_output_clean(checkpoint->path, &why) : ICESTREAM_OK;
    if (is_there && unlink(checkpoint->path) != 0) {
        status = ics_error_set(&why, ICESTREAM_E_OUTPUT, "%s: cannot be removed: %s",
                               checkpoint->path, strerror(errno));
    }
    if (status != ICESTREAM_OK && report != NULL) {
        ics_visible_printf(report, "warning: %s; the table is complete\n", why.text);
    }
}

void ics_table_checkpoint_close(ics_table_checkpoint *checkpoint)
{
    json_decref(checkpoint->content);
    free(checkpoint->path);
}
