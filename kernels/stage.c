#include "kernels/stage.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "kernels/cache/cache.h"
#include "kernels/stage_scan.h"

#include <stdio.h>
#include <string.h>

const char *ics_stage_name(ics_stage stage)
{
    static const char *const names[ICS_STAGES] = {
        [ICS_STAGE_CREATE] = "create",     [ICS_STAGE_PROPAGATE] = "propagate",
        [ICS_STAGE_COLLIDE] = "collide",   [ICS_STAGE_SCATTER] = "scatter",
        [ICS_STAGE_TABULATE] = "tabulate",
    };
    return names[stage];
}

/* Returns the number of the first line that includes a file by its absolute path, and 0 if there is
 * none. Relative paths need no check: the compiler finds only the headers of icestream by them. */
static int absolute_include(const char *text)
{
    int line = 1;
    for (const char *at = text; at != NULL; ++line) {
        at += strspn(at, " \t");
        if (*at == '#') {
            at += 1 + strspn(at + 1, " \t");
            if (strncmp(at, "include", 7) == 0) {
                at += 7 + strspn(at + 7, " \t");
                if (strncmp(at, "\"/", 2) == 0 || strncmp(at, "</", 2) == 0) {
                    return line;
                }
            }
        }
        at = strchr(at, '\n');
        if (at != NULL) {
            ++at;
        }
    }
    return 0;
}

/* Refuses a text that no compiler should see. */
static int check_text(const char *path, const char *text, size_t size, icestream_error *error)
{
    char name[64];
    if (strlen(text) != size) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "%s: expected a text, found a zero byte",
                             path);
    }
    int line = absolute_include(text);
    if (line != 0) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s(%d): error: a stage header can include the headers of "
                             "icestream (\"stages/...\"), no other files",
                             path, line);
    }
    line = ics_stage_scan_state(text, name, sizeof name);
    return line == 0 ? ICESTREAM_OK
                     : ics_error_set(error, ICESTREAM_E_CONFIG,
                                     "%s(%d): error: found the variable '%s', which keeps its "
                                     "value between calls, expected none, or const: stages are "
                                     "called in any order",
                                     path, line, name);
}

int ics_stage_header_read(const char *path, char **text, icestream_error *error)
{
    size_t size = 0;
    ICS_FREES char *bytes = NULL;
    ICS_TRY(ics_cache_read(path, &bytes, &size, error));
    ICS_TRY(check_text(path, bytes, size, error));
    *text = bytes;
    bytes = NULL;
    return ICESTREAM_OK;
}
