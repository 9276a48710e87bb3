/* Reads journals of any size, line by line, also while they grow: up to the end that they have when
 * they are opened. */
#ifndef ICS_TELEMETRY_JOURNAL_READER_H
#define ICS_TELEMETRY_JOURNAL_READER_H

#include "pipeline/telemetry/event.h"

#include <jansson.h>

typedef struct ics_journal_reader ics_journal_reader;

/* One line. Everything belongs to the reader and lasts until the next call. */
typedef struct ics_journal_record {
    ics_event_kind kind;
    double time; /* s since 1970 */
    const char *worker;
    const json_t *fields; /* all of them */
} ics_journal_record;

/* What was read; lines that are no events are left out and counted. */
typedef struct ics_journal_lines {
    uint64_t events;
    uint64_t torn;    /* parts of lines, and lines that are not JSON */
    uint64_t unknown; /* JSON, but no event that is known here, or without time or worker */
} ics_journal_lines;

/* ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY. */
int ics_journal_reader_create(const char *path, ics_journal_reader **out, icestream_error *error);
/* Accepts NULL. */
void ics_journal_reader_destroy(ics_journal_reader *reader);
/* The next event; *found is false at the end. ICESTREAM_E_INPUT: it cannot be read on;
 * ICESTREAM_E_MEMORY. */
int ics_journal_reader_next(ics_journal_reader *reader, ics_journal_record *record, bool *found,
                            icestream_error *error);
ics_journal_lines ics_journal_reader_lines(const ics_journal_reader *reader);

/* A field of a record: the text, or NULL where there is none; the number, or 0. */
const char *ics_journal_text(const ics_journal_record *record, const char *key);
double ics_journal_number(const ics_journal_record *record, const char *key);
uint64_t ics_journal_whole(const ics_journal_record *record, const char *key);

#endif
