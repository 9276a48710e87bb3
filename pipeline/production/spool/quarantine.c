#include "pipeline/production/spool/quarantine.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/new.h"
#include "base/visible_text.h"
#include "pipeline/photons/files/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BUSY = 100 };

/* One call: a file that is moved, or only reported. */
typedef struct quarantining {
    const ics_quarantine *quarantine;
    const char *path;   /* NULL: the file stays where it is */
    const char *folder; /* where the file goes: the folder of the reason, or `near` */
    const char *name;
    const char *why;
    unsigned number;  /* NAME.number; 1: NAME */
    char *text;       /* of the reason */
    ics_path reason;  /* path of the reason */
    ics_path to;      /* path of the moved file */
    bool reason_ours; /* this call wrote it */
    icestream_error *error;
} quarantining;

/* Returns 1 if the reason exists and has the same text, 0 if it has another text, -1 with errno if
 * there is none or it cannot be read. */
static int compare_reason(const quarantining *job)
{
    const size_t size = strlen(job->text) + 2;
    ICS_FREES char *found = ics_new_zeros(size, 1);
    return ics_spool_file_read(job->reason.text, found, size, NULL) == 0
               ? strcmp(found, job->text) == 0
               : -1;
}

/* Whether errno means that something else has the name of the reason. */
static bool is_not_ours(int cause)
{
    return cause == EACCES || cause == EPERM || cause == EISDIR || cause == ELOOP || cause == ENXIO;
}

static int write_text(const quarantining *job, icestream_error *error)
{
    ICS_DESTROYS(ics_output_destroy) ics_output *output = NULL;
    ICS_TRY(ics_output_create(job->reason.text, false, &output, error));
    ICS_TRY(ics_output_write(output, job->text, strlen(job->text), error));
    return ics_output_commit(output, error);
}

/* Writes the reason. *other: another process is writing the same file, or has just written it. */
static int write_reason(quarantining *job, bool *other)
{
    icestream_error found = {.status = ICESTREAM_OK};
    const int status = write_text(job, &found);
    job->reason_ours = status == ICESTREAM_OK;
    *other = status == ICESTREAM_E_OUTPUT && found.cause == 0; /* no system call has failed */
    return status == ICESTREAM_OK ? ICESTREAM_OK : ics_error_copy(job->error, &found);
}

/* Makes the paths and the text for the present number. */
static void set_names(quarantining *job)
{
    const char *folder = job->quarantine->folder;
    char number[16] = "";
    if (job->number > 1) {
        snprintf(number, sizeof number, ".%u", job->number);
    }
    job->reason = ics_spool_path_format("%s/%s%s.reason", folder, job->name, number);
    job->to = ics_spool_path_format("%s/%s%s", job->folder, job->name, number);
    free(job->text);
    char why[sizeof(icestream_error)];
    ics_visible_text(job->why, true, why, sizeof why);
    const char *end = *why != 0 && why[strlen(why) - 1] == '\n' ? "" : "\n";
    bool elsewhere = job->path != NULL && job->folder != folder;
    job->text = ics_new_text("%s%s%s%s%s", why, end, elsewhere ? "The file is now " : "",
                             elsewhere ? job->to.text : "", elsewhere ? "\n" : "");
}

/* Finds the next number that is free, or that has the same reason and no other file, and writes the
 * reason unless it exists. */
static int store_reason(quarantining *job)
{
    unsigned busy = 0;
    for (job->number++;; job->number++) {
        set_names(job);
        struct stat about;
        bool free_name = job->path == NULL || lstat(job->to.text, &about) != 0;
        if (job->path != NULL && free_name && errno != ENOENT) {
            return ics_spool_error(job->error, job->to.text, "cannot be examined", NULL);
        }
        /* Or an earlier move by link was interrupted: the file has both names (ics_spool_move). */
        free_name = free_name || ics_spool_path_same(job->path, job->to.text);
        int compared = compare_reason(job);
        if (compared == 1 && free_name) {
            return ICESTREAM_OK;
        }
        if (compared >= 0 || !free_name || is_not_ours(errno)) {
            continue;
        }
        if (errno != ENOENT) {
            return ics_spool_error(job->error, job->reason.text, "cannot be read", NULL);
        }
        /* Another process that was stopped while it writes this reason may keep the name: after
         * some tries this is an error. */
        bool other = false;
        int status = write_reason(job, &other);
        if (!other || ++busy == MOST_BUSY) {
            return status;
        }
    }
}

static void withdraw_reason(quarantining *job)
{
    if (job->reason_ours) {
        (void)unlink(job->reason.text); /* a reason without a file does no harm */
        job->reason_ours = false;
    }
}

static int make_folder(const char *path, icestream_error *error)
{
    return ics_disk_make_folder(path, 0777) == 0
               ? ICESTREAM_OK
               : ics_spool_error(error, path, "cannot create this folder for quarantined files",
                                 NULL);
}

int ics_quarantine_note(const ics_quarantine *quarantine, const char *name, const char *reason,
                        ics_path *where, icestream_error *error)
{
    quarantining job = {.quarantine = quarantine,
                        .folder = quarantine->folder,
                        .name = name,
                        .why = reason,
                        .error = error};
    ICS_TRY(make_folder(quarantine->folder, error));
    const int status = store_reason(&job);
    free(job.text);
    if (status == ICESTREAM_OK && where != NULL) {
        *where = job.reason;
    }
    return status;
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* The folder of the quarantine that a file can be renamed to. */
static const char *reachable(const ics_quarantine *quarantine, const char *path)
{
    struct stat file, folder;
    bool other = lstat(path, &file) == 0 && stat(quarantine->folder, &folder) == 0 &&
                 file.st_dev != folder.st_dev;
    return other && quarantine->near != NULL ? quarantine->near : quarantine->folder;
}

/* Moves the file; the reason exists. *again: try another name or folder. */
static int move_file(quarantining *job, bool *moved, bool *again)
{
    *again = false;
    if (ics_spool_move(job->path, job->to.text) == 0) {
        *moved = true;
        return ics_disk_sync_folder(job->folder) == 0
                   ? ICESTREAM_OK
                   : ics_spool_error(job->error, job->folder, "cannot be written to the disk",
                                     NULL);
    }
    int cause = errno;
    if (!ics_spool_path_same(job->path, job->to.text)) {
        withdraw_reason(job);
    }
    errno = cause;
    const char *near = job->quarantine->near;
    if (errno == EXDEV && near != NULL && job->folder != near) {
        job->folder = near; /* the same file system, mounted twice */
        job->number = 0;
        *again = true;
        return make_folder(near, job->error);
    }
    if (errno == EEXIST) {
        *again = true;
        return ICESTREAM_OK;
    }
    return errno == ENOENT && !ics_spool_path_exists(job->path)
               ? ICESTREAM_OK
               : ics_spool_error(job->error, job->path, "cannot be quarantined", NULL);
}

int ics_quarantine_move(const ics_quarantine *quarantine, const char *path, const char *name,
                        const char *reason, bool *moved, ics_path *where, icestream_error *error)
{
    *moved = false;
    ICS_TRY(make_folder(quarantine->folder, error));
    if (!ics_spool_path_exists(path)) {
        return ICESTREAM_OK;
    }
    quarantining job = {.quarantine = quarantine,
                        .path = path,
                        .folder = reachable(quarantine, path),
                        .name = name,
                        .why = reason,
                        .error = error};
    int status = job.folder != quarantine->folder ? make_folder(job.folder, error) : ICESTREAM_OK;
    for (bool again = true; again && status == ICESTREAM_OK;) {
        status = store_reason(&job);
        if (status == ICESTREAM_OK) {
            status = move_file(&job, moved, &again);
        }
    }
    if (*moved && where != NULL) {
        *where = job.to;
    }
    free(job.text);
    return status;
}
