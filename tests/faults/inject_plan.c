/* The plan of inject.so: reads the environment (see inject.c), counts calls and decides their fate.
 */
#include "tests/faults/inject_plan.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the plan -------------------------------------------------------------------------------- */

static struct {
    atomic_bool active; /* main() runs, and this is the program that is meant */
    atomic_ulong count; /* calls so far that count */
    atomic_ulong faults;
    unsigned long first, last; /* FAULT_AT */
    inject_fate fate;
    int error;
    char calls[256], path[PATH_MAX], without[256], log[PATH_MAX];
    bool trace;
} plan;

/* True while this thread runs code of inject.so: calls that this code makes are not counted. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

static const struct {
    const char *name;
    int value;
} errors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EINTR", EINTR},   {"ENOMEM", ENOMEM},
              {"EAGAIN", EAGAIN}, {"ESTALE", ESTALE}, {"EINVAL", EINVAL}, {"EMFILE", EMFILE}};

static void wrong(const char *variable)
{
    fprintf(stderr, "inject.so: %s is missing or wrong\n", variable);
    _exit(125); /* no exit status of icestream: a test cannot take it for a result */
}

static void take_text(const char *variable, char *out, size_t size)
{
    const char *text = getenv(variable);
    if (text != NULL && strlen(text) >= size) {
        wrong(variable);
    }
    snprintf(out, size, "%s", text != NULL ? text : "");
}

static void take_at(void)
{
    const char *text = getenv("FAULT_AT");
    char *end = NULL;
    plan.first = text != NULL ? strtoul(text, &end, 10) : 0;
    plan.last = plan.first;
    if (text != NULL && *end == '-') {
        plan.last = end[1] != '\0' ? strtoul(end + 1, &end, 10) : ULONG_MAX;
    } else if (text == NULL || *end != '\0') {
        wrong("FAULT_AT");
    }
}

static void take_how(void)
{
    static const struct {
        const char *name;
        inject_fate fate;
    } others[] = {{"short", FATE_SHORT},
                  {"kill", FATE_KILL},
                  {"kill-half", FATE_KILL_HALF},
                  {"kill-after", FATE_KILL_AFTER}};
    const char *text = getenv("FAULT_HOW");
    for (size_t i = 0; text != NULL && i < sizeof others / sizeof *others; ++i) {
        if (strcmp(text, others[i].name) == 0) {
            plan.fate = others[i].fate;
        }
    }
    for (size_t i = 0; text != NULL && i < sizeof errors / sizeof *errors; ++i) {
        if (strcmp(text, errors[i].name) == 0) {
            plan.fate = FATE_FAIL;
            plan.error = errors[i].value;
        }
    }
    if (plan.fate == FATE_WORK) {
        wrong("FAULT_HOW");
    }
}

static void write_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void write_log(const char *format, ...)
{
    char line[PATH_MAX + 256];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    /* Direct system calls, because inject.so wraps the functions of the C library. */
    long log = plan.log[0] != '\0' ? syscall(SYS_openat, AT_FDCWD, plan.log,
                                             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
                                   : -1;
    if (log >= 0) {
        size_t size = length < (int)sizeof line ? (size_t)length : sizeof line - 1;
        syscall(SYS_write, log, line, size);
        syscall(SYS_close, log);
    }
}

void inject_start(void)
{
    const char *program = getenv("FAULT_PROGRAM");
    if (strcmp(program_invocation_short_name, program != NULL ? program : "icestream") != 0) {
        return;
    }
    take_text("FAULT_CALLS", plan.calls, sizeof plan.calls);
    take_text("FAULT_PATH", plan.path, sizeof plan.path);
    take_text("FAULT_WITHOUT", plan.without, sizeof plan.without);
    take_text("FAULT_LOG", plan.log, sizeof plan.log);
    take_at();
    take_how();
    plan.trace = getenv("FAULT_TRACE") != NULL;
    void *frame;
    backtrace(&frame, 1); /* the first call allocates and opens a library */
    atomic_store(&plan.active, true);
}

__attribute__((destructor)) void inject_end(void)
{
    if (atomic_exchange(&plan.active, false)) {
        write_log("counted %lu\n", atomic_load(&plan.count));
    }
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Whether `word` is in the list. Blanks or commas stand between the words of a list. */
static bool is_in_list(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(list, word); at != NULL; at = strstr(at + 1, word)) {
        if ((at == list || strchr(" ,", at[-1]) != NULL) && strchr(" ,", at[length]) != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_system_path(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0 ||
           strncmp(path, "/dev/", 5) == 0;
}

/* Gets the path of an open file. Returns false if calls on this file do not count. */
static bool find_path(int descriptor, char path[PATH_MAX])
{
    char link[64];
    struct stat about;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length <= 0 || fstat(descriptor, &about) != 0) {
        return false;
    }
    path[length] = '\0';
    return (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)) && !is_system_path(path);
}

inject_fate inject_judge(const char *family, const char *call, const char *path, int descriptor)
{
    if (inside || !atomic_load(&plan.active)) {
        return FATE_WORK;
    }
    if (is_in_list(plan.without, call)) {
        errno = EINVAL;
        return FATE_FAIL;
    }
    int before = errno;
    inject_fate result = FATE_WORK;
    char found[PATH_MAX] = "";
    inside = true;
    bool counts = is_in_list(plan.calls, family);
    if (counts && descriptor >= 0) {
        counts = find_path(descriptor, found);
    } else if (counts && path != NULL) {
        snprintf(found, sizeof found, "%s", path);
        counts = !is_system_path(found);
    }
    if (counts && plan.path[0] != '\0') {
        counts = strstr(found, plan.path) != NULL;
    }
    unsigned long number = counts ? atomic_fetch_add(&plan.count, 1) + 1 : 0;
    if (counts && number >= plan.first && number <= plan.last) {
        result = plan.fate;
        write_log("fault %lu %s %s %s\n", number, family, call, found[0] != '\0' ? found : "-");
        if (atomic_fetch_add(&plan.faults, 1) == 0 && plan.trace) {
            void *frames[64];
            backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
        }
    }
    if (result == FATE_KILL) {
        syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    }
    inside = false;
    errno = result == FATE_FAIL ? plan.error : before;
    return result;
}

void inject_end_call(inject_fate fate)
{
    if (fate == FATE_KILL_AFTER || fate == FATE_KILL_HALF) {
        syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    }
}

size_t inject_cut(inject_fate fate, size_t size)
{
    return (fate == FATE_SHORT || fate == FATE_KILL_HALF) && size > 1 ? size / 2 : size;
}

void *inject_real(_Atomic(void *) *slot, const char *name)
{
    void *found = atomic_load(slot);
    if (found == NULL) {
        bool before = inside;
        inside = true;
        found = dlsym(RTLD_NEXT, name);
        inside = before;
        atomic_store(slot, found);
    }
    return found;
}
