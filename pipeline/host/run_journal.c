#include "pipeline/host/run_journal.h"

#include "pipeline/error.h"

void is_run_journal_append(is_run_journal *journal, const is_event *event)
{
    is_error error = {.status = IS_OK};
    if (journal != NULL && is_journal_append(journal->journal, event, &error) != IS_OK) {
        is_run_journal_lose(journal, &error);
    }
}

void is_run_journal_lose(is_run_journal *journal, const is_error *why)
{
    pthread_mutex_lock(&journal->lock);
    journal->lost++;
    is_error_copy(&journal->error, why);
    pthread_mutex_unlock(&journal->lock);
}

uint64_t is_run_journal_take_lost(is_run_journal *journal, is_error *error)
{
    pthread_mutex_lock(&journal->lock);
    uint64_t lost = journal->lost;
    journal->lost = 0;
    if (lost > 0) {
        is_error_copy(error, &journal->error);
    }
    pthread_mutex_unlock(&journal->lock);
    return lost;
}
