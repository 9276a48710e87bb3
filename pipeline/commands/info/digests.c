#include "pipeline/commands/info/digests.h"

#include "base/error.h"
#include "base/json_text.h"
#include "base/visible_text.h"
#include "pipeline/photons/provenance/output_digest.h"

#include <jansson.h>

static int print_json(const char *path, const char *plain, const char *parts, FILE *out,
                      icestream_error *error)
{
    json_auto_t *json =
        json_pack("{s:o, s:s, s:s}", "file", ics_json_text(path), "sha256", plain, "digest", parts);
    return json != NULL && json_dumpf(json, out, JSON_COMPACT) == 0 && fputc('\n', out) != EOF
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_OUTPUT, "the digests cannot be written");
}

static void print_text(const char *path, const char *plain, const char *parts, FILE *out)
{
    ics_visible_print(out, path);
    fprintf(out, ":\n  %-14s %s\n", "SHA-256", plain);
    if (ics_parts_digest_has_parts(parts)) {
        fprintf(out, "  %-14s %s\n", "in parts", parts);
    }
}

static int digest_file(const char *path, bool json, FILE *out, icestream_error *error)
{
    char plain[ICS_DIGEST_TEXT], parts[ICS_PARTS_DIGEST_TEXT];
    ICS_TRY(ics_output_digest_of(path, plain, error));
    ICS_TRY(ics_output_digest_in_parts(path, parts, error));
    if (json) {
        return print_json(path, plain, parts, out, error);
    }
    print_text(path, plain, parts, out);
    return ICESTREAM_OK;
}

int ics_info_digests(const char *const *paths, size_t count, bool json, FILE *out,
                     icestream_error *error)
{
    size_t faults = 0;
    icestream_error reason = {.status = ICESTREAM_OK};
    for (size_t i = 0; i < count; ++i) {
        const int status = digest_file(paths[i], json, out, &reason);
        if (status == ICESTREAM_E_MEMORY) {
            return ics_error_copy(error, &reason);
        }
        if (status != ICESTREAM_OK) {
            ics_error_add_counted(error, &faults, ICESTREAM_E_INPUT, "info", "%s", reason.text);
        }
    }
    if (fflush(out) != 0 || ferror(out)) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT, "the digests cannot be written");
    }
    return faults > 0 ? ICESTREAM_E_INPUT : ICESTREAM_OK;
}
