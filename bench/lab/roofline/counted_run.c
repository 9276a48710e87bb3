#include "bench/lab/roofline/counted_run.h"

#include "base/error.h"
#include "base/visible_text.h"
#include "bench/lab/roofline/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the command runs with, and its files. */
typedef struct child {
    char folder[PATH_MAX], table[PATH_MAX + 16];
    int output, errors; /* files in memory */
    char metrics[ICS_COUNTER_LIST];
    char **arguments;   /* [..., NULL] */
    char **environment; /* [..., NULL] */
} child;

/* ---- running it ------------------------------------------------------------------------------ */

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the counters");
}

/* Makes the folder of the table, and files in memory for the command. */
static int open_files(child *all, icestream_error *error)
{
    const char *parent = getenv("TMPDIR");
    parent = parent != NULL && parent[0] != '\0' ? parent : "/tmp";
    snprintf(all->folder, sizeof all->folder, "%s/icestream-counters-XXXXXX", parent);
    if (mkdtemp(all->folder) == NULL) {
        const int cause = errno;
        all->folder[0] = '\0';
        return ics_error_set_cause(error, ICESTREAM_E_FAILED, cause,
                                   "cannot make a folder for the counters in %s: %s", parent,
                                   strerror(cause));
    }
    snprintf(all->table, sizeof all->table, "%s/counters.csv", all->folder);
    all->output = memfd_create("output", MFD_CLOEXEC);
    all->errors = memfd_create("errors", MFD_CLOEXEC);
    return all->output >= 0 && all->errors >= 0 ? ICESTREAM_OK : no_memory(error);
}

/* Copies the environment with these settings, which replace those of the same names. */
static char **copy_environment(char *const *settings, size_t setting_count)
{
    size_t count = 0, kept = 0;
    while (environ[count] != NULL) {
        ++count;
    }
    char **copy = calloc(count + setting_count + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; ++i) {
        bool replaced = false;
        for (size_t k = 0; k < setting_count; ++k) {
            replaced |= strncmp(environ[i], settings[k], strcspn(settings[k], "=") + 1) == 0;
        }
        if (!replaced) {
            copy[kept++] = environ[i];
        }
    }
    if (copy != NULL) {
        memcpy(copy + kept, settings, setting_count * sizeof *settings);
    }
    return copy;
}

/* Makes arguments and environment: the host drives the loop, and numbers have points. */
static int make_command(child *all, char *ncu, char *const *command, size_t count,
                        icestream_error *error)
{
    static char csv[] = "--csv", page[] = "--page", raw[] = "raw", units[] = "--print-units",
                base[] = "base", log[] = "--log-file", metrics[] = "--metrics",
                processes[] = "--target-processes", only[] = "application-only",
                clocks[] = "--clock-control", caches[] = "--cache-control", none[] = "none",
                loop[] = "ICESTREAM_GPU_HOST_LOOP=1", locale[] = "LC_ALL=C";
    ics_counters_list(all->metrics, sizeof all->metrics);
    char *const first[] = {ncu,     csv,          page,      raw,  units,  base, log,    all->table,
                           metrics, all->metrics, processes, only, clocks, none, caches, none};
    char *const settings[] = {loop, locale};
    const size_t first_count = sizeof first / sizeof *first;
    all->arguments = calloc(first_count + count + 1, sizeof *all->arguments);
    all->environment = copy_environment(settings, sizeof settings / sizeof *settings);
    if (all->arguments == NULL || all->environment == NULL) {
        return no_memory(error);
    }
    memcpy(all->arguments, first, first_count * sizeof *first);
    memcpy(all->arguments + first_count, command, count * sizeof *command);
    return ICESTREAM_OK;
}

static int start(child *all, const char *ncu, pid_t *process, icestream_error *error)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return no_memory(error);
    }
    int result = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    result = result != 0 ? result : posix_spawn_file_actions_adddup2(&actions, all->output, 1);
    result = result != 0 ? result : posix_spawn_file_actions_adddup2(&actions, all->errors, 2);
    if (result == 0) {
        result = posix_spawn(process, ncu, &actions, NULL, all->arguments, all->environment);
    }
    posix_spawn_file_actions_destroy(&actions);
    return result == 0 ? ICESTREAM_OK
                       : ics_error_set_cause(error, ICESTREAM_E_FAILED, result,
                                             "%s cannot be started: %s", ncu, strerror(result));
}

/* ---- what it wrote --------------------------------------------------------------------------- */

/* Returns the whole file with a zero byte behind it, which the caller frees; NULL: out of memory. A
 * file that cannot be read is empty. */
static char *read_all(int file, size_t *size)
{
    struct stat about = {.st_size = 0};
    (void)fstat(file, &about);
    char *text = malloc((size_t)about.st_size + 1);
    ssize_t count = 1;
    *size = 0;
    while (text != NULL && count > 0 && *size < (size_t)about.st_size) {
        count = pread(file, text + *size, (size_t)about.st_size - *size, (off_t)*size);
        *size += count > 0 ? (size_t)count : 0;
    }
    if (text != NULL) {
        text[*size] = '\0';
    }
    return text;
}

/* Copies the last line of a text, or the last one that has the word, without what could disturb a
 * terminal. The text is empty if there is no such line. */
static void copy_line(const char *text, const char *word, char *out, size_t size)
{
    const char *found = "";
    size_t found_length = 0;
    while (text != NULL && *text != '\0') {
        const size_t length = strcspn(text, "\n");
        if (length > 0 && (word == NULL || memmem(text, length, word, strlen(word)) != NULL)) {
            found = text;
            found_length = length;
        }
        text += length + (text[length] == '\n');
    }
    char *line = strndup(found, found_length);
    ics_visible_text(line != NULL ? line : "", false, out, size);
    free(line);
}

/* Makes the error of a command that ended with a status as of waitpid(), or without a permission.
 */
static int judge(int status, const ics_counted_result *result, const char *errors,
                 icestream_error *error)
{
    static const char code_of_driver[] = "ERR_NVGPUCTRPERM";
    if (strstr(result->table, code_of_driver) != NULL || strstr(errors, code_of_driver) != NULL ||
        strstr(result->output, code_of_driver) != NULL) {
        return ics_error_set(
            error, ICESTREAM_E_DEVICE,
            "ncu may not read the counters of the GPU (ERR_NVGPUCTRPERM): run as root, or let the "
            "administrator load the driver with NVreg_RestrictProfilingToAdminUsers=0; a container "
            "needs the capability SYS_ADMIN");
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return ICESTREAM_OK;
    }
    char fault[400], last[400];
    copy_line(result->table, "==ERROR==", fault, sizeof fault);
    copy_line(errors, NULL, last, sizeof last);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    return ics_error_set(error, ICESTREAM_E_FAILED, "ncu ended with %s %d, expected 0%s%s%s%s",
                         WIFEXITED(status) ? "exit status" : "signal", code,
                         fault[0] != '\0' ? "; ncu wrote: " : "", fault,
                         last[0] != '\0' ? "; icestream-lab wrote: " : "", last);
}

static int collect(const child *all, int status, ics_counted_result *out, icestream_error *error)
{
    const int table = open(all->table, O_RDONLY | O_CLOEXEC);
    size_t size = 0;
    char *errors = read_all(all->errors, &size);
    out->table = read_all(table, &out->table_size);
    out->output = read_all(all->output, &out->output_size);
    if (table >= 0) {
        close(table);
    }
    const int result = errors != NULL && out->table != NULL && out->output != NULL
                           ? judge(status, out, errors, error)
                           : no_memory(error);
    free(errors);
    return result;
}

static void clean(child *all)
{
    if (all->folder[0] != '\0') {
        unlink(all->table);
        rmdir(all->folder);
    }
    if (all->output >= 0) {
        close(all->output);
    }
    if (all->errors >= 0) {
        close(all->errors);
    }
    free(all->arguments);
    free(all->environment);
}

int ics_counted_run(const char *ncu, char *const *command, size_t count, ics_counted_result *out,
                    icestream_error *error)
{
    child all = {.output = -1, .errors = -1};
    char program[PATH_MAX];
    pid_t process = 0;
    int ended = 0;
    *out = (ics_counted_result){.table = NULL};
    snprintf(program, sizeof program, "%s", ncu);
    int status = open_files(&all, error);
    if (status == ICESTREAM_OK) {
        status = make_command(&all, program, command, count, error);
    }
    if (status == ICESTREAM_OK) {
        status = start(&all, ncu, &process, error);
    }
    if (status == ICESTREAM_OK) {
        while (waitpid(process, &ended, 0) < 0 && errno == EINTR) {
        }
        status = collect(&all, ended, out, error);
    }
    clean(&all);
    return status;
}

void ics_counted_free(ics_counted_result *result)
{
    free(result->table);
    free(result->output);
    *result = (ics_counted_result){.table = NULL};
}
