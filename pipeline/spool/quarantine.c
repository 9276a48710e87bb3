#include "pipeline/spool/quarantine.h"

#include "base/disk.h"
#include "base/error.h"
#include "pipeline/files/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BUSY = 100 };

/* A file that is set aside, or only told of. */
typedef struct setting_aside {
    const ics_quarantine *quarantine;
    const char *path;   /* NULL: the file stays where it is */
    const char *folder; /* where it goes: that of the reason, or `near` */
    const char *name;
    const char *why;
    unsigned number;
    char *text;       /* of the reason */
    ics_path reason;  /* its path */
    ics_path to;      /* the file's */
    bool reason_ours; /* this call wrote it */
    icestream_error *error;
} setting_aside;

/* 1: the reason is there and says the same; 0: another one; -1: none, or errno. */
static int compare_reason(const setting_aside *aside)
{
    size_t size = strlen(aside->text) + 2;
    char *found = malloc(size);
    if (found == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int result = -1;
    if (ics_spool_file_read(aside->reason.text, found, size, NULL) == 0) {
        result = strcmp(found, aside->text) == 0;
    }
    int cause = errno;
    free(found);
    errno = cause;
    return result;
}

/* Something that is no reason of ours has the name. */
static bool is_not_ours(int cause)
{
    return cause == EACCES || cause == EPERM || cause == EISDIR || cause == ELOOP || cause == ENXIO;
}

/* *other: another process writes that very file, or has since we looked. */
static int write_reason(setting_aside *aside, bool *other)
{
    ics_output *output = NULL;
    icestream_error found = {.status = ICESTREAM_OK};
    int status = ics_output_create(aside->reason.text, false, &output, &found);
    if (status == ICESTREAM_OK) {
        status = ics_output_write(output, aside->text, strlen(aside->text), &found);
    }
    if (status == ICESTREAM_OK) {
        status = ics_output_commit(output, &found);
    }
    int cause = errno;
    ics_output_destroy(output);
    errno = cause;
    aside->reason_ours = status == ICESTREAM_OK;
    *other = status == ICESTREAM_E_OUTPUT && found.cause == 0; /* no system call has failed */
    return status == ICESTREAM_OK ? ICESTREAM_OK : ics_error_copy(aside->error, &found);
}

/* The paths and the text under the present number. */
static int set_names(setting_aside *aside)
{
    const char *folder = aside->quarantine->folder;
    char number[16] = "";
    if (aside->number > 1) {
        snprintf(number, sizeof number, ".%u", aside->number);
    }
    aside->reason = ics_spool_path_format("%s/%s%s.reason", folder, aside->name, number);
    aside->to = ics_spool_path_format("%s/%s%s", aside->folder, aside->name, number);
    free(aside->text);
    const char *end = *aside->why != 0 && aside->why[strlen(aside->why) - 1] == '\n' ? "" : "\n";
    bool elsewhere = aside->path != NULL && aside->folder != folder;
    int length =
        asprintf(&aside->text, "%s%s%s%s%s", aside->why, end, elsewhere ? "The file is now " : "",
                 elsewhere ? aside->to.text : "", elsewhere ? "\n" : "");
    if (length < 0) {
        aside->text = NULL;
        errno = ENOMEM;
        (void)ics_spool_error(aside->error, aside->reason.text, "cannot write it", NULL);
        return ICESTREAM_E_MEMORY;
    }
    return ICESTREAM_OK;
}

/* Finds the first number under which there is nothing, or this very reason without another file,
 * and sees that the reason is there. */
static int place_reason(setting_aside *aside)
{
    unsigned busy = 0;
    for (aside->number++;; aside->number++) {
        ICS_TRY(set_names(aside));
        struct stat about;
        bool free_place = aside->path == NULL || lstat(aside->to.text, &about) != 0;
        if (aside->path != NULL && free_place && errno != ENOENT) {
            return ics_spool_error(aside->error, aside->to.text, "cannot be examined", NULL);
        }
        /* Or the file is there already, and has only to lose its old name (ics_spool_move). */
        free_place = free_place || ics_spool_path_same(aside->path, aside->to.text);
        int compared = compare_reason(aside);
        if (compared == 1 && free_place) {
            return ICESTREAM_OK;
        }
        if (compared >= 0 || !free_place || is_not_ours(errno)) {
            continue;
        }
        if (errno != ENOENT) {
            return ics_spool_error(aside->error, aside->reason.text, "cannot be read", NULL);
        }
        /* A worker that is stopped while it writes this reason keeps the name for itself. */
        bool other = false;
        int status = write_reason(aside, &other);
        if (!other || ++busy == MOST_BUSY) {
            return status;
        }
    }
}

static void withdraw_reason(setting_aside *aside)
{
    if (aside->reason_ours) {
        (void)unlink(aside->reason.text); /* one reason too many is no fault worth an end */
        aside->reason_ours = false;
    }
}

static int make_folder(const char *path, icestream_error *error)
{
    return ics_disk_make_folder(path, 0777) == 0
               ? ICESTREAM_OK
               : ics_spool_error(error, path, "cannot create this folder for what is set aside",
                                 NULL);
}

int ics_quarantine_note(const ics_quarantine *quarantine, const char *name, const char *reason,
                        ics_path *where, icestream_error *error)
{
    setting_aside aside = {.quarantine = quarantine,
                           .folder = quarantine->folder,
                           .name = name,
                           .why = reason,
                           .error = error};
    int status = make_folder(quarantine->folder, error);
    if (status == ICESTREAM_OK) {
        status = place_reason(&aside);
    }
    if (status == ICESTREAM_OK && where != NULL) {
        *where = aside.reason;
    }
    int cause = errno;
    free(aside.text);
    errno = cause;
    return status;
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* Where files of this folder can go by renaming. */
static const char *reachable(const ics_quarantine *quarantine, const char *path)
{
    struct stat file, folder;
    bool other = lstat(path, &file) == 0 && stat(quarantine->folder, &folder) == 0 &&
                 file.st_dev != folder.st_dev;
    return other && quarantine->near != NULL ? quarantine->near : quarantine->folder;
}

/* With the reason in place. *again: not here, go on with another name or folder. */
static int move_file(setting_aside *aside, bool *moved, bool *again)
{
    *again = false;
    if (ics_spool_move(aside->path, aside->to.text) == 0) {
        *moved = true;
        return ics_disk_sync_folder(aside->folder) == 0
                   ? ICESTREAM_OK
                   : ics_spool_error(aside->error, aside->folder, "cannot be written to the medium",
                                     NULL);
    }
    int cause = errno;
    if (!ics_spool_path_same(aside->path, aside->to.text)) {
        withdraw_reason(aside);
    }
    errno = cause;
    const char *near = aside->quarantine->near;
    if (errno == EXDEV && near != NULL && aside->folder != near) {
        aside->folder = near; /* one file system, mounted twice */
        aside->number = 0;
        *again = true;
        return make_folder(near, aside->error);
    }
    if (errno == EEXIST) {
        *again = true;
        return ICESTREAM_OK;
    }
    return errno == ENOENT && !ics_spool_path_exists(aside->path)
               ? ICESTREAM_OK
               : ics_spool_error(aside->error, aside->path, "cannot be set aside", NULL);
}

int ics_quarantine_move(const ics_quarantine *quarantine, const char *path, const char *name,
                        const char *reason, bool *moved, ics_path *where, icestream_error *error)
{
    *moved = false;
    int status = make_folder(quarantine->folder, error);
    if (status != ICESTREAM_OK || !ics_spool_path_exists(path)) {
        return status;
    }
    setting_aside aside = {.quarantine = quarantine,
                           .path = path,
                           .folder = reachable(quarantine, path),
                           .name = name,
                           .why = reason,
                           .error = error};
    if (aside.folder != quarantine->folder) {
        status = make_folder(aside.folder, error);
    }
    for (bool again = true; again && status == ICESTREAM_OK;) {
        status = place_reason(&aside);
        if (status == ICESTREAM_OK) {
            status = move_file(&aside, moved, &again);
        }
    }
    if (*moved && where != NULL) {
        *where = aside.to;
    }
    int cause = errno;
    free(aside.text);
    errno = cause;
    return status;
}
