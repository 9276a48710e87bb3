#include "pipeline/commands/info/table.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/json_text.h"
#include "pipeline/photons/provenance/output_digest.h"
#include "pipeline/photons/table/about.h"
#include "pipeline/photons/table/file.h"

#include <inttypes.h>
#include <stdlib.h>

/* A file that was read a moment ago and cannot be read again is a faulty input. */
static int digest_of(const char *npy, char text[ICS_DIGEST_TEXT], icestream_error *error)
{
    icestream_error reason = {.text = ""};
    const int status = ics_output_digest_of(npy, text, &reason);
    return status == ICESTREAM_OK
               ? ICESTREAM_OK
               : ics_error_set_cause(
                     error, status == ICESTREAM_E_MEMORY ? ICESTREAM_E_MEMORY : ICESTREAM_E_INPUT,
                     reason.cause, "%s", reason.text);
}

static int print_json(const ics_table *table, const char *path, const char *digest, uint64_t sums,
                      ics_info_form form, FILE *out, icestream_error *error)
{
    json_auto_t *about = NULL;
    ICS_TRY(ics_table_about_json(table, &about, error));
    json_auto_t *object = json_pack("{s:o, s:s, s:s, s:I, s:s, s:b}", "file", ics_json_text(path),
                                    "format", "npy", "kind", "table", "rows", (json_int_t)sums,
                                    "sha256", digest, "verified", form.is_verified);
    const int failed = object == NULL ? -1 : json_object_update(object, about);
    ICS_FREES char *text =
        failed ? NULL : ics_json_dump(object, form.is_list ? JSON_COMPACT : JSON_INDENT(2));
    if (text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    fprintf(out, "%s\n", text);
    return ICESTREAM_OK;
}

static void print_text(const ics_table *table, const char *path, const char *digest,
                       ics_info_form form, FILE *out)
{
    ics_table_about_print(table, path, out);
    fprintf(out, "  SHA-256         %s\n", digest);
    if (form.is_verified) {
        fputs("  verified: checksums, axes, metadata, every sum\n", out);
    }
}

int ics_info_table(const char *path, const char *npy, ics_info_form form, FILE *out, uint64_t *sums,
                   icestream_error *error)
{
    char digest[ICS_DIGEST_TEXT];
    ICS_DESTROYS(ics_table_destroy) ics_table *table = NULL;
    *sums = 0;
    ICS_TRY(ics_table_read(npy, &table, error));
    *sums = table->squares != NULL ? 2 * table->cells : table->cells;
    ICS_TRY(digest_of(npy, digest, error));
    if (form.json) {
        return print_json(table, path, digest, *sums, form, out, error);
    }
    print_text(table, path, digest, form, out);
    return ICESTREAM_OK;
}
