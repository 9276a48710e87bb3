/* Reads journals of any size, line by line, also while they grow: up to the end that they have when
 * they are opened. */
#ifndef IS_JOURNAL_READER_H
#define IS_JOURNAL_READER_H

#include "pipeline/telemetry/event.h"

#include <jansson.h>

typedef struct is_journal_reader is_journal_reader;

/* One line. Everything belongs to the reader and lasts until the next call. */
typedef struct is_journal_record {
    is_event_kind kind;
    double time; /* s since 1970 */
    const char *worker;
    const json_t *fields; /* all of them */
} is_journal_record;

/* What was read; lines that are no events are left out and counted. */
typedef struct is_journal_lines {
    uint64_t events;
    uint64_t torn;    /* parts of lines, and lines that are not JSON */
    uint64_t unknown; /* JSON, but no event that is known here, or without time or worker */
} is_journal_lines;

/* IS_E_INPUT, IS_E_MEMORY. */
int is_journal_reader_create(const char *path, is_journal_reader **out, is_error *error);
/* Accepts NULL. */
void is_journal_reader_destroy(is_journal_reader *reader);
/* The next event; *found is false at the end. IS_E_INPUT: it cannot be read on; IS_E_MEMORY. */
int is_journal_reader_next(is_journal_reader *reader, is_journal_record *record, bool *found,
                           is_error *error);
is_journal_lines is_journal_reader_lines(const is_journal_reader *reader);

/* A field of a record: the text, or NULL where there is none; the number, or 0. */
const char *is_journal_text(const is_journal_record *record, const char *key);
double is_journal_number(const is_journal_record *record, const char *key);
uint64_t is_journal_whole(const is_journal_record *record, const char *key);

#endif
