/* Replays the photons of hits on this machine or on a GPU: the parts of ics_replay_hits(). */
#ifndef ICS_PHOTONS_REPLAY_FLY_H
#define ICS_PHOTONS_REPLAY_FLY_H

#include "pipeline/photons/replay/replay.h"

/* As ics_replay_hits(), whose checks the options have passed. */
int ics_replay_fly_on_cpu(const ics_replay_options *options, const icestream_hit *hits,
                          const icestream_step *steps, size_t count, const ics_replay_sink *sink,
                          icestream_error *error);
int ics_replay_fly_on_gpu(const ics_replay_options *options, const icestream_hit *hits,
                          const icestream_step *steps, size_t count, const ics_replay_sink *sink,
                          icestream_error *error);

/* Threads that work through one list of jobs after the other. */
typedef struct ics_replay_crew ics_replay_crew;
/* `jobs`: usually at most in one list. ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED. */
int ics_replay_crew_create(uint32_t threads, uint32_t jobs, ics_replay_crew **out,
                           icestream_error *error);
void ics_replay_crew_destroy(ics_replay_crew *crew);
/* Runs all jobs and waits for them. */
void ics_replay_crew_work(ics_replay_crew *crew, ics_job *const *jobs, size_t count);

#endif
