/* Reads journals of any size, line by line. A journal that is still growing is read up to the end
 * that it had when it was opened. */
#ifndef ICS_PRODUCTION_TELEMETRY_JOURNAL_READER_H
#define ICS_PRODUCTION_TELEMETRY_JOURNAL_READER_H

#include "base/cleanup.h"
#include "pipeline/production/telemetry/event.h"

#include <jansson.h>

typedef struct ics_journal_reader ics_journal_reader;

/* One event. The texts and fields belong to the reader and are valid until the next call. */
typedef struct ics_journal_record {
    ics_event_kind kind;
    double time; /* s since 1970 */
    const char *worker;
    const json_t *fields; /* all fields of the line */
} ics_journal_record;

/* How many lines were read. Lines that are no events are only counted. */
typedef struct ics_journal_lines {
    uint64_t events;
    uint64_t torn;    /* incomplete lines, and lines that are not JSON */
    uint64_t unknown; /* JSON with an unknown event, or without time or worker */
} ics_journal_lines;

/* ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY. */
int ics_journal_reader_create(const char *path, ics_journal_reader **out, icestream_error *error);
/* Accepts NULL. */
void ics_journal_reader_destroy(ics_journal_reader *reader);
ICS_CAN_DESTROY(ics_journal_reader, ics_journal_reader_destroy)
/* Reads the next event; *found is false at the end. ICESTREAM_E_INPUT: the file cannot be read;
 * ICESTREAM_E_MEMORY. */
int ics_journal_reader_next(ics_journal_reader *reader, ics_journal_record *record, bool *found,
                            icestream_error *error);
ics_journal_lines ics_journal_reader_lines(const ics_journal_reader *reader);

/* A field of a record. The text, or NULL if there is none; the number, or 0. */
const char *ics_journal_text(const ics_journal_record *record, const char *key);
double ics_journal_number(const ics_journal_record *record, const char *key);
uint64_t ics_journal_whole(const ics_journal_record *record, const char *key);

#endif
