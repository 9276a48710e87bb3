/* The beginning and the end of a worker's claims: its name, its lease, the folders of the spool. */
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/spool/folder_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool is_file_name(const char *name, size_t most)
{
    size_t length = strlen(name);
    return length > 0 && length <= most && name[0] != '.' && strchr(name, '/') == NULL;
}

static int check_options(const ics_claims_options *options, icestream_error *error)
{
    struct stat about;
    if (!is_file_name(options->worker, ICS_CLAIM_WORKER_MAX)) {
        return ics_error_set(
            error, ICESTREAM_E_CONFIG,
            "source.worker: found '%s', expected a file name of 1 to %d bytes that "
            "does not start with '.'",
            options->worker, ICS_CLAIM_WORKER_MAX);
    }
    if (!(isfinite(options->lease) && options->lease > 0.0)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "source.lease: found %g, expected seconds above 0", options->lease);
    }
    if (stat(options->directory, &about) != 0) {
        return ics_error_set_cause(error, ICESTREAM_E_CONFIG, errno,
                                   "%s: %s; source.directory must be a folder that is there",
                                   options->directory, strerror(errno));
    }
    if (!S_ISDIR(about.st_mode)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: found a file, expected a folder with step files",
                             options->directory);
    }
    if (access(options->directory, R_OK | W_OK | X_OK) != 0) {
        return ics_error_set_cause(error, ICESTREAM_E_CONFIG, errno,
                                   "%s: %s; claiming files means moving them, so this user must be "
                                   "able to read and write the folder",
                                   options->directory, strerror(errno));
    }
    return ICESTREAM_OK;
}

/* Makes all paths, and checks that the path of every file with a valid name fits into ics_path. */
static int set_paths(ics_folder *folder, const ics_claims_options *options, icestream_error *error)
{
    folder->directory = ics_new_copy(options->directory);
    folder->pattern = ics_new_copy(options->pattern != NULL ? options->pattern : "*");
    folder->worker = ics_new_copy(options->worker);
    ics_path quarantine = options->quarantine != NULL
                              ? ics_spool_path_format("%s", options->quarantine)
                              : ics_spool_path_join(options->directory, "quarantine");
    folder->quarantine_folder = ics_new_copy(quarantine.text);
    folder->spool = options->spool != NULL ? ics_spool_path_format("%s", options->spool)
                                           : ics_spool_path_join(options->directory, ".icestream");
    const size_t below = ICS_CLAIM_WORKER_MAX + 2 * NAME_MAX; /* /claimed/WORKER/ATTEMPT~NAME */
    if (strlen(folder->directory) + below > PATH_MAX || strlen(folder->spool.text) == 0 ||
        strlen(folder->spool.text) + below > PATH_MAX ||
        strlen(folder->quarantine_folder) + below > PATH_MAX || *folder->quarantine_folder == 0) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: the paths of input folder, spool and quarantine must have fewer "
                             "than %zu bytes each",
                             options->directory, PATH_MAX - below);
    }
    folder->claimed = ics_spool_path_join(folder->spool.text, "claimed");
    folder->home = ics_spool_path_join(folder->claimed.text, folder->worker);
    folder->done = ics_spool_path_join(folder->spool.text, "done");
    folder->marks_folder = ics_spool_path_join(folder->spool.text, "marks");
    folder->near = ics_spool_path_join(folder->spool.text, "quarantine");
    folder->lock_path = ics_spool_path_format("%s/locks/%s", folder->spool.text, folder->worker);
    return ICESTREAM_OK;
}

static int refuse_name(const ics_folder *folder, const ics_lease_state *lease, double wait,
                       icestream_error *error)
{
    char remedy[128] = "give each process a different name";
    if (wait > 0.0) {
        snprintf(remedy, sizeof remedy,
                 "give each process a different name, or wait %.0f s if that one is dead",
                 ceil(wait));
    }
    return ics_error_set(error, ICESTREAM_E_FAILED,
                         "%s: the worker name '%s' belongs to process %lld on %s; %s "
                         "(source.worker)",
                         folder->home.text, folder->worker, lease->process.pid, lease->host,
                         remedy);
}

/* Reserves the worker's name. The lock shows whether a process has the name that shares our locks:
 * any process of this machine, and with most network file systems any process. For other processes
 * the age of the lease decides. */
static int own_name(ics_folder *folder, icestream_error *error)
{
    const ics_lock_result lock = ics_folder_lock_name(folder, &folder->lock);
    ics_lease_state lease;
    if (lock == ICS_LOCK_FAULT) {
        return ics_spool_error(error, folder->lock_path.text, "cannot lock this worker's name",
                               NULL);
    }
    if (ics_lease_read(folder->home.text, folder->options.lease, &lease) != 0) {
        return ics_spool_error(error, folder->home.text, "cannot read the lease in it", NULL);
    }
    if (lock == ICS_LOCK_HELD) {
        return refuse_name(folder, &lease, 0.0, error);
    }
    char host[256];
    ics_lease_host(host);
    bool dead_for_sure = lock == ICS_LOCK_TAKEN && strcmp(lease.host, host) == 0;
    if (lease.there && !dead_for_sure) {
        int64_t now_ns = 0;
        if (ics_lease_file_touch(folder->lock_path.text, &now_ns) != 0) {
            return ics_spool_error(error, folder->lock_path.text,
                                   "cannot ask the file system's time", NULL);
        }
        if (!ics_lease_expired(&lease, now_ns)) {
            return refuse_name(folder, &lease,
                               lease.seconds - (double)(now_ns - lease.beat_ns) * 1e-9, error);
        }
    }
    return ICESTREAM_OK;
}

static int start(ics_folder *folder, const ics_claims_options *options, icestream_error *error)
{
    ICS_TRY(set_paths(folder, options, error));
    ICS_TRY(ics_folder_make_spool(folder, error));
    ICS_TRY(own_name(folder, error));
    folder->owner = true;
    folder->marks = ics_marks_create(folder->marks_folder.text,
                                     ics_spool_path_join(folder->home.text, ICS_MARK_PART).text);
    if (options->forget && ics_marks_clear(folder->marks) != 0) {
        return ics_spool_error(error, folder->marks_folder.text, "cannot remove the marks in it",
                               NULL);
    }
    if (ics_lease_write(folder->home.text, folder->options.lease) != 0) {
        return ics_spool_error(error, folder->home.text, "cannot write this worker's lease", NULL);
    }
    return ics_folder_beat(folder, error);
}

void ics_folder_destroy(void *self)
{
    ics_folder *folder = self;
    if (folder == NULL) {
        return;
    }
    if (folder->owner) {
        ics_lease_remove(folder->home.text);
    }
    ics_lease_lock_remove(folder->lock_path.text, folder->lock);
    for (size_t i = 0; i < folder->held_count; ++i) {
        free(folder->held[i].name);
    }
    free(folder->held);
    free(folder->neighbours.items);
    ics_folder_candidates_free(&folder->waiting);
    ics_spool_names_free(&folder->stranded);
    ics_spool_names_free(&folder->seen);
    ics_spool_names_free(&folder->noted);
    ics_marks_destroy(folder->marks);
    free(folder->directory);
    free(folder->pattern);
    free(folder->worker);
    free(folder->quarantine_folder);
    pthread_mutex_destroy(&folder->mutex);
    free(folder);
}

int ics_folder_create(const ics_claims_options *options, ics_folder **out, icestream_error *error)
{
    *out = NULL;
    ICS_TRY(check_options(options, error));
    ics_folder *folder = ICS_NEW(ics_folder);
    pthread_mutex_init(&folder->mutex, NULL);
    folder->lock = -1;
    folder->options = *options;
    folder->left_at_home = true;
    folder->looked_ns = INT64_MIN;
    ics_process_self(&folder->self);
    const int status = start(folder, options, error);
    if (status != ICESTREAM_OK) {
        ics_folder_destroy(folder);
        return status;
    }
    *out = folder;
    return ICESTREAM_OK;
}
