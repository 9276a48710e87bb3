/* What people see of a run while it lasts: one status line on a terminal, plain lines elsewhere. */
#ifndef IS_PROGRESS_H
#define IS_PROGRESS_H

#include "pipeline/icestream.h"

typedef struct is_progress {
    FILE *out;     /* NULL: silent */
    bool terminal; /* a line is rewritten in place */
    bool shown;    /* a status line stands on the terminal */
    double start;  /* s, of the monotonic clock */
} is_progress;

/* What a status line is made from. */
typedef struct is_progress_state {
    uint64_t photons;     /* carried to their end */
    double photons_total; /* estimate of all, 0: unknown */
    uint64_t hits;
    size_t files, files_total; /* finished; total 0: unknown */
    bool stopping;
} is_progress_state;

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

/* Writes a count for people: 9503, 12.3 million, 4.56 billion, 7.89e+12. Returns buffer. */
const char *is_count_text(double count, char buffer[32]);

#endif
