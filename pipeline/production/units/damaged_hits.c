#include "pipeline/production/units/damaged_hits.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/new.h"
#include "base/visible_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int ics_unit_quarantine(const ics_unit *unit, const char *path, const char *why, bool *moved,
                        ics_path *where, icestream_error *error)
{
    ICS_FREES char *near = ics_new_text("%s/quarantine", unit->common->config->sink.directory);
    const ics_quarantine quarantine = {.folder = unit->common->quarantine, .near = near};
    const char *slash = strrchr(path, '/');
    return ics_quarantine_move(&quarantine, path, slash != NULL ? slash + 1 : path, why, moved,
                               where, error);
}

/* Moves a hit file. The journal names the new path, so that a damaged file can be found when the
 * log is gone. *moved: it was there, and *where it is now. */
static int move_hits(const ics_unit *unit, const char *path, const char *why, bool *moved,
                     ics_path *where, icestream_error *error)
{
    ICS_TRY(ics_unit_quarantine(unit, path, why, moved, where, error));
    if (*moved) {
        const ics_event event = {.kind = ICS_EVENT_HITS_QUARANTINED,
                                 .file = unit->name,
                                 .output = where->text,
                                 .reason = why};
        ics_run_journal_append(unit->common->journal, &event);
    }
    return ICESTREAM_OK;
}

int ics_unit_judge_hits(ics_unit *unit, const json_t *expected, ics_hit_verdict *out,
                        icestream_error *why, icestream_error *error)
{
    ics_unit_work *work = unit->work;
    if (lstat(unit->output, &work->judged) != 0) {
        work->judged = (struct stat){.st_ino = 0};
    }
    const int status = ics_hit_check_judge(unit->output, expected, true, out, why, error);
    work->blocked = status == ICESTREAM_E_OUTPUT;
    return status;
}

static int refuse(const ics_unit *unit, const char *why, icestream_error *error)
{
    ics_error_set(error, ICESTREAM_E_OUTPUT, "%s", why);
    return ics_error_add(error, ICESTREAM_E_OUTPUT,
                         "%s: found something that is not a file, expected a hit file or nothing; "
                         "the step file %s is not computed",
                         unit->output, unit->name);
}

/* Another worker may have had the claim in the meantime, and may have given its good hit file the
 * name. *is_same: the damaged file is still there, and is this worker's to move. */
static int look_again(ics_unit *unit, const char *why, bool *is_same, icestream_error *error)
{
    struct stat about;
    const struct stat *judged = &unit->work->judged;
    *is_same = false;
    ics_unit_look_for_claim(unit);
    if (unit->work->lost) {
        return ICESTREAM_OK;
    }
    if (lstat(unit->output, &about) != 0) {
        return errno == ENOENT ? ICESTREAM_OK
                               : ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                                     "%s: cannot be examined: %s", unit->output,
                                                     strerror(errno));
    }
    if (!S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode)) {
        return refuse(unit, why, error);
    }
    if (about.st_ino != judged->st_ino || about.st_dev != judged->st_dev) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, ESTALE,
                                   "%s: found another file than a moment ago, which was damaged; "
                                   "it is examined again",
                                   unit->output);
    }
    *is_same = true;
    return ICESTREAM_OK;
}

static int move_own(ics_unit *unit, const char *why, icestream_error *error)
{
    bool moved = false, is_same = false;
    ics_path where;
    char reason[sizeof(icestream_error)];
    snprintf(reason, sizeof reason, "%s", why);
    ics_visible_hide_newlines(unit->output, reason);
    ICS_TRY(look_again(unit, why, &is_same, error));
    if (is_same) {
        ICS_TRY(move_hits(unit, unit->output, reason, &moved, &where, error));
    }
    if (moved) {
        ics_unit_leave_notice(unit,
                              "%s; this hit file is now %s, and the hits of %s are computed again",
                              reason, where.text, unit->name);
    }
    return ICESTREAM_OK;
}

int ics_unit_quarantine_hits(ics_unit *unit, const char *why, icestream_error *error)
{
    const int status = move_own(unit, why, error);
    unit->work->blocked = status == ICESTREAM_E_OUTPUT && !ics_error_may_pass(error);
    return status;
}

static int move_merged(ics_unit *unit, const char *merged, const char *why, icestream_error *error)
{
    bool moved = false;
    ics_path where;
    ICS_TRY(move_hits(unit, merged, why, &moved, &where, error));
    if (moved) {
        ics_unit_leave_notice(unit,
                              "%s; this hit file is now %s; its hits are computed again from those "
                              "of its step files that this run is given",
                              why, where.text);
    }
    return ICESTREAM_OK;
}

int ics_unit_quarantine_merged(ics_unit *unit, icestream_error *error)
{
    int status = ICESTREAM_OK;
    char *merged, *why;
    while (status == ICESTREAM_OK &&
           ics_known_hits_next_damaged(unit->common->known, &merged, &why)) {
        status = move_merged(unit, merged, why, error);
        free(merged);
        free(why);
    }
    return status;
}
