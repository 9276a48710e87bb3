/* LD_PRELOAD=inject.so: makes chosen calls of a program fail, do only half of their work, or be the
 * last calls of the program. This file has the wrappers of the calls, inject_plan.c the decision.
 * To wrap one more call, add a line to the list of wrappers below.
 *
 * Calls are counted over all threads, from the beginning of main(), and only in the program that is
 * meant: programs that it starts run undisturbed. The environment gives the plan:
 *
 *   FAULT_PROGRAM  name of the program (icestream)
 *   FAULT_CALLS    the families of calls that count, a list: open read write sync rename truncate
 *                  folder thread; see the wrappers below. Calls of read, write, sync and truncate
 *                  count if they work on regular files or folders outside /proc, /sys and /dev,
 *                  because wake-ups of event loops and names of threads are no input or output
 *   FAULT_AT       N: the N-th of these calls, from 1; N-: this call and all later ones; N-M: calls
 *                  N to M; 0: no call, they are only counted
 *   FAULT_HOW      the name of an errno (ENOSPC EIO EINTR ENOMEM EAGAIN ESTALE EINVAL EMFILE): the
 *                  call fails; short: reads and writes do half of their bytes; kill, kill-half,
 *                  kill-after: SIGKILL before the call, after half of its bytes, or after the call
 *   FAULT_PATH     only calls on files whose path contains this text count
 *   FAULT_WITHOUT  a list of calls that the file system does not have: they fail (EINVAL)
 *   FAULT_LOG      a file that gets a line for every fault (number, family, call, path), and at
 *                  the end a line with the number of calls
 *   FAULT_TRACE    any value: also the stack of the first fault, on standard error
 *
 * Reads and writes inside functions of the C library are seen only if the function is wrapped:
 * fopen and opendir count as open, fflush as write. */
#include "tests/faults/inject_plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- kinds of wrappers ----------------------------------------------------------------------- */

/* Wraps a function TYPE NAME(PARAMETERS), which fails as a whole. The log calls it CALL. */
#define WRAP_AS(type, name, call, parameters, arguments, family, path, descriptor, failure)        \
    type name parameters;                                                                          \
    type name parameters                                                                           \
    {                                                                                              \
        static _Atomic(void *) slot;                                                               \
        type(*real) parameters = (type(*) parameters)inject_real(&slot, #name);                    \
        inject_fate fate = inject_judge(family, call, path, descriptor);                           \
        if (fate == FATE_FAIL) {                                                                   \
            return failure;                                                                        \
        }                                                                                          \
        type result = real arguments;                                                              \
        inject_end_call(fate);                                                                     \
        return result;                                                                             \
    }
#define WRAP(type, name, ...) WRAP_AS(type, name, #name, __VA_ARGS__)

/* Wraps a read or write of `size` bytes, which may do half of them. */
#define WRAP_TRANSFER(name, parameters, arguments, family)                                         \
    ssize_t name parameters;                                                                       \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        static _Atomic(void *) slot;                                                               \
        ssize_t(*real) parameters = (ssize_t(*) parameters)inject_real(&slot, #name);              \
        inject_fate fate = inject_judge(family, #name, NULL, file);                                \
        if (fate == FATE_FAIL) {                                                                   \
            return -1;                                                                             \
        }                                                                                          \
        size = inject_cut(fate, size);                                                             \
        ssize_t result = real arguments;                                                           \
        inject_end_call(fate);                                                                     \
        return result;                                                                             \
    }

/* Calls of open and openat have a mode only if they may create a file. */
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
            (int (*)(const char *, int, ...))inject_real(&slot, #name);                            \
        mode_t mode;                                                                               \
        TAKE_MODE(flags, mode);                                                                    \
        inject_fate fate = inject_judge("open", #name, path, -1);                                  \
        int result = fate == FATE_FAIL ? -1 : real(path, flags, mode);                             \
        inject_end_call(fate);                                                                     \
        return result;                                                                             \
    }

#define WRAP_OPENAT(name)                                                                          \
    int name(int folder, const char *path, int flags, ...);                                        \
    int name(int folder, const char *path, int flags, ...)                                         \
    {                                                                                              \
        static _Atomic(void *) slot;                                                               \
        int (*real)(int, const char *, int, ...) =                                                 \
            (int (*)(int, const char *, int, ...))inject_real(&slot, #name);                       \
        mode_t mode;                                                                               \
        TAKE_MODE(flags, mode);                                                                    \
        inject_fate fate = inject_judge("open", #name, path, -1);                                  \
        int result = fate == FATE_FAIL ? -1 : real(folder, path, flags, mode);                     \
        inject_end_call(fate);                                                                     \
        return result;                                                                             \
    }

/* ---- the wrapped calls ----------------------------------------------------------------------- */

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

WRAP(int, pthread_create,
     (pthread_t *out, const pthread_attr_t *how_to, void *(*run)(void *), void *argument),
     (out, how_to, run, argument), "thread", NULL, -1, EAGAIN)
/* clang-format on */

/* ---- the beginning --------------------------------------------------------------------------- */

typedef int main_function(int argc, char **argv, char **environment);
static main_function *program_main;

static int counted_main(int argc, char **argv, char **environment)
{
    inject_start();
    int status = program_main(argc, argv, environment);
    inject_end(); /* calls that write profiles or look for leaks at exit do not count */
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
    *(void **)&real = inject_real(&slot, "__libc_start_main");
    program_main = main;
    return real(counted_main, argc, argv, begin, end, unload, stack);
}
