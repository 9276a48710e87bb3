/* For tests of journals: a journal in a temporary folder, written and read back. */
#ifndef JOURNAL_PLACE_H
#define JOURNAL_PLACE_H

#include "pipeline/production/telemetry/journal.h"
#include "pipeline/production/telemetry/journal_summary.h"
#include "tests/support/scratch_files.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static scratch place;
static char path[SCRATCH_PATH];

static inline void open_place(void)
{
    place = scratch_create();
    scratch_path(&place, "run.journal", path);
}

static inline void close_place(void)
{
    scratch_remove(&place);
}

static inline ics_journal *open_journal(const char *worker)
{
    ics_journal *journal = NULL;
    icestream_error error = {0};
    ck_assert_msg(ics_journal_create(path, worker, &journal, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return journal;
}

static inline void append(ics_journal *journal, const ics_event *event)
{
    icestream_error error = {0};
    ck_assert_msg(ics_journal_append(journal, event, &error) == ICESTREAM_OK, "%s", error.text);
}

static inline void append_text(const char *text)
{
    int descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT, 0666);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
}

static inline ics_journal_summary *summarise(void)
{
    ics_journal_summary *summary = NULL;
    icestream_error error = {0};
    ck_assert_int_eq(ics_journal_summary_create(&summary, &error), ICESTREAM_OK);
    ck_assert_msg(ics_journal_summary_read(summary, path, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return summary;
}

/* A text field of a line; the line must have it. */
static inline const char *text_of(const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));
    ck_assert_msg(text != NULL, "no %s", key);
    return text;
}

static inline json_int_t whole_of(const json_t *line, const char *key)
{
    return json_integer_value(json_object_get(line, key));
}

#endif
