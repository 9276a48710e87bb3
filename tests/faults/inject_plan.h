/* Which calls of a program fail: the plan of inject.c, from the environment.
 *
 * Nothing here leaves inject.so: the program may have functions of the same names. */
#ifndef INJECT_PLAN_H
#define INJECT_PLAN_H

#include <stddef.h>

#define INJECT_HIDDEN __attribute__((visibility("hidden")))

/* What happens to one call. */
typedef enum inject_fate {
    FATE_WORK,      /* the call does its work */
    FATE_FAIL,      /* it fails, and errno is set */
    FATE_SHORT,     /* a read or write does half of its bytes */
    FATE_KILL,      /* SIGKILL before the call */
    FATE_KILL_HALF, /* SIGKILL after half of its bytes */
    FATE_KILL_AFTER /* SIGKILL after the call */
} inject_fate;

/* Reads the plan from the environment and begins to count, if this is the program that is meant.
 * Ends the process with 125 if the plan cannot be read. */
INJECT_HIDDEN void inject_start(void);
/* Ends the counting and writes the number of calls into the log. Also runs when the program calls
 * exit(). May be called again. */
INJECT_HIDDEN void inject_end(void);

/* Counts a call and decides its fate. `path` or `descriptor` is the file that it works on; NULL and
 * -1: none. With FATE_KILL it does not return. */
INJECT_HIDDEN inject_fate inject_judge(const char *family, const char *call, const char *path,
                                       int descriptor);
/* To be called after the call. Kills the process if the call was meant to be its last one. */
INJECT_HIDDEN void inject_end_call(inject_fate fate);
/* How many of the `size` bytes (B) a read or write may do. */
INJECT_HIDDEN size_t inject_cut(inject_fate fate, size_t size);

/* The function of that name which the program would have called. The slot remembers it. */
INJECT_HIDDEN void *inject_real(_Atomic(void *) *slot, const char *name);

#endif
