/* Watches a folder and reports when it may have new step files: at once if the kernel reports a
 * change (inotify, through libuv), and every few seconds in any case, for network file systems and
 * for changes that the kernel did not report. The caller then lists the folder.
 *
 * Between scans an idle watch costs nothing. All functions are called, and all events come, on the
 * loop's thread.
 */
#ifndef ICS_PRODUCTION_SOURCE_WATCH_H
#define ICS_PRODUCTION_SOURCE_WATCH_H

#include "pipeline/icestream.h"

#include <uv.h>

typedef struct ics_watch ics_watch;

typedef struct ics_watch_options {
    const char *folder;  /* may be missing, now or later; NULL: there is none, and `look` is called
                            at each scan */
    const char *pattern; /* of the names to watch (fnmatch); NULL: all */
    double scan;         /* s, >= 0.001, between scans */
} ics_watch_options;

/* Called when something happens. Both may close the watch. */
typedef struct ics_watch_events {
    /* There may be new files. Calls are at least 50 ms apart, so many changes may be one call. */
    void (*look)(void *user);
    /* Something is wrong, or is right again (status ICESTREAM_OK). ICESTREAM_E_INPUT: the folder is
     * missing; ICESTREAM_E_FAILED: the kernel cannot report changes, so only scans find new files.
     * Each change of this state is reported once, not at every scan. */
    void (*report)(void *user, const icestream_error *what);
    void *user;
} ics_watch_events;

/* Texts in `options` are copied. Nothing happens before ics_watch_start(). ICESTREAM_E_FAILED. */
int ics_watch_create(uv_loop_t *loop, const ics_watch_options *options,
                     const ics_watch_events *events, ics_watch **out, icestream_error *error);
/* Starts to watch; the first call of `look` comes as soon as the loop runs. */
void ics_watch_start(ics_watch *watch);
/* No further events. The watch is freed when the loop has closed everything: run the loop until
 * then. Accepts NULL. */
void ics_watch_close(ics_watch *watch);

#endif
