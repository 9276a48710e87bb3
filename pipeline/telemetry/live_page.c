#include "pipeline/telemetry/live_page.h"

#include <string.h>

const char *ics_live_page_find(const char *path, const char **type)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".svg", "image/svg+xml"}};
    const char *wanted = strcmp(path, "/") == 0 ? "/live.html" : path;
    for (size_t i = 0; i < ics_live_page_file_count; ++i) {
        const char *name = strrchr(ics_live_page_files[i].name, '/');
        const char *ending = strrchr(name, '.');
        if (strcmp(wanted, name) != 0) {
            continue;
        }
        for (size_t j = 0; j < sizeof types / sizeof *types; ++j) {
            if (strcmp(ending, types[j][0]) == 0) {
                *type = types[j][1];
            }
        }
        return ics_live_page_files[i].text;
    }
    return NULL;
}
