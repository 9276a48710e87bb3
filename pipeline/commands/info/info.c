/* icestream_info: describes files of steps, hits, paths, waveforms, tables, weights or derivatives,
 * and can check all of them. */
#include "base/error.h"
#include "base/plural.h"
#include "pipeline/commands/info/checkpoint.h"
#include "pipeline/commands/info/description.h"
#include "pipeline/commands/info/table.h"
#include "pipeline/commands/info/weights.h"
#include "pipeline/photons/files/step_reader.h"
#include "pipeline/photons/files/stream_output.h"
#include "pipeline/photons/files/waveform_check.h"
#include "pipeline/photons/provenance/hit_check.h"
#include "pipeline/photons/table/file.h"
#include "pipeline/production/checkpoint/about.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { SPECTRA_ANY = 256 };

static int verify_steps(const char *path, icestream_error *error)
{
    ICS_DESTROYS(ics_step_reader_destroy) ics_step_reader *reader = NULL;
    ics_step_summary summary;
    ICS_TRY(ics_step_reader_open(path, SPECTRA_ANY, &reader, error));
    return ics_step_reader_check(reader, &summary, NULL, error);
}

/* ---- files ------------------------------------------------------------------------------------
 */

/* The sums over files of one kind. */
typedef struct kind_total {
    const ics_layout *schema; /* NULL: no file of this kind yet */
    uint64_t files, rows, photons;
    ics_weight_sum weights;
} kind_total;

enum { KINDS = 8 };

typedef struct report {
    bool verify, json, is_list;
    FILE *out;
    kind_total totals[KINDS];
    uint64_t tables, sums; /* of photon tables */
    size_t files, bad;
} report;

static void add_to_total(report *to, const ics_description *about)
{
    for (size_t i = 0; i < KINDS; ++i) {
        kind_total *total = &to->totals[i];
        if (total->schema == NULL || total->schema == about->schema) {
            total->schema = about->schema;
            total->files += 1;
            total->rows += about->rows;
            total->photons += about->photons;
            ics_weight_sum_join(&total->weights, &about->weights);
            return;
        }
    }
}

static void print_total(const report *of)
{
    fprintf(of->out, "total: %zu file%s", of->files, ics_plural_s(of->files));
    if (of->bad > 0) {
        fprintf(of->out, ", %zu of them cannot be used", of->bad);
    }
    fputc('\n', of->out);
    for (size_t i = 0; i < KINDS && of->totals[i].schema != NULL; ++i) {
        const kind_total *total = &of->totals[i];
        fprintf(of->out, "  %-14s %" PRIu64 " file%s, %" PRIu64 " row%s", total->schema->short_name,
                total->files, ics_plural_s(total->files), total->rows, ics_plural_s(total->rows));
        if (total->schema == ics_layout_steps()) {
            fprintf(of->out, ", %" PRIu64 " photon%s", total->photons,
                    ics_plural_s(total->photons));
        } else if (total->schema == ics_layout_hits()) {
            char text[ICS_WEIGHT_TEXT];
            fprintf(of->out, ", weights %s",
                    ics_weight_estimate_text(ics_weight_sum_estimate(&total->weights), text));
        }
        fputc('\n', of->out);
    }
    if (of->tables > 0) {
        fprintf(of->out, "  %-14s %" PRIu64 " file%s, %" PRIu64 " sums\n", "table", of->tables,
                of->tables == 1 ? "" : "s", of->sums);
    }
}

static int report_table(report *to, const char *path, const char *npy, icestream_error *error)
{
    const ics_info_form form = {to->verify, to->json, to->is_list};
    uint64_t sums = 0;
    ICS_TRY(ics_info_table(path, npy, form, to->out, &sums, error));
    to->tables += 1;
    to->sums += sums;
    return ICESTREAM_OK;
}

/* `path` is the name for people, and `npy` the file to read. */
static int report_npy(report *to, const char *path, const char *npy, icestream_error *error)
{
    if (ics_table_file_is(npy)) {
        return report_table(to, path, npy, error);
    }
    if (ics_info_weights_is(npy)) {
        const ics_info_form form = {to->verify, to->json, to->is_list};
        return ics_info_weights(path, npy, form, to->out, error);
    }
    ics_description about = {0};
    int status = ics_description_read(npy, &about, error);
    if (!status && to->verify) {
        status = about.schema == ics_layout_steps()  ? verify_steps(npy, error)
                 : about.schema == ics_layout_hits() ? ics_hit_check_file(npy, error)
                 : about.schema == ics_layout_waveforms()
                     ? ics_waveform_check_file(npy, true, NULL, error)
                     : ICESTREAM_OK; /* the description has checked the checksums */
    }
    about.verified = to->verify;
    if (!status) {
        add_to_total(to, &about);
    }
    if (!status && to->json) {
        status = ics_description_print_json(path, &about, to->is_list, to->out, error);
    } else if (!status) {
        ics_description_print(path, &about, to->out);
    }
    ics_description_free(&about);
    return status;
}

/* Describes a temporary file by the name of what it was made of, and closes it. `made`: the result
 * of making it, with its `reason`. */
static int report_temporary(report *to, const char *path, int descriptor, int made,
                            icestream_error *reason, icestream_error *error)
{
    char npy[64];
    int status = made;
    snprintf(npy, sizeof npy, "/proc/self/fd/%d", descriptor);
    if (!status) {
        status = report_npy(to, path, npy, reason);
    }
    close(descriptor);
    if (strncmp(reason->text, npy, strlen(npy)) == 0) {
        return ics_error_set_cause(error, status, reason->cause, "%s%s", path,
                                   reason->text + strlen(npy));
    }
    return ics_error_copy(error, reason);
}

/* Standard input is one file or one message. */
static int report_input(report *to, icestream_error *error)
{
    int descriptor = -1;
    icestream_error reason = {.text = ""};
    ICS_TRY(ics_stream_output_keep_input(&descriptor, error));
    return report_temporary(to, "standard input", descriptor, ICESTREAM_OK, &reason, error);
}

static int report_checkpoint(const report *to, const char *path, icestream_error *error)
{
    return to->verify
               ? ics_error_set(
                     error, ICESTREAM_E_INPUT,
                     "%s: found a checkpoint, expected steps, hits, paths, waveforms or "
                     "a table for --verify; the run that continues from a checkpoint checks it",
                     path)
               : ics_info_checkpoint(path, to->json, to->is_list, to->out, error);
}

static int report_file(report *to, const char *path, icestream_error *error)
{
    if (strcmp(path, "-") == 0) {
        return report_input(to, error);
    }
    if (ics_checkpoint_about_is(path)) {
        return report_checkpoint(to, path, error);
    }
    return report_npy(to, path, path, error);
}

static int finish_output(FILE *out, icestream_error *error)
{
    return fflush(out) == 0 && !ferror(out)
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_OUTPUT, "the description cannot be written");
}

int icestream_info(const char *path, bool verify, bool json, FILE *out, icestream_error *error)
{
    report one = {.verify = verify, .json = json, .out = out};
    ICS_TRY(report_file(&one, path, error));
    return finish_output(out, error);
}

int icestream_info_files(const char *const *paths, size_t count, bool verify, bool json, FILE *out,
                         icestream_error *error)
{
    report all = {.verify = verify, .json = json, .is_list = true, .out = out, .files = count};
    size_t faults = 0;
    int worst = ICESTREAM_OK;
    if (error != NULL) {
        *error = (icestream_error){.text = ""};
    }
    for (size_t i = 0; i < count; ++i) {
        icestream_error reason = {.text = ""};
        const int status = report_file(&all, paths[i], &reason);
        if (status == ICESTREAM_OK) {
            continue;
        }
        if (status != ICESTREAM_E_INPUT && status != ICESTREAM_E_FAILED) {
            return ics_error_copy(error, &reason);
        }
        all.bad += 1;
        worst = worst == ICESTREAM_E_FAILED ? worst : status;
        ics_error_add_counted(error, &faults, status, "info", "%s", reason.text);
    }
    if (!json) {
        print_total(&all);
    }
    if (error != NULL) {
        error->status = worst;
    }
    icestream_error reason = {.text = ""};
    return finish_output(out, &reason) == ICESTREAM_OK ? worst : ics_error_copy(error, &reason);
}
