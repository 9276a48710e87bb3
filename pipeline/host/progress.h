/* What people see of a run while it lasts: one status line on a terminal, plain lines elsewhere. */
#ifndef IS_PROGRESS_H
#define IS_PROGRESS_H

#include "pipeline/icestream.h"

enum { IS_PROGRESS_DEVICES = 16 }; /* of more, the first ones are shown */

/* A rate that follows what happened in the last ten seconds or so. */
typedef struct is_progress_rate {
    uint64_t photons; /* at the last look */
    double rate;      /* photons/s, times weight */
    double weight;    /* of all looks so far, up to 1 */
} is_progress_rate;

typedef struct is_progress {
    FILE *out;     /* NULL: silent */
    bool terminal; /* a line is rewritten in place */
    bool shown;    /* a status line stands on the terminal */
    double start;  /* s, of the monotonic clock */
    double looked; /* when rates were taken last, s */
    is_progress_rate all, devices[IS_PROGRESS_DEVICES];
} is_progress;

typedef struct is_progress_device {
    const char *name; /* short: "cuda:0" */
    uint64_t photons; /* carried to their end */
    bool alive;
} is_progress_device;

/* What a status line is made from. What is 0 or NULL is not told. */
typedef struct is_progress_state {
    uint64_t photons;     /* carried to their end */
    double photons_total; /* estimate of all, 0: unknown */
    uint64_t hits;
    size_t files, files_total;  /* finished; total 0: unknown */
    size_t files_taken;         /* taken in so far; told where the total is unknown */
    size_t files_quarantined;   /* of those that are finished */
    uint32_t queue, queue_room; /* batches that wait for a device, and how many can; room 0: not
                                   told */
    const is_progress_device *devices; /* [device_count], always in the same order; told one by one
                                          where there are several */
    size_t device_count;
    const char *paused; /* why nothing is written now; NULL: it is not so */
    bool stopping;
} is_progress_state;

/* What follows from one state and those before it. */
typedef struct is_progress_figures {
    double average;                      /* photons/s since the start */
    double rate;                         /* photons/s of late */
    double devices[IS_PROGRESS_DEVICES]; /* the same of each device */
    double share;                        /* of all photons, 0 .. 1; negative: unknown */
    double seconds_left;                 /* negative: unknown */
} is_progress_figures;

/* Seconds of a clock that only goes forward. */
double is_seconds(void);

/* `out` may be NULL. */
is_progress is_progress_begin(FILE *out);
/* Milliseconds between updates. */
uint32_t is_progress_period(const is_progress *progress);
/* Shows a status. */
void is_progress_update(is_progress *progress, const is_progress_state *state);
/* Prints a line that stays, above the status. */
void is_progress_line(is_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Removes the status line from a terminal. */
void is_progress_end(is_progress *progress);

/* The two halves of an update, for other ways to show it: takes the rates, at a time of
 * is_seconds(); and says it all in one line without its end. */
void is_progress_measure(is_progress *progress, const is_progress_state *state, double now,
                         is_progress_figures *out);
enum { IS_PROGRESS_TEXT = 4096 };
void is_progress_text(const is_progress_state *state, const is_progress_figures *figures,
                      char text[IS_PROGRESS_TEXT]);

/* Writes a count for people: 9503, 12.3 million, 4.56 billion, 7.89e+12. Returns buffer. */
const char *is_count_text(double count, char buffer[32]);

#endif
