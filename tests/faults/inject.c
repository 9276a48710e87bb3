/* LD_PRELOAD=inject.so: makes chosen calls of a program fail, be short, or be its last ones.
 *
 * Calls are counted from the moment in which main() begins, over all threads, and only in the
 * program that is meant: what it starts itself runs undisturbed. Environment:
 *
 *   FAULT_PROGRAM  name of the program (icestream)
 *   FAULT_CALLS    which calls count, a list: open read write sync rename truncate folder memory
 *                  map thread; see the wrappers below. read, write, sync and truncate count on
 *                  regular files and folders, and not under /proc, /sys and /dev: wake-ups of
 *                  event loops and names of threads are no input or output
 *   FAULT_AT       N: the N-th of them, from 1; N-: that one and all after it; N-M: up to M;
 *                  0: none, they are only counted
 *   FAULT_HOW      the name of an errno (ENOSPC EIO EINTR ENOMEM EAGAIN ESTALE EINVAL EMFILE):
 *                  the call fails; short: reads and writes do half of their bytes; kill,
 *                  kill-half, kill-after: SIGKILL before the call, after half of its bytes, or
 *                  when it is done
 *   FAULT_PATH     only calls on files whose path contains this text
 *   FAULT_EXCLUDE  a list of LIBRARY:FUNCTION (libuv:uv_loop_init): what is called while one of
 *                  them is under way does not count. For libraries that crash without memory
 *   FAULT_WITHOUT  a list of calls that the file system does not have: they fail (EINVAL)
 *   FAULT_LOG      a file that gets a line for every fault (number, family, call, path), and at
 *                  the end one with the number of calls
 *   FAULT_TRACE    any value: also the stack of the first fault, on standard error
 *
 * What the C library reads and writes inside of its own functions is seen only where those are
 * wrapped: fopen and opendir count as open, fflush as write. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

typedef enum how { NEVER, FAIL, SHORT, KILL, KILL_HALF, KILL_AFTER } how;

static struct {
    atomic_bool active;
    atomic_ulong count;
    atomic_ulong faults;
    unsigned long first, last;
    how how;
    int error;
    char calls[256], path[PATH_MAX], exclude[512], without[256], log[PATH_MAX];
    bool trace;
} plan;

/* True while this thread is in here: what the wrappers themselves call is not counted. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

/* ---- the plan -------------------------------------------------------------------------------- */

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
        how how;
    } others[] = {
        {"short", SHORT}, {"kill", KILL}, {"kill-half", KILL_HALF}, {"kill-after", KILL_AFTER}};
    const char *text = getenv("FAULT_HOW");
    for (size_t i = 0; text != NULL && i < sizeof others / sizeof *others; ++i) {
        if (strcmp(text, others[i].name) == 0) {
            plan.how = others[i].how;
        }
    }
    for (size_t i = 0; text != NULL && i < sizeof errors / sizeof *errors; ++i) {
        if (strcmp(text, errors[i].name) == 0) {
            plan.how = FAIL;
            plan.error = errors[i].value;
        }
    }
    if (plan.how == NEVER) {
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
    /* System calls of its own: those of the C library are the ones that are tampered with. */
    long log = plan.log[0] != '\0' ? syscall(SYS_openat, AT_FDCWD, plan.log,
                                             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
                                   : -1;
    if (log >= 0) {
        size_t size = length < (int)sizeof line ? (size_t)length : sizeof line - 1;
        syscall(SYS_write, log, line, size);
        syscall(SYS_close, log);
    }
}

static void start_plan(void)
{
    const char *program = getenv("FAULT_PROGRAM");
    if (strcmp(program_invocation_short_name, program != NULL ? program : "icestream") != 0) {
        return;
    }
    take_text("FAULT_CALLS", plan.calls, sizeof plan.calls);
    take_text("FAULT_PATH", plan.path, sizeof plan.path);
    take_text("FAULT_EXCLUDE", plan.exclude, sizeof plan.exclude);
    take_text("FAULT_WITHOUT", plan.without, sizeof plan.without);
    take_text("FAULT_LOG", plan.log, sizeof plan.log);
    take_at();
    take_how();
    plan.trace = getenv("FAULT_TRACE") != NULL;
    void *frame;
    backtrace(&frame, 1); /* the first one allocates and opens a library */
    atomic_store(&plan.active, true);
}

/* Also where the program calls exit(). */
static __attribute__((destructor)) void end_plan(void)
{
    if (atomic_exchange(&plan.active, false)) {
        write_log("counted %lu\n", atomic_load(&plan.count));
    }
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Whether `word` is in the list, whose words end with blanks or commas. */
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

/* Whether the symbol of a frame, "library:function", is in the list. Functions that a library does
 * not export go by the name of the one before them. */
static bool is_excluded_frame(const void *frame)
{
    Dl_info about;
    char name[256];
    if (dladdr(frame, &about) == 0 || about.dli_fname == NULL || about.dli_sname == NULL) {
        return false;
    }
    const char *slash = strrchr(about.dli_fname, '/');
    const char *library = slash != NULL ? slash + 1 : about.dli_fname;
    snprintf(name, sizeof name, "%.*s:%s", (int)strcspn(library, "."), library, about.dli_sname);
    return is_in_list(plan.exclude, name);
}

/* The same with a memory, for looking a symbol up takes long: addresses, and in the top bit what
 * was found about them. */
static bool is_excluded_address(uintptr_t address)
{
    enum { REMEMBERED = 1 << 14 };
    static atomic_uintptr_t memory[REMEMBERED];
    const uintptr_t yes = (uintptr_t)1 << (8 * sizeof yes - 1);
    atomic_uintptr_t *place = &memory[(address >> 2) % REMEMBERED];
    uintptr_t found = atomic_load(place);
    if ((found & ~yes) != address) {
        found = address | (is_excluded_frame((const void *)address) ? yes : 0);
        atomic_store(place, found);
    }
    return (found & yes) != 0;
}

/* Whether a function of the list is under way, on the stack of this thread. */
static bool is_excluded(void)
{
    void *frames[64];
    int count = plan.exclude[0] != '\0' ? backtrace(frames, 64) : 0;
    for (int i = 0; i < count; ++i) {
        if (is_excluded_address((uintptr_t)frames[i])) {
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

/* The path of an open file; false: it is none of those that count. */
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

/* Counts a call and says what becomes of it. `path` or `descriptor` (-1: none) is its file. */
static how judge(const char *family, const char *call, const char *path, int descriptor)
{
    if (inside || !atomic_load(&plan.active)) {
        return NEVER;
    }
    if (is_in_list(plan.without, call)) {
        errno = EINVAL;
        return FAIL;
    }
    int before = errno;
    how result = NEVER;
    char found[PATH_MAX] = "";
    inside = true;
    bool counts = is_in_list(plan.calls, family) && !is_excluded();
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
        result = plan.how;
        write_log("fault %lu %s %s %s\n", number, family, call, found[0] != '\0' ? found : "-");
        if (atomic_fetch_add(&plan.faults, 1) == 0 && plan.trace) {
            void *frames[64];
            backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
        }
    }
    if (result == KILL) {
        syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    }
    inside = false;
    errno = result == FAIL ? plan.error : before;
    return result;
}

/* After a call that was to be the last one. */
static void end_call(how fate)
{
    if (fate == KILL_AFTER || fate == KILL_HALF) {
        syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    }
}

/* Bytes of a read or write that are left of `size`. */
static size_t cut(how fate, size_t size)
{
    return (fate == SHORT || fate == KILL_HALF) && size > 1 ? size / 2 : size;
}

/* ---- the wrapped calls ----------------------------------------------------------------------- */

/* The function of that name which the program would have called. */
static void *find_real(_Atomic(void *) *slot, const char *name)
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

/* A function that only fails, or works, or is the last one: TYPE NAME(PARAMETERS), told as CALL. */
#define WRAP_AS(type, name, call, parameters, arguments, family, path, descriptor, failure)        \
    type name parameters;                                                                          \
    type name parameters                                                                           \
    {                                                                                              \
        static _Atomic(void *) slot;                                                               \
        type(*real) parameters = (type(*) parameters)find_real(&slot, #name);                      \
        how fate = judge(family, call, path, descriptor);                                          \
        if (fate == FAIL) {                                                                        \
            return failure;                                                                        \
        }                                                                                          \
        type result = real arguments;                                                              \
        end_call(fate);                                                                            \
        return result;                                                                             \
    }
#define WRAP(type, name, ...) WRAP_AS(type, name, #name, __VA_ARGS__)

/* A read or write of `size` bytes, which may be cut. */
#define WRAP_TRANSFER(name, parameters, arguments, family)                                         \
    ssize_t name parameters;                                                                       \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        static _Atomic(void *) slot;                                                               \
        ssize_t(*real) parameters = (ssize_t(*) parameters)find_real(&slot, #name);                \
        how fate = judge(family, #name, NULL, file);                                               \
        if (fate == FAIL) {                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        size = cut(fate, size);                                                                    \
        ssize_t result = real arguments;                                                           \
        end_call(fate);                                                                            \
        return result;                                                                             \
    }

/* open and openat have a mode only if they may create a file. */
#define TAKE_MODE(flags, mode)                                                                     \
    do {                                                                                           \
        va_list values;                                                                            \
        va_start(values, flags);                                                                   \
        bool creates = ((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE;                 \
        mode = creates ? va_arg(values, mode_t) : 0;                                               \
        va_end(values);                                                                            \
    } while (0)

#define WRAP_OPEN(name)                                                                            \
    int name(const char *path, int flags, ...);                                                    \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        static _Atomic(void *) slot;                                                               \
        int (*real)(const char *, int, ...) =                                                      \
            (int (*)(const char *, int, ...))find_real(&slot, #name);                              \
        mode_t mode;                                                                               \
        TAKE_MODE(flags, mode);                                                                    \
        how fate = judge("open", #name, path, -1);                                                 \
        int result = fate == FAIL ? -1 : real(path, flags, mode);                                  \
        end_call(fate);                                                                            \
        return result;                                                                             \
    }

#define WRAP_OPENAT(name)                                                                          \
    int name(int folder, const char *path, int flags, ...);                                        \
    int name(int folder, const char *path, int flags, ...)                                         \
    {                                                                                              \
        static _Atomic(void *) slot;                                                               \
        int (*real)(int, const char *, int, ...) =                                                 \
            (int (*)(int, const char *, int, ...))find_real(&slot, #name);                         \
        mode_t mode;                                                                               \
        TAKE_MODE(flags, mode);                                                                    \
        how fate = judge("open", #name, path, -1);                                                 \
        int result = fate == FAIL ? -1 : real(folder, path, flags, mode);                          \
        end_call(fate);                                                                            \
        return result;                                                                             \
    }

/* clang-format off */
WRAP_OPEN(open)
WRAP_OPEN(open64)
WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)
WRAP(int, creat, (const char *path, mode_t mode), (path, mode), "open", path, -1, -1)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), "open", path, -1, NULL)
WRAP(FILE *, fopen64, (const char *path, const char *mode), (path, mode), "open", path, -1, NULL)
WRAP(DIR *, opendir, (const char *path), (path), "open", path, -1, NULL)
WRAP(int, mkostemp, (char *path, int flags), (path, flags), "open", path, -1, -1)
WRAP(int, mkostemp64, (char *path, int flags), (path, flags), "open", path, -1, -1)

WRAP_TRANSFER(read, (int file, void *bytes, size_t size), (file, bytes, size), "read")
WRAP_TRANSFER(pread, (int file, void *bytes, size_t size, off_t at), (file, bytes, size, at),
              "read")
WRAP_TRANSFER(pread64, (int file, void *bytes, size_t size, off64_t at), (file, bytes, size, at),
              "read")
WRAP(ssize_t, readv, (int file, const struct iovec *parts, int count), (file, parts, count),
     "read", NULL, file, -1)
WRAP_TRANSFER(write, (int file, const void *bytes, size_t size), (file, bytes, size), "write")
WRAP_TRANSFER(pwrite, (int file, const void *bytes, size_t size, off_t at),
              (file, bytes, size, at), "write")
WRAP_TRANSFER(pwrite64, (int file, const void *bytes, size_t size, off64_t at),
              (file, bytes, size, at), "write")
WRAP(ssize_t, writev, (int file, const struct iovec *parts, int count), (file, parts, count),
     "write", NULL, file, -1)
WRAP(int, fflush, (FILE *stream), (stream), "write", NULL, stream != NULL ? fileno(stream) : -1,
     EOF)

WRAP(int, fsync, (int file), (file), "sync", NULL, file, -1)
WRAP(int, fdatasync, (int file), (file), "sync", NULL, file, -1)

WRAP(int, rename, (const char *from, const char *to), (from, to), "rename", to, -1, -1)
WRAP(int, renameat, (int in, const char *from, int at, const char *to), (in, from, at, to),
     "rename", to, -1, -1)
/* Without flags it is renameat, which every file system has. */
WRAP_AS(int, renameat2, flags == 0 ? "renameat" : "renameat2",
        (int in, const char *from, int at, const char *to, unsigned flags),
        (in, from, at, to, flags), "rename", to, -1, -1)
WRAP(int, link, (const char *from, const char *to), (from, to), "rename", to, -1, -1)
WRAP(int, linkat, (int in, const char *from, int at, const char *to, int flags),
     (in, from, at, to, flags), "rename", to, -1, -1)

WRAP(int, ftruncate, (int file, off_t size), (file, size), "truncate", NULL, file, -1)
WRAP(int, ftruncate64, (int file, off64_t size), (file, size), "truncate", NULL, file, -1)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), "folder", path, -1, -1)
WRAP(int, unlink, (const char *path), (path), "folder", path, -1, -1)
WRAP(int, unlinkat, (int in, const char *path, int flags), (in, path, flags), "folder", path, -1,
     -1)

WRAP(void *, malloc, (size_t size), (size), "memory", NULL, -1, NULL)
WRAP(void *, calloc, (size_t count, size_t size), (count, size), "memory", NULL, -1, NULL)
WRAP(void *, realloc, (void *old, size_t size), (old, size), "memory", NULL, -1, NULL)
WRAP(void *, reallocarray, (void *old, size_t count, size_t size), (old, count, size), "memory",
     NULL, -1, NULL)
WRAP(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size), "memory", NULL, -1,
     NULL)
WRAP(int, posix_memalign, (void **out, size_t alignment, size_t size), (out, alignment, size),
     "memory", NULL, -1, ENOMEM)
WRAP(void *, mmap, (void *at, size_t size, int use, int flags, int file, off_t offset),
     (at, size, use, flags, file, offset), "map", NULL, -1, MAP_FAILED)
WRAP(void *, mmap64, (void *at, size_t size, int use, int flags, int file, off64_t offset),
     (at, size, use, flags, file, offset), "map", NULL, -1, MAP_FAILED)
WRAP(int, pthread_create,
     (pthread_t *out, const pthread_attr_t *how_to, void *(*run)(void *), void *argument),
     (out, how_to, run, argument), "thread", NULL, -1, EAGAIN)
/* clang-format on */

/* ---- the beginning --------------------------------------------------------------------------- */

typedef int main_function(int argc, char **argv, char **environment);
static main_function *program_main;

static int counted_main(int argc, char **argv, char **environment)
{
    start_plan();
    int status = program_main(argc, argv, environment);
    end_plan(); /* what writes profiles or looks for leaks at exit is no part of the program */
    return status;
}

int __libc_start_main(main_function *main, int argc, char **argv, void (*begin)(void),
                      void (*end)(void), void (*unload)(void), void *stack);
int __libc_start_main(main_function *main, int argc, char **argv, void (*begin)(void),
                      void (*end)(void), void (*unload)(void), void *stack)
{
    static _Atomic(void *) slot;
    int (*real)(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void),
                void *);
    *(void **)&real = find_real(&slot, "__libc_start_main");
    program_main = main;
    return real(counted_main, argc, argv, begin, end, unload, stack);
}
