/* The progress of a run for people: a status line on a terminal, ordinary lines elsewhere. */
#ifndef ICS_PRODUCTION_TELEMETRY_PROGRESS_H
#define ICS_PRODUCTION_TELEMETRY_PROGRESS_H

#include "pipeline/icestream.h"

enum { ICS_PROGRESS_DEVICES = 16 }; /* if there are more, the first ones are shown */

/* An average rate over about the last ten seconds. */
typedef struct ics_progress_rate {
    uint64_t photons; /* at the last measurement */
    double rate;      /* photons/s, multiplied by `weight` */
    double weight;    /* sum of the weights of all measurements, up to 1 */
} ics_progress_rate;

typedef struct ics_progress {
    FILE *out;     /* NULL: nothing is written */
    bool terminal; /* the status line is rewritten in place */
    bool shown;    /* the terminal shows a status line */
    double start;  /* s of ics_clock_seconds() */
    double idle;   /* s since then in which nothing could be computed: no part of the speed */
    double looked; /* s of ics_clock_seconds(), last measurement of the rates */
    ics_progress_rate all, devices[ICS_PROGRESS_DEVICES];
} ics_progress;

typedef struct ics_progress_device {
    const char *name; /* short: "cuda:0" */
    uint64_t photons; /* propagated to their end */
    bool alive;
} ics_progress_device;

/* What a status line shows. Members that are 0 or NULL are left out. */
typedef struct ics_progress_state {
    uint64_t photons;     /* propagated to their end */
    double photons_total; /* estimate for the whole run; 0: unknown */
    uint64_t hits;
    size_t files, files_total;  /* finished files; total 0: unknown */
    size_t files_taken;         /* accepted so far; shown if the total is unknown */
    size_t files_quarantined;   /* counted in `files` as well */
    size_t files_undelivered;   /* hits are written, and sink.command has failed so far */
    uint32_t queue, queue_room; /* batches that wait for a device, and how many can wait; room 0:
                                   not shown */
    const ics_progress_device *devices; /* [device_count], always in the same order; shown if there
                                          are several */
    size_t device_count;
    const char *paused; /* why the run is paused; NULL: it is not paused */
    const char *task;   /* what is being done; NULL: a run */
    bool stopping;
    bool waiting;      /* there is nothing to compute: no rate is measured, and none is shown */
    bool without_hits; /* no photon is followed to a hit: hits are not shown */
} ics_progress_state;

/* Rates and shares that are computed from one state and the states before it. */
typedef struct ics_progress_figures {
    double average;                       /* photons/s since the start */
    double rate;                          /* photons/s in about the last ten seconds */
    double devices[ICS_PROGRESS_DEVICES]; /* the same for each device */
    double share;                         /* of all photons, 0 .. 1; negative: unknown */
    double seconds_left;                  /* negative: unknown */
} ics_progress_figures;

/* `out` NULL: nothing is written. */
ics_progress ics_progress_begin(FILE *out);
/* How often (ms) the status should be updated. */
uint32_t ics_progress_period(const ics_progress *progress);
/* Shows a status line, or prints a line if `out` is no terminal. */
void ics_progress_update(ics_progress *progress, const ics_progress_state *state);
/* Prints a line that stays, above the status. */
void ics_progress_line(ics_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Removes the status line from a terminal. */
void ics_progress_end(ics_progress *progress);

/* The two parts of an update, for other ways to show the status: measures the rates at the time
 * `now` (s of ics_clock_seconds()), and writes the line without its newline. */
void ics_progress_measure(ics_progress *progress, const ics_progress_state *state, double now,
                          ics_progress_figures *out);
enum { ICS_PROGRESS_TEXT = 4096 };
void ics_progress_text(const ics_progress_state *state, const ics_progress_figures *figures,
                       char text[ICS_PROGRESS_TEXT]);

/* Writes a count for people: 9503, 12.3 million, 4.56 billion, 7.89e+12. Returns `buffer`. */
const char *ics_progress_count_text(double count, char buffer[32]);

#endif
