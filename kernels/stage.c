#include "kernels/stage.h"

#include "kernels/cache_directory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *is_stage_name(is_stage stage)
{
    static const char *const names[IS_STAGES] = {
        [IS_STAGE_CREATE] = "create",
        [IS_STAGE_PROPAGATE] = "propagate",
        [IS_STAGE_COLLIDE] = "collide",
        [IS_STAGE_SCATTER] = "scatter",
    };
    return names[stage];
}

/* The first line that includes a file by its absolute name, 0: there is none. Relative names other
 * than icestream's are not found by the compiler. */
static int absolute_include(const char *text)
{
    int line = 1;
    for (const char *at = text; at; ++line) {
        at += strspn(at, " \t");
        if (*at == '#') {
            at += 1 + strspn(at + 1, " \t");
            if (strncmp(at, "include", 7) == 0) {
                at += 7 + strspn(at + 7, " \t");
                if (strncmp(at, "\"/", 2) == 0 || strncmp(at, "</", 2) == 0)
                    return line;
            }
        }
        at = strchr(at, '\n');
        if (at)
            ++at;
    }
    return 0;
}

int is_stage_header_read(const char *path, char **text, char *why, size_t why_size)
{
    size_t size = 0;
    char *bytes = NULL;
    if (is_cache_read(path, &bytes, &size, why, why_size) != 0)
        return -1;
    const int line = absolute_include(bytes);
    if (strlen(bytes) != size)
        snprintf(why, why_size, "%s: expected a text, found a zero byte", path);
    else if (line != 0)
        snprintf(why, why_size,
                 "%s(%d): error: a stage header can include the headers of icestream "
                 "(\"stages/...\"), no other files",
                 path, line);
    else {
        *text = bytes;
        return 0;
    }
    free(bytes);
    return -1;
}
