#include "kernels/stage.h"

#include "kernels/cache/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ics_stage_name(ics_stage stage)
{
    static const char *const names[ICS_STAGES] = {
        [ICS_STAGE_CREATE] = "create",
        [ICS_STAGE_PROPAGATE] = "propagate",
        [ICS_STAGE_COLLIDE] = "collide",
        [ICS_STAGE_SCATTER] = "scatter",
    };
    return names[stage];
}

/* The first line that includes a file by its absolute name, 0: there is none. Relative names other
 * than icestream's are not found by the compiler. */
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

int ics_stage_header_read(const char *path, char **text, char *why, size_t why_size)
{
    size_t size = 0;
    char *bytes = NULL;
    if (ics_cache_read(path, &bytes, &size, why, why_size) != 0) {
        return -1;
    }
    const int line = absolute_include(bytes);
    if (strlen(bytes) != size) {
        snprintf(why, why_size, "%s: expected a text, found a zero byte", path);
    } else if (line != 0) {
        snprintf(why, why_size,
                 "%s(%d): error: a stage header can include the headers of icestream "
                 "(\"stages/...\"), no other files",
                 path, line);
    } else {
        *text = bytes;
        return 0;
    }
    free(bytes);
    return -1;
}
