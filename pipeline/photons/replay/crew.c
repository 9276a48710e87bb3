#include "base/error.h"
#include "base/new.h"
#include "pipeline/photons/replay/fly.h"

#include <stdlib.h>

struct ics_replay_crew {
    ics_workers *workers;
    uv_sem_t finished;
};

static void post_finished(void *user, ics_job *job)
{
    (void)job;
    uv_sem_post(user);
}

int ics_replay_crew_create(uint32_t threads, uint32_t jobs, ics_replay_crew **out,
                           icestream_error *error)
{
    ics_replay_crew *crew = ICS_NEW(ics_replay_crew);
    if (uv_sem_init(&crew->finished, 0) != 0) {
        free(crew);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "replay: out of memory for a semaphore");
    }
    const int status =
        ics_workers_create("replay", threads, jobs, NULL,
                           (ics_post){post_finished, &crew->finished}, &crew->workers, error);
    if (status != ICESTREAM_OK) {
        ics_replay_crew_destroy(crew);
        return status;
    }
    *out = crew;
    return ICESTREAM_OK;
}

void ics_replay_crew_destroy(ics_replay_crew *crew)
{
    ics_workers_destroy(crew->workers);
    uv_sem_destroy(&crew->finished);
    free(crew);
}

void ics_replay_crew_work(ics_replay_crew *crew, ics_job *const *jobs, size_t count)
{
    size_t sent = 0;
    while (sent < count && ics_workers_submit(crew->workers, jobs[sent])) {
        sent += 1;
    }
    for (size_t i = sent; i < count; ++i) { /* the queue is full */
        jobs[i]->run(jobs[i], NULL);
    }
    for (size_t i = 0; i < sent; ++i) {
        uv_sem_wait(&crew->finished);
    }
}
