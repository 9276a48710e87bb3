#include "pipeline/production/telemetry/run_journal.h"

#include "base/error.h"

void ics_run_journal_append(ics_run_journal *journal, const ics_event *event)
{
    icestream_error error = {.status = ICESTREAM_OK};
    if (journal != NULL && ics_journal_append(journal->journal, event, &error) != ICESTREAM_OK) {
        ics_run_journal_lose(journal, &error);
    }
}

void ics_run_journal_lose(ics_run_journal *journal, const icestream_error *why)
{
    pthread_mutex_lock(&journal->lock);
    journal->lost++;
    ics_error_copy(&journal->error, why);
    pthread_mutex_unlock(&journal->lock);
}

uint64_t ics_run_journal_lost_lines(ics_run_journal *journal, icestream_error *error)
{
    pthread_mutex_lock(&journal->lock);
    uint64_t lost = journal->lost;
    journal->lost = 0;
    if (lost > 0) {
        ics_error_copy(error, &journal->error);
    }
    pthread_mutex_unlock(&journal->lock);
    return lost;
}
