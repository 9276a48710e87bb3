#include "pipeline/files/gnuplot.h"

#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a picture");
}

/* The three files of a child: what it reads, what it writes, and its errors. */
typedef struct streams {
    int in, out, errors;
} streams;

static int open_streams(streams *all, const char *text, size_t size, icestream_error *error)
{
    *all = (streams){.in = memfd_create("script", MFD_CLOEXEC),
                     .out = memfd_create("picture", MFD_CLOEXEC),
                     .errors = memfd_create("errors", MFD_CLOEXEC)};
    if (all->in < 0 || all->out < 0 || all->errors < 0) {
        return no_memory(error);
    }
    for (size_t done = 0; done < size;) {
        const ssize_t count = write(all->in, text + done, size - done);
        if (count < 0 && errno != EINTR) {
            return no_memory(error);
        }
        done += count > 0 ? (size_t)count : 0;
    }
    lseek(all->in, 0, SEEK_SET);
    return ICESTREAM_OK;
}

static void close_streams(const streams *all)
{
    const int files[] = {all->in, all->out, all->errors};
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        if (files[i] >= 0) {
            close(files[i]);
        }
    }
}

/* Returns 0 or an errno. gnuplot reads no files of the user (-d), because they could change the
 * picture. */
static int start(const streams *all, pid_t *process)
{
    char name[] = "gnuplot", option[] = "-d", input[] = "-";
    char *const command[] = {name, option, input, NULL};
    posix_spawn_file_actions_t actions;
    int result = posix_spawn_file_actions_init(&actions);
    if (result != 0) {
        return result;
    }
    const int files[] = {all->in, all->out, all->errors};
    for (int i = 0; i < 3 && result == 0; ++i) {
        result = posix_spawn_file_actions_adddup2(&actions, files[i], i);
    }
    if (result == 0) {
        result = posix_spawnp(process, name, &actions, NULL, command, environ);
    }
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

/* Waits for a process and ends it when its time is over. Returns its status as of waitpid(), or -1
 * if its time was over. */
static int wait_for(pid_t process)
{
    const double end = ics_clock_seconds() + ICS_GNUPLOT_SECONDS;
    int status = -1;
    struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, process, 0), .events = POLLIN};
    double left = ICS_GNUPLOT_SECONDS;
    /* Without a descriptor (an old kernel) poll() only waits, so it waits in short pieces. */
    while (waitpid(process, &status, WNOHANG) == 0 && left > 0.0) {
        const int piece = ended.fd >= 0 ? (int)(1000.0 * left) + 1 : 5;
        (void)poll(&ended, 1, piece);
        left = end - ics_clock_seconds();
    }
    if (left <= 0.0 && waitpid(process, &status, WNOHANG) == 0) {
        kill(process, SIGKILL);
        waitpid(process, &status, 0);
        status = -1;
    }
    if (ended.fd >= 0) {
        close(ended.fd);
    }
    return status;
}

/* Returns the whole file with a zero byte behind it, which the caller frees; NULL: out of memory.
 */
static char *read_all(int file, size_t *size)
{
    struct stat about = {.st_size = 0};
    fstat(file, &about);
    char *text = malloc((size_t)about.st_size + 1);
    size_t done = 0;
    while (text != NULL && done < (size_t)about.st_size) {
        const ssize_t count = pread(file, text + done, (size_t)about.st_size - done, (off_t)done);
        if (count <= 0) {
            break;
        }
        done += (size_t)count;
    }
    if (text != NULL) {
        text[done] = '\0';
    }
    *size = done;
    return text;
}

static int run(const streams *all, icestream_error *error)
{
    pid_t process = 0;
    const int result = start(all, &process);
    if (result == ENOENT) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "gnuplot is not installed (Debian's package gnuplot-nox)");
    }
    if (result != 0) {
        return ics_error_set(error, ICESTREAM_E_FAILED, "gnuplot cannot be started: %s",
                             strerror(result));
    }
    const int status = wait_for(process);
    if (status == -1) {
        return ics_error_set(error, ICESTREAM_E_FAILED, "gnuplot needed more than %d s",
                             ICS_GNUPLOT_SECONDS);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return ICESTREAM_OK;
    }
    size_t size = 0;
    char *said = read_all(all->errors, &size);
    char *line = said != NULL ? said + strspn(said, " \t\n^") : NULL;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    ics_error_set(error, ICESTREAM_E_FAILED, "gnuplot failed (%s %d): %.300s",
                  WIFEXITED(status) ? "exit status" : "signal", code, line != NULL ? line : "");
    free(said);
    return ICESTREAM_E_FAILED;
}

int ics_gnuplot_draw(const char *script, size_t size, char **out, size_t *out_size,
                     icestream_error *error)
{
    streams all = {.in = -1, .out = -1, .errors = -1};
    *out = NULL;
    int status = open_streams(&all, script, size, error);
    if (status == ICESTREAM_OK) {
        status = run(&all, error);
    }
    if (status == ICESTREAM_OK) {
        *out = read_all(all.out, out_size);
        status = *out != NULL ? ICESTREAM_OK : no_memory(error);
    }
    close_streams(&all);
    return status;
}
