#include "pipeline/production/queue/steps.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/new.h"
#include "base/url.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char file_scheme[] = "file://";

static int write_steps(const char *path, const void *bytes, size_t size, icestream_error *error)
{
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    const char *at = bytes;
    int cause = descriptor < 0 ? errno : 0;
    while (cause == 0 && size > 0) {
        const ssize_t count = TEMP_FAILURE_RETRY(write(descriptor, at, size));
        cause = count < 0 ? errno : 0;
        at += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
    if (descriptor >= 0 && close(descriptor) != 0 && cause == 0) {
        cause = errno;
    }
    if (cause == 0) {
        return ICESTREAM_OK;
    }
    if (descriptor >= 0) {
        unlink(path);
    }
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause,
                               "%s: cannot write the steps of a ticket: %s", path, strerror(cause));
}

/* Whether the real path of a file lies in the real folder. */
static bool is_in(const char *path, const char *folder)
{
    char file[PATH_MAX], outer[PATH_MAX];
    if (realpath(path, file) == NULL || realpath(folder, outer) == NULL) {
        return false;
    }
    const size_t length = strcmp(outer, "/") == 0 ? 0 : strlen(outer);
    return strncmp(file, outer, length) == 0 && file[length] == '/';
}

/* A file on a file system that producer and worker share. */
static int find_shared(const ics_queue_steps_folders *folders, const ics_queue_ticket *ticket,
                       ics_queue_steps *out, icestream_error *error)
{
    const char *path = ticket->url + sizeof file_scheme - 1;
    if (folders->files == NULL) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: found a ticket with %.300s, expected the folder of such files in "
                             "source.queue_files",
                             folders->shown, ticket->url);
    }
    if (access(path, R_OK) != 0) { /* or the file system is not there on this machine */
        const int cause = errno;
        return ics_error_set_cause(error, ICESTREAM_E_CONFIG, cause,
                                   "%s: found a ticket with %.300s: %s", folders->shown,
                                   ticket->url, strerror(cause));
    }
    out->path = ics_new_copy(path);
    if (!is_in(path, folders->files)) {
        snprintf(out->fault, sizeof out->fault,
                 "found the step file %.200s, expected it in source.queue_files, which is %.200s",
                 path, folders->files);
    }
    return ICESTREAM_OK;
}

/* Whether this process can fetch the file. Another one may be able to, so the ticket stays. */
static int check_fetch(const ics_queue_steps_folders *folders, const char *url,
                       icestream_error *error)
{
    char shown[ICS_URL_MOST + 1];
    if (folders->fetches && (!folders->shows_urls || !ics_url_may_be_secret(url))) {
        return ICESTREAM_OK;
    }
    if (folders->fetches) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: found a ticket with a URL that may have a secret, %.300s, which "
                             "everybody can see in the command line that source.fetch makes with "
                             "{url}; expected a program that reads its own credentials",
                             folders->shown, ics_url_shown(url, shown));
    }
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "%s: found a ticket with %.300s, expected source.fetch, a program that "
                         "fetches it, " ICS_URL_RECIPE,
                         folders->shown, ics_url_shown(url, shown));
}

/* Sets out->fault unless the URL begins with one of the prefixes. */
static void check_prefix(const ics_queue_steps_folders *folders, const char *url,
                         ics_queue_steps *out)
{
    char shown[ICS_URL_MOST + 1];
    for (size_t i = 0; i < folders->allow_count; ++i) {
        if (ics_url_is_below(url, folders->allow[i])) {
            return;
        }
    }
    snprintf(out->fault, sizeof out->fault,
             "found the URL %.200s, expected one that begins with a prefix of source.allow, as "
             "%.200s, and stays below it",
             ics_url_shown(url, shown), folders->allow[0]);
}

int ics_queue_steps_find(const ics_queue_steps_folders *folders, const ics_queue_ticket *ticket,
                         uint64_t number, ics_queue_steps *out, icestream_error *error)
{
    *out = (ics_queue_steps){.path = NULL};
    const bool is_file =
        ticket->url != NULL && strncmp(ticket->url, file_scheme, sizeof file_scheme - 1) == 0;
    if (is_file && (folders->files != NULL || folders->allow_count == 0)) {
        return find_shared(folders, ticket, out, error);
    }
    if (ticket->url != NULL && folders->allow_count > 0) {
        check_prefix(folders, ticket->url, out);
    }
    if (ticket->url != NULL && out->fault[0] == '\0') {
        ICS_TRY(check_fetch(folders, ticket->url, error));
    }
    ICS_FREES char *path = ics_new_text("%s/%" PRIu64 "-%s", folders->folder, number, ticket->name);
    out->is_own = true;
    out->is_fetched = ticket->url != NULL;
    if (!out->is_fetched) {
        ICS_TRY(write_steps(path, ticket->steps, ticket->size, error));
    }
    out->path = ICS_HAND_OVER(path);
    return ICESTREAM_OK;
}
