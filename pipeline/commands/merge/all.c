/* Joining files that are there already. */
#include "base/error.h"
#include "pipeline/commands/merge/hit_names.h"
#include "pipeline/commands/merge/merge.h"
#include "pipeline/commands/signals/stop_signals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int add(ics_merge *merge, const char *path, icestream_error *error)
{
    bool added = false;
    return ics_merge_add(merge, path, &added, error);
}

static int add_folder(ics_merge *merge, const char *folder, icestream_error *error)
{
    ics_hit_names names;
    ICS_TRY(ics_hit_names_read(folder, &names, error));
    int status = names.count > 0 ? ICESTREAM_OK
                                 : ics_error_set(error, ICESTREAM_E_INPUT,
                                                 "%s: found no file with a name in *.hits.npy, "
                                                 "expected hit files",
                                                 folder);
    for (size_t i = 0; status == ICESTREAM_OK && i < names.count; ++i) {
        ICS_FREES char *path = ics_hit_names_path(folder, names.items[i]->d_name);
        status = add(merge, path, error);
    }
    ics_hit_names_free(&names);
    return status;
}

static int add_all(ics_merge *merge, char *const *paths, size_t count, icestream_error *error)
{
    for (size_t i = 0; i < count; ++i) {
        struct stat about;
        const bool is_folder = stat(paths[i], &about) == 0 && S_ISDIR(about.st_mode);
        ICS_TRY(is_folder ? add_folder(merge, paths[i], error) : add(merge, paths[i], error));
    }
    return ICESTREAM_OK;
}

static int merge_all(char *const *paths, size_t count, const char *output, bool force,
                     icestream_error *error)
{
    ICS_DESTROYS(ics_merge_destroy) ics_merge *merge = ics_merge_create(ics_stop_signals_cancel());
    ICS_TRY(ics_merge_begin(merge, output, force, error));
    ICS_TRY(add_all(merge, paths, count, error));
    return ics_merge_commit(merge, error);
}

int ics_merge_all(char *const *paths, size_t count, const char *output, bool force,
                  icestream_error *error)
{
    ics_stop_signals_catch(true);
    int status = merge_all(paths, count, output, force, error);
    if (status == ICESTREAM_E_INTERRUPTED) {
        status = error->status = ics_stop_signals_status();
    }
    ics_stop_signals_release();
    return status;
}
