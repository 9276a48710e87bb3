/* From rows of steps to batches: runs read step files in this way, sessions read arrays, and both
 * read the steps that they make. */
#ifndef ICS_PHOTONS_ENGINE_STEP_FEED_H
#define ICS_PHOTONS_ENGINE_STEP_FEED_H

#include "pipeline/photons/devices/batch.h"
#include "pipeline/photons/engine/step_watch.h"

enum { ICS_STEP_FEED_ROWS = 4096 }; /* steps that are read at a time: 256 KiB */

/* Where steps come from. */
typedef struct ics_step_source {
    /* Reads the next steps, checked and normalised, at most `capacity`; *got 0: there are no more.
     */
    int (*read)(void *user, icestream_step *steps, size_t capacity, size_t *got,
                icestream_error *error);
    /* Called before photons are moved to a batch: moves the cursor over photons that no batch gets.
     * NULL: all photons get into batches. */
    void (*pass_over)(void *user, ics_step_cursor *cursor);
    void *user;
} ics_step_source;

/* Zero-initialise. */
typedef struct ics_step_feed {
    icestream_step *rows; /* [ICS_STEP_FEED_ROWS]; NULL: not begun */
    ics_step_cursor cursor;
    ics_step_watch watch; /* complete when at_end */
    bool at_end;          /* all steps are in batches */
} ics_step_feed;

/* Allocates the memory for steps. ICESTREAM_E_MEMORY without a text. */
int ics_step_feed_begin(ics_step_feed *feed);
/* Frees it. */
void ics_step_feed_end(ics_step_feed *feed);

/* Makes the next batch, of at most `photons` photons, and fills feed->at_end. *batch: an empty
 * batch, kept for its memory, or NULL; afterwards the batch, or NULL: there are no more photons, or
 * there was an error. `least_beta`: for feed->watch. The errors of source->read;
 * ICESTREAM_E_MEMORY.
 */
int ics_step_feed_fill(ics_step_feed *feed, const ics_step_source *source,
                       const ics_batch_limits *limits, uint64_t photons, float least_beta,
                       ics_batch **batch, icestream_error *error);

#endif
