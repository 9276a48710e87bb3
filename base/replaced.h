/* What earlier versions understood, and what does the same now. To add a row, write it in
 * replaced.c and in the table "left | instead" of CHANGELOG.md. */
#ifndef ICS_BASE_REPLACED_H
#define ICS_BASE_REPLACED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ics_replaced {
    /* "the command top", "the action plot of table", "the option --select of trace",
     * "the key 'graph.compact.method'", "the ending .h5 of convert" */
    const char *what;
    const char *since;   /* the first version without it */
    const char *instead; /* what to type; it follows "use" */
} ics_replaced;

/* The rows; the last one has no `what`. */
extern const ics_replaced ics_replaced_rows[];

/* Writes "WHAT left in version SINCE; use INSTEAD", if there is a row for the text that the format
 * makes. Returns whether there is one. */
bool ics_replaced_say(char *buffer, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
