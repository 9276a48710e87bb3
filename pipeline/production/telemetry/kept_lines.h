/* Lines for the log from a thread that must not write to it. The thread that may takes them. */
#ifndef ICS_PRODUCTION_TELEMETRY_KEPT_LINES_H
#define ICS_PRODUCTION_TELEMETRY_KEPT_LINES_H

#include <pthread.h>

typedef struct ics_kept_lines {
    pthread_mutex_t lock;
    char text[4096]; /* lines that do not fit are lost */
} ics_kept_lines;

void ics_kept_lines_begin(ics_kept_lines *lines);
/* Any thread. */
void ics_kept_lines_add(ics_kept_lines *lines, const char *line);
/* Takes all lines, and calls `say` for each of them. Any thread. */
void ics_kept_lines_each(ics_kept_lines *lines, void (*say)(void *user, const char *line),
                         void *user);

#endif
