#include "pipeline/commands/info/checkpoint.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "base/json_text.h"
#include "base/visible_text.h"
#include "pipeline/production/checkpoint/about.h"

#include <stdlib.h>

static void print_text(const char *path, const json_t *about, FILE *out)
{
    static const char *const names[] = {"file", "worker", "host", "time"};
    const json_t *origin = json_object_get(about, "origin");
    char line[512];
    const char *key;
    json_t *value;
    ics_visible_print(out, path);
    ics_checkpoint_about_text(about, line, sizeof line);
    fputs(": checkpoint\n  ", out);
    ics_visible_print(out, line);
    fputc('\n', out);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char *text = json_string_value(json_object_get(about, names[i]));
        fprintf(out, "  %-14s ", names[i]);
        ics_visible_print(out, text != NULL ? text : "unknown");
        fputc('\n', out);
    }
    json_object_foreach((json_t *)(uintptr_t)origin, key, value)
    {
        ICS_FREES char *text = ics_json_dump(value, JSON_ENCODE_ANY);
        fprintf(out, "  %-14s ", key);
        ics_visible_print(out, text != NULL ? text : "?");
        fputc('\n', out);
    }
}

int ics_info_checkpoint(const char *path, bool json, bool is_list, FILE *out,
                        icestream_error *error)
{
    json_auto_t *about = NULL;
    ICS_TRY(ics_checkpoint_about(path, &about, error));
    json_object_set_new(about, "kind", json_string("checkpoint"));
    if (!json) {
        print_text(path, about, out);
        return ICESTREAM_OK;
    }
    ICS_FREES char *text = ics_json_dump(about, is_list ? JSON_COMPACT : JSON_INDENT(2));
    if (text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    fprintf(out, "%s\n", text);
    return ICESTREAM_OK;
}
