/* Warnings: what a loader found doubtful but accepted. The library does not print them, the program
 * does. */
#ifndef ICS_PHOTONS_MODELS_WARNINGS_H
#define ICS_PHOTONS_MODELS_WARNINGS_H

#include "base/icestream_error.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct ics_warnings {
    char **items; /* [count], one sentence each, owned */
    size_t count, capacity;
    int status; /* ICESTREAM_E_MEMORY once a sentence was lost, so that it can be asked at the end
                 */
} ics_warnings;

/* Appends a sentence. Zero-initialise the list before first use. */
void ics_warnings_add(ics_warnings *warnings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same with the place of the value in front: "PLACE: SENTENCE". */
void ics_warnings_add_at(ics_warnings *warnings, const char *place, const char *format,
                         va_list arguments) __attribute__((format(printf, 3, 0)));
/* Appends the sentences of another list. */
void ics_warnings_add_all(ics_warnings *warnings, const ics_warnings *others);
/* Returns ICESTREAM_OK, or the error that a sentence was lost: ICESTREAM_E_MEMORY. */
int ics_warnings_status(const ics_warnings *warnings, icestream_error *error);

/* Writes a line for each sentence from number `first` (from 0) on, with `prefix` in front. */
void ics_warnings_print(const ics_warnings *warnings, size_t first, const char *prefix, FILE *out);
/* Appends the sentences to a JSON array. Returns false without memory. */
bool ics_warnings_append_json(const ics_warnings *warnings, json_t *list);

/* Frees the sentences and empties the list; accepts NULL. */
void ics_warnings_free(ics_warnings *warnings);

#endif
