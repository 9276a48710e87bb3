#include "pipeline/units/damaged_hits.h"

#include "base/error.h"
#include "base/visible_text.h"
#include "pipeline/spool/quarantine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The journal names the new path, so that a damaged file can be found when the log is gone. */
static void report(ics_unit *unit, const char *where, const char *why)
{
    const ics_event event = {
        .kind = ICS_EVENT_HITS_QUARANTINED, .file = unit->name, .output = where, .reason = why};
    ics_run_journal_append(unit->common->journal, &event);
    ics_unit_leave_notice(unit,
                          "%s; this hit file is now %s, and the hits of %s are computed again", why,
                          where, unit->name);
}

static int refuse(const ics_unit *unit, const char *why, icestream_error *error)
{
    ics_error_set(error, ICESTREAM_E_OUTPUT, "%s", why);
    return ics_error_add(error, ICESTREAM_E_OUTPUT,
                         "%s: found something that is not a file, expected a hit file or nothing; "
                         "the step file %s is not computed",
                         unit->output, unit->name);
}

int ics_unit_quarantine_hits(ics_unit *unit, const char *why, icestream_error *error)
{
    struct stat about;
    char *near = NULL;
    bool moved = false;
    ics_path where;
    if (lstat(unit->output, &about) != 0) {
        return errno == ENOENT ? ICESTREAM_OK
                               : ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                                     "%s: cannot be examined: %s", unit->output,
                                                     strerror(errno));
    }
    if (!S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode)) {
        return refuse(unit, why, error);
    }
    if (asprintf(&near, "%s/quarantine", unit->common->config->sink.directory) < 0) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %s", unit->output);
    }
    char reason[sizeof(icestream_error)];
    snprintf(reason, sizeof reason, "%s", why);
    ics_visible_hide_newlines(unit->output, reason);
    const ics_quarantine quarantine = {.folder = unit->common->quarantine, .near = near};
    const char *slash = strrchr(unit->output, '/');
    const char *name = slash != NULL ? slash + 1 : unit->output;
    int status =
        ics_quarantine_move(&quarantine, unit->output, name, reason, &moved, &where, error);
    free(near);
    if (status == ICESTREAM_OK && moved) {
        report(unit, where.text, reason);
    }
    return status;
}
