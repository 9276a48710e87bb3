/* What people see of a run while it lasts: one status line on a terminal, plain lines elsewhere. */
#ifndef ICS_TELEMETRY_PROGRESS_H
#define ICS_TELEMETRY_PROGRESS_H

#include "base/clock.h"
#include "pipeline/icestream.h"

enum { ICS_PROGRESS_DEVICES = 16 }; /* of more, the first ones are shown */

/* A rate that follows what happened in the last ten seconds or so. */
typedef struct ics_progress_rate {
    uint64_t photons; /* at the last look */
    double rate;      /* photons/s, times weight */
    double weight;    /* of all looks so far, up to 1 */
} ics_progress_rate;

typedef struct ics_progress {
    FILE *out;     /* NULL: silent */
    bool terminal; /* a line is rewritten in place */
    bool shown;    /* a status line stands on the terminal */
    double start;  /* s, of the monotonic clock */
    double looked; /* when rates were taken last, s */
    ics_progress_rate all, devices[ICS_PROGRESS_DEVICES];
} ics_progress;

typedef struct ics_progress_device {
    const char *name; /* short: "cuda:0" */
    uint64_t photons; /* carried to their end */
    bool alive;
} ics_progress_device;

/* What a status line is made from. What is 0 or NULL is not told. */
typedef struct ics_progress_state {
    uint64_t photons;     /* carried to their end */
    double photons_total; /* estimate of all, 0: unknown */
    uint64_t hits;
    size_t files, files_total;  /* finished; total 0: unknown */
    size_t files_taken;         /* taken in so far; told where the total is unknown */
    size_t files_quarantined;   /* of those that are finished */
    uint32_t queue, queue_room; /* batches that wait for a device, and how many can; room 0: not
                                   told */
    const ics_progress_device *devices; /* [device_count], always in the same order; told one by one
                                          where there are several */
    size_t device_count;
    const char *paused; /* why nothing is written now; NULL: it is not so */
    bool stopping;
} ics_progress_state;

/* What follows from one state and those before it. */
typedef struct ics_progress_figures {
    double average;                       /* photons/s since the start */
    double rate;                          /* photons/s of late */
    double devices[ICS_PROGRESS_DEVICES]; /* the same of each device */
    double share;                         /* of all photons, 0 .. 1; negative: unknown */
    double seconds_left;                  /* negative: unknown */
} ics_progress_figures;

#define ics_progress_seconds ics_clock_seconds /* until all callers have the new name */

/* `out` may be NULL. */
ics_progress ics_progress_begin(FILE *out);
/* Milliseconds between updates. */
uint32_t ics_progress_period(const ics_progress *progress);
/* Shows a status. */
void ics_progress_update(ics_progress *progress, const ics_progress_state *state);
/* Prints a line that stays, above the status. */
void ics_progress_line(ics_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Removes the status line from a terminal. */
void ics_progress_end(ics_progress *progress);

/* The two halves of an update, for other ways to show it: takes the rates, at a time of
 * ics_clock_seconds(); and says it all in one line without its end. */
void ics_progress_measure(ics_progress *progress, const ics_progress_state *state, double now,
                          ics_progress_figures *out);
enum { ICS_PROGRESS_TEXT = 4096 };
void ics_progress_text(const ics_progress_state *state, const ics_progress_figures *figures,
                       char text[ICS_PROGRESS_TEXT]);

/* Writes a count for people: 9503, 12.3 million, 4.56 billion, 7.89e+12. Returns buffer. */
const char *ics_progress_count_text(double count, char buffer[32]);

#endif
