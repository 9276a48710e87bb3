/* The files of a ppc folder that are not read. */
#include "base/error.h"
#include "pipeline/models/ice/ice_sources.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>

/* Files of ppc for features that icestream does not simulate. The names are patterns. */
static const struct {
    const char *name, *feature;
} unread[] = {
    {"om.wv_*", "other sensors"},
    {"str-f2k", "data of strings"},
};

static int select_unread(const struct dirent *entry)
{
    for (size_t i = 0; i < sizeof unread / sizeof *unread; ++i) {
        if (fnmatch(unread[i].name, entry->d_name, 0) == 0) {
            return 1;
        }
    }
    return 0;
}

static const char *feature_of(const char *name)
{
    size_t i = 0;
    while (fnmatch(unread[i].name, name, 0) != 0) {
        ++i;
    }
    return unread[i].feature;
}

int ics_ice_ppc_warn_of_unread(const char *directory, ics_warnings *warnings)
{
    struct dirent **entries;
    int status = ICESTREAM_OK;
    /* A folder whose files can be read, and whose names cannot, is no error. */
    const int count = scandir(directory, &entries, select_unread, alphasort);
    for (int i = 0; i < count; ++i) {
        if (status == ICESTREAM_OK) {
            status = ics_warnings_add(warnings, "not simulated yet: %s (%s)", entries[i]->d_name,
                                      feature_of(entries[i]->d_name));
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return status;
}
