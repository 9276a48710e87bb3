/* A libcupti for tests: it does what CUPTI promises, without a GPU.
 *
 * The library exports its state as `fake_cupti`. A launch is a call of fake_cupti_launch, which
 * does what the driver does: callback, kernel, callback.
 */
#ifndef FAKE_CUPTI_H
#define FAKE_CUPTI_H

#include <cupti_callbacks.h>
#include <stdbool.h>
#include <stddef.h>

enum { FAKE_CALLBACKS = 9 };

typedef struct fake_cupti_state {
    const char *fails; /* the function that fails, or NULL */
    CUptiResult result;
    size_t lost;             /* kernels that are not counted */
    double value;            /* of all metrics, if it is not 0 */
    CUpti_CallbackFunc call; /* NULL: nobody has subscribed */
    void *user;
    CUpti_CallbackId enabled[FAKE_CALLBACKS]; /* [enabled_count] */
    size_t enabled_count;
    size_t hosts, profilers;                     /* that exist now */
    size_t room;                                 /* ranges of the image of counters */
    size_t ranges, first;                        /* in the image, and the number of the first one */
    size_t launches, flushes, total_initialized; /* of the whole time */
    bool started;
} fake_cupti_state;

/* Launches a kernel, or a graph if `name` is NULL, in a context. The number of the launch, from 0,
 * decides its values: metric i has 1000 * number + i. */
typedef void (*fake_cupti_launch_function)(CUcontext context, const char *name);

#endif
