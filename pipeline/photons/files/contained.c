#include "pipeline/photons/files/contained.h"

#include "base/error.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef ICS_COVERAGE
void __gcov_dump(void); /* of libgcov */
#endif

/* What the child sends when `work` has returned. */
typedef struct answer {
    int status;
    icestream_error error;
} answer;

/* Ends the child without the functions that exit() calls, which are the parent's. In a build that
 * counts executed lines, stores the child's counts. */
static _Noreturn void leave(int status)
{
#ifdef ICS_COVERAGE
    __gcov_dump();
#endif
    _exit(status);
}

/* Runs `work` in the child. Never returns, because files that the parent has opened and buffered
 * must not be closed by the child. */
static void be_child(int (*work)(void *user, icestream_error *error), void *user, pid_t parent,
                     int to)
{
    /* An expected crash writes no core file. The child is killed if the parent ends. */
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
        leave(1);
    }
    static answer result; /* static: all bytes that are sent are initialised */
    result.status = work(user, &result.error);
    const char *next = (const char *)&result;
    size_t left = sizeof result;
    while (left > 0) {
        const ssize_t put = write(to, next, left);
        if (put < 0 && errno != EINTR) {
            leave(1);
        }
        next += put > 0 ? put : 0;
        left -= put > 0 ? (size_t)put : 0;
    }
    leave(0);
}

/* Reads until the end of the input, at most `size` bytes. */
static size_t read_all(int from, void *bytes, size_t size)
{
    size_t got = 0;
    while (got < size) {
        const ssize_t count = read(from, (char *)bytes + got, size - got);
        if (count == 0 || (count < 0 && errno != EINTR)) {
            break;
        }
        got += count > 0 ? (size_t)count : 0;
    }
    return got;
}

static int report_end(const char *file, int ended, icestream_error *error)
{
    if (WIFSIGNALED(ended)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: the library that reads such files crashed (%s), expected a "
                             "whole file",
                             file, strsignal(WTERMSIG(ended)));
    }
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "%s: the library that reads such files ended the process (status %d), "
                         "expected a whole file",
                         file, WEXITSTATUS(ended));
}

int ics_contained_check(int (*work)(void *user, icestream_error *error), void *user,
                        const char *file, icestream_error *error)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return ics_error_set_cause(error, ICESTREAM_E_FAILED, errno,
                                   "%s: no pipe for a process: %s", file, strerror(errno));
    }
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        close(ends[0]);
        be_child(work, user, parent, ends[1]);
    }
    const int cause = errno;
    close(ends[1]);
    answer result;
    int ended = 0;
    const size_t got = child > 0 ? read_all(ends[0], &result, sizeof result) : 0;
    close(ends[0]);
    if (child < 0 || TEMP_FAILURE_RETRY(waitpid(child, &ended, 0)) < 0) {
        return ics_error_set_cause(error, ICESTREAM_E_FAILED, child < 0 ? cause : errno,
                                   "%s: no process to read it in: %s", file,
                                   strerror(child < 0 ? cause : errno));
    }
    if (got < sizeof result || !WIFEXITED(ended) || WEXITSTATUS(ended) != 0) {
        return report_end(file, ended, error);
    }
    if (result.status != ICESTREAM_OK) {
        (void)ics_error_copy(error, &result.error);
    }
    return result.status;
}
