/* Are the keys (event_id, step_id) of a file all different? Runs of consecutive step ids within an
 * event take 16 bytes, so that typical files need almost no memory and the worst 16 bytes per step.
 */
#ifndef IS_KEY_RUNS_H
#define IS_KEY_RUNS_H

#include "pipeline/icestream.h"

typedef struct is_key_run {
    uint64_t event_id;
    uint32_t first, last; /* step ids, both included */
} is_key_run;

/* Zero-initialise. */
typedef struct is_key_runs {
    is_key_run *items; /* [count] */
    size_t count, capacity;
} is_key_runs;

/* Adds the key of every step. IS_E_MEMORY. */
int is_key_runs_add(is_key_runs *runs, const is_step *steps, size_t count, is_error *error);

/* Sorts what was added; true: a key is there twice, and *duplicate is such a key. Nothing may be
 * added afterwards. */
bool is_key_runs_find_duplicate(is_key_runs *runs, is_key_run *duplicate);

void is_key_runs_free(is_key_runs *runs);

#endif
