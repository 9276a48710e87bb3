#include "pipeline/production/transfer/program_call.h"

#include "base/cleanup.h"
#include "base/new.h"
#include "pipeline/production/transfer/transfer.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

enum {
    ROOM_FOR_LOGS = 64 << 20,
    ULIMIT_BLOCK = 512,
    SHELL_SIGNAL = 128 /* the exit status of a shell whose child was ended by a signal, less that */
};

/* The text with `by` for every `mark`. */
static char *substitute(const char *text, const char *mark, const char *by)
{
    const size_t length = strlen(mark);
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, mark)) != NULL; at += length) {
        count++;
    }
    char *made = ics_new_zeros(strlen(text) + count * strlen(by) + 1, 1), *to = made;
    for (const char *at; (at = strstr(text, mark)) != NULL; text = at + length) {
        to = stpcpy(mempcpy(to, text, (size_t)(at - text)), by);
    }
    stpcpy(to, text);
    return made;
}

static void free_texts(char **texts)
{
    for (char **at = texts; texts != NULL && *at != NULL; ++at) {
        free(*at);
    }
    free(texts);
}

/* {path} is replaced last, and a URL has no braces, so a name cannot be taken for a mark. */
static char *make_word(const ics_program_call *call, const char *word)
{
    if (call->appends) {
        return ics_new_copy(word);
    }
    ICS_FREES char *half = substitute(word, "{url}", call->url != NULL ? call->url : "");
    return substitute(half, "{path}", call->path);
}

/* The limit of files in blocks of `ulimit -f`; 0: that of this process stays. It is also that of
 * the log of this run, if it is the program's standard error, and of other logs and caches that the
 * program may have. */
static uint64_t blocks_of(uint64_t most)
{
    struct stat log;
    struct rlimit limit;
    const bool has_log = fstat(STDERR_FILENO, &log) == 0 && S_ISREG(log.st_mode);
    const uint64_t bytes = most + ROOM_FOR_LOGS + (has_log ? (uint64_t)log.st_size : 0);
    return most > 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes < limit.rlim_cur
               ? bytes / ULIMIT_BLOCK + 1
               : 0;
}

/* With a limit /bin/sh becomes the program, and passes the words on as they are: a limit that this
 * process gave to the started program would not hold if this process were killed before. */
static char **make_arguments(const ics_program_call *call, uint64_t blocks)
{
    const size_t count = call->words.count;
    char **arguments = ICS_NEW_ARRAY(char *, count + 5), **at = arguments;
    if (blocks > 0) {
        *at++ = ics_new_copy("sh");
        *at++ = ics_new_copy("-c");
        *at++ = ics_new_text("ulimit -f %" PRIu64 " && exec \"$0\" \"$@\"", blocks);
    }
    for (size_t i = 0; i < count + call->appends; ++i) {
        *at++ = i == count             ? ics_new_copy(call->path)
                : i == 0 && blocks > 0 ? ics_new_copy(call->file)
                                       : make_word(call, call->words.words[i]);
    }
    return arguments;
}

enum { OURS = 4 };
static const char *const our_names[OURS] = {"ICESTREAM_PATH", "ICESTREAM_URL", "ICESTREAM_ALLOW",
                                            "ICESTREAM_FORCE"};

static bool is_ours(const char *variable)
{
    const size_t length = strcspn(variable, "=");
    for (size_t i = 0; i < OURS; ++i) {
        if (strlen(our_names[i]) == length && strncmp(variable, our_names[i], length) == 0) {
            return true;
        }
    }
    return false;
}

/* The texts with blanks between them. */
static char *join(char *const *texts)
{
    size_t size = 1;
    for (char *const *at = texts; at != NULL && *at != NULL; ++at) {
        size += strlen(*at) + 1;
    }
    char *joined = ics_new_zeros(size, 1), *to = joined;
    for (char *const *at = texts; at != NULL && *at != NULL; ++at) {
        to = stpcpy(stpcpy(to, at > texts ? " " : ""), *at);
    }
    return joined;
}

static char **make_environment(const ics_program_call *call)
{
    size_t count = 0, kept = 0;
    ICS_FREES char *allow = join(call->allow);
    const char *const values[OURS] = {call->path, call->url != NULL ? call->url : "", allow,
                                      call->replaces ? "1" : ""};
    while (environ[count] != NULL) {
        count++;
    }
    char **all = ICS_NEW_ARRAY(char *, count + OURS + 1);
    for (size_t i = 0; i < count; ++i) {
        if (!is_ours(environ[i])) {
            all[kept++] = ics_new_copy(environ[i]);
        }
    }
    for (size_t i = 0; i < OURS; ++i) {
        all[kept++] = ics_new_text("%s=%s", our_names[i], values[i]);
    }
    return all;
}

int ics_program_call_start(uv_loop_t *loop, const ics_program_call *call, uv_process_t *process,
                           uv_exit_cb on_exit)
{
    const uint64_t blocks = blocks_of(call->most);
    char **arguments = make_arguments(call, blocks), **environment = make_environment(call);
    uv_stdio_container_t streams[3] = {{.flags = UV_IGNORE},
                                       {.flags = UV_INHERIT_FD, .data = {.fd = STDERR_FILENO}},
                                       {.flags = UV_INHERIT_FD, .data = {.fd = STDERR_FILENO}}};
    const uv_process_options_t options = {.exit_cb = on_exit,
                                          .file = blocks > 0 ? "/bin/sh" : call->file,
                                          .args = arguments,
                                          .env = environment,
                                          .stdio_count = 3,
                                          .stdio = streams};
    const int failure = uv_spawn(loop, process, &options);
    free_texts(arguments);
    free_texts(environment);
    return failure;
}

int ics_program_call_describe(int64_t status, int number, char failure[ICS_PROGRAM_FAILURE])
{
    static const struct {
        int status, cause;
        const char *text;
    } final[] = {{EX_NOINPUT, ICS_TRANSFER_MISSING, "there is no such file"},
                 {EX_CANTCREAT, EEXIST, "the URL has other bytes"},
                 {EX_NOPERM, EACCES, "it is not allowed"},
                 {EX_CONFIG, EINVAL, "the program is used wrongly"}};
    failure[0] = '\0';
    if (number == SIGXFSZ || status == SHELL_SIGNAL + SIGXFSZ) {
        snprintf(failure, ICS_PROGRAM_FAILURE, "ended by SIGXFSZ: the file became too large");
        return EFBIG;
    }
    if (number != 0) {
        snprintf(failure, ICS_PROGRAM_FAILURE, "ended by signal %d", number);
        return EAGAIN;
    }
    for (size_t i = 0; i < sizeof final / sizeof *final; ++i) {
        if (status == final[i].status) {
            snprintf(failure, ICS_PROGRAM_FAILURE, "exit status %d: %s", final[i].status,
                     final[i].text);
            return final[i].cause;
        }
    }
    if (status != 0) {
        snprintf(failure, ICS_PROGRAM_FAILURE, "exit status %d", (int)status);
    }
    return EAGAIN;
}
