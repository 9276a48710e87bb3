#include "pipeline/commands/merge/hit_names.h"

#include "base/error.h"
#include "base/new.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static int select_hit_file(const struct dirent *entry)
{
    return fnmatch("*.hits.npy", entry->d_name, FNM_PERIOD) == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int ics_hit_names_read(const char *folder, ics_hit_names *out, icestream_error *error)
{
    *out = (ics_hit_names){NULL, 0};
    const int count = scandir(folder, &out->items, select_hit_file, by_name);
    if (count < 0) {
        return ics_error_set_cause(error, ICESTREAM_E_INPUT, errno, "%s: cannot be read: %s",
                                   folder, strerror(errno));
    }
    out->count = (size_t)count;
    return ICESTREAM_OK;
}

void ics_hit_names_free(ics_hit_names *names)
{
    for (size_t i = 0; i < names->count; ++i) {
        free(names->items[i]);
    }
    free(names->items);
    *names = (ics_hit_names){NULL, 0};
}

char *ics_hit_names_path(const char *folder, const char *name)
{
    const size_t length = strlen(folder);
    const bool has_slash = length > 0 && folder[length - 1] == '/';
    return ics_new_text("%s%s%s", folder, has_slash ? "" : "/", name);
}
