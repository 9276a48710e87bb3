/* A file that a run writes again and again, or at its end: the summary, the metrics. Runs at the
 * same time in one folder must not overwrite each other's files, so each run locks its name:
 * FOLDER/.NAME.lock, which is removed at the end of the run. */
#ifndef ICS_PRODUCTION_TELEMETRY_REPORT_FILE_H
#define ICS_PRODUCTION_TELEMETRY_REPORT_FILE_H

#include "pipeline/icestream.h"

typedef struct ics_report_file {
    char *path; /* where the run writes; NULL: nowhere */
    char *lock_path;
    int lock;       /* descriptor; -1: the name is not locked */
    int lock_fault; /* errno of a lock that failed: a second run would not be noticed; 0: none */
    bool is_other;  /* another run has the name, so `path` has the name of the worker */
} ics_report_file;

/* Chooses the path of a file and locks it. If another process has the lock of `path`, the name of
 * the worker is put before the ending: summary.json becomes summary-WORKER.json. A path that is not
 * a regular file, such as /dev/null, and a folder that cannot be written need no lock. A lock that
 * fails for another reason is no error, and lock_fault is its errno. The result is for
 * ics_report_file_close(), also after an error. ICESTREAM_E_OUTPUT: the name with the worker is in
 * use, too. */
int ics_report_file_open(const char *path, const char *worker, ics_report_file *out,
                         icestream_error *error);
/* Unlocks the name; the file stays. Accepts a file that is all zero. Sets `error` if the lock could
 * not be removed: it hinders nobody, and stays. */
void ics_report_file_close(ics_report_file *file, icestream_error *error);

/* Whether `name` is that of `path`, or `path` with the name of any worker. Both without folders. */
bool ics_report_file_is_name(const char *path, const char *name);

#endif
