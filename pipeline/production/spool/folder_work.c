/* What happens to claims: they are kept alive, ended in one of three ways, and counted.
 *
 * A process can be killed between any two operations of an end. Then the claim is either as it was,
 * and another worker takes over the file; or the end has happened, and ics_folder_take() cleans up
 * what is left. docs/spool.md has the table of all cases.
 */
#include "base/disk.h"
#include "base/error.h"
#include "pipeline/production/spool/folder_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- claims that are held -------------------------------------------------------------------- */

/* Returns whether the claimed file exists. If it is gone, the claim is lost for good, because a new
 * file with this name would be another claim. */
static bool still_there(ics_held_claim *held)
{
    held->lost = held->lost || (!held->ended && !ics_spool_path_exists(held->file.text));
    return !held->lost;
}

static ics_held_claim *find_ticket(const ics_folder *folder, uint64_t ticket)
{
    for (size_t i = 0; i < folder->held_count; ++i) {
        if (folder->held[i].ticket == ticket) {
            return &folder->held[i];
        }
    }
    return NULL;
}

static void drop(ics_folder *folder, ics_held_claim *held)
{
    free(held->name);
    *held = folder->held[--folder->held_count];
}

/* Finds the held claim that is to be ended. NULL: it was ended before, or it is lost (and is
 * dropped here). */
static ics_held_claim *find_to_end(ics_folder *folder, const ics_claim *claim)
{
    ics_held_claim *held = find_ticket(folder, claim->ticket);
    if (held != NULL && !held->ended && !still_there(held)) {
        drop(folder, held);
        return NULL;
    }
    return held;
}

int ics_folder_extend(void *self, size_t *lost, icestream_error *error)
{
    ics_folder *folder = self;
    int status = ics_folder_beat(folder, error);
    *lost = 0;
    for (size_t i = 0; i < folder->held_count && status == ICESTREAM_OK; ++i) {
        *lost += still_there(&folder->held[i]) ? 0 : 1;
    }
    return status;
}

bool ics_folder_holds(void *self, const ics_claim *claim)
{
    ics_folder *folder = self;
    ics_held_claim *found = find_ticket(folder, claim->ticket);
    return found != NULL && still_there(found);
}

/* If the claim is lost, nothing is known about the file. */
int ics_folder_look_again(void *self, const ics_claim *claim, double *age, icestream_error *error)
{
    ics_folder *folder = self;
    struct stat about;
    ics_held_claim *held = find_ticket(folder, claim->ticket);
    ICS_TRY(ics_folder_beat(folder, error)); /* asks for the time */
    if (held == NULL || held->ended || !still_there(held) ||
        ics_folder_look(folder, held->file.text, NULL, &about) != 0) {
        return ICESTREAM_OK;
    }
    held->identity = ics_marks_identity_of(&about);
    *age = 1e-9 * (double)(folder->now_ns - ics_spool_modified_ns(&about));
    return ICESTREAM_OK;
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* Returns 1 if the file is as it was when it was claimed, 0 if it was overwritten, -1 with errno.
 */
static int compare_with_claim(const ics_folder *folder, const ics_held_claim *held)
{
    struct stat about;
    if (ics_folder_look(folder, held->file.text, NULL, &about) != 0) {
        return errno == ENOENT ? 0 : -1;
    }
    return ics_marks_identity_same(ics_marks_identity_of(&about), held->identity) ? 1 : 0;
}

/* Marks a file as done and moves it back. The mark is on the disk first. If this worker is killed
 * between the two steps, the next worker that claims the file finds the mark and only moves the
 * file back. */
static int keep(ics_folder *folder, const ics_held_claim *held, bool *there, icestream_error *error)
{
    int result = ics_marks_set(folder->marks, held->name, held->identity);
    for (unsigned tries = 0; result != 0 && errno == ENOENT && tries < ICS_FOLDER_TRIES &&
                             ics_spool_path_exists(held->file.text);
         ++tries) {
        ICS_TRY(ics_folder_beat(folder, error));
        result = ics_marks_set(folder->marks, held->name, held->identity);
    }
    if (result != 0) {
        int cause = errno;
        *there = ics_spool_path_exists(held->file.text);
        errno = cause;
        return *there ? ics_spool_error(error, folder->marks_folder.text,
                                        "cannot mark a file as done in it", NULL)
                      : ICESTREAM_OK;
    }
    return ics_folder_put_back(folder, held->file.text, held->name, true, there, error);
}

static int cannot_sync(const char *path, icestream_error *error)
{
    return ics_spool_error(error, path, "cannot be written to the disk", NULL);
}

/* The last step of an end: syncs the folder that received the file, then the worker's folder, and
 * forgets the claim. After an error only this step is repeated. */
static int finish_end(ics_folder *folder, ics_held_claim *held, icestream_error *error)
{
    if (*held->to.text != 0 && ics_disk_sync_folder(held->to.text) != 0) {
        return cannot_sync(held->to.text, error);
    }
    /* If other workers have removed this worker's folder as expired, even while it is synced,
     * nothing is left to sync. */
    if (ics_disk_sync_folder(folder->home.text) != 0 && errno != ENOENT && errno != ESTALE) {
        return cannot_sync(folder->home.text, error);
    }
    drop(folder, held);
    return ICESTREAM_OK;
}

/* An operation on the claimed file has failed. *there false: the file is gone, so the claim is
 * lost, which is no error. */
static int failed_end(const ics_held_claim *held, const char *what, bool *there,
                      icestream_error *error)
{
    int cause = errno;
    *there = ics_spool_path_exists(held->file.text);
    errno = cause;
    return *there ? ics_spool_error(error, held->file.text, what, NULL) : ICESTREAM_OK;
}

static int move_away(const ics_folder *folder, ics_held_claim *held, bool *there,
                     icestream_error *error)
{
    ics_path where;
    if (ics_spool_move_numbered(held->file.text, folder->done.text, held->name, &where) != 0) {
        return failed_end(held, "cannot be moved to done/", there, error);
    }
    held->ended = *there = true;
    held->to = folder->done;
    return ICESTREAM_OK;
}

static int remove_input(ics_held_claim *held, bool *there, icestream_error *error)
{
    if (unlink(held->file.text) != 0) {
        return failed_end(held, "cannot be deleted", there, error);
    }
    held->ended = *there = true;
    return ICESTREAM_OK;
}

/* Finishes the claim after an operation that returned `status`. */
static int close_claim(ics_folder *folder, ics_held_claim *held, int status, icestream_error *error)
{
    ICS_TRY(status);
    if (held->ended) {
        return finish_end(folder, held, error);
    }
    drop(folder, held);
    return ICESTREAM_OK;
}

int ics_folder_done(void *self, const ics_claim *claim, ics_after after, bool *held,
                    icestream_error *error)
{
    ics_folder *folder = self;
    ics_held_claim *found = find_to_end(folder, claim);
    if (found == NULL) {
        return ICESTREAM_OK;
    }
    if (found->ended) {
        *held = true;
        return finish_end(folder, found, error);
    }
    int status, same = compare_with_claim(folder, found);
    if (same < 0) {
        status = ics_spool_error(error, found->file.text, "cannot be examined", NULL);
    } else if (same == 0) {
        ics_folder_note(folder, found->file.text,
                        "%s: was written over while it was worked on; it is new work again",
                        found->name);
        status = ics_folder_put_back(folder, found->file.text, found->name, false, held, error);
    } else if (after == ICS_AFTER_KEEP) {
        status = keep(folder, found, held, error);
    } else if (after == ICS_AFTER_MOVE) {
        status = move_away(folder, found, held, error);
    } else {
        status = remove_input(found, held, error);
    }
    return close_claim(folder, found, status, error);
}

int ics_folder_fail(void *self, const ics_claim *claim, const char *reason, bool *held,
                    icestream_error *error)
{
    ics_folder *folder = self;
    ics_held_claim *found = find_to_end(folder, claim);
    if (found == NULL) {
        return ICESTREAM_OK;
    }
    if (found->ended) {
        *held = true;
        return finish_end(folder, found, error);
    }
    const ics_quarantine quarantine = {.folder = folder->quarantine_folder,
                                       .near = folder->near.text};
    ics_path where;
    int status = ics_quarantine_move(&quarantine, found->file.text, found->name, reason, held,
                                     &where, error);
    if (*held) {
        *strrchr(where.text, '/') = 0;
        found->ended = true;
        found->to = where;
    }
    return close_claim(folder, found, status, error);
}

int ics_folder_give_back(void *self, const ics_claim *claim, bool *held, icestream_error *error)
{
    ics_folder *folder = self;
    ics_held_claim *found = find_to_end(folder, claim);
    if (found == NULL) {
        return ICESTREAM_OK;
    }
    int status = ics_folder_put_back(folder, found->file.text, found->name, false, held, error);
    return close_claim(folder, found, status, error);
}

/* ---- counts ---------------------------------------------------------------------------------- */

int ics_folder_count_waiting(void *self, uint64_t *out, icestream_error *error)
{
    ics_folder *folder = self;
    ics_candidates waiting = {0};
    if (!ics_folder_is_unchanged(folder)) {
        ICS_TRY(ics_folder_scan(folder, &waiting, error));
    }
    *out = waiting.count;
    ics_folder_candidates_free(&waiting);
    return ICESTREAM_OK;
}
