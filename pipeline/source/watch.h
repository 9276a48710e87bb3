/* Tells when a folder may have new step files: at once where the kernel says so (inotify, through
 * libuv), and every few seconds in any case, for network file systems and for what the kernel did
 * not tell. It only says "look now"; nothing is listed here.
 *
 * Between scans an idle watch costs nothing. All functions and events: on the loop's thread.
 */
#ifndef IS_WATCH_H
#define IS_WATCH_H

#include "pipeline/icestream.h"

#include <uv.h>

typedef struct is_watch is_watch;

typedef struct is_watch_options {
    const char *folder;  /* may be missing, now and later */
    const char *pattern; /* names that matter (fnmatch); NULL: all */
    double scan;         /* s between looks in any case, >= 0.001 */
} is_watch_options;

/* What is called as it happens; both may close the watch. */
typedef struct is_watch_events {
    /* There may be new files. Bursts are one call, and two calls are at least 50 ms apart. */
    void (*look)(void *user);
    /* Something is wrong (status IS_E_INPUT: the folder is not there; IS_E_FAILED: the kernel
     * cannot tell of changes, so that only scans find new files), or has become right again
     * (IS_OK). Each is told once, not at every scan. */
    void (*report)(void *user, const is_error *what);
    void *user;
} is_watch_events;

/* Texts in `options` are copied. Nothing happens before is_watch_start(). IS_E_MEMORY, IS_E_FAILED.
 */
int is_watch_create(uv_loop_t *loop, const is_watch_options *options, const is_watch_events *events,
                    is_watch **out, is_error *error);
/* Begins; the first look comes as soon as the loop runs. */
void is_watch_start(is_watch *watch);
/* No events from now on; frees the watch once the loop has closed everything: run it until then.
 * Accepts NULL. */
void is_watch_close(is_watch *watch);

#endif
