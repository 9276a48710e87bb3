/* Tells when a folder may have new step files: at once where the kernel says so (inotify, through
 * libuv), and every few seconds in any case, for network file systems and for what the kernel did
 * not tell. It only says "look now"; nothing is listed here.
 *
 * Between scans an idle watch costs nothing. All functions and events: on the loop's thread.
 */
#ifndef ICS_SOURCE_WATCH_H
#define ICS_SOURCE_WATCH_H

#include "pipeline/icestream.h"

#include <uv.h>

typedef struct ics_watch ics_watch;

typedef struct ics_watch_options {
    const char *folder;  /* may be missing, now and later */
    const char *pattern; /* names that matter (fnmatch); NULL: all */
    double scan;         /* s between looks in any case, >= 0.001 */
} ics_watch_options;

/* What is called as it happens; both may close the watch. */
typedef struct ics_watch_events {
    /* There may be new files. Bursts are one call, and two calls are at least 50 ms apart. */
    void (*look)(void *user);
    /* Something is wrong (status ICESTREAM_E_INPUT: the folder is not there; ICESTREAM_E_FAILED:
     * the kernel cannot tell of changes, so that only scans find new files), or has become right
     * again (ICESTREAM_OK). Each is told once, not at every scan. */
    void (*report)(void *user, const icestream_error *what);
    void *user;
} ics_watch_events;

/* Texts in `options` are copied. Nothing happens before ics_watch_start(). ICESTREAM_E_MEMORY,
 * ICESTREAM_E_FAILED.
 */
int ics_watch_create(uv_loop_t *loop, const ics_watch_options *options,
                     const ics_watch_events *events, ics_watch **out, icestream_error *error);
/* Begins; the first look comes as soon as the loop runs. */
void ics_watch_start(ics_watch *watch);
/* No events from now on; frees the watch once the loop has closed everything: run it until then.
 * Accepts NULL. */
void ics_watch_close(ics_watch *watch);

#endif
