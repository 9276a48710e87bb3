#include "pipeline/production/source/watch.h"

#include "base/error.h"
#include "base/new.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOK_PAUSE = 50,    /* ms from one look to the next */
    IGNORED_MAX = 4096, /* after this many events of other names we look in any case: the kernel's
                           queue may have overflowed and lost events */
};

/* The state that was last reported. */
typedef enum watch_health { HEALTHY, FOLDER_MISSING, BLIND } watch_health;

struct ics_watch {
    uv_loop_t *loop;
    ics_watch_events events;
    char *folder, *name; /* path of the folder; its last part */
    char *pattern;
    uint64_t scan; /* ms */

    uv_fs_event_t changes;
    uv_timer_t scans, pause;
    uv_fs_t request;
    int open_handles;
    bool asking; /* `request` is running */
    bool closing;

    bool watching;     /* the kernel watches a folder for us: */
    uv_stat_t watched; /* this one */
    watch_health health;
    bool looked;        /* `look` was called before */
    uint64_t last_look; /* ms */
    uint32_t ignored;   /* events of other names since the last look */
};

/* ---- the end -------------------------------------------------------------------------------- */

static void free_watch(ics_watch *watch)
{
    free(watch->folder);
    free(watch->pattern);
    free(watch);
}

static void free_if_unused(ics_watch *watch)
{
    if (watch->closing && watch->open_handles == 0 && !watch->asking) {
        free_watch(watch);
    }
}

static void on_closed(uv_handle_t *handle)
{
    ics_watch *watch = handle->data;
    watch->open_handles--;
    free_if_unused(watch);
}

void ics_watch_close(ics_watch *watch)
{
    if (watch == NULL || watch->closing) {
        return;
    }
    watch->closing = true;
    uv_close((uv_handle_t *)&watch->changes, on_closed);
    uv_close((uv_handle_t *)&watch->scans, on_closed);
    uv_close((uv_handle_t *)&watch->pause, on_closed);
}

/* ---- reports -------------------------------------------------------------------------------- */

static void look(ics_watch *watch)
{
    uv_timer_stop(&watch->pause);
    watch->looked = true;
    watch->last_look = uv_now(watch->loop);
    watch->ignored = 0;
    watch->events.look(watch->events.user);
}

static void on_pause_over(uv_timer_t *timer)
{
    look(timer->data);
}

/* Looks soon, and once for everything that happens until then. */
static void look_soon(ics_watch *watch)
{
    uint64_t now = uv_now(watch->loop), next = watch->last_look + LOOK_PAUSE;
    if (watch->closing || uv_is_active((uv_handle_t *)&watch->pause)) {
        return;
    }
    uv_timer_start(&watch->pause, on_pause_over, watch->looked && next > now ? next - now : 0, 0);
}

static void report(ics_watch *watch, watch_health health, int status, const char *text)
{
    if (watch->closing || watch->health == health) {
        return;
    }
    icestream_error what = {.status = ICESTREAM_OK};
    ics_error_set(&what, status, "%s: %s", watch->folder, text);
    watch->health = health;
    watch->events.report(watch->events.user, &what);
}

/* ---- the kernel's events -------------------------------------------------------------------- */

static void check_folder(ics_watch *watch);

static void on_change(uv_fs_event_t *handle, const char *name, int events, int status)
{
    ics_watch *watch = handle->data;
    if (status < 0) {
        watch->watching = false;
        uv_fs_event_stop(handle);
        return;
    }
    /* An event with the name of the folder is about the folder itself: it may be gone. The kernel
     * does not watch a new folder with that name, even if it has the same inode. */
    if ((events & UV_RENAME) && name != NULL && strcmp(name, watch->name) == 0) {
        watch->watching = false;
        uv_fs_event_stop(handle);
        check_folder(watch);
        return;
    }
    bool matters = name == NULL || watch->pattern == NULL || fnmatch(watch->pattern, name, 0) == 0;
    if (!matters && ++watch->ignored < IGNORED_MAX) {
        return;
    }
    look_soon(watch);
}

/* Asks the kernel to report changes in the folder, which exists. */
static void listen_to_kernel(ics_watch *watch, const uv_stat_t *folder)
{
    const uv_stat_t *watched = &watch->watched;
    bool same = watch->watching && watched->st_dev == folder->st_dev &&
                watched->st_ino == folder->st_ino &&
                watched->st_birthtim.tv_sec == folder->st_birthtim.tv_sec &&
                watched->st_birthtim.tv_nsec == folder->st_birthtim.tv_nsec;
    int failure = 0;
    if (!same) {
        uv_fs_event_stop(&watch->changes);
        failure = uv_fs_event_start(&watch->changes, on_change, watch->folder, 0);
        watch->watching = failure == 0;
        watch->watched = *folder;
    }
    if (failure == 0) {
        if (watch->health != HEALTHY) {
            report(watch, HEALTHY, ICESTREAM_OK, "is watched again");
        }
        return;
    }
    char text[256];
    snprintf(text, sizeof text, "the kernel cannot report new files: %s; looking every %g s%s",
             uv_strerror(failure), (double)watch->scan / 1000,
             failure == UV_ENOSPC   ? " (fs.inotify.max_user_watches)"
             : failure == UV_EMFILE ? " (fs.inotify.max_user_instances, or open files)"
                                    : "");
    report(watch, BLIND, ICESTREAM_E_FAILED, text);
}

/* ---- scans ---------------------------------------------------------------------------------- */

static void on_folder(uv_fs_t *request)
{
    ics_watch *watch = request->data;
    int failure = (int)request->result;
    uv_stat_t folder = request->statbuf;
    uv_fs_req_cleanup(request);
    watch->asking = false;
    if (watch->closing) {
        free_if_unused(watch);
        return;
    }
    bool is_folder = failure == 0 && (folder.st_mode & 0170000) == 0040000;
    if (!is_folder) {
        char text[128];
        watch->watching = false;
        uv_fs_event_stop(&watch->changes);
        snprintf(text, sizeof text, "cannot watch the folder: %s; trying every %g s",
                 failure != 0 ? uv_strerror(failure) : "it is no folder",
                 (double)watch->scan / 1000);
        report(watch, FOLDER_MISSING, ICESTREAM_E_INPUT, text);
        return;
    }
    listen_to_kernel(watch, &folder);
    look_soon(watch);
}

/* Examines the folder on a worker thread, because a network file system may be slow. */
static void check_folder(ics_watch *watch)
{
    if (watch->asking || watch->closing) {
        return;
    }
    if (watch->folder == NULL) {
        look_soon(watch);
        return;
    }
    watch->request.data = watch;
    int failure = uv_fs_stat(watch->loop, &watch->request, watch->folder, on_folder);
    watch->asking = failure == 0;
    if (failure != 0) {
        report(watch, FOLDER_MISSING, ICESTREAM_E_FAILED, uv_strerror(failure));
    }
}

static void on_scan(uv_timer_t *timer)
{
    check_folder(timer->data);
}

/* ---- the beginning -------------------------------------------------------------------------- */

static void copy_texts(ics_watch *watch, const ics_watch_options *options)
{
    if (options->folder == NULL) {
        return;
    }
    watch->folder = ics_new_copy(options->folder);
    watch->pattern = ics_new_copy(options->pattern);
    size_t length = strlen(watch->folder);
    while (length > 1 && watch->folder[length - 1] == '/') {
        watch->folder[--length] = 0;
    }
    char *slash = strrchr(watch->folder, '/');
    watch->name = slash != NULL ? slash + 1 : watch->folder;
}

int ics_watch_create(uv_loop_t *loop, const ics_watch_options *options,
                     const ics_watch_events *events, ics_watch **out, icestream_error *error)
{
    *out = NULL;
    ics_watch *watch = ICS_NEW(ics_watch);
    copy_texts(watch, options);
    watch->loop = loop;
    watch->events = *events;
    watch->scan = options->scan >= 0.001 ? (uint64_t)(options->scan * 1000) : 1;
    int failure = uv_fs_event_init(loop, &watch->changes);
    if (failure != 0) {
        free_watch(watch);
        return ics_error_set(error, ICESTREAM_E_FAILED, "cannot set up the event loop: %s",
                             uv_strerror(failure));
    }
    uv_timer_init(loop, &watch->scans);
    uv_timer_init(loop, &watch->pause);
    watch->changes.data = watch->scans.data = watch->pause.data = watch;
    watch->open_handles = 3;
    *out = watch;
    return ICESTREAM_OK;
}

void ics_watch_start(ics_watch *watch)
{
    uv_timer_start(&watch->scans, on_scan, watch->scan, watch->scan);
    check_folder(watch);
}
