#include "pipeline/production/telemetry/journal.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/new.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct ics_journal {
    char *path, *worker;
    pthread_mutex_t mutex; /* for the members below */
    int descriptor;
    bool torn; /* the last line has no newline */
};

static int failed(const char *path, const char *what, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_OUTPUT, "%s: %s: %s", path, what, strerror(errno));
}

/* Whether a file's last line lacks its newline. */
static int look_at_end(const char *path, int descriptor, const struct stat *about, bool *torn,
                       icestream_error *error)
{
    char last = '\n';
    ssize_t got = 1;
    if (S_ISREG(about->st_mode) && about->st_size > 0) {
        got = TEMP_FAILURE_RETRY(pread(descriptor, &last, 1, about->st_size - 1));
    }
    *torn = got == 1 && last != '\n';
    return got < 0 ? failed(path, "cannot read the end of the journal", error) : ICESTREAM_OK;
}

static int open_file(const char *path, int *out, bool *torn, icestream_error *error)
{
    /* Without O_NONBLOCK, open() would wait if the name belongs to a named pipe. */
    ICS_CLOSES_DESCRIPTOR int descriptor =
        ics_disk_open_output(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK);
    if (descriptor < 0 && errno == ELOOP) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, ELOOP,
                                   "%s: found a symbolic link, expected a journal or no file",
                                   path);
    }
    if (descriptor < 0) {
        return failed(path, "cannot open the journal", error);
    }
    struct stat about;
    if (fstat(descriptor, &about) != 0) {
        return failed(path, "cannot look at the journal", error);
    }
    if (!S_ISREG(about.st_mode) && !S_ISCHR(about.st_mode)) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT,
                             "%s: found something that is not a file, expected a journal", path);
    }
    ICS_TRY(look_at_end(path, descriptor, &about, torn, error));
    *out = ics_hand_over_descriptor(&descriptor);
    return ICESTREAM_OK;
}

int ics_journal_create(const char *path, const char *worker, ics_journal **out,
                       icestream_error *error)
{
    int descriptor = -1;
    bool torn = false;
    *out = NULL;
    ICS_TRY(open_file(path, &descriptor, &torn, error));
    ics_journal *journal = ICS_NEW(ics_journal);
    pthread_mutex_init(&journal->mutex, NULL); /* cannot fail on Linux */
    journal->descriptor = descriptor;
    journal->torn = torn;
    journal->path = ics_new_copy(path);
    journal->worker = ics_new_copy(worker);
    *out = journal;
    return ICESTREAM_OK;
}

void ics_journal_destroy(ics_journal *journal)
{
    if (journal == NULL) {
        return;
    }
    close(journal->descriptor);
    pthread_mutex_destroy(&journal->mutex);
    free(journal->path);
    free(journal->worker);
    free(journal);
}

/* Writes text[1 .. length] in one piece. text[0] is room for the newline that must end an
 * incomplete line before it. If only a part was written, the complete text is written again as
 * another line. */
static int write_line(ics_journal *journal, char *text, size_t length, icestream_error *error)
{
    enum { TRIES = 16 };
    text[0] = '\n';
    for (int i = 0; i < TRIES; ++i) {
        const char *start = journal->torn ? text : text + 1;
        size_t size = journal->torn ? length + 1 : length;
        ssize_t count = write(journal->descriptor, start, size);
        if (count == (ssize_t)size) {
            journal->torn = false;
            return ICESTREAM_OK;
        }
        if (count < 0 && errno != EINTR) {
            return failed(journal->path, "cannot write to the journal", error);
        }
        /* Perhaps only the newline that ends the incomplete line was written. */
        journal->torn = count > 0 ? start[count - 1] != '\n' : journal->torn;
    }
    return ics_error_set(error, ICESTREAM_E_OUTPUT,
                         "%s: cannot write to the journal: lines are written in parts only",
                         journal->path);
}

int ics_journal_append(ics_journal *journal, const ics_event *event, icestream_error *error)
{
    char text[ICS_EVENT_LINE + 2];
    size_t length = 0;
    if (!ics_event_is(event->kind, ICS_EVENT_JOURNAL)) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_event_line(event, journal->worker, event->more, text + 1, &length, error));
    pthread_mutex_lock(&journal->mutex);
    const int status = write_line(journal, text, length, error);
    pthread_mutex_unlock(&journal->mutex);
    return status;
}

int ics_journal_reopen(ics_journal *journal, icestream_error *error)
{
    int descriptor = -1;
    bool torn = false;
    ICS_TRY(open_file(journal->path, &descriptor, &torn, error));
    pthread_mutex_lock(&journal->mutex);
    int old = journal->descriptor;
    journal->descriptor = descriptor;
    journal->torn = torn;
    pthread_mutex_unlock(&journal->mutex);
    close(old);
    return ICESTREAM_OK;
}
