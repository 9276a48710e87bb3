/* Finds out whether all keys (event_id, step_id) of a file are different. A run of consecutive step
 * ids in an event takes 16 bytes. So typical files need almost no memory, and the worst files need
 * 16 bytes per step. */
#ifndef ICS_PHOTONS_FILES_FORMAT_KEY_RUNS_H
#define ICS_PHOTONS_FILES_FORMAT_KEY_RUNS_H

#include "pipeline/icestream.h"

typedef struct ics_key_run {
    uint64_t event_id;
    uint32_t first, last; /* step ids of the run, both included */
} ics_key_run;

/* Zero-initialise. */
typedef struct ics_key_runs {
    ics_key_run *items; /* [count] */
    size_t count, capacity;
} ics_key_runs;

/* Adds the key of every step. ICESTREAM_E_MEMORY. */
int ics_key_runs_add(ics_key_runs *runs, const icestream_step *steps, size_t count,
                     icestream_error *error);

/* Sorts the runs. Returns true if a key was added twice; *duplicate is such a key. Nothing may be
 * added afterwards. */
bool ics_key_runs_find_duplicate(ics_key_runs *runs, ics_key_run *duplicate);

void ics_key_runs_free(ics_key_runs *runs);

#endif
